/* A partial schedule in either direction, with its live bytes: the checker's own reading of a
 * scheduling problem. Shares no code with the search. */
#ifndef ARN_CHECK_ORDER_WALK_H
#define ARN_CHECK_ORDER_WALK_H

#include <stdbool.h>

#include <arenaut/order.h>

#include "core/memory.h"

/* Adjacency lists: those of `i` are at[i] up to at[i + 1]. */
typedef struct arn_order_rows {
    uint32_t *at, *to;
} arn_order_rows;

typedef struct arn_order_walk {
    const arenaut_order_problem *problem;
    bool backward;
    arn_order_rows buffers_of, ops_of;     /* without duplicates */
    arn_order_rows depends_on, dependents; /* in this direction; may have duplicates */
    arn_order_rows rights_of;              /* of an op: indices of its rights */
    arn_order_rows claimed_by; /* of a buffer: ops that can write it over another one only while it
                                * is unused */
    bool *ran;                 /* per op */
    uint32_t *pending;         /* per op: predecessors that have not run */
    uint32_t *unused;          /* per buffer: users that have not run */
    uint32_t *history;         /* executed ops */
    uint32_t *open;            /* ready ops that have not run */
    uint32_t *open_at;         /* per ready op: its index there */
    uint32_t n_history, n_open;
    uint64_t live;
    arn_region region;
} arn_order_walk;

/* False if there is no memory. To be freed in either case. */
bool arn_order_walk_make(arn_order_walk *walk, const arenaut_order_problem *problem, bool backward,
                         const arenaut_allocator *allocator);
void arn_order_walk_free(arn_order_walk *walk);

bool arn_order_walk_may_run(const arn_order_walk *walk, uint32_t op);
/* Whether an op has used it. */
bool arn_order_walk_has_begun(const arn_order_walk *walk, uint32_t buffer);
/* As arenaut_order_boundary, in this direction. */
bool arn_order_walk_is_live_in(const arn_order_walk *walk, uint32_t buffer);
bool arn_order_walk_is_live_out(const arn_order_walk *walk, uint32_t buffer);
/* The live bytes while `op`, which is ready, runs. */
uint64_t arn_order_walk_load(const arn_order_walk *walk, uint32_t op);
void arn_order_walk_run(arn_order_walk *walk, uint32_t op);
void arn_order_walk_undo(arn_order_walk *walk); /* the last one */

#endif
