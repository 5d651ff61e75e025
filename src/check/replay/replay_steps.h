/* Following the kernel of an op whose outputs overlap its inputs. */
#ifndef ARN_CHECK_REPLAY_STEPS_H
#define ARN_CHECK_REPLAY_STEPS_H

#include "check/replay/replay.h"

/* How many steps of kernels are followed before a program is refused: some seconds. Counted in
 * steps and in 64 bytes that they read or write. */
#define ARN_REPLAY_STEPS (UINT64_C(1) << 31)

/* Sets r->rule: how the kernels given walk through this op; NULL where none are, they have no rule
 * for it, or it is of a kind that they do not run. */
void arn_replay_find_rule(arn_replay *r, const arenaut_op *op);

/* Where r->rule is set: finds the pairs of an input and an output that overlap, but for those in
 * place (r->over), and follows the op's steps. OK: r->pairs may overlap as they do; else REJECTED,
 * or UNSUPPORTED past ARN_REPLAY_STEPS, or NO_MEMORY. */
arenaut_status arn_replay_follow(arn_replay *r, const arenaut_op *op);

#endif
