/* Share of the drawn or swept cases that is tried. ARENAUT_THOROUGH=N in the environment, which
 * `make fuzz` sets, asks for N times as much as a quick run of all tests has time for;
 * ARENAUT_ONE_OF=N, which `make test-sanitized` sets, for an Nth of the cases that drawn() counts:
 * those take long under sanitizers, and the release's run has all of them. */
#ifndef SUPPORT_THOROUGH_H
#define SUPPORT_THOROUGH_H

#include <stddef.h>
#include <stdint.h>

/* N, at least 1. */
uint32_t thorough(void);

/* How many of `all` cases to draw: N times as many when thorough, or an Nth, at least one. */
uint32_t drawn(uint32_t all);

/* The step of a sweep that tries one of `apart` places, N times as many when thorough. */
size_t one_of(size_t apart);

#endif
