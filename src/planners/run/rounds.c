/* Runs a planner once, or in rounds of twice the effort each where the effort has no limit, and
 * keeps the best plan with all that any round has proven. In the worst case the rounds together
 * cost twice the last of them. */
#include "planners/run/rounds.h"

#include "core/checked.h"
#include "planners/run/ask.h"
#include "planners/run/cost.h"

typedef struct rounds {
    const arenaut_plan_options *options; /* the caller's */
    uint64_t spent;                      /* in the rounds before */
    arn_cost best, bound;                /* that the caller has been told */
    uint64_t of_all;                     /* no plan at all has a smaller total */
    arenaut_verdict verdict;
} rounds;

/* What the caller is told only gets better, although every round starts afresh. */
static arenaut_verdict pass_progress(void *context, const arenaut_progress *progress) {
    rounds *all = context;
    arenaut_progress told = *progress;
    if (!all->options->progress) return ARENAUT_GO_ON;
    const arn_cost best = {progress->spill, progress->best};
    const arn_cost bound = {progress->spill_bound, progress->bound};
    if (arn_costs_less(best, all->best)) all->best = best;
    if (arn_costs_less(all->bound, bound)) all->bound = bound;
    told.spill = all->best.spill;
    told.best = all->best.total;
    told.spill_bound = all->bound.spill;
    told.bound = all->bound.total;
    told.effort += all->spent;
    all->verdict = all->options->progress(all->options->progress_context, &told);
    return all->verdict;
}

/* A plan that knows what is proven already. Where pools are chosen, what is known of totals may be
 * true only of plans that spill the least; a search begins with what is true of all. */
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

/* A round that was not cut short has found at least what those before it did. */
static bool is_better(const arenaut_plan *now, const arenaut_plan *best) {
    const bool is_whole = now->quality == ARENAUT_INFEASIBLE ||
                          now->stopped_by == ARENAUT_STOP_PROOF ||
                          now->stopped_by == ARENAUT_STOP_EFFORT;
    const arn_cost found = {now->spill, now->total}, so_far = {best->spill, best->total};
    return is_whole ? !arn_costs_less(so_far, found) : arn_costs_less(found, so_far);
}

/* Of two plans keeps the better one, with what either has proven. */
static void keep_better(arenaut_planning *planning, arenaut_plan *now) {
    arenaut_plan *best = planning->plan;
    const bool better = is_better(now, best);
    arenaut_plan *kept = better ? now : best, *other = better ? best : now;
    const arn_cost bound = {kept->spill_bound, kept->total_bound};
    if (arn_costs_less(bound, (arn_cost){other->spill_bound, other->total_bound})) {
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

arenaut_status arn_run_planner(const arenaut_planner *planner, arenaut_planning *planning) {
    if (planning->options->effort == ARENAUT_NO_EFFORT_LIMIT) return run_rounds(planner, planning);
    return run_once(planner, planning);
}
