/* A stronger bound at the ops of a chain, by branch and bound. */
#ifndef ARN_REWRITE_REMAT_BRANCH_H
#define ARN_REWRITE_REMAT_BRANCH_H

#include "rewrite/rematerialize/remat_chain.h"

enum { ARN_REMAT_MOST_CASES = 1200 };

/* A node of the tree of cases. */
typedef struct arn_remat_node {
    uint32_t parent;
    uint32_t moment, storage;     /* of which it assumes something; storage NONE: the root */
    uint8_t assumed;              /* arn_remat_assumed */
    uint32_t split_moment, split; /* the storage that its two parts assume something of; NONE: no
                                   * two cases are told apart */
    uint32_t part;                /* the first of them; the other is behind it; 0: a leaf */
    int64_t value; /* no sequence of this case adds less, in the price of time; INT64_MAX: there is
                    * none */
    arn_remat_prices prices; /* that show it; hands of the links of the root */
} arn_remat_node;

typedef struct arn_remat_branch {
    arn_remat_chain *chain;
    arn_region *region;
    arn_remat_node *cases;
    uint32_t n;
    uint32_t op[ARN_REMAT_MOST_MOMENTS], n_ops;
    arn_remat_link *links; /* of the root */
    uint32_t n_links;
    uint64_t *flow; /* per read: room for one flow */
    uint64_t value; /* of the whole: nanoseconds */
} arn_remat_branch;

/* The lists are the region's. */
bool arn_remat_branch_make(arn_remat_chain *chain, arn_region *region, arn_remat_branch *b);

/* Splits the cases of the chain, from its best prices on, until none is below `target`
 * (nanoseconds), there are `most`, or flows took `limit` steps. False: no memory. */
bool arn_remat_branch_find(arn_remat_branch *b, uint64_t target, uint32_t most, uint64_t limit);

/* Has a cut at the chain's first op assume the case that shows least, and returns the price of a
 * byte there, in the price of time of the chain. */
uint64_t arn_remat_branch_lowest(const arn_remat_branch *b, arn_remat_cut *cut);

/* Lists the cases that show `bound`, and their flows; lists are of the allocator. False: no memory.
 */
bool arn_remat_branch_prove(arn_remat_branch *b, uint64_t bound, const arenaut_allocator *allocator,
                            arenaut_remat_proof *proof);

#endif
