/* Lower bounds of the arenas of every plan, and witnesses of infeasibility: simple reasons why
 * there is no plan, and collisions of given places. */
#ifndef ARN_PLANNERS_BOUNDS_BOUNDS_H
#define ARN_PLANNERS_BOUNDS_BOUNDS_H

#include <arenaut/plan.h>
#include <arenaut/problem.h>

#include "planners/bounds/hosts.h"
#include "planners/run/poll.h"

/* No plan needs less than per_pool[k] in pool k, nor less than `total` in all together. */
typedef struct arn_bounds {
    uint64_t per_pool[ARENAUT_MAX_POOLS], total;
    int64_t step; /* the first with the highest load */
} arn_bounds;

/* `allowed` gives each buffer's pools, or is NULL for the problem's own. If `poll` ends, bounds are
 * lower than they might be, and hold all the same. O(n × (pools + alignments) + n log n). */
arenaut_status arn_bounds_find(const arenaut_problem *problem, const uint64_t *allowed,
                               arn_poll *poll, const arenaut_allocator *allocator,
                               arn_bounds *bounds, arenaut_error *err);

/* A bound of the sum of all arenas, raised to what they add up to: each is a multiple of its pool's
 * alignment, and all of the least one. */
uint64_t arn_round_total(const arenaut_problem *problem, uint64_t bound);

/* The lowest address with `bytes` free bytes below it; 0 for none. */
uint64_t arn_end_of_free_bytes(const arenaut_problem *problem, uint32_t pool, uint64_t bytes);

/* The features that a problem uses, as a bit set. O(n). */
uint32_t arn_problem_features(const arenaut_problem *problem);

/* Looks for a simple reason why there is no plan: a buffer larger than each of its pools,
 * fixed buffers that overlap, more bytes alive at one step than its pools have. Fills in
 * the witness and sets *found; its buffers are allocated with `allocator`. That nothing was
 * found does not mean that there is a plan, least of all once `poll` has ended. */
arenaut_status arn_find_witness(const arenaut_problem *problem, arn_poll *poll,
                                const arenaut_allocator *allocator, arenaut_witness *witness,
                                bool *found, arenaut_error *err);

/* The place of a buffer. Places in different spaces never collide: a space is a pool, or a host for
 * its slices, wherever that lies itself. A host and its slices lie as `inside` says if both are
 * listed. */
typedef struct arn_given_place {
    uint32_t buffer, space;
    uint64_t first, end;
} arn_given_place;

typedef struct arn_collision {
    const arn_given_place *one, *other; /* the lower one first; NULL: there is no collision */
    int64_t step;                       /* the first at which they do */
    uint64_t bytes;                     /* that they share */
} arn_collision;

/* Looks for two that share bytes at a time when both are alive, or although an edge keeps them
 * apart, and that may not: neither lies in the other, and they are no same-base pair in one
 * place. A buffer is listed once at most. Of several collisions in time, one at the earliest step
 * is found. False if there is no memory; O(n log n) in lifetimes and edges. */
bool arn_find_collision(const arenaut_problem *problem, const arn_hosts *hosts,
                        const arn_given_place *places, uint32_t n, arn_region *region,
                        arn_collision *collision);

#endif
