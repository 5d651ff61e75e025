/* From the bytes of a file to a checked plan: the stages and their order. Each stage is a file of
 * its own beside this one; here are the first half (read, passes, lowering) and the calls that a
 * user sees. The time is that of the planner, but for files that are read twice: see baseline.c. */
#include "pipeline/stages.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "core/writer.h"

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
    arenaut_program_free(store->read);
    arenaut_problem_free(store->overridden);
    arenaut_lowering_free(p->lowering);
    arenaut_scratch_sizes_free(&p->scratch, &allocator);
    arenaut_scratch_sizes_free(&store->file_scratch, &allocator);
    arenaut_split_front_free(p->ways.front);
    arenaut_document_free(&p->document);
    arn_release(&allocator, store->joined);
    arn_release(&allocator, store->files);
    arn_release(&allocator, store);
}

static arenaut_status read_shapes(arenaut_pipeline *p, arenaut_program *program,
                                  arenaut_error *err) {
    const arenaut_side_file *shapes = &p->options.shapes;
    if (!shapes->text) return ARENAUT_OK;
    const arenaut_status st = arenaut_shapes_read(shapes->text, shapes->size, program, err);
    if (st != ARENAUT_OK) p->fault.option = "shapes";
    return st;
}

/* The only file. All that a reader is told, and may object to, are the sizes. */
static arenaut_status read_file(arenaut_pipeline *p, arenaut_document *document,
                                arenaut_error *err) {
    const arenaut_pipeline_options *o = &p->options;
    const arenaut_pipeline_file *file = p->store->files;
    const arenaut_read_options options = {
        .note = o->note, .note_context = o->context, .dims = o->dims, .n_dims = o->n_dims};
    const arenaut_status st = arenaut_read(file->data, file->size, o->format, &options,
                                           arn_pipeline_allocator(p), document, err);
    if (st == ARENAUT_BAD_ARGUMENT) p->fault.option = "dim";
    return st;
}

static arenaut_status read_document(arenaut_pipeline *p, arenaut_document *document,
                                    arenaut_error *err) {
    const bool merged = p->store->n_files > 1;
    arenaut_status st =
        merged ? arn_pipeline_merge_files(p, document, err) : read_file(p, document, err);
    if (st != ARENAUT_OK) return st;
    if (!document->program) return arn_pipeline_check_dims(p, document, err);
    st = arn_pipeline_bind_dims(p, document->program, err);
    return st == ARENAUT_OK && !merged ? read_shapes(p, document->program, err) : st;
}

static arenaut_status keep_files(arenaut_pipeline *p, const arenaut_pipeline_file *files,
                                 size_t n_files, arenaut_error *err) {
    struct arenaut_pipeline_store *store = p->store;
    store->files = arn_allocate(&store->allocator, n_files, sizeof *store->files);
    if (!store->files) return arn_no_memory(err);
    memcpy(store->files, files, n_files * sizeof *files);
    store->n_files = n_files;
    return ARENAUT_OK;
}

static void begin_result(arenaut_pipeline *p) {
    const arenaut_pipeline_file *files = p->store->files;
    const size_t n_files = p->store->n_files;
    p->problem = p->document.problem;
    p->result = (arenaut_result){
        .path = p->options.path,
        .format = p->document.format->name,
        .file = n_files == 1 ? files->data : NULL,
        .file_size = n_files == 1 ? files->size : 0,
        .program = p->document.program,
        .problem = p->problem,
        .plan = p->document.plan,
        .trace = p->document.trace,
        .seconds = -1,
    };
}

arenaut_status arenaut_pipeline_read(arenaut_pipeline *p, const arenaut_pipeline_file *files,
                                     size_t n_files, arenaut_error *err) {
    arenaut_status st = arn_pipeline_expect(p, ARN_PIPELINE_NEW, ARN_PIPELINE_NEW, err);
    if (st != ARENAUT_OK) return st;
    if (n_files == 0) return arn_fail(err, ARENAUT_BAD_ARGUMENT, 0, "there is no file to read");
    st = keep_files(p, files, n_files, err);
    if (st != ARENAUT_OK) return st;
    arn_pipeline_enter(p, ARENAUT_STAGE_READ);
    st = read_document(p, &p->document, err);
    arn_pipeline_enter(p, ARENAUT_STAGE_OTHER);
    if (st == ARENAUT_OK) begin_result(p);
    return arn_pipeline_reach(p, ARN_PIPELINE_READ, st);
}

arenaut_status arn_pipeline_copy_as_read(const arenaut_pipeline *p, arenaut_program **out,
                                         arenaut_error *err) {
    return arenaut_program_copy(p->store->as_read, arn_pipeline_allocator(p), out, err);
}

arenaut_status arn_pipeline_copy_program(const arenaut_pipeline *p, arenaut_program **out,
                                         arenaut_error *err) {
    return arenaut_program_copy(p->document.program, arn_pipeline_allocator(p), out, err);
}

arenaut_status arn_pipeline_read_beside(arenaut_pipeline *p, const arenaut_pipeline *beside,
                                        arenaut_error *err) {
    const struct arenaut_pipeline_store *other = beside->store;
    arenaut_status st = keep_files(p, other->files, other->n_files, err);
    if (st == ARENAUT_OK) st = arn_pipeline_copy_as_read(beside, &p->document.program, err);
    if (st != ARENAUT_OK) return arn_pipeline_reach(p, ARN_PIPELINE_FAILED, st);
    p->document.format = beside->document.format;
    p->store->as_read = other->as_read;
    begin_result(p);
    return arn_pipeline_reach(p, ARN_PIPELINE_READ, st);
}

arenaut_status arn_pipeline_choose_method(const arenaut_pipeline *p, arenaut_program *program,
                                          arenaut_error *err) {
    const char *name = p->options.method;
    arenaut_method *wanted = NULL;
    arenaut_text names = {.allocator = arn_pipeline_allocator(p)};
    arn_writer writer = arn_writer_to(arenaut_text_sink(&names));
    if (!name) return ARENAUT_OK;
    for (uint32_t m = 0; m < program->n_methods; m++) {
        arenaut_method *method = &program->methods[m];
        if (!method->entry) continue;
        arn_puts(&writer, names.size ? ", " : "");
        arn_puts(&writer, method->name ? method->name : "(unnamed)");
        if (method->name && strcmp(method->name, name) == 0 && !wanted) wanted = method;
        else method->entry = false;
    }
    arenaut_status st = ARENAUT_OK;
    if (writer.failed) {
        st = arn_no_memory(err);
    } else if (!wanted) {
        st = arn_fail(err, ARENAUT_BAD_ARGUMENT, 0, "there is no entry method '%s'; there are: %s",
                      name, names.bytes ? names.bytes : "none");
    }
    arenaut_text_free(&names);
    return st;
}

arenaut_status arn_pipeline_run_passes(const arenaut_pipeline *p, arenaut_program *program,
                                       const char *selection, bool show, arenaut_error *err) {
    const arenaut_pipeline_options *o = &p->options;
    const bool original = p->rewrite && program != p->document.program;
    const arenaut_scratch_sizes *scratch = original ? &p->store->file_scratch : &p->scratch;
    const arenaut_joining *joining = p->store->joining.chosen ? &p->store->joining : &o->joining;
    const arenaut_pass_options options = {
        .target = p->target,
        .kernels = p->kernels,
        .unmeasured = p->unmeasured,
        .scratch = scratch->entries,
        .n_scratch = scratch->n,
        .only_this_scratch = scratch->known,
        .in_place = o->in_place_rules,
        .n_in_place = o->n_in_place_rules,
        .only_these_rules = o->overwrite == ARENAUT_OVERWRITE_ONLY,
        .joins = joining->results,
        .n_joins = joining->n,
        .only_these_joins = joining->chosen,
    };
    return arenaut_passes_run(program, selection, &options, show ? o->after_pass : NULL, o->context,
                              err);
}

static void add_pass(arn_writer *writer, const arenaut_text *selection, const char *pass) {
    arn_puts(writer, selection->size ? "," : "");
    arn_puts(writer, pass);
}

/* The passes asked for, with what options.overwrite and options.overlap add. Kernels that let input
 * and output overlap in part let them be one as well, where they are as large. */
static arenaut_status run_selected_passes(const arenaut_pipeline *p, arenaut_error *err) {
    const arenaut_pipeline_options *o = &p->options;
    const bool by_rules = o->overwrite == ARENAUT_OVERWRITE_BY_RULES;
    arenaut_text selection = {.allocator = arn_pipeline_allocator(p)};
    arn_writer writer = arn_writer_to(arenaut_text_sink(&selection));
    arn_puts(&writer, o->passes ? o->passes : "");
    if (!by_rules || o->n_in_place_rules || o->overlap) {
        const bool off = o->overwrite == ARENAUT_OVERWRITE_OFF;
        add_pass(&writer, &selection, off ? "-inplace" : "inplace");
    }
    if (o->overlap) add_pass(&writer, &selection, "overlaps");
    if (p->store->aliases_known) add_pass(&writer, &selection, "-recover-aliases");
    const arenaut_status st =
        writer.failed ? arn_no_memory(err)
                      : arn_pipeline_run_passes(p, p->document.program, selection.bytes, true, err);
    arenaut_text_free(&selection);
    return st;
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

arenaut_status arn_pipeline_lower(const arenaut_pipeline *p, bool preserve_inputs,
                                  arenaut_lowering **lowering, arenaut_error *err) {
    const arenaut_pipeline_options *o = &p->options;
    const arenaut_lowering_options options = {
        .preserve_inputs = preserve_inputs,
        .exclude_io = o->exclude_io,
        .overlap = o->overlap,
        .apart = p->store->calls_apart,
        .align = o->align,
        .op_align = o->align_rules,
        .n_op_align = o->n_align_rules,
        .pools = o->n_pools ? o->pools : NULL,
        .n_pools = o->n_pools,
    };
    return arenaut_lower(p->document.program, p->target, &options, arn_pipeline_allocator(p),
                         lowering, err);
}

static void leave_to_caller(arenaut_program *program, const uint32_t *tensors, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        arenaut_tensor *t = &program->tensors[arenaut_program_storage(program, tensors[i], NULL)];
        if (t->cls != ARENAUT_CONSTANT && t->cls != ARENAUT_STATE) t->caller_owned = true;
    }
}

/* What was asked of the plan stands in the program, too, and so in a file that is written of it. */
static void exclude_io(arenaut_program *program) {
    for (uint32_t m = 0; m < program->n_methods; m++) {
        const arenaut_method *method = &program->methods[m];
        if (!method->entry) continue;
        leave_to_caller(program, method->inputs, method->n_inputs);
        leave_to_caller(program, method->outputs, method->n_outputs);
    }
}

static arenaut_status lower_program(arenaut_pipeline *p, arenaut_error *err) {
    if (p->options.exclude_io) exclude_io(p->document.program);
    p->store->calls_apart = arn_pipeline_calls_apart(p, p->document.program);
    return arn_pipeline_lower(p, p->options.preserve_inputs, &p->lowering, err);
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

bool arn_pipeline_has_time(const arenaut_pipeline *p, arn_budget *budget, const char *done) {
    if (arn_budget_goes_on(budget)) return true;
    arn_pipeline_note(p, "nothing is %s: there was no time to look for a way", done);
    return false;
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
    if (st == ARENAUT_OK) st = run_selected_passes(p, err);
    if (st == ARENAUT_OK) st = arn_pipeline_check_sizes(p, err);
    if (st == ARENAUT_OK) st = lower_program(p, err);
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

/* What people are told; the arenas of a plan that is in a file are the file's by now. */
static void settle_figures(arenaut_pipeline *p) {
    const arenaut_baseline *baseline = &p->baseline;
    arenaut_figures *figures = &p->figures;
    figures->planned = figures->needed = p->plan->total;
    figures->bound = p->plan->total_bound;
    const bool obeyed = baseline->plan && baseline->from_file && !baseline->overlaps;
    if (obeyed && !arn_pipeline_overrides(&p->options) && figures->now < figures->planned) {
        figures->needed = figures->now;
    }
}

arenaut_status arenaut_pipeline_plan(arenaut_pipeline *p, arenaut_error *err) {
    arenaut_status st = arn_pipeline_expect(p, ARN_PIPELINE_PREPARED, ARN_PIPELINE_COMPARED, err);
    if (st != ARENAUT_OK) return st;
    arenaut_plan_free(p->plan);
    p->result.plan = p->plan = NULL;
    p->store->compared = p->store->reached == ARN_PIPELINE_COMPARED && !p->options.plan_as_made;
    arn_budget budget = arn_pipeline_budget(p, p->options.plan.effort);
    arn_pipeline_enter(p, ARENAUT_STAGE_PLAN);
    const arenaut_status planned = arn_plan_within(p->problem, &budget, &p->options.plan,
                                                   arn_pipeline_allocator(p), &p->plan, err);
    arn_pipeline_enter(p, ARENAUT_STAGE_OTHER);
    if (planned != ARENAUT_OK && planned != ARENAUT_NO_PLAN) return planned;
    p->result.plan = p->plan;
    st = arn_pipeline_verify(p, err);
    if (st == ARENAUT_OK && planned == ARENAUT_OK && !p->options.plan_as_made) {
        st = arn_pipeline_deploy_scratch(p, err);
        if (st == ARENAUT_OK) st = arn_pipeline_size_memories(p, err);
    }
    if (st == ARENAUT_OK) {
        settle_figures(p);
        return planned;
    }
    arenaut_plan_free(p->plan); /* never unchecked */
    p->result.plan = p->plan = NULL;
    return st;
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
