/* Running methods and ops in a replay, and what is checked of a method as a whole. Calls go one
 * way: check_replay.c to replay_control.c to replay_kernel.c and replay_jumps.c. */
#ifndef ARN_CHECK_REPLAY_CONTROL_H
#define ARN_CHECK_REPLAY_CONTROL_H

#include "check/replay/replay.h"

/* How much work is done before a program is refused: so much, some seconds, and so much
 * more for each op and argument, which is more than they need. Programs can only pass it by
 * calls that multiply and by loops within loops. Counted in nodes of the shadow looked at. */
#define ARN_REPLAY_WORK (UINT64_C(1) << 30)
#define ARN_REPLAY_WORK_EACH 4096u

/* Runs the ops of a method; UNSUPPORTED when there has been too much work, or calls are nested
 * more than ARN_REPLAY_DEPTH deep. */
arenaut_status arn_replay_method(arn_replay *r, uint32_t method, uint32_t depth);
enum { ARN_REPLAY_DEPTH = 64 };
/* UNSUPPORTED when there has been too much work already. */
arenaut_status arn_replay_charge(arn_replay *r);
/* Says so: `what` is too much of the method at work. */
arenaut_status arn_replay_too_much(const arn_replay *r, const char *what, uint64_t limit);

/* Runs an op that is no control flow. */
arenaut_status arn_replay_kernel(arn_replay *r, const arenaut_op *op);

bool arn_replay_has_jumps(const arenaut_program *program, uint32_t method);
/* Runs the ops of a method in which some jump; `run_op` runs each but the jumps. */
arenaut_status arn_replay_jumps(arn_replay *r, uint32_t method, uint32_t depth,
                                arenaut_status (*run_op)(arn_replay *r, uint32_t op,
                                                         uint32_t depth));

/* Whether state that the method's bindings say it has mutated is read by the name of its old
 * value while it holds that, and holds its new value in the end. */
arenaut_status arn_replay_check_mutations(arn_replay *r, uint32_t method);
/* Whether a concurrent method is right in every order of its ops, if it is in the one listed. */
arenaut_status arn_replay_check_races(arn_replay *r, uint32_t method);

#endif
