/* first-fit: in the order asked for, each into the lowest gap that is large enough. */
#include "planners/run/planner_settings.h"
#include "planners/placing/trial.h"

static arenaut_status first_fit_run(const arenaut_planner *self, arenaut_planning *planning) {
    const arenaut_status st = arn_settings_check(planning, self, "order");
    if (st != ARENAUT_OK) return st;
    const char *value = arn_setting(planning, "order", "start");
    const char *letters = arn_order_letters(value);
    if (!letters) return arn_setting_bad(planning, self, "order", value);
    const arn_rules rules = {.fit = ARN_FIRST_FIT, .share = true, .keep_hints = true};
    return arn_plan_in_order(planning, self->name, 0, letters, rules);
}

const arenaut_planner arn_planner_first_fit = {
    .name = "first-fit",
    .summary = "in a given order, each in the lowest gap that is large enough",
    .settings = ARN_ORDER_SETTING,
    .handles = ARENAUT_FEATURE_ALL,
    .run = first_fit_run,
};
