/* The bytes alive at each step, as a list of changes in the order of time: O(n log n) to make, O(n)
 * to walk.
 *
 * It is a lower bound of every plan, so it counts too little rather than too much: slices not
 * beside their hosts, and what a same-base pair may share only once. bounds.c makes arenas of it,
 * spill.c divides it among pools. */
#include "planners/bounds/load.h"

#include "core/checked.h"
#include "core/fail.h"
#include "core/memory.h"
#include "core/sort.h"
#include "ir/lifetimes.h"
#include "planners/bounds/hosts.h"

/* An upper limit of the events: each lifetime of a buffer starts and ends, each lifetime of
 * its host may cut one in two, and a saving starts and ends. */
static uint64_t count_events(const arenaut_problem *p, const arn_hosts *hosts) {
    uint64_t n = 0;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (!arenaut_problem_needs_memory(p, b)) continue;
        const uint32_t host = hosts->host ? hosts->host[b] : ARENAUT_NONE;
        n += 2 * (uint64_t)arenaut_problem_lifetime_count(p, b);
        if (host != ARENAUT_NONE) n += 2 * (uint64_t)arenaut_problem_lifetime_count(p, host);
        if (arenaut_problem_same_base(p, b) != ARENAUT_NONE) n += 2;
    }
    return n;
}

static void add_event(arn_load *load, int64_t first, int64_t end, uint64_t bytes, uint32_t buffer,
                      bool saving) {
    const arn_load_event rise = {first, bytes, buffer, saving, saving};
    const arn_load_event fall = {end, bytes, buffer, !saving, saving};
    load->event[load->n++] = rise;
    load->event[load->n++] = fall;
}

/* Adds what is left of a slice's lifetimes outside those of its host. */
static void add_slice(arn_load *load, uint32_t b, uint32_t host) {
    const arenaut_problem *p = load->problem;
    const arenaut_interval *life = arenaut_problem_lifetimes(p, b);
    const arenaut_interval *hides = arenaut_problem_lifetimes(p, host);
    const uint32_t n_hides = arenaut_problem_lifetime_count(p, host);
    for (uint32_t i = 0, h = 0; i < arenaut_problem_lifetime_count(p, b); i++) {
        int64_t first = life[i].first;
        h += arn_lives_before(hides + h, n_hides - h, first);
        for (uint32_t k = h; k < n_hides && hides[k].first < life[i].end; k++) {
            if (first < hides[k].first) {
                add_event(load, first, hides[k].first, p->size[b], b, false);
            }
            first = hides[k].end;
        }
        if (first < life[i].end) add_event(load, first, life[i].end, p->size[b], b, false);
    }
}

static void add_buffer(arn_load *load, const arn_hosts *hosts, uint32_t b) {
    const arenaut_problem *p = load->problem;
    const uint32_t host = hosts->host ? hosts->host[b] : ARENAUT_NONE;
    if (host != ARENAUT_NONE) {
        /* A slice of a slice may be hidden by either; leaving it out keeps the load low. */
        if (hosts->host[host] == ARENAUT_NONE) add_slice(load, b, host);
        return;
    }
    const arenaut_interval *life = arenaut_problem_lifetimes(p, b);
    for (uint32_t i = 0; i < arenaut_problem_lifetime_count(p, b); i++) {
        add_event(load, life[i].first, life[i].end, p->size[b], b, false);
    }
}

/* The step at which buffer and base are both alive; false if there is none. */
static bool shared_step(const arenaut_problem *p, uint32_t b, uint32_t base, int64_t *step) {
    const arenaut_interval *x = arenaut_problem_lifetimes(p, b);
    const arenaut_interval *y = arenaut_problem_lifetimes(p, base);
    const uint32_t nx = arenaut_problem_lifetime_count(p, b);
    const uint32_t ny = arenaut_problem_lifetime_count(p, base);
    for (uint32_t i = 0, k = 0; i < nx && k < ny;) {
        *step = x[i].first > y[k].first ? x[i].first : y[k].first;
        if (*step < x[i].end && *step < y[k].end) return true;
        if (x[i].end < y[k].end) i++;
        else k++;
    }
    return false;
}

/* Whether `b`, which is alive at `step`, has an event of its own there (see add_buffer). */
static bool is_counted(const arenaut_problem *p, const arn_hosts *hosts, uint32_t b, int64_t step) {
    const uint32_t host = hosts->host ? hosts->host[b] : ARENAUT_NONE;
    if (host == ARENAUT_NONE) return true;
    if (hosts->host[host] != ARENAUT_NONE) return false;
    return !arn_alive_at(p, host, step);
}

/* A buffer that may lie on its base at `step`, and what that saves. */
typedef struct heir {
    uint32_t buffer, base;
    int64_t step;
    uint64_t bytes;
} heir;

static bool heir_before(const void *context, uint32_t a, uint32_t b) {
    const heir *x = (const heir *)context + a, *y = (const heir *)context + b;
    if (x->base != y->base) return x->base < y->base;
    if (x->step != y->step) return x->step < y->step;
    return x->bytes > y->bytes;
}

/* Of several heirs at one step only one can lie on the base: they conflict with each other.
 * The largest saving keeps the load a lower bound. With several pools the largest heir may
 * be elsewhere, so there each saving is counted. */
static bool add_savings(arn_load *load, const arn_hosts *hosts, arn_region *region) {
    const arenaut_problem *p = load->problem;
    if (!p->same_base) return true;
    heir *heirs = arn_region_allocate(region, p->n_buffers, sizeof *heirs);
    uint32_t *order = arn_region_allocate(region, (size_t)p->n_buffers * 2, sizeof *order);
    if (!heirs || !order) return false;
    uint32_t n = 0;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        const uint32_t base = p->same_base[b];
        if (base == ARENAUT_NONE || !arenaut_problem_needs_memory(p, b) ||
            !arenaut_problem_needs_memory(p, base)) {
            continue;
        }
        heir *h = &heirs[n];
        h->buffer = b;
        h->base = base;
        h->bytes = arn_min_u64(p->size[b], p->size[base]);
        if (!shared_step(p, b, base, &h->step) || !is_counted(p, hosts, b, h->step) ||
            !is_counted(p, hosts, base, h->step)) {
            continue;
        }
        order[n] = n;
        n++;
    }
    arn_sort_ids(order, n, heir_before, heirs, order + p->n_buffers);
    for (uint32_t i = 0; i < n; i++) {
        const heir *h = &heirs[order[i]], *last = i ? &heirs[order[i - 1]] : NULL;
        const bool same = last && last->base == h->base && last->step == h->step;
        if (same && p->n_pools == 1) continue;
        add_event(load, h->step, h->step + 1, h->bytes, h->buffer, true);
    }
    return true;
}

/* `by_step` has room for twice as many. */
static bool order_events(arn_load *load, arn_region *region) {
    uint64_t *key = arn_region_allocate(region, load->n, sizeof *key);
    if (!key) return false;
    for (uint32_t i = 0; i < load->n; i++) {
        key[i] = arn_step_key(load->event[i].step);
        load->by_step[i] = i;
    }
    arn_sort_by_key(load->by_step, load->n, key, load->by_step + load->n);
    return true;
}

arenaut_status arn_load_init(arn_load *load, const arenaut_problem *p,
                             const arenaut_allocator *allocator, arenaut_error *err) {
    arn_region region;
    arn_region_init(&region, allocator);
    const arn_load empty = {.problem = p, .allocator = allocator};
    *load = empty;
    bool done = false;
    arn_hosts hosts;
    if (!arn_hosts_find(p, &region, &hosts)) goto out;
    const uint64_t most = count_events(p, &hosts);
    if (most > UINT32_MAX / 2) goto out;
    load->event = arn_allocate(allocator, (size_t)most, sizeof *load->event);
    load->by_step = arn_allocate(allocator, (size_t)most * 2, sizeof *load->by_step);
    if (!load->event || !load->by_step) goto out;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (arenaut_problem_needs_memory(p, b)) add_buffer(load, &hosts, b);
    }
    done = add_savings(load, &hosts, &region) && order_events(load, &region);
out:
    arn_region_free(&region);
    if (done) return ARENAUT_OK;
    arn_load_free(load);
    return arn_no_memory(err);
}

void arn_load_free(arn_load *load) {
    arn_release(load->allocator, load->event);
    arn_release(load->allocator, load->by_step);
    load->event = NULL;
    load->by_step = NULL;
}

/* ---- the peak ---- */

/* The buffers that may only be in some pools. */
typedef struct confined {
    const arenaut_problem *problem;
    uint64_t mask;
    const uint64_t *allowed; /* or NULL */
} confined;

static bool counts(const confined *c, uint32_t b) {
    const uint64_t pools = c->allowed ? c->allowed[b] : arenaut_problem_pools(c->problem, b);
    return !(pools & ~c->mask);
}

/* Both halves of a saving must count. */
static bool event_counts(const confined *c, const arn_load_event *e) {
    return counts(c, e->buffer) && (!e->saving || counts(c, c->problem->same_base[e->buffer]));
}

/* A power of two that divides all their offsets: the least alignment, unless one is pinned
 * elsewhere. */
static uint64_t find_grain(const confined *c) {
    const arenaut_problem *p = c->problem;
    if (p->n_reserved) return 1; /* a reserved range may leave a part of a cell free */
    uint64_t grain = 0;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (!arenaut_problem_needs_memory(p, b) || !counts(c, b)) continue;
        const uint64_t fixed = arenaut_problem_fixed_offset(p, b);
        grain |= arenaut_problem_align(p, b);
        if (fixed != ARENAUT_UNPLACED) grain |= fixed;
    }
    return grain & (~grain + 1) ? grain & (~grain + 1) : 1;
}

static uint64_t find_waste(const confined *c, uint64_t grain, int64_t step) {
    const arenaut_problem *p = c->problem;
    uint64_t waste = 0;
    for (uint32_t b = 0; b < p->n_buffers && grain > 1; b++) {
        const uint64_t rest = arn_aligned(p->size[b], grain) - p->size[b];
        if (rest > waste && counts(c, b) && arn_alive_at(p, b, step)) waste = rest;
    }
    return waste;
}

arn_load_peak arn_load_highest(const arn_load *load, uint64_t mask, const uint64_t *allowed) {
    const confined c = {load->problem, mask, allowed};
    const uint64_t grain = find_grain(&c);
    arn_load_peak peak = {0};
    uint64_t bytes = 0, cells = 0; /* wrap around within a step, never between two */
    for (uint32_t i = 0; i < load->n;) {
        const int64_t step = load->event[load->by_step[i]].step;
        for (; i < load->n && load->event[load->by_step[i]].step == step; i++) {
            const arn_load_event *e = &load->event[load->by_step[i]];
            if (!event_counts(&c, e)) continue;
            const uint64_t rounded = arn_aligned(e->bytes, grain);
            bytes = e->falls ? bytes - e->bytes : bytes + e->bytes;
            cells = e->falls ? cells - rounded : cells + rounded;
        }
        if (bytes > peak.bytes) {
            peak.bytes = bytes;
            peak.step = step;
        }
        if (cells > peak.cells) {
            peak.cells = cells;
            peak.cells_step = step;
        }
    }
    peak.waste = arn_min_u64(find_waste(&c, grain, peak.cells_step), peak.cells);
    return peak;
}
