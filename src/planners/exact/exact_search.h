/* The search of one case of a problem: one pool, where something may be assumed of same-base
 * pairs (ties.h). A case in which nothing is assumed of some pairs leaves out constraints; as
 * soon as a packing is found that does not keep them, the search ends and names the pair. */
#ifndef ARN_EXACT_SEARCH_H
#define ARN_EXACT_SEARCH_H

#include "planners/exact/exact.h"
#include "planners/exact/ties.h"

typedef struct arn_exact_found {
    uint64_t *offset; /* the caller's, as in arn_exact_output */
    bool improved;
    uint64_t arena, bound; /* likewise */
    uint32_t open_pair;    /* the heir of a pair that ended the search; ARENAUT_NONE */
    arenaut_stop stopped_by;
    uint64_t steps, nodes;
} arn_exact_found;

arenaut_status arn_exact_search(const arn_exact_case *in, arn_exact_found *found,
                                arenaut_error *err);

#endif
