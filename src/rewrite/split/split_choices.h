/* What was found, as those get it who asked for it. */
#ifndef ARN_REWRITE_SPLIT_SPLIT_CHOICES_H
#define ARN_REWRITE_SPLIT_SPLIT_CHOICES_H

#include "rewrite/split/split_front.h"

/* Without choices; NULL: no memory. It owns all that is listed in it. */
arenaut_split_front *arn_split_choices_new(const arenaut_allocator *allocator);

/* Lists the choices of two fronts, of all candidates and of those that repeat no multiplications,
 * where none is nowhere better than another: as `to`'s choices, or as those of `even` pieces. False
 * if there is no memory. */
bool arn_split_choices_list(arenaut_split_front *to, const arn_split_front *all,
                            const arn_split_front *no_macs, bool even);

#endif
