/* The n log n skyline against an obvious one. */
#include "support/test.h"

#include <stdlib.h>

#include "planners/placing/skyline_engine.h"
#include "support/problems.h"

typedef struct setting {
    arenaut_problem *problem;
    arn_groups groups;
    arn_timeline timeline;
    uint32_t *order;
    uint64_t *offset;
} setting;

static setting set_up(rng *r, const problem_shape *shape) {
    setting s = {.problem = random_problem(r, shape)};
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

/* Looks at all groups for the one that can lie lowest, each time. */
static void place_slowly(const setting *s, uint64_t *offset) {
    uint64_t *floors = calloc(s->timeline.n_sections + 1, sizeof *floors);
    bool *placed = calloc(s->groups.n + 1, sizeof *placed);
    for (uint32_t round = 0; round < s->groups.n; round++) {
        uint32_t best = ARENAUT_NONE;
        for (uint32_t k = 0; k < s->groups.n; k++) {
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

TEST(fast_and_slow_skylines_are_the_same) {
    rng r = {1};
    for (uint32_t round = 0; round < 600; round++) {
        const problem_shape shape = {1 + round / 4, 20, 2 + round / 8, 0};
        setting s = set_up(&r, &shape);
        uint64_t *slow = calloc(s.groups.n + 1, sizeof *slow), top = 0, highest = 0;
        arn_skyline *skyline = arn_skyline_new(&s.groups, &s.timeline, &s.groups.region);
        assert_non_null(skyline);
        for (int again = 0; again < 2; again++) {
            assert_int_equal(
                arn_skyline_run(skyline, s.order, s.groups.n, UINT64_MAX, s.offset, &top, NULL),
                s.groups.n);
        }
        place_slowly(&s, slow);
        for (uint32_t i = 0; i < s.groups.n; i++) {
            assert_int_equal(s.offset[i], slow[i]);
            if (slow[i] + s.groups.group[i].extent > highest)
                highest = slow[i] + s.groups.group[i].extent;
        }
        assert_int_equal(top, highest);
        if (s.groups.n > 0) {
            assert_true(arn_skyline_run(skyline, s.order, s.groups.n, top - 1, s.offset, &top,
                                        NULL) < s.groups.n);
        }
        free(slow);
        tear_down(&s);
    }
}
