/* Neighbours: items in each other's way; and items that are exactly alike. */
#ifndef ARN_EXACT_NEIGHBOURS_H
#define ARN_EXACT_NEIGHBOURS_H

#include "planners/exact/model_build.h"

/* Lists each item's neighbours: those that share a clique with it, and no group. Needs the
 * cliques and groups. STOPPED if the input's `ask` ended; REFUSED: too large; NO_MEMORY. */
arenaut_status arn_exact_find_neighbours(arn_exact_build *x, arenaut_error *err);

/* Finds for each item the last one before it that is exactly alike: exchanging the two changes
 * nothing. Needs the walls. False if there is no memory. */
bool arn_exact_find_alike(arn_exact_build *x);

#endif
