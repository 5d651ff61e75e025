/* The buffers of some pools as entries, from large to small, with the data of packing them into
 * tokens: the interference matrix, the pools of each, and lower bounds of the token sizes. O(n²) in
 * entries, which is why there is a limit to them. */
#include <inttypes.h>
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

/* One of the two may take over the other's memory, although both are alive: in a token they
 * begin together, and that is all that it takes. */
static bool may_share(const arenaut_problem *p, uint32_t a, uint32_t b) {
    return arenaut_problem_same_base(p, a) == b || arenaut_problem_same_base(p, b) == a;
}

/* `entry_of`: per buffer; ARENAUT_NONE for those of other pools. */
static void find_conflicts(arn_packer *packer, const uint32_t *entry_of) {
    const arenaut_problem *p = packer->problem;
    memset(packer->conflicts, 0, (size_t)packer->n * packer->words * sizeof *packer->conflicts);
    for (uint32_t i = 0; i < packer->n; i++) {
        const uint64_t lives = arenaut_problem_lifetime_count(p, packer->buffer[i]);
        if (!arn_poll_after(packer->poll, (uint64_t)i * lives)) return;
        for (uint32_t k = 0; k < i; k++) {
            const uint32_t a = packer->buffer[i], b = packer->buffer[k];
            if (arn_alive_together(p, a, b) && !may_share(p, a, b)) set_conflict(packer, i, k);
        }
    }
    for (uint32_t i = 0; i < p->n_conflicts; i++) {
        const uint32_t a = entry_of[p->conflict[i].a], b = entry_of[p->conflict[i].b];
        if (a == ARENAUT_NONE || b == ARENAUT_NONE) continue;
        if (!may_share(p, p->conflict[i].a, p->conflict[i].b)) set_conflict(packer, a, b);
    }
}

/* Buffers of one step, counted from large to small. A token holds at most two of them, a base
 * and one heir of it, so that there are at least as many tokens as buffers less bases that have
 * an heir among them. */
typedef struct crowd {
    uint32_t *base;     /* per entry: its base's entry, or ARENAUT_NONE */
    uint32_t *seen;     /* per entry: the last step at which it was counted, counted from 1 */
    uint32_t *has_heir; /* likewise, an heir of it */
    uint32_t step, buffers, pairs, tokens;
} crowd;

static void crowd_add(crowd *c, uint32_t entry) {
    const uint32_t base = c->base[entry];
    c->buffers++;
    c->seen[entry] = c->step;
    c->pairs += c->has_heir[entry] == c->step;
    if (base != ARENAUT_NONE && c->has_heir[base] != c->step) {
        c->has_heir[base] = c->step;
        c->pairs += c->seen[base] == c->step;
    }
    if (c->buffers - c->pairs > c->tokens) c->tokens = c->buffers - c->pairs;
}

static bool crowd_make(arn_packer *packer, const uint32_t *entry_of, crowd *c) {
    *c = (crowd){.base = arn_region_allocate(&packer->region, packer->n, sizeof *c->base)};
    c->seen = arn_region_allocate(&packer->region, packer->n, sizeof *c->seen);
    c->has_heir = arn_region_allocate(&packer->region, packer->n, sizeof *c->has_heir);
    if (!c->base || !c->seen || !c->has_heir) return false;
    for (uint32_t i = 0; i < packer->n; i++) {
        const uint32_t base = arenaut_problem_same_base(packer->problem, packer->buffer[i]);
        c->base[i] = base == ARENAUT_NONE ? ARENAUT_NONE : entry_of[base];
        c->seen[i] = c->has_heir[i] = 0;
    }
    return true;
}

/* The most are alive just after some buffer has come alive. The live ones then, in order of size,
 * need tokens no smaller than themselves. */
static bool find_floors(arn_packer *packer, const uint32_t *entry_of) {
    const arenaut_problem *p = packer->problem;
    crowd c;
    if (!crowd_make(packer, entry_of, &c)) return false;
    memset(packer->floors, 0, ((size_t)packer->n + 1) * sizeof *packer->floors);
    packer->n_floors = 0;
    for (uint32_t i = 0; i < packer->n; i++) {
        const arenaut_interval *life = arenaut_problem_lifetimes(p, packer->buffer[i]);
        for (uint32_t l = 0; l < arenaut_problem_lifetime_count(p, packer->buffer[i]); l++) {
            if (!arn_poll_after(packer->poll, packer->n)) return true;
            c.step++;
            c.buffers = c.pairs = c.tokens = 0;
            for (uint32_t k = 0; k < packer->n; k++) {
                if (!arn_alive_at(p, packer->buffer[k], life[l].first)) continue;
                const uint32_t rank = c.tokens;
                crowd_add(&c, k);
                if (c.tokens > rank)
                    packer->floors[rank] = arn_max_u64(packer->floors[rank], packer->size[k]);
            }
            if (c.tokens > packer->n_floors) packer->n_floors = c.tokens;
        }
    }
    for (uint32_t k = packer->n; k > 0; k--) packer->floors[k - 1] += packer->floors[k];
    packer->bound = arn_packer_bound(packer, packer->floors[0]);
    return true;
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
    packer->words = (packer->n + 63) / 64;
    packer->size = arn_region_allocate(&packer->region, packer->n, sizeof *packer->size);
    packer->allowed = arn_region_allocate(&packer->region, packer->n, sizeof *packer->allowed);
    packer->first = arn_region_allocate(&packer->region, packer->n, sizeof *packer->first);
    packer->end = arn_region_allocate(&packer->region, packer->n, sizeof *packer->end);
    packer->conflicts = arn_region_allocate(&packer->region, (size_t)packer->n * packer->words,
                                            sizeof *packer->conflicts);
    packer->floors =
        arn_region_allocate(&packer->region, (size_t)packer->n + 1, sizeof *packer->floors);
    packer->best.token =
        arn_region_allocate(&packer->region, packer->n, sizeof *packer->best.token);
    return packer->size && packer->allowed && packer->first && packer->end && packer->conflicts &&
           packer->floors && packer->best.token && allocate_layout(packer, &packer->layout) &&
           allocate_layout(packer, &packer->next);
}

static bool is_here(const arenaut_problem *p, uint32_t b, uint64_t pools) {
    return arenaut_problem_needs_memory(p, b) && arenaut_problem_pools(p, b) & pools;
}

bool arn_packer_suit(const arenaut_problem *p) {
    uint32_t n = 0;
    for (uint32_t b = 0; b < p->n_buffers; b++) n += arenaut_problem_needs_memory(p, b);
    return n <= ARN_PACKER_MOST;
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
    if (packer->n > ARN_PACKER_MOST) {
        return arn_fail(planning->err, ARENAUT_REFUSED, 0,
                        "planner 'shared-objects' takes at most %d buffers of one pool; there are "
                        "%" PRIu32 ", and 'tvm-tokens' takes any number",
                        ARN_PACKER_MOST, packer->n);
    }
    if (!allocate(packer)) return arn_no_memory(planning->err);
    arn_sort_ids(packer->buffer, packer->n, larger, p, packer->buffer + p->n_buffers);
    if (!measure_entries(packer, entry_of)) return arn_no_memory(planning->err);
    find_grain(packer);
    find_conflicts(packer, entry_of);
    return find_floors(packer, entry_of) ? ARENAUT_OK : arn_no_memory(planning->err);
}

void arn_packer_free(arn_packer *packer) { arn_region_free(&packer->region); }
