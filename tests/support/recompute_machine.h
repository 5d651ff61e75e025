/* Random small programs some ops of which run again: what was found, and any sequence. What the
 * checker says of them, and of what is left of them after changes, is held against running both
 * programs with numbers. Needs no test framework, so that it runs alone for as long as one likes
 * (fuzz/machine_recompute.c). */
#ifndef SUPPORT_RECOMPUTE_MACHINE_H
#define SUPPORT_RECOMPUTE_MACHINE_H

#include <stdint.h>

typedef struct recompute_counts {
    uint64_t accepted, rejected; /* rewritten programs */
    uint64_t gained;             /* programs in which some op had better run again */
} recompute_counts;

/* Holds the library to it with the program of this seed, and aborts where it errs. */
void recompute_machine_try(uint64_t seed, recompute_counts *counts);

#endif
