/* Replay: programs on a shadow arena. Wrong placements by hand, each with its rule; right
 * ones that only look wrong; then random programs against the oracle. */
#include "support/test.h"

#include <stdlib.h>
#include <time.h>

#include <arenaut/check.h>

#include "support/fuse.h"
#include "support/programs.h"
#include "support/replay_oracle.h"

enum { MAX_TENSORS = 160 };

/* A program under construction and where its tensors lie. Every tensor gets a place of its
 * own, 16 bytes each, until a test moves it. */
typedef struct scene {
    arenaut_program *p;
    uint32_t pool[MAX_TENSORS];
    uint64_t offset[MAX_TENSORS];
    uint64_t arena[2];
    arenaut_replay_options options;
    arenaut_finding finding;
    arenaut_error err;
} scene;

static void open_scene(scene *s) {
    memset(s, 0, sizeof *s);
    s->p = new_program();
    s->arena[0] = s->arena[1] = MAX_TENSORS * 16;
    for (uint32_t t = 0; t < MAX_TENSORS; t++) s->offset[t] = t * 16;
}

static void close_scene(scene *s) { arenaut_program_free(s->p); }

static arenaut_status replay(scene *s, const arenaut_allocator *allocator) {
    const arenaut_placement placement = {s->p->n_tensors, 2, s->pool, s->offset, s->arena};
    return arenaut_check_replay(s->p, &placement, &s->options, allocator, &s->finding, &s->err);
}

static void expect(scene *s, arenaut_rule rule) {
    const arenaut_status status = replay(s, NULL);
    if (s->finding.rule != rule) {
        fail_msg("expected \"%s\", found \"%s\": %s", arenaut_rule_name(rule),
                 arenaut_rule_name(s->finding.rule), s->finding.msg);
    }
    assert_int_equal(status, rule == ARENAUT_RULE_NONE ? ARENAUT_OK : ARENAUT_REJECTED);
    if (rule != ARENAUT_RULE_NONE) assert_string_equal(s->finding.msg, s->err.msg);
}

/* At `op` (NONE: at a method's end), `a` is hurt by `b`. */
static void expect_at(scene *s, arenaut_rule rule, uint32_t op, uint32_t a, uint32_t b) {
    expect(s, rule);
    assert_int_equal(s->finding.op, op);
    assert_int_equal(s->finding.a, a);
    assert_int_equal(s->finding.b, b);
}

/* Puts `tensor` where `on` is, `delta` bytes further. */
static void put(scene *s, uint32_t tensor, uint32_t on, uint64_t delta) {
    s->offset[tensor] = s->offset[on] + delta;
}

static uint32_t input(scene *s, const char *name) {
    return add_tensor(s->p, name, 16, ARENAUT_INPUT);
}
static uint32_t output(scene *s, const char *name) {
    return add_tensor(s->p, name, 16, ARENAUT_OUTPUT);
}
static uint32_t value(scene *s, const char *name) {
    return add_tensor(s->p, name, 16, ARENAUT_INTERMEDIATE);
}
static uint32_t scratch(scene *s, const char *name) {
    return add_tensor(s->p, name, 16, ARENAUT_SCRATCH);
}

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
    SET_IO(s->p, 0, LIST(c.x), LIST(c.y));
    finish_program(s->p);
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
    SET_IO(s.p, 0, LIST(t[0]), LIST(t[5]));
    finish_program(s.p);
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
    SET_IO(s.p, 0, LIST(x), LIST(y));
    finish_program(s.p);
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
        SET_IO(s.p, 0, LIST(x), LIST(y));
        finish_program(s.p);
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
    SET_IO(s.p, 0, LIST(x), LIST(y));
    finish_program(s.p);
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
    SET_IO(s.p, 0, LIST(x), LIST(a));
    finish_program(s.p);
    put(&s, b, a, 8); /* although nobody reads b */
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
    SET_IO(s.p, 0, LIST(x), LIST(z));
    finish_program(s.p);
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
    SET_IO(s.p, 0, LIST(x), LIST(z, a));
    finish_program(s.p);
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
    SET_IO(s.p, 0, LIST(x), LIST(y));
    finish_program(s.p);
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
    SET_IO(s.p, 0, LIST(x, w), LIST(y));
    finish_program(s.p);
    put(&s, w, x, 15); /* nobody reads w, but who knows which is filled in last */
    expect_at(&s, ARENAUT_RULE_ARGUMENTS, ARENAUT_NONE, w, x);
    close_scene(&s);
}

TEST(reading_what_nobody_wrote_is_rejected) {
    scene s;
    open_scene(&s);
    begin_method(s.p, "main");
    const uint32_t x = input(&s, "x"), a = value(&s, "a"), y = output(&s, "y");
    ADD_OP(s.p, IN(x, a), OUT(y));
    SET_IO(s.p, 0, LIST(x), LIST(y));
    finish_program(s.p);
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
    s.pool[c.x] = s.pool[c.y] = 0; /* what is said of its place means nothing */
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
    SET_IO(s.p, 0, LIST(x), LIST(y));
    finish_program(s.p);
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
    SET_IO(s.p, 0, LIST(x), LIST(y));
    finish_program(s.p);
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
    SET_IO(s.p, 0, LIST(x), LIST(y));
    finish_program(s.p);
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
    SET_IO(s.p, 0, LIST(x), LIST(y));
    finish_program(s.p);
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
    SET_IO(s.p, 0, LIST(x), LIST(y));
    finish_program(s.p);
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
    SET_IO(s.p, 0, LIST(x), LIST(y));
    finish_program(s.p);
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
    SET_IO(s.p, 0, LIST(x), LIST(y));
    finish_program(s.p);
    expect_at(&s, ARENAUT_RULE_UNWRITTEN, ARENAUT_NONE, y, ARENAUT_NONE);
    put(&s, y, a, 0);
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
    SET_IO(s.p, 0, LIST(x), LIST(y));
    finish_program(s.p);
    expect(&s, ARENAUT_RULE_NONE);
    put(&s, y, x, 0); /* a pair is no help: everything is touched at once */
    expect_at(&s, ARENAUT_RULE_ARGUMENTS, 0, x, y);
    close_scene(&s);
}

/* Vela's file: one custom op, its input, output and two scratch tensors all at offset 0.
 * The scratch tensors are inputs that nobody fills; two more tensors dangle. */
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
    SET_IO(s.p, 0, LIST(x), LIST(y));
    finish_program(s.p);
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
    SET_IO(s.p, 0, LIST(x), LIST(y));
    finish_program(s.p);
    put(&s, y, a, 8);
    expect(&s, ARENAUT_RULE_NONE);
    put(&s, b, a, 8);
    expect_at(&s, ARENAUT_RULE_CLOBBERED, 2, a, b);
    close_scene(&s);
}

/* ---- branches ---- */

/*  main:  x ─IF─ r1 ─┐      then: t_in ─ t_tmp ─ t_out
 *         x ─IF─ r2 ─ADD─ y   else: e_in ─ e_out          both IFs call the same two */
typedef struct twocond {
    uint32_t x, c, r1, r2, y, t_in, t_tmp, t_out, e_in, e_out, add;
} twocond;

static twocond open_twocond(scene *s) {
    twocond t;
    open_scene(s);
    const uint32_t m = begin_method(s->p, "main");
    t.x = input(s, "x");
    t.c = input(s, "c");
    t.r1 = value(s, "r1");
    t.r2 = value(s, "r2");
    t.y = output(s, "y");
    ADD_OP(s->p, .name = "cond", .kind = ARENAUT_OP_IF, IN(t.c, t.x), OUT(t.r1), CALLS(1, 2));
    ADD_OP(s->p, .name = "cond", .kind = ARENAUT_OP_IF, IN(t.c, t.x), OUT(t.r2), CALLS(1, 2));
    t.add = ADD_OP(s->p, .name = "ADD", IN(t.r1, t.r2), OUT(t.y));
    const uint32_t yes = begin_submethod(s->p, "then");
    t.t_in = input(s, "t_in");
    t.t_tmp = value(s, "t_tmp");
    t.t_out = output(s, "t_out");
    ADD_OP(s->p, IN(t.t_in), OUT(t.t_tmp));
    ADD_OP(s->p, IN(t.t_tmp), OUT(t.t_out));
    const uint32_t no = begin_submethod(s->p, "else");
    t.e_in = input(s, "e_in");
    t.e_out = output(s, "e_out");
    ADD_OP(s->p, IN(t.e_in), OUT(t.e_out));
    SET_IO(s->p, m, LIST(t.x, t.c), LIST(t.y));
    SET_IO(s->p, yes, LIST(t.t_in), LIST(t.t_out));
    SET_IO(s->p, no, LIST(t.e_in), LIST(t.e_out));
    finish_program(s->p);
    return t;
}

TEST(branches_may_share_memory) {
    scene s;
    const twocond t = open_twocond(&s);
    expect(&s, ARENAUT_RULE_NONE);
    put(&s, t.e_in, t.t_tmp, 0);
    put(&s, t.e_out, t.t_in, 0);
    expect(&s, ARENAUT_RULE_NONE);
    put(&s, t.t_out, t.r2, 0); /* the result where the caller wants it */
    put(&s, t.e_out, t.r2, 0);
    expect(&s, ARENAUT_RULE_NONE);
    close_scene(&s);
}

/* Submodules planned from offset 0, results in their memory: the second conditional runs
 * over the first one's result. */
TEST(a_branch_result_overwritten_by_the_next_conditional_is_rejected) {
    scene s;
    const twocond t = open_twocond(&s);
    put(&s, t.r1, t.t_tmp, 0);
    expect_at(&s, ARENAUT_RULE_CLOBBERED, t.add, t.r1, t.t_tmp);
    put(&s, t.r1, t.e_in, 0); /* only the other side does it */
    expect_at(&s, ARENAUT_RULE_CLOBBERED, t.add, t.r1, t.e_in);
    close_scene(&s);
}

TEST(what_one_side_overwrites_is_gone) {
    scene s;
    const twocond t = open_twocond(&s);
    put(&s, t.e_out, t.x, 0); /* x is the second conditional's argument */
    expect_at(&s, ARENAUT_RULE_CLOBBERED, 1, t.x, t.e_out);
    close_scene(&s);
}

TEST(a_callee_must_spare_its_callers_tensors) {
    scene s;
    open_scene(&s);
    const uint32_t m = begin_method(s.p, "main");
    const uint32_t x = input(&s, "x"), a = value(&s, "a"), r = value(&s, "r"), y = output(&s, "y");
    ADD_OP(s.p, IN(x), OUT(a));
    ADD_OP(s.p, .kind = ARENAUT_OP_CALL, IN(x), OUT(r), CALLS(1));
    const uint32_t add = ADD_OP(s.p, IN(a, r), OUT(y));
    const uint32_t f = begin_submethod(s.p, "f");
    const uint32_t f_in = input(&s, "f_in"), f_out = output(&s, "f_out");
    ADD_OP(s.p, IN(f_in), OUT(f_out));
    SET_IO(s.p, m, LIST(x), LIST(y));
    SET_IO(s.p, f, LIST(f_in), LIST(f_out));
    finish_program(s.p);
    expect(&s, ARENAUT_RULE_NONE);
    put(&s, f_in, a, 0); /* the copy of the argument */
    expect_at(&s, ARENAUT_RULE_CLOBBERED, add, a, f_in);
    put(&s, f_in, x, 0); /* x has been read, and is copied onto itself */
    expect(&s, ARENAUT_RULE_NONE);
    put(&s, f_in, x, 4); /* but not onto half of itself */
    expect_at(&s, ARENAUT_RULE_ARGUMENTS, 1, f_in, x);
    close_scene(&s);
}

/* ---- loops ---- */

/*  main:  WHILE(i, n) -> i'       cond: (ci, cn) -> ok      body: (bi, bn) ─ tmp ─ bo
 *  The second argument does not change, so it stays where the caller has it. */
typedef struct loop {
    uint32_t i, n, r, ci, cn, ok, bi, bn, tmp, bo, op;
} loop;

static loop open_loop(scene *s) {
    loop l;
    open_scene(s);
    const uint32_t m = begin_method(s->p, "main");
    l.i = input(s, "i");
    l.n = input(s, "n");
    l.r = output(s, "r");
    l.op = ADD_OP(s->p, .name = "WHILE", .kind = ARENAUT_OP_WHILE, IN(l.i, l.n), OUT(l.r),
                  CALLS(1, 2));
    const uint32_t cond = begin_submethod(s->p, "cond");
    l.ci = input(s, "ci");
    l.cn = input(s, "cn");
    l.ok = output(s, "ok");
    ADD_OP(s->p, .name = "LESS", IN(l.ci, l.cn), OUT(l.ok));
    const uint32_t body = begin_submethod(s->p, "body");
    l.bi = input(s, "bi");
    l.bn = input(s, "bn");
    l.tmp = value(s, "tmp");
    l.bo = output(s, "bo");
    ADD_OP(s->p, IN(l.bi, l.bn), OUT(l.tmp));
    ADD_OP(s->p, IN(l.tmp), OUT(l.bo));
    SET_IO(s->p, m, LIST(l.i, l.n), LIST(l.r));
    SET_IO(s->p, cond, LIST(l.ci, l.cn), LIST(l.ok));
    SET_IO(s->p, body, LIST(l.bi, l.bn), LIST(l.bo));
    finish_program(s->p);
    return l;
}

TEST(condition_and_body_may_share_memory) {
    scene s;
    const loop l = open_loop(&s);
    expect(&s, ARENAUT_RULE_NONE);
    put(&s, l.bi, l.ci, 0);
    put(&s, l.bn, l.ok, 0);
    put(&s, l.tmp, l.cn, 0);
    expect(&s, ARENAUT_RULE_NONE);
    close_scene(&s);
}

/* The first turn is fine; the condition of the second finds n gone. */
TEST(a_body_that_clobbers_the_conditions_input_is_rejected) {
    scene s;
    const loop l = open_loop(&s);
    put(&s, l.tmp, l.n, 0);
    expect_at(&s, ARENAUT_RULE_CLOBBERED, l.op, l.n, l.tmp);
    close_scene(&s);
}

TEST(a_condition_that_clobbers_what_the_loop_carries_is_rejected) {
    scene s;
    const loop l = open_loop(&s);
    put(&s, l.ok, l.r, 0);
    expect_at(&s, ARENAUT_RULE_CLOBBERED, l.op, l.r, l.ok);
    close_scene(&s);
}

TEST(a_body_may_use_the_memory_of_what_it_is_about_to_replace) {
    scene s;
    const loop l = open_loop(&s);
    put(&s, l.tmp, l.r, 0);
    expect(&s, ARENAUT_RULE_NONE);
    close_scene(&s);
}

/* ---- state, several methods, several calls ---- */

/*  main: x, s ─ASSIGN─ s' (a view of s);  (s', x) ─ADD─ y
 *  other: z ─ w, not knowing of s */
typedef struct stateful {
    uint32_t x, s, after, y, z, w;
} stateful;

static stateful open_stateful(scene *s) {
    stateful t;
    open_scene(s);
    const uint32_t m = begin_method(s->p, "main");
    t.x = input(s, "x");
    t.s = add_tensor(s->p, "s", 16, ARENAUT_STATE);
    t.after = add_view(s->p, "after", t.s, 0, 16);
    t.y = output(s, "y");
    ADD_OP(s->p, .name = "copy_", .kind = ARENAUT_OP_IN_PLACE, IN(t.s, t.x), OUT(t.after));
    ADD_OP(s->p, .name = "ADD", IN(t.after, t.x), OUT(t.y));
    const uint32_t o = begin_method(s->p, "other");
    t.z = input(s, "z");
    t.w = output(s, "w");
    ADD_OP(s->p, IN(t.z), OUT(t.w));
    SET_IO(s->p, m, LIST(t.x), LIST(t.y));
    SET_IO(s->p, o, LIST(t.z), LIST(t.w));
    finish_program(s->p);
    s->offset[t.after] = s->offset[t.s];
    return t;
}

TEST(state_lasts_from_call_to_call) {
    scene s;
    const stateful t = open_stateful(&s);
    put(&s, t.z, t.x, 0);
    put(&s, t.w, t.y, 0);
    expect(&s, ARENAUT_RULE_NONE);
    close_scene(&s);
}

TEST(state_overwritten_later_in_its_own_method_is_lost) {
    scene s;
    const stateful t = open_stateful(&s);
    s.p->ops[1].inputs = (const uint32_t[]){t.x, t.x}; /* nothing reads s after the update */
    put(&s, t.y, t.s, 0);
    expect_at(&s, ARENAUT_RULE_STATE_LOST, ARENAUT_NONE, t.s, t.y);
    close_scene(&s);
}

TEST(state_overwritten_by_another_method_is_lost) {
    scene s;
    const stateful t = open_stateful(&s);
    put(&s, t.w, t.s, 4);
    expect_at(&s, ARENAUT_RULE_STATE_LOST, ARENAUT_NONE, t.s, t.w);
    assert_int_equal(s.finding.method, 1);
    s.options.only_method = arenaut_id(0); /* by itself main is fine */
    expect(&s, ARENAUT_RULE_NONE);
    close_scene(&s);
}

TEST(state_that_is_clobbered_before_it_is_ever_used_is_lost) {
    scene s;
    const stateful t = open_stateful(&s);
    put(&s, t.x, t.s, 0);
    expect_at(&s, ARENAUT_RULE_CLOBBERED, 0, t.s, t.x);
    close_scene(&s);
}

TEST(state_without_place_is_the_runtimes) {
    scene s;
    const stateful t = open_stateful(&s);
    s.pool[t.s] = s.pool[t.after] = ARENAUT_NONE;
    expect(&s, ARENAUT_RULE_NONE);
    close_scene(&s);
}

/*     s ── view ── v        r ── A ── y
 *
 * Nothing reads s, but the runtime loads both before the first call, in an order of its own. A
 * state that no op names is not loaded: lists of tensors in files have such. */
TEST(first_values_of_two_states_over_each_other_are_lost) {
    for (int named = 0; named < 2; named++) {
        for (int later = 0; later < 2; later++) {
            scene s;
            open_scene(&s);
            begin_method(s.p, "main");
            uint32_t r = 0, other = 0;
            if (later) other = add_tensor(s.p, "s", 8, ARENAUT_STATE);
            r = add_tensor(s.p, "r", 8, ARENAUT_STATE);
            if (!later) other = add_tensor(s.p, "s", 8, ARENAUT_STATE);
            const uint32_t v = add_view(s.p, "v", other, 0, 8), y = output(&s, "y");
            if (named) ADD_OP(s.p, .name = "view", .kind = ARENAUT_OP_VIEW, IN(other), OUT(v));
            ADD_OP(s.p, .name = "A", IN(r), OUT(y));
            SET_IO(s.p, 0, NO_LIST, LIST(y));
            finish_program(s.p);
            put(&s, v, other, 0);
            expect(&s, ARENAUT_RULE_NONE);
            put(&s, other, r, 4);
            put(&s, v, other, 0);
            if (named) expect_at(&s, ARENAUT_RULE_STATE_LOST, 1, r, other);
            else expect(&s, ARENAUT_RULE_NONE);
            close_scene(&s);
        }
    }
}

/* prefill writes the cache, decode reads it: one memory, wherever each method names it. */
TEST(shared_state_must_lie_in_one_place) {
    scene s;
    open_scene(&s);
    uint32_t cache[2], x[2], y[2];
    for (uint32_t m = 0; m < 2; m++) {
        begin_method(s.p, m ? "decode" : "prefill");
        x[m] = input(&s, "x");
        y[m] = output(&s, "y");
        arenaut_tensor shared = arenaut_tensor_default();
        shared.name = m ? "decode.cache" : "prefill.cache";
        shared.qualified_name = "cache";
        shared.bytes = 16;
        shared.method = m;
        assert_ok(arenaut_program_add_tensor(s.p, &shared, &cache[m], &s.err), s.err);
        ADD_OP(s.p, .kind = ARENAUT_OP_IN_PLACE, IN(cache[m], x[m]), OUT(cache[m]));
        ADD_OP(s.p, IN(cache[m]), OUT(y[m]));
        SET_IO(s.p, m, LIST(x[m]), LIST(y[m]));
    }
    finish_program(s.p);
    put(&s, cache[1], cache[0], 0);
    expect(&s, ARENAUT_RULE_NONE);
    put(&s, cache[1], cache[0], 16);
    expect_at(&s, ARENAUT_RULE_STATE_LOST, 2, cache[1], cache[0]);
    close_scene(&s);
}

/* decode takes the cache for a constant; prefill writes it. */
TEST(a_constant_that_another_method_writes_is_state) {
    scene s;
    open_scene(&s);
    uint32_t cache[2], x[2], y[2];
    for (uint32_t m = 0; m < 2; m++) {
        begin_method(s.p, m ? "decode" : "prefill");
        x[m] = input(&s, "x");
        y[m] = output(&s, "y");
        arenaut_tensor shared = arenaut_tensor_default();
        shared.qualified_name = "cache";
        shared.cls = m ? ARENAUT_CONSTANT : ARENAUT_STATE;
        shared.bytes = 16;
        shared.method = m;
        assert_ok(arenaut_program_add_tensor(s.p, &shared, &cache[m], &s.err), s.err);
        if (m == 0) ADD_OP(s.p, .kind = ARENAUT_OP_IN_PLACE, IN(cache[0], x[0]), OUT(cache[0]));
        ADD_OP(s.p, IN(cache[m], x[m]), OUT(y[m]));
        SET_IO(s.p, m, LIST(x[m]), LIST(y[m]));
    }
    finish_program(s.p);
    put(&s, cache[1], cache[0], 0);
    expect(&s, ARENAUT_RULE_NONE);
    put(&s, x[1], cache[1], 0);
    expect_at(&s, ARENAUT_RULE_CLOBBERED, 2, cache[1], x[1]);
    close_scene(&s);
}

/* main calls init once; init's temporary lies in memory that main uses later. */
TEST(a_method_called_once_disturbs_the_first_call_only) {
    scene s;
    open_scene(&s);
    const uint32_t m = begin_method(s.p, "main");
    const uint32_t x = input(&s, "x"), a = value(&s, "a"), y = output(&s, "y");
    ADD_OP(s.p, IN(x), OUT(a));
    ADD_OP(s.p, .kind = ARENAUT_OP_CALL_ONCE, CALLS(1));
    const uint32_t last = ADD_OP(s.p, IN(a), OUT(y));
    const uint32_t init = begin_submethod(s.p, "init");
    const uint32_t t = value(&s, "t");
    ADD_OP(s.p, OUT(t));
    SET_IO(s.p, m, LIST(x), LIST(y));
    SET_IO(s.p, init, NO_LIST, NO_LIST);
    finish_program(s.p);
    put(&s, t, y, 0);
    expect(&s, ARENAUT_RULE_NONE);
    put(&s, t, a, 0);
    expect_at(&s, ARENAUT_RULE_CLOBBERED, last, a, t);
    close_scene(&s);
}

/* What a method called once leaves in the caller's memory is there on the first call only,
 * unless it is state. */
TEST(a_result_of_a_method_called_once_must_be_state) {
    for (int kept = 0; kept < 2; kept++) {
        scene s;
        open_scene(&s);
        const uint32_t m = begin_method(s.p, "main");
        const uint32_t x = input(&s, "x"), y = output(&s, "y"),
                       v = add_tensor(s.p, "v", 16, kept ? ARENAUT_STATE : ARENAUT_INTERMEDIATE);
        ADD_OP(s.p, .kind = ARENAUT_OP_CALL_ONCE, OUT(v), CALLS(1));
        const uint32_t add = ADD_OP(s.p, IN(x, v), OUT(y));
        const uint32_t init = begin_submethod(s.p, "init");
        const uint32_t t = output(&s, "t");
        ADD_OP(s.p, OUT(t));
        SET_IO(s.p, m, LIST(x), LIST(y));
        SET_IO(s.p, init, NO_LIST, LIST(t));
        finish_program(s.p);
        if (kept) {
            expect(&s, ARENAUT_RULE_NONE);
        } else {
            expect_at(&s, ARENAUT_RULE_UNWRITTEN, add, v, v);
        }
        close_scene(&s);
    }
}

TEST(no_intermediate_outlives_its_call) {
    scene s;
    open_scene(&s);
    arenaut_tensor shared = arenaut_tensor_default(); /* of no method, and no state */
    uint32_t g;
    shared.bytes = 16;
    assert_ok(arenaut_program_add_tensor(s.p, &shared, &g, &s.err), s.err);
    begin_method(s.p, "writer");
    ADD_OP(s.p, OUT(g));
    begin_method(s.p, "reader");
    const uint32_t y = output(&s, "y"), read = ADD_OP(s.p, IN(g), OUT(y));
    finish_program(s.p);
    expect_at(&s, ARENAUT_RULE_UNWRITTEN, read, g, g);
    s.p->tensors[g].cls = ARENAUT_STATE;
    expect(&s, ARENAUT_RULE_NONE);
    close_scene(&s);
}

TEST(scratch_of_a_call_outlasts_what_it_calls) {
    scene s;
    open_scene(&s);
    const uint32_t m = begin_method(s.p, "main");
    const uint32_t x = input(&s, "x"), y = output(&s, "y"), w = scratch(&s, "w");
    ADD_OP(s.p, .kind = ARENAUT_OP_CALL, IN(x), OUT(y), SCRATCH(w), CALLS(1));
    const uint32_t f = begin_submethod(s.p, "f");
    const uint32_t f_in = input(&s, "f_in"), f_out = output(&s, "f_out");
    ADD_OP(s.p, IN(f_in), OUT(f_out));
    SET_IO(s.p, m, LIST(x), LIST(y));
    SET_IO(s.p, f, LIST(f_in), LIST(f_out));
    finish_program(s.p);
    expect(&s, ARENAUT_RULE_NONE);
    put(&s, f_out, w, 0);
    expect_at(&s, ARENAUT_RULE_CLOBBERED, 0, w, f_out);
    close_scene(&s);
}

/* ---- hostile programs ---- */

TEST(calls_too_deep_are_refused) {
    for (uint32_t depth = 64; depth <= 65; depth++) {
        scene s;
        open_scene(&s);
        for (uint32_t m = 0; m < depth; m++) {
            if (m == 0) begin_method(s.p, NULL);
            else begin_submethod(s.p, NULL);
            if (m + 1 < depth) ADD_OP(s.p, .kind = ARENAUT_OP_CALL, CALLS(m + 1));
        }
        finish_program(s.p);
        assert_int_equal(replay(&s, NULL), depth > 64 ? ARENAUT_UNSUPPORTED : ARENAUT_OK);
        if (depth > 64) assert_non_null(strstr(s.err.msg, "64"));
        close_scene(&s);
    }
}

/* 2^40 calls from 40 methods. */
TEST(calls_that_multiply_are_refused) {
    scene s;
    open_scene(&s);
    for (uint32_t m = 0; m < 40; m++) {
        if (m == 0) begin_method(s.p, NULL);
        else begin_submethod(s.p, NULL);
        for (int i = 0; i < 2 && m + 1 < 40; i++)
            ADD_OP(s.p, .kind = ARENAUT_OP_CALL, CALLS(m + 1));
    }
    finish_program(s.p);
    const clock_t begin = clock();
    assert_int_equal(replay(&s, NULL), ARENAUT_UNSUPPORTED);
    print_message("given up after %.1f s\n", (double)(clock() - begin) / CLOCKS_PER_SEC);
    assert_int_equal(s.finding.rule, ARENAUT_RULE_NONE);
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

/* ---- random programs against the oracle ---- */

/* Moves one tensor: onto another, beside one, or anywhere. */
static void move_one(rng *r, scene *s) {
    const uint32_t n = s->p->n_tensors, t = rng_below(r, n), other = rng_below(r, n);
    if (rng_once_in(r, 40)) {
        s->pool[t] = ARENAUT_NONE;
    } else if (rng_once_in(r, 2)) {
        s->pool[t] = s->pool[other];
        s->offset[t] = s->offset[other] + (rng_once_in(r, 2) ? 0 : rng_below(r, 4));
    } else {
        s->pool[t] = rng_below(r, 2);
        s->offset[t] = rng_below(r, 40) + (rng_once_in(r, 10) ? 190 : 0);
    }
    /* Mostly, what is the same memory moves together. */
    const uint32_t storage = arenaut_program_storage(s->p, t, NULL);
    for (uint32_t i = 0; i < n && !rng_once_in(r, 30); i++) {
        uint64_t delta, own;
        const bool view = arenaut_program_storage(s->p, i, &delta) == storage;
        const bool named = s->p->tensors[t].qualified_name && s->p->tensors[i].qualified_name;
        (void)arenaut_program_storage(s->p, t, &own);
        if (i == t || (!view && !named) || s->offset[t] < own) continue;
        s->pool[i] = s->pool[t];
        s->offset[i] = s->offset[t] - own + delta;
    }
}

static void start_apart(scene *s) {
    for (uint32_t t = 0; t < s->p->n_tensors; t++) {
        uint64_t delta;
        const uint32_t storage = arenaut_program_storage(s->p, t, &delta);
        s->pool[t] = storage % 2;
        s->offset[t] = storage / 2 * 4 + delta;
    }
    for (uint32_t t = 0, first = ARENAUT_NONE; t < s->p->n_tensors; t++) {
        if (!s->p->tensors[t].qualified_name) continue;
        if (first == ARENAUT_NONE) first = t;
        for (uint32_t i = 0; i < s->p->n_tensors; i++) {
            uint64_t delta;
            if (arenaut_program_storage(s->p, i, &delta) != t) continue;
            s->pool[i] = s->pool[first];
            s->offset[i] = s->offset[first] + delta;
        }
    }
}

TEST(checker_and_oracle_agree_on_random_programs) {
    enum { SEEDS = 1500, MOVES = 40 };
    uint32_t accepted = 0, rules[ARENAUT_RULE_COUNT] = {0};
    for (uint32_t seed = 0; seed < SEEDS; seed++) {
        rng r = {seed};
        scene s = {.p = random_program(&r), .arena = {ORACLE_BYTES, 200}};
        s.options.only_method = arenaut_id(rng_once_in(&r, 10) ? 0 : ARENAUT_NONE);
        s.options.keep_inputs = rng_once_in(&r, 4);
        s.options.exclude_io = rng_once_in(&r, 4);
        start_apart(&s);
        for (int move = 0; move < MOVES; move++) {
            const scene before = s;
            if (move > 0) move_one(&r, &s);
            const arenaut_placement placement = {s.p->n_tensors, 2, s.pool, s.offset, s.arena};
            const bool right = oracle_accepts_replay(s.p, &placement, &s.options);
            const arenaut_status status = replay(&s, NULL);
            if (status != (right ? ARENAUT_OK : ARENAUT_REJECTED)) {
                fail_msg("seed %u, move %d: the oracle says %s, the checker %s: %s", seed, move,
                         right ? "right" : "wrong", arenaut_status_text(status), s.err.msg);
            }
            accepted += right;
            rules[s.finding.rule]++;
            if (!right && move > 0) s = before; /* go on from what was right */
        }
        close_scene(&s);
    }
    print_message("%u of %u placements right\n", accepted, (unsigned)(SEEDS * MOVES));
    for (int i = ARENAUT_RULE_OUTSIDE; i < ARENAUT_RULE_COUNT; i++) {
        print_message("  %-12s %u\n", arenaut_rule_name((arenaut_rule)i), rules[i]);
        /* Where ops run one after another, none races another; no signature says what is stale. */
        const bool never = i == ARENAUT_RULE_RACE || i == ARENAUT_RULE_STALE;
        assert_true(never ? rules[i] == 0 : rules[i] > SEEDS / 20);
    }
    assert_true(accepted > SEEDS * MOVES / 4);
}

/* ---- memory, scale ---- */

static arenaut_status replay_once(void *context, const arenaut_allocator *allocator) {
    scene *s = context;
    s->err.code = ARENAUT_OK;
    const arenaut_status status = replay(s, allocator);
    if (status == ARENAUT_OK) assert_int_equal(s->err.code, ARENAUT_OK);
    return status;
}

TEST(running_out_of_memory_is_survived) {
    scene s;
    (void)open_twocond(&s);
    survives_every_allocation_failure(replay_once, &s);
    close_scene(&s);
    (void)open_loop(&s);
    survives_every_allocation_failure(replay_once, &s);
    close_scene(&s);
}

/* A chain with long skips: each op reads its predecessor and one from far back. */
TEST(two_hundred_thousand_ops_take_little_time) {
    enum { N = 200000, BACK = 50000 };
    arenaut_program *p = new_program();
    uint32_t *pool = calloc(N, sizeof *pool);
    uint64_t *offset = calloc(N, sizeof *offset);
    assert_non_null(pool);
    assert_non_null(offset);
    begin_method(p, "main");
    for (uint32_t i = 0; i < N; i++) {
        const uint32_t t = add_tensor(p, NULL, 64, ARENAUT_INTERMEDIATE);
        offset[t] = (uint64_t)(i % (BACK + 1)) * 64;
        if (i >= BACK) {
            ADD_OP(p, IN(t - 1, t - BACK), OUT(t));
        } else if (i > 0) {
            ADD_OP(p, IN(t - 1), OUT(t));
        }
    }
    SET_IO(p, 0, LIST(0), LIST(N - 1));
    finish_program(p);
    const arenaut_placement placement = {N, 1, pool, offset, NULL};
    arenaut_finding finding;
    arenaut_error err = {0};
    const clock_t begin = clock();
    assert_ok(arenaut_check_replay(p, &placement, NULL, NULL, &finding, &err), err);
    print_message("%d ops, twice: %.2f s\n", N, (double)(clock() - begin) / CLOCKS_PER_SEC);
    offset[N / 2] += 1; /* one byte into what this very op reads */
    assert_int_equal(arenaut_check_replay(p, &placement, NULL, NULL, &finding, &err),
                     ARENAUT_REJECTED);
    assert_int_equal(finding.rule, ARENAUT_RULE_ARGUMENTS);
    free(pool);
    free(offset);
    arenaut_program_free(p);
}
