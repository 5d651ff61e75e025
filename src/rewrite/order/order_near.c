/* The few best orders, sorted by peak; and an order with the same peak that is closer to today's.
 */
#include "rewrite/order/order_near.h"

#include <string.h>

enum {
    CLOSE = 16,  /* a peak is close that is larger by no more than one part of so many */
    PASSES = 16, /* over all ops, for them to go back */
};

static uint32_t *near_ops(arenaut_order *o, uint32_t i) { return o->near + (size_t)i * o->n_ops; }

static bool is_same(const arenaut_order *o, const uint32_t *a, const uint32_t *b) {
    return memcmp(a, b, o->n_ops * sizeof *a) == 0;
}

static void drop(arenaut_order *o, uint32_t at) {
    const uint32_t behind = --o->n_near - at;
    memmove(&o->near_peak[at], &o->near_peak[at + 1], behind * sizeof *o->near_peak);
    memmove(near_ops(o, at), near_ops(o, at + 1), behind * (size_t)o->n_ops * sizeof *o->near);
}

void arn_order_keep_near(arenaut_order *o, const uint32_t *ops, uint64_t peak) {
    uint32_t at = o->n_near;
    for (uint32_t i = 0; i < o->n_near; i++) {
        if (is_same(o, near_ops(o, i), ops)) return;
    }
    while (at > 0 && peak < o->near_peak[at - 1]) at--;
    if (at == ARN_ORDER_MOST_NEAR) return;
    if (o->n_near == ARN_ORDER_MOST_NEAR) o->n_near--;
    const uint32_t behind = o->n_near++ - at;
    memmove(&o->near_peak[at + 1], &o->near_peak[at], behind * sizeof *o->near_peak);
    memmove(near_ops(o, at + 1), near_ops(o, at), behind * (size_t)o->n_ops * sizeof *o->near);
    o->near_peak[at] = peak;
    memcpy(near_ops(o, at), ops, o->n_ops * sizeof *ops);
}

static bool is_given_order(const arenaut_order *o, const uint32_t *ops) {
    for (uint32_t i = 0; i < o->n_ops; i++) {
        if (ops[i] != i) return false;
    }
    return true;
}

void arn_order_trim_near(arenaut_order *o) {
    for (uint32_t i = o->n_near; i-- > 0;) {
        const bool close = o->near_peak[i] - o->peak <= o->peak / CLOSE;
        const uint32_t *ops = near_ops(o, i);
        if (!close || is_same(o, ops, o->ops) || is_given_order(o, ops)) drop(o, i);
    }
}

static bool waits_for(const arn_order_graph *g, uint32_t op, uint32_t first) {
    for (uint32_t i = g->first.begin[op]; i < g->first.begin[op + 1]; i++) {
        if (g->first.ids[i] == first) return true;
    }
    return false;
}

/* Whether two ops, the first of which would run now, may as well run the other way round. */
static bool may_swap(arn_order_state *s, uint32_t a, uint32_t b, uint64_t peak) {
    if (b > a || waits_for(s->graph, b, a) || arn_order_load(s, b) > peak) return false;
    arn_order_run(s, b);
    const bool fits = arn_order_load(s, a) <= peak;
    arn_order_take_back(s, s->n_ran - 1);
    return fits;
}

void arn_order_settle(arn_order_state *s, uint64_t peak, uint32_t *ops) {
    const uint32_t n = s->graph->n_ops;
    bool moved = true;
    for (int pass = 0; pass < PASSES && moved; pass++) {
        moved = false;
        arn_order_take_back(s, 0);
        for (uint32_t i = 0; i + 1 < n; i++) {
            const uint32_t a = ops[i], b = ops[i + 1];
            if (may_swap(s, a, b, peak)) {
                ops[i] = b;
                ops[i + 1] = a;
                moved = true;
            }
            arn_order_run(s, ops[i]);
        }
    }
    arn_order_take_back(s, 0);
}
