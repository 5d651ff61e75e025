/* Filling in the caller's arenaut_finding. */
#ifndef ARN_CHECK_FINDING_H
#define ARN_CHECK_FINDING_H

#include <arenaut/check.h>

#include "core/fail.h"

/* A finding that says nothing yet: no rule, and NONE for everything it could name. */
arenaut_finding arn_check_no_finding(void);

/* Writes the message into *finding and *err (may be NULL) and returns REJECTED. The
 * caller has filled in the rule and whatever else it knows. */
arenaut_status arn_check_reject(arenaut_finding *finding, arenaut_error *err, const char *format,
                                ...) ARN_PRINTF(3, 4);

#endif
