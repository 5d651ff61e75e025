/* Context of the stages of a pipeline: its allocation and release, its progress, budgets, notes,
 * and blame of options. */
#include <stdarg.h>
#include <stdio.h>

#include "core/memory.h"
#include "ir/certificate.h"
#include "ir/program.h"
#include "passes/scratch.h"
#include "stages/stages.h"

arenaut_status arn_pipeline_expect(const arenaut_pipeline *p, arn_pipeline_reached least,
                                   arn_pipeline_reached most, arenaut_error *err) {
    const arn_pipeline_reached reached = p->store->reached;
    if (least <= reached && reached <= most) return ARENAUT_OK;
    return arn_fail(err, ARENAUT_BAD_ARGUMENT, 0,
                    "the stages of a pipeline are read, prepare, find_baseline, plan and write, in "
                    "this order, and none comes after one that failed");
}

arenaut_status arn_pipeline_reach(arenaut_pipeline *p, arn_pipeline_reached stage,
                                  arenaut_status status) {
    p->store->reached = status == ARENAUT_OK ? stage : ARN_PIPELINE_FAILED;
    return status;
}

void arn_pipeline_enter(const arenaut_pipeline *p, arenaut_stage stage) {
    if (p->options.stage) p->options.stage(p->options.context, stage);
}

void arn_pipeline_note(const arenaut_pipeline *p, const char *format, ...) {
    char text[1024];
    va_list args;
    if (!p->options.note) return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    p->options.note(p->options.context, text);
}

arn_budget arn_pipeline_budget(const arenaut_pipeline *p, uint64_t effort) {
    const arenaut_plan_options *o = &p->options.plan;
    return arn_budget_make(effort, o->progress, o->progress_context);
}

arenaut_status arn_pipeline_stopped(arenaut_error *err) {
    return arn_fail(err, ARENAUT_STOPPED, 0, "the search was stopped before anything was found");
}

arenaut_status arn_pipeline_blame(arenaut_pipeline *p, arenaut_error *err, const char *option,
                                  const char *format, ...) {
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    p->fault.option = option;
    return arn_fail(err, ARENAUT_BAD_ARGUMENT, 0, "%s", text);
}

arenaut_status arenaut_pipeline_new(const arenaut_pipeline_options *options,
                                    const arenaut_allocator *allocator, arenaut_pipeline **out,
                                    arenaut_error *err) {
    struct arenaut_pipeline_store *store = arn_allocate_zeroed(allocator, 1, sizeof *store);
    if (!store) return arn_no_memory(err);
    arenaut_pipeline *p = &store->pipeline;
    store->allocator = arn_allocator_or_default(allocator);
    arn_region_init(&store->lists, allocator);
    if (options) p->options = *options;
    if (!p->options.path) p->options.path = "input";
    p->op_outside = ARENAUT_NONE;
    p->store = store;
    *out = p;
    return ARENAUT_OK;
}

void arenaut_pipeline_free(arenaut_pipeline *p) {
    if (!p) return;
    struct arenaut_pipeline_store *store = p->store;
    const arenaut_allocator allocator = store->allocator;
    arn_release(&allocator, p->memories.rows);
    arenaut_plan_free(p->plan);
    arenaut_plan_free(p->baseline.plan);
    arenaut_lowering_free(store->baseline_lowering);
    arenaut_document_free(&store->baseline_document);
    arn_program_free(store->as_read);
    arn_rewrite_free(store->split);
    arenaut_problem_free(store->overridden);
    arenaut_lowering_free(p->lowering);
    arn_scratch_sizes_free(&p->scratch, &allocator);
    arn_release(&allocator, store->op_costs);
    arn_remat_certificate_free(store->remat_certificate);
    arn_scratch_sizes_free(&store->file_scratch, &allocator);
    arn_region_free(&store->lists);
    arenaut_document_free(&p->document);
    ARN_RELEASE(&allocator, store->joined, store->files, store->parts, store);
}

void arn_pipeline_begin_result(arenaut_pipeline *p) {
    const arenaut_pipeline_file *files = p->store->files;
    const size_t n_files = p->store->n_files;
    p->problem = p->document.problem;
    p->result = (arenaut_result){
        .path = p->options.path,
        .format = p->document.format->name,
        .file = files && n_files == 1 ? files->data : NULL,
        .file_size = files && n_files == 1 ? files->size : 0,
        .program = p->document.program,
        .problem = p->problem,
        .plan = p->document.plan,
        .trace = p->document.trace,
        .target = p->target,
        .kernels = p->kernels,
        .unmeasured = p->unmeasured,
        .seconds = -1,
        .n_rounded = p->document.n_rounded,
        .given_kernels = p->document.kernels,
        .given_ops = p->document.ops,
    };
    const arenaut_remat_certificate *c = p->document.rematerialization;
    p->result.rematerialization = c;
    if (c && !p->document.ops.schedule) {
        p->result.given_ops.schedule = c->runs;
        p->result.given_ops.n_schedule = c->n_runs;
    }
}

void arn_pipeline_keep_plan(arenaut_pipeline *p, arenaut_plan *plan) {
    if (plan != p->plan) arenaut_plan_free(p->plan);
    p->result.plan = p->plan = plan;
}

arenaut_status arn_pipeline_copy_plan(const arenaut_pipeline *p, const arenaut_plan *from,
                                      arenaut_plan **out, arenaut_error *err) {
    const arenaut_status st =
        arenaut_plan_new(from->n_buffers, from->n_pools, arn_pipeline_allocator(p), out, err);
    if (st != ARENAUT_OK) return st;
    memcpy((*out)->pool, from->pool, from->n_buffers * sizeof *from->pool);
    memcpy((*out)->offset, from->offset, from->n_buffers * sizeof *from->offset);
    memcpy((*out)->arena, from->arena, from->n_pools * sizeof *from->arena);
    (*out)->total = from->total;
    (*out)->spill = from->spill;
    (*out)->planner = from->planner;
    return ARENAUT_OK;
}

arenaut_status arn_pipeline_run_planner(const arenaut_pipeline *p, arenaut_stage stage,
                                        arn_budget *budget, const arenaut_plan_options *options,
                                        const arenaut_problem *problem, arenaut_plan **plan,
                                        arenaut_error *err) {
    arn_pipeline_enter(p, stage);
    const arenaut_status st =
        arn_plan_within(problem, budget, options, arn_pipeline_allocator(p), plan, err);
    arn_pipeline_enter(p, ARENAUT_STAGE_OTHER);
    return st;
}

/* The incumbent is a planner of the table, so that its answers are as testable as any plan. */
arenaut_status arn_pipeline_run_incumbent(const arenaut_pipeline *p, arn_budget *budget,
                                          const char *planner, const arenaut_problem *problem,
                                          arenaut_plan **plan, arenaut_error *err) {
    const arenaut_plan_options options = {.planner = planner};
    return arn_pipeline_run_planner(p, ARENAUT_STAGE_INCUMBENT, budget, &options, problem, plan,
                                    err);
}
