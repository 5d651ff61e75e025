/* The end of rewrites and of the search for tiles, for all that keep one. */
#ifndef ARN_IR_REWRITE_H
#define ARN_IR_REWRITE_H

#include <arenaut/rewrite.h>

void arn_rewrite_free(arenaut_rewrite *rewrite); /* NULL is fine */

/* By the room that makes fronts (rewrite/split). */
void arn_split_front_free(arenaut_split_front *front); /* NULL is fine */

#endif
