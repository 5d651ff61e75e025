/* onnxruntime: the memory pattern of ONNX Runtime, the second of its two stages.
 *
 * The first run of a session is traced: buffers come in the order in which they come alive,
 * and each goes into the smallest gap between those alive then, the lowest of equals, or
 * behind all of them. One block of that size serves the runs that follow.
 *
 * The first stage hands a tensor's memory on to a later one of the same shape. Shapes are
 * not in a problem, so this is not done here; what is known of it are the results written
 * over an op's input: the input lives on for them, and has no gaps in its life.
 *
 * The runtime rounds sizes up to 64 bytes. The same comes of a problem that asks for that
 * alignment, since gaps then begin and end at multiples of it. */
#include "planners/run/incumbents.h"
#include "planners/placing/trial.h"

arenaut_status arn_try_onnxruntime(arenaut_planning *planning, arn_meter *meter) {
    const arn_rules rules = {.fit = ARN_BEST_FIT};
    return arn_try_pass(planning, meter, ARN_COLLAPSE | ARN_HULL, "L", rules);
}

static arenaut_status onnxruntime_pattern_run(const arenaut_planner *self,
                                              arenaut_planning *planning) {
    return arn_run_incumbent(self, planning, arn_try_onnxruntime);
}

const arenaut_planner arn_planner_onnxruntime_pattern = {
    .name = "onnxruntime",
    .summary = "ONNX Runtime's memory pattern: in order of time, smallest gap",
    .handles = ARENAUT_FEATURE_ALIGNMENT | ARENAUT_FEATURE_GAPS | ARENAUT_FEATURE_CAPACITY |
               ARENAUT_FEATURE_SAME_BASE | ARENAUT_FEATURE_HINTS,
    .run = onnxruntime_pattern_run,
};
