/* Writing down why there is no order below a limit. */
#ifndef ARN_REWRITE_ORDER_PROOF_H
#define ARN_REWRITE_ORDER_PROOF_H

#include "rewrite/order/order_side.h"

typedef struct arn_order_proof {
    arenaut_order_line *lines;
    uint32_t n, capacity;
    arenaut_allocator allocator;
} arn_order_proof;

/* What a search without result has left, tried from sides[side]. Nodes are followed again. False if
 * there is no memory. */
bool arn_order_prove(arn_order_side sides[2], uint32_t side, arn_order_proof *proof);
bool arn_order_prove_cut(arn_order_proof *proof, uint32_t op);

#endif
