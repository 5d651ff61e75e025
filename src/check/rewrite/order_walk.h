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

/* The least live bytes at a point of a schedule, by push–relabel maximum flow: independent of the
 * search, which uses augmenting paths. */

/* The time of an op relative to the point. */
typedef enum arn_order_time {
    ARN_TIME_AFTER,
    ARN_TIME_BEFORE,
    ARN_TIME_ANY,
    ARN_TIME_NOW
} arn_order_time;

/* `time` per op, in the direction of `walk`, whose lists are all that is used: *least is the
 * minimum over all choices of the ops of ANY time. False if there is no memory. */
bool arn_order_min_live(const arn_order_walk *walk, const uint8_t *time,
                        const arenaut_allocator *allocator, uint64_t *least);

#endif
