/* Changes that must not change the smallest arena: other numbers for the buffers, other units of
 * size, time that runs backwards or starts elsewhere. And one that must not make it larger:
 * effort. */
#include "support/test.h"

#include <stdlib.h>

#include <arenaut/format.h>
#include <arenaut/planner.h>

#include "support/corpus.h"
#include "support/documents.h"
#include "support/oracle.h"
#include "support/problems.h"

typedef struct change {
    const uint32_t *number; /* per buffer: its new number; NULL: as before */
    uint64_t scale;         /* of sizes and addresses; a power of two, for alignments */
    bool reversed;
    int64_t later; /* by so many steps */
} change;

enum { MOST_BUFFERS = 16, MOST_LIVES = 16 };

static uint64_t scaled(uint64_t address, uint64_t scale) {
    return address == ARENAUT_UNPLACED ? address : address * scale;
}

static uint32_t renumbered(const change *c, uint32_t b) {
    return b == ARENAUT_NONE || !c->number ? b : c->number[b];
}

static void copy_buffer(const arenaut_problem *p, const change *c, uint32_t b,
                        arenaut_problem *out) {
    arenaut_interval lives[MOST_LIVES];
    arenaut_buffer copy = ARENAUT_BUFFER_INIT;
    copy.n_lifetimes = arenaut_problem_lifetime_count(p, b);
    assert_true(copy.n_lifetimes <= MOST_LIVES);
    for (uint32_t i = 0; i < copy.n_lifetimes; i++) {
        const arenaut_interval life = arenaut_problem_lifetimes(p, b)[i];
        lives[i].first = (c->reversed ? -life.end : life.first) + c->later;
        lives[i].end = (c->reversed ? -life.first : life.end) + c->later;
    }
    copy.lifetimes = lives;
    copy.size = p->size[b] * c->scale;
    copy.align = arenaut_problem_align(p, b) * c->scale;
    copy.pools = arenaut_problem_pools(p, b);
    copy.uses = arenaut_problem_uses(p, b);
    copy.fixed_offset = arenaut_at(scaled(arenaut_problem_fixed_offset(p, b), c->scale));
    copy.same_base = arenaut_id(renumbered(c, arenaut_problem_same_base(p, b)));
    copy.inside = arenaut_id(renumbered(c, arenaut_problem_inside(p, b)));
    copy.inside_delta = p->inside ? p->inside_delta[b] * c->scale : 0;
    add_buffer(out, &copy);
}

static arenaut_problem *changed(const arenaut_problem *p, const change *c) {
    arenaut_problem *out = new_problem();
    arenaut_error err = {0};
    for (uint32_t k = 0; k < p->n_pools; k++) {
        arenaut_pool pool = p->pool[k];
        pool.align *= c->scale;
        if (pool.capacity != ARENAUT_UNLIMITED) pool.capacity *= c->scale;
        assert_ok(arenaut_problem_add_pool(out, &pool, NULL, &err), err);
    }
    for (uint32_t i = 0; i < p->n_buffers; i++) {
        uint32_t b = 0;
        while (renumbered(c, b) != i) b++;
        copy_buffer(p, c, b, out);
    }
    for (uint32_t i = 0; i < p->n_conflicts; i++) {
        assert_ok(arenaut_problem_add_conflict(out, renumbered(c, p->conflict[i].a),
                                               renumbered(c, p->conflict[i].b), &err),
                  err);
    }
    for (uint32_t i = 0; i < p->n_reserved; i++) {
        const arenaut_reserved *r = &p->reserved[i];
        const arenaut_reserved range = {r->pool, r->first * c->scale, r->end * c->scale};
        assert_ok(arenaut_problem_add_reserved(out, &range, &err), err);
    }
    finish(out);
    return out;
}

static arenaut_plan *plan_of(const arenaut_problem *problem, uint64_t effort) {
    const arenaut_plan_options options = {.effort = effort};
    arenaut_plan *plan = NULL;
    arenaut_error err = {0};
    const arenaut_status st = arenaut_plan_make(problem, &options, NULL, &plan, &err);
    if (is_no_answer(st)) return NULL;
    assert_answered(st, plan, &err);
    assert_plan_accepted(problem, plan);
    return plan;
}

/* Both proven: the same arena, in other units, or both without any. How many were compared. */
static uint32_t compare(const arenaut_problem *problem, const change *c) {
    enum { EFFORT = 20000 };
    arenaut_problem *other = changed(problem, c);
    arenaut_plan *a = plan_of(problem, EFFORT), *b = plan_of(other, EFFORT);
    uint32_t compared = 0;
    if (a && b && a->quality != ARENAUT_FEASIBLE && b->quality != ARENAUT_FEASIBLE) {
        assert_int_equal(a->quality, b->quality);
        if (a->quality == ARENAUT_OPTIMAL) {
            assert_int_equal(a->spill * c->scale, b->spill);
            assert_int_equal(a->total * c->scale, b->total);
        }
        compared = 1;
    }
    /* Proofs about one hold for the other. */
    const bool one_is_proven = a && b && a->quality == ARENAUT_OPTIMAL;
    if (one_is_proven && b->quality == ARENAUT_FEASIBLE) {
        assert_true(b->spill >= a->spill * c->scale && b->spill_bound <= a->spill * c->scale);
        if (b->spill == a->spill * c->scale) {
            assert_true(b->total >= a->total * c->scale && b->total_bound <= a->total * c->scale);
        }
    }
    arenaut_plan_free(a);
    arenaut_plan_free(b);
    arenaut_problem_free(other);
    return compared;
}

/* Single features, and several at once. An heir comes after its base, so same-base pairs
 * cannot be turned around. */
static void compare_random_problems(uint32_t seed, uint32_t without, change c, bool shuffle) {
    rng r = {seed};
    uint32_t compared = 0;
    enum { ROUNDS = 220 };
    for (uint32_t round = 0; round < ROUNDS; round++) {
        const uint32_t bit = round % 11;
        const uint32_t features = (bit < 9 ? 1u << bit : bit == 9 ? 0 : (1u << 9) - 1) & ~without;
        const problem_shape shape = {10, 9, 9, features};
        arenaut_problem *problem = random_problem(&r, &shape);
        uint32_t number[MOST_BUFFERS];
        assert_true(problem->n_buffers <= MOST_BUFFERS);
        for (uint32_t i = 0; i < problem->n_buffers; i++) {
            const uint32_t at = rng_below(&r, i + 1);
            number[i] = number[at];
            number[at] = i;
        }
        c.number = shuffle ? number : NULL;
        compared += compare(problem, &c);
        arenaut_problem_free(problem);
    }
    assert_true(compared > ROUNDS * 3 / 4);
}

TEST(other_numbers_do_not_change_a_proven_arena) {
    const change c = {.scale = 1};
    compare_random_problems(41, 0, c, true);
}

TEST(other_units_of_size_scale_a_proven_arena) {
    const change c = {.scale = 64};
    compare_random_problems(42, 0, c, false);
}

TEST(time_may_run_backwards) {
    const change c = {.scale = 1, .reversed = true};
    compare_random_problems(43, ARENAUT_FEATURE_SAME_BASE, c, false);
}

TEST(time_may_start_anywhere) {
    const change later = {.scale = 1, .later = INT64_C(1) << 40};
    const change earlier = {.scale = 1, .later = -(INT64_C(1) << 40)};
    compare_random_problems(44, 0, later, false);
    compare_random_problems(45, 0, earlier, false);
}

TEST(all_of_it_at_once) {
    const change c = {.scale = 4, .reversed = true, .later = -77};
    compare_random_problems(46, ARENAUT_FEATURE_SAME_BASE, c, true);
}

/* ---- effort ---- */

static void assert_more_effort_is_never_worse(const arenaut_problem *problem, uint64_t most) {
    uint64_t spill = UINT64_MAX, total = UINT64_MAX, spill_bound = 0, bound = 0;
    for (uint64_t effort = 1; effort <= most; effort = effort * 3 + 1) {
        arenaut_plan *plan = plan_of(problem, effort);
        if (!plan) continue;
        /* With less spilled, the total may be larger. */
        assert_true(plan->spill <= spill && plan->spill_bound >= spill_bound);
        if (plan->spill == spill) assert_true(plan->total <= total && plan->total_bound >= bound);
        spill = plan->spill;
        spill_bound = plan->spill_bound;
        total = plan->total;
        bound = plan->total_bound;
        arenaut_plan_free(plan);
    }
}

TEST(more_effort_is_never_worse_on_a_hard_problem) {
    char path[512];
    corpus_path_or_skip(path, "dsa/challenging/D.1048576.csv");
    size_t size = 0;
    char *text = load_file(path, &size);
    arenaut_document document = read_text("csv", text);
    assert_more_effort_is_never_worse(document.problem, 500000);
    arenaut_document_free(&document);
    free(text);
}

/* Of every kind: too many pairs for exact search, relations, pools. */
TEST(more_effort_is_never_worse_whatever_the_search) {
    rng r = {47};
    arenaut_problem *crowded = new_problem();
    for (uint32_t i = 0; i < 150; i++) {
        const int64_t first = rng_below(&r, 30);
        add_box(crowded, 1000 + rng_below(&r, 9000), first, first + 1 + rng_below(&r, 20));
    }
    for (uint32_t i = 0; i < 1500; i++) add_box(crowded, 1 + rng_below(&r, 9), 100, 102);
    finish(crowded);
    assert_more_effort_is_never_worse(crowded, 1000000);
    arenaut_problem_free(crowded);
    const uint32_t kinds[] = {ARENAUT_FEATURE_POOLS, ARENAUT_FEATURE_SAME_BASE,
                              ARENAUT_FEATURE_INSIDE | ARENAUT_FEATURE_GAPS, ARENAUT_FEATURE_ALL};
    for (uint32_t round = 0; round < 12; round++) {
        const problem_shape shape = {60, 50, 30, kinds[round % COUNT_OF(kinds)]};
        arenaut_problem *problem = random_problem(&r, &shape);
        assert_more_effort_is_never_worse(problem, 30000);
        arenaut_problem_free(problem);
    }
}
