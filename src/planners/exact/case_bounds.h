/* What the pools of a case need at least, as far as that is seen without a search. */
#ifndef ARN_EXACT_CASE_BOUNDS_H
#define ARN_EXACT_CASE_BOUNDS_H

#include "planners/exact/case.h"

/* Writes a lower bound of the arena of the case's pool into *bound: the largest load, the largest
 * buffer and what is fixed, rounded up to the pool's alignment. *possible is false if the pool
 * does not have as much, or if what cannot move overlaps. Adds what it took to *effort. Other
 * than OK as arn_exact_model_make. */
arenaut_status arn_exact_bound_pool(const arn_exact_case *c, uint64_t *bound, bool *possible,
                                    uint64_t *effort, arenaut_error *err);

/* The sum of the bounds of all pools, or ARENAUT_SIZE_MAX if that is too large a number. */
uint64_t arn_exact_sum_bounds(const arenaut_problem *problem, const uint64_t *bound);

#endif
