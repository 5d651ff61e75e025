/* Replicas of runtimes that place each tensor once, in one order: ONNX Runtime, ggml, IREE's
 * compiler, LiteRT and TensorFlow Lite for Microcontrollers. */
#include "core/sort.h"
#include "planners/placing/trial.h"
#include "planners/run/planner_rows.h"

enum {
    UNKNOWN = ARENAUT_FEATURE_GAPS | ARENAUT_FEATURE_SAME_BASE | ARENAUT_FEATURE_HINTS,
    HANDLES = UNKNOWN | ARENAUT_FEATURE_ALIGNMENT | ARENAUT_FEATURE_CAPACITY,
};

/* ONNX Runtime's memory pattern, the second of its two stages.
 *
 * The first run of a session is traced: buffers come in the order in which they come alive,
 * and each goes into the smallest gap between those alive then, the lowest of equals, or
 * behind all of them. One block of that size serves the runs that follow.
 *
 * The first stage hands a tensor's memory on to a later one of the same shape. Shapes are not in a
 * problem, so this is not done here; only the results written over an op's input are known: the
 * input lives on for them, and has no gaps in its life.
 *
 * The runtime rounds sizes up to 64 bytes. A problem with that alignment has the same result, since
 * gaps then begin and end at multiples of it. */
const arenaut_planner arn_planner_onnxruntime = {
    .name = "onnxruntime",
    .summary = "ONNX Runtime's memory pattern: in order of time, smallest gap",
    .handles = HANDLES,
    .run = arn_pass_run,
    .data = &(const arn_pass){"L", ARN_COLLAPSE | ARN_HULL, false, {.fit = ARN_BEST_FIT}},
    .attempt = &(const arn_attempt){ARN_TRY_ORDER | ARN_TRY_WHOLE, 5, UNKNOWN, NULL, arn_pass_make},
};

/* ggml: the allocator that llama.cpp and others plan their graphs with.
 *
 * It walks the graph and keeps a list of free blocks, sorted by address; a freed block is coalesced
 * with the free blocks next to it, so that these are just the gaps between live tensors. A tensor
 * goes into the smallest block that is large enough, the highest of equals. The last block, which
 * has no end, is used only if there is no other. The result of an op that may work in place takes
 * its operand's memory instead, and the rest of that is freed.
 *
 * One chunk of memory without a size limit, as most of its back ends have. The original rounds
 * sizes up to the alignment; see ONNX Runtime for why this is not done. */
const arenaut_planner arn_planner_ggml = {
    .name = "ggml",
    .summary = "ggml's graph allocator: in order of time, smallest free block",
    .handles = HANDLES,
    .run = arn_pass_run,
    .data = &(const arn_pass){"L", ARN_HULL, false, {.fit = ARN_HIGH_FIT, .share = true}},
    .attempt = &(const arn_attempt){ARN_TRY_ORDER | ARN_TRY_WHOLE, 5, UNKNOWN, NULL, arn_pass_make},
};

/* The layout that IREE's compiler gives the slab of a program (packStaticSlicesGreedily).
 *
 * Slices come in the order in which the compiler lists them, which is that of the ops that make
 * them. Each goes into the smallest gap between those placed before that are alive with it, the
 * lowest of equals, or behind all of them. Sizes are rounded up as offsets are; see ONNX Runtime
 * for why this is not done. A slab's length is rounded up too, as a pool that asks for it is. Slabs
 * are independent, so each may be a pool. */
const arenaut_planner arn_planner_iree = {
    .name = "iree",
    .summary = "IREE's slabs: in order of the program, smallest gap",
    .handles = HANDLES | ARENAUT_FEATURE_POOLS,
    .run = arn_pass_run,
    .data = &(const arn_pass){"", ARN_COLLAPSE | ARN_HULL, false, {.fit = ARN_BEST_FIT}},
};

/* tflite-arena: a replica of the arena planner of LiteRT (TensorFlow Lite).
 *
 * Tensors that live for the whole run come first, by number; then the others from large to small,
 * equal ones in the order in which they come alive. Each goes into the smallest gap, but the gap
 * that was best so far is measured without the bytes lost to alignment, and so counts as larger
 * than it was. A tensor that shares its input's memory is not placed: the input lives on for it,
 * and has no gaps in its life. */

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

static arenaut_status make_arena(const arenaut_planner *self, arenaut_planning *planning,
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
    .attempt = &(const arn_attempt){.when = ARN_TRY_WHOLE, .turn = 3, .make = make_arena},
};

/* tflm-greedy: a replica of GreedyMemoryPlanner of TensorFlow Lite for Microcontrollers.
 *
 * Buffers with an offline offset are placed first, in the order of their numbers; then the others
 * from large to small, equal ones from the last number to the first. Each goes into the lowest gap
 * between placed buffers whose lifetimes meet its own: only buffers with an offline offset lie over
 * one another, if their offsets do. A lifetime is from the first use to the last, without gaps, and
 * a tensor that ends before step 0 (no op touches it) counts as alive at one common step. */

static void join_untouched(arn_groups *groups) {
    for (uint32_t i = 0; i < groups->n; i++) {
        arn_group *group = &groups->group[i];
        arn_piece *piece = &groups->piece[group->piece];
        if (group->end > 0) continue;
        group->first = piece->first = -1;
        group->end = piece->end = 0;
    }
}

static arenaut_status make_greedy(const arenaut_planner *self, arenaut_planning *planning,
                                  arn_meter *meter) {
    (void)self;
    arn_workspace space;
    arenaut_status st = arn_workspace_open(&space, planning, ARN_HULL);
    if (st != ARENAUT_OK) return st;
    join_untouched(&space.groups);
    arn_orders_sort(&space.orders, "Z-", space.order);
    const arn_rules rules = {.fit = ARN_FIRST_FIT};
    st = arn_try_order(&space, meter, rules);
    arn_workspace_close(&space);
    return st;
}

const arenaut_planner arn_planner_tflm_greedy = {
    .name = "tflm-greedy",
    .summary = "the micro runtime's own: by size, lowest gap",
    .handles = ARENAUT_FEATURE_ALIGNMENT | ARENAUT_FEATURE_GAPS | ARENAUT_FEATURE_CAPACITY |
               ARENAUT_FEATURE_FIXED_OFFSETS | ARENAUT_FEATURE_SAME_BASE | ARENAUT_FEATURE_HINTS |
               ARENAUT_FEATURE_SEPARATIONS,
    .run = arn_row_run,
    .attempt = &(const arn_attempt){.when = ARN_TRY_WHOLE, .turn = 3, .make = make_greedy},
};
