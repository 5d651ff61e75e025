/* Description of a file that holds a plan: the one result that all uses of such a file share. The
 * plan is the baseline, which has been checked and replayed; nothing is placed anew. A plan of the
 * same problem is still searched, for its lower bound alone. If the file holds no right plan, or
 * options ask for another problem than the file's, planning is the description. */
#include "ir/store.h"
#include "stages/stages.h"

#include <inttypes.h>
#include <string.h>

/* Whether the file holds a right plan, and the options define no other problem. */
static bool describes_file(const arenaut_pipeline *p) {
    const arenaut_pipeline_options *o = &p->options;
    const bool solved = p->store->solved && !p->baseline.overlaps;
    const bool planned = p->baseline.from_file && !p->baseline.overlaps && !p->memories.rows &&
                         p->document.program->given != ARENAUT_GIVEN_NONE;
    const bool asked = arn_pipeline_overrides(o) || o->overwrite != ARENAUT_OVERWRITE_BY_RULES ||
                       o->plan.planner || o->plan.capacity || o->plan_as_made;
    return p->baseline.plan && (solved || planned) && !asked;
}

/* The runtime's view of the program takes the place of the planned one, with the rights that the
 * plan in the file uses: other plans are tried with these. */
static void take_lowering(arenaut_pipeline *p) {
    struct arenaut_pipeline_store *store = p->store;
    if (store->baseline_lowering) {
        arenaut_lowering *lowering = p->lowering;
        const arenaut_document document = p->document;
        p->lowering = store->baseline_lowering;
        p->document = store->baseline_document;
        store->baseline_lowering = lowering;
        store->baseline_document = document;
    }
    p->problem = p->baseline.problem;
    p->result.problem = p->problem;
    p->result.program = p->document.program;
    p->result.lowering = p->lowering;
    if (p->baseline.in_place) p->options.overwrite = ARENAUT_OVERWRITE_ON;
    p->options.overlap = p->baseline.reaches;
}

/* A bound of any plan, with any sharing of memory: the largest buffer fits into its pool. */
static void bound_by_largest(const arenaut_problem *problem, arenaut_plan *plan) {
    for (uint32_t b = 0; b < problem->n_buffers; b++) {
        const uint32_t pool = plan->pool[b];
        if (pool == ARENAUT_NONE || problem->size[b] <= plan->lower_bound[pool]) continue;
        plan->lower_bound[pool] = problem->size[b];
    }
    plan->total_bound = 0;
    for (uint32_t k = 0; k < plan->n_pools; k++) plan->total_bound += plan->lower_bound[k];
}

/* The bound of the search, as long as the plan keeps to its problem: buffers that share memory
 * which the problem keeps apart, as an accelerator's commands may, are below any bound of it. */
static void take_bound(const arenaut_pipeline *p, const arenaut_plan *made, arenaut_plan *plan) {
    if (!made || p->baseline.shares || plan->total < made->total_bound) {
        bound_by_largest(p->problem, plan);
        return;
    }
    memcpy(plan->lower_bound, made->lower_bound, plan->n_pools * sizeof *plan->lower_bound);
    plan->total_bound = made->total_bound;
    plan->spill_bound = made->spill_bound;
    plan->stopped_by = made->stopped_by;
    plan->effort = made->effort;
    const bool minimal = plan->total == made->total && plan->spill == made->spill;
    plan->quality = made->quality;
    if (!minimal) arn_plan_call_feasible(plan);
}

static void note_new(const arenaut_pipeline *p, const arenaut_plan *own, const arenaut_plan *made) {
    arn_pipeline_note(
        p, "this is the plan in the file, of %" PRIu64 " bytes; a new one needs %" PRIu64,
        own->total, made->total);
}

/* A new plan of the same problem, which gives the bound; NULL if the search was stopped. */
static arenaut_status search(arenaut_pipeline *p, arenaut_plan **made, arenaut_error *err) {
    arn_budget budget = arn_pipeline_budget(p, p->options.plan.effort);
    *made = NULL;
    const arenaut_status st = arn_pipeline_run_planner(p, ARENAUT_STAGE_PLAN, &budget,
                                                       &p->options.plan, p->problem, made, err);
    if (st == ARENAUT_OK || st == ARENAUT_NO_MEMORY) return st;
    arenaut_plan_free(*made);
    *made = NULL;
    return ARENAUT_OK;
}

/* The new plan instead, as the runtime makes it, if that still needs less. */
static arenaut_status take_smaller(arenaut_pipeline *p, arenaut_plan *own, arenaut_plan *made,
                                   bool *taken, arenaut_error *err) {
    arn_pipeline_keep_plan(p, made);
    arenaut_status st = arn_pipeline_verify(p, err);
    if (st == ARENAUT_OK) st = arn_pipeline_deploy_scratch(p, err);
    *taken = st == ARENAUT_OK && p->plan->total >= own->total;
    if (*taken) arn_pipeline_keep_plan(p, own);
    return st;
}

/* *taken: `own` is the pipeline's from now on. */
static arenaut_status describe(arenaut_pipeline *p, arenaut_plan *own, bool or_better, bool *taken,
                               arenaut_error *err) {
    arenaut_plan *made = NULL;
    arenaut_status st = search(p, &made, err);
    if (st != ARENAUT_OK) return st;
    take_bound(p, made, own);
    const bool smaller = made && made->total < own->total;
    if (smaller && or_better) return take_smaller(p, own, made, taken, err);
    if (smaller) note_new(p, own, made);
    arenaut_plan_free(made);
    arn_pipeline_keep_plan(p, own);
    *taken = true;
    return ARENAUT_OK;
}

static void settle(arenaut_pipeline *p) {
    p->store->compared = false; /* nothing of this is to be written */
    p->figures.planned = p->figures.needed = p->plan->total;
    p->figures.bound = p->plan->total_bound;
}

arenaut_status arenaut_pipeline_describe(arenaut_pipeline *p, bool or_better, arenaut_error *err) {
    arenaut_status st = arn_pipeline_expect(p, ARN_PIPELINE_COMPARED, ARN_PIPELINE_COMPARED, err);
    if (st != ARENAUT_OK) return st;
    if (!describes_file(p)) return arenaut_pipeline_plan(p, err);
    arenaut_plan *own = NULL;
    bool taken = false;
    st = arn_pipeline_copy_plan(p, p->baseline.plan, &own, err);
    if (st != ARENAUT_OK) return st;
    take_lowering(p);
    st = describe(p, own, or_better, &taken, err);
    if (!taken) arenaut_plan_free(own);
    if (st != ARENAUT_OK) {
        arn_pipeline_keep_plan(p, NULL);
        return arn_pipeline_reach(p, ARN_PIPELINE_FAILED, st);
    }
    settle(p);
    return ARENAUT_OK;
}
