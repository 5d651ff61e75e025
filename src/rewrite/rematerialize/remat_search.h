/* Local search for the fastest sequence within a budget. */
#ifndef ARN_REWRITE_REMAT_SEARCH_H
#define ARN_REWRITE_REMAT_SEARCH_H

#include "rewrite/rematerialize/remat_sequence.h"

enum { ARN_REMAT_MOST_SEEN = 20, ARN_REMAT_BLOCK = 16 };

/* The bytes and time of a position without a gap, as long as no storage that its runs depend on has
 * changed.
 */
typedef struct arn_remat_known {
    uint64_t cost, most_cost;
    int64_t peak;                        /* above the bytes that are live before */
    uint32_t when;                       /* the next evaluation by then; 0: nothing is known */
    uint32_t n, on[ARN_REMAT_MOST_SEEN]; /* the storages */
} arn_remat_known;

typedef struct arn_remat_search {
    arn_remat_sequence *sequence;
    const arn_remat_graph *graph;
    arn_budget *budget;
    uint64_t limit;         /* of the sequence's effort */
    uint64_t most_added;    /* repair gives up there */
    bool goes_later;        /* storages may go behind repeated runs that read them */
    uint64_t random;        /* state of the generator */
    arn_remat_known *known; /* per gap */
    arn_remat_state *next;  /* per gap: how it would be dropped */
    double *score;          /* per gap: bytes of excess that go, for each nanosecond; 0: none */
    uint32_t *over;         /* positions above the budget, ascending */
    uint32_t n_over;
    int64_t *sum, *least, *most;           /* of the excess of each ARN_REMAT_BLOCK of them */
    uint32_t *listed, n_listed;            /* gaps that may be dropped */
    uint32_t *runs_of;                     /* per op: its runs */
    uint32_t *runs, *run_at, n_runs, room; /* as far as there is room for them */
    uint32_t *first_run, *run_behind;      /* per op: the first of them; per run: the next of the
                                            * same op; NONE: there is none */
    arn_remat_state *saved;                /* per gap: states to go back to */
    arn_remat_state *record;               /* likewise: of the fastest by now */
    uint32_t *order, *scratch;             /* room for all gaps */
    uint64_t *key;                         /* per gap */
} arn_remat_search;

/* Lists are the region's. */
bool arn_remat_search_make(arn_remat_sequence *sequence, arn_region *region, arn_budget *budget,
                           uint64_t limit, arn_remat_search *search);

/* Drops the gaps that free most for their cost, until nothing is above the budget. False if that is
 * not reached. `noise`: of 1024 parts of a score that are left to chance. */
bool arn_remat_repair(arn_remat_search *s, uint32_t noise);

/* Where a repeated run has read the storage of a gap last, while it lasted; NONE. */
uint32_t arn_remat_last_reading(const arn_remat_search *s, uint32_t gap);

/* Keeps storages that need not be rematerialized, within the budget. */
void arn_remat_give_back(arn_remat_search *s);

/* Lets storages stay from one of the runs on that make them again in a gap, within the budget. */
void arn_remat_retain_later(arn_remat_search *s);

/* Forgets costs that are kept from before: effort, by which windows and annealing cool down, is
 * then the same whatever was searched before. */
void arn_remat_forget(arn_remat_search *s);

/* Windows of gaps: gives some back and repairs, and ends with the fastest schedule by then, when
 * the effort is spent or so many tries in a row found none. */
void arn_remat_improve(arn_remat_search *s, uint32_t most_in_vain);

/* Puts these states, and follows. */
void arn_remat_restore(arn_remat_search *s, const arn_remat_state *states);

/* Whether the search has to end. */
bool arn_remat_is_over(const arn_remat_search *s);

#endif
