/* exact: finds the smallest arena and proves that there is none smaller, or does what it can
 * within the effort. For hundreds to a few thousand buffers in one pool; where pools are to be
 * chosen, or pairs may be joined or not, for fewer. */
#include "planners/exact/exact.h"

#include "core/checked.h"
#include "core/fail.h"
#include "planners/exact/hints.h"
#include "planners/run/planner_settings.h"

/* One part in so many of the effort may go into keeping offsets from before. */
enum { HINTS_SHARE = 8 };

/* What the caller was told last, to be told again where nothing new is known. */
typedef struct told {
    const arenaut_plan_options *options;
    arenaut_progress progress;
    arn_exact_output out; /* of the search under way */
} told;

static arenaut_verdict tell(void *context) {
    told *last = context;
    if (!last->options->progress) return ARENAUT_GO_ON;
    return last->options->progress(last->options->progress_context, &last->progress);
}

static arenaut_verdict pass_progress(void *context, uint64_t best, uint64_t bound, uint64_t steps) {
    told *last = context;
    last->progress.best = best;
    last->progress.bound = bound;
    last->progress.effort = steps;
    last->progress.spill = last->out.spill;
    last->progress.spill_bound = last->out.spill_bound;
    return tell(last);
}

static arenaut_status take(arenaut_planning *planning, const arn_exact_output *out) {
    const arenaut_problem *p = planning->problem;
    arenaut_plan *plan = planning->plan;
    plan->effort = out->steps;
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

static arn_exact_input input_of(const arenaut_planning *planning) {
    const arenaut_plan_options *options = planning->options;
    return (arn_exact_input){
        .problem = planning->problem,
        .arena = ARENAUT_UNPLACED,
        .bound = planning->plan->total_bound,
        .spill_bound = planning->plan->spill_bound,
        .enough = options->capacity,
        .effort = options->effort,
        .seed = options->seed,
        .allocator = planning->allocator,
    };
}

/* A caller who stopped the search has no time for this. */
arenaut_status arn_exact_keep_earlier(arenaut_planning *planning) {
    arenaut_plan *plan = planning->plan;
    told last = {.options = planning->options, .progress = {.planner = "exact"}};
    arn_ask ask = {.put = tell, .context = &last};
    arenaut_status st = ARENAUT_OK;
    if (!planning->problem->hint || plan->stopped_by != ARENAUT_STOP_PROOF ||
        plan->quality == ARENAUT_INFEASIBLE)
        return st;
    st = arenaut_plan_measure(plan, planning->problem, planning->err);
    last.progress.best = last.progress.bound = plan->total;
    last.progress.spill = last.progress.spill_bound = plan->spill;
    for (uint32_t k = 0; k < plan->n_pools && st == ARENAUT_OK; k++) {
        arn_exact_input pool = input_of(planning);
        pool.pool = k;
        pool.pool_of = plan->n_pools > 1 ? plan->pool : NULL;
        pool.arena = plan->arena[k];
        pool.effort = planning->options->effort / HINTS_SHARE / plan->n_pools;
        pool.ask = &ask;
        last.progress.effort = plan->effort;
        st = arn_exact_keep_hints(&pool, plan->offset, &plan->effort, planning->err);
    }
    return st;
}

static arenaut_status exact_run(const arenaut_planner *self, arenaut_planning *planning) {
    arenaut_status st = arn_settings_check(planning, self, NULL);
    if (st != ARENAUT_OK) return st;
    told last = {.options = planning->options,
                 .out = {.offset = planning->plan->offset, .pool_of = planning->plan->pool}};
    last.progress = (arenaut_progress){.planner = "exact",
                                       .best = ARENAUT_UNPLACED,
                                       .bound = planning->plan->total_bound,
                                       .spill = ARENAUT_UNPLACED,
                                       .spill_bound = planning->plan->spill_bound};
    arn_ask ask = {.put = tell, .context = &last};
    arn_exact_input in = input_of(planning);
    in.progress = pass_progress;
    in.progress_context = &last;
    in.ask = &ask;
    st = arn_exact_run(&in, &last.out, planning->err);
    if (st == ARENAUT_OK) st = take(planning, &last.out);
    return st == ARENAUT_OK ? arn_exact_keep_earlier(planning) : st;
}

const arenaut_planner arn_planner_exact = {
    .name = "exact",
    .summary = "the smallest arena, proven, for up to a few thousand buffers",
    .handles = ARN_EXACT_HANDLES | ARN_EXACT_RELATIONS | ARENAUT_FEATURE_POOLS,
    .run = exact_run,
};
