/* In-place pairs of ops that become same-base relations of buffers, and those that must
 * not. Each case spoils one thing in a chain that is fine otherwise:
 *
 *     x ─ F ─ a ─ RELU ─ b ─ G ─ y        RELU may write b over a
 */
#include "support/test.h"

#include <arenaut/arenaut.h>

#include "ir/program.h"
#include "support/fuse.h"
#include "support/lowerings.h"
#include "support/programs.h"

enum { X, A, B, Y, SPARE };

static arenaut_program *begin_chain(void) {
    arenaut_program *p = new_program();
    begin_method(p, "main");
    add_tensor(p, "x", 16, ARENAUT_INPUT);
    add_tensor(p, "a", 16, ARENAUT_INTERMEDIATE);
    add_tensor(p, "b", 16, ARENAUT_INTERMEDIATE);
    add_tensor(p, "y", 16, ARENAUT_OUTPUT);
    add_tensor(p, "spare", 16, ARENAUT_INTERMEDIATE);
    return p;
}

static arenaut_program *end_chain(arenaut_program *p) {
    ADD_OP(p, .name = "G", IN(B), OUT(Y));
    FINISH(p, LIST(X), LIST(Y));
    return p;
}

static arenaut_program *chain(void) {
    arenaut_program *p = begin_chain();
    ADD_OP(p, .name = "F", IN(X), OUT(A));
    ADD_OP(p, .name = "RELU", IN(A), OUT(B), IN_PLACE(0, 0));
    return end_chain(p);
}

/* Lowers, asks, and frees both. The problem has passed arenaut_problem_validate. */
static void expect_b_over(arenaut_program *p, const char *base) {
    arenaut_lowering *l = lower_program(p, "generic");
    expect_base(l, "b", base);
    free_lowering(l, p);
}

TEST(a_dying_input_may_be_written_over) { expect_b_over(chain(), "a"); }

TEST(nothing_is_written_over_without_a_declared_pair) {
    arenaut_program *p = chain();
    p->ops[1].n_in_place = 0;
    expect_b_over(p, NULL);
}

TEST(a_later_reader_forbids_it) {
    arenaut_program *p = begin_chain();
    ADD_OP(p, .name = "F", IN(X), OUT(A));
    ADD_OP(p, .name = "RELU", IN(A), OUT(B), IN_PLACE(0, 0));
    ADD_OP(p, .name = "LATER", IN(A), OUT(SPARE));
    expect_b_over(end_chain(p), NULL);
}

TEST(an_earlier_reader_does_not) {
    arenaut_program *p = begin_chain();
    ADD_OP(p, .name = "F", IN(X), OUT(A));
    ADD_OP(p, .name = "EARLIER", IN(A), OUT(SPARE));
    ADD_OP(p, .name = "RELU", IN(A), OUT(B), IN_PLACE(0, 0));
    expect_b_over(end_chain(p), "a");
}

TEST(a_result_is_kept_even_at_the_last_op) {
    arenaut_program *p = begin_chain();
    ADD_OP(p, .name = "F", IN(X), OUT(A));
    ADD_OP(p, .name = "RELU", IN(A), OUT(B), IN_PLACE(0, 0));
    FINISH(p, LIST(X), LIST(A, B));
    expect_b_over(p, NULL);
}

TEST(the_child_may_be_a_result) {
    arenaut_program *p = begin_chain();
    ADD_OP(p, .name = "F", IN(X), OUT(A));
    ADD_OP(p, .name = "RELU", IN(A), OUT(B), IN_PLACE(0, 0));
    FINISH(p, LIST(X), LIST(B));
    expect_b_over(p, "a");
}

static arenaut_program *over_an_input(void) {
    arenaut_program *p = begin_chain();
    ADD_OP(p, .name = "RELU", IN(X), OUT(B), IN_PLACE(0, 0));
    FINISH(p, LIST(X), LIST(B));
    return p;
}

TEST(an_input_may_be_overwritten_unless_it_is_preserved) {
    expect_b_over(over_an_input(), "x");
    arenaut_program *p = over_an_input();
    const arenaut_lowering_options options = {.preserve_inputs = true};
    arenaut_lowering *l = lower_for(p, arenaut_target_find("generic"), &options);
    expect_base(l, "b", NULL); /* although x ends at this very op */
    free_lowering(l, p);
}

TEST(other_bytes_forbid_it) {
    static const uint64_t sizes[] = {15, 17};
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        arenaut_program *p = chain();
        p->tensors[B].bytes = sizes[i];
        expect_b_over(p, NULL);
    }
}

TEST(state_and_shared_buffers_are_never_written_over) {
    arenaut_program *p = chain();
    p->tensors[A].cls = ARENAUT_STATE;
    expect_b_over(p, NULL);
    p = chain();
    p->tensors[A].qualified_name = "a";
    expect_b_over(p, NULL);
    p = chain();
    p->tensors[B].cls = ARENAUT_STATE; /* nor do they move over another */
    expect_b_over(p, NULL);
}

TEST(a_buffer_outside_the_arena_is_no_base) {
    arenaut_program *p = chain();
    p->tensors[A].cls = ARENAUT_CONSTANT;
    expect_b_over(p, NULL);
    p = chain();
    p->tensors[A].caller_owned = true;
    expect_b_over(p, NULL);
}

TEST(devices_forbid_it) {
    arenaut_program *p = chain();
    p->tensors[B].device.index = 1;
    expect_b_over(p, NULL);
}

TEST(an_output_that_is_read_by_its_own_op_forbids_it) {
    arenaut_program *p = begin_chain();
    ADD_OP(p, .name = "F", IN(X), OUT(A));
    ADD_OP(p, .name = "RELU", IN(A, B), OUT(B), IN_PLACE(0, 0));
    expect_b_over(end_chain(p), NULL);
}

TEST(only_ordinary_ops_replace) {
    arenaut_program *p = chain();
    p->ops[1].kind = ARENAUT_OP_DELEGATE;
    expect_b_over(p, NULL);
}

/* x * x: both arguments are the same buffer. */
static arenaut_program *squared(bool both_declared) {
    static const arenaut_in_place pairs[] = {{0, 0}, {0, 1}};
    arenaut_program *p = begin_chain();
    ADD_OP(p, .name = "F", IN(X), OUT(A));
    ADD_OP(p, .name = "MUL", IN(A, A), OUT(B), .in_place = pairs,
           .n_in_place = both_declared ? 2 : 1);
    return end_chain(p);
}

TEST(the_same_buffer_twice_needs_both_positions) {
    expect_b_over(squared(true), "a");
    expect_b_over(squared(false), NULL);
}

/* RELU also reads a view of a, at another place in it. */
TEST(another_argument_in_the_buffer_forbids_it) {
    arenaut_program *p = begin_chain();
    const uint32_t half = add_view(p, "half", A, 8, 8);
    ADD_OP(p, .name = "F", IN(X), OUT(A));
    ADD_OP(p, .name = "RELU", IN(A, half), OUT(B), IN_PLACE(0, 0));
    expect_b_over(end_chain(p), NULL);
}

TEST(another_output_in_the_buffer_forbids_it) {
    arenaut_program *p = begin_chain();
    const uint32_t half = add_view(p, "half", A, 8, 8);
    ADD_OP(p, .name = "F", IN(X), OUT(A));
    ADD_OP(p, .name = "RELU", IN(A), OUT(B, half), IN_PLACE(0, 0));
    expect_b_over(end_chain(p), NULL);
}

TEST(a_view_of_the_whole_buffer_counts_as_the_buffer) {
    arenaut_program *p = begin_chain();
    const uint32_t flat = add_view(p, "flat", A, 0, 16);
    ADD_OP(p, .name = "F", IN(X), OUT(A));
    ADD_OP(p, .kind = ARENAUT_OP_VIEW, IN(A), OUT(flat));
    ADD_OP(p, .name = "RELU", IN(flat), OUT(B), IN_PLACE(0, 0));
    expect_b_over(end_chain(p), "a");
}

TEST(a_view_of_a_part_does_not) {
    arenaut_program *p = begin_chain();
    const uint32_t half = add_view(p, "half", A, 0, 8);
    p->tensors[B].bytes = 8;
    ADD_OP(p, .name = "F", IN(X), OUT(A));
    ADD_OP(p, .name = "RELU", IN(half), OUT(B), IN_PLACE(0, 0));
    expect_b_over(end_chain(p), NULL);
}

TEST(an_output_that_was_there_before_forbids_it) {
    arenaut_program *p = begin_chain();
    ADD_OP(p, .name = "F", IN(X), OUT(A, B));
    ADD_OP(p, .name = "RELU", IN(A), OUT(B), IN_PLACE(0, 0));
    expect_b_over(end_chain(p), NULL);
}

/* Two outputs want a; two inputs die for one output. */
TEST(each_base_has_one_child_and_each_child_one_base) {
    static const arenaut_in_place two_outputs[] = {{0, 0}, {1, 0}};
    arenaut_program *p = begin_chain();
    ADD_OP(p, .name = "F", IN(X), OUT(A));
    ADD_OP(p, .name = "SPLIT", IN(A), OUT(B, SPARE), .in_place = two_outputs, .n_in_place = 2);
    end_chain(p);
    arenaut_lowering *l = lower_program(p, "generic");
    expect_base(l, "b", "a");
    expect_base(l, "spare", NULL);
    free_lowering(l, p);

    static const arenaut_in_place two_inputs[] = {{0, 1}, {0, 0}};
    p = begin_chain();
    ADD_OP(p, .name = "F", IN(X), OUT(A, SPARE));
    ADD_OP(p, .name = "ADD", IN(A, SPARE), OUT(B), .in_place = two_inputs, .n_in_place = 2);
    expect_b_over(end_chain(p), "spare"); /* the first pair that holds */
}

TEST(chains_go_from_buffer_to_buffer) {
    arenaut_program *p = begin_chain();
    ADD_OP(p, .name = "F", IN(X), OUT(A), IN_PLACE(0, 0));
    ADD_OP(p, .name = "RELU", IN(A), OUT(B), IN_PLACE(0, 0));
    ADD_OP(p, .name = "G", IN(B), OUT(Y), IN_PLACE(0, 0));
    FINISH(p, LIST(X), LIST(Y));
    arenaut_lowering *l = lower_program(p, "tflite-micro");
    expect_base(l, "x", NULL);
    expect_base(l, "a", "x");
    expect_base(l, "b", "a");
    expect_base(l, "y", "b");
    free_lowering(l, p);
}

/* The pair stands at an op that never runs; another op, which has none, makes them meet. */
TEST(the_meeting_must_be_at_the_op_that_declares_it) {
    arenaut_program *p = begin_chain();
    p->tensors[A].method = p->tensors[B].method = ARENAUT_NONE;
    ADD_OP(p, .name = "F", IN(X), OUT(A));
    ADD_OP(p, .name = "CONV_2D", IN(A), OUT(B));
    end_chain(p);
    begin_submethod(p, "dead");
    ADD_OP(p, .name = "RELU", IN(A), OUT(B), IN_PLACE(0, 0));
    finish_program(p);
    expect_b_over(p, NULL);
}
