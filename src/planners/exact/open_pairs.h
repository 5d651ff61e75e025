/* Same-base pairs of which nothing is assumed, and packings that may not do justice to them. */
#ifndef ARN_EXACT_PAIRS_H
#define ARN_EXACT_PAIRS_H

#include "planners/exact/exact_state.h"
#include "planners/exact/ties.h"

typedef struct arn_exact_pairs {
    const arn_exact_input *in;
    uint32_t *open, n_open;       /* the heirs */
    uint32_t *covered, n_covered; /* who may be covered by others */
    uint64_t *place;              /* per buffer, of the last packing */
} arn_exact_pairs;

/* False if there is no memory. */
bool arn_exact_list_pairs(const arn_exact_case *assumed, arn_region *region,
                          arn_exact_pairs *pairs);

/* The heir of an open pair because of which the packing is none, as what it overlaps must not
 * be overlapped; ARENAUT_NONE if it is one. */
uint32_t arn_exact_open_pair(arn_exact_pairs *pairs, const arn_exact_state *state);

/* Writes where the packing puts each buffer, in bytes. Returns its end, in units. */
int64_t arn_exact_write_places(const arn_exact_state *state, uint64_t *place);

#endif
