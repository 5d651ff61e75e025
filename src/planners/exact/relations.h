/* What the relations of a case make of its buffers: groups that move together, and lifetimes
 * that are cut where another buffer covers them.
 *
 * A slice is in the group of its host, and a joined pair in one group. What a buffer covers
 * counts once: where a slice's host is alive the slice's own life says nothing new, and of a
 * pair that is not apart the smaller one is left out while the larger one is alive:
 *
 *     step     0 1 2 3 4 5 6 7
 *     host       [=======]                  host       [=======]
 *     slice    [===========]      becomes   slice    [=]       [=]
 *
 * For an open pair this leaves out a constraint. The rules are those of arenaut/certificate.h. */
#ifndef ARN_EXACT_RELATIONS_H
#define ARN_EXACT_RELATIONS_H

#include "core/memory.h"
#include "planners/exact/case.h"

typedef struct arn_exact_relations {
    uint32_t *root;  /* per buffer: equal for all of a group; NULL: the problem has no relations,
                      * and so are all others */
    int64_t *delta;  /* per buffer: bytes from the group's lowest one */
    uint64_t *fixed; /* per buffer: where it must lie; ARENAUT_UNPLACED: anywhere */
    /* Per buffer, what is left of its lifetimes: life[life_start[b] .. life_start[b + 1]). */
    uint32_t *life_start;
    arenaut_interval *life;
    bool contradictory; /* what is assumed contradicts itself or the problem: there is no plan */
    bool too_large;     /* groups are too large to look at: nothing else here means anything */
} arn_exact_relations;

/* Arrays are the region's. False if there is no memory. Where the input's `ask` has ended, what
 * was found is incomplete. O(n log n + pairs of buffers in one group). */
bool arn_exact_find_relations(const arn_exact_case *assumed, arn_region *region,
                              arn_exact_relations *relations);

#endif
