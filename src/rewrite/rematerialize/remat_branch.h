/* A stronger bound at the best op of the Lagrangian one, by branch and bound. */
#ifndef ARN_REWRITE_REMAT_BRANCH_H
#define ARN_REWRITE_REMAT_BRANCH_H

#include "rewrite/rematerialize/remat_bound.h"

enum { ARN_REMAT_MOST_CASES = 400 };

/* A node of the tree of cases. */
typedef struct arn_remat_node {
    uint32_t parent, storage; /* of which it assumes something; NONE: the root */
    uint8_t assumed;          /* arn_remat_assumed */
    uint32_t split;           /* the storage that its two parts assume something of; NONE: a leaf */
    uint32_t part;            /* the first of them; the other is behind it */
    uint64_t value;           /* no sequence of this case adds less; UINT64_MAX: there is none */
    uint64_t byte_price;      /* that shows it */
} arn_remat_node;

typedef struct arn_remat_branch {
    arn_remat_bounds *bounds;
    arn_remat_node *cases;
    uint32_t n, room;
    uint32_t op;
    uint64_t value, time_price; /* of the whole */
    uint64_t *flow;             /* per read: room for one flow */
} arn_remat_branch;

/* The list is the region's. */
bool arn_remat_branch_make(arn_remat_bounds *bounds, arn_region *region, arn_remat_branch *b);

/* Splits the cases of the bound that was found last, until none is below `target` or there are
 * `most`. The bounds' own value stays. */
void arn_remat_branch_find(arn_remat_branch *b, uint64_t target, uint32_t most);

/* Puts the cut to the case that shows least, and returns the price of a byte there. */
uint64_t arn_remat_branch_lowest(const arn_remat_branch *b);

/* Lists the cases that show `bound`, and their flows; lists are of the allocator. False: no memory.
 */
bool arn_remat_branch_prove(arn_remat_branch *b, uint64_t bound, const arenaut_allocator *allocator,
                            arenaut_remat_proof *proof);

#endif
