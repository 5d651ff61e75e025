/* case_bounds: builds a case's model, for its bound alone. Searching (cases.c) and proving
 * (prove.c) go through cases in different orders, but compare their bounds in the same way. */
#include "planners/exact/case_bounds.h"

#include "core/checked.h"
#include "planners/exact/model_make.h"

arenaut_status arn_exact_bound_pool(const arn_exact_case *c, uint64_t *bound, bool *possible,
                                    uint64_t *effort, arenaut_error *err) {
    const arenaut_pool *pool = &c->in.problem->pool[c->in.pool];
    arn_exact_model m;
    const arenaut_status st = arn_exact_model_make(c, &m, err);
    if (st != ARENAUT_OK) return st;
    const uint64_t bytes = (uint64_t)m.bound * m.unit;
    *bound = arn_aligned(bytes, pool->align);
    *possible = !m.clash && bytes <= pool->capacity;
    *effort += (m.member_start[m.n_cliques] + m.n) / ARN_EXACT_OPERATIONS_PER_EFFORT + 1;
    arn_exact_model_free(&m);
    return ARENAUT_OK;
}

uint64_t arn_exact_sum_bounds(const arenaut_problem *p, const uint64_t *bound) {
    uint64_t sum = 0;
    for (uint32_t k = 0; k < p->n_pools; k++) {
        if (!arn_add(sum, bound[k], &sum)) return ARENAUT_SIZE_MAX;
    }
    return sum;
}
