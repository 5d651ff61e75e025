/* The search from one side: what has run for good, the *base*, and behind it a tree of states. */
#ifndef ARN_REWRITE_ORDER_SIDE_H
#define ARN_REWRITE_ORDER_SIDE_H

#include "rewrite/order/order_cut.h"
#include "rewrite/order/order_tree.h"

typedef struct arn_order_side {
    arn_order_graph graph;
    arn_order_state state;
    arn_order_cut cut; /* the roles of ops that have run for good are EARLIER */
    const struct arn_order_side *other;
    uint64_t limit;      /* no load may be above */
    uint64_t least_over; /* the least load that was */
    uint32_t n_base;     /* ops that have run for good */
    arn_id_list steps; /* ends of the steps by which the base came to be, among the ops that ran */
    arn_order_tree tree; /* from the base on */
    arn_order_tree near; /* what is close to one of its states */
    arn_id_list part, allowed;
} arn_order_side;

/* Both sides of a problem, which end with the budget; on failure there is nothing to free. */
arenaut_status arn_order_sides_make(const arenaut_order_problem *problem, arn_budget *budget,
                                    const arenaut_allocator *allocator, arn_order_side sides[2],
                                    arenaut_error *err);
void arn_order_sides_free(arn_order_side sides[2]);

/* Begins anew: nothing has run. */
void arn_order_side_restart(arn_order_side *side, uint64_t limit);
/* Makes what has run the base, runs what is safe there, and plants a new tree. False if there is no
 * memory, as below. */
bool arn_order_side_rebase(arn_order_side *side);

/* Whether an op has run for good on the other side. */
static inline bool arn_order_is_taken(const arn_order_side *side, uint32_t op) {
    return side->other->cut.role[op] == ARN_ORDER_EARLIER;
}

/* Whether all ops have run, on one side or the other. */
static inline bool arn_order_is_whole(const arn_order_side *side) {
    return side->state.n_ran + side->other->n_base == side->graph.n_ops;
}

/* Runs safe ops until there are none. */
void arn_order_run_safe(arn_order_side *side);
/* Adds the ops that may run now to `allowed`, in their order; remembers the least load that is too
 * much. */
bool arn_order_list_allowed(arn_order_side *side);

/* Where no more is alive than where `tree` begins: runs, instead of all ops since then, the part of
 * them that leaves least alive, for good. *ran is false where rights to write over forbid it; then
 * all is as it was. */
bool arn_order_run_part(arn_order_side *side, const arn_order_tree *tree, bool *ran);

#endif
