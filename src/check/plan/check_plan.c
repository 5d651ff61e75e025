/* check_plan: verification of a plan against its problem. First each buffer by itself, then all
 * pairs at once by an interval sweep (check_overlaps.c), then the stated sizes and bounds. O(n log
 * n).
 *
 * src/check shares no code with the planners and lowering but the helpers of src/core and src/ir:
 * it has lifetimes, slices, storages and aliases of its own. That is on purpose. A mistake in code
 * that both sides used would make a wrong plan and then accept it; do not move these functions to
 * where planners can call them. */
#include <inttypes.h>

#include "check/finding.h"
#include "check/plan/plan_rules.h"
#include "core/checked.h"

/* A buffer under examination. */
typedef struct placed {
    uint32_t b, pool;
    uint64_t size, offset, end;
    char store[24];
    const char *name;
} placed;

static arenaut_finding *found(const arn_plan_check *check, arenaut_rule rule, const placed *at) {
    arenaut_finding *f = check->finding;
    f->rule = rule;
    f->a = at->b;
    f->pool = at->pool;
    f->first = at->offset;
    f->end = at->end;
    return f;
}

static arenaut_status check_shape(const arn_plan_check *check) {
    const arenaut_problem *p = check->problem;
    const arenaut_plan *plan = check->plan;
    if (plan->n_buffers == p->n_buffers && plan->n_pools == p->n_pools) return ARENAUT_OK;
    check->finding->rule = ARENAUT_RULE_SHAPE;
    return arn_check_reject(check->finding, check->err,
                            "the plan places %" PRIu32 " buffers in %" PRIu32
                            " pools; the problem has %" PRIu32 " in %" PRIu32,
                            plan->n_buffers, plan->n_pools, p->n_buffers, p->n_pools);
}

static arenaut_status check_pool(const arn_plan_check *check, placed *at) {
    const arenaut_problem *p = check->problem;
    if (at->pool == ARENAUT_NONE) {
        found(check, ARENAUT_RULE_UNPLACED, at);
        return arn_check_reject(check->finding, check->err,
                                "buffer '%.120s' of %" PRIu64 " bytes has no place", at->name,
                                at->size);
    }
    if (at->pool >= p->n_pools) {
        found(check, ARENAUT_RULE_POOL, at);
        return arn_check_reject(check->finding, check->err,
                                "buffer '%.120s' is in pool %" PRIu32
                                ", which does not exist; there "
                                "are %" PRIu32,
                                at->name, at->pool, p->n_pools);
    }
    if (!(arenaut_problem_pools(p, at->b) >> at->pool & 1)) {
        found(check, ARENAUT_RULE_POOL, at);
        return arn_check_reject(check->finding, check->err,
                                "buffer '%.120s' is in pool %" PRIu32
                                ", which it may not use; allowed is the mask %#" PRIx64,
                                at->name, at->pool, arenaut_problem_pools(p, at->b));
    }
    return ARENAUT_OK;
}

static arenaut_status check_offset(const arn_plan_check *check, placed *at) {
    const arenaut_problem *p = check->problem;
    const uint64_t fixed = arenaut_problem_fixed_offset(p, at->b);
    const uint64_t align = arenaut_problem_align(p, at->b);
    if (!arn_add(at->offset, at->size, &at->end)) {
        at->end = at->offset;
        found(check, ARENAUT_RULE_OVERFLOW, at);
        return arn_check_reject(check->finding, check->err,
                                "buffer '%.120s': offset %" PRIu64 " plus size %" PRIu64
                                " is past the largest address, 2^63 - 1",
                                at->name, at->offset, at->size);
    }
    if (fixed != ARENAUT_UNPLACED && fixed != at->offset) {
        found(check, ARENAUT_RULE_FIXED, at);
        return arn_check_reject(check->finding, check->err,
                                "buffer '%.120s' is at offset %" PRIu64 " but is fixed at %" PRIu64,
                                at->name, at->offset, fixed);
    }
    if (at->offset & (align - 1)) {
        found(check, ARENAUT_RULE_ALIGNMENT, at);
        return arn_check_reject(check->finding, check->err,
                                "buffer '%.120s' is at offset %" PRIu64
                                ", which is not a multiple of %" PRIu64,
                                at->name, at->offset, align);
    }
    return ARENAUT_OK;
}

static arenaut_status check_capacity(const arn_plan_check *check, placed *at) {
    const arenaut_pool *pool = &check->problem->pool[at->pool];
    if (at->end <= pool->capacity) return ARENAUT_OK;
    found(check, ARENAUT_RULE_CAPACITY, at);
    return arn_check_reject(check->finding, check->err,
                            "buffer '%.80s' at [%" PRIu64 ", %" PRIu64
                            ") ends past the capacity of pool '%.80s', %" PRIu64,
                            at->name, at->offset, at->end, pool->name ? pool->name : "",
                            pool->capacity);
}

/* Binary search: the first reserved range that ends after `offset` in `pool`; n_reserved if there
 * is none. They are sorted and disjoint. */
static uint32_t reserved_after(const arenaut_problem *p, uint32_t pool, uint64_t offset) {
    uint32_t low = 0, high = p->n_reserved;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const arenaut_reserved *r = &p->reserved[middle];
        const bool passed = r->pool < pool || (r->pool == pool && r->end <= offset);
        if (passed) low = middle + 1;
        else high = middle;
    }
    return low;
}

static arenaut_status check_reserved(const arn_plan_check *check, placed *at) {
    const arenaut_problem *p = check->problem;
    const uint32_t i = reserved_after(p, at->pool, at->offset);
    if (i == p->n_reserved) return ARENAUT_OK;
    const arenaut_reserved *r = &p->reserved[i];
    if (r->pool != at->pool || r->first >= at->end) return ARENAUT_OK;
    arenaut_finding *f = found(check, ARENAUT_RULE_RESERVED, at);
    f->first = arn_max_u64(at->offset, r->first);
    f->end = arn_min_u64(at->end, r->end);
    return arn_check_reject(f, check->err,
                            "buffer '%.120s' at [%" PRIu64 ", %" PRIu64
                            ") touches the reserved range [%" PRIu64 ", %" PRIu64
                            ") of pool %" PRIu32,
                            at->name, at->offset, at->end, r->first, r->end, at->pool);
}

static arenaut_status check_inside(const arn_plan_check *check, const arn_check_slices *slices,
                                   placed *at) {
    if (!slices->host || slices->host[at->b] == ARENAUT_NONE) return ARENAUT_OK;
    const arenaut_plan *plan = check->plan;
    const uint32_t host = slices->host[at->b];
    const uint64_t delta = slices->delta[at->b];
    /* Compared by difference: the host's offset may be anything. */
    if (plan->pool[host] == at->pool && at->offset >= delta &&
        at->offset - delta == plan->offset[host]) {
        return ARENAUT_OK;
    }
    char host_store[24];
    found(check, ARENAUT_RULE_INSIDE, at)->b = host;
    return arn_check_reject(check->finding, check->err,
                            "buffer '%.80s' is at offset %" PRIu64 " of pool %" PRIu32
                            " but must lie %" PRIu64 " bytes inside '%.80s', which is at %" PRIu64
                            " of pool %" PRIu32,
                            at->name, at->offset, at->pool, delta,
                            arenaut_problem_buffer_name(check->problem, host, host_store),
                            plan->offset[host], plan->pool[host]);
}

static arenaut_status check_buffer(const arn_plan_check *check, const arn_check_slices *slices,
                                   uint32_t b) {
    placed at = {.b = b,
                 .pool = check->plan->pool[b],
                 .size = check->problem->size[b],
                 .offset = check->plan->offset[b],
                 .end = check->plan->offset[b]};
    at.name = arenaut_problem_buffer_name(check->problem, b, at.store);
    if (!arenaut_problem_needs_memory(check->problem, b)) {
        /* It needs no pool; if it names one, the pool must exist. */
        return at.pool == ARENAUT_NONE || at.pool < check->problem->n_pools
                   ? ARENAUT_OK
                   : check_pool(check, &at);
    }
    arenaut_status status = check_pool(check, &at);
    if (status == ARENAUT_OK) status = check_offset(check, &at);
    if (status == ARENAUT_OK) status = check_capacity(check, &at);
    if (status == ARENAUT_OK) status = check_reserved(check, &at);
    if (status == ARENAUT_OK) status = check_inside(check, slices, &at);
    return status;
}

static arenaut_status reject_arena(const arn_plan_check *check, uint32_t pool, uint64_t stated,
                                   uint64_t right) {
    check->finding->rule = ARENAUT_RULE_ARENA;
    check->finding->pool = pool;
    if (pool == ARENAUT_NONE) {
        return arn_check_reject(check->finding, check->err,
                                "the plan states a total of %" PRIu64
                                " bytes; its arenas add up to %" PRIu64,
                                stated, right);
    }
    return arn_check_reject(
        check->finding, check->err,
        "the plan states an arena of %" PRIu64 " bytes for pool %" PRIu32
        "; its highest address, rounded up to the pool's alignment, is %" PRIu64,
        stated, pool, right);
}

static arenaut_status check_arenas(const arn_plan_check *check) {
    const arenaut_problem *p = check->problem;
    const arenaut_plan *plan = check->plan;
    uint64_t highest[ARENAUT_MAX_POOLS] = {0}, total = 0;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (!arenaut_problem_needs_memory(p, b)) continue;
        uint64_t *top = &highest[plan->pool[b]];
        *top = arn_max_u64(*top, plan->offset[b] + p->size[b]);
    }
    for (uint32_t i = 0; i < p->n_pools; i++) {
        /* A plan whose arenas add up past the largest number is wrong in any case. */
        if (!arn_align_up(highest[i], p->pool[i].align, &highest[i]) ||
            !arn_add(total, highest[i], &total)) {
            return reject_arena(check, i, plan->arena[i], ARENAUT_SIZE_MAX);
        }
        if (plan->arena[i] != highest[i]) return reject_arena(check, i, plan->arena[i], highest[i]);
    }
    if (plan->total != total) return reject_arena(check, ARENAUT_NONE, plan->total, total);
    return ARENAUT_OK;
}

/* The cheapest pool of a buffer is its first; each pool further on costs its traffic once more. */
static arenaut_status check_spill(const arn_plan_check *check) {
    const arenaut_problem *p = check->problem;
    uint64_t spill = 0;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (!arenaut_problem_needs_memory(p, b)) continue;
        for (uint32_t k = 0; k < check->plan->pool[b]; k++) {
            if (!(arenaut_problem_pools(p, b) >> k & 1)) continue;
            spill += p->size[b] * arenaut_problem_uses(p, b); /* no overflow: it is valid */
        }
    }
    if (spill == check->plan->spill) return ARENAUT_OK;
    check->finding->rule = ARENAUT_RULE_ARENA;
    return arn_check_reject(check->finding, check->err,
                            "the plan states a spill of %" PRIu64
                            " byte-uses into slower pools; its buffers add up to %" PRIu64,
                            check->plan->spill, spill);
}

/* A lower bound must not exceed the size reached. Its validity for *any* plan is the planner's
 * proof and not looked at here; the load at each step needs no look, since buffers that were found
 * disjoint cannot add up to more than the arena. */
static arenaut_status check_bounds(const arn_plan_check *check) {
    const arenaut_plan *plan = check->plan;
    arenaut_finding *f = check->finding;
    for (uint32_t i = 0; i < plan->n_pools; i++) {
        if (plan->lower_bound[i] <= plan->arena[i]) continue;
        f->rule = ARENAUT_RULE_BOUND;
        f->pool = i;
        return arn_check_reject(f, check->err,
                                "the lower bound of pool %" PRIu32 " is stated as %" PRIu64
                                ", above its arena of %" PRIu64,
                                i, plan->lower_bound[i], plan->arena[i]);
    }
    if (plan->total_bound > plan->total) {
        f->rule = ARENAUT_RULE_BOUND;
        return arn_check_reject(
            f, check->err, "the lower bound is stated as %" PRIu64 ", above the total of %" PRIu64,
            plan->total_bound, plan->total);
    }
    if (plan->spill_bound > plan->spill) {
        f->rule = ARENAUT_RULE_BOUND;
        return arn_check_reject(
            f, check->err, "the least spill is stated as %" PRIu64 ", above the plan's, %" PRIu64,
            plan->spill_bound, plan->spill);
    }
    if (plan->quality == ARENAUT_OPTIMAL && plan->spill_bound != plan->spill) {
        f->rule = ARENAUT_RULE_BOUND;
        return arn_check_reject(
            f, check->err,
            "the plan is called optimal and spills %" PRIu64
            " byte-uses into slower pools, but the least known is only %" PRIu64,
            plan->spill, plan->spill_bound);
    }
    if (plan->quality == ARENAUT_OPTIMAL && plan->total_bound != plan->total) {
        f->rule = ARENAUT_RULE_BOUND;
        return arn_check_reject(f, check->err,
                                "the plan is called optimal at %" PRIu64
                                " bytes, but its lower bound is only %" PRIu64,
                                plan->total, plan->total_bound);
    }
    return ARENAUT_OK;
}

static arenaut_status check_placement(const arn_plan_check *check, const arn_check_slices *slices) {
    arenaut_status status = ARENAUT_OK;
    for (uint32_t b = 0; b < check->problem->n_buffers && status == ARENAUT_OK; b++) {
        status = check_buffer(check, slices, b);
    }
    if (status == ARENAUT_OK) status = arn_check_overlaps(check, slices);
    if (status == ARENAUT_OK) status = arn_check_tokens(check);
    if (status == ARENAUT_OK) status = check_arenas(check);
    if (status == ARENAUT_OK) status = check_spill(check);
    if (status == ARENAUT_OK) status = check_bounds(check);
    return status;
}

arenaut_status arenaut_check_plan(const arenaut_problem *problem, const arenaut_plan *plan,
                                  const arenaut_allocator *allocator, arenaut_finding *finding,
                                  arenaut_error *err) {
    const arn_plan_check check = {problem, plan, allocator, finding, err};
    *finding = arn_check_no_finding();
    /* Relations can be trusted only in a valid problem, and the caller may own its arrays. */
    arenaut_status status = arenaut_problem_validate(problem, err);
    if (status == ARENAUT_OK) status = check_shape(&check);
    if (status != ARENAUT_OK) return status;
    arn_check_slices slices;
    status = arn_check_slices_make(&check, &slices);
    if (status != ARENAUT_OK) return status;
    status = plan->quality == ARENAUT_INFEASIBLE ? arn_check_witness(&check, &slices)
                                                 : check_placement(&check, &slices);
    arn_region_free(&slices.region);
    return status;
}
