/* Def-use chains of tensors, or of storages, reduced to their ends. */
#ifndef ARN_ANALYSIS_DEF_USE_H
#define ARN_ANALYSIS_DEF_USE_H

#include <arenaut/program.h>

#include "core/memory.h"

/* The definitions and uses that count. 0: every result of an op is a definition, and every operand
 * a use. */
enum {
    ARN_TOUCHING = 1 << 0, /* ops that do not touch memory have neither */
    ARN_NO_NAMES = 1 << 1, /* results of views are no definitions */
    ARN_UPDATES = 1
        << 2, /* updated operands, and all operands of a delegate, are defined as well */
    ARN_ALIASES = 1 << 3, /* last_alias and alias_wanted are found */
};

typedef struct arn_def_use {
    uint32_t first_def, last_def; /* ops, in the program's order; NONE: none */
    uint32_t n_uses, last_use;    /* operands, with captures; the op of the last of them; NONE */
    bool bound;                   /* value or target of a binding */
    bool wanted;                  /* a result of its method, or value of a binding */
    bool kept;                    /* a result, or of a class that outlives a call */
    bool alias_wanted;            /* a possible other name for its memory is wanted */
    uint32_t last_alias;          /* the last op that uses such a name; NONE */
} arn_def_use;

/* Per tensor; or per id that `of` gives a tensor, below the number of tensors (ARENAUT_NONE: the
 * tensor does not count). NULL if there is no memory. O(arguments). */
arn_def_use *arn_def_use_find(const arenaut_program *program, const uint32_t *of, unsigned which,
                              arn_region *region);

/* The only op that defines it; ARENAUT_NONE: there are none, or several. */
static inline uint32_t arn_only_def(const arn_def_use *d) {
    return d->first_def == d->last_def ? d->first_def : ARENAUT_NONE;
}

/* Whether op `at` is the last to use a tensor, under no other name, and behind all uses of other
 * names, and the tensor is wanted under none of its names. Of one found with ARN_ALIASES. */
bool arn_dies_at(const arn_def_use *d, uint32_t at);

#endif
