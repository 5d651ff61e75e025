/* Ops cheap enough to be rematerialized. */
#ifndef ARN_REWRITE_RECOMPUTE_CHEAP_H
#define ARN_REWRITE_RECOMPUTE_CHEAP_H

#include <arenaut/program.h>

/* Whether an op goes over its operands a few times at most, as elementwise ops, normalisations and
 * reshapes do, in any dialect. */
bool arn_recompute_is_cheap(const char *name);

/* Whether an op computes the same whenever it runs on the same operands, and nothing else. */
bool arn_recompute_may_repeat(const arenaut_program *program, const arenaut_op *op);

#endif
