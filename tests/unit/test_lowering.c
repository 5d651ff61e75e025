/* Lifetimes, buffers and pools made from programs. In-place relations: test_reuse.c; whole
 * models against the runtime's own figures: test_targets.c. */
#include "support/test.h"

#include <arenaut/arenaut.h>

#include "ir/program.h"
#include "support/fuse.h"
#include "support/lowerings.h"
#include "support/programs.h"

/* x -> A -> a -> B -> b -> C -> y, with a read by C again:
 *
 *     x ─ A ─ a ─ B ─ b ─┐
 *              └───────── C ─ y
 */
static arenaut_program *skip_chain(void) {
    arenaut_program *p = new_program();
    begin_method(p, "main");
    const uint32_t x = add_tensor(p, "x", 10, ARENAUT_INPUT);
    const uint32_t a = add_tensor(p, "a", 20, ARENAUT_INTERMEDIATE);
    const uint32_t b = add_tensor(p, "b", 30, ARENAUT_INTERMEDIATE);
    const uint32_t y = add_tensor(p, "y", 40, ARENAUT_OUTPUT);
    ADD_OP(p, .name = "A", IN(x), OUT(a));
    ADD_OP(p, .name = "B", IN(a), OUT(b));
    ADD_OP(p, .name = "C", .source = "layer/c", IN(a, b), OUT(y));
    FINISH(p, LIST(x), LIST(y));
    return p;
}

TEST(a_tensor_lives_from_its_op_to_its_last_reader) {
    arenaut_program *p = skip_chain();
    arenaut_lowering *l = lower_program(p, "generic");
    expect_life(l, "x", "[0,2)");
    expect_life(l, "a", "[1,4)");
    expect_life(l, "b", "[2,4)");
    expect_life(l, "y", "[3,4)");
    free_lowering(l, p);
}

TEST(buffers_know_where_they_come_from) {
    arenaut_program *p = skip_chain();
    arenaut_lowering *l = lower_program(p, "tflite-micro");
    const uint32_t y = buffer_named(l, "y");
    assert_int_equal(l->tensor[y], 3);
    assert_int_equal(l->buffer[3], y);
    assert_int_equal(l->problem->size[y], 48); /* rounded up */
    assert_int_equal(arenaut_problem_align(l->problem, y), 16);
    assert_int_equal(arenaut_problem_class(l->problem, y), ARENAUT_OUTPUT);
    assert_string_equal(l->problem->op[y], "C");
    assert_string_equal(l->problem->source[y], "layer/c");
    assert_string_equal(l->problem->method_name[l->problem->method[y]], "main");
    assert_int_equal(l->problem->n_pools, 1);
    free_lowering(l, p);
}

TEST(steps_say_what_happens) {
    arenaut_program *p = skip_chain();
    arenaut_lowering *l = lower_program(p, "generic");
    static const uint32_t ops[] = {ARENAUT_NONE, 0, 1, 2};
    assert_int_equal(l->n_steps, COUNT_OF(ops));
    for (uint32_t k = 0; k < l->n_steps; k++) {
        assert_int_equal(l->steps[k].method, 0);
        assert_int_equal(l->steps[k].op, ops[k]);
    }
    free_lowering(l, p);
}

TEST(inputs_and_outputs_are_kept_where_the_target_says) {
    arenaut_program *p = skip_chain();
    arenaut_target target = *arenaut_target_find("generic");
    target.keep_inputs = true;
    target.keep_outputs = true;
    arenaut_lowering *l = lower_for(p, &target, NULL);
    expect_life(l, "x", "[0,4)");
    expect_life(l, "y", "[0,4)");
    free_lowering(l, p);
}

TEST(inputs_are_preserved_on_request) {
    arenaut_program *p = skip_chain();
    const arenaut_lowering_options options = {.preserve_inputs = true};
    arenaut_lowering *l = lower_for(p, arenaut_target_find("generic"), &options);
    expect_life(l, "x", "[0,4)");
    expect_life(l, "y", "[3,4)");
    free_lowering(l, p);
}

TEST(excluded_io_has_no_buffer) {
    arenaut_program *p = skip_chain();
    const arenaut_lowering_options options = {.exclude_io = true};
    arenaut_lowering *l = lower_for(p, arenaut_target_find("generic"), &options);
    expect_life(l, "x", "none");
    expect_life(l, "y", "none");
    expect_life(l, "a", "[1,4)");
    assert_int_equal(l->buffer[0], ARENAUT_NONE);
    assert_int_equal(l->problem->n_buffers, 2);
    free_lowering(l, p);
}

TEST(alignment_is_the_largest_that_anyone_asks_for) {
    arenaut_program *p = skip_chain();
    p->tensors[1].align = 128;
    const arenaut_lowering_options options = {.align = 32};
    arenaut_lowering *l = lower_for(p, arenaut_target_find("tflite-micro"), &options);
    assert_int_equal(arenaut_problem_align(l->problem, buffer_named(l, "a")), 128);
    assert_int_equal(arenaut_problem_align(l->problem, buffer_named(l, "b")), 32);
    arenaut_lowering_free(l);
    const arenaut_lowering_options odd = {.align = 48};
    arenaut_error err;
    l = NULL;
    assert_int_equal(arenaut_lower(p, arenaut_target_find("generic"), &odd, NULL, &l, &err),
                     ARENAUT_BAD_INPUT);
    assert_null(l);
    arn_program_free(p);
}

/* Each with an arena of its own, for one input. */
static arenaut_program *many_methods(uint32_t n) {
    static const arenaut_given_pool pool = {.bytes = 16};
    arenaut_program *p = new_program();
    for (uint32_t m = 0; m < n; m++) {
        begin_method(p, "m");
        const uint32_t x = add_tensor(p, "x", 16, ARENAUT_INPUT);
        p->tensors[x].given_pool = 0;
        p->tensors[x].given_offset = 0;
        ADD_OP(p, IN(x), OUT(x));
        SET_IO(p, m, LIST(x), LIST(x));
        assert_int_equal(arn_program_set_given_pools(p, m, &pool, 1, NULL), ARENAUT_OK);
    }
    finish_program(p);
    return p;
}

TEST(more_memories_than_pools_are_refused) {
    const arenaut_target *target = arenaut_target_find("executorch");
    arenaut_program *p = many_methods(ARENAUT_MAX_POOLS);
    arenaut_lowering *l = lower_for(p, target, NULL);
    assert_int_equal(l->problem->n_pools, ARENAUT_MAX_POOLS);
    free_lowering(l, p);
    p = many_methods(ARENAUT_MAX_POOLS + 1);
    l = NULL;
    arenaut_error err = {0};
    assert_int_equal(arenaut_lower(p, target, NULL, NULL, &l, &err), ARENAUT_REFUSED);
    assert_non_null(strstr(err.msg, "more than 64 memories"));
    assert_null(l);
    arn_program_free(p);
}

/* Methods that are never run take no part, so that some of very many can be planned. */
TEST(methods_that_do_not_run_have_no_buffers) {
    arenaut_program *p = many_methods(ARENAUT_MAX_POOLS + 1);
    for (uint32_t m = 0; m < p->n_methods; m++) p->methods[m].entry = m == 3 || m == 64;
    arenaut_lowering *l = lower_program(p, "executorch");
    assert_int_equal(l->problem->n_buffers, 2);
    assert_int_equal(l->problem->n_pools, 2);
    assert_int_equal(l->buffer[0], ARENAUT_NONE);
    assert_int_not_equal(l->buffer[3], ARENAUT_NONE);
    free_lowering(l, p);
}

/* x ─ DMA ─ a ─ ADD ─ y, with a view v of a that DMA2 reads: requirements of the ops hold for all
 * their arguments, and for the buffers that these are parts of. */
static arenaut_program *aligned_ops(uint64_t view_at) {
    arenaut_program *p = new_program();
    begin_method(p, "main");
    const uint32_t x = add_tensor(p, "x", 256, ARENAUT_INPUT);
    const uint32_t w = add_tensor(p, "w", 256, ARENAUT_CONSTANT);
    const uint32_t a = add_tensor(p, "a", 256, ARENAUT_INTERMEDIATE);
    const uint32_t v = add_view(p, "v", a, view_at, 64);
    const uint32_t y = add_tensor(p, "y", 256, ARENAUT_OUTPUT);
    ADD_OP(p, .name = "DMA", IN(x, w, ARENAUT_NONE), OUT(a));
    ADD_OP(p, .name = "DMA2", IN(v), OUT(ARENAUT_NONE));
    ADD_OP(p, .name = "ADD", IN(a), OUT(y));
    FINISH(p, LIST(x), LIST(y));
    return p;
}

TEST(ops_may_ask_for_an_alignment) {
    static const arenaut_align_rule table[] = {
        {"DMA", 64, false}, {"DMA2", 32, false}, {NULL, 0, false}};
    static const arenaut_align_rule own[] = {{"DMA2", 128, false}, {"SUB", 4096, false}};
    const arenaut_kernel_set base = {.name = "base", .align = table}, set = {.base = &base};
    const arenaut_target *target = arenaut_target_find("generic");
    for (int users = 0; users < 2; users++) {
        const arenaut_lowering_options options = {
            .op_align = own, .n_op_align = users ? 2 : 0, .kernels = &set};
        arenaut_program *p = aligned_ops(128);
        arenaut_lowering *l = lower_for(p, target, &options);
        assert_int_equal(arenaut_problem_align(l->problem, buffer_named(l, "x")), 64);
        assert_int_equal(arenaut_problem_align(l->problem, buffer_named(l, "a")), users ? 128 : 64);
        assert_int_equal(arenaut_problem_align(l->problem, buffer_named(l, "y")), target->align);
        free_lowering(l, p);
    }
}

/* An op that works on whole blocks: those behind the last bytes of its arguments are theirs. */
TEST(ops_may_ask_for_whole_blocks) {
    static const arenaut_align_rule rule[] = {{"DMA", 512, true}, {NULL, 0, false}};
    const arenaut_kernel_set set = {.align = rule};
    const arenaut_lowering_options options = {.kernels = &set};
    arenaut_program *p = aligned_ops(128);
    arenaut_lowering *l = lower_for(p, arenaut_target_find("generic"), &options);
    assert_int_equal(l->problem->size[buffer_named(l, "x")], 512);
    assert_int_equal(l->problem->size[buffer_named(l, "a")], 512);
    assert_int_equal(l->problem->size[buffer_named(l, "y")], 256);
    free_lowering(l, p);
}

static arenaut_error refused_alignment(arenaut_align_rule rule, uint64_t view_at) {
    const arenaut_align_rule rules[] = {rule, {NULL, 0, false}};
    const arenaut_kernel_set set = {.align = rules};
    const arenaut_lowering_options options = {.kernels = &set};
    arenaut_program *p = aligned_ops(view_at);
    arenaut_lowering *l = NULL;
    arenaut_error err = {0};
    assert_int_not_equal(arenaut_lower(p, arenaut_target_find("generic"), &options, NULL, &l, &err),
                         ARENAUT_OK);
    assert_null(l);
    arn_program_free(p);
    return err;
}

/* What follows the view in its buffer would be written over. */
TEST(a_view_with_others_behind_it_has_no_whole_blocks) {
    const arenaut_error err = refused_alignment((arenaut_align_rule){"DMA2", 128, true}, 128);
    assert_int_equal(err.code, ARENAUT_REFUSED);
    assert_non_null(strstr(err.msg, "wants its arguments to be multiples of 128"));
    assert_non_null(strstr(err.msg, "'v' is a view of 64 bytes at byte 128"));
}

TEST(an_alignment_of_ops_is_a_power_of_two) {
    const arenaut_error err = refused_alignment((arenaut_align_rule){"DMA", 48, false}, 128);
    assert_int_equal(err.code, ARENAUT_BAD_ARGUMENT);
    assert_non_null(strstr(err.msg, "op 'DMA': the alignment 48 is no power of two"));
}

/* Wherever the buffer is put, the view in it would be wrong. */
TEST(a_view_that_cannot_be_aligned_is_named) {
    static const arenaut_align_rule own = {"DMA2", 128, false};
    const arenaut_lowering_options options = {.op_align = &own, .n_op_align = 1};
    arenaut_program *p = aligned_ops(64);
    arenaut_lowering *l = NULL;
    arenaut_error err = {0};
    assert_int_equal(arenaut_lower(p, arenaut_target_find("generic"), &options, NULL, &l, &err),
                     ARENAUT_REFUSED);
    assert_non_null(strstr(err.msg, "op 'DMA2' wants its arguments at multiples of 128"));
    assert_non_null(strstr(err.msg, "'v' is a view of 64 bytes at byte 64"));
    assert_null(l);
    arn_program_free(p);
}

/* Unplanned memory: weights, empty tensors, memory of the caller's or of the op's own. */
TEST(tensors_outside_of_the_arena_have_no_buffer) {
    arenaut_program *p = new_program();
    begin_method(p, "main");
    const uint32_t x = add_tensor(p, "x", 8, ARENAUT_INPUT);
    const uint32_t w = add_tensor(p, "w", 8, ARENAUT_CONSTANT);
    const uint32_t empty = add_tensor(p, "empty", 0, ARENAUT_INTERMEDIATE);
    const uint32_t made = add_tensor(p, "made", 8, ARENAUT_INTERMEDIATE);
    const uint32_t view = add_view(p, "view", made, 4, 4);
    const uint32_t y = add_tensor(p, "y", 8, ARENAUT_OUTPUT);
    p->tensors[y].caller_owned = true;
    ADD_OP(p, .kind = ARENAUT_OP_MAKES, IN(x, w, ARENAUT_NONE), OUT(made, ARENAUT_NONE));
    ADD_OP(p, IN(view, empty), OUT(y));
    FINISH(p, LIST(x), LIST(y));
    arenaut_lowering *l = lower_program(p, "generic");
    assert_int_equal(l->problem->n_buffers, 1);
    expect_life(l, "x", "[0,2)");
    for (uint32_t t = w; t <= y; t++) assert_int_equal(l->buffer[t], ARENAUT_NONE);
    free_lowering(l, p);
}

/* b is an alias of the second half of a, and outlives it. */
TEST(views_share_a_buffer_and_its_life) {
    arenaut_program *p = new_program();
    begin_method(p, "main");
    const uint32_t x = add_tensor(p, "x", 16, ARENAUT_INPUT);
    const uint32_t a = add_tensor(p, "a", 16, ARENAUT_INTERMEDIATE);
    const uint32_t b = add_view(p, "b", a, 8, 8);
    const uint32_t c = add_tensor(p, "c", 16, ARENAUT_INTERMEDIATE);
    p->tensors[b].align = 64;
    ADD_OP(p, IN(x), OUT(a));
    ADD_OP(p, .kind = ARENAUT_OP_VIEW, IN(a), OUT(b));
    ADD_OP(p, IN(x), OUT(c));
    ADD_OP(p, .kind = ARENAUT_OP_IN_PLACE, IN(b), OUT(b));
    FINISH(p, LIST(x), LIST(b));
    arenaut_lowering *l = lower_program(p, "generic");
    expect_life(l, "a", "[1,5)");
    expect_life(l, "b", "none");
    assert_int_equal(l->buffer[b], l->buffer[a]);
    assert_int_equal(l->offset[b], 8);
    assert_int_equal(l->offset[a], 0);
    assert_int_equal(arenaut_problem_align(l->problem, l->buffer[a]), 64);
    assert_int_equal(arenaut_problem_class(l->problem, l->buffer[a]), ARENAUT_OUTPUT);
    free_lowering(l, p);
}

/* Everything at a delegate is alive while it runs, scratch too. */
TEST(a_delegate_and_scratch_are_alive_at_their_op) {
    arenaut_program *p = new_program();
    begin_method(p, "main");
    const uint32_t s = add_tensor(p, "s", 16, ARENAUT_SCRATCH); /* comes last all the same */
    const uint32_t x = add_tensor(p, "x", 16, ARENAUT_INPUT);
    const uint32_t unread = add_tensor(p, "unread", 16, ARENAUT_INTERMEDIATE);
    const uint32_t y = add_tensor(p, "y", 16, ARENAUT_OUTPUT);
    ADD_OP(p, .kind = ARENAUT_OP_DELEGATE, IN(x), OUT(unread, y), SCRATCH(s));
    ADD_OP(p, IN(y), OUT(y));
    FINISH(p, LIST(x), LIST(y));
    arenaut_lowering *l = lower_program(p, "tflite-micro");
    expect_life(l, "x", "[0,2)");
    expect_life(l, "unread", "[1,2)");
    expect_life(l, "y", "[1,3)");
    expect_life(l, "s", "[1,2)");
    assert_int_equal(buffer_named(l, "s"), 3);
    assert_int_equal(arenaut_problem_class(l->problem, 3), ARENAUT_SCRATCH);
    free_lowering(l, p);
}

/* One tensor is read without a writer, two are never touched at all. */
static arenaut_program *with_strays(void) {
    arenaut_program *p = new_program();
    begin_method(p, "main");
    const uint32_t x = add_tensor(p, "x", 16, ARENAUT_INPUT);
    add_tensor(p, "stray1", 16, ARENAUT_INTERMEDIATE);
    const uint32_t found = add_tensor(p, "found", 16, ARENAUT_INTERMEDIATE);
    add_tensor(p, "stray2", 16, ARENAUT_INTERMEDIATE);
    const uint32_t y = add_tensor(p, "y", 16, ARENAUT_OUTPUT);
    ADD_OP(p, IN(x, found), OUT(y));
    FINISH(p, LIST(x), LIST(y));
    return p;
}

TEST(untouched_tensors_conflict_with_nothing) {
    arenaut_program *p = with_strays();
    arenaut_lowering *micro = lower_program(p, "tflite-micro");
    expect_life(micro, "found", "[-1,2)");
    expect_life(micro, "stray1", "[-2,-1)");
    expect_life(micro, "stray2", "[-3,-2)");
    arenaut_lowering_free(micro);
    arenaut_lowering *generic = lower_program(p, "generic");
    expect_life(generic, "found", "[0,2)");
    expect_life(generic, "stray1", "none");
    free_lowering(generic, p);
}

/* main: a = f(x); y = IF(a) then t else e
 *       then(p): q = g(p)        else(r): s = h(r), without a reader; r is the result
 *
 * Steps: 0 main, 1 f, 2 IF, 3 then, 4 g, 5 else, 6 h. */
TEST(a_branch_runs_inside_its_op) {
    arenaut_program *p = new_program();
    begin_method(p, "main");
    const uint32_t x = add_tensor(p, "x", 16, ARENAUT_INPUT);
    const uint32_t a = add_tensor(p, "a", 16, ARENAUT_INTERMEDIATE);
    const uint32_t y = add_tensor(p, "y", 16, ARENAUT_OUTPUT);
    const uint32_t k = add_tensor(p, "k", 16, ARENAUT_SCRATCH);
    ADD_OP(p, IN(x), OUT(a));
    ADD_OP(p, .kind = ARENAUT_OP_IF, IN(a), OUT(y), CALLS(1, 2), SCRATCH(k));
    SET_IO(p, 0, LIST(x), LIST(y));
    begin_submethod(p, "then");
    const uint32_t then_in = add_tensor(p, "p", 16, ARENAUT_INTERMEDIATE);
    const uint32_t then_out = add_tensor(p, "q", 16, ARENAUT_INTERMEDIATE);
    ADD_OP(p, IN(then_in), OUT(then_out));
    SET_IO(p, 1, LIST(then_in), LIST(then_out));
    begin_submethod(p, "else");
    const uint32_t else_in = add_tensor(p, "r", 16, ARENAUT_INTERMEDIATE);
    const uint32_t unread = add_tensor(p, "s", 16, ARENAUT_INTERMEDIATE);
    ADD_OP(p, IN(else_in), OUT(unread));
    SET_IO(p, 2, LIST(else_in), LIST(else_in));
    finish_program(p);
    static const char *const targets[] = {"tflite-micro", "generic"};
    for (size_t i = 0; i < COUNT_OF(targets); i++) {
        arenaut_lowering *l = lower_program(p, targets[i]);
        assert_int_equal(l->n_steps, 7);
        expect_life(l, "x", "[0,2)");
        expect_life(l, "a", "[1,7)");
        expect_life(l, "y", "[2,7)");
        expect_life(l, "k", "[2,7)");
        expect_life(l, "p", "[3,5)");
        expect_life(l, "q", "[4,5)");
        expect_life(l, "r", "[5,7)");
        expect_life(l, "s", "[6,7)");
        assert_int_equal(l->steps[3].method, 1);
        assert_int_equal(l->steps[3].op, ARENAUT_NONE);
        assert_int_equal(l->steps[4].op, 2);
        arenaut_lowering_free(l);
    }
    arn_program_free(p);
}

/* A loop in a loop: the values of the outer one live through all of the inner one.
 * Steps: 0 main, 1 WHILE, 2 cond, 3 test, 4 body, 5 WHILE, 6 cond2, 7 body2, 8 g. */
TEST(loops_nest) {
    arenaut_program *p = new_program();
    begin_method(p, "main");
    const uint32_t x = add_tensor(p, "x", 16, ARENAUT_INPUT);
    const uint32_t y = add_tensor(p, "y", 16, ARENAUT_OUTPUT);
    ADD_OP(p, .kind = ARENAUT_OP_WHILE, IN(x), OUT(y), CALLS(1, 2));
    SET_IO(p, 0, LIST(x), LIST(y));
    begin_submethod(p, "cond");
    const uint32_t c = add_tensor(p, "c", 16, ARENAUT_INTERMEDIATE);
    const uint32_t t = add_tensor(p, "t", 16, ARENAUT_INTERMEDIATE);
    ADD_OP(p, IN(c), OUT(t));
    SET_IO(p, 1, LIST(c), LIST(t));
    begin_submethod(p, "body");
    const uint32_t b = add_tensor(p, "b", 16, ARENAUT_INTERMEDIATE);
    const uint32_t e = add_tensor(p, "e", 16, ARENAUT_INTERMEDIATE);
    ADD_OP(p, .kind = ARENAUT_OP_WHILE, IN(b), OUT(e), CALLS(3, 4));
    SET_IO(p, 2, LIST(b), LIST(e));
    begin_submethod(p, "cond2");
    const uint32_t c2 = add_tensor(p, "c2", 16, ARENAUT_INTERMEDIATE);
    SET_IO(p, 3, LIST(c2), LIST(c2));
    begin_submethod(p, "body2");
    const uint32_t b2 = add_tensor(p, "b2", 16, ARENAUT_INTERMEDIATE);
    const uint32_t e2 = add_tensor(p, "e2", 16, ARENAUT_INTERMEDIATE);
    ADD_OP(p, IN(b2), OUT(e2));
    SET_IO(p, 4, LIST(b2), LIST(e2));
    finish_program(p);
    arenaut_lowering *l = lower_program(p, "tflite-micro");
    assert_int_equal(l->n_steps, 9);
    expect_life(l, "x", "[0,9)");
    expect_life(l, "y", "[1,9)");
    expect_life(l, "c", "[2,4)");
    expect_life(l, "t", "[3,4)");
    expect_life(l, "b", "[4,9)");
    expect_life(l, "e", "[5,9)");
    expect_life(l, "c2", "[6,7)");
    expect_life(l, "b2", "[7,9)");
    expect_life(l, "e2", "[8,9)");
    free_lowering(l, p);
}

/* f is called twice with a long tensor z alive in between:
 * 0 main, 1 CALL, 2 f, 3 g, 4 h, 5 CALL, 6 f, 7 g. */
static arenaut_program *called_twice(void) {
    arenaut_program *p = new_program();
    begin_method(p, "main");
    const uint32_t x = add_tensor(p, "x", 16, ARENAUT_INPUT);
    const uint32_t a = add_tensor(p, "a", 16, ARENAUT_INTERMEDIATE);
    const uint32_t z = add_tensor(p, "z", 16, ARENAUT_INTERMEDIATE);
    const uint32_t y = add_tensor(p, "y", 16, ARENAUT_OUTPUT);
    ADD_OP(p, .kind = ARENAUT_OP_CALL, IN(x), OUT(a), CALLS(1));
    ADD_OP(p, IN(a), OUT(z));
    ADD_OP(p, .kind = ARENAUT_OP_CALL_ONCE, IN(z), OUT(y), CALLS(1));
    SET_IO(p, 0, LIST(x), LIST(y));
    begin_submethod(p, "f");
    const uint32_t in = add_tensor(p, "in", 16, ARENAUT_INTERMEDIATE);
    const uint32_t out = add_tensor(p, "out", 16, ARENAUT_INTERMEDIATE);
    ADD_OP(p, .name = "g", IN(in), OUT(out), IN_PLACE(0, 0));
    SET_IO(p, 1, LIST(in), LIST(out));
    finish_program(p);
    return p;
}

TEST(two_calls_are_two_lives_or_one_where_the_target_merges) {
    arenaut_program *p = called_twice();
    arenaut_lowering *generic = lower_program(p, "generic");
    assert_int_equal(generic->n_steps, 8);
    expect_life(generic, "in", "[2,4) [6,8)");
    expect_life(generic, "out", "[3,4) [7,8)");
    expect_life(generic, "z", "[4,8)");
    /* They meet twice, which a same-base relation cannot say. */
    expect_base(generic, "out", NULL);
    arenaut_lowering_free(generic);
    arenaut_lowering *micro = lower_program(p, "tflite-micro");
    expect_life(micro, "in", "[2,8)");
    expect_life(micro, "out", "[3,8)");
    expect_base(micro, "out", NULL);
    free_lowering(micro, p);
}

/* Both ways of these branches are one method. */
static arenaut_program *plainly_called_twice(void) {
    arenaut_program *p = new_program();
    begin_method(p, "main");
    const uint32_t c = add_tensor(p, "c", 1, ARENAUT_CONSTANT);
    const uint32_t x = add_tensor(p, "x", 16, ARENAUT_INPUT);
    const uint32_t a = add_tensor(p, "a", 16, ARENAUT_INTERMEDIATE);
    const uint32_t y = add_tensor(p, "y", 16, ARENAUT_OUTPUT);
    ADD_OP(p, .kind = ARENAUT_OP_IF, IN(c, x), OUT(a), CALLS(1, 1));
    ADD_OP(p, .kind = ARENAUT_OP_IF, IN(c, a), OUT(y), CALLS(1, 1));
    SET_IO(p, 0, LIST(x), LIST(y));
    begin_submethod(p, "body");
    const uint32_t in = add_tensor(p, "in", 16, ARENAUT_INTERMEDIATE);
    const uint32_t out = add_tensor(p, "out", 16, ARENAUT_INTERMEDIATE);
    ADD_OP(p, IN(in), OUT(out));
    SET_IO(p, 1, LIST(in), LIST(out));
    finish_program(p);
    return p;
}

/* The runtime's own view of it comes first: both ways, from the first call to the last. */
TEST(plain_calls_keep_nothing_where_that_is_wanted) {
    arenaut_program *p = plainly_called_twice();
    arenaut_lowering *micro = lower_program(p, "tflite-micro");
    assert_int_equal(micro->n_steps, 11);
    expect_life(micro, "x", "[0,6)");
    expect_life(micro, "in", "[2,11)");
    expect_life(micro, "a", "[1,11)");
    arenaut_lowering_free(micro);
    const arenaut_lowering_options options = {.apart = true};
    arenaut_lowering *apart = lower_for(p, arenaut_target_find("tflite-micro"), &options);
    assert_int_equal(apart->n_steps, 7);
    expect_life(apart, "x", "[0,3)");
    expect_life(apart, "in", "[2,4) [5,7)");
    expect_life(apart, "out", "[3,4) [6,7)");
    expect_life(apart, "a", "[3,6)");
    expect_life(apart, "y", "[6,7)");
    assert_false(apart->problem->traits & ARENAUT_PROBLEM_BRANCHES);
    arenaut_lowering_free(apart);
    p->ops[1].kind = ARENAUT_OP_WHILE; /* a loop that runs the method keeps its results */
    apart = lower_for(p, arenaut_target_find("tflite-micro"), &options);
    expect_life(apart, "out", "[3,9)");
    free_lowering(apart, p);
}

/* A right that a result has in each call it has in all. */
TEST(overlaps_hold_in_a_method_that_is_called_twice) {
    arenaut_program *p = plainly_called_twice();
    const arenaut_overlap pair = {0, 0, 4};
    p->ops[2].overlaps = &pair;
    p->ops[2].n_overlaps = 1;
    const arenaut_lowering_options apart = {.overlap = true, .apart = true};
    const arenaut_lowering_options together = {.overlap = true};
    const struct {
        const char *target;
        const arenaut_lowering_options *options;
        uint32_t n;
    } cases[] = {
        {"tflite-micro", &apart, 1}, {"generic", &together, 1}, {"tflite-micro", &together, 0}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        arenaut_lowering *l = lower_for(p, arenaut_target_find(cases[i].target), cases[i].options);
        assert_int_equal(l->problem->n_separations, cases[i].n);
        if (cases[i].n > 0) {
            assert_int_equal(l->problem->separation[0].upper, buffer_named(l, "in"));
            assert_int_equal(l->problem->separation[0].lower, buffer_named(l, "out"));
        }
        arenaut_lowering_free(l);
    }
    arn_program_free(p);
}

/* Two entry methods; each keeps a cache of the same qualified name, one also a counter. */
static arenaut_program *two_entries(void) {
    arenaut_program *p = new_program();
    for (uint32_t m = 0; m < 2; m++) {
        begin_method(p, m ? "decode" : "prefill");
        const uint32_t x = add_tensor(p, m ? "x1" : "x0", 16, ARENAUT_INPUT);
        const uint32_t cache = add_tensor(p, m ? "cache1" : "cache0", 64, ARENAUT_STATE);
        const uint32_t y = add_tensor(p, m ? "y1" : "y0", 16, ARENAUT_OUTPUT);
        p->tensors[cache].qualified_name = "layers.0.cache";
        if (m == 1) {
            const uint32_t counter = add_tensor(p, "counter", 16, ARENAUT_STATE);
            ADD_OP(p, IN(x, counter, cache), OUT(y));
        } else {
            ADD_OP(p, IN(x, cache), OUT(y));
        }
        SET_IO(p, m, LIST(x), LIST(y));
    }
    finish_program(p);
    return p;
}

TEST(entry_methods_follow_one_another_and_state_outlives_them) {
    arenaut_program *p = two_entries();
    arenaut_lowering *l = lower_program(p, "generic");
    assert_int_equal(l->n_steps, 4);
    expect_life(l, "x0", "[0,2)");
    expect_life(l, "y0", "[1,2)");
    expect_life(l, "x1", "[2,4)");
    expect_life(l, "y1", "[3,4)");
    expect_life(l, "cache0", "[0,4)");
    expect_life(l, "cache1", "none");
    expect_life(l, "counter", "[0,4)");
    assert_int_equal(l->buffer[1], l->buffer[4]); /* the two caches */
    assert_int_equal(arenaut_problem_class(l->problem, l->buffer[1]), ARENAUT_STATE);
    free_lowering(l, p);
}

TEST(state_is_not_planned_where_the_runtime_keeps_it) {
    arenaut_program *p = two_entries();
    arenaut_lowering *l = lower_program(p, "tflite-micro");
    expect_life(l, "cache0", "none");
    expect_life(l, "counter", "none");
    expect_life(l, "x0", "[0,2)");
    free_lowering(l, p);
}

/* Shared by name but never written: still one buffer, for ever. */
TEST(a_shared_buffer_that_is_only_read_is_state_too) {
    arenaut_program *p = two_entries();
    p->tensors[1].cls = p->tensors[4].cls = ARENAUT_INTERMEDIATE;
    arenaut_lowering *l = lower_program(p, "generic");
    expect_life(l, "cache0", "[0,4)");
    assert_int_equal(l->buffer[1], l->buffer[4]);
    assert_int_equal(arenaut_problem_class(l->problem, l->buffer[1]), ARENAUT_STATE);
    free_lowering(l, p);
}

TEST(a_constant_that_another_method_writes_is_state) {
    arenaut_program *p = two_entries();
    p->tensors[1].cls = ARENAUT_CONSTANT;
    arenaut_lowering *l = lower_program(p, "generic");
    expect_life(l, "cache0", "[0,4)");
    assert_int_equal(l->buffer[1], l->buffer[4]);
    assert_int_equal(arenaut_problem_class(l->problem, l->buffer[1]), ARENAUT_STATE);
    arenaut_lowering_free(l);
    p->tensors[4].cls = ARENAUT_CONSTANT; /* now it has no writer */
    l = lower_program(p, "generic");
    assert_int_equal(l->buffer[1], ARENAUT_NONE);
    assert_int_equal(l->buffer[4], ARENAUT_NONE);
    free_lowering(l, p);
}

/* A tensor of no method, written in a loop's body and read by its condition the next time
 * round: its life in the order of steps would end too early. */
TEST(a_global_tensor_touched_in_a_call_lives_throughout) {
    arenaut_program *p = new_program();
    begin_method(p, "main");
    const uint32_t x = add_tensor(p, "x", 16, ARENAUT_INPUT);
    const uint32_t y = add_tensor(p, "y", 16, ARENAUT_OUTPUT);
    const uint32_t g = add_tensor(p, "g", 16, ARENAUT_INTERMEDIATE);
    p->tensors[g].method = ARENAUT_NONE;
    ADD_OP(p, .kind = ARENAUT_OP_WHILE, IN(x), OUT(y), CALLS(1, 2));
    SET_IO(p, 0, LIST(x), LIST(y));
    begin_submethod(p, "cond");
    const uint32_t c = add_tensor(p, "c", 16, ARENAUT_INTERMEDIATE);
    ADD_OP(p, IN(g), OUT(c));
    SET_IO(p, 1, LIST(c), LIST(c));
    begin_submethod(p, "body");
    const uint32_t b = add_tensor(p, "b", 16, ARENAUT_INTERMEDIATE);
    ADD_OP(p, IN(b), OUT(g));
    ADD_OP(p, IN(b), OUT(b));
    SET_IO(p, 2, LIST(b), LIST(b));
    finish_program(p);
    static const char *const targets[] = {"tflite-micro", "generic"};
    for (size_t i = 0; i < COUNT_OF(targets); i++) {
        arenaut_lowering *l = lower_program(p, targets[i]);
        assert_int_equal(l->n_steps, 7);
        expect_life(l, "g", "[0,7)");
        arenaut_lowering_free(l);
    }
    arn_program_free(p);
}

/* a on device 1.0, b on 1.1, the rest on the host. */
static arenaut_program *on_devices(void) {
    arenaut_program *p = skip_chain();
    p->tensors[1].device.type = 1;
    p->tensors[2].device.type = 1;
    p->tensors[2].device.index = 1;
    return p;
}

TEST(devices_never_share_a_pool) {
    arenaut_program *p = on_devices();
    arenaut_lowering *l = lower_program(p, "generic");
    const arenaut_problem *problem = l->problem;
    assert_int_equal(problem->n_pools, 3);
    assert_string_equal(problem->pool[0].name, "arena");
    assert_string_equal(problem->pool[2].name, "arena.device1.1");
    assert_int_equal(arenaut_problem_pools(problem, buffer_named(l, "x")), 1);
    assert_int_equal(arenaut_problem_pools(problem, buffer_named(l, "a")), 2);
    assert_int_equal(arenaut_problem_pools(problem, buffer_named(l, "b")), 4);
    assert_int_equal(problem->pool[1].device.type, 1);
    free_lowering(l, p);
}

TEST(given_pools_serve_their_device) {
    arenaut_program *p = on_devices();
    arenaut_pool pools[] = {
        {.name = "sram", .capacity = 64},
        {.name = "gpu", .capacity = 100, .device = {1, 0}},
        {.name = "dram", .capacity = ARENAUT_UNLIMITED},
        {.name = "gpu1", .capacity = ARENAUT_UNLIMITED, .device = {1, 1}},
    };
    arenaut_lowering_options options = {.pools = pools, .n_pools = 4};
    arenaut_lowering *l = lower_for(p, arenaut_target_find("generic"), &options);
    assert_int_equal(arenaut_problem_pools(l->problem, buffer_named(l, "x")), 1 | 4);
    assert_int_equal(arenaut_problem_pools(l->problem, buffer_named(l, "a")), 2);
    assert_int_equal(arenaut_problem_pools(l->problem, buffer_named(l, "b")), 8);
    assert_int_equal(l->problem->pool[0].capacity, 64);
    arenaut_lowering_free(l);
    options.n_pools = 3;
    arenaut_error err;
    l = NULL;
    assert_int_equal(arenaut_lower(p, arenaut_target_find("generic"), &options, NULL, &l, &err),
                     ARENAUT_REFUSED);
    assert_non_null(strstr(err.msg, "'b' is of device 1.1"));
    assert_null(l);
    arn_program_free(p);
}

TEST(methods_have_arenas_of_their_own_where_the_target_says) {
    arenaut_program *p = called_twice();
    arenaut_lowering *l = lower_program(p, "litert");
    assert_int_equal(l->problem->n_pools, 2);
    assert_string_equal(l->problem->pool[1].name, "arena.method1");
    assert_int_equal(arenaut_problem_pools(l->problem, buffer_named(l, "x")), 1);
    assert_int_equal(arenaut_problem_pools(l->problem, buffer_named(l, "in")), 2);
    free_lowering(l, p);
}

TEST(a_program_without_methods_is_an_empty_problem) {
    arenaut_program *p = new_program();
    add_tensor(p, "lonely", 16, ARENAUT_STATE);
    arenaut_lowering *l = lower_program(p, "generic");
    assert_int_equal(l->n_steps, 0);
    assert_int_equal(l->problem->n_pools, 1);
    assert_int_equal(l->problem->n_buffers, 1);
    assert_false(arenaut_problem_needs_memory(l->problem, 0));
    free_lowering(l, p);
}

TEST(a_broken_program_is_refused) {
    arenaut_program *p = skip_chain();
    arenaut_lowering *l = NULL;
    arenaut_error err;
    p->tensors[2].view_of = 99;
    assert_int_equal(arenaut_lower(p, arenaut_target_find("generic"), NULL, NULL, &l, &err),
                     ARENAUT_BAD_INPUT);
    assert_null(l);
    arn_program_free(p);
}

TEST(a_size_that_cannot_be_rounded_is_an_error) {
    arenaut_program *p = skip_chain();
    arenaut_lowering *l = NULL;
    arenaut_error err;
    p->tensors[2].bytes = ARENAUT_SIZE_MAX;
    assert_int_equal(arenaut_lower(p, arenaut_target_find("tflite-micro"), NULL, NULL, &l, &err),
                     ARENAUT_TOO_LARGE);
    assert_non_null(strstr(err.msg, "'b'"));
    assert_null(l);
    arn_program_free(p);
}

/* Each method calls the next one `times` times, through `depth` of them. */
static arenaut_program *call_ladder(uint32_t depth, uint32_t times) {
    arenaut_program *p = new_program();
    for (uint32_t m = 0; m < depth; m++) {
        if (m == 0) begin_method(p, "main");
        else begin_submethod(p, NULL);
        const uint32_t x = add_tensor(p, "x", 4, ARENAUT_INTERMEDIATE);
        for (uint32_t i = 0; i < times && m + 1 < depth; i++) {
            ADD_OP(p, .kind = ARENAUT_OP_CALL, IN(x), OUT(x), CALLS(m + 1));
        }
        SET_IO(p, m, LIST(x), LIST(x));
    }
    finish_program(p);
    return p;
}

TEST(calls_that_explode_are_refused) {
    arenaut_program *p = call_ladder(60, 2);
    arenaut_lowering *l = NULL;
    arenaut_error err;
    assert_int_equal(arenaut_lower(p, arenaut_target_find("tflite-micro"), NULL, NULL, &l, &err),
                     ARENAUT_UNSUPPORTED);
    assert_non_null(strstr(err.msg, "more than 16777216 steps"));
    assert_null(l);
    arn_program_free(p);
}

/* Few enough steps, but the same long list of arguments at each. */
TEST(arguments_that_explode_are_refused) {
    enum { LONG = 1 << 10 };
    arenaut_program *p = call_ladder(20, 2);
    static uint32_t many[LONG];
    for (uint32_t i = 0; i < LONG; i++) many[i] = 19; /* the last method's tensor */
    p->methods[19].inputs = many;
    p->methods[19].n_inputs = LONG;
    arenaut_lowering *l = NULL;
    arenaut_error err;
    assert_int_equal(arenaut_lower(p, arenaut_target_find("tflite-micro"), NULL, NULL, &l, &err),
                     ARENAUT_UNSUPPORTED);
    p->methods[19].n_inputs = 1;
    l = lower_program(p, "tflite-micro"); /* and without it, fine */
    assert_int_equal(l->n_steps, (1u << 20) - 1 + (1u << 20) - 2);
    free_lowering(l, p);
}

TEST(deep_calls_need_no_deep_stack) {
    const uint32_t depth = 200000;
    arenaut_program *p = call_ladder(depth, 1);
    arenaut_lowering *l = lower_program(p, "tflite-micro");
    assert_int_equal(l->n_steps, 2 * depth - 1);
    assert_int_equal(l->problem->lifetime[0].end, 2 * depth - 1);
    free_lowering(l, p);
}

static arenaut_status lower_once(void *context, const arenaut_allocator *allocator) {
    arenaut_lowering *l = NULL;
    const arenaut_status st =
        arenaut_lower(context, arenaut_target_find("generic"), NULL, allocator, &l, NULL);
    if (st != ARENAUT_OK) assert_null(l);
    arenaut_lowering_free(l);
    return st;
}

TEST(lowering_survives_running_out_of_memory) {
    arenaut_program *programs[] = {skip_chain(), called_twice(), two_entries(), on_devices()};
    for (size_t i = 0; i < COUNT_OF(programs); i++) {
        survives_every_allocation_failure(lower_once, programs[i]);
        arn_program_free(programs[i]);
    }
}

TEST(freeing_nothing_is_fine) { arenaut_lowering_free(NULL); }
