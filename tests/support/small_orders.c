#include "support/small_orders.h"

#include <string.h>

typedef struct listing {
    small_orders *orders;
    small_order_fn may_run;
    const void *context;
    uint32_t n_ops, now[SMALL_ORDER_OPS];
} listing;

static void list(listing *l, uint32_t ran, uint32_t n) {
    small_orders *o = l->orders;
    if (n == l->n_ops) {
        if (o->n == SMALL_ORDERS) o->all = false;
        else memcpy(o->ops[o->n++], l->now, sizeof l->now);
        return;
    }
    for (uint32_t op = 0; op < l->n_ops; op++) {
        if ((ran >> op & 1) || !l->may_run(l->context, ran, op)) continue;
        l->now[n] = op;
        list(l, ran | UINT32_C(1) << op, n + 1);
    }
}

small_orders small_orders_of(uint32_t n_ops, small_order_fn may_run, const void *context) {
    small_orders orders = {.all = true};
    listing l = {.orders = &orders, .may_run = may_run, .context = context, .n_ops = n_ops};
    list(&l, 0, 0);
    return orders;
}
