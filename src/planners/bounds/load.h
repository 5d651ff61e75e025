/* Load, the bytes alive at each step, on which every lower bound stands; and the free ranges of
 * empty pools. */
#ifndef ARN_PLANNERS_BOUNDS_LOAD_H
#define ARN_PLANNERS_BOUNDS_LOAD_H

#include <stdbool.h>

#include <arenaut/problem.h>

#include "core/memory.h"
#include "planners/run/poll.h"

/* One change of the load. A buffer counts from the start to the end of each lifetime, except while
 * a buffer that it lies inside is alive; a same-base pair counts the smaller of the two only once
 * at the step at which they may share, which is a saving. */
typedef struct arn_load_event {
    int64_t step;
    uint64_t bytes;
    uint32_t buffer;
    uint8_t falls;  /* the load falls by `bytes` here */
    uint8_t saving; /* `bytes` are shared by the buffer and its base */
} arn_load_event;

typedef struct arn_load {
    const arenaut_problem *problem;
    const arenaut_allocator *allocator;
    uint32_t n;
    arn_load_event *event;
    uint32_t *by_step; /* the events in order of time */
} arn_load;

arenaut_status arn_load_init(arn_load *load, const arenaut_problem *problem,
                             const arenaut_allocator *allocator, arenaut_error *err);
void arn_load_free(arn_load *load);

/* The highest load among the buffers that may only be in the pools of `mask`. */
typedef struct arn_load_peak {
    uint64_t bytes; /* as the sizes say */
    int64_t step;   /* the first with that many bytes; 0 if nothing is ever alive */
    /* Free bytes below the end of the topmost buffer, as alignments say (marks.h): for one pool
     * only, else 0; and a step at which that is so. */
    uint64_t stacked;
    int64_t stacked_step;
} arn_load_peak;

/* `allowed` replaces the problem's own pools unless it is NULL. If `poll` ends, it is the highest
 * load up to there: a lower bound all the same. O(n, and grains for each event that counts), and
 * O(log n) for each buffer with several lives. */
arn_load_peak arn_load_highest(const arn_load *load, uint64_t mask, const uint64_t *allowed,
                               arn_poll *poll);

/* ---- free ranges ---- */

/* The free ranges of empty pools lie between reserved ranges. */

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
 * at its fixed offset if it has one. ARENAUT_UNPLACED if that is above the pool's capacity. O(log
 * n), as are the others. */
uint64_t arn_lowest_end(const arn_rooms *rooms, uint32_t buffer, uint32_t pool);

/* The most bytes that one of the buffer's alignment finds in one piece below the capacity. */
uint64_t arn_largest_room(const arn_rooms *rooms, uint32_t buffer, uint32_t pool);

/* The lowest address with `bytes` free bytes below it. */
uint64_t arn_rooms_end_of_free_bytes(const arn_rooms *rooms, uint32_t pool, uint64_t bytes);

#endif
