/* tflite-arena: what LiteRT (TensorFlow Lite) does when it allocates its tensors.
 *
 * Tensors that live for the whole run come first, by number; then the others from large to
 * small, equal ones in the order in which they come alive. Each goes into the smallest gap,
 * where the gap that was best so far is measured without the bytes lost to alignment, and
 * so counts as larger than it was. A tensor that shares its input's memory is not placed:
 * the input lives on for it, and has no gaps in its life. */
#include "core/sort.h"
#include "planners/run/planner_rows.h"
#include "planners/placing/trial.h"

/* Each subgraph has an arena, and so a pool, of its own; its run is when that is in use. */
typedef struct runtime_order {
    const arn_items *items;
    arenaut_interval run[ARENAUT_MAX_POOLS];
} runtime_order;

static uint32_t pool_of(const arn_item *item) {
    uint32_t pool = 0;
    while (pool + 1 < ARENAUT_MAX_POOLS && !(item->pools >> pool & 1)) pool++;
    return pool;
}

static bool lives_always(const runtime_order *order, const arn_item *item) {
    const arenaut_interval run = order->run[pool_of(item)];
    return item->first == run.first && item->end == run.end;
}

static bool before(const void *context, uint32_t a, uint32_t b) {
    const runtime_order *order = context;
    const arn_item *x = &order->items->item[a], *y = &order->items->item[b];
    const bool x_always = lives_always(order, x), y_always = lives_always(order, y);
    if (x_always || y_always) return x_always && !y_always;
    if (x->extent != y->extent) return x->extent > y->extent;
    return x->first < y->first;
}

static void order_items(arn_bench *bench) {
    const arn_items *items = &bench->items;
    runtime_order order = {.items = items};
    for (uint32_t k = 0; k < ARENAUT_MAX_POOLS; k++) {
        order.run[k] = (arenaut_interval){INT64_MAX, INT64_MIN};
    }
    for (uint32_t i = 0; i < items->n; i++) {
        arenaut_interval *run = &order.run[pool_of(&items->item[i])];
        if (items->item[i].first < run->first) run->first = items->item[i].first;
        if (items->item[i].end > run->end) run->end = items->item[i].end;
        bench->order[i] = i;
    }
    arn_sort_ids(bench->order, items->n, before, &order, bench->orders.scratch);
}

static arenaut_status make(const arenaut_planner *self, arenaut_planning *planning,
                           arn_meter *meter) {
    (void)self;
    arn_bench bench;
    arenaut_status st = arn_bench_open(&bench, planning, ARN_COLLAPSE | ARN_HULL);
    if (st != ARENAUT_OK) return st;
    order_items(&bench);
    const arn_rules rules = {.fit = ARN_ARENA_FIT};
    st = arn_try_order(&bench, meter, rules);
    arn_bench_close(&bench);
    return st;
}

const arenaut_planner arn_planner_tflite_arena = {
    .name = "tflite-arena",
    .summary = "LiteRT's own: whole-run tensors, then by size, smallest gap",
    .handles = ARENAUT_FEATURE_ALIGNMENT | ARENAUT_FEATURE_GAPS | ARENAUT_FEATURE_CAPACITY |
               ARENAUT_FEATURE_SAME_BASE | ARENAUT_FEATURE_HINTS | ARENAUT_FEATURE_POOLS,
    .run = arn_row_run,
    .attempt = &(const arn_attempt){.when = ARN_TRY_WHOLE, .turn = 3, .make = make},
};
