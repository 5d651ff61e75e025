/* generic: a runtime that obeys any plan. It needs no alignment, and its own plan counts as sharing
 * nothing (naive). */
#include <arenaut/target.h>

extern const arenaut_target arn_target_generic;
const arenaut_target arn_target_generic = {
    .name = "generic",
    .summary = "any runtime: no rounding, inputs may be overwritten after their last use",
    .align = 1,
    .state_in_arena = true,
    .skip_untouched = true,
    .incumbent = "naive",
};
