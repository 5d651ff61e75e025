/* Claims of the library about small problems, of every combination of features, held against a
 * search through everything. `make fuzz` does so for longer. */
#include "support/test.h"

#include <arenaut/planner.h>

#include "support/problems_brute.h"
#include "support/problems_machine.h"

/* ---- the search through everything itself ---- */

static brute_problem two_buffers(int first_b, int end_b) {
    brute_problem p = {.n_buffers = 2, .n_pools = 1};
    p.pool[0].capacity = BRUTE_NOTHING;
    p.pool[0].align = 1;
    for (int b = 0; b < 2; b++) {
        p.buffer[b] = (brute_buffer){.size = 3 + b,
                                     .align = 1,
                                     .n_lives = 1,
                                     .pools = 1,
                                     .fixed = BRUTE_NOTHING,
                                     .same_base = BRUTE_NOTHING,
                                     .inside = BRUTE_NOTHING};
        p.buffer[b].first[0] = b ? first_b : 0;
        p.buffer[b].end[0] = b ? end_b : 2;
    }
    return p;
}

static void assert_least(const brute_problem *p, long cost) {
    brute_places at = {{0}, {0}};
    long tries = 1000000;
    assert_int_equal(brute_search(p, cost, &tries, &at), BRUTE_IMPOSSIBLE);
    assert_int_equal(brute_search(p, cost + 1, &tries, &at), BRUTE_FOUND);
    assert_null(brute_fault(p, &at));
    assert_int_equal(brute_cost(p, &at), cost);
}

TEST(the_search_finds_the_least_of_each_kind) {
    brute_problem p = two_buffers(2, 3);
    assert_least(&p, 4);
    p.n_edges = 1;
    p.edge[0].b = 1;
    assert_least(&p, 7);
    p.buffer[1].same_base = 0;
    assert_least(&p, 4);
    p = two_buffers(1, 3);
    assert_least(&p, 7);
    p.pool[0].align = 4;
    assert_least(&p, 8);
    p.pool[0].align = 1;
    p.buffer[0].align = 8;
    assert_least(&p, 7); /* the other one above */
    p.buffer[1].fixed = 2;
    assert_least(&p, 11);
    p.buffer[1].fixed = BRUTE_NOTHING;
    p.buffer[0].inside = 1;
    p.buffer[0].delta = 1;
    p.buffer[0].align = 1;
    assert_least(&p, 4);
    p.n_ranges = 1;
    p.range[0].first = 3;
    p.range[0].end = 5;
    assert_least(&p, 9);
    p = two_buffers(2, 3);
    p.tokens = true;
    p.n_ranges = 1;
    p.range[0].first = 3;
    p.range[0].end = 5;
    assert_least(&p, 9); /* together above the range, or the smaller one below it */
}

TEST(the_search_finds_that_there_is_nothing) {
    brute_problem p = two_buffers(1, 3);
    brute_places at;
    long tries = 1000000;
    p.pool[0].capacity = 6;
    assert_int_equal(brute_search(&p, BRUTE_ANY_COST, &tries, &at), BRUTE_IMPOSSIBLE);
    p.pool[0].capacity = 7;
    assert_int_equal(brute_search(&p, BRUTE_ANY_COST, &tries, &at), BRUTE_FOUND);
    tries = 3;
    assert_int_equal(brute_search(&p, 7, &tries, &at), BRUTE_GAVE_UP);
}

/* ---- the library ---- */

static void look_at(uint64_t seed, const differential_shape *shape, differential_counts *counts) {
    char message[256];
    if (!differential_run(seed, shape, stderr, counts, message)) fail_msg("%s", message);
}

/* Each by itself, each two, and so on: all combinations of features that can be combined. */
TEST(every_claim_about_every_combination_of_features_is_true) {
    differential_counts counts = {0};
    for (uint32_t features = 0; features < 1u << DIFFERENTIAL_FEATURES; features++) {
        if (!differential_makes_sense(features)) continue;
        const differential_shape shape = {features, 5, 3000, 200000};
        for (uint64_t k = 0; k < 2; k++) look_at(features * UINT64_C(7919) + k, &shape, &counts);
    }
    assert_true(counts.plans > 10000 && counts.optima > 5000);
    assert_true(counts.impossible > 10 && counts.certificates > 1000);
    assert_true(counts.refused_problems * 10 < counts.problems);
    assert_true(counts.given_up * 50 < counts.problems);
}

/* Tokens have proofs of their own, and fewer features to be combined with. */
TEST(every_claim_about_tokens_is_true) {
    differential_counts counts = {0};
    for (uint32_t features = 0; features < ARENAUT_FEATURE_TOKENS; features++) {
        const uint32_t all = features | ARENAUT_FEATURE_TOKENS;
        if (!differential_makes_sense(all)) continue;
        const differential_shape shape = {all, 6, 3000, 200000};
        for (uint64_t k = 0; k < 3; k++) look_at(features * UINT64_C(104729) + k, &shape, &counts);
    }
    assert_true(counts.optima > 1000);
}

/* Found by its seed: exact search within 300 steps finds 33 bytes, that of overlaps 27. */
TEST(with_little_effort_auto_is_as_good_as_the_luckiest_planner) {
    differential_counts counts = {0};
    const differential_shape shape = {0xb7, 7, 300, 3000000};
    look_at(29146806, &shape, &counts);
}
