/* What no plan can do with fewer bytes, where separations let buffers overlap. */
#ifndef ARN_PLANNERS_OVERLAP_BOUND_H
#define ARN_PLANNERS_OVERLAP_BOUND_H

#include <arenaut/problem.h>

/* The largest number of bytes that some step needs of buffers that may lie in `pool` only. *step
 * gets the first step that needs as many; unchanged if none needs any. Where that would be more
 * work than a fixed amount, the bound is what was found until then, and may be lower. */
arenaut_status arn_overlap_bound(const arenaut_problem *problem, uint32_t pool,
                                 const arenaut_allocator *allocator, uint64_t *bytes, int64_t *step,
                                 arenaut_error *err);

/* The bytes that one step needs, and per buffer whether they do without it: those that are alive
 * then and not left out lie apart but for some pairs, each of which shares with nobody else. */
arenaut_status arn_overlap_bound_at(const arenaut_problem *problem, uint32_t pool, int64_t step,
                                    const arenaut_allocator *allocator, uint64_t *bytes,
                                    bool *left_out, arenaut_error *err);

#endif
