/* The meter of a search: its effort budget, the cost of its best plan (the incumbent of branch and
 * bound), polls of the stop callback, and the goal at which there is nothing left to gain. */
#ifndef ARN_PLANNERS_RUN_METER_H
#define ARN_PLANNERS_RUN_METER_H

#include <stdbool.h>

#include <arenaut/planner.h>

#include "planners/run/poll.h"
#include "ir/cost.h"

enum { ARN_REPORT_EVERY = 4096 }; /* effort */

typedef struct arn_meter {
    arenaut_planning *planning;
    const char *planner; /* the name of the planner at work; it outlives the plan */
    uint64_t spent;      /* effort */
    uint64_t limit;
    uint64_t next_report;
    arenaut_cost best; /* of the plan in planning->plan; ARN_NO_PLAN: none yet */
    arenaut_cost goal; /* at or below this there is nothing to gain */
    bool stopped;
    arenaut_stop why;
    arn_poll poll; /* see arn_meter_poll */
} arn_meter;

arn_meter arn_meter_start(arenaut_planning *planning, const char *planner);

/* Charges `effort`. False when the search is over. A planner that has no plan yet may finish its
 * attempt if only the budget is spent. */
bool arn_meter_spend(arn_meter *meter, uint64_t effort);

/* Polls the stop callback during work that is not charged as effort, and stops the meter if that
 * says so. Valid as long as the meter is not moved. */
arn_poll *arn_meter_poll(arn_meter *meter);

/* Whether the stop callback ended the search: then nothing that was begun is finished. */
bool arn_meter_was_stopped(const arn_meter *meter);

/* The progress that is reported to a callback. */
arenaut_progress arn_meter_progress(const arn_meter *meter);

/* Whether to begin, or go on with, an attempt that may become the first plan or a better one. */
bool arn_meter_wants_plan(const arn_meter *meter);

/* Allows at least so much effort more, even if the effort was spent. Undoes no other stop. */
void arn_meter_allow(arn_meter *meter, uint64_t effort);

/* Stops the search, unless something other than the effort already has. */
void arn_meter_stop(arn_meter *meter, arenaut_stop why);

/* Whether to go on: there is something to gain, and nothing has stopped the search. */
bool arn_meter_goes_on(const arn_meter *meter);

/* Whether there is a plan, and whether nothing better is to be found. */
bool arn_meter_has_plan(const arn_meter *meter);
bool arn_meter_at_goal(const arn_meter *meter);

/* Takes over the present bounds of the plan. */
void arn_meter_raise_goal(arn_meter *meter);

/* Whether a plan of this cost is worth keeping. */
bool arn_meter_improves(const arn_meter *meter, arenaut_cost cost);

/* To be called when planning->plan has just got better places. */
void arn_meter_improved(arn_meter *meter, arenaut_cost cost);

/* Writes effort and the reason for stopping into the plan. If there is no plan: STOPPED, or
 * NOT_FOUND if the planner itself found none. */
arenaut_status arn_meter_finish(arn_meter *meter);

#endif
