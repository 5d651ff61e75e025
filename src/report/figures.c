/* Figures of a result that several reports show: the bound without a buffer, areas that two buffers
 * share, tilings. */
#include <inttypes.h>

#include <arenaut/planner.h>

#include "core/fail.h"
#include "core/memory.h"
#include "report/figures.h"

/* The bound without a buffer: that buffer, and its slices, are made empty in a copy of the two
 * columns with sizes and lifetimes, and the bound is computed for the copy. O(n log n) for each. */

/* `without` has columns of sizes and of hosts of its own. */
static void take_away(const arenaut_problem *p, uint32_t gone, arenaut_problem *without) {
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        uint32_t host = b;
        while (host != gone && arenaut_problem_inside(p, host) != ARENAUT_NONE) {
            host = arenaut_problem_inside(p, host);
        }
        without->size[b] = host == gone ? 0 : p->size[b];
        if (p->inside) without->inside[b] = host == gone ? ARENAUT_NONE : p->inside[b];
    }
}

arenaut_status arn_report_bounds_without(const arenaut_problem *problem, const uint32_t *buffers,
                                         uint32_t n, const arenaut_allocator *allocator,
                                         arn_bound_without *found, arenaut_error *err) {
    const arenaut_problem *p = problem;
    arenaut_problem without = *p;
    if (n == 0) return ARENAUT_OK;
    without.size = arn_allocate(allocator, p->n_buffers, sizeof *without.size);
    without.inside =
        p->inside ? arn_allocate(allocator, p->n_buffers, sizeof *without.inside) : NULL;
    const bool ready = without.size && (without.inside || !p->inside);
    arenaut_status st = ready ? ARENAUT_OK : arn_no_memory(err);
    for (uint32_t i = 0; i < n && st == ARENAUT_OK; i++) {
        take_away(p, buffers[i], &without);
        st = arenaut_lower_bound(&without, allocator, &found[i].bytes, &found[i].step, err);
    }
    ARN_RELEASE(allocator, without.size, without.inside);
    return st;
}

/* Areas shared by two buffers: the addresses that both cover, for as long as both live. Only pairs
 * that the problem lets overlap are looked at, so this costs as much as there are of these. */

typedef struct shared {
    const arenaut_result *result;
    uint32_t pool;
    void *context;
    void (*put)(void *context, arn_shared_area area);
} shared;

static void put_pair(const shared *s, uint32_t a, uint32_t b) {
    const arenaut_problem *p = s->result->problem;
    const arenaut_plan *plan = s->result->plan;
    if (plan->pool[a] != s->pool || plan->pool[b] != s->pool) return;
    const uint64_t end_a = plan->offset[a] + p->size[a], end_b = plan->offset[b] + p->size[b];
    arn_shared_area area = {
        .a = a,
        .b = b,
        .low = plan->offset[a] > plan->offset[b] ? plan->offset[a] : plan->offset[b],
        .high = end_a < end_b ? end_a : end_b};
    if (area.low >= area.high) return;
    uint32_t i = p->lifetime_start[a], j = p->lifetime_start[b];
    while (i < p->lifetime_start[a + 1] && j < p->lifetime_start[b + 1]) {
        const arenaut_interval x = p->lifetime[i], y = p->lifetime[j];
        area.life.first = x.first > y.first ? x.first : y.first;
        area.life.end = x.end < y.end ? x.end : y.end;
        if (area.life.first < area.life.end) s->put(s->context, area);
        if (x.end < y.end) i++;
        else j++;
    }
}

void arn_report_shared_areas(const arenaut_result *result, uint32_t pool, void *context,
                             void (*put)(void *context, arn_shared_area area)) {
    const arenaut_problem *p = result->problem;
    const shared s = {result, pool, context, put};
    for (uint32_t b = 0; p->same_base && b < p->n_buffers; b++) {
        if (p->same_base[b] != ARENAUT_NONE) put_pair(&s, b, p->same_base[b]);
    }
    for (uint32_t i = 0; i < p->n_separations; i++) {
        put_pair(&s, p->separation[i].upper, p->separation[i].lower);
    }
}

const char *arn_report_planned_name(const arenaut_result *result) {
    return result->program && result->target && result->target->layout ? "head" : "arena";
}

const arenaut_split_front *arn_report_ways(const arenaut_result *result) {
    const arenaut_ways_to_split *ways = result->ways;
    return ways && result->rewrite && ways->front->n_choices > 1 ? ways->front : NULL;
}

uint64_t arn_report_way_needs(const arenaut_result *result, const arenaut_split_choice *way) {
    return way->head + result->ways->kept + (uint64_t)way->kept - way->shared;
}

void arn_report_put_stages(arn_writer *out, const arenaut_split_choice *way) {
    if (way->n_stages == 0) arn_puts(out, "as it is");
    for (uint32_t i = 0; i < way->n_stages; i++) {
        const arenaut_split_stage *stage = &way->stages[i];
        arn_putf(out, "%s%" PRIu32 "-%" PRIu32 "/%" PRIu32 ":%s", i ? "," : "", stage->first_op,
                 stage->first_op + stage->n_ops - 1, stage->pieces,
                 arenaut_split_mode_name(stage->mode));
    }
}
