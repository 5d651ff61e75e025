#include "support/exact_search.h"

#include "support/oracle.h"
#include "support/test.h"

static bool always_go_on(void *context) {
    (void)context;
    return true;
}

void exact_tree_make(const arenaut_problem *problem, arn_poll *poll, exact_tree *made) {
    const arn_exact_case in = {{.problem = problem, .arena = ARENAUT_UNPLACED, .poll = poll}, NULL};
    arenaut_error err = {0};
    assert_ok(arn_exact_model_make(&in, &made->model, &err), err);
    arn_region_init(&made->region, NULL);
    assert_ok(arn_exact_tree_init(&made->tree, &made->model, arn_exact_no_goods(&made->model),
                                  &made->region, &err),
              err);
    made->tree.go_on = always_go_on;
}

void exact_tree_free(exact_tree *made) {
    arn_region_free(&made->region);
    arn_exact_model_free(&made->model);
}

void assert_offsets_accepted(const arenaut_problem *problem, const arn_exact_output *found) {
    arenaut_plan *plan = NULL;
    arenaut_error err = {0};
    assert_ok(arenaut_plan_new(problem->n_buffers, problem->n_pools, NULL, &plan, &err), err);
    for (uint32_t b = 0; b < problem->n_buffers; b++) {
        plan->pool[b] = arenaut_problem_needs_memory(problem, b) ? 0 : ARENAUT_NONE;
        plan->offset[b] = found->offset[b];
    }
    assert_ok(arenaut_plan_measure(plan, problem, &err), err);
    assert_plan_accepted(problem, plan);
    assert_int_equal(plan->total, found->arena);
    arenaut_plan_free(plan);
}
