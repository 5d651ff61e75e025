/* Which ops may do more than compute their results. */
#ifndef ARN_REWRITE_ORDER_EFFECTS_H
#define ARN_REWRITE_ORDER_EFFECTS_H

#include <arenaut/program.h>

/* Whether an op may do more than compute its results from its operands, or compute others when it
 * runs earlier or later: random numbers, tables, resources, and what no list knows. */
bool arn_order_has_effects(const arenaut_program *program, const arenaut_op *op);

/* Whether an op is of a library that nobody here knows ("llama::update_cache.out"): such kernels
 * have been seen to write what they are given to read. */
bool arn_order_is_foreign(const arenaut_program *program, const arenaut_op *op);

/* How many ops keep their order among those that have effects for the only reason that nothing is
 * known of an operator of that name. Linear in the ops. */
uint32_t arn_order_count_held(const arenaut_program *program);

#endif
