/* Planning for iterations: storages become the buffers of a problem, any planner solves it,
 * and the checker looks at the answer before the runtime believes it. A plan that is made while an
 * executor waits costs about as much as its problem and its check: the plan in force with the new
 * sizes where that is near the bound, else passes of the skyline, mended. */
#include <inttypes.h>

#include <arenaut/check.h>
#include <arenaut/runtime_plan.h>

#include "core/fail.h"

/* `previous`: the plan to begin with; NULL: none. */
static arenaut_status add_storage(const arenaut_placing *placing, const size_t *previous,
                                  uint32_t i, arenaut_problem *problem, arenaut_error *err) {
    /* Steps are closed there and half open here. */
    const arenaut_interval life = {placing->first[i], (int64_t)placing->last[i] + 1};
    arenaut_buffer buffer = {0};
    buffer.size = placing->bytes[i];
    buffer.align = placing->align;
    buffer.lifetimes = &life;
    buffer.n_lifetimes = 1;
    if (placing->over && placing->over[i] < placing->n)
        buffer.same_base = arenaut_id(placing->over[i]);
    if (previous) buffer.hint = arenaut_at(previous[i]);
    return arenaut_problem_add_buffer(problem, &buffer, NULL, err);
}

static arenaut_status make_problem(const arenaut_placing *placing, const size_t *previous,
                                   const arenaut_allocator *allocator, arenaut_problem **out,
                                   arenaut_error *err) {
    arenaut_problem *problem;
    const arenaut_pool pool = {.name = "arena", .align = placing->align};
    arenaut_status status = arenaut_problem_new(allocator, &problem, err);
    if (status != ARENAUT_OK) return status;
    status = arenaut_problem_add_pool(problem, &pool, NULL, err);
    for (uint32_t i = 0; i < placing->n && status == ARENAUT_OK; i++)
        status = add_storage(placing, previous, i, problem, err);
    if (status == ARENAUT_OK) status = arenaut_problem_finish(problem, err);
    if (status != ARENAUT_OK) {
        arenaut_problem_free(problem);
        return status;
    }
    *out = problem;
    return ARENAUT_OK;
}

static arenaut_status hand_over(const arenaut_plan *plan, const arenaut_placing *placing,
                                arenaut_error *err) {
    if (plan->total > SIZE_MAX)
        return arn_fail(err, ARENAUT_TOO_LARGE, 0,
                        "an arena of %" PRIu64 " bytes cannot be addressed", plan->total);
    for (uint32_t i = 0; i < placing->n; i++) placing->offset[i] = (size_t)plan->offset[i];
    *placing->arena = (size_t)plan->total;
    return ARENAUT_OK;
}

/* Default of `options`: see runtime_plan.h. */
static const arenaut_plan_options live_options = {.planner = "mended-skyline"};

arenaut_status arenaut_iteration_place(void *context, const arenaut_placing *placing) {
    arenaut_iteration_planner *planner = context;
    arenaut_error *err = &planner->error;
    arenaut_problem *problem;
    arenaut_plan *plan = NULL;
    arenaut_finding finding;
    /* Planners that are asked for by name plan as if it were for the first time. */
    const size_t *previous = planner->options ? NULL : placing->previous;
    arenaut_status status = make_problem(placing, previous, planner->allocator, &problem, err);
    if (status != ARENAUT_OK) return status;
    const arenaut_plan_options *options = planner->options ? planner->options : &live_options;
    status = arenaut_plan_make(problem, options, planner->allocator, &plan, err);
    if (status == ARENAUT_OK)
        status = arenaut_check_plan(problem, plan, planner->allocator, &finding, err);
    if (status == ARENAUT_OK) status = hand_over(plan, placing, err);
    if (status == ARENAUT_OK) {
        planner->lower_bound = plan->total_bound;
        planner->quality = plan->quality;
        planner->effort = plan->effort;
    }
    arenaut_plan_free(plan);
    arenaut_problem_free(problem);
    return status;
}
