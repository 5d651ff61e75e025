/* Simple ways to make an order. */
#ifndef ARN_REWRITE_ORDER_WAYS_H
#define ARN_REWRITE_ORDER_WAYS_H

#include "rewrite/order/order_state.h"

/* Makes an order; `front` and `back` are states of the same problem in either direction, in which
 * nothing has run, and are left so. `ops` has room for all. False if there is no memory. */
bool arn_order_by_way(arenaut_order_way way, arn_order_state *front, arn_order_state *back,
                      uint32_t *ops);

/* The peak of an order; `front` as above. */
uint64_t arn_order_peak(arn_order_state *front, const uint32_t *ops);

#endif
