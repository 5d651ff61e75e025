/* Orders that are nearly as good as the best: of those, one may be laid out in less. */
#ifndef ARN_REWRITE_ORDER_NEAR_H
#define ARN_REWRITE_ORDER_NEAR_H

#include "rewrite/order/order_state.h"

enum { ARN_ORDER_MOST_NEAR = 4 };

/* Keeps an order among the near ones of `order`, if it is one of the best of them and is none that
 * is there. `order->near` has room for all. */
void arn_order_keep_near(arenaut_order *order, const uint32_t *ops, uint64_t peak);

/* Leaves only those that are close to the best order, and neither that nor today's. */
void arn_order_trim_near(arenaut_order *order);

/* Has the ops go back towards today's order, neighbour by neighbour, where that makes the peak no
 * higher. Nothing has run in `front` afterwards. */
void arn_order_settle(arn_order_state *front, uint64_t peak, uint32_t *ops);

#endif
