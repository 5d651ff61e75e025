/* Exact search for the part of a large problem that decides its arena (see hot_zone.c). */
#ifndef ARN_PLANNERS_HOT_ZONE_H
#define ARN_PLANNERS_HOT_ZONE_H

#include "planners/meter.h"

/* For problems of one pool without relations. Does nothing if there is no plan yet. */
arenaut_status arn_hot_zone(arenaut_planning *planning, arn_meter *meter);

#endif
