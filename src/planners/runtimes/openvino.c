/* openvino: the memory solver of OpenVINO.
 *
 * Boxes go from large to small; each begins at offset 0 and is lifted above whatever it
 * meets until it meets nothing, which is the lowest gap. The original leaves the order of
 * equal sizes to its sort; here the first number comes first, as in a stable one.
 *
 * What shares memory has become one box before, as large as the largest and alive from the
 * first step of any to the last of all. */
#include "planners/run/incumbents.h"
#include "planners/placing/trial.h"

arenaut_status arn_try_openvino(arenaut_planning *planning, arn_meter *meter) {
    const arn_rules rules = {.fit = ARN_FIRST_FIT};
    return arn_try_pass(planning, meter, ARN_COLLAPSE | ARN_HULL, "Z", rules);
}

static arenaut_status openvino_run(const arenaut_planner *self, arenaut_planning *planning) {
    return arn_run_incumbent(self, planning, arn_try_openvino);
}

const arenaut_planner arn_planner_openvino = {
    .name = "openvino",
    .summary = "OpenVINO's memory solver: by size, lowest gap",
    .handles = ARENAUT_FEATURE_ALIGNMENT | ARENAUT_FEATURE_GAPS | ARENAUT_FEATURE_CAPACITY |
               ARENAUT_FEATURE_SAME_BASE | ARENAUT_FEATURE_HINTS,
    .run = openvino_run,
};
