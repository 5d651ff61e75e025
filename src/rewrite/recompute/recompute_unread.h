#ifndef ARN_REWRITE_RECOMPUTE_UNREAD_H
#define ARN_REWRITE_RECOMPUTE_UNREAD_H

#include <arenaut/program.h>

#include "core/memory.h"

/* Leaves out runs whose results are not read before the same op is repeated, as long as some op
 * then runs more than once. `ops`: a sequence of the ops of `file`, the program before its passes.
 * False if there is no memory. */
bool arn_recompute_leave_out_unread(const arenaut_program *file, arn_region *region, uint32_t *ops,
                                    uint32_t *n_ops);

#endif
