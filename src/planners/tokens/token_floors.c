/* Lower bounds of the sizes of tokens: buffers come alive from large to small in a segment tree
 * over time, and whenever more tokens are needed at some step than before, the one that is added is
 * no smaller than the buffer that needs it. O(n log n) in entries. */
#include "planners/tokens/token_packing.h"

#include "core/checked.h"
#include "planners/bounds/bounds.h"

/* Heirs of a base that are told apart; the bound is weaker where there are more. */
enum { MOST_HEIRS = 16 };

/* Tokens needed at each section: buffers alive there, less bases that have an heir among them,
 * since a token holds at most two of them, a base and one heir. */
typedef struct demand {
    const arn_packer *packer;
    uint32_t n_leaves; /* a power of two */
    int32_t *most;     /* per node: the maximum below it, without the sums added above */
    int32_t *added;    /* per node: to all sections below it */
    uint32_t *base;    /* per entry: its base's entry; ARENAUT_NONE: none */
    uint32_t *meeting; /* per entry: the one section in which it and its base are alive */
    uint32_t *heirs;   /* per entry: its first heir, and ... */
    uint32_t *next;    /* ... the one behind it, of those that were added; ARENAUT_NONE: no more */
    bool *there;       /* per entry: it was added */
} demand;

static void add_below(demand *d, uint32_t node, arn_life here, arn_life life, int32_t change) {
    if (life.first <= here.first && here.end <= life.end) {
        d->most[node] += change;
        d->added[node] += change;
        return;
    }
    const uint32_t middle = here.first + (here.end - here.first) / 2;
    if (life.first < middle) add_below(d, 2 * node, (arn_life){here.first, middle}, life, change);
    if (life.end > middle) add_below(d, 2 * node + 1, (arn_life){middle, here.end}, life, change);
    const int32_t left = d->most[2 * node], right = d->most[2 * node + 1];
    d->most[node] = (left > right ? left : right) + d->added[node];
}

static void add(demand *d, arn_life life, int32_t change) {
    if (life.first < life.end) add_below(d, 1, (arn_life){0, d->n_leaves}, life, change);
}

/* The section in which both are alive; ARENAUT_NONE: there is none. */
static uint32_t meeting_of(const arn_packer *p, uint32_t a, uint32_t b) {
    for (uint32_t i = p->lives_at[a], k = p->lives_at[b];
         i < p->lives_at[a + 1] && k < p->lives_at[b + 1];) {
        const arn_life x = p->lives[i], y = p->lives[k];
        if (x.first < y.end && y.first < x.end) return x.first > y.first ? x.first : y.first;
        if (x.end < y.end) i++;
        else k++;
    }
    return ARENAUT_NONE;
}

/* The heir and its base, which is there, share a token; but not where one of these heirs does. */
static void share(demand *d, uint32_t heir, uint32_t others) {
    const uint32_t at = d->meeting[heir];
    for (int i = 0; i < MOST_HEIRS && others != ARENAUT_NONE; i++, others = d->next[others]) {
        if (d->meeting[others] == at) return;
    }
    if (at != ARENAUT_NONE) add(d, (arn_life){at, at + 1}, -1);
}

static void add_entry(demand *d, uint32_t entry) {
    const arn_packer *p = d->packer;
    const uint32_t base = d->base[entry];
    for (uint32_t l = p->lives_at[entry]; l < p->lives_at[entry + 1]; l++) add(d, p->lives[l], 1);
    d->there[entry] = true;
    for (uint32_t heir = d->heirs[entry]; heir != ARENAUT_NONE; heir = d->next[heir])
        share(d, heir, d->next[heir]);
    if (base == ARENAUT_NONE) return;
    if (d->there[base]) share(d, entry, d->heirs[base]);
    d->next[entry] = d->heirs[base];
    d->heirs[base] = entry;
}

static bool make(arn_packer *packer, const uint32_t *entry_of, arn_region *region, demand *d) {
    *d = (demand){.packer = packer, .n_leaves = 1};
    while (d->n_leaves < packer->n_sections) d->n_leaves *= 2;
    if (!ARN_REGION_ARRAYS(region, ARN_ARRAY(d->most, (size_t)d->n_leaves * 2),
                           ARN_ARRAY(d->added, (size_t)d->n_leaves * 2),
                           ARN_ARRAY(d->base, packer->n), ARN_ARRAY(d->meeting, packer->n),
                           ARN_ARRAY(d->heirs, packer->n), ARN_ARRAY(d->next, packer->n),
                           ARN_ARRAY(d->there, packer->n)))
        return false;
    for (uint32_t i = 0; i < packer->n; i++) {
        const uint32_t base = arenaut_problem_same_base(packer->problem, packer->buffer[i]);
        d->base[i] = base == ARENAUT_NONE ? ARENAUT_NONE : entry_of[base];
        d->heirs[i] = d->next[i] = d->meeting[i] = ARENAUT_NONE;
        if (d->base[i] != ARENAUT_NONE) d->meeting[i] = meeting_of(packer, i, d->base[i]);
    }
    return true;
}

uint64_t arn_packer_bound(const arn_packer *packer, uint64_t total) {
    const uint64_t bytes = total > packer->waste ? total - packer->waste : 0;
    uint64_t align = 0;
    uint32_t pool = 0;
    for (uint32_t k = 0; k < packer->problem->n_pools; k++) {
        if (!(packer->pools >> k & 1)) continue;
        align |= packer->problem->pool[k].align;
        pool = k;
    }
    if (packer->pools & (packer->pools - 1)) return arn_aligned(bytes, align & (~align + 1));
    return arn_aligned(arn_end_of_free_bytes(packer->problem, pool, bytes), align);
}

bool arn_packer_find_floors(arn_packer *packer, const uint32_t *entry_of) {
    enum { ADDITION_OPERATIONS = 64 };
    demand d;
    arn_region region;
    arn_region_init(&region, packer->allocator);
    const bool made = make(packer, entry_of, &region, &d);
    packer->n_floors = 0;
    for (uint32_t i = 0; i < packer->n && made; i++) {
        if (!arn_poll_after(packer->poll, ADDITION_OPERATIONS)) break;
        add_entry(&d, i);
        if (d.most[1] > (int32_t)packer->n_floors)
            packer->floors[packer->n_floors++] = packer->size[i];
    }
    arn_region_free(&region);
    if (!made) return false;
    packer->floors[packer->n_floors] = 0;
    for (uint32_t k = packer->n_floors; k > 0; k--) packer->floors[k - 1] += packer->floors[k];
    packer->bound = arn_packer_bound(packer, packer->floors[0]);
    return true;
}
