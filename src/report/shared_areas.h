/* Areas of a plan with two buffers at one address at one time: results over their operands. */
#ifndef ARN_REPORT_SHARED_AREAS_H
#define ARN_REPORT_SHARED_AREAS_H

#include <arenaut/result.h>

typedef struct arn_shared_area {
    uint32_t a, b;         /* buffers */
    uint64_t low, high;    /* bytes of the pool, [low, high) */
    arenaut_interval life; /* steps */
} arn_shared_area;

/* Hands over each area of a pool that two buffers share, since they may start at one address or
 * are separated by less than their sizes. Views, which lie in their hosts by nature, are none. */
void arn_report_shared_areas(const arenaut_result *result, uint32_t pool, void *context,
                             void (*put)(void *context, arn_shared_area area));

#endif
