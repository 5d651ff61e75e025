/* tflm-greedy: a replica of GreedyMemoryPlanner of TensorFlow Lite for Microcontrollers.
 *
 * Buffers with an offline offset are placed first, in the order of their numbers; then the others
 * from large to small, equal ones from the last number to the first. Each goes into the lowest gap
 * between placed buffers whose lifetimes meet its own: only buffers with an offline offset lie over
 * one another, if their offsets do. A lifetime is from the first use to the last, without gaps, and
 * a tensor that ends before step 0 (no op touches it) counts as alive at one common step. */
#include "planners/placing/trial.h"
#include "planners/run/planner_rows.h"

static void join_untouched(arn_groups *groups) {
    for (uint32_t i = 0; i < groups->n; i++) {
        arn_group *group = &groups->group[i];
        arn_piece *piece = &groups->piece[group->piece];
        if (group->end > 0) continue;
        group->first = piece->first = -1;
        group->end = piece->end = 0;
    }
}

static arenaut_status make(const arenaut_planner *self, arenaut_planning *planning,
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
    .attempt = &(const arn_attempt){.when = ARN_TRY_WHOLE, .turn = 3, .make = make},
};
