/* The portfolio: every order and fit that is known to be the best one somewhere. */
#ifndef ARN_PLANNERS_SEARCH_PORTFOLIO_H
#define ARN_PLANNERS_SEARCH_PORTFOLIO_H

#include "planners/run/lanes.h"

/* Both make one trial after the other until there is nothing to gain. The first makes what
 * the planners of the table do by default, whatever the effort; the second the rest, while
 * the effort lasts or there is no plan.
 *
 * Where so many buffers are alive together that looking at each pair takes long, the first
 * makes the trials that need not do that before those that must, as far as the effort goes;
 * and where it would take too long, leaves the latter to the second. `pairs` is the number of
 * pairs, each seen from both sides and each group with itself. */
arenaut_status arn_portfolio_rows(arn_lanes *lanes, uint64_t *pairs);
arenaut_status arn_portfolio_rest(arn_lanes *lanes, uint64_t pairs);

#endif
