/* The buffers of some pools as entries, from large to small, with the data of packing them into
 * tokens: their lives in sections of time, the edges between them, and the pools of each; of few of
 * them also the interference matrix, O(n²) in entries; and the layout of tokens in pools. */
#include <string.h>

#include "core/checked.h"
#include "core/fail.h"
#include "core/sort.h"
#include "ir/lifetimes.h"
#include "planners/bounds/load.h"
#include "planners/run/planner_rows.h"
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
            packer->lives[l].first = arn_step_lower_bound(births, packer->n_sections, life->first);
            packer->lives[l].end = arn_step_lower_bound(births, packer->n_sections, life->end);
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

static bool allocate_layout(arn_packer *packer, arn_layout *l) {
    const uint32_t n = packer->n;
    l->total = ARENAUT_UNPLACED;
    return ARN_REGION_ARRAYS(&packer->region, ARN_ARRAY(l->size, n), ARN_ARRAY(l->align, n),
                             ARN_ARRAY(l->pools, n), ARN_ARRAY(l->pool, n), ARN_ARRAY(l->start, n));
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

/* ---- layout ---- */

/* Lays tokens into pools. Mostly they only have to be put end to end; if alignments, capacities,
 * reserved ranges or a choice of pools make it harder, they are buffers that are all alive at
 * once, and `auto` places those, with a small effort of its own. */

/* Effort that placing may take, besides a little for each token. It does not depend on the effort,
 * so that a larger effort continues the search of a smaller one. */
enum { PLACING = 1 << 12, EFFORT_PER_TOKEN = 16 };

static void measure_tokens(arn_packer *packer, const arn_packing *packing) {
    const arenaut_problem *p = packer->problem;
    arn_layout *l = &packer->next;
    for (uint32_t k = 0; k < packing->n_tokens; k++) {
        l->size[k] = 0;
        l->align[k] = 1;
        l->pools[k] = packer->pools;
    }
    for (uint32_t i = 0; i < packer->n; i++) {
        const uint32_t k = packing->token[i], b = packer->buffer[i];
        l->size[k] = arn_max_u64(l->size[k], p->size[b]);
        l->align[k] = arn_max_u64(l->align[k], arenaut_problem_align(p, b));
        l->pools[k] &= packer->allowed[i];
    }
}

/* The token with the largest rounding: on top of the others that costs nothing. */
static uint32_t most_wasteful(const arn_packer *packer, uint32_t n_tokens, uint64_t *waste) {
    uint32_t found = 0;
    *waste = 0;
    for (uint32_t k = 0; k < n_tokens; k++) {
        const uint64_t here =
            arn_aligned(packer->next.size[k], packer->grain) - packer->next.size[k];
        if (here <= *waste) continue;
        *waste = here;
        found = k;
    }
    return found;
}

static uint64_t clear_of_ranges(const arenaut_problem *p, uint32_t pool, uint64_t at, uint64_t size,
                                uint64_t align) {
    at = arn_aligned(at, align);
    for (uint32_t i = 0; i < p->n_reserved; i++) {
        const arenaut_reserved *r = &p->reserved[i];
        if (r->pool == pool && r->first < at + size && at < r->end) at = arn_aligned(r->end, align);
    }
    return at;
}

/* In the fastest pool that has room. */
static bool put_on_top(arn_packer *packer, uint32_t token, uint64_t *ends) {
    const arenaut_problem *p = packer->problem;
    arn_layout *l = &packer->next;
    for (uint32_t k = 0; k < p->n_pools; k++) {
        if (!(l->pools[token] >> k & 1)) continue;
        const uint64_t at = clear_of_ranges(p, k, ends[k], l->size[token], l->align[token]);
        if (at + l->size[token] > p->pool[k].capacity) continue;
        l->pool[token] = k;
        l->start[token] = at;
        ends[k] = at + l->size[token];
        return true;
    }
    return false;
}

/* One after the other, `last` last. */
static void stack(arn_packer *packer, uint32_t n_tokens, uint32_t last) {
    uint64_t ends[ARENAUT_MAX_POOLS] = {0};
    arn_layout *l = &packer->next;
    l->total = ARENAUT_UNPLACED;
    for (uint32_t k = 0; k < n_tokens; k++) {
        if (k != last && !put_on_top(packer, k, ends)) return;
    }
    if (n_tokens && !put_on_top(packer, last, ends)) return;
    l->total = 0;
    for (uint32_t k = 0; k < packer->problem->n_pools; k++) {
        l->total += arn_aligned(ends[k], packer->problem->pool[k].align);
    }
}

static bool has_choice(const arn_layout *l, uint32_t n_tokens) {
    bool choice = false;
    for (uint32_t k = 0; k < n_tokens; k++) choice |= (l->pools[k] & (l->pools[k] - 1)) != 0;
    return choice;
}

/* If tokens have a choice of pools, the best plan need not be the one with the least sum of arenas,
 * and is not claimed to be. */
static void take_places(arn_packer *packer, uint32_t n_tokens, const arenaut_plan *plan) {
    arn_layout *l = &packer->next;
    if (plan->quality == ARENAUT_INFEASIBLE) {
        l->least = true;
        return;
    }
    const bool proven = plan->quality == ARENAUT_OPTIMAL || plan->total_bound >= l->total;
    l->least = proven && !has_choice(l, n_tokens);
    if (plan->total >= l->total) return;
    l->total = plan->total;
    for (uint32_t k = 0; k < n_tokens; k++) {
        l->pool[k] = plan->pool[k];
        l->start[k] = plan->offset[k];
    }
}

/* The tokens as a problem of their own. Returns the effort spent. */
static uint64_t place(arn_packer *packer, uint32_t n_tokens) {
    const arenaut_problem *p = packer->problem;
    const arenaut_plan_options options = {.custom = &arn_auto_of_tokens, .effort = PLACING};
    arn_region scratch;
    arn_region_init(&scratch, packer->allocator);
    uint32_t *starts = arn_region_allocate(&scratch, (size_t)n_tokens + 1, sizeof *starts);
    arenaut_interval *lives = arn_region_allocate(&scratch, n_tokens, sizeof *lives);
    uint64_t effort = (uint64_t)n_tokens * EFFORT_PER_TOKEN;
    if (starts && lives) {
        for (uint32_t k = 0; k <= n_tokens; k++) starts[k] = k;
        for (uint32_t k = 0; k < n_tokens; k++) lives[k] = (arenaut_interval){0, 1};
        const arenaut_problem tokens = {.n_buffers = n_tokens,
                                        .n_pools = p->n_pools,
                                        .n_lifetimes = n_tokens,
                                        .n_reserved = p->n_reserved,
                                        .size = packer->next.size,
                                        .align = packer->next.align,
                                        .lifetime_start = starts,
                                        .lifetime = lives,
                                        .pools = packer->next.pools,
                                        .pool = p->pool,
                                        .reserved = p->reserved};
        arenaut_plan *plan = NULL;
        const arenaut_status st =
            arenaut_plan_make(&tokens, &options, packer->allocator, &plan, NULL);
        if (st == ARENAUT_OK || st == ARENAUT_NO_PLAN) {
            take_places(packer, n_tokens, plan);
            effort += plan->effort;
            arenaut_plan_free(plan);
        } else if (st == ARENAUT_NO_MEMORY) {
            packer->out_of_memory = true;
        } else {
            effort += PLACING; /* nothing was found that fits */
        }
    } else {
        packer->out_of_memory = true;
    }
    arn_region_free(&scratch);
    return effort;
}

uint64_t arn_packer_lay(arn_packer *packer, const arn_packing *packing, bool at_once) {
    uint64_t waste;
    measure_tokens(packer, packing);
    const uint32_t last = most_wasteful(packer, packing->n_tokens, &waste);
    stack(packer, packing->n_tokens, last);
    /* With one pool only the topmost token need not be rounded. */
    const bool one_pool = (packer->pools & (packer->pools - 1)) == 0;
    const uint64_t rounded = arn_packer_bound(packer, packing->total - waste + packer->waste);
    const uint64_t least = one_pool ? rounded : arn_packer_bound(packer, packing->total);
    packer->next.least = packer->next.total <= least;
    const bool done = packer->next.least || (at_once && packer->next.total != ARENAUT_UNPLACED);
    return done ? 0 : place(packer, packing->n_tokens);
}
