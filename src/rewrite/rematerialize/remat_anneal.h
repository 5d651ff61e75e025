/* Simulated annealing over the states of gaps. */
#ifndef ARN_REWRITE_REMAT_ANNEAL_H
#define ARN_REWRITE_REMAT_ANNEAL_H

#include "rewrite/rematerialize/remat_search.h"

/* From the present schedule, with so much effort. `best` has states within the budget, of `added`
 * costs; they are replaced by those of the fastest schedule that is found. */
void arn_remat_anneal(arn_remat_search *s, uint64_t effort, arn_remat_state *best, uint64_t added);

#endif
