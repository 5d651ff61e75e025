/* tflite-arena: what LiteRT (TensorFlow Lite) does when it allocates its tensors.
 *
 * Tensors that live for the whole run come first, by number; then the others from large to
 * small, equal ones in the order in which they come alive. Each goes into the smallest gap,
 * where the gap that was best so far is measured without the bytes lost to alignment, and
 * so counts as larger than it was. A tensor that shares its input's memory is not placed:
 * the input lives on for it, and has no gaps in its life. */
#include "core/sort.h"
#include "planners/incumbents.h"
#include "planners/trial.h"

typedef struct runtime_order {
    const arn_items *items;
    int64_t first, end; /* of the whole run */
} runtime_order;

static bool lives_always(const runtime_order *run, const arn_item *item) {
    return item->first == run->first && item->end == run->end;
}

static bool before(const void *context, uint32_t a, uint32_t b) {
    const runtime_order *run = context;
    const arn_item *x = &run->items->item[a], *y = &run->items->item[b];
    const bool x_always = lives_always(run, x), y_always = lives_always(run, y);
    if (x_always || y_always) return x_always && !y_always;
    if (x->extent != y->extent) return x->extent > y->extent;
    return x->first < y->first;
}

static void order_items(arn_bench *bench) {
    const arn_items *items = &bench->items;
    runtime_order run = {items, INT64_MAX, INT64_MIN};
    for (uint32_t i = 0; i < items->n; i++) {
        if (items->item[i].first < run.first) run.first = items->item[i].first;
        if (items->item[i].end > run.end) run.end = items->item[i].end;
        bench->order[i] = i;
    }
    arn_sort_ids(bench->order, items->n, before, &run, bench->orders.scratch);
}

arenaut_status arn_try_tflite_arena(arenaut_planning *planning, arn_meter *meter) {
    arn_bench bench;
    arenaut_status st = arn_bench_open(&bench, planning, ARN_COLLAPSE | ARN_HULL);
    if (st != ARENAUT_OK) return st;
    order_items(&bench);
    const arn_rules rules = {.fit = ARN_ARENA_FIT};
    st = arn_try_order(&bench, meter, rules);
    arn_bench_close(&bench);
    return st;
}

static arenaut_status tflite_arena_run(const arenaut_planner *self, arenaut_planning *planning) {
    return arn_run_incumbent(self, planning, arn_try_tflite_arena);
}

const arenaut_planner arn_planner_tflite_arena = {
    .name = "tflite-arena",
    .summary = "LiteRT's own: whole-run tensors, then by size, smallest gap",
    .handles = ARENAUT_FEATURE_ALIGNMENT | ARENAUT_FEATURE_GAPS | ARENAUT_FEATURE_CAPACITY |
               ARENAUT_FEATURE_SAME_BASE | ARENAUT_FEATURE_HINTS,
    .run = tflite_arena_run,
};
