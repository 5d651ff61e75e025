/* Simple reasons why there is no plan, found without a search.
 *
 * In this order: a buffer that fits none of its pools even while they are empty; buffers at given
 * places that overlap; slices of one host that overlap wherever the host lies; and more bytes alive
 * at one step than the pools have that they may use. O(n log n) for few sets of pools. What else
 * makes a problem infeasible is for the exact search to find. */
#include "core/checked.h"
#include "core/fail.h"
#include "core/memory.h"
#include "ir/lifetimes.h"
#include "planners/bounds/bounds.h"
#include "planners/bounds/collisions.h"
#include "planners/bounds/load.h"
#include "planners/bounds/rooms.h"

typedef struct search {
    const arenaut_problem *problem;
    const arenaut_allocator *allocator;
    arenaut_witness *witness;
    arenaut_error *err;
    bool *found;
} search;

static arenaut_status report(search *s, int64_t step, uint32_t pool, const uint32_t *buffers,
                             uint32_t n, uint64_t bytes_over) {
    uint32_t *copy = arn_allocate(s->allocator, n, sizeof *copy);
    if (!copy) return arn_no_memory(s->err);
    for (uint32_t i = 0; i < n; i++) copy[i] = buffers[i];
    const arenaut_witness witness = {step, pool, n, copy, bytes_over};
    *s->witness = witness;
    *s->found = true;
    return ARENAUT_OK;
}

static uint64_t shared_bytes(uint64_t a, uint64_t a_end, uint64_t b, uint64_t b_end) {
    const uint64_t first = arn_max_u64(a, b), end = arn_min_u64(a_end, b_end);
    return first < end ? end - first : 0;
}

/* The first reserved range of the pool that ends above `address`, or where it would be. */
static uint32_t first_reserved(const arenaut_problem *p, uint32_t pool, uint64_t address) {
    uint32_t low = 0, high = p->n_reserved;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const arenaut_reserved *r = &p->reserved[middle];
        if (r->pool < pool || (r->pool == pool && r->end <= address)) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* How far a fixed buffer lies past its pool's capacity, in reserved bytes, or off its
 * alignment. */
static uint64_t fixed_bytes_over(const arenaut_problem *p, uint32_t b, uint32_t pool) {
    const uint64_t at = arenaut_problem_fixed_offset(p, b), end = at + p->size[b];
    uint64_t over = at & (arenaut_problem_align(p, b) - 1);
    if (end > p->pool[pool].capacity) over = arn_max_u64(over, end - p->pool[pool].capacity);
    for (uint32_t i = first_reserved(p, pool, at); i < p->n_reserved; i++) {
        const arenaut_reserved *r = &p->reserved[i];
        if (r->pool != pool || r->first >= end) break;
        over = arn_max_u64(over, shared_bytes(at, end, r->first, r->end));
    }
    return over;
}

static uint64_t bytes_over_in(const arn_rooms *rooms, uint32_t b, uint32_t pool) {
    const arenaut_problem *p = rooms->problem;
    if (arenaut_problem_fixed_offset(p, b) != ARENAUT_UNPLACED) return fixed_bytes_over(p, b, pool);
    const uint64_t most = arn_largest_room(rooms, b, pool);
    return p->size[b] > most ? p->size[b] - most : 0;
}

/* A buffer that fits none of its pools even when they are empty. */
static arenaut_status find_misfit_in(search *s, const arn_rooms *rooms) {
    const arenaut_problem *p = s->problem;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (!arenaut_problem_needs_memory(p, b)) continue;
        const uint64_t pools = arenaut_problem_pools(p, b);
        uint64_t least = UINT64_MAX;
        for (uint32_t k = 0; k < p->n_pools && least > 0; k++) {
            if (pools >> k & 1) least = arn_min_u64(least, bytes_over_in(rooms, b, k));
        }
        if (least == 0) continue;
        uint32_t only = ARENAUT_NONE;
        for (uint32_t k = 0; k < p->n_pools; k++) {
            if (pools == UINT64_C(1) << k) only = k;
        }
        return report(s, arenaut_problem_lifetimes(p, b)->first, only, &b, 1, least);
    }
    return ARENAUT_OK;
}

static arenaut_status find_misfit(search *s) {
    arn_rooms rooms;
    if (!arn_rooms_make(&rooms, s->problem, s->allocator)) return arn_no_memory(s->err);
    const arenaut_status st = find_misfit_in(s, &rooms);
    arn_rooms_free(&rooms);
    return st;
}

/* ---- fixed buffers that overlap ---- */

static void add_place(const arenaut_problem *p, arn_given_place *places, uint32_t *n, uint32_t b,
                      uint32_t space, uint64_t first) {
    const arn_given_place place = {b, space, first, first + p->size[b]};
    places[(*n)++] = place;
}

/* Buffers whose place is given, by their own offset or by their host's. */
static arenaut_status find_pinned_collision(search *s, arn_region *region, const arn_hosts *hosts) {
    const arenaut_problem *p = s->problem;
    if (!p->fixed_offset) return ARENAUT_OK;
    arn_given_place *places = arn_region_allocate(region, p->n_buffers, sizeof *places);
    arn_collision found;
    uint32_t n = 0;
    if (!places) return arn_no_memory(s->err);
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        const uint32_t root = hosts->root ? hosts->root[b] : b;
        const uint64_t fixed = arenaut_problem_fixed_offset(p, root);
        if (fixed == ARENAUT_UNPLACED || !arenaut_problem_needs_memory(p, b)) continue;
        const uint64_t delta = hosts->delta ? hosts->delta[b] : 0;
        add_place(p, places, &n, b, arn_lowest_pool(p, root), fixed + delta);
    }
    if (!arn_find_collision(p, hosts, places, n, region, &found)) return arn_no_memory(s->err);
    if (!found.one) return ARENAUT_OK;
    const uint32_t both[2] = {found.one->buffer, found.other->buffer};
    return report(s, found.step, found.one->space, both, 2, found.bytes);
}

/* Two slices of one host that conflict and share bytes: no place for the host helps. Such a
 * pair is no witness by itself, so the list of buffers stays empty. */
static arenaut_status find_conflicting_slices(search *s, arn_region *region,
                                              const arn_hosts *hosts) {
    const arenaut_problem *p = s->problem;
    if (!hosts->root) return ARENAUT_OK;
    arn_given_place *places = arn_region_allocate(region, p->n_buffers, sizeof *places);
    arn_collision found;
    uint32_t n = 0;
    if (!places) return arn_no_memory(s->err);
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (hosts->host[b] == ARENAUT_NONE || !arenaut_problem_needs_memory(p, b)) continue;
        add_place(p, places, &n, b, hosts->root[b], hosts->delta[b]);
    }
    if (!arn_find_collision(p, hosts, places, n, region, &found)) return arn_no_memory(s->err);
    if (found.one) *s->found = true;
    return ARENAUT_OK;
}

/* ---- more bytes alive than there are ---- */

/* What each pool has that is not reserved; ARENAUT_UNLIMITED. */
static void find_free_bytes(const arenaut_problem *p, uint64_t *free_bytes) {
    for (uint32_t k = 0; k < p->n_pools; k++) {
        const uint64_t capacity = p->pool[k].capacity;
        free_bytes[k] = capacity > ARENAUT_SIZE_MAX ? ARENAUT_UNLIMITED : capacity;
    }
    for (uint32_t i = 0; i < p->n_reserved; i++) {
        const arenaut_reserved *r = &p->reserved[i];
        if (free_bytes[r->pool] == ARENAUT_UNLIMITED) continue;
        free_bytes[r->pool] -= shared_bytes(0, p->pool[r->pool].capacity, r->first, r->end);
    }
}

/* The free bytes of the pools in `mask`; false if one of them has no limit. */
static bool capacity_of(const arenaut_problem *p, const uint64_t *free_bytes, uint64_t mask,
                        uint64_t *bytes) {
    *bytes = 0;
    for (uint32_t k = 0; k < p->n_pools; k++) {
        if (!(mask >> k & 1)) continue;
        if (free_bytes[k] == ARENAUT_UNLIMITED || !arn_add(*bytes, free_bytes[k], bytes)) {
            return false;
        }
    }
    return true;
}

/* Per number in the families, how many that are alive at the step have it in their family, itself
 * included. NULL if there is no memory, or nothing lies in anything. */
static uint32_t *count_living(search *s, const arn_hosts *hosts, int64_t step) {
    const uint32_t n = s->problem->n_buffers;
    uint32_t *living =
        hosts->host ? arn_allocate(s->allocator, (size_t)n + 1, sizeof *living) : NULL;
    for (uint32_t i = 0; living && i <= n; i++) living[i] = 0;
    for (uint32_t b = 0; living && b < n; b++) {
        if (!arenaut_problem_needs_memory(s->problem, b) || !arn_alive_at(s->problem, b, step))
            continue;
        living[hosts->number[b]]++;
        living[hosts->number[b] + hosts->family[b]]--; /* wraps around, and back */
    }
    for (uint32_t i = 0; living && i < n; i++) living[i + 1] += living[i];
    return living;
}

/* Lists the buffers of an overload, without slices whose host is listed, and sums up what
 * they need at the least: a same-base pair that is listed counts its larger half. */
static arenaut_status report_overload(search *s, const arn_hosts *hosts, uint64_t mask,
                                      int64_t step, uint64_t capacity) {
    const arenaut_problem *p = s->problem;
    uint32_t *listed = arn_allocate(s->allocator, p->n_buffers, sizeof *listed);
    uint32_t *living = count_living(s, hosts, step);
    if (!listed || (hosts->host && !living)) {
        arn_release(s->allocator, listed);
        arn_release(s->allocator, living);
        return arn_no_memory(s->err);
    }
    uint32_t n = 0;
    uint64_t need = 0;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (!arenaut_problem_needs_memory(p, b) || (arenaut_problem_pools(p, b) & ~mask) ||
            !arn_alive_at(p, b, step)) {
            continue;
        }
        /* The bytes of what lies in something that is alive are counted there. */
        if (living && living[hosts->number[b]] > 1) continue;
        const uint32_t base = arenaut_problem_same_base(p, b);
        const bool may_save = base != ARENAUT_NONE && arenaut_problem_needs_memory(p, base) &&
                              arn_alive_at(p, base, step);
        need += p->size[b] - (may_save ? arn_min_u64(p->size[b], p->size[base]) : 0);
        listed[n++] = b;
    }
    const uint32_t only = arn_lowest_bit(mask);
    arenaut_status st = ARENAUT_OK;
    if (need > capacity) {
        st = report(s, step, mask >> only == 1 ? only : ARENAUT_NONE, listed, n, need - capacity);
    }
    arn_release(s->allocator, listed);
    arn_release(s->allocator, living);
    return st;
}

enum { MOST_MASKS = 2 * ARENAUT_MAX_POOLS };

/* The sets of pools worth a look: all, each alone, and those that buffers name. */
static uint32_t collect_masks(const arenaut_problem *p, uint64_t *masks) {
    uint32_t n = 0;
    masks[n++] = p->n_pools >= 64 ? UINT64_MAX : (UINT64_C(1) << p->n_pools) - 1;
    for (uint32_t k = 0; k < p->n_pools && p->n_pools > 1; k++) masks[n++] = UINT64_C(1) << k;
    for (uint32_t b = 0; b < p->n_buffers && p->pools && n < MOST_MASKS; b++) {
        const uint64_t mask = arenaut_problem_pools(p, b);
        uint32_t i = 0;
        while (i < n && masks[i] != mask) i++;
        if (i == n) masks[n++] = mask;
    }
    return n;
}

static arenaut_status find_overload(search *s, const arn_hosts *hosts) {
    const arenaut_problem *p = s->problem;
    uint64_t masks[MOST_MASKS], free_bytes[ARENAUT_MAX_POOLS], capacity;
    const uint32_t n = collect_masks(p, masks);
    find_free_bytes(p, free_bytes);
    bool limited = false;
    for (uint32_t i = 0; i < n; i++)
        limited = limited || capacity_of(p, free_bytes, masks[i], &capacity);
    if (!limited) return ARENAUT_OK;
    arn_load load;
    arenaut_status st = arn_load_init(&load, p, s->allocator, s->err);
    if (st != ARENAUT_OK) return st;
    for (uint32_t i = 0; i < n && st == ARENAUT_OK && !*s->found; i++) {
        if (!capacity_of(p, free_bytes, masks[i], &capacity)) continue;
        const arn_load_peak peak = arn_load_highest(&load, masks[i], NULL);
        if (peak.bytes > capacity) st = report_overload(s, hosts, masks[i], peak.step, capacity);
    }
    arn_load_free(&load);
    return st;
}

arenaut_status arn_find_witness(const arenaut_problem *problem, const arenaut_allocator *allocator,
                                arenaut_witness *witness, bool *found, arenaut_error *err) {
    search s = {problem, allocator, witness, err, found};
    *found = false;
    arenaut_status st = find_misfit(&s);
    if (st != ARENAUT_OK || *found) return st;
    arn_region region;
    arn_region_init(&region, allocator);
    arn_hosts hosts;
    st = arn_hosts_find(problem, &region, &hosts) ? ARENAUT_OK : arn_no_memory(err);
    if (st == ARENAUT_OK) st = find_pinned_collision(&s, &region, &hosts);
    if (st == ARENAUT_OK && !*found) st = find_conflicting_slices(&s, &region, &hosts);
    /* What is alive together needs its sum only where nothing may overlap. */
    const bool summed = problem->n_separations == 0;
    if (st == ARENAUT_OK && !*found && summed) st = find_overload(&s, &hosts);
    arn_region_free(&region);
    return st;
}
