/* The least live bytes at a point of a schedule, by push–relabel maximum flow: independent of the
 * search, which uses augmenting paths. */
#ifndef ARN_CHECK_ORDER_MIN_LIVE_H
#define ARN_CHECK_ORDER_MIN_LIVE_H

#include "check/rewrite/order_walk.h"

/* The time of an op relative to the point. */
typedef enum arn_order_time {
    ARN_TIME_AFTER,
    ARN_TIME_BEFORE,
    ARN_TIME_ANY,
    ARN_TIME_NOW
} arn_order_time;

/* `time` per op, in the direction of `walk`, whose lists are all that is used: *least is the
 * minimum over all choices of the ops of ANY time. False if there is no memory. */
bool arn_order_min_live(const arn_order_walk *walk, const uint8_t *time,
                        const arenaut_allocator *allocator, uint64_t *least);

#endif
