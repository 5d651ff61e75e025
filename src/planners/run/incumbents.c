#include "planners/run/incumbents.h"

#include "planners/run/planner_settings.h"

arenaut_status arn_run_incumbent(const arenaut_planner *self, arenaut_planning *planning,
                                 arn_incumbent attempt) {
    arenaut_status st = arn_settings_check(planning, self, NULL);
    arn_meter meter = arn_meter_start(planning, self->name);
    if (st == ARENAUT_OK) st = attempt(planning, &meter);
    if (st != ARENAUT_OK || planning->plan->quality == ARENAUT_INFEASIBLE) return st;
    return arn_meter_finish(&meter);
}
