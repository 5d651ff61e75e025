/* Makes the model of a case. */
#ifndef ARN_EXACT_MODEL_MAKE_H
#define ARN_EXACT_MODEL_MAKE_H

#include "planners/exact/case.h"
#include "planners/exact/exact_model.h"

/* Fills in *model, which the caller frees if this returns OK; the problem is borrowed. STOPPED,
 * with no message, if the input's `ask` ended; REFUSED, with the reason, for a problem that is
 * too large; NO_MEMORY. */
arenaut_status arn_exact_model_make(const arn_exact_case *assumed, arn_exact_model *model,
                                    arenaut_error *err);

#endif
