/* Several pools to choose from: the spill of plans into the slower ones, against trying every pool
 * and every address. */
#include <stdlib.h>

#include <arenaut/check.h>

#include "support/oracle.h"
#include "support/plans.h"
#include "support/problems.h"
#include "support/test.h"

#include "planners/bounds/spill.h"

/* ---- trying everything ---- */

typedef struct cost {
    uint64_t spill, total;
} cost;

static bool is_less(cost a, cost b) {
    return a.spill < b.spill || (a.spill == b.spill && a.total < b.total);
}

/* Buffers 0 to b - 1 are placed. */
typedef struct trying {
    const arenaut_problem *p;
    arenaut_plan *plan;
    uint64_t roof;
    cost best;
} trying;

static uint64_t spill_of(const arenaut_problem *p, uint32_t b, uint32_t pool) {
    uint64_t spill = 0;
    for (uint32_t k = 0; k < pool; k++) {
        if (arenaut_problem_pools(p, b) >> k & 1) spill += p->size[b] * (p->uses ? p->uses[b] : 1);
    }
    return spill;
}

static uint64_t total_of(const arenaut_problem *p, const uint64_t *top) {
    uint64_t total = 0;
    for (uint32_t k = 0; k < p->n_pools; k++) {
        total += (top[k] + p->pool[k].align - 1) / p->pool[k].align * p->pool[k].align;
    }
    return total;
}

static void try_all(trying *t, uint32_t b, uint64_t spill, const uint64_t *top) {
    const arenaut_problem *p = t->p;
    const cost so_far = {spill, total_of(p, top)};
    if (!is_less(so_far, t->best)) return;
    if (b == p->n_buffers) {
        t->best = so_far;
        return;
    }
    if (!arenaut_problem_needs_memory(p, b)) {
        try_all(t, b + 1, spill, top);
        return;
    }
    for (uint32_t k = 0; k < p->n_pools; k++) {
        if (!(arenaut_problem_pools(p, b) >> k & 1)) continue;
        t->plan->pool[b] = k;
        for (uint64_t at = 0; at + p->size[b] <= t->roof; at++) {
            uint64_t next[ARENAUT_MAX_POOLS];
            memcpy(next, top, p->n_pools * sizeof *next);
            if (at + p->size[b] > next[k]) next[k] = at + p->size[b];
            t->plan->offset[b] = at;
            if (oracle_accepts_buffer(p, t->plan, b)) {
                try_all(t, b + 1, spill + spill_of(p, b, k), next);
            }
        }
    }
}

/* UINT64_MAX twice: there is no plan. */
static cost least_cost(const arenaut_problem *p) {
    const uint64_t top[ARENAUT_MAX_POOLS] = {0};
    trying t = {p, NULL, 0, {UINT64_MAX, UINT64_MAX}};
    arenaut_error err = {0};
    assert_ok(arenaut_plan_new(p->n_buffers, p->n_pools, NULL, &t.plan, &err), err);
    for (uint32_t k = 0; k < p->n_reserved; k++) {
        if (p->reserved[k].end > t.roof) t.roof = p->reserved[k].end;
    }
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        const uint64_t fixed = arenaut_problem_fixed_offset(p, b);
        if (fixed != ARENAUT_UNPLACED && fixed > t.roof) t.roof = fixed;
    }
    for (uint32_t b = 0; b < p->n_buffers; b++) t.roof += p->size[b] + arenaut_problem_align(p, b);
    try_all(&t, 0, 0, top);
    arenaut_plan_free(t.plan);
    return t.best;
}

/* ---- every planner against it ---- */

/* In a division of buffers among pools, the arenas of a least total are the least by themselves. */
static void expect_pools_at_bounds(const arenaut_plan *plan) {
    for (uint32_t k = 0; k < plan->n_pools; k++) {
        assert_int_equal(plan->lower_bound[k], plan->arena[k]);
    }
}

static uint64_t least_alignment(const arenaut_problem *p) {
    uint64_t least = p->pool[0].align;
    for (uint32_t k = 1; k < p->n_pools; k++) {
        if (p->pool[k].align < least) least = p->pool[k].align;
    }
    return least;
}

static void hold_against(const arenaut_problem *p, const arenaut_plan *plan, cost least) {
    const cost found = {plan->spill, plan->total};
    if (plan->quality == ARENAUT_INFEASIBLE) {
        assert_true(least.total == UINT64_MAX);
        return;
    }
    assert_plan_accepted(p, plan);
    assert_false(is_less(found, least));
    assert_true(plan->spill_bound <= least.spill);
    if (plan->spill == least.spill) assert_true(plan->total_bound <= least.total);
    assert_int_equal(plan->total_bound % least_alignment(p), 0);
    assert_true((plan->quality == ARENAUT_OPTIMAL) == (plan->stopped_by == ARENAUT_STOP_PROOF));
    if (plan->quality != ARENAUT_OPTIMAL) return;
    assert_false(is_less(least, found));
    expect_pools_at_bounds(plan);
}

static cost plan_with(const arenaut_problem *p, const arenaut_planner *planner, cost least) {
    const arenaut_plan_options options = {.planner = planner->name, .effort = 200000};
    cost found = {UINT64_MAX, UINT64_MAX};
    arenaut_plan *plan = NULL;
    arenaut_error err = {0};
    const arenaut_status st = arenaut_plan_make(p, &options, NULL, &plan, &err);
    if (is_no_answer(st)) return found;
    if (st != ARENAUT_NO_PLAN) assert_ok(st, err);
    hold_against(p, plan, least);
    if (plan->quality != ARENAUT_INFEASIBLE) found = (cost){plan->spill, plan->total};
    arenaut_plan_free(plan);
    return found;
}

/* The fast pools are small, so that not all fits into them. */
static void make_tight(rng *r, arenaut_problem *p, uint32_t max_size) {
    for (uint32_t k = 0; k + 1 < p->n_pools; k++) {
        limit_pool(p, k, 1 + rng_below(r, 2 * max_size));
    }
    if (rng_once_in(r, 3)) {
        const uint32_t last = p->n_pools - 1;
        limit_pool(p, last, 1 + rng_below(r, 3 * max_size));
    }
}

static void compare_all_planners(const problem_shape *shape, uint32_t problems) {
    rng r = {shape->features + 6007};
    uint32_t n_spilling = 0, n_impossible = 0, n_optimal = 0;
    for (uint32_t k = 0; k < problems; k++) {
        arenaut_problem *p = random_problem(&r, shape);
        make_tight(&r, p, shape->max_size);
        const cost least = least_cost(p);
        n_impossible += least.total == UINT64_MAX;
        n_spilling += least.total != UINT64_MAX && least.spill > 0;
        cost best = {0, 0};
        for (size_t i = 0; i < arenaut_planner_count(); i++) {
            const cost found = plan_with(p, arenaut_planner_at(i), least);
            if (i == 0) best = found; /* auto */
            assert_false(is_less(found, best));
        }
        n_optimal += !is_less(least, best);
        arenaut_problem_free(p);
    }
    /* Enough of each kind, and hardly any that is not solved. */
    assert_true(n_spilling > problems / 10 && n_impossible > problems / 100);
    assert_true(n_optimal >= problems - problems / 100);
}

TEST(proofs_hold_for_plain_buffers) {
    const problem_shape shape = {6, 5, 6, ARENAUT_FEATURE_POOLS | ARENAUT_FEATURE_CAPACITY};
    compare_all_planners(&shape, 300);
}

TEST(proofs_hold_with_relations) {
    const problem_shape shape = {5, 5, 6,
                                 ARENAUT_FEATURE_POOLS | ARENAUT_FEATURE_SAME_BASE |
                                     ARENAUT_FEATURE_INSIDE | ARENAUT_FEATURE_GAPS};
    compare_all_planners(&shape, 300);
}

TEST(proofs_hold_with_every_constraint) {
    const problem_shape shape = {5, 5, 6, ARENAUT_FEATURE_ALL};
    compare_all_planners(&shape, 400);
}

/* ---- the bound ---- */

/* The least spill with a number of ways to be kept that is far too small, so that buffers are
 * forgotten, and the bound of bytes that may be cut has its part. */
static uint64_t bound_with(const arenaut_problem *p, uint32_t states, bool *found) {
    const arn_spill_question question = {
        .most = ARENAUT_UNPLACED, .sixteenths = 16, .states = states};
    arn_spill_answer answer;
    arn_spill *spill = NULL;
    arenaut_error err = {0};
    assert_ok(arn_spill_new(p, NULL, &spill, &err), err);
    assert_ok(arn_spill_least(spill, &question, &answer, &err), err);
    arn_spill_free(spill);
    *found = answer.least != ARENAUT_UNPLACED;
    return answer.least;
}

static void bound_with_few_choices(const problem_shape *shape, uint32_t problems) {
    rng r = {shape->features + 91};
    uint32_t n_lower = 0, n_positive = 0;
    for (uint32_t k = 0; k < problems; k++) {
        arenaut_problem *p = random_problem(&r, shape);
        make_tight(&r, p, shape->max_size);
        const cost least = least_cost(p);
        bool found;
        const uint64_t exact = bound_with(p, ARN_SPILL_STATES, &found);
        if (found) assert_true(exact <= least.spill);
        else assert_true(least.total == UINT64_MAX);
        for (uint32_t states = 1; states <= 4; states++) {
            const uint64_t bound = bound_with(p, states, &found);
            if (!found) {
                assert_true(least.total == UINT64_MAX);
                continue;
            }
            assert_true(bound <= least.spill);
            if (exact != ARENAUT_UNPLACED) assert_true(bound <= exact);
            n_lower += bound < exact;
            n_positive += bound > 0;
        }
        arenaut_problem_free(p);
    }
    assert_true(n_lower > problems / 25 && n_positive > problems / 5);
}

TEST(a_bound_that_forgets_buffers_is_one) {
    const uint32_t pools = ARENAUT_FEATURE_POOLS | ARENAUT_FEATURE_CAPACITY;
    const problem_shape plain = {7, 5, 6, pools};
    const problem_shape related = {
        6, 5, 6, pools | ARENAUT_FEATURE_SAME_BASE | ARENAUT_FEATURE_INSIDE | ARENAUT_FEATURE_GAPS};
    const problem_shape every = {5, 5, 6, ARENAUT_FEATURE_ALL};
    bound_with_few_choices(&plain, 250);
    bound_with_few_choices(&related, 250);
    bound_with_few_choices(&every, 150);
}

/* ---- meaning ---- */

/* Two buffers of which one fits into the fast pool:
 *
 *     busy   [-----]      100 bytes, used 5 times
 *     large  [-----]      120 bytes, used once */
static arenaut_problem *busy_and_large(uint32_t uses) {
    const arenaut_interval life = {0, 2};
    arenaut_buffer busy = {.size = 100, .lifetimes = &life, .n_lifetimes = 1, .uses = uses};
    arenaut_buffer large = {.size = 120, .lifetimes = &life, .n_lifetimes = 1};
    arenaut_problem *p = new_problem();
    add_pool(p, "fast", 150, 1);
    add_pool(p, "slow", ARENAUT_UNLIMITED, 1);
    add_buffer(p, &busy);
    add_buffer(p, &large);
    finish(p);
    return p;
}

TEST(the_busy_one_gets_the_fast_pool) {
    for (uint32_t uses = 0; uses < 6; uses += 5) {
        arenaut_problem *p = busy_and_large(uses);
        arenaut_plan *plan = plan_by(p, "auto");
        assert_int_equal(plan->quality, ARENAUT_OPTIMAL);
        assert_int_equal(plan->pool[0], uses ? 0 : 1);
        assert_int_equal(plan->pool[1], uses ? 1 : 0);
        assert_int_equal(plan->spill, uses ? 120 : 100);
        assert_int_equal(plan->spill_bound, plan->spill);
        arenaut_plan_free(plan);
        arenaut_problem_free(p);
    }
}

/* A smaller sum of arenas is no reason to leave the fast pool empty. */
TEST(a_pool_is_filled_although_all_would_need_less_in_another) {
    arenaut_problem *p = new_problem();
    add_pool(p, "fast", 100, 1);
    add_pool(p, "slow", ARENAUT_UNLIMITED, 1);
    add_box(p, 150, 0, 1);
    add_box(p, 80, 1, 2);
    finish(p);
    arenaut_plan *plan = plan_by(p, "auto");
    assert_int_equal(plan->quality, ARENAUT_OPTIMAL);
    assert_int_equal(plan->arena[0], 80);
    assert_int_equal(plan->total, 230);
    assert_int_equal(plan->total_bound, 230);
    assert_int_equal(plan->spill, 150);
    arenaut_plan_free(plan);
    arenaut_problem_free(p);
}

/* Pools that a buffer may not use do not count, so that devices and methods cost nothing. */
TEST(who_has_no_choice_spills_nothing) {
    const arenaut_interval life = {0, 1};
    arenaut_problem *p = new_problem();
    for (int k = 0; k < 3; k++) add_pool(p, NULL, ARENAUT_UNLIMITED, 1);
    for (uint32_t k = 0; k < 3; k++) {
        const arenaut_buffer b = {
            .size = 10, .lifetimes = &life, .n_lifetimes = 1, .pools = UINT64_C(1) << k, .uses = 9};
        add_buffer(p, &b);
    }
    finish(p);
    assert_false(arenaut_problem_chooses_pools(p));
    arenaut_plan *plan = plan_by(p, "auto");
    assert_int_equal(plan->quality, ARENAUT_OPTIMAL);
    assert_int_equal(plan->spill, 0);
    assert_int_equal(plan->total, 30);
    arenaut_plan_free(plan);
    arenaut_problem_free(p);
}

TEST(a_wrong_spill_is_rejected) {
    arenaut_problem *p = busy_and_large(5);
    arenaut_plan *plan = plan_by(p, "auto");
    arenaut_finding finding;
    arenaut_error err;
    plan->spill++;
    assert_int_equal(arenaut_check_plan(p, plan, NULL, &finding, &err), ARENAUT_REJECTED);
    plan->spill--;
    plan->spill_bound--; /* but it is called optimal */
    assert_int_equal(arenaut_check_plan(p, plan, NULL, &finding, &err), ARENAUT_REJECTED);
    plan->spill_bound += 2;
    assert_int_equal(arenaut_check_plan(p, plan, NULL, &finding, &err), ARENAUT_REJECTED);
    arenaut_plan_free(plan);
    arenaut_problem_free(p);
}

TEST(spills_that_cannot_be_counted_are_refused) {
    const arenaut_interval life = {0, 1};
    const arenaut_buffer b = {
        .size = UINT64_C(1) << 40, .lifetimes = &life, .n_lifetimes = 1, .uses = UINT32_MAX};
    arenaut_problem *p = new_problem();
    arenaut_error err = {0};
    add_pool(p, NULL, ARENAUT_UNLIMITED, 1);
    add_buffer(p, &b);
    finish(p); /* one pool: nothing to spill */
    add_pool(p, NULL, ARENAUT_UNLIMITED, 1);
    assert_int_equal(arenaut_problem_finish(p, &err), ARENAUT_TOO_LARGE);
    arenaut_problem_free(p);
}

/* ---- many buffers ---- */

TEST(thousands_of_buffers_fill_the_fast_pool) {
    rng r = {5};
    arenaut_problem *p = new_problem();
    add_pool(p, "fast", 20000, 1);
    add_pool(p, "slow", ARENAUT_UNLIMITED, 1);
    for (uint32_t b = 0; b < 3000; b++) {
        const int64_t first = rng_below(&r, 1000);
        ADD_BUFFER(p, .size = 1 + rng_below(&r, 4000), LIFE(first, first + 1 + rng_below(&r, 20)),
                   .uses = 1 + rng_below(&r, 5));
    }
    finish(p);
    const arenaut_plan_options options = {.effort = 100000};
    arenaut_plan *plan = NULL;
    arenaut_error err = {0};
    assert_ok(arenaut_plan_make(p, &options, NULL, &plan, &err), err);
    assert_plan_accepted(p, plan);
    assert_true(plan->spill_bound > 0);
    /* Buffers cannot be cut, and packings have gaps. */
    assert_true(plan->spill < plan->spill_bound * 8 / 5);
    arenaut_plan_free(plan);
    arenaut_problem_free(p);
}

/* Says stop at the n-th question. */
typedef struct patience {
    uint32_t asked, most;
} patience;

static arenaut_verdict run_out(void *context) {
    patience *p = context;
    return ++p->asked >= p->most ? ARENAUT_OUT_OF_TIME : ARENAUT_GO_ON;
}

/* 4,000 buffers, all of which may go to any of 64 small pools. */
static arenaut_problem *crowd(void) {
    arenaut_problem *p = NULL;
    arenaut_error err = {0};
    assert_ok(arenaut_problem_new(NULL, &p, &err), err);
    for (uint32_t k = 0; k < 64; k++) {
        const arenaut_pool pool = {.capacity = k < 63 ? 64 : 0};
        assert_ok(arenaut_problem_add_pool(p, &pool, NULL, &err), err);
    }
    for (int64_t b = 0; b < 4000; b++) {
        const arenaut_interval life = {b, b + 20};
        const arenaut_buffer buffer = {
            .size = 10 + (uint64_t)b % 50, .lifetimes = &life, .n_lifetimes = 1};
        assert_ok(arenaut_problem_add_buffer(p, &buffer, NULL, &err), err);
    }
    assert_ok(arenaut_problem_finish(p, &err), err);
    return p;
}

TEST(a_bound_that_is_stopped_says_nothing) {
    arenaut_problem *p = crowd();
    arenaut_error err = {0};
    for (uint32_t most = 1; most < 4; most++) {
        patience until = {.most = most};
        arn_poll poll = {.callback = run_out, .context = &until};
        arn_spill_answer answer;
        assert_ok(arn_spill_bound(p, &poll, NULL, &answer, &err), err);
        assert_true(answer.ended && answer.least == 0);
        assert_int_equal(until.asked, most);
    }
    arenaut_problem_free(p);
}

/* Twelve buffers of one step that three pools of a third of their sum each cannot hold. The search
 * does not see that at once; and then tokens are laid out by `auto`, which must not pack them into
 * tokens again, and so on. */
TEST(tokens_that_are_laid_out_are_not_packed_again) {
    rng r = {1};
    for (uint32_t round = 0; round < 8; round++) {
        arenaut_problem *p = new_problem();
        uint64_t total = 0;
        for (uint32_t i = 0; i < 12; i++) {
            const uint64_t size = 2 * (100 + rng_below(&r, 900));
            add_box(p, size, 0, 1);
            total += size;
        }
        for (uint32_t k = 0; k < 3; k++) add_pool(p, NULL, (total + 2) / 3, 1);
        finish(p);
        const arenaut_plan_options options = {.effort = 3000};
        arenaut_plan *plan = NULL;
        arenaut_error err = {0};
        const arenaut_status st = arenaut_plan_make(p, &options, NULL, &plan, &err);
        assert_true(st == ARENAUT_OK || st == ARENAUT_NO_PLAN || st == ARENAUT_STOPPED);
        arenaut_plan_free(plan);
        arenaut_problem_free(p);
    }
}
