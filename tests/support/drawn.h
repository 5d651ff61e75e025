/* Number of cases to draw, for tests that `make fuzz` does not run: those that it runs, and longer
 * than `make test` does, include thorough.h. */
#ifndef SUPPORT_DRAWN_H
#define SUPPORT_DRAWN_H

#include <stddef.h>
#include <stdint.h>

/* Of `all` cases: an Nth, at least one, where ARENAUT_ONE_OF=N is in the environment. `make test`
 * sets it, and the night tries all of them. ARENAUT_THOROUGH=N (thorough.h) asks for N times as
 * many. tests/models/drawn.py is the same for tests in Python. */
uint32_t drawn(uint32_t all);

/* The step of a sweep that tries one of `apart` places: N times as many when thorough, and about an
 * Nth with ARENAUT_ONE_OF=N. */
size_t one_of(size_t apart);

#endif
