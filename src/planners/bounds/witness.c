/* Witnesses of infeasibility: simple reasons why there is no plan, found without a search.
 *
 * In this order: a buffer that fits none of its pools even while they are empty; buffers at given
 * places that overlap; slices of one host that overlap wherever the host lies; and more bytes alive
 * at one step than the pools that they may use have. O(n log n) for few sets of pools. Anything
 * else that makes a problem infeasible is left to the exact search. */

#include "core/checked.h"
#include "core/fail.h"
#include "core/memory.h"
#include "core/sort.h"
#include "ir/lifetimes.h"
#include "ir/pair_relations.h"
#include "planners/bounds/bounds.h"
#include "planners/bounds/load.h"

/* ---- collisions ---- */

/* A sweep over time finds buffers at given places that overlap unlawfully.
 *
 * A buffer that comes alive is not compared with all live ones one by one, but by counts: of the
 * buffers whose bytes it shares, so many are nested with it and so many are partners of a same-base
 * pair in the same place. If there are more than these, one of them collides with it, or reaches
 * into it by a separation, and only then are they looked at one by one. Counting is by binary
 * indexed trees (Fenwick 1994), O(n log n) in all, and n more for each buffer that others reach
 * into. The checker has code of its own for this (check/plan/check_overlaps.c). */

/* Sums over [0, end) of numbers that change: a binary indexed tree. Values may wrap around below
 * zero on the way. */
typedef struct sums {
    uint32_t *node;
    uint32_t n;
} sums;

static bool sums_make(sums *s, uint32_t n, arn_region *region) {
    s->n = n;
    s->node = arn_region_allocate(region, n, sizeof *s->node);
    for (uint32_t i = 0; s->node && i < n; i++) s->node[i] = 0;
    return s->node != NULL;
}

static void sums_add(sums *s, uint32_t at, uint32_t what) {
    for (uint32_t i = at; i < s->n; i |= i + 1) s->node[i] += what;
}

static uint32_t sum_before(const sums *s, uint32_t end) {
    uint32_t sum = 0;
    for (uint32_t i = end; i > 0; i &= i - 1) sum += s->node[i - 1];
    return sum;
}

/* One lifetime of a place. */
typedef struct life {
    uint32_t place;
    int64_t first, end;
} life;

typedef struct walk {
    const arenaut_problem *problem;
    const arn_hosts *hosts;
    const arn_given_place *place;
    uint32_t n;
    uint32_t *at; /* per buffer: its place; ARENAUT_NONE */
    /* Per place: its rank among all by space and first byte, or by space and end; and how many
     * there begin before its end, and end at or before its first byte. */
    uint32_t *by_first, *first_rank, *end_rank, *begin_below, *end_below;
    sums firsts, ends; /* of those alive */
    sums nested;       /* likewise, by number in the families */
    sums hosting;      /* likewise: sums count the families that a number is in */
    uint32_t *heirs;   /* per buffer: those alive that share its place as its heirs */
    bool *alive;       /* per place */
    life *lives;
    uint32_t n_lives, *births, *deaths; /* by first step, and by end */
} walk;

/* ---- lawful sharing ---- */

static bool are_nested(const walk *w, uint32_t a, uint32_t b) {
    return arn_hosts_nested(w->hosts, a, b);
}

/* Whether `heir` and its base are listed, in one place, and nested in no other way. */
static bool shares_place(const walk *w, uint32_t heir) {
    const uint32_t base = arenaut_problem_same_base(w->problem, heir);
    if (base == ARENAUT_NONE || w->at[base] == ARENAUT_NONE || are_nested(w, heir, base))
        return false;
    const arn_given_place *x = &w->place[w->at[heir]], *y = &w->place[w->at[base]];
    return x->space == y->space && x->first == y->first;
}

/* Whether a separation lets `upper` lie so far above `lower`. */
static bool is_separated(const walk *w, const arn_given_place *upper,
                         const arn_given_place *lower) {
    const arenaut_separation *s = arn_find_separation(w->problem, upper->buffer, lower->buffer);
    return s && (int64_t)upper->first - (int64_t)lower->first >= s->distance;
}

static bool may_share(const walk *w, const arn_given_place *x, const arn_given_place *y) {
    const bool related = arenaut_problem_same_base(w->problem, x->buffer) == y->buffer ||
                         arenaut_problem_same_base(w->problem, y->buffer) == x->buffer;
    return (related && x->first == y->first) || are_nested(w, x->buffer, y->buffer) ||
           is_separated(w, x, y) || is_separated(w, y, x);
}

static uint64_t shared_bytes(const arn_given_place *x, const arn_given_place *y) {
    const uint64_t first = arn_max_u64(x->first, y->first), end = arn_min_u64(x->end, y->end);
    return x->space == y->space && first < end ? end - first : 0;
}

/* ---- getting ready ---- */

typedef struct position {
    uint32_t space;
    uint64_t byte;
} position;

static bool is_before(position a, position b) {
    return a.space != b.space ? a.space < b.space : a.byte < b.byte;
}

static position first_of(const walk *w, uint32_t i) {
    return (position){w->place[i].space, w->place[i].first};
}

static position end_of(const walk *w, uint32_t i) {
    return (position){w->place[i].space, w->place[i].end};
}

static bool first_before(const void *context, uint32_t a, uint32_t b) {
    return is_before(first_of(context, a), first_of(context, b));
}

static bool end_before(const void *context, uint32_t a, uint32_t b) {
    return is_before(end_of(context, a), end_of(context, b));
}

static bool rank_places(walk *w, arn_region *region) {
    const uint32_t n = w->n;
    uint32_t *by_end, *scratch;
    if (!ARN_REGION_ARRAYS(region, ARN_ARRAY(by_end, n), ARN_ARRAY(scratch, n),
                           ARN_ARRAY(w->by_first, n), ARN_ARRAY(w->first_rank, n),
                           ARN_ARRAY(w->end_rank, n), ARN_ARRAY(w->begin_below, n),
                           ARN_ARRAY(w->end_below, n))) {
        return false;
    }
    for (uint32_t i = 0; i < n; i++) w->by_first[i] = by_end[i] = i;
    arn_sort_ids(w->by_first, n, first_before, w, scratch);
    arn_sort_ids(by_end, n, end_before, w, scratch);
    for (uint32_t i = 0, below = 0; i < n; i++) {
        const uint32_t at = by_end[i];
        while (below < n && is_before(first_of(w, w->by_first[below]), end_of(w, at))) below++;
        w->begin_below[at] = below;
        w->end_rank[at] = i;
    }
    for (uint32_t i = 0, below = 0; i < n; i++) {
        const uint32_t at = w->by_first[i];
        while (below < n && !is_before(first_of(w, at), end_of(w, by_end[below]))) below++;
        w->end_below[at] = below;
        w->first_rank[at] = i;
    }
    return true;
}

static bool list_lives(walk *w, arn_region *region) {
    const arenaut_problem *p = w->problem;
    size_t room = 0;
    for (uint32_t i = 0; i < w->n; i++) {
        room += arenaut_problem_lifetime_count(p, w->place[i].buffer);
    }
    uint64_t *key;
    uint32_t *scratch;
    if (!ARN_REGION_ARRAYS(region, ARN_ARRAY(key, room), ARN_ARRAY(scratch, room),
                           ARN_ARRAY(w->lives, room), ARN_ARRAY(w->births, room),
                           ARN_ARRAY(w->deaths, room))) {
        return false;
    }
    for (uint32_t i = 0; i < w->n; i++) {
        const uint32_t b = w->place[i].buffer;
        for (uint32_t k = 0; k < arenaut_problem_lifetime_count(p, b); k++) {
            const arenaut_interval at = arenaut_problem_lifetimes(p, b)[k];
            w->births[w->n_lives] = w->deaths[w->n_lives] = w->n_lives;
            w->lives[w->n_lives++] = (life){i, at.first, at.end};
        }
    }
    for (uint32_t k = 0; k < w->n_lives; k++) key[k] = arn_step_key(w->lives[k].first);
    arn_sort_by_key(w->births, w->n_lives, key, scratch);
    for (uint32_t k = 0; k < w->n_lives; k++) key[k] = arn_step_key(w->lives[k].end);
    arn_sort_by_key(w->deaths, w->n_lives, key, scratch);
    return true;
}

static bool prepare(walk *w, arn_region *region) {
    const uint32_t n_buffers = w->problem->n_buffers;
    if (!ARN_REGION_ARRAYS(region, ARN_ARRAY(w->at, n_buffers), ARN_ARRAY(w->heirs, n_buffers),
                           ARN_ARRAY(w->alive, w->n))) {
        return false;
    }
    for (uint32_t b = 0; b < n_buffers; b++) {
        w->at[b] = ARENAUT_NONE;
        w->heirs[b] = 0;
    }
    for (uint32_t i = 0; i < w->n; i++) {
        w->at[w->place[i].buffer] = i;
        w->alive[i] = false;
    }
    const uint32_t numbers = w->hosts->host ? n_buffers : 0;
    return rank_places(w, region) && list_lives(w, region) && sums_make(&w->firsts, w->n, region) &&
           sums_make(&w->ends, w->n, region) && sums_make(&w->nested, numbers, region) &&
           sums_make(&w->hosting, numbers, region);
}

/* ---- the walk ---- */

/* A place comes alive, or ends with `sign` UINT32_MAX, which is -1. */
static void count_in(walk *w, uint32_t i, uint32_t sign) {
    const uint32_t b = w->place[i].buffer;
    w->alive[i] = !w->alive[i];
    sums_add(&w->firsts, w->first_rank[i], sign);
    sums_add(&w->ends, w->end_rank[i], sign);
    if (shares_place(w, b)) w->heirs[arenaut_problem_same_base(w->problem, b)] += sign;
    if (!w->hosts->host) return;
    const uint32_t number = w->hosts->number[b];
    sums_add(&w->nested, number, sign);
    sums_add(&w->hosting, number, sign);
    sums_add(&w->hosting, number + w->hosts->family[b], 0 - sign);
}

static uint32_t living_nested(const walk *w, uint32_t b) {
    if (!w->hosts->host) return 0;
    const uint32_t number = w->hosts->number[b], end = number + w->hosts->family[b];
    return sum_before(&w->nested, end) - sum_before(&w->nested, number) +
           sum_before(&w->hosting, number + 1);
}

static uint32_t living_partners(const walk *w, uint32_t b) {
    const uint32_t base = arenaut_problem_same_base(w->problem, b);
    if (!shares_place(w, b) || !w->alive[w->at[base]]) return w->heirs[b];
    /* If each is the other's base, that one has been counted. */
    return w->heirs[b] + (arenaut_problem_same_base(w->problem, base) != b);
}

/* Whether place `i`, which comes alive now, shares bytes with a live one that it may not. */
static bool collides(const walk *w, uint32_t i) {
    const uint32_t b = w->place[i].buffer;
    const uint32_t meets =
        sum_before(&w->firsts, w->begin_below[i]) - sum_before(&w->ends, w->end_below[i]);
    return meets > 0 && meets > living_nested(w, b) + living_partners(w, b);
}

static void set_collision(const walk *w, uint32_t i, uint32_t k, int64_t step, arn_collision *c) {
    const bool in_order = w->first_rank[i] < w->first_rank[k];
    c->one = &w->place[in_order ? i : k];
    c->other = &w->place[in_order ? k : i];
    c->step = step;
    c->bytes = shared_bytes(c->one, c->other);
}

/* The lowest one that place `i` collides with at this step. */
static void name_collision(const walk *w, uint32_t i, int64_t step, arn_collision *c) {
    for (uint32_t k = 0; k < w->n; k++) {
        const uint32_t other = w->by_first[k];
        const arn_given_place *x = &w->place[i], *y = &w->place[other];
        if (other == i || shared_bytes(x, y) == 0 || may_share(w, x, y)) continue;
        if (!w->alive[other]) continue;
        set_collision(w, i, other, step, c);
        return;
    }
}

static void walk_on(walk *w, arn_collision *c) {
    for (uint32_t born = 0, died = 0; born < w->n_lives && !c->one; born++) {
        const life *now = &w->lives[w->births[born]];
        for (; w->lives[w->deaths[died]].end <= now->first; died++) {
            count_in(w, w->lives[w->deaths[died]].place, UINT32_MAX);
        }
        if (collides(w, now->place)) name_collision(w, now->place, now->first, c);
        count_in(w, now->place, 1);
    }
}

static void look_at_edges(const walk *w, arn_collision *c) {
    const arenaut_problem *p = w->problem;
    for (uint32_t i = 0; i < p->n_conflicts && !c->one; i++) {
        const uint32_t a = w->at[p->conflict[i].a], b = w->at[p->conflict[i].b];
        if (a == ARENAUT_NONE || b == ARENAUT_NONE) continue;
        if (shared_bytes(&w->place[a], &w->place[b]) == 0) continue;
        if (may_share(w, &w->place[a], &w->place[b])) continue;
        set_collision(w, a, b, arenaut_problem_lifetimes(p, w->place[a].buffer)->first, c);
    }
}

bool arn_find_collision(const arenaut_problem *problem, const arn_hosts *hosts,
                        const arn_given_place *places, uint32_t n, arn_region *region,
                        arn_collision *collision) {
    const arn_collision none = {NULL, NULL, 0, 0};
    walk w = {.problem = problem, .hosts = hosts, .place = places, .n = n};
    *collision = none;
    if (n < 2) return true;
    if (!prepare(&w, region)) return false;
    walk_on(&w, collision);
    if (!collision->one) look_at_edges(&w, collision);
    return true;
}

/* ---- witnesses ---- */

typedef struct search {
    const arenaut_problem *problem;
    arn_poll *poll;
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

static uint64_t overlapping_bytes(uint64_t a, uint64_t a_end, uint64_t b, uint64_t b_end) {
    const uint64_t first = arn_max_u64(a, b), end = arn_min_u64(a_end, b_end);
    return first < end ? end - first : 0;
}

/* The index of the first reserved range of the pool that ends above `address`. */
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
        over = arn_max_u64(over, overlapping_bytes(at, end, r->first, r->end));
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

/* Buffers at given places, by their own offset or by their host's. */
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

/* The bytes of each pool that are not reserved; ARENAUT_UNLIMITED. */
static void find_free_bytes(const arenaut_problem *p, uint64_t *free_bytes) {
    for (uint32_t k = 0; k < p->n_pools; k++) {
        const uint64_t capacity = p->pool[k].capacity;
        free_bytes[k] = capacity > ARENAUT_SIZE_MAX ? ARENAUT_UNLIMITED : capacity;
    }
    for (uint32_t i = 0; i < p->n_reserved; i++) {
        const arenaut_reserved *r = &p->reserved[i];
        if (free_bytes[r->pool] == ARENAUT_UNLIMITED) continue;
        free_bytes[r->pool] -= overlapping_bytes(0, p->pool[r->pool].capacity, r->first, r->end);
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

/* Lists the buffers of an overload, without slices whose host is listed, and sums up a lower bound
 * of their bytes: a same-base pair that is listed counts its larger half. */
static arenaut_status report_overload(search *s, const arn_hosts *hosts, uint64_t mask,
                                      int64_t step, uint64_t capacity) {
    const arenaut_problem *p = s->problem;
    uint32_t *listed = arn_allocate(s->allocator, p->n_buffers, sizeof *listed);
    uint32_t *living = count_living(s, hosts, step);
    if (!listed || (hosts->host && !living)) {
        ARN_RELEASE(s->allocator, listed, living);
        return arn_no_memory(s->err);
    }
    uint32_t n = 0;
    uint64_t need = 0;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (!arenaut_problem_needs_memory(p, b) || (arenaut_problem_pools(p, b) & ~mask) ||
            !arn_alive_at(p, b, step)) {
            continue;
        }
        /* The bytes of a slice of a live host are counted there. */
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
    ARN_RELEASE(s->allocator, listed, living);
    return st;
}

enum { MOST_MASKS = 2 * ARENAUT_MAX_POOLS };

/* The sets of pools worth a look: all, each alone, and the sets that buffers name. */
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
        const arn_load_peak peak = arn_load_highest(&load, masks[i], NULL, s->poll);
        if (peak.bytes > capacity) st = report_overload(s, hosts, masks[i], peak.step, capacity);
    }
    arn_load_free(&load);
    return st;
}

arenaut_status arn_find_witness(const arenaut_problem *problem, arn_poll *poll,
                                const arenaut_allocator *allocator, arenaut_witness *witness,
                                bool *found, arenaut_error *err) {
    search s = {problem, poll, allocator, witness, err, found};
    *found = false;
    arenaut_status st = find_misfit(&s);
    if (st != ARENAUT_OK || *found) return st;
    arn_region region;
    arn_region_init(&region, allocator);
    arn_hosts hosts;
    st = arn_hosts_find(problem, &region, &hosts) ? ARENAUT_OK : arn_no_memory(err);
    if (st == ARENAUT_OK) st = find_pinned_collision(&s, &region, &hosts);
    if (st == ARENAUT_OK && !*found) st = find_conflicting_slices(&s, &region, &hosts);
    /* Live buffers need the sum of their sizes only if nothing may overlap. */
    const bool summed = problem->n_separations == 0;
    if (st == ARENAUT_OK && !*found && summed) st = find_overload(&s, &hosts);
    arn_region_free(&region);
    return st;
}
