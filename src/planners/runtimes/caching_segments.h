/* PyTorch's caching allocator (CUDACachingAllocator.cpp), request by request, as long as the device
 * has memory.
 *
 * Sizes are rounded up to 512 bytes. Requests to 1 MiB and larger ones have shelves of their own, a
 * stream (a pool here) two. A request takes the smallest free block of its shelf that is large
 * enough, of equal ones the one at the lowest address, and gives back what it does not need of it;
 * else a new segment is reserved. A block that is released joins its free neighbours in the
 * segment. With expandable segments a shelf is one segment, which grows at its end, and its last
 * block is taken only where no other will do.
 *
 * Where segments lie is the driver's business; here each begins where the one before it ends. */
#ifndef ARN_PLANNERS_RUNTIMES_CACHING_SEGMENTS_H
#define ARN_PLANNERS_RUNTIMES_CACHING_SEGMENTS_H

#include <arenaut/problem.h>

#include "core/memory.h"

#define ARN_CACHING_GRAIN UINT64_C(512)

/* A stretch of a segment that is out, or free. */
typedef struct arn_caching_block {
    uint64_t at, size; /* `at` is counted from the start of the pool, or of an expandable shelf */
    uint32_t before, after; /* its neighbours in the segment; ARENAUT_NONE: none */
    uint32_t shelf;         /* 2 × pool, and 1 more for large requests */
    bool is_free;
} arn_caching_block;

enum { ARN_CACHING_SHELVES = 2 * ARENAUT_MAX_POOLS };

typedef struct arn_caching {
    bool expandable;
    arn_caching_block *blocks;
    uint32_t n_blocks;
    uint32_t *unused; /* numbers of blocks that were joined to others */
    uint32_t n_unused;
    uint32_t *free; /* free blocks by shelf, size, address */
    uint32_t n_free;
    uint32_t last[ARN_CACHING_SHELVES];     /* the block at the end of an expandable shelf */
    uint64_t reserved[ARN_CACHING_SHELVES]; /* bytes */
    uint64_t at[ARENAUT_MAX_POOLS];         /* where the next segment of a pool begins */
} arn_caching;

/* With room for so many requests; false if there is no memory. */
bool arn_caching_make(arn_caching *c, bool expandable, uint32_t n_requests, arn_region *region);

/* The number of the block that is handed out; ARENAUT_NONE past all sizes. It is the caller's until
 * it is released. O(log n), and a move of the list of free blocks. */
uint32_t arn_caching_request(arn_caching *c, uint32_t pool, uint64_t size);
void arn_caching_release(arn_caching *c, uint32_t id);

#endif
