/* Whether there is an order below a limit. */
#ifndef ARN_REWRITE_ORDER_SEARCH_H
#define ARN_REWRITE_ORDER_SEARCH_H

#include "rewrite/order/order_side.h"

typedef enum arn_order_answer {
    ARN_ORDER_FOUND,  /* the order is in `ops` */
    ARN_ORDER_NONE,   /* there is none: all that can be done from one side has been tried */
    ARN_ORDER_TIRED,  /* the effort is spent */
    ARN_ORDER_FAILED, /* there is no memory */
} arn_order_answer;

/* Looks for an order whose loads are all at most `limit`, until so much work is done. `side` gets,
 * for NONE, the side from which all was tried; it and the other one stay as they were then. */
arn_order_answer arn_order_search(arn_order_side sides[2], uint64_t limit, uint64_t effort,
                                  uint32_t *ops, uint32_t *side);

/* Part of an order: the ops at [from, end). */
typedef struct arn_order_window {
    const uint32_t *ops; /* all of them */
    uint32_t from, end;
} arn_order_window;

/* The same with what is outside of the window staying as it is, whatever it needs. */
arn_order_answer arn_order_search_window(arn_order_side sides[2], uint64_t limit, uint64_t effort,
                                         arn_order_window window, uint32_t *ops);

uint64_t arn_order_work(const arn_order_side sides[2]);

#endif
