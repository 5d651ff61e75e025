/* model_build: when two buffers of a case are in each other's way. Like the questions of case.h,
 * but about what relations have left of lifetimes and edges. */
#include "planners/exact/model_build.h"

#include <inttypes.h>

#include "core/fail.h"
#include "ir/lifetimes.h"
#include "ir/pair_relations.h"

bool arn_exact_lives_meet(const arn_exact_build *x, uint32_t a, uint32_t b) {
    return arn_lives_meet(arn_exact_lives(x, a), arn_exact_life_count(x, a), arn_exact_lives(x, b),
                          arn_exact_life_count(x, b));
}

bool arn_exact_edge_holds(const arn_exact_build *x, uint32_t a, uint32_t b) {
    if (!x->relations.root) return true;
    if (arn_exact_same_group(x, a, b)) return false;
    const uint32_t heir = arn_exact_heir_of(x->in->problem, a, b);
    return heir == ARENAUT_NONE || arn_exact_assumed(x->assumed, heir) == ARN_EXACT_APART;
}

bool arn_exact_in_the_way(const arn_exact_build *x, uint32_t a, uint32_t b) {
    const uint64_t lives = (uint64_t)arn_exact_life_count(x, a) + arn_exact_life_count(x, b);
    if (!arn_ask_after(x->in->ask, lives) || arn_exact_same_group(x, a, b)) return false;
    return arn_exact_lives_meet(x, a, b) ||
           (arn_have_edge(x->in->problem, a, b) && arn_exact_edge_holds(x, a, b));
}

arenaut_status arn_exact_too_large(const arn_exact_build *x, arenaut_error *err) {
    return arn_fail(err, ARENAUT_REFUSED, 0,
                    "%" PRIu32
                    " buffers with more than %d pairs alive together are too many for "
                    "the exact search",
                    x->model->n, ARN_EXACT_MOST_PAIRS);
}
