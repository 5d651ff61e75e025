/* First answer: the runtime's own plan. A search that time or an interrupt has cut short may have
 * nothing better yet than memory of its own for each buffer, or a rewritten program whose plan was
 * still to come. Then the file is read anew, without any right that was given for the sake of the
 * plan, and the runtime's own plan is the result: never worse, with however little time.
 * Where the search has ended by itself nothing changes. Costs as much as finding the baseline. */
#include <string.h>

#include "core/checked.h"
#include "ir/store.h"
#include "kernels/kernel_set.h"
#include "rewrite/transform.h"
#include "stages/stages.h"

/* Whether the problems of plan and baseline differ by rights alone, if at all: any other demand is
 * to be met by the result. */
static bool asks_for_rights_alone(const arenaut_pipeline_options *o) {
    return !o->passes && !o->exclude_io && !o->preserve_inputs && !o->align &&
           !o->n_tensor_aligns && !o->n_align_rules && !o->n_pools && !o->n_pins &&
           !arn_kernels_align(o->kernels) && !o->plan.planner && !o->plan.n_settings &&
           !o->plan.capacity && !o->plan_as_made;
}

static bool is_cut_short(const arenaut_plan *plan) {
    return plan->quality == ARENAUT_FEASIBLE &&
           (plan->stopped_by == ARENAUT_STOP_TIME || plan->stopped_by == ARENAUT_STOP_INTERRUPT);
}

static bool is_worse(const arenaut_pipeline *p) {
    const arenaut_baseline *baseline = &p->baseline;
    return p->store->compared && p->document.program && p->store->files && baseline->plan &&
           !baseline->from_file && !p->store->apart && is_cut_short(p->plan) &&
           p->plan->total > baseline->plan->total && asks_for_rights_alone(&p->options);
}

static arenaut_pipeline_options without_rights(const arenaut_pipeline_options *o) {
    arenaut_pipeline_options options = *o;
    options.overwrite = ARENAUT_OVERWRITE_OFF;
    options.in_place_rules = NULL;
    options.n_in_place_rules = 0;
    options.overlap = false;
    memset(&options.splitting, 0, sizeof options.splitting);
    memset(&options.recomputing, 0, sizeof options.recomputing);
    memset(&options.reordering, 0, sizeof options.reordering);
    memset(&options.joining, 0, sizeof options.joining);
    memset(&options.copying, 0, sizeof options.copying);
    return options;
}

/* A pipeline of the same files whose plan is made by the runtime's planner. Nothing is searched
 * for, and no callback is polled: the baseline was found in time before. */
static arenaut_status plan_plainly(const arenaut_pipeline *p, arenaut_pipeline **plain,
                                   arenaut_error *err) {
    arenaut_pipeline_options options = without_rights(&p->options);
    options.note = NULL;
    options.stage = NULL;
    options.after_pass = NULL;
    options.plan.progress = NULL;
    options.plan.planner = p->target->incumbent;
    arenaut_status st = arenaut_pipeline_new(&options, arn_pipeline_allocator(p), plain, err);
    if (st == ARENAUT_OK)
        st = arenaut_pipeline_read(*plain, p->store->files, p->store->n_files, err);
    if (st == ARENAUT_OK) st = arenaut_pipeline_prepare(*plain, err);
    if (st == ARENAUT_OK) st = arenaut_pipeline_find_baseline(*plain, err);
    return st == ARENAUT_OK ? arn_pipeline_make_plan(*plain, err) : st;
}

/* Bounds of the program with the rights that were asked for: none is known of the programs that
 * rewriting might have made. */
static void keep_bounds(const arenaut_pipeline_options *asked, const arenaut_plan *searched,
                        arenaut_plan *plan) {
    const bool rewrites = asked->splitting.on || asked->recomputing.on || asked->reordering.on ||
                          asked->joining.n > 0 || asked->copying.n > 0;
    const bool known = !rewrites && plan->n_pools == searched->n_pools;
    plan->total_bound = known ? arn_min_u64(plan->total_bound, searched->total_bound) : 0;
    plan->spill_bound = known ? arn_min_u64(plan->spill_bound, searched->spill_bound) : 0;
    for (uint32_t k = 0; k < plan->n_pools; k++) {
        plan->lower_bound[k] =
            known ? arn_min_u64(plan->lower_bound[k], searched->lower_bound[k]) : 0;
    }
}

/* The plan of `plain` in the place of the pipeline's. It is no optimum among the plans that were
 * asked for. */
static void take(arenaut_pipeline *p, arenaut_pipeline *plain) {
    struct arenaut_pipeline_store *store = p->store, *other = plain->store;
    const arenaut_pipeline_options options = without_rights(&p->options);
    const bool gave_up = arn_transforms_encoded(&p->options, p->document.format);
    keep_bounds(&p->options, p->plan, plain->plan);
    other->pipeline.figures.bound = plain->plan->total_bound;
    other->pipeline.result.sha256 = p->result.sha256;
    other->pipeline.plan->stopped_by = p->plan->stopped_by;
    arn_plan_call_feasible(other->pipeline.plan);
    const struct arenaut_pipeline_store own = *store;
    *store = *other;
    *other = own;
    store->gave_up = gave_up;
    store->pipeline.store = store;
    other->pipeline.store = other;
    p->options = options;
}

static arenaut_status take_first_answer(arenaut_pipeline *p, arenaut_error *err) {
    arenaut_pipeline *plain = NULL;
    arenaut_error why = {0};
    const arenaut_status st = plan_plainly(p, &plain, &why);
    if (st == ARENAUT_OK && plain->plan->total < p->plan->total) {
        take(p, plain);
        arn_pipeline_note(p,
                          "the search was stopped before it had anything better than the plan "
                          "of the runtime itself");
    }
    arenaut_pipeline_free(plain);
    return st == ARENAUT_NO_MEMORY ? arn_no_memory(err) : ARENAUT_OK;
}

arenaut_status arenaut_pipeline_plan(arenaut_pipeline *p, arenaut_error *err) {
    const arenaut_status st = arn_pipeline_make_plan(p, err);
    return st == ARENAUT_OK && is_worse(p) ? take_first_answer(p, err) : st;
}
