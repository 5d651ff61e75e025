/* Replay of methods whose ops jump and move: both ways through branches, loops to a fixed
 * point, and tensors that stand for other tensors' memory. */
#include "support/replay_scene.h"

#include <stdlib.h>
#include <time.h>

#include "support/fuse.h"

/* A scene with its one method begun. */
static void open_method(scene *s) {
    open_scene(s);
    begin_method(s->p, "forward");
}

static uint32_t compute(scene *s, uint32_t from, uint32_t to) {
    return ADD_OP(s->p, .name = "neg", IN(from), OUT(to));
}
static uint32_t move(scene *s, uint32_t from, uint32_t to) {
    return ADD_OP(s->p, .name = "move", .kind = ARENAUT_OP_MOVE, IN(from), OUT(to));
}
static uint32_t jump(scene *s, uint32_t target) {
    return ADD_OP(s->p, .name = "jump", .kind = ARENAUT_OP_JUMP, .target = target);
}
static uint32_t jump_false(scene *s, uint32_t condition, uint32_t target) {
    return ADD_OP(s->p, .name = "jump_false", .kind = ARENAUT_OP_JUMP_FALSE, IN(condition),
                  .target = target);
}

/* ---- one conditional ---- */

/*  0 jump_false c -> 3
 *  1   neg  x -> a          3   neg  x -> b
 *  2   jump -> 4            4 neg k -> y
 * `k` is written before, by op 0 of the real numbering below. */
typedef struct branch {
    uint32_t c, x, k, a, b, y;
} branch;

static branch open_branch(scene *s) {
    open_method(s);
    const branch v = {value(s, "c"), value(s, "x"), value(s, "k"),
                      value(s, "a"), value(s, "b"), value(s, "y")};
    compute(s, v.x, v.k);  /* 0 */
    jump_false(s, v.c, 4); /* 1 */
    compute(s, v.x, v.a);  /* 2 */
    jump(s, 5);            /* 3 */
    compute(s, v.x, v.b);  /* 4 */
    compute(s, v.k, v.y);  /* 5 */
    FINISH(s->p, LIST(v.c, v.x), LIST(v.y));
    return v;
}

TEST(both_sides_may_use_the_same_bytes) {
    scene s;
    const branch v = open_branch(&s);
    expect(&s, ARENAUT_RULE_NONE);
    s.offset[v.a] = s.offset[v.b];
    expect(&s, ARENAUT_RULE_NONE);
    close_scene(&s);
}

TEST(a_tensor_that_one_path_overwrites_is_gone_at_the_join) {
    for (int side = 0; side < 2; side++) {
        scene s;
        const branch v = open_branch(&s);
        const uint32_t culprit = side ? v.b : v.a;
        s.offset[culprit] = s.offset[v.k];
        expect_at(&s, ARENAUT_RULE_CLOBBERED, 5, v.k, culprit);
        assert_int_equal(s.finding.first, s.offset[v.k]);
        assert_int_equal(s.finding.end, s.offset[v.k] + 16);
        close_scene(&s);
    }
}

TEST(a_result_of_one_side_only_is_unwritten_on_the_other) {
    scene s;
    const branch v = open_branch(&s);
    s.p->ops[5].inputs = (const uint32_t[]){v.a};
    expect(&s, ARENAUT_RULE_UNWRITTEN); /* on the way on which it is not "a" */
    assert_int_equal(s.finding.op, 5);
    assert_int_equal(s.finding.a, v.a);
    close_scene(&s);
}

TEST(the_condition_is_read) {
    scene s;
    const branch v = open_branch(&s);
    s.offset[v.k] = s.offset[v.c];
    expect_at(&s, ARENAUT_RULE_CLOBBERED, 1, v.c, v.k);
    close_scene(&s);
}

TEST(results_must_be_whole_at_the_end_on_every_path) {
    scene s;
    open_method(&s);
    const uint32_t c = value(&s, "c"), x = value(&s, "x"), y = value(&s, "y"), a = value(&s, "a");
    compute(&s, x, y);    /* 0 */
    jump_false(&s, c, 3); /* 1: past the end */
    compute(&s, x, a);    /* 2 */
    FINISH(s.p, LIST(c, x), LIST(y));
    expect(&s, ARENAUT_RULE_NONE);
    s.offset[a] = s.offset[y];
    expect_at(&s, ARENAUT_RULE_CLOBBERED, ARENAUT_NONE, y, a);
    close_scene(&s);
}

TEST(ops_that_are_jumped_over_do_nothing) {
    scene s;
    open_method(&s);
    const uint32_t x = value(&s, "x"), a = value(&s, "a"), y = value(&s, "y");
    jump(&s, 2);
    compute(&s, x, a); /* 1: never runs */
    compute(&s, x, y);
    FINISH(s.p, LIST(x), LIST(y));
    s.offset[a] = s.offset[x];
    expect(&s, ARENAUT_RULE_NONE);
    close_scene(&s);
}

/* ---- moves ---- */

/* Two conditionals one after the other; the results of both are needed at the end. Each
 * side computes into memory of its own and moves it to the conditional's result.
 *
 *   jump_false c -> else;  neg x -> a;  move a -> r;  jump -> end;  else: neg x -> b;
 *   move b -> r;  end: …  */
typedef struct conditional {
    uint32_t a, b, r, last;
} conditional;

static conditional add_conditional(scene *s, uint32_t c, uint32_t x, const char *const names[3]) {
    const conditional v = {value(s, names[0]), value(s, names[1]), value(s, names[2]), 0};
    const uint32_t first = s->p->n_ops;
    jump_false(s, c, first + 4);
    compute(s, x, v.a);
    move(s, v.a, v.r);
    jump(s, first + 6);
    compute(s, x, v.b);
    move(s, v.b, v.r);
    return v;
}

typedef struct twice {
    uint32_t c, x, y;
    conditional one, two;
} twice;

static twice open_twice(scene *s) {
    open_method(s);
    twice v = {.c = value(s, "c"), .x = value(s, "x"), .y = value(s, "y")};
    v.one = add_conditional(s, v.c, v.x, (const char *const[]){"a1", "b1", "r1"});
    v.two = add_conditional(s, v.c, v.x, (const char *const[]){"a2", "b2", "r2"});
    ADD_OP(s->p, .name = "add", IN(v.one.r, v.two.r), OUT(v.y)); /* 12 */
    FINISH(s->p, LIST(v.c, v.x), LIST(v.y));
    return v;
}

TEST(results_of_two_sides_are_one_name) {
    scene s;
    const twice v = open_twice(&s);
    expect(&s, ARENAUT_RULE_NONE); /* all apart */
    s.offset[v.one.b] = s.offset[v.one.a];
    s.offset[v.two.b] = s.offset[v.two.a];
    expect(&s, ARENAUT_RULE_NONE); /* both sides over one another */
    close_scene(&s);
}

TEST(a_moved_tensors_own_memory_is_free) {
    scene s;
    const twice v = open_twice(&s);
    s.offset[v.one.r] = s.offset[v.x];
    s.offset[v.two.r] = s.offset[v.x];
    expect(&s, ARENAUT_RULE_NONE);
    close_scene(&s);
}

/* The practice of a well-known exporter: bodies of conditionals share one reserve, and a value that
 * leaves the first in it by a move is overwritten by the second. */
TEST(the_second_conditional_may_not_overwrite_what_left_the_first) {
    scene s;
    const twice v = open_twice(&s);
    s.offset[v.one.b] = s.offset[v.two.a] = s.offset[v.two.b] = s.offset[v.one.a];
    expect(&s, ARENAUT_RULE_CLOBBERED);
    assert_int_equal(s.finding.op, 12);
    assert_int_equal(s.finding.a, v.one.r);
    assert_true(s.finding.b == v.two.a || s.finding.b == v.two.b);
    assert_int_equal(s.finding.first, s.offset[v.one.a]);
    assert_int_equal(s.finding.end, s.offset[v.one.a] + 16);
    assert_non_null(strstr(s.finding.msg, "forward"));
    assert_non_null(strstr(s.finding.msg, "r1"));
    close_scene(&s);
}

TEST(one_broken_source_is_enough) {
    for (int side = 0; side < 2; side++) {
        scene s;
        const twice v = open_twice(&s);
        const uint32_t victim = side ? v.one.b : v.one.a;
        s.offset[v.two.b] = s.offset[victim];
        expect_at(&s, ARENAUT_RULE_CLOBBERED, 12, v.one.r, v.two.b);
        close_scene(&s);
    }
}

TEST(one_side_may_use_the_memory_of_the_others_result) {
    scene s;
    open_method(&s);
    const uint32_t c = value(&s, "c"), x = value(&s, "x"), y = value(&s, "y");
    const uint32_t a = value(&s, "a"), t = value(&s, "t"), b = value(&s, "b"), r = value(&s, "r");
    jump_false(&s, c, 4);
    compute(&s, x, a);
    move(&s, a, r);
    jump(&s, 7);
    compute(&s, x, t);
    compute(&s, t, b);
    move(&s, b, r);
    compute(&s, r, y); /* 7 */
    FINISH(s.p, LIST(c, x), LIST(y));
    s.offset[t] = s.offset[a];
    expect(&s, ARENAUT_RULE_NONE);
    s.offset[y] = s.offset[b]; /* the reader's own output, over one of the sources */
    expect_at(&s, ARENAUT_RULE_ARGUMENTS, 7, b, y);
    close_scene(&s);
}

TEST(names_are_passed_on) {
    scene s;
    open_method(&s);
    const uint32_t x = value(&s, "x"), a = value(&s, "a"), b = value(&s, "b"), d = value(&s, "d");
    const uint32_t t = value(&s, "t"), y = value(&s, "y");
    compute(&s, x, a);
    move(&s, a, b);
    move(&s, b, d);
    compute(&s, x, t); /* 3 */
    move(&s, t, b);    /* `d` stays the same */
    compute(&s, d, y); /* 5 */
    FINISH(s.p, LIST(x), LIST(y));
    expect(&s, ARENAUT_RULE_NONE);
    s.offset[t] = s.offset[a];
    expect_at(&s, ARENAUT_RULE_CLOBBERED, 5, d, t);
    close_scene(&s);
}

TEST(moved_garbage_is_found_where_it_is_read) {
    scene s;
    open_method(&s);
    const uint32_t x = value(&s, "x"), a = value(&s, "a"), b = value(&s, "b"), y = value(&s, "y");
    move(&s, a, b);
    compute(&s, x, y);
    FINISH(s.p, LIST(x), LIST(y));
    expect(&s, ARENAUT_RULE_NONE);
    s.p->ops[1].inputs = (const uint32_t[]){b};
    expect_at(&s, ARENAUT_RULE_UNWRITTEN, 1, b, ARENAUT_NONE);
    close_scene(&s);
}

TEST(a_moved_result_must_be_whole_at_the_end) {
    scene s;
    open_method(&s);
    const uint32_t x = value(&s, "x"), a = value(&s, "a"), y = value(&s, "y"), t = value(&s, "t");
    compute(&s, x, a);
    move(&s, a, y);
    compute(&s, x, t);
    FINISH(s.p, LIST(x), LIST(y));
    expect(&s, ARENAUT_RULE_NONE);
    s.offset[t] = s.offset[a];
    expect_at(&s, ARENAUT_RULE_CLOBBERED, ARENAUT_NONE, y, t);
    close_scene(&s);
}

TEST(an_update_goes_through_the_name) {
    scene s;
    open_method(&s);
    const uint32_t x = value(&s, "x"), a = value(&s, "a"), b = value(&s, "b"), y = value(&s, "y");
    compute(&s, x, a);
    move(&s, a, b);
    ADD_OP(s.p, .name = "add_", .kind = ARENAUT_OP_IN_PLACE, IN(b), OUT(b));
    compute(&s, b, y);
    FINISH(s.p, LIST(x), LIST(y));
    expect(&s, ARENAUT_RULE_NONE);
    s.offset[b] = s.offset[x]; /* its own memory is not touched */
    expect(&s, ARENAUT_RULE_NONE);
    close_scene(&s);
}

/* ---- loops ---- */

/*  0 neg x -> k
 *  1 neg x -> t      the loop's body, at least once
 *  2 neg t -> u
 *  3 add k, u -> c
 *  4 jump_false c -> 1
 *  5 neg u -> y  */
typedef struct loop {
    uint32_t x, k, t, u, c, y;
} loop;

static loop open_loop(scene *s) {
    open_method(s);
    const loop v = {value(s, "x"), value(s, "k"), value(s, "t"),
                    value(s, "u"), value(s, "c"), value(s, "y")};
    compute(s, v.x, v.k);
    compute(s, v.x, v.t);
    compute(s, v.t, v.u);
    ADD_OP(s->p, .name = "add", IN(v.k, v.u), OUT(v.c));
    jump_false(s, v.c, 1);
    compute(s, v.u, v.y);
    FINISH(s->p, LIST(v.x), LIST(v.y));
    return v;
}

TEST(a_tensor_that_is_dead_within_an_iteration_may_be_overwritten) {
    scene s;
    const loop v = open_loop(&s);
    expect(&s, ARENAUT_RULE_NONE);
    s.offset[v.c] = s.offset[v.t];
    s.offset[v.y] = s.offset[v.k];
    expect(&s, ARENAUT_RULE_NONE);
    close_scene(&s);
}

TEST(a_tensor_that_the_next_iteration_reads_may_not_be_overwritten) {
    scene s;
    const loop v = open_loop(&s);
    s.offset[v.c] = s.offset[v.k]; /* its last reader, but not on every path */
    s.p->ops[3].in_place = &(const arenaut_in_place){0, 0};
    s.p->ops[3].n_in_place = 1;
    expect_at(&s, ARENAUT_RULE_CLOBBERED, 3, v.k, v.c);
    close_scene(&s);
}

TEST(a_name_that_is_carried_round_a_loop_keeps_its_memory) {
    scene s;
    open_method(&s);
    const uint32_t x = value(&s, "x"), a = value(&s, "a"), b = value(&s, "b"), d = value(&s, "d");
    const uint32_t c = value(&s, "c"), y = value(&s, "y");
    compute(&s, x, a);
    move(&s, a, d);
    compute(&s, d, b); /* 2: from the last turn's result to this one's */
    move(&s, b, d);
    compute(&s, x, c);
    jump_false(&s, c, 2);
    compute(&s, d, y);
    FINISH(s.p, LIST(x), LIST(y));
    /* In the second turn `d` is `b`, so op 2 reads and writes the same bytes. */
    expect_at(&s, ARENAUT_RULE_ARGUMENTS, 2, b, b);
    close_scene(&s);
}

/* ---- limits ---- */

TEST(a_method_without_an_end_is_not_supported) {
    scene s;
    open_method(&s);
    const uint32_t x = value(&s, "x"), y = value(&s, "y");
    compute(&s, x, y);
    jump(&s, 0);
    FINISH(s.p, LIST(x), LIST(y));
    assert_int_equal(replay(&s, NULL), ARENAUT_UNSUPPORTED);
    assert_non_null(strstr(s.err.msg, "forward"));
    close_scene(&s);
}

/* Whatever jumps where: an answer in bounded time. */
TEST(any_graph_gets_an_answer_soon) {
    enum { OPS = 600 };
    rng r = {7};
    for (int turn = 0; turn < 4; turn++) {
        scene s;
        open_method(&s);
        uint32_t v[24];
        for (uint32_t i = 0; i < COUNT_OF(v); i++) v[i] = value(&s, NULL);
        for (uint32_t i = 0; i < OPS; i++) {
            const uint32_t a = v[rng_below(&r, COUNT_OF(v))], b = v[rng_below(&r, COUNT_OF(v))];
            switch (rng_below(&r, 4)) {
                case 0: jump_false(&s, v[0], (uint32_t)rng_below(&r, OPS + 1)); break;
                case 1: move(&s, a, b); break;
                default: ADD_OP(s.p, .name = "fill", OUT(a)); break;
            }
        }
        FINISH(s.p, LIST(v[0]), NO_LIST);
        const clock_t begin = clock();
        const arenaut_status status = replay(&s, NULL);
        assert_true(status == ARENAUT_OK || status == ARENAUT_REJECTED ||
                    status == ARENAUT_UNSUPPORTED);
        assert_true((double)(clock() - begin) / CLOCKS_PER_SEC < 60);
        close_scene(&s);
    }
}

static arenaut_status attempt(void *context, const arenaut_allocator *allocator) {
    return replay(context, allocator);
}

TEST(it_survives_running_out_of_memory) {
    scene s;
    (void)open_twice(&s);
    survives_every_allocation_failure(attempt, &s);
    close_scene(&s);
}
