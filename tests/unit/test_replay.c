/* Replay of one method: programs on a shadow arena. Wrong placements by hand, each with its rule;
 * right ones that only look wrong. test_replay_calls.c, _flow.c and _random.c have the rest. */
#include "support/replay_scene.h"

/* ---- plain ops ---- */

/*  x ─CONV─ a ─RELU─ b ─CONV─ y  */
typedef struct chain {
    uint32_t x, a, b, y, relu;
} chain;

static chain open_chain(scene *s) {
    chain c;
    open_scene(s);
    begin_method(s->p, "main");
    c.x = input(s, "x");
    c.a = value(s, "a");
    c.b = value(s, "b");
    c.y = output(s, "y");
    ADD_OP(s->p, .name = "CONV_2D", IN(c.x), OUT(c.a));
    c.relu = ADD_OP(s->p, .name = "RELU", IN(c.a), OUT(c.b), IN_PLACE(0, 0));
    ADD_OP(s->p, .name = "CONV_2D", IN(c.b), OUT(c.y));
    FINISH(s->p, LIST(c.x), LIST(c.y));
    return c;
}

TEST(every_tensor_apart_is_fine) {
    scene s;
    (void)open_chain(&s);
    expect(&s, ARENAUT_RULE_NONE);
    close_scene(&s);
}

TEST(memory_may_be_used_again_after_the_last_read) {
    scene s;
    const chain c = open_chain(&s);
    put(&s, c.b, c.x, 0);
    put(&s, c.y, c.a, 0);
    expect(&s, ARENAUT_RULE_NONE);
    s.options.keep_inputs = true;
    expect_at(&s, ARENAUT_RULE_CLOBBERED, ARENAUT_NONE, c.x, c.b);
    close_scene(&s);
}

TEST(a_declared_pair_may_lie_in_place) {
    scene s;
    const chain c = open_chain(&s);
    put(&s, c.b, c.a, 0);
    expect(&s, ARENAUT_RULE_NONE);
    close_scene(&s);
}

TEST(a_convolution_in_place_is_rejected) {
    scene s;
    const chain c = open_chain(&s);
    put(&s, c.y, c.b, 0);
    expect_at(&s, ARENAUT_RULE_ARGUMENTS, 2, c.b, c.y);
    assert_int_equal(s.finding.first, s.offset[c.b]);
    assert_int_equal(s.finding.end, s.offset[c.b] + 16);
    assert_non_null(strstr(s.finding.msg, "CONV_2D"));
    close_scene(&s);
}

TEST(a_pair_at_another_offset_is_rejected) {
    scene s;
    const chain c = open_chain(&s);
    s.offset[c.a] = 512;
    put(&s, c.b, c.a, 8);
    expect_at(&s, ARENAUT_RULE_ARGUMENTS, c.relu, c.a, c.b);
    s.offset[c.b] = 504;
    expect_at(&s, ARENAUT_RULE_ARGUMENTS, c.relu, c.a, c.b);
    close_scene(&s);
}

/* A cast to a wider type reads element 1 after it wrote element 0 over it. */
TEST(an_output_longer_than_its_input_is_not_in_place) {
    scene s;
    const chain c = open_chain(&s);
    s.p->tensors[c.a].bytes = 8;
    put(&s, c.b, c.a, 0);
    expect_at(&s, ARENAUT_RULE_ARGUMENTS, c.relu, c.a, c.b);
    s.p->tensors[c.a].bytes = 16;
    s.p->tensors[c.b].bytes = 8;
    expect(&s, ARENAUT_RULE_NONE);
    close_scene(&s);
}

TEST(a_chain_in_one_place_is_fine) {
    scene s;
    open_scene(&s);
    begin_method(s.p, "main");
    uint32_t t[6];
    t[0] = input(&s, "x");
    for (uint32_t i = 1; i < 6; i++) {
        t[i] = value(&s, NULL);
        s.offset[t[i]] = 0;
        ADD_OP(s.p, IN(t[i - 1]), OUT(t[i]), IN_PLACE(0, 0));
    }
    FINISH(s.p, LIST(t[0]), LIST(t[5]));
    s.offset[t[0]] = 0;
    expect(&s, ARENAUT_RULE_NONE);
    close_scene(&s);
}

/*  x ─RELU─ a ─ADD─ y
 *  └──────────┘        x is read after the RELU */
TEST(in_place_over_a_tensor_that_is_read_later_is_rejected) {
    scene s;
    open_scene(&s);
    begin_method(s.p, "main");
    const uint32_t x = input(&s, "x"), a = value(&s, "a"), y = output(&s, "y");
    ADD_OP(s.p, .name = "RELU", IN(x), OUT(a), IN_PLACE(0, 0));
    const uint32_t add = ADD_OP(s.p, .name = "ADD", IN(x, a), OUT(y));
    FINISH(s.p, LIST(x), LIST(y));
    put(&s, a, x, 0);
    expect_at(&s, ARENAUT_RULE_CLOBBERED, add, x, a);
    close_scene(&s);
}

/* x * x over x: each position needs a pair of its own. */
TEST(the_same_operand_twice_needs_two_pairs) {
    for (uint32_t n_pairs = 1; n_pairs <= 2; n_pairs++) {
        scene s;
        open_scene(&s);
        begin_method(s.p, "main");
        const uint32_t x = input(&s, "x"), y = output(&s, "y");
        const arenaut_in_place pairs[] = {{0, 0}, {0, 1}};
        ADD_OP(s.p, .name = "MUL", IN(x, x), OUT(y), .in_place = pairs, .n_in_place = n_pairs);
        FINISH(s.p, LIST(x), LIST(y));
        put(&s, y, x, 0);
        expect(&s, n_pairs == 2 ? ARENAUT_RULE_NONE : ARENAUT_RULE_ARGUMENTS);
        close_scene(&s);
    }
}

TEST(an_output_over_a_tensor_still_needed_is_rejected) {
    scene s;
    open_scene(&s);
    begin_method(s.p, "main");
    const uint32_t x = input(&s, "x"), a = value(&s, "a"), b = value(&s, "b"), y = output(&s, "y");
    ADD_OP(s.p, IN(x), OUT(a));
    ADD_OP(s.p, IN(x), OUT(b));
    ADD_OP(s.p, IN(a, b), OUT(y));
    FINISH(s.p, LIST(x), LIST(y));
    put(&s, b, a, 12);
    expect_at(&s, ARENAUT_RULE_CLOBBERED, 2, a, b);
    assert_int_equal(s.finding.first, s.offset[a] + 12);
    assert_int_equal(s.finding.end, s.offset[a] + 16);
    close_scene(&s);
}

TEST(outputs_of_one_op_must_be_apart) {
    scene s;
    open_scene(&s);
    begin_method(s.p, "main");
    const uint32_t x = input(&s, "x"), a = output(&s, "a"), b = output(&s, "b");
    ADD_OP(s.p, .name = "SPLIT", IN(x), OUT(a, b));
    FINISH(s.p, LIST(x), LIST(a));
    put(&s, b, a, 8); /* although b has no reader */
    expect_at(&s, ARENAUT_RULE_ARGUMENTS, 0, b, a);
    close_scene(&s);
}

TEST(scratch_is_apart_from_its_ops_arguments) {
    scene s;
    open_scene(&s);
    begin_method(s.p, "main");
    const uint32_t x = input(&s, "x"), y = output(&s, "y"), z = output(&s, "z"),
                   w = scratch(&s, "w"), v = scratch(&s, "v");
    ADD_OP(s.p, .name = "SVDF", IN(x), OUT(y), SCRATCH(w, v));
    ADD_OP(s.p, IN(y), OUT(z));
    FINISH(s.p, LIST(x), LIST(z));
    put(&s, w, z, 0);
    expect(&s, ARENAUT_RULE_NONE);
    put(&s, w, x, 0);
    expect_at(&s, ARENAUT_RULE_ARGUMENTS, 0, x, w);
    put(&s, w, y, 4);
    expect_at(&s, ARENAUT_RULE_ARGUMENTS, 0, w, y);
    put(&s, w, v, 4);
    expect_at(&s, ARENAUT_RULE_ARGUMENTS, 0, v, w);
    close_scene(&s);
}

TEST(scratch_over_a_living_tensor_is_rejected) {
    scene s;
    open_scene(&s);
    begin_method(s.p, "main");
    const uint32_t x = input(&s, "x"), a = value(&s, "a"), y = output(&s, "y"),
                   w = scratch(&s, "w");
    ADD_OP(s.p, IN(x), OUT(a), SCRATCH(w));
    ADD_OP(s.p, IN(x, a), OUT(y));
    const uint32_t z = output(&s, "z"), v = scratch(&s, "v");
    ADD_OP(s.p, IN(y), OUT(z), SCRATCH(v));
    FINISH(s.p, LIST(x), LIST(z, a));
    put(&s, v, a, 0);
    expect_at(&s, ARENAUT_RULE_CLOBBERED, ARENAUT_NONE, a, v);
    close_scene(&s);
}

TEST(a_result_must_last_to_the_end) {
    scene s;
    open_scene(&s);
    begin_method(s.p, "main");
    const uint32_t x = input(&s, "x"), y = output(&s, "y"), z = value(&s, "z");
    ADD_OP(s.p, IN(x), OUT(y));
    ADD_OP(s.p, IN(x), OUT(z));
    FINISH(s.p, LIST(x), LIST(y));
    put(&s, z, y, 0);
    expect_at(&s, ARENAUT_RULE_CLOBBERED, ARENAUT_NONE, y, z);
    close_scene(&s);
}

TEST(inputs_of_a_method_must_be_apart) {
    scene s;
    open_scene(&s);
    begin_method(s.p, "main");
    const uint32_t x = input(&s, "x"), w = input(&s, "w"), y = output(&s, "y");
    ADD_OP(s.p, IN(x), OUT(y));
    FINISH(s.p, LIST(x, w), LIST(y));
    put(&s, w, x, 15); /* w has no reader, but which of them is filled in last is open */
    expect_at(&s, ARENAUT_RULE_ARGUMENTS, ARENAUT_NONE, w, x);
    close_scene(&s);
}

TEST(reading_what_nobody_wrote_is_rejected) {
    scene s;
    open_scene(&s);
    begin_method(s.p, "main");
    const uint32_t x = input(&s, "x"), a = value(&s, "a"), y = output(&s, "y");
    ADD_OP(s.p, IN(x, a), OUT(y));
    FINISH(s.p, LIST(x), LIST(y));
    expect_at(&s, ARENAUT_RULE_UNWRITTEN, 0, a, ARENAUT_NONE);
    close_scene(&s);
}

/* ---- places ---- */

TEST(a_tensor_past_its_arena_is_rejected) {
    scene s;
    const chain c = open_chain(&s);
    s.arena[0] = 64;
    expect(&s, ARENAUT_RULE_NONE);
    s.offset[c.a] = 49;
    expect_at(&s, ARENAUT_RULE_OUTSIDE, 0, c.a, ARENAUT_NONE);
    s.offset[c.a] = UINT64_MAX - 1;
    expect_at(&s, ARENAUT_RULE_OUTSIDE, 0, c.a, ARENAUT_NONE);
    s.offset[c.a] = 0;
    s.pool[c.a] = 2;
    expect_at(&s, ARENAUT_RULE_OUTSIDE, 0, c.a, ARENAUT_NONE);
    close_scene(&s);
}

TEST(a_tensor_without_place_is_rejected) {
    scene s;
    const chain c = open_chain(&s);
    s.pool[c.b] = ARENAUT_NONE;
    expect_at(&s, ARENAUT_RULE_NO_PLACE, c.relu, c.b, ARENAUT_NONE);
    close_scene(&s);
}

TEST(callers_own_memory_is_left_alone) {
    scene s;
    const chain c = open_chain(&s);
    s.pool[c.x] = s.pool[c.y] = ARENAUT_NONE;
    expect(&s, ARENAUT_RULE_NO_PLACE);
    s.options.exclude_io = true;
    expect(&s, ARENAUT_RULE_NONE);
    s.options.exclude_io = false;
    s.p->tensors[c.x].caller_owned = s.p->tensors[c.y].caller_owned = true;
    expect(&s, ARENAUT_RULE_NONE);
    s.pool[c.x] = s.pool[c.y] = 0; /* its stated place means nothing */
    put(&s, c.y, c.x, 0);
    put(&s, c.a, c.x, 0);
    expect(&s, ARENAUT_RULE_NONE);
    close_scene(&s);
}

TEST(pools_are_apart) {
    scene s;
    const chain c = open_chain(&s);
    put(&s, c.y, c.b, 0);
    s.pool[c.y] = 1;
    expect(&s, ARENAUT_RULE_NONE);
    close_scene(&s);
}

TEST(constants_and_empty_tensors_need_no_place) {
    scene s;
    open_scene(&s);
    begin_method(s.p, "main");
    const uint32_t x = input(&s, "x"), y = output(&s, "y"),
                   w = add_tensor(s.p, "w", 16, ARENAUT_CONSTANT),
                   h = add_tensor(s.p, "h", 0, ARENAUT_INTERMEDIATE);
    ADD_OP(s.p, .name = "VAR_HANDLE", OUT(h));
    ADD_OP(s.p, IN(x, w, h, ARENAUT_NONE), OUT(y));
    FINISH(s.p, LIST(x), LIST(y));
    s.pool[w] = s.pool[h] = ARENAUT_NONE;
    expect(&s, ARENAUT_RULE_NONE);
    s.pool[w] = 0;
    put(&s, w, x, 0);
    expect(&s, ARENAUT_RULE_NONE);
    close_scene(&s);
}

TEST(an_op_that_brings_its_own_memory_is_left_alone) {
    scene s;
    open_scene(&s);
    begin_method(s.p, "main");
    const uint32_t x = input(&s, "x"), m = value(&s, "m"), y = output(&s, "y");
    ADD_OP(s.p, .kind = ARENAUT_OP_MAKES, IN(x), OUT(m));
    ADD_OP(s.p, IN(m), OUT(y));
    FINISH(s.p, LIST(x), LIST(y));
    s.pool[m] = ARENAUT_NONE;
    expect(&s, ARENAUT_RULE_NONE);
    close_scene(&s);
}

TEST(tensors_that_nothing_touches_conflict_with_nothing) {
    scene s;
    const chain c = open_chain(&s);
    const uint32_t dangling = value(&s, "dangling"), other = value(&s, "other");
    put(&s, dangling, c.a, 0);
    put(&s, other, c.a, 4);
    s.p->tensors[other].bytes = MAX_TENSORS * 32; /* it would not even fit */
    expect(&s, ARENAUT_RULE_NONE);
    close_scene(&s);
}

/* ---- views and updates ---- */

/*  x ─CONV─ a ─RESHAPE─ v ─CONV─ y, v being a name for bytes [4, 12) of a */
TEST(views_follow_their_storage) {
    scene s;
    open_scene(&s);
    begin_method(s.p, "main");
    const uint32_t x = input(&s, "x"), a = value(&s, "a"), v = add_view(s.p, "v", a, 4, 8),
                   b = value(&s, "b"), y = output(&s, "y");
    ADD_OP(s.p, IN(x), OUT(a));
    ADD_OP(s.p, .name = "RESHAPE", .kind = ARENAUT_OP_VIEW, IN(a), OUT(v));
    ADD_OP(s.p, IN(x), OUT(b));
    ADD_OP(s.p, IN(v), OUT(y));
    FINISH(s.p, LIST(x), LIST(y));
    put(&s, v, a, 4);
    expect(&s, ARENAUT_RULE_NONE);
    s.pool[v] = ARENAUT_NONE; /* then it lies where its storage does */
    expect(&s, ARENAUT_RULE_NONE);
    put(&s, b, a, 12); /* past the view */
    expect(&s, ARENAUT_RULE_NONE);
    put(&s, b, a, 11);
    expect_at(&s, ARENAUT_RULE_CLOBBERED, 3, v, b);
    close_scene(&s);
}

TEST(an_alias_at_the_wrong_offset_is_rejected) {
    scene s;
    open_scene(&s);
    begin_method(s.p, "main");
    const uint32_t x = input(&s, "x"), a = value(&s, "a"), v = add_view(s.p, "v", a, 4, 8),
                   y = output(&s, "y");
    ADD_OP(s.p, IN(x), OUT(a));
    ADD_OP(s.p, .kind = ARENAUT_OP_VIEW, IN(a), OUT(v));
    ADD_OP(s.p, IN(v), OUT(y));
    FINISH(s.p, LIST(x), LIST(y));
    put(&s, v, a, 0);
    expect_at(&s, ARENAUT_RULE_CLOBBERED, 2, v, a);
    close_scene(&s);
}

/* Two halves written into one storage, read as a whole. */
TEST(a_concat_in_place_is_fine) {
    scene s;
    open_scene(&s);
    begin_method(s.p, "main");
    const uint32_t x = input(&s, "x"), whole = value(&s, "whole"),
                   left = add_view(s.p, "left", whole, 0, 8),
                   right = add_view(s.p, "right", whole, 8, 8), y = output(&s, "y");
    ADD_OP(s.p, IN(x), OUT(left));
    ADD_OP(s.p, IN(x), OUT(right));
    ADD_OP(s.p, .kind = ARENAUT_OP_VIEW, IN(left, right), OUT(whole));
    ADD_OP(s.p, IN(whole), OUT(y));
    FINISH(s.p, LIST(x), LIST(y));
    put(&s, left, whole, 0);
    put(&s, right, whole, 8);
    expect(&s, ARENAUT_RULE_NONE);
    s.p->ops[1].outputs = s.p->ops[0].outputs; /* the right half stays empty */
    expect_at(&s, ARENAUT_RULE_UNWRITTEN, 3, whole, ARENAUT_NONE);
    close_scene(&s);
}

TEST(an_update_in_place_keeps_its_tensor) {
    scene s;
    open_scene(&s);
    begin_method(s.p, "main");
    const uint32_t x = input(&s, "x"), acc = value(&s, "acc"),
                   after = add_view(s.p, "after", acc, 0, 16), y = output(&s, "y");
    ADD_OP(s.p, IN(x), OUT(acc));
    ADD_OP(s.p, .name = "add_", .kind = ARENAUT_OP_IN_PLACE, IN(acc, x), OUT(after));
    ADD_OP(s.p, IN(after, acc), OUT(y));
    FINISH(s.p, LIST(x), LIST(y));
    put(&s, after, acc, 0);
    expect(&s, ARENAUT_RULE_NONE);
    close_scene(&s);
}

/* The kernel writes through its input's address, wherever the plan says the output is. */
TEST(an_update_placed_apart_from_its_input_is_rejected) {
    scene s;
    open_scene(&s);
    begin_method(s.p, "main");
    const uint32_t x = input(&s, "x"), a = value(&s, "a"), y = output(&s, "y");
    ADD_OP(s.p, IN(x), OUT(a));
    ADD_OP(s.p, .name = "relu_", .kind = ARENAUT_OP_IN_PLACE, IN(a), OUT(y), IN_PLACE(0, 0));
    FINISH(s.p, LIST(x), LIST(y));
    expect_at(&s, ARENAUT_RULE_UNWRITTEN, ARENAUT_NONE, y, ARENAUT_NONE);
    put(&s, y, a, 0);
    expect(&s, ARENAUT_RULE_NONE);
    close_scene(&s);
}

/* The pairs say which results are operands; the others are tensors of their own, which lie apart
 * from all that the op reads. */
TEST(an_update_writes_results_of_its_own) {
    scene s;
    open_scene(&s);
    begin_method(s.p, "main");
    const uint32_t x = input(&s, "x"), a = value(&s, "a"), b = value(&s, "b"),
                   own = value(&s, "own"), after = add_view(s.p, "after", a, 0, 16),
                   y = output(&s, "y");
    ADD_OP(s.p, IN(x), OUT(a, b));
    ADD_OP(s.p, .name = "two", .kind = ARENAUT_OP_IN_PLACE, IN(a, b), OUT(own, after),
           IN_PLACE(1, 0));
    ADD_OP(s.p, IN(own, after), OUT(y));
    FINISH(s.p, LIST(x), LIST(y));
    put(&s, after, a, 0);
    expect(&s, ARENAUT_RULE_NONE);
    put(&s, own, b, 0);
    expect(&s, ARENAUT_RULE_ARGUMENTS);
    put(&s, own, a, 0);
    expect(&s, ARENAUT_RULE_ARGUMENTS);
    put(&s, own, x, 0);
    expect(&s, ARENAUT_RULE_NONE);
    close_scene(&s);
}

/* ---- delegates ---- */

TEST(a_delegates_arguments_must_be_apart) {
    scene s;
    open_scene(&s);
    begin_method(s.p, "main");
    const uint32_t x = input(&s, "x"), y = output(&s, "y");
    ADD_OP(s.p, .name = "xnnpack", .kind = ARENAUT_OP_DELEGATE, IN(x), OUT(y), IN_PLACE(0, 0));
    FINISH(s.p, LIST(x), LIST(y));
    expect(&s, ARENAUT_RULE_NONE);
    put(&s, y, x, 0); /* a pair is no help: everything is touched at once */
    expect_at(&s, ARENAUT_RULE_ARGUMENTS, 0, x, y);
    close_scene(&s);
}

/* Vela's file: one custom op, its input, output and two scratch tensors all at offset 0. The
 * scratch tensors are inputs that no op fills; two more tensors dangle. */
TEST(velas_aliased_file_is_accepted) {
    scene s;
    open_scene(&s);
    begin_method(s.p, "main");
    const uint32_t x = input(&s, "x"), y = output(&s, "y"),
                   stream = add_tensor(s.p, "stream", 64, ARENAUT_CONSTANT),
                   w = add_tensor(s.p, "scratch", 128, ARENAUT_INTERMEDIATE),
                   f = add_tensor(s.p, "scratch_fast", 128, ARENAUT_INTERMEDIATE);
    (void)value(&s, "dangling");
    const uint32_t op = ADD_OP(s.p, .name = "ethos-u", .kind = ARENAUT_OP_DELEGATE,
                               IN(stream, w, f, x), OUT(y), .arguments_may_alias = true);
    FINISH(s.p, LIST(x), LIST(y));
    for (uint32_t t = 0; t < s.p->n_tensors; t++) s.offset[t] = 0;
    expect(&s, ARENAUT_RULE_NONE);
    s.p->ops[op].arguments_may_alias = false;
    expect(&s, ARENAUT_RULE_CLOBBERED);
    close_scene(&s);
}

TEST(an_aliasing_op_still_needs_its_input_whole) {
    scene s;
    open_scene(&s);
    begin_method(s.p, "main");
    const uint32_t x = input(&s, "x"), a = value(&s, "a"), b = value(&s, "b"), y = output(&s, "y");
    ADD_OP(s.p, IN(x), OUT(a));
    ADD_OP(s.p, IN(x), OUT(b));
    ADD_OP(s.p, .kind = ARENAUT_OP_DELEGATE, IN(a, b), OUT(y), .arguments_may_alias = true);
    FINISH(s.p, LIST(x), LIST(y));
    put(&s, y, a, 8);
    expect(&s, ARENAUT_RULE_NONE);
    put(&s, b, a, 8);
    expect_at(&s, ARENAUT_RULE_CLOBBERED, 2, a, b);
    close_scene(&s);
}

TEST(a_placement_of_another_program_is_refused) {
    scene s;
    (void)open_chain(&s);
    const arenaut_placement placement = {1, 2, s.pool, s.offset, s.arena};
    assert_int_equal(arenaut_check_replay(s.p, &placement, NULL, NULL, &s.finding, &s.err),
                     ARENAUT_BAD_ARGUMENT);
    s.options.only_method = arenaut_id(1);
    assert_int_equal(replay(&s, NULL), ARENAUT_BAD_ARGUMENT);
    close_scene(&s);
}
