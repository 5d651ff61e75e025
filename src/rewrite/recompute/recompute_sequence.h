/* Rematerialization of ops, in any sequence that has each at least once. */
#ifndef ARN_REWRITE_RECOMPUTE_SEQUENCE_H
#define ARN_REWRITE_RECOMPUTE_SEQUENCE_H

#include <arenaut/rewrite.h>

#include "core/memory.h"

/* Rematerialization (recompute in our flags): runs the ops of `program` in this sequence, in which
 * each stands at least once; one that stands more than once is rematerialized, in a program of one
 * method. Its first run has the results of before, and each further one copies of them: new
 * tensors, whose origins name them. An op reads the latest copies that there are when it runs, but
 * its operands that it updates in place. Takes `program` over if all goes well. BAD_ARGUMENT if
 * some op is missing; TOO_LARGE if there are no numbers left for the added ops.
 * arenaut_check_rewrite decides whether it computes the same. */
arenaut_status arn_recompute(arenaut_program *program, const uint32_t *ops, uint32_t n_ops,
                             arenaut_rewrite **out, arenaut_error *err);

/* Leaves out runs whose results are not read before the same op is repeated, as long as some op
 * then runs more than once. `ops`: a sequence of the ops of `file`, the program before its passes.
 * False if there is no memory. */
bool arn_recompute_leave_out_unread(const arenaut_program *file, arn_region *region, uint32_t *ops,
                                    uint32_t *n_ops);

/* Whether an op computes the same whenever it runs on the same operands, and nothing else. */
bool arn_recompute_may_repeat(const arenaut_program *program, const arenaut_op *op);

#endif
