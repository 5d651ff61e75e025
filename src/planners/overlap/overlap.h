/* What no plan can do with fewer bytes, where separations let buffers overlap. */
#ifndef ARN_PLANNERS_OVERLAP_OVERLAP_H
#define ARN_PLANNERS_OVERLAP_OVERLAP_H

#include <arenaut/plan.h>
#include <arenaut/problem.h>

#include "core/budget.h"
#include "planners/certificate_log.h"
#include "planners/run/meter.h"

/* The largest number of bytes that some step needs of buffers that may lie in `pool` only. *step
 * gets the first step that needs as many; unchanged if none needs any. Where that would be more
 * work than a fixed amount, the bound is what was found until then, and may be lower. */
arenaut_status arn_overlap_bound(const arenaut_problem *problem, uint32_t pool,
                                 const arenaut_allocator *allocator, uint64_t *bytes, int64_t *step,
                                 arenaut_error *err);

/* The bytes that one step needs, and per buffer whether they do without it: those that are alive
 * then and not left out lie apart but for some pairs, each of which shares with nobody else. */
arenaut_status arn_overlap_bound_at(const arenaut_problem *problem, uint32_t pool, int64_t step,
                                    const arenaut_allocator *allocator, uint64_t *bytes,
                                    bool *left_out, arenaut_error *err);

/* Placing buffers that may overlap one by one, in orders. */

/* Improves the plan, if it can, by some orders whatever the effort, and then with at most `effort`
 * by bringing what ends at the top forward. Needs no list of pairs: O(n log n) and those alive
 * together for each order. OK or NO_MEMORY. */
arenaut_status arn_overlap_orders(arenaut_planning *planning, arn_meter *meter, uint64_t effort);

/* Proofs of what the overlap search found, as certificates. */

/* Adds to the log a proof that no plan has a total below the plan's bound or, if it is infeasible,
 * that there is none. What one step needs is tried first, then the search, which is written down.
 * STOPPED: the budget has ended; REFUSED: too large, or the bound is too high; NO_MEMORY. Other
 * than OK, the log has lines that prove nothing. */
arenaut_status arn_overlap_prove(const arenaut_problem *problem, const arenaut_plan *plan,
                                 arn_budget *budget, arn_certificate_log *log, arenaut_error *err);

#endif
