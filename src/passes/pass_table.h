/* Passes that run without being asked for. */
#ifndef ARN_PASSES_PASS_TABLE_H
#define ARN_PASSES_PASS_TABLE_H

#include <arenaut/pass.h>

/* Whether the pass is a default, of all programs or of this one's dialect. */
bool arn_pass_runs_by_default(const arenaut_program *program, const char *name);

#endif
