/* Plan against problem: each rule broken by hand, then random plans against the oracle. */
#include "support/test.h"

#include <stdlib.h>
#include <time.h>

#include <arenaut/check.h>

#include "support/fuse.h"
#include "support/oracle.h"
#include "support/problems.h"

enum { SIZE_ROOM = 16 };

/* A problem, and a plan for it that puts buffer k at offsets[k] of pool 0. */
typedef struct scene {
    arenaut_problem *problem;
    arenaut_plan *plan;
    arenaut_finding finding;
    arenaut_error err;
} scene;

static void open_scene(scene *s, arenaut_problem *problem, const uint64_t *offsets) {
    memset(s, 0, sizeof *s);
    s->problem = problem;
    assert_ok(arenaut_plan_new(problem->n_buffers, problem->n_pools, NULL, &s->plan, &s->err),
              s->err);
    for (uint32_t b = 0; b < problem->n_buffers; b++) {
        s->plan->pool[b] = arenaut_problem_needs_memory(problem, b) ? 0 : ARENAUT_NONE;
        s->plan->offset[b] = offsets[b];
    }
    /* The bound is left at 0; offsets that cannot be measured are the subject of a test. */
    (void)arenaut_plan_measure(s->plan, problem, NULL);
}

static void close_scene(scene *s) {
    arenaut_plan_free(s->plan);
    arenaut_problem_free(s->problem);
}

static void expect(scene *s, arenaut_rule rule) {
    const arenaut_status status =
        arenaut_check_plan(s->problem, s->plan, NULL, &s->finding, &s->err);
    if (s->finding.rule != rule) {
        fail_msg("expected \"%s\", found \"%s\": %s", arenaut_rule_name(rule),
                 arenaut_rule_name(s->finding.rule), s->finding.msg);
    }
    assert_int_equal(status, rule == ARENAUT_RULE_NONE ? ARENAUT_OK : ARENAUT_REJECTED);
    if (rule != ARENAUT_RULE_NONE) {
        assert_string_not_equal(s->finding.msg, "");
        assert_string_equal(s->finding.msg, s->err.msg);
    }
}

/* Arenas anew, after the test has moved something. */
static void measure(scene *s) { (void)arenaut_plan_measure(s->plan, s->problem, NULL); }

static void expect_measured(scene *s, arenaut_rule rule) {
    measure(s);
    expect(s, rule);
}

static void expect_overlap(scene *s, uint32_t a, uint32_t b, uint64_t first, uint64_t end) {
    expect(s, ARENAUT_RULE_OVERLAP);
    assert_int_equal(s->finding.a, a);
    assert_int_equal(s->finding.b, b);
    assert_int_equal(s->finding.first, first);
    assert_int_equal(s->finding.end, end);
}

#define OFFSETS(...) \
    (const uint64_t[]) { __VA_ARGS__ }
#define BOXES(...) problem_of((const box[]){__VA_ARGS__}, COUNT_OF(((const box[]){__VA_ARGS__})))

/* ---- one buffer ---- */

TEST(a_plan_of_another_shape_is_rejected) {
    scene s;
    open_scene(&s, BOXES({8, 0, 2}), OFFSETS(0));
    s.plan->n_buffers = 0;
    expect(&s, ARENAUT_RULE_SHAPE);
    s.plan->n_buffers = 1;
    s.plan->n_pools = 2;
    expect(&s, ARENAUT_RULE_SHAPE);
    close_scene(&s);
}

TEST(a_buffer_without_place_is_rejected) {
    scene s;
    open_scene(&s, BOXES({8, 0, 2}), OFFSETS(0));
    s.plan->pool[0] = ARENAUT_NONE;
    expect(&s, ARENAUT_RULE_UNPLACED);
    close_scene(&s);
}

TEST(a_pool_that_does_not_exist_is_rejected) {
    scene s;
    open_scene(&s, BOXES({8, 0, 2}, {0, 0, 2}), OFFSETS(0, 0));
    s.plan->pool[0] = 1;
    expect(&s, ARENAUT_RULE_POOL);
    s.plan->pool[0] = 0;
    s.plan->pool[1] = 7; /* also for a buffer that needs none */
    expect(&s, ARENAUT_RULE_POOL);
    close_scene(&s);
}

TEST(a_pool_that_is_not_allowed_is_rejected) {
    arenaut_problem *p = new_problem();
    add_pool(p, "fast", ARENAUT_UNLIMITED, 1);
    add_pool(p, "slow", ARENAUT_UNLIMITED, 1);
    ADD_BUFFER(p, .size = 8, LIFE(0, 2), .pools = 2);
    finish(p);
    scene s;
    open_scene(&s, p, OFFSETS(0));
    expect(&s, ARENAUT_RULE_POOL);
    s.plan->pool[0] = 1;
    expect_measured(&s, ARENAUT_RULE_NONE);
    close_scene(&s);
}

TEST(a_misaligned_buffer_is_rejected) {
    arenaut_problem *p = new_problem();
    ADD_BUFFER(p, .size = 8, LIFE(0, 2), .align = 16);
    finish(p);
    scene s;
    open_scene(&s, p, OFFSETS(8));
    expect(&s, ARENAUT_RULE_ALIGNMENT);
    close_scene(&s);
}

TEST(an_end_that_overflows_is_rejected) {
    scene s;
    open_scene(&s, BOXES({8, 0, 2}), OFFSETS(ARENAUT_SIZE_MAX - 7));
    expect(&s, ARENAUT_RULE_OVERFLOW);
    s.plan->offset[0] = UINT64_MAX - 1; /* -2, as a file might say */
    expect(&s, ARENAUT_RULE_OVERFLOW);
    close_scene(&s);
}

TEST(a_buffer_past_the_capacity_is_rejected) {
    arenaut_problem *p = new_problem();
    add_pool(p, "sram", 16, 1);
    add_box(p, 8, 0, 2);
    finish(p);
    scene s;
    open_scene(&s, p, OFFSETS(9));
    expect(&s, ARENAUT_RULE_CAPACITY);
    s.plan->offset[0] = 8;
    expect_measured(&s, ARENAUT_RULE_NONE);
    close_scene(&s);
}

TEST(a_fixed_offset_that_is_not_kept_is_rejected) {
    arenaut_problem *p = new_problem();
    ADD_BUFFER(p, .size = 8, LIFE(0, 2), .fixed_offset = arenaut_at(32));
    finish(p);
    scene s;
    open_scene(&s, p, OFFSETS(0));
    expect(&s, ARENAUT_RULE_FIXED);
    close_scene(&s);
}

TEST(a_buffer_in_a_reserved_range_is_rejected) {
    arenaut_problem *p = new_problem();
    add_pool(p, NULL, ARENAUT_UNLIMITED, 1);
    const arenaut_reserved ranges[] = {{0, 0, 4}, {0, 20, 24}};
    arenaut_error err = {0};
    for (size_t i = 0; i < 2; i++) {
        assert_ok(arenaut_problem_add_reserved(p, &ranges[i], &err), err);
    }
    add_box(p, 8, 0, 2);
    finish(p);
    scene s;
    open_scene(&s, p, OFFSETS(3));
    expect(&s, ARENAUT_RULE_RESERVED);
    assert_int_equal(s.finding.first, 3);
    assert_int_equal(s.finding.end, 4);
    const uint64_t right[] = {4, 12, 24}, wrong[] = {13, 20, 22, 16};
    for (size_t i = 0; i < COUNT_OF(right) + COUNT_OF(wrong); i++) {
        const bool fine = i < COUNT_OF(right);
        s.plan->offset[0] = fine ? right[i] : wrong[i - COUNT_OF(right)];
        expect_measured(&s, fine ? ARENAUT_RULE_NONE : ARENAUT_RULE_RESERVED);
    }
    close_scene(&s);
}

/* ---- pairs ---- */

TEST(buffers_alive_together_must_be_apart) {
    scene s;
    open_scene(&s, BOXES({8, 0, 3}, {8, 2, 5}), OFFSETS(0, 7));
    expect_overlap(&s, 0, 1, 7, 8);
    assert_int_equal(s.finding.step, 2);
    s.plan->offset[1] = 8;
    expect_measured(&s, ARENAUT_RULE_NONE);
    close_scene(&s);
}

TEST(buffers_one_after_another_may_share) {
    scene s;
    open_scene(&s, BOXES({8, 0, 3}, {8, 3, 5}, {0, 0, 9}, {8, 4, 4}), OFFSETS(0, 0, 0, 0));
    expect(&s, ARENAUT_RULE_NONE);
    close_scene(&s);
}

/*  0 ────┐    ┌──
 *        └────┘       1 lives in the gap of 0, 2 reaches one step into its second life */
TEST(a_gap_may_be_used_and_no_more) {
    for (int64_t end = 5; end <= 6; end++) {
        arenaut_problem *p = new_problem();
        ADD_BUFFER(p, .size = 8, LIVES({0, 2}, {5, 8}));
        add_box(p, 8, 2, end);
        finish(p);
        scene s;
        open_scene(&s, p, OFFSETS(0, 0));
        expect(&s, end == 5 ? ARENAUT_RULE_NONE : ARENAUT_RULE_OVERLAP);
        if (end == 6) assert_int_equal(s.finding.step, 5);
        close_scene(&s);
    }
}

TEST(a_conflict_edge_keeps_buffers_apart) {
    arenaut_problem *p = new_problem();
    add_box(p, 8, 0, 2);
    add_box(p, 8, 4, 6);
    arenaut_error err = {0};
    assert_ok(arenaut_problem_add_conflict(p, 1, 0, &err), err);
    finish(p);
    scene s;
    open_scene(&s, p, OFFSETS(0, 4));
    expect_overlap(&s, 0, 1, 4, 8);
    close_scene(&s);
}

TEST(pools_do_not_interfere) {
    arenaut_problem *p = new_problem();
    add_pool(p, "a", ARENAUT_UNLIMITED, 1);
    add_pool(p, "b", ARENAUT_UNLIMITED, 1);
    for (int i = 0; i < 4; i++) add_box(p, 8, 0, 2);
    finish(p);
    scene s;
    open_scene(&s, p, OFFSETS(0, 0, 8, 8));
    s.plan->pool[1] = s.plan->pool[3] = 1;
    expect_measured(&s, ARENAUT_RULE_NONE);
    s.plan->offset[3] = 4;
    measure(&s);
    expect_overlap(&s, 1, 3, 4, 8);
    assert_int_equal(s.finding.pool, 1);
    close_scene(&s);
}

/* ---- relations ---- */

static uint32_t add_heir(arenaut_problem *p, uint64_t size, int64_t first, int64_t end,
                         uint32_t base) {
    return ADD_BUFFER(p, .size = size, LIFE(first, end), .same_base = arenaut_id(base));
}

static uint32_t add_slice(arenaut_problem *p, uint64_t size, int64_t first, int64_t end,
                          uint32_t host, uint64_t delta) {
    return ADD_BUFFER(p, .size = size, LIFE(first, end), .inside = arenaut_id(host),
                      .inside_delta = delta);
}

TEST(a_chain_of_same_base_pairs_may_share_one_place) {
    arenaut_problem *p = new_problem();
    add_box(p, 8, 0, 3);
    add_heir(p, 8, 2, 5, 0);
    add_heir(p, 4, 4, 7, 1);
    add_heir(p, 12, 6, 9, 2);
    finish(p);
    scene s;
    open_scene(&s, p, OFFSETS(0, 0, 0, 0));
    expect(&s, ARENAUT_RULE_NONE);
    close_scene(&s);
}

TEST(a_same_base_pair_at_another_offset_is_rejected) {
    arenaut_problem *p = new_problem();
    add_box(p, 8, 0, 3);
    add_heir(p, 8, 2, 5, 0);
    finish(p);
    scene s;
    open_scene(&s, p, OFFSETS(0, 4));
    expect_overlap(&s, 0, 1, 4, 8);
    s.plan->offset[1] = 8; /* a permission, not a duty */
    expect_measured(&s, ARENAUT_RULE_NONE);
    close_scene(&s);
}

TEST(two_heirs_of_one_base_conflict) {
    arenaut_problem *p = new_problem();
    add_box(p, 8, 0, 3);
    add_heir(p, 8, 2, 5, 0);
    add_heir(p, 8, 2, 5, 0);
    finish(p);
    scene s;
    open_scene(&s, p, OFFSETS(0, 0, 0));
    expect_overlap(&s, 1, 2, 0, 8);
    close_scene(&s);
}

/* The base comes alive while its heir is: the permission has no direction. */
TEST(a_base_may_come_after_its_heir) {
    arenaut_problem *p = new_problem();
    add_box(p, 8, 4, 9);
    add_heir(p, 8, 2, 5, 0);
    add_box(p, 4, 4, 5);
    finish(p);
    scene s;
    open_scene(&s, p, OFFSETS(0, 0, 8));
    expect(&s, ARENAUT_RULE_NONE);
    s.plan->offset[2] = 4;
    measure(&s);
    expect_overlap(&s, 0, 2, 4, 8);
    close_scene(&s);
}

/* A pair of buffers may have both relations; each overlap counts once. */
TEST(a_slice_may_be_an_heir_of_its_host) {
    arenaut_problem *p = new_problem();
    add_box(p, 8, 0, 3);
    ADD_BUFFER(p, .size = 8, LIFE(2, 5), .same_base = arenaut_id(0), .inside = arenaut_id(0));
    add_box(p, 8, 2, 3);
    finish(p);
    scene s;
    open_scene(&s, p, OFFSETS(0, 0, 8));
    expect(&s, ARENAUT_RULE_NONE);
    s.plan->offset[2] = 7;
    measure(&s);
    expect_overlap(&s, 0, 2, 7, 8);
    close_scene(&s);
}

TEST(an_unrelated_buffer_behind_an_allowed_overlap_is_found) {
    arenaut_problem *p = new_problem();
    add_box(p, 32, 0, 3);
    add_heir(p, 4, 2, 5, 0);
    add_box(p, 4, 2, 5); /* in 0's bytes, past the end of 1 */
    finish(p);
    scene s;
    open_scene(&s, p, OFFSETS(0, 0, 16));
    expect_overlap(&s, 0, 2, 16, 20);
    close_scene(&s);
}

/*  host   [0 ............ 16)
 *  slices [0 .. 8) [8 .. 16), and one of 4 bytes inside the second at +4 */
static arenaut_problem *concat(void) {
    arenaut_problem *p = new_problem();
    add_box(p, 16, 2, 9);
    add_slice(p, 8, 0, 5, 0, 0);
    add_slice(p, 8, 1, 6, 0, 8);
    add_slice(p, 4, 1, 4, 2, 4);
    finish(p);
    return p;
}

TEST(slices_lie_in_their_hosts) {
    scene s;
    open_scene(&s, concat(), OFFSETS(32, 32, 40, 44));
    expect(&s, ARENAUT_RULE_NONE);
    close_scene(&s);
}

TEST(a_slice_off_its_delta_is_rejected) {
    scene s;
    open_scene(&s, concat(), OFFSETS(32, 32, 41, 45));
    expect(&s, ARENAUT_RULE_INSIDE);
    assert_int_equal(s.finding.a, 2);
    assert_int_equal(s.finding.b, 0);
    s.plan->offset[2] = 40;
    s.plan->offset[3] = 40;
    expect(&s, ARENAUT_RULE_INSIDE);
    assert_int_equal(s.finding.a, 3);
    close_scene(&s);
}

TEST(overlapping_siblings_are_rejected) {
    arenaut_problem *p = new_problem();
    add_box(p, 16, 2, 9);
    add_slice(p, 8, 0, 5, 0, 0);
    add_slice(p, 8, 1, 6, 0, 4);
    finish(p);
    scene s;
    open_scene(&s, p, OFFSETS(0, 0, 4));
    expect_overlap(&s, 1, 2, 4, 8);
    close_scene(&s);
}

TEST(a_stranger_in_a_host_is_found_behind_its_slice) {
    arenaut_problem *p = new_problem();
    add_box(p, 32, 0, 9);
    add_slice(p, 4, 0, 9, 0, 0);
    add_box(p, 4, 1, 3);
    finish(p);
    scene s;
    open_scene(&s, p, OFFSETS(0, 0, 8));
    expect_overlap(&s, 0, 2, 8, 12);
    close_scene(&s);
}

TEST(slices_of_a_host_that_never_lives_hold_to_the_next_one_out) {
    arenaut_problem *p = new_problem();
    add_box(p, 32, 0, 9);
    add_slice(p, 16, 3, 3, 0, 8);
    add_slice(p, 4, 0, 9, 1, 4);
    finish(p);
    scene s;
    open_scene(&s, p, OFFSETS(0, 0, 12));
    expect(&s, ARENAUT_RULE_NONE);
    s.plan->offset[2] = 4;
    expect(&s, ARENAUT_RULE_INSIDE);
    close_scene(&s);
}

/* ---- claims ---- */

TEST(a_wrong_arena_is_rejected) {
    arenaut_problem *p = new_problem();
    add_pool(p, NULL, ARENAUT_UNLIMITED, 16);
    add_box(p, 17, 0, 2);
    finish(p);
    scene s;
    open_scene(&s, p, OFFSETS(0));
    assert_int_equal(s.plan->arena[0], 32);
    expect(&s, ARENAUT_RULE_NONE);
    s.plan->arena[0] = s.plan->total = 17;
    expect(&s, ARENAUT_RULE_ARENA);
    s.plan->arena[0] = 32;
    expect(&s, ARENAUT_RULE_ARENA); /* the total */
    close_scene(&s);
}

TEST(a_bound_above_the_arena_is_rejected) {
    scene s;
    open_scene(&s, BOXES({8, 0, 2}), OFFSETS(0));
    s.plan->lower_bound[0] = 9;
    expect(&s, ARENAUT_RULE_BOUND);
    s.plan->lower_bound[0] = 8;
    s.plan->total_bound = 9;
    expect(&s, ARENAUT_RULE_BOUND);
    s.plan->total_bound = 8;
    expect(&s, ARENAUT_RULE_NONE);
    close_scene(&s);
}

TEST(optimal_means_at_the_bound) {
    scene s;
    open_scene(&s, BOXES({8, 0, 2}), OFFSETS(0));
    s.plan->quality = ARENAUT_OPTIMAL;
    s.plan->total_bound = 7;
    expect(&s, ARENAUT_RULE_BOUND);
    s.plan->total_bound = 8;
    expect(&s, ARENAUT_RULE_NONE);
    close_scene(&s);
}

TEST(a_problem_that_is_not_valid_is_refused) {
    scene s;
    open_scene(&s, BOXES({8, 0, 2}), OFFSETS(0));
    s.problem->lifetime[0].end = -1;
    assert_int_equal(arenaut_check_plan(s.problem, s.plan, NULL, &s.finding, NULL),
                     ARENAUT_BAD_INPUT);
    assert_int_equal(s.finding.rule, ARENAUT_RULE_NONE);
    close_scene(&s);
}

/* ---- witnesses ---- */

/* Puts a witness into the plan; the memory is the plan's, as a planner's would be. */
static void testify(scene *s, int64_t step, uint32_t pool, const uint32_t *buffers, uint32_t n,
                    uint64_t bytes_over) {
    free(s->plan->witness.buffers);
    s->plan->witness.buffers = malloc(n * sizeof *buffers);
    assert_non_null(s->plan->witness.buffers);
    memcpy(s->plan->witness.buffers, buffers, n * sizeof *buffers);
    s->plan->witness.n_buffers = n;
    s->plan->witness.step = step;
    s->plan->witness.pool = pool;
    s->plan->witness.bytes_over = bytes_over;
    s->plan->quality = ARENAUT_INFEASIBLE;
    s->plan->stopped_by = ARENAUT_STOP_PROOF;
}

#define IDS(...) (const uint32_t[]){__VA_ARGS__}, COUNT_OF(((const uint32_t[]){__VA_ARGS__}))

static arenaut_problem *three_in(uint64_t capacity) {
    arenaut_problem *p = new_problem();
    add_pool(p, "sram", capacity, 1);
    add_box(p, 8, 0, 3);
    add_box(p, 8, 2, 5);
    add_box(p, 8, 2, 3);
    finish(p);
    return p;
}

TEST(an_overload_proves_infeasibility) {
    scene s;
    open_scene(&s, three_in(20), OFFSETS(0, 0, 0));
    testify(&s, 2, 0, IDS(0, 1, 2), 4);
    expect(&s, ARENAUT_RULE_NONE);
    testify(&s, 2, ARENAUT_NONE, IDS(2, 0, 1), 1);
    expect(&s, ARENAUT_RULE_NONE);
    close_scene(&s);
}

TEST(a_witness_that_proves_nothing_is_rejected) {
    scene s;
    open_scene(&s, three_in(20), OFFSETS(0, 0, 0));
    testify(&s, 2, 0, IDS(0, 1, 2), 5); /* it is 4 */
    expect(&s, ARENAUT_RULE_WITNESS);
    testify(&s, 2, 0, IDS(0, 1, 2), 0);
    expect(&s, ARENAUT_RULE_WITNESS);
    testify(&s, 3, 0, IDS(0, 1, 2), 4); /* not all alive */
    expect(&s, ARENAUT_RULE_WITNESS);
    testify(&s, 2, 0, IDS(0, 1, 1), 4);
    expect(&s, ARENAUT_RULE_WITNESS);
    testify(&s, 2, 0, IDS(0, 1, 3), 4);
    expect(&s, ARENAUT_RULE_WITNESS);
    testify(&s, 2, 1, IDS(0, 1, 2), 4);
    expect(&s, ARENAUT_RULE_WITNESS);
    testify(&s, 2, 0, IDS(0, 1), 1); /* they fit */
    expect(&s, ARENAUT_RULE_WITNESS);
    close_scene(&s);
}

TEST(infeasible_without_witness_needs_a_finished_search) {
    scene s;
    open_scene(&s, three_in(20), OFFSETS(0, 0, 0));
    s.plan->quality = ARENAUT_INFEASIBLE;
    s.plan->stopped_by = ARENAUT_STOP_EFFORT;
    expect(&s, ARENAUT_RULE_WITNESS);
    s.plan->stopped_by = ARENAUT_STOP_PROOF;
    expect(&s, ARENAUT_RULE_NONE);
    close_scene(&s);
}

TEST(bytes_that_relations_share_do_not_add_up) {
    arenaut_problem *p = new_problem();
    add_pool(p, NULL, 10, 1);
    add_box(p, 8, 0, 3);
    add_heir(p, 6, 2, 3, 0);
    add_slice(p, 4, 2, 3, 0, 0);
    finish(p);
    scene s;
    open_scene(&s, p, OFFSETS(0, 0, 0));
    testify(&s, 2, 0, IDS(0, 1, 2), 1);
    expect(&s, ARENAUT_RULE_WITNESS);
    close_scene(&s);
}

TEST(a_buffer_larger_than_every_pool_is_its_own_witness) {
    arenaut_problem *p = new_problem();
    add_pool(p, NULL, 10, 1);
    add_pool(p, NULL, 12, 1);
    add_box(p, 16, 0, 3);
    finish(p);
    scene s;
    open_scene(&s, p, OFFSETS(0));
    testify(&s, 0, ARENAUT_NONE, IDS(0), 4); /* not 16 - (10 + 12) */
    expect(&s, ARENAUT_RULE_NONE);
    testify(&s, 0, ARENAUT_NONE, IDS(0), 5);
    expect(&s, ARENAUT_RULE_WITNESS);
    close_scene(&s);
}

static uint32_t add_fixed(arenaut_problem *p, uint64_t size, int64_t first, int64_t end,
                          uint64_t offset) {
    return ADD_BUFFER(p, .size = size, LIFE(first, end), .fixed_offset = arenaut_at(offset));
}

TEST(fixed_buffers_that_overlap_are_a_witness) {
    arenaut_problem *p = new_problem();
    add_fixed(p, 8, 0, 3, 0);
    add_fixed(p, 8, 2, 5, 6);
    add_fixed(p, 8, 3, 5, 0);
    finish(p);
    scene s;
    open_scene(&s, p, OFFSETS(0, 6, 0));
    testify(&s, 2, 0, IDS(0, 1), 2);
    expect(&s, ARENAUT_RULE_NONE);
    testify(&s, 2, 0, IDS(0, 1), 3);
    expect(&s, ARENAUT_RULE_WITNESS);
    testify(&s, 2, 0, IDS(0, 2), 8); /* one after the other */
    expect(&s, ARENAUT_RULE_WITNESS);
    close_scene(&s);
}

TEST(related_buffers_may_be_fixed_over_one_another) {
    arenaut_problem *p = new_problem();
    const arenaut_interval life = {2, 5};
    arenaut_buffer heir = ARENAUT_BUFFER_INIT;
    heir.size = 8;
    heir.lifetimes = &life;
    heir.n_lifetimes = 1;
    heir.same_base = arenaut_id(0);
    heir.fixed_offset = arenaut_at(0);
    add_fixed(p, 8, 0, 3, 0);
    add_buffer(p, &heir);
    add_slice(p, 4, 0, 3, 0, 4);
    finish(p);
    scene s;
    open_scene(&s, p, OFFSETS(0, 0, 4));
    testify(&s, 2, 0, IDS(0, 1), 8);
    expect(&s, ARENAUT_RULE_WITNESS);
    testify(&s, 2, 0, IDS(0, 2), 4);
    expect(&s, ARENAUT_RULE_WITNESS);
    testify(&s, 2, 0, IDS(1, 2), 4); /* but the slice and the heir are strangers */
    expect(&s, ARENAUT_RULE_NONE);
    close_scene(&s);
}

TEST(a_pin_in_the_middle_leaves_no_gap) {
    arenaut_problem *p = new_problem();
    add_pool(p, NULL, 100, 1);
    add_fixed(p, 20, 0, 3, 40);
    add_box(p, 50, 0, 3);
    finish(p);
    scene s;
    open_scene(&s, p, OFFSETS(40, 0));
    testify(&s, 1, 0, IDS(0, 1), 10);
    expect(&s, ARENAUT_RULE_NONE);
    testify(&s, 1, 0, IDS(0, 1), 11);
    expect(&s, ARENAUT_RULE_WITNESS);
    close_scene(&s);
}

TEST(alignment_counts_in_an_overload) {
    arenaut_problem *p = new_problem();
    add_pool(p, NULL, 40, 1);
    for (int i = 0; i < 3; i++) {
        ADD_BUFFER(p, .size = 12, LIFE(0, 2), .align = 16);
    }
    finish(p);
    scene s;
    open_scene(&s, p, OFFSETS(0, 0, 0));
    testify(&s, 0, 0, IDS(0, 1, 2), 4); /* at 0, 16 and 32 they end at 44 */
    expect(&s, ARENAUT_RULE_NONE);
    testify(&s, 0, 0, IDS(0, 1, 2), 5);
    expect(&s, ARENAUT_RULE_WITNESS);
    close_scene(&s);
}

/* ---- random plans against the oracle ---- */

static void try_somewhere(rng *r, const arenaut_problem *p, arenaut_plan *plan, uint32_t b) {
    const uint32_t host = arenaut_problem_inside(p, b), base = arenaut_problem_same_base(p, b);
    plan->pool[b] = rng_below(r, p->n_pools);
    plan->offset[b] = rng_below(r, 5 * SIZE_ROOM);
    if (!rng_once_in(r, 8)) plan->offset[b] &= ~(arenaut_problem_align(p, b) - 1);
    if (arenaut_problem_fixed_offset(p, b) != ARENAUT_UNPLACED && !rng_once_in(r, 8)) {
        plan->offset[b] = arenaut_problem_fixed_offset(p, b);
    }
    if (base != ARENAUT_NONE && rng_once_in(r, 2)) {
        plan->pool[b] = plan->pool[base];
        plan->offset[b] = plan->offset[base];
    }
    if (host != ARENAUT_NONE && !rng_once_in(r, 8)) {
        plan->pool[b] = plan->pool[host];
        plan->offset[b] = plan->offset[host] + p->inside_delta[b];
    }
    if (plan->pool[b] == ARENAUT_NONE) plan->pool[b] = 0;
}

/* Mostly right: each buffer gets several tries for a place beside those before it. */
static arenaut_plan *random_plan(rng *r, const arenaut_problem *p) {
    arenaut_plan *plan = NULL;
    arenaut_error err = {0};
    assert_ok(arenaut_plan_new(p->n_buffers, p->n_pools, NULL, &plan, &err), err);
    const uint32_t tries = 1 + rng_below(r, rng_once_in(r, 2) ? 4 : 60);
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        for (uint32_t i = 0; i < tries; i++) {
            try_somewhere(r, p, plan, b);
            if (oracle_accepts_buffer(p, plan, b)) break;
        }
    }
    /* Then, often, one of them goes to a place that was not checked. */
    if (rng_once_in(r, 3)) {
        const uint32_t b = rng_below(r, p->n_buffers), a = rng_below(r, p->n_buffers);
        plan->pool[b] = plan->pool[a];
        plan->offset[b] = plan->offset[a] & ~(arenaut_problem_align(p, b) - 1);
    }
    assert_ok(arenaut_plan_measure(plan, p, &err), err);
    return plan;
}

TEST(checker_and_oracle_agree_on_random_plans) {
    enum { SEEDS = 20000 };
    uint32_t accepted = 0, with_relations = 0, overlaps = 0;
    for (uint32_t seed = 0; seed < SEEDS; seed++) {
        rng r = {seed};
        const problem_shape shape = {2 + seed % 12, SIZE_ROOM, 3 + seed % 9,
                                     (uint32_t)rng_next(&r) & ARENAUT_FEATURE_ALL};
        arenaut_problem *p = random_problem(&r, &shape);
        arenaut_plan *plan = random_plan(&r, p);
        arenaut_finding finding;
        arenaut_error err = {0};
        const bool right = oracle_accepts_placement(p, plan);
        const arenaut_status status = arenaut_check_plan(p, plan, NULL, &finding, &err);
        if (status != (right ? ARENAUT_OK : ARENAUT_REJECTED)) {
            fail_msg("seed %u: the oracle says %s, the checker %s: %s", seed,
                     right ? "right" : "wrong", arenaut_status_text(status), err.msg);
        }
        if (right) assert_true(oracle_max_load(p) <= plan->total);
        accepted += right;
        with_relations += right && (p->same_base || p->inside);
        overlaps += finding.rule == ARENAUT_RULE_OVERLAP;
        arenaut_plan_free(plan);
        arenaut_problem_free(p);
    }
    /* Both answers must have been put to the test. */
    print_message("%u of %u plans right (%u with relations), %u overlaps\n", accepted,
                  (unsigned)SEEDS, with_relations, overlaps);
    assert_true(accepted > SEEDS / 4 && with_relations > SEEDS / 20 && overlaps > SEEDS / 20);
}

/* ---- memory, scale ---- */

static arenaut_status check_once(void *context, const arenaut_allocator *allocator) {
    const scene *s = context;
    arenaut_finding finding;
    arenaut_error err = {.code = ARENAUT_OK};
    const arenaut_status status =
        arenaut_check_plan(s->problem, s->plan, allocator, &finding, &err);
    if (status == ARENAUT_OK) assert_int_equal(err.code, ARENAUT_OK); /* untouched */
    return status;
}

TEST(running_out_of_memory_is_survived) {
    scene s;
    open_scene(&s, concat(), OFFSETS(32, 32, 40, 44));
    survives_every_allocation_failure(check_once, &s);
    close_scene(&s);
    arenaut_problem *p = new_problem();
    add_pool(p, NULL, 100, 1);
    add_fixed(p, 20, 0, 3, 40);
    add_box(p, 50, 0, 3);
    finish(p);
    open_scene(&s, p, OFFSETS(40, 0));
    testify(&s, 1, 0, IDS(0, 1), 10);
    survives_every_allocation_failure(check_once, &s);
    close_scene(&s);
}

/* Half the buffers live to the end, so that 100,000 are alive at once. Every fourth is a
 * slice of the one before, and every fourth an heir of it. */
TEST(two_hundred_thousand_buffers_take_no_time) {
    enum { N = 200000 };
    arenaut_problem *p = new_problem();
    uint64_t *offsets = malloc(N * sizeof *offsets);
    assert_non_null(offsets);
    for (int64_t i = 0; i < N; i += 4) {
        add_box(p, 64, i, i + 2);
        add_heir(p, 64, i + 1, N + 1, (uint32_t)i);
        add_box(p, 64, i + 2, N + 1);
        add_slice(p, 32, i + 2, N, (uint32_t)i + 2, 16);
        offsets[i] = offsets[i + 1] = (uint64_t)i * 64;
        offsets[i + 2] = (uint64_t)i * 64 + 64;
        offsets[i + 3] = offsets[i + 2] + 16;
    }
    finish(p);
    scene s;
    open_scene(&s, p, offsets);
    const clock_t begin = clock();
    expect(&s, ARENAUT_RULE_NONE);
    print_message("%d buffers: %.2f s\n", N, (double)(clock() - begin) / CLOCKS_PER_SEC);
    s.plan->offset[N / 2] = s.plan->offset[N - 8] = 7; /* found among all the rest */
    expect_measured(&s, ARENAUT_RULE_OVERLAP);
    free(offsets);
    close_scene(&s);
}
