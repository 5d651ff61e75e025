/* The order problem of one method, or of ops between its jumps. What it calls needs memory while
 * the op that calls runs: of each such op the problem has a buffer more, whose size is known once
 * the order of what is called is.
 */
#ifndef ARN_REWRITE_ORDER_PART_H
#define ARN_REWRITE_ORDER_PART_H

#include "rewrite/order/order_base.h"

typedef struct arn_order_part {
    uint32_t method;
    uint32_t first, n_ops; /* ops of the program */
    uint32_t step;         /* the first op's, in a method that jumps */
    arenaut_order_problem problem;
    uint64_t *size;   /* the problem's */
    uint32_t *op;     /* per op of the problem: that of the file; NONE: passes put it behind all */
    uint32_t n_plain; /* buffers of the program; behind them, */
    uint32_t *caller; /* per buffer more: the op of the program that calls */
    uint64_t start;   /* bytes alive before the first op of the method */
    uint64_t around;  /* bytes alive all the time that are not in the problem */
} arn_order_part;

/* `part` has the method, and which ops: all of the method, or, where that jumps, some that may all
 * move. REFUSED, with the reason, where they cannot be reordered. */
arenaut_status arn_order_part_make(arn_order_base *base, arn_order_part *part, arenaut_error *err);

#endif
