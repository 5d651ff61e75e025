/* A tree of states: node 0 is where it begins, and each node is reached from its parent by some
 * ops. States in which the same ops have run are one node. The state of a side stands at one of the
 * nodes, or beyond it. */
#ifndef ARN_REWRITE_ORDER_TREE_H
#define ARN_REWRITE_ORDER_TREE_H

#include "core/id_list.h"
#include "rewrite/order/order_state.h"

typedef struct arn_order_tree {
    arn_order_state *state;
    uint32_t n, now; /* now: the node that the state stands at */
    uint32_t *parent, *n_ran, *level;
    uint32_t *first; /* of the ops that lead here: where they begin in `ops` */
    uint32_t *ahead; /* the child that stands for this node, since its ops run for good; of a node
                      * that is another one again, that; else NONE */
    uint64_t *live, *key;
    uint32_t capacity[7];
    arn_id_list ops;
    uint32_t *heap; /* nodes to be looked at, the best first */
    uint32_t n_heap, heap_capacity;
    uint32_t *slots; /* by key: nodes; NONE: free */
    uint32_t n_slots;
    arn_id_list way;
} arn_order_tree;

void arn_order_tree_free(arn_order_tree *tree);

/* Begins a new tree where the state is. False if there is no memory, as below. */
bool arn_order_tree_plant(arn_order_tree *tree, arn_order_state *state);

/* Has the state stand at a node. */
bool arn_order_tree_stand_at(arn_order_tree *tree, uint32_t node);
/* Takes back what has run beyond the node. */
void arn_order_tree_return(arn_order_tree *tree);

/* What stands for the ops that have run. */
uint64_t arn_order_tree_key(const arn_order_tree *tree);
/* The node that the state, which has gone on from where it stands, is in; NONE: none. */
uint32_t arn_order_tree_find(const arn_order_tree *tree, uint64_t key);
/* Adds the state, behind the node that it stood at, as one to be looked at; it stays where it is.
 */
bool arn_order_tree_add(arn_order_tree *tree, uint64_t key);
/* The same, where it is `node` again. */
bool arn_order_tree_add_again(arn_order_tree *tree, uint32_t node);
static inline bool arn_order_tree_is_again(const arn_order_tree *tree, uint32_t node) {
    return tree->ahead[node] != ARENAUT_NONE && tree->parent[tree->ahead[node]] != node;
}

/* Takes the best node to be looked at; NONE: there is none. */
uint32_t arn_order_tree_take_best(arn_order_tree *tree);

#endif
