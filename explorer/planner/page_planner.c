/* The planner as the page has it, in WebAssembly: a problem comes as one list of numbers, is
 * planned as the command would with the same effort, and what the checker has passed goes back as
 * another. src/wasm_planner.js and src/replan.js have the other side. An instance plans once and is
 * dropped with its memory, so nothing here is freed. */
#include <stdlib.h>

#include <arenaut/check.h>
#include <arenaut/planner.h>
#include <arenaut/result.h>

/* The page calls these, and no C. */
#pragma clang diagnostic ignored "-Wmissing-prototypes"
#define EXPORT(name) __attribute__((export_name(#name)))
#define IMPORT(name) __attribute__((import_module("page"), import_name(#name)))

/* Tells the page how far it is: the total of the best plan so far, UINT64_MAX while there is none,
 * and what is known to be needed. */
IMPORT(progress) void page_progress(uint64_t best, uint64_t bound);

static arenaut_error failure;

/* Numbers that are read one after another. What may be missing is one larger than it is, or 0. */
typedef struct numbers {
    const uint64_t *at;
} numbers;

static uint64_t next(numbers *in) { return *in->at++; }
static uint32_t next_small(numbers *in) { return (uint32_t)next(in); }

static arenaut_status add_pools(arenaut_problem *problem, numbers *in, uint32_t n) {
    arenaut_status st = ARENAUT_OK;
    for (uint32_t i = 0; i < n && st == ARENAUT_OK; i++) {
        arenaut_pool pool = {.capacity = next(in)};
        pool.align = next(in);
        pool.closed = pool.capacity == 0;
        if (pool.capacity == ARENAUT_UNLIMITED) pool.capacity = 0;
        st = arenaut_problem_add_pool(problem, &pool, NULL, &failure);
    }
    return st;
}

static arenaut_status add_buffer(arenaut_problem *problem, numbers *in) {
    arenaut_buffer buffer = {.size = next(in)};
    buffer.align = next(in);
    buffer.pools = next(in);
    buffer.fixed_offset = arenaut_at(next(in) - 1);
    buffer.hint = arenaut_at(next(in) - 1);
    buffer.same_base = arenaut_id(next_small(in) - 1);
    buffer.inside = arenaut_id(next_small(in) - 1);
    buffer.inside_delta = next(in);
    buffer.cls = (arenaut_class)next(in);
    buffer.uses = next_small(in);
    buffer.release = next_small(in);
    buffer.n_lifetimes = next_small(in);
    arenaut_interval *lives = malloc(sizeof *lives * (buffer.n_lifetimes + 1));
    if (!lives) return ARENAUT_NO_MEMORY;
    for (uint32_t i = 0; i < buffer.n_lifetimes; i++) {
        lives[i].first = (int64_t)next(in);
        lives[i].end = (int64_t)next(in);
    }
    buffer.lifetimes = lives;
    return arenaut_problem_add_buffer(problem, &buffer, NULL, &failure);
}

static arenaut_status add_relations(arenaut_problem *problem, numbers *in) {
    arenaut_status st = ARENAUT_OK;
    for (uint32_t n = next_small(in); n > 0 && st == ARENAUT_OK; n--) {
        const uint32_t a = next_small(in);
        const uint32_t b = next_small(in);
        st = arenaut_problem_add_conflict(problem, a, b, &failure);
    }
    for (uint32_t n = next_small(in); n > 0 && st == ARENAUT_OK; n--) {
        arenaut_separation pair = {.upper = next_small(in)};
        pair.lower = next_small(in);
        pair.distance = (int64_t)next(in);
        st = arenaut_problem_add_separation(problem, &pair, &failure);
    }
    for (uint32_t n = next_small(in); n > 0 && st == ARENAUT_OK; n--) {
        arenaut_reserved range = {.pool = next_small(in)};
        range.first = next(in);
        range.end = next(in);
        st = arenaut_problem_add_reserved(problem, &range, &failure);
    }
    return st;
}

static arenaut_status read_problem(arenaut_problem *problem, numbers *in) {
    const uint32_t traits = next_small(in);
    arenaut_status st = add_pools(problem, in, next_small(in));
    for (uint32_t n = next_small(in); n > 0 && st == ARENAUT_OK; n--) st = add_buffer(problem, in);
    if (st == ARENAUT_OK) st = add_relations(problem, in);
    problem->traits = traits;
    return st == ARENAUT_OK ? arenaut_problem_finish(problem, &failure) : st;
}

static arenaut_verdict tell(void *context, const arenaut_progress *progress) {
    (void)context;
    page_progress(progress->best, progress->bound);
    return ARENAUT_GO_ON;
}

/* How many numbers there are; total, its bound and its quality, what is needed, the peak; then per
 * pool the arena and its bound, and per buffer where it lies. */
static uint64_t *written(const arenaut_problem *problem, const arenaut_plan *plan,
                         const arenaut_peak *peak, uint64_t needed) {
    const size_t n = 8 + 2 * ((size_t)plan->n_pools + plan->n_buffers);
    uint64_t *out = malloc(n * sizeof *out);
    uint64_t *at = out;
    if (!out) return NULL;
    *at++ = n;
    *at++ = plan->total;
    *at++ = plan->total_bound;
    *at++ = plan->quality;
    *at++ = needed;
    *at++ = (uint64_t)peak->step;
    *at++ = peak->live_bytes;
    *at++ = peak->shared_bytes;
    for (uint32_t k = 0; k < plan->n_pools; k++) {
        *at++ = plan->arena[k];
        *at++ = plan->lower_bound[k];
    }
    for (uint32_t b = 0; b < problem->n_buffers; b++) {
        *at++ = plan->pool[b] == ARENAUT_NONE ? 0 : (uint64_t)plan->pool[b] + 1;
        *at++ = plan->offset[b];
    }
    return out;
}

EXPORT(room) void *room(size_t size) { return malloc(size); }
EXPORT(message) const char *message(void) { return failure.msg; }

/* NULL, and a message, where there is no plan. */
EXPORT(plan) uint64_t *make_plan(const uint64_t *numbers_in) {
    numbers in = {numbers_in};
    const arenaut_plan_options options = {.effort = next(&in), .progress = tell};
    arenaut_problem *problem = NULL;
    arenaut_plan *plan = NULL;
    arenaut_finding finding;
    arenaut_peak peak;
    uint64_t needed = 0;
    arenaut_status st = arenaut_problem_new(NULL, &problem, &failure);
    if (st == ARENAUT_OK) st = read_problem(problem, &in);
    if (st == ARENAUT_OK) st = arenaut_plan_make(problem, &options, NULL, &plan, &failure);
    if (st == ARENAUT_OK) st = arenaut_check_plan(problem, plan, NULL, &finding, &failure);
    if (st == ARENAUT_OK) st = arenaut_lower_bound(problem, NULL, &needed, NULL, &failure);
    if (st == ARENAUT_OK) st = arenaut_peak_find(problem, NULL, &peak, &failure);
    return st == ARENAUT_OK ? written(problem, plan, &peak, needed) : NULL;
}
