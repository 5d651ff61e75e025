/* Mending: the few moments at which a plan is too high, with all groups alive then placed anew. */
#ifndef ARN_PLANNERS_SEARCH_MEND_H
#define ARN_PLANNERS_SEARCH_MEND_H

#include "planners/placing/trial.h"

/* Changes the workspace's offsets of groups that end above `goal`, and of those around them, until
 * none does or so much work is done, in elementary operations of about ten instructions each;
 * `work` gets their number. The groups must be plain, as for skyline_engine.h. False if there is no
 * memory: the offsets are then those of a plan, as ever. */
bool arn_mend(arn_workspace *space, uint64_t goal, uint64_t most, arn_poll *poll, uint64_t *work);

#endif
