/* Proofs of what the exact search found, as certificates. */
#ifndef ARN_EXACT_PROVE_H
#define ARN_EXACT_PROVE_H

#include "planners/exact/exact.h"
#include "planners/certificate_log.h"

/* Adds to the log a proof that no plan has a total below `bound`, or that there is no plan at all
 * if that is ARENAUT_UNPLACED. Of `in` it reads the problem, the effort, the seed and the
 * allocator. The search is the one that finds plans, but steered at what is impossible, and
 * written down. STOPPED: the effort was spent, or `ask` said so; REFUSED: too large, or the bound
 * is too high; NO_MEMORY. Other than OK, the log has lines that prove nothing. */
arenaut_status arn_exact_prove(const arn_exact_input *in, arn_ask *ask, uint64_t bound,
                               arn_certificate_log *log, arenaut_error *err);

#endif
