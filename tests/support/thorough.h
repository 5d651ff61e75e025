/* Share of the drawn or swept cases that is tried. ARENAUT_THOROUGH=N in the environment, which
 * `make fuzz` sets for the tests that include this, asks for N times as much as a quick run of all
 * tests has time for. */
#ifndef SUPPORT_THOROUGH_H
#define SUPPORT_THOROUGH_H

#include <stdint.h>

#include "support/drawn.h"

/* N, at least 1. */
uint32_t thorough(void);

#endif
