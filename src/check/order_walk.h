/* An order problem read a second time, to hold orders and proofs against it: which ops have run,
 * seen from the front or from the back, and what is alive then. Shares no code with the search. */
#ifndef ARN_CHECK_ORDER_WALK_H
#define ARN_CHECK_ORDER_WALK_H

#include <stdbool.h>

#include <arenaut/order.h>

#include "core/memory.h"

/* Pairs of numbers, sorted by the first: those of `i` are at[i] up to at[i + 1]. */
typedef struct arn_order_rows {
    uint32_t *at, *to;
} arn_order_rows;

typedef struct arn_order_walk {
    const arenaut_order_problem *problem;
    bool backward;
    arn_order_rows buffers_of, ops_of;   /* each pair once */
    arn_order_rows waits_for, waited_by; /* in this direction; a pair may be there twice */
    arn_order_rows rights_of;            /* of an op, indices of its rights */
    arn_order_rows claimed_by;           /* of a buffer, ops that can only write it over another
                                          * one as long as it has not begun */
    bool *ran;                           /* per op */
    uint32_t *waiting;                   /* per op: what it waits for and has not run */
    uint32_t *unused;                    /* per buffer: users that have not run */
    uint32_t *history;                   /* ops that ran */
    uint32_t *open;                      /* ops that wait for nothing and have not run */
    uint32_t *open_at;                   /* per op of these, where it stands there */
    uint32_t n_history, n_open;
    uint64_t live;
    arn_region region;
} arn_order_walk;

/* False if there is no memory. What it made is to be freed either way. */
bool arn_order_walk_make(arn_order_walk *walk, const arenaut_order_problem *problem, bool backward,
                         const arenaut_allocator *allocator);
void arn_order_walk_free(arn_order_walk *walk);

bool arn_order_walk_may_run(const arn_order_walk *walk, uint32_t op);
/* Whether any op has used it. */
bool arn_order_walk_has_begun(const arn_order_walk *walk, uint32_t buffer);
/* Bits as arenaut_order_held, as seen from this side. */
bool arn_order_walk_held_before(const arn_order_walk *walk, uint32_t buffer);
bool arn_order_walk_held_after(const arn_order_walk *walk, uint32_t buffer);
/* What is alive while `op`, which may run, does. */
uint64_t arn_order_walk_load(const arn_order_walk *walk, uint32_t op);
void arn_order_walk_run(arn_order_walk *walk, uint32_t op);
void arn_order_walk_undo(arn_order_walk *walk); /* the last one */

#endif
