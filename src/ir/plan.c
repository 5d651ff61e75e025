/* Plans: making, measuring and freeing them. A plan is filled by a planner and all figures about it
 * are worked out here: arenas and totals follow from offsets, in O(buffers). */
#include <arenaut/plan.h>

#include "core/checked.h"
#include "core/fail.h"
#include "core/memory.h"
#include "ir/problem.h"
#include "ir/store.h"

struct arenaut_plan_store {
    arn_region region;
    arenaut_plan plan;
};

arenaut_status arenaut_plan_new(uint32_t n_buffers, uint32_t n_pools,
                                const arenaut_allocator *allocator, arenaut_plan **out,
                                arenaut_error *err) {
    struct arenaut_plan_store *store = arn_allocate_zeroed(allocator, 1, sizeof *store);
    if (!store) return arn_no_memory(err);
    arn_region_init(&store->region, allocator);
    arenaut_plan *plan = &store->plan;
    plan->store = store;
    plan->n_buffers = n_buffers;
    plan->n_pools = n_pools;
    plan->quality = ARENAUT_FEASIBLE;
    plan->planner = "";
    plan->witness.pool = ARENAUT_NONE;
    if (!ARN_REGION_ARRAYS(&store->region, ARN_ARRAY(plan->pool, n_buffers),
                           ARN_ARRAY(plan->offset, n_buffers), ARN_ARRAY(plan->arena, n_pools),
                           ARN_ARRAY(plan->lower_bound, n_pools))) {
        arenaut_plan_free(plan);
        return arn_no_memory(err);
    }
    for (uint32_t b = 0; b < n_buffers; b++) plan->pool[b] = ARENAUT_NONE;
    *out = plan;
    return ARENAUT_OK;
}

void arenaut_plan_free(arenaut_plan *plan) {
    if (!plan) return;
    struct arenaut_plan_store *store = plan->store;
    const arenaut_allocator allocator = store->region.allocator;
    arn_release(&allocator, plan->witness.buffers);
    arn_region_free(&store->region);
    arn_release(&allocator, store);
}

void arn_plan_use_allocator(arenaut_plan *plan, const arenaut_allocator *allocator) {
    if (plan) plan->store->region.allocator = arn_allocator_or_default(allocator);
}

const char *arn_plan_copy_text(arenaut_plan *plan, const char *text, size_t length) {
    return arn_region_copy_text(&plan->store->region, text, length);
}

static arenaut_status too_large(const arenaut_problem *problem, uint32_t b, arenaut_error *err) {
    char store[24];
    return arn_fail(err, ARENAUT_TOO_LARGE, 0, "buffer '%s' ends past byte 2^63",
                    arenaut_problem_buffer_name(problem, b, store));
}

/* Here the problem need not be a valid one, and the plan may use pools it must not. */
static arenaut_status measure_spill(arenaut_plan *plan, const arenaut_problem *problem,
                                    arenaut_error *err) {
    plan->spill = 0;
    for (uint32_t b = 0; b < plan->n_buffers; b++) {
        const uint32_t p = plan->pool[b];
        if (p >= plan->n_pools || !arenaut_problem_needs_memory(problem, b)) continue;
        uint64_t spill;
        if (!arn_multiply(problem->size[b], arenaut_problem_uses(problem, b), &spill) ||
            !arn_multiply(spill, arn_problem_rank(problem, b, p), &spill) ||
            !arn_add(plan->spill, spill, &plan->spill)) {
            return arn_fail(err, ARENAUT_TOO_LARGE, 0,
                            "the buffers spill more than 2^63 - 1 byte-uses into slower pools");
        }
    }
    return ARENAUT_OK;
}

arenaut_status arenaut_plan_measure(arenaut_plan *plan, const arenaut_problem *problem,
                                    arenaut_error *err) {
    for (uint32_t p = 0; p < plan->n_pools; p++) plan->arena[p] = 0;
    for (uint32_t b = 0; b < plan->n_buffers; b++) {
        const uint32_t p = plan->pool[b];
        if (p >= plan->n_pools || !arenaut_problem_needs_memory(problem, b)) continue;
        uint64_t end;
        if (!arn_add(plan->offset[b], problem->size[b], &end)) return too_large(problem, b, err);
        plan->arena[p] = arn_max_u64(plan->arena[p], end);
    }
    plan->total = 0;
    for (uint32_t p = 0; p < plan->n_pools; p++) {
        if (!arn_align_up(plan->arena[p], problem->pool[p].align, &plan->arena[p]) ||
            !arn_add(plan->total, plan->arena[p], &plan->total)) {
            return arn_fail(err, ARENAUT_TOO_LARGE, 0, "the arenas together pass 2^63 bytes");
        }
    }
    return measure_spill(plan, problem, err);
}
