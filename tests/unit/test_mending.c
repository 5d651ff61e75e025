/* Plans for a live loop: settled, and mended where they are too high. */
#include "support/test.h"

#include <stdlib.h>

#include "planners/placing/settle.h"
#include "planners/search/mend.h"
#include "support/plans.h"
#include "support/problems.h"

/* Lives of up to 16 steps, at random or one behind the other: many of their plans are too high at a
 * few steps only. */
static arenaut_problem *short_lives(rng *r, uint32_t n, uint64_t align) {
    arenaut_problem *problem = new_problem();
    const bool is_chain = rng_once_in(r, 2);
    for (uint32_t i = 0; i < n; i++) {
        const int64_t first = is_chain ? i : rng_below(r, n / 4 + 4);
        ADD_BUFFER(problem, .size = 700 + rng_below(r, 300), .align = align,
                   LIFE(first, first + 1 + rng_below(r, 16)));
    }
    finish(problem);
    return problem;
}

TEST(mended_plans_are_never_above_those_of_the_skyline) {
    rng r = {3};
    uint32_t better = 0;
    for (uint32_t round = 0; round < 240; round++) {
        const uint64_t align = round % 3 ? 1 : 64;
        arenaut_problem *problem = short_lives(&r, 2 + rng_below(&r, 600), align);
        arenaut_plan *skyline = plan_by(problem, "skyline");
        arenaut_plan *mended = plan_by(problem, "mended-skyline");
        assert_true(mended->total <= skyline->total && mended->total >= mended->total_bound);
        better += mended->total < skyline->total;
        arenaut_plan_free(skyline);
        arenaut_plan_free(mended);
        arenaut_problem_free(problem);
    }
    assert_true(better > 60);
}

/* An eighth of the values alive at once. */
static arenaut_problem *long_lives(rng *r, uint32_t n) {
    arenaut_problem *problem = new_problem();
    for (uint32_t i = 0; i < n; i++) {
        const int64_t first = rng_below(r, n / 4 + 4);
        ADD_BUFFER(problem, .size = 1000 + rng_below(r, 1000000),
                   LIFE(first, first + 1 + rng_below(r, n / 16 + 1)));
    }
    finish(problem);
    return problem;
}

static double percent_above(const arenaut_plan *plan) {
    return 100.0 * (double)(plan->total - plan->total_bound) / (double)plan->total_bound;
}

TEST(hundreds_of_long_lives_come_nearer_to_the_bound_in_other_orders) {
    enum { ROUNDS = 40 };
    rng r = {7};
    double once = 0, more = 0;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        arenaut_problem *problem = long_lives(&r, 500);
        arenaut_plan *skyline = plan_by(problem, "skyline");
        arenaut_plan *mended = plan_by(problem, "mended-skyline");
        once += percent_above(skyline) / ROUNDS;
        more += percent_above(mended) / ROUNDS;
        arenaut_plan_free(skyline);
        arenaut_plan_free(mended);
        arenaut_problem_free(problem);
    }
    assert_true(more < 1.3 && more < once - 0.9);
}

TEST(thousands_of_long_lives_come_near_to_the_bound_in_a_few_passes) {
    enum { ROUNDS = 12 };
    rng r = {7};
    double above = 0;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        arenaut_problem *problem = long_lives(&r, 5000);
        arenaut_plan *plan = plan_by(problem, "mended-skyline");
        above += percent_above(plan) / ROUNDS;
        arenaut_plan_free(plan);
        arenaut_problem_free(problem);
    }
    assert_true(above < 2.0);
}

/* Memory that is asked for behind a stop. */
typedef struct stopped {
    bool is_stopped;
    size_t bytes;
} stopped;

static void *allocate_counted(void *context, size_t size) {
    stopped *s = context;
    if (s->is_stopped) s->bytes += size;
    return malloc(size);
}

static void *reallocate_counted(void *context, void *block, size_t old_size, size_t new_size) {
    stopped *s = context;
    if (s->is_stopped && new_size > old_size) s->bytes += new_size - old_size;
    return realloc(block, new_size);
}

static void release_counted(void *context, void *block) {
    (void)context;
    free(block);
}

static arenaut_verdict stop(void *context, const arenaut_progress *progress) {
    (void)progress;
    ((stopped *)context)->is_stopped = true;
    return ARENAUT_INTERRUPTED;
}

TEST(nothing_begins_behind_a_stop) {
    enum { VALUES = 20000 };
    rng r = {5};
    stopped s = {.bytes = 0};
    const arenaut_allocator allocator = {allocate_counted, reallocate_counted, release_counted, &s};
    arenaut_problem *problem = short_lives(&r, VALUES, 8);
    const arenaut_plan_options options = {
        .planner = "mended-skyline", .progress = stop, .progress_context = &s};
    arenaut_plan *plan = NULL;
    assert_int_equal(arenaut_plan_make(problem, &options, &allocator, &plan, NULL),
                     ARENAUT_STOPPED);
    assert_true(s.is_stopped && s.bytes < VALUES);
    arenaut_plan_free(plan);
    arenaut_problem_free(problem);
}

typedef struct setting {
    arenaut_problem *problem;
    arn_workspace space;
} setting;

static setting set_up(rng *r, uint32_t n) {
    setting s = {.problem = short_lives(r, n, r->state % 2 ? 1 : 8)};
    assert_int_equal(arn_groups_make(s.problem, 0, NULL, &s.space.groups, NULL), ARENAUT_OK);
    arn_region_init(&s.space.region, NULL);
    assert_true(arn_timeline_make(&s.space.groups, &s.space.region, &s.space.timeline));
    s.space.offset = calloc(s.space.groups.n + 1, sizeof *s.space.offset);
    s.space.order = calloc(s.space.groups.n + 1, sizeof *s.space.order);
    for (uint32_t i = 0; i < s.space.groups.n; i++) s.space.order[i] = i;
    for (uint32_t i = s.space.groups.n; i > 1; i--) {
        const uint32_t k = rng_below(r, i), moved = s.space.order[i - 1];
        s.space.order[i - 1] = s.space.order[k];
        s.space.order[k] = moved;
    }
    return s;
}

static void tear_down(setting *s) {
    free(s->space.offset);
    free(s->space.order);
    arn_region_free(&s->space.region);
    arn_groups_free(&s->space.groups);
    arenaut_problem_free(s->problem);
}

static bool alive_together(const setting *s, uint32_t a, uint32_t b) {
    const arn_timeline *t = &s->space.timeline;
    return t->first[a] < t->end[b] && t->first[b] < t->end[a];
}

static uint64_t end_of(const setting *s, uint32_t i) {
    return s->space.offset[i] + s->space.groups.group[i].extent;
}

static void assert_apart(const setting *s) {
    for (uint32_t a = 0; a < s->space.groups.n; a++) {
        assert_int_equal(s->space.offset[a] % s->space.groups.group[a].align, 0);
        for (uint32_t b = 0; b < a; b++) {
            if (!alive_together(s, a, b)) continue;
            assert_true(end_of(s, a) <= s->space.offset[b] || end_of(s, b) <= s->space.offset[a]);
        }
    }
}

TEST(groups_settle_on_the_highest_of_those_before_them) {
    rng r = {4};
    for (uint32_t round = 0; round < 60; round++) {
        setting s = set_up(&r, 1 + rng_below(&r, 200));
        uint64_t top = 0, highest = 0;
        assert_true(arn_settle(&s.space, UINT64_MAX, &top));
        for (uint32_t k = 0; k < s.space.groups.n; k++) {
            const uint32_t i = s.space.order[k];
            const uint64_t align = s.space.groups.group[i].align;
            uint64_t lowest = 0;
            for (uint32_t before = 0; before < k; before++) {
                const uint32_t other = s.space.order[before];
                if (alive_together(&s, i, other) && end_of(&s, other) > lowest)
                    lowest = end_of(&s, other);
            }
            assert_int_equal(s.space.offset[i], (lowest + align - 1) / align * align);
            if (end_of(&s, i) > highest) highest = end_of(&s, i);
        }
        assert_int_equal(top, highest);
        tear_down(&s);
    }
}

/* Offsets are those of a plan whenever the work ends. */
TEST(mending_leaves_a_plan_whenever_it_is_stopped) {
    rng r = {5};
    for (uint32_t round = 0; round < 60; round++) {
        setting s = set_up(&r, 2 + rng_below(&r, 300));
        uint64_t top, bound = 0, work = 0;
        assert_true(arn_settle(&s.space, UINT64_MAX, &top));
        for (uint32_t k = 0; k < s.space.timeline.n_sections; k++)
            if (s.space.timeline.load[k] > bound) bound = s.space.timeline.load[k];
        const uint64_t most = rng_below(&r, 200000);
        assert_true(arn_mend(&s.space, bound, most, NULL, &work));
        assert_true(work < most + 100000);
        assert_apart(&s);
        tear_down(&s);
    }
}

static arenaut_problem *with_hints(const arenaut_problem *before, const arenaut_plan *plan,
                                   uint32_t grown) {
    arenaut_problem *problem = new_problem();
    for (uint32_t b = 0; b < before->n_buffers; b++) {
        const uint64_t size = before->size[b];
        ADD_BUFFER(problem, .size = size + (b % 100 < grown ? size / 20 : 0),
                   .lifetimes = arenaut_problem_lifetimes(before, b), .n_lifetimes = 1,
                   .hint = arenaut_at(plan->offset[b]));
    }
    finish(problem);
    return problem;
}

/* One step a buffer, where the skyline takes three and more. */
TEST(a_plan_with_few_new_sizes_keeps_the_order_of_the_last) {
    rng r = {6};
    for (uint32_t round = 0; round < 10; round++) {
        arenaut_problem *problem = short_lives(&r, 2000, 1);
        arenaut_plan *first = plan_by(problem, "mended-skyline");
        for (uint32_t grown = 0; grown <= 1; grown++) {
            arenaut_problem *next = with_hints(problem, first, grown);
            arenaut_plan *plan = plan_by(next, "mended-skyline");
            if (!grown) assert_true(plan->total <= first->total);
            if (first->total <= first->total_bound + first->total_bound / 100 && !grown)
                assert_true(plan->effort <= 2000);
            assert_true(plan->total <= plan->total_bound + plan->total_bound / 25);
            arenaut_plan_free(plan);
            arenaut_problem_free(next);
        }
        arenaut_plan_free(first);
        arenaut_problem_free(problem);
    }
}
