/* The table of planners: the rows of planners.def in their order, and the public look-ups; the rows
 * that `auto` tries, the attempt of a row, and the settings of a planner.
 *
 * The table is short, so it is gone through each time, and sorted by insertion. An attempt is up to
 * its row; the order of trials stands in search/portfolio.c and auto.c. Of several values for one
 * setting the last counts. */
#include "planners/run/planner_rows.h"

#include <string.h>

#include "core/fail.h"
#include "core/table.h"
#include "planners/bounds/bounds.h"

static const arenaut_planner *const all[] = {
#define PLANNER(id) &arn_planner_##id,
#include "planners/planners.def"
#undef PLANNER
};

ARN_TABLE_LOOKUPS(planner)

/* ---- the rows that `auto` tries ---- */

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
    const uint32_t features = arn_problem_features(problem);
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

/* ---- settings ---- */

const char *arn_setting(const arenaut_planning *planning, const char *name, const char *otherwise) {
    const arenaut_plan_options *options = planning->options;
    for (size_t i = options->n_settings; i-- > 0;) {
        if (strcmp(options->settings[i].name, name) == 0) return options->settings[i].value;
    }
    return otherwise;
}

arenaut_status arn_settings_check(const arenaut_planning *planning, const arenaut_planner *self,
                                  const char *known) {
    const arenaut_plan_options *options = planning->options;
    for (size_t i = 0; i < options->n_settings; i++) {
        if (known && strcmp(options->settings[i].name, known) == 0) continue;
        return arn_fail(planning->err, ARENAUT_BAD_ARGUMENT, 0,
                        "planner '%s' has no setting '%s'; it has: %s", self->name,
                        options->settings[i].name, self->settings ? self->settings : "none");
    }
    return ARENAUT_OK;
}

arenaut_status arn_setting_bad(const arenaut_planning *planning, const arenaut_planner *self,
                               const char *name, const char *value) {
    return arn_fail(planning->err, ARENAUT_BAD_ARGUMENT, 0,
                    "planner '%s': setting %s cannot be '%s'; it can be: %s", self->name, name,
                    value, self->settings);
}
