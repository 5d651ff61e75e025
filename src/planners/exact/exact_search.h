/* Branch and bound with restarts for one case of a problem (exact_case.h): one pool, with
 * assumptions about same-base pairs. A case with open pairs is a relaxation; as soon as a packing
 * is found that violates a constraint left out, the search ends and names a pair to branch on. */
#ifndef ARN_PLANNERS_EXACT_EXACT_SEARCH_H
#define ARN_PLANNERS_EXACT_EXACT_SEARCH_H

#include "planners/exact/exact_case.h"
#include "planners/exact/exact_state.h"

/* Searches for an arena smaller than the input's, and for a proof that there is none. Of *out only
 * `offset` is read; `spill` and `spill_bound` are left alone, the rest is written. OK, also if
 * nothing was found or the search was stopped; REFUSED, with the reason: too large; NO_MEMORY. */
arenaut_status arn_exact_search(const arn_exact_case *assumed, arn_exact_output *out,
                                arenaut_error *err);

/* ---- open pairs ---- */

/* Open pairs: same-base pairs without an assumption, and packings that violate the constraints left
 * out.
 *
 * The search keeps the buffers of an open pair neither at one place nor apart, and the smaller one
 * interferes with no other while the larger one is alive. So its packings may be wrong in two ways,
 * and both are repaired by branching on an open pair:
 *
 *     base  [========]              the pair overlaps, and does not start at one place
 *     heir     [=======]
 *
 *     base  [===]                   the pair lies apart, so that `other`, which was kept clear
 *     heir        [========]        of the heir only, may run into the base
 *     other   [==] */

typedef struct arn_exact_pairs {
    const arn_exact_input *in;
    uint32_t *open, n_open; /* the heirs of open pairs */
    uint32_t *covered,
        n_covered;   /* buffers with lifetimes that may have been cut, see arn_exact_relations */
    uint64_t *place; /* per buffer, in bytes: of the packing that is checked */
} arn_exact_pairs;

/* Lists the open pairs of a case. Arrays are the region's, the case is borrowed. False if there is
 * no memory. O(buffers, and pairs times their lifetimes). */
bool arn_exact_list_pairs(const arn_exact_case *assumed, arn_region *region,
                          arn_exact_pairs *pairs);

/* Returns a pair to branch on, by its heir: an open one, if two buffers overlap in this packing
 * although they may not; one that involves either of these if there is such a pair. ARENAUT_NONE if
 * the packing keeps every constraint. If the input's `poll` ends meanwhile, some open pair: the
 * packing is not known to be right. O(covered buffers times buffers). */
uint32_t arn_exact_open_pair(arn_exact_pairs *pairs, const arn_exact_state *state);

/* ---- bounds without a search ---- */

/* Writes a lower bound of the arena of the case's pool into *bound: the largest load, the largest
 * buffer and the fixed ones, rounded up to the pool's alignment. *possible is false if the bound is
 * above the capacity, or if fixed buffers overlap. Adds the effort to *effort. Other than OK as
 * arn_exact_model_make. */
arenaut_status arn_exact_bound_pool(const arn_exact_case *c, uint64_t *bound, bool *possible,
                                    uint64_t *effort, arenaut_error *err);

/* The sum of the bounds of all pools, or ARENAUT_SIZE_MAX if that is too large a number. */
uint64_t arn_exact_sum_bounds(const arenaut_problem *problem, const uint64_t *bound);

#endif
