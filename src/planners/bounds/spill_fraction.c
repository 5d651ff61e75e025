/* The fractional bound of what must be spilled: as if buffers could be cut.
 *
 * For where more is alive than spill.c can go through one by one. What must leave the fastest pools
 * at a step does so for the least that bytes cost there, and steps that have no group in common
 * add up. Groups that may leave are ranked by what a byte of them costs, in Fenwick trees over the
 * ranks: O(pools × n log n). */
#include "core/checked.h"
#include "core/sort.h"
#include "planners/bounds/spill_groups.h"

typedef struct shares {
    const arn_spill *s;
    arn_region *region;
    uint32_t threshold;          /* pools below it are the fast ones, */
    uint64_t room;               /* and have so many bytes */
    uint32_t n;                  /* groups that may leave */
    uint32_t *rank;              /* per buffer, of their roots; ARENAUT_NONE for those that stay */
    uint64_t *price;             /* per rank, of a byte; ascending */
    uint64_t *bytes, *cost;      /* per rank, of what is alive: sums, as Fenwick trees */
    uint64_t alive, stay, saved; /* bytes: may leave; may not; may be shared by pairs */
    uint64_t *best;              /* per event, of all steps before its own together */
    uint32_t *order, *scratch;   /* roots of those that may leave, by their first events */
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

/* The least that `bytes` of what is alive cost: the cheapest ranks, and a part of one more. */
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
    x->rank = arn_region_allocate(region, n, sizeof *x->rank);
    x->price = arn_region_allocate(region, n, sizeof *x->price);
    x->bytes = arn_region_allocate(region, n, sizeof *x->bytes);
    x->cost = arn_region_allocate(region, n, sizeof *x->cost);
    x->best = arn_region_allocate(region, (size_t)x->s->load.n + 1, sizeof *x->best);
    x->order = arn_region_allocate(region, n, sizeof *x->order);
    x->scratch = arn_region_allocate(region, n, sizeof *x->scratch);
    x->key = arn_region_allocate(region, n, sizeof *x->key);
    return x->rank && x->price && x->bytes && x->cost && x->best && x->order && x->scratch &&
           x->key;
}

/* In a pool further on, a buffer has left all those before it, so that what is paid for leaving
 * them adds up. */
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
