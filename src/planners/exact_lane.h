/* Exact search in a lane, for auto. */
#ifndef ARN_PLANNERS_EXACT_LANE_H
#define ARN_PLANNERS_EXACT_LANE_H

#include "planners/exact/exact.h"
#include "planners/run/lanes.h"

typedef struct arn_exact_task {
    uint32_t pool; /* improves the best plan in this pool; ARENAUT_NONE: looks for a plan as the row
                      `exact` does, and so finds the same */
    uint64_t effort;
    bool refused; /* set if it is too large */
} arn_exact_task;

/* An arn_lane_task; `context` is an arn_exact_task, which may be shared by no other lane. OK also
 * if the search found nothing; a problem that is too large sets `refused`. */
arenaut_status arn_exact_in_lane(void *context, uint32_t task, arn_lane *lane);

#endif
