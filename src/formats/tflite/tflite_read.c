/* Reader of .tflite files: every subgraph becomes a method, and its tensors follow one another in
 * the program as they do in the file. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/fail.h"
#include "core/hash.h"
#include "core/memory.h"
#include "formats/tflite/tflite_reader.h"
#include "formats/tflite/tflite_schema.h"
#include "ir/program.h"

enum {
    EXPANSION = 64, /* bytes of memory per byte of file; real models stay under 10 */
    EXPANSION_BASE = 1 << 16,
};

static arenaut_status read_subgraph(arn_tflite_reader *r, arn_fb_table table) {
    arn_flatbuffer *fb = &r->model.fb;
    const char *name;
    arenaut_status st = arn_tflite_charge(r, 1, 2 * sizeof(arenaut_method));
    if (st == ARENAUT_OK) st = arn_tflite_text(r, table, SUBGRAPH_NAME, &name);
    if (st == ARENAUT_OK) st = arn_tflite_status(r);
    if (st == ARENAUT_OK) {
        st = arn_program_add_method(r->program, name, false, NULL, r->err);
    }
    const arn_fb_vector tensors = arn_fb_vector_field(fb, table, SUBGRAPH_TENSORS, 4);
    r->first_tensor = r->program->n_tensors;
    r->n_tensors = tensors.count;
    for (uint32_t i = 0; i < tensors.count && st == ARENAUT_OK; i++) {
        arn_tflite_now(r, "tensor", i);
        st = arn_tflite_read_tensor(r, arn_fb_item_table(fb, tensors, i), i);
    }
    if (st == ARENAUT_OK) st = arn_tflite_take_compressed(r);
    const arn_fb_vector operators = arn_fb_vector_field(fb, table, SUBGRAPH_OPERATORS, 4);
    for (uint32_t i = 0; i < operators.count && st == ARENAUT_OK; i++) {
        arn_tflite_now(r, "operator", i);
        st = arn_tflite_read_operator(r, arn_fb_item_table(fb, operators, i));
    }
    arn_tflite_now(r, NULL, 0);
    if (st == ARENAUT_OK) {
        st = arn_tflite_ids(r, table, SUBGRAPH_INPUTS, false, "input", &r->inputs);
    }
    if (st == ARENAUT_OK) {
        st = arn_tflite_ids(r, table, SUBGRAPH_OUTPUTS, false, "output", &r->outputs);
    }
    if (st == ARENAUT_OK) st = arn_tflite_status(r);
    if (st != ARENAUT_OK) return st;
    return arenaut_program_set_method_io(r->program, r->subgraph, r->inputs.ids, r->inputs.n,
                                         r->outputs.ids, r->outputs.n, r->err);
}

/* A subgraph can be called from outside if it is the main one, if a signature names it, or
 * if nothing else could call it. */
static arenaut_status find_entries(arn_tflite_reader *r) {
    arn_flatbuffer *fb = &r->model.fb;
    arenaut_program *program = r->program;
    for (uint32_t m = 0; m < program->n_methods; m++) {
        program->methods[m].entry = m == 0 || !r->called[m];
    }
    for (uint32_t i = 0; i < r->model.signatures.count; i++) {
        const arn_fb_table signature = arn_fb_item_table(fb, r->model.signatures, i);
        const uint32_t subgraph = arn_fb_u32(fb, signature, SIGNATURE_SUBGRAPH, 0);
        if (fb->wrong) return arn_fb_status(fb, "signature", r->err);
        if (subgraph >= program->n_methods) {
            return arn_fail(r->err, ARENAUT_BAD_INPUT, signature.at,
                            "signature %" PRIu32 " names subgraph %" PRIu32 "; there are %" PRIu32,
                            i, subgraph, program->n_methods);
        }
        program->methods[subgraph].entry = true;
    }
    return ARENAUT_OK;
}

/* Numbers of arguments and results of a called subgraph. */
typedef struct arity {
    uint32_t inputs, outputs;
} arity;

static arity expected_arity(const arenaut_op *op, uint32_t call) {
    arity expected = {op->n_inputs, op->n_outputs};
    if (op->kind == ARENAUT_OP_IF) expected.inputs -= op->n_inputs > 0;  /* the condition */
    if (op->kind == ARENAUT_OP_WHILE && call == 0) expected.outputs = 1; /* go on or not */
    return expected;
}

/* The runtimes copy arguments to and from the subgraphs that operators call, in order. */
static arenaut_status check_calls(const arenaut_program *program, arenaut_error *err) {
    for (uint32_t i = 0; i < program->n_ops; i++) {
        const arenaut_op *op = &program->ops[i];
        for (uint32_t call = 0; call < op->n_calls; call++) {
            const arity expected = expected_arity(op, call);
            const arenaut_method *callee = &program->methods[op->calls[call]];
            if (callee->n_inputs == expected.inputs && callee->n_outputs == expected.outputs) {
                continue;
            }
            return arn_fail(err, ARENAUT_BAD_INPUT, 0,
                            "operator %" PRIu32 " of subgraph %" PRIu32
                            " (%s) calls subgraph %" PRIu32 " with %" PRIu32 " inputs and %" PRIu32
                            " outputs; that has %" PRIu32 " and %" PRIu32,
                            i - program->methods[op->method].first_op, op->method, op->name,
                            op->calls[call], expected.inputs, expected.outputs, callee->n_inputs,
                            callee->n_outputs);
        }
    }
    return ARENAUT_OK;
}

static void mark_class(arenaut_program *program, const uint32_t *ids, uint32_t count,
                       arenaut_class cls) {
    for (uint32_t i = 0; i < count; i++) {
        arenaut_tensor *tensor = &program->tensors[ids[i]];
        if (tensor->cls == ARENAUT_INTERMEDIATE) tensor->cls = cls;
    }
}

static void mark_entry_arguments(arenaut_program *program) {
    for (uint32_t m = 0; m < program->n_methods; m++) {
        const arenaut_method *method = &program->methods[m];
        if (!method->entry) continue;
        mark_class(program, method->inputs, method->n_inputs, ARENAUT_INPUT);
        mark_class(program, method->outputs, method->n_outputs, ARENAUT_OUTPUT);
    }
}

static void name_kernels(const arn_tflite_mark *mark, char *to, size_t size) {
    if (mark->kernels[0]) snprintf(to, size, ", for the kernels '%s'", mark->kernels);
}

static bool keep_kernels(arenaut_program *program, const arn_tflite_mark *mark) {
    arenaut_given_kernels *given = &program->given_kernels;
    if (!mark->kernels[0]) return true;
    given->name = arenaut_program_strdup(program, mark->kernels, strlen(mark->kernels));
    given->fingerprint = mark->kernels_fingerprint;
    given->unmeasured = mark->unmeasured;
    return given->name != NULL;
}

/* Says where the plan in the file comes from. One of ours that no longer fits, because the
 * graph or the plan has been edited since, counts as another tool's. */
static arenaut_status judge_plan(arn_tflite_reader *r) {
    const arn_tflite_plan *plan = &r->plan;
    arenaut_program *program = r->program;
    if (plan->data.at == 0) return ARENAUT_OK;
    char note[320];
    program->given = ARENAUT_GIVEN_FOREIGN;
    if (plan->mark_data.at == 0) {
        snprintf(note, sizeof note, "metadata '%s' without arenaut's mark%s%.160s%s",
                 ARN_TFLITE_PLAN_NAME, program->description ? ", in a file described as '" : "",
                 program->description ? program->description : "", program->description ? "'" : "");
    } else if (plan->mark.fingerprint != arn_program_fingerprint(program)) {
        snprintf(note, sizeof note, "arenaut %s, but for another graph", plan->mark.version);
    } else if (plan->mark.plan_hash !=
               arn_hash_bytes(ARN_HASH_START, r->model.fb.data + plan->data.at, plan->data.count)) {
        snprintf(note, sizeof note, "arenaut %s, but edited since", plan->mark.version);
    } else {
        program->given = ARENAUT_GIVEN_OURS;
        const int n = snprintf(note, sizeof note, "arenaut %s, planner '%s'", plan->mark.version,
                               plan->mark.planner);
        name_kernels(&plan->mark, note + n, sizeof note - (size_t)n);
        if (!keep_kernels(program, &plan->mark)) return arn_no_memory(r->err);
    }
    program->given_note = arenaut_program_strdup(program, note, strlen(note));
    return program->given_note ? ARENAUT_OK : arn_no_memory(r->err);
}

static arenaut_status read_description(arn_tflite_reader *r) {
    const char *text;
    arenaut_status st = arn_tflite_text(r, r->model.root, MODEL_DESCRIPTION, &text);
    if (st == ARENAUT_OK) st = arn_tflite_status(r);
    if (st != ARENAUT_OK || !text || !text[0]) return st;
    r->program->description = arenaut_program_strdup(r->program, text, strlen(text));
    return r->program->description ? ARENAUT_OK : arn_no_memory(r->err);
}

static arenaut_status read_model(arn_tflite_reader *r) {
    uint64_t n_tensors;
    arenaut_status st = arn_tflite_count_tensors(&r->model, &n_tensors, r->err);
    if (st == ARENAUT_OK) st = arn_tflite_find_plan(&r->model, n_tensors, &r->plan, r->err);
    if (st == ARENAUT_OK) st = arn_tflite_find_compressed(r);
    if (st == ARENAUT_OK) st = read_description(r);
    if (st == ARENAUT_OK) st = arn_tflite_charge(r, r->model.subgraphs.count, 1);
    if (st != ARENAUT_OK) return st;
    r->called = arn_allocate_zeroed(r->allocator, r->model.subgraphs.count, 1);
    if (!r->called) return arn_no_memory(r->err);
    for (uint32_t s = 0; s < r->model.subgraphs.count && st == ARENAUT_OK; s++) {
        r->subgraph = s;
        arn_tflite_now(r, NULL, 0);
        st = read_subgraph(r, arn_fb_item_table(&r->model.fb, r->model.subgraphs, s));
    }
    if (st == ARENAUT_OK) st = check_calls(r->program, r->err);
    if (st == ARENAUT_OK) st = find_entries(r);
    if (st != ARENAUT_OK) return st;
    mark_entry_arguments(r->program);
    st = judge_plan(r);
    return st == ARENAUT_OK ? arn_program_validate(r->program, r->err) : st;
}

static void tell_notes(const arn_tflite_reader *r, const arenaut_read_options *options) {
    if (r->n_dynamic == 0 || !options || !options->note) return;
    char text[160];
    snprintf(text, sizeof text,
             "%" PRIu32
             " tensor%s dimensions that may change at run time; planned with the shape that "
             "the file states",
             r->n_dynamic, r->n_dynamic == 1 ? " has" : "s have");
    options->note(options->note_context, text);
}

arenaut_status arn_tflite_read(const uint8_t *data, size_t size,
                               const arenaut_read_options *options,
                               const arenaut_allocator *allocator, arenaut_program **out,
                               arenaut_error *err) {
    arn_tflite_reader r;
    memset(&r, 0, sizeof r);
    r.allocator = allocator;
    r.err = err;
    r.subgraph = ARENAUT_NONE;
    arenaut_status st = arn_tflite_open(data, size, &r.model, err);
    if (st != ARENAUT_OK) return st;
    r.allowance =
        arn_allowance_for(size, EXPANSION, EXPANSION_BASE, options ? options->max_memory : 0);
    st = arn_program_new(allocator, &r.program, err);
    if (st == ARENAUT_OK) st = read_model(&r);
    if (st == ARENAUT_OK) {
        tell_notes(&r, options);
        *out = r.program;
        r.program = NULL; /* handed over */
    }
    arn_program_free(r.program);
    ARN_RELEASE(allocator, r.called, r.inputs.ids, r.outputs.ids, r.dims);
    return st;
}
