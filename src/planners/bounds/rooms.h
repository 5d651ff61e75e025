/* The free stretches of empty pools: what lies between reserved ranges. */
#ifndef ARN_PLANNERS_BOUNDS_ROOMS_H
#define ARN_PLANNERS_BOUNDS_ROOMS_H

#include <stdbool.h>

#include <arenaut/problem.h>

#include "core/memory.h"

typedef struct arn_room {
    uint64_t first, end;  /* addresses; the last of a pool has no end, ARENAUT_UNLIMITED */
    uint64_t free_before; /* bytes in the rooms below */
} arn_room;

typedef struct arn_rooms {
    const arenaut_problem *problem;
    arn_room *room;                                          /* pool by pool, from low to high */
    uint32_t first[ARENAUT_MAX_POOLS], n[ARENAUT_MAX_POOLS]; /* those of a pool */
    /* longest[log2 of an alignment][k]: of room k and those below it in its pool, the most bytes
     * from an aligned address on. Only for alignments that buffers have. */
    uint64_t *longest[64];
    arn_region region;
} arn_rooms;

/* False if there is no memory. O(reserved ranges × alignments + buffers). */
bool arn_rooms_make(arn_rooms *rooms, const arenaut_problem *problem,
                    const arenaut_allocator *allocator);
void arn_rooms_free(arn_rooms *rooms);

/* The lowest address at which `buffer`, which has a size, can end in the pool while that is empty:
 * where its fixed offset puts it if it has one. ARENAUT_UNPLACED if that is above the pool's
 * capacity. O(log n), as are the others. */
uint64_t arn_lowest_end(const arn_rooms *rooms, uint32_t buffer, uint32_t pool);

/* The most bytes that one of the buffer's alignment finds in one piece below the capacity. */
uint64_t arn_largest_room(const arn_rooms *rooms, uint32_t buffer, uint32_t pool);

/* The lowest address with `bytes` free bytes below it. */
uint64_t arn_rooms_end_of_free_bytes(const arn_rooms *rooms, uint32_t pool, uint64_t bytes);

#endif
