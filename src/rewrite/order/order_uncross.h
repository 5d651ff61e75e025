/* Better orders by minimum cuts: what should have run when most is alive is run before. */
#ifndef ARN_REWRITE_ORDER_UNCROSS_H
#define ARN_REWRITE_ORDER_UNCROSS_H

#include "rewrite/order/order_cut.h"
#include "rewrite/order/order_state.h"

/* Makes `ops` better until its peak is `bound`, or nothing comes of it, or so much work is done.
 * `front` and `cut` are of the same graph; nothing has run in `front` afterwards. False if there is
 * no memory. */
bool arn_order_uncross(arn_order_state *front, arn_order_cut *cut, uint64_t bound, uint64_t effort,
                       uint32_t *ops);

#endif
