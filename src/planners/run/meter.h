/* The meter of a search: counts its effort, remembers the best plan, asks the caller whether
 * to go on, and says when there is nothing left to gain. */
#ifndef ARN_PLANNERS_RUN_METER_H
#define ARN_PLANNERS_RUN_METER_H

#include <stdbool.h>

#include <arenaut/planner.h>

#include "planners/run/poll.h"
#include "planners/run/cost.h"

enum { ARN_REPORT_EVERY = 4096 }; /* effort */

typedef struct arn_meter {
    arenaut_planning *planning;
    const char *planner; /* the name of the planner at work; it outlives the plan */
    uint64_t spent;      /* effort */
    uint64_t limit;
    uint64_t next_report;
    arn_cost best; /* of the plan in planning->plan; ARN_NO_PLAN: none yet */
    arn_cost goal; /* at or below this there is nothing to gain */
    bool stopped;
    arenaut_stop why;
    arn_poll poll; /* see arn_meter_poll */
} arn_meter;

arn_meter arn_meter_start(arenaut_planning *planning, const char *planner);

/* Counts `effort`. False when the search is over. A planner that has no plan yet may finish
 * what it is at if only the effort is spent. */
bool arn_meter_spend(arn_meter *meter, uint64_t effort);

/* For work that is no search step: asks the caller just as the meter does, and stops the meter
 * if it is told to. Serves as long as the meter stays where it is. */
arn_poll *arn_meter_poll(arn_meter *meter);

/* Whether the caller said stop: then nothing is finished that was begun. */
bool arn_meter_was_stopped(const arn_meter *meter);

/* Where the work stands, as a callback is told. */
arenaut_progress arn_meter_progress(const arn_meter *meter);

/* Whether to begin, or go on with, what may become the first plan or a better one. */
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

/* Takes over what is now known of the bounds. */
void arn_meter_raise_goal(arn_meter *meter);

/* Whether a plan of this cost is worth keeping. */
bool arn_meter_improves(const arn_meter *meter, arn_cost cost);

/* To be called when planning->plan has just got better places. */
void arn_meter_improved(arn_meter *meter, arn_cost cost);

/* Writes effort and the reason for stopping into the plan. If there is no plan: STOPPED, or
 * REFUSED if the planner itself found none. */
arenaut_status arn_meter_finish(arn_meter *meter);

#endif
