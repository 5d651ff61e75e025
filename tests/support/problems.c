#include "support/problems.h"

#include "support/test.h"

arenaut_problem *new_problem(void) {
    arenaut_problem *problem = NULL;
    arenaut_error err = {0};
    assert_ok(arenaut_problem_new(NULL, &problem, &err), err);
    return problem;
}

uint32_t add_buffer(arenaut_problem *problem, const arenaut_buffer *buffer) {
    uint32_t id = ARENAUT_NONE;
    arenaut_error err = {0};
    assert_ok(arenaut_problem_add_buffer(problem, buffer, &id, &err), err);
    return id;
}

uint32_t add_box(arenaut_problem *problem, uint64_t size, int64_t first, int64_t end) {
    return ADD_BUFFER(problem, .size = size, LIFE(first, end));
}

uint32_t add_pool(arenaut_problem *problem, const char *name, uint64_t capacity, uint64_t align) {
    const arenaut_pool pool = {
        .name = name, .capacity = capacity, .align = align, .closed = capacity == 0};
    uint32_t id = ARENAUT_NONE;
    arenaut_error err = {0};
    assert_ok(arenaut_problem_add_pool(problem, &pool, &id, &err), err);
    return id;
}

void separate(arenaut_problem *problem, uint32_t upper, uint32_t lower, int64_t distance) {
    const arenaut_separation pair = {upper, lower, distance};
    arenaut_error err = {0};
    assert_ok(arenaut_problem_add_separation(problem, &pair, &err), err);
}

void limit_pool(arenaut_problem *problem, uint32_t pool, uint64_t capacity) {
    arenaut_pool *limited = &problem->pool[pool];
    limited->capacity = capacity / limited->align * limited->align;
    limited->closed = limited->capacity == 0;
}

void finish(arenaut_problem *problem) {
    arenaut_error err = {0};
    assert_ok(arenaut_problem_finish(problem, &err), err);
}

arenaut_problem *problem_of(const box *boxes, size_t n) {
    arenaut_problem *problem = new_problem();
    for (size_t i = 0; i < n; i++) add_box(problem, boxes[i].size, boxes[i].first, boxes[i].end);
    finish(problem);
    return problem;
}

enum { MAX_LIVES = 3 };

/* Up to three intervals, some of them empty. */
static uint32_t random_lifetimes(rng *r, const problem_shape *shape, arenaut_interval *lives) {
    const bool gaps = shape->features & ARENAUT_FEATURE_GAPS;
    const uint32_t n = gaps ? rng_below(r, MAX_LIVES + 1) : 1;
    for (uint32_t i = 0; i < n; i++) {
        lives[i].first = rng_below(r, shape->max_steps);
        lives[i].end =
            lives[i].first + rng_below(r, shape->max_steps - (uint32_t)lives[i].first + 1);
    }
    return n;
}

static void random_pools(rng *r, const problem_shape *shape, arenaut_problem *problem) {
    const uint32_t n = shape->features & ARENAUT_FEATURE_POOLS ? 1 + rng_below(r, 3) : 1;
    for (uint32_t i = 0; i < n; i++) {
        const bool capped = shape->features & ARENAUT_FEATURE_CAPACITY && rng_once_in(r, 2);
        const bool aligned = shape->features & ARENAUT_FEATURE_ALIGNMENT;
        add_pool(problem, NULL,
                 capped ? shape->max_size + rng_below(r, shape->max_size * 4) : ARENAUT_UNLIMITED,
                 aligned ? UINT64_C(1) << rng_below(r, 4) : 1);
    }
}

/* Makes `b` the successor of an earlier buffer at that one's last step. */
static void try_same_base(rng *r, const arenaut_problem *problem, arenaut_buffer *b,
                          arenaut_interval *lives) {
    const uint32_t base = rng_below(r, problem->n_buffers);
    const uint32_t n = arenaut_problem_lifetime_count(problem, base);
    if (n == 0) return;
    lives[0].first = arenaut_problem_lifetimes(problem, base)[n - 1].end - 1;
    lives[0].end = lives[0].first + 1 + rng_below(r, 4);
    b->n_lifetimes = 1;
    b->same_base = arenaut_id(base);
    b->pools = arenaut_problem_pools(problem, base);
}

/* Makes `b` a slice of an earlier buffer, and as large as fits there. */
static void try_inside(rng *r, const arenaut_problem *problem, arenaut_buffer *b) {
    const uint32_t host = rng_below(r, problem->n_buffers);
    const uint64_t align = arenaut_problem_align(problem, host);
    const uint64_t delta = rng_below(r, (uint32_t)problem->size[host] + 1) / align * align;
    b->inside = arenaut_id(host);
    b->inside_delta = delta;
    b->align = align;
    b->size = rng_below(r, (uint32_t)(problem->size[host] - delta) + 1);
    b->pools = arenaut_problem_pools(problem, host);
    b->fixed_offset = arenaut_at(ARENAUT_UNPLACED);
    b->hint = arenaut_at(ARENAUT_UNPLACED);
}

static void random_buffer(rng *r, const problem_shape *shape, arenaut_problem *problem) {
    const uint32_t features = shape->features;
    arenaut_interval lives[MAX_LIVES];
    arenaut_buffer b = {.align = 1};
    b.size = rng_below(r, shape->max_size + 1);
    b.lifetimes = lives;
    b.n_lifetimes = random_lifetimes(r, shape, lives);
    if (features & ARENAUT_FEATURE_ALIGNMENT) b.align = UINT64_C(1) << rng_below(r, 4);
    if (features & ARENAUT_FEATURE_POOLS && rng_once_in(r, 3)) {
        b.pools = UINT64_C(1) << rng_below(r, problem->n_pools);
    }
    if (features & ARENAUT_FEATURE_POOLS && rng_once_in(r, 2)) b.uses = rng_below(r, 5);
    if (features & ARENAUT_FEATURE_HINTS && rng_once_in(r, 3))
        b.hint = arenaut_at(rng_below(r, 16));
    if (features & ARENAUT_FEATURE_FIXED_OFFSETS && rng_once_in(r, 5)) {
        b.fixed_offset = arenaut_at((rng_below(r, shape->max_size * 2) / b.align) * b.align);
        b.pools = UINT64_C(1) << rng_below(r, problem->n_pools);
    }
    const bool related = problem->n_buffers > 0 && !b.fixed_offset.given;
    if (related && features & ARENAUT_FEATURE_SAME_BASE && rng_once_in(r, 3)) {
        try_same_base(r, problem, &b, lives);
    } else if (related && features & ARENAUT_FEATURE_INSIDE && rng_once_in(r, 3)) {
        try_inside(r, problem, &b);
    }
    add_buffer(problem, &b);
}

static void random_ranges(rng *r, const problem_shape *shape, arenaut_problem *problem) {
    for (uint32_t i = rng_below(r, 3); i > 0; i--) {
        const uint64_t first = rng_below(r, shape->max_size * 3);
        const arenaut_reserved range = {rng_below(r, problem->n_pools), first,
                                        first + rng_below(r, 4)};
        arenaut_error err = {0};
        assert_ok(arenaut_problem_add_reserved(problem, &range, &err), err);
    }
}

static void random_conflicts(rng *r, arenaut_problem *problem) {
    if (problem->n_buffers < 2) return;
    for (uint32_t i = rng_below(r, problem->n_buffers); i > 0; i--) {
        const uint32_t a = rng_below(r, problem->n_buffers);
        const uint32_t b = rng_below(r, problem->n_buffers - 1);
        arenaut_error err = {0};
        assert_ok(arenaut_problem_add_conflict(problem, a, b < a ? b : b + 1, &err), err);
    }
}

arenaut_problem *random_problem(rng *r, const problem_shape *shape) {
    arenaut_problem *problem = new_problem();
    random_pools(r, shape, problem);
    for (uint32_t i = 1 + rng_below(r, shape->max_buffers); i > 0; i--) {
        random_buffer(r, shape, problem);
    }
    if (shape->features & ARENAUT_FEATURE_RESERVED) random_ranges(r, shape, problem);
    if (shape->features & ARENAUT_FEATURE_CONFLICTS) random_conflicts(r, problem);
    finish(problem);
    return problem;
}
