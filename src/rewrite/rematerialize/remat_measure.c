/* Exact peak of a schedule with repetitions: instances of storages by their last reads, found from
 * the back. O(arguments of all runs). */
#include "rewrite/rematerialize/remat_measure.h"

#include <string.h>

#include "core/checked.h"

/* Marks, per run and argument, the last reads of instances, from the back. */
static bool *mark_last_reads(const arn_remat_graph *g, arn_region *region, const uint32_t *runs,
                             uint32_t n, size_t *n_marks) {
    const uint32_t n_storages = g->problem->n_storages;
    bool *read = arn_region_allocate(region, n_storages, sizeof *read);
    *n_marks = 0;
    for (uint32_t i = 0; i < n; i++) {
        *n_marks += g->reads.begin[runs[i] + 1] - g->reads.begin[runs[i]];
        *n_marks += g->makes.begin[runs[i] + 1] - g->makes.begin[runs[i]];
    }
    bool *marks = arn_region_allocate(region, *n_marks, sizeof *marks);
    if (!read || !marks) return NULL;
    memset(read, 0, n_storages * sizeof *read);
    size_t at = *n_marks;
    for (uint32_t i = n; i-- > 0;) {
        for (uint32_t k = g->makes.begin[runs[i] + 1]; k-- > g->makes.begin[runs[i]];) {
            marks[--at] = !read[g->makes.ids[k]];
            read[g->makes.ids[k]] = false;
        }
        for (uint32_t k = g->reads.begin[runs[i] + 1]; k-- > g->reads.begin[runs[i]];) {
            marks[--at] = !read[g->reads.ids[k]];
            read[g->reads.ids[k]] = true;
        }
    }
    return marks;
}

static uint64_t right_over(const arn_remat_graph *g, uint32_t op, uint32_t s) {
    uint64_t most = 0;
    for (uint32_t i = g->rights.begin[op]; i < g->rights.begin[op + 1]; i++) {
        const arenaut_order_right *r = &g->problem->rights[g->rights.ids[i]];
        if (r->over == s) most = arn_max_u64(most, r->bytes);
    }
    return most;
}

bool arn_remat_measure(const arn_remat_graph *g, arn_region *region, const uint32_t *runs,
                       uint32_t n, uint64_t *peak) {
    const arenaut_remat_problem *p = g->problem;
    size_t n_marks, at = 0;
    const bool *last = mark_last_reads(g, region, runs, n, &n_marks);
    bool *begun = arn_region_allocate(region, p->n_storages, sizeof *begun);
    uint32_t *held = arn_region_allocate(region, p->n_storages, sizeof *held);
    if (!last || !begun || !held) return false;
    uint64_t now = 0;
    for (uint32_t s = 0; s < p->n_storages; s++) {
        const bool read = g->readers.begin[s] < g->readers.begin[s + 1];
        const bool after = arn_remat_held(p, s, ARENAUT_LIVE_OUT);
        begun[s] = arn_remat_held(p, s, ARENAUT_LIVE_IN) && (read || after);
        held[s] = after; /* instances that outlast their last reads */
        if (begun[s]) now += p->size[s];
    }
    *peak = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t op = runs[i], n_reads = g->reads.begin[op + 1] - g->reads.begin[op];
        const uint32_t *reads = g->reads.ids + g->reads.begin[op];
        const uint32_t *makes = g->makes.ids + g->makes.begin[op];
        const uint32_t n_makes = g->makes.begin[op + 1] - g->makes.begin[op];
        uint64_t ends = 0, right = 0;
        for (uint32_t k = 0; k < n_reads; k++) {
            if (!begun[reads[k]]) now += p->size[reads[k]];
            begun[reads[k]] = true;
            if (!last[at + k] || held[reads[k]] == 1) continue;
            ends += p->size[reads[k]];
            right = arn_max_u64(right, right_over(g, op, reads[k]));
        }
        for (uint32_t k = 0; k < n_makes; k++) {
            now += p->size[makes[k]];
            held[makes[k]] += begun[makes[k]] && held[makes[k]] == 1; /* a copy is not held */
            begun[makes[k]] = true;
            if (last[at + n_reads + k] && held[makes[k]] != 1) ends += p->size[makes[k]];
        }
        *peak = arn_max_u64(*peak, now + arn_remat_scratch(p, op) - right);
        now -= ends;
        at += n_reads + n_makes;
    }
    return true;
}
