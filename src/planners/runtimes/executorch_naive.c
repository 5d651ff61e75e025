/* executorch-naive: ExecuTorch's planner without reuse. Buffers lie end to end in the order of
 * their numbers, each pool above its own reserve. O(n). What the two planners share is in
 * executorch_reserve.c. */
#include "core/checked.h"
#include "core/fail.h"
#include "planners/run/meter.h"
#include "planners/runtimes/executorch_reserve.h"

/* Writes all places and returns the sum of the arenas; ARENAUT_UNPLACED if a pool is too
 * small or the sum overflows. */
static uint64_t lay_end_to_end(const arn_groups *groups, uint64_t *end, arenaut_plan *plan) {
    const arenaut_problem *p = groups->problem;
    uint64_t total = 0;
    for (uint32_t i = 0; i < groups->n; i++) {
        const arn_group *group = &groups->group[i];
        uint64_t at = group->fixed;
        if (at == ARENAUT_UNPLACED) {
            uint64_t *top = &end[arn_executorch_pool(group)];
            if (!arn_align_up(*top, group->align, &at)) return ARENAUT_UNPLACED;
            if (!arn_add(at, group->extent, top)) return ARENAUT_UNPLACED;
        }
        arn_executorch_keep(groups, group, at, plan);
    }
    for (uint32_t k = 0; k < p->n_pools; k++) {
        uint64_t arena;
        if (!arn_align_up(end[k], p->pool[k].align ? p->pool[k].align : 1, &arena) ||
            end[k] > p->pool[k].capacity || !arn_add(total, arena, &total)) {
            return ARENAUT_UNPLACED;
        }
    }
    return total;
}

static arenaut_status executorch_naive_run(const arenaut_planner *self,
                                           arenaut_planning *planning) {
    arn_groups groups;
    uint64_t reserve, floor[ARENAUT_MAX_POOLS];
    arn_meter meter = arn_meter_start(planning, self->name);
    arenaut_status st = arn_executorch_reserve(planning, self, &reserve);
    if (st == ARENAUT_OK) {
        st = arn_groups_make(planning->problem, ARN_COLLAPSE, planning->allocator, &groups,
                             planning->err);
    }
    if (st != ARENAUT_OK) return st;
    arn_executorch_floors(&groups, reserve, floor);
    const uint64_t total = lay_end_to_end(&groups, floor, planning->plan);
    arn_meter_spend(&meter, groups.n);
    if (total != ARENAUT_UNPLACED) arn_meter_improved(&meter, (arn_cost){0, total});
    arn_groups_free(&groups);
    return arn_meter_finish(&meter);
}

extern const arenaut_planner arn_planner_executorch_naive;
const arenaut_planner arn_planner_executorch_naive = {
    .name = "executorch-naive",
    .summary = "ExecuTorch's own without reuse: end to end above the reserve",
    .settings = ARN_EXECUTORCH_SETTING,
    .handles = ARENAUT_FEATURE_ALL,
    .run = executorch_naive_run,
};
