/* All orders of a few ops, or the first of them. */
#ifndef SUPPORT_SMALL_ORDERS_H
#define SUPPORT_SMALL_ORDERS_H

#include <stdbool.h>
#include <stdint.h>

enum { SMALL_ORDERS = 24, SMALL_ORDER_OPS = 12 }; /* at most */

typedef struct small_orders {
    uint32_t n, ops[SMALL_ORDERS][SMALL_ORDER_OPS];
    bool all; /* there was room for all */
} small_orders;

/* Whether `op` may run next, if the ops of the set bits have run. */
typedef bool (*small_order_fn)(const void *context, uint32_t ran, uint32_t op);

small_orders small_orders_of(uint32_t n_ops, small_order_fn may_run, const void *context);

#endif
