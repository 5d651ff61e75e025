/* Settling: groups in a given order, each down onto those placed before it. */
#ifndef ARN_PLANNERS_PLACING_SETTLE_H
#define ARN_PLANNERS_PLACING_SETTLE_H

#include "planners/placing/trial.h"

/* Writes the offsets of all groups, in the workspace's order, and the highest end to *top; or stops
 * as soon as that is above `limit`. In the order of the offsets of an earlier plan this keeps it,
 * with other sizes. False if there is no memory. The groups must be plain, as for
 * skyline_engine.h. O(n log n). */
bool arn_settle(arn_workspace *space, uint64_t limit, uint64_t *top);

#endif
