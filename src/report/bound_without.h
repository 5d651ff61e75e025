/* The lower bound without one buffer: the most that a smaller size or rematerialization of it could
 * save. */
#ifndef ARN_REPORT_BOUND_WITHOUT_H
#define ARN_REPORT_BOUND_WITHOUT_H

#include <arenaut/problem.h>

typedef struct arn_bound_without {
    uint64_t bytes;
    int64_t step; /* where the peak is then */
} arn_bound_without;

/* Fills found[i] for each of the `n` buffers, of which only one is gone at a time. */
arenaut_status arn_report_bounds_without(const arenaut_problem *problem, const uint32_t *buffers,
                                         uint32_t n, const arenaut_allocator *allocator,
                                         arn_bound_without *found, arenaut_error *err);

#endif
