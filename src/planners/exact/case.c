/* case: questions about two buffers that the model, the search and the proofs all ask. Each is
 * answered from the problem itself, without a model. A search asks them a few times per
 * packing; what its inner loop needs is in the model (exact_model.h). */
#include "planners/exact/case.h"

#include "ir/lifetimes.h"
#include "ir/pair_relations.h"

arn_exact_case arn_exact_case_of(const arn_exact_input *in, const uint8_t *pair,
                                 const uint32_t *pool_of, uint32_t pool) {
    arn_exact_case c = {*in, pair};
    c.in.pool = pool;
    c.in.pool_of = pool_of;
    c.in.progress = NULL;
    return c;
}

uint32_t arn_exact_base_of(const arn_exact_input *in, uint32_t b) {
    const uint32_t base = arenaut_problem_same_base(in->problem, b);
    if (base == ARENAUT_NONE || !arn_exact_in_pool(in, b)) return ARENAUT_NONE;
    return arn_exact_in_pool(in, base) ? base : ARENAUT_NONE;
}

uint32_t arn_exact_heir_of(const arenaut_problem *p, uint32_t a, uint32_t b) {
    if (arenaut_problem_same_base(p, a) == b) return a;
    return arenaut_problem_same_base(p, b) == a ? b : ARENAUT_NONE;
}

bool arn_exact_is_pair(const arn_exact_input *in, uint32_t heir) {
    const uint32_t base = arn_exact_base_of(in, heir);
    return base != ARENAUT_NONE && arn_exact_conflict(in->problem, heir, base);
}

bool arn_exact_conflict(const arenaut_problem *p, uint32_t a, uint32_t b) {
    return arn_alive_together(p, a, b) || arn_have_edge(p, a, b);
}

static bool lies_inside(const arenaut_problem *p, uint32_t slice, uint32_t host) {
    uint32_t at = arenaut_problem_inside(p, slice);
    while (at != ARENAUT_NONE && at != host) at = arenaut_problem_inside(p, at);
    return at != ARENAUT_NONE;
}

bool arn_exact_must_be_apart(const arenaut_problem *p, uint32_t a, uint32_t b,
                             const uint64_t *place) {
    if (place[a] == place[b] && arn_exact_heir_of(p, a, b) != ARENAUT_NONE) return false;
    return arn_exact_conflict(p, a, b) && !lies_inside(p, a, b) && !lies_inside(p, b, a);
}

uint32_t arn_exact_only_pool(const arenaut_problem *p, uint32_t b) {
    const uint64_t pools = arenaut_problem_pools(p, b);
    return pools & (pools - 1) ? ARENAUT_NONE : arn_lowest_bit(pools);
}
