/* Takes the assembly out of sources that include no headers but these: what is left of a kernel
 * computes nothing, and still says how much memory it wants. */
#ifndef NO_ASSEMBLY_H
#define NO_ASSEMBLY_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define asm
#define __asm__
#define volatile(...)

#endif
