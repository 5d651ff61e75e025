/* Rematerialization of the program as its file has it: the check of a certificate in a plan file
 * against the model, and the curve of peak against time. */
#include <inttypes.h>

#include "ir/program.h"
#include "rewrite/find_within.h"
#include "rewrite/order/program_order.h"
#include "rewrite/rematerialize/remat_cost.h"
#include "rewrite/transform.h"

/* The program as its file has it, ready for rematerialization. */
typedef struct file_task {
    arenaut_pipeline *given; /* behind passes and lowering */
    arn_program_order *order;
    arenaut_program *file;
    uint32_t *base;
    uint64_t *costs; /* NULL: none are given */
} file_task;

static arenaut_pipeline_options options_as_read(const arenaut_pipeline *p) {
    arenaut_pipeline_options options = p->options;
    options.splitting = (arenaut_splitting){0};
    options.recomputing = (arenaut_recomputing){0};
    options.reordering = (arenaut_reordering){0};
    options.copying = (arenaut_copying){0};
    options.joining.chosen = false;
    options.note = NULL;
    options.stage = NULL;
    options.after_pass = NULL;
    return options;
}

static arenaut_status prepare_as_read(const arenaut_pipeline *p, file_task *t, arenaut_error *err) {
    const arenaut_allocator *allocator = arn_pipeline_allocator(p);
    const arenaut_pipeline_options options = options_as_read(p);
    arenaut_status st = arenaut_pipeline_new(&options, allocator, &t->given, err);
    if (st == ARENAUT_OK) st = arenaut_pipeline_read(t->given, p->store->files, 1, err);
    if (st == ARENAUT_OK) st = arenaut_pipeline_prepare(t->given, err);
    if (st == ARENAUT_OK) st = arn_schedule_problem_of(t->given, &t->order, err);
    if (st != ARENAUT_OK) return st;
    st = arn_program_copy(t->given->store->as_read, allocator, &t->file, err);
    if (st == ARENAUT_OK) st = arn_pipeline_choose_method(t->given, t->file, err);
    if (st == ARENAUT_OK && t->file->n_methods != 1) {
        st = arn_fail(err, ARENAUT_REFUSED, 0, "its ops are not those of one method");
    }
    return st;
}

/* The options of the pipeline, with the times of its cost file, which are the task's. */
static arenaut_status read_options(const arenaut_pipeline *p, file_task *t,
                                   arenaut_recompute_options *out, arenaut_error *err) {
    const arenaut_side_file *costs = &p->options.recomputing.costs;
    *out = p->options.recomputing.options;
    if (!costs->text) return ARENAUT_OK;
    const arenaut_status st = arn_costs_read(costs->text, costs->size, t->file,
                                             arn_pipeline_allocator(p), &t->costs, err);
    out->costs = t->costs;
    return st;
}

static arenaut_status open_task(const arenaut_pipeline *p, file_task *t, arenaut_error *err) {
    arenaut_status st = arn_pipeline_expect(p, ARN_PIPELINE_PREPARED, ARN_PIPELINE_COMPARED, err);
    if (st != ARENAUT_OK) return st;
    if (!p->document.program) {
        return arn_fail(err, ARENAUT_BAD_ARGUMENT, 0, "a placement problem has no ops");
    }
    if (p->store->n_files > 1 || arn_states_memories(p->document.program)) {
        return arn_fail(err, ARENAUT_REFUSED, 0,
                        "it is made of several files, or states memories for its own ops");
    }
    st = prepare_as_read(p, t, err);
    if (st != ARENAUT_OK) return st;
    t->base = arn_allocate(arn_pipeline_allocator(p), t->file->n_ops, sizeof *t->base);
    if (!t->base) return arn_no_memory(err);
    for (uint32_t i = 0; i < t->file->n_ops; i++) t->base[i] = i;
    return ARENAUT_OK;
}

static arn_recompute_task task_of(const file_task *t, const arenaut_pipeline_options *options) {
    return (arn_recompute_task){t->given->document.program,
                                t->given->lowering,
                                t->order,
                                t->file,
                                t->base,
                                arn_aliases_are_open(t->file, options)};
}

static void close_task(const arenaut_pipeline *p, file_task *t) {
    ARN_RELEASE(arn_pipeline_allocator(p), t->base, t->costs);
    arn_program_free(t->file);
    arn_program_order_free(t->order);
    arenaut_pipeline_free(t->given);
}

arenaut_status arenaut_pipeline_check_rematerialization(
    const arenaut_pipeline *p, const arenaut_remat_certificate *certificate,
    arenaut_finding *finding, arenaut_error *err) {
    file_task t = {0};
    arenaut_recompute_options options;
    arenaut_status st = open_task(p, &t, err);
    if (st == ARENAUT_OK) st = read_options(p, &t, &options, err);
    if (st == ARENAUT_OK) {
        const arn_recompute_task task = task_of(&t, &t.given->options);
        st = arn_recompute_check(&task, &options, certificate, arn_pipeline_allocator(p), finding,
                                 err);
    }
    close_task(p, &t);
    return st;
}

arenaut_status arenaut_pipeline_find_curve(const arenaut_pipeline *p, arenaut_recompute_curve **out,
                                           arenaut_error *err) {
    arenaut_recompute_options options;
    file_task t = {0};
    arenaut_status st = open_task(p, &t, err);
    if (st == ARENAUT_OK) st = read_options(p, &t, &options, err);
    if (st == ARENAUT_OK) {
        arn_budget budget = arn_pipeline_budget(
            p, arn_transform_effort(p, options.effort, arn_recompute_default_effort()));
        const arn_recompute_task task = task_of(&t, &p->options);
        arn_pipeline_enter(p, ARENAUT_STAGE_LOWER);
        st =
            arn_recompute_find_curve(&task, &budget, &options, arn_pipeline_allocator(p), out, err);
        arn_pipeline_enter(p, ARENAUT_STAGE_OTHER);
        if (st == ARENAUT_OK && arn_budget_ended(&budget)) {
            arn_pipeline_note(p, "the search for the curve was stopped behind %" PRIu32 " budgets",
                              (*out)->n_points);
        }
    }
    close_task(p, &t);
    return st;
}
