/* Lower bounds of the arenas of every plan. */
#ifndef ARN_PLANNERS_BOUNDS_BOUNDS_H
#define ARN_PLANNERS_BOUNDS_BOUNDS_H

#include <arenaut/problem.h>

/* No plan needs less than per_pool[k] in pool k, nor less than *total in all together.
 * `allowed` gives each buffer's pools, or is NULL for the problem's own; `step` gets the
 * first step with the highest load. O(pools × n + n log n). */
arenaut_status arn_bounds_find(const arenaut_problem *problem, const uint64_t *allowed,
                               const arenaut_allocator *allocator, uint64_t *per_pool,
                               uint64_t *total, int64_t *step, arenaut_error *err);

/* The lowest address with `bytes` free bytes below it; 0 for none. */
uint64_t arn_end_of_free_bytes(const arenaut_problem *problem, uint32_t pool, uint64_t bytes);

/* The features that a problem uses, as a bit set. O(n). */
uint32_t arn_problem_features(const arenaut_problem *problem);

#endif
