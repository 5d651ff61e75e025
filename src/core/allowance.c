/* The allowance of a reader: one number that only goes down. Products that overflow are more than
 * is left. */
#include "core/allowance.h"

#include <inttypes.h>

#include "core/fail.h"

arn_allowance arn_allowance_for(size_t file_size, uint32_t times, uint64_t base, uint64_t limit) {
    arn_allowance allowance = {.times = times};
    if (!arn_multiply(file_size, times, &allowance.left)) allowance.left = ARENAUT_SIZE_MAX / 2;
    allowance.left += base;
    allowance.limited = limit != 0 && limit < allowance.left;
    if (allowance.limited) allowance.left = limit;
    return allowance;
}

arenaut_status arn_allowance_spent(const arn_allowance *allowance, const char *place,
                                   const char *reason, arenaut_error *err) {
    if (allowance->limited) {
        return arn_fail(err, ARENAUT_TOO_LARGE, 0,
                        "%s: the program takes more memory than the limit that was given", place);
    }
    return arn_fail(err, ARENAUT_BAD_INPUT, 0,
                    "%s: %s stands for a program more than %" PRIu32 " times its size", place,
                    reason, allowance->times);
}
