/* Planning: everything around the planner itself.
 *
 * Checks the problem and the options, refuses features that the planner does not handle, finds
 * bounds and simple reasons against any plan before it starts, and measures the result: a planner
 * only places. The cost beside the planner's is O(n log n), or that of bounds/spill.c if buffers
 * may choose pools. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <arenaut/planner.h>

#include "core/checked.h"
#include "core/fail.h"
#include "core/memory.h"
#include "ir/lifetimes.h"
#include "ir/store.h"
#include "planners/bounds/bounds.h"
#include "planners/bounds/spill.h"
#include "planners/plan_within.h"
#include "planners/run/poll.h"
#include "ir/cost.h"
#include "planners/run/meter.h"

/* ---- rounds of growing effort ---- */

/* Planning without a limit to the effort: a given time is used up in rounds of twice the effort
 * each, beginning with the default. Searches share out the effort that they are given, so that one
 * round without an end would leave some of them nothing; and whatever one effort finds, a time that
 * is enough for twice as much finds too. */

typedef struct rounds {
    const arenaut_plan_options *options; /* the caller's */
    uint64_t spent;                      /* in the rounds before */
    arenaut_cost best, bound;            /* that were reported to the caller */
    uint64_t of_all;                     /* no plan at all has a smaller total */
    arenaut_verdict verdict;
} rounds;

/* The reported figures only get better, although every round starts afresh. */
static arenaut_verdict pass_progress(void *context, const arenaut_progress *progress) {
    rounds *all = context;
    arenaut_progress reported = *progress;
    if (!all->options->progress) return ARENAUT_GO_ON;
    const arenaut_cost best = arn_plan_cost(progress->spill, progress->best);
    const arenaut_cost bound = arn_plan_cost(progress->spill_bound, progress->bound);
    if (arenaut_costs_less(best, all->best)) all->best = best;
    if (arenaut_costs_less(all->bound, bound)) all->bound = bound;
    reported.spill = all->best.spill;
    reported.best = all->best.total;
    reported.spill_bound = all->bound.spill;
    reported.bound = all->bound.total;
    reported.effort += all->spent;
    all->verdict = all->options->progress(all->options->progress_context, &reported);
    return all->verdict;
}

/* A plan with the bounds proven already. If pools are chosen, a bound of totals may hold only for
 * plans that spill the least; a search begins with the bounds that hold for all. */
static arenaut_status new_plan(const arenaut_planning *planning, const arenaut_plan *before,
                               uint64_t of_all, arenaut_plan **out) {
    const bool chooses = arenaut_problem_chooses_pools(planning->problem);
    const arenaut_status st = arenaut_plan_new(before->n_buffers, before->n_pools,
                                               planning->allocator, out, planning->err);
    if (st != ARENAUT_OK) return st;
    (*out)->planner = before->planner;
    (*out)->spill_bound = before->spill_bound;
    (*out)->total_bound = chooses ? of_all : before->total_bound;
    for (uint32_t k = 0; k < before->n_pools; k++) {
        (*out)->lower_bound[k] = before->lower_bound[k];
    }
    return ARENAUT_OK;
}

/* A round that was not cut short has found at least as much as the rounds before it. */
static bool is_better(const arenaut_plan *now, const arenaut_plan *best) {
    const bool is_whole =
        now->quality == ARENAUT_INFEASIBLE || now->stopped_by == ARENAUT_STOP_PROOF ||
        now->stopped_by == ARENAUT_STOP_END || now->stopped_by == ARENAUT_STOP_EFFORT;
    const arenaut_cost found = arn_cost_of(now), so_far = arn_cost_of(best);
    return is_whole ? !arenaut_costs_less(so_far, found) : arenaut_costs_less(found, so_far);
}

/* Of two plans keeps the better one, with the bounds of either. */
static void keep_better(arenaut_planning *planning, arenaut_plan *now) {
    arenaut_plan *best = planning->plan;
    const bool better = is_better(now, best);
    arenaut_plan *kept = better ? now : best, *other = better ? best : now;
    const arenaut_cost bound = arn_plan_cost(kept->spill_bound, kept->total_bound);
    if (arenaut_costs_less(bound, arn_plan_cost(other->spill_bound, other->total_bound))) {
        kept->spill_bound = other->spill_bound;
        kept->total_bound = other->total_bound;
        for (uint32_t k = 0; k < kept->n_pools; k++) kept->lower_bound[k] = other->lower_bound[k];
    }
    kept->stopped_by = now->stopped_by;
    planning->plan = kept;
    arenaut_plan_free(other);
}

/* Whether a round of twice the effort would do more than this one. */
static bool has_more_to_do(const arenaut_plan *plan, uint64_t effort, uint64_t spent) {
    if (plan->quality != ARENAUT_FEASIBLE || plan->stopped_by != ARENAUT_STOP_EFFORT) return false;
    const bool open = plan->spill > plan->spill_bound || plan->total > plan->total_bound;
    return open && spent >= effort / 2;
}

/* A planner of the caller's may say that there is no plan by its status. */
static arenaut_status run_once(const arenaut_planner *planner, arenaut_planning *planning) {
    const arenaut_status st = planner->run(planner, planning);
    if (st != ARENAUT_NO_PLAN) return st;
    planning->plan->quality = ARENAUT_INFEASIBLE;
    return ARENAUT_OK;
}

/* One round, for a plan of its own. */
static arenaut_status run_round(const arenaut_planner *planner, const arenaut_planning *planning,
                                rounds *all, uint64_t effort, arenaut_plan *plan) {
    arenaut_plan_options options = *planning->options;
    arenaut_planning round = *planning;
    options.effort = effort;
    options.progress = pass_progress;
    options.progress_context = all;
    round.options = &options;
    round.plan = plan;
    const arenaut_status st = run_once(planner, &round);
    if (st != ARENAUT_OK || plan->quality == ARENAUT_INFEASIBLE) return st;
    return arenaut_plan_measure(plan, planning->problem, planning->err);
}

static arenaut_status run_rounds(const arenaut_planner *planner, arenaut_planning *planning) {
    rounds all = {
        .options = planning->options, .best = ARN_NO_PLAN, .of_all = planning->plan->total_bound};
    bool has_plan = false;
    for (uint64_t effort = arenaut_default_effort();; effort *= 2) {
        arenaut_plan *plan = NULL;
        arenaut_status st = new_plan(planning, planning->plan, all.of_all, &plan);
        if (st != ARENAUT_OK) return st;
        st = run_round(planner, planning, &all, effort, plan);
        const bool none_yet = st == ARENAUT_STOPPED && all.verdict == ARENAUT_GO_ON;
        if (st != ARENAUT_OK) {
            arenaut_plan_free(plan);
            if (none_yet && effort <= UINT64_MAX / 4) continue;
            if (st != ARENAUT_STOPPED || !has_plan) return st;
            planning->plan->stopped_by = arn_stop_of(all.verdict);
            return ARENAUT_OK;
        }
        const uint64_t spent = plan->effort;
        if (has_plan) {
            keep_better(planning, plan);
        } else {
            arenaut_plan_free(planning->plan);
            planning->plan = plan;
        }
        has_plan = true;
        all.spent += spent;
        planning->plan->effort = all.spent;
        if (!has_more_to_do(planning->plan, effort, spent) || effort > UINT64_MAX / 4) {
            return ARENAUT_OK;
        }
    }
}

/* Runs the planner, whose plan has its bounds, once; or with ARENAUT_NO_EFFORT_LIMIT in rounds,
 * until it has a proof, has nothing left to do, or is stopped. planning->plan is then the best of
 * them. */
static arenaut_status run_planner(const arenaut_planner *planner, arenaut_planning *planning) {
    if (planning->options->effort == ARENAUT_NO_EFFORT_LIMIT) return run_rounds(planner, planning);
    return run_once(planner, planning);
}

/* ---- the call ---- */

/* Calibrated on the hard instances of 200 to 500 buffers, on which a step takes about a third of
 * a microsecond. */
uint64_t arenaut_default_effort(void) { return 8000000; }

static const char *feature_name(uint32_t bit) {
    switch (bit) {
#define XX(number, name, text) \
    case ARENAUT_FEATURE_##name: return text;
        ARENAUT_FEATURE_MAP(XX)
#undef XX
        default: return "an unknown constraint";
    }
}

static arenaut_status refuse_features(const arenaut_planner *planner, uint32_t lacking,
                                      arenaut_error *err) {
    char list[200] = "";
    for (uint32_t bit = 1; bit && bit <= lacking; bit <<= 1) {
        if (!(lacking & bit)) continue;
        const size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", feature_name(bit));
    }
    return arn_fail(err, ARENAUT_REFUSED, 0,
                    "planner '%s' does not handle features of this problem: %s; 'auto' handles all",
                    planner->name, list);
}

/* The original of a replica may have refused a problem that the replica could well plan. */
static arenaut_status refuse_origin(const arenaut_planner *planner, uint32_t traits,
                                    arenaut_error *err) {
    const bool branches = traits & planner->refuses & ARENAUT_PROBLEM_BRANCHES;
    return arn_fail(err, ARENAUT_REFUSED, 0, "planner '%s' does not plan %s; 'auto' does",
                    planner->name, branches ? "programs with branches" : "symbolic sizes");
}

static arenaut_status find_planner(const arenaut_plan_options *options,
                                   const arenaut_planner **planner, arenaut_error *err) {
    const char *name = options->planner ? options->planner : "auto";
    *planner = options->custom ? options->custom : arenaut_planner_find(name);
    if (*planner) return ARENAUT_OK;
    return arn_fail(err, ARENAUT_BAD_ARGUMENT, 0,
                    "there is no planner '%s'; 'arenaut planners' lists them", name);
}

/* The problem as the planner sees it: the capacity in the options is one of pool 0's. The rest of
 * the arrays is shared. `pools` has room for all. */
static arenaut_problem with_capacity(const arenaut_problem *problem, uint64_t capacity,
                                     arenaut_pool *pools) {
    arenaut_problem view = *problem;
    if (capacity == 0) return view;
    for (uint32_t k = 0; k < problem->n_pools; k++) pools[k] = problem->pool[k];
    capacity -= capacity % pools[0].align; /* as an arena is a multiple of it */
    pools[0].capacity = arn_min_u64(pools[0].capacity, capacity);
    pools[0].closed = pools[0].capacity == 0;
    view.pool = pools;
    return view;
}

/* Arena bounds for the pools that the plan really uses: a buffer that could go elsewhere counts in
 * its own. Without such a choice, and where a stop cuts this short, they are the planner's. */
static arenaut_status bound_used_pools(arenaut_planning *planning) {
    const arenaut_problem *p = planning->problem;
    arenaut_plan *plan = planning->plan;
    if (!arenaut_problem_chooses_pools(p)) return ARENAUT_OK;
    uint64_t *used = arn_allocate(planning->allocator, p->n_buffers, sizeof *used);
    if (!used) return arn_no_memory(planning->err);
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        used[b] = plan->pool[b] < p->n_pools ? UINT64_C(1) << plan->pool[b] : 0;
    }
    arn_meter meter = arn_meter_start(planning, plan->planner);
    meter.best = arn_cost_of(plan);
    meter.spent = plan->effort;
    arn_poll *poll = arn_meter_poll(&meter);
    arn_bounds bounds;
    const arenaut_status st =
        arn_bounds_find(p, used, poll, planning->allocator, &bounds, planning->err);
    arn_release(planning->allocator, used);
    for (uint32_t k = 0; k < p->n_pools && st == ARENAUT_OK; k++) {
        if (bounds.per_pool[k] > plan->lower_bound[k] || !arn_poll_ended(poll)) {
            plan->lower_bound[k] = bounds.per_pool[k];
        }
    }
    return st;
}

/* Optimal exactly if both bounds are reached, wherever they come from. `of_all`: no plan at all has
 * a smaller total. */
static arenaut_status settle(arenaut_planning *planning, uint64_t of_all) {
    arenaut_plan *plan = planning->plan;
    if (plan->quality == ARENAUT_INFEASIBLE) {
        plan->stopped_by = ARENAUT_STOP_PROOF;
        return ARENAUT_OK;
    }
    arenaut_status st = arenaut_plan_measure(plan, planning->problem, planning->err);
    if (st == ARENAUT_OK) st = bound_used_pools(planning);
    if (st != ARENAUT_OK) return st;
    if (plan->quality == ARENAUT_OPTIMAL) {
        plan->spill_bound = plan->spill;
        plan->total_bound = plan->total;
    }
    /* Bounds for plans that spill less do not hold for this one's arenas. */
    if (plan->spill > plan->spill_bound) plan->total_bound = arn_min_u64(plan->total_bound, of_all);
    plan->total_bound = arn_round_total(planning->problem, plan->total_bound);
    if (plan->spill == plan->spill_bound && plan->total == plan->total_bound) {
        plan->quality = ARENAUT_OPTIMAL;
        plan->stopped_by = ARENAUT_STOP_PROOF;
        /* Other arenas for the same division among pools would be another total. */
        memcpy(plan->lower_bound, plan->arena, plan->n_pools * sizeof *plan->arena);
    } else {
        arn_plan_call_feasible(plan);
    }
    return ARENAUT_OK;
}

/* Lists the live buffers at the step, for people: see arenaut_witness. */
static arenaut_status tell_dead_end(arenaut_planning *planning, int64_t step) {
    const arenaut_problem *p = planning->problem;
    arenaut_witness *w = &planning->plan->witness;
    w->buffers = arn_allocate(planning->allocator, p->n_buffers, sizeof *w->buffers);
    if (!w->buffers) return arn_no_memory(planning->err);
    w->step = step;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        const bool alive = arenaut_problem_needs_memory(p, b) && arn_alive_at(p, b, step);
        if (alive) w->buffers[w->n_buffers++] = b;
    }
    return ARENAUT_OK;
}

/* *impossible: buffers cannot even be divided among their pools. */
static arenaut_status bound_spill(arenaut_planning *planning, arn_poll *poll, bool *impossible) {
    arn_spill_answer answer;
    if (!arenaut_problem_chooses_pools(planning->problem)) return ARENAUT_OK;
    if (planning->problem->n_separations) return ARENAUT_OK; /* nor does it know of these */
    const arenaut_status st =
        arn_spill_bound(planning->problem, poll, planning->allocator, &answer, planning->err);
    if (st != ARENAUT_OK) return st;
    *impossible = answer.least == ARENAUT_UNPLACED;
    if (*impossible) return tell_dead_end(planning, answer.dead_end);
    planning->plan->spill_bound = answer.least;
    return st;
}

static arenaut_status run(const arenaut_planner *planner, arenaut_planning *planning) {
    arenaut_plan *plan = planning->plan;
    bool impossible = false;
    plan->planner = planner->name;
    arn_meter meter = arn_meter_start(planning, planner->name);
    arn_poll *poll = arn_meter_poll(&meter);
    arn_bounds bounds;
    arenaut_status st =
        arn_bounds_find(planning->problem, NULL, poll, planning->allocator, &bounds, planning->err);
    if (st == ARENAUT_OK) {
        memcpy(plan->lower_bound, bounds.per_pool, plan->n_pools * sizeof *plan->lower_bound);
        plan->total_bound = bounds.total;
        st = arn_find_witness(planning->problem, poll, planning->allocator, &plan->witness,
                              &impossible, planning->err);
    }
    if (st == ARENAUT_OK && !impossible) st = bound_spill(planning, poll, &impossible);
    if (st != ARENAUT_OK) return st;
    if (impossible) {
        plan->quality = ARENAUT_INFEASIBLE;
    } else {
        st = run_planner(planner, planning);
    }
    return st == ARENAUT_OK ? settle(planning, bounds.total) : st;
}

/* The first few of the witness's buffers by name: "'a', 'b' and 3 more". */
static void list_buffers(const arenaut_problem *p, const arenaut_witness *witness, char *text,
                         size_t size) {
    enum { FEW = 4 };
    const uint32_t shown = witness->n_buffers <= FEW ? witness->n_buffers : FEW - 1;
    size_t used = 0;
    char store[24];
    for (uint32_t i = 0; i < shown && used < size; i++) {
        const char *before = i == 0 ? "" : i + 1 == witness->n_buffers ? " and " : ", ";
        used += (size_t)snprintf(text + used, size - used, "%s'%.40s'", before,
                                 arenaut_problem_buffer_name(p, witness->buffers[i], store));
    }
    if (shown < witness->n_buffers && used < size) {
        snprintf(text + used, size - used, " and %" PRIu32 " more", witness->n_buffers - shown);
    }
}

/* Two buffers that collide at their fixed places; else the listed ones need more than there is. */
static bool is_collision(const arenaut_problem *p, const arenaut_witness *witness) {
    if (witness->n_buffers != 2) return false;
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t b = witness->buffers[i];
        while (arenaut_problem_inside(p, b) != ARENAUT_NONE) b = arenaut_problem_inside(p, b);
        if (arenaut_problem_fixed_offset(p, b) == ARENAUT_UNPLACED) return false;
    }
    return true;
}

static arenaut_status say_no_plan(const arenaut_planning *planning) {
    const arenaut_problem *p = planning->problem;
    const arenaut_witness *w = &planning->plan->witness;
    char list[224] = "", where[128] = "the pools have";
    if (w->n_buffers == 0) {
        return arn_fail(planning->err, ARENAUT_NO_PLAN, 0,
                        "there is no plan: whatever the order, not all buffers find a place");
    }
    list_buffers(p, w, list, sizeof list);
    if (w->pool < p->n_pools) {
        const arenaut_pool *pool = &p->pool[w->pool];
        const int end = snprintf(where, sizeof where, "pool '%.40s' has", pool->name);
        if (pool->align > 1) {
            snprintf(where + end, sizeof where - (size_t)end, " in multiples of %" PRIu64,
                     pool->align);
        }
    }
    const char *buffers = w->n_buffers == 1 ? "buffer" : "buffers";
    if (w->bytes_over == 0) {
        return arn_fail(planning->err, ARENAUT_NO_PLAN, 0,
                        "there is no plan: however buffers are divided among the pools, at step "
                        "%" PRId64 " one of these is too small for its part of %s %s",
                        w->step, buffers, list);
    }
    if (is_collision(p, w)) {
        return arn_fail(planning->err, ARENAUT_NO_PLAN, 0,
                        "there is no plan: at step %" PRId64
                        ", %s %s are fixed where they share "
                        "%" PRIu64 " byte%s",
                        w->step, buffers, list, w->bytes_over, w->bytes_over == 1 ? "" : "s");
    }
    return arn_fail(planning->err, ARENAUT_NO_PLAN, 0,
                    "there is no plan: at step %" PRId64 ", %s %s need%s %" PRIu64
                    " byte%s more than %s",
                    w->step, buffers, list, w->n_buffers == 1 ? "s" : "", w->bytes_over,
                    w->bytes_over == 1 ? "" : "s", where);
}

arenaut_status arenaut_plan_make(const arenaut_problem *problem,
                                 const arenaut_plan_options *options,
                                 const arenaut_allocator *allocator, arenaut_plan **out,
                                 arenaut_error *err) {
    arenaut_plan_options resolved = {0};
    if (options) resolved = *options;
    if (resolved.effort == 0) resolved.effort = arenaut_default_effort();
    const arenaut_planner *planner;
    arenaut_pool pools[ARENAUT_MAX_POOLS];
    arenaut_status st = arenaut_problem_validate(problem, err);
    if (st == ARENAUT_OK) st = find_planner(&resolved, &planner, err);
    if (st != ARENAUT_OK) return st;
    const arenaut_problem view = with_capacity(problem, resolved.capacity, pools);
    const uint32_t lacking = arn_problem_features(&view) & ~planner->handles;
    if (lacking) return refuse_features(planner, lacking, err);
    if (view.traits & planner->refuses) return refuse_origin(planner, view.traits, err);
    arenaut_planning planning = {&view, &resolved, allocator, NULL, err};
    st = arenaut_plan_new(problem->n_buffers, problem->n_pools, allocator, &planning.plan, err);
    if (st != ARENAUT_OK) return st;
    st = run(planner, &planning);
    if (st != ARENAUT_OK) {
        arenaut_plan_free(planning.plan);
        return st;
    }
    *out = planning.plan;
    return planning.plan->quality == ARENAUT_INFEASIBLE ? say_no_plan(&planning) : ARENAUT_OK;
}

arenaut_status arn_plan_within(const arenaut_problem *problem, arn_budget *budget,
                               const arenaut_plan_options *options,
                               const arenaut_allocator *allocator, arenaut_plan **out,
                               arenaut_error *err) {
    arenaut_plan_options own = {0};
    if (options) own = *options;
    own.effort = budget->effort;
    arn_budget_lend(budget, &own);
    return arenaut_plan_make(problem, &own, allocator, out, err);
}
