/* The least that may be alive, worked out a second time: by preflows, where the search has paths.
 */
#ifndef ARN_CHECK_ORDER_LEAST_H
#define ARN_CHECK_ORDER_LEAST_H

#include "check/order_walk.h"

/* What is known of an op. */
typedef enum arn_order_time {
    ARN_TIME_AFTER,
    ARN_TIME_BEFORE,
    ARN_TIME_ANY,
    ARN_TIME_NOW
} arn_order_time;

/* `time` per op, in the direction of `walk`, whose lists are all that is looked at: *least is the
 * least that all buffers together can have alive, whichever of the ops of ANY time have run. False
 * if there is no memory. */
bool arn_order_least_alive(const arn_order_walk *walk, const uint8_t *time,
                           const arenaut_allocator *allocator, uint64_t *least);

#endif
