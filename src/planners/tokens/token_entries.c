/* The buffers of some pools as entries, from large to small, with the data of packing them into
 * tokens: their lives in sections of time, the edges between them, and the pools of each; of few of
 * them also the interference matrix, O(n²) in entries. */
#include <string.h>

#include "core/checked.h"
#include "core/fail.h"
#include "core/sort.h"
#include "ir/lifetimes.h"
#include "planners/bounds/bounds.h"
#include "planners/bounds/load.h"
#include "planners/tokens/token_packing.h"

static bool larger(const void *context, uint32_t a, uint32_t b) {
    const arenaut_problem *p = context;
    if (p->size[a] != p->size[b]) return p->size[a] > p->size[b];
    return arenaut_problem_lifetimes(p, a)->first < arenaut_problem_lifetimes(p, b)->first;
}

static void set_conflict(arn_packer *packer, uint32_t a, uint32_t b) {
    packer->conflicts[(size_t)a * packer->words + b / 64] |= UINT64_C(1) << b % 64;
    packer->conflicts[(size_t)b * packer->words + a / 64] |= UINT64_C(1) << a % 64;
}

static void find_conflicts(arn_packer *packer) {
    const arenaut_problem *p = packer->problem;
    memset(packer->conflicts, 0, (size_t)packer->n * packer->words * sizeof *packer->conflicts);
    for (uint32_t i = 0; i < packer->n; i++) {
        const uint64_t lives = arenaut_problem_lifetime_count(p, packer->buffer[i]);
        if (!arn_poll_after(packer->poll, (uint64_t)i * lives)) return;
        for (uint32_t k = 0; k < i; k++) {
            const bool together = arn_alive_together(p, packer->buffer[i], packer->buffer[k]);
            if (together && !arn_packer_may_share(packer, i, k)) set_conflict(packer, i, k);
        }
        for (uint32_t e = packer->edges_at[i]; e < packer->edges_at[i + 1]; e++)
            set_conflict(packer, i, packer->edges[e]);
    }
}

/* The first of `n` sorted steps that is no earlier. */
static uint32_t section_of(const int64_t *births, uint32_t n, int64_t step) {
    uint32_t low = 0, high = n;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (births[middle] < step) low = middle + 1;
        else high = middle;
    }
    return low;
}

static uint32_t distinct(int64_t *steps, const uint32_t *order, uint32_t n, const uint64_t *key) {
    uint32_t n_distinct = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (i == 0 || key[order[i]] != key[order[i - 1]])
            steps[n_distinct++] = (int64_t)(key[order[i]] ^ arn_step_key(0));
    }
    return n_distinct;
}

/* Two lives overlap if, and only if, they have a section in common. */
static bool find_sections(arn_packer *packer) {
    const arenaut_problem *p = packer->problem;
    arn_region region;
    uint64_t *key = NULL;
    uint32_t *order = NULL, n = 0;
    int64_t *births = NULL;
    arn_region_init(&region, packer->allocator);
    const bool made = ARN_REGION_ARRAYS(&region, ARN_ARRAY(key, p->n_lifetimes),
                                        ARN_ARRAY(order, (size_t)p->n_lifetimes * 2),
                                        ARN_ARRAY(births, p->n_lifetimes));
    for (uint32_t i = 0; i < packer->n && made; i++) {
        const arenaut_interval *life = arenaut_problem_lifetimes(p, packer->buffer[i]);
        packer->lives_at[i] = n;
        for (uint32_t l = 0; l < arenaut_problem_lifetime_count(p, packer->buffer[i]); l++) {
            order[n] = n;
            key[n++] = arn_step_key(life[l].first);
        }
    }
    if (made) {
        packer->lives_at[packer->n] = n;
        arn_sort_by_key(order, n, key, order + p->n_lifetimes);
        packer->n_sections = distinct(births, order, n, key);
    }
    for (uint32_t i = 0; i < packer->n && made; i++) {
        const arenaut_interval *life = arenaut_problem_lifetimes(p, packer->buffer[i]);
        for (uint32_t l = packer->lives_at[i]; l < packer->lives_at[i + 1]; l++, life++) {
            packer->lives[l].first = section_of(births, packer->n_sections, life->first);
            packer->lives[l].end = section_of(births, packer->n_sections, life->end);
        }
    }
    arn_region_free(&region);
    return made;
}

/* The ends of a conflict that is one of entries; false if it is not. */
static bool is_edge(const arn_packer *packer, const uint32_t *entry_of, uint32_t conflict,
                    uint32_t ends[2]) {
    ends[0] = entry_of[packer->problem->conflict[conflict].a];
    ends[1] = entry_of[packer->problem->conflict[conflict].b];
    return ends[0] != ARENAUT_NONE && ends[1] != ARENAUT_NONE &&
           !arn_packer_may_share(packer, ends[0], ends[1]);
}

static void list_edges(arn_packer *packer, const uint32_t *entry_of) {
    uint32_t ends[2], *at = packer->edges_at;
    for (uint32_t c = 0; c < packer->problem->n_conflicts; c++) {
        if (!is_edge(packer, entry_of, c, ends)) continue;
        at[ends[0]]++;
        at[ends[1]]++;
    }
    for (uint32_t i = 0; i < packer->n; i++) at[i + 1] += at[i];
    for (uint32_t c = 0; c < packer->problem->n_conflicts; c++) {
        if (!is_edge(packer, entry_of, c, ends)) continue;
        packer->edges[--at[ends[0]]] = ends[1];
        packer->edges[--at[ends[1]]] = ends[0];
    }
}

static void list_shares(arn_packer *packer, const uint32_t *entry_of) {
    for (uint32_t i = 0; i < packer->n; i++) {
        const uint32_t base = arenaut_problem_same_base(packer->problem, packer->buffer[i]);
        if (base == ARENAUT_NONE || entry_of[base] == ARENAUT_NONE) continue;
        packer->shares[i] = packer->shares[entry_of[base]] = packer->some_share = true;
    }
}

static uint32_t count_bits(uint64_t bits) {
    uint32_t n = 0;
    for (; bits; bits &= bits - 1) n++;
    return n;
}

/* Offsets are multiples of the least alignment, so that every token but the topmost of each
 * pool takes up a multiple of it; unless a reserved range leaves parts of such free. */
static void find_grain(arn_packer *packer) {
    uint64_t grain = 0;
    packer->waste = 0;
    for (uint32_t i = 0; i < packer->n; i++)
        grain |= arenaut_problem_align(packer->problem, packer->buffer[i]);
    packer->grain = grain && !packer->problem->n_reserved ? grain & (~grain + 1) : 1;
    for (uint32_t i = 0; i < packer->n; i++) {
        const uint64_t size = packer->problem->size[packer->buffer[i]];
        packer->size[i] = arn_aligned(size, packer->grain);
        packer->waste = arn_max_u64(packer->waste, packer->size[i] - size);
    }
    packer->waste *= count_bits(packer->pools);
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

static bool allocate_layout(arn_packer *packer, arn_layout *l) {
    l->size = arn_region_allocate(&packer->region, packer->n, sizeof *l->size);
    l->align = arn_region_allocate(&packer->region, packer->n, sizeof *l->align);
    l->pools = arn_region_allocate(&packer->region, packer->n, sizeof *l->pools);
    l->pool = arn_region_allocate(&packer->region, packer->n, sizeof *l->pool);
    l->start = arn_region_allocate(&packer->region, packer->n, sizeof *l->start);
    l->total = ARENAUT_UNPLACED;
    return l->size && l->align && l->pools && l->pool && l->start;
}

static bool allocate(arn_packer *packer) {
    const arenaut_problem *p = packer->problem;
    const uint32_t n = packer->n;
    packer->words = (n + 63) / 64;
    const bool made = ARN_REGION_ARRAYS(
        &packer->region, ARN_ARRAY(packer->size, n), ARN_ARRAY(packer->allowed, n),
        ARN_ARRAY(packer->first, n), ARN_ARRAY(packer->end, n),
        ARN_ARRAY(packer->lives, p->n_lifetimes), ARN_ARRAY(packer->lives_at, (size_t)n + 1),
        ARN_ARRAY(packer->edges, (size_t)p->n_conflicts * 2),
        ARN_ARRAY(packer->edges_at, (size_t)n + 1), ARN_ARRAY(packer->shares, n),
        ARN_ARRAY(packer->taken, (size_t)p->n_lifetimes / 64 + 1),
        ARN_ARRAY(packer->owner, p->n_lifetimes), ARN_ARRAY(packer->left, n),
        ARN_ARRAY(packer->floors, (size_t)n + 1), ARN_ARRAY(packer->best.token, n));
    if (!made || !allocate_layout(packer, &packer->layout) ||
        !allocate_layout(packer, &packer->next))
        return false;
    if (n > ARN_PACKER_MOST) return true;
    return ARN_REGION_ARRAYS(&packer->region,
                             ARN_ARRAY(packer->conflicts, (size_t)n * packer->words));
}

static bool is_here(const arenaut_problem *p, uint32_t b, uint64_t pools) {
    return arenaut_problem_needs_memory(p, b) && arenaut_problem_pools(p, b) & pools;
}

static uint64_t pools_with_room(const arn_rooms *rooms, uint32_t b) {
    const arenaut_problem *p = rooms->problem;
    uint64_t pools = arenaut_problem_pools(p, b);
    for (uint32_t k = 0; k < p->n_pools; k++) {
        const bool fits = arn_lowest_end(rooms, b, k) != ARENAUT_UNPLACED;
        if (!fits) pools &= ~(UINT64_C(1) << k);
    }
    return pools;
}

static bool measure_entries(arn_packer *packer, uint32_t *entry_of) {
    const arenaut_problem *p = packer->problem;
    arn_rooms rooms;
    if (!arn_rooms_make(&rooms, p, packer->allocator)) return false;
    for (uint32_t i = 0; i < packer->n; i++) {
        const uint32_t b = packer->buffer[i];
        const arenaut_interval *life = arenaut_problem_lifetimes(p, b);
        entry_of[b] = i;
        packer->allowed[i] = pools_with_room(&rooms, b);
        packer->first[i] = life->first;
        packer->end[i] = life[arenaut_problem_lifetime_count(p, b) - 1].end;
    }
    arn_rooms_free(&rooms);
    return true;
}

arenaut_status arn_packer_make(arn_meter *meter, uint64_t pools, arn_packer *packer) {
    const arenaut_planning *planning = meter->planning;
    const arenaut_problem *p = planning->problem;
    *packer = (arn_packer){.problem = p, .allocator = planning->allocator, .pools = pools};
    packer->poll = arn_meter_poll(meter);
    arn_region_init(&packer->region, planning->allocator);
    packer->buffer = arn_region_allocate(&packer->region, p->n_buffers, 2 * sizeof *packer->buffer);
    uint32_t *entry_of = arn_region_allocate(&packer->region, p->n_buffers, sizeof *entry_of);
    if (!packer->buffer || !entry_of) return arn_no_memory(planning->err);
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        entry_of[b] = ARENAUT_NONE;
        if (is_here(p, b, pools)) packer->buffer[packer->n++] = b;
    }
    if (!allocate(packer)) return arn_no_memory(planning->err);
    arn_sort_ids(packer->buffer, packer->n, larger, p, packer->buffer + p->n_buffers);
    if (!measure_entries(packer, entry_of) || !find_sections(packer))
        return arn_no_memory(planning->err);
    find_grain(packer);
    list_edges(packer, entry_of);
    list_shares(packer, entry_of);
    if (packer->conflicts) find_conflicts(packer);
    return arn_packer_find_floors(packer, entry_of) ? ARENAUT_OK : arn_no_memory(planning->err);
}

void arn_packer_free(arn_packer *packer) { arn_region_free(&packer->region); }
