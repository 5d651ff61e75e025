/* Proofs of lower bounds with overlaps: one pool is shown to need more than it may have, by one
 * step, with the buffers that it does without named (overlap_bound.c), or by a search below that
 * height that finds nothing (overlap_search.h), each of its decisions being a line. Of several
 * pools each is shown to need its bound; that there is no plan at all is shown of one pool, or of
 * one buffer in each of its pools, as the planner's claim rests on no more than that. */
#include "planners/overlap/overlap.h"

#include "core/checked.h"
#include "core/fail.h"
#include "core/memory.h"
#include "planners/bounds/bounds.h"
#include "planners/bounds/hosts.h"
#include "planners/overlap/overlap_search.h"

typedef struct proof {
    arenaut_problem problem; /* with `pools` of its own */
    const arenaut_plan *plan;
    arn_certificate_log *log;
    arenaut_error *err;
    arn_budget *budget;
    uint64_t spent;
    arn_region region;
    uint64_t *pools;
    bool *left_out; /* scratch */
    arn_hosts hosts;
} proof;

/* ---- the lines of a search ---- */

/* A search that is written down, and the members of each of its groups. */
typedef struct scribe {
    proof *x;
    arn_overlap_model model;
    uint32_t *member_start, *member; /* per group; n + 1 */
} scribe;

enum { OPERATIONS_PER_STEP = 8 };

static bool spend(void *context, uint64_t steps) {
    const scribe *s = context;
    s->x->spent += steps;
    return arn_budget_spend(s->x->budget, OPERATIONS_PER_STEP * steps) &&
           s->x->spent < s->x->budget->effort && !s->x->log->failed;
}

static void close(void *context) {
    const scribe *s = context;
    arn_certificate_log_add(s->x->log, ARENAUT_PROOF_DEAD, 0, 0);
}

/* Whether groups of two buffers differ by `delta` exactly when the first is just above the other,
 * or level with it. A ban ends at one of these for some members of its groups. */
static bool is_literal(const scribe *s, uint32_t a, uint32_t b, int64_t delta, bool level) {
    const arn_overlap_forbidden f = arn_overlap_forbid(&s->x->problem, a, b);
    const int64_t buffers = delta + (int64_t)s->model.inner[a] - (int64_t)s->model.inner[b];
    if (f.first > f.last) return false;
    return level ? f.has_hole && buffers == 0 : buffers == f.last + 1;
}

static void split_pair(const scribe *s, const arn_overlap_pair *pair, int64_t delta) {
    for (uint32_t i = s->member_start[pair->g]; i < s->member_start[pair->g + 1]; i++) {
        for (uint32_t k = s->member_start[pair->h]; k < s->member_start[pair->h + 1]; k++) {
            const uint32_t a = s->member[i], b = s->member[k];
            const bool level = is_literal(s, a, b, delta, true);
            if (!level && !is_literal(s, a, b, delta, false)) continue;
            arn_certificate_log_add(s->x->log, level ? ARENAUT_PROOF_LEVEL : ARENAUT_PROOF_ABOVE, a,
                                    b);
            return;
        }
    }
}

/* The host of a group is its first member, and lies at the group's place. */
static void split(void *context, uint32_t at, int64_t delta) {
    const scribe *s = context;
    const arn_overlap_pair *pair = &s->model.pair[at];
    if (s->model.counts[pair->h]) {
        split_pair(s, pair, delta);
    } else { /* a reserved range */
        arn_certificate_log_add(s->x->log, ARENAUT_PROOF_HIGH, s->member[s->member_start[pair->g]],
                                s->model.fixed[pair->h] + (uint64_t)delta);
    }
}

static bool list_members(scribe *s, arn_region *region) {
    const arn_overlap_model *m = &s->model;
    const uint32_t n = s->x->problem.n_buffers;
    uint32_t *start = s->member_start =
        arn_region_allocate(region, (size_t)m->n + 2, sizeof *start);
    s->member = arn_region_allocate(region, n, sizeof *s->member);
    if (!start || !s->member) return false;
    for (uint32_t g = 0; g < m->n + 2; g++) start[g] = 0;
    for (uint32_t b = 0; b < n; b++) {
        if (m->group[b] != ARENAUT_NONE) start[m->group[b] + 2]++;
    }
    for (uint32_t g = 2; g < m->n + 2; g++) start[g] += start[g - 1];
    for (uint32_t turn = 0; turn < 2; turn++) { /* the member at the start of a group comes first */
        for (uint32_t b = 0; b < n; b++) {
            if (m->group[b] == ARENAUT_NONE || (m->inner[b] > 0) != turn) continue;
            s->member[start[m->group[b] + 1]++] = b;
        }
    }
    return true;
}

/* ---- one pool ---- */

static arenaut_status too_large(const proof *x) {
    return arn_fail(x->err, ARENAUT_REFUSED, 0,
                    "too large for a proof by search: more than %d pairs of buffers in use "
                    "together, or sizes that add up to 2^60",
                    ARN_OVERLAP_MOST_PAIRS);
}

static arenaut_status run_search(scribe *s, uint64_t limit, bool *shown) {
    proof *x = s->x;
    const arn_overlap_host host = {.allocator = x->log->allocator,
                                   .effort = UINT64_MAX,
                                   .spend = spend,
                                   .split = split,
                                   .close = close,
                                   .context = s};
    const uint32_t start = x->log->n;
    const uint64_t ample = arn_overlap_ample_height(&s->model);
    arn_overlap_answer answer;
    if (ample > ARN_OVERLAP_HIGHEST) return too_large(x);
    uint64_t *place = arn_allocate(x->log->allocator, s->model.n, sizeof *place);
    arenaut_status st = place ? ARENAUT_OK : arn_no_memory(x->err);
    if (st == ARENAUT_OK) {
        st =
            arn_overlap_search(&s->model, arn_min_u64(limit, ample), &host, place, &answer, x->err);
    }
    arn_release(x->log->allocator, place);
    if (st == ARENAUT_OK && x->log->failed) st = arn_no_memory(x->err);
    if (st != ARENAUT_OK) return st;
    if (answer == ARN_OVERLAP_STOPPED) {
        return arn_fail(x->err, ARENAUT_STOPPED, 0,
                        "the effort was spent before the proof was complete");
    }
    *shown = answer == ARN_OVERLAP_NONE;
    if (!*shown) arn_certificate_log_cut(x->log, start);
    return st;
}

static arenaut_status show_by_search(proof *x, uint32_t pool, uint64_t limit, bool *shown) {
    scribe s = {.x = x};
    arn_region region;
    bool too_many = false;
    arn_region_init(&region, x->log->allocator);
    arenaut_status st =
        arn_overlap_model_make(&x->problem, pool, x->log->allocator, &s.model, &too_many, x->err);
    if (st == ARENAUT_OK && too_many) st = too_large(x);
    if (st == ARENAUT_OK && !list_members(&s, &region)) st = arn_no_memory(x->err);
    if (st == ARENAUT_OK) st = run_search(&s, limit, shown);
    arn_overlap_model_free(&s.model);
    arn_region_free(&region);
    return st;
}

static arenaut_status show_by_load(proof *x, uint32_t pool, uint64_t limit, bool *shown) {
    uint64_t bytes;
    int64_t step = 0;
    arenaut_status st =
        arn_overlap_bound(&x->problem, pool, x->log->allocator, &bytes, &step, x->err);
    *shown = false;
    if (st != ARENAUT_OK || arn_end_of_free_bytes(&x->problem, pool, bytes) <= limit) return st;
    st = arn_overlap_bound_at(&x->problem, pool, step, x->log->allocator, &bytes, x->left_out,
                              x->err);
    if (st != ARENAUT_OK) return st;
    for (uint32_t b = 0; b < x->problem.n_buffers; b++) {
        if (x->left_out[b]) arn_certificate_log_add(x->log, ARENAUT_PROOF_WITHOUT, b, 0);
    }
    arn_certificate_log_add(x->log, ARENAUT_PROOF_LOAD, 0, (uint64_t)step);
    *shown = true;
    return ARENAUT_OK;
}

/* Adds a proof that the pool needs more than `limit` bytes, if it does. */
static arenaut_status show_pool(proof *x, uint32_t pool, uint64_t limit, bool *shown) {
    if (x->problem.n_pools > 1) {
        arn_certificate_log_add(x->log, ARENAUT_PROOF_POOLS, 0, UINT64_C(1) << pool);
    }
    const arenaut_status st = show_by_load(x, pool, limit, shown);
    return st != ARENAUT_OK || *shown ? st : show_by_search(x, pool, limit, shown);
}

/* ---- all pools ---- */

static uint64_t capacity_of(const proof *x, uint32_t pool) {
    return arn_min_u64(x->problem.pool[pool].capacity, ARENAUT_SIZE_MAX);
}

/* The largest arena of a pool that is below `bytes`. */
static uint64_t arena_below(const proof *x, uint32_t pool, uint64_t bytes) {
    return (bytes - 1) & ~(x->problem.pool[pool].align - 1);
}

static arenaut_status show_below(proof *x, uint32_t pool, uint64_t bytes, bool *shown) {
    const uint64_t arena = arena_below(x, pool, bytes);
    return show_pool(x, pool, arn_min_u64(arena, capacity_of(x, pool)), shown);
}

static arenaut_status show_sum(proof *x, bool *shown) {
    arenaut_status st = ARENAUT_OK;
    uint64_t sum = 0;
    *shown = true;
    for (uint32_t k = 0; k < x->problem.n_pools && st == ARENAUT_OK && *shown; k++) {
        const uint64_t bound = x->plan->lower_bound[k];
        sum += bound;
        if (bound == 0) continue;
        arn_certificate_log_add(x->log, ARENAUT_PROOF_ARENA, k, arena_below(x, k, bound));
        st = show_below(x, k, bound, shown);
    }
    *shown = *shown && sum >= x->plan->total_bound;
    arn_certificate_log_add(x->log, ARENAUT_PROOF_DEAD, 0, 0);
    return st;
}

/* Some pool cannot hold the buffers that have no other. */
static arenaut_status show_some_pool(proof *x, bool *shown) {
    const uint32_t start = x->log->n;
    *shown = false;
    for (uint32_t k = 0; k < x->problem.n_pools; k++) {
        arn_certificate_log_cut(x->log, start);
        const arenaut_status st = show_pool(x, k, capacity_of(x, k), shown);
        if (st != ARENAUT_OK || *shown) return st;
    }
    arn_certificate_log_cut(x->log, start);
    return ARENAUT_OK;
}

static uint32_t root_of(const proof *x, uint32_t b) { return x->hosts.root ? x->hosts.root[b] : b; }

static void choose_pools(proof *x, uint32_t root, uint64_t pools) {
    for (uint32_t b = 0; b < x->problem.n_buffers; b++) {
        if (root_of(x, b) == root) x->pools[b] = pools;
    }
}

/* That a buffer that has several pools has its place in none of them. */
static arenaut_status show_choice(proof *x, uint32_t root, bool *shown) {
    const uint64_t pools = x->pools[root];
    const uint32_t start = x->log->n;
    arenaut_status st = ARENAUT_OK;
    arn_certificate_log_add(x->log, ARENAUT_PROOF_POOL, root, 0);
    *shown = true;
    for (uint32_t k = 0; k < x->problem.n_pools && st == ARENAUT_OK && *shown; k++) {
        if (!(pools >> k & 1)) continue;
        choose_pools(x, root, UINT64_C(1) << k);
        st = show_pool(x, k, capacity_of(x, k), shown);
    }
    choose_pools(x, root, pools);
    if (!*shown) arn_certificate_log_cut(x->log, start);
    return st;
}

static arenaut_status show_no_plan(proof *x, bool *shown) {
    arenaut_status st = show_some_pool(x, shown);
    for (uint32_t b = 0; b < x->problem.n_buffers && st == ARENAUT_OK && !*shown; b++) {
        if (!arenaut_problem_needs_memory(&x->problem, b) || root_of(x, b) != b) continue;
        if (x->pools[b] & (x->pools[b] - 1)) st = show_choice(x, b, shown);
    }
    return st;
}

static arenaut_status show(proof *x) {
    bool shown = false;
    const arenaut_status st = x->plan->quality == ARENAUT_INFEASIBLE ? show_no_plan(x, &shown)
                              : x->problem.n_pools > 1
                                  ? show_sum(x, &shown)
                                  : show_below(x, 0, x->plan->total_bound, &shown);
    if (st != ARENAUT_OK || shown) return st;
    return arn_fail(x->err, ARENAUT_REFUSED, 0,
                    "there is nothing to certify: the bound is not reached by the search");
}

arenaut_status arn_overlap_prove(const arenaut_problem *problem, const arenaut_plan *plan,
                                 arn_budget *budget, arn_certificate_log *log, arenaut_error *err) {
    proof x = {.problem = *problem, .plan = plan, .log = log, .err = err, .budget = budget};
    const uint32_t n = problem->n_buffers;
    arn_region_init(&x.region, log->allocator);
    x.pools = arn_region_allocate(&x.region, n, sizeof *x.pools);
    x.left_out = arn_region_allocate(&x.region, n, sizeof *x.left_out);
    arenaut_status st = ARENAUT_OK;
    if (x.pools && x.left_out && arn_hosts_find(problem, &x.region, &x.hosts)) {
        for (uint32_t b = 0; b < n; b++) x.pools[b] = arenaut_problem_pools(problem, b);
        x.problem.pools = x.pools;
        st = show(&x);
        if (st == ARENAUT_OK && log->failed) st = arn_no_memory(err);
    } else {
        st = arn_no_memory(err);
    }
    arn_region_free(&x.region);
    return st;
}
