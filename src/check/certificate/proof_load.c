/* proof_load: the load at a step, the checker's own sum, apart from that of the planners:
 * O(buffers) for each step asked about. */
#include "check/certificate/proof_load.h"

#include "core/checked.h"
#include "core/fail.h"

uint64_t arn_proof_multiples_below(uint64_t end, uint64_t grain) {
    return end / grain + (end % grain != 0);
}

uint64_t arn_proof_multiples_within(uint64_t size, uint64_t align, uint64_t grain) {
    const uint64_t skipped = align < grain ? grain - align : 0;
    return size > skipped ? arn_proof_multiples_below(size - skipped, grain) : 0;
}

typedef struct weighing {
    const arn_proof_case *c;
    uint64_t pools;
    int64_t step;
    arn_region scratch;
    bool *counts;    /* per buffer: alive, confined to the pools, not within a living host, and no
                      * slice of a slice */
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

/* A slice of a slice may be an heir and the base of others, and so save more bytes than it has: the
 * load is higher without it. Separations are counted beside it (overlap_bound.c). */
static bool is_slice_of_slice(const weighing *w, uint32_t b) {
    const uint32_t *host = w->c->problem->n_separations == 0 ? w->c->slices->host : NULL;
    return host && host[b] != ARENAUT_NONE && host[host[b]] != ARENAUT_NONE;
}

/* Writes per root the common pools of its whole group. */
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
        w->counts[b] = alive(w, b) && !(common[root[b]] & ~w->pools) && !within_living_host(w, b) &&
                       !is_slice_of_slice(w, b);
    }
    return true;
}

/* The most that counted buffers share with their heirs, in grains: multiples of it, those begun
 * included. A buffer lies on no more than one of its heirs at a time; but in several pools each may
 * have a part of them. */
static uint64_t shared_with_heirs(const weighing *w, uint64_t grain) {
    const arenaut_problem *p = w->c->problem;
    /* Heirs of one buffer are apart, unless a separation says otherwise. */
    const bool one_heir = (w->pools & (w->pools - 1)) == 0 && p->n_separations == 0;
    uint64_t saved = 0;
    for (uint32_t b = 0; b < p->n_buffers; b++) w->saved[b] = 0;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        const uint32_t base = arenaut_problem_same_base(p, b);
        if (base == ARENAUT_NONE || !w->counts[b] || !w->counts[base]) continue;
        if (w->c->pair[b] == ARN_PAIR_APART) continue;
        const uint64_t share =
            arn_proof_multiples_below(arn_min_u64(p->size[b], p->size[base]), grain);
        const uint64_t before = one_heir ? arn_min_u64(w->saved[base], share) : 0;
        saved += share - before;
        w->saved[base] = arn_max_u64(w->saved[base], share);
    }
    return saved;
}

/* The bytes that the counted buffers need together. */
static uint64_t sum_of_sizes(const weighing *w) {
    uint64_t need = 0;
    for (uint32_t b = 0; b < w->c->problem->n_buffers; b++) {
        if (w->counts[b]) need += w->c->problem->size[b];
    }
    return need - shared_with_heirs(w, 1);
}

/* An upper bound on the bytes that counted buffers share by separations, each two by themselves: a
 * byte that several cover is subtracted at least as often as it is counted too much. */
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

static uint64_t reserved_below(const arenaut_problem *p, uint32_t pool, uint64_t limit) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < p->n_reserved; i++) {
        const arenaut_reserved *r = &p->reserved[i];
        if (r->pool == pool && r->first < limit) bytes += arn_min_u64(r->end, limit) - r->first;
    }
    return bytes;
}

/* Whether so many bytes are more than the arenas may have together, or than the free bytes of all
 * pools below their limits. */
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

/* The highest start below the limit of a buffer outside of reserved ranges; false: there is none.
 */
static bool find_highest_start(const arenaut_problem *p, uint32_t pool, uint32_t b, uint64_t limit,
                               uint64_t *start) {
    const uint64_t align = arenaut_problem_align(p, b), size = p->size[b];
    uint64_t end = limit;
    for (uint32_t i = p->n_reserved; size <= end; i--) {
        *start = (end - size) & ~(align - 1);
        while (i > 0 &&
               (p->reserved[i - 1].pool != pool || p->reserved[i - 1].first >= *start + size)) {
            i--;
        }
        if (i == 0 || p->reserved[i - 1].end <= *start) return true;
        end = p->reserved[i - 1].first;
    }
    return false;
}

/* The multiples of the grain below `end` outside of reserved ranges. */
static uint64_t free_multiples(const arenaut_problem *p, uint32_t pool, uint64_t end,
                               uint64_t grain) {
    uint64_t n = arn_proof_multiples_below(end, grain);
    for (uint32_t i = 0; i < p->n_reserved; i++) {
        const arenaut_reserved *r = &p->reserved[i];
        if (r->pool != pool || r->first >= end) continue;
        n -= arn_proof_multiples_below(arn_min_u64(r->end, end), grain) -
             arn_proof_multiples_below(r->first, grain);
    }
    return n;
}

/* No two counted buffers have a multiple of the grain in common, but for an heir and its base, and
 * all lie below the start of the topmost. Whether there are too few for that in the pool. */
static bool lacks_free_multiples(const weighing *w, uint32_t pool, uint64_t limit, uint64_t grain) {
    const arenaut_problem *p = w->c->problem;
    uint64_t all = 0;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (!w->counts[b]) continue;
        all += arn_proof_multiples_within(p->size[b], arenaut_problem_align(p, b), grain);
    }
    const uint64_t shared = shared_with_heirs(w, grain);
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        uint64_t start;
        if (!w->counts[b] || !find_highest_start(p, pool, b, limit, &start)) continue;
        const uint64_t at_top =
            shared + arn_proof_multiples_within(p->size[b], arenaut_problem_align(p, b), grain);
        if (all <= at_top || all - at_top <= free_multiples(p, pool, start, grain)) return false;
    }
    return true;
}

static bool judge(const weighing *w) {
    const arenaut_problem *p = w->c->problem;
    const bool one_pool = (w->pools & (w->pools - 1)) == 0;
    uint64_t n = 0, aligns = 0;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (!w->counts[b]) continue;
        aligns |= arenaut_problem_align(p, b);
        n++;
    }
    if (n == 0) return false;
    const uint64_t shared = shared_by_separations(w), all = sum_of_sizes(w);
    if (all > shared && is_too_much(w, all - shared)) return true;
    /* In several pools there are several topmost buffers, and buffers that share a part by a
     * separation have some multiples in common. */
    if (!one_pool || shared) return false;
    const uint32_t pool = arn_lowest_bit(w->pools);
    const uint64_t limit = arn_proof_limit(w->c, pool);
    for (uint64_t grain = 2; grain && grain <= aligns && limit <= ARENAUT_SIZE_MAX; grain *= 2) {
        const uint64_t work = n * (1 + (uint64_t)p->n_reserved) + p->n_buffers;
        if (!arn_proof_charge(w->c->meter, work)) return false;
        if (lacks_free_multiples(w, pool, limit, grain)) return true;
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
