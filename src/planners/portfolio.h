/* The portfolio: every order and fit that is known to be the best one somewhere. */
#ifndef ARN_PLANNERS_PORTFOLIO_H
#define ARN_PLANNERS_PORTFOLIO_H

#include "planners/meter.h"

/* Both make one trial after the other until there is nothing to gain. The first makes what
 * the planners of the table do by default, whatever the effort; the second the rest, while
 * the effort lasts or there is no plan. */
arenaut_status arn_portfolio_rows(arenaut_planning *planning, arn_meter *meter);
arenaut_status arn_portfolio_rest(arenaut_planning *planning, arn_meter *meter);

#endif
