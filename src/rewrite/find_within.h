/* The searches for rewrites with a budget each, for the rest of the library: the public calls of
 * the same names make the budget from their options.
 *
 * Where the budget ends before the search does, each returns the best that it has found by then;
 * STOPPED, if that is nothing yet. */
#ifndef ARN_REWRITE_FIND_WITHIN_H
#define ARN_REWRITE_FIND_WITHIN_H

#include <arenaut/check.h>
#include <arenaut/order.h>
#include <arenaut/rematerialization.h>
#include <arenaut/rewrite.h>

#include "core/budget.h"

arenaut_status arn_split_find(const arenaut_program *program, arn_budget *budget,
                              const arenaut_split_options *options,
                              const arenaut_allocator *allocator, arenaut_split_front **front,
                              arenaut_error *err);

arenaut_status arn_order_find(const arenaut_order_problem *problem, arn_budget *budget,
                              const arenaut_allocator *allocator, arenaut_order **out,
                              arenaut_error *err);

/* The arguments of arenaut_recompute_find. */
typedef struct arn_recompute_task {
    const arenaut_program *program;
    const arenaut_lowering *lowering;
    const arenaut_program_order *order;
    const arenaut_program *file;
    const uint32_t *base;
} arn_recompute_task;

arenaut_status arn_recompute_find(const arn_recompute_task *task, arn_budget *budget,
                                  const arenaut_recompute_options *options,
                                  const arenaut_allocator *allocator, arenaut_recomputation **out,
                                  arenaut_error *err);

/* Schedules within six budgets (arenaut_pipeline_find_curve), each checked. Options: costs, device,
 * effort of each. Returns as arn_recompute_find. */
arenaut_status arn_recompute_find_curve(const arn_recompute_task *task, arn_budget *budget,
                                        const arenaut_recompute_options *options,
                                        const arenaut_allocator *allocator,
                                        arenaut_recompute_curve **out, arenaut_error *err);

/* Checks a certificate about the task, whose base is the file's own order: makes the problem with
 * these costs and this device, and has the checker add up the flows. REJECTED, with the rule PROOF,
 * if times differ, or if a bound is not shown. */
arenaut_status arn_recompute_check(const arn_recompute_task *task,
                                   const arenaut_recompute_options *options,
                                   const arenaut_remat_certificate *certificate,
                                   const arenaut_allocator *allocator, arenaut_finding *finding,
                                   arenaut_error *err);

/* `bytes`: the budget of the sequence, as in arenaut_remat_options. */
arenaut_status arn_remat_find(const arenaut_remat_problem *problem, arn_budget *budget,
                              uint64_t bytes, const arenaut_allocator *allocator,
                              arenaut_rematerialization **out, arenaut_error *err);

#endif
