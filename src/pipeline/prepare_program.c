/* The middle of the pipeline: a program that was read is transformed, goes through the passes, and
 * is lowered to a problem. */
#include "rewrite/transform.h"

#include "ir/program.h"
#include "passes/scratch.h"

static arenaut_status read_scratch(arenaut_pipeline *p, arenaut_error *err) {
    const arenaut_side_file *scratch = &p->options.scratch;
    if (!scratch->text) return ARENAUT_OK;
    const arenaut_status st =
        arn_scratch_read(scratch->text, scratch->size, p->options.scratch_model,
                         p->document.program, arn_pipeline_allocator(p), &p->scratch, err);
    if (st != ARENAUT_OK) p->fault.option = "scratch";
    return st;
}

/* The program as it was read is kept for the runtime's own view of it. */
static arenaut_status transform_program(arenaut_pipeline *p, arenaut_error *err) {
    p->target = arn_pipeline_choose_target(p);
    p->result.target = p->target;
    arn_pipeline_choose_kernels(p);
    arenaut_status st =
        arn_program_copy(p->document.program, arn_pipeline_allocator(p), &p->store->as_read, err);
    if (st == ARENAUT_OK) st = arn_pipeline_choose_method(p, p->document.program, err);
    if (st == ARENAUT_OK) st = read_scratch(p, err);
    if (st == ARENAUT_OK) st = arn_transform_program(p, 0, err);
    return st == ARENAUT_OK ? arn_state_rematerialization(p, err) : st;
}

/* The search knew the peak before ops were ordered, and before passes had seen the copies. */
static arenaut_status lower(arenaut_pipeline *p, arenaut_error *err) {
    arenaut_status st = arn_pipeline_lower_transformed(p, err);
    if (st != ARENAUT_OK || p->recomputed.n_ops == 0) return st;
    st = arn_pipeline_measure_alive(p, p->problem, &p->recomputed.after, err);
    return arn_pipeline_reach(p, ARN_PIPELINE_PREPARED, st);
}

arenaut_status arenaut_pipeline_prepare(arenaut_pipeline *p, arenaut_error *err) {
    arenaut_status st = arn_pipeline_expect(p, ARN_PIPELINE_READ, ARN_PIPELINE_READ, err);
    if (st != ARENAUT_OK) return st;
    arn_pipeline_enter(p, ARENAUT_STAGE_LOWER);
    if (p->document.program) st = transform_program(p, err);
    st = st == ARENAUT_OK ? lower(p, err) : arn_pipeline_reach(p, ARN_PIPELINE_FAILED, st);
    arn_pipeline_enter(p, ARENAUT_STAGE_OTHER);
    return st;
}
