/* mended-skyline: for a live loop, which is blocked meanwhile. A pass of the skyline, and as long
 * as the plan is more than 2 % above the bound a few more, each of which begins where the last was
 * too high; of many buffers the few places at which it is more than 1 % above it mended
 * (search/mend.c). Of few, the first pass is that of the planner skyline, which without relations
 * and hints is never lower. Where buffers have lain before (hints), that plan is settled and mended
 * first, which is enough if few sizes have changed.
 *
 * O(n log n), and so many passes and so much work for mending that all mostly takes at most twice
 * as long as storage groups take through the same call. Problems that are not plain have the
 * skyline alone. */
#include "core/checked.h"
#include "core/fail.h"
#include "core/sort.h"
#include "planners/placing/settle.h"
#include "planners/run/planner_rows.h"
#include "planners/search/mend.h"

enum {
    PASSES = 8,
    IDLE = 3,             /* passes without a better plan, which end them */
    PLACED = 26000,       /* buffers in all passes, if there is more than one */
    FEW = 2000,           /* buffers: of these a pass finds more than mending in its time */
    WORK_PER_BUFFER = 70, /* of many: see mend.h */
    WORK_PER_EFFORT = 128 /* is a unit of effort */
};

typedef struct attempt {
    arn_workspace space;
    arn_meter *meter;
    uint64_t goal;   /* at or below this nothing is mended */
    uint64_t enough; /* nor, at or below this, is there another pass */
    uint64_t passes; /* at most */
    uint64_t work;   /* left for mending */
    bool is_small;   /* never above the skyline, and not mended */
} attempt;

/* So many hundredths above the bound. */
static uint64_t above_bound(const arn_meter *meter, uint64_t hundredths) {
    const arenaut_planning *planning = meter->planning;
    const uint64_t bound = planning->plan->total_bound;
    const uint64_t near = bound + bound / 100 * hundredths;
    return arn_min_u64(near, planning->problem->pool[0].capacity);
}

static arenaut_cost cost_of(const attempt *a) {
    const arn_groups *groups = &a->space.groups;
    uint64_t top = 0;
    for (uint32_t i = 0; i < groups->n; i++)
        top = arn_max_u64(top, a->space.offset[i] + groups->group[i].extent);
    return arn_plan_cost(0, arn_aligned(top, groups->problem->pool[0].align));
}

static void keep_if_better(attempt *a) {
    const arenaut_cost cost = cost_of(a);
    if (cost.total > a->space.groups.problem->pool[0].capacity) return;
    if (arn_meter_improves(a->meter, cost)) arn_keep(&a->space, a->meter, cost);
}

static bool is_within(const attempt *a, uint64_t most) {
    return arn_meter_has_plan(a->meter) && a->meter->best.total <= most;
}

/* The plan that is in the workspace, by a part of the work that is left. */
static arenaut_status mend(attempt *a, uint64_t most) {
    uint64_t work = 0;
    keep_if_better(a);
    if (is_within(a, a->goal) || most == 0 || !arn_meter_goes_on(a->meter)) return ARENAUT_OK;
    if (!arn_mend(&a->space, a->goal, most, arn_meter_poll(a->meter), &work))
        return arn_no_memory(a->meter->planning->err);
    a->work -= arn_min_u64(work, a->work);
    arn_meter_spend(a->meter, work / WORK_PER_EFFORT);
    keep_if_better(a);
    return ARENAUT_OK;
}

/* Groups by where they lay before; those that are new lie on top. */
static bool order_by_hints(attempt *a) {
    arn_workspace *space = &a->space;
    const uint32_t n = space->groups.n;
    for (uint32_t i = 0; i < n; i++) {
        space->order[i] = i;
        space->orders.key[i] = arn_group_hint(&space->groups, &space->groups.group[i]);
    }
    arn_sort_by_key(space->order, n, space->orders.key, space->orders.scratch);
    return n && space->orders.key[space->order[0]] != ARENAUT_UNPLACED;
}

/* The earlier plan with the new sizes, as long as it is not far from the goal. */
static arenaut_status settle(attempt *a) {
    arn_workspace *space = &a->space;
    const uint64_t limit = a->goal + a->goal / 16;
    uint64_t top;
    if (!order_by_hints(a)) return ARENAUT_OK;
    if (!arn_settle(space, limit, &top)) return arn_no_memory(a->meter->planning->err);
    arn_meter_spend(a->meter, space->groups.n);
    return top > limit ? ARENAUT_OK : mend(a, a->work / 2);
}

static arenaut_status fill(attempt *a, const arenaut_planner *self) {
    const arn_pass *pass = self->data;
    arn_workspace *space = &a->space;
    uint64_t *excess =
        arn_region_allocate(&space->region, space->timeline.n_sections, sizeof *excess);
    uint64_t best = UINT64_MAX;
    if (!excess || !arn_orders_need_powers(&space->orders, &space->region))
        return arn_no_memory(a->meter->planning->err);
    for (uint64_t k = 0, idle = 0; k < a->passes && idle < IDLE; k++) {
        arenaut_cost cost;
        const bool is_own = k == 0 && a->is_small;
        if (k) arn_orders_blame(&space->orders, space->offset, a->goal, excess);
        arn_orders_sort(&space->orders, is_own ? pass->letters : "NZ", space->order);
        arenaut_status st = arn_place_by_skyline(space, a->meter, pass->rules, ARN_ANY_PLAN, &cost);
        if (st == ARENAUT_OK && arn_is_plan(cost)) st = mend(a, a->work);
        if (st != ARENAUT_OK || !arn_is_plan(cost)) return st;
        if (is_within(a, is_own ? a->goal : a->enough)) return st;
        idle = a->meter->best.total < best ? 0 : idle + 1;
        best = a->meter->best.total;
    }
    return ARENAUT_OK;
}

/* Over groups of one kind; `how` as for arn_groups_make. *is_plain: whether that could be done. */
static arenaut_status attempt_make(attempt *a, const arenaut_planner *self, unsigned how,
                                   bool *is_plain) {
    arenaut_status st = arn_workspace_open(&a->space, a->meter->planning, how);
    if (st != ARENAUT_OK) return st;
    *is_plain = arn_workspace_is_plain(&a->space);
    if (*is_plain) {
        st = arn_workspace_need_offsets(&a->space) ? settle(a)
                                                   : arn_no_memory(a->meter->planning->err);
        const bool goes_on = !is_within(a, a->enough) && arn_meter_wants_plan(a->meter);
        if (st == ARENAUT_OK && goes_on) st = fill(a, self);
    }
    arn_workspace_close(&a->space);
    return st;
}

static arenaut_status make(const arenaut_planner *self, arenaut_planning *planning,
                           arn_meter *meter) {
    const uint64_t n = planning->problem->n_buffers;
    attempt a = {.meter = meter,
                 .goal = above_bound(meter, 1),
                 .enough = above_bound(meter, 2),
                 .passes = arn_min_u64(PASSES, arn_max_u64(1, PLACED / (n + 1))),
                 .work = n < FEW ? 0 : n * WORK_PER_BUFFER,
                 .is_small = n < FEW};
    bool is_plain = false;
    arenaut_status st = ARENAUT_OK;
    /* A result in its operand's place, then in a place of its own. */
    if (planning->problem->n_pools == 1) {
        if (planning->problem->same_base)
            st = attempt_make(&a, self, ARN_COLLAPSE | ARN_HULL, &is_plain);
        if (st == ARENAUT_OK && !is_within(&a, a.goal)) st = attempt_make(&a, self, 0, &is_plain);
    }
    const bool is_done = arn_meter_has_plan(meter) || !arn_meter_wants_plan(meter);
    return st == ARENAUT_OK && !is_done ? arn_pass_make(self, planning, meter) : st;
}

const arenaut_planner arn_planner_mended_skyline = {
    .name = "mended-skyline",
    .summary = "skyline, then the few places that are too high anew, in little time",
    .handles = ARENAUT_FEATURE_ALL,
    .run = arn_row_run,
    .data = &(const arn_pass){"TWZ", 0, true, {.fit = ARN_FIRST_FIT}},
    .attempt = &(const arn_attempt){.turn = 9, .make = make},
};
