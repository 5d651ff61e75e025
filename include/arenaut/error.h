/* Status codes and the error a caller may hand in to learn more.
 *
 * Every call that can fail returns an arenaut_status. Most also take an
 * `arenaut_error *`, which may be NULL; it is filled only when the call fails, and
 * lives with the caller. The library prints nothing and never aborts.
 *
 * Threads: an error belongs to the call that it is given to; the texts never change. */
#ifndef ARENAUT_ERROR_H
#define ARENAUT_ERROR_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One list makes the enum and arenaut_status_text(). Numbers are stable. */
#define ARENAUT_STATUS_MAP(XX)                                                \
    XX(0, OK, "ok")                                                           \
    XX(1, NO_MEMORY, "out of memory")                                         \
    XX(2, BAD_ARGUMENT, "the call is wrong")                                  \
    XX(3, BAD_INPUT, "the input is not well formed")                          \
    XX(4, UNSUPPORTED, "the input is well formed but not supported")          \
    XX(5, TOO_LARGE, "a size or count is too large")                          \
    XX(6, REFUSED, "this planner, pass or format cannot express the request") \
    XX(7, REJECTED, "the checker found the plan wrong")                       \
    XX(8, STOPPED, "the caller stopped the work before there was a result")   \
    XX(9, IO, "reading or writing failed")                                    \
    XX(10, INTERNAL, "a bug in arenaut")                                      \
    XX(11, NO_PLAN, "no plan exists: that is proven")                         \
    XX(12, NOT_FOUND, "no plan was found, although there may be one")

typedef enum arenaut_status {
#define XX(number, name, text) ARENAUT_##name = number,
    ARENAUT_STATUS_MAP(XX)
#undef XX
} arenaut_status;

/* A failure: its object, its place, and the allowed values. */
typedef struct arenaut_error {
    arenaut_status code;
    size_t at;     /* byte offset in the input, or line number for text; 0 if none */
    char msg[320]; /* names the object, the value found and the values allowed */
} arenaut_error;

/* A short English text for a status; "unknown status" for a number not listed.
 * The string is static. */
const char *arenaut_status_text(arenaut_status status);

#ifdef __cplusplus
}
#endif
#endif
