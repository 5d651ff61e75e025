/* Which of two groups lies above the other, as a proof (arenaut/certificate.h) goes on. Unlike
 * proof_state.h this knows separations, and assumes nothing of where groups would sink to. */
#ifndef ARN_CHECK_PROOF_SIDES_H
#define ARN_CHECK_PROOF_SIDES_H

#include "check/certificate/proof_case.h"

typedef struct arn_proof_range {
    int64_t low, high; /* both included; empty if low > high */
} arn_proof_range;

/* Two groups in each other's way, or a group and a reserved range. */
typedef struct arn_proof_way {
    uint32_t a, b;        /* a < b */
    uint32_t ban, n_bans; /* bans[ban ..]: differences that they may not have */
} arn_proof_way;

typedef struct arn_proof_range_change {
    uint32_t at;
    arn_proof_range before;
} arn_proof_range_change;

typedef struct arn_proof_sides {
    const arn_proof_case *c;
    uint64_t limit;
    uint32_t n_nodes;       /* the groups, then the reserved ranges of the pool */
    uint32_t n_ways;        /* in order of a, then b */
    arn_proof_range *range; /* of each node's offset; then of each way's offset(a) - offset(b) */
    arn_proof_range *ban;
    arn_proof_way *way;
    uint32_t *way_start, *ways_of; /* per node: its ways */
    uint32_t *waiting, first, end; /* nodes whose range has changed: a ring of n_nodes + 1 */
    bool *waits;
    bool dead;   /* nothing can come of it */
    bool failed; /* there was no memory */
    arn_proof_range_change *trail;
    uint32_t n_trail, trail_room;
    arn_region region;
} arn_proof_sides;

/* What an assumption is about: the difference of a way, or the offset of a node. */
typedef struct arn_proof_split {
    uint32_t at;   /* in `range` */
    bool reversed; /* above means less, not more */
    int64_t least; /* above means at least, reversed at most, so much */
} arn_proof_split;

/* Nothing is assumed yet, in a case that is open. TOO_LARGE where too many groups are in each
 * other's way. */
arenaut_status arn_proof_sides_init(arn_proof_sides *s, const arn_proof_case *c, uint64_t limit);
void arn_proof_sides_free(arn_proof_sides *s);

/* That buffer `x` lies above `y` as far as it must, or, if `level`, starts no lower. False if
 * they are no two buffers of groups in each other's way. */
bool arn_proof_split_pair(const arn_proof_sides *s, uint64_t x, uint64_t y, bool level,
                          arn_proof_split *split);

/* That buffer `x` starts at `offset` or above. False if it is not in the pool. */
bool arn_proof_split_offset(const arn_proof_sides *s, uint64_t x, uint64_t offset,
                            arn_proof_split *split);

/* Assumes that it is so, or that it is not, and what follows. False if there is no memory. */
bool arn_proof_take_side(arn_proof_sides *s, const arn_proof_split *split, bool above);
void arn_proof_sides_undo(arn_proof_sides *s, uint32_t n_trail, bool dead);

#endif
