/* ggml: the allocator that llama.cpp and others plan their graphs with.
 *
 * It walks the graph and keeps a list of free blocks, sorted by address; what is freed joins
 * the free blocks next to it, so that these are just the gaps between what is alive. A
 * tensor goes into the smallest block that is large enough, the highest of equals. The last
 * block, which has no end, is used only if there is no other. The result of an op that may
 * work in place takes its operand's memory instead, and what is left over of that is freed.
 *
 * One chunk of memory without a size limit, which is what most of its back ends have. The
 * original rounds sizes up to the alignment; see onnxruntime.c for why this is not done. */
#include "planners/run/incumbents.h"
#include "planners/placing/trial.h"

arenaut_status arn_try_ggml(arenaut_planning *planning, arn_meter *meter) {
    const arn_rules rules = {.fit = ARN_HIGH_FIT, .share = true};
    return arn_try_pass(planning, meter, ARN_HULL, "L", rules);
}

static arenaut_status ggml_run(const arenaut_planner *self, arenaut_planning *planning) {
    return arn_run_incumbent(self, planning, arn_try_ggml);
}

const arenaut_planner arn_planner_ggml = {
    .name = "ggml",
    .summary = "ggml's graph allocator: in order of time, smallest free block",
    .handles = ARENAUT_FEATURE_ALIGNMENT | ARENAUT_FEATURE_GAPS | ARENAUT_FEATURE_CAPACITY |
               ARENAUT_FEATURE_SAME_BASE | ARENAUT_FEATURE_HINTS,
    .run = ggml_run,
};
