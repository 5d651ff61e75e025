/* Local search over orders (see local_search.c), for the planner of that name and for auto. */
#ifndef ARN_PLANNERS_SEARCH_LOCAL_SEARCH_H
#define ARN_PLANNERS_SEARCH_LOCAL_SEARCH_H

#include "planners/run/lanes.h"

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

#endif
