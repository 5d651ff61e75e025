/* Splits a problem into cases that the search of one pool can handle.
 *
 * Nothing is assumed of same-base pairs at first: then the two are not in each other's way, so
 * that whatever has no packing has none. Only when a packing is found that puts a pair neither
 * at one place nor apart, the case is split in two: the pair is joined, or it is apart. Where
 * pools are to be chosen, groups get theirs one by one, the largest first, so as to spill as
 * little as the loads allow; every case has a bound of what it spills, and its pools have bounds
 * that add up. When all are chosen the pools are independent.
 *
 *                        nothing assumed
 *                       /               \
 *          group g in pool 0        group g in pool 1
 *             /         \                  |
 *      pair p joined   p apart         pool too small: no plan in this case
 *
 * Cases are gone through in rounds, depth first, each for a limited time; those that were not
 * finished have their turn again in the next round, for twice as long, and so on until none is
 * left or the effort is spent. Nothing in this depends on how much effort there is. */
#ifndef ARN_EXACT_CASES_H
#define ARN_EXACT_CASES_H

#include "planners/exact/exact.h"

/* Whether the search has to choose pools: there are several, and none are given. */
static inline bool arn_exact_chooses_pools(const arn_exact_input *in) {
    return !in->pool_of && in->problem->n_pools > 1;
}

/* As arn_exact_run, by cases, for an *out in which nothing is found yet. */
arenaut_status arn_exact_run_cases(const arn_exact_input *in, arn_exact_output *out,
                                   arenaut_error *err);

#endif
