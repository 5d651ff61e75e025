/* Lower bounds: the loads that they count, and the reasons why a problem may have no plan. */
#include "support/test.h"

#include <arenaut/planner.h>

#include "support/fuse.h"
#include "support/oracle.h"
#include "support/problems.h"

static arenaut_buffer buffer_of(uint64_t size, const arenaut_interval *life) {
    arenaut_buffer b = ARENAUT_BUFFER_INIT;
    b.size = size;
    b.lifetimes = life;
    b.n_lifetimes = 1;
    return b;
}

static void assert_bound(arenaut_problem *problem, uint64_t bytes, int64_t step) {
    uint64_t bound = 0;
    int64_t at = -1;
    arenaut_error err = {0};
    finish(problem);
    assert_ok(arenaut_lower_bound(problem, NULL, &bound, &at, &err), err);
    assert_int_equal(bound, bytes);
    assert_int_equal(at, step);
    arenaut_problem_free(problem);
}

TEST(the_bound_is_the_highest_load_and_its_first_step) {
    arenaut_problem *p = new_problem();
    add_box(p, 10, -5, -3);
    add_box(p, 20, -4, 9);
    add_box(p, 10, 7, 8);
    assert_bound(p, 30, -4);
}

TEST(ends_come_before_starts_at_the_same_step) {
    arenaut_problem *p = new_problem();
    add_box(p, 10, 0, 3);
    add_box(p, 10, 3, 5);
    assert_bound(p, 10, 0);
}

static void add_aligned(arenaut_problem *p, uint64_t size, uint64_t align,
                        const arenaut_interval *life) {
    arenaut_buffer b = buffer_of(size, life);
    b.align = align;
    add_buffer(p, &b);
}

/* 9 bytes, then 9 at 16, whatever lies between; 4 find room at 12. */
TEST(gaps_of_alignments_count_if_no_buffer_is_sure_to_fill_them) {
    const arenaut_interval life = {0, 2}, later = {3, 4};
    arenaut_problem *p = new_problem();
    add_aligned(p, 9, 8, &life);
    add_aligned(p, 4, 4, &life);
    add_aligned(p, 9, 8, &life);
    add_aligned(p, 1, 1, &later);
    assert_bound(p, 25, 0);
}

/* 2 bytes, then 13, of which one lies at a multiple of 8, then 2 at 16. */
TEST(an_unaligned_buffer_has_marks_if_it_is_large) {
    const arenaut_interval life = {0, 2};
    arenaut_problem *p = new_problem();
    add_aligned(p, 13, 1, &life);
    add_aligned(p, 2, 16, &life);
    add_aligned(p, 2, 16, &life);
    assert_bound(p, 18, 0);
}

/* The second one lies behind the range, at 16. */
TEST(a_reserved_range_leaves_a_part_of_a_multiple_free) {
    const arenaut_interval life = {0, 2};
    arenaut_problem *p = new_problem();
    arenaut_error err = {0};
    add_aligned(p, 5, 8, &life);
    add_aligned(p, 5, 8, &life);
    const arenaut_reserved range = {0, 8, 16};
    assert_ok(arenaut_problem_add_reserved(p, &range, &err), err);
    assert_bound(p, 21, 0);
}

/* b may lie on a, and c on b, each at one step: 30 + 0, then 30 + 0. */
TEST(a_pair_counts_its_larger_half_where_it_may_share) {
    const arenaut_interval lives[] = {{0, 2}, {1, 3}, {2, 4}};
    arenaut_problem *p = new_problem();
    arenaut_buffer b = buffer_of(30, &lives[0]);
    add_buffer(p, &b);
    for (uint32_t i = 1; i < 3; i++) {
        b = buffer_of(20, &lives[i]);
        b.same_base = arenaut_id(i - 1);
        add_buffer(p, &b);
    }
    assert_bound(p, 30, 0);
}

/* Of two heirs only one can lie on the base: 30 + 20. */
TEST(two_heirs_of_one_base_save_once) {
    const arenaut_interval base = {0, 2}, heir = {1, 3};
    arenaut_problem *p = new_problem();
    arenaut_buffer b = buffer_of(30, &base);
    add_buffer(p, &b);
    b = buffer_of(20, &heir);
    b.same_base = arenaut_id(0);
    add_buffer(p, &b);
    add_buffer(p, &b);
    assert_bound(p, 50, 1);
}

/* Slices of 10 and 20 bytes exist before their host of 30 does, and are not counted twice
 * once it does. The host is gone while a slice lives on. */
TEST(slices_count_only_while_their_host_is_not_alive) {
    const arenaut_interval host = {3, 5}, first = {0, 4}, second = {1, 9};
    arenaut_problem *p = new_problem();
    arenaut_buffer b = buffer_of(30, &host);
    add_buffer(p, &b);
    b = buffer_of(10, &first);
    b.inside = arenaut_id(0);
    add_buffer(p, &b);
    b = buffer_of(20, &second);
    b.inside = arenaut_id(0);
    b.inside_delta = 10;
    add_buffer(p, &b);
    add_box(p, 5, 6, 7);
    assert_bound(p, 30, 1);
}

/* Two of 5 bytes at multiples of 8 need 13; in an arena rounded to 16, 16. */
TEST(alignment_raises_the_bound) {
    const arenaut_interval life = {0, 1};
    for (uint64_t align = 1; align <= 16; align *= 16) {
        arenaut_problem *p = new_problem();
        add_pool(p, "arena", ARENAUT_UNLIMITED, align);
        arenaut_buffer b = buffer_of(5, &life);
        b.align = 8;
        add_buffer(p, &b);
        add_buffer(p, &b);
        assert_bound(p, align == 1 ? 13 : 16, 0);
    }
}

/* Buffers in another pool at other multiples change nothing: 13 of the first, and 3. */
TEST(alignment_in_one_pool_is_not_lost_to_another) {
    const arenaut_interval life = {0, 1};
    arenaut_problem *p = new_problem();
    add_pool(p, "a", ARENAUT_UNLIMITED, 1);
    add_pool(p, "b", ARENAUT_UNLIMITED, 1);
    for (uint32_t i = 0; i < 3; i++) {
        arenaut_buffer b = buffer_of(i < 2 ? 5 : 3, &life);
        b.align = i < 2 ? 8 : 1;
        b.pools = i < 2 ? 1 : 2;
        add_buffer(p, &b);
    }
    assert_bound(p, 13 + 3, 0);
}

/* Two of 12 bytes at multiples of 8 end at 28; that one of another time would leave 7 of its last
 * cell free is no help. */
TEST(only_what_is_alive_leaves_a_cell_in_part) {
    const arenaut_interval lives[] = {{0, 1}, {0, 1}, {4, 5}};
    arenaut_problem *p = new_problem();
    for (uint32_t i = 0; i < 3; i++) {
        arenaut_buffer b = buffer_of(i < 2 ? 12 : 1, &lives[i]);
        b.align = 8;
        add_buffer(p, &b);
    }
    assert_bound(p, 28, 0);
}

TEST(fixed_and_reserved_bytes_raise_the_bound) {
    const arenaut_interval life = {0, 1};
    const arenaut_reserved range = {0, 4, 20};
    arenaut_error err = {0};
    arenaut_problem *p = new_problem();
    add_pool(p, "arena", ARENAUT_UNLIMITED, 1);
    arenaut_buffer b = buffer_of(5, &life);
    b.fixed_offset = arenaut_at(100);
    b.pools = 1;
    add_buffer(p, &b);
    assert_bound(p, 105, 0);
    /* 3 + 3 bytes: at most one of them below the range, the other ends at 22 or later. */
    p = new_problem();
    add_pool(p, "arena", ARENAUT_UNLIMITED, 1);
    assert_ok(arenaut_problem_add_reserved(p, &range, &err), err);
    add_box(p, 3, 0, 1);
    add_box(p, 3, 0, 1);
    assert_bound(p, 22, 0);
    /* One buffer that does not fit below the range. */
    p = new_problem();
    add_pool(p, "arena", ARENAUT_UNLIMITED, 1);
    assert_ok(arenaut_problem_add_reserved(p, &range, &err), err);
    add_box(p, 5, 0, 1);
    assert_bound(p, 25, 0);
}

/* Pool 0 needs 30 at step 0, pool 1 needs 20 at step 5: 50 together, at whatever time. */
TEST(pools_are_bounded_apart) {
    const arenaut_interval lives[] = {{0, 1}, {5, 6}};
    arenaut_problem *p = new_problem();
    add_pool(p, "a", ARENAUT_UNLIMITED, 1);
    add_pool(p, "b", ARENAUT_UNLIMITED, 1);
    for (uint32_t i = 0; i < 2; i++) {
        arenaut_buffer b = buffer_of(30 - 10 * i, &lives[i]);
        b.pools = UINT64_C(1) << i;
        add_buffer(p, &b);
    }
    assert_bound(p, 50, 0);
}

TEST(an_edge_counts_as_if_both_were_alive) {
    arenaut_problem *p = new_problem();
    add_box(p, 10, 0, 1);
    add_box(p, 20, 5, 6);
    arenaut_error err = {0};
    assert_ok(arenaut_problem_add_conflict(p, 0, 1, &err), err);
    assert_bound(p, 30, 5);
}

/* ---- no plan at all ---- */

static void assert_infeasible(arenaut_problem *problem, uint32_t n_buffers, uint64_t bytes_over) {
    finish(problem);
    arenaut_plan *plan = NULL;
    arenaut_error err = {0};
    assert_answered(arenaut_plan_make(problem, NULL, NULL, &plan, &err), plan, &err);
    assert_int_equal(plan->quality, ARENAUT_INFEASIBLE);
    assert_int_equal(plan->stopped_by, ARENAUT_STOP_PROOF);
    assert_int_equal(plan->witness.n_buffers, n_buffers);
    assert_int_equal(plan->witness.bytes_over, bytes_over);
    assert_plan_accepted(problem, plan);
    arenaut_plan_free(plan);
    arenaut_problem_free(problem);
}

TEST(a_buffer_larger_than_every_pool) {
    arenaut_problem *p = new_problem();
    add_pool(p, "small", 10, 1);
    add_pool(p, "large", 20, 1);
    add_box(p, 5, 0, 9);
    add_box(p, 23, 3, 4);
    assert_infeasible(p, 1, 3);
}

TEST(a_buffer_larger_than_what_is_left_between_reserved_ranges) {
    arenaut_problem *p = new_problem();
    arenaut_error err = {0};
    const arenaut_reserved range = {0, 8, 9};
    add_pool(p, "holed", 20, 1);
    assert_ok(arenaut_problem_add_reserved(p, &range, &err), err);
    add_box(p, 14, 0, 1);
    assert_infeasible(p, 1, 3);
}

TEST(fixed_buffers_that_overlap) {
    const arenaut_interval lives[] = {{0, 2}, {2, 4}, {3, 5}};
    arenaut_problem *p = new_problem();
    for (uint32_t i = 0; i < 3; i++) {
        arenaut_buffer b = buffer_of(10, &lives[i]);
        b.fixed_offset = arenaut_at(4 * i);
        add_buffer(p, &b);
    }
    assert_infeasible(p, 2, 6);
}

TEST(more_alive_than_all_pools_hold) {
    arenaut_problem *p = new_problem();
    add_pool(p, "a", 10, 1);
    add_pool(p, "b", 20, 1);
    for (uint32_t i = 0; i < 4; i++) add_box(p, 9, i, 4);
    assert_infeasible(p, 4, 6);
}

TEST(more_alive_than_the_pools_that_are_allowed_hold) {
    const arenaut_interval life = {0, 1};
    arenaut_problem *p = new_problem();
    add_pool(p, "a", 10, 1);
    add_pool(p, "b", 10, 1);
    add_pool(p, "c", ARENAUT_UNLIMITED, 1);
    arenaut_buffer b = buffer_of(8, &life);
    b.pools = 3;
    for (uint32_t i = 0; i < 3; i++) add_buffer(p, &b);
    add_box(p, 100, 0, 1);
    assert_infeasible(p, 3, 4);
}

/* At step 0 the slice lies in a slice that is not alive, but which lies in the host, which is:
 * its byte is one of the host's. */
TEST(a_slice_of_a_slice_counts_once) {
    const arenaut_interval lives[] = {{0, 1}, {0, 1}, {1, 2}, {0, 1}};
    const uint64_t size[] = {4, 3, 1, 1};
    arenaut_problem *p = new_problem();
    add_pool(p, "a", 6, 1);
    for (uint32_t i = 0; i < 4; i++) {
        arenaut_buffer b = buffer_of(size[i], &lives[i]);
        if (i >= 2) b.inside = arenaut_id(i - 1);
        add_buffer(p, &b);
    }
    assert_infeasible(p, 2, 1);
}

/* Two slices of one host share bytes while both are alive: no list of buffers and bytes says
 * so, but the proof is complete. */
TEST(slices_that_collide_in_their_host) {
    const arenaut_interval host = {0, 9}, slice = {2, 4};
    arenaut_problem *p = new_problem();
    arenaut_buffer b = buffer_of(10, &host);
    add_buffer(p, &b);
    b = buffer_of(6, &slice);
    b.inside = arenaut_id(0);
    add_buffer(p, &b);
    b.inside_delta = 4;
    add_buffer(p, &b);
    assert_infeasible(p, 0, 0);
}

static arenaut_status bound_of(void *context, const arenaut_allocator *allocator) {
    uint64_t bound;
    return arenaut_lower_bound(context, allocator, &bound, NULL, NULL);
}

TEST(the_bound_survives_every_allocation_failure) {
    rng r = {9};
    const problem_shape shape = {12, 6, 8, ARENAUT_FEATURE_ALL};
    arenaut_problem *problem = random_problem(&r, &shape);
    survives_every_allocation_failure(bound_of, problem);
    arenaut_problem_free(problem);
}
