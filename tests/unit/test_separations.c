/* Buffers that may overlap as far as a separation allows: accepted problems, plans, and proofs.
 * That every claim is true is the machine's to show (test_problems_machine.c). */
#include "support/test.h"

#include <arenaut/arenaut.h>

#include "ir/certificate.h"
#include "planners/bounds/bounds.h"
#include "support/documents.h"
#include "support/fuse.h"
#include "support/problems.h"

/* Three values, each the operand of the next op. The result of an op may begin so much below
 * its operand as the operand has been read ahead:
 *
 *     step      0    1    2
 *     a  100    [====]
 *     b   80         [====]         a at least 30 above b
 *     c   60              [====]    b at least 20 above c  */
static arenaut_problem *new_chain(void) {
    static const box boxes[] = {{100, 0, 2}, {80, 1, 3}, {60, 2, 4}};
    arenaut_problem *p = problem_of(boxes, 3);
    separate(p, 0, 1, 30);
    separate(p, 1, 2, 20);
    finish(p);
    return p;
}

static arenaut_plan *plan_with(const arenaut_problem *p, const char *planner) {
    const arenaut_plan_options options = {.planner = planner};
    arenaut_plan *plan = NULL;
    arenaut_finding finding;
    arenaut_error err = {0};
    assert_ok(arenaut_plan_make(p, &options, NULL, &plan, &err), err);
    assert_ok(arenaut_check_plan(p, plan, NULL, &finding, &err), err);
    return plan;
}

TEST(a_result_slides_under_its_operand) {
    arenaut_problem *p = new_chain();
    static const char *const planners[] = {"auto", "overlap"};
    for (size_t i = 0; i < COUNT_OF(planners); i++) {
        arenaut_plan *plan = plan_with(p, planners[i]);
        /* b at 0 with a from 30 on over it, and c above b: in a's place. */
        assert_int_equal(plan->total, 140);
        assert_int_equal(plan->quality, ARENAUT_OPTIMAL);
        arenaut_plan_free(plan);
    }
    arenaut_problem_free(p);
}

TEST(a_negative_distance_lets_the_upper_one_lie_lower) {
    static const box boxes[] = {{10, 0, 2}, {30, 1, 3}};
    arenaut_problem *p = problem_of(boxes, 2);
    separate(p, 0, 1, -5);
    finish(p);
    arenaut_plan *plan = plan_with(p, "auto");
    assert_int_equal(plan->total, 30);
    assert_int_equal(plan->quality, ARENAUT_OPTIMAL);
    arenaut_plan_free(plan);
    arenaut_problem_free(p);
}

/* The load at no step says so: the chain sinks to the start of the arena, and the next buffer has
 * to lie above all of it. */
TEST(a_chain_that_has_sunk_must_jump_up) {
    static const box boxes[] = {{64, 0, 2}, {64, 1, 3}, {64, 2, 4}, {64, 3, 5}};
    arenaut_problem *p = problem_of(boxes, 4);
    for (uint32_t b = 0; b < 3; b++) separate(p, b, b + 1, 40);
    finish(p);
    uint64_t bound;
    arenaut_error err = {0};
    assert_ok(arenaut_lower_bound(p, NULL, &bound, NULL, &err), err);
    assert_int_equal(bound, 104);
    arenaut_plan *plan = plan_with(p, "auto");
    assert_int_equal(plan->total, 128);
    assert_int_equal(plan->quality, ARENAUT_OPTIMAL);
    assert_int_equal(plan->total_bound, 128);
    arenaut_plan_free(plan);
    arenaut_problem_free(p);
}

static void expect_at(const arenaut_problem *p, uint64_t upper, uint64_t lower, bool right) {
    arenaut_plan *plan = NULL;
    arenaut_finding finding;
    arenaut_error err = {0};
    assert_ok(arenaut_plan_new(2, 1, NULL, &plan, &err), err);
    plan->pool[0] = plan->pool[1] = 0;
    plan->offset[0] = upper;
    plan->offset[1] = lower;
    assert_ok(arenaut_plan_measure(plan, p, &err), err);
    const arenaut_status st = arenaut_check_plan(p, plan, NULL, &finding, &err);
    assert_int_equal(st, right ? ARENAUT_OK : ARENAUT_REJECTED);
    assert_int_equal(finding.rule, right ? ARENAUT_RULE_NONE : ARENAUT_RULE_OVERLAP);
    arenaut_plan_free(plan);
}

TEST(the_checker_counts_every_byte_of_the_distance) {
    static const box boxes[] = {{100, 0, 2}, {80, 1, 3}};
    arenaut_problem *p = problem_of(boxes, 2);
    separate(p, 0, 1, 30);
    finish(p);
    expect_at(p, 30, 0, true);
    expect_at(p, 29, 0, false);
    expect_at(p, 50, 20, true);
    expect_at(p, 49, 20, false);
    expect_at(p, 0, 0, false);
    expect_at(p, 0, 99, false); /* the other way round they must lie apart */
    expect_at(p, 0, 100, true);
    arenaut_problem_free(p);
}

TEST(a_right_for_two_is_none_for_a_third) {
    static const box boxes[] = {{100, 0, 2}, {80, 1, 3}, {10, 0, 3}};
    arenaut_problem *p = problem_of(boxes, 3);
    separate(p, 0, 1, 30);
    finish(p);
    arenaut_plan *plan = plan_with(p, "auto");
    assert_int_equal(plan->total, 140);
    assert_int_equal(plan->quality, ARENAUT_OPTIMAL);
    arenaut_plan_free(plan);
    arenaut_problem_free(p);
}

TEST(planners_without_them_refuse_separations_by_name) {
    arenaut_problem *p = new_chain();
    for (size_t i = 0; i < arenaut_planner_count(); i++) {
        const arenaut_planner *planner = arenaut_planner_at(i);
        if (planner->handles & ARENAUT_FEATURE_SEPARATIONS) continue;
        const arenaut_plan_options options = {.planner = planner->name};
        arenaut_plan *plan = NULL;
        arenaut_error err = {0};
        assert_int_equal(arenaut_plan_make(p, &options, NULL, &plan, &err), ARENAUT_REFUSED);
        assert_non_null(strstr(err.msg, "separations"));
    }
    arenaut_problem_free(p);
}

/* ARENAUT_UNPLACED: it may lie anywhere. */
static void add_at(arenaut_problem *p, uint64_t size, int64_t first, int64_t end, uint64_t at) {
    ADD_BUFFER(p, .size = size, LIFE(first, end), .fixed_offset = arenaut_at(at));
}

/* Two buffers at given places, and one that finds its own. */
static arenaut_problem *new_fixed_pair(uint64_t upper, uint64_t lower) {
    arenaut_problem *p = new_problem();
    add_at(p, 100, 0, 2, upper);
    add_at(p, 80, 1, 3, lower);
    add_box(p, 40, 0, 3);
    separate(p, 0, 1, 30);
    finish(p);
    return p;
}

/* Offsets in a file in the hands of the micro runtime: tensors that are told to lie over one
 * another do, and no others do. */
TEST(the_micro_runtimes_planner_keeps_fixed_buffers_where_they_overlap) {
    arenaut_problem *p = new_fixed_pair(30, 0);
    arenaut_plan *plan = plan_with(p, "tflm-greedy");
    assert_int_equal(plan->total, 170);
    assert_int_equal(plan->offset[2], 130);
    arenaut_plan_free(plan);
    arenaut_problem_free(p);
    p = new_chain();
    plan = plan_with(p, "tflm-greedy");
    assert_int_equal(plan->total, 180);
    arenaut_plan_free(plan);
    arenaut_problem_free(p);
}

TEST(fixed_buffers_that_overlap_too_far_have_no_plan) {
    arenaut_problem *p = new_fixed_pair(29, 0);
    for (size_t i = 0; i < arenaut_planner_count(); i++) {
        const arenaut_planner *planner = arenaut_planner_at(i);
        const arenaut_plan_options options = {.planner = planner->name};
        arenaut_plan *plan = NULL;
        arenaut_finding finding;
        arenaut_error err = {0};
        if (arn_problem_features(p) & ~planner->handles) continue;
        assert_int_equal(arenaut_plan_make(p, &options, NULL, &plan, &err), ARENAUT_NO_PLAN);
        assert_int_equal(plan->witness.n_buffers, 2);
        assert_ok(arenaut_check_plan(p, plan, NULL, &finding, &err), err);
        arenaut_plan_free(plan);
    }
    arenaut_problem_free(p);
}

/* Each list would prove it if the two had to lie apart. */
TEST(a_witness_that_counts_both_of_a_pair_proves_nothing) {
    static const uint64_t fixed[][2] = {
        {30, 0}, {ARENAUT_UNPLACED, 0}, {ARENAUT_UNPLACED, ARENAUT_UNPLACED}};
    for (size_t i = 0; i < COUNT_OF(fixed); i++) {
        arenaut_problem *p = new_problem();
        uint32_t both[2] = {0, 1};
        add_pool(p, "tight", 130, 1);
        add_at(p, 100, 0, 2, fixed[i][0]);
        add_at(p, 80, 1, 3, fixed[i][1]);
        separate(p, 0, 1, 30);
        finish(p);
        arenaut_plan *plan = NULL;
        arenaut_finding finding;
        arenaut_error err = {0};
        assert_ok(arenaut_plan_new(2, 1, NULL, &plan, &err), err);
        plan->quality = ARENAUT_INFEASIBLE;
        plan->witness = (arenaut_witness){1, 0, 2, both, 50};
        assert_int_equal(arenaut_check_plan(p, plan, NULL, &finding, &err), ARENAUT_REJECTED);
        assert_int_equal(finding.rule, ARENAUT_RULE_WITNESS);
        plan->witness = (arenaut_witness){0};
        arenaut_plan_free(plan);
        arenaut_problem_free(p);
    }
}

TEST(nothing_that_fits_is_proven_where_nothing_fits) {
    arenaut_problem *p = new_chain();
    const arenaut_plan_options options = {.capacity = 139};
    arenaut_plan *plan = NULL;
    arenaut_finding finding;
    arenaut_error err = {0};
    assert_int_equal(arenaut_plan_make(p, &options, NULL, &plan, &err), ARENAUT_NO_PLAN);
    assert_int_equal(plan->quality, ARENAUT_INFEASIBLE);
    arenaut_problem *tight = new_problem();
    add_pool(tight, "tight", 139, 1);
    add_box(tight, 100, 0, 2);
    add_box(tight, 80, 1, 3);
    add_box(tight, 60, 2, 4);
    separate(tight, 0, 1, 30);
    separate(tight, 1, 2, 20);
    finish(tight);
    assert_ok(arenaut_check_plan(tight, plan, NULL, &finding, &err), err);
    arenaut_plan_free(plan);
    arenaut_problem_free(tight);
    arenaut_problem_free(p);
}

/* Too many for the search, which looks at pairs: each lies over the next one but for a step. */
TEST(ten_thousands_are_planned_over_one_another) {
    enum { MANY = 30000 };
    arenaut_problem *p = new_problem();
    for (uint32_t b = 0; b < MANY; b++) add_box(p, 64 + 16 * (b % 7), b, b + 2);
    for (uint32_t b = 0; b + 1 < MANY; b++) separate(p, b, b + 1, 16);
    finish(p);
    const arenaut_plan_options options = {.effort = 200000};
    arenaut_plan *plan = NULL;
    arenaut_finding finding;
    arenaut_error err = {0};
    assert_ok(arenaut_plan_make(p, &options, NULL, &plan, &err), err);
    assert_ok(arenaut_check_plan(p, plan, NULL, &finding, &err), err);
    assert_true(plan->total < 256); /* the largest two apart need more than 300 */
    arenaut_plan_free(plan);
    arenaut_problem_free(p);
}

/* The second pool needs both ends of an edge apart, which no step shows. */
TEST(each_pool_of_a_proven_plan_has_the_arena_that_it_needs) {
    arenaut_problem *p = new_problem();
    arenaut_error err = {0};
    add_pool(p, "first", ARENAUT_UNLIMITED, 1);
    add_pool(p, "second", ARENAUT_UNLIMITED, 1);
    ADD_BUFFER(p, .size = 6, LIFE(4, 6), .pools = 1);
    ADD_BUFFER(p, .size = 1, LIFE(3, 7), .pools = 2);
    ADD_BUFFER(p, .size = 4, LIFE(0, 3), .pools = 2);
    assert_ok(arenaut_problem_add_conflict(p, 1, 2, &err), err);
    separate(p, 0, 1, 1);
    finish(p);
    arenaut_plan *plan = plan_with(p, "auto");
    assert_int_equal(plan->quality, ARENAUT_OPTIMAL);
    assert_int_equal(plan->lower_bound[0], 6);
    assert_int_equal(plan->lower_bound[1], 5);
    arenaut_plan_free(plan);
    arenaut_problem_free(p);
}

static void expect_bad(uint32_t upper, uint32_t lower, int64_t distance, uint32_t traits,
                       const char *why) {
    static const box boxes[] = {{100, 0, 2}, {80, 1, 3}, {60, 2, 4}};
    arenaut_problem *p = problem_of(boxes, 3);
    const arenaut_separation pair = {upper, lower, distance};
    arenaut_error err = {0};
    separate(p, 0, 1, 5);
    p->traits = traits;
    assert_ok(arenaut_problem_add_separation(p, &pair, &err), err);
    assert_int_not_equal(arenaut_problem_finish(p, &err), ARENAUT_OK);
    if (!strstr(err.msg, why)) fail_msg("expected \"%s\": %s", why, err.msg);
    arenaut_problem_free(p);
}

TEST(contradictory_separations_are_refused_with_their_buffers) {
    expect_bad(0, 2, 5, 0, "never in use together");
    expect_bad(0, 1, 5, 0, "separated twice");
    expect_bad(1, 0, 5, 0, "separated twice");
    expect_bad(1, 1, 5, 0, "these must be two");
    expect_bad(7, 1, 5, 0, "there are 3");
    expect_bad(1, 2, INT64_MIN, 0, "below");
    expect_bad(1, 2, 5, ARENAUT_PROBLEM_TOKENS, "whole tokens");
}

TEST(extreme_distances_are_as_good_as_none_or_as_anything) {
    static const box boxes[] = {{100, 0, 2}, {80, 1, 3}, {60, 2, 4}};
    arenaut_problem *p = problem_of(boxes, 3);
    separate(p, 0, 1, INT64_MAX);
    separate(p, 1, 2, -INT64_MAX);
    finish(p);
    arenaut_plan *plan = plan_with(p, "auto");
    assert_int_equal(plan->total, 180);
    assert_int_equal(plan->quality, ARENAUT_OPTIMAL);
    arenaut_plan_free(plan);
    arenaut_problem_free(p);
}

TEST(problems_and_plans_keep_them_in_json) {
    static const char text[] =
        "{\"schema\": \"arenaut.problem/1\", \"buffers\": ["
        "{\"name\": \"a\", \"size\": 100, \"first\": 0, \"end\": 2},"
        "{\"name\": \"b\", \"size\": 80, \"first\": 1, \"end\": 3}],"
        "\"separations\": [{\"upper\": \"a\", \"lower\": 1, \"distance\": -7}]}";
    arenaut_document d = read_text(NULL, text);
    assert_int_equal(d.problem->n_separations, 1);
    assert_int_equal(d.problem->separation[0].upper, 0);
    assert_int_equal(d.problem->separation[0].lower, 1);
    assert_int_equal(d.problem->separation[0].distance, -7);
    arenaut_text written = write_text("problem-json", &d);
    assert_non_null(strstr(written.bytes, "{\"upper\": 0, \"lower\": 1, \"distance\": -7}"));
    arenaut_document again = read_text(NULL, written.bytes);
    assert_int_equal(again.problem->separation[0].distance, -7);
    assert_int_equal(arn_problem_digest(d.problem), arn_problem_digest(again.problem));
    arenaut_document_free(&again);
    arenaut_text_free(&written);
    arenaut_document_free(&d);
}

static arenaut_status plan_once(void *context, const arenaut_allocator *allocator) {
    const arenaut_problem *p = context;
    arenaut_plan *plan = NULL;
    arenaut_finding finding;
    arenaut_error err = {0};
    arenaut_status st = arenaut_plan_make(p, NULL, allocator, &plan, &err);
    if (st == ARENAUT_OK) st = arenaut_check_plan(p, plan, allocator, &finding, &err);
    arenaut_plan_free(plan);
    return st;
}

TEST(every_allocation_may_fail) {
    arenaut_problem *p = new_chain();
    survives_every_allocation_failure(plan_once, p);
    arenaut_problem_free(p);
}
