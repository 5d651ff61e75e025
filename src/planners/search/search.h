/* The heuristic searches of `auto`: the portfolio of orders and fits, assignment of pools, local
 * search, and exact search of the hot zone. */
#ifndef ARN_PLANNERS_SEARCH_SEARCH_H
#define ARN_PLANNERS_SEARCH_SEARCH_H

#include "planners/run/lanes.h"

/* The portfolio: every order and fit that is known to be the best one somewhere. Both functions
 * make one trial after the other until there is nothing to gain: the first those of the table's
 * planners by default, whatever the effort; the second the rest, while the effort lasts or there is
 * no plan.
 *
 * If so many buffers are alive together that looking at each pair takes long, the first makes the
 * trials that need no pairs before the others, as far as the effort goes; and if it would take too
 * long, leaves the latter to the second. `pairs` is the number of pairs, each counted twice and
 * each group with itself. */
arenaut_status arn_portfolio_rows(arn_lanes *lanes, uint64_t *pairs);
arenaut_status arn_portfolio_rest(arn_lanes *lanes, uint64_t pairs);

/* Improves the best plan if pools are to be chosen, by trials that give each group its pool before
 * any is placed; `pairs` as above. NO_MEMORY or OK. */
arenaut_status arn_assign_pools(arn_lanes *lanes, uint64_t pairs);

/* Local search over orders, for the planner of that name and for auto: a few hill climbs from
 * different starts, that can be continued. They depend on the problem and the seed only, not on the
 * best plan so far. */
typedef struct arn_hill_climbs arn_hill_climbs;

/* To be freed before the lanes are closed. */
arenaut_status arn_hill_climbs_new(arn_lanes *lanes, arn_hill_climbs **climbs);
void arn_hill_climbs_free(arn_hill_climbs *climbs);

/* Goes on until they have spent so much effort in all since they were opened. `extra` is one
 * more search that comes before them in the batch; NULL: none. */
arenaut_status arn_hill_climbs_run(arn_hill_climbs *climbs, arn_lanes *lanes, uint64_t effort,
                                   arn_lane_task extra, void *context);

/* Whether so much effort can lead beyond the skyline by itself. */
bool arn_hill_climbs_can_move(const arenaut_problem *problem, uint64_t effort);

/* The share of the effort for local search: a quarter. The exact search, if there is one, makes
 * more of the rest. */
static inline uint64_t arn_local_search_share(uint64_t effort) { return effort / 4 + 1; }

/* Exact search for the part of a large problem that decides its arena: for problems of one pool
 * without relations. Does nothing if there is no plan yet. Zones of several sizes are tried, each
 * with so much effort of exact search. */
arenaut_status arn_hot_zones(arn_lanes *lanes, uint64_t effort);

#endif
