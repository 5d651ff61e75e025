/* Simple reasons why there is no plan. */
#include "core/checked.h"
#include "core/fail.h"
#include "core/memory.h"
#include "core/sort.h"
#include "planners/bounds.h"
#include "planners/hosts.h"
#include "planners/load.h"

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

/* The most bytes that a buffer of this alignment finds in one piece in the empty pool. */
static uint64_t largest_gap(const arenaut_problem *p, uint32_t pool, uint64_t align) {
    const uint64_t capacity = p->pool[pool].capacity;
    uint64_t low = 0, best = 0;
    for (uint32_t i = 0; i <= p->n_reserved; i++) {
        const arenaut_reserved *r = i < p->n_reserved ? &p->reserved[i] : NULL;
        if (r && r->pool != pool) continue;
        const uint64_t high = r ? arn_min_u64(r->first, capacity) : capacity;
        const uint64_t start = arn_aligned(low, align);
        if (start < high) best = arn_max_u64(best, high - start);
        if (r) low = r->end;
    }
    return best;
}

static uint64_t shared_bytes(uint64_t a, uint64_t a_end, uint64_t b, uint64_t b_end) {
    const uint64_t first = arn_max_u64(a, b), end = arn_min_u64(a_end, b_end);
    return first < end ? end - first : 0;
}

/* How far a fixed buffer lies past its pool's capacity, in reserved bytes, or off its
 * alignment. */
static uint64_t fixed_bytes_over(const arenaut_problem *p, uint32_t b, uint32_t pool) {
    const uint64_t at = arenaut_problem_fixed_offset(p, b), end = at + p->size[b];
    uint64_t over = at & (arenaut_problem_align(p, b) - 1);
    if (end > p->pool[pool].capacity) over = arn_max_u64(over, end - p->pool[pool].capacity);
    for (uint32_t i = 0; i < p->n_reserved; i++) {
        const arenaut_reserved *r = &p->reserved[i];
        if (r->pool == pool) over = arn_max_u64(over, shared_bytes(at, end, r->first, r->end));
    }
    return over;
}

static uint64_t bytes_over_in(const arenaut_problem *p, uint32_t b, uint32_t pool) {
    if (arenaut_problem_fixed_offset(p, b) != ARENAUT_UNPLACED) return fixed_bytes_over(p, b, pool);
    const uint64_t gap = largest_gap(p, pool, arenaut_problem_align(p, b));
    return p->size[b] > gap ? p->size[b] - gap : 0;
}

/* A buffer that fits none of its pools even when they are empty. */
static arenaut_status find_misfit(search *s) {
    const arenaut_problem *p = s->problem;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (!arenaut_problem_needs_memory(p, b)) continue;
        const uint64_t pools = arenaut_problem_pools(p, b);
        uint64_t least = UINT64_MAX;
        for (uint32_t k = 0; k < p->n_pools && least > 0; k++) {
            if (pools >> k & 1) least = arn_min_u64(least, bytes_over_in(p, b, k));
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

/* ---- fixed buffers that overlap ---- */

/* A buffer whose place is given, by its own offset or by its host's. */
typedef struct pinned {
    uint32_t buffer, pool;
    uint64_t first, end;
} pinned;

typedef struct pinned_list {
    const arenaut_problem *problem;
    const arn_hosts *hosts;
    pinned *all;
    uint32_t *order; /* by pool, then address */
    uint32_t *at;    /* per buffer: its entry, ARENAUT_NONE if it may move */
    uint32_t n;
} pinned_list;

static bool pinned_before(const void *context, uint32_t a, uint32_t b) {
    const pinned *x = (const pinned *)context + a, *y = (const pinned *)context + b;
    return x->pool != y->pool ? x->pool < y->pool : x->first < y->first;
}

static bool collect_pinned(search *s, arn_region *region, const arn_hosts *hosts,
                           pinned_list *list) {
    const arenaut_problem *p = s->problem;
    const pinned_list empty = {p, hosts, NULL, NULL, NULL, 0};
    *list = empty;
    list->all = arn_region_allocate(region, p->n_buffers, sizeof *list->all);
    list->order = arn_region_allocate(region, (size_t)p->n_buffers * 2, sizeof *list->order);
    list->at = arn_region_allocate(region, p->n_buffers, sizeof *list->at);
    if (!list->all || !list->order || !list->at) return false;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        const uint32_t root = hosts->root ? hosts->root[b] : b;
        const uint64_t fixed = arenaut_problem_fixed_offset(p, root);
        list->at[b] = ARENAUT_NONE;
        if (fixed == ARENAUT_UNPLACED || !arenaut_problem_needs_memory(p, b)) continue;
        pinned *entry = &list->all[list->n];
        entry->buffer = b;
        entry->pool = 0;
        while (!(arenaut_problem_pools(p, b) >> entry->pool & 1)) entry->pool++;
        entry->first = fixed + (hosts->delta ? hosts->delta[b] : 0);
        entry->end = entry->first + p->size[b];
        list->order[list->n] = list->at[b] = list->n;
        list->n++;
    }
    arn_sort_ids(list->order, list->n, pinned_before, list->all, list->order + p->n_buffers);
    return true;
}

/* The first step at which both are alive; false if there is none. */
static bool alive_together(const arenaut_problem *p, uint32_t a, uint32_t b, int64_t *step) {
    const arenaut_interval *x = arenaut_problem_lifetimes(p, a);
    const arenaut_interval *y = arenaut_problem_lifetimes(p, b);
    const uint32_t nx = arenaut_problem_lifetime_count(p, a);
    const uint32_t ny = arenaut_problem_lifetime_count(p, b);
    for (uint32_t i = 0, k = 0; i < nx && k < ny;) {
        *step = x[i].first > y[k].first ? x[i].first : y[k].first;
        if (*step < x[i].end && *step < y[k].end) return true;
        if (x[i].end < y[k].end)
            i++;
        else
            k++;
    }
    return false;
}

static bool may_share(const pinned_list *list, const pinned *x, const pinned *y) {
    const arenaut_problem *p = list->problem;
    if (arn_hosts_kin(list->hosts, x->buffer, y->buffer)) return true;
    const bool related = arenaut_problem_same_base(p, x->buffer) == y->buffer ||
                         arenaut_problem_same_base(p, y->buffer) == x->buffer;
    return related && x->first == y->first;
}

/* Reports two pinned buffers if they share bytes that they must not. */
static arenaut_status judge_pair(search *s, const pinned_list *list, uint32_t i, uint32_t k,
                                 bool by_edge) {
    const pinned *x = &list->all[i], *y = &list->all[k];
    const uint64_t shared = shared_bytes(x->first, x->end, y->first, y->end);
    int64_t step = arenaut_problem_lifetimes(s->problem, x->buffer)->first;
    if (x->pool != y->pool || shared == 0 || may_share(list, x, y)) return ARENAUT_OK;
    if (!by_edge && !alive_together(s->problem, x->buffer, y->buffer, &step)) return ARENAUT_OK;
    const uint32_t both[2] = {x->buffer, y->buffer};
    return report(s, step, x->pool, both, 2, shared);
}

static arenaut_status find_collision(search *s, const pinned_list *list) {
    const arenaut_problem *p = s->problem;
    arenaut_status st = ARENAUT_OK;
    for (uint32_t i = 0; i < list->n; i++) {
        const pinned *x = &list->all[list->order[i]];
        for (uint32_t k = i + 1; k < list->n && st == ARENAUT_OK && !*s->found; k++) {
            const pinned *y = &list->all[list->order[k]];
            if (y->pool != x->pool || y->first >= x->end) break;
            st = judge_pair(s, list, list->order[i], list->order[k], false);
        }
    }
    for (uint32_t i = 0; i < p->n_conflicts && st == ARENAUT_OK && !*s->found; i++) {
        const uint32_t a = list->at[p->conflict[i].a], b = list->at[p->conflict[i].b];
        if (a != ARENAUT_NONE && b != ARENAUT_NONE) st = judge_pair(s, list, a, b, true);
    }
    return st;
}

/* Two slices of one host that conflict and share bytes: no place for the host helps. Such a
 * pair is no witness by itself, so the list of buffers stays empty. */
static bool slices_collide(const arenaut_problem *p, const arn_hosts *hosts, uint32_t a,
                           uint32_t b) {
    int64_t step;
    const uint64_t shared = shared_bytes(hosts->delta[a], hosts->delta[a] + p->size[a],
                                         hosts->delta[b], hosts->delta[b] + p->size[b]);
    if (shared == 0 || arn_hosts_kin(hosts, a, b) || !alive_together(p, a, b, &step)) return false;
    const bool related =
        arenaut_problem_same_base(p, a) == b || arenaut_problem_same_base(p, b) == a;
    return !related || hosts->delta[a] != hosts->delta[b];
}

typedef struct slice_order {
    const arn_hosts *hosts;
} slice_order;

static bool slice_before(const void *context, uint32_t a, uint32_t b) {
    const arn_hosts *hosts = ((const slice_order *)context)->hosts;
    if (hosts->root[a] != hosts->root[b]) return hosts->root[a] < hosts->root[b];
    return hosts->delta[a] < hosts->delta[b];
}

static arenaut_status find_torn_host(search *s, arn_region *region, const arn_hosts *hosts) {
    const arenaut_problem *p = s->problem;
    if (!hosts->root) return ARENAUT_OK;
    uint32_t *order = arn_region_allocate(region, (size_t)p->n_buffers * 2, sizeof *order);
    if (!order) return arn_no_memory(s->err);
    const slice_order context = {hosts};
    uint32_t n = 0;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (hosts->host[b] != ARENAUT_NONE && arenaut_problem_needs_memory(p, b)) order[n++] = b;
    }
    arn_sort_ids(order, n, slice_before, &context, order + p->n_buffers);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t a = order[i];
        for (uint32_t k = i + 1; k < n && hosts->root[order[k]] == hosts->root[a] &&
                                 hosts->delta[order[k]] < hosts->delta[a] + p->size[a];
             k++) {
            if (slices_collide(p, hosts, a, order[k])) *s->found = true;
        }
    }
    for (uint32_t i = 0; i < p->n_conflicts && !*s->found; i++) {
        const uint32_t a = p->conflict[i].a, b = p->conflict[i].b;
        const bool siblings = hosts->root[a] == hosts->root[b] && !arn_hosts_kin(hosts, a, b) &&
                              arenaut_problem_needs_memory(p, a) &&
                              arenaut_problem_needs_memory(p, b);
        const bool related =
            arenaut_problem_same_base(p, a) == b || arenaut_problem_same_base(p, b) == a;
        if (siblings && !(related && hosts->delta[a] == hosts->delta[b]) &&
            shared_bytes(hosts->delta[a], hosts->delta[a] + p->size[a], hosts->delta[b],
                         hosts->delta[b] + p->size[b])) {
            *s->found = true;
        }
    }
    return ARENAUT_OK;
}

/* ---- more bytes alive than there are ---- */

static bool alive_at(const arenaut_problem *p, uint32_t b, int64_t step) {
    const arenaut_interval *life = arenaut_problem_lifetimes(p, b);
    for (uint32_t i = 0; i < arenaut_problem_lifetime_count(p, b); i++) {
        if (life[i].first <= step && step < life[i].end) return true;
    }
    return false;
}

/* The free bytes of the pools in `mask`; false if one of them has no limit. */
static bool capacity_of(const arenaut_problem *p, uint64_t mask, uint64_t *bytes) {
    *bytes = 0;
    for (uint32_t k = 0; k < p->n_pools; k++) {
        if (!(mask >> k & 1)) continue;
        const uint64_t capacity = p->pool[k].capacity;
        if (capacity > ARENAUT_SIZE_MAX) return false;
        uint64_t free_bytes = capacity;
        for (uint32_t i = 0; i < p->n_reserved; i++) {
            const arenaut_reserved *r = &p->reserved[i];
            if (r->pool == k) free_bytes -= shared_bytes(0, capacity, r->first, r->end);
        }
        if (!arn_add(*bytes, free_bytes, bytes)) return false;
    }
    return true;
}

/* Whether something that `b` lies in, directly or through others, is alive at the step: then the
 * bytes of `b` are counted there. */
static bool lies_in_the_living(const arenaut_problem *p, const arn_hosts *hosts, uint32_t b,
                               int64_t step) {
    uint32_t host = hosts->host ? hosts->host[b] : ARENAUT_NONE;
    while (host != ARENAUT_NONE && !alive_at(p, host, step)) host = hosts->host[host];
    return host != ARENAUT_NONE;
}

/* Lists the buffers of an overload, without slices whose host is listed, and sums up what
 * they need at the least: a same-base pair that is listed counts its larger half. */
static arenaut_status report_overload(search *s, const arn_hosts *hosts, uint64_t mask,
                                      int64_t step, uint64_t capacity) {
    const arenaut_problem *p = s->problem;
    uint32_t *listed = arn_allocate(s->allocator, p->n_buffers, sizeof *listed);
    if (!listed) return arn_no_memory(s->err);
    uint32_t n = 0, only = 0;
    uint64_t need = 0;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (!arenaut_problem_needs_memory(p, b) || (arenaut_problem_pools(p, b) & ~mask) ||
            !alive_at(p, b, step) || lies_in_the_living(p, hosts, b, step)) {
            continue;
        }
        const uint32_t base = arenaut_problem_same_base(p, b);
        const bool may_save = base != ARENAUT_NONE && arenaut_problem_needs_memory(p, base) &&
                              alive_at(p, base, step);
        need += p->size[b] - (may_save ? arn_min_u64(p->size[b], p->size[base]) : 0);
        listed[n++] = b;
    }
    while (!(mask >> only & 1)) only++;
    arenaut_status st = ARENAUT_OK;
    if (need > capacity) {
        st = report(s, step, mask >> only == 1 ? only : ARENAUT_NONE, listed, n, need - capacity);
    }
    arn_release(s->allocator, listed);
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
    uint64_t masks[MOST_MASKS], capacity;
    const uint32_t n = collect_masks(p, masks);
    bool limited = false;
    for (uint32_t i = 0; i < n; i++) limited = limited || capacity_of(p, masks[i], &capacity);
    if (!limited) return ARENAUT_OK;
    arn_load load;
    arenaut_status st = arn_load_init(&load, p, s->allocator, s->err);
    if (st != ARENAUT_OK) return st;
    for (uint32_t i = 0; i < n && st == ARENAUT_OK && !*s->found; i++) {
        if (!capacity_of(p, masks[i], &capacity)) continue;
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
    pinned_list list;
    st = arn_hosts_find(problem, &region, &hosts) ? ARENAUT_OK : arn_no_memory(err);
    if (st == ARENAUT_OK && problem->fixed_offset) {
        st = collect_pinned(&s, &region, &hosts, &list) ? find_collision(&s, &list)
                                                        : arn_no_memory(err);
    }
    if (st == ARENAUT_OK && !*found) st = find_torn_host(&s, &region, &hosts);
    if (st == ARENAUT_OK && !*found) st = find_overload(&s, &hosts);
    arn_region_free(&region);
    return st;
}
