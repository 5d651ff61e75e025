/* greedy-by-breadth: step by step, those with the most bytes alive first, and at each step
 * what is alive there and has no place yet, from large to small, in the smallest gap. Good
 * where the peak decides. */
#include "planners/run/planner_settings.h"
#include "planners/placing/trial.h"

static arenaut_status greedy_by_breadth_run(const arenaut_planner *self,
                                            arenaut_planning *planning) {
    const arenaut_status st = arn_settings_check(planning, self, NULL);
    if (st != ARENAUT_OK) return st;
    const arn_rules rules = {.fit = ARN_BEST_FIT, .share = true, .keep_hints = true};
    return arn_plan_in_order(planning, self->name, 0, "TPZ", rules);
}

const arenaut_planner arn_planner_greedy_by_breadth = {
    .name = "greedy-by-breadth",
    .summary = "steps with the most bytes alive first, then by size, in the smallest gap",
    .handles = ARENAUT_FEATURE_ALL,
    .run = greedy_by_breadth_run,
};
