/* From a program to the problem of its buffers: the method asked for, the passes, and lowering with
 * all that the caller asked of either. */
#include <string.h>

#include "core/writer.h"
#include "ir/program.h"
#include "kernels/kernel_set.h"
#include "ops/ops.h"
#include "passes/scratch.h"
#include "stages/stages.h"

/* ---- kernels ---- */

/* The mark of a plan that the target obeys; all zero if there is none. */
static arenaut_given_kernels marked_kernels(const arenaut_pipeline *p) {
    const arenaut_program *program = p->document.program;
    const bool ours = program->given == ARENAUT_GIVEN_OURS && p->target->plan_in_file;
    return ours ? program->given_kernels : (arenaut_given_kernels){0};
}

void arn_pipeline_choose_kernels(arenaut_pipeline *p) {
    const arenaut_pipeline_options *o = &p->options;
    const arenaut_given_kernels marked = marked_kernels(p);
    p->kernels = o->kernels ? o->kernels : p->target->kernels;
    p->unmeasured = o->unmeasured;
    if (!o->kernels && marked.name && arenaut_kernel_set_find(marked.name)) {
        p->kernels = arenaut_kernel_set_find(marked.name);
        p->unmeasured = o->unmeasured || marked.unmeasured;
    }
    p->result.kernels = p->kernels;
    p->result.unmeasured = p->unmeasured;
}

const char *arn_pipeline_unknown_kernels(const arenaut_pipeline *p) {
    const arenaut_given_kernels marked = marked_kernels(p);
    const bool known = p->options.kernels || !marked.name || arenaut_kernel_set_find(marked.name);
    return known ? NULL : marked.name;
}

void arn_pipeline_note_other_kernels(const arenaut_pipeline *p) {
    const arenaut_given_kernels marked = marked_kernels(p);
    if (!marked.name || !p->kernels) return;
    if (strcmp(marked.name, p->kernels->name) != 0) {
        arn_pipeline_note(p,
                          "the plan in the file was made for the kernels '%s', and is looked at "
                          "with '%s'",
                          marked.name, p->kernels->name);
    } else if (marked.fingerprint && marked.fingerprint != arn_kernel_set_fingerprint(p->kernels)) {
        arn_pipeline_note(p,
                          "the plan in the file was made for the kernels '%s', which were "
                          "described otherwise then",
                          marked.name);
    }
}

/* True if the set, or one that it builds on, has rules of how its kernels walk. */
static bool has_rules(const arenaut_kernel_set *set) {
    for (; set; set = set->base) {
        if (set->rules) return true;
    }
    return false;
}

/* True if an op has a distance by which a result may reach, by itself or since its kernel is known.
 */
static bool has_overlaps(const arenaut_program *program) {
    for (uint32_t i = 0; i < program->n_ops; i++) {
        if (program->ops[i].n_overlaps) return true;
    }
    return false;
}

static void note_overlap(const arenaut_pipeline *p) {
    if (!p->options.overlap || p->problem->n_separations) return;
    if (has_overlaps(p->document.program)) {
        arn_pipeline_note(p,
                          "no result reaches into an operand: each that could be written over is "
                          "needed later, a result, state, a kept input or a part of another");
    } else if (!p->kernels && p->problem->same_base) {
        arn_pipeline_note(p,
                          "results lie over the whole of an operand or beside it: the kernels of "
                          "%s are not known",
                          p->target->name);
    } else if (!p->kernels) {
        arn_pipeline_note(p, "no result reaches into an operand: the kernels of %s are not known",
                          p->target->name);
    } else if (!has_rules(p->kernels)) {
        arn_pipeline_note(
            p, "no result reaches into an operand: how the kernels '%s' walk is not known",
            p->kernels->name);
    } else if (!p->problem->same_base) {
        arn_pipeline_note(p, "no result may lie over an operand, by the kernels '%s'",
                          p->kernels->name);
    }
}

/* ---- passes ---- */

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
    const bool apart = p->store->runtime && program != p->document.program;
    const arenaut_scratch_sizes *scratch = original ? &p->store->file_scratch : &p->scratch;
    const arenaut_joining *joining = p->store->joining.chosen ? &p->store->joining : &o->joining;
    const arenaut_pass_options options = {
        .target = apart ? p->store->runtime : p->target,
        .share = apart ? NULL : p->options.share,
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

arenaut_status arn_pipeline_recover_aliases(arenaut_program *program, const char *share,
                                            arenaut_error *err) {
    const arenaut_pass *recover = arenaut_pass_find("recover-aliases");
    const arenaut_pass_options options = {.share = share};
    if (!recover || !arn_states_memories(program)) return ARENAUT_OK;
    return recover->run(program, &options, err);
}

static void add_pass(arn_writer *writer, const arenaut_text *selection, const char *pass) {
    arn_puts(writer, selection->size ? "," : "");
    arn_puts(writer, pass);
}

/* The passes of the options, with those that options.overwrite and options.overlap add. Kernels
 * that let input and output overlap in part let them be one as well, if they are as large. */
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
    if (o->joining.results) add_pass(&writer, &selection, "slices");
    if (p->store->aliases_known) add_pass(&writer, &selection, "-recover-aliases");
    const arenaut_status st =
        writer.failed ? arn_no_memory(err)
                      : arn_pipeline_run_passes(p, p->document.program, selection.bytes, true, err);
    arenaut_text_free(&selection);
    return st;
}

bool arn_pipeline_may_join(const arenaut_pipeline *p) {
    const char *passes = p->options.passes;
    return p->options.joining.results || (passes && strstr(passes, "slices"));
}

/* Concatenations that only name memory, if the pass `slices` may have made some so. */
static arenaut_status list_joined(arenaut_pipeline *p, arenaut_error *err) {
    arenaut_program *program = p->document.program;
    arenaut_given_ops *given = &p->result.given_ops;
    given->n_joined = 0;
    if (!arn_pipeline_may_join(p)) return ARENAUT_OK;
    uint32_t *joined = arenaut_program_alloc(program, program->n_ops * sizeof *joined);
    if (!joined) return arn_no_memory(err);
    given->joined = joined;
    for (uint32_t i = 0; i < program->n_ops; i++) {
        const arenaut_op *op = &program->ops[i];
        const bool joins = op->kind == ARENAUT_OP_VIEW && arn_op_is_join(op->name);
        if (joins && op->n_outputs == 1) joined[given->n_joined++] = op->outputs[0];
    }
    return ARENAUT_OK;
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
        .kernels = p->kernels,
        .pools = o->n_pools ? o->pools : NULL,
        .n_pools = o->n_pools,
    };
    return arenaut_lower(p->document.program, p->target, &options, arn_pipeline_allocator(p),
                         lowering, err);
}

/* ---- calls ---- */

/* The ops of `method` that make plain calls of `callee`, from the first to behind the last. */
static void find_calls(const arenaut_program *p, uint32_t callee, uint32_t *first, uint32_t *end) {
    *first = *end = 0;
    for (uint32_t i = 0; i < p->n_ops; i++) {
        if (!arn_is_plain_call(&p->ops[i]) || p->ops[i].calls[0] != callee) continue;
        if (*end == 0) *first = i;
        *end = i + 1;
    }
}

static bool asks(const arenaut_pipeline *p, const arenaut_program *program, uint32_t i) {
    const arenaut_op *op = &program->ops[i];
    const bool listed = p->scratch.known;
    return op->n_scratch > 0 || (!listed && arn_op_asks_for_scratch(program, op, p->kernels));
}

static bool asks_among(const arenaut_pipeline *p, const arenaut_program *program, uint32_t first,
                       uint32_t end) {
    for (uint32_t i = first; i < end; i++) {
        if (asks(p, program, i)) return true;
    }
    return false;
}

/* True if plain calls may be planned apart: each call's tensors live only while it runs. To the
 * micro runtime they live from the first call to the last. That makes no difference to tensors
 * whose place it is told, but to kernel scratch, which it places around them. So no op that asks
 * for scratch may run from a method's first call to its last. Only methods that the entry calls by
 * plain calls, and that call none themselves, are followed. */
static bool calls_apart(const arenaut_pipeline *p, const arenaut_program *program) {
    bool any = false;
    if (!p->target->plan_in_file || !p->target->merge_calls) return false;
    for (uint32_t i = 0; i < program->n_ops; i++) {
        const arenaut_op *op = &program->ops[i];
        if (op->n_calls == 0) continue;
        if (!arn_is_plain_call(op) || op->method != 0 || program->methods[op->calls[0]].entry) {
            return false;
        }
        any = true;
    }
    for (uint32_t m = 1; m < program->n_methods && any; m++) {
        const arenaut_method *method = &program->methods[m];
        uint32_t first, end;
        find_calls(program, m, &first, &end);
        if (end == 0) continue;
        if (asks_among(p, program, first, end) ||
            asks_among(p, program, method->first_op, method->first_op + method->n_ops)) {
            return false;
        }
    }
    return any;
}

/* ---- inputs and outputs ---- */

static void leave_to_caller(arenaut_program *program, const uint32_t *tensors, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        arenaut_tensor *t = &program->tensors[arenaut_program_storage(program, tensors[i], NULL)];
        if (t->cls != ARENAUT_CONSTANT && t->cls != ARENAUT_STATE) t->caller_owned = true;
    }
}

/* Inputs and outputs left to the caller are so in the program, too, and in a file that is written
 * of it. */
static void exclude_io(arenaut_program *program) {
    for (uint32_t m = 0; m < program->n_methods; m++) {
        const arenaut_method *method = &program->methods[m];
        if (!method->entry) continue;
        leave_to_caller(program, method->inputs, method->n_inputs);
        leave_to_caller(program, method->outputs, method->n_outputs);
    }
}

static arenaut_status lower_program(arenaut_pipeline *p, arenaut_error *err) {
    arenaut_status st = run_selected_passes(p, err);
    if (st == ARENAUT_OK) st = list_joined(p, err);
    if (st == ARENAUT_OK) st = arn_pipeline_check_sizes(p, err);
    if (st != ARENAUT_OK) return st;
    if (p->options.exclude_io) exclude_io(p->document.program);
    p->store->calls_apart = calls_apart(p, p->document.program);
    st = arn_pipeline_lower(p, p->options.preserve_inputs, &p->lowering, err);
    if (st != ARENAUT_OK) return st;
    arn_pipeline_note_sizes(p);
    p->problem = p->lowering->problem;
    note_overlap(p);
    p->op_outside = arn_find_outside(p->document.program, p->target);
    p->result.lowering = p->lowering;
    p->result.scratch = arn_scratch_known(p->document.program, p->kernels, &p->scratch);
    return ARENAUT_OK;
}

arenaut_status arn_pipeline_lower_transformed(arenaut_pipeline *p, arenaut_error *err) {
    arenaut_status st = p->document.program ? lower_program(p, err) : ARENAUT_OK;
    if (st == ARENAUT_OK) st = arn_pipeline_override(p, err);
    p->result.problem = p->problem;
    p->result.plan = NULL;
    return arn_pipeline_reach(p, ARN_PIPELINE_PREPARED, st);
}

arenaut_status arn_pipeline_measure_alive(const arenaut_pipeline *p, const arenaut_problem *problem,
                                          uint64_t *bytes, arenaut_error *err) {
    const arenaut_allocator *allocator = arn_pipeline_allocator(p);
    arenaut_peak peak = {0};
    const arenaut_status st = arenaut_peak_find(problem, allocator, &peak, err);
    *bytes = peak.live_bytes - peak.shared_bytes;
    arenaut_peak_free(&peak, allocator);
    return st;
}
