/* See thorough.h and drawn.h. */
#include "support/thorough.h"

#include <stdlib.h>

static uint32_t asked(const char *name) {
    enum { MOST = 10000 };
    const char *value = getenv(name);
    const unsigned long n = value ? strtoul(value, NULL, 10) : 1;
    return n < 1 ? 1 : n > MOST ? MOST : (uint32_t)n;
}

uint32_t thorough(void) { return asked("ARENAUT_THOROUGH"); }

uint32_t drawn(uint32_t all) {
    const uint32_t n = all * thorough() / asked("ARENAUT_ONE_OF");
    return n > 0 ? n : 1;
}

/* An odd step comes to every place within a word. */
size_t one_of(size_t apart) {
    const size_t n = asked("ARENAUT_ONE_OF");
    const size_t step = apart > thorough() ? apart / thorough() : 1;
    return n > 1 ? step * n | 1 : step;
}
