/* The portfolio: every order and fit that is known to be the best one somewhere. */
#ifndef ARN_PLANNERS_SEARCH_SEARCH_H
#define ARN_PLANNERS_SEARCH_SEARCH_H

#include "planners/run/lanes.h"

/* Both make one trial after the other until there is nothing to gain. The first makes what
 * the planners of the table do by default, whatever the effort; the second the rest, while
 * the effort lasts or there is no plan.
 *
 * Where so many buffers are alive together that looking at each pair takes long, the first
 * makes the trials that need not do that before those that must, as far as the effort goes;
 * and where it would take too long, leaves the latter to the second. `pairs` is the number of
 * pairs, each seen from both sides and each group with itself. */
arenaut_status arn_portfolio_rows(arn_lanes *lanes, uint64_t *pairs);
arenaut_status arn_portfolio_rest(arn_lanes *lanes, uint64_t pairs);

/* Trials that give each group its pool before any is placed. */

/* Improves the best plan where pools are to be chosen; `pairs` as in portfolio.h. NO_MEMORY or
 * OK. */
arenaut_status arn_assign_pools(arn_lanes *lanes, uint64_t pairs);

/* Local search over orders (see local_search.c), for the planner of that name and for auto. */

/* A few searches from different starts, that can be continued. What they try depends on the
 * problem and the seed only, not on the best plan so far. */
typedef struct arn_climbs arn_climbs;

/* To be freed before the lanes are closed. */
arenaut_status arn_climbs_new(arn_lanes *lanes, arn_climbs **climbs);
void arn_climbs_free(arn_climbs *climbs);

/* Goes on until they have spent so much effort in all since they were opened. `extra` is one
 * more search that comes before them in the batch; NULL: none. */
arenaut_status arn_climbs_run(arn_climbs *climbs, arn_lanes *lanes, uint64_t effort,
                              arn_lane_task extra, void *context);

/* Whether so much effort leads anywhere beyond what the skyline does by itself. */
bool arn_climbs_can_move(const arenaut_problem *problem, uint64_t effort);

/* The share of the effort that local search gets: a quarter. The exact search, where there
 * is one, makes more of the rest. */
static inline uint64_t arn_local_search_share(uint64_t effort) { return effort / 4 + 1; }

/* Exact search for the part of a large problem that decides its arena (see hot_zone.c). */

/* For problems of one pool without relations. Does nothing if there is no plan yet. Zones of
 * several sizes are tried, each with so much effort of exact search. */
arenaut_status arn_hot_zones(arn_lanes *lanes, uint64_t effort);

#endif
