/* best-fit: from large to small, each into the smallest gap that is large enough. Better
 * than the lowest gap where sizes vary much. */
#include "planners/run/planner_settings.h"
#include "planners/placing/trial.h"

static arenaut_status best_fit_run(const arenaut_planner *self, arenaut_planning *planning) {
    const arenaut_status st = arn_settings_check(planning, self, "order");
    if (st != ARENAUT_OK) return st;
    const char *value = arn_setting(planning, "order", "size");
    const char *letters = arn_order_letters(value);
    if (!letters) return arn_setting_bad(planning, self, "order", value);
    const arn_rules rules = {.fit = ARN_BEST_FIT, .share = true, .keep_hints = true};
    return arn_plan_in_order(planning, self->name, 0, letters, rules);
}

const arenaut_planner arn_planner_best_fit = {
    .name = "best-fit",
    .summary = "from large to small, each in the smallest gap that is large enough",
    .settings = ARN_ORDER_SETTING,
    .handles = ARENAUT_FEATURE_ALL,
    .run = best_fit_run,
};
