/* Simple ways to make an order. */
#ifndef ARN_REWRITE_ORDER_WAYS_H
#define ARN_REWRITE_ORDER_WAYS_H

#include "rewrite/order/order_state.h"

/* Makes an order; `front` and `back` are states of the same problem in either direction, in which
 * nothing has run, and are left so. `ops` has room for all. False if there is no memory. */
bool arn_order_by_way(arenaut_order_way way, arn_order_state *front, arn_order_state *back,
                      uint32_t *ops);

/* How good an order is: its peak, how many ops need so much, and where the first of them stands. */
typedef struct arn_order_height {
    uint64_t peak;
    uint32_t n, at;
} arn_order_height;

static inline bool arn_order_is_lower(arn_order_height a, arn_order_height b) {
    return a.peak < b.peak || (a.peak == b.peak && a.n < b.n);
}

/* Leaves `front` as if nothing had run. */
arn_order_height arn_order_height_of(arn_order_state *front, const uint32_t *ops);
/* The same of a problem of which there is no state yet. */
arenaut_status arn_order_measure(const arenaut_order_problem *problem, const uint32_t *ops,
                                 const arenaut_allocator *allocator, arn_order_height *height,
                                 arenaut_error *err);

#endif
