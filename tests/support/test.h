/* Common first include of every unit test: cmocka, with the headers that it wants before it, and
 * TEST, which is all that a test needs in order to run:
 *
 *     TEST(a_pool_that_is_too_small_is_refused) {
 *         ...
 *     }
 *
 * test_main.c runs them in the order of the file; `test_pools 'a_pool*'` runs those that match. */
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

typedef struct test_entry {
    const char *name;
    void (*run)(void **state);
    int line; /* constructors run in an order that is the compiler's own */
    struct test_entry *next;
} test_entry;

void test_register(test_entry *entry);

#define TEST(name)                                                     \
    static void name(void);                                            \
    static void run_##name(void **state) {                             \
        (void)state;                                                   \
        name();                                                        \
    }                                                                  \
    __attribute__((constructor)) static void register_##name(void) {   \
        static test_entry entry = {#name, run_##name, __LINE__, NULL}; \
        test_register(&entry);                                         \
    }                                                                  \
    static void name(void)

/* Fails the test with the library's own message rather than with a bare number. */
#define assert_ok(status, err)                                                    \
    do {                                                                          \
        const arenaut_status assert_ok_status = (status);                         \
        if (assert_ok_status != ARENAUT_OK) {                                     \
            fail_msg("%s: %s", arenaut_status_text(assert_ok_status), (err).msg); \
        }                                                                         \
    } while (0)

#endif
