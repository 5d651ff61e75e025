/* Modelled costs of ops: the roofline of a device (Williams, Waterman, Patterson 2009). */
#ifndef ARN_REWRITE_REMAT_COST_H
#define ARN_REWRITE_REMAT_COST_H

#include <arenaut/rewrite.h>

/* Nanoseconds of a run: arithmetic or traffic, whichever takes longer, and a launch. Names of
 * memory cost nothing. */
uint64_t arn_remat_cost(const arenaut_program *program, const arenaut_op *op,
                        const arenaut_roofline *device);

/* The device of the options or, where they have none, an "a100". */
const arenaut_roofline *arn_roofline_of(const arenaut_recompute_options *options);

/* The time of so many multiplications by so many ops, with a launch of each, in operations of the
 * device, so that nothing is rounded. */
uint64_t arn_roofline_operations(const arenaut_roofline *device, uint64_t macs, uint64_t ops);

#endif
