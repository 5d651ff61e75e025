/* xnnpack: the memory planner of XNNPACK, as it is since it fills the gap at the bottom too.
 *
 * Values go from large to small. Those placed before that are alive with one are merged into
 * stretches of memory, and it goes into the smallest gap below, between or above these that
 * is large enough. The original leaves the order of equal sizes to its sort; here the first
 * number comes first.
 *
 * A value marked as reusing another's memory is not placed: the other lives on for it. */
#include "planners/run/incumbents.h"
#include "planners/placing/trial.h"

arenaut_status arn_try_xnnpack(arenaut_planning *planning, arn_meter *meter) {
    const arn_rules rules = {.fit = ARN_BEST_FIT};
    return arn_try_pass(planning, meter, ARN_COLLAPSE | ARN_HULL, "Z", rules);
}

static arenaut_status xnnpack_run(const arenaut_planner *self, arenaut_planning *planning) {
    return arn_run_incumbent(self, planning, arn_try_xnnpack);
}

const arenaut_planner arn_planner_xnnpack = {
    .name = "xnnpack",
    .summary = "XNNPACK's own: by size, smallest gap",
    .handles = ARENAUT_FEATURE_ALIGNMENT | ARENAUT_FEATURE_GAPS | ARENAUT_FEATURE_CAPACITY |
               ARENAUT_FEATURE_SAME_BASE | ARENAUT_FEATURE_HINTS,
    .run = xnnpack_run,
};
