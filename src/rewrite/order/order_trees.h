/* An order that is best where each result is read once. */
#ifndef ARN_REWRITE_ORDER_TREES_H
#define ARN_REWRITE_ORDER_TREES_H

#include "rewrite/order/order_graph.h"

/* `wanted` gets the ops, each behind those whose results it is the first to read; false if there is
 * no memory. Other waits may be broken. */
bool arn_order_by_trees(const arn_order_graph *front, uint32_t *wanted);

#endif
