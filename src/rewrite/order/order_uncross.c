/* A minimum cut tells which ops should have run before the op that needs most. If these run first,
 * then that op, then the others, each part in the order in which it was, most ops need no more than
 * before: of what has run when they run, the part inside the cut and its union with the cut both
 * have no more alive, since what is alive is submodular. Only ops that change sides may need more,
 * and get their turn if it is they that need most then. */
#include "rewrite/order/order_uncross.h"

#include <string.h>

#include "core/memory.h"
#include "rewrite/order/order_bound.h"
#include "rewrite/order/order_ways.h"

/* Moves in a row from which nothing may come. */
enum { PATIENCE = 48 };

typedef struct uncrossing {
    arn_order_state *state;
    arn_order_cut *cut;
    uint32_t *now, *next; /* orders */
    bool *before;
} uncrossing;

/* First what should have run before `op`, then that, then the others. */
static void part_at(uncrossing *u, uint32_t op) {
    const uint32_t n_ops = u->state->graph->n_ops;
    uint32_t n = 0;
    for (uint32_t i = 0; i < n_ops; i++) {
        if (u->before[u->now[i]]) u->next[n++] = u->now[i];
    }
    u->next[n++] = op;
    for (uint32_t i = 0; i < n_ops; i++) {
        if (!u->before[u->now[i]] && u->now[i] != op) u->next[n++] = u->now[i];
    }
    memcpy(u->now, u->next, n * sizeof *u->now);
}

static uint64_t work_of(const uncrossing *u) { return u->state->work + u->cut->work / 8; }

static bool run(uncrossing *u, uint64_t bound, uint64_t effort, uint32_t *ops) {
    const uint32_t n = u->state->graph->n_ops;
    arn_order_height best = arn_order_height_of(u->state, ops), now = best;
    const uint64_t end = work_of(u) + effort;
    for (uint32_t tries = 0; tries < PATIENCE && work_of(u) < end && best.peak > bound; tries++) {
        if (arn_budget_ended(u->state->budget)) break;
        const uint32_t op = u->now[now.at];
        uint64_t least;
        if (!arn_order_least_load(u->cut, op, &least, u->before)) return false;
        if (least >= now.peak) break; /* no order is better */
        part_at(u, op);
        now = arn_order_height_of(u->state, u->now);
        if (!arn_order_is_lower(now, best)) continue;
        best = now;
        memcpy(ops, u->now, n * sizeof *ops);
        tries = 0;
    }
    return true;
}

bool arn_order_uncross(arn_order_state *front, arn_order_cut *cut, uint64_t bound, uint64_t effort,
                       uint32_t *ops) {
    const arenaut_allocator *a = &front->graph->allocator;
    const uint32_t n = front->graph->n_ops;
    uncrossing u = {.state = front, .cut = cut};
    u.now = arn_allocate(a, n, sizeof *u.now);
    u.next = arn_allocate(a, n, sizeof *u.next);
    u.before = arn_allocate(a, n, sizeof *u.before);
    bool ok = u.now && u.next && u.before;
    if (ok) {
        memcpy(u.now, ops, n * sizeof *ops);
        ok = run(&u, bound, effort, ops);
    }
    arn_release(a, u.now);
    arn_release(a, u.next);
    arn_release(a, u.before);
    return ok;
}
