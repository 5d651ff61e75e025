/* The exact search against an obvious one that tries every address. */
#include <stdlib.h>

#include "support/corpus.h"
#include "support/documents.h"
#include "support/exact_search.h"
#include "support/fuse.h"
#include "support/obvious.h"
#include "support/oracle.h"
#include "support/problems.h"
#include "support/test.h"
#include "support/thorough.h"

/* ---- planning with it ---- */

static arenaut_plan *plan_exactly(const arenaut_problem *p, uint64_t effort, uint64_t seed) {
    const arenaut_plan_options options = {.planner = "exact", .effort = effort, .seed = seed};
    arenaut_plan *plan = NULL;
    arenaut_error err = {0};
    assert_answered(arenaut_plan_make(p, &options, NULL, &plan, &err), plan, &err);
    assert_plan_accepted(p, plan);
    return plan;
}

static void compare_with_the_obvious(const problem_shape *shape, uint32_t problems) {
    rng r = {shape->features + 7919};
    for (uint32_t k = 0; k < drawn(problems); k++) {
        arenaut_problem *p = random_problem(&r, shape);
        arenaut_plan *plan = plan_exactly(p, 0, k);
        const uint64_t arena = obvious_arena(p);
        if (arena == ARENAUT_UNPLACED) {
            assert_int_equal(plan->quality, ARENAUT_INFEASIBLE);
        } else {
            assert_int_equal(plan->quality, ARENAUT_OPTIMAL);
            assert_int_equal(plan->total, arena);
        }
        arenaut_plan_free(plan);
        arenaut_problem_free(p);
    }
}

TEST(the_optimum_is_that_of_trying_every_address) {
    const problem_shape shape = {7, 6, 9, 0};
    compare_with_the_obvious(&shape, 1500);
}

TEST(alignment_leaves_the_optimum_in_reach) {
    const problem_shape shape = {6, 9, 7, ARENAUT_FEATURE_ALIGNMENT};
    compare_with_the_obvious(&shape, 1000);
}

TEST(gaps_leave_the_optimum_in_reach) {
    const problem_shape shape = {7, 6, 12, ARENAUT_FEATURE_GAPS};
    compare_with_the_obvious(&shape, 1000);
}

TEST(edges_leave_the_optimum_in_reach) {
    const problem_shape shape = {6, 6, 12, ARENAUT_FEATURE_CONFLICTS};
    compare_with_the_obvious(&shape, 1000);
}

TEST(fixed_buffers_and_reserved_ranges_leave_the_optimum_in_reach) {
    const problem_shape fixed = {7, 6, 8, ARENAUT_FEATURE_FIXED_OFFSETS};
    const problem_shape reserved = {6, 6, 8, ARENAUT_FEATURE_RESERVED};
    compare_with_the_obvious(&fixed, 1000);
    compare_with_the_obvious(&reserved, 1000);
}

TEST(all_constraints_together_leave_the_optimum_in_reach) {
    const problem_shape shape = {6, 7, 9, ARN_EXACT_HANDLES};
    compare_with_the_obvious(&shape, 3000);
}

TEST(relations_leave_the_optimum_in_reach) {
    const problem_shape bases = {7, 5, 7, ARENAUT_FEATURE_SAME_BASE};
    const problem_shape slices = {7, 6, 7, ARENAUT_FEATURE_INSIDE};
    const problem_shape both = {6, 6, 7, ARN_EXACT_RELATIONS | ARENAUT_FEATURE_GAPS};
    const problem_shape every = {6, 6, 7, ARN_EXACT_HANDLES | ARN_EXACT_RELATIONS};
    compare_with_the_obvious(&bases, 1500);
    compare_with_the_obvious(&slices, 1500);
    compare_with_the_obvious(&both, 1500);
    compare_with_the_obvious(&every, 3000);
}

/* ---- several pools ---- */

/* The highest end in each pool so far, and the cost that the plan must stay below: first its spill,
 * then its total. */
typedef struct obvious_pools {
    const arenaut_problem *p;
    arenaut_plan *plan;
    uint64_t upper_bound, spill, limit;
} obvious_pools;

static uint64_t obvious_spill(const arenaut_problem *p, uint32_t b, uint32_t pool) {
    uint64_t rank = 0;
    for (uint32_t k = 0; k < pool; k++) rank += arenaut_problem_pools(p, b) >> k & 1;
    return p->size[b] * (p->uses ? p->uses[b] : 1) * rank;
}

static uint64_t obvious_total(const obvious_pools *o, const uint64_t *top) {
    uint64_t total = 0;
    for (uint32_t k = 0; k < o->p->n_pools; k++) {
        total += (top[k] + o->p->pool[k].align - 1) / o->p->pool[k].align * o->p->pool[k].align;
    }
    return total;
}

static bool costs_less(const obvious_pools *o, uint64_t spill, const uint64_t *top) {
    return spill < o->spill || (spill == o->spill && obvious_total(o, top) < o->limit);
}

/* Whether buffers b, b + 1, … can be placed so that the plan costs less. */
static bool obvious_pools_fit(const obvious_pools *o, uint32_t b, uint64_t before,
                              const uint64_t *top) {
    const arenaut_problem *p = o->p;
    if (b == p->n_buffers) return costs_less(o, before, top);
    if (!arenaut_problem_needs_memory(p, b)) return obvious_pools_fit(o, b + 1, before, top);
    for (uint32_t k = 0; k < p->n_pools; k++) {
        if (!(arenaut_problem_pools(p, b) >> k & 1)) continue;
        const uint64_t spill = before + obvious_spill(p, b, k);
        o->plan->pool[b] = k;
        for (uint64_t at = 0; at + p->size[b] <= o->upper_bound; at++) {
            uint64_t next[ARENAUT_MAX_POOLS];
            for (uint32_t i = 0; i < p->n_pools; i++) next[i] = top[i];
            if (at + p->size[b] > next[k]) next[k] = at + p->size[b];
            if (!costs_less(o, spill, next)) break;
            o->plan->offset[b] = at;
            if (oracle_accepts_buffer(p, o->plan, b) && obvious_pools_fit(o, b + 1, spill, next)) {
                return true;
            }
        }
    }
    return false;
}

static bool exists_below(const arenaut_problem *p, uint64_t spill, uint64_t limit) {
    const uint64_t top[ARENAUT_MAX_POOLS] = {0};
    obvious_pools o = {p, NULL, 0, spill, limit};
    arenaut_error err = {0};
    assert_ok(arenaut_plan_new(p->n_buffers, p->n_pools, NULL, &o.plan, &err), err);
    for (uint32_t k = 0; k < p->n_reserved; k++) {
        if (p->reserved[k].end > o.upper_bound) o.upper_bound = p->reserved[k].end;
    }
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        const uint64_t fixed = arenaut_problem_fixed_offset(p, b);
        if (fixed != ARENAUT_UNPLACED && fixed > o.upper_bound) o.upper_bound = fixed;
    }
    for (uint32_t b = 0; b < p->n_buffers; b++)
        o.upper_bound += p->size[b] + arenaut_problem_align(p, b);
    const bool exists = obvious_pools_fit(&o, 0, 0, top);
    arenaut_plan_free(o.plan);
    return exists;
}

static void compare_pools_with_the_obvious(const problem_shape *shape, uint32_t problems) {
    rng r = {shape->features + 271};
    for (uint32_t k = 0; k < drawn(problems); k++) {
        arenaut_problem *p = random_problem(&r, shape);
        arenaut_plan *plan = plan_exactly(p, 0, k);
        if (plan->quality == ARENAUT_INFEASIBLE) {
            assert_false(exists_below(p, UINT64_MAX, UINT64_MAX));
        } else {
            assert_int_equal(plan->quality, ARENAUT_OPTIMAL);
            assert_false(exists_below(p, plan->spill, plan->total));
        }
        arenaut_plan_free(plan);
        arenaut_problem_free(p);
    }
}

TEST(pools_are_chosen_for_the_least_spill_then_the_smallest_total) {
    const problem_shape pools = {6, 5, 6, ARENAUT_FEATURE_POOLS | ARENAUT_FEATURE_CAPACITY};
    const problem_shape every = {5, 5, 6, ARENAUT_FEATURE_ALL};
    compare_pools_with_the_obvious(&pools, 600);
    compare_pools_with_the_obvious(&every, 2000);
}

/* ---- every style of the tree, at every capacity ---- */

/* In pieces of a node or a few. */
static arn_exact_verdict run_in_pieces(arn_exact_tree *t, int64_t capacity, uint64_t piece) {
    arn_exact_verdict v = ARN_EXACT_PAUSED;
    arn_exact_tree_begin(t, capacity);
    while (v == ARN_EXACT_PAUSED) {
        t->stop_at = t->state.work + piece;
        v = arn_exact_tree_go_on(t, UINT64_MAX / 2);
    }
    t->stop_at = UINT64_MAX;
    return v;
}

static void try_styles(const arn_exact_model *m, arn_exact_tree *t, int64_t top, rng *r) {
    int64_t keys[16];
    uint32_t ids[32];
    uint64_t random = rng_next(r);
    for (uint32_t k = 0; k < ARN_EXACT_CHOICES * 4; k++) {
        t->style.choice = (arn_exact_choice)(k / 4);
        t->style.from_the_end = k & 1;
        t->style.look_ahead = k & 2;
        arn_exact_make_keys(m, rng_below(r, ARN_EXACT_ORDERS), keys);
        arn_exact_disturb(&random, 9, keys, m->n);
        arn_exact_rank(keys, m->n, ids, t->rank);
        for (int64_t c = top < 3 ? 0 : top - 3; c < top + 2; c++) {
            const bool in_pieces = rng_below(r, 2);
            const arn_exact_verdict v = in_pieces ? run_in_pieces(t, c, 1 + rng_below(r, 40))
                                                  : arn_exact_tree_run(t, c, UINT64_MAX / 2);
            assert_int_equal(v, c < top ? ARN_EXACT_IMPOSSIBLE : ARN_EXACT_FOUND);
        }
    }
}

/* One table of failed states serves all styles and capacities, and a run may pause at any node. */
static void try_problem(const arenaut_problem *p, rng *r) {
    exact_tree made;
    exact_tree_make(p, NULL, &made);
    const uint64_t top = obvious_top(p);
    /* The tree knows nothing of where fixed buffers end. */
    if (top != ARENAUT_UNPLACED && top > (uint64_t)made.model.highest_fixed * made.model.unit) {
        assert_int_equal(top % made.model.unit, 0);
        try_styles(&made.model, &made.tree, (int64_t)(top / made.model.unit), r);
    }
    exact_tree_free(&made);
}

TEST(every_style_decides_every_capacity_rightly) {
    const problem_shape shapes[] = {
        {7, 9, 9, ARN_EXACT_HANDLES & ~ARENAUT_FEATURE_CAPACITY},
        {8, 5, 5, 0},
        {7, 4, 4, ARENAUT_FEATURE_FIXED_OFFSETS | ARENAUT_FEATURE_RESERVED},
    };
    rng r = {4711};
    for (size_t k = 0; k < drawn(100) * COUNT_OF(shapes); k++) {
        arenaut_problem *p = random_problem(&r, &shapes[k % COUNT_OF(shapes)]);
        try_problem(p, &r);
        arenaut_problem_free(p);
    }
}

/* Many moments, so that their scores lie in many blocks, of which most are not looked at. */
static arenaut_problem *long_problem(rng *r) {
    arenaut_problem *p = new_problem();
    for (int i = 0; i < 400; i++) {
        const int64_t first = (int64_t)rng_below(r, 600);
        const int64_t life = 1 + (int64_t)rng_below(r, rng_below(r, 8) ? 12 : 300);
        add_box(p, 16 * (1 + rng_below(r, 40)), first, first + life);
    }
    finish(p);
    return p;
}

/* What is kept of the node before spares looks and changes nothing: the numbers are those of a
 * search that looks at every moment and at every buffer alive then. */
TEST(what_is_known_from_the_node_before_changes_no_search) {
    rng r = {99};
    arenaut_problem *p = long_problem(&r);
    exact_tree made;
    exact_tree_make(p, NULL, &made);
    arn_exact_tree *tree = &made.tree;
    uint32_t found = 0;
    for (uint32_t k = 0; k < ARN_EXACT_CHOICES * 4; k++) {
        tree->style.choice = (arn_exact_choice)(k / 4);
        tree->style.from_the_end = k & 1;
        tree->style.look_ahead = k & 2;
        const int64_t bound = made.model.bound;
        for (int64_t c = bound; c < bound * 3 / 2; c += bound / 10) {
            found += arn_exact_tree_run(tree, c, 600) == ARN_EXACT_FOUND;
        }
    }
    assert_int_equal(found, 104);
    assert_int_equal(tree->visited, 51447);
    exact_tree_free(&made);
    arenaut_problem_free(p);
}

/* ---- changes that must not matter ---- */

typedef struct mirror {
    int64_t time; /* -1: reversed */
    int64_t shift;
    uint64_t scale;
    uint32_t turn; /* buffers are numbered from here on, and around */
} mirror;

static arenaut_problem *mirrored(const arenaut_problem *p, const mirror *how) {
    arenaut_problem *image = new_problem();
    for (uint32_t k = 0; k < p->n_buffers; k++) {
        const uint32_t b = (k + how->turn) % p->n_buffers;
        if (!arenaut_problem_needs_memory(p, b)) continue;
        const arenaut_interval life = arenaut_problem_lifetimes(p, b)[0];
        const int64_t a = life.first * how->time + how->shift;
        const int64_t z = life.end * how->time + how->shift;
        add_box(image, p->size[b] * how->scale, a < z ? a : z, a < z ? z : a);
    }
    finish(image);
    return image;
}

TEST(numbering_time_and_scale_do_not_change_a_proven_optimum) {
    const mirror ways[] = {
        {1, 0, 1, 3}, {-1, 0, 1, 0}, {1, -1000, 1, 0}, {1, 5, 4096, 0}, {-1, 77, 3, 5}};
    const problem_shape shape = {14, 9, 12, 0};
    rng r = {99};
    for (uint32_t k = 0; k < drawn(150); k++) {
        arenaut_problem *p = random_problem(&r, &shape);
        arenaut_plan *plan = plan_exactly(p, 0, 0);
        assert_int_equal(plan->quality, ARENAUT_OPTIMAL);
        for (size_t i = 0; i < COUNT_OF(ways); i++) {
            arenaut_problem *image = mirrored(p, &ways[i]);
            arenaut_plan *other = plan_exactly(image, 0, 0);
            assert_int_equal(other->quality, ARENAUT_OPTIMAL);
            assert_int_equal(other->total, plan->total * ways[i].scale);
            arenaut_plan_free(other);
            arenaut_problem_free(image);
        }
        arenaut_plan_free(plan);
        arenaut_problem_free(p);
    }
}

TEST(the_same_seed_gives_the_same_plan) {
    const problem_shape shape = {
        40, 50, 30, ARN_EXACT_HANDLES & ~ARENAUT_FEATURE_CAPACITY & ~ARENAUT_FEATURE_FIXED_OFFSETS};
    rng r = {5};
    for (uint64_t seed = 0; seed < 20; seed++) {
        arenaut_problem *p = random_problem(&r, &shape);
        arenaut_plan *one = plan_exactly(p, 20000, seed), *two = plan_exactly(p, 20000, seed);
        assert_int_equal(one->effort, two->effort);
        for (uint32_t b = 0; b < p->n_buffers; b++) {
            assert_int_equal(one->offset[b], two->offset[b]);
        }
        arenaut_plan_free(one);
        arenaut_plan_free(two);
        arenaut_problem_free(p);
    }
}

/* Too hard to be proven within the efforts used here. */
static arenaut_problem *hard_problem(void) {
    arenaut_problem *p = new_problem();
    rng r = {12};
    for (uint32_t i = 0; i < 120; i++) {
        const int64_t first = rng_below(&r, 60);
        add_box(p, 100 + rng_below(&r, 4000), first, first + 1 + rng_below(&r, 25));
    }
    finish(p);
    return p;
}

/* ---- how it is called ---- */

static arenaut_verdict go_on(void *context) {
    (void)context;
    return ARENAUT_GO_ON;
}

static arn_poll never_stops = {.callback = go_on};

TEST(only_smaller_arenas_than_the_given_one_are_reported) {
    /* Three in a row of which two meet: 5 + 4 bytes are the optimum. */
    const box boxes[] = {{5, 0, 2}, {4, 1, 3}, {3, 2, 4}};
    arenaut_problem *p = problem_of(boxes, COUNT_OF(boxes));
    uint64_t offset[3] = {77, 77, 77};
    arn_exact_output out = {.offset = offset};
    arn_exact_input in = {.problem = p, .arena = 9, .effort = 1000};
    arenaut_error err = {0};
    assert_ok(arn_exact_run(&in, &never_stops, &out, &err), err);
    assert_false(out.improved);
    assert_int_equal(out.arena, 9);
    assert_int_equal(out.bound, 9);
    assert_int_equal(out.stopped_by, ARENAUT_STOP_PROOF);
    assert_int_equal(offset[0], 77);
    in.arena = 10;
    assert_ok(arn_exact_run(&in, &never_stops, &out, &err), err);
    assert_true(out.improved);
    assert_int_equal(out.arena, 9);
    arenaut_problem_free(p);
}

TEST(buffers_of_other_pools_are_left_alone) {
    const box boxes[] = {{5, 0, 2}, {4, 0, 2}, {3, 0, 2}};
    arenaut_problem *p = new_problem();
    add_pool(p, "fast", ARENAUT_UNLIMITED, 1);
    add_pool(p, "slow", ARENAUT_UNLIMITED, 1);
    for (size_t i = 0; i < COUNT_OF(boxes); i++) {
        add_box(p, boxes[i].size, boxes[i].first, boxes[i].end);
    }
    finish(p);
    const uint32_t pool_of[] = {1, 0, 1};
    uint64_t offset[3] = {77, 77, 77};
    arn_exact_output out = {.offset = offset};
    const arn_exact_input in = {
        .problem = p, .pool = 1, .pool_of = pool_of, .arena = ARENAUT_UNPLACED, .effort = 1000};
    arenaut_error err = {0};
    assert_ok(arn_exact_run(&in, &never_stops, &out, &err), err);
    assert_int_equal(out.arena, 8);
    assert_int_equal(offset[1], 77);
    assert_int_equal(offset[0] + offset[2], offset[0] ? 3 : 5);
    arenaut_problem_free(p);
}

TEST(too_many_pairs_are_refused_before_they_are_listed) {
    arenaut_problem *p = new_problem();
    for (uint32_t i = 0; i < 60000; i++) add_box(p, 1 + i % 7, i % 30, 60 + i % 31);
    finish(p);
    uint64_t *offset = test_malloc(p->n_buffers * sizeof *offset);
    arn_exact_output out = {.offset = offset};
    const arn_exact_input in = {.problem = p, .arena = ARENAUT_UNPLACED, .effort = 1000};
    arenaut_error err = {0};
    assert_int_equal(arn_exact_run(&in, &never_stops, &out, &err), ARENAUT_REFUSED);
    assert_non_null(strstr(err.msg, "too many"));
    test_free(offset);
    arenaut_problem_free(p);
}

/* The first two are alike but for an edge to a buffer that lies at 0 later on. */
TEST(equal_buffers_with_different_edges_are_not_exchanged) {
    const box alike[] = {{2, 0, 2}, {2, 0, 2}};
    arenaut_problem *p = new_problem();
    for (size_t i = 0; i < COUNT_OF(alike); i++) {
        add_box(p, alike[i].size, alike[i].first, alike[i].end);
    }
    ADD_BUFFER(p, .size = 2, LIFE(5, 6), .fixed_offset = arenaut_at(0));
    arenaut_error err = {0};
    assert_ok(arenaut_problem_add_conflict(p, 0, 2, &err), err);
    finish(p);
    arenaut_plan *plan = plan_exactly(p, 0, 0);
    assert_int_equal(plan->quality, ARENAUT_OPTIMAL);
    assert_int_equal(plan->total, 4);
    arenaut_plan_free(plan);
    arenaut_problem_free(p);
}

TEST(sizes_near_the_limit_are_refused_or_right) {
    const uint64_t big = ARENAUT_SIZE_MAX / 2;
    const box odd[] = {{big - 2, 0, 2}, {3, 1, 3}}, even[] = {{big - 1, 0, 2}, {big - 1, 1, 3}};
    arenaut_problem *p = problem_of(odd, COUNT_OF(odd));
    uint64_t offset[2];
    arn_exact_output out = {.offset = offset};
    arn_exact_input in = {.problem = p, .arena = ARENAUT_UNPLACED, .effort = 1000};
    arenaut_error err = {0};
    assert_int_equal(arn_exact_run(&in, &never_stops, &out, &err), ARENAUT_REFUSED);
    assert_non_null(strstr(err.msg, "too many"));
    arenaut_problem_free(p);
    in.problem = p = problem_of(even, COUNT_OF(even));
    assert_ok(arn_exact_run(&in, &never_stops, &out, &err), err);
    assert_true(out.arena == 2 * (big - 1) && out.bound == out.arena);
    arenaut_problem_free(p);
}

TEST(fitting_into_a_capacity_is_enough) {
    arenaut_problem *p = hard_problem();
    arenaut_plan *best = plan_exactly(p, 0, 0);
    const arenaut_plan_options options = {.planner = "exact", .capacity = best->total * 11 / 10};
    arenaut_plan *plan = NULL;
    arenaut_error err = {0};
    assert_answered(arenaut_plan_make(p, &options, NULL, &plan, &err), plan, &err);
    assert_plan_accepted(p, plan);
    assert_true(plan->total <= options.capacity);
    assert_int_equal(plan->stopped_by, ARENAUT_STOP_PROOF);
    assert_true(plan->effort < best->effort);
    arenaut_plan_free(plan);
    arenaut_plan_free(best);
    arenaut_problem_free(p);
}

TEST(overlapping_fixed_buffers_are_infeasible) {
    arenaut_problem *p = new_problem();
    const arenaut_interval life = {0, 3};
    arenaut_buffer b = ARENAUT_BUFFER_INIT;
    b.size = 8;
    b.lifetimes = &life;
    b.n_lifetimes = 1;
    b.fixed_offset = arenaut_at(0);
    add_buffer(p, &b);
    b.fixed_offset = arenaut_at(4);
    add_buffer(p, &b);
    finish(p);
    uint64_t offset[2];
    arn_exact_output out = {.offset = offset};
    const arn_exact_input in = {.problem = p, .arena = ARENAUT_UNPLACED, .effort = 1000};
    arenaut_error err = {0};
    assert_ok(arn_exact_run(&in, &never_stops, &out, &err), err);
    assert_int_equal(out.arena, ARENAUT_UNPLACED);
    assert_int_equal(out.bound, ARENAUT_UNPLACED);
    arenaut_problem_free(p);
}

/* ---- hints ---- */

/* The same problem, with a plan's offsets as hints and some bytes more for one buffer. Slices
 * take no hints. */
static arenaut_problem *hinted(const arenaut_problem *p, const arenaut_plan *plan, uint32_t grown,
                               uint64_t by) {
    arenaut_problem *next = new_problem();
    add_pool(next, NULL, p->pool[0].capacity, p->pool[0].align);
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        arenaut_buffer copy = ARENAUT_BUFFER_INIT;
        copy.size = p->size[b] + (b == grown ? by : 0);
        copy.align = arenaut_problem_align(p, b);
        copy.lifetimes = arenaut_problem_lifetimes(p, b);
        copy.n_lifetimes = arenaut_problem_lifetime_count(p, b);
        copy.same_base = arenaut_id(arenaut_problem_same_base(p, b));
        copy.hint =
            arenaut_at(arenaut_problem_needs_memory(p, b) ? plan->offset[b] : ARENAUT_UNPLACED);
        add_buffer(next, &copy);
    }
    finish(next);
    return next;
}

static uint32_t count_kept(const arenaut_problem *p, const arenaut_plan *plan) {
    uint32_t kept = 0;
    for (uint32_t b = 0; b < p->n_buffers; b++) kept += plan->offset[b] == p->hint[b];
    return kept;
}

static void assert_offsets_kept(const arenaut_problem *p, const arenaut_plan *before,
                                const char *planner) {
    const arenaut_plan_options options = {.planner = planner, .seed = 7};
    arenaut_plan *plan = NULL;
    arenaut_error err = {0};
    assert_answered(arenaut_plan_make(p, &options, NULL, &plan, &err), plan, &err);
    assert_plan_accepted(p, plan);
    assert_int_equal(plan->total, before->total);
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (arenaut_problem_needs_memory(p, b)) {
            assert_int_equal(plan->offset[b], before->offset[b]);
        }
    }
    arenaut_plan_free(plan);
}

/* Spilling one buffer does not end the search that keeps others of the fast pool where they were,
 * pairs among them: 4 of 6 hints can be kept there. */
TEST(what_is_spilled_elsewhere_keeps_no_hint_from_being_kept) {
    static const box boxes[] = {{4, 1, 4}, {4, 3, 6}, {2, 4, 7}, {1, 6, 9}, {4, 4, 5}, {2, 1, 4}};
    static const uint64_t hints[] = {6, 7, 8, 5, 2, 0};
    arenaut_problem *p = new_problem();
    add_pool(p, "fast", 20, 1);
    add_pool(p, "slow", ARENAUT_UNLIMITED, 1);
    for (uint32_t b = 0; b < 6; b++) {
        ADD_BUFFER(p, .size = boxes[b].size, LIFE(boxes[b].first, boxes[b].end), .pools = 1,
                   .hint = arenaut_at(hints[b]),
                   .same_base = arenaut_id(b == 1   ? 0
                                           : b == 3 ? 2
                                                    : ARENAUT_NONE));
    }
    ADD_BUFFER(p, .size = 40, LIFE(0, 9));
    finish(p);
    arenaut_plan *plan = plan_exactly(p, 0, 0);
    assert_true(plan->spill > 0);
    assert_int_equal(count_kept(p, plan), 4);
    arenaut_plan_free(plan);
    arenaut_problem_free(p);
}

TEST(an_unchanged_problem_keeps_all_its_offsets) {
    const problem_shape shape = {14, 9, 12, ARENAUT_FEATURE_SAME_BASE | ARENAUT_FEATURE_ALIGNMENT};
    rng r = {55};
    for (uint32_t k = 0; k < drawn(200); k++) {
        arenaut_problem *p = random_problem(&r, &shape);
        arenaut_plan *plan = plan_exactly(p, 0, 0);
        arenaut_problem *again = hinted(p, plan, ARENAUT_NONE, 0);
        assert_offsets_kept(again, plan, "exact");
        assert_offsets_kept(again, plan, "auto");
        arenaut_problem_free(again);
        arenaut_plan_free(plan);
        arenaut_problem_free(p);
    }
}

TEST(a_small_change_moves_few_buffers) {
    const problem_shape shape = {30, 40, 15, 0};
    rng r = {56};
    uint32_t buffers = 0, kept = 0, kept_without = 0;
    for (uint32_t k = 0; k < 60; k++) {
        arenaut_problem *p = random_problem(&r, &shape);
        arenaut_plan *plan = plan_exactly(p, 0, 0);
        arenaut_problem *next = hinted(p, plan, rng_below(&r, p->n_buffers), 1);
        uint64_t *hint = next->hint;
        next->hint = NULL;
        arenaut_plan *without = plan_exactly(next, 0, 7);
        next->hint = hint;
        arenaut_plan *with = plan_exactly(next, 0, 7);
        assert_int_equal(with->total, without->total); /* hints cost nothing */
        assert_true(count_kept(next, with) >= count_kept(next, without));
        buffers += p->n_buffers;
        kept += count_kept(next, with);
        kept_without += count_kept(next, without);
        arenaut_plan_free(with);
        arenaut_plan_free(without);
        arenaut_problem_free(next);
        arenaut_plan_free(plan);
        arenaut_problem_free(p);
    }
    assert_true(kept * 10 > buffers * 7 && kept_without * 10 < buffers * 6);
}

/* ---- effort and interruption ---- */

/* As the effort grows, the arena never grows and the bound never sinks, and once there is an
 * answer it stays. */
static void assert_effort_pays(const arenaut_problem *p, uint64_t least, uint64_t most,
                               uint64_t seed) {
    uint64_t arena = UINT64_MAX, bound = 0;
    for (uint64_t effort = least; effort < most; effort *= 3) {
        const arenaut_plan_options options = {.planner = "exact", .effort = effort, .seed = seed};
        arenaut_plan *plan = NULL;
        arenaut_error err = {0};
        const arenaut_status st = arenaut_plan_make(p, &options, NULL, &plan, &err);
        if (st == ARENAUT_STOPPED && arena == UINT64_MAX) continue;
        assert_answered(st, plan, &err);
        assert_plan_accepted(p, plan);
        if (plan->quality != ARENAUT_INFEASIBLE) {
            assert_true(plan->total <= arena && plan->total_bound >= bound);
            assert_true(plan->total_bound <= plan->total);
            arena = plan->total;
            bound = plan->total_bound;
        } else {
            assert_true(arena == UINT64_MAX);
        }
        arenaut_plan_free(plan);
    }
}

TEST(more_effort_never_gives_a_larger_arena) {
    arenaut_problem *p = hard_problem();
    assert_effort_pays(p, 1, 3000000, 1);
    arenaut_problem_free(p);
}

TEST(more_effort_pays_whatever_the_constraints) {
    const problem_shape shapes[] = {
        {60, 90, 25, ARN_EXACT_HANDLES},
        {30, 40, 20, ARN_EXACT_HANDLES | ARN_EXACT_RELATIONS},
        {90, 400, 40, ARENAUT_FEATURE_SAME_BASE},
        {12, 20, 12, ARENAUT_FEATURE_ALL},
    };
    rng r = {1618};
    for (uint32_t k = 0; k < 15 * COUNT_OF(shapes); k++) {
        arenaut_problem *p = random_problem(&r, &shapes[k % COUNT_OF(shapes)]);
        assert_effort_pays(p, 1, 60000, k);
        arenaut_problem_free(p);
    }
}

TEST(more_effort_pays_on_hard_instances) {
    static const char *const files[] = {"dsa/challenging/D.1048576.csv",
                                        "dsa/challenging/J.1048576.csv"};
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        char path[512];
        corpus_path_or_skip(path, files[i]);
        size_t size;
        char *text = load_file(path, &size);
        arenaut_document d = read_text("csv", text);
        free(text);
        assert_effort_pays(d.problem, 5000, 900000, 0);
        arenaut_document_free(&d);
    }
}

typedef struct patience {
    uint32_t calls;
    arenaut_verdict then;
} patience;

static arenaut_verdict lose_patience(void *context, const arenaut_progress *progress) {
    patience *left = context;
    assert_true(progress->bound <= progress->best);
    if (left->calls == 0) return left->then;
    left->calls--;
    return ARENAUT_GO_ON;
}

TEST(an_interrupt_leaves_the_best_plan_so_far) {
    arenaut_problem *p = hard_problem();
    for (uint32_t calls = 1; calls < 12; calls++) {
        patience left = {calls, calls % 2 ? ARENAUT_INTERRUPTED : ARENAUT_OUT_OF_TIME};
        const arenaut_plan_options options = {
            .planner = "exact", .progress = lose_patience, .progress_context = &left};
        arenaut_plan *plan = NULL;
        arenaut_error err = {0};
        assert_answered(arenaut_plan_make(p, &options, NULL, &plan, &err), plan, &err);
        assert_plan_accepted(p, plan);
        if (plan->stopped_by != ARENAUT_STOP_PROOF) {
            assert_int_equal(plan->stopped_by,
                             calls % 2 ? ARENAUT_STOP_INTERRUPT : ARENAUT_STOP_TIME);
        }
        arenaut_plan_free(plan);
    }
    arenaut_problem_free(p);
}

static arenaut_status plan_with(void *context, const arenaut_allocator *allocator) {
    const arenaut_problem *p = context;
    const arenaut_plan_options options = {.planner = "exact", .effort = 500};
    arenaut_plan *plan = NULL;
    arenaut_error err = {0};
    const arenaut_status st = arenaut_plan_make(p, &options, allocator, &plan, &err);
    arenaut_plan_free(plan);
    return st;
}

TEST(any_allocation_may_fail) {
    const problem_shape shape = {
        12, 9, 9, ARN_EXACT_HANDLES & ~ARENAUT_FEATURE_CAPACITY & ~ARENAUT_FEATURE_FIXED_OFFSETS};
    rng r = {8};
    arenaut_problem *p = random_problem(&r, &shape);
    survives_every_allocation_failure(plan_with, p);
    arenaut_problem_free(p);
}

/* ---- the hard public instances ---- */

static void assert_proven(const char *file, uint64_t effort, uint64_t seed, uint64_t arena) {
    char path[512];
    corpus_path_or_skip(path, file);
    size_t size;
    char *text = load_file(path, &size);
    arenaut_document d = read_text("csv", text);
    free(text);
    arenaut_plan *plan = plan_exactly(d.problem, effort, seed);
    assert_int_equal(plan->quality, ARENAUT_OPTIMAL);
    assert_int_equal(plan->total, arena);
    arenaut_plan_free(plan);
    arenaut_document_free(&d);
}

TEST(hard_instances_are_solved_to_the_optimum) {
    assert_proven("dsa/challenging/A.1048576.csv", 0, 0, 1048576);
    assert_proven("dsa/challenging/C.1048576.csv", 0, 0, 1039360);
    assert_proven("dsa/challenging/E.1048576.csv", 0, 0, 1048576);
    assert_proven("dsa/challenging/H.1048576.csv", 0, 0, 1048576);
}

/* Runs are apart after 350,000 steps: this takes 714,774. */
TEST(a_hard_instance_is_solved_by_runs_that_are_apart) {
    assert_proven("dsa/challenging/D.1048576.csv", 900000, 17, 986112);
}
