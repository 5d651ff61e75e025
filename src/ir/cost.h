/* Costs of plans (arenaut/cost.h), and the ends of their order. */
#ifndef ARN_IR_COST_H
#define ARN_IR_COST_H

#include <arenaut/cost.h>
#include <arenaut/plan.h>
#include <arenaut/problem.h>

/* More than any plan costs; and the most that one may cost. */
#define ARN_NO_PLAN ((arenaut_cost){ARENAUT_UNPLACED, ARENAUT_UNPLACED, INT64_MAX, INT64_MAX})
#define ARN_ANY_PLAN (arn_plan_cost(ARENAUT_UNPLACED - 1, ARENAUT_UNPLACED - 1))

/* Where plans of the same program are compared. */
static inline arenaut_cost arn_plan_cost(uint64_t spill, uint64_t total) {
    return (arenaut_cost){.spill = spill, .total = total};
}
static inline arenaut_cost arn_cost_of(const arenaut_plan *plan) {
    return arn_plan_cost(plan->spill, plan->total);
}
static inline bool arn_is_plan(arenaut_cost cost) { return cost.total != ARENAUT_UNPLACED; }

/* The most that a plan of the same program may cost to cost less. */
static inline arenaut_cost arn_just_below(arenaut_cost cost) {
    if (cost.total > 0) return arn_plan_cost(cost.spill - !arn_is_plan(cost), cost.total - 1);
    return arn_plan_cost(cost.spill - 1, ARENAUT_UNPLACED - 1);
}

#endif
