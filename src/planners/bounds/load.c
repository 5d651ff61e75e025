/* Load, the bytes alive at each step, and the free ranges of empty pools: the two quantities that
 * lower bounds are made of.
 *
 * The load is a list of changes in the order of time: O(n log n) to make, O(n) to sweep. It is a
 * lower bound of every plan, so it counts too little rather than too much: no slice beside its
 * host, and the bytes that a same-base pair may share only once. bounds.c makes arenas of it,
 * spill.c divides it among pools. */
#include "planners/bounds/load.h"

#include "core/checked.h"
#include "core/fail.h"
#include "core/memory.h"
#include "core/sort.h"
#include "ir/lifetimes.h"
#include "planners/bounds/hosts.h"
#include "planners/bounds/marks.h"

/* ---- load ---- */

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

/* Adds the parts of a slice's lifetimes outside those of its host. */
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

/* A buffer that may lie on its base at `step`, and the bytes saved. */
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
    ARN_RELEASE(load->allocator, load->event, load->by_step);
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

static bool is_one_pool(const confined *c) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < c->problem->n_pools; k++) n += c->mask >> k & 1;
    return n == 1;
}

/* The marks of a range of grains, and how many of them there are in the live buffers: now, at most,
 * and since which step. */
typedef struct stacks {
    uint32_t first, end; /* logarithms of the grains */
    uint64_t most_align; /* that counts: reserved ranges are left out as if they had no bytes, so
                            that buffers above them move down */
    bool changed;        /* since the last step ended */
    int64_t now[64], most[64], step[64];
} stacks;

/* Smaller grains than divide all sizes say no more than the sizes do, larger ones than all
 * alignments hardly more than none; and marks must stay marks when reserved ranges are left out. */
static void choose_grains(const confined *c, stacks *s) {
    const arenaut_problem *p = c->problem;
    uint64_t sizes = 0, aligns = 0, reserved = 0;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (!arenaut_problem_needs_memory(p, b) || !counts(c, b)) continue;
        sizes |= p->size[b];
        aligns |= arenaut_problem_align(p, b);
    }
    for (uint32_t i = 0; i < p->n_reserved; i++) {
        if (c->mask >> p->reserved[i].pool & 1)
            reserved |= p->reserved[i].first | p->reserved[i].end;
    }
    s->first = 1 + (sizes ? arn_lowest_bit(sizes) : 0);
    while (s->end < 64 && aligns >> s->end > 0) s->end++;
    if (reserved && s->end > 1 + arn_lowest_bit(reserved)) s->end = 1 + arn_lowest_bit(reserved);
    s->most_align = reserved ? reserved & (~reserved + 1) : UINT64_MAX;
}

/* At least so many marks are in a buffer; at most so many in the bytes that two buffers share. */
static int64_t marks_of_event(const arenaut_problem *p, const arn_load_event *e, uint64_t grain,
                              uint64_t most_align) {
    const uint64_t align = arn_min_u64(arenaut_problem_align(p, e->buffer), most_align);
    if (e->saving) return (int64_t)(arn_aligned(e->bytes, grain) / grain);
    return (int64_t)arn_least_marks(e->bytes, align, grain);
}

static void take_event(const confined *c, const arn_load_event *e, stacks *s) {
    s->changed = true;
    for (uint32_t k = s->first; k < s->end; k++) {
        const int64_t marks = marks_of_event(c->problem, e, UINT64_C(1) << k, s->most_align);
        s->now[k] += e->falls ? -marks : marks;
    }
}

static void end_step(stacks *s, int64_t step) {
    if (!s->changed) return;
    s->changed = false;
    for (uint32_t k = s->first; k < s->end; k++) {
        if (s->now[k] <= s->most[k]) continue;
        s->most[k] = s->now[k];
        s->step[k] = step;
    }
}

/* The least end of all that is alive at a step, whichever of them is the topmost. */
static uint64_t least_end(const confined *c, const stacks *s, uint32_t k) {
    const arenaut_problem *p = c->problem;
    const uint64_t grain = UINT64_C(1) << k;
    uint64_t least = ARENAUT_UNPLACED;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (!arenaut_problem_needs_memory(p, b) || !counts(c, b) ||
            !arn_alive_at(p, b, s->step[k])) {
            continue;
        }
        const uint64_t align = arn_min_u64(arenaut_problem_align(p, b), s->most_align);
        const int64_t below = s->most[k] - (int64_t)arn_least_marks(p->size[b], align, grain);
        least = arn_min_u64(
            least, arn_end_above_marks(below > 0 ? (uint64_t)below : 0, grain, p->size[b], align));
    }
    return least;
}

static void find_stacked(const confined *c, const stacks *s, arn_poll *poll, arn_load_peak *peak) {
    for (uint32_t k = s->first; k < s->end; k++) {
        if (s->most[k] == 0) continue;
        if (!arn_poll_after(poll, c->problem->n_buffers)) return;
        const uint64_t end = least_end(c, s, k);
        if (end <= peak->stacked) continue;
        peak->stacked = end;
        peak->stacked_step = s->step[k];
    }
}

arn_load_peak arn_load_highest(const arn_load *load, uint64_t mask, const uint64_t *allowed,
                               arn_poll *poll) {
    const confined c = {load->problem, mask, allowed};
    arn_load_peak peak = {0};
    stacks s = {0};
    uint64_t bytes = 0; /* wraps around within a step, never between two */
    if (is_one_pool(&c)) choose_grains(&c, &s);
    const uint32_t n_grains = s.end > s.first ? s.end - s.first : 0;
    for (uint32_t i = 0; i < load->n;) {
        const int64_t step = load->event[load->by_step[i]].step;
        const uint32_t first = i;
        uint64_t n_counted = 0;
        for (; i < load->n && load->event[load->by_step[i]].step == step; i++) {
            const arn_load_event *e = &load->event[load->by_step[i]];
            if (!event_counts(&c, e)) continue;
            bytes = e->falls ? bytes - e->bytes : bytes + e->bytes;
            take_event(&c, e, &s);
            n_counted++;
        }
        end_step(&s, step);
        if (bytes > peak.bytes) {
            peak.bytes = bytes;
            peak.step = step;
        }
        if (!arn_poll_after(poll, i - first + n_counted * n_grains)) return peak;
    }
    find_stacked(&c, &s, poll, &peak);
    return peak;
}

/* ---- free ranges ---- */

/* The stretches between reserved ranges, pool by pool, and the longest of them up to each, for each
 * alignment that occurs: the lowest place of a buffer in an empty pool is then found by bisection.
 */

static uint32_t log2_of(uint64_t align) {
    uint32_t log = 0;
    while (align >> log > 1) log++;
    return log;
}

static void list_rooms(arn_rooms *rooms) {
    const arenaut_problem *p = rooms->problem;
    uint32_t n = 0, r = 0; /* reserved ranges are in the order of pools and addresses */
    for (uint32_t k = 0; k < p->n_pools; k++) {
        arn_room now = {0, ARENAUT_UNLIMITED, 0};
        rooms->first[k] = n;
        for (; r < p->n_reserved && p->reserved[r].pool == k; r++) {
            const arenaut_reserved *range = &p->reserved[r];
            if (range->first > now.first) {
                now.end = range->first;
                rooms->room[n++] = now;
                now.free_before += now.end - now.first;
            }
            now.first = range->end;
        }
        now.end = ARENAUT_UNLIMITED;
        rooms->room[n++] = now;
        rooms->n[k] = n - rooms->first[k];
    }
}

static uint64_t bytes_from(uint64_t first, uint64_t end, uint64_t align) {
    const uint64_t start = arn_aligned(first, align);
    return start < end ? end - start : 0;
}

static void measure_rooms(arn_rooms *rooms, uint32_t log) {
    for (uint32_t k = 0; k < rooms->problem->n_pools; k++) {
        uint64_t most = 0;
        for (uint32_t i = rooms->first[k]; i < rooms->first[k] + rooms->n[k]; i++) {
            const arn_room *room = &rooms->room[i];
            most = arn_max_u64(most, bytes_from(room->first, room->end, UINT64_C(1) << log));
            rooms->longest[log][i] = most;
        }
    }
}

bool arn_rooms_make(arn_rooms *rooms, const arenaut_problem *problem,
                    const arenaut_allocator *allocator) {
    const arn_rooms none = {.problem = problem};
    const size_t most = (size_t)problem->n_reserved + problem->n_pools;
    uint64_t aligns = 0;
    *rooms = none;
    arn_region_init(&rooms->region, allocator);
    rooms->room = arn_region_allocate(&rooms->region, most, sizeof *rooms->room);
    bool made = rooms->room != NULL;
    if (made) list_rooms(rooms);
    for (uint32_t b = 0; b < problem->n_buffers; b++) aligns |= arenaut_problem_align(problem, b);
    for (uint32_t log = 0; log < 64 && made; log++) {
        if (!(aligns >> log & 1)) continue;
        rooms->longest[log] = arn_region_allocate(&rooms->region, most, sizeof(uint64_t));
        made = rooms->longest[log] != NULL;
        if (made) measure_rooms(rooms, log);
    }
    if (!made) arn_rooms_free(rooms);
    return made;
}

void arn_rooms_free(arn_rooms *rooms) { arn_region_free(&rooms->region); }

uint64_t arn_lowest_end(const arn_rooms *rooms, uint32_t b, uint32_t pool) {
    const arenaut_problem *p = rooms->problem;
    const uint64_t fixed = arenaut_problem_fixed_offset(p, b);
    const uint64_t align = arenaut_problem_align(p, b);
    uint64_t at = fixed;
    if (fixed == ARENAUT_UNPLACED) {
        const uint64_t *longest = rooms->longest[log2_of(align)];
        uint32_t low = rooms->first[pool], high = low + rooms->n[pool] - 1;
        while (low < high) {
            const uint32_t middle = low + (high - low) / 2;
            if (longest[middle] < p->size[b]) low = middle + 1;
            else high = middle;
        }
        at = arn_aligned(rooms->room[low].first, align);
    }
    const uint64_t end = at + p->size[b];
    return end <= p->pool[pool].capacity ? end : ARENAUT_UNPLACED;
}

/* The room of this pool that `address` lies in, or that is the last below it. */
static uint32_t room_below(const arn_rooms *rooms, uint32_t pool, uint64_t address) {
    uint32_t low = rooms->first[pool], high = low + rooms->n[pool];
    while (low + 1 < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (rooms->room[middle].first <= address) low = middle;
        else high = middle;
    }
    return low;
}

uint64_t arn_largest_room(const arn_rooms *rooms, uint32_t b, uint32_t pool) {
    const uint64_t capacity = rooms->problem->pool[pool].capacity;
    const uint64_t align = arenaut_problem_align(rooms->problem, b);
    const uint32_t last = room_below(rooms, pool, capacity);
    const uint64_t end = arn_min_u64(rooms->room[last].end, capacity);
    const uint64_t here = bytes_from(rooms->room[last].first, end, align);
    if (last == rooms->first[pool]) return here;
    return arn_max_u64(here, rooms->longest[log2_of(align)][last - 1]);
}

uint64_t arn_rooms_end_of_free_bytes(const arn_rooms *rooms, uint32_t pool, uint64_t bytes) {
    uint32_t low = rooms->first[pool], high = low + rooms->n[pool];
    if (bytes == 0) return 0;
    while (low + 1 < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (rooms->room[middle].free_before < bytes) low = middle;
        else high = middle;
    }
    return rooms->room[low].first + (bytes - rooms->room[low].free_before);
}
