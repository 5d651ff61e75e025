/* A disjunctive temporal problem over offsets (Dechter, Meiri & Pearl 1991): ranges of offsets and
 * of pairwise differences, as a proof (arenaut/certificate.h) goes on. Unlike proof_state.h this
 * knows separations, and assumes no left-justified placement. */
#ifndef ARN_CHECK_PROOF_SIDES_H
#define ARN_CHECK_PROOF_SIDES_H

#include "check/certificate/proof_case.h"

typedef struct arn_proof_range {
    int64_t low, high; /* both included; empty if low > high */
} arn_proof_range;

/* An edge of the constraint graph: two interfering groups, or a group and a reserved range. */
typedef struct arn_proof_edge {
    uint32_t a, b;        /* a < b */
    uint32_t ban, n_bans; /* bans[ban ..]: forbidden differences */
} arn_proof_edge;

typedef struct arn_proof_range_change {
    uint32_t at;
    arn_proof_range before;
} arn_proof_range_change;

typedef struct arn_proof_sides {
    const arn_proof_case *c;
    uint64_t limit;
    uint32_t n_nodes;       /* the groups, then the reserved ranges of the pool */
    uint32_t n_edges;       /* in order of a, then b */
    arn_proof_range *range; /* of each node's offset; then of each edge's offset(a) - offset(b) */
    arn_proof_range *ban;
    arn_proof_edge *edge;
    uint32_t *edge_start, *edges_of; /* per node: its edges */
    uint32_t *queue, first, end;     /* nodes with a changed range: a ring of n_nodes + 1 */
    bool *queued;
    bool dead;   /* the case is closed: a range is empty */
    bool failed; /* there was no memory */
    arn_proof_range_change *trail;
    uint32_t n_trail, trail_room;
    arn_region region;
} arn_proof_sides;

/* The subject of an assumption: the difference of an edge, or the offset of a node. */
typedef struct arn_proof_split {
    uint32_t at;   /* in `range` */
    bool reversed; /* above means less, not more */
    int64_t least; /* above means at least, reversed at most, so much */
} arn_proof_split;

/* The root, without assumptions, in a case that is open. TOO_LARGE if too many groups interfere. */
arenaut_status arn_proof_sides_init(arn_proof_sides *s, const arn_proof_case *c, uint64_t limit);
void arn_proof_sides_free(arn_proof_sides *s);

/* The assumption that buffer `x` lies above `y` as far as it must, or, if `level`, starts no lower.
 * False if they are no two buffers of interfering groups. */
bool arn_proof_split_pair(const arn_proof_sides *s, uint64_t x, uint64_t y, bool level,
                          arn_proof_split *split);

/* The assumption that buffer `x` starts at `offset` or above. False if it is not in the pool. */
bool arn_proof_split_offset(const arn_proof_sides *s, uint64_t x, uint64_t offset,
                            arn_proof_split *split);

/* Assumes this, or its complement, and propagates. False if there is no memory. */
bool arn_proof_take_side(arn_proof_sides *s, const arn_proof_split *split, bool above);
void arn_proof_sides_undo(arn_proof_sides *s, uint32_t n_trail, bool dead);

#endif
