/* What no order goes below: what is alive while one op runs, whatever ran before it. */
#ifndef ARN_REWRITE_ORDER_BOUND_H
#define ARN_REWRITE_ORDER_BOUND_H

#include "rewrite/order/order_cut.h"

/* The least load of `op` in any order. Leaves all roles LATER. `before`, which may be NULL, has
 * room for all ops and gets which of them have run then. False if there is no memory. */
bool arn_order_least_load(arn_order_cut *cut, uint32_t op, uint64_t *load, bool *before);

#endif
