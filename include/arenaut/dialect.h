/* Dialects: facts about the operators of one kind of program, independent of the runtime. A reader
 * names its program's dialect; passes look their operators up there.
 *
 * Threads: the table never changes; any thread may read it at any time. */
#ifndef ARENAUT_DIALECT_H
#define ARENAUT_DIALECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <arenaut/target.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Effects of an operator on memory: bits of arenaut_operator.traits. */
enum {
    ARENAUT_TRAIT_VIEW = 1 << 0,        /* output 0 is always a view of input 0 */
    ARENAUT_TRAIT_MAY_VIEW = 1 << 1,    /* it is one if the strides allow */
    ARENAUT_TRAIT_IN_PLACE = 1 << 2,    /* writes input 0, and output 0 is that input */
    ARENAUT_TRAIT_ASSERT = 1 << 3,      /* has no result that matters to memory: may be dropped */
    ARENAUT_TRAIT_ELEMENTWISE = 1 << 5, /* reads each element before it writes there */
    ARENAUT_TRAIT_VARIES = 1 << 6,      /* the same operands give another result each time */
    ARENAUT_TRAIT_COPIES = 1 << 7,      /* later writes to input 0 must not show in its result, nor
                                         * the reverse */
    ARENAUT_TRAIT_UPDATES = 1 << 8,     /* output 0 is input 0 changed, and there is a form of it
                                         * that changes input 0 in place */
    ARENAUT_TRAIT_SAME_VALUE = 1 << 9,  /* output 0 has the value of input 0 */
    ARENAUT_TRAIT_HAS_COPY = 1 << 10 /* of a view: an operator "X_copy.overload" returns the result
                                      * of "X.overload" in new memory */
};

typedef struct arenaut_operator {
    const char *name; /* as the reader spells it */
    uint32_t traits;
    const char *substitute; /* the operator that does the same after lowering; NULL: itself */
} arenaut_operator;

typedef struct arenaut_dialect {
    const char *name, *summary;
    const char *pipeline; /* its default passes, "a,b,c"; they run in the table's order */
    const arenaut_operator *operators; /* sorted by name (strcmp); ends with name == NULL */
    size_t n_operators;
    const arenaut_in_place_rule *in_place; /* ends with op == NULL; NULL: none known */
    uint32_t lanes; /* of a tensor that does not state them; see arenaut_tensor */
} arenaut_dialect;

/* The table, in the order of src/dialects/dialects.def. */
size_t arenaut_dialect_count(void);
const arenaut_dialect *arenaut_dialect_at(size_t index);       /* NULL past the end */
const arenaut_dialect *arenaut_dialect_find(const char *name); /* NULL if unknown, or for NULL */

#ifdef __cplusplus
}
#endif
#endif
