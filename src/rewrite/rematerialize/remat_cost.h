/* Costs of ops: modelled by the roofline of a device (Williams, Waterman, Patterson 2009), or
 * measured and read from a cost file. */
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

/* Reads a cost file: CSV with the header method,op,nanoseconds, a row for each op that it knows:
 * its method by name or number (empty: the first) and its number there. Lines that begin with '#'
 * are comments. *costs, per op of the program, is the caller's, to be released with `allocator`.
 * BAD_INPUT with the line in err->at for unknown methods and ops, a second row for an op, and text
 * that is no time. */
arenaut_status arn_costs_read(const char *text, size_t size, const arenaut_program *program,
                              const arenaut_allocator *allocator, uint64_t **costs,
                              arenaut_error *err);

#endif
