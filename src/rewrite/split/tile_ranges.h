/* The ranges of ops that may become tile groups. */
#ifndef ARN_REWRITE_SPLIT_TILE_RANGES_H
#define ARN_REWRITE_SPLIT_TILE_RANGES_H

#include "core/budget.h"
#include "rewrite/split/tile_groups.h"

typedef struct arn_group_range {
    arn_op_range ops;
    uint64_t live_through; /* bytes live before, during and after it */
    uint64_t read;         /* live-in, and dead after it */
    uint64_t made;         /* live-out, made in it */
    uint64_t whole;        /* peak of live bytes within it, nothing tiled */
    uint64_t bound;        /* lower bound of its tilings */
} arn_group_range;

typedef struct arn_group_ranges {
    arn_group_range *items;
    uint32_t n, capacity;
    uint64_t floor;    /* lower bound of all choices */
    uint32_t floor_op; /* its op */
} arn_group_ranges;

/* All ranges that can gain something, the least estimate first; once the budget is spent, some of
 * them, and a floor that means nothing. The list is the caller's to free. False if there is no
 * memory. O(ops × (longest range + tensors)). */
bool arn_group_ranges_find(const arn_search_space *space, arn_budget *budget,
                           arn_group_ranges *ranges);
void arn_group_ranges_free(arn_group_ranges *ranges, const arenaut_allocator *allocator);

#endif
