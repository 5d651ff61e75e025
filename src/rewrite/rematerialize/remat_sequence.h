/* A schedule with repetitions, as a state of each gap between uses of a storage; and its live bytes
 * and cost, position by position (incremental evaluation: a change of one gap is followed from its
 * begin until nothing differs any more). */
#ifndef ARN_REWRITE_REMAT_SEQUENCE_H
#define ARN_REWRITE_REMAT_SEQUENCE_H

#include "core/budget.h"
#include "rewrite/rematerialize/remat_graph.h"

enum {
    ARN_REMAT_KEEP,  /* it stays */
    ARN_REMAT_LATE,  /* it goes, and is made again for each run that reads it */
    ARN_REMAT_RETAIN /* the same, but stays once it was made again in the gap; so many more: but
                      * stays once it was made again at a position of so much, or behind it */
};
/* So many more: it stays up to the runs of a position of so much, and goes behind the first of
 * them that reads it; from then on as LATE. */
#define ARN_REMAT_UNTIL (UINT32_C(1) << 31)

typedef uint32_t arn_remat_state;

/* Whether a storage is there when its gap begins. */
static inline bool arn_remat_stays_at_first(arn_remat_state state) {
    return state == ARN_REMAT_KEEP || state >= ARN_REMAT_UNTIL;
}

/* Whether it may be made again, and stay, in its gap. */
static inline bool arn_remat_is_retained(arn_remat_state state) {
    return state >= ARN_REMAT_RETAIN && state < ARN_REMAT_UNTIL;
}

enum { ARN_REMAT_SET_WORDS = 4 };

/* A set of storages that may hold more than were added (Bloom filter of one hash). */
typedef struct arn_remat_storages {
    uint64_t word[ARN_REMAT_SET_WORDS];
} arn_remat_storages;

typedef struct arn_remat_sequence {
    const arn_remat_graph *graph;
    arn_budget *budget_of_search;
    uint64_t effort; /* runs looked at */
    int64_t budget;
    arn_remat_state *state; /* per gap */
    uint32_t *made_at; /* per gap, if retained: the position before which it is made; else NONE */
    bool *absent;      /* per gap: not there at its begin, of a deferred op */
    bool *deferred;    /* per position: its op does not run there, but first for a reader */
    uint32_t *next, *previous, *head;             /* per position: gaps that are made there */
    uint32_t *end_next, *end_previous, *end_head; /* likewise: gaps whose storages go there */
    uint32_t *read_at; /* per gap: where a repeated run has read its storage last; NONE */
    int64_t *enter;    /* per position, and behind all: live bytes before its runs */
    int64_t *peak;     /* per position: bytes alive where most is */
    uint64_t *cost;    /* per position: of repeated runs */
    int64_t excess;    /* above the budget, of all positions */
    uint64_t added;
    bool *bad; /* per position: something is read there that cannot be made again */
    uint32_t n_bad;
    uint32_t blocked;   /* the tail that would have to be kept; NONE */
    uint64_t most_cost; /* of repeated runs of one position: more is bad, so that no effort goes to
                         * repetitions that grow exponentially */
    uint32_t *runs;     /* NULL: runs are not listed */
    uint32_t n_runs, room;
    uint32_t *count_of; /* per op: its runs, if they are counted; else NULL */
    uint32_t *run_at;   /* per run that is listed: its position; or NULL */
    /* Of the position that is looked at. */
    uint32_t at, stamp_now, n_again;
    int64_t now, most;
    uint64_t cost_now;
    bool *repeats;              /* per position: some op is repeated there */
    arn_remat_storages *looked; /* per position: those that its runs depend on */
    arn_remat_storages seen;    /* the same, of the position that is looked at */
    arn_remat_storages changed; /* whose gaps have changed since the last evaluation */
    uint32_t *marked; /* per position: `change`, if a gap that has changed begins or ends there */
    uint32_t change;  /* number of the next evaluation */
    uint32_t *changed_at; /* per storage: the last evaluation for which one of its gaps changed */
    uint32_t *gap_now;    /* per storage that was looked at: its gap there; NONE */
    uint32_t *seen_ids, n_seen; /* storages that the runs of the position depend on, each once */
    uint32_t from, to;          /* it is of these positions; from > to: nothing has changed */
    bool dry, skips;
    uint32_t *stamp, *pins; /* per storage */
    bool *here;
    uint32_t *old, *old_stamp, n_old; /* gaps that were made there */
} arn_remat_sequence;

/* All gaps are kept, so that each op runs once; evaluated. Lists are the region's. */
bool arn_remat_sequence_make(const arn_remat_graph *graph, arn_region *region, arn_budget *budget,
                             arn_remat_sequence *q);

/* Another budget for the same sequence. */
void arn_remat_set_budget(arn_remat_sequence *q, uint64_t budget);

/* Sets the state of a gap; the sequence is evaluated by `arn_remat_follow`. */
void arn_remat_change(arn_remat_sequence *q, uint32_t gap, arn_remat_state state);

/* Evaluates positions from the first change on, until nothing differs any more. */
void arn_remat_follow(arn_remat_sequence *q);

/* Both. */
void arn_remat_set(arn_remat_sequence *q, uint32_t gap, arn_remat_state state);

/* Forgets where repeated runs have read storages: earlier evaluations must not decide how a
 * schedule without repetitions goes on. */
void arn_remat_forget_reads(arn_remat_sequence *q);

/* Cost and peak of one position with the present states, if so many bytes `more` are live before;
 * false if it cannot be run. Nothing changes. */
bool arn_remat_try_position(arn_remat_sequence *q, uint32_t at, int64_t more, uint64_t *cost,
                            int64_t *peak);

/* Bytes of a peak that are above the budget. */
static inline int64_t arn_remat_above(const arn_remat_sequence *q, int64_t peak) {
    return peak > q->budget ? peak - q->budget : 0;
}

/* The largest of all positions, the first of equals; *at may be NULL. */
int64_t arn_remat_peak(const arn_remat_sequence *q, uint32_t *at);

/* Lists all runs: `runs` has room for `room`. False if there are more. */
bool arn_remat_list_runs(arn_remat_sequence *q, uint32_t *runs, uint32_t room, uint32_t *n);

#endif
