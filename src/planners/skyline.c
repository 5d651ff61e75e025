/* skyline: always fill the lowest place, with the first item in the order that can go there.
 * The best single pass on most problems. */
#include "planners/run/planner_settings.h"
#include "planners/placing/trial.h"

static arenaut_status skyline_run(const arenaut_planner *self, arenaut_planning *planning) {
    arenaut_status st = arn_settings_check(planning, self, "order");
    if (st != ARENAUT_OK) return st;
    const char *value = arn_setting(planning, "order", "TWA");
    const char *letters = arn_order_letters(value);
    if (!letters) return arn_setting_bad(planning, self, "order", value);
    arn_bench bench;
    arn_meter meter = arn_meter_start(planning, self->name);
    st = arn_bench_open(&bench, planning, 0);
    if (st != ARENAUT_OK) return st;
    arn_orders_sort(&bench.orders, letters, bench.order);
    const arn_rules rules = {.fit = ARN_FIRST_FIT, .share = true};
    st = arn_try_skyline(&bench, &meter, rules);
    if (st == ARENAUT_OK && !arn_meter_has_plan(&meter)) {
        /* Too large for the careful skyline, or out of room: the nearest that is not. */
        st = arn_try_order(&bench, &meter, rules);
    }
    arn_bench_close(&bench);
    return st == ARENAUT_OK ? arn_meter_finish(&meter) : st;
}

const arenaut_planner arn_planner_skyline = {
    .name = "skyline",
    .summary = "always fills the lowest place, by the order given",
    .settings = ARN_ORDER_SETTING,
    .handles = ARENAUT_FEATURE_ALL,
    .run = skyline_run,
};
