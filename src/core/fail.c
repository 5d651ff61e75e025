/* Error messages: formatted into the caller's struct, which keeps the last one and owns no memory.
 * The texts of statuses come from the table in error.h. */
#include "core/fail.h"

#include <stdarg.h>
#include <stdio.h>

arenaut_status arn_fail(arenaut_error *err, arenaut_status code, size_t at, const char *format,
                        ...) {
    if (err) {
        va_list args;
        va_start(args, format);
        err->code = code;
        err->at = at;
        vsnprintf(err->msg, sizeof err->msg, format, args);
        va_end(args);
    }
    return code;
}

arenaut_status arn_no_memory(arenaut_error *err) {
    return arn_fail(err, ARENAUT_NO_MEMORY, 0, "out of memory");
}

const char *arenaut_status_text(arenaut_status status) {
    switch (status) {
#define XX(number, name, text) \
    case ARENAUT_##name: return text;
        ARENAUT_STATUS_MAP(XX)
#undef XX
    }
    return "unknown status";
}
