/* Building and validating programs. */
#include "support/test.h"

#include <stdlib.h>

#include <arenaut/program.h>

#include "ir/program.h"
#include "support/documents.h"
#include "support/fuse.h"

/* The little program that the tests spoil:
 *
 *     main(a) -> d:   b = RELU(a)    c = IF(b) then/else    d = ADD(b, c)
 *     then(p) -> q:   q = NEG(p)     else(r) -> s:  s = ABS(r)
 */
enum { A, B, C, D, P, Q, R, S, TENSORS };
enum { MAIN, THEN, ELSE };

typedef struct spec {
    arenaut_tensor tensors[TENSORS];
    arenaut_op ops[5];
    uint32_t calls[2];
    arenaut_in_place pair;
} spec;

static const uint32_t ids[TENSORS] = {A, B, C, D, P, Q, R, S};
static const uint32_t b_and_c[] = {B, C};

static void fill(spec *s) {
    static const char *const names[] = {"a", "b", "c", "d", "p", "q", "r", "s"};
    for (uint32_t t = 0; t < TENSORS; t++) {
        s->tensors[t] = arenaut_tensor_default();
        s->tensors[t].name = names[t];
        s->tensors[t].bytes = 64;
        s->tensors[t].method = t < P ? MAIN : t < R ? THEN : ELSE;
    }
    s->calls[0] = THEN;
    s->calls[1] = ELSE;
    const arenaut_op ops[5] = {
        {.name = "RELU", .inputs = &ids[A], .n_inputs = 1, .outputs = &ids[B], .n_outputs = 1},
        {.name = "IF",
         .kind = ARENAUT_OP_IF,
         .inputs = &ids[B],
         .n_inputs = 1,
         .outputs = &ids[C],
         .n_outputs = 1,
         .calls = s->calls,
         .n_calls = 2},
        {.name = "ADD", .inputs = b_and_c, .n_inputs = 2, .outputs = &ids[D], .n_outputs = 1},
        {.name = "NEG",
         .method = THEN,
         .inputs = &ids[P],
         .n_inputs = 1,
         .outputs = &ids[Q],
         .n_outputs = 1},
        {.name = "ABS",
         .method = ELSE,
         .inputs = &ids[R],
         .n_inputs = 1,
         .outputs = &ids[S],
         .n_outputs = 1},
    };
    memcpy(s->ops, ops, sizeof ops);
}

static arenaut_program *build(const spec *s) {
    arenaut_program *p = NULL;
    assert_int_equal(arn_program_new(NULL, &p, NULL), ARENAUT_OK);
    for (uint32_t t = 0; t < TENSORS; t++) {
        assert_int_equal(arenaut_program_add_tensor(p, &s->tensors[t], NULL, NULL), ARENAUT_OK);
    }
    static const char *const names[] = {"main", "then", "else"};
    static const uint32_t ops_of[] = {3, 1, 1}, inputs[] = {A, P, R}, outputs[] = {D, Q, S};
    for (uint32_t m = 0, op = 0; m < 3; m++) {
        assert_int_equal(arn_program_add_method(p, names[m], m == 0, NULL, NULL), ARENAUT_OK);
        for (uint32_t i = 0; i < ops_of[m]; i++) {
            assert_int_equal(arn_program_add_op(p, &s->ops[op++], NULL, NULL), ARENAUT_OK);
        }
        arenaut_program_set_method_io(p, m, &inputs[m], 1, &outputs[m], 1, NULL);
    }
    return p;
}

TEST(a_program_keeps_what_it_is_given) {
    spec s;
    fill(&s);
    const int64_t dims[] = {1, 8, 8};
    s.tensors[B].dims = dims;
    s.tensors[B].rank = 3;
    arenaut_program *p = build(&s);
    s.tensors[B].name = "gone";
    assert_int_equal(arn_program_validate(p, NULL), ARENAUT_OK);
    assert_string_equal(p->tensors[B].name, "b");
    assert_memory_equal(p->tensors[B].dims, dims, sizeof dims);
    assert_int_equal(p->methods[MAIN].n_ops, 3);
    assert_int_equal(p->methods[ELSE].first_op, 4);
    assert_int_equal(p->ops[2].inputs[1], C);
    arn_program_free(p);
}

TEST(ops_of_an_older_method_are_refused) {
    spec s;
    fill(&s);
    arenaut_program *p = build(&s);
    assert_int_equal(arn_program_add_op(p, &s.ops[0], NULL, NULL), ARENAUT_BAD_ARGUMENT);
    arn_program_free(p);
}

/* The one behind is no op at all. */
TEST(numbers_of_ops_end_below_that_of_no_op) {
    spec s;
    arenaut_error err = {0};
    fill(&s);
    arenaut_program *p = build(&s);
    const uint32_t n = p->n_ops;
    s.ops[4].file_index = (arenaut_optional_id){.given = true, .id = ARENAUT_NONE};
    assert_int_equal(arn_program_add_op(p, &s.ops[4], NULL, &err), ARENAUT_BAD_ARGUMENT);
    assert_non_null(strstr(err.msg,
                           "has the number 4294967295 in its file; numbers end with "
                           "4294967294"));
    assert_int_equal(p->n_ops, n);
    s.ops[4].file_index = arenaut_id(ARENAUT_NONE - 1);
    assert_int_equal(arn_program_add_op(p, &s.ops[4], NULL, NULL), ARENAUT_OK);
    arn_program_free(p);
}

static const uint32_t ninety = 90, method_zero[2] = {MAIN, MAIN}, from_then = Q;

static void unknown_input(spec *s) { s->ops[0].inputs = &ninety; }
static void foreign_input(spec *s) { s->ops[0].inputs = &from_then; }
static void one_branch(spec *s) { s->ops[1].n_calls = 1; }
static void calls_itself(spec *s) { s->ops[1].calls = method_zero; }
static void pair_outside(spec *s) {
    s->pair = (arenaut_in_place){0, 2};
    s->ops[2].in_place = &s->pair;
    s->ops[2].n_in_place = 1;
}
static void view_outside(spec *s) {
    s->tensors[B].view_of = A;
    s->tensors[B].view_offset = 8;
}
static void view_of_view(spec *s) {
    s->tensors[B].view_of = A;
    s->tensors[C].view_of = B;
}
static void not_scratch(spec *s) {
    s->ops[0].scratch = &ids[D];
    s->ops[0].n_scratch = 1;
}
static void two_sizes(spec *s) {
    s->tensors[A].qualified_name = s->tensors[P].qualified_name = "cache.k";
    s->tensors[P].bytes = 32;
}
static void two_devices(spec *s) {
    s->tensors[A].qualified_name = s->tensors[P].qualified_name = "cache.k";
    s->tensors[P].device.type = 1;
}
/* State of both methods, of these shapes; strides may be NULL. */
static void share(spec *s, const int64_t *dims_a, uint32_t rank_a, const int64_t *strides_a,
                  const int64_t *dims_p, uint32_t rank_p, const int64_t *strides_p) {
    s->tensors[A].qualified_name = s->tensors[P].qualified_name = "cache.k";
    s->tensors[A].dims = dims_a;
    s->tensors[A].rank = rank_a;
    s->tensors[A].strides = strides_a;
    s->tensors[P].dims = dims_p;
    s->tensors[P].rank = rank_p;
    s->tensors[P].strides = strides_p;
}
static const int64_t line[] = {64}, square[] = {8, 8}, by_columns[] = {1, 8}, by_rows[] = {8, 1};
static const int64_t column[] = {64, 1}, odd_strides[] = {1, 77}, apart[] = {2};
static void two_shapes(spec *s) { share(s, line, 1, NULL, square, 2, NULL); }
static void two_layouts(spec *s) { share(s, square, 2, NULL, square, 2, by_columns); }
static void two_distances(spec *s) { share(s, line, 1, apart, line, 1, NULL); }
static void same_layout(spec *s) { share(s, square, 2, NULL, square, 2, by_rows); }
static void layout_of_one(spec *s) { share(s, column, 2, NULL, column, 2, odd_strides); }
static void shape_in_one(spec *s) { share(s, square, 2, NULL, NULL, 0, NULL); }
static void two_values(spec *s) {
    share(s, NULL, 0, NULL, NULL, 0, NULL);
    s->tensors[A].first_value = 1;
    s->tensors[P].first_value = 2;
}
static void view_elsewhere(spec *s) {
    s->tensors[B].view_of = A;
    s->tensors[B].device.type = 2;
    s->tensors[B].device.index = 1;
}
static void jump_outside(spec *s) {
    s->ops[0].kind = ARENAUT_OP_JUMP_FALSE;
    s->ops[0].target = 4;
}
static void move_of_two(spec *s) { s->ops[2].kind = ARENAUT_OP_MOVE; }
static void odd_alignment(spec *s) { s->tensors[C].align = 48; }

TEST(each_wrong_program_is_refused_by_name) {
    const struct {
        const char *words;
        void (*spoil)(spec *s);
    } cases[] = {
        {"'RELU': input 0 is tensor 90; there are 8", unknown_input},
        {"'RELU' of method 0: input 0 is tensor 'q', which belongs to method 1", foreign_input},
        {"'IF' of kind 'if' calls 1 methods; it must call 2", one_branch},
        {"calls method 0, which is running already", calls_itself},
        {"'ADD': in-place pair (output 0, input 2)", pair_outside},
        {"'b' of 64 bytes at 8 does not lie inside 'a'", view_outside},
        {"'c' is a view of 'b', which is a view itself", view_of_view},
        {"'d': is an op's scratch but not of class scratch", not_scratch},
        {"'b' of device 2.1 is a view of 'a' of device 0.0", view_elsewhere},
        {"'cache.k' has another size in method 'then', tensor 'p' (32 bytes) than in method "
         "'main', "
         "tensor 'a' (64 bytes)",
         two_sizes},
        {"'cache.k' has another device in method 'then', tensor 'p' (1.0) than in method 'main', "
         "tensor 'a' (0.0)",
         two_devices},
        {"another shape in method 'then', tensor 'p' ([8, 8]) than in method 'main', tensor 'a' "
         "([64])",
         two_shapes},
        {"other strides in method 'then', tensor 'p' ([1, 8]) than in method 'main', tensor 'a' "
         "(dense)",
         two_layouts},
        {"tensor 'p' (dense) than in method 'main', tensor 'a' ([2])", two_distances},
        {"another initial value in method 'then'", two_values},
        {"'RELU' jumps to op 4 of its method, which has 3", jump_outside},
        {"'ADD' moves 2 tensors to 1; it must move one to one", move_of_two},
        {"'c': its alignment is not a power of two", odd_alignment},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        spec s;
        fill(&s);
        cases[i].spoil(&s);
        arenaut_program *p = build(&s);
        arenaut_error err = {0};
        const arenaut_status st = arn_program_validate(p, &err);
        if (st != ARENAUT_BAD_INPUT || !strstr(err.msg, cases[i].words)) {
            fail_msg("wanted '%s', got status %d '%s'", cases[i].words, st, err.msg);
        }
        arn_program_free(p);
    }
}

/* Facts that only one of them states, and strides of nothing, are no difference. */
TEST(one_state_may_be_stated_in_several_forms) {
    static void (*const ways[])(spec *) = {same_layout, layout_of_one, shape_in_one};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        spec s;
        arenaut_error err = {0};
        fill(&s);
        ways[i](&s);
        arenaut_program *p = build(&s);
        assert_int_equal(arn_program_validate(p, &err), ARENAUT_OK);
        arn_program_free(p);
    }
}

TEST(dense_sizes_round_bits_up_and_never_wrap) {
    uint64_t bytes = 1;
    const int64_t five[] = {5}, huge[] = {INT64_MAX, 4}, none[] = {INT64_MAX, 0, INT64_MAX};
    const int64_t negative[] = {3, -1};
    assert_int_equal(arenaut_dense_bytes(ARENAUT_DTYPE_INT4, five, 1, &bytes, NULL), ARENAUT_OK);
    assert_int_equal(bytes, 3);
    assert_int_equal(arenaut_dense_bytes(ARENAUT_DTYPE_FLOAT32, NULL, 0, &bytes, NULL), ARENAUT_OK);
    assert_int_equal(bytes, 4);
    assert_int_equal(arenaut_dense_bytes(ARENAUT_DTYPE_INT8, none, 3, &bytes, NULL), ARENAUT_OK);
    assert_int_equal(bytes, 0);
    assert_int_equal(arenaut_dense_bytes(ARENAUT_DTYPE_INT8, huge, 2, &bytes, NULL),
                     ARENAUT_TOO_LARGE);
    assert_int_equal(arenaut_dense_bytes(ARENAUT_DTYPE_INT8, negative, 2, &bytes, NULL),
                     ARENAUT_BAD_INPUT);
    assert_int_equal(arenaut_dense_bytes(ARENAUT_DTYPE_STRING, five, 1, &bytes, NULL),
                     ARENAUT_UNSUPPORTED);
}

/* ---- copies ---- */

static arenaut_document read_data(const char *name) {
    size_t size;
    arenaut_document document = {0};
    arenaut_error err = {0};
    char *data = data_text(&size, "%s", name);
    assert_ok(try_read(NULL, data, size, NULL, &document, &err), err);
    free(data);
    return document;
}

/* Parts that assert_same_program does not compare. */
static uint64_t hash_rest(const arenaut_program *p) {
    uint64_t hash = arn_program_fingerprint(p);
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        const arenaut_tensor *tensor = &p->tensors[t];
        for (uint32_t i = 0; i < tensor->n_values; i++) {
            hash = hash * 31 + (uint64_t)tensor->values[i];
        }
        hash = hash * 31 + tensor->first_value + tensor->n_scales + tensor->file_index;
    }
    for (uint32_t i = 0; i < p->n_ops; i++) {
        const arenaut_op *op = &p->ops[i];
        for (uint32_t k = 0; k < op->n_attributes; k++) {
            const arenaut_attribute *a = &op->attributes[k];
            for (uint32_t n = 0; n < a->n_numbers; n++) hash = hash * 31 + (uint64_t)a->numbers[n];
            hash = hash * 31 + strlen(a->name) + (a->text ? strlen(a->text) : 0);
        }
    }
    return hash;
}

/* Nothing that the copy points to is the original's. */
static void expect_apart(const arenaut_program *a, const arenaut_program *b) {
    for (uint32_t t = 0; t < a->n_tensors; t++) {
        const arenaut_tensor *one = &a->tensors[t], *other = &b->tensors[t];
        assert_true(!one->name || one->name != other->name);
        assert_true(!one->dims || one->dims != other->dims);
        assert_true(!one->values || one->values != other->values);
    }
    for (uint32_t i = 0; i < a->n_ops; i++) {
        const arenaut_op *one = &a->ops[i], *other = &b->ops[i];
        assert_true(!one->name || one->name != other->name);
        assert_true(!one->inputs || one->inputs != other->inputs);
        assert_true(!one->attributes || one->attributes != other->attributes);
    }
}

static const char *const files[] = {
    "json/everything.program.json",
    "onnx/open_sizes.onnx",
    "onnx/control.onnx",
    "pt2/sizes.pt2",
    "pt2/gradients.pt2",
    "pte/kv_decoder.pte",
    "tvm/views.json",
    "inception_int8.tflite",
};

TEST(a_copy_is_the_same_program_and_stands_by_itself) {
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        arenaut_document document = read_data(files[f]);
        arenaut_error err = {0};
        arenaut_program *copy = NULL, *again = NULL;
        const uint64_t rest = hash_rest(document.program);
        assert_ok(arn_program_copy(document.program, NULL, &copy, &err), err);
        expect_apart(document.program, copy);
        assert_same_program(document.program, copy);
        arenaut_document_free(&document);
        assert_ok(arn_program_validate(copy, &err), err);
        assert_true(rest == hash_rest(copy));
        assert_ok(arn_program_copy(copy, NULL, &again, &err), err);
        assert_ok(arenaut_program_add_tensor(copy, &again->tensors[0], NULL, &err), err);
        assert_int_equal(again->n_tensors + 1, copy->n_tensors);
        arn_program_free(copy);
        arn_program_free(again);
    }
}

static arenaut_status copy_with(void *context, const arenaut_allocator *allocator) {
    arenaut_program *copy = NULL;
    arenaut_error err = {0};
    const arenaut_status st = arn_program_copy(context, allocator, &copy, &err);
    if (st != ARENAUT_OK) assert_null(copy);
    arn_program_free(copy);
    return st;
}

TEST(any_allocation_of_a_copy_may_fail) {
    for (size_t f = 0; f < 4; f++) {
        arenaut_document document = read_data(files[f]);
        survives_every_allocation_failure(copy_with, document.program);
        arenaut_document_free(&document);
    }
}
