/* Local search over orders (see local_search.c), for the planner of that name and for auto. */
#ifndef ARN_PLANNERS_LOCAL_SEARCH_H
#define ARN_PLANNERS_LOCAL_SEARCH_H

#include "planners/meter.h"

/* Searches for `budget` steps. What it tries depends on the problem and the seed only, not
 * on the best plan so far. */
arenaut_status arn_local_search(arenaut_planning *planning, arn_meter *meter, uint64_t budget);

/* The share of the effort that local search gets: a quarter. The exact search, where there
 * is one, makes more of the rest. */
static inline uint64_t arn_local_search_share(uint64_t effort) { return effort / 4 + 1; }

#endif
