/* Among plans that are equally good, one that keeps offsets from before. */
#ifndef ARN_EXACT_HINTS_H
#define ARN_EXACT_HINTS_H

#include "planners/exact/exact.h"

/* Rearranges one pool's plan, which is in `offset` and has an arena of in->arena, so that more
 * buffers lie where their hints say, the largest first, without a larger arena. Tries to keep
 * all hints that agree with each other, and fewer at a time when that fails, within in->effort;
 * adds what was spent to *spent. */
arenaut_status arn_exact_keep_hints(const arn_exact_input *in, uint64_t *offset, uint64_t *spent,
                                    arenaut_error *err);

/* The same for a whole plan that is proven to be the smallest, with a part of the options'
 * effort on top. Plans of other quality, and problems without hints, stay as they are. */
arenaut_status arn_exact_keep_earlier(arenaut_planning *planning);

#endif
