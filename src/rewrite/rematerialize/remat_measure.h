/* The exact peak of live bytes: the search counts a copy beside its original as the same instance.
 */
#ifndef ARN_REWRITE_REMAT_MEASURE_H
#define ARN_REWRITE_REMAT_MEASURE_H

#include "rewrite/rematerialize/remat_graph.h"

/* False if memory runs out. */
bool arn_remat_measure(const arn_remat_graph *graph, arn_region *region, const uint32_t *runs,
                       uint32_t n, uint64_t *peak);

#endif
