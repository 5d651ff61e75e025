/* The searches for rewrites, each within a budget. The default efforts are seconds, for ten
 * thousand ops.
 *
 * Where the budget ends before the search does, each returns the best that it has found by then;
 * STOPPED, if that is nothing yet. The same arguments give the same answer. */
#ifndef ARN_REWRITE_FIND_WITHIN_H
#define ARN_REWRITE_FIND_WITHIN_H

#include <arenaut/check.h>
#include <arenaut/order.h>
#include <arenaut/rematerialization.h>
#include <arenaut/rewrite.h>

#include "core/budget.h"
#include "core/memory.h"
#include "rewrite/order/program_order.h"

/* Searches for the Pareto front of tile groups. *front is the region's, whose allocator serves the
 * search, too. REFUSED for a program that cannot be tiled anywhere, with the reason. Of the
 * options, effort and progress are the budget's. */
arenaut_status arn_split_find(const arenaut_program *program, arn_budget *budget,
                              const arenaut_split_options *options, arn_region *region,
                              arenaut_split_front **front, arenaut_error *err);
uint64_t arn_split_default_effort(void);

arenaut_status arn_order_find(const arenaut_order_problem *problem, arn_budget *budget,
                              const arenaut_allocator *allocator, arenaut_order **out,
                              arenaut_error *err);
uint64_t arn_order_default_effort(void);

/* `program` is that for which `order` was made of `lowering`. `base` is the order of `file`, the
 * program before its passes, in which `program` runs: its ops, each once. */
typedef struct arn_recompute_task {
    const arenaut_program *program;
    const arenaut_lowering *lowering;
    const arn_program_order *order;
    const arenaut_program *file;
    const uint32_t *base;
    bool open_aliases; /* another schedule may have others (arn_aliases_are_open): nothing is
                        * proven */
} arn_recompute_task;

/* A sequence for arn_recompute. */
typedef struct arn_recomputation {
    uint64_t before, after; /* peaks of live bytes, as far as is known before passes and lowering
                             * have seen the new program */
    uint64_t base, added;   /* nanoseconds of all ops, each once, and of the copies */
    uint64_t bound;         /* no sequence adds less that keeps `after`, or the budget if there is
                             * one; checked */
    uint64_t floor;         /* no arena of any sequence is smaller; checked; 0: nothing is proven */
    uint32_t floor_op;      /* of the file, at which that is so; ARENAUT_NONE: not known */
    bool fits;              /* the budget is kept */
    uint32_t *ops;          /* of the file */
    uint32_t n_ops;         /* no more than the file has: nothing is gained */
    uint32_t *all_ops;      /* with repetitions that were left out, as in arn_remat_find */
    uint32_t n_all_ops;
    uint64_t all_added;
    arenaut_remat_certificate *certificate; /* of bound and floor, without `runs`; NULL: none */
    arenaut_allocator allocator;
} arn_recomputation;

void arn_recomputation_free(arn_recomputation *r); /* NULL is fine */

/* Rematerialization under a budget (rematerialization.h): the fastest schedule within the options'
 * budget or, without one, that with the lowest peak, repeating cheap ops alone. REFUSED for several
 * methods, and for jumps; INTERNAL where the checker refuses the schedule. */
arenaut_status arn_recompute_find(const arn_recompute_task *task, arn_budget *budget,
                                  const arenaut_recompute_options *options,
                                  const arenaut_allocator *allocator, arn_recomputation **out,
                                  arenaut_error *err);
uint64_t arn_recompute_default_effort(void);

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

typedef struct arn_remat_runs {
    uint32_t *runs;
    uint32_t n;
} arn_remat_runs;

/* `bytes`: the budget of the sequence, as in arenaut_remat_options. *all, which the caller
 * releases: its runs with the repetitions that were left out since the peak is no higher without
 * them; ordered anew, these may need less. NULL: not asked for. */
arenaut_status arn_remat_find(const arenaut_remat_problem *problem, arn_budget *budget,
                              uint64_t bytes, const arenaut_allocator *allocator,
                              arenaut_rematerialization **out, arn_remat_runs *all,
                              arenaut_error *err);
uint64_t arn_remat_default_effort(void);

#endif
