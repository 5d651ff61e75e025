/* tflite-arena: a replica of the arena planner of LiteRT (TensorFlow Lite).
 *
 * Tensors that live for the whole run come first, by number; then the others from large to small,
 * equal ones in the order in which they come alive. Each goes into the smallest gap, but the gap
 * that was best so far is measured without the bytes lost to alignment, and so counts as larger
 * than it was. A tensor that shares its input's memory is not placed: the input lives on for it,
 * and has no gaps in its life. */
#include "core/sort.h"
#include "planners/placing/trial.h"
#include "planners/run/planner_rows.h"

/* Each subgraph has an arena, and so a pool, of its own; its run is when that is in use. */
typedef struct runtime_order {
    const arn_groups *groups;
    arenaut_interval run[ARENAUT_MAX_POOLS];
} runtime_order;

static uint32_t pool_of(const arn_group *group) {
    uint32_t pool = 0;
    while (pool + 1 < ARENAUT_MAX_POOLS && !(group->pools >> pool & 1)) pool++;
    return pool;
}

static bool lives_always(const runtime_order *order, const arn_group *group) {
    const arenaut_interval run = order->run[pool_of(group)];
    return group->first == run.first && group->end == run.end;
}

static bool before(const void *context, uint32_t a, uint32_t b) {
    const runtime_order *order = context;
    const arn_group *x = &order->groups->group[a], *y = &order->groups->group[b];
    const bool x_always = lives_always(order, x), y_always = lives_always(order, y);
    if (x_always || y_always) return x_always && !y_always;
    if (x->extent != y->extent) return x->extent > y->extent;
    return x->first < y->first;
}

static void order_groups(arn_workspace *space) {
    const arn_groups *groups = &space->groups;
    runtime_order order = {.groups = groups};
    for (uint32_t k = 0; k < ARENAUT_MAX_POOLS; k++) {
        order.run[k] = (arenaut_interval){INT64_MAX, INT64_MIN};
    }
    for (uint32_t i = 0; i < groups->n; i++) {
        arenaut_interval *run = &order.run[pool_of(&groups->group[i])];
        if (groups->group[i].first < run->first) run->first = groups->group[i].first;
        if (groups->group[i].end > run->end) run->end = groups->group[i].end;
        space->order[i] = i;
    }
    arn_sort_ids(space->order, groups->n, before, &order, space->orders.scratch);
}

static arenaut_status make(const arenaut_planner *self, arenaut_planning *planning,
                           arn_meter *meter) {
    (void)self;
    arn_workspace space;
    arenaut_status st = arn_workspace_open(&space, planning, ARN_COLLAPSE | ARN_HULL);
    if (st != ARENAUT_OK) return st;
    order_groups(&space);
    const arn_rules rules = {.fit = ARN_ARENA_FIT};
    st = arn_try_order(&space, meter, rules);
    arn_workspace_close(&space);
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
