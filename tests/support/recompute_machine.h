/* Random small programs with rematerialized ops: the sequence that was found, and any other. The
 * checker's verdicts on them, and on them after changes, are compared with running both programs
 * with numbers. Needs no test framework, so that it runs alone for as long as one likes
 * (fuzz/machine_recompute.c). */
#ifndef SUPPORT_RECOMPUTE_MACHINE_H
#define SUPPORT_RECOMPUTE_MACHINE_H

#include <stdint.h>

typedef struct recompute_counts {
    uint64_t accepted, rejected; /* rewritten programs */
    uint64_t gained;             /* programs in which rematerialization pays */
} recompute_counts;

/* Holds the library to it with the program of this seed, and aborts where it errs. */
void recompute_machine_try(uint64_t seed, recompute_counts *counts);

#endif
