/* auto: the best of everything. First what the planners of the table do, which settles most
 * problems at once; then exact search; and where that cannot be had, exact search of the
 * moments that decide, more orders, and local search, until the bound or the effort is
 * reached. */
#include "core/fail.h"
#include "core/memory.h"
#include "planners/exact/exact.h"
#include "planners/hot_zone.h"
#include "planners/incumbents.h"
#include "planners/local_search.h"
#include "planners/portfolio.h"
#include "planners/settings.h"

/* ---- exact search, pool by pool ---- */

typedef struct pool_search {
    arenaut_planning *planning;
    arn_meter *meter;
    uint64_t *offset; /* per buffer: what the search found */
    uint32_t pool;
    uint64_t others;  /* the arenas of the other pools together */
    uint64_t already; /* steps spent before this search */
} pool_search;

static void take_arena(pool_search *s, uint64_t arena) {
    const arenaut_problem *p = s->planning->problem;
    arenaut_plan *plan = s->planning->plan;
    if (arena == ARENAUT_UNPLACED || !arn_meter_improves(s->meter, arena + s->others)) return;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (!arenaut_problem_needs_memory(p, b)) continue;
        if (p->n_pools > 1 && plan->pool[b] != s->pool) continue;
        plan->pool[b] = s->pool;
        plan->offset[b] = s->offset[b];
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
    const bool alone = plan->n_pools == 1;
    const arn_exact_input in = {
        .problem = planning->problem,
        .pool = s->pool,
        .pool_of = alone ? NULL : plan->pool,
        /* Alone in its pool it runs as the row `exact` does, so that it finds what that finds. */
        .arena = alone ? ARENAUT_UNPLACED : plan->arena[s->pool],
        .bound = alone ? plan->total_bound : plan->lower_bound[s->pool],
        .enough = planning->options->capacity,
        .effort = effort,
        .seed = planning->options->seed,
        .progress = take_progress,
        .progress_context = s,
        .allocator = planning->allocator,
    };
    arn_exact_output out = {.offset = s->offset};
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

/* The search of each pool has the effort for itself: what the table's rows have spent is
 * little. *refused: a pool is too large for it. */
static arenaut_status search_pools(arenaut_planning *planning, arn_meter *meter, uint64_t *offset,
                                   bool *refused) {
    const uint32_t n_pools = planning->problem->n_pools;
    const uint64_t effort = planning->options->effort / n_pools + 1;
    arenaut_status st = ARENAUT_OK;
    for (uint32_t k = 0; k < n_pools && st == ARENAUT_OK && !*refused; k++) {
        arn_meter_allow(meter, effort);
        if (!arn_meter_goes_on(meter)) break;
        if (meter->best != ARENAUT_UNPLACED) {
            st = arenaut_plan_measure(planning->plan, planning->problem, planning->err);
            if (st != ARENAUT_OK) return st;
        }
        pool_search s = {planning, meter, offset, k, 0, meter->spent};
        for (uint32_t i = 0; i < n_pools; i++) {
            if (i != k) s.others += planning->plan->arena[i];
        }
        st = search_pool(&s, effort, refused);
    }
    return st;
}

/* *refused: exact search cannot be had for this problem. */
static arenaut_status search_exactly(arenaut_planning *planning, arn_meter *meter, bool *refused) {
    const arenaut_problem *p = planning->problem;
    *refused = arenaut_problem_features(p) & ~(uint32_t)(ARN_EXACT_HANDLES | ARENAUT_FEATURE_POOLS);
    if (*refused || (meter->best == ARENAUT_UNPLACED && p->n_pools > 1)) {
        *refused = true;
        return ARENAUT_OK;
    }
    meter->planner = "exact";
    uint64_t *offset = arn_allocate_zeroed(planning->allocator, p->n_buffers, sizeof *offset);
    if (!offset) return arn_no_memory(planning->err);
    const arenaut_status st = search_pools(planning, meter, offset, refused);
    arn_release(planning->allocator, offset);
    return st;
}

static bool is_done(const arn_meter *meter) {
    const bool impossible = meter->planning->plan->quality == ARENAUT_INFEASIBLE;
    return impossible || meter->best <= meter->goal ||
           (meter->stopped && meter->why != ARENAUT_STOP_EFFORT);
}

/* More orders and local search, for what exact search was not to be had for. */
static arenaut_status search_locally(arenaut_planning *planning, arn_meter *meter) {
    arenaut_status st = arn_portfolio_rest(planning, meter);
    arn_meter_allow(meter, arn_local_search_share(planning->options->effort));
    meter->planner = "local-search";
    if (st != ARENAUT_OK || !arn_meter_goes_on(meter)) return st;
    return arn_local_search(planning, meter, meter->limit - meter->spent);
}

/* Exact search where it can be had: of the whole problem, or of its hot zone. */
static arenaut_status search(arenaut_planning *planning, arn_meter *meter) {
    bool refused = false;
    arenaut_status st = search_exactly(planning, meter, &refused);
    if (st != ARENAUT_OK || !refused) return st;
    meter->planner = "exact";
    st = arn_hot_zone(planning, meter);
    if (st != ARENAUT_OK || is_done(meter)) return st;
    return search_locally(planning, meter);
}

static arenaut_status auto_run(const arenaut_planner *self, arenaut_planning *planning) {
    arenaut_status st = arn_settings_check(planning, self, NULL);
    arn_meter meter = arn_meter_start(planning, self->name);
    if (st == ARENAUT_OK && planning->problem->traits & ARENAUT_PROBLEM_TOKENS) {
        return arn_share_tokens(planning, &meter); /* there is nothing to place */
    }
    if (st == ARENAUT_OK) st = arn_portfolio_rows(planning, &meter);
    if (st == ARENAUT_OK && !is_done(&meter)) st = search(planning, &meter);
    if (st != ARENAUT_OK || planning->plan->quality == ARENAUT_INFEASIBLE) return st;
    return arn_meter_finish(&meter);
}

const arenaut_planner arn_planner_auto = {
    .name = "auto",
    .summary = "the best of all planners, until the bound or the effort is reached",
    .handles = ARENAUT_FEATURE_ALL | ARENAUT_FEATURE_TOKENS,
    .run = auto_run,
};
