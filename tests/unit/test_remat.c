/* Rematerialization under a budget: sequences and bounds held against a search through all
 * sequences of small problems, forged proofs, and problems that are none. */
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <arenaut/arenaut.h>

#include "rewrite/find_within.h"
#include "rewrite/rematerialize/remat_cost.h"
#include "rewrite/rematerialize/remat_measure.h"
#include "rewrite/rematerialize/remat_moments.h"
#include "rewrite/rematerialize/remat_sequence.h"
#include "support/documents.h"
#include "support/drawn.h"
#include "support/fuse.h"
#include "support/programs.h"
#include "support/random.h"
#include "support/remat_machine.h"
#include "support/sweep.h"

/* The rates are a little below those that were measured: a search that got worse fails. */
static void assert_share(uint64_t part, uint64_t whole, uint64_t percent) {
    assert_true(100 * part > percent * whole);
}

TEST(bounds_are_never_above_the_least_and_forgeries_are_refused) {
    const uint32_t tried = drawn(1500);
    remat_counts c = {0};
    for (uint64_t seed = 1; seed <= tried; seed++) {
        if (!remat_machine_try(seed, stderr, &c)) fail_msg("seed %u", (unsigned)seed);
    }
    assert_share(c.feasible, tried, 33);
    assert_share(c.tight, c.feasible, 95);
    assert_share(c.in_vain, c.impossible, 90);
    assert_share(c.found, c.feasible, 60);
    assert_int_equal(c.refused, c.mutants);
    assert_true(c.mutants > 26 * tried);
}

/* Few storages add up to a budget then: bounds are proven by cases, also such in which more bytes
 * are alive than there are, by as little as one. */
TEST(steps_are_bounded_by_cases) {
    const uint32_t tried = drawn(200);
    remat_counts c = {0};
    for (uint64_t seed = 1201; seed <= 1200 + tried; seed++) {
        if (!remat_machine_try_step(seed, stderr, &c)) fail_msg("seed %u", (unsigned)seed);
    }
    assert_true(tried < 200 || c.cases > 15); /* of fewer, that many are luck */
    assert_int_equal(c.refused, c.mutants);
}

/* Bounds at several first runs, in whatever cases, units and at whatever prices. */
TEST(bounds_of_chains_are_never_above_the_least) {
    const uint32_t tried = drawn(160);
    remat_counts c = {0};
    for (uint64_t seed = 1; seed <= tried; seed++) {
        if (!remat_machine_try_chain(seed, stderr, &c)) fail_msg("seed %u", (unsigned)seed);
    }
    assert_true(tried < 160 || c.chains > 40); /* of fewer, that many are luck */
    assert_true(tried < 160 || c.mutants > 1200);
    assert_int_equal(c.refused, c.mutants);
}

/* Plans may share more bytes than the rights of the sequences that are found: with all else that a
 * problem may have, and without a budget. Where nothing fits no time is told. */
TEST(bounds_hold_for_whatever_plans_may_share) {
    const uint32_t tried = drawn(1500);
    remat_counts c = {0};
    for (uint64_t seed = 1; seed <= tried; seed++) {
        if (!remat_machine_try_shared(seed, stderr, &c)) fail_msg("seed %u", (unsigned)seed);
    }
    assert_true(3 * c.feasible > tried);
    assert_true(100 * c.tight > 90 * c.feasible);
    assert_true(3 * c.in_vain > c.impossible);
    assert_true(tried < 1500 || c.chains > 100);
    assert_int_equal(c.refused, c.mutants);
    assert_true(c.mutants > 30 * tried);
}

/* The exhaustive search once missed the fastest sequence of this one. */
TEST(the_exhaustive_search_is_no_slower_than_the_heuristic) {
    remat_counts c = {0};
    assert_true(remat_machine_try(27121180, stderr, &c));
}

TEST(a_larger_budget_never_costs_more) {
    uint64_t n_missed = 0;
    for (uint64_t seed = 1; seed <= drawn(300); seed++) {
        if (!remat_machine_try_budgets(seed, stderr, &n_missed))
            fail_msg("seed %u", (unsigned)seed);
    }
    /* A schedule that was found for a rung below the budget is within the budget only. */
    assert_true(remat_machine_try_budgets(900671, stderr, &n_missed));
    /* The state left behind by a rung must not change the evaluation of the next. */
    assert_true(remat_machine_try_budgets(77004286, stderr, &n_missed));
}

/* Bisection passes over peaks below one that was not reached. */
TEST(no_budget_comes_below_the_lowest_peak) {
    static const uint64_t seeds[] = {163, 802, 1272, 1315, 900671};
    uint64_t n_missed = 0;
    for (size_t i = 0; i < COUNT_OF(seeds); i++) {
        assert_true(remat_machine_try_budgets(seeds[i], stderr, &n_missed));
    }
    assert_int_equal(n_missed, 0);
}

/* ---- problems by hand ---- */

/* A training step: a problem, and the memory of its columns. */
enum { MOST_OPS = 24, MOST_READS = 4 * MOST_OPS };
typedef struct step {
    uint64_t cost[MOST_OPS], size[MOST_OPS];
    uint32_t maker[MOST_OPS];
    uint8_t held[MOST_OPS];
    arenaut_order_use reads[MOST_READS];
    arenaut_remat_problem problem;
} step;

/* Op k: nanoseconds, the bytes of storage k, which it makes, and the storages that it reads. */
typedef struct op_row {
    uint64_t cost, size;
    uint32_t n_reads, reads[4];
    uint8_t held;
} op_row;

#define READS(...) .n_reads = LIST_COUNT(__VA_ARGS__), .reads = {__VA_ARGS__}
#define READS_NONE .n_reads = 0
#define IS_RESULT .held = ARENAUT_LIVE_OUT
#define SET_ROWS(step, ...) \
    set_rows(step, (const op_row[]){__VA_ARGS__}, COUNT_OF(((const op_row[]){__VA_ARGS__})))

static const arenaut_remat_problem *set_rows(step *x, const op_row *rows, uint32_t n) {
    uint32_t n_reads = 0;
    for (uint32_t i = 0; i < n; i++) {
        x->cost[i] = rows[i].cost;
        x->size[i] = rows[i].size;
        x->maker[i] = i;
        x->held[i] = rows[i].held;
        for (uint32_t k = 0; k < rows[i].n_reads; k++) {
            x->reads[n_reads++] = (arenaut_order_use){i, rows[i].reads[k]};
        }
    }
    x->problem = (arenaut_remat_problem){.n_ops = n,
                                         .n_storages = n,
                                         .n_reads = n_reads,
                                         .cost = x->cost,
                                         .size = x->size,
                                         .maker = x->maker,
                                         .held = x->held,
                                         .reads = x->reads};
    return &x->problem;
}

/* Forward ops 0 … 3 make 8 bytes each; backward ops 4 … 7 read them from the last to the first, and
 * the result of the op before, of 4 bytes. All that ops 0 to 3 make is live at op 4. */
enum { OPS = 8, CHAIN_PEAK = 4 * 8 + 4, CHAIN_TIME = 4 * 10 + 4 * 20 };
static const arenaut_remat_problem *make_chain(step *x) {
    return SET_ROWS(x, {10, 8, READS_NONE}, {10, 8, READS(0)}, {10, 8, READS(1)}, {10, 8, READS(2)},
                    {20, 4, READS(3)}, {20, 4, READS(4, 2)}, {20, 4, READS(5, 1)},
                    {20, 4, READS(6, 0), IS_RESULT});
}

static arenaut_rematerialization *find(const arenaut_remat_problem *p, uint64_t budget) {
    const arenaut_remat_options options = {.budget = budget};
    arenaut_rematerialization *r = NULL;
    arenaut_finding finding;
    arenaut_error err = {0};
    assert_ok(arenaut_remat_find(p, &options, NULL, &r, &err), err);
    assert_ok(arenaut_check_rematerialization(p, r, NULL, &finding, &err), err);
    return r;
}

/* A sequence within the budget, which adds no more time. */
static arenaut_rematerialization *find_within(const arenaut_remat_problem *p, uint64_t budget,
                                              uint64_t most_added) {
    arenaut_rematerialization *r = find(p, budget);
    assert_true(r->fits && r->added <= most_added);
    return r;
}

static void expect_within(const arenaut_remat_problem *p, uint64_t budget, uint64_t most_added) {
    arenaut_rematerialization_free(find_within(p, budget, most_added));
}

/* A fastest one, which is proven to be. */
static void expect_fastest(const arenaut_remat_problem *p, uint64_t budget, uint64_t added) {
    arenaut_rematerialization *r = find_within(p, budget, added);
    assert_int_equal(r->added, added);
    assert_int_equal(r->bound, added);
    arenaut_rematerialization_free(r);
}

static void expect_false_proof(const arenaut_remat_problem *p, const arenaut_rematerialization *r) {
    arenaut_finding finding;
    assert_int_equal(arenaut_check_rematerialization(p, r, NULL, &finding, NULL), ARENAUT_REJECTED);
    assert_int_equal(finding.rule, ARENAUT_RULE_PROOF);
}

TEST(a_smaller_budget_drops_more_of_a_chain) {
    uint64_t least = 0;
    step x;
    const arenaut_remat_problem *chain = make_chain(&x);
    for (uint64_t budget = CHAIN_PEAK; budget >= CHAIN_PEAK - 2 * 8; budget -= 4) {
        arenaut_rematerialization *r = find(chain, budget);
        assert_int_equal(r->before, CHAIN_PEAK);
        assert_int_equal(r->base, CHAIN_TIME);
        assert_true(!r->fits || (r->peak <= budget && r->bound <= r->added));
        assert_true(r->bound >= least);
        least = r->bound;
        arenaut_rematerialization_free(r);
    }
    expect_fastest(chain, CHAIN_PEAK - 8, 10); /* one forward op is repeated */
}

/* A byte has no price then that could be multiplied by all of them. */
TEST(bounds_are_found_where_sizes_can_hardly_be_added) {
    for (uint32_t bits = 48; bits < 53; bits++) {
        step x;
        const arenaut_remat_problem *chain = make_chain(&x);
        for (uint32_t i = 0; i < OPS; i++) {
            x.size[i] <<= bits;
            x.cost[i] <<= 33;
        }
        arenaut_rematerialization *r = find(chain, (uint64_t)(CHAIN_PEAK - 8) << bits);
        assert_true(r->fits && r->bound <= r->added);
        arenaut_rematerialization_free(r);
    }
}

/* Whatever its last bits. */
TEST(a_budget_above_all_sizes_is_kept_by_each_op_once) {
    static const uint64_t budgets[] = {(UINT64_C(1) << 61) - 1, UINT64_C(1) << 61, ARENAUT_SIZE_MAX,
                                       UINT64_C(1) << 63, UINT64_MAX};
    step x;
    const arenaut_remat_problem *chain = make_chain(&x);
    for (size_t i = 0; i < COUNT_OF(budgets); i++) expect_fastest(chain, budgets[i], 0);
}

/* A chain of layers and what goes back through it: the last layer's result first, then that of each
 * layer with what came of those behind it. */
TEST(the_floor_is_a_budget_that_is_looked_at) {
    enum { LAYERS = 16, N = 2 * LAYERS, SIZE = 1000, FLOOR = 3 * SIZE };
    uint64_t costs[N], sizes[N];
    uint32_t makers[N], n_reads = 0;
    uint8_t outlives[N] = {[N - 1] = ARENAUT_LIVE_OUT};
    arenaut_order_use uses[2 * N];
    for (uint32_t op = 0; op < N; op++) {
        costs[op] = 1;
        sizes[op] = SIZE;
        makers[op] = op;
        if (op > 0) uses[n_reads++] = (arenaut_order_use){op, op - 1};
        if (op > LAYERS) uses[n_reads++] = (arenaut_order_use){op, N - 1 - op};
    }
    const arenaut_remat_problem p = {.n_ops = N,
                                     .n_storages = N,
                                     .n_reads = n_reads,
                                     .cost = costs,
                                     .size = sizes,
                                     .maker = makers,
                                     .held = outlives,
                                     .reads = uses};
    for (uint64_t budget = FLOOR; budget < FLOOR + drawn(20); budget++) {
        arenaut_rematerialization *r = find(&p, budget);
        assert_int_equal(r->floor, FLOOR);
        assert_true(r->fits);
        assert_int_equal(r->peak, FLOOR);
        arenaut_rematerialization_free(r);
    }
}

/* Op 0 draws numbers, so that it runs once. Of what it makes ops 1 and 2 make a tensor that op 6
 * reads: within the budget both are repeated, and the numbers stay until then.
 */
TEST(drawn_numbers_stay_live_for_repeated_readers) {
    step x;
    const arenaut_remat_problem *p =
        SET_ROWS(&x, {10, 1, READS_NONE}, {10, 6, READS(0)}, {10, 6, READS(1)}, {10, 4, READS(2)},
                 {10, 16, READS(3)}, {10, 4, READS(4)}, {10, 1, READS(2, 5), IS_RESULT});
    const uint32_t until[] = {
        0, ARENAUT_NONE, ARENAUT_NONE, ARENAUT_NONE, ARENAUT_NONE, ARENAUT_NONE, ARENAUT_NONE};
    x.problem.until = until;
    arenaut_rematerialization *r = find(p, 21);
    assert_int_equal(r->before, 26);
    arenaut_rematerialization_free(r);
    expect_fastest(p, 21, 20); /* ops 1 and 2 again */
}

/* Ops 0 to 4 make tensors that ops 5 to 9 read from the last to the first. Of what repetitions make
 * a tensor for an op in the middle some has to go again, and stays from later repetitions on: where
 * it could stay from the first of them on or never, 83 ns were added. */
TEST(a_repeated_result_is_retained_from_a_later_repetition_on) {
    step x;
    const arenaut_remat_problem *p =
        SET_ROWS(&x, {19, 5, READS_NONE}, {5, 3, READS(0)}, {16, 6, READS(1)}, {20, 1, READS(2)},
                 {16, 3, READS(3)}, {11, 4, READS(4)}, {20, 4, READS(3, 5)}, {9, 2, READS(2, 6)},
                 {17, 1, READS(1, 7)}, {7, 2, READS(0, 8), IS_RESULT});
    expect_within(p, 13, 64);
}

/* A U-Net of three levels, and its gradients. Tensor 1, the largest skip, is rematerialized for op
 * 9 from tensor 0, which stays at the peak for that alone: behind it tensor 0 goes, and is
 * rematerialized for op 14. Where it could only stay to the end or go at once, 83 ns were added. */
TEST(an_operand_dies_behind_its_repeated_reader) {
    step x;
    const arenaut_remat_problem *p =
        SET_ROWS(&x, {15, 18, READS_NONE}, {9, 10, READS(0)}, {6, 5, READS(1)}, {20, 3, READS(2)},
                 {2, 3, READS(3)}, {4, 5, READS(2, 4)}, {3, 9, READS(1, 5)}, {12, 18, READS(0, 6)},
                 {28, 18, READS(0, 6, 7)}, {6, 9, READS(1, 5, 6, 8)}, {12, 5, READS(2, 4, 9)},
                 {6, 3, READS(3, 4, 10)}, {40, 3, READS(2, 3, 11)}, {15, 5, READS(1, 10, 12)},
                 {22, 10, READS(0, 9, 13)}, {32, 18, READS(8, 14)});
    expect_within(p, 71, 34); /* 30 is the least */
}

/* ---- evaluation ---- */

/* A network with random skips, and its gradients. */
static void draw_step(rng *r, step *x) {
    const uint32_t half = 3 + rng_below(r, MOST_OPS / 2 - 2), n = 2 * half;
    uint32_t n_reads = 0;
    for (uint32_t i = 0; i < n; i++) {
        x->cost[i] = 1 + rng_below(r, 20);
        x->size[i] = 1 + rng_below(r, 9);
        x->maker[i] = i;
        if (i > 0) x->reads[n_reads++] = (arenaut_order_use){i, i - 1};
        if (i > 1 && rng_once_in(r, 2))
            x->reads[n_reads++] = (arenaut_order_use){i, rng_below(r, i)};
        if (i >= half) x->reads[n_reads++] = (arenaut_order_use){i, n - 1 - i};
    }
    x->problem = (arenaut_remat_problem){.n_ops = n,
                                         .n_storages = n,
                                         .n_reads = n_reads,
                                         .cost = x->cost,
                                         .size = x->size,
                                         .maker = x->maker,
                                         .reads = x->reads};
}

/* Peaks below that of the bisection are searched for with a part of the effort alone. */
TEST(the_lowest_peak_takes_no_more_than_half_of_the_effort) {
    rng r = {65};
    step x;
    draw_step(&r, &x);
    arenaut_rematerialization *found = find(&x.problem, 0);
    assert_true(found->effort <= arn_remat_default_effort() / 2);
    arenaut_rematerialization_free(found);
}

/* The peak without one run. */
static uint64_t peak_without(const arn_remat_graph *g, const arenaut_rematerialization *r,
                             uint32_t left_out) {
    arn_region region;
    uint32_t runs[16 * MOST_OPS], n = 0;
    uint64_t peak;
    assert_true(r->n_runs <= COUNT_OF(runs));
    for (uint32_t i = 0; i < r->n_runs; i++) {
        if (i != left_out) runs[n++] = r->runs[i];
    }
    arn_region_init(&region, NULL);
    assert_true(arn_remat_measure(g, &region, runs, n, &peak));
    arn_region_free(&region);
    return peak;
}

static uint32_t count_needless(const arn_remat_graph *g, const arenaut_rematerialization *r) {
    bool run[MOST_OPS] = {false};
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->n_runs; i++) {
        if (run[r->runs[i]]) n += peak_without(g, r, i) <= r->peak;
        run[r->runs[i]] = true;
    }
    return n;
}

TEST(no_op_is_repeated_for_nothing) {
    rng r = {66};
    uint32_t repeated = 0;
    for (uint32_t round = 0; round < drawn(60); round++) {
        step x;
        arn_remat_graph g;
        arn_region region;
        arenaut_error err = {0};
        draw_step(&r, &x);
        arenaut_rematerialization *found = find(&x.problem, 0);
        arn_region_init(&region, NULL);
        assert_ok(arn_remat_graph_make(&x.problem, &region, &g, &err), err);
        repeated += found->n_runs - x.problem.n_ops;
        assert_int_equal(count_needless(&g, found), 0);
        arn_region_free(&region);
        arenaut_rematerialization_free(found);
    }
    assert_true(repeated > 0);
}

/* A state of a gap, of any kind. */
static arn_remat_state draw_state(rng *r, const arn_remat_gap *gap) {
    const uint32_t at = gap->from + 1 + rng_below(r, gap->to - gap->from);
    switch (rng_below(r, 5)) {
        case 0: return ARN_REMAT_LATE;
        case 1: return ARN_REMAT_RETAIN;
        case 2: return ARN_REMAT_RETAIN + at;
        case 3: return at < gap->to + gap->tail ? ARN_REMAT_UNTIL + at : ARN_REMAT_KEEP;
        default: return ARN_REMAT_KEEP;
    }
}

static void expect_same(const arn_remat_sequence *a, const arn_remat_sequence *b) {
    assert_int_equal(a->n_bad, b->n_bad);
    if (a->n_bad > 0) return; /* behind one that is bad nothing counts */
    for (uint32_t at = 0; at < a->graph->problem->n_ops; at++) {
        assert_int_equal(a->peak[at], b->peak[at]);
        assert_int_equal(a->cost[at], b->cost[at]);
        assert_int_equal(a->enter[at + 1], b->enter[at + 1]);
    }
    assert_int_equal(a->added, b->added);
}

/* States change one by one, and a second schedule gets all of them at once. */
TEST(incremental_evaluation_equals_that_of_all_states) {
    rng r = {7};
    step x;
    arn_region region;
    arenaut_error err;
    arn_budget budget = arn_budget_make(0, NULL, NULL);
    uint32_t n_alike = 0;
    arn_region_init(&region, NULL);
    for (uint32_t round = 0; round < 200; round++) {
        arn_remat_graph g;
        arn_remat_sequence followed, fresh;
        draw_step(&r, &x);
        assert_ok(arn_remat_graph_make(&x.problem, &region, &g, &err), err);
        assert_true(arn_remat_sequence_make(&g, &region, &budget, &followed));
        for (uint32_t i = 0; i < 40; i++) {
            const uint32_t gap = rng_below(&r, g.n_gaps);
            arn_remat_set(&followed, gap, draw_state(&r, &g.gaps[gap]));
            assert_true(arn_remat_sequence_make(&g, &region, &budget, &fresh));
            for (uint32_t k = 0; k < g.n_gaps; k++) {
                if (fresh.state[k] != followed.state[k]) {
                    arn_remat_change(&fresh, k, followed.state[k]);
                }
            }
            arn_remat_follow(&fresh);
            expect_same(&followed, &fresh);
            n_alike += fresh.n_bad == 0;
        }
    }
    arn_region_free(&region);
    assert_true(n_alike > 3000);
}

/* ---- cuts ---- */

/* Cuts at two ops, one before the other, and what is assumed of them. */
typedef struct two_cuts {
    arn_remat_cut cut[2];
    arn_remat_assumed assumed[2][MOST_OPS];
    uint32_t op[2];
    bool open;
} two_cuts;

static void make_two_cuts(const arn_remat_graph *g, arn_region *region, arn_budget *budget,
                          two_cuts *x) {
    for (int k = 0; k < 2; k++) {
        assert_true(arn_remat_cut_make(g, &region->allocator, region, budget, &x->cut[k]));
        arn_remat_cut_at(&x->cut[k], x->op[k]);
        for (uint32_t s = 0; s < g->problem->n_storages; s++) {
            if (x->assumed[k][s] == ARN_REMAT_OPEN) continue;
            arn_remat_cut_assume(&x->cut[k], s, x->assumed[k][s]);
        }
    }
    x->cut[0].later = &x->cut[1];
    arn_remat_cut_leave_open(&x->cut[1], x->open);
}

/* One of all that decides which arcs there are. */
static void change_cuts(const arn_remat_graph *g, rng *r, two_cuts *x) {
    const uint32_t k = rng_below(r, 2), s = rng_below(r, g->problem->n_storages);
    if (rng_once_in(r, 8)) {
        x->open = !x->open;
        arn_remat_cut_leave_open(&x->cut[1], x->open);
    } else if (arn_remat_cut_splits(&x->cut[k], s)) {
        x->assumed[k][s] = rng_once_in(r, 2) ? ARN_REMAT_ALIVE : ARN_REMAT_GONE;
        arn_remat_cut_assume(&x->cut[k], s, x->assumed[k][s]);
    }
}

static void expect_same_cuts(const arn_remat_graph *g, rng *r, two_cuts *kept, two_cuts *fresh) {
    const uint64_t byte_price = rng_below(r, 30), time_price = rng_below(r, 4);
    for (uint32_t s = 0; s < g->problem->n_storages; s++) {
        kept->cut[0].hand[s] = fresh->cut[0].hand[s] = rng_once_in(r, 2) ? rng_below(r, 40) : 0;
    }
    for (int k = 0; k < 2; k++) {
        arn_remat_cut_find(&kept->cut[k], byte_price, time_price);
        arn_remat_cut_find(&fresh->cut[k], byte_price, time_price);
        assert_int_equal(kept->cut[k].flow, fresh->cut[k].flow);
        assert_int_equal(kept->cut[k].cut_bytes, fresh->cut[k].cut_bytes);
        assert_int_equal(kept->cut[k].cut_cost, fresh->cut[k].cut_cost);
        for (uint32_t s = 0; s < g->problem->n_storages; s++) {
            assert_int_equal(arn_remat_cut_keeps(&kept->cut[k], s),
                             arn_remat_cut_keeps(&fresh->cut[k], s));
        }
    }
}

/* The network of a cut is kept for other prices, as long as nothing else is assumed. */
TEST(a_network_that_is_kept_gives_the_cuts_of_a_new_one) {
    rng r = {12};
    step x;
    arenaut_error err;
    arn_budget budget = arn_budget_make(0, NULL, NULL);
    for (uint32_t round = 0; round < 200; round++) {
        arn_remat_graph g;
        arn_region region;
        two_cuts kept = {0};
        uint8_t results[MOST_OPS] = {0};
        arn_region_init(&region, NULL);
        draw_step(&r, &x);
        for (uint32_t s = 0; s < x.problem.n_storages; s++) {
            results[s] = rng_once_in(&r, 4) ? ARENAUT_LIVE_OUT : 0;
        }
        x.problem.held = results;
        assert_ok(arn_remat_graph_make(&x.problem, &region, &g, &err), err);
        kept.op[0] = rng_below(&r, x.problem.n_ops - 1);
        kept.op[1] = kept.op[0] + 1 + rng_below(&r, x.problem.n_ops - kept.op[0] - 1);
        make_two_cuts(&g, &region, &budget, &kept);
        for (uint32_t i = 0; i < 20; i++) {
            two_cuts fresh = kept;
            if (rng_once_in(&r, 2)) change_cuts(&g, &r, &kept);
            memcpy(fresh.assumed, kept.assumed, sizeof fresh.assumed);
            fresh.open = kept.open;
            make_two_cuts(&g, &region, &budget, &fresh);
            expect_same_cuts(&g, &r, &kept, &fresh);
            for (int k = 0; k < 2; k++) arn_remat_cut_free(&fresh.cut[k]);
        }
        for (int k = 0; k < 2; k++) arn_remat_cut_free(&kept.cut[k]);
        arn_region_free(&region);
    }
}

/* Ops 5 to 11 are a loss: tensors of up to 32 bytes, between small ones. One of them is alive at
 * the peak or is not, and the cheapest cut takes far too many bytes or far too few: it is the cut
 * of a case of the bound that leads to the fastest sequence. */
TEST(a_large_tensor_is_dropped_where_a_case_of_the_bound_drops_it) {
    step x;
    const arenaut_remat_problem *p =
        SET_ROWS(&x, {9, 4, READS_NONE}, {1, 2, READS(0)}, {9, 6, READS(0, 1)}, {6, 1, READS(2)},
                 {12, 1, READS(0, 3)}, {30, 16, READS(4)}, {8, 16, READS(5)}, {8, 32, READS(6)},
                 {8, 32, READS(7)}, {8, 16, READS(8)}, {8, 16, READS(6, 9)}, {20, 4, READS(10)},
                 {16, 4, READS(3, 4, 11)}, {8, 4, READS(3, 12)}, {14, 3, READS(2, 13)},
                 {19, 4, READS(1, 14)}, {15, 5, READS(0, 15), IS_RESULT});
    expect_fastest(p, 69, 54);
}

/* Most bytes are alive at ops that are not the one with the best bound: that one needs many bytes
 * itself, and its best price of a byte is far higher than theirs. */
TEST(the_bound_is_of_an_op_that_needs_many_bytes) {
    step x;
    const arenaut_remat_problem *p =
        SET_ROWS(&x, {20, 16, READS_NONE}, {5, 32, READS(0)}, {1, 32, READS(1)}, {5, 4, READS(2)},
                 {40, 8, READS(3)}, {20, 4, READS(4)}, {40, 32, READS(5, 3)}, {1, 32, READS(6, 2)},
                 {5, 4, READS(7, 1)}, {5, 4, READS(8, 0), IS_RESULT});
    expect_fastest(p, 115, 5);
    arenaut_rematerialization *r = find(p, 115);
    assert_int_equal(r->proof.op, 7);
    arenaut_rematerialization_free(r);
}

TEST(a_schedule_within_the_budget_is_kept) {
    step x;
    arenaut_rematerialization *r = find_within(make_chain(&x), CHAIN_PEAK, 0);
    assert_int_equal(r->n_runs, OPS);
    for (uint32_t i = 0; i < OPS; i++) assert_int_equal(r->runs[i], i);
    arenaut_rematerialization_free(r);
}

/* Op 1 copies what op 0 made, for the last op alone; op 2 reads the original. While ops 2 and 3
 * run, the copy is not live if op 1 runs behind them, at no cost, as op 0's result is kept as well.
 */
TEST(an_op_that_is_read_late_runs_late) {
    step x;
    const arenaut_remat_problem *p =
        SET_ROWS(&x, {10, 8, READS_NONE}, {10, 8, READS(0)}, {10, 8, READS(0)}, {10, 2, READS(2)},
                 {10, 2, READS(3, 1, 0), IS_RESULT});
    arenaut_rematerialization *r = find_within(p, 20, 0);
    assert_int_equal(r->n_runs, 5);
    assert_int_equal(r->before, 26);
    arenaut_rematerialization_free(r);
    const arenaut_order_dependence follows = {3, 1}; /* op 3 has to run behind it */
    x.problem.dependences = &follows;
    x.problem.n_dependences = 1;
    r = find_within(p, 20, 10);
    assert_int_equal(r->added, 10);
    arenaut_rematerialization_free(r);
}

/* Op 1 makes the gradient of a weight, 20 bytes, for the caller. Op 2 needs 16 beside it, unless op
 * 1 runs last; then the operand of op 1, of 4 bytes, stays. All results are alive at the end. */
TEST(results_that_stay_are_made_last_and_set_a_floor) {
    step x;
    const arenaut_remat_problem *p =
        SET_ROWS(&x, {10, 4, READS_NONE}, {10, 20, READS(0), IS_RESULT}, {10, 16, READS(0)},
                 {10, 2, READS(2), IS_RESULT});
    enum { AT_END = 4 + 20 + 2 }; /* the results, and the operand of op 1 */
    arenaut_rematerialization *r = find_within(p, AT_END, 0);
    assert_int_equal(r->before, 4 + 20 + 16);
    assert_int_equal(r->peak, AT_END);
    assert_int_equal(r->runs[3], 1);
    assert_int_equal(r->floor, AT_END);
    assert_int_equal(r->floor_proof.op, p->n_ops);
    r->floor++; /* more than is alive at the end */
    expect_false_proof(p, r);
    r->floor--;
    r->bound = 1; /* the end shows no time */
    r->proof.op = p->n_ops;
    r->proof.time_price = 1;
    expect_false_proof(p, r);
    arenaut_rematerialization_free(r);
}

/* Each op needs a byte less than the floor once those before it have been taken out, one by one.
 * Where each of them took a pass over all, this took minutes. */
TEST(the_end_of_many_ops_is_checked_at_once) {
    enum { N = 100000, SIZE = 8 };
    uint64_t *numbers = calloc(4 * (size_t)N, sizeof *numbers);
    uint32_t *makers = calloc(N, sizeof *makers);
    uint8_t *outlives = malloc(N);
    assert_true(numbers && makers && outlives);
    uint64_t *const sizes = numbers + N, *const more = numbers + 2 * (size_t)N;
    const uint64_t floor = SIZE * (uint64_t)N + 1;
    for (uint32_t i = 0; i < N; i++) {
        sizes[i] = SIZE;
        more[i] = SIZE * (uint64_t)i; /* beside what is live out of this op and those behind it */
        makers[i] = i;
        outlives[i] = ARENAUT_LIVE_OUT;
    }
    const arenaut_remat_problem p = {.n_ops = N,
                                     .n_storages = N,
                                     .cost = numbers,
                                     .scratch = more,
                                     .size = sizes,
                                     .maker = makers,
                                     .held = outlives};
    const arenaut_remat_proof proof = {.op = N, .byte_price = 1, .flow = numbers + 3 * (size_t)N};
    arenaut_rematerialization r = {.budget = 1, .floor = floor, .floor_proof = proof};
    arenaut_finding finding;
    const clock_t before = clock();
    assert_int_equal(arenaut_check_remat_bounds(&p, &r, NULL, &finding, NULL), ARENAUT_REJECTED);
    r.floor--;
    assert_int_equal(arenaut_check_remat_bounds(&p, &r, NULL, &finding, NULL), ARENAUT_OK);
    assert_true((clock() - before) / CLOCKS_PER_SEC < 10);
    free(numbers);
    free(makers);
    free(outlives);
}

/* As before, and op 4 makes a small result of a small operand: it may run behind all others, and
 * the last of these needs more. */
TEST(results_that_need_little_may_be_made_last) {
    step x;
    const arenaut_remat_problem *p =
        SET_ROWS(&x, {10, 10, READS_NONE}, {10, 20, READS(0), IS_RESULT}, {10, 16, READS(0)},
                 {10, 2, READS(2), IS_RESULT}, {10, 3, READS(5), IS_RESULT});
    x.maker[x.problem.n_storages] = 0; /* a second storage of op 0, which op 4 reads */
    x.size[x.problem.n_storages] = 1;
    x.held[x.problem.n_storages++] = 0;
    enum { AT_END = 10 + 20 + 2 }; /* the results of ops 1 and 3, and the operand of op 1 */
    arenaut_rematerialization *r = find(p, AT_END - 1);
    assert_false(r->fits);
    assert_int_equal(r->floor, AT_END);
    assert_int_equal(r->floor_proof.op, p->n_ops);
    assert_int_equal(r->n_at_floor, 2);
    assert_int_equal(r->at_floor[0], 1);
    assert_int_equal(r->at_floor[1], 3);
    r->floor++;
    expect_false_proof(p, r);
    arenaut_rematerialization_free(r);
    expect_within(p, AT_END + 1, UINT64_MAX);
}

/* Ops 5 and 6 make results for the caller, of 4 and 3 bytes, from tensors of 5 bytes; while ops 3
 * and 4 run, 6 bytes are left. Either result is alive by then, or its operand is made again. A part
 * of one is of no use, but no bound that leaves open whether it is alive shows that. */
TEST(results_that_stay_are_alive_or_are_not) {
    step x;
    const arenaut_remat_problem *p = SET_ROWS(
        &x, {10, 5, READS_NONE}, {12, 5, READS_NONE}, {1, 1, READS(0, 1)}, {1, 20, READS(2)},
        {1, 1, READS(3), IS_RESULT}, {1, 4, READS(0), IS_RESULT}, {1, 3, READS(1), IS_RESULT});
    expect_fastest(p, 27, 10);
    arenaut_rematerialization *r = find(p, 27);
    x.held[5] = 0; /* then op 5 may run before, and its result be gone */
    expect_false_proof(p, r);
    arenaut_rematerialization_free(r);
}

/* Op 7 ends the lives of results 0, of 10 bytes, and 3, and makes 7: it runs before ops 4 and 5,
 * beside whose results 0 was dropped in the given order, to be made again. */
TEST(ops_that_free_bytes_run_first) {
    step x;
    const arenaut_remat_problem *p =
        SET_ROWS(&x, {10, 10, READS_NONE}, {10, 8, READS(0)}, {10, 6, READS(0, 1)},
                 {10, 2, READS(1, 0), IS_RESULT}, {10, 7, READS(2)}, {10, 1, READS(4, 2)},
                 {10, 6, READS(3, 2)}, {10, 7, READS(0, 3)}, {10, 7, READS(5, 4), IS_RESULT});
    expect_within(p, 26, 0); /* 20 with op 7 behind them */
}

TEST(no_sequence_is_below_the_floor) {
    enum { FLOOR = 8 + 8 }; /* operand and result of a forward op */
    step x;
    arenaut_rematerialization *r = find(make_chain(&x), FLOOR - 1);
    assert_false(r->fits);
    assert_int_equal(r->floor, FLOOR);
    arenaut_rematerialization_free(r);
}

/* Polls that are answered by going on. */
static arenaut_verdict stop_behind(void *context, const arenaut_progress *progress) {
    uint32_t *left = context;
    (void)progress;
    return *left > 0 ? (*left)--, ARENAUT_GO_ON : ARENAUT_INTERRUPTED;
}

/* The same chain, of many ops. */
TEST(a_search_that_is_stopped_has_a_schedule) {
    enum { HALF = 300, MANY = 2 * HALF };
    uint64_t costs[MANY], sizes[MANY];
    uint32_t makers[MANY], n_reads = 0;
    uint8_t outlives[MANY] = {[MANY - 1] = ARENAUT_LIVE_OUT};
    arenaut_order_use uses[2 * MANY];
    for (uint32_t i = 0; i < MANY; i++) {
        costs[i] = 10;
        sizes[i] = i < HALF ? 8 : 4;
        makers[i] = i;
        if (i > 0) uses[n_reads++] = (arenaut_order_use){i, i - 1};
        if (i > HALF) uses[n_reads++] = (arenaut_order_use){i, MANY - 1 - i};
    }
    const arenaut_remat_problem p = {.n_ops = MANY,
                                     .n_storages = MANY,
                                     .n_reads = n_reads,
                                     .cost = costs,
                                     .size = sizes,
                                     .maker = makers,
                                     .held = outlives,
                                     .reads = uses};
    for (uint32_t questions = 0; questions < 40; questions++) {
        uint32_t left = questions;
        const arenaut_remat_options options = {
            .budget = 600, .progress = stop_behind, .progress_context = &left};
        arenaut_rematerialization *r = NULL;
        arenaut_finding finding;
        arenaut_error err = {0};
        assert_ok(arenaut_remat_find(&p, &options, NULL, &r, &err), err);
        assert_ok(arenaut_check_rematerialization(&p, r, NULL, &finding, &err), err);
        assert_true(r->n_runs >= MANY);
        assert_true(r->fits == (r->peak <= r->budget));
        arenaut_rematerialization_free(r);
    }
}

/* Steps of the flows by which the ops of a bound are chosen. */
static uint64_t steps_of_moments(arn_budget *budget) {
    static const int64_t load[OPS] = {8, 16, 24, 32, 36, 32, 24, 16};
    arn_region region;
    arn_remat_graph graph;
    arn_remat_chain c;
    arn_remat_moments m;
    const uint32_t first = 4;
    step x;
    arn_region_init(&region, NULL);
    assert_int_equal(arn_remat_graph_make(make_chain(&x), &region, &graph, NULL), ARENAUT_OK);
    assert_true(arn_remat_chain_make(&graph, NULL, &region, budget, &c));
    assert_true(arn_remat_moments_make(&c, &region, &m));
    c.budget = 20;
    arn_remat_chain_at(&c, &first, 1);
    assert_true(arn_remat_chain_link(&c));
    c.best.byte[0] = c.best.unit[0] = 1;
    arn_remat_moments_find(&m, load, arn_remat_chain_target(&c, 1000), UINT64_MAX);
    const uint64_t steps = arn_remat_chain_spent(&c);
    arn_remat_chain_free(&c);
    arn_region_free(&region);
    return steps;
}

TEST(the_proof_of_a_search_that_is_stopped_takes_no_time) {
    uint32_t left = 0;
    arn_budget whole = arn_budget_make(0, NULL, NULL);
    arn_budget stopped = arn_budget_make(0, stop_behind, &left);
    assert_false(arn_budget_goes_on(&stopped));
    const uint64_t steps = steps_of_moments(&whole);
    assert_true(steps > 20000);
    assert_true(steps_of_moments(&stopped) < steps / 100);
}

static arenaut_status refuse(const arenaut_remat_problem *p) {
    arenaut_rematerialization *r = NULL;
    const arenaut_status st = arenaut_remat_find(p, NULL, NULL, &r, NULL);
    assert_null(r);
    return st;
}

TEST(malformed_problems_are_refused) {
    static const arenaut_order_use early[] = {{0, 1}}, beyond[] = {{0, 99}};
    static const arenaut_order_right right = {1, 1, 3, 8};
    static const uint64_t large[OPS] = {UINT64_MAX, UINT64_MAX};
    static const uint8_t both[OPS] = {ARENAUT_LIVE_IN};
    step x;
    const arenaut_remat_problem *chain = make_chain(&x);
    arenaut_remat_problem p = *chain;
    p.reads = early;
    p.n_reads = 1;
    assert_int_equal(refuse(&p), ARENAUT_BAD_ARGUMENT);
    p.reads = beyond;
    assert_int_equal(refuse(&p), ARENAUT_BAD_ARGUMENT);
    p = *chain;
    p.rights = &right;
    p.n_rights = 1;
    assert_int_equal(refuse(&p), ARENAUT_BAD_ARGUMENT);
    p = *chain;
    p.cost = large;
    assert_int_equal(refuse(&p), ARENAUT_TOO_LARGE);
    p = *chain;
    p.held = both;
    assert_int_equal(refuse(&p), ARENAUT_BAD_ARGUMENT);
}

static arenaut_status find_and_check(void *context, const arenaut_allocator *allocator) {
    const arenaut_remat_options options = {.budget = CHAIN_PEAK - 8};
    arenaut_rematerialization *r = NULL;
    arenaut_finding finding;
    arenaut_status st = arenaut_remat_find(context, &options, allocator, &r, NULL);
    if (st == ARENAUT_OK) {
        st = arenaut_check_rematerialization(context, r, allocator, &finding, NULL);
    }
    arenaut_rematerialization_free(r);
    return st;
}

TEST(any_allocation_may_fail) {
    step x;
    survives_every_allocation_failure(find_and_check, (void *)make_chain(&x));
}

#define TWO_OPS                                                                                    \
    "{\"schema\": \"arenaut.program/1\", \"tensors\": [{\"name\": \"x\", \"bytes\": 8},"           \
    "{\"name\": \"a\", \"bytes\": 8}, {\"name\": \"y\", \"bytes\": 8}], \"methods\": [{\"name\": " \
    "\"main\", \"inputs\": [\"x\"], \"outputs\": [\"y\"], \"ops\": ["                              \
    "{\"name\": \"f\", \"inputs\": [\"x\"], \"outputs\": [\"a\"]},"                                \
    "{\"name\": \"g\", \"inputs\": [\"a\"], \"outputs\": [\"y\"]}]}]}"
#define COSTS "# measured\nmethod,op,nanoseconds\nmain,0,250\n ,1, 9\r\n"

static const arenaut_program *two_ops;

/* Accepted or refused with a line; the times are those that stand there. */
static bool costs_property(const uint8_t *data, size_t n) {
    uint64_t *costs = NULL;
    arenaut_error err = {0};
    const arenaut_status st = arn_costs_read((const char *)data, n, two_ops, NULL, &costs, &err);
    if (st == ARENAUT_OK) free(costs);
    else assert_true(st == ARENAUT_BAD_INPUT && !costs && err.msg[0]);
    return st == ARENAUT_OK;
}

TEST(a_cost_file_gives_times_by_method_and_op) {
    arenaut_document d = read_text(NULL, TWO_OPS);
    uint64_t *costs = NULL;
    arenaut_error err = {0};
    assert_ok(arn_costs_read(COSTS, sizeof COSTS - 1, d.program, NULL, &costs, &err), err);
    assert_int_equal(costs[0], 250);
    assert_int_equal(costs[1], 9);
    free(costs);
    static const char number[] = "method,op,nanoseconds\n0,1,7", twice[] = COSTS "0,1,7";
    assert_ok(arn_costs_read(number, sizeof number - 1, d.program, NULL, &costs, &err), err);
    assert_int_equal(costs[0], ARENAUT_COST_UNKNOWN);
    assert_int_equal(costs[1], 7);
    free(costs);
    assert_int_equal(arn_costs_read(twice, sizeof twice - 1, d.program, NULL, &costs, &err),
                     ARENAUT_BAD_INPUT);
    assert_string_equal(err.msg, "line 5: a second row for op '1'");
    two_ops = d.program;
    uint8_t bytes[sizeof COSTS - 1];
    memcpy(bytes, COSTS, sizeof bytes);
    const sweep s = {.property = costs_property, .bits = 8};
    assert_int_equal(sweep_cuts(&s, bytes, sizeof bytes).tried, sizeof bytes);
    const sweep_counts flips = sweep_flips(&s, bytes, sizeof bytes);
    assert_true(flips.accepted > 0 && flips.accepted < flips.tried);
    sweep_scatter(&s, bytes, sizeof bytes, 2000);
    arenaut_document_free(&d);
}
