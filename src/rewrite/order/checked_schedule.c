/* Schedules for the problems of a lowered program, with their bounds: none is taken before the
 * checker has passed it. */
#include "rewrite/order/forms.h"

#include <arenaut/check.h>

#include "core/checked.h"
#include "rewrite/find_within.h"
#include "rewrite/order/program_order.h"

static arenaut_status check(const arenaut_pipeline *p, const arenaut_order_problem *problem,
                            const arenaut_order *order, arenaut_error *err) {
    arenaut_finding finding;
    arenaut_error why = {0};
    const arenaut_status st =
        arenaut_check_order(problem, order, arn_pipeline_allocator(p), &finding, &why);
    if (st == ARENAUT_REJECTED) {
        return arn_fail(err, ARENAUT_INTERNAL, 0, "the order of ops did not pass the checker: %s",
                        finding.msg);
    }
    if (st != ARENAUT_OK && err) *err = why;
    return st;
}

uint64_t arn_schedule_effort(const arenaut_pipeline *p) {
    const uint64_t asked = p->options.reordering.options.effort;
    return arn_transform_effort(p, asked, arn_order_default_effort());
}

arenaut_status arn_find_schedule(const arenaut_pipeline *p, const arenaut_order_problem *problem,
                                 uint64_t effort, arn_budget *budget, arenaut_order **order,
                                 arenaut_error *err) {
    arn_budget part = arn_budget_part(budget, effort, 0, ARN_BUDGET_ALL);
    const arenaut_status st = arn_order_find(problem, &part, arn_pipeline_allocator(p), order, err);
    return st == ARENAUT_OK ? check(p, problem, *order, err) : st;
}

arenaut_status arn_schedule_problem_of(const arenaut_pipeline *lowered, arn_program_order **problem,
                                       arenaut_error *err) {
    const arenaut_lowering_options options = {.preserve_inputs = lowered->options.preserve_inputs,
                                              .overlap = lowered->options.overlap};
    return arn_program_order_new(lowered->document.program, lowered->lowering, lowered->target,
                                 &options, arn_pipeline_allocator(lowered), problem, err);
}

arenaut_status arn_find_schedules(const arenaut_pipeline *p, arn_program_order *problem,
                                  arn_budget *budget, uint32_t *n_lines, arenaut_error *err) {
    const uint32_t n = arn_program_order_count(problem);
    uint64_t left = arn_schedule_effort(p);
    arenaut_status st = ARENAUT_OK;
    for (uint32_t i = 0; i < n && st == ARENAUT_OK; i++) {
        arenaut_order *order = NULL;
        st = arn_find_schedule(p, arn_program_order_problem(problem, i),
                               arn_max_u64(left / (n - i), 1), budget, &order, err);
        if (st == ARENAUT_OK) st = arn_program_order_take(problem, order, err);
        if (st == ARENAUT_OK) {
            *n_lines += order->n_lines;
            left -= arn_min_u64(order->effort, left);
        }
        arenaut_order_free(order);
    }
    return st;
}
