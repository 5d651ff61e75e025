/* The passes that run, and their consequences for the order of a program. */
#ifndef ARN_PASSES_PASS_TABLE_H
#define ARN_PASSES_PASS_TABLE_H

#include <arenaut/pass.h>

/* Whether the pass is a default, of all programs or of this one's dialect. */
bool arn_pass_runs_by_default(const arenaut_program *program, const char *name);

/* The operator that the call wraps, and the number of operands that it updates: the last of the
 * inputs, in the order of the last outputs. NULL: it wraps none. */
const char *arn_wrapped_operator(const arenaut_op *op, uint32_t *n_bases);

/* Whether the schedule decides which values the passes of this selection (of arenaut_passes_run)
 * update in place, or join: another schedule of the same ops, or one with repetitions, each of
 * which may be a part of another join, may need less. */
bool arn_aliases_follow_schedule(const arenaut_program *program, const char *selection);

#endif
