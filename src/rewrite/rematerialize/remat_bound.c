/* Lagrangian dual of one op: concave and piecewise linear in the price of a byte, and a cut gives a
 * piece: cost + price × (bytes − bytes that the budget leaves). Two pieces, one rising and one
 * falling, meet at the next price to try (Kelley). The ops above the budget are cut into stretches,
 * and the one of each that needs most bytes is tried at the best price so far; then those that need
 * most of all, at prices of their own, and neighbours of the best, at growing and shrinking
 * distances. */
#include "rewrite/rematerialize/remat_bound.h"

#include <string.h>

#include "core/checked.h"
#include "core/sort.h"
#include "rewrite/rematerialize/remat_price.h"

#define MOST_SUM (UINT64_C(1) << 58)
enum { MOST_LARGEST = 12 };

bool arn_remat_bounds_make(arn_remat_cut *cut, arn_region *region, arn_remat_bounds *b) {
    const arenaut_remat_problem *p = cut->graph->problem;
    *b = (arn_remat_bounds){.cut = cut,
                            .op = ARENAUT_NONE,
                            .most_byte_price = arn_remat_most_byte_price(cut->graph, MOST_SUM),
                            .most_time_price = arn_remat_time_price(cut->graph, MOST_SUM)};
    return ARN_REGION_ARRAYS(region, ARN_ARRAY(b->above, p->n_ops), ARN_ARRAY(b->largest, p->n_ops),
                             ARN_ARRAY(b->scratch, p->n_ops), ARN_ARRAY(b->upper, p->n_ops),
                             ARN_ARRAY(b->key, p->n_ops)) &&
           arn_remat_end_make(cut, region, &b->end);
}

/* ---- one op ---- */

/* Bytes beside those that the op needs in any case; negative if these are too many. */
static int64_t bytes_left(const arn_remat_bounds *b) {
    return (int64_t)b->budget - (int64_t)b->cut->own;
}

static uint64_t value_of_cut(const arn_remat_bounds *b, uint64_t byte_price, uint64_t time_price) {
    const int64_t left = bytes_left(b);
    const uint64_t paid = byte_price * (uint64_t)(left < 0 ? -left : left), flow = b->cut->flow;
    if (left < 0) return (flow + paid + time_price - 1) / time_price;
    return flow > paid ? (flow - paid + time_price - 1) / time_price : 0;
}

static void try_price(arn_remat_bounds *b, uint64_t byte_price) {
    arn_remat_cut_find(b->cut, byte_price, b->most_time_price);
    const uint64_t value = value_of_cut(b, byte_price, b->most_time_price);
    if (value <= b->value) return;
    b->value = value;
    b->op = b->cut->op;
    b->byte_price = byte_price;
    b->time_price = b->most_time_price;
}

static bool leaves_too_many(const arn_remat_bounds *b) {
    const int64_t left = bytes_left(b);
    return left < 0 || b->cut->cut_bytes > (uint64_t)left;
}

/* `price`: where to begin. */
static void maximise_at(arn_remat_bounds *b, uint64_t price, uint32_t most) {
    arn_remat_bracket bracket = arn_remat_bracket_make(b->most_byte_price);
    bool more = b->most_byte_price > 1;
    for (uint32_t i = 0; i < most && more; i++) {
        try_price(b, price);
        more = arn_remat_bracket_next(&bracket, b->cut, leaves_too_many(b), b->most_time_price,
                                      &price);
    }
}

/* ---- bytes that an op needs ---- */

/* Whether a storage may have to stay to the end, as far as the given schedule tells. */
static bool may_be_needed_for_good(const arn_remat_graph *g, uint32_t s) {
    const uint32_t maker = g->problem->maker[s];
    return maker == ARENAUT_NONE || arn_remat_held(g->problem, s, ARENAUT_LIVE_OUT) ||
           (g->problem->until && g->problem->until[maker] != ARENAUT_NONE);
}

/* Per op the bytes that it uses, and those of storages that are live by then and cannot be
 * rematerialized: no less than its minimum cut. */
static void find_upper_bounds(const arn_remat_bounds *b, uint64_t *most) {
    const arn_remat_graph *g = b->cut->graph;
    const arenaut_remat_problem *p = g->problem;
    uint64_t for_good = 0;
    memset(most, 0, p->n_ops * sizeof *most);
    for (uint32_t s = 0; s < p->n_storages; s++) {
        if (!may_be_needed_for_good(g, s)) continue;
        if (arn_remat_held(p, s, ARENAUT_LIVE_IN) || g->first[s] == ARENAUT_NONE) {
            for_good += p->size[s];
        } else {
            most[g->first[s]] += p->size[s];
        }
    }
    for (uint32_t op = 0; op < p->n_ops; op++) {
        for_good += most[op];
        most[op] = for_good + arn_remat_scratch(p, op);
        for (uint32_t i = g->reads.begin[op]; i < g->reads.begin[op + 1]; i++) {
            most[op] += p->size[g->reads.ids[i]];
        }
        for (uint32_t i = g->makes.begin[op]; i < g->makes.begin[op + 1]; i++) {
            most[op] += p->size[g->makes.ids[i]];
        }
    }
}

/* ---- all ops ---- */

static uint64_t first_price(const arn_remat_bounds *b) {
    if (b->byte_price > 0) return b->byte_price;
    const uint64_t most_bytes = MOST_SUM / b->most_byte_price;
    const double per_byte =
        (double)b->cut->graph->base * (double)b->most_time_price / (double)most_bytes;
    const uint64_t price = per_byte < 1 ? 1 : (uint64_t)per_byte;
    return arn_min_u64(price, b->most_byte_price / 2 + 1);
}

/* One cut at the best price so far; more where that is better than the best value. */
static void look_at(arn_remat_bounds *b, uint32_t op) {
    const uint64_t before = b->value;
    arn_remat_cut_at(b->cut, op);
    if (before == 0) {
        maximise_at(b, first_price(b), 14);
        return;
    }
    try_price(b, b->byte_price);
    if (b->value > before) maximise_at(b, b->byte_price, 6);
}

static uint32_t list_above(const arn_remat_bounds *b, const int64_t *load, uint32_t *ops) {
    uint32_t n = 0;
    for (uint32_t op = 0; op < b->cut->graph->problem->n_ops; op++) {
        if (load[op] > (int64_t)b->budget) ops[n++] = op;
    }
    return n;
}

/* The op that needs most bytes. */
static uint32_t largest_of(const arn_remat_bounds *b, const uint32_t *ops, uint32_t n) {
    uint32_t largest = ops[0];
    for (uint32_t i = 1; i < n; i++) {
        if (b->upper[ops[i]] > b->upper[largest]) largest = ops[i];
    }
    return largest;
}

/* At prices of their own, the ops that leave fewest bytes to others: there the best price may be
 * far higher. */
static void look_at_largest(arn_remat_bounds *b, const uint32_t *ops, uint32_t n, uint32_t most) {
    for (uint32_t i = 0; i < n; i++) {
        b->largest[i] = ops[i];
        b->key[ops[i]] = UINT64_MAX - b->upper[ops[i]];
    }
    arn_sort_by_key(b->largest, n, b->key, b->scratch);
    for (uint32_t i = 0; i < n && i < most && !arn_budget_ended(b->cut->budget); i++) {
        arn_remat_cut_at(b->cut, b->largest[i]);
        maximise_at(b, first_price(b), 10);
    }
}

/* From the best op among those listed to better neighbours. */
static void climb(arn_remat_bounds *b, const uint32_t *ops, uint32_t n, uint32_t step) {
    for (; step > 0 && b->op != ARENAUT_NONE; step /= 2) {
        uint32_t at = 0;
        while (at + 1 < n && ops[at] < b->op) at++;
        const uint64_t before = b->value;
        if (at >= step) look_at(b, ops[at - step]);
        if (at + step < n) look_at(b, ops[at + step]);
        if (b->value > before) step *= 2;
        if (arn_budget_ended(b->cut->budget)) return;
    }
}

void arn_remat_bound_time(arn_remat_bounds *b, uint64_t budget, const int64_t *load,
                          uint32_t tries) {
    uint32_t *ops = b->above;
    b->budget = budget;
    b->value = b->byte_price = 0;
    b->op = ARENAUT_NONE;
    const uint32_t n = list_above(b, load, ops);
    const uint32_t step = n / tries + 1;
    find_upper_bounds(b, b->upper);
    for (uint32_t i = 0; i < n && !arn_budget_ended(b->cut->budget); i += step) {
        look_at(b, largest_of(b, ops + i, n - i < step ? n - i : step));
    }
    look_at_largest(b, ops, n, MOST_LARGEST);
    climb(b, ops, n, step);
    if (b->op == ARENAUT_NONE) return;
    arn_remat_cut_at(b->cut, b->op);
    maximise_at(b, b->byte_price, 20);
}

/* With repetitions for nothing, only results of ops that cannot be repeated have to be live. */
uint64_t arn_remat_bound_bytes(arn_remat_bounds *b, uint32_t *op) {
    const arenaut_remat_problem *p = b->cut->graph->problem;
    uint64_t most = 0;
    *op = ARENAUT_NONE;
    find_upper_bounds(b, b->upper);
    for (uint32_t k = 0; k < p->n_ops; k++) b->key[k] = UINT64_MAX - b->upper[k];
    for (uint32_t k = 0; k < p->n_ops; k++) b->above[k] = k;
    arn_sort_by_key(b->above, p->n_ops, b->key, b->scratch);
    for (uint32_t k = 0; k < p->n_ops && !arn_budget_ended(b->cut->budget); k++) {
        const uint32_t i = b->above[k];
        if (b->upper[i] <= most) break;
        arn_remat_cut_at(b->cut, i);
        arn_remat_cut_find(b->cut, 1, 0);
        const uint64_t bytes = b->cut->own + b->cut->flow;
        if (bytes <= most) continue;
        most = bytes;
        *op = i;
    }
    if (b->end.bytes <= most) return most;
    *op = p->n_ops;
    return b->end.bytes;
}

void arn_remat_bound_prove(arn_remat_bounds *b, uint32_t op, uint64_t byte_price,
                           uint64_t time_price, arenaut_remat_proof *proof) {
    proof->op = op;
    proof->byte_price = byte_price;
    proof->time_price = time_price;
    memset(proof->flow, 0, b->cut->graph->problem->n_reads * sizeof *proof->flow);
    if (op >= b->cut->graph->problem->n_ops) return;
    arn_remat_cut_at(b->cut, op);
    arn_remat_cut_find(b->cut, byte_price, time_price);
    arn_remat_cut_flow(b->cut, proof->flow);
}
