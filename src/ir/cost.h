/* The objective: the cost of a plan, compared lexicographically: its spill into slower pools first
 * (see arenaut_pool in problem.h), then bytes, which are the sum of its arenas or, where a runtime
 * keeps data beside them, all that has to be reserved. Planners and the choice among rewrites
 * compare by it. */
#ifndef ARN_IR_COST_H
#define ARN_IR_COST_H

#include <stdbool.h>

#include <arenaut/plan.h>
#include <arenaut/problem.h>

typedef struct arn_cost {
    uint64_t spill, total; /* total ARENAUT_UNPLACED: there is no plan */
} arn_cost;

/* More than any plan costs; and the most that one may cost. */
#define ARN_NO_PLAN ((arn_cost){ARENAUT_UNPLACED, ARENAUT_UNPLACED})
#define ARN_ANY_PLAN ((arn_cost){ARENAUT_UNPLACED - 1, ARENAUT_UNPLACED - 1})

static inline bool arn_costs_less(arn_cost a, arn_cost b) {
    return a.spill != b.spill ? a.spill < b.spill : a.total < b.total;
}
static inline arn_cost arn_cost_of(const arenaut_plan *plan) {
    return (arn_cost){plan->spill, plan->total};
}
static inline bool arn_is_plan(arn_cost cost) { return cost.total != ARENAUT_UNPLACED; }

/* The most that costs less. */
static inline arn_cost arn_just_below(arn_cost cost) {
    if (cost.total > 0) return (arn_cost){cost.spill - !arn_is_plan(cost), cost.total - 1};
    return (arn_cost){cost.spill - 1, ARENAUT_UNPLACED - 1};
}

#endif
