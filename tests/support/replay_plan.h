/* From a plan of buffers to a placement of tensors, and that to the replay. */
#ifndef SUPPORT_REPLAY_PLAN_H
#define SUPPORT_REPLAY_PLAN_H

#include <arenaut/check.h>
#include <arenaut/lowering.h>
#include <arenaut/plan.h>

/* Replays the program with each tensor where the plan of its lowering puts it. As
 * arenaut_check_replay. Usable in fuzzers. */
arenaut_status replay_plan(const arenaut_program *program, const arenaut_lowering *lowering,
                           const arenaut_plan *plan, arenaut_finding *finding, arenaut_error *err);

#endif
