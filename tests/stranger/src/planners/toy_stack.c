/* toy-stack: one buffer behind the other, in the order of the problem. What CONTRIBUTING.md says of
 * planners is all that its author had: see tests/pytest/test_stranger.py. */
#include <stdio.h>

#include "planners/run/planner_rows.h"

static uint64_t stack(const arenaut_problem *p, arenaut_plan *plan) {
    uint64_t end = 0;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (!arenaut_problem_needs_memory(p, b)) continue;
        if (plan) {
            plan->pool[b] = 0;
            plan->offset[b] = end;
        }
        end += p->size[b];
    }
    return end;
}

static arenaut_status toy_stack_make(const arenaut_planner *self, arenaut_planning *planning,
                                     arn_meter *meter) {
    fprintf(stderr, "%s is tried\n", self->name); /* for the test to see */
    const arenaut_cost cost = {.total = stack(planning->problem, NULL)};
    arn_meter_spend(meter, planning->problem->n_buffers);
    if (arn_meter_improves(meter, cost)) {
        stack(planning->problem, planning->plan);
        arn_meter_improved(meter, cost);
    }
    return ARENAUT_OK;
}

const arenaut_planner arn_planner_toy_stack = {
    .name = "toy-stack",
    .summary = "one buffer behind the other",
    .handles = 0, /* problems with any feature are refused for it */
    .run = arn_row_run,
    .attempt = &(const arn_attempt){.when = ARN_TRY_WHOLE, .turn = 1, .make = toy_stack_make},
};
