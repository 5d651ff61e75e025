/* Makes the one pass of a planner that is described by data: an order, a fit, and what it uses of
 * a problem. Such planners are rows of greedy.c and runtimes/one_pass.c; the portfolio varies
 * them. A pass costs what trial.h says of its kind. */
#include "planners/placing/pass.h"

#include "planners/run/planner_settings.h"

arenaut_status arn_pass_vary(const arenaut_planner *row, const char *letters, arn_rules rules,
                             arn_workspace *space, arn_meter *meter) {
    const arn_pass *pass = row->data;
    rules.fit = pass->rules.fit;
    meter->planner = row->name;
    arn_orders_sort(&space->orders, letters ? letters : pass->letters, space->order);
    return pass->by_skyline ? arn_try_skyline(space, meter, rules)
                            : arn_try_order(space, meter, rules);
}

static arenaut_status make_pass(const arenaut_planner *self, const char *letters,
                                arenaut_planning *planning, arn_meter *meter) {
    const arn_pass *pass = self->data;
    arn_workspace space;
    arenaut_status st = arn_workspace_open(&space, planning, pass->how);
    if (st != ARENAUT_OK) return st;
    st = arn_pass_vary(self, letters, pass->rules, &space, meter);
    if (st == ARENAUT_OK && pass->by_skyline && !arn_meter_has_plan(meter)) {
        /* Too large for the careful skyline, or out of room: the nearest that is not. */
        st = arn_try_order(&space, meter, pass->rules);
    }
    arn_workspace_close(&space);
    return st;
}

arenaut_status arn_pass_make(const arenaut_planner *self, arenaut_planning *planning,
                             arn_meter *meter) {
    return make_pass(self, NULL, planning, meter);
}

arenaut_status arn_pass_run(const arenaut_planner *self, arenaut_planning *planning) {
    const arn_pass *pass = self->data;
    arenaut_status st = arn_settings_check(planning, self, self->settings ? "order" : NULL);
    if (st != ARENAUT_OK) return st;
    const char *value = arn_setting(planning, "order", NULL);
    const char *letters = value ? arn_order_letters(value) : pass->letters;
    if (!letters) return arn_setting_bad(planning, self, "order", value);
    arn_meter meter = arn_meter_start(planning, self->name);
    st = make_pass(self, letters, planning, &meter);
    return st == ARENAUT_OK ? arn_meter_finish(&meter) : st;
}
