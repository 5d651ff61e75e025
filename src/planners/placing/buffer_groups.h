/* Groups: the rigid bodies that planners place.
 *
 * A group is a buffer, or several that keep their distance from each other: a host with its slices,
 * and, if wanted, a chain of buffers that each take over their base's memory. It is a rigid set of
 * pieces, each alive for a while and covering some bytes. Placing the group at an offset places all
 * its buffers. */
#ifndef ARN_PLANNERS_PLACING_BUFFER_GROUPS_H
#define ARN_PLANNERS_PLACING_BUFFER_GROUPS_H

#include <stdbool.h>

#include <arenaut/problem.h>

#include "core/memory.h"
#include "ir/problem.h"

typedef struct arn_piece {
    int64_t first, end;
    uint64_t low, high; /* bytes from the group's start, [low, high) */
    uint32_t buffer;
} arn_piece;

typedef struct arn_group {
    uint64_t extent; /* bytes */
    uint64_t align, pools, fixed;
    int64_t first, end; /* from the start of the first piece to the end of the last */
    uint32_t piece, n_pieces;
    uint32_t member; /* in arn_groups.member */
    uint32_t n_members : 31;
    uint32_t related : 1; /* a member has same-base partners in other groups, or conflict edges */
} arn_group;

typedef struct arn_groups {
    const arenaut_problem *problem;
    uint32_t n, n_pieces;
    arn_group *group;
    arn_piece *piece;
    uint32_t *member;      /* buffers, group by group */
    uint32_t *owner;       /* per buffer: its group; ARENAUT_NONE if it needs no memory */
    const uint64_t *delta; /* per buffer: see arn_groups_delta; NULL: 0 */
    /* The heirs of b, the buffers that have it as their base: heir[heir_start[b] .. heir_start[b +
     * 1]). NULL: none. */
    uint32_t *heir_start, *heir;
    /* The buffers that an edge keeps apart from b, likewise. */
    uint32_t *edge_start, *edge;
    arn_region region;
} arn_groups;

/* Bytes from the start of a buffer's group to its own. */
static inline uint64_t arn_groups_delta(const arn_groups *groups, uint32_t buffer) {
    return groups->delta ? groups->delta[buffer] : 0;
}

/* Size × uses of all members together. */
uint64_t arn_group_traffic(const arn_groups *groups, const arn_group *group);

/* The spill of the group in `pool`. Its members have the same pools to choose from. */
uint64_t arn_group_spill(const arn_groups *groups, const arn_group *group, uint32_t pool);

/* The first hint of a member; ARENAUT_UNPLACED: none has one. */
uint64_t arn_group_hint(const arn_groups *groups, const arn_group *group);

enum {
    ARN_COLLAPSE = 1, /* chains of same-base buffers become one group */
    ARN_HULL = 2,     /* each group is alive from its first step to its last, in one piece */
};

/* Groups are numbered by their first buffer. O(n + edges). */
arenaut_status arn_groups_make(const arenaut_problem *problem, unsigned how,
                               const arenaut_allocator *allocator, arn_groups *groups,
                               arenaut_error *err);
void arn_groups_free(arn_groups *groups);

#endif
