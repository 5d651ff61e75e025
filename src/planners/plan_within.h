/* Planning with a budget: the call for the rest of the library, instead of arenaut_plan_make. */
#ifndef ARN_PLANNERS_PLAN_WITHIN_H
#define ARN_PLANNERS_PLAN_WITHIN_H

#include "core/budget.h"

/* As arenaut_plan_make, with the effort and the callback of the budget instead of those of the
 * options, which may be NULL. */
arenaut_status arn_plan_within(const arenaut_problem *problem, arn_budget *budget,
                               const arenaut_plan_options *options,
                               const arenaut_allocator *allocator, arenaut_plan **out,
                               arenaut_error *err);

#endif
