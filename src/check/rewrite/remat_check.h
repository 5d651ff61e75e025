/* The check of one rematerialized schedule: the state of its two halves. The runs of the schedule
 * are followed in check_rematerialization.c, the flows that prove its bounds in remat_flows.c. */
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

/* The first run of an op, as a proof looks at it. */
typedef struct arn_remat_moment {
    uint32_t op;
    uint8_t *when; /* per op: whether it runs first before that op, behind it, or either way */
    uint8_t
        *assumed;    /* per storage: in one case of a proof: nothing, or that it is alive, or not */
    uint32_t *begun; /* per storage: whether it was made before that op, or is live in */
    bool *there;     /* per storage: alive while that op runs, in any case */
    uint64_t own;    /* bytes of those, as far as plans must count them */
} arn_remat_moment;

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
    uint32_t *ran;  /* per op: its first run; NONE: it has not run */
    uint64_t *load; /* per run, and behind all */
    arn_remat_moment moments[1 + ARENAUT_REMAT_MOST_LATER];
    uint32_t n_moments;
    uint64_t *into, *out; /* per storage, per op: flow */
    uint64_t *flow;       /* per read: of one moment */
    uint64_t *begins;     /* per storage: flow that begins there for the next moment */
    uint64_t *handed;     /* per storage: the part of that which began at the moment before */
    uint32_t *stack;      /* of ops */
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
 * or NO_MEMORY. O(cases × moments × (storages + reads + ops)). */
arenaut_status arn_remat_check_bounds(arn_remat_check *c);

#endif
