/* auto: the best of everything. First what the planners of the table do, which settles most
 * problems at once; then exact search, where it can be had; then more orders, and local
 * search, until the bound or the effort is reached. Each starts from the best plan so far,
 * or does not depend on it. */
#include "core/fail.h"
#include "planners/exact/exact.h"
#include "planners/hot_zone.h"
#include "planners/local_search.h"
#include "planners/portfolio.h"
#include "planners/settings.h"

/* ---- exact search, pool by pool ---- */

typedef struct pool_search {
    arenaut_planning *planning;
    arn_meter *meter;
    uint32_t pool;
    uint64_t others;  /* the arenas of the other pools together */
    uint64_t already; /* steps spent before this search */
} pool_search;

/* The offsets of a better plan are in place already. */
static void take_arena(pool_search *s, uint64_t arena) {
    const arenaut_problem *p = s->planning->problem;
    arenaut_plan *plan = s->planning->plan;
    if (arena == ARENAUT_UNPLACED || !arn_meter_improves(s->meter, arena + s->others)) return;
    for (uint32_t b = 0; b < p->n_buffers && p->n_pools == 1; b++) {
        if (arenaut_problem_needs_memory(p, b)) plan->pool[b] = 0;
    }
    arn_meter_improved(s->meter, arena + s->others);
}

/* A bound on one pool says something about the total only if there is no other. */
static void take_bound(pool_search *s, uint64_t bound) {
    arenaut_plan *plan = s->planning->plan;
    if (plan->n_pools > 1 || bound <= plan->total_bound || bound == ARENAUT_UNPLACED) return;
    plan->total_bound = plan->lower_bound[0] = bound;
    if (!s->planning->options->capacity) s->meter->goal = bound;
}

static arenaut_verdict take_progress(void *context, uint64_t best, uint64_t bound, uint64_t steps) {
    pool_search *s = context;
    take_arena(s, best);
    take_bound(s, bound);
    arn_meter_spend(s->meter, s->already + steps - s->meter->spent);
    return s->meter->stopped ? ARENAUT_INTERRUPTED : ARENAUT_GO_ON;
}

static arenaut_status search_pool(pool_search *s, uint64_t effort, bool *refused) {
    const arenaut_planning *planning = s->planning;
    arenaut_plan *plan = planning->plan;
    const bool has_plan = s->meter->best != ARENAUT_UNPLACED;
    const arn_exact_input in = {
        .problem = planning->problem,
        .pool = s->pool,
        .pool_of = plan->n_pools > 1 ? plan->pool : NULL,
        .arena = has_plan ? plan->arena[s->pool] : ARENAUT_UNPLACED,
        .bound = plan->n_pools > 1 ? plan->lower_bound[s->pool] : plan->total_bound,
        .enough = planning->options->capacity,
        .effort = effort,
        .seed = planning->options->seed,
        .progress = take_progress,
        .progress_context = s,
        .allocator = planning->allocator,
    };
    arn_exact_output out = {.offset = plan->offset};
    arenaut_error ignored; /* a problem that it refuses is left to the others */
    const arenaut_status st = arn_exact_run(&in, &out, &ignored);
    *refused = st == ARENAUT_REFUSED;
    if (*refused) return ARENAUT_OK;
    if (st == ARENAUT_NO_MEMORY) return arn_no_memory(planning->err);
    if (st != ARENAUT_OK) return arn_fail(planning->err, st, ignored.at, "%s", ignored.msg);
    if (out.improved) take_arena(s, out.arena);
    take_bound(s, out.bound);
    if (out.steps + s->already > s->meter->spent) {
        arn_meter_spend(s->meter, out.steps + s->already - s->meter->spent);
    }
    if (!has_plan && out.arena == ARENAUT_UNPLACED && out.bound == ARENAUT_UNPLACED) {
        plan->quality = ARENAUT_INFEASIBLE;
    }
    return ARENAUT_OK;
}

/* Spends what local search does not get. *refused: a pool is too large for it. */
static arenaut_status search_exactly(arenaut_planning *planning, arn_meter *meter, bool *refused) {
    const arenaut_problem *p = planning->problem;
    const uint64_t share = arn_local_search_share(meter->limit);
    const uint64_t end = meter->limit > share ? meter->limit - share : 0;
    if (arenaut_problem_features(p) & ~(uint32_t)(ARN_EXACT_HANDLES | ARENAUT_FEATURE_POOLS)) {
        return ARENAUT_OK;
    }
    if (meter->best == ARENAUT_UNPLACED && p->n_pools > 1) return ARENAUT_OK;
    arenaut_status st = ARENAUT_OK;
    meter->planner = "exact";
    for (uint32_t k = 0; k < p->n_pools && st == ARENAUT_OK && !*refused; k++) {
        if (meter->spent >= end || meter->stopped || meter->best <= meter->goal) break;
        if (meter->best != ARENAUT_UNPLACED) {
            st = arenaut_plan_measure(planning->plan, p, planning->err);
            if (st != ARENAUT_OK) return st;
        }
        pool_search s = {planning, meter, k, 0, meter->spent};
        for (uint32_t i = 0; i < p->n_pools; i++) {
            if (i != k) s.others += planning->plan->arena[i];
        }
        st = search_pool(&s, (end - meter->spent) / (p->n_pools - k) + 1, refused);
    }
    return st;
}

/* The part that exact search can be had for: the whole problem, or its hot zone. */
static arenaut_status search_by_proof(arenaut_planning *planning, arn_meter *meter) {
    bool too_large = false;
    arenaut_status st = search_exactly(planning, meter, &too_large);
    meter->planner = "exact";
    if (st == ARENAUT_OK && too_large) st = arn_hot_zone(planning, meter);
    return st;
}

/* Gets all that is left, and at least its share. */
static arenaut_status search_locally(arenaut_planning *planning, arn_meter *meter) {
    arn_meter_allow(meter, arn_local_search_share(planning->options->effort));
    meter->planner = "local-search";
    return arn_local_search(planning, meter, meter->limit - meter->spent);
}

static bool is_done(const arn_meter *meter) {
    const bool impossible = meter->planning->plan->quality == ARENAUT_INFEASIBLE;
    return impossible || meter->best <= meter->goal ||
           (meter->stopped && meter->why != ARENAUT_STOP_EFFORT);
}

static arenaut_status auto_run(const arenaut_planner *self, arenaut_planning *planning) {
    static arenaut_status (*const stages[])(arenaut_planning *, arn_meter *) = {
        arn_portfolio_rows, search_by_proof, arn_portfolio_rest, search_locally};
    arenaut_status st = arn_settings_check(planning, self, NULL);
    arn_meter meter = arn_meter_start(planning, self->name);
    for (size_t i = 0; i < sizeof stages / sizeof *stages && st == ARENAUT_OK; i++) {
        if (!is_done(&meter)) st = stages[i](planning, &meter);
    }
    if (st != ARENAUT_OK || planning->plan->quality == ARENAUT_INFEASIBLE) return st;
    return arn_meter_finish(&meter);
}

const arenaut_planner arn_planner_auto = {
    .name = "auto",
    .summary = "the best of all planners, until the bound or the effort is reached",
    .handles = ARENAUT_FEATURE_ALL,
    .run = auto_run,
};
