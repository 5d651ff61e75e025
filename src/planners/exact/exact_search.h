/* The search of one case of a problem (case.h): one pool, where something may be assumed of
 * same-base pairs. A case with open pairs leaves out constraints; as soon as a packing is found
 * that does not keep them, the search ends and names a pair to branch on. */
#ifndef ARN_EXACT_SEARCH_H
#define ARN_EXACT_SEARCH_H

#include "planners/exact/case.h"

/* Searches for an arena smaller than the input's, and for a proof that there is none. Of *out
 * only `offset` is read; `spill` and `spill_bound` are left alone, the rest is written. OK,
 * whatever was found, also when stopped; REFUSED, with the reason: too large; NO_MEMORY. */
arenaut_status arn_exact_search(const arn_exact_case *assumed, arn_exact_output *out,
                                arenaut_error *err);

#endif
