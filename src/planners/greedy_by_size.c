/* greedy-by-size: from large to small, equal ones in program order, each into the lowest gap
 * that is large enough. Hard to beat among simple planners. */
#include "planners/run/planner_settings.h"
#include "planners/placing/trial.h"

static arenaut_status greedy_by_size_run(const arenaut_planner *self, arenaut_planning *planning) {
    const arenaut_status st = arn_settings_check(planning, self, NULL);
    if (st != ARENAUT_OK) return st;
    const arn_rules rules = {.fit = ARN_FIRST_FIT, .share = true, .keep_hints = true};
    return arn_plan_in_order(planning, self->name, 0, "Z", rules);
}

const arenaut_planner arn_planner_greedy_by_size = {
    .name = "greedy-by-size",
    .summary = "from large to small, each in the lowest gap that is large enough",
    .handles = ARENAUT_FEATURE_ALL,
    .run = greedy_by_size_run,
};
