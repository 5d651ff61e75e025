/* The order problems of a program, and what is known of their orders. */
#ifndef ARN_REWRITE_ORDER_PROGRAM_H
#define ARN_REWRITE_ORDER_PROGRAM_H

#include <arenaut/rewrite.h>

#include "rewrite/order/order_near.h"
#include "rewrite/order/order_part.h"

enum { ARN_ORDER_CANDIDATES = 1 + ARN_ORDER_MOST_NEAR };

/* What a method needs, with all that it calls unless methods are separate. */
typedef struct arn_order_need {
    uint64_t given, best, bound; /* as in arenaut_order_peaks */
    uint64_t ways[ARENAUT_ORDER_WAY_COUNT];
    uint64_t candidate[ARN_ORDER_CANDIDATES]; /* at least, in its orders */
} arn_order_need;

/* The orders of one problem, the best first. */
typedef struct arn_order_found {
    uint32_t n;
    uint32_t *ops; /* one order behind another */
} arn_order_found;

struct arenaut_program_order {
    arn_order_base base;
    uint32_t n_parts, n_taken; /* problems, and those whose orders are known */
    arn_order_part *parts;
    arn_order_found *found; /* per part */
    arn_order_need *need;   /* per method */
    uint32_t *part_at;      /* per op: the problem that begins with it; NONE: none does */
    arn_region region;
    arenaut_allocator allocator;
};

#endif
