/* Certificates of lower bounds: proofs that no plan can be better than a given one, for others to
 * check.
 *
 * Reasons that need no search come first, since almost every bound is one of them and they are
 * found for problems of any size in O(n log n); then an exact search that is logged
 * (exact/prove.c); if buffers may overlap, overlap/overlap_proof.c. The meaning of a line is in
 * include/arenaut/certificate.h; check_certificate.c follows it with code of its own. */
#include <arenaut/certificate.h>
#include <arenaut/planner.h>

#include "core/budget.h"
#include "core/checked.h"
#include "core/fail.h"
#include "planners/bounds/bounds.h"
#include "planners/bounds/load.h"
#include "planners/exact/exact.h"
#include "planners/overlap/overlap.h"

typedef struct reasons {
    const arenaut_problem *p;
    arn_load load;
    arn_rooms rooms;
    uint64_t bound;
    arn_poll *poll;
    arn_certificate_log *log;
} reasons;

static void add(const reasons *r, arenaut_proof_rule rule, uint32_t item, uint64_t value) {
    arn_certificate_log_add(r->log, rule, item, value);
}

/* The bytes of a pool that are not reserved, up to a limit. */
static uint64_t free_below(const arenaut_problem *p, uint32_t pool, uint64_t limit) {
    uint64_t free_bytes = limit;
    for (uint32_t i = 0; i < p->n_reserved; i++) {
        const arenaut_reserved *r = &p->reserved[i];
        if (r->pool == pool && r->first < limit) {
            free_bytes -= arn_min_u64(r->end, limit) - r->first;
        }
    }
    return free_bytes;
}

static bool by_load(const reasons *r, uint32_t pool, uint64_t limit) {
    const arn_load_peak peak = arn_load_highest(&r->load, UINT64_C(1) << pool, NULL, r->poll);
    const uint64_t free_bytes = free_below(r->p, pool, limit);
    if (peak.bytes > free_bytes) {
        add(r, ARENAUT_PROOF_LOAD, 0, (uint64_t)peak.step);
        return true;
    }
    if (peak.stacked <= free_bytes) return false;
    add(r, ARENAUT_PROOF_LOAD, 0, (uint64_t)peak.stacked_step);
    return true;
}

static bool by_single_buffer(const reasons *r, uint32_t pool, uint64_t limit) {
    for (uint32_t b = 0; b < r->p->n_buffers; b++) {
        if (!arenaut_problem_needs_memory(r->p, b)) continue;
        if (arenaut_problem_pools(r->p, b) != UINT64_C(1) << pool) continue;
        if (arn_lowest_end(&r->rooms, b, pool) <= limit) continue;
        add(r, ARENAUT_PROOF_DEAD, 0, 0);
        return true;
    }
    return false;
}

static bool by_edge(const reasons *r, uint32_t pool, uint64_t limit) {
    const arenaut_problem *p = r->p;
    const uint64_t free_bytes = free_below(p, pool, limit);
    for (uint32_t i = 0; i < p->n_conflicts; i++) {
        const uint32_t end[2] = {p->conflict[i].a, p->conflict[i].b};
        bool plain = true;
        for (int k = 0; k < 2; k++) {
            plain = plain && arenaut_problem_needs_memory(p, end[k]) &&
                    arenaut_problem_pools(p, end[k]) == UINT64_C(1) << pool &&
                    arenaut_problem_inside(p, end[k]) == ARENAUT_NONE &&
                    arenaut_problem_same_base(p, end[k]) != end[1 - k];
        }
        if (!plain || p->size[end[0]] + p->size[end[1]] <= free_bytes) continue;
        add(r, ARENAUT_PROOF_EDGE, i, 0);
        return true;
    }
    return false;
}

static bool needs_more(const reasons *r, uint32_t pool, uint64_t limit) {
    return by_load(r, pool, limit) || by_single_buffer(r, pool, limit) || by_edge(r, pool, limit);
}

static uint64_t capacity_of(const reasons *r, uint32_t pool) {
    return arn_min_u64(r->p->pool[pool].capacity, ARENAUT_SIZE_MAX);
}

static bool in_one_pool(const reasons *r) {
    uint64_t limit = capacity_of(r, 0);
    if (r->bound != ARENAUT_UNPLACED) {
        limit = arn_min_u64(limit, (r->bound - 1) & ~(r->p->pool[0].align - 1));
    }
    return needs_more(r, 0, limit);
}

/* The load at one step, over all pools. */
static bool by_load_of_all(const reasons *r) {
    const uint32_t n = r->p->n_pools;
    const uint64_t every = n >= 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1;
    const arn_load_peak peak = arn_load_highest(&r->load, every, NULL, r->poll);
    uint64_t room = 0;
    for (uint32_t k = 0; k < n && room != ARENAUT_UNLIMITED; k++) {
        const uint64_t capacity = r->p->pool[k].capacity;
        if (capacity > ARENAUT_SIZE_MAX || !arn_add(room, free_below(r->p, k, capacity), &room)) {
            room = ARENAUT_UNLIMITED;
        }
    }
    if (r->bound != ARENAUT_UNPLACED) room = arn_min_u64(room, r->bound - 1);
    if (peak.bytes <= room) return false;
    add(r, ARENAUT_PROOF_LOAD, 0, (uint64_t)peak.step);
    return true;
}

/* One pool by itself cannot hold the buffers that may lie nowhere else. */
static bool in_some_pool(const reasons *r) {
    for (uint32_t k = 0; k < r->p->n_pools; k++) {
        const uint32_t start = r->log->n;
        add(r, ARENAUT_PROOF_POOLS, 0, UINT64_C(1) << k);
        if (needs_more(r, k, capacity_of(r, k))) return true;
        arn_certificate_log_cut(r->log, start);
    }
    return false;
}

/* The sum of the bounds of the pools. */
static bool in_all_pools(const reasons *r, const uint64_t *per_pool) {
    const uint32_t start = r->log->n;
    uint64_t sum = 0;
    for (uint32_t k = 0; k < r->p->n_pools; k++) sum += per_pool[k];
    if (sum < r->bound) return false;
    for (uint32_t k = 0; k < r->p->n_pools; k++) {
        const uint64_t below = per_pool[k] - r->p->pool[k].align;
        if (per_pool[k] == 0) continue;
        add(r, ARENAUT_PROOF_ARENA, k, below);
        add(r, ARENAUT_PROOF_POOLS, 0, UINT64_C(1) << k);
        if (needs_more(r, k, arn_min_u64(below, r->p->pool[k].capacity))) continue;
        arn_certificate_log_cut(r->log, start);
        return false;
    }
    add(r, ARENAUT_PROOF_DEAD, 0, 0);
    return true;
}

/* *found: the log holds a proof. */
static arenaut_status find_reason(reasons *r, const arenaut_allocator *allocator, bool *found,
                                  arenaut_error *err) {
    arn_bounds bounds;
    arenaut_status st = arn_bounds_find(r->p, NULL, r->poll, allocator, &bounds, err);
    if (st == ARENAUT_OK) st = arn_load_init(&r->load, r->p, allocator, err);
    if (st != ARENAUT_OK) return st;
    if (!arn_rooms_make(&r->rooms, r->p, allocator)) {
        arn_load_free(&r->load);
        return arn_no_memory(err);
    }
    *found = r->p->n_pools == 1
                 ? in_one_pool(r)
                 : by_load_of_all(r) || in_some_pool(r) ||
                       (r->bound != ARENAUT_UNPLACED && in_all_pools(r, bounds.per_pool));
    arn_rooms_free(&r->rooms);
    arn_load_free(&r->load);
    return ARENAUT_OK;
}

static arenaut_verdict poll_caller(void *context) {
    arn_budget *budget = context;
    arn_budget_goes_on(budget);
    return budget->verdict;
}

static arenaut_status write_proof(const arenaut_problem *problem, const arenaut_plan *plan,
                                  uint64_t bound, arn_budget *budget, arn_certificate_log *log,
                                  arenaut_error *err) {
    arn_poll poll = {.callback = poll_caller, .context = budget};
    reasons r = {.p = problem, .bound = bound, .poll = &poll, .log = log};
    bool found = false;
    if (bound == 0) return ARENAUT_OK; /* needs no proof */
    if (problem->n_separations) return arn_overlap_prove(problem, plan, budget, log, err);
    const arenaut_status st = find_reason(&r, log->allocator, &found, err);
    if (st != ARENAUT_OK || found) return st;
    const arn_exact_input in = {.problem = problem,
                                .arena = ARENAUT_UNPLACED,
                                .effort = budget->effort,
                                .allocator = log->allocator};
    return arn_exact_prove(&in, &poll, bound, log, err);
}

static arenaut_status certify(const arenaut_problem *problem, const arenaut_plan *plan,
                              arn_budget *budget, const arenaut_allocator *allocator,
                              arenaut_certificate **out, arenaut_error *err) {
    const uint64_t bound =
        plan->quality == ARENAUT_INFEASIBLE ? ARENAUT_UNPLACED : plan->total_bound;
    arenaut_status st = arenaut_problem_validate(problem, err);
    if (st != ARENAUT_OK) return st;
    if (bound != ARENAUT_UNPLACED && arenaut_problem_chooses_pools(problem)) {
        return arn_fail(err, ARENAUT_REFUSED, 0,
                        "no certificate covers a choice of pools: the least spill, "
                        "and the least total with it, rest on the search");
    }
    arn_certificate_log log = {.allocator = allocator};
    st = write_proof(problem, plan, bound, budget, &log, err);
    if (st == ARENAUT_OK) return arn_certificate_log_finish(&log, problem, bound, out, err);
    arn_certificate_log_free(&log);
    return st;
}

arenaut_status arenaut_certify_with(const arenaut_problem *problem, const arenaut_plan *plan,
                                    const arenaut_plan_options *options,
                                    const arenaut_allocator *allocator, arenaut_certificate **out,
                                    arenaut_error *err) {
    const uint64_t effort = options->effort ? options->effort : arenaut_default_effort();
    arn_budget budget = arn_budget_make(effort, options->progress, options->progress_context);
    return certify(problem, plan, &budget, allocator, out, err);
}

arenaut_status arenaut_certify(const arenaut_problem *problem, const arenaut_plan *plan,
                               uint64_t effort, const arenaut_allocator *allocator,
                               arenaut_certificate **out, arenaut_error *err) {
    const arenaut_plan_options options = {.effort = effort};
    return arenaut_certify_with(problem, plan, &options, allocator, out, err);
}
