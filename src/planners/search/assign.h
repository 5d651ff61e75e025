/* Trials that give each group its pool before any is placed. */
#ifndef ARN_PLANNERS_SEARCH_ASSIGN_H
#define ARN_PLANNERS_SEARCH_ASSIGN_H

#include "planners/run/lanes.h"

/* Improves the best plan where pools are to be chosen; `pairs` as in portfolio.h. NO_MEMORY or
 * OK. */
arenaut_status arn_assign_pools(arn_lanes *lanes, uint64_t pairs);

#endif
