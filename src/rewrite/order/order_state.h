/* How far an order has come: what has run, what is ready, what is alive. Each step is taken back
 * exactly, so that the same steps from the same state always give the same state, lists included.
 */
#ifndef ARN_REWRITE_ORDER_STATE_H
#define ARN_REWRITE_ORDER_STATE_H

#include "core/budget.h"
#include "rewrite/order/order_graph.h"

typedef struct arn_order_state {
    const arn_order_graph *graph;
    arn_budget *budget;
    uint64_t live;
    uint32_t n_ran, n_ready;
    uint32_t *ran;            /* the ops that have run, in order */
    uint32_t *ready;          /* ops that may run now */
    uint32_t *place;          /* per op, where it stands in `ready`; NONE: it does not */
    uint32_t *spot;           /* per op that ran, where it stood there */
    uint32_t n_light, *light; /* those of `ready` that leave no more alive than there was; in no
                               * order that means anything */
    uint32_t *light_place;    /* per op, where it stands there; NONE: it does not */
    uint32_t *pending;        /* per op, how many it waits for have not run */
    uint32_t *left;           /* per buffer, users that have not run */
    uint32_t *left_xor;       /* of these: their numbers, one over another */
    uint64_t *opens;          /* per op, bytes that come alive with it */
    uint64_t *closes;         /* per op, bytes whose last user it is now */
    uint64_t work;            /* steps taken and taken back */
} arn_order_state;

/* Nothing has run. On failure there is nothing to free. */
arenaut_status arn_order_state_make(const arn_order_graph *graph, arn_budget *budget,
                                    arn_order_state *state, arenaut_error *err);
void arn_order_state_free(arn_order_state *state);

/* `op` must be ready. */
void arn_order_run(arn_order_state *state, uint32_t op);
/* Takes back steps until only `n_ran` ops have run. */
void arn_order_take_back(arn_order_state *state, uint32_t n_ran);

/* What a ready op may write over instead of taking memory of its own. */
uint64_t arn_order_credit(const arn_order_state *state, uint32_t op);

/* What is alive while a ready op runs. */
static inline uint64_t arn_order_load(const arn_order_state *state, uint32_t op) {
    const uint32_t *rights = state->graph->rights.begin + op;
    const uint64_t load = state->live + state->opens[op];
    return rights[0] == rights[1] ? load : load - arn_order_credit(state, op);
}

static inline bool arn_order_untouched(const arn_order_state *state, uint32_t buffer) {
    const uint32_t *users = state->graph->users.begin + buffer;
    return state->left[buffer] == users[1] - users[0];
}

/* Whether it does not get in the way of any order if a ready op runs at once: it leaves no more
 * alive, and takes from no op the right to write over what it uses. */
bool arn_order_is_safe(const arn_order_state *state, uint32_t op, uint64_t limit);

#endif
