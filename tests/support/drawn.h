/* Number of cases to draw, for tests that `make fuzz` does not run: those that it runs, and longer
 * than `make test` does, include thorough.h. */
#ifndef SUPPORT_DRAWN_H
#define SUPPORT_DRAWN_H

#include <stdint.h>

/* Of `all` cases: an Nth, at least one, where ARENAUT_ONE_OF=N is in the environment. `make
 * test-sanitized` sets it: such cases take long under sanitizers, and the release's run has all of
 * them. ARENAUT_THOROUGH=N (thorough.h) asks for N times as many. */
uint32_t drawn(uint32_t all);

#endif
