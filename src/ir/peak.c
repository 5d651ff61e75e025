/* The step at which most bytes are alive, and what is alive there. */
#include <arenaut/result.h>

#include "core/fail.h"
#include "core/memory.h"
#include "core/sort.h"

/* A beginning or an end of a lifetime: 2 * lifetime, plus 1 for an end. */
typedef struct events {
    const arenaut_problem *problem;
    const uint32_t *owner; /* per lifetime: its buffer */
} events;

static int64_t time_of(const events *e, uint32_t event) {
    const arenaut_interval life = e->problem->lifetime[event / 2];
    return event % 2 ? life.end : life.first;
}

/* At the same step ends come first: a lifetime does not include its end. */
static bool event_before(const void *context, uint32_t a, uint32_t b) {
    const int64_t at = time_of(context, a), bt = time_of(context, b);
    return at != bt ? at < bt : a % 2 > b % 2;
}

static bool larger(const void *context, uint32_t a, uint32_t b) {
    const arenaut_problem *problem = context;
    return problem->size[a] > problem->size[b];
}

/* Finds the first step with the most bytes, by walking the sorted events. */
static void find_step(const events *e, const uint32_t *order, size_t n, arenaut_peak *peak) {
    uint64_t live = 0;
    peak->step = n ? time_of(e, order[0]) : 0;
    peak->live_bytes = 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t size = e->problem->size[e->owner[order[i] / 2]];
        live = order[i] % 2 ? live - size : live + size;
        if (live > peak->live_bytes) {
            peak->live_bytes = live;
            peak->step = time_of(e, order[i]);
        }
    }
}

static bool is_alive(const arenaut_problem *problem, uint32_t b, int64_t step) {
    const arenaut_interval *life = arenaut_problem_lifetimes(problem, b);
    const uint32_t n = arenaut_problem_lifetime_count(problem, b);
    for (uint32_t i = 0; i < n; i++) {
        if (life[i].first <= step && step < life[i].end) return problem->size[b] != 0;
    }
    return false;
}

/* `ids` has room for twice the buffers and twice as many events as there are. */
static arenaut_status find_with(const arenaut_problem *problem, uint32_t *ids, uint32_t *owner,
                                const arenaut_allocator *allocator, arenaut_peak *peak,
                                arenaut_error *err) {
    const events e = {problem, owner};
    const uint32_t n = 2 * problem->n_lifetimes;
    for (uint32_t b = 0; b < problem->n_buffers; b++) {
        for (uint32_t i = problem->lifetime_start[b]; i < problem->lifetime_start[b + 1]; i++) {
            owner[i] = b;
        }
    }
    for (uint32_t i = 0; i < n; i++) ids[i] = i;
    arn_sort_ids(ids, n, event_before, &e, ids + n);
    arenaut_peak found;
    find_step(&e, ids, n, &found);

    found.n_live = 0;
    for (uint32_t b = 0; b < problem->n_buffers; b++) {
        if (is_alive(problem, b, found.step)) ids[found.n_live++] = b;
    }
    arn_sort_ids(ids, found.n_live, larger, problem, ids + found.n_live);
    found.live = arn_allocate(allocator, found.n_live, sizeof *found.live);
    if (!found.live) return arn_no_memory(err);
    for (uint32_t i = 0; i < found.n_live; i++) found.live[i] = ids[i];
    *peak = found;
    return ARENAUT_OK;
}

arenaut_status arenaut_peak_find(const arenaut_problem *problem,
                                 const arenaut_allocator *allocator, arenaut_peak *peak,
                                 arenaut_error *err) {
    if (problem->n_lifetimes > UINT32_MAX / 2) {
        return arn_fail(err, ARENAUT_TOO_LARGE, 0, "more than 2^31 lifetimes");
    }
    const size_t room = (size_t)problem->n_lifetimes * 2 + problem->n_buffers;
    uint32_t *ids = arn_allocate(allocator, room, 2 * sizeof *ids);
    uint32_t *owner = arn_allocate(allocator, problem->n_lifetimes, sizeof *owner);
    const arenaut_status st = ids && owner
                                  ? find_with(problem, ids, owner, allocator, peak, err)
                                  : arn_no_memory(err);
    arn_release(allocator, ids);
    arn_release(allocator, owner);
    return st;
}

void arenaut_peak_free(arenaut_peak *peak, const arenaut_allocator *allocator) {
    arn_release(allocator, peak->live);
    peak->live = NULL;
    peak->n_live = 0;
}
