/* auto: the best of everything. Bound, then a portfolio of orders and fits. */
#include "planners/settings.h"
#include "planners/trial.h"

static arenaut_status auto_run(const arenaut_planner *self, arenaut_planning *planning) {
    static const char *const letters[] = {"Z", "Z-", "TWA", "WAT", "TAW", "A", "L", "U", "CZA"};
    static const arn_fit fits[] = {ARN_FIRST_FIT, ARN_BEST_FIT};
    arenaut_status st = arn_settings_check(planning, self, NULL);
    if (st != ARENAUT_OK) return st;
    arn_meter meter = arn_meter_start(planning, self->name);
    for (unsigned how = 0; how <= ARN_COLLAPSE && st == ARENAUT_OK; how++) {
        arn_bench bench;
        st = arn_bench_open(&bench, planning, how);
        if (st != ARENAUT_OK) return st;
        for (size_t i = 0; i < sizeof letters / sizeof *letters && st == ARENAUT_OK; i++) {
            arn_orders_sort(&bench.orders, letters[i], bench.order);
            for (size_t k = 0; k < 4 && st == ARENAUT_OK; k++) {
                const arn_rules rules = {.fit = fits[k % 2], .share = k < 2, .keep_hints = true};
                if (meter.best == ARENAUT_UNPLACED || arn_meter_goes_on(&meter)) {
                    st = arn_try_order(&bench, &meter, rules);
                }
            }
        }
        arn_bench_close(&bench);
    }
    return st == ARENAUT_OK ? arn_meter_finish(&meter) : st;
}

const arenaut_planner arn_planner_auto = {
    .name = "auto",
    .summary = "the best of all planners, until the bound or the effort is reached",
    .handles = ARENAUT_FEATURE_ALL,
    .run = auto_run,
};
