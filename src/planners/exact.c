/* exact: branch and bound. Finds the smallest arena and proves that there is none smaller, or the
 * best plan within the effort. For hundreds to a few thousand buffers in one pool; if pools are to
 * be chosen, or pairs may be joined or not, for fewer. */
#include "planners/exact/exact.h"

#include "core/checked.h"
#include "core/fail.h"
#include "planners/run/planner_rows.h"

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
