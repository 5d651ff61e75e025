/* Lower bounds by Lagrangian minimum cuts: the best over ops and prices that is found. */
#ifndef ARN_REWRITE_REMAT_BOUND_H
#define ARN_REWRITE_REMAT_BOUND_H

#include "rewrite/rematerialize/remat_cut.h"
#include "rewrite/rematerialize/remat_end.h"

typedef struct arn_remat_bounds {
    arn_remat_cut *cut;
    arn_remat_end end;
    uint64_t budget;
    uint32_t *above, *largest, *scratch;       /* room for all ops */
    uint64_t *upper, *key;                     /* likewise */
    uint64_t most_byte_price, most_time_price; /* with which nothing overflows */
    uint64_t value;                            /* of the best: no sequence adds less */
    uint32_t op;                               /* ARENAUT_NONE: nothing is shown */
    uint64_t byte_price, time_price;
} arn_remat_bounds;

/* The lists are the region's. */
bool arn_remat_bounds_make(arn_remat_cut *cut, arn_region *region, arn_remat_bounds *bounds);

/* Looks for a bound on the added time within the budget: `load` has, per op, the bytes alive where
 * each op runs once. `tries`: cuts to be made, about. */
void arn_remat_bound_time(arn_remat_bounds *b, uint64_t budget, const int64_t *load,
                          uint32_t tries);

/* Finds the floor: the bytes that any sequence needs at some op's first run. *op is the number of
 * ops: `end` shows it. */
uint64_t arn_remat_bound_bytes(arn_remat_bounds *b, uint32_t *op);

/* Fills in a proof; its list has room for all reads. */
void arn_remat_bound_prove(arn_remat_bounds *b, uint32_t op, uint64_t byte_price,
                           uint64_t time_price, arenaut_remat_proof *proof);

#endif
