/* The ops that an op waits for have run, those that wait for it have not; of all others a minimum
 * cut takes the best ones. Where the op may write over a buffer once its other users have run, that
 * is a second case. */
#include "rewrite/order/order_bound.h"

#include <string.h>

#include "core/checked.h"
#include "core/memory.h"

/* Gives `op` and all that it leads to by `lists` the role, as far as they are open. `stack` has
 * room for all ops. */
static void spread(arn_order_cut *c, const arn_order_lists *lists, uint32_t op, arn_order_role role,
                   uint32_t *stack) {
    uint32_t n = 0;
    if (c->role[op] != ARN_ORDER_OPEN) return;
    c->role[op] = role;
    stack[n++] = op;
    while (n > 0) {
        const uint32_t at = stack[--n];
        for (uint32_t i = lists->begin[at]; i < lists->begin[at + 1]; i++) {
            const uint32_t next = lists->ids[i];
            if (c->role[next] != ARN_ORDER_OPEN) continue;
            c->role[next] = (uint8_t)role;
            stack[n++] = next;
        }
    }
    c->work += c->graph->n_ops;
}

static void spread_around(arn_order_cut *c, uint32_t op, uint32_t *stack) {
    const arn_order_graph *g = c->graph;
    memset(c->role, ARN_ORDER_OPEN, g->n_ops);
    spread(c, &g->first, op, ARN_ORDER_EARLIER, stack);
    c->role[op] = ARN_ORDER_OPEN;
    spread(c, &g->next, op, ARN_ORDER_LATER, stack);
    c->role[op] = ARN_ORDER_NOW;
}

/* What is alive for certain, of buffers that no open op uses. */
static uint64_t settled(const arn_order_cut *c) {
    const arn_order_graph *g = c->graph;
    uint64_t sum = 0;
    for (uint32_t b = 0; b < g->n_buffers; b++) {
        bool seen[4] = {false};
        for (uint32_t i = g->users.begin[b]; i < g->users.begin[b + 1]; i++) {
            seen[c->role[g->users.ids[i]]] = true;
        }
        const bool before = seen[ARN_ORDER_EARLIER] || (g->held[b] & ARENAUT_HELD_BEFORE);
        const bool after = seen[ARN_ORDER_LATER] || (g->held[b] & ARENAUT_HELD_AFTER);
        if (!seen[ARN_ORDER_OPEN] && (seen[ARN_ORDER_NOW] || (before && after))) sum += g->size[b];
    }
    return sum;
}

/* `ids` has room for all ops. */
static bool least_now(arn_order_cut *c, uint32_t *ids, uint64_t *load) {
    const uint32_t n_ops = c->graph->n_ops;
    uint32_t n = 0;
    uint64_t least;
    for (uint32_t op = 0; op < n_ops; op++) {
        if (c->role[op] == ARN_ORDER_OPEN) ids[n++] = op;
    }
    *load = settled(c);
    if (!arn_order_cut_least(c, ids, n, &least)) return false;
    *load += least;
    return true;
}

/* Has all other users of `buffer` run before; false if one runs later. *free: all do anyway. */
static bool spread_users(arn_order_cut *c, uint32_t buffer, uint32_t op, uint32_t *stack,
                         bool *free) {
    const arn_order_graph *g = c->graph;
    *free = true;
    for (uint32_t i = g->users.begin[buffer]; i < g->users.begin[buffer + 1]; i++) {
        const uint32_t user = g->users.ids[i];
        if (user == op) continue;
        if (c->role[user] == ARN_ORDER_LATER) return false;
        *free = *free && c->role[user] == ARN_ORDER_EARLIER;
        spread(c, &g->first, user, ARN_ORDER_EARLIER, stack);
    }
    return true;
}

/* The load with this right made use of; UINT64_MAX where it never can be. */
static bool load_with_right(arn_order_cut *c, const arenaut_order_right *r, uint32_t *ids,
                            bool *free, uint64_t *load) {
    const arn_order_graph *g = c->graph;
    *load = UINT64_MAX;
    *free = false;
    if ((g->held[r->made] & ARENAUT_HELD_BEFORE) || (g->held[r->over] & ARENAUT_HELD_AFTER)) {
        return true;
    }
    spread_around(c, r->op, ids);
    if (!spread_users(c, r->over, r->op, ids, free)) return true;
    if (!least_now(c, ids, load)) return false;
    *load -= r->bytes;
    return true;
}

/* Remembers a case if it is better: its load, and who runs before. */
static void keep_case(const arn_order_cut *c, uint64_t found, uint64_t *best, bool *before) {
    if (found >= *best) return;
    *best = found;
    for (uint32_t op = 0; before && op < c->graph->n_ops; op++) {
        before[op] = c->role[op] == ARN_ORDER_EARLIER;
    }
}

bool arn_order_least_load(arn_order_cut *c, uint32_t op, uint64_t *load, bool *before) {
    const arn_order_graph *g = c->graph;
    uint32_t *ids = arn_allocate(&g->allocator, g->n_ops, sizeof *ids);
    uint64_t found;
    bool ok = ids != NULL, free = false;
    *load = UINT64_MAX;
    for (uint32_t i = g->rights.begin[op]; ok && i < g->rights.begin[op + 1]; i++) {
        bool always;
        ok = load_with_right(c, &g->right[g->rights.ids[i]], ids, &always, &found);
        if (ok) keep_case(c, found, load, before);
        free = free || (ok && always && found != UINT64_MAX);
    }
    if (ok && !free) {
        spread_around(c, op, ids);
        ok = least_now(c, ids, &found);
        if (ok) keep_case(c, found, load, before);
    }
    if (ids) memset(c->role, ARN_ORDER_LATER, g->n_ops);
    arn_release(&g->allocator, ids);
    return ok;
}
