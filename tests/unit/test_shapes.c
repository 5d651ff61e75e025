/* Shape inference: for every operator that it knows, the shapes of a run of ONNX Runtime
 * (operators.csv, by tests/models/make_onnx.py); and sizes that are unknown, vary, or contradict
 * one another. */
#include "support/test.h"

#include <stdlib.h>

#include <arenaut/expr.h>
#include <arenaut/format.h>
#include <arenaut/lowering.h>
#include <arenaut/pass.h>

#include "ir/expr.h"
#include "ir/program.h"
#include "support/documents.h"
#include "support/fuse.h"

static arenaut_document read_model(const char *name) {
    arenaut_document document = {0};
    arenaut_error err = {0};
    size_t size;
    char *bytes = data_text(&size, "onnx/%s", name);
    assert_ok(try_read(NULL, bytes, size, NULL, &document, &err), err);
    assert_string_equal(document.format->name, "onnx");
    free(bytes);
    return document;
}

static arenaut_status try_passes(arenaut_program *program, const char *passes, arenaut_error *err) {
    const arenaut_pass_options options = {.target = arenaut_target_find("generic")};
    return arenaut_passes_run(program, passes, &options, NULL, NULL, err);
}

static const arenaut_tensor *find_tensor(const arenaut_program *p, const char *name) {
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        if (p->tensors[t].name && strcmp(p->tensors[t].name, name) == 0) return &p->tensors[t];
    }
    fail_msg("there is no tensor '%s'", name);
    return NULL;
}

static void write_dims(const arenaut_tensor *tensor, char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < tensor->rank; i++) {
        used += (size_t)snprintf(text + used, size - used, "%s%lld", i ? "x" : "",
                                 (long long)tensor->dims[i]);
    }
}

/* ---- operators ---- */

/* The size of an unseen result is not in the file, so nothing but inference can know it. */
TEST(every_operator_gives_the_shape_of_a_real_run) {
    arenaut_document document = read_model("operators.onnx");
    arenaut_error err = {0};
    size_t size;
    unsigned rows = 0, wrong = 0;
    assert_ok(try_passes(document.program, "-fold-constants", &err), err);
    char *table = load_file(TEST_DATA "/onnx/operators.csv", &size);
    for (char *line = strtok(table, "\n"); line; line = strtok(NULL, "\n")) {
        char name[64], dims[64] = "", found[128];
        unsigned width;
        if (sscanf(line, "%63[^,],%u,%63s", name, &width, dims) < 2) continue;
        const arenaut_tensor *tensor = find_tensor(document.program, name);
        write_dims(tensor, found, sizeof found);
        rows++;
        if (!tensor->unsized && strcmp(found, dims) == 0 &&
            arenaut_dtype_bits(tensor->dtype) == 8 * width) {
            continue;
        }
        wrong++;
        print_message("%s: %s%s of type %s, not %s of %u bytes each\n", name, found,
                      tensor->unsized ? " (unsized)" : "", arenaut_dtype_name(tensor->dtype), dims,
                      width);
    }
    free(table);
    arenaut_document_free(&document);
    assert_true(rows > 150);
    assert_int_equal(wrong, 0);
}

/* ---- sizes that vary ---- */

static void bind(arenaut_program *program, const char *name, int64_t min, int64_t max) {
    arenaut_error err = {0};
    assert_ok(arn_program_bind(program, name, min, max, &err), err);
}

static void assert_dims(const arenaut_program *p, const char *name, const char *dims) {
    char found[128];
    const arenaut_tensor *tensor = find_tensor(p, name);
    write_dims(tensor, found, sizeof found);
    assert_string_equal(found, dims);
}

TEST(unbound_sizes_leave_tensors_without_one) {
    arenaut_document document = read_model("open_sizes.onnx");
    arenaut_error err = {0};
    assert_ok(try_passes(document.program, "", &err), err);
    assert_true(find_tensor(document.program, "all")->unsized);
    assert_true(find_tensor(document.program, "halved")->unsized);
    assert_int_equal(find_tensor(document.program, "all")->bytes, 0);
    arenaut_document_free(&document);
}

TEST(bound_sizes_reach_every_tensor_that_follows_from_them) {
    arenaut_document document = read_model("open_sizes.onnx");
    arenaut_error err = {0};
    arenaut_program *p = document.program;
    bind(p, "batch", 2, 2);
    bind(p, "seq", 3, 3);
    bind(p, "past", 4, 4);
    bind(p, "image.2", 10, 10); /* a size without a name gets that of its input and axis */
    bind(p, "image.3", 7, 7);
    assert_ok(try_passes(p, "", &err), err);
    assert_dims(p, "all", "2x7");
    assert_dims(p, "halved", "1x1x5x3");
    assert_dims(p, "stated", "2x5"); /* its operator is unknown, but the file states the size */
    assert_dims(p, "kept", "2x5");
    assert_true(find_tensor(p, "found")->unsized); /* only a run would tell */
    assert_false(find_tensor(p, "all")->dynamic);
    arenaut_document_free(&document);
}

TEST(a_range_of_sizes_gives_the_largest_tensors) {
    arenaut_document document = read_model("open_sizes.onnx");
    arenaut_error err = {0};
    arenaut_program *p = document.program;
    bind(p, "batch", 1, 8);
    bind(p, "seq", 3, 3);
    bind(p, "past", 0, 100);
    bind(p, "image.2", 10, 10);
    bind(p, "image.3", 7, 7);
    assert_ok(try_passes(p, "", &err), err);
    assert_dims(p, "all", "8x103");
    assert_int_equal(find_tensor(p, "all")->bytes, 8 * 103 * 4);
    assert_true(find_tensor(p, "all")->dynamic);
    assert_false(find_tensor(p, "halved")->dynamic);
    /* The symbols are as they were. */
    for (uint32_t i = 0; i < p->n_symbols; i++) {
        if (strcmp(p->symbols[i].name, "batch") == 0) assert_int_equal(p->symbols[i].max, 8);
    }
    arenaut_document_free(&document);
}

/* ---- programs made by hand ---- */

typedef struct made {
    arenaut_program *program;
    uint32_t ids[8];
    uint32_t n;
} made;

static uint32_t add(made *m, const char *name, arenaut_class cls, uint32_t rank,
                    const int64_t *dims) {
    arenaut_tensor tensor = arenaut_tensor_default();
    arenaut_error err = {0};
    tensor.name = name;
    tensor.cls = cls;
    tensor.method = 0;
    tensor.dtype = dims ? ARENAUT_DTYPE_FLOAT32 : ARENAUT_DTYPE_OTHER;
    tensor.rank = rank;
    tensor.dims = dims;
    tensor.unsized = !dims;
    tensor.bytes = 0;
    assert_ok(arenaut_program_add_tensor(m->program, &tensor, &m->ids[m->n], &err), err);
    return m->ids[m->n++];
}

/* One op over `n` inputs of these shapes, and one output, whose shape may be stated. */
static made make_op(const char *op, uint32_t n, const int64_t dims[][4], const uint32_t *ranks,
                    const int64_t *stated, uint32_t stated_rank) {
    made m = {.n = 0};
    arenaut_error err = {0};
    uint32_t output;
    assert_ok(arn_program_new(NULL, &m.program, &err), err);
    assert_ok(arn_program_set_dialect(m.program, "onnx", &err), err);
    assert_ok(arn_program_add_method(m.program, "main", true, NULL, &err), err);
    for (uint32_t i = 0; i < n; i++) add(&m, "in", ARENAUT_INPUT, ranks[i], dims[i]);
    output = add(&m, "out", ARENAUT_OUTPUT, stated_rank, stated);
    const arenaut_op row = {.name = op,
                            .kind = ARENAUT_OP_OUT,
                            .n_inputs = n,
                            .inputs = m.ids,
                            .n_outputs = 1,
                            .outputs = &output};
    assert_ok(arn_program_add_op(m.program, &row, NULL, &err), err);
    assert_ok(arenaut_program_set_method_io(m.program, 0, m.ids, n, &output, 1, &err), err);
    return m;
}

static void assert_refused(const char *op, uint32_t n, const int64_t dims[][4],
                           const uint32_t *ranks, const int64_t *stated, uint32_t stated_rank,
                           const char *told) {
    made m = make_op(op, n, dims, ranks, stated, stated_rank);
    arenaut_error err = {0};
    const arenaut_status st = try_passes(m.program, "", &err);
    if (st != ARENAUT_BAD_INPUT || !strstr(err.msg, told) || !strstr(err.msg, op)) {
        fail_msg("%s: %s: %s", op, arenaut_status_text(st), err.msg);
    }
    arn_program_free(m.program);
}

TEST(shapes_that_contradict_one_another_are_named) {
    const int64_t two_matrices[][4] = {{6, 5}, {4, 3}};
    const int64_t image_and_kernel[][4] = {{1, 4, 9, 9}, {8, 3, 3, 3}};
    const int64_t small_image[][4] = {{1, 4, 2, 2}, {8, 4, 3, 3}};
    const int64_t cube[] = {6, 5, 1};
    const uint32_t twos[] = {2, 2}, fours[] = {4, 4};
    assert_refused("Add", 2, two_matrices, twos, NULL, 0, "do not fit one another");
    assert_refused("MatMul", 2, two_matrices, twos, NULL, 0, "inner sizes");
    assert_refused("Concat", 2, two_matrices, twos, NULL, 0, "not joined");
    assert_refused("Conv", 2, image_and_kernel, fours, NULL, 0, "channels");
    assert_refused("Conv", 2, small_image, fours, NULL, 0, "window is larger");
    assert_refused("Relu", 1, two_matrices, twos, cube, 3, "of rank 2, but the file states 3");
    assert_refused("GlobalMaxPool", 1, two_matrices, twos, NULL, 0, "fewer than 3 dimensions");
}

TEST(types_that_contradict_one_another_are_named) {
    const int64_t matrix[][4] = {{6, 5}}, stated[] = {6, 5};
    const uint32_t two[] = {2};
    /* IsNaN makes booleans; the file states floats. */
    assert_refused("IsNaN", 1, matrix, two, stated, 2, "of type bool, but the file states float32");
}

/* Tools that change the inputs' sizes leave those of other tensors behind. */
TEST(stale_sizes_yield_to_inferred_ones) {
    const int64_t matrix[][4] = {{6, 5}}, stated[] = {1, 5};
    const uint32_t two[] = {2};
    made m = make_op("Relu", 1, matrix, two, stated, 2);
    arenaut_error err = {0};
    assert_ok(try_passes(m.program, "", &err), err);
    assert_dims(m.program, "out", "6x5");
    assert_int_equal(find_tensor(m.program, "out")->bytes, 120);
    arn_program_free(m.program);
}

TEST(sizes_past_63_bits_are_refused) {
    const int64_t huge[][4] = {{INT64_C(1) << 40, INT64_C(1) << 40}};
    const uint32_t two[] = {2};
    made m = make_op("Relu", 1, huge, two, NULL, 0);
    arenaut_error err = {0};
    assert_ok(try_passes(m.program, "", &err), err);
    assert_true(find_tensor(m.program, "out")->unsized);
    arn_program_free(m.program);
}

/* ---- calls ---- */

static void add_calling_op(made *m, uint32_t method, arenaut_op_kind kind, uint32_t callee,
                           uint32_t carries) {
    const uint32_t calls[] = {callee, callee};
    const arenaut_op op = {.name = "call",
                           .kind = kind,
                           .method = method,
                           .n_calls = kind == ARENAUT_OP_IF ? 2 : 1,
                           .calls = calls,
                           .n_inputs = 1,
                           .inputs = m->ids,
                           .target = carries};
    arenaut_error err = {0};
    assert_ok(arn_program_add_op(m->program, &op, NULL, &err), err);
}

/* Forty methods, each of which calls the next on both sides of a branch: 2^40 visits. */
TEST(calls_that_multiply_come_to_an_end) {
    enum { METHODS = 40 };
    made m = {.n = 0};
    arenaut_error err = {0};
    assert_ok(arn_program_new(NULL, &m.program, &err), err);
    assert_ok(arn_program_set_dialect(m.program, "onnx", &err), err);
    for (uint32_t i = 0; i < METHODS; i++) {
        assert_ok(arn_program_add_method(m.program, "m", i == 0, NULL, &err), err);
        const int64_t one[] = {1};
        if (i == 0) add(&m, "flag", ARENAUT_INPUT, 1, one);
        m.program->tensors[m.ids[0]].method = ARENAUT_NONE;
        if (i + 1 < METHODS) add_calling_op(&m, i, ARENAUT_OP_IF, i + 1, 0);
    }
    assert_ok(try_passes(m.program, "", &err), err);
    arn_program_free(m.program);
}

TEST(a_loop_cannot_carry_more_than_it_has) {
    made m = {.n = 0};
    arenaut_error err = {0};
    const int64_t one[] = {1};
    assert_ok(arn_program_new(NULL, &m.program, &err), err);
    assert_ok(arn_program_add_method(m.program, "main", true, NULL, &err), err);
    add(&m, "x", ARENAUT_INPUT, 1, one);
    add_calling_op(&m, 0, ARENAUT_OP_LOOP, 1, 4000000000u);
    assert_ok(arn_program_add_method(m.program, "body", false, NULL, &err), err);
    assert_int_equal(try_passes(m.program, "", &err), ARENAUT_BAD_INPUT);
    assert_non_null(strstr(err.msg, "carries 4000000000 values"));
    arn_program_free(m.program);
}

/* ---- memory ---- */

static arenaut_status read_and_infer(void *context, const arenaut_allocator *allocator) {
    (void)context;
    arenaut_document document = {0};
    arenaut_error err = {0};
    size_t size;
    char *bytes = load_file(TEST_DATA "/onnx/control.onnx", &size);
    arenaut_status st = try_read("onnx", bytes, size, allocator, &document, &err);
    free(bytes);
    if (st != ARENAUT_OK) return st;
    st = arn_program_bind(document.program, "N", 1, 4, &err);
    if (st == ARENAUT_OK) st = try_passes(document.program, "", &err);
    arenaut_document_free(&document);
    return st;
}

TEST(every_allocation_may_fail) { survives_every_allocation_failure(read_and_infer, NULL); }
