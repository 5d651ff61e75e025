/* The choice of the ops at whose first runs a chain of cuts looks. */
#ifndef ARN_REWRITE_REMAT_MOMENTS_H
#define ARN_REWRITE_REMAT_MOMENTS_H

#include "rewrite/rematerialize/remat_chain.h"

typedef struct arn_remat_moments {
    arn_remat_chain *chain;
    uint32_t *candidates, n_candidates;
    /* The chain so far, with its best prices; those of handing on are per storage. */
    uint32_t op[ARN_REMAT_MOST_MOMENTS], n;
    uint64_t byte[ARN_REMAT_MOST_MOMENTS], unit[ARN_REMAT_MOST_MOMENTS];
    uint64_t *hand[ARENAUT_REMAT_MOST_LATER];
    int64_t value;
} arn_remat_moments;

/* Lists are the region's. */
bool arn_remat_moments_make(arn_remat_chain *chain, arn_region *region, arn_remat_moments *m);

/* From a chain of one op on, at its best prices, adds ops while the bound grows and is below
 * `target`, in the price of time. `load`: bytes alive where each op runs once. `limit`: of the
 * steps of all flows. The chain is left at these ops, with its best prices. */
void arn_remat_moments_find(arn_remat_moments *m, const int64_t *load, int64_t target,
                            uint64_t limit);

#endif
