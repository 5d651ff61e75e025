/* overlap_orders: first fit, knowing separations (overlap_placing.h), in several orders.
 *
 * A result lies below the operand that it is written over. So the last comes first: it goes to the
 * bottom, and its operand on top of it as far over it as may be. After that the best order is
 * changed a little at a time: one of those that end at the top comes forward, and the order is kept
 * unless the arena grows. */
#include "planners/overlap/overlap_orders.h"

#include <string.h>

#include "core/fail.h"
#include "core/random.h"
#include "core/sort.h"
#include "planners/overlap/overlap_placing.h"
#include "planners/placing/orders.h"

static const char *const letters[] = {"U", "L", "TU", "TZ", "A", "ZU"};
enum { N_ORDERS = sizeof letters / sizeof *letters, PATIENCE = 400, LOOKS_PER_STEP = 32 };

typedef struct ordering {
    arn_groups groups;
    arn_timeline timeline;
    arn_orders orders;
    arn_overlap_placing *placing;
    arn_region region;
    arn_meter *meter;
    uint32_t *order;
    arn_cost best; /* of best_order; there may be plans from elsewhere that are better */
    uint32_t *best_order;
    uint32_t *top, n_top; /* where in that order those are that end at the top */
    uint32_t n_fixed;     /* these come first in every order */
    uint64_t random;
} ordering;

static void find_top(ordering *x) {
    uint64_t highest = 0;
    for (uint32_t i = 0; i < x->groups.n; i++) {
        const uint32_t id = x->order[i];
        const uint64_t end = arn_overlap_placing_end(x->placing, id);
        if (end < highest) continue;
        if (end > highest) x->n_top = 0;
        highest = end;
        x->top[x->n_top++] = i;
    }
}

static void keep(const ordering *x, arn_cost cost) {
    arenaut_plan *plan = x->meter->planning->plan;
    if (!arn_meter_improves(x->meter, cost)) return;
    arn_overlap_placing_export(x->placing, plan->pool, plan->offset);
    arn_meter_improved(x->meter, cost);
}

/* Places all in the present order, and keeps it unless the best was better. */
static arenaut_status try_order(ordering *x) {
    uint64_t looked = 0;
    arn_overlap_placing_clear(x->placing);
    for (uint32_t i = 0; i < x->groups.n; i++) {
        const bool placed = arn_overlap_place(x->placing, x->order[i], &looked);
        if (arn_overlap_placing_out_of_memory(x->placing)) {
            return arn_no_memory(x->meter->planning->err);
        }
        arn_meter_spend(x->meter, looked / LOOKS_PER_STEP + 1);
        looked %= LOOKS_PER_STEP;
        if (!placed || !arn_meter_wants_plan(x->meter)) return ARENAUT_OK;
        if (arn_costs_less(x->best, arn_overlap_placing_cost(x->placing))) return ARENAUT_OK;
    }
    x->best = arn_overlap_placing_cost(x->placing);
    memcpy(x->best_order, x->order, x->groups.n * sizeof *x->best_order);
    find_top(x);
    keep(x, x->best);
    return ARENAUT_OK;
}

static uint64_t draw(ordering *x) { return arn_random_next(&x->random); }

/* Brings one that ends at the top forward, by as far as chance has it: mostly not far. */
static void bring_forward(ordering *x) {
    uint32_t *order = x->order;
    memcpy(order, x->best_order, x->groups.n * sizeof *order);
    const uint32_t from = x->top[draw(x) % x->n_top];
    if (from < x->n_fixed) return;
    const uint32_t reach = ((from - x->n_fixed) >> (draw(x) >> 60)) + 1;
    const uint32_t moving = order[from], to = from - (uint32_t)(draw(x) % reach);
    memmove(order + to + 1, order + to, (from - to) * sizeof *order);
    order[to] = moving;
}

static arenaut_status improve(ordering *x, uint64_t effort) {
    const uint64_t start = x->meter->spent;
    arenaut_status st = ARENAUT_OK;
    for (uint32_t idle = 0; st == ARENAUT_OK && idle < PATIENCE; idle++) {
        if (!arn_meter_goes_on(x->meter) || x->meter->spent - start >= effort) break;
        const arn_cost before = x->best;
        bring_forward(x);
        st = try_order(x);
        if (arn_costs_less(x->best, before)) idle = 0;
    }
    return st;
}

static bool lower(const void *context, uint32_t a, uint32_t b) {
    const uint64_t *key = context;
    return key[a] < key[b];
}

/* From below, as the plan lies that there is: no group ends higher than there, and what may overlap
 * sinks. */
static arenaut_status try_order_of_plan(ordering *x) {
    const arenaut_plan *plan = x->meter->planning->plan;
    const uint32_t n = x->groups.n;
    if (!arn_meter_has_plan(x->meter)) return ARENAUT_OK;
    uint64_t *key = arn_region_allocate(&x->region, n, sizeof *key);
    uint32_t *work = arn_region_allocate(&x->region, n, sizeof *work);
    if (!key || !work) return arn_no_memory(x->meter->planning->err);
    for (uint32_t k = 0; k < n; k++) {
        const arn_group *group = &x->groups.group[k];
        const bool fixed = group->fixed != ARENAUT_UNPLACED;
        key[k] = fixed ? 0 : plan->offset[x->groups.member[group->member]] + 1;
        x->order[k] = k;
    }
    arn_sort_ids(x->order, n, lower, key, work);
    return try_order(x);
}

static arenaut_status try_orders(ordering *x) {
    arenaut_status st = try_order_of_plan(x);
    for (uint32_t i = 0; i < N_ORDERS && st == ARENAUT_OK; i++) {
        if (arn_meter_was_stopped(x->meter) || arn_meter_at_goal(x->meter)) return st;
        arn_orders_sort(&x->orders, letters[i], x->order);
        st = try_order(x);
    }
    return st;
}

static bool prepare(ordering *x, const arenaut_allocator *allocator) {
    const uint32_t n = x->groups.n;
    x->order = arn_region_allocate(&x->region, n, sizeof *x->order);
    x->best_order = arn_region_allocate(&x->region, n, sizeof *x->best_order);
    x->top = arn_region_allocate(&x->region, n, sizeof *x->top);
    x->placing = arn_overlap_placing_new(&x->groups, allocator);
    for (uint32_t i = 0; i < n; i++) {
        x->n_fixed += x->groups.group[i].fixed != ARENAUT_UNPLACED;
    }
    return x->order && x->best_order && x->top && x->placing &&
           arn_timeline_make(&x->groups, &x->region, &x->timeline) &&
           arn_orders_init(&x->orders, &x->groups, &x->timeline, &x->region);
}

arenaut_status arn_overlap_orders(arenaut_planning *planning, arn_meter *meter, uint64_t effort) {
    const arenaut_allocator *allocator = planning->allocator;
    ordering x = {.meter = meter, .best = ARN_NO_PLAN, .random = planning->options->seed};
    arenaut_status st = arn_groups_make(planning->problem, 0, allocator, &x.groups, planning->err);
    if (st != ARENAUT_OK) return st;
    arn_region_init(&x.region, allocator);
    st = prepare(&x, allocator) ? try_orders(&x) : arn_no_memory(planning->err);
    if (st == ARENAUT_OK && x.n_top > 0) st = improve(&x, effort);
    arn_overlap_placing_free(x.placing);
    arn_region_free(&x.region);
    arn_groups_free(&x.groups);
    return st;
}
