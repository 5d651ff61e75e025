/* check_tokens: where memory comes in whole tokens, two buffers of a pool begin at the same
 * address or have no byte in common, whether they are alive together or not.
 *
 * In order of address, the buffers that begin together are one token; it reaches as far as
 * the longest of them, and the next must not begin before that. O(n log n). */
#include <inttypes.h>

#include "check/finding.h"
#include "check/plan/plan_rules.h"
#include "core/memory.h"
#include "core/sort.h"

static bool lies_before(const void *context, uint32_t a, uint32_t b) {
    const arenaut_plan *plan = context;
    if (plan->pool[a] != plan->pool[b]) return plan->pool[a] < plan->pool[b];
    return plan->offset[a] < plan->offset[b];
}

static uint64_t end_of(const arn_plan_check *check, uint32_t b) {
    return check->plan->offset[b] + check->problem->size[b];
}

static arenaut_status reject(const arn_plan_check *check, uint32_t a, uint32_t b) {
    const arenaut_plan *plan = check->plan;
    arenaut_finding *f = check->finding;
    char store_a[24], store_b[24];
    f->rule = ARENAUT_RULE_TOKENS;
    f->a = a;
    f->b = b;
    f->pool = plan->pool[a];
    f->first = plan->offset[b];
    f->end = end_of(check, a) < end_of(check, b) ? end_of(check, a) : end_of(check, b);
    return arn_check_reject(
        f, check->err,
        "buffers '%.80s' at [%" PRIu64 ", %" PRIu64 ") and '%.80s' at [%" PRIu64 ", %" PRIu64
        ") share a part of a token; they must begin together, or lie "
        "apart",
        arenaut_problem_buffer_name(check->problem, a, store_a), plan->offset[a], end_of(check, a),
        arenaut_problem_buffer_name(check->problem, b, store_b), plan->offset[b], end_of(check, b));
}

/* `order`: all buffers that need memory, by address. */
static arenaut_status walk(const arn_plan_check *check, const uint32_t *order, uint32_t n) {
    const arenaut_plan *plan = check->plan;
    uint32_t longest = 0; /* of the token at hand, as a position in `order` */
    for (uint32_t i = 1; i < n; i++) {
        const uint32_t a = order[longest], b = order[i];
        const bool together = plan->offset[a] == plan->offset[b];
        if (plan->pool[a] != plan->pool[b] || end_of(check, a) <= plan->offset[b]) longest = i;
        else if (!together) return reject(check, a, b);
        else if (end_of(check, a) < end_of(check, b)) longest = i;
    }
    return ARENAUT_OK;
}

arenaut_status arn_check_tokens(const arn_plan_check *check) {
    const arenaut_problem *p = check->problem;
    if (!(p->traits & ARENAUT_PROBLEM_TOKENS)) return ARENAUT_OK;
    uint32_t *order = arn_allocate(check->allocator, p->n_buffers, 2 * sizeof *order);
    if (!order) return arn_no_memory(check->err);
    uint32_t n = 0;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (arenaut_problem_needs_memory(p, b)) order[n++] = b;
    }
    arn_sort_ids(order, n, lies_before, check->plan, order + n);
    const arenaut_status status = walk(check, order, n);
    arn_release(check->allocator, order);
    return status;
}
