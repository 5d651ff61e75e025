/* The groups that the spill bound divides among pools, the pools that each may need, and the
 * fractional relaxation of the bound.
 *
 * A group is a buffer with its slices. It is narrowed to the pools that matter by the most bytes
 * that may be alive beside it, looked up in a segment tree over the events of the load: O(pools ×
 * n log n). The dynamic program over the groups is in spill.c. */
#include "planners/bounds/spill.h"

#include "core/checked.h"
#include "core/fail.h"
#include "core/sort.h"
#include "planners/bounds/load.h"

static void touch(arn_spill *s, uint32_t buffer, uint32_t place, uint32_t start) {
    arn_spill_group *g = &s->group[arn_spill_root(s, buffer)];
    if (g->first == ARENAUT_NONE) {
        g->first = place;
        g->start = start;
    }
    g->last = place;
}

static void find_groups(arn_spill *s, const arn_rooms *rooms) {
    const arenaut_problem *p = s->problem;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        s->group[b] = (arn_spill_group){
            .first = ARENAUT_NONE, .pool = ARENAUT_NONE, .slot = ARN_SPILL_NO_SLOT};
    }
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (!arenaut_problem_needs_memory(p, b)) continue;
        s->group[arn_spill_root(s, b)].traffic += p->size[b] * arenaut_problem_uses(p, b);
        s->group[arn_spill_root(s, b)].bytes += p->size[b];
        if (arn_spill_root(s, b) == b) s->roots[s->n_roots++] = b;
    }
    for (uint32_t i = 0; i < s->n_roots; i++) {
        const uint32_t b = s->roots[i];
        const uint64_t allowed = arenaut_problem_pools(p, b);
        for (uint32_t k = 0; k < p->n_pools; k++) {
            if (!(allowed >> k & 1) || arn_lowest_end(rooms, b, k) == ARENAUT_UNPLACED) continue;
            s->group[b].own_pools |= UINT64_C(1) << k;
        }
    }
    for (uint32_t i = 0, start = 0; i < s->load.n; i++) {
        const arn_load_event *e = arn_spill_event(s, i);
        if (e->step != arn_spill_event(s, start)->step) start = i;
        touch(s, e->buffer, i, start);
        if (e->saving) touch(s, p->same_base[e->buffer], i, start);
    }
}

arenaut_status arn_spill_new(const arenaut_problem *problem, const arenaut_allocator *allocator,
                             arn_spill **out, arenaut_error *err) {
    arn_spill *s = arn_allocate_zeroed(allocator, 1, sizeof *s);
    if (!s) return arn_no_memory(err);
    s->problem = problem;
    s->allocator = allocator;
    arn_region_init(&s->region, allocator);
    const arenaut_status st = arn_load_init(&s->load, problem, allocator, err);
    if (st != ARENAUT_OK) {
        arn_region_free(&s->region);
        arn_release(allocator, s);
        return st;
    }
    s->n_leaves = 1;
    while (s->n_leaves < s->load.n) s->n_leaves *= 2;
    if (!ARN_REGION_ARRAYS(&s->region, ARN_ARRAY(s->group, problem->n_buffers),
                           ARN_ARRAY(s->roots, problem->n_buffers),
                           ARN_ARRAY(s->peak, (size_t)s->n_leaves * 2)) ||
        !arn_hosts_find(problem, &s->region, &s->hosts)) {
        arn_spill_free(s);
        return arn_no_memory(err);
    }
    arn_rooms rooms;
    if (!arn_rooms_make(&rooms, problem, allocator)) {
        arn_spill_free(s);
        return arn_no_memory(err);
    }
    find_groups(s, &rooms);
    arn_rooms_free(&rooms);
    *out = s;
    return ARENAUT_OK;
}

void arn_spill_free(arn_spill *s) {
    if (!s) return;
    arn_load_free(&s->load);
    arn_region_free(&s->region);
    arn_release(s->allocator, s);
}

/* ---- which pools a group may need ---- */

void arn_spill_room(const arenaut_problem *p, uint32_t sixteenths,
                    uint64_t room[ARENAUT_MAX_POOLS]) {
    for (uint32_t k = 0; k < p->n_pools; k++) {
        room[k] = ARENAUT_UNLIMITED;
        if (p->pool[k].capacity > ARENAUT_SIZE_MAX) continue;
        const uint64_t capacity =
            p->pool[k].capacity / 16 * sixteenths + p->pool[k].capacity % 16 * sixteenths / 16;
        room[k] = capacity;
        for (uint32_t i = 0; i < p->n_reserved; i++) {
            const arenaut_reserved *r = &p->reserved[i];
            if (r->pool != k || r->first >= capacity) continue;
            room[k] -= arn_min_u64(r->end, capacity) - r->first;
        }
    }
}

/* For each step, all bytes alive that may be in the pool; savings are left out. */
static void sum_what_may_be_in(arn_spill *s, uint32_t pool) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < s->n_leaves; i++) s->peak[s->n_leaves + i] = 0;
    for (uint32_t i = 0; i < s->load.n;) {
        const uint32_t start = i;
        const int64_t step = arn_spill_event(s, i)->step;
        for (; i < s->load.n && arn_spill_event(s, i)->step == step; i++) {
            const arn_load_event *e = arn_spill_event(s, i);
            if (e->saving || !(s->group[arn_spill_root(s, e->buffer)].pools >> pool & 1)) continue;
            bytes = e->falls ? bytes - e->bytes : bytes + e->bytes;
        }
        s->peak[s->n_leaves + start] = bytes;
    }
    for (uint32_t k = s->n_leaves; k-- > 1;)
        s->peak[k] = arn_max_u64(s->peak[2 * k], s->peak[2 * k + 1]);
}

static uint64_t highest_between(const arn_spill *s, uint32_t first, uint32_t last) {
    uint64_t highest = 0;
    uint32_t low = first + s->n_leaves, high = last + 1 + s->n_leaves;
    for (; low < high; low /= 2, high /= 2) {
        if (low & 1) highest = arn_max_u64(highest, s->peak[low++]);
        if (high & 1) highest = arn_max_u64(highest, s->peak[--high]);
    }
    return highest;
}

/* A group that fits into a pool even beside all that may ever be there with it need not go to a
 * slower one: it keeps no other group out of the faster one. */
bool arn_spill_narrow(arn_spill *s, const uint32_t *pool_of, const uint64_t *room, uint64_t *work) {
    const arenaut_problem *p = s->problem;
    for (uint32_t i = 0; i < s->n_roots; i++) {
        arn_spill_group *g = &s->group[s->roots[i]];
        const uint32_t given = pool_of ? pool_of[s->roots[i]] : ARENAUT_NONE;
        g->pools = given == ARENAUT_NONE ? g->own_pools : g->own_pools & UINT64_C(1) << given;
        if (g->pools == 0) return false;
    }
    bool slower = true; /* some group may still need a pool slower than the one before */
    for (uint32_t k = 0; k + 1 < p->n_pools && slower; k++) {
        const bool limited = room[k] != ARENAUT_UNLIMITED;
        slower = false;
        *work += s->n_roots;
        if (limited) sum_what_may_be_in(s, k);
        if (limited) *work += s->load.n;
        for (uint32_t i = 0; i < s->n_roots; i++) {
            arn_spill_group *g = &s->group[s->roots[i]];
            if (g->pools >> k == 1) continue;
            const bool may = g->pools >> k & 1;
            const bool fits = may && (!limited || highest_between(s, g->start, g->last) <= room[k]);
            if (fits) g->pools &= (UINT64_C(2) << k) - 1;
            if (g->pools >> k > 1) slower = true;
        }
    }
    return true;
}

/* ---- fractional relaxation ---- */

/* A lower bound of the spill as if buffers could be cut (a fractional knapsack at each step), for
 * problems with more alive than spill.c can enumerate. The bytes that must leave the fastest pools
 * at a step do so for the least that bytes cost there, and steps that have no group in common add
 * up. Groups that may leave are ranked by the cost of a byte, in binary indexed trees (Fenwick
 * 1994) over the ranks: O(pools × n log n). */

typedef struct shares {
    const arn_spill *s;
    arn_region *region;
    uint32_t threshold;          /* pools below it are the fast ones, */
    uint64_t room;               /* and have so many bytes */
    uint32_t n;                  /* groups that may leave */
    uint32_t *rank;              /* per buffer, of their roots; ARENAUT_NONE: it stays */
    uint64_t *price;             /* per rank, of a byte; ascending */
    uint64_t *bytes, *cost;      /* per rank, of the live groups: sums, as binary indexed trees */
    uint64_t alive, stay, saved; /* bytes: may leave; may not; may be shared by pairs */
    uint64_t *best;              /* per event, of all steps before its own together */
    uint32_t *order, *scratch;   /* roots of the groups that may leave, by their first events */
    uint64_t *key;               /* per buffer */
} shares;

static bool is_fast(const shares *x, uint32_t root) {
    return x->s->group[root].pools >> x->threshold == 0;
}

static bool may_leave(const shares *x, uint32_t root) {
    const uint64_t pools = x->s->group[root].pools;
    return !is_fast(x, root) && pools & ((UINT64_C(1) << x->threshold) - 1);
}

static uint64_t price_of(const shares *x, uint32_t root) {
    const arn_spill_group *g = &x->s->group[root];
    const uint64_t allowed = arenaut_problem_pools(x->s->problem, root);
    return allowed >> (x->threshold - 1) & 1 ? g->traffic / g->bytes : 0;
}

static void rank_groups(shares *x) {
    const arn_spill *s = x->s;
    x->n = 0;
    for (uint32_t i = 0; i < s->n_roots; i++) {
        const uint32_t root = s->roots[i];
        x->rank[root] = ARENAUT_NONE;
        if (!may_leave(x, root)) continue;
        x->order[x->n++] = root;
        x->key[root] = price_of(x, root);
    }
    arn_sort_by_key(x->order, x->n, x->key, x->scratch);
    for (uint32_t i = 0; i < x->n; i++) {
        x->rank[x->order[i]] = i;
        x->price[i] = x->key[x->order[i]];
        x->key[x->order[i]] = s->group[x->order[i]].first;
    }
    arn_sort_by_key(x->order, x->n, x->key, x->scratch);
    for (uint32_t i = 0; i <= x->n; i++) x->bytes[i] = x->cost[i] = 0;
    x->alive = x->stay = x->saved = 0;
}

static void change_shares(shares *x, const arn_load_event *e) {
    const uint32_t root = arn_spill_root(x->s, e->buffer);
    const uint64_t change = e->falls ? 0 - e->bytes : e->bytes;
    if (e->saving) {
        x->saved -= change;
        return;
    }
    if (x->rank[root] == ARENAUT_NONE) {
        if (is_fast(x, root)) x->stay += change;
        return;
    }
    x->alive += change;
    for (uint32_t i = x->rank[root] + 1; i <= x->n; i += i & (0 - i)) {
        x->bytes[i] += change;
        x->cost[i] += change * x->price[x->rank[root]];
    }
}

/* The least cost of `bytes` live bytes: the cheapest ranks, and a part of one more. */
static uint64_t least_cost(const shares *x, uint64_t bytes) {
    uint64_t cost = 0;
    uint32_t at = 0, step = 1;
    while (step <= x->n / 2) step *= 2;
    for (; step; step /= 2) {
        if (at + step > x->n || x->bytes[at + step] > bytes) continue;
        at += step;
        bytes -= x->bytes[at];
        cost += x->cost[at];
    }
    return at < x->n ? cost + bytes * x->price[at] : cost;
}

/* A step goes together with all that are over before the oldest group of its own begins. */
static uint64_t add_up_steps(shares *x) {
    const arn_spill *s = x->s;
    uint32_t oldest = 0, i = 0;
    x->best[0] = 0;
    while (i < s->load.n) {
        const uint32_t start = i;
        const int64_t step = arn_spill_event(s, i)->step;
        for (; i < s->load.n && arn_spill_event(s, i)->step == step; i++) {
            change_shares(x, arn_spill_event(s, i));
            x->best[i + 1] = x->best[start];
        }
        while (oldest < x->n && s->group[x->order[oldest]].last < i) oldest++;
        const uint64_t load = x->alive + x->stay, most = x->room + x->saved;
        if (load <= most || oldest == x->n) continue;
        const uint64_t over = arn_min_u64(load - most, x->alive);
        const uint64_t before = x->best[s->group[x->order[oldest]].start];
        x->best[i] = arn_max_u64(x->best[i], before + least_cost(x, over));
    }
    return x->best[s->load.n];
}

static bool make_shares(shares *x) {
    arn_region *region = x->region;
    const size_t n = (size_t)x->s->problem->n_buffers + 1;
    return ARN_REGION_ARRAYS(region, ARN_ARRAY(x->rank, n), ARN_ARRAY(x->price, n),
                             ARN_ARRAY(x->bytes, n), ARN_ARRAY(x->cost, n),
                             ARN_ARRAY(x->best, (size_t)x->s->load.n + 1), ARN_ARRAY(x->order, n),
                             ARN_ARRAY(x->scratch, n), ARN_ARRAY(x->key, n));
}

/* In a pool further on, a buffer has left all the pools before it, so that the costs of leaving
 * them add up. */
bool arn_spill_fraction(const arn_spill *s, const uint64_t *room, arn_region *region,
                        uint64_t *least, uint64_t *work) {
    shares x = {.s = s, .region = region};
    if (!make_shares(&x)) return false;
    for (x.threshold = 1; x.threshold < s->problem->n_pools; x.threshold++) {
        if (room[x.threshold - 1] == ARENAUT_UNLIMITED) break;
        x.room += room[x.threshold - 1];
        rank_groups(&x);
        *least += add_up_steps(&x);
        *work += 8 * ((uint64_t)s->load.n + x.n);
    }
    return true;
}
