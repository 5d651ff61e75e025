/* The common part of passes over whole programs: rewrites of the list of ops. */
#ifndef ARN_PASSES_PROGRAM_EDIT_H
#define ARN_PASSES_PROGRAM_EDIT_H

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

#endif
