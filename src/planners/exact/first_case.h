/* A case to begin with: as many same-base pairs joined as can be. */
#ifndef ARN_EXACT_SKETCH_H
#define ARN_EXACT_SKETCH_H

#include "planners/exact/ties.h"

/* Writes arn_exact_pair per buffer: every pair that saves memory is joined if those before it
 * allow that, the largest savings first, and else apart; where there are many of both, only
 * the first ones are tried. False if there is no memory. */
bool arn_exact_sketch(const arn_exact_input *in, uint8_t *pair);

#endif
