/* A second order of first runs, in which results of the step are made last, and ops that free bytes
 * run first. */
#ifndef ARN_REWRITE_REMAT_ORDER_H
#define ARN_REWRITE_REMAT_ORDER_H

#include "rewrite/rematerialize/remat_graph.h"

typedef struct arn_remat_order {
    arenaut_remat_problem problem; /* in that order; its lists are the region's */
    uint32_t *op_at;               /* per op of it: the op of the given problem */
    uint32_t *turn;                /* per op of the given problem: the op of it */
    bool differs;                  /* else there is no such problem */
} arn_remat_order;

/* False: no memory. */
bool arn_remat_order_make(const arn_remat_graph *graph, arn_region *region, arn_remat_order *order);

#endif
