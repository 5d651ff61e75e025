/* Proofs of what the overlap search found, as certificates. */
#ifndef ARN_PLANNERS_OVERLAP_PROOF_H
#define ARN_PLANNERS_OVERLAP_PROOF_H

#include <arenaut/plan.h>

#include "core/budget.h"
#include "planners/certificate_log.h"

/* Adds to the log a proof that no plan has a total below the plan's bound or, if it is infeasible,
 * that there is none. What one step needs is tried first, then the search, which is written down.
 * STOPPED: the budget has ended; REFUSED: too large, or the bound is too high; NO_MEMORY. Other
 * than OK, the log has lines that prove nothing. */
arenaut_status arn_overlap_prove(const arenaut_problem *problem, const arenaut_plan *plan,
                                 arn_budget *budget, arn_certificate_log *log, arenaut_error *err);

#endif
