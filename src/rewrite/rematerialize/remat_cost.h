/* Modelled costs of ops: the roofline of a device (Williams, Waterman, Patterson 2009). */
#ifndef ARN_REWRITE_REMAT_COST_H
#define ARN_REWRITE_REMAT_COST_H

#include <arenaut/rewrite.h>

/* Nanoseconds of a run: arithmetic or traffic, whichever takes longer, and a launch. Names of
 * memory cost nothing. */
uint64_t arn_remat_cost(const arenaut_program *program, const arenaut_op *op,
                        const arenaut_roofline *device);

#endif
