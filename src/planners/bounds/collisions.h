/* Buffers whose places are given, and that overlap there although they may not. */
#ifndef ARN_PLANNERS_BOUNDS_COLLISIONS_H
#define ARN_PLANNERS_BOUNDS_COLLISIONS_H

#include "planners/bounds/hosts.h"

/* Where a buffer lies. Those in different spaces have nothing to do with each other: a space is
 * a pool, or a host that its slices lie in wherever that lies itself. Of a host and what lies in
 * it, both lie where `inside` says if both are listed. */
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
