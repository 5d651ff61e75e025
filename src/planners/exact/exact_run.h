/* Runs the exact search. */
#ifndef ARN_EXACT_RUN_H
#define ARN_EXACT_RUN_H

#include "planners/exact/exact.h"

/* Searches in->pool, or all pools where in->pool_of is NULL and there are several. Of *out only
 * `offset` and `pool_of` are read, the rest is written. OK, whether or not something was found;
 * REFUSED, with the reason, for a problem that is too large: the search keeps the list of all
 * conflicts and of what is alive at each moment, and will not take more than about 80 MB for
 * them; NO_MEMORY. `ask` stops it, and is asked where no progress is reported. */
arenaut_status arn_exact_run(const arn_exact_input *in, arn_ask *ask, arn_exact_output *out,
                             arenaut_error *err);

/* The input for all of a planning's problem, with its options and bounds, no plan to start from,
 * and neither progress nor `ask`. */
arn_exact_input arn_exact_input_of(const arenaut_planning *planning);

/* What the caller of a planning was told last, to be told again where nothing new is known. */
typedef struct arn_exact_notice {
    const arenaut_plan_options *options;
    arenaut_progress progress;
} arn_exact_notice;

/* An arn_ask's `put`; `context` is an arn_exact_notice. */
arenaut_verdict arn_exact_notify(void *context);

#endif
