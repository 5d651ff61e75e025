/* exact: branch and bound. Finds the smallest arena and proves that there is none smaller, or the
 * best plan within the effort. For hundreds to a few thousand buffers in one pool; if pools are to
 * be chosen, or pairs may be joined or not, for fewer. */
#include "core/checked.h"
#include "core/fail.h"
#include "core/memory.h"
#include "planners/exact/exact.h"
#include "planners/exact_lane.h"
#include "planners/run/planner_rows.h"

/* The exact search in a lane (run/lanes.h): it improves the lane's plan, and its plans, bounds and
 * effort go to the lane's meter. Either the whole problem is searched, or one pool of a plan that
 * there is already. The row of the same search is at the end. */

typedef struct lane_search {
    arenaut_planning *planning;
    arn_meter *meter;
    uint32_t pool;               /* as in arn_exact_task */
    uint64_t *offset;            /* per buffer: the search's result, */
    uint32_t *pool_of;           /* and in which pool; NULL: there is only one to look at */
    uint64_t others;             /* the arenas of the pools that are not searched */
    const arn_exact_output *out; /* of the search under way */
    uint64_t already;            /* effort spent before this search */
} lane_search;

static bool is_whole(const lane_search *s) { return s->pool == ARENAUT_NONE; }

static void take_arena(lane_search *s, uint64_t arena) {
    const arenaut_problem *p = s->planning->problem;
    arenaut_plan *plan = s->planning->plan;
    if (arena == ARENAUT_UNPLACED) return;
    /* Within its pool a buffer spills as much as before. */
    const uint64_t spill = is_whole(s) ? s->out->spill : s->meter->best.spill;
    const arenaut_cost cost = arn_plan_cost(spill, arena + s->others);
    if (!arn_meter_improves(s->meter, cost)) return;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (!arenaut_problem_needs_memory(p, b)) continue;
        if (!is_whole(s) && plan->pool[b] != s->pool) continue;
        if (is_whole(s)) plan->pool[b] = s->pool_of ? s->pool_of[b] : 0;
        plan->offset[b] = s->offset[b];
    }
    arn_meter_improved(s->meter, cost);
}

/* A bound on one of several pools is none of the total. */
static void take_bound(lane_search *s, uint64_t bound) {
    arenaut_plan *plan = s->planning->plan;
    const arenaut_cost before = arn_plan_cost(plan->spill_bound, plan->total_bound);
    const arenaut_cost now = arn_plan_cost(s->out->spill_bound, bound);
    if (!is_whole(s) || bound == ARENAUT_UNPLACED || !arenaut_costs_less(before, now)) return;
    plan->spill_bound = now.spill;
    plan->total_bound = bound;
    if (plan->n_pools == 1) plan->lower_bound[0] = bound;
    arn_meter_raise_goal(s->meter);
}

static void take_effort(lane_search *s, uint64_t effort) {
    const uint64_t now = s->already + effort;
    if (now > s->meter->spent) arn_meter_spend(s->meter, now - s->meter->spent);
}

static arenaut_verdict take_progress(void *context, uint64_t best, uint64_t bound,
                                     uint64_t effort) {
    lane_search *s = context;
    take_arena(s, best);
    take_bound(s, bound);
    take_effort(s, effort);
    return s->meter->stopped ? ARENAUT_INTERRUPTED : ARENAUT_GO_ON;
}

static arenaut_status run(lane_search *s, arn_exact_task *task) {
    const arenaut_planning *planning = s->planning;
    arenaut_plan *plan = planning->plan;
    const bool whole = is_whole(s), has_plan = arn_meter_has_plan(s->meter);
    const arn_exact_input in = {
        .problem = planning->problem,
        .pool = whole ? 0 : s->pool,
        .pool_of = whole ? NULL : plan->pool,
        .arena = whole ? ARENAUT_UNPLACED : plan->arena[s->pool],
        .bound = whole ? plan->total_bound : plan->lower_bound[s->pool],
        .spill_bound = whole ? plan->spill_bound : 0,
        .enough = planning->options->capacity,
        .effort = task->effort,
        .seed = planning->options->seed,
        .threads = planning->options->threads,
        .progress = take_progress,
        .progress_context = s,
        .allocator = planning->allocator,
    };
    arn_exact_output out = {.offset = s->offset, .pool_of = s->pool_of};
    arenaut_error why;
    s->out = &out;
    const arenaut_status st = arn_exact_run(&in, arn_meter_poll(s->meter), &out, &why);
    task->refused = st == ARENAUT_REFUSED; /* and left to other planners */
    if (task->refused) return ARENAUT_OK;
    if (st == ARENAUT_NO_MEMORY) return arn_no_memory(planning->err);
    if (st != ARENAUT_OK) return arn_fail(planning->err, st, why.at, "%s", why.msg);
    if (out.improved) take_arena(s, out.arena);
    take_bound(s, out.bound);
    take_effort(s, out.effort);
    if (!has_plan && out.arena == ARENAUT_UNPLACED && out.bound == ARENAUT_UNPLACED) {
        plan->quality = ARENAUT_INFEASIBLE;
    }
    return ARENAUT_OK;
}

static arenaut_status find_others(lane_search *s) {
    arenaut_plan *plan = s->planning->plan;
    if (is_whole(s)) return ARENAUT_OK;
    const arenaut_status st = arenaut_plan_measure(plan, s->planning->problem, s->planning->err);
    for (uint32_t k = 0; st == ARENAUT_OK && k < plan->n_pools; k++) {
        if (k != s->pool) s->others += plan->arena[k];
    }
    return st;
}

arenaut_status arn_exact_in_lane(void *context, uint32_t task, arn_lane *lane) {
    arn_exact_task *t = context;
    arenaut_planning *planning = &lane->planning;
    const uint32_t n = planning->problem->n_buffers;
    lane_search s = {.planning = planning, .meter = &lane->meter, .pool = t->pool};
    const bool chooses_pools = is_whole(&s) && planning->problem->n_pools > 1;
    (void)task;
    s.already = lane->meter.spent;
    lane->meter.planner = "exact";
    lane->meter.limit = UINT64_MAX; /* its effort is its own */
    s.offset = arn_allocate_zeroed(planning->allocator, n, sizeof *s.offset);
    if (chooses_pools) s.pool_of = arn_allocate_zeroed(planning->allocator, n, sizeof *s.pool_of);
    const bool allocated = s.offset && (s.pool_of || !chooses_pools);
    arenaut_status st = allocated ? find_others(&s) : arn_no_memory(planning->err);
    if (st == ARENAUT_OK) st = run(&s, t);
    arn_release(planning->allocator, s.offset);
    arn_release(planning->allocator, s.pool_of);
    return st;
}

/* ---- the planner ---- */

typedef struct running {
    arn_exact_notice last; /* the last progress reported to the caller */
    arn_exact_output out;  /* of the search under way */
} running;

static arenaut_verdict pass_progress(void *context, uint64_t best, uint64_t bound,
                                     uint64_t effort) {
    running *r = context;
    r->last.progress.best = best;
    r->last.progress.bound = bound;
    r->last.progress.effort = effort;
    r->last.progress.spill = r->out.spill;
    r->last.progress.spill_bound = r->out.spill_bound;
    return arn_exact_notify(&r->last);
}

static arenaut_status take(arenaut_planning *planning, const arn_exact_output *out) {
    const arenaut_problem *p = planning->problem;
    arenaut_plan *plan = planning->plan;
    plan->effort = out->effort;
    plan->stopped_by = out->stopped_by;
    if (out->arena == ARENAUT_UNPLACED && out->bound == ARENAUT_UNPLACED) {
        plan->quality = ARENAUT_INFEASIBLE;
        return ARENAUT_OK;
    }
    if (out->arena == ARENAUT_UNPLACED) {
        return arn_fail(planning->err, ARENAUT_STOPPED, 0,
                        "the exact search was stopped before it found a plan within the capacity "
                        "of the pool%s",
                        plan->n_pools > 1 ? "s" : "");
    }
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (!arenaut_problem_needs_memory(p, b)) continue;
        plan->pool[b] = p->n_pools > 1 ? out->pool_of[b] : 0;
    }
    plan->spill_bound = arn_max_u64(plan->spill_bound, out->spill_bound);
    if (out->bound > plan->total_bound) {
        plan->total_bound = out->bound;
        if (p->n_pools == 1) plan->lower_bound[0] = out->bound;
    }
    return ARENAUT_OK;
}

static arenaut_status exact_run(const arenaut_planner *self, arenaut_planning *planning) {
    arenaut_status st = arn_settings_check(planning, self, NULL);
    if (st != ARENAUT_OK) return st;
    running r = {.last = {.options = planning->options},
                 .out = {.offset = planning->plan->offset, .pool_of = planning->plan->pool}};
    r.last.progress = (arenaut_progress){.planner = "exact",
                                         .best = ARENAUT_UNPLACED,
                                         .bound = planning->plan->total_bound,
                                         .spill = ARENAUT_UNPLACED,
                                         .spill_bound = planning->plan->spill_bound};
    arn_poll poll = {.callback = arn_exact_notify, .context = &r.last};
    arn_exact_input in = arn_exact_input_of(planning);
    in.progress = pass_progress;
    in.progress_context = &r;
    st = arn_exact_run(&in, &poll, &r.out, planning->err);
    if (st == ARENAUT_OK) st = take(planning, &r.out);
    return st == ARENAUT_OK ? arn_exact_keep_earlier(planning) : st;
}

extern const arenaut_planner arn_planner_exact;
const arenaut_planner arn_planner_exact = {
    .name = "exact",
    .summary = "the smallest arena, proven, for up to a few thousand buffers",
    .handles = ARN_EXACT_HANDLES | ARN_EXACT_RELATIONS | ARENAUT_FEATURE_POOLS,
    .run = exact_run,
};
