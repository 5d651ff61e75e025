/* Conversion of ops that return a changed copy into ops that update their operand. */
#ifndef ARN_PASSES_EXPORT_MAY_UPDATE_H
#define ARN_PASSES_EXPORT_MAY_UPDATE_H

#include <arenaut/pass.h>

#include "analysis/def_use.h"

/* Whether op `at` is the last to need the old value of tensor `base`, so that it may change it: the
 * program's own values, and state or inputs only where `value` is bound to be their new value, in
 * which case *binding gets its number in its method. */
bool arn_pass_may_update(const arenaut_program *program, const arn_def_use *uses, uint32_t at,
                         uint32_t base, uint32_t value, uint32_t *binding);

/* Notes of a binding that it has been fulfilled. */
arenaut_status arn_pass_settle_binding(arenaut_program *program, uint32_t method, uint32_t binding,
                                       arenaut_error *err);

#endif
