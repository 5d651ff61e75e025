/* The skyline heuristic of strip packing (Burke, Kendall, Whitwell 2004): always fill the lowest
 * place.
 *
 * The placed groups are seen from above: a skyline of plateaus over time. Of all groups the one
 * that can lie lowest is placed next; among equals the first in the given order. That is the lowest
 * plateau and the best group that lives within it; a plateau that nothing fits into is raised to
 * its lower neighbour. Gaps below the skyline are lost, but since the lowest place is always filled
 * first they are few.
 *
 * Plateaus are kept in a heap, groups in rows of bits by time, or many in a tree of lives
 * (life_tree.h). O(n) memory; O(n log n) time in practice, O(n √n) at worst. */
#ifndef ARN_PLANNERS_PLACING_SKYLINE_ENGINE_H
#define ARN_PLANNERS_PLACING_SKYLINE_ENGINE_H

#include "planners/placing/orders.h"
#include "planners/run/poll.h"

typedef struct arn_skyline arn_skyline;

/* For groups [0, n) of `groups`, each alive from its first to its last step. NULL if there is
 * no memory; all of it is taken from `region`. */
arn_skyline *arn_skyline_new(const arn_groups *groups, const arn_timeline *timeline,
                             arn_region *region);

/* Places the `n` groups of `order` and writes their offsets (per group) and the highest end. Stops
 * as soon as something would end above `limit`, or when `poll` ends. Returns how many were placed.
 */
uint32_t arn_skyline_run(arn_skyline *skyline, const uint32_t *order, uint32_t n, uint64_t limit,
                         uint64_t *offset, uint64_t *top, arn_poll *poll);

#endif
