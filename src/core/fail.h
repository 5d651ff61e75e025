/* Setters of the caller's arenaut_error. */
#ifndef ARN_CORE_FAIL_H
#define ARN_CORE_FAIL_H

#include <arenaut/error.h>

#if defined(__MINGW32__) /* %zu as in C, which Windows' own printf may not take */
#define ARN_PRINTF(text, first) __attribute__((__format__(__gnu_printf__, text, first)))
#elif defined(__GNUC__)
#define ARN_PRINTF(text, first) __attribute__((__format__(__printf__, text, first)))
#else
#define ARN_PRINTF(text, first)
#endif

/* Stores code, position and message in *err unless it is NULL, and returns `code`, so that
 * a failing function can `return arn_fail(...)`. Longer messages are cut. */
arenaut_status arn_fail(arenaut_error *err, arenaut_status code, size_t at, const char *format, ...)
    ARN_PRINTF(4, 5);

/* The usual answer when an allocation fails. */
arenaut_status arn_no_memory(arenaut_error *err);

#endif
