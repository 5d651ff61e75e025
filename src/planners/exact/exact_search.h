/* The search of one case of a problem (case.h): one pool, where something may be assumed of
 * same-base pairs. A case with open pairs leaves out constraints; as soon as a packing is found
 * that does not keep them, the search ends and names a pair to branch on. */
#ifndef ARN_EXACT_SEARCH_H
#define ARN_EXACT_SEARCH_H

#include "planners/exact/case.h"

typedef struct arn_exact_found {
    uint64_t *offset; /* the caller's, as in arn_exact_output */
    bool improved;
    uint64_t arena, bound; /* likewise */
    uint32_t open_pair;    /* the heir of a pair to branch on, which ended the search;
                            * ARENAUT_NONE */
    arenaut_stop stopped_by;
    uint64_t effort, nodes;
} arn_exact_found;

/* Searches for an arena smaller than the input's, and for a proof that there is none. Of *found
 * only `offset` is read; the rest is written as in arn_exact_output. OK, whatever was found, also
 * when stopped; REFUSED, with the reason: too large; NO_MEMORY. */
arenaut_status arn_exact_search(const arn_exact_case *assumed, arn_exact_found *found,
                                arenaut_error *err);

#endif
