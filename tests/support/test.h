/* What every unit test includes first: cmocka, with the headers that it wants before it. */
#ifndef SUPPORT_TEST_H
#define SUPPORT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* How many entries an array has that is written out in the source. */
#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* Fails the test with the library's own message rather than with a bare number. */
#define assert_ok(status, err)                                                              \
    do {                                                                                    \
        const arenaut_status assert_ok_status = (status);                                   \
        if (assert_ok_status != ARENAUT_OK) {                                               \
            fail_msg("%s: %s", arenaut_status_text(assert_ok_status), (err).msg);           \
        }                                                                                   \
    } while (0)

#endif
