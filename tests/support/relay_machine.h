/* A second reading of how Relay's GraphPlanMemory hands out storage ids, and random programs to
 * hold the library against it: tuples, fields, lets, ops with several results, arguments that
 * are named twice, tensors listed in any order, devices, elements of less than a byte, lanes,
 * nothing at all, constants and every match range. Needs no test framework, so that it runs
 * alone for as long as one likes (fuzz/machine_relay.c). */
#ifndef SUPPORT_RELAY_MACHINE_H
#define SUPPORT_RELAY_MACHINE_H

#include <stdint.h>

/* Makes the program of this seed, plans it (reader, passes, lowering, tvm-tokens, checker) and
 * compares the report `tokens` with the second reading: ids, devices and bytes of all values. NULL
 * if they agree, else the difference, which the caller frees with free(). */
char *relay_machine_try(uint64_t seed);

#endif
