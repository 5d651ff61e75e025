/* Exact search for the part of a large problem that decides its arena (see hot_zone.c). */
#ifndef ARN_PLANNERS_SEARCH_HOT_ZONE_H
#define ARN_PLANNERS_SEARCH_HOT_ZONE_H

#include "planners/run/lanes.h"

/* For problems of one pool without relations. Does nothing if there is no plan yet. Zones of
 * several sizes are tried, each with so much effort of exact search. */
arenaut_status arn_hot_zones(arn_lanes *lanes, uint64_t effort);

#endif
