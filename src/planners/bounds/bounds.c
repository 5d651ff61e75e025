/* Lower bounds of the arenas: the largest load (load.h), raised if that is known to be too low; and
 * the features that a problem uses.
 *
 * Alignments leave room between buffers that are alive together (marks.h). A buffer that may lie in
 * one pool only cannot end lower there than reserved ranges and its alignment let it; two that an
 * edge keeps apart need the sum of their sizes. O(n × (pools + alignments) + n log n). Reasons why
 * there may be no plan at all are in witness.c. */
#include "planners/bounds/bounds.h"

#include <arenaut/planner.h>

#include "core/checked.h"
#include "core/fail.h"
#include "planners/bounds/load.h"
#include "planners/overlap/overlap.h"

/* ---- features ---- */

static uint32_t buffer_features(const arenaut_problem *p, uint32_t b) {
    uint32_t used = 0;
    if (arenaut_problem_align(p, b) > 1) used |= ARENAUT_FEATURE_ALIGNMENT;
    if (arenaut_problem_lifetime_count(p, b) > 1) used |= ARENAUT_FEATURE_GAPS;
    if (arenaut_problem_fixed_offset(p, b) != ARENAUT_UNPLACED) {
        used |= ARENAUT_FEATURE_FIXED_OFFSETS;
    }
    if (arenaut_problem_same_base(p, b) != ARENAUT_NONE) used |= ARENAUT_FEATURE_SAME_BASE;
    if (arenaut_problem_inside(p, b) != ARENAUT_NONE) used |= ARENAUT_FEATURE_INSIDE;
    if (arenaut_problem_hint(p, b) != ARENAUT_UNPLACED) used |= ARENAUT_FEATURE_HINTS;
    return used;
}

uint32_t arn_problem_features(const arenaut_problem *p) {
    uint32_t used = 0;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (arenaut_problem_needs_memory(p, b)) used |= buffer_features(p, b);
    }
    if (p->n_pools > 1) used |= ARENAUT_FEATURE_POOLS;
    for (uint32_t i = 0; i < p->n_pools; i++) {
        if (p->pool[i].capacity != ARENAUT_UNLIMITED) used |= ARENAUT_FEATURE_CAPACITY;
    }
    if (p->n_conflicts) used |= ARENAUT_FEATURE_CONFLICTS;
    if (p->n_separations) used |= ARENAUT_FEATURE_SEPARATIONS;
    if (p->n_reserved) used |= ARENAUT_FEATURE_RESERVED;
    if (p->traits & ARENAUT_PROBLEM_TOKENS) used |= ARENAUT_FEATURE_TOKENS;
    return used;
}

/* ---- bounds ---- */

uint64_t arn_end_of_free_bytes(const arenaut_problem *p, uint32_t pool, uint64_t bytes) {
    if (bytes == 0) return 0;
    uint64_t end = bytes;
    for (uint32_t i = 0; i < p->n_reserved; i++) {
        const arenaut_reserved *r = &p->reserved[i];
        if (r->pool == pool && r->first < end) end += r->end - r->first;
    }
    return end;
}

static uint64_t round_arena(const arenaut_problem *p, uint32_t pool, uint64_t bytes) {
    return arn_aligned(bytes, p->pool[pool].align);
}

uint64_t arn_round_total(const arenaut_problem *p, uint64_t bound) {
    uint64_t least = p->pool[0].align;
    for (uint32_t k = 1; k < p->n_pools; k++) least = arn_min_u64(least, p->pool[k].align);
    return arn_aligned(bound, least);
}

static uint64_t pools_of(const arenaut_problem *p, const uint64_t *allowed, uint32_t b) {
    return allowed ? allowed[b] : arenaut_problem_pools(p, b);
}

/* Buffers that have only one pool need at least so much of it, each by itself. */
static void raise_by_single_buffers(const arn_rooms *rooms, const uint64_t *allowed,
                                    uint64_t *per_pool) {
    const arenaut_problem *p = rooms->problem;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (!arenaut_problem_needs_memory(p, b)) continue;
        const uint64_t pools = pools_of(p, allowed, b);
        if (pools & (pools - 1)) continue;
        const uint32_t pool = arn_lowest_bit(pools);
        const uint64_t end = arn_lowest_end(rooms, b, pool);
        if (end != ARENAUT_UNPLACED) per_pool[pool] = arn_max_u64(per_pool[pool], end);
    }
}

/* Two buffers that an edge keeps apart count together, although never alive together. */
static void raise_by_edges(const arn_rooms *rooms, const uint64_t *allowed, uint64_t *per_pool) {
    const arenaut_problem *p = rooms->problem;
    for (uint32_t i = 0; i < p->n_conflicts; i++) {
        const uint32_t a = p->conflict[i].a, b = p->conflict[i].b;
        if (!arenaut_problem_needs_memory(p, a) || !arenaut_problem_needs_memory(p, b) ||
            arenaut_problem_same_base(p, a) == b || arenaut_problem_same_base(p, b) == a ||
            arenaut_problem_inside(p, a) != ARENAUT_NONE ||
            arenaut_problem_inside(p, b) != ARENAUT_NONE) {
            continue;
        }
        const uint64_t pools = pools_of(p, allowed, a);
        if (pools != pools_of(p, allowed, b) || (pools & (pools - 1))) continue;
        const uint32_t pool = arn_lowest_bit(pools);
        const uint64_t both = arn_rooms_end_of_free_bytes(rooms, pool, p->size[a] + p->size[b]);
        per_pool[pool] = arn_max_u64(per_pool[pool], both);
    }
}

static void add_arenas(const arenaut_problem *p, arn_bounds *bounds) {
    bounds->total = 0;
    for (uint32_t k = 0; k < p->n_pools; k++) {
        bounds->total += bounds->per_pool[k] = round_arena(p, k, bounds->per_pool[k]);
    }
}

/* If buffers may overlap partly, their sizes do not add up: see overlap_bound.c. */
static arenaut_status bound_overlaps(const arenaut_problem *p, const uint64_t *allowed,
                                     const arenaut_allocator *allocator, arn_bounds *bounds,
                                     arenaut_error *err) {
    arenaut_problem narrowed = *p;
    uint64_t highest = 0;
    arn_rooms rooms;
    arenaut_status st = ARENAUT_OK;
    if (allowed) narrowed.pools = (uint64_t *)allowed;
    if (!arn_rooms_make(&rooms, p, allocator)) return arn_no_memory(err);
    for (uint32_t k = 0; k < p->n_pools && st == ARENAUT_OK; k++) {
        int64_t first = 0;
        uint64_t bytes = 0;
        st = arn_overlap_bound(&narrowed, k, allocator, &bytes, &first, err);
        bounds->per_pool[k] = arn_rooms_end_of_free_bytes(&rooms, k, bytes);
        if (k == 0 || bytes > highest) bounds->step = first;
        highest = arn_max_u64(highest, bytes);
    }
    raise_by_single_buffers(&rooms, allowed, bounds->per_pool);
    arn_rooms_free(&rooms);
    add_arenas(p, bounds);
    return st;
}

arenaut_status arn_bounds_find(const arenaut_problem *p, const uint64_t *allowed, arn_poll *poll,
                               const arenaut_allocator *allocator, arn_bounds *bounds,
                               arenaut_error *err) {
    if (p->n_separations) return bound_overlaps(p, allowed, allocator, bounds, err);
    arn_load load;
    arn_rooms rooms;
    const arenaut_status st = arn_load_init(&load, p, allocator, err);
    if (st != ARENAUT_OK) return st;
    if (!arn_rooms_make(&rooms, p, allocator)) {
        arn_load_free(&load);
        return arn_no_memory(err);
    }
    const arn_load_peak all = arn_load_highest(&load, UINT64_MAX, allowed, poll);
    for (uint32_t k = 0; k < p->n_pools; k++) {
        const arn_load_peak peak =
            p->n_pools == 1 ? all : arn_load_highest(&load, UINT64_C(1) << k, allowed, poll);
        bounds->per_pool[k] =
            arn_rooms_end_of_free_bytes(&rooms, k, arn_max_u64(peak.bytes, peak.stacked));
    }
    arn_load_free(&load);
    raise_by_single_buffers(&rooms, allowed, bounds->per_pool);
    raise_by_edges(&rooms, allowed, bounds->per_pool);
    arn_rooms_free(&rooms);
    add_arenas(p, bounds);
    /* Each pool may have its own topmost buffer. */
    bounds->total = arn_max_u64(bounds->total, arn_round_total(p, all.bytes));
    bounds->step = all.step;
    return ARENAUT_OK;
}

arenaut_status arenaut_lower_bound(const arenaut_problem *problem,
                                   const arenaut_allocator *allocator, uint64_t *bytes,
                                   int64_t *step, arenaut_error *err) {
    arn_bounds bounds;
    arenaut_status st = arenaut_problem_validate(problem, err);
    if (st == ARENAUT_OK) st = arn_bounds_find(problem, NULL, NULL, allocator, &bounds, err);
    if (st != ARENAUT_OK) return st;
    *bytes = bounds.total;
    if (step) *step = bounds.step;
    return ARENAUT_OK;
}
