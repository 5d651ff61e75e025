/* The portfolio: every order and fit that is known to be the best one somewhere. */
#ifndef ARN_PLANNERS_PORTFOLIO_H
#define ARN_PLANNERS_PORTFOLIO_H

#include "planners/meter.h"

/* Makes one trial after the other until there is nothing to gain. What the planners of the
 * table do is tried whatever the effort; the rest while it lasts. */
arenaut_status arn_portfolio(arenaut_planning *planning, arn_meter *meter);

#endif
