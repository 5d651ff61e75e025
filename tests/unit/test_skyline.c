/* The n log n skyline against an obvious one. */
#include "support/test.h"

#include <stdlib.h>

#include "planners/placing/skyline_engine.h"
#include "support/drawn.h"
#include "support/problems.h"

typedef struct setting {
    arenaut_problem *problem;
    arn_groups groups;
    arn_timeline timeline;
    uint32_t *order;
    uint64_t *offset;
} setting;

static setting set_up_of(rng *r, arenaut_problem *problem) {
    setting s = {.problem = problem};
    assert_int_equal(arn_groups_make(s.problem, 0, NULL, &s.groups, NULL), ARENAUT_OK);
    assert_true(arn_timeline_make(&s.groups, &s.groups.region, &s.timeline));
    s.order = calloc(s.groups.n + 1, sizeof *s.order);
    s.offset = calloc(s.groups.n + 1, sizeof *s.offset);
    for (uint32_t i = 0; i < s.groups.n; i++) s.order[i] = i;
    for (uint32_t i = s.groups.n; i > 1; i--) {
        const uint32_t k = rng_below(r, i), moved = s.order[i - 1];
        s.order[i - 1] = s.order[k];
        s.order[k] = moved;
    }
    return s;
}

static setting set_up(rng *r, const problem_shape *shape) {
    return set_up_of(r, random_problem(r, shape));
}

static void tear_down(setting *s) {
    free(s->order);
    free(s->offset);
    arn_groups_free(&s->groups);
    arenaut_problem_free(s->problem);
}

/* The highest thing under a group, section by section. */
static uint64_t floor_under(const setting *s, const uint64_t *floors, uint32_t i) {
    uint64_t highest = 0;
    for (uint32_t k = s->timeline.first[i]; k < s->timeline.end[i]; k++) {
        if (floors[k] > highest) highest = floors[k];
    }
    return highest;
}

/* Looks at the first n groups of the order for the one that can lie lowest, each time. */
static void place_slowly(const setting *s, uint32_t n, uint64_t *offset) {
    uint64_t *floors = calloc(s->timeline.n_sections + 1, sizeof *floors);
    bool *placed = calloc(s->groups.n + 1, sizeof *placed);
    for (uint32_t round = 0; round < n; round++) {
        uint32_t best = ARENAUT_NONE;
        for (uint32_t k = 0; k < n; k++) {
            const uint32_t i = s->order[k];
            if (placed[i]) continue;
            offset[i] = floor_under(s, floors, i);
            if (best == ARENAUT_NONE || offset[i] < offset[best]) best = i;
        }
        placed[best] = true;
        for (uint32_t k = s->timeline.first[best]; k < s->timeline.end[best]; k++) {
            floors[k] = offset[best] + s->groups.group[best].extent;
        }
    }
    free(floors);
    free(placed);
}

/* Twice with the same memory, and then with too low a limit. */
static void assert_as_slow(const setting *s, uint32_t n) {
    uint64_t *slow = calloc(s->groups.n + 1, sizeof *slow), top = 0, highest = 0;
    arn_region region;
    arn_region_init(&region, NULL);
    arn_skyline *skyline = arn_skyline_new(&s->groups, &s->timeline, &region);
    assert_non_null(skyline);
    for (int again = 0; again < 2; again++) {
        assert_int_equal(arn_skyline_run(skyline, s->order, n, UINT64_MAX, s->offset, &top, NULL),
                         n);
    }
    place_slowly(s, n, slow);
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t i = s->order[k];
        assert_int_equal(s->offset[i], slow[i]);
        if (slow[i] + s->groups.group[i].extent > highest)
            highest = slow[i] + s->groups.group[i].extent;
    }
    assert_int_equal(top, highest);
    if (n > 0)
        assert_true(arn_skyline_run(skyline, s->order, n, top - 1, s->offset, &top, NULL) < n);
    arn_region_free(&region);
    free(slow);
}

TEST(fast_and_slow_skylines_are_the_same) {
    rng r = {1};
    for (uint32_t round = 0; round < 600; round++) {
        const problem_shape shape = {1 + round / 4, 20, 2 + round / 8, 0};
        setting s = set_up(&r, &shape);
        assert_as_slow(&s, s.groups.n);
        tear_down(&s);
    }
}

/* Groups are looked up in short rows of bits, in rows for several sections each, and in a tree; a
 * few of them are placed, since the obvious way takes long. */
TEST(so_are_those_of_many_groups) {
    static const problem_shape shapes[] = {
        {900, 20, 700, 0}, {4000, 20, 40, 0}, {4000, 20, 3000, 0}, {20000, 20, 3000, 0}};
    rng r = {2};
    uint32_t most = 0;
    for (uint32_t round = 0; round < 4 + drawn(56); round++) {
        setting s = set_up(&r, &shapes[round % 4]);
        assert_as_slow(&s, s.groups.n < 200 ? s.groups.n : 200);
        if (s.groups.n > most) most = s.groups.n;
        tear_down(&s);
    }
    assert_true(most > 10000);
}

/* Many groups that start or end together, so that the tree is split among equals, and short and
 * long lives beside them. */
TEST(the_tree_finds_the_groups_of_crowded_steps) {
    rng r = {3};
    for (uint32_t round = 0; round < drawn(8); round++) {
        arenaut_problem *problem = new_problem();
        for (uint32_t i = 0; i < 8500; i++) {
            const int64_t steps = 1 + rng_below(&r, round % 2 ? 8 : 150);
            const int64_t first = rng_once_in(&r, 3) ? 300 : rng_below(&r, 600);
            const int64_t end = rng_once_in(&r, 4) ? 640 : first + steps;
            ADD_BUFFER(problem, .size = 1 + rng_below(&r, 50), LIFE(first, end));
        }
        finish(problem);
        setting s = set_up_of(&r, problem);
        assert_true(s.groups.n > 8192); /* of fewer there are rows */
        assert_as_slow(&s, 1200);
        tear_down(&s);
    }
}
