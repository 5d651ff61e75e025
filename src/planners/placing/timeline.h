/* The time axis of some groups, cut where one of them starts or ends: section k is the time
 * between cut k and cut k + 1. Groups count as alive from their first step to their last. */
#ifndef ARN_PLANNERS_PLACING_TIMELINE_H
#define ARN_PLANNERS_PLACING_TIMELINE_H

#include "planners/placing/buffer_groups.h"

typedef struct arn_timeline {
    uint32_t n_sections;
    uint32_t *first, *end; /* per group: its sections, [first, end) */
    uint64_t *load;        /* per section: the sum of the extents of what is alive */
} arn_timeline;

/* False if there is no memory. O(n log n). */
bool arn_timeline_make(const arn_groups *groups, arn_region *region, arn_timeline *timeline);

#endif
