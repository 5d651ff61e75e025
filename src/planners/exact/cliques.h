/* Cuts time into cliques: see exact_model.h. */
#ifndef ARN_EXACT_CLIQUES_H
#define ARN_EXACT_CLIQUES_H

#include "planners/exact/model_build.h"

/* Fills in the model's cliques, spans and members, and whether it is plain or can be cut in
 * this respect. Needs the items. STOPPED if the input's `ask` ended; REFUSED: too large;
 * NO_MEMORY. */
arenaut_status arn_exact_find_cliques(arn_exact_build *x, arenaut_error *err);

#endif
