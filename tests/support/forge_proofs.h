/* Forging proofs: random small problems of all features, the truth about them by exhaustive search,
 * and proofs of false claims, which the checker must refuse. Proofs are built line by line by
 * random search, with the checker as the oracle that tells whether a line is acceptable (adaptive
 * black-box fuzzing), and made of true proofs by changing lines. The number of true bounds that the
 * same search proves measures its power. Needs no test framework (fuzz/machine_forge.c). */
#ifndef SUPPORT_FORGE_PROOFS_H
#define SUPPORT_FORGE_PROOFS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct forge_counts {
    uint64_t problems, skipped; /* the latter: drawn, but not valid, or too much to search */
    uint64_t calls;             /* of the checker */
    uint64_t certified;         /* true proofs that the library made; all were accepted */
    uint64_t mutants, built;    /* false claims: changed proofs, and proofs searched for */
    uint64_t truths, proven;    /* true bounds tried, and proven by the search */
    uint64_t forgeries;
} forge_counts;

/* One problem of this seed, of placing buffers and of ordering ops. False if something false was
 * proven, or a true proof refused: then `log` has the claim and the lines. */
bool forge_certificates(uint64_t seed, FILE *log, forge_counts *counts);
bool forge_orders(uint64_t seed, FILE *log, forge_counts *counts);

void forge_report(const char *what, const forge_counts *counts, FILE *log);

/* Whether the search proves at least 85 % of the true bounds. */
bool forge_has_teeth(const forge_counts *counts);

#endif
