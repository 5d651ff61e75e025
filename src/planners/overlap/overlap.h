/* Planning with partial overlaps, as separations allow: lower bounds, first fit in orders, and
 * proofs. */
#ifndef ARN_PLANNERS_OVERLAP_OVERLAP_H
#define ARN_PLANNERS_OVERLAP_OVERLAP_H

#include <arenaut/plan.h>
#include <arenaut/problem.h>

#include "core/budget.h"
#include "planners/certificate_log.h"
#include "planners/run/meter.h"

/* The largest number of bytes that some step needs of buffers that may lie in `pool` only. *step
 * gets the first step that needs as many; unchanged if none needs any. If that would be more work
 * than a fixed amount, the bound is the largest found until then, and may be lower. */
arenaut_status arn_overlap_bound(const arenaut_problem *problem, uint32_t pool,
                                 const arenaut_allocator *allocator, uint64_t *bytes, int64_t *step,
                                 arenaut_error *err);

/* The bytes that one step needs, and per buffer whether they do without it: the live buffers that
 * are not left out lie apart but for some pairs, each of which shares with no other buffer. */
arenaut_status arn_overlap_bound_at(const arenaut_problem *problem, uint32_t pool, int64_t step,
                                    const arenaut_allocator *allocator, uint64_t *bytes,
                                    bool *left_out, arenaut_error *err);

/* Improves the plan, if it can, by some orders whatever the effort, and then with at most `effort`
 * by local search: a group that ends at the top comes forward. Needs no list of pairs: O(n log n)
 * and the pairs alive together for each order. OK or NO_MEMORY. */
arenaut_status arn_overlap_orders(arenaut_planning *planning, arn_meter *meter, uint64_t effort);

/* Adds to the log a proof that no plan has a total below the plan's bound or, if it is infeasible,
 * that there is none. The bound of one step is tried first, then the search, which is logged.
 * STOPPED: the budget has ended; REFUSED: too large, or the bound is too high; NO_MEMORY. Other
 * than OK, the log has lines that prove nothing. */
arenaut_status arn_overlap_prove(const arenaut_problem *problem, const arenaut_plan *plan,
                                 arn_budget *budget, arn_certificate_log *log, arenaut_error *err);

#endif
