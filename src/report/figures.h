/* Figures of a result that several reports show: the bound without a buffer, areas that two
 * buffers share, tilings. */
#ifndef ARN_REPORT_FIGURES_H
#define ARN_REPORT_FIGURES_H

#include <arenaut/problem.h>
#include <arenaut/result.h>

#include "core/writer.h"

typedef struct arn_bound_without {
    uint64_t bytes;
    int64_t step; /* where the peak is then */
} arn_bound_without;

/* Fills found[i] for each of the `n` buffers, of which only one is gone at a time. */
arenaut_status arn_report_bounds_without(const arenaut_problem *problem, const uint32_t *buffers,
                                         uint32_t n, const arenaut_allocator *allocator,
                                         arn_bound_without *found, arenaut_error *err);

/* An area of a plan with two buffers at one address at one time: a result over its operand. */
typedef struct arn_shared_area {
    uint32_t a, b;         /* buffers */
    uint64_t low, high;    /* bytes of the pool, [low, high) */
    arenaut_interval life; /* steps */
} arn_shared_area;

/* Hands over each area of a pool that two buffers share, since they may start at one address or
 * are separated by less than their sizes. Views, which lie in their hosts by nature, are none. */
void arn_report_shared_areas(const arenaut_result *result, uint32_t pool, void *context,
                             void (*put)(void *context, arn_shared_area area));

/* The planned memory: "head" where the runtime keeps more than tensors in its arena, else "arena".
 */
const char *arn_report_planned_name(const arenaut_result *result);

/* The tilings of the program; NULL if nothing was tiled, or no search was made. */
const arenaut_split_front *arn_report_ways(const arenaut_result *result);
/* Bytes to be reserved at least, with the runtime's own. */
uint64_t arn_report_way_needs(const arenaut_result *result, const arenaut_split_choice *way);
/* "0-7/4:kept,9-10/2:rows", or "as it is". */
void arn_report_put_stages(arn_writer *out, const arenaut_split_choice *way);

#endif
