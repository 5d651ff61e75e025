#include "planners/placing/trial.h"

#include "core/bits.h"
#include "core/checked.h"
#include "core/fail.h"

arenaut_status arn_bench_open(arn_bench *bench, const arenaut_planning *planning, unsigned how) {
    const arn_bench empty = {.allocator = planning->allocator};
    *bench = empty;
    arn_region_init(&bench->region, bench->allocator);
    const arenaut_status st =
        arn_items_make(planning->problem, how, planning->allocator, &bench->items, planning->err);
    if (st != ARENAUT_OK) return st;
    arn_region *region = &bench->region;
    bench->order = arn_region_allocate(region, bench->items.n, sizeof *bench->order);
    if (bench->order && arn_timeline_make(&bench->items, region, &bench->timeline) &&
        arn_orders_init(&bench->orders, &bench->items, &bench->timeline, region)) {
        return ARENAUT_OK;
    }
    arn_bench_close(bench);
    return arn_no_memory(planning->err);
}

arenaut_status arn_bench_fork(arn_bench *fork, const arn_bench *whole,
                              const arenaut_allocator *allocator, arenaut_error *err) {
    /* Only what never changes: somebody may be at work on `whole`. */
    const arn_bench copy = {.whole = whole,
                            .items = whole->items,
                            .timeline = whole->timeline,
                            .orders = whole->orders,
                            .allocator = allocator};
    *fork = copy;
    arn_region_init(&fork->region, allocator);
    fork->order = arn_region_allocate(&fork->region, fork->items.n, sizeof *fork->order);
    if (fork->order && arn_orders_fork(&fork->orders, &fork->region)) return ARENAUT_OK;
    arn_bench_close(fork);
    return arn_no_memory(err);
}

void arn_bench_close(arn_bench *bench) {
    arn_placing_free(bench->placing);
    arn_region_free(&bench->region);
    if (!bench->whole) arn_items_free(&bench->items);
    bench->placing = NULL;
}

static bool need_placing(arn_bench *bench) {
    if (!bench->placing) bench->placing = arn_placing_new(&bench->items, bench->allocator);
    return bench->placing != NULL;
}

static bool need_skyline(arn_bench *bench) {
    if (!bench->skyline) {
        bench->offset = arn_region_allocate(&bench->region, bench->items.n, sizeof *bench->offset);
        if (!bench->offset) return false;
        bench->skyline = arn_skyline_new(&bench->items, &bench->timeline, &bench->region);
    }
    return bench->skyline != NULL;
}

/* After a placement: whether this trial may go on. */
static bool is_worth_it(const arn_bench *bench, arn_meter *meter, arn_cost limit) {
    arn_meter_spend(meter, arn_placing_steps(bench->placing));
    return arn_meter_wants_plan(meter) && !arn_costs_less(limit, arn_placing_cost(bench->placing));
}

arenaut_status arn_place_in_order(arn_bench *bench, arn_meter *meter, arn_rules rules,
                                  arn_cost limit, arn_cost *cost) {
    *cost = ARN_NO_PLAN;
    if (!need_placing(bench)) return arn_no_memory(meter->planning->err);
    arn_placing *placing = bench->placing;
    bench->by_skyline = false;
    arn_placing_clear(placing, arn_meter_ask(meter));
    for (uint32_t i = 0; i < bench->items.n; i++) {
        if (!arn_placing_place(placing, bench->order[i], rules)) {
            return arn_placing_out_of_memory(placing) ? arn_no_memory(meter->planning->err)
                                                      : ARENAUT_OK;
        }
        if (!is_worth_it(bench, meter, limit)) return ARENAUT_OK;
    }
    *cost = arn_placing_cost(placing);
    return ARENAUT_OK;
}

/* ---- skylines ---- */

bool arn_skyline_suits(const arn_bench *bench, bool share, bool exactly) {
    const arn_items *items = &bench->items;
    const arenaut_problem *p = items->problem;
    if (p->n_conflicts || p->n_reserved) return false;
    for (uint32_t i = 0; i < items->n; i++) {
        const arn_item *item = &items->item[i];
        if (item->fixed != ARENAUT_UNPLACED) return false;
        const bool is_plain =
            item->n_pieces == 1 && !(item->tied && share) && !(item->pools & (item->pools - 1));
        if (exactly && !is_plain) return false;
    }
    return true;
}

uint64_t arn_steps_per_placement(uint64_t n_items) {
    uint64_t bits = 0;
    while (n_items >> bits) bits++;
    return bits < 7 ? 2 : bits * 2 / 5;
}

/* What would be cut short before it is done is not begun. */
static bool can_pay(arn_meter *meter, uint64_t steps) {
    const uint64_t left = meter->limit > meter->spent ? meter->limit - meter->spent : 0;
    if (!arn_meter_has_plan(meter) || steps < left) return true;
    arn_meter_spend(meter, left);
    return false;
}

/* Each pool by itself: its items come to the front of the order, in the same order. */
static arenaut_status place_by_plain_skyline(arn_bench *bench, arn_meter *meter, arn_cost limit,
                                             arn_cost *cost) {
    const arn_items *items = &bench->items;
    const arenaut_problem *p = items->problem;
    const uint64_t steps_each = arn_steps_per_placement(items->n);
    uint64_t sum = 0, spill = 0;
    for (uint32_t i = 0; i < items->n && p->n_pools > 1; i++) {
        spill += arn_item_spill(items, &items->item[i], arn_lowest_bit(items->item[i].pools));
    }
    if (spill > limit.spill) return ARENAUT_OK;
    const uint64_t most_in_all = spill < limit.spill ? ARENAUT_UNPLACED - 1 : limit.total;
    if (!can_pay(meter, items->n * steps_each)) return ARENAUT_OK;
    if (!need_skyline(bench)) return arn_no_memory(meter->planning->err);
    bench->by_skyline = true;
    for (uint32_t k = 0; k < p->n_pools; k++) {
        uint32_t n = 0, *picked = p->n_pools == 1 ? bench->order : bench->orders.scratch;
        for (uint32_t i = 0; i < items->n; i++) {
            const uint32_t id = bench->order[i];
            if (arn_lowest_bit(items->item[id].pools) == k) picked[n++] = id;
        }
        uint64_t top;
        const uint64_t most = arn_min_u64(p->pool[k].capacity, most_in_all - sum);
        const uint32_t placed = arn_skyline_run(bench->skyline, picked, n, most, bench->offset,
                                                &top, arn_meter_ask(meter));
        arn_meter_spend(meter, placed * steps_each);
        sum += arn_aligned(top, p->pool[k].align);
        if (placed < n || sum > most_in_all || !arn_meter_wants_plan(meter)) return ARENAUT_OK;
    }
    *cost = (arn_cost){spill, sum};
    return ARENAUT_OK;
}

/* An item waiting for its turn: it cannot lie lower than this. What is placed only takes
 * room away, so the lowest place of an item never sinks. */
typedef struct waiting {
    uint64_t lowest;
    uint32_t rank;
} waiting;

static bool comes_first(const waiting *a, const waiting *b) {
    return a->lowest != b->lowest ? a->lowest < b->lowest : a->rank < b->rank;
}

static void sift_down(waiting *heap, uint32_t n, uint32_t at) {
    const waiting moving = heap[at];
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= n) break;
        if (child + 1 < n && comes_first(&heap[child + 1], &heap[child])) child++;
        if (!comes_first(&heap[child], &moving)) break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moving;
}

/* The same idea for every kind of problem: the item at the top of the heap is asked where it
 * would go now, and placed if that is where the heap thought. */
static arenaut_status place_lowest_first(arn_bench *bench, arn_meter *meter, arn_rules rules,
                                         arn_cost limit, waiting *heap, arn_cost *cost) {
    arn_placing *placing = bench->placing;
    uint32_t n = bench->items.n;
    bench->by_skyline = false;
    arn_placing_clear(placing, arn_meter_ask(meter));
    for (uint32_t i = 0; i < n; i++) {
        const arn_item *item = &bench->items.item[bench->order[i]];
        const waiting w = {0, i};
        heap[i] = w;
        if (item->fixed != ARENAUT_UNPLACED) arn_placing_place(placing, bench->order[i], rules);
    }
    while (n > 0) {
        const uint32_t id = bench->order[heap[0].rank];
        uint32_t pool = 0;
        uint64_t offset = 0;
        const bool is_fixed = bench->items.item[id].fixed != ARENAUT_UNPLACED;
        if (!is_fixed && !arn_placing_find(placing, id, rules, heap[0].lowest, &pool, &offset)) {
            return arn_placing_out_of_memory(placing) ? arn_no_memory(meter->planning->err)
                                                      : ARENAUT_OK;
        }
        if (!is_fixed && offset > heap[0].lowest) {
            heap[0].lowest = offset;
        } else {
            if (!is_fixed) arn_placing_put(placing, id, pool, offset);
            heap[0] = heap[--n];
        }
        sift_down(heap, n, 0);
        if (!is_worth_it(bench, meter, limit)) return ARENAUT_OK;
    }
    *cost = arn_placing_cost(placing);
    return ARENAUT_OK;
}

/* Above this the general skyline takes too long: quadratic at the least. */
enum { MOST_WAITING = 4000 };

arenaut_status arn_place_by_skyline(arn_bench *bench, arn_meter *meter, arn_rules rules,
                                    arn_cost limit, arn_cost *cost) {
    *cost = ARN_NO_PLAN;
    const bool is_large = bench->items.n > MOST_WAITING;
    if (arn_skyline_suits(bench, rules.share, !is_large)) {
        return place_by_plain_skyline(bench, meter, limit, cost);
    }
    if (is_large) return ARENAUT_OK;
    waiting *heap = arn_allocate(bench->allocator, bench->items.n, sizeof *heap);
    arenaut_status st = ARENAUT_NO_MEMORY;
    if (heap && need_placing(bench)) {
        st = place_lowest_first(bench, meter, rules, limit, heap, cost);
    }
    arn_release(bench->allocator, heap);
    return st == ARENAUT_NO_MEMORY ? arn_no_memory(meter->planning->err) : st;
}

/* ---- keeping ---- */

uint64_t arn_bench_offset(const arn_bench *bench, uint32_t item) {
    return bench->by_skyline ? bench->offset[item] : arn_placing_offset(bench->placing, item);
}

void arn_keep(const arn_bench *bench, arn_meter *meter, arn_cost cost) {
    const arn_items *items = &bench->items;
    arenaut_plan *plan = meter->planning->plan;
    if (!bench->by_skyline) arn_placing_export(bench->placing, plan->pool, plan->offset);
    for (uint32_t b = 0; b < items->problem->n_buffers && bench->by_skyline; b++) {
        const uint32_t owner = items->owner[b];
        if (owner == ARENAUT_NONE) continue;
        plan->pool[b] = arn_lowest_bit(items->item[owner].pools);
        plan->offset[b] = bench->offset[owner] + items->delta[b];
    }
    arn_meter_improved(meter, cost);
}

arenaut_status arn_try_order(arn_bench *bench, arn_meter *meter, arn_rules rules) {
    arn_cost cost;
    const arenaut_status st =
        arn_place_in_order(bench, meter, rules, arn_just_below(meter->best), &cost);
    if (st == ARENAUT_OK && arn_is_plan(cost)) arn_keep(bench, meter, cost);
    return st;
}

arenaut_status arn_try_skyline(arn_bench *bench, arn_meter *meter, arn_rules rules) {
    arn_cost cost;
    const arenaut_status st =
        arn_place_by_skyline(bench, meter, rules, arn_just_below(meter->best), &cost);
    if (st == ARENAUT_OK && arn_is_plan(cost)) arn_keep(bench, meter, cost);
    return st;
}
