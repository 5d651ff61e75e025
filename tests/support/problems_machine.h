/* Random problems of every combination of features, and everything that the library claims about
 * them held against tests/support/problems_brute.h, which knows nothing of the library: plans,
 * bounds, proofs of optima and of impossibility, certificates; and the planners against each other.
 */
#ifndef SUPPORT_PROBLEMS_MACHINE_H
#define SUPPORT_PROBLEMS_MACHINE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <arenaut/problem.h>

#include "support/problems_brute.h"

enum {
    DIFFERENTIAL_FEATURES = 12 /* bits: ARENAUT_FEATURE_ALIGNMENT … ARENAUT_FEATURE_SEPARATIONS */
};

typedef struct differential_shape {
    uint32_t features;    /* ARENAUT_FEATURE_… that may occur */
    uint32_t max_buffers; /* up to BRUTE_BUFFERS */
    uint64_t effort;      /* of each planner */
    long tries;           /* of each search through all places; see brute_search */
} differential_shape;

/* Counts of the cases. */
typedef struct differential_counts {
    uint64_t problems, refused_problems; /* the latter: drawn, but not valid */
    uint64_t plans, refusals;
    uint64_t bounds, optima, impossible; /* claims that were confirmed */
    uint64_t certificates, uncertified;  /* followed; asked for, but there was none */
    uint64_t open;                       /* plans of `auto` that are not known to be the least */
    uint64_t given_up;                   /* searches through all places */
} differential_counts;

/* Whether tokens can be combined with these features: the library refuses places in tokens. */
bool differential_makes_sense(uint32_t features);

/* Only draws it: the library's problem, each number of bytes `scale` times that of `truth`; NULL
 * if it is not valid. The caller frees it. */
arenaut_problem *differential_draw(uint64_t seed, const differential_shape *shape, uint64_t scale,
                                   brute_problem *truth);

/* Draws one problem and looks at it. False if a claim is wrong: then the message says which, and
 * the problem was written to `log` as JSON. */
bool differential_run(uint64_t seed, const differential_shape *shape, FILE *log,
                      differential_counts *counts, char message[256]);

#endif
