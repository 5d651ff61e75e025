/* proof_load: whether the buffers alive at one step are more than a set of pools can hold: the sum
 * of their sizes, less what same-base and separated pairs may share, against the limits of the
 * case. O(buffers) for each step asked about; the checker's own sum, apart from that of the
 * planners. */
#include "check/certificate/proof_state.h"
#include "core/checked.h"
#include "core/fail.h"

typedef struct weighing {
    const arn_proof_case *c;
    uint64_t pools;
    int64_t step;
    arn_region scratch;
    bool *counts;    /* per buffer: alive, confined to the pools, and not within a living host */
    uint64_t *saved; /* per buffer: the most that an heir shares with it */
} weighing;

static bool alive(const weighing *w, uint32_t b) {
    const arenaut_problem *p = w->c->problem;
    return arenaut_problem_needs_memory(p, b) && !w->c->left_out[b] &&
           arn_proof_alive(arenaut_problem_lifetimes(p, b), arenaut_problem_lifetime_count(p, b),
                           w->step);
}

static bool within_living_host(const weighing *w, uint32_t b) {
    if (!w->c->slices->host) return false;
    for (uint32_t h = w->c->slices->host[b]; h != ARENAUT_NONE; h = w->c->slices->host[h]) {
        if (alive(w, h)) return true;
    }
    return false;
}

/* Writes per root the pools that its whole group may be in. */
static bool find_common_pools(weighing *w, uint32_t **root, uint64_t **common) {
    const arenaut_problem *p = w->c->problem;
    int64_t *delta = arn_region_allocate(&w->scratch, p->n_buffers, sizeof *delta);
    *root = arn_region_allocate(&w->scratch, p->n_buffers, sizeof **root);
    *common = arn_region_allocate(&w->scratch, p->n_buffers, sizeof **common);
    if (!delta || !*root || !*common) return false;
    arn_proof_groups(w->c, *root, delta);
    for (uint32_t b = 0; b < p->n_buffers; b++) (*common)[b] = UINT64_MAX;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (arenaut_problem_needs_memory(p, b)) (*common)[(*root)[b]] &= w->c->pools[b];
    }
    return true;
}

static bool choose_buffers(weighing *w) {
    const arenaut_problem *p = w->c->problem;
    uint32_t *root;
    uint64_t *common;
    w->counts = arn_region_allocate(&w->scratch, p->n_buffers, sizeof *w->counts);
    w->saved = arn_region_allocate(&w->scratch, p->n_buffers, sizeof *w->saved);
    if (!w->counts || !w->saved || !find_common_pools(w, &root, &common)) return false;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        w->saved[b] = 0;
        w->counts[b] = alive(w, b) && !(common[root[b]] & ~w->pools) && !within_living_host(w, b);
    }
    return true;
}

/* What the counted buffers need together, each rounded up to the grain. A buffer lies on no more
 * than one of its heirs at a time; but in several pools each may have a part of them. */
static uint64_t need_in_grains(const weighing *w, uint64_t grain) {
    const arenaut_problem *p = w->c->problem;
    /* Heirs of one buffer are apart, unless a separation says otherwise. */
    const bool one_heir = (w->pools & (w->pools - 1)) == 0 && p->n_separations == 0;
    uint64_t need = 0, saved = 0;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        w->saved[b] = 0;
        if (w->counts[b]) need += arn_aligned(p->size[b], grain);
    }
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        const uint32_t base = arenaut_problem_same_base(p, b);
        if (base == ARENAUT_NONE || !w->counts[b] || !w->counts[base]) continue;
        if (w->c->pair[b] == ARN_PAIR_APART) continue;
        const uint64_t share = arn_aligned(arn_min_u64(p->size[b], p->size[base]), grain);
        const uint64_t before = one_heir ? arn_min_u64(w->saved[base], share) : 0;
        saved += share - before;
        w->saved[base] = arn_max_u64(w->saved[base], share);
    }
    return need - saved;
}

/* The most that counted buffers share by separations, each two by themselves: a byte that several
 * cover is taken off at least as often as it is counted too much. */
static uint64_t shared_by_separations(const weighing *w) {
    const arenaut_problem *p = w->c->problem;
    uint64_t shared = 0;
    for (uint32_t i = 0; i < p->n_separations; i++) {
        const arenaut_separation *s = &p->separation[i];
        const uint64_t lower = p->size[s->lower],
                       raised = s->distance > 0 ? (uint64_t)s->distance : 0;
        if (!w->counts[s->upper] || !w->counts[s->lower] || raised >= lower) continue;
        if (!arn_add(shared, arn_min_u64(p->size[s->upper], lower - raised), &shared)) {
            return UINT64_MAX;
        }
    }
    return shared;
}

/* The most that the end of a counted buffer sticks out of what it really takes. */
static uint64_t most_waste(const weighing *w, uint64_t grain) {
    const arenaut_problem *p = w->c->problem;
    uint64_t waste = 0;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (!w->counts[b]) continue;
        waste = arn_max_u64(waste, arn_aligned(p->size[b], grain) - p->size[b]);
    }
    return waste;
}

/* The largest power of two that divides the offset of each counted buffer, whatever the plan. */
static uint64_t common_grain(const weighing *w) {
    const arenaut_problem *p = w->c->problem;
    uint64_t bits = 0;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (!w->counts[b]) continue;
        const uint64_t fixed = arenaut_problem_fixed_offset(p, b);
        bits |= arenaut_problem_align(p, b) | (fixed == ARENAUT_UNPLACED ? 0 : fixed);
    }
    return bits ? bits & (~bits + 1) : 1;
}

static uint64_t reserved_below(const arenaut_problem *p, uint32_t pool, uint64_t limit) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < p->n_reserved; i++) {
        const arenaut_reserved *r = &p->reserved[i];
        if (r->pool == pool && r->first < limit) bytes += arn_min_u64(r->end, limit) - r->first;
    }
    return bytes;
}

/* Whether so many bytes are more than the arenas may have together, or than each pool has free
 * below its limit, added up. */
static bool is_too_much(const weighing *w, uint64_t need) {
    uint64_t sum = 0;
    if (need > arn_proof_room(w->c, w->pools)) return true;
    for (uint32_t k = 0; k < w->c->problem->n_pools; k++) {
        if (!(w->pools >> k & 1)) continue;
        const uint64_t limit = arn_proof_limit(w->c, k);
        if (limit > ARENAUT_SIZE_MAX) return false;
        if (!arn_add(sum, limit - reserved_below(w->c->problem, k, limit), &sum)) return false;
    }
    return need > sum;
}

static bool judge(const weighing *w) {
    const bool one_pool = (w->pools & (w->pools - 1)) == 0;
    bool any = false;
    for (uint32_t b = 0; b < w->c->problem->n_buffers; b++) any = any || w->counts[b];
    if (!any) return false;
    const uint64_t shared = shared_by_separations(w), all = need_in_grains(w, 1);
    if (all > shared && is_too_much(w, all - shared)) return true;
    /* A reserved range may leave a part of a grain free, of several pools each may have a topmost
     * buffer, and who shares a part of a buffer may share no whole grain. */
    if (!one_pool || w->c->problem->n_reserved || shared) return false;
    const uint64_t most = common_grain(w);
    for (uint64_t grain = 2; grain && grain <= most; grain *= 2) {
        const uint64_t need = need_in_grains(w, grain), waste = most_waste(w, grain);
        if (need > waste && is_too_much(w, need - waste)) return true;
    }
    return false;
}

arenaut_status arn_proof_is_overloaded(const arn_proof_case *c, uint64_t pools, int64_t step,
                                       bool *over) {
    weighing w = {.c = c, .pools = pools, .step = step};
    const arenaut_problem *p = c->problem;
    (void)arn_proof_charge(c->meter, (uint64_t)p->n_buffers + p->n_lifetimes + p->n_separations);
    arn_region_init(&w.scratch, c->allocator);
    const bool done = choose_buffers(&w);
    *over = done && judge(&w);
    arn_region_free(&w.scratch);
    return done ? ARENAUT_OK : arn_no_memory(c->err);
}
