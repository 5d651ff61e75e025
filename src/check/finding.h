/* Rejection with a reason: the caller's arenaut_finding, filled in. */
#ifndef ARN_CHECK_FINDING_H
#define ARN_CHECK_FINDING_H

#include <arenaut/check.h>

#include "core/fail.h"

/* An empty finding: no rule, and NONE for everything that it could name. */
arenaut_finding arn_check_no_finding(void);

/* Writes the message into *finding and *err (may be NULL) and returns REJECTED. The rule and all
 * other known fields are filled in by the caller. */
arenaut_status arn_check_reject(arenaut_finding *finding, arenaut_error *err, const char *format,
                                ...) ARN_PRINTF(3, 4);

#endif
