#include "support/order_brute.h"

#include <stdbool.h>
#include <stdlib.h>

static bool has_used(const arenaut_order_problem *p, uint32_t ran, uint32_t buffer, bool all) {
    for (uint32_t i = 0; i < p->n_uses; i++) {
        if (p->uses[i].buffer != buffer) continue;
        if (((ran >> p->uses[i].op) & 1) != all) return !all;
    }
    return all;
}

static bool is_alive(const arenaut_order_problem *p, uint32_t ran, uint32_t buffer) {
    return (has_used(p, ran, buffer, false) || (p->boundary[buffer] & ARENAUT_LIVE_IN)) &&
           (!has_used(p, ran, buffer, true) || (p->boundary[buffer] & ARENAUT_LIVE_OUT));
}

static bool uses_now(const arenaut_order_problem *p, uint32_t op, uint32_t buffer) {
    for (uint32_t i = 0; i < p->n_uses; i++) {
        if (p->uses[i].op == op && p->uses[i].buffer == buffer) return true;
    }
    return false;
}

/* The live bytes while `op` runs after the ops of `ran`. */
static uint64_t load_of(const arenaut_order_problem *p, uint32_t ran, uint32_t op) {
    const uint32_t after = ran | UINT32_C(1) << op;
    uint64_t load = 0, most = 0;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (is_alive(p, ran, b) || uses_now(p, op, b)) load += p->size[b];
    }
    for (uint32_t i = 0; i < p->n_rights; i++) {
        const arenaut_order_right *right = &p->rights[i];
        if (right->op != op || is_alive(p, ran, right->made) || is_alive(p, after, right->over)) {
            continue;
        }
        if (has_used(p, ran, right->made, false) || (p->boundary[right->made] & ARENAUT_LIVE_IN)) {
            continue;
        }
        if (most < right->bytes) most = right->bytes;
    }
    return load - most;
}

static bool may_run(const arenaut_order_problem *p, uint32_t ran, uint32_t op) {
    if ((ran >> op) & 1) return false;
    for (uint32_t i = 0; i < p->n_dependences; i++) {
        if (p->dependences[i].op == op && !((ran >> p->dependences[i].first) & 1)) return false;
    }
    return true;
}

uint64_t order_brute_peak(const arenaut_order_problem *p) {
    const uint32_t n = p->n_ops, all = (UINT32_C(1) << n) - 1;
    uint64_t *peak = malloc(((size_t)all + 1) * sizeof *peak);
    if (!peak || n > ORDER_BRUTE_OPS) abort();
    for (uint32_t ran = 0; ran <= all; ran++) peak[ran] = UINT64_MAX;
    peak[0] = 0;
    for (uint32_t ran = 0; ran < all; ran++) {
        if (peak[ran] == UINT64_MAX) continue;
        for (uint32_t op = 0; op < n; op++) {
            if (!may_run(p, ran, op)) continue;
            const uint64_t load = load_of(p, ran, op);
            uint64_t *next = &peak[ran | UINT32_C(1) << op];
            const uint64_t most = load > peak[ran] ? load : peak[ran];
            if (most < *next) *next = most;
        }
    }
    const uint64_t least = peak[all];
    free(peak);
    return least;
}
