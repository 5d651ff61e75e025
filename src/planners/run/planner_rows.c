/* Looks up which rows of the table `auto` tries, and makes such an attempt.
 *
 * The table is short, so it is walked each time, and sorted by insertion. What the attempts do is
 * up to the rows; the order of trials stands in search/portfolio.c and auto.c. */
#include "planners/run/planner_rows.h"

#include "planners/run/planner_settings.h"

uint32_t arn_rows_to_try(uint32_t when, const arenaut_planner *rows[ARN_PLANNERS]) {
    uint32_t n = 0;
    for (size_t i = 0; i < ARN_PLANNERS; i++) {
        const arenaut_planner *row = arenaut_planner_at(i);
        if (!row->attempt || !(row->attempt->when & when)) continue;
        uint32_t at = n++;
        for (; at > 0 && rows[at - 1]->attempt->turn > row->attempt->turn; at--) {
            rows[at] = rows[at - 1];
        }
        rows[at] = row;
    }
    return n;
}

bool arn_row_suits(const arenaut_planner *row, const arenaut_problem *problem) {
    const arn_attempt *attempt = row->attempt;
    const uint32_t features = arenaut_problem_features(problem);
    if (features & ~row->handles) return false;
    if (attempt->differs && !(attempt->differs & features)) return false;
    return !attempt->suits || attempt->suits(problem);
}

arenaut_status arn_row_try(const arenaut_planner *row, arenaut_planning *planning,
                           arn_meter *meter) {
    meter->planner = row->name;
    return row->attempt->make(row, planning, meter);
}

arenaut_status arn_row_run(const arenaut_planner *self, arenaut_planning *planning) {
    arenaut_status st = arn_settings_check(planning, self, NULL);
    arn_meter meter = arn_meter_start(planning, self->name);
    if (st == ARENAUT_OK) st = arn_row_try(self, planning, &meter);
    if (st != ARENAUT_OK || planning->plan->quality == ARENAUT_INFEASIBLE) return st;
    return arn_meter_finish(&meter);
}
