/* Placing buffers that may overlap one by one, in orders. */
#ifndef ARN_PLANNERS_OVERLAP_ORDERS_H
#define ARN_PLANNERS_OVERLAP_ORDERS_H

#include "planners/run/meter.h"

/* Improves the plan, if it can, by some orders whatever the effort, and then with at most `effort`
 * by bringing what ends at the top forward. Needs no list of pairs: O(n log n) and those alive
 * together for each order. OK or NO_MEMORY. */
arenaut_status arn_overlap_orders(arenaut_planning *planning, arn_meter *meter, uint64_t effort);

#endif
