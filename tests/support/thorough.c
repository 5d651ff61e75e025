/* See thorough.h. */
#include "support/thorough.h"

#include <stdlib.h>

uint32_t thorough(void) {
    enum { MOST = 10000 };
    const char *asked = getenv("ARENAUT_THOROUGH");
    const unsigned long n = asked ? strtoul(asked, NULL, 10) : 1;
    return n < 1 ? 1 : n > MOST ? MOST : (uint32_t)n;
}

size_t one_of(size_t apart) { return apart > thorough() ? apart / thorough() : 1; }
