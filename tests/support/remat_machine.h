/* Random small problems of rematerialization: results and proofs, compared with a search through
 * all sequences; and proofs of false claims, which the checker must refuse. Needs no test framework
 * (fuzz/machine_remat.c). */
#ifndef SUPPORT_REMAT_MACHINE_H
#define SUPPORT_REMAT_MACHINE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <arenaut/rematerialization.h>

typedef struct remat_counts {
    uint64_t problems, feasible; /* the latter: some sequence is within the budget */
    uint64_t found, best;        /* sequences within the budget, and such as none is faster than */
    uint64_t tight;              /* bounds that are the least time */
    uint64_t cases;              /* proofs by cases, among those that were changed */
    uint64_t chains;             /* proofs that look at several moments */
    uint64_t mutants, refused;   /* proofs that were changed, or of another number */
    uint64_t in_vain;            /* budgets below the need of any sequence, with a proof of that */
    uint64_t impossible;         /* of so many */
} remat_counts;

/* One problem of this seed. False, with a line in `log`, if something is wrong. */
bool remat_machine_try(uint64_t seed, FILE *log, remat_counts *counts);

/* A small training step, within about as many bytes as some of its storages have together. */
bool remat_machine_try_step(uint64_t seed, FILE *log, remat_counts *counts);

/* A problem or a step, and the proof of a bound at the first runs of random ops, in random cases
 * and from random prices on. */
bool remat_machine_try_chain(uint64_t seed, FILE *log, remat_counts *counts);

/* A problem or a step that may have all that the two before have, and in which plans may share more
 * bytes than rights say: bounds and floors hold for those, too. */
bool remat_machine_try_shared(uint64_t seed, FILE *log, remat_counts *counts);

/* One more random problem, with every budget up to its peak: whether none costs more than a smaller
 * one, and each answer passes the checker. *n_missed: one more if a budget comes to a lower peak
 * than a search without one. */
bool remat_machine_try_budgets(uint64_t seed, FILE *log, uint64_t *n_missed);

#endif
