/* A case to begin with: as many same-base pairs joined as can be. */
#ifndef ARN_EXACT_FIRST_CASE_H
#define ARN_EXACT_FIRST_CASE_H

#include "core/memory.h"
#include "planners/exact/case.h"

/* Writes arn_exact_pair per buffer, with no pair left open: every pair that saves memory is
 * joined if those joined before it allow that, the largest savings first, and else apart. Where
 * there are very many, only the first ones are tried. `scratch` may be freed afterwards. False
 * if there is no memory. */
bool arn_exact_first_case(const arn_exact_input *in, arn_region *scratch, uint8_t *pair);

#endif
