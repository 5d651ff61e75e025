/* The whole arena of a micro runtime, counted by hand for small programs, and the bytes kept of
 * each op. That the counts are those of the runtime itself, tests/pytest/test_tensor_arena.py
 * says. */
#include "support/test.h"

#include <arenaut/arenaut.h>

#include "ir/program.h"
#include "kernels/kernel_set.h"
#include "support/fuse.h"
#include "support/programs.h"

enum { X, Y, W };

/* One op on an input and weights. */
static arenaut_program *one_op(const char *name, arenaut_dtype dtype) {
    arenaut_program *p = new_program();
    begin_method(p, "main");
    add_tensor(p, "x", 16, ARENAUT_INPUT);
    add_tensor(p, "y", 16, ARENAUT_OUTPUT);
    add_tensor(p, "w", 96, ARENAUT_CONSTANT);
    ADD_OP(p, .name = name, IN(X, W), OUT(Y));
    FINISH(p, LIST(X), LIST(Y));
    static const int64_t dims[] = {6, 2, 2, 4};
    for (uint32_t t = 0; t < p->n_tensors; t++) p->tensors[t].dtype = dtype;
    p->tensors[W].dims = p->tensors[Y].dims = dims;
    p->tensors[W].rank = p->tensors[Y].rank = 4;
    return p;
}

static arenaut_result result_of(const arenaut_program *p) {
    const arenaut_target *target = arenaut_target_find("tflite-micro");
    return (arenaut_result){
        .path = "test", .program = p, .target = target, .kernels = target->kernels};
}

static arenaut_tensor_arena arena_of(const arenaut_program *p, uint64_t planned,
                                     const char *target) {
    const arenaut_result result = result_of(p);
    arenaut_tensor_arena arena;
    arenaut_error err = {0};
    assert_ok(arenaut_tensor_arena_find(&result, planned, arenaut_target_find(target), NULL, &arena,
                                        &err),
              err);
    return arena;
}

TEST(head_and_tail_are_counted_struct_by_struct) {
    arenaut_program *p = one_op("TANH", ARENAUT_DTYPE_FLOAT32);
    const arenaut_tensor_arena small = arena_of(p, 32, "tflite-micro");
    /* base, options' allocator, method, tensors, op; the kernel's 16; then, each aligned to 16, a
     * pointer and a handle for the input and for the output */
    const uint64_t before = 208 + 16;
    assert_true(116 + 8 + 8 + 3 * 12 + 32 <= 208);
    assert_true(small.tail == before + 16 + 40 + 8 + 40);
    /* requests, a method, notes of three tensors and of two that are planned */
    assert_true(small.notes == 224 + 2 * 40);
    assert_true(small.head == before + small.notes - small.tail);
    assert_true(small.total == before + small.notes);
    assert_true(small.exact && small.op == ARENAUT_NONE);
    const arenaut_tensor_arena large = arena_of(p, 4096, "tflite-micro");
    assert_true(large.head == 4096 && large.tail == small.tail);
    assert_true(large.total == (4096 + large.tail + 15) / 16 * 16);
    assert_true(arena_of(p, 4096, "tflite-micro-64").tail > large.tail);
    arn_program_free(p);
}

static void assert_parts_sum_up(const arenaut_tensor_arena *arena) {
    uint64_t sum = arena->padding;
    for (int k = 0; k < ARENAUT_TAIL_KINDS; k++) {
        assert_non_null(arenaut_tail_kind_name((arenaut_tail_kind)k));
        sum += arena->part[k];
    }
    assert_null(arenaut_tail_kind_name(ARENAUT_TAIL_KINDS));
    assert_true(sum == arena->tail);
}

TEST(the_tail_is_the_sum_of_its_parts) {
    arenaut_program *p = one_op("TANH", ARENAUT_DTYPE_FLOAT32);
    const arenaut_tensor_arena arena = arena_of(p, 32, "tflite-micro");
    assert_parts_sum_up(&arena);
    assert_true(arena.part[ARENAUT_TAIL_BASE] == 116 + 8 + 8);
    assert_true(arena.part[ARENAUT_TAIL_TENSORS] == 3 * 12);
    assert_true(arena.part[ARENAUT_TAIL_NODES] == 32);
    assert_true(arena.part[ARENAUT_TAIL_KERNELS] == 16);
    assert_true(arena.part[ARENAUT_TAIL_ARGUMENTS] == 2 * (4 + 40));
    arn_program_free(p);
}

static void add_to(arenaut_tensor_arena *arena, const arenaut_program *p, uint64_t planned) {
    const arenaut_result result = result_of(p);
    arenaut_error err = {0};
    assert_ok(arenaut_tensor_arena_add(&result, planned, result.target, NULL, arena, &err), err);
}

TEST(interpreters_share_the_largest_head_and_keep_their_tails) {
    arenaut_program *p = one_op("TANH", ARENAUT_DTYPE_FLOAT32);
    const arenaut_tensor_arena one = arena_of(p, 4096, "tflite-micro");
    arenaut_tensor_arena both = {0};
    add_to(&both, p, 4096);
    assert_true(both.total == one.total && both.tail == one.tail);
    add_to(&both, p, 1024);
    assert_int_equal(both.models, 2);
    assert_true(both.head == 4096 && both.tensors == 4096);
    assert_true(both.tail > one.tail && both.tail < 2 * one.tail);
    assert_true(both.part[ARENAUT_TAIL_BASE] == 116 + 2 * (8 + 8)); /* one allocator */
    assert_parts_sum_up(&both);
    add_to(&both, p, 8192);
    assert_true(both.head == 8192);
    arn_program_free(p);
}

TEST(notes_of_a_model_lie_below_the_tails_of_those_before) {
    arenaut_program *p = one_op("TANH", ARENAUT_DTYPE_FLOAT32);
    const arenaut_tensor_arena one = arena_of(p, 32, "tflite-micro");
    arenaut_tensor_arena both = {0};
    add_to(&both, p, 32);
    add_to(&both, p, 32);
    assert_true(one.head > 32 && both.head == one.head);
    assert_true(both.total > one.total);
    arn_program_free(p);
}

TEST(head_and_tail_may_be_two_memories) {
    arenaut_program *p = one_op("TANH", ARENAUT_DTYPE_FLOAT32);
    const arenaut_tensor_arena one = arena_of(p, 32, "tflite-micro");
    arenaut_tensor_arena apart = {.apart = true};
    add_to(&apart, p, 32);
    assert_true(apart.head == apart.notes && apart.head > one.head); /* no tail grows into it */
    assert_true(apart.part[ARENAUT_TAIL_BASE] == 128 + 8 + 8);
    assert_parts_sum_up(&apart);
    assert_true(apart.total == (apart.head + 15) / 16 * 16 + (apart.tail + 15) / 16 * 16);
    add_to(&apart, p, 4096);
    assert_true(apart.head == 4096);
    arn_program_free(p);
}

TEST(a_model_that_cannot_be_added_leaves_the_arena_as_it_was) {
    arenaut_program *p = one_op("TANH", ARENAUT_DTYPE_FLOAT32);
    const arenaut_result result = result_of(p);
    arenaut_tensor_arena arena = {0};
    arenaut_error err = {0};
    add_to(&arena, p, 64);
    const arenaut_tensor_arena before = arena;
    assert_int_equal(
        arenaut_tensor_arena_add(&result, UINT64_MAX, result.target, NULL, &arena, &err),
        ARENAUT_TOO_LARGE);
    assert_memory_equal(&arena, &before, sizeof arena);
    arn_program_free(p);
}

TEST(scales_of_arguments_take_room_while_an_op_is_prepared) {
    arenaut_program *p = one_op("CONV_2D", ARENAUT_DTYPE_INT8);
    const uint64_t before = arena_of(p, 16, "tflite-micro").total;
    p->tensors[W].n_scales = 1000;
    /* described twice */
    assert_true(arena_of(p, 16, "tflite-micro").total > before + 2 * 4 * 1000);
    arn_program_free(p);
}

TEST(quantization_of_an_argument_lies_beside_its_handle) {
    arenaut_program *p = one_op("TANH", ARENAUT_DTYPE_INT8);
    const uint64_t plain = arena_of(p, 4096, "tflite-micro").tail;
    p->tensors[Y].n_scales = 1;
    assert_true(arena_of(p, 4096, "tflite-micro").tail == plain + 12 + 2 * 4);
    arn_program_free(p);
}

static uint64_t data_of(const char *op, arenaut_dtype dtype, uint32_t n_scales) {
    arenaut_program *p = one_op(op, dtype);
    arn_persistent kept;
    p->tensors[W].n_scales = n_scales;
    assert_true(
        arn_kernel_persistent(arenaut_kernel_set_find("reference"), p, &p->ops[0], 4, 16, &kept));
    arn_program_free(p);
    return kept.data;
}

TEST(kernels_keep_numbers_for_channels_scales_and_tables) {
    const arenaut_dtype int8 = ARENAUT_DTYPE_INT8;
    assert_true(data_of("CONV_2D", int8, 6) == 64 + 2 * 32);           /* 6 channels */
    assert_true(data_of("DEPTHWISE_CONV_2D", int8, 4) == 64 + 2 * 16); /* 4: the last side */
    assert_true(data_of("FULLY_CONNECTED", int8, 1) == 48);
    assert_true(data_of("FULLY_CONNECTED", int8, 6) == 48 + 2 * 32);
    assert_true(data_of("SOFTMAX", int8, 0) + 2 * 1040 ==
                data_of("SOFTMAX", ARENAUT_DTYPE_INT16, 0));
    assert_true(data_of("LOG_SOFTMAX", ARENAUT_DTYPE_FLOAT32, 0) == 0);
    assert_true(data_of("GATHER", int8, 0) == 32); /* a shape of rank 4 */
}

TEST(an_op_of_which_nothing_is_known_makes_the_answer_a_least_one) {
    arenaut_program *p = one_op("my-own", ARENAUT_DTYPE_INT8);
    const arenaut_tensor_arena arena = arena_of(p, 32, "tflite-micro");
    assert_false(arena.exact);
    assert_int_equal(arena.op, 0);
    arn_program_free(p);
}

TEST(a_kernel_of_ones_own_keeps_what_nobody_knows) {
    arenaut_program *p = one_op("CONV_2D", ARENAUT_DTYPE_INT8);
    static const arenaut_kernel_rule rules[] = {{.op = "CONV_2D"}, {.op = NULL}};
    const arenaut_kernel_set own = {
        .name = "own", .base = arenaut_kernel_set_find("reference"), .rules = rules};
    arn_persistent kept;
    assert_false(arn_kernel_persistent(&own, p, &p->ops[0], 4, 16, &kept));
    p->ops[0].name = "ADD";
    assert_true(arn_kernel_persistent(&own, p, &p->ops[0], 4, 16, &kept));
    arn_program_free(p);
}

TEST(variables_are_counted_by_name_and_have_room_once) {
    arenaut_program *p = new_program();
    const arenaut_attribute a = {.name = "shared_name", .text = "a"};
    const arenaut_attribute b[] = {{.name = "container", .text = "a"},
                                   {.name = "shared_name", .text = "b"}};
    begin_method(p, "main");
    const uint32_t x = add_tensor(p, "x", 100, ARENAUT_INPUT);
    uint32_t handles[3];
    for (int i = 0; i < 3; i++) handles[i] = add_tensor(p, NULL, 0, ARENAUT_INTERMEDIATE);
    ADD_OP(p, .name = "VAR_HANDLE", OUT(handles[0]), .attributes = &a, .n_attributes = 1);
    ADD_OP(p, .name = "VAR_HANDLE", OUT(handles[1]), .attributes = b, .n_attributes = 2);
    ADD_OP(p, .name = "VAR_HANDLE", OUT(handles[2]), .attributes = &a, .n_attributes = 1);
    ADD_OP(p, .name = "ASSIGN_VARIABLE", IN(handles[0], x));
    const uint64_t once = arena_of(p, 4096, "tflite-micro").tail;
    ADD_OP(p, .name = "ASSIGN_VARIABLE", IN(handles[2], x));
    assert_true(arena_of(p, 4096, "tflite-micro").tail == once + 32); /* the op, not the value */
    ADD_OP(p, .name = "ASSIGN_VARIABLE", IN(handles[1], x));
    assert_true(arena_of(p, 4096, "tflite-micro").tail == once + 64 + 112);
    arn_program_free(p);
}

TEST(only_runtimes_that_live_in_the_arena_have_an_answer) {
    arenaut_program *p = one_op("TANH", ARENAUT_DTYPE_INT8);
    const arenaut_result result = result_of(p), bare = {.path = "test"};
    const arenaut_target *micro = result.target;
    arenaut_tensor_arena arena;
    arenaut_error err = {0};
    assert_int_equal(
        arenaut_tensor_arena_find(&result, 32, arenaut_target_find("litert"), NULL, &arena, &err),
        ARENAUT_BAD_ARGUMENT);
    assert_int_equal(arenaut_tensor_arena_find(&bare, 32, micro, NULL, &arena, &err),
                     ARENAUT_BAD_ARGUMENT);
    assert_int_equal(arenaut_tensor_arena_find(&result, UINT64_MAX, micro, NULL, &arena, &err),
                     ARENAUT_TOO_LARGE);
    arn_program_free(p);
}

static arenaut_status attempt(void *context, const arenaut_allocator *allocator) {
    const arenaut_result result = result_of(context);
    arenaut_tensor_arena arena;
    arenaut_error err = {0};
    return arenaut_tensor_arena_find(&result, 32, result.target, allocator, &arena, &err);
}

TEST(running_out_of_memory_is_an_error) {
    arenaut_program *p = one_op("VAR_HANDLE", ARENAUT_DTYPE_INT8);
    survives_every_allocation_failure(attempt, p);
    arn_program_free(p);
}
