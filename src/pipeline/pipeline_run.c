/* From the bytes of a file to a checked plan: the stages and their order. Each stage is a file of
 * its own beside this one; here are reading, and the calls that a user sees. */
#include "stages/stages.h"

#include "core/memory.h"

arenaut_status arn_pipeline_start_from(arenaut_pipeline *p, const arenaut_pipeline *other,
                                       arenaut_error *err) {
    const struct arenaut_pipeline_store *store = other->store;
    arenaut_status st = arn_pipeline_keep_files(p, store->files, store->n_files, err);
    if (st == ARENAUT_OK) st = arn_pipeline_copy_as_read(other, &p->document.program, err);
    if (st != ARENAUT_OK) return arn_pipeline_reach(p, ARN_PIPELINE_FAILED, st);
    p->document.format = other->document.format;
    p->store->as_read = store->as_read;
    arn_pipeline_begin_result(p);
    return arn_pipeline_reach(p, ARN_PIPELINE_READ, st);
}

static arenaut_status read_scratch(arenaut_pipeline *p, arenaut_error *err) {
    const arenaut_side_file *scratch = &p->options.scratch;
    if (!scratch->text) return ARENAUT_OK;
    const arenaut_status st =
        arenaut_scratch_read(scratch->text, scratch->size, p->options.scratch_model,
                             p->document.program, arn_pipeline_allocator(p), &p->scratch, err);
    if (st != ARENAUT_OK) p->fault.option = "scratch";
    return st;
}

/* Of the time, the searches on the way to the plan have this much, in thousandths; what one of them
 * leaves the next one has, and in the end the planner. A split program is not rewritten further, so
 * that splitting has most of it. */
enum { SHARE_OF_SPLITTING = 600, SHARE_OF_REWRITES = 750 };

typedef arenaut_status (*rewriter)(arenaut_pipeline *p, arn_budget *budget, arenaut_error *err);

/* Up to share `until`, beginning with `*share`. */
static arenaut_status rewrite(arenaut_pipeline *p, rewriter run, uint32_t *share, uint32_t until,
                              arn_budget *budget, arenaut_error *err) {
    arn_budget part = arn_budget_part(budget, budget->effort, *share, until);
    *share = until;
    return run(p, &part, err);
}

static arenaut_status rewrite_program(arenaut_pipeline *p, arenaut_error *err) {
    const arenaut_pipeline_options *o = &p->options;
    arn_budget budget = arn_pipeline_budget(p, o->plan.effort);
    arenaut_status st = ARENAUT_OK;
    uint32_t share = 0;
    if (o->splitting.on)
        st = rewrite(p, arn_pipeline_split, &share, SHARE_OF_SPLITTING, &budget, err);
    if (st == ARENAUT_OK) st = arn_pipeline_copy_views(p, o->copying, err);
    if (st == ARENAUT_OK && o->recomputing.on) {
        const uint32_t half = share + (SHARE_OF_REWRITES - share) / 2;
        const uint32_t until = o->reordering.on ? half : SHARE_OF_REWRITES;
        st = rewrite(p, arn_pipeline_recompute, &share, until, &budget, err);
    }
    if (st != ARENAUT_OK || !o->reordering.on) return st;
    return rewrite(p, arn_pipeline_reorder, &share, SHARE_OF_REWRITES, &budget, err);
}

/* What is done from here on is done to a copy of it, too: to the runtime's own view of the program,
 * and to what is only tried. */
static arenaut_status keep_as_read(arenaut_pipeline *p, arenaut_error *err) {
    struct arenaut_pipeline_store *store = p->store;
    if (store->as_read) return ARENAUT_OK;
    const arenaut_status st = arn_pipeline_copy_program(p, &store->read, err);
    store->as_read = store->read;
    return st;
}

static arenaut_status prepare_program(arenaut_pipeline *p, arenaut_error *err) {
    p->target =
        p->options.target ? p->options.target : arenaut_target_for_format(p->document.format->name);
    p->result.target = p->target;
    arn_pipeline_choose_kernels(p);
    arenaut_status st = keep_as_read(p, err);
    if (st == ARENAUT_OK) st = arn_pipeline_choose_method(p, p->document.program, err);
    if (st == ARENAUT_OK) st = read_scratch(p, err);
    if (st == ARENAUT_OK) st = rewrite_program(p, err);
    if (st == ARENAUT_OK) st = arn_pipeline_run_selected_passes(p, err);
    if (st == ARENAUT_OK) st = arn_pipeline_check_sizes(p, err);
    if (st == ARENAUT_OK) st = arn_pipeline_lower_program(p, err);
    if (st != ARENAUT_OK) return st;
    arn_pipeline_note_unsized(p);
    p->problem = p->lowering->problem;
    arn_pipeline_note_overlap(p);
    p->op_outside = arenaut_find_outside(p->document.program, p->target);
    p->result.lowering = p->lowering;
    p->result.scratch = arenaut_scratch_known(p->document.program, p->kernels, &p->scratch);
    return ARENAUT_OK;
}

arenaut_status arenaut_pipeline_prepare(arenaut_pipeline *p, arenaut_error *err) {
    arenaut_status st = arn_pipeline_expect(p, ARN_PIPELINE_READ, ARN_PIPELINE_READ, err);
    if (st != ARENAUT_OK) return st;
    arn_pipeline_enter(p, ARENAUT_STAGE_LOWER);
    if (p->document.program) st = prepare_program(p, err);
    if (st == ARENAUT_OK) st = arn_pipeline_override(p, err);
    arn_pipeline_enter(p, ARENAUT_STAGE_OTHER);
    p->result.problem = p->problem;
    p->result.plan = NULL;
    return arn_pipeline_reach(p, ARN_PIPELINE_PREPARED, st);
}

arenaut_status arenaut_pipeline_run(const void *data, size_t size,
                                    const arenaut_pipeline_options *options,
                                    const arenaut_allocator *allocator, arenaut_pipeline **out,
                                    arenaut_error *err) {
    arenaut_pipeline *p = NULL;
    arenaut_status st = arenaut_pipeline_new(options, allocator, &p, err);
    const arenaut_pipeline_file file = {NULL, data, size};
    if (st == ARENAUT_OK) st = arenaut_pipeline_read(p, &file, 1, err);
    if (st == ARENAUT_OK) st = arenaut_pipeline_prepare(p, err);
    if (st == ARENAUT_OK) st = arenaut_pipeline_find_baseline(p, err);
    if (st == ARENAUT_OK) st = arenaut_pipeline_plan(p, err);
    if (st == ARENAUT_OK || st == ARENAUT_NO_PLAN) *out = p;
    else arenaut_pipeline_free(p);
    return st;
}
