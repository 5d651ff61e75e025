/* Lays tokens into pools. Mostly they only have to be put end to end; where alignments, capacities,
 * reserved ranges or a choice of pools make more of it, they are buffers that are all alive at
 * once, and placing those is what `auto` does, with a small effort of its own. */
#include "core/checked.h"
#include "planners/bounds/bounds.h"
#include "planners/run/planner_rows.h"
#include "planners/tokens/token_packing.h"

/* Effort that placing may take, besides a little for each token. It does not depend on the effort,
 * so that more effort goes on from where less ended. */
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

/* The token whose rounding adds most: on top of the others that costs nothing. */
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

/* Where tokens have a choice of pools, the best plan need not be the one with the least sum of
 * arenas, and is not taken for that. */
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
