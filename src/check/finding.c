/* finding: the empty finding, and rejection: one message for the finding and the error at once,
 * with the status REJECTED. */
#include "check/finding.h"

#include <stdarg.h>
#include <stdio.h>

arenaut_finding arn_check_no_finding(void) {
    const arenaut_finding none = {.rule = ARENAUT_RULE_NONE,
                                  .a = ARENAUT_NONE,
                                  .b = ARENAUT_NONE,
                                  .op = ARENAUT_NONE,
                                  .method = ARENAUT_NONE,
                                  .pool = ARENAUT_NONE};
    return none;
}

arenaut_status arn_check_reject(arenaut_finding *finding, arenaut_error *err, const char *format,
                                ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(finding->msg, sizeof finding->msg, format, args);
    va_end(args);
    return arn_fail(err, ARENAUT_REJECTED, 0, "%s", finding->msg);
}
