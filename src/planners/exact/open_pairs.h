/* Open pairs: same-base pairs of which a case assumes nothing, and packings that do not keep what
 * this leaves out.
 *
 * The search keeps the buffers of an open pair neither at one place nor apart, and the smaller
 * one in no other's way while the larger one is alive. So its packings may be wrong in two
 * ways, and both are repaired by branching on an open pair:
 *
 *     base  [========]              the pair overlaps, and does not start at one place
 *     heir     [=======]
 *
 *     base  [===]                   the pair lies apart, so that `other`, which was kept clear
 *     heir        [========]        of the heir only, may run into the base
 *     other   [==]
 */
#ifndef ARN_EXACT_PAIRS_H
#define ARN_EXACT_PAIRS_H

#include "planners/exact/case.h"
#include "planners/exact/exact_state.h"

typedef struct arn_exact_pairs {
    const arn_exact_input *in;
    uint32_t *open, n_open;       /* the heirs of open pairs */
    uint32_t *covered, n_covered; /* buffers whose lifetimes may have been cut, see relations.h */
    uint64_t *place;              /* per buffer, in bytes: of the packing that is looked at */
} arn_exact_pairs;

/* Lists the open pairs of a case. Arrays are the region's, the case is borrowed. False if there is
 * no memory. O(buffers, and pairs times their lifetimes). */
bool arn_exact_list_pairs(const arn_exact_case *assumed, arn_region *region,
                          arn_exact_pairs *pairs);

/* Returns a pair to branch on, by its heir: an open one, if two buffers overlap in this packing
 * although they may not; one that has to do with either of these if there is such a pair.
 * ARENAUT_NONE if the packing keeps everything. If the input's `ask` ends meanwhile, some open
 * pair: the packing is not known to be right. O(covered buffers times buffers). */
uint32_t arn_exact_open_pair(arn_exact_pairs *pairs, const arn_exact_state *state);

/* Writes where the packing puts each buffer of the pool, in bytes, into place[buffer]. Returns
 * where the highest of them ends, in units. O(buffers). */
int64_t arn_exact_write_places(const arn_exact_state *state, uint64_t *place);

#endif
