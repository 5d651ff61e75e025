/* One case of a proof (arenaut/certificate.h): the budget of effort and memory for all its lines,
 * its assumptions, and the groups and interference graph of one pool that follow. Shares no code
 * with the planners. */
#ifndef ARN_CHECK_PROOF_CASE_H
#define ARN_CHECK_PROOF_CASE_H

#include <stdbool.h>

#include <arenaut/certificate.h>
#include <arenaut/check.h>

#include "check/plan/plan_rules.h"
#include "core/memory.h"

typedef struct arn_proof_meter {
    uint64_t effort, memory;     /* left */
    bool spent;                  /* one of them was not enough */
    arenaut_allocator source;    /* of the memory */
    arenaut_allocator allocator; /* takes it from there, and counts it */
} arn_proof_meter;

/* Limits of 0 are derived from problem and certificate. False if there is no memory for that. */
bool arn_proof_meter_init(arn_proof_meter *meter, const arenaut_check_limits *limits,
                          const arenaut_problem *problem, const arenaut_certificate *certificate,
                          const arenaut_allocator *allocator);

/* Spends so much effort; false, then and ever after, if that is more than is left. A caller that
 * cannot stop goes on, and the check ends behind its line. No meter: no limit. */
static inline bool arn_proof_charge(arn_proof_meter *meter, uint64_t effort) {
    if (!meter) return true;
    if (effort > meter->effort) meter->spent = true;
    meter->effort = effort > meter->effort ? 0 : meter->effort - effort;
    return !meter->spent;
}

static inline bool arn_proof_is_spent(const arn_proof_meter *meter) {
    return meter && meter->spent;
}

typedef enum arn_pair_assumption {
    ARN_PAIR_OPEN,
    ARN_PAIR_JOINED,
    ARN_PAIR_APART
} arn_pair_assumption;

/* A rigid group: buffers at fixed distances from each other. */
typedef struct arn_proof_group {
    uint32_t piece, n_pieces; /* its buffers: pieces[piece ..] */
    uint64_t align, residue;  /* its offset is residue modulo align */
    uint64_t extent;
    uint64_t fixed; /* ARENAUT_UNPLACED: it can move */
} arn_proof_group;

/* A buffer of a group, with the part of its live range in which nothing covers it. */
typedef struct arn_proof_piece {
    uint32_t buffer, group;
    uint64_t delta, size;             /* from the start of the group */
    uint32_t life, n_lives;           /* lives[life ..] */
    uint32_t neighbour, n_neighbours; /* neighbours[neighbour ..]: interfering pieces, in order */
} arn_proof_piece;

typedef struct arn_proof_case {
    const arenaut_problem *problem;
    const arn_check_slices *slices;
    const arenaut_allocator *allocator;
    arenaut_error *err;
    arn_proof_meter *meter; /* NULL: no budget */

    /* The assumptions. */
    uint8_t *pair;   /* per buffer: arn_pair_assumption about it and its base */
    uint64_t *pools; /* per buffer: its possible pools */
    bool *left_out;  /* per buffer: it is left out */
    uint64_t bound;  /* the total is below this; ARENAUT_UNPLACED: it need not be */
    uint64_t least[ARENAUT_MAX_POOLS], most[ARENAUT_MAX_POOLS]; /* of each arena */

    /* Consequences for the buffers that can only be in `pool`; made by arn_proof_case_open. */
    arn_region region;
    bool open, contradiction;
    bool has_neighbours; /* `lives` to `member` are there, too */
    uint32_t pool;
    uint64_t grain; /* every offset that matters is a multiple of it */
    uint32_t n_groups, n_pieces, n_moments;
    arn_proof_group *group;
    arn_proof_piece *piece; /* by group */
    arenaut_interval *lives;
    uint32_t *neighbours;
    uint32_t *piece_of;              /* per buffer; ARENAUT_NONE */
    int64_t *moment;                 /* the steps at which a piece comes alive, in order */
    uint32_t *member_start, *member; /* per moment: the pieces alive */
} arn_proof_case;

arenaut_status arn_proof_case_init(arn_proof_case *c, const arn_plan_check *check,
                                   const arn_check_slices *slices, uint64_t bound);
void arn_proof_case_free(arn_proof_case *c);

/* Derives the consequences for one pool: its groups and, if asked for, its interference graph.
 * TOO_LARGE if that would take too much memory. */
arenaut_status arn_proof_case_open(arn_proof_case *c, uint32_t pool, bool neighbours);
void arn_proof_case_close(arn_proof_case *c);

/* The pools that all buffers of a group have in common. Writes `root`, which is the same for all of
 * a group, and `delta`, relative to the root; both per buffer. False if joined buffers contradict
 * each other. */
bool arn_proof_groups(const arn_proof_case *c, uint32_t *root, int64_t *delta);

/* An upper bound on the arenas of a set of pools together, and on the end of any buffer in one;
 * ARENAUT_UNLIMITED. */
uint64_t arn_proof_room(const arn_proof_case *c, uint64_t pools);
uint64_t arn_proof_limit(const arn_proof_case *c, uint32_t pool);

/* The separation of two buffers with `upper` above; NULL if there is none. */
const arenaut_separation *arn_proof_separation(const arenaut_problem *problem, uint32_t upper,
                                               uint32_t lower);

static inline const arenaut_interval *arn_proof_lives_of(const arn_proof_case *c, uint32_t b,
                                                         uint32_t *n) {
    *n = arenaut_problem_lifetime_count(c->problem, b);
    return arenaut_problem_lifetimes(c->problem, b);
}

/* Fills in `lives`, and each piece's range of them, for a case; false if there is no memory. */
bool arn_proof_find_lives(arn_proof_case *c);

bool arn_proof_lives_meet(const arenaut_interval *a, uint32_t na, const arenaut_interval *b,
                          uint32_t nb);
bool arn_proof_alive(const arenaut_interval *lives, uint32_t n, int64_t step);

#endif
