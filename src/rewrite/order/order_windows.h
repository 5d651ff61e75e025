/* Better orders part by part. */
#ifndef ARN_REWRITE_ORDER_WINDOWS_H
#define ARN_REWRITE_ORDER_WINDOWS_H

#include "rewrite/order/order_side.h"

typedef struct arn_order_purse {
    uint64_t per_op; /* work for a window, for each of its ops */
    uint64_t all;    /* for all windows */
} arn_order_purse;

/* Makes `ops` better until its peak is `bound`, or no part becomes better, or the purse is empty.
 * `spare` has room for all ops. False if there is no memory. */
bool arn_order_search_windows(arn_order_side sides[2], arn_order_purse purse, uint64_t bound,
                              uint32_t *ops, uint32_t *spare);

#endif
