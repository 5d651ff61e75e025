/* The runs of the search of one case: which comes next (restarts.c), and how many at a time
 * (case_search.c). */
#ifndef ARN_PLANNERS_EXACT_SEARCH_RUNS_H
#define ARN_PLANNERS_EXACT_SEARCH_RUNS_H

#include "planners/exact/packing_search.h"

/* ---- runs ---- */

typedef enum arn_exact_purpose {
    ARN_EXACT_FIRST_PLAN, /* a plan, whatever its effort */
    ARN_EXACT_AT_BOUND,   /* aims straight at the bound */
    ARN_EXACT_ON_LADDER,
    ARN_EXACT_PROOF,
} arn_exact_purpose;

typedef struct arn_exact_trial {
    arn_exact_purpose purpose;
    int64_t capacity;
    uint64_t limit; /* nodes */
    arn_exact_style style;
    int64_t *keys; /* per item, see arn_exact_rank */
    bool forgets;  /* begins with equal weights of cliques */
} arn_exact_trial;

/* How a packing was found. */
typedef struct arn_exact_success {
    arn_exact_style style;
    int64_t *keys;
} arn_exact_success;

enum { ARN_EXACT_RECENT = 4 }; /* successes that are remembered */

/* What decides which run comes next. */
typedef struct arn_exact_schedule {
    const arn_exact_model *model;
    int64_t low;    /* nothing fits below a lower capacity than this */
    int64_t target; /* the highest capacity worth looking at; proven when low > target */
    bool apart;     /* ordinary runs of a batch learn nothing from each other */
    uint64_t random;
    const arn_exact_success *successes; /* the last ones, by their number modulo RECENT */
    uint32_t n_successes;
    uint64_t run_nodes;    /* the limit of an ordinary run */
    uint32_t rung, bottom; /* of the ladder: rungs below `bottom` are tried */
    uint32_t tries, max_tries, runs;
    uint64_t nodes; /* of all runs */
    uint64_t proof_limit, proof_nodes;
} arn_exact_schedule;

/* The schedule of a search that has learned nothing yet. `successes` is an array of RECENT; the
 * caller sets `low` and `target`. */
arn_exact_schedule arn_exact_schedule_of(const arn_exact_model *model, uint64_t seed,
                                         const arn_exact_success *successes);

/* From the next run on, ordinary runs are apart. */
void arn_exact_part(arn_exact_schedule *schedule);

/* Draws the next run into *run, of which it reads `keys`: a proof among them, unless runs are
 * apart. Returns the work, in operations. */
uint64_t arn_exact_next_run(arn_exact_schedule *schedule, arn_exact_trial *run);

/* Draws a proof. */
uint64_t arn_exact_next_proof(arn_exact_schedule *schedule, arn_exact_trial *run);

/* Draws the run that makes a plan. */
uint64_t arn_exact_first_run(arn_exact_schedule *schedule, arn_exact_trial *run);

/* What follows from a run. FOUND counts as a success of its style by `arn_exact_remember`, which
 * comes before. */
void arn_exact_learn(arn_exact_schedule *schedule, const arn_exact_trial *run,
                     arn_exact_verdict verdict, uint64_t nodes);
void arn_exact_remember(arn_exact_schedule *schedule, arn_exact_success *successes,
                        const arn_exact_trial *run);

#endif
