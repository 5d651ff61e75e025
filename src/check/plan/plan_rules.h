/* Rules of a plan: the parts of arenaut_check_plan. Each returns OK, REJECTED with the finding
 * filled in, or NO_MEMORY, and needs a problem that arenaut_problem_validate accepts and a plan of
 * the same shape. */
#ifndef ARN_CHECK_PLAN_RULES_H
#define ARN_CHECK_PLAN_RULES_H

#include <arenaut/check.h>

#include "core/memory.h"

/* The arguments of one check, passed around together. */
typedef struct arn_plan_check {
    const arenaut_problem *problem;
    const arenaut_plan *plan;
    const arenaut_allocator *allocator;
    arenaut_finding *finding;
    arenaut_error *err;
} arn_plan_check;

/* The forest of inside relations in depth-first numbering (an Euler tour), so that two comparisons
 * tell whether one buffer lies in another: the slices of b, their slices and so on are those
 * numbered after enter[b] and before leave[b]. */
typedef struct arn_check_slices {
    uint32_t *enter, *leave; /* NULL: the problem has no slices */
    /* The nearest host with memory of its own, and the bytes from its start. A host that is never
     * alive lies nowhere, so its slices are held to the next one out. */
    uint32_t *host;
    uint64_t *delta;
    arn_region region; /* the caller frees it, if it was made */
} arn_check_slices;

arenaut_status arn_check_slices_make(const arn_plan_check *check, arn_check_slices *slices);

/* Whether one of the two lies inside the other, directly or through others. */
static inline bool arn_check_slices_nested(const arn_check_slices *slices, uint32_t a, uint32_t b) {
    if (!slices->enter) return false;
    return (slices->enter[a] <= slices->enter[b] && slices->enter[b] < slices->leave[a]) ||
           (slices->enter[b] <= slices->enter[a] && slices->enter[a] < slices->leave[b]);
}

/* No two conflicting buffers share a byte, unless a relation allows it. Every buffer must
 * have passed the rules that look at one buffer. */
arenaut_status arn_check_overlaps(const arn_plan_check *check, const arn_check_slices *slices);

/* Where memory comes in whole tokens, no two buffers share a part of one. Likewise. */
arenaut_status arn_check_tokens(const arn_plan_check *check);

/* The witness of an infeasible plan shows that there is no plan. */
arenaut_status arn_check_witness(const arn_plan_check *check, const arn_check_slices *slices);

#endif
