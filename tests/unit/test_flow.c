/* Liveness of methods whose ops jump and move. Steps are written with the method's start as
 * step 0, so op i runs at step i + 1. */
#include "support/test.h"

#include <stdlib.h>
#include <time.h>

#include <arenaut/check.h>
#include <arenaut/planner.h>

#include "ir/program.h"
#include "support/fuse.h"
#include "support/lowerings.h"
#include "support/plans.h"
#include "support/programs.h"

static arenaut_program *begin(void) {
    arenaut_program *p = new_program();
    begin_method(p, "forward");
    return p;
}

static uint32_t value(arenaut_program *p, const char *name) {
    return add_tensor(p, name, 16, ARENAUT_INTERMEDIATE);
}
static void compute(arenaut_program *p, uint32_t from, uint32_t to) {
    ADD_OP(p, .name = "neg", IN(from), OUT(to));
}
static void move(arenaut_program *p, uint32_t from, uint32_t to) {
    ADD_OP(p, .name = "move", .kind = ARENAUT_OP_MOVE, IN(from), OUT(to));
}
static void jump(arenaut_program *p, uint32_t target) {
    ADD_OP(p, .name = "jump", .kind = ARENAUT_OP_JUMP, .target = target);
}
static void jump_false(arenaut_program *p, uint32_t condition, uint32_t target) {
    ADD_OP(p, .name = "jump_false", .kind = ARENAUT_OP_JUMP_FALSE, IN(condition), .target = target);
}

/* A plan for the program as lowered, checked both ways; returns its arena. */
static uint64_t planned_by(const char *planner, const arenaut_program *p,
                           const arenaut_lowering *lowering) {
    arenaut_plan *plan = NULL;
    arenaut_error err = {0};
    const arenaut_plan_options options = {.planner = planner};
    assert_ok(arenaut_plan_make(lowering->problem, &options, NULL, &plan, &err), err);
    assert_plan_stands(p, lowering, plan);
    const uint64_t arena = plan->total;
    arenaut_plan_free(plan);
    return arena;
}

static uint64_t planned(const arenaut_program *p, const arenaut_lowering *lowering) {
    return planned_by("auto", p, lowering);
}

/* ---- branches ---- */

/*  1 neg x -> k;  2 jump_false c -> 5;  3 neg x -> a;  4 jump -> 6;  5 neg x -> b;
 *  6 neg k -> y  */
static arenaut_program *branching(void) {
    arenaut_program *p = begin();
    const uint32_t c = value(p, "c"), x = value(p, "x"), k = value(p, "k"), a = value(p, "a");
    const uint32_t b = value(p, "b"), y = value(p, "y");
    compute(p, x, k);
    jump_false(p, c, 4);
    compute(p, x, a);
    jump(p, 5);
    compute(p, x, b);
    compute(p, k, y);
    FINISH(p, LIST(c, x), LIST(y));
    return p;
}

TEST(a_tensor_untouched_by_both_branches_is_live_through_them) {
    arenaut_program *p = branching();
    arenaut_lowering *l = lower_program(p, "generic");
    expect_life(l, "k", "[1,7)");
    expect_life(l, "c", "[0,3)");
    /* The then-side ends in a jump over the other, so `x` is not alive there. */
    expect_life(l, "x", "[0,4) [5,6)");
    expect_life(l, "a", "[3,4)");
    expect_life(l, "b", "[5,6)");
    expect_life(l, "y", "[6,7)");
    assert_int_equal(l->n_steps, 7);
    assert_int_equal(l->steps[0].op, ARENAUT_NONE);
    assert_int_equal(l->steps[3].op, 2);
    planned(p, l);
    free_lowering(l, p);
}

TEST(a_tensor_is_dead_before_its_redefinition) {
    arenaut_program *p = begin();
    const uint32_t x = value(p, "x"), t = value(p, "t"), a = value(p, "a"), y = value(p, "y");
    compute(p, x, t); /* 1 */
    compute(p, t, a); /* 2 */
    jump(p, 3);       /* 3 */
    compute(p, a, t); /* 4 */
    compute(p, t, y); /* 5 */
    FINISH(p, LIST(x), LIST(y));
    arenaut_lowering *l = lower_program(p, "generic");
    expect_life(l, "t", "[1,3) [4,6)");
    expect_life(l, "a", "[2,5)");
    planned(p, l);
    free_lowering(l, p);
}

TEST(a_part_that_is_written_keeps_the_rest) {
    arenaut_program *p = begin();
    const uint32_t x = value(p, "x"), t = value(p, "t"), y = value(p, "y");
    const uint32_t half = add_view(p, "half", t, 8, 8);
    compute(p, x, t);    /* 1 */
    jump(p, 2);          /* 2 */
    compute(p, x, half); /* 3 */
    compute(p, t, y);    /* 4 */
    FINISH(p, LIST(x), LIST(y));
    arenaut_lowering *l = lower_program(p, "generic");
    expect_life(l, "t", "[1,5)");
    planned(p, l);
    free_lowering(l, p);
}

TEST(a_tensor_that_one_path_never_writes_is_alive_from_the_start) {
    arenaut_program *p = begin();
    const uint32_t c = value(p, "c"), t = value(p, "t"), y = value(p, "y");
    jump_false(p, c, 2); /* 1 */
    compute(p, c, t);    /* 2 */
    compute(p, t, y);    /* 3 */
    FINISH(p, LIST(c), LIST(y));
    arenaut_lowering *l = lower_program(p, "generic");
    expect_life(l, "t", "[0,4)"); /* it held something already */
    free_lowering(l, p);
}

TEST(results_live_to_the_end_on_every_path) {
    arenaut_program *p = begin();
    const uint32_t c = value(p, "c"), y = value(p, "y"), a = value(p, "a");
    compute(p, c, y);    /* 1 */
    jump_false(p, c, 3); /* 2: to the end */
    compute(p, c, a);    /* 3 */
    FINISH(p, LIST(c), LIST(y));
    arenaut_lowering *l = lower_program(p, "generic");
    expect_life(l, "y", "[1,4)");
    expect_life(l, "c", "[0,4)");
    planned(p, l);
    free_lowering(l, p);
}

TEST(kept_inputs_live_to_the_end) {
    arenaut_program *p = branching();
    arenaut_lowering *l = lower_for(p, arenaut_target_find("generic"),
                                    &(arenaut_lowering_options){.preserve_inputs = true});
    expect_life(l, "x", "[0,7)");
    expect_life(l, "c", "[0,7)");
    free_lowering(l, p);
}

/* ---- loops ---- */

TEST(a_tensor_read_by_the_next_iteration_is_live_through_the_loop) {
    arenaut_program *p = begin();
    const uint32_t x = value(p, "x"), k = value(p, "k"), t = value(p, "t"), u = value(p, "u");
    const uint32_t c = value(p, "c"), y = value(p, "y");
    compute(p, x, k);    /* 1 */
    compute(p, k, t);    /* 2: the body */
    compute(p, t, u);    /* 3 */
    compute(p, u, c);    /* 4 */
    jump_false(p, c, 1); /* 5 */
    compute(p, u, y);    /* 6 */
    FINISH(p, LIST(x), LIST(y));
    arenaut_lowering *l = lower_program(p, "generic");
    expect_life(l, "k", "[1,6)");
    expect_life(l, "t", "[2,4)");
    expect_life(l, "u", "[3,7)");
    expect_life(l, "c", "[4,6)");
    expect_life(l, "x", "[0,2)");
    assert_int_equal(planned(p, l), 48);
    free_lowering(l, p);
}

TEST(a_loop_carried_tensor_is_live_at_the_head_of_the_loop) {
    arenaut_program *p = begin();
    const uint32_t x = value(p, "x"), s = value(p, "s"), t = value(p, "t"), c = value(p, "c");
    compute(p, x, s);    /* 1 */
    compute(p, s, t);    /* 2: the body */
    compute(p, x, c);    /* 3 */
    compute(p, t, s);    /* 4 */
    jump_false(p, c, 1); /* 5 */
    FINISH(p, LIST(x), LIST(s));
    arenaut_lowering *l = lower_program(p, "generic");
    expect_life(l, "s", "[1,3) [4,6)");
    expect_life(l, "t", "[2,5)");
    expect_life(l, "c", "[3,6)");
    expect_life(l, "x", "[0,6)");
    planned(p, l);
    free_lowering(l, p);
}

/* ---- moves ---- */

TEST(a_moved_tensor_is_alive_where_its_name_is) {
    arenaut_program *p = begin();
    const uint32_t x = value(p, "x"), a = value(p, "a"), r = value(p, "r"), t = value(p, "t");
    const uint32_t y = value(p, "y");
    compute(p, x, a); /* 1 */
    move(p, a, r);    /* 2 */
    compute(p, x, t); /* 3 */
    compute(p, r, y); /* 4 */
    compute(p, t, x); /* 5 */
    FINISH(p, LIST(x), LIST(y));
    arenaut_lowering *l = lower_program(p, "generic");
    expect_life(l, "a", "[1,5)");
    expect_life(l, "r", "none"); /* its own memory is never used */
    planned(p, l);
    free_lowering(l, p);
}

TEST(a_moved_result_is_alive_to_the_end) {
    arenaut_program *p = begin();
    const uint32_t x = value(p, "x"), a = value(p, "a"), y = value(p, "y"), t = value(p, "t");
    compute(p, x, a);
    move(p, a, y);
    ADD_OP(p, .name = "relu", IN(a), OUT(t), IN_PLACE(0, 0)); /* 3 */
    FINISH(p, LIST(x), LIST(y));
    arenaut_lowering *l = lower_program(p, "generic");
    expect_life(l, "a", "[1,4)");
    expect_base(l, "t", NULL); /* although `a` ends where `t` begins */
    planned(p, l);
    free_lowering(l, p);
}

TEST(another_move_ends_the_first) {
    arenaut_program *p = begin();
    const uint32_t x = value(p, "x"), a = value(p, "a"), b = value(p, "b"), r = value(p, "r");
    const uint32_t u = value(p, "u"), y = value(p, "y");
    compute(p, x, a); /* 1 */
    compute(p, x, b); /* 2 */
    move(p, a, r);    /* 3 */
    compute(p, r, u); /* 4 */
    move(p, b, r);    /* 5 */
    compute(p, u, x); /* 6 */
    compute(p, r, y); /* 7 */
    FINISH(p, LIST(x), LIST(y));
    arenaut_lowering *l = lower_program(p, "generic");
    expect_life(l, "a", "[1,5)");
    expect_life(l, "b", "[2,8)");
    planned(p, l);
    free_lowering(l, p);
}

TEST(names_that_are_moved_on_keep_what_they_stand_for) {
    arenaut_program *p = begin();
    const uint32_t x = value(p, "x"), a = value(p, "a"), r = value(p, "r"), s = value(p, "s");
    const uint32_t t = value(p, "t"), y = value(p, "y");
    compute(p, x, a); /* 1 */
    move(p, a, r);    /* 2 */
    move(p, r, s);    /* 3 */
    compute(p, x, t); /* 4 */
    move(p, t, r);    /* 5 */
    compute(p, s, y); /* 6 */
    FINISH(p, LIST(x), LIST(y));
    arenaut_lowering *l = lower_program(p, "generic");
    expect_life(l, "a", "[1,7)");
    planned(p, l);
    free_lowering(l, p);
}

/* Conditionals that compute their results in memory of their own and move them out. */
static uint32_t add_conditional(arenaut_program *p, uint32_t c, uint32_t x, const char *a,
                                const char *b, uint64_t bytes) {
    const uint32_t first = p->n_ops, ta = value(p, a);
    const uint32_t tb = add_tensor(p, b, bytes, ARENAUT_INTERMEDIATE), r = value(p, NULL);
    jump_false(p, c, first + 4);
    compute(p, x, ta);
    move(p, ta, r);
    jump(p, first + 6);
    compute(p, x, tb);
    move(p, tb, r);
    return r;
}

static arenaut_program *conditionals(uint64_t bytes) {
    arenaut_program *p = begin();
    const uint32_t c = value(p, "c"), x = value(p, "x"), y = value(p, "y");
    const uint32_t one = add_conditional(p, c, x, "a1", "b1", bytes);
    const uint32_t two = add_conditional(p, c, x, "a2", "b2", bytes);
    ADD_OP(p, .name = "add", IN(one, two), OUT(y)); /* 13 */
    FINISH(p, LIST(c, x), LIST(y));
    return p;
}

TEST(two_sides_that_move_to_one_name_are_one_buffer) {
    arenaut_program *p = conditionals(16);
    arenaut_lowering *l = lower_program(p, "generic");
    expect_life(l, "a1", "[2,14)");
    expect_life(l, "b1", "none"); /* it is the same */
    expect_life(l, "a2", "[8,14)");
    assert_int_equal(l->buffer[4], l->buffer[3]);
    assert_int_equal(planned(p, l), 48);
    free_lowering(l, p);
}

TEST(sides_of_other_sizes_stay_apart) {
    arenaut_program *p = conditionals(32);
    arenaut_lowering *l = lower_program(p, "generic");
    expect_life(l, "a1", "[2,5) [7,14)"); /* not where only the other side was taken */
    expect_life(l, "b1", "[5,14)");
    planned(p, l);
    free_lowering(l, p);
}

TEST(a_side_that_hands_on_what_is_needed_later_stays_apart) {
    arenaut_program *p = begin();
    const uint32_t c = value(p, "c"), x = value(p, "x"), b = value(p, "b"), r = value(p, "r");
    const uint32_t k = value(p, "k"), y = value(p, "y");
    compute(p, x, k);                           /* 1 */
    jump_false(p, c, 4);                        /* 2 */
    move(p, k, r);                              /* 3 */
    jump(p, 6);                                 /* 4 */
    compute(p, x, b);                           /* 5 */
    move(p, b, r);                              /* 6 */
    ADD_OP(p, .name = "add", IN(r, k), OUT(y)); /* 7 */
    FINISH(p, LIST(c, x), LIST(y));
    arenaut_lowering *l = lower_program(p, "generic");
    expect_life(l, "k", "[1,8)");
    expect_life(l, "b", "[5,8)");
    planned(p, l);
    free_lowering(l, p);
}

TEST(values_that_a_loop_moves_to_one_name_may_share_a_buffer) {
    arenaut_program *p = begin();
    const uint32_t x = value(p, "x"), a = value(p, "a"), b = value(p, "b"), d = value(p, "d");
    const uint32_t c = value(p, "c"), y = value(p, "y");
    compute(p, x, a);    /* 1 */
    move(p, a, d);       /* 2 */
    compute(p, d, c);    /* 3: the body; d is a, or b of the last turn */
    compute(p, x, b);    /* 4 */
    move(p, b, d);       /* 5 */
    jump_false(p, c, 2); /* 6 */
    compute(p, d, y);    /* 7 */
    FINISH(p, LIST(x), LIST(y));
    arenaut_lowering *l = lower_program(p, "generic");
    expect_life(l, "a", "[1,8)"); /* one with b: they never meet */
    planned(p, l);
    free_lowering(l, p);
}

/* ---- refusals ---- */

TEST(jumps_beside_calls_are_refused) {
    arenaut_program *p = begin();
    const uint32_t x = value(p, "x"), y = value(p, "y");
    ADD_OP(p, .name = "call", .kind = ARENAUT_OP_CALL, IN(x), OUT(y), CALLS(1));
    jump(p, 2);
    SET_IO(p, 0, LIST(x), LIST(y));
    begin_submethod(p, "callee");
    finish_program(p);
    arenaut_lowering *l = NULL;
    arenaut_error err = {0};
    assert_int_equal(arenaut_lower(p, arenaut_target_find("generic"), NULL, NULL, &l, &err),
                     ARENAUT_UNSUPPORTED);
    assert_non_null(strstr(err.msg, "forward"));
    arn_program_free(p);
}

/* ---- random graphs ---- */

static arenaut_status replay_apart(const arenaut_program *p) {
    uint32_t pool[64] = {0};
    uint64_t offset[64];
    arenaut_finding finding;
    for (uint32_t t = 0; t < 64; t++) offset[t] = t * 64;
    const arenaut_placement placement = {p->n_tensors, 1, pool, offset, NULL};
    return arenaut_check_replay(p, &placement, NULL, NULL, &finding, NULL);
}

/* Ops at random; those that read a tensor that no path has written are left out by the caller. */
static arenaut_program *random_flow(rng *r) {
    arenaut_program *p = begin();
    const uint32_t n_values = 4 + rng_below(r, 12), n_ops = 4 + rng_below(r, 26);
    for (uint32_t i = 0; i < n_values; i++) {
        add_tensor(p, NULL, rng_once_in(r, 4) ? 32 : 16, ARENAUT_INTERMEDIATE);
    }
    for (uint32_t i = 0; i < n_ops; i++) {
        const uint32_t a = rng_below(r, n_values), b = rng_below(r, n_values);
        const uint32_t c = rng_below(r, n_values);
        /* Mostly forward: few ways round find all that they read written. */
        const uint32_t ahead = i + 1 + rng_below(r, n_ops - i);
        const uint32_t to = rng_once_in(r, 4) ? rng_below(r, n_ops + 1) : ahead;
        switch (rng_below(r, 8)) {
            case 0: jump_false(p, 0, to); break;
            case 1:
                if (rng_once_in(r, 3)) jump(p, ahead);
                else move(p, a, b);
                break;
            case 2:
            case 3: move(p, a, b); break;
            case 4: ADD_OP(p, .name = "add_", .kind = ARENAUT_OP_IN_PLACE, IN(a, b), OUT(a)); break;
            case 5: ADD_OP(p, .name = "fill", OUT(a)); break;
            default:
                if (a == c || b == c) ADD_OP(p, .name = "fill", OUT(c));
                else ADD_OP(p, .name = "add", IN(a, b), OUT(c), IN_PLACE(0, 0));
                break;
        }
    }
    const uint32_t result = rng_below(r, n_values);
    FINISH(p, LIST(0, 1, 2), LIST(result));
    return p;
}

TEST(plans_of_random_graphs_stand_up_to_replay) {
    rng r = {20};
    uint32_t used = 0, shared = 0;
    for (uint32_t i = 0; i < 40000 && used < 1500; i++) {
        arenaut_program *p = random_flow(&r);
        if (replay_apart(p) == ARENAUT_OK) {
            arenaut_lowering *l = lower_program(p, "generic");
            uint64_t apart = 0;
            for (uint32_t b = 0; b < l->problem->n_buffers; b++) apart += l->problem->size[b];
            shared += planned_by("best-fit", p, l) < apart;
            used++;
            arenaut_lowering_free(l);
        }
        arn_program_free(p);
    }
    print_message("%u graphs, %u with shared memory\n", used, shared);
    assert_true(used >= 1000 && shared >= 300);
}

/* ---- limits ---- */

TEST(large_graphs_take_little_time) {
    enum { N = 20000 };
    arenaut_program *p = begin();
    const uint32_t c = value(p, "c"), y = value(p, "y");
    uint32_t last = c;
    for (uint32_t i = 0; i < N; i++) {
        last = add_conditional(p, c, last, NULL, NULL, 16);
    }
    compute(p, last, y);
    FINISH(p, LIST(c), LIST(y));
    const clock_t begun = clock();
    arenaut_lowering *l = lower_program(p, "generic");
    print_message("%d conditionals: %.2f s\n", N, (double)(clock() - begun) / CLOCKS_PER_SEC);
    assert_true((double)(clock() - begun) / CLOCKS_PER_SEC < 20);
    free_lowering(l, p);
}

TEST(graphs_that_explode_are_refused_or_done_soon) {
    enum { N = 2500 };
    arenaut_program *p = begin();
    rng r = {3};
    uint32_t v[100];
    for (uint32_t i = 0; i < COUNT_OF(v); i++) v[i] = value(p, NULL);
    for (uint32_t i = 0; i < N; i++) {
        if (i % 2) jump_false(p, v[0], rng_below(&r, N + 1));
        else move(p, v[rng_below(&r, COUNT_OF(v))], v[rng_below(&r, COUNT_OF(v))]);
    }
    FINISH(p, LIST(v[0]), LIST(v[1]));
    const clock_t begun = clock();
    arenaut_lowering *l = NULL;
    arenaut_error err = {0};
    const arenaut_status st =
        arenaut_lower(p, arenaut_target_find("generic"), NULL, NULL, &l, &err);
    print_message("%s: %.2f s\n", arenaut_status_text(st),
                  (double)(clock() - begun) / CLOCKS_PER_SEC);
    assert_true(st == ARENAUT_OK || st == ARENAUT_UNSUPPORTED);
    assert_true((double)(clock() - begun) / CLOCKS_PER_SEC < 60);
    free_lowering(l, p);
}

static arenaut_status attempt(void *context, const arenaut_allocator *allocator) {
    arenaut_lowering *l = NULL;
    const arenaut_status st =
        arenaut_lower(context, arenaut_target_find("generic"), NULL, allocator, &l, NULL);
    arenaut_lowering_free(l);
    return st;
}

TEST(it_survives_running_out_of_memory) {
    arenaut_program *p = conditionals(16);
    survives_every_allocation_failure(attempt, p);
    arn_program_free(p);
}
