/* Assertions of code that tests and fuzzers share, where there may be no test to fail: prints the
 * violated condition, and ends the program. */
#ifndef SUPPORT_REQUIRE_H
#define SUPPORT_REQUIRE_H

#include <stdio.h>
#include <stdlib.h>

#define REQUIRE(condition)                                                                \
    do {                                                                                  \
        if (!(condition)) {                                                               \
            fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
            abort();                                                                      \
        }                                                                                 \
    } while (0)

#endif
