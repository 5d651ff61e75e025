/* Walls: addresses that are taken from the start. See exact_model.h. */
#ifndef ARN_EXACT_WALLS_H
#define ARN_EXACT_WALLS_H

#include "planners/exact/model_build.h"

/* Fills in the walls of items and of cliques, the end of the highest fixed buffer, and whether
 * fixed buffers clash with each other, with reserved ranges or with their alignment. Needs the
 * cliques. REFUSED: too large; NO_MEMORY. */
arenaut_status arn_exact_find_walls(arn_exact_build *x, arenaut_error *err);

#endif
