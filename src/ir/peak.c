/* The peak: the step that needs the most memory, and the buffers alive there. Every lifetime adds
 * bytes at its first step and takes them away at its end, and bytes that a buffer shares with its
 * host, its base or an operand that it overlaps are taken away while both are alive; then the
 * changes are summed in order. O(n log n). */
#include <arenaut/result.h>

#include "core/checked.h"
#include "core/fail.h"
#include "core/memory.h"
#include "core/sort.h"
#include "ir/lifetimes.h"

/* From `step` on, so many bytes more are needed, or fewer. */
typedef struct change {
    int64_t step;
    uint64_t bytes;
    bool fewer;
} change;

typedef struct changes {
    const arenaut_problem *problem;
    const arenaut_allocator *allocator;
    change *change;
    uint32_t n, capacity;
} changes;

static bool add_change(changes *c, int64_t step, uint64_t bytes, bool fewer) {
    if (!arn_grow(c->allocator, (void **)&c->change, &c->capacity, (uint64_t)c->n + 1,
                  sizeof *c->change)) {
        return false;
    }
    c->change[c->n++] = (change){step, bytes, fewer};
    return true;
}

/* Takes `bytes` away for as long as both buffers are alive. */
static bool share(changes *c, uint32_t a, uint32_t b, uint64_t bytes) {
    const arenaut_problem *p = c->problem;
    const arenaut_interval *x = arenaut_problem_lifetimes(p, a);
    const arenaut_interval *y = arenaut_problem_lifetimes(p, b);
    const uint32_t nx = arenaut_problem_lifetime_count(p, a);
    const uint32_t ny = arenaut_problem_lifetime_count(p, b);
    for (uint32_t i = 0, k = 0; i < nx && k < ny;) {
        const int64_t first = x[i].first > y[k].first ? x[i].first : y[k].first;
        const int64_t end = x[i].end < y[k].end ? x[i].end : y[k].end;
        const bool added =
            first >= end || (add_change(c, first, bytes, true) && add_change(c, end, bytes, false));
        if (!added) return false;
        if (x[i].end < y[k].end) i++;
        else k++;
    }
    return true;
}

/* The bytes that two separated buffers share where they overlap as far as they may. */
static uint64_t overlap_of(const arenaut_problem *p, const arenaut_separation *pair) {
    const uint64_t upper = p->size[pair->upper], lower = p->size[pair->lower];
    if (pair->distance <= 0) return arn_min_u64(upper, lower);
    const uint64_t distance = (uint64_t)pair->distance;
    return distance >= lower ? 0 : arn_min_u64(upper, lower - distance);
}

/* Keeps in best[b] the pair with which buffer b shares most, the first of several. */
static void keep_better(const arenaut_problem *p, uint32_t *best, uint32_t b, uint32_t pair) {
    const bool better = best[b] == ARENAUT_NONE || overlap_of(p, &p->separation[pair]) >
                                                       overlap_of(p, &p->separation[best[b]]);
    if (better) best[b] = pair;
}

/* Overlapping buffers share bytes, too. Each result counts over one operand and each operand under
 * one result, the pairs that share most: several may not be possible at once. */
static bool share_overlaps(changes *c) {
    const arenaut_problem *p = c->problem;
    uint32_t *best = arn_allocate(c->allocator, p->n_buffers, 2 * sizeof *best);
    bool added = best != NULL;
    for (uint32_t b = 0; added && b < 2 * p->n_buffers; b++) best[b] = ARENAUT_NONE;
    for (uint32_t i = 0; added && i < p->n_separations; i++) {
        keep_better(p, best, p->separation[i].lower, i);
        keep_better(p, best + p->n_buffers, p->separation[i].upper, i);
    }
    for (uint32_t i = 0; added && i < p->n_separations; i++) {
        const arenaut_separation *pair = &p->separation[i];
        const bool counts = best[pair->lower] == i && best[p->n_buffers + pair->upper] == i &&
                            arenaut_problem_same_base(p, pair->lower) != pair->upper;
        if (counts) added = share(c, pair->lower, pair->upper, overlap_of(p, pair));
    }
    arn_release(c->allocator, best);
    return added;
}

static bool add_buffer(changes *c, uint32_t b) {
    const arenaut_problem *p = c->problem;
    const uint64_t size = p->size[b];
    const uint32_t host = arenaut_problem_inside(p, b), base = arenaut_problem_same_base(p, b);
    for (uint32_t i = p->lifetime_start[b]; i < p->lifetime_start[b + 1]; i++) {
        if (!add_change(c, p->lifetime[i].first, size, false)) return false;
        if (!add_change(c, p->lifetime[i].end, size, true)) return false;
    }
    if (host != ARENAUT_NONE) return share(c, b, host, size);
    return base == ARENAUT_NONE || share(c, b, base, arn_min_u64(size, p->size[base]));
}

/* Finds the first step with the highest need, by walking the changes in order. The need is known
 * once all changes of a step are made; until then it may wrap. */
static void find_step(const changes *c, const uint32_t *order, arenaut_peak *peak,
                      uint64_t *needed) {
    uint64_t now = 0;
    peak->step = c->n ? c->change[order[0]].step : 0;
    *needed = 0;
    for (uint32_t i = 0; i < c->n; i++) {
        const change *made = &c->change[order[i]];
        now = made->fewer ? now - made->bytes : now + made->bytes;
        const bool last = i + 1 == c->n || c->change[order[i + 1]].step != made->step;
        if (last && now > *needed) {
            *needed = now;
            peak->step = made->step;
        }
    }
}

static bool larger(const void *context, uint32_t a, uint32_t b) {
    const arenaut_problem *problem = context;
    return problem->size[a] > problem->size[b];
}

/* Lists the buffers alive at the peak's step. `ids` has room for twice the buffers. */
static bool list_live(const changes *c, uint32_t *ids, arenaut_peak *peak) {
    const arenaut_problem *p = c->problem;
    peak->live_bytes = 0;
    peak->n_live = 0;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (p->size[b] == 0 || !arn_alive_at(p, b, peak->step)) continue;
        ids[peak->n_live++] = b;
        peak->live_bytes += p->size[b];
    }
    arn_sort_ids(ids, peak->n_live, larger, p, ids + peak->n_live);
    peak->live = arn_allocate(c->allocator, peak->n_live, sizeof *peak->live);
    for (uint32_t i = 0; peak->live && i < peak->n_live; i++) peak->live[i] = ids[i];
    return peak->live != NULL;
}

/* `ids` has room for twice the changes. */
static bool order_changes(const changes *c, uint32_t *ids) {
    uint64_t *key = arn_allocate(c->allocator, c->n, sizeof *key);
    if (!key) return false;
    for (uint32_t i = 0; i < c->n; i++) {
        ids[i] = i;
        key[i] = arn_step_key(c->change[i].step);
    }
    arn_sort_by_key(ids, c->n, key, ids + c->n);
    arn_release(c->allocator, key);
    return true;
}

static bool find_with(changes *c, arenaut_peak *peak) {
    const uint32_t n_buffers = c->problem->n_buffers;
    for (uint32_t b = 0; b < n_buffers; b++) {
        if (!add_buffer(c, b)) return false;
    }
    if (c->problem->n_separations && !share_overlaps(c)) return false;
    const size_t room = c->n > n_buffers ? c->n : n_buffers;
    uint32_t *ids = arn_allocate(c->allocator, room, 2 * sizeof *ids);
    if (!ids) return false;
    arenaut_peak found;
    uint64_t needed;
    bool listed = order_changes(c, ids);
    if (listed) {
        find_step(c, ids, &found, &needed);
        listed = list_live(c, ids, &found);
    }
    arn_release(c->allocator, ids);
    if (!listed) return false;
    found.shared_bytes = found.live_bytes - needed;
    *peak = found;
    return true;
}

arenaut_status arenaut_peak_find(const arenaut_problem *problem, const arenaut_allocator *allocator,
                                 arenaut_peak *peak, arenaut_error *err) {
    changes c = {.problem = problem, .allocator = allocator};
    const bool found = find_with(&c, peak);
    arn_release(allocator, c.change);
    return found ? ARENAUT_OK : arn_no_memory(err);
}

void arenaut_peak_free(arenaut_peak *peak, const arenaut_allocator *allocator) {
    arn_release(allocator, peak->live);
    peak->live = NULL;
    peak->n_live = 0;
}
