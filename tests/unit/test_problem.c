/* Building and validating problems, and measuring plans. */
#include "support/test.h"

#include <stdlib.h>

#include <arenaut/plan.h>
#include <arenaut/planner.h>
#include <arenaut/problem.h>

#include "planners/bounds/bounds.h"

static arenaut_problem *fresh(void) {
    arenaut_problem *problem = NULL;
    assert_int_equal(arenaut_problem_new(NULL, &problem, NULL), ARENAUT_OK);
    return problem;
}

static arenaut_buffer buffer_of(uint64_t size, const arenaut_interval *life) {
    return (arenaut_buffer){.size = size, .lifetimes = life, .n_lifetimes = 1};
}

TEST(lifetimes_are_sorted_and_merged) {
    arenaut_problem *p = fresh();
    const arenaut_interval lives[] = {{8, 9}, {0, 2}, {5, 5}, {2, 4}, {10, 12}, {3, 4}};
    arenaut_buffer b = buffer_of(16, lives);
    b.n_lifetimes = 6;
    assert_int_equal(arenaut_problem_add_buffer(p, &b, NULL, NULL), ARENAUT_OK);
    assert_int_equal(arenaut_problem_lifetime_count(p, 0), 3);
    const arenaut_interval expected[] = {{0, 4}, {8, 9}, {10, 12}};
    assert_memory_equal(arenaut_problem_lifetimes(p, 0), expected, sizeof expected);
    assert_int_equal(arenaut_problem_finish(p, NULL), ARENAUT_OK);
    arenaut_problem_free(p);
}

/* A buffer's lifetimes in the worst order must not cost n² time. */
TEST(many_lifetimes_are_sorted_quickly) {
    enum { N = 300000 };
    arenaut_interval *lives = malloc(N * sizeof *lives);
    assert_non_null(lives);
    for (int64_t i = 0; i < N; i++) lives[i] = (arenaut_interval){2 * (N - i), 2 * (N - i) + 1};
    arenaut_problem *p = fresh();
    arenaut_buffer b = buffer_of(16, lives);
    b.n_lifetimes = N;
    assert_int_equal(arenaut_problem_add_buffer(p, &b, NULL, NULL), ARENAUT_OK);
    assert_int_equal(arenaut_problem_lifetime_count(p, 0), N);
    assert_int_equal(arenaut_problem_lifetimes(p, 0)[0].first, 2);
    assert_int_equal(arenaut_problem_finish(p, NULL), ARENAUT_OK);
    arenaut_problem_free(p);
    free(lives);
}

TEST(rare_columns_appear_with_their_defaults) {
    arenaut_problem *p = fresh();
    const arenaut_interval life = {0, 1};
    for (uint32_t i = 0; i < 40; i++) {
        arenaut_buffer b = buffer_of(i, &life);
        if (i == 25) b.align = 64;
        if (i == 30) b.name = "thirty";
        assert_int_equal(arenaut_problem_add_buffer(p, &b, NULL, NULL), ARENAUT_OK);
        assert_true((p->align != NULL) == (i >= 25));
    }
    assert_null(p->hint);
    assert_null(p->fixed_offset);
    for (uint32_t i = 0; i < 40; i++) {
        assert_int_equal(p->size[i], i);
        assert_int_equal(arenaut_problem_align(p, i), i == 25 ? 64 : 1);
    }
    char store[24];
    assert_string_equal(arenaut_problem_buffer_name(p, 30, store), "thirty");
    assert_string_equal(arenaut_problem_buffer_name(p, 7, store), "buffer7");
    arenaut_problem_free(p);
}

TEST(edges_and_reserved_ranges_end_up_sorted_without_duplicates) {
    arenaut_problem *p = fresh();
    const arenaut_interval life = {0, 1};
    for (uint32_t i = 0; i < 5; i++) {
        const arenaut_buffer b = buffer_of(1, &life);
        arenaut_problem_add_buffer(p, &b, NULL, NULL);
    }
    arenaut_problem_add_conflict(p, 4, 2, NULL);
    arenaut_problem_add_conflict(p, 1, 0, NULL);
    arenaut_problem_add_conflict(p, 2, 4, NULL);
    arenaut_problem_add_reserved(p, &(arenaut_reserved){0, 64, 96}, NULL);
    arenaut_problem_add_reserved(p, &(arenaut_reserved){0, 0, 8}, NULL);
    arenaut_problem_add_reserved(p, &(arenaut_reserved){0, 96, 128}, NULL);
    assert_int_equal(arenaut_problem_finish(p, NULL), ARENAUT_OK);
    assert_int_equal(p->n_conflicts, 2);
    assert_int_equal(p->conflict[0].a, 0);
    assert_int_equal(p->conflict[1].b, 4);
    assert_int_equal(p->n_reserved, 2);
    assert_int_equal(p->reserved[1].first, 64);
    assert_int_equal(p->reserved[1].end, 128);
    arenaut_problem_free(p);
}

TEST(used_features_are_found) {
    arenaut_problem *p = fresh();
    const arenaut_interval lives[] = {{0, 1}, {4, 5}};
    arenaut_buffer b = buffer_of(16, lives);
    b.n_lifetimes = 2;
    b.align = 32;
    arenaut_problem_add_buffer(p, &b, NULL, NULL);
    assert_int_equal(arenaut_problem_finish(p, NULL), ARENAUT_OK);
    assert_int_equal(arn_problem_features(p), ARENAUT_FEATURE_GAPS | ARENAUT_FEATURE_ALIGNMENT);
    arenaut_problem_free(p);
}

/* One wrong thing in an otherwise fine problem of three buffers, and the words that the
 * message must hold. */
typedef struct wrong {
    const char *words;
    arenaut_status status;
    void (*spoil)(arenaut_buffer b[3]);
} wrong;

static const arenaut_interval reversed = {5, 3}, later = {4, 9}, whole = {0, 9};

static void bad_align(arenaut_buffer b[3]) { b[1].align = 24; }
static void backwards(arenaut_buffer b[3]) { b[1].lifetimes = &reversed; }
static void too_big(arenaut_buffer b[3]) { b[1].size = ARENAUT_SIZE_MAX + 1; }
static void sum_too_big(arenaut_buffer b[3]) { b[0].size = b[1].size = ARENAUT_SIZE_MAX; }
static void unknown_base(arenaut_buffer b[3]) { b[1].same_base = arenaut_id(9); }
static void own_base(arenaut_buffer b[3]) { b[1].same_base = arenaut_id(1); }
static void long_base(arenaut_buffer b[3]) {
    b[1].same_base = arenaut_id(0);
    b[0].lifetimes = b[1].lifetimes = &whole;
}
static void base_cycle(arenaut_buffer b[3]) {
    b[0].same_base = arenaut_id(1);
    b[1].same_base = arenaut_id(2);
    b[2].same_base = arenaut_id(1);
    b[0].lifetimes = b[1].lifetimes = &later;
    for (int i = 0; i < 3; i++) b[i].n_lifetimes = 0;
}
static void outside_host(arenaut_buffer b[3]) {
    b[1].inside = arenaut_id(0);
    b[1].inside_delta = 9;
}
static void inside_cycle(arenaut_buffer b[3]) {
    b[0].inside = arenaut_id(1);
    b[1].inside = arenaut_id(0);
}
static void pinned_slice(arenaut_buffer b[3]) {
    b[1].inside = arenaut_id(0);
    b[1].size = 4;
    b[1].fixed_offset = arenaut_at(0);
}
static void unknown_pool(arenaut_buffer b[3]) { b[2].pools = 6; }
static void constant(arenaut_buffer b[3]) { b[2].cls = ARENAUT_CONSTANT; }
static void unknown_method(arenaut_buffer b[3]) { b[2].method = arenaut_id(3); }

TEST(each_wrong_problem_is_refused_by_name) {
    const wrong cases[] = {
        {"'b1': alignment 24", ARENAUT_BAD_INPUT, bad_align},
        {"'b1': lifetime [5, 3) ends before it begins", ARENAUT_BAD_INPUT, backwards},
        {"'b1': size 9223372036854775808", ARENAUT_TOO_LARGE, too_big},
        {"up to buffer 'b1'", ARENAUT_TOO_LARGE, sum_too_big},
        {"'b1': is same-base as a buffer that does not exist", ARENAUT_BAD_INPUT, unknown_base},
        {"'b1': is same-base as itself", ARENAUT_BAD_INPUT, own_base},
        {"'b1' is same-base as 'b0', but they are alive", ARENAUT_BAD_INPUT, long_base},
        {"same-base relations form a cycle", ARENAUT_BAD_INPUT, base_cycle},
        {"'b1' of 8 bytes at 9 does not fit inside 'b0'", ARENAUT_BAD_INPUT, outside_host},
        {"inside relations form a cycle", ARENAUT_BAD_INPUT, inside_cycle},
        {"'b1': lies inside another, so it cannot be pinned", ARENAUT_BAD_INPUT, pinned_slice},
        {"'b2': an allowed pool does not exist", ARENAUT_BAD_INPUT, unknown_pool},
        {"'b2': constants are not planned", ARENAUT_BAD_INPUT, constant},
        {"'b2': method 3 does not exist", ARENAUT_BAD_INPUT, unknown_method},
    };
    static const arenaut_interval lives[3] = {{0, 2}, {1, 3}, {2, 4}};
    static const char *const names[3] = {"b0", "b1", "b2"};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        arenaut_problem *p = fresh();
        arenaut_buffer b[3];
        for (int i = 0; i < 3; i++) {
            b[i] = buffer_of(8, &lives[i]);
            b[i].name = names[i];
        }
        cases[c].spoil(b);
        arenaut_error err = {0};
        arenaut_status st = ARENAUT_OK;
        for (int i = 0; i < 3 && st == ARENAUT_OK; i++) {
            st = arenaut_problem_add_buffer(p, &b[i], NULL, &err);
        }
        if (st == ARENAUT_OK) st = arenaut_problem_finish(p, &err);
        if (st != cases[c].status || !strstr(err.msg, cases[c].words)) {
            fail_msg("wanted '%s', got status %d '%s'", cases[c].words, st, err.msg);
        }
        arenaut_problem_free(p);
    }
}

TEST(a_zeroed_buffer_and_a_zeroed_pool_are_free) {
    arenaut_problem *p = fresh();
    const arenaut_interval life = {0, 2};
    const arenaut_pool pool = {0};
    arenaut_buffer b = {0};
    assert_int_equal(arenaut_problem_add_pool(p, &pool, NULL, NULL), ARENAUT_OK);
    assert_int_equal(arenaut_problem_add_buffer(p, &b, NULL, NULL), ARENAUT_OK);
    for (uint64_t size = 48; size <= 64; size += 16) {
        b = (arenaut_buffer){.size = size, .lifetimes = &life, .n_lifetimes = 1};
        assert_int_equal(arenaut_problem_add_buffer(p, &b, NULL, NULL), ARENAUT_OK);
    }
    assert_int_equal(arenaut_problem_finish(p, NULL), ARENAUT_OK);
    for (uint32_t i = 0; i < p->n_buffers; i++) {
        assert_int_equal(arenaut_problem_fixed_offset(p, i), ARENAUT_UNPLACED);
        assert_int_equal(arenaut_problem_hint(p, i), ARENAUT_UNPLACED);
        assert_int_equal(arenaut_problem_same_base(p, i), ARENAUT_NONE);
        assert_int_equal(arenaut_problem_inside(p, i), ARENAUT_NONE);
        assert_null(p->method);
    }
    assert_int_equal(p->pool[0].capacity, ARENAUT_UNLIMITED);
    assert_int_equal(arn_problem_features(p), 0);
    arenaut_plan *plan = NULL;
    assert_int_equal(arenaut_plan_make(p, NULL, NULL, &plan, NULL), ARENAUT_OK);
    assert_int_equal(plan->total, 112);
    arenaut_plan_free(plan);
    arenaut_problem_free(p);
}

/* The number 0 is not the same as none. */
TEST(a_zero_that_was_given_is_kept) {
    arenaut_problem *p = fresh();
    const arenaut_interval lives[] = {{0, 2}, {1, 3}};
    arenaut_buffer b = {.size = 16,
                        .lifetimes = &lives[0],
                        .n_lifetimes = 1,
                        .fixed_offset = arenaut_at(0),
                        .method = arenaut_id(0)};
    assert_int_equal(arenaut_problem_add_method(p, "main", NULL, NULL), ARENAUT_OK);
    assert_int_equal(arenaut_problem_add_buffer(p, &b, NULL, NULL), ARENAUT_OK);
    b = (arenaut_buffer){.size = 16,
                         .lifetimes = &lives[1],
                         .n_lifetimes = 1,
                         .hint = arenaut_at(0),
                         .same_base = arenaut_id(0)};
    assert_int_equal(arenaut_problem_add_buffer(p, &b, NULL, NULL), ARENAUT_OK);
    assert_int_equal(arenaut_problem_finish(p, NULL), ARENAUT_OK);
    assert_int_equal(arenaut_problem_fixed_offset(p, 0), 0);
    assert_int_equal(p->method[0], 0);
    assert_int_equal(arenaut_problem_hint(p, 1), 0);
    assert_int_equal(arenaut_problem_same_base(p, 1), 0);
    arenaut_problem_free(p);
}

TEST(a_closed_pool_holds_nothing) {
    arenaut_problem *p = fresh();
    const arenaut_interval life = {0, 2};
    const arenaut_buffer b = buffer_of(16, &life);
    arenaut_pool pool = {.name = "off", .capacity = 8, .closed = true};
    arenaut_error err = {0};
    assert_int_equal(arenaut_problem_add_pool(p, &pool, NULL, &err), ARENAUT_BAD_INPUT);
    assert_non_null(strstr(err.msg, "'off': is closed, and yet has a capacity of 8"));
    pool.capacity = 0;
    assert_int_equal(arenaut_problem_add_pool(p, &pool, NULL, NULL), ARENAUT_OK);
    assert_int_equal(arenaut_problem_add_buffer(p, &b, NULL, NULL), ARENAUT_OK);
    assert_int_equal(arenaut_problem_finish(p, NULL), ARENAUT_OK);
    arenaut_plan *plan = NULL;
    assert_int_equal(arenaut_plan_make(p, NULL, NULL, &plan, &err), ARENAUT_NO_PLAN);
    assert_non_null(strstr(err.msg, "buffer 'buffer0' needs 16 bytes more than pool 'off' has"));
    arenaut_plan_free(plan);
    /* In a problem's own array, a capacity of 0 must say that it is meant. */
    p->pool[0].closed = false;
    assert_int_equal(arenaut_problem_validate(p, &err), ARENAUT_BAD_INPUT);
    arenaut_problem_free(p);
}

TEST(an_arena_is_not_larger_than_its_pool) {
    const uint64_t capacities[] = {60, 40, 31}, kept[] = {32, 32, 0};
    for (int i = 0; i < 3; i++) {
        arenaut_problem *p = fresh();
        const arenaut_interval life = {0, 2};
        const arenaut_buffer b = buffer_of(36 - 16 * (uint64_t)(i == 1), &life);
        const arenaut_pool pool = {.capacity = capacities[i], .align = 32};
        arenaut_plan *plan = NULL;
        arenaut_error err = {0};
        assert_int_equal(arenaut_problem_add_pool(p, &pool, NULL, NULL), ARENAUT_OK);
        assert_int_equal(p->pool[0].capacity, kept[i]);
        assert_int_equal(p->pool[0].closed, kept[i] == 0);
        assert_int_equal(arenaut_problem_add_buffer(p, &b, NULL, NULL), ARENAUT_OK);
        assert_int_equal(arenaut_problem_finish(p, NULL), ARENAUT_OK);
        assert_int_equal(arenaut_plan_make(p, NULL, NULL, &plan, &err),
                         i == 1 ? ARENAUT_OK : ARENAUT_NO_PLAN);
        if (i != 1) assert_non_null(strstr(err.msg, "'pool0' has in multiples of 32"));
        if (i == 1) assert_true(plan->arena[0] == 32 && plan->quality == ARENAUT_OPTIMAL);
        arenaut_plan_free(plan);
        p->pool[0].capacity += 8; /* in a problem's own array it must be so already */
        assert_int_equal(arenaut_problem_validate(p, NULL), ARENAUT_BAD_INPUT);
        arenaut_problem_free(p);
    }
}

TEST(a_problem_that_is_not_finished_is_not_planned) {
    arenaut_problem *p = fresh();
    const arenaut_interval life = {0, 2};
    const arenaut_buffer b = buffer_of(16, &life);
    arenaut_plan *plan = NULL;
    for (int time = 0; time < 2; time++) { /* also when more is added later */
        arenaut_error err = {0};
        assert_int_equal(arenaut_problem_add_buffer(p, &b, NULL, NULL), ARENAUT_OK);
        assert_int_equal(arenaut_plan_make(p, NULL, NULL, &plan, &err), ARENAUT_BAD_ARGUMENT);
        assert_non_null(strstr(err.msg, "call arenaut_problem_finish first"));
        assert_null(plan);
        assert_int_equal(arenaut_problem_finish(p, NULL), ARENAUT_OK);
    }
    assert_int_equal(arenaut_plan_make(p, NULL, NULL, &plan, NULL), ARENAUT_OK);
    arenaut_plan_free(plan);
    arenaut_problem_free(p);
}

/* A slice of a slice of a buffer that names its pool, each added before its host. */
TEST(slices_may_lie_where_their_host_may) {
    arenaut_problem *p = fresh();
    const arenaut_interval life = {0, 2};
    const arenaut_pool pools[2] = {{.name = "fast"}, {.name = "slow"}};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(arenaut_problem_add_pool(p, &pools[i], NULL, NULL), ARENAUT_OK);
    }
    arenaut_buffer b = buffer_of(16, &life);
    b.inside = arenaut_id(1);
    assert_int_equal(arenaut_problem_add_buffer(p, &b, NULL, NULL), ARENAUT_OK);
    b.inside = arenaut_id(2);
    assert_int_equal(arenaut_problem_add_buffer(p, &b, NULL, NULL), ARENAUT_OK);
    b = buffer_of(16, &life);
    b.pools = 2;
    assert_int_equal(arenaut_problem_add_buffer(p, &b, NULL, NULL), ARENAUT_OK);
    assert_int_equal(arenaut_problem_finish(p, NULL), ARENAUT_OK);
    for (uint32_t i = 0; i < 3; i++) assert_int_equal(arenaut_problem_pools(p, i), 2);
    arenaut_plan *plan = NULL;
    assert_int_equal(arenaut_plan_make(p, NULL, NULL, &plan, NULL), ARENAUT_OK);
    for (uint32_t i = 0; i < 3; i++) assert_int_equal(plan->pool[i], 1);
    arenaut_plan_free(plan);
    arenaut_problem_free(p);
}

/* A chain of relations as long as the problem must not cost n² time. */
TEST(long_relation_chains_are_validated_quickly) {
    arenaut_problem *p = fresh();
    const uint32_t n = 300000;
    for (uint32_t i = 0; i < n; i++) {
        const arenaut_interval life = {i, i + 2};
        arenaut_buffer b = buffer_of(8, &life);
        b.same_base = arenaut_id(i + 1 < n ? i + 1 : ARENAUT_NONE);
        assert_int_equal(arenaut_problem_add_buffer(p, &b, NULL, NULL), ARENAUT_OK);
    }
    assert_int_equal(arenaut_problem_finish(p, NULL), ARENAUT_OK);
    arenaut_problem_free(p);
}

TEST(a_plan_is_measured_per_pool_and_rounded_up) {
    arenaut_problem *p = fresh();
    const arenaut_pool fast = {.name = "fast", .capacity = 1024, .align = 32};
    arenaut_problem_add_pool(p, &fast, NULL, NULL);
    arenaut_problem_add_pool(p, &(arenaut_pool){.name = "slow"}, NULL, NULL);
    const arenaut_interval life = {0, 1};
    for (uint64_t size = 10; size <= 30; size += 10) {
        const arenaut_buffer b = buffer_of(size, &life);
        arenaut_problem_add_buffer(p, &b, NULL, NULL);
    }
    assert_int_equal(arenaut_problem_finish(p, NULL), ARENAUT_OK);
    arenaut_plan *plan = NULL;
    assert_int_equal(arenaut_plan_new(3, 2, NULL, &plan, NULL), ARENAUT_OK);
    plan->pool[0] = plan->pool[2] = 0;
    plan->pool[1] = 1;
    plan->offset[2] = 10;
    assert_int_equal(arenaut_plan_measure(plan, p, NULL), ARENAUT_OK);
    assert_int_equal(plan->arena[0], 64);
    assert_int_equal(plan->arena[1], 20);
    assert_int_equal(plan->total, 84);
    plan->offset[2] = ARENAUT_SIZE_MAX;
    arenaut_error err;
    assert_int_equal(arenaut_plan_measure(plan, p, &err), ARENAUT_TOO_LARGE);
    assert_non_null(strstr(err.msg, "buffer2"));
    arenaut_plan_free(plan);
    arenaut_problem_free(p);
}
