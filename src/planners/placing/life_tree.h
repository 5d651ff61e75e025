/* The first in an order of all groups that live within some sections: a k-d tree (Bentley 1975)
 * over the first sections of groups and their ends.
 *
 * A node knows which group below it comes first in the order, and bounds on the lives of those that
 * are left, so that most nodes need no look inside. O(n) memory; O(log n) to remove a group, and
 * a look-up passes O(√n) nodes at worst. */
#ifndef ARN_PLANNERS_PLACING_LIFE_TREE_H
#define ARN_PLANNERS_PLACING_LIFE_TREE_H

#include "planners/placing/orders.h"

/* A group that is to be placed, and its sections. */
typedef struct arn_life {
    uint32_t rank; /* in the order; ARENAUT_NONE: not there, or no more */
    uint32_t first, end;
} arn_life;

typedef struct arn_life_node {
    arn_life best;
    uint32_t last_first, least_end; /* of those that are left */
} arn_life_node;

typedef struct arn_life_tree {
    uint32_t n, depth;   /* the tree has 2 to the power of `depth` leaves */
    arn_life *life;      /* leaf by leaf */
    uint32_t *at;        /* per group: in `life` */
    arn_life_node *node; /* node k is above 2k and 2k + 1 */
} arn_life_tree;

/* For all groups of a timeline. The arrays hold them in the orders of first sections and of ends,
 * and are used up. False if there is no memory. O(n log n). */
bool arn_life_tree_make(arn_life_tree *tree, uint32_t n, const arn_timeline *timeline,
                        uint32_t *by_first, uint32_t *by_end, arn_region *region);

/* Puts the `n` groups of `order` in, and no others. O(groups). */
void arn_life_tree_fill(arn_life_tree *tree, const uint32_t *order, uint32_t n);
/* The one at that place of `life`. */
void arn_life_tree_remove(arn_life_tree *tree, uint32_t at);

/* The least rank of a group that lives within [first, end); ARENAUT_NONE: there is none. Adds to
 * *looked how many nodes and groups were looked at. */
uint32_t arn_life_tree_best(const arn_life_tree *tree, uint32_t first, uint32_t end,
                            uint64_t *looked);

#endif
