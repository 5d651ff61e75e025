/* Programs made of .onnx files: subgraphs and the values that they capture, loops, functions put
 * where they are called, constants of every kind. The files are ours
 * (tests/models/make_onnx.py). */
#include "support/test.h"

#include <stdlib.h>

#include <arenaut/expr.h>
#include <arenaut/format.h>
#include <arenaut/pass.h>

#include "ir/expr.h"
#include "support/documents.h"

static arenaut_document read_model(const char *name) {
    arenaut_document document = {0};
    arenaut_error err = {0};
    size_t size;
    char *bytes = data_text(&size, "onnx/%s", name);
    assert_ok(try_read(NULL, bytes, size, NULL, &document, &err), err);
    free(bytes);
    assert_string_equal(document.program->dialect, "onnx");
    assert_int_equal(document.program->dialect_version, 21);
    return document;
}

static uint32_t tensor_named(const arenaut_program *p, const char *name) {
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        if (p->tensors[t].name && strcmp(p->tensors[t].name, name) == 0) return t;
    }
    fail_msg("there is no tensor '%s'", name);
    return ARENAUT_NONE;
}

static uint32_t method_named(const arenaut_program *p, const char *name) {
    for (uint32_t m = 0; m < p->n_methods; m++) {
        if (strcmp(p->methods[m].name, name) == 0) return m;
    }
    fail_msg("there is no method '%s'", name);
    return ARENAUT_NONE;
}

/* The first op of that operator. */
static const arenaut_op *op_named(const arenaut_program *p, const char *name) {
    for (uint32_t i = 0; i < p->n_ops; i++) {
        if (strcmp(p->ops[i].name, name) == 0) return &p->ops[i];
    }
    fail_msg("there is no op '%s'", name);
    return NULL;
}

/* Tensors by name, "-" for one that is left out or has none. */
static void assert_tensors(const arenaut_program *p, const uint32_t *ids, uint32_t n,
                           const char *names) {
    char found[200] = "";
    for (uint32_t i = 0; i < n; i++) {
        const char *name = ids[i] == ARENAUT_NONE ? NULL : p->tensors[ids[i]].name;
        strcat(strcat(found, i ? " " : ""), name ? name : "-");
    }
    assert_string_equal(found, names);
}

/*  main:  outer = Neg(x);  chosen = If(flag);  Loop;  Scan
 *  then uses outer; else holds another If, whose branches use outer and x */
TEST(captured_tensors_are_operands_of_the_calling_op) {
    arenaut_document document = read_model("control.onnx");
    const arenaut_program *p = document.program;
    const arenaut_op *choose = op_named(p, "If");
    assert_int_equal(choose->kind, ARENAUT_OP_IF);
    assert_tensors(p, choose->inputs, choose->n_inputs, "flag outer x");
    assert_int_equal(choose->calls[0], method_named(p, "then"));
    assert_int_equal(choose->calls[1], method_named(p, "else"));
    assert_int_equal(p->methods[method_named(p, "else")].outer, 0);
    const arenaut_method *deep = &p->methods[method_named(p, "deep_then")];
    assert_int_equal(deep->outer, method_named(p, "else"));
    assert_tensors(p, p->ops[deep->first_op].inputs, 2, "outer x");
    assert_true(p->methods[0].entry);
    assert_false(deep->entry);
    arenaut_document_free(&document);
}

/* In the file a loop's body takes turn, condition, state and gives condition, state, result. */
TEST(loops_begin_with_what_they_carry) {
    arenaut_document document = read_model("control.onnx");
    const arenaut_program *p = document.program;
    const arenaut_op *loop = op_named(p, "Loop");
    const arenaut_method *body = &p->methods[loop->calls[0]];
    assert_int_equal(loop->kind, ARENAUT_OP_LOOP);
    assert_int_equal(loop->target, 1);
    assert_tensors(p, loop->inputs, loop->n_inputs, "chosen trips - outer");
    assert_tensors(p, loop->outputs, loop->n_outputs, "- totals"); /* unwanted, but carried */
    assert_int_not_equal(loop->outputs[0], ARENAUT_NONE);
    assert_tensors(p, body->inputs, body->n_inputs, "state turn go_on");
    assert_tensors(p, body->outputs, body->n_outputs, "state_out total still");
    const arenaut_op *scan = op_named(p, "Scan");
    assert_int_equal(scan->kind, ARENAUT_OP_LOOP);
    assert_int_equal(scan->target, 1);
    assert_tensors(p, scan->inputs, scan->n_inputs, "start outer");
    arenaut_document_free(&document);
}

static void bind_and_run(arenaut_program *p, const char *passes) {
    const arenaut_pass_options options = {.target = arenaut_target_find("onnxruntime")};
    arenaut_error err = {0};
    for (uint32_t i = 0; i < p->n_symbols; i++) {
        if (p->symbols[i].max != ARENAUT_UNBOUNDED) continue;
        assert_ok(arn_program_bind(p, p->symbols[i].name, 4, 4, &err), err);
    }
    assert_ok(arenaut_passes_run(p, passes, &options, NULL, NULL, &err), err);
}

/* Collected over five turns, and over the four rows of a [4, 8] input. */
TEST(results_that_loops_collect_are_as_long_as_there_are_turns) {
    arenaut_document document = read_model("control.onnx");
    const arenaut_program *p = document.program;
    bind_and_run(document.program, "");
    assert_int_equal(p->tensors[tensor_named(p, "totals")].bytes, 5 * 4);
    assert_int_equal(p->tensors[tensor_named(p, "all")].bytes, 4 * 8 * 4);
    assert_int_equal(p->tensors[tensor_named(p, "carry")].bytes, 8 * 4);
    assert_int_equal(p->tensors[tensor_named(p, "slice")].bytes, 8 * 4);
    for (uint32_t t = 0; t < p->n_tensors; t++) assert_false(p->tensors[t].unsized);
    arenaut_document_free(&document);
}

/* Twice(x, x) and Twice(p, p), each of a Concat, a function Bend, a Transpose and a Shape. */
TEST(functions_are_put_where_they_are_called) {
    static const char *const ops[] = {"Concat", "Elu",       "Transpose", "Shape",  "Concat",
                                      "Elu",    "Transpose", "Shape",     "Reshape"};
    arenaut_document document = read_model("functions.onnx");
    const arenaut_program *p = document.program;
    assert_int_equal(p->n_methods, 1);
    assert_int_equal(p->n_ops, COUNT_OF(ops));
    for (size_t i = 0; i < COUNT_OF(ops); i++) assert_string_equal(p->ops[i].name, ops[i]);
    assert_tensors(p, p->ops[1].inputs, 1, "first/joined");
    assert_tensors(p, p->ops[6].outputs, 1, "r");
    assert_tensors(p, p->ops[7].outputs, 1, "second/d"); /* unwanted by the caller */
    /* "axis" is the call's attribute, and "alpha" that of a call inside the function. */
    assert_string_equal(p->ops[0].attributes[0].name, "axis");
    assert_int_equal(p->ops[0].attributes[0].numbers[0], 1);
    assert_int_equal(p->ops[4].attributes[0].numbers[0], 0);
    double slope;
    memcpy(&slope, p->ops[1].attributes[0].numbers, sizeof slope);
    assert_true(slope == 0.5);
    bind_and_run(document.program, "");
    assert_int_equal(p->tensors[tensor_named(p, "p")].bytes, 6 * 4 * 4);
    assert_int_equal(p->tensors[tensor_named(p, "r")].bytes, 12 * 4 * 4);
    arenaut_document_free(&document);
}

static void assert_constant(const arenaut_program *p, const char *name, arenaut_dtype dtype,
                            uint64_t bytes, uint32_t n_values) {
    const arenaut_tensor *tensor = &p->tensors[tensor_named(p, name)];
    assert_int_equal(tensor->cls, ARENAUT_CONSTANT);
    assert_int_equal(tensor->dtype, dtype);
    assert_int_equal(tensor->bytes, bytes);
    assert_int_equal(tensor->n_values, n_values);
}

TEST(constants_of_every_kind_are_no_buffers) {
    arenaut_document document = read_model("constants.onnx");
    const arenaut_program *p = document.program;
    assert_constant(p, "outside", ARENAUT_DTYPE_FLOAT32, 256, 0); /* its file is not there */
    assert_constant(p, "four_bits", ARENAUT_DTYPE_INT4, 8, 0);    /* 15 of half a byte */
    assert_constant(p, "sparse", ARENAUT_DTYPE_FLOAT32, 64, 0);   /* as large as it stands for */
    assert_constant(p, "given", ARENAUT_DTYPE_INT64, 16, 2);
    assert_constant(p, "number", ARENAUT_DTYPE_INT64, 8, 1);
    assert_constant(p, "floats", ARENAUT_DTYPE_FLOAT32, 8, 2);
    assert_constant(p, "old_style", ARENAUT_DTYPE_FLOAT32, 16, 4); /* listed as an input too */
    assert_int_equal(p->tensors[tensor_named(p, "given")].values[1], -1);
    assert_tensors(p, p->methods[0].inputs, p->methods[0].n_inputs, "x");
    arenaut_document_free(&document);
}

TEST(ops_on_constants_fold_into_constants) {
    arenaut_document document = read_model("constants.onnx");
    const arenaut_program *p = document.program;
    bind_and_run(document.program, "");
    assert_int_equal(p->tensors[tensor_named(p, "made_weight")].cls, ARENAUT_CONSTANT);
    assert_int_equal(p->tensors[tensor_named(p, "wide")].cls, ARENAUT_CONSTANT);
    /* Another number each time. */
    assert_int_equal(p->tensors[tensor_named(p, "noise")].cls, ARENAUT_INTERMEDIATE);
    assert_int_equal(p->tensors[tensor_named(p, "small")].bytes, 4 * 16 / 2);
    arenaut_document_free(&document);
}

TEST(a_reshape_is_another_name_unless_its_result_is_handed_out) {
    arenaut_document document = read_model("constants.onnx");
    arenaut_program *p = document.program;
    bind_and_run(p, "");
    assert_int_equal(p->tensors[tensor_named(p, "e")].view_of, tensor_named(p, "d"));
    assert_int_equal(op_named(p, "Reshape")->kind, ARENAUT_OP_VIEW);
    arenaut_document_free(&document);
    document = read_model("functions.onnx");
    bind_and_run(document.program, "");
    p = document.program;
    assert_int_equal(p->tensors[tensor_named(p, "y")].view_of, ARENAUT_NONE);
    arenaut_document_free(&document);
}

TEST(optional_arguments_that_are_left_out_are_so_here) {
    arenaut_document document = read_model("constants.onnx");
    const arenaut_op *clip = op_named(document.program, "Clip");
    assert_tensors(document.program, clip->inputs, clip->n_inputs, "e - limit");
    arenaut_document_free(&document);
}

/* Values that the pass shapes goes by are in program JSON too. */
TEST(a_model_written_as_json_is_sized_alike) {
    static const char *const names[] = {"control.onnx", "functions.onnx", "constants.onnx",
                                        "open_sizes.onnx", "operators.onnx"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        arenaut_document document = read_model(names[i]);
        arenaut_text text = write_text("program-json", &document);
        arenaut_document back = read_text("program-json", text.bytes);
        arenaut_text_free(&text);
        assert_same_program(document.program, back.program);
        bind_and_run(document.program, "");
        bind_and_run(back.program, "");
        for (uint32_t t = 0; t < document.program->n_tensors; t++) {
            assert_int_equal(document.program->tensors[t].bytes, back.program->tensors[t].bytes);
        }
        arenaut_document_free(&document);
        arenaut_document_free(&back);
    }
}

/* ---- files beside ---- */

typedef struct listed {
    uint32_t n;
    char last[40];
} listed;

static void list_one(void *context, const char *path, size_t length) {
    listed *l = context;
    l->n++;
    snprintf(l->last, sizeof l->last, "%.*s", (int)length, path);
}

static listed external_files(const char *bytes, size_t size) {
    listed found = {0};
    const arenaut_format *format = arenaut_format_find("onnx");
    format->list_external((const uint8_t *)bytes, size, list_one, &found);
    return found;
}

TEST(files_with_constants_beside_a_model_are_listed) {
    size_t size;
    char *bytes = data_text(&size, "onnx/constants.onnx");
    const listed found = external_files(bytes, size);
    assert_int_equal(found.n, 1);
    assert_string_equal(found.last, "not_there.bin");
    for (size_t cut = 0; cut < size;
         cut++) { /* in memory of its own, so that nothing is read behind it */
        char *part = malloc(cut ? cut : 1);
        memcpy(part, bytes, cut);
        external_files(part, cut);
        free(part);
    }
    free(bytes);
    bytes = data_text(&size, "onnx/waiting.onnx");
    assert_int_equal(external_files(bytes, size).n, 0);
    free(bytes);
}
