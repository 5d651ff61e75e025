/* The floor of bytes at the end of all sequences, where results that are live out add up. */
#ifndef ARN_REWRITE_REMAT_END_H
#define ARN_REWRITE_REMAT_END_H

#include "rewrite/rematerialize/remat_cut.h"

/* Of the last ops, those that no other follows, the first `n` in the order of `last` show the
 * floor: so many bytes are alive at the first run of one of these. */
typedef struct arn_remat_end {
    const arn_remat_graph *graph;
    uint32_t *last, n_last; /* those that need most bytes beside results that are live out
                             * come first */
    uint32_t *rank;         /* per op: the place of the first of them that it precedes, or is */
    uint32_t n;
    uint64_t bytes;
} arn_remat_end;

/* Lists are the region's. O(reads + ops log ops). False: no memory. */
bool arn_remat_end_make(const arn_remat_cut *cut, arn_region *region, arn_remat_end *end);

/* Whether a storage is live out and alive at that run in every sequence. */
bool arn_remat_end_holds(const arn_remat_end *end, uint32_t storage);

#endif
