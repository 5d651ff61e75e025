/* The bound without a buffer: that buffer, and its slices, are made empty in a copy of the two
 * columns with sizes and lifetimes, and the bound is computed for the copy. O(n log n) for each. */
#include "report/bound_without.h"

#include <arenaut/planner.h>

#include "core/fail.h"
#include "core/memory.h"

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
    arn_release(allocator, without.size);
    arn_release(allocator, without.inside);
    return st;
}
