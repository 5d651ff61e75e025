/* Planning without a limit to the effort: a given time is used up. */
#ifndef ARN_PLANNERS_RUN_ROUNDS_H
#define ARN_PLANNERS_RUN_ROUNDS_H

#include <arenaut/planner.h>

/* Runs the planner, whose plan has its bounds. With ARENAUT_NO_EFFORT_LIMIT in rounds of twice
 * the effort each, beginning with the default, until it has a proof, has nothing left to do, or
 * is stopped; planning->plan is then the best of them. Searches share out what they are given, so
 * that one round without an end would leave some of them nothing; and whatever one effort finds,
 * a time that is enough for twice as much finds too. */
arenaut_status arn_run_planner(const arenaut_planner *planner, arenaut_planning *planning);

#endif
