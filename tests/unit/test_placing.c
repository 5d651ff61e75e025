/* Placing among many spans, most of which are never looked at: the bands of time that they lie in,
 * and the same places as where everything is looked at. */
#include "support/test.h"

#include <stdlib.h>

#include <arenaut/planner.h>

#include "planners/placing/spans.h"
#include "planners/placing/placing.h"
#include "support/drawn.h"
#include "support/problems.h"

/* ---- bands ---- */

static arn_groups groups_of(const arenaut_problem *p) {
    arn_groups groups;
    assert_int_equal(arn_groups_make(p, 0, NULL, &groups, NULL), ARENAUT_OK);
    return groups;
}

static bool is_met(const arn_bands *bands, uint32_t n_met, uint32_t band) {
    for (uint32_t i = 0; i < n_met; i++) {
        if (bands->met[i] == band) return true;
    }
    return false;
}

TEST(pieces_that_are_live_together_are_in_bands_that_meet) {
    static const uint32_t steps[] = {1, 3, 60, 2000};
    rng r = {1};
    for (uint32_t round = 0; round < 40; round++) {
        const problem_shape shape = {300, 9, steps[round % 4], ARENAUT_FEATURE_GAPS};
        arenaut_problem *p = random_problem(&r, &shape);
        arn_groups groups = groups_of(p);
        arn_bands bands;
        assert_true(arn_bands_make(&groups, 1 + round % 5, &groups.region, &bands));
        for (uint32_t a = 0; a < groups.n_pieces; a++) {
            const arn_piece *x = &groups.piece[a];
            const uint32_t n_met = arn_bands_meet(&bands, x->first, x->end);
            for (uint32_t b = 0; b < groups.n_pieces; b++) {
                const arn_piece *y = &groups.piece[b];
                if (x->first >= y->end || y->first >= x->end) continue;
                assert_true(is_met(&bands, n_met, bands.of[b]));
            }
        }
        arn_groups_free(&groups);
        arenaut_problem_free(p);
    }
}

/* Each alive for two steps, one after another: the way down the tree, and its end. */
TEST(few_bands_are_met_where_few_are_alive) {
    enum { MANY = 4096, FEW = 16 };
    arenaut_problem *p = new_problem();
    for (uint32_t b = 0; b < MANY; b++) add_box(p, 8, b, b + 2);
    finish(p);
    arn_groups groups = groups_of(p);
    arn_bands bands;
    assert_true(arn_bands_make(&groups, FEW, &groups.region, &bands));
    assert_in_range(bands.n, MANY / FEW / 2, MANY / FEW * 4);
    for (uint32_t b = 0; b < MANY; b++) {
        assert_in_range(arn_bands_meet(&bands, b, b + 2), 1, 14);
    }
    arn_groups_free(&groups);
    arenaut_problem_free(p);
}

/* ---- places ---- */

/* Offsets that a group may not have, [from, to). */
typedef struct range {
    uint64_t from, to;
} range;

typedef struct naive {
    const arn_groups *groups;
    uint64_t *offset;
    bool *placed;
    range *range;
    uint32_t n;
} naive;

static int by_start(const void *a, const void *b) {
    const uint64_t x = ((const range *)a)->from, y = ((const range *)b)->from;
    return x < y ? -1 : x > y;
}

static void keep_off(naive *x, const arn_piece *mine, uint64_t low, uint64_t high) {
    if (high <= mine->low) return;
    const uint64_t from = low >= mine->high ? low - mine->high + 1 : 0;
    x->range[x->n++] = (range){from, high - mine->low};
}

/* Addresses that placed and reserved ranges keep the group from. */
static void gather(naive *x, const arn_group *group) {
    const arenaut_problem *p = x->groups->problem;
    x->n = 0;
    for (uint32_t i = 0; i < group->n_pieces; i++) {
        const arn_piece *mine = &x->groups->piece[group->piece + i];
        for (uint32_t k = 0; k < p->n_reserved; k++) {
            keep_off(x, mine, p->reserved[k].first, p->reserved[k].end);
        }
        for (uint32_t k = 0; k < x->groups->n; k++) {
            const arn_group *other = &x->groups->group[k];
            for (uint32_t j = 0; j < other->n_pieces && x->placed[k]; j++) {
                const arn_piece *its = &x->groups->piece[other->piece + j];
                if (its->first >= mine->end || mine->first >= its->end) continue;
                keep_off(x, mine, x->offset[k] + its->low, x->offset[k] + its->high);
            }
        }
    }
    qsort(x->range, x->n, sizeof *x->range, by_start);
}

static uint64_t choose(const naive *x, const arn_group *group, arn_fit fit) {
    uint64_t front = 0, best = ARENAUT_UNPLACED, least = UINT64_MAX;
    for (uint32_t i = 0; i < x->n; i++) {
        const uint64_t start = (front + group->align - 1) / group->align * group->align;
        const uint64_t from = x->range[i].from;
        if (from > start && fit != ARN_ON_TOP) {
            const uint64_t spare = from - start;
            if (fit == ARN_FIRST_FIT) return start;
            if (spare < least || (spare == least && fit == ARN_HIGH_FIT)) {
                best = start;
                least = fit == ARN_ARENA_FIT ? from - front : spare;
            }
        }
        if (x->range[i].to > front) front = x->range[i].to;
    }
    if (best != ARENAUT_UNPLACED) return best;
    return (front + group->align - 1) / group->align * group->align;
}

static void assert_placed_as_by_looking_at_all(const arn_groups *groups, arn_fit fit, rng *r) {
    naive x = {.groups = groups};
    arn_placing *placing = arn_placing_new(groups, NULL);
    uint32_t *order = calloc(groups->n + 1, sizeof *order);
    x.offset = calloc(groups->n + 1, sizeof *x.offset);
    x.placed = calloc(groups->n + 1, sizeof *x.placed);
    /* Each of its pieces against each other piece and range. */
    x.range = calloc((size_t)groups->n_pieces * 4 + 64, sizeof *x.range * 4);
    for (uint32_t i = 0; i < groups->n; i++) {
        const uint32_t k = rng_below(r, i + 1);
        order[i] = order[k];
        order[k] = i;
    }
    for (uint32_t i = 0; i < groups->n; i++) {
        const arn_group *group = &groups->group[order[i]];
        gather(&x, group);
        x.offset[order[i]] = choose(&x, group, fit);
        x.placed[order[i]] = true;
        assert_true(arn_placing_place(placing, order[i], (arn_rules){.fit = fit}));
        assert_int_equal(arn_placing_offset(placing, order[i]), x.offset[order[i]]);
    }
    free(order);
    free(x.offset);
    free(x.placed);
    free(x.range);
    arn_placing_free(placing);
}

/* More pieces than one band holds; few alive at a time, or nearly all, which leaves chunks without
 * a gap; alignments leave gaps. */
TEST(places_are_those_that_are_found_by_looking_at_all) {
    static const arn_fit fits[] = {ARN_FIRST_FIT, ARN_BEST_FIT, ARN_HIGH_FIT, ARN_ARENA_FIT,
                                   ARN_ON_TOP};
    static const uint32_t features[] = {0, ARENAUT_FEATURE_ALIGNMENT, ARENAUT_FEATURE_GAPS,
                                        ARENAUT_FEATURE_ALIGNMENT | ARENAUT_FEATURE_RESERVED};
    static const uint32_t steps[] = {2, 30, 4000};
    rng r = {7};
    uint32_t large = 0;
    for (uint32_t round = 0; round < 12 + drawn(48); round++) {
        const problem_shape shape = {2000, 1 + 40 * (round % 2), steps[round % 3],
                                     features[round % 4]};
        arenaut_problem *p = random_problem(&r, &shape);
        arn_groups groups = groups_of(p);
        large += groups.n_pieces > 600;
        assert_placed_as_by_looking_at_all(&groups, fits[round % 5], &r);
        arn_groups_free(&groups);
        arenaut_problem_free(p);
    }
    assert_true(large > drawn(20));
}

/* ---- effort ---- */

static uint64_t effort_of(const char *planner, uint32_t n) {
    arenaut_problem *p = new_problem();
    rng r = {n};
    for (uint32_t b = 0; b < n; b++) {
        const int64_t first = rng_below(&r, n);
        add_box(p, 16 * (1 + rng_below(&r, 200)), first, first + 1 + rng_below(&r, 12));
    }
    finish(p);
    const arenaut_plan_options options = {.planner = planner};
    arenaut_plan *plan = NULL;
    arenaut_error err = {0};
    assert_ok(arenaut_plan_make(p, &options, NULL, &plan, &err), err);
    const uint64_t effort = plan->effort;
    arenaut_plan_free(plan);
    arenaut_problem_free(p);
    return effort;
}

TEST(one_pass_over_four_times_as_many_takes_about_four_times_as_long) {
    static const char *const planners[] = {"ggml", "onnxruntime", "tflite-arena", "best-fit"};
    for (size_t i = 0; i < COUNT_OF(planners); i++) {
        assert_true(effort_of(planners[i], 16000) < 6 * effort_of(planners[i], 4000));
    }
}
