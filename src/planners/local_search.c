/* local-search: changes the order in which the skyline is filled, a little at a time.
 *
 * One item is moved to another place in the order; mostly one that ends at the top of the
 * arena, and mostly to the front. The new order is kept if its arena is not larger than the
 * one before, or than the one some dozens of tries ago (late acceptance), so that the search
 * can leave a dead end without a temperature to be tuned. After long failure it goes back
 * to the best order. The seed decides all. */
#include "planners/local_search.h"

#include <string.h>

#include "core/fail.h"
#include "planners/settings.h"
#include "planners/trial.h"

enum { MEMORY = 40, PATIENCE = 4000 };

typedef struct climb {
    arn_bench bench;
    arn_meter *meter;
    arn_rules rules;
    uint64_t budget_end;    /* in meter->spent */
    uint64_t random;        /* splitmix64 */
    uint64_t current, best; /* totals of `order` and of `best_order` */
    uint64_t memory[MEMORY];
    uint32_t *best_order, *top; /* items that end at the top of the current plan */
    uint32_t n_top;
} climb;

static uint64_t next_random(climb *c) {
    uint64_t z = (c->random += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static uint32_t random_below(climb *c, uint32_t limit) {
    return (uint32_t)(next_random(c) % limit);
}

static bool goes_on(const climb *c) {
    return arn_meter_goes_on(c->meter) && c->meter->spent < c->budget_end &&
           c->best > c->meter->goal;
}

static arenaut_status place(climb *c, uint64_t limit, uint64_t *total) {
    const arenaut_status st = arn_place_by_skyline(&c->bench, c->meter, c->rules, limit, total);
    if (st != ARENAUT_OK || *total == ARENAUT_UNPLACED) return st;
    if (arn_meter_improves(c->meter, *total)) arn_keep(&c->bench, c->meter, *total);
    return ARENAUT_OK;
}

static uint64_t end_of(const climb *c, uint32_t item) {
    return arn_bench_offset(&c->bench, item) + c->bench.items.item[item].extent;
}

/* Pools are not told apart: the highest end of all is as good a place to start as any. */
static void find_top(climb *c) {
    uint64_t highest = 0;
    for (uint32_t i = 0; i < c->bench.items.n; i++) {
        const uint64_t end = end_of(c, i);
        if (end < highest) continue;
        if (end > highest) c->n_top = 0;
        highest = end;
        c->top[c->n_top++] = i;
    }
}

static void remember(climb *c, uint64_t total) {
    c->current = total;
    find_top(c);
    if (total >= c->best) return;
    c->best = total;
    memcpy(c->best_order, c->bench.order, c->bench.items.n * sizeof *c->best_order);
}

/* Moves the entry at `from` to `to`; those between make room. */
static void move_entry(uint32_t *order, uint32_t from, uint32_t to) {
    const uint32_t moving = order[from];
    if (from < to) memmove(order + from, order + from + 1, (to - from) * sizeof *order);
    if (to < from) memmove(order + to + 1, order + to, (from - to) * sizeof *order);
    order[to] = moving;
}

static uint32_t index_of(const climb *c, uint32_t item) {
    uint32_t i = 0;
    while (c->bench.order[i] != item) i++;
    return i;
}

/* Half of the moves bring something from the top forward. */
static void choose_move(climb *c, uint32_t *from, uint32_t *to) {
    const uint32_t n = c->bench.items.n;
    const bool from_top = next_random(c) & 1;
    *from = from_top ? index_of(c, c->top[random_below(c, c->n_top)]) : random_below(c, n);
    *to = from_top ? random_below(c, *from + 1) : random_below(c, n);
}

static arenaut_status climb_on(climb *c) {
    uint32_t idle = 0;
    for (uint32_t k = 0; k < MEMORY; k++) c->memory[k] = c->current;
    for (uint32_t round = 0; goes_on(c); round++) {
        uint32_t from, to;
        choose_move(c, &from, &to);
        uint64_t *late = &c->memory[round % MEMORY], total;
        const uint64_t limit = *late > c->current ? *late : c->current, best = c->best;
        move_entry(c->bench.order, from, to);
        const arenaut_status st = place(c, limit, &total);
        if (st != ARENAUT_OK) return st;
        if (total == ARENAUT_UNPLACED) {
            move_entry(c->bench.order, to, from);
        } else {
            remember(c, total);
        }
        *late = c->current;
        idle = c->best < best ? 0 : idle + 1;
        if (idle == PATIENCE) {
            idle = 0;
            memcpy(c->bench.order, c->best_order, c->bench.items.n * sizeof *c->best_order);
            for (uint32_t k = 0; k < MEMORY; k++) c->memory[k] = c->best;
            c->current = c->best;
        }
    }
    return ARENAUT_OK;
}

/* Starts from the best of a few orders. */
static arenaut_status find_start(climb *c) {
    static const char *const starts[] = {"TWA", "TAW", "WAT", "Z", "Z-"};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        uint64_t total;
        arn_orders_sort(&c->bench.orders, starts[i], c->bench.order);
        const uint64_t limit = c->best - 1;
        const arenaut_status st = place(c, limit, &total);
        if (st != ARENAUT_OK) return st;
        if (total != ARENAUT_UNPLACED) remember(c, total);
        if (!goes_on(c)) break;
    }
    memcpy(c->bench.order, c->best_order, c->bench.items.n * sizeof *c->best_order);
    return ARENAUT_OK;
}

arenaut_status arn_local_search(arenaut_planning *planning, arn_meter *meter, uint64_t budget) {
    climb c = {.meter = meter, .budget_end = meter->spent + budget, .best = ARENAUT_UNPLACED};
    c.random = planning->options->seed;
    c.rules.share = true;
    arenaut_status st = arn_bench_open(&c.bench, planning, 0);
    if (st != ARENAUT_OK) return st;
    const uint32_t n = c.bench.items.n;
    c.best_order = arn_region_allocate(&c.bench.items.region, n, sizeof *c.best_order);
    c.top = arn_region_allocate(&c.bench.items.region, n, sizeof *c.top);
    st = c.best_order && c.top ? find_start(&c) : arn_no_memory(planning->err);
    if (st == ARENAUT_OK && c.best != ARENAUT_UNPLACED && n > 1) st = climb_on(&c);
    arn_bench_close(&c.bench);
    return st;
}

static arenaut_status local_search_run(const arenaut_planner *self, arenaut_planning *planning) {
    arenaut_status st = arn_settings_check(planning, self, NULL);
    arn_meter meter = arn_meter_start(planning, self->name);
    if (st == ARENAUT_OK) {
        st = arn_local_search(planning, &meter, arn_local_search_share(planning->options->effort));
    }
    return st == ARENAUT_OK ? arn_meter_finish(&meter) : st;
}

const arenaut_planner arn_planner_local_search = {
    .name = "local-search",
    .summary = "skyline, with an order that is changed as long as that helps",
    .handles = ARENAUT_FEATURE_ALL,
    .run = local_search_run,
};
