#include "support/remat_brute.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef struct entry {
    uint64_t cost; /* as it was: that of a state may fall while an entry of it waits */
    uint32_t state;
} entry;

typedef struct brute {
    const arenaut_remat_problem *p;
    uint64_t budget;
    uint64_t *cost; /* per state: executed ops << storages | live storages */
    bool *done;
    entry *heap;
    uint32_t n_heap, heap_capacity; /* far less than there might be: to map that takes longer */
} brute;

static bool has(uint32_t set, uint32_t i) { return (set >> i) & 1; }

static bool is_held(const brute *b, uint32_t s, uint32_t when) {
    return b->p->held && (b->p->held[s] & when);
}

static uint64_t bytes_of(const brute *b, uint32_t alive) {
    uint64_t sum = 0;
    for (uint32_t s = 0; s < b->p->n_storages; s++) sum += has(alive, s) ? b->p->size[s] : 0;
    return sum;
}

/* ---- a heap with duplicates ---- */

static bool above(const brute *b, uint32_t i, uint32_t k) {
    return b->heap[i].cost < b->heap[k].cost;
}

static void swap(brute *b, uint32_t i, uint32_t k) {
    const entry other = b->heap[i];
    b->heap[i] = b->heap[k];
    b->heap[k] = other;
}

static void grow(brute *b) {
    b->heap_capacity = b->heap_capacity ? 2 * b->heap_capacity : 256;
    b->heap = realloc(b->heap, b->heap_capacity * sizeof *b->heap);
    if (!b->heap) abort();
}

static void push(brute *b, uint32_t state, uint64_t cost) {
    if (b->done[state] || cost >= b->cost[state]) return;
    b->cost[state] = cost;
    if (b->n_heap == b->heap_capacity) grow(b);
    uint32_t i = b->n_heap++;
    b->heap[i] = (entry){cost, state};
    for (; i > 0 && above(b, i, (i - 1) / 2); i = (i - 1) / 2) swap(b, i, (i - 1) / 2);
}

static uint32_t pop(brute *b) {
    const uint32_t top = b->heap[0].state;
    b->heap[0] = b->heap[--b->n_heap];
    for (uint32_t i = 0;;) {
        uint32_t least = i;
        for (uint32_t k = 2 * i + 1; k <= 2 * i + 2 && k < b->n_heap; k++) {
            if (above(b, k, least)) least = k;
        }
        if (least == i) return top;
        swap(b, i, least);
        i = least;
    }
}

/* ---- runs ---- */

static bool may_run(const brute *b, uint32_t ran, uint32_t op) {
    const arenaut_remat_problem *p = b->p;
    const uint32_t until = p->until ? p->until[op] : ARENAUT_NONE;
    if (has(ran, op)) return until == ARENAUT_NONE || !has(ran, until);
    for (uint32_t i = 0; i < p->n_dependences; i++) {
        if (p->dependences[i].op == op && !has(ran, p->dependences[i].first)) return false;
    }
    return true;
}

/* Live storages once the op's operands are; false if one of them cannot be. */
static bool fetch(const brute *b, uint32_t ran, uint32_t op, uint32_t *alive) {
    const arenaut_remat_problem *p = b->p;
    for (uint32_t i = 0; i < p->n_reads; i++) {
        const uint32_t s = p->reads[i].buffer;
        if (p->reads[i].op != op || has(*alive, s)) continue;
        if (p->maker[s] != ARENAUT_NONE || is_held(b, s, ARENAUT_LIVE_IN)) return false;
        for (uint32_t k = 0; k < p->n_reads; k++) { /* it must not have begun and ended */
            if (p->reads[k].buffer == s && has(ran, p->reads[k].op)) return false;
        }
        *alive |= UINT32_C(1) << s;
    }
    return true;
}

static bool uses(const arenaut_remat_problem *p, uint32_t op, uint32_t s) {
    bool uses = p->maker[s] == op;
    for (uint32_t i = 0; i < p->n_reads; i++) {
        uses = uses || (p->reads[i].op == op && p->reads[i].buffer == s);
    }
    return uses;
}

/* Bytes that count once while an op runs: of a right, or as many of its storages as plans may
 * share. */
static uint64_t bytes_shared(const arenaut_remat_problem *p, uint32_t op,
                             const arenaut_order_right *right) {
    const uint64_t by_right = right ? right->bytes : 0, most = p->shared ? p->shared[op] : 0;
    uint64_t own = 0;
    for (uint32_t s = 0; s < p->n_storages; s++) own += uses(p, op, s) ? p->size[s] : 0;
    const uint64_t by_plan = most < own ? most : own;
    return by_right > by_plan ? by_right : by_plan;
}

static void run(brute *b, uint32_t state, uint32_t op, const arenaut_order_right *right) {
    const arenaut_remat_problem *p = b->p;
    uint32_t alive = state & ((UINT32_C(1) << p->n_storages) - 1), ran = state >> p->n_storages;
    if (!may_run(b, ran, op) || !fetch(b, ran, op, &alive)) return;
    uint64_t twice = 0;
    for (uint32_t s = 0; s < p->n_storages; s++) {
        if (p->maker[s] != op) continue;
        if (has(alive, s) && is_held(b, s, ARENAUT_LIVE_OUT)) twice += p->size[s];
        alive |= UINT32_C(1) << s;
    }
    const uint64_t bytes = bytes_of(b, alive) + twice + (p->scratch ? p->scratch[op] : 0);
    if (right && is_held(b, right->over, ARENAUT_LIVE_OUT)) return;
    if (bytes - bytes_shared(p, op, right) > b->budget) return;
    if (right) alive &= ~(UINT32_C(1) << right->over);
    const uint64_t more = has(ran, op) ? p->cost[op] : 0;
    push(b, (ran | UINT32_C(1) << op) << p->n_storages | alive, b->cost[state] + more);
}

static void go_on(brute *b, uint32_t state) {
    const arenaut_remat_problem *p = b->p;
    for (uint32_t op = 0; op < p->n_ops; op++) run(b, state, op, NULL);
    for (uint32_t i = 0; i < p->n_rights; i++) run(b, state, p->rights[i].op, &p->rights[i]);
    for (uint32_t s = 0; s < p->n_storages; s++) {
        if (!has(state, s) || is_held(b, s, ARENAUT_LIVE_OUT)) continue;
        push(b, state & ~(UINT32_C(1) << s), b->cost[state]);
    }
}

static uint32_t first_state(const brute *b) {
    uint32_t alive = 0;
    for (uint32_t s = 0; s < b->p->n_storages; s++) {
        if (is_held(b, s, ARENAUT_LIVE_IN)) alive |= UINT32_C(1) << s;
    }
    return alive;
}

uint64_t remat_brute_added(const arenaut_remat_problem *p, uint64_t budget) {
    const uint32_t bits = p->n_ops + p->n_storages;
    const size_t n = (size_t)1 << bits;
    brute b = {.p = p, .budget = budget};
    if (bits > REMAT_BRUTE_BITS) abort();
    b.cost = malloc(n * sizeof *b.cost);
    b.done = calloc(n, sizeof *b.done);
    if (!b.cost || !b.done) abort();
    memset(b.cost, 0xff, n * sizeof *b.cost); /* UINT64_MAX */
    uint64_t least = UINT64_MAX;
    push(&b, first_state(&b), 0);
    while (b.n_heap > 0 && least == UINT64_MAX) {
        const uint32_t state = pop(&b);
        if (b.done[state]) continue;
        b.done[state] = true;
        if (state >> p->n_storages == (UINT32_C(1) << p->n_ops) - 1) least = b.cost[state];
        else go_on(&b, state);
    }
    free(b.cost);
    free(b.done);
    free(b.heap);
    return least;
}
