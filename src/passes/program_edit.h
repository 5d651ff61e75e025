/* Common parts of passes over whole programs: rewrites of the list of ops, traits of operators, and
 * def-use counts of tensors. */
#ifndef ARN_PASSES_PROGRAM_EDIT_H
#define ARN_PASSES_PROGRAM_EDIT_H

#include <arenaut/dialect.h>
#include <arenaut/pass.h>

/* The ops of a program, written anew. */
typedef struct arn_pass_edit {
    arenaut_program *program;
    arenaut_op *ops;
    uint32_t n, capacity;
    arenaut_error *err;
} arn_pass_edit;

/* Called with each op in order; puts its replacement, which may be nothing. */
typedef arenaut_status (*arn_pass_edit_visit)(void *context, arn_pass_edit *edit, uint32_t at);
/* Called when all ops of a method have been visited; may put more. May be NULL. */
typedef arenaut_status (*arn_pass_edit_leave)(void *context, arn_pass_edit *edit, uint32_t method);

/* Appends an op; its lists must live as long as the program. */
arenaut_status arn_pass_edit_put(arn_pass_edit *edit, const arenaut_op *op);

/* Rewrites all ops. Jumps and dependences follow their targets: a jump goes to the first op put for
 * its target, and a dependence is on the last op put for it. On failure the program is as it
 * was. */
arenaut_status arn_pass_edit_ops(arenaut_program *program, arn_pass_edit_visit visit,
                                 arn_pass_edit_leave leave, void *context, arenaut_error *err);

/* Copies of lists that live as long as the program; NULL if there is no memory. */
uint32_t *arn_pass_edit_list(arenaut_program *program, const uint32_t *ids, uint32_t n);

/* The traits of an operator in the program's dialect; 0: none. */
uint32_t arn_pass_traits_of(const arenaut_dialect *dialect, const arenaut_op *op);

/* The uses of a tensor. */
typedef struct arn_use {
    uint32_t n;          /* ops that have it as an input, with captures */
    uint32_t last;       /* the last of these in the program's order; NONE: none */
    bool kept;           /* a result of its method, or of a class that outlives a call */
    uint32_t last_alias; /* the last op that has as an input what may be another name for its
                          * memory; NONE: none */
    bool alias_wanted;   /* such a name is */
    bool bound;          /* value or target of a binding */
    bool wanted;         /* a result of its method, or value of a binding: as it is, to the end */
} arn_use;

/* Whether op `at` is the last reader of the tensor, under no other name, and behind all readers
 * under other names, and the tensor is wanted as it is under none of its names. */
bool arn_pass_dies_at(const arn_use *use, uint32_t at);

/* Per tensor; the caller releases the array with the program's allocator. NULL: no memory. */
arn_use *arn_pass_find_uses(const arenaut_program *program);

#endif
