/* The check of one rematerialized schedule: what its two halves share. The runs of the schedule are
 * followed in check_rematerialization.c, the flows that prove its bounds in remat_flows.c. */
#ifndef ARN_CHECK_REMAT_CHECK_H
#define ARN_CHECK_REMAT_CHECK_H

#include <arenaut/check.h>
#include <arenaut/rematerialization.h>

#include "core/memory.h"

/* Lists, one after another: those of i are to[at[i]] up to to[at[i + 1]]. */
typedef struct arn_remat_rows {
    uint32_t *at, *to;
} arn_remat_rows;

/* An instance: the runs in which it is used. */
typedef struct arn_remat_life {
    uint32_t storage, first, last;
} arn_remat_life;

typedef struct arn_remat_check {
    const arenaut_remat_problem *p;
    const arenaut_rematerialization *r;
    arn_region region;
    arn_remat_rows reads, makes, leads,
        follows;        /* of an op: storages; ops that first run behind it, before */
    uint32_t *read_of;  /* per storage that an op reads, as in `reads`: the read of the problem */
    uint32_t *instance; /* per storage: the latest; NONE: there is none */
    arn_remat_life *lives;
    uint32_t n_lives;
    uint32_t *ran;        /* per op: its first run; NONE: it has not run */
    uint64_t *load;       /* per run, and behind all */
    uint8_t *when;        /* per op: moment */
    bool *there;          /* per storage: alive at the op that a proof looks at, in any case */
    uint64_t *into, *out; /* per storage, per op: flow */
    uint8_t *assumed;     /* per storage: assumption, in one case of a proof */
    uint64_t *flow;       /* per read: of one case */
    uint32_t *stack;      /* of ops */
    uint32_t *begun;      /* per storage: whether it was made before that op, or is live in */
    arenaut_finding *finding;
    arenaut_error *err;
} arn_remat_check;

static inline bool arn_remat_is_held(const arn_remat_check *c, uint32_t storage, uint32_t when) {
    return c->p->held && (c->p->held[storage] & when);
}

static inline uint32_t arn_remat_right_ends(const arn_remat_check *c, uint32_t op) {
    return c->p->until ? c->p->until[op] : ARENAUT_NONE;
}

/* Whether the flows prove the bound on time and the floor of bytes. OK, REJECTED with the finding,
 * or NO_MEMORY. O(cases × (storages + reads + ops)). */
arenaut_status arn_remat_check_bounds(arn_remat_check *c);

#endif
