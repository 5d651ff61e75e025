/* Orders for the problems of a prepared program, and what is known of them: nothing is said, and no
 * order taken, that has not passed the checker. */
#include "stages/stages.h"

#include <arenaut/check.h>

#include "core/checked.h"

/* Never unchecked: neither the order nor what is said to be proven. */
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

static uint64_t effort_of(const arenaut_pipeline *p) {
    const uint64_t asked = p->options.reordering.options.effort;
    return arn_pipeline_effort(p, asked, arenaut_order_default_effort());
}

static arenaut_status find_order(const arenaut_pipeline *p, const arenaut_order_problem *problem,
                                 arn_budget *budget, arenaut_order **order, arenaut_error *err) {
    const arenaut_status st =
        arn_order_find(problem, budget, arn_pipeline_allocator(p), order, err);
    return st == ARENAUT_OK ? check(p, problem, *order, err) : st;
}

arenaut_status arn_pipeline_find_order(const arenaut_pipeline *p,
                                       const arenaut_order_problem *problem, arn_budget *budget,
                                       arenaut_order **order, arenaut_error *err) {
    arn_budget part = arn_budget_part(budget, effort_of(p), 0, ARN_BUDGET_ALL);
    return find_order(p, problem, &part, order, err);
}

arenaut_status arn_pipeline_order_problem(const arenaut_pipeline *p, const arenaut_pipeline *given,
                                          arenaut_program_order **problem, arenaut_error *err) {
    const arenaut_lowering_options options = {.preserve_inputs = p->options.preserve_inputs,
                                              .overlap = p->options.overlap};
    return arenaut_program_order_new(given->document.program, given->lowering, given->target,
                                     &options, arn_pipeline_allocator(p), problem, err);
}

arenaut_status arn_pipeline_find_orders(const arenaut_pipeline *p, arenaut_program_order *problem,
                                        arn_budget *budget, uint32_t *n_lines, arenaut_error *err) {
    const uint32_t n = arenaut_program_order_count(problem);
    uint64_t left = effort_of(p);
    arenaut_status st = ARENAUT_OK;
    for (uint32_t i = 0; i < n && st == ARENAUT_OK; i++) {
        arenaut_order *order = NULL;
        arn_budget part =
            arn_budget_part(budget, arn_max_u64(left / (n - i), 1), 0, ARN_BUDGET_ALL);
        st = find_order(p, arenaut_program_order_problem(problem, i), &part, &order, err);
        if (st == ARENAUT_OK) st = arenaut_program_order_take(problem, order, err);
        if (st == ARENAUT_OK) {
            *n_lines += order->n_lines;
            left -= arn_min_u64(order->effort, left);
        }
        arenaut_order_free(order);
    }
    return st;
}
