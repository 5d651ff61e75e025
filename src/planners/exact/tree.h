/* Branch and bound for one capacity: a depth-first search that decides whether everything fits
 * below it, with propagation of floors (exact_state.h), no-goods, and dominance among equal items.
 * Packings in which nothing can be moved down are enough (compare the normal patterns of Herz 1972
 * and of Christofides and Whitlock 1977).
 *
 * A node takes a clique in which the outcome at the floor h is open, and branches on which item
 * lies there: one child for each unplaced member u that could (u is placed at h), and one more
 * in which none does (the clique is rejected):
 *
 *                          clique {a, b, c}, floor 0; lowest: a 0, b 0, c 3
 *                         /               |              \
 *            place a (size 4)       place b (size 2)      reject: a and b to the lowest
 *                   |                     |               end of what they may rest on
 *        clique {b, c}, floor 4      clique {a, c}, ...           |
 *           /        |     \                                     ...
 *       place b   place c  reject
 *
 * A leaf is a packing in which everything is placed, or a state that is pruned, as some clique's
 * load does not fit above its floor. This loses nothing:
 *
 * Let P(X) be the set of all ways to give the unplaced items of state X addresses that are
 * at least `lowest`, aligned, clear of walls and of each other, and below the capacity. The
 * claim is that the subtree of X finds a member of P(X) if there is one. Take the member x
 * whose sum of addresses is smallest. Then in x no item alone can be moved down to a lower
 * address that `lowest` allows.
 *
 *  - If x has u at h, then the child that places u has x without u among its P, provided
 *    that no neighbour v lies below u in x, since the child raises all neighbours above u.
 *    A clique is taken only if that is certain: lowest(v) + size(v) > h for all of them.
 *    There is always such a clique, the one with the lowest floor of all.
 *  - Otherwise every member u that could lie at h lies above, in x. Since it cannot be moved to h,
 *    some neighbour v blocks it, so lowest(v) < h + size(u). And since it cannot be lowered by one
 *    unit of its alignment, u lies at the first place that it may take above the end of an unplaced
 *    neighbour, at least lowest(v) + size(v) for some v. (If it lies on a wall, then the item that
 *    blocks h, below the wall, ends no higher than the wall, and the first place above that end is
 *    the same.) Reject raises u to the least of these, and x remains in P of that child.
 *
 * With walls, gaps, alignment and edges nothing changes, as P(X), `lowest` and the argument depend
 * only on which items are neighbours. Since P(X) depends on nothing but the unplaced items and
 * their `lowest`, so does failure: a state that failed is a no-good, remembered in a transposition
 * table by a digest of just these, and fails again at once, however it was reached.
 *
 * Of items that are exactly alike only the first may be placed, since exchanging them changes
 * nothing (symmetry breaking by dominance). If no unplaced item reaches across the border between
 * two cliques, the two parts are solved one after the other, and each fails for both
 * (decomposition). */
#ifndef ARN_PLANNERS_EXACT_TREE_H
#define ARN_PLANNERS_EXACT_TREE_H

#include "planners/certificate_log.h"
#include "planners/exact/exact_model.h"
#include "planners/exact/exact_state.h"

/* Which of the open cliques is taken. */
typedef enum arn_exact_choice {
    ARN_EXACT_FEWEST,           /* with the fewest children */
    ARN_EXACT_FEWEST_BY_WEIGHT, /* likewise, divided by how often packings failed there */
    ARN_EXACT_LOWEST_FEWEST,    /* with the lowest floor; then as above */
    ARN_EXACT_LOWEST_BY_WEIGHT,
    ARN_EXACT_TIGHTEST, /* with the least space to waste; then with the fewest children */
    ARN_EXACT_CHOICES
} arn_exact_choice;

/* The branching heuristic of one run. None of it changes which capacities are infeasible, only how
 * soon that is found. */
typedef struct arn_exact_style {
    arn_exact_choice choice;
    bool from_the_end; /* among equals take the last clique, not the first */
    bool look_ahead;   /* try children that waste little first */
} arn_exact_style;

typedef enum arn_exact_verdict {
    ARN_EXACT_FOUND,      /* state->offset holds a packing */
    ARN_EXACT_IMPOSSIBLE, /* there is none: proven */
    ARN_EXACT_GAVE_UP,    /* after max_nodes nodes, or stopped by go_on or the model's `poll` */
} arn_exact_verdict;

enum { ARN_EXACT_BATCH = 8 };

/* A node on the way from the root. Either a set of children of which one must succeed, or a stretch
 * of cliques with independent parts that must all succeed. */
typedef struct arn_exact_node {
    uint32_t first, end; /* the cliques it is about */
    uint32_t n_trail;    /* the length of the trail before */
    uint32_t clique;     /* that it branches on; for parts: the first of the next part */
    uint64_t key;        /* digest of the state; 0 marks a node of parts */
    uint32_t n, tried;   /* children in this batch, and how many of them were tried */
    uint32_t option[ARN_EXACT_BATCH];
    uint32_t last;   /* rank of the last option of this batch */
    uint32_t line;   /* of the log, its first */
    uint64_t serial; /* a number that no other node of this tree has */
    bool more;       /* there may be options after this batch */
    bool rejected;   /* the child that rejects the floor was tried */
} arn_exact_node;

typedef struct arn_exact_tree {
    arn_exact_state state;
    arn_exact_style style;
    uint32_t *rank;   /* per item: those with lower ranks are tried first */
    uint64_t *weight; /* per clique: how often packings failed there, plus one */
    arn_exact_node *node;
    uint32_t n_nodes, node_room;
    uint64_t *safe;   /* per item: whether it is safe to place, as of one node: 2 × node + yes */
    uint64_t visited; /* nodes, over all runs */
    bool (*go_on)(void *context); /* polled now and then; false: abandon the run */
    void *context;
    uint64_t next_poll;  /* amount of work at the next poll */
    uint64_t *no_good;   /* the no-goods: digests of states that fail, by their low bits */
    uint64_t n_no_goods; /* a power of two */

    /* NULL, or the log of the proof if nothing is found; then no style may look ahead. */
    arn_certificate_log *log;
    uint32_t *no_good_line;   /* per entry of `no_good`: the line of the log that proves it, */
    uint64_t *no_good_serial; /* if that is still the same line */
} arn_exact_tree;

/* Makes a tree for the model, with an empty packing, ranks in order of items, and nothing known to
 * fail. Arrays are the region's, the model is borrowed; the caller sets `style`, `rank`, `go_on`
 * and `context`. NO_MEMORY. */
arenaut_status arn_exact_tree_init(arn_exact_tree *tree, const arn_exact_model *model,
                                   arn_region *region, arenaut_error *err);

/* Makes the tree write its proofs into the log, which is borrowed. Call it before the first run.
 * NO_MEMORY. */
arenaut_status arn_exact_tree_log(arn_exact_tree *tree, arn_certificate_log *log,
                                  arn_region *region, arenaut_error *err);

/* Looks for a packing that ends at `capacity` (units) or below, for at most `max_nodes` nodes. Runs
 * from the empty packing; the state is empty again afterwards, except that offset holds the packing
 * if one was found. No-goods are kept for later runs, at any capacity. */
arn_exact_verdict arn_exact_tree_run(arn_exact_tree *tree, int64_t capacity, uint64_t max_nodes);

/* ---- orders of items, for restarts that differ from each other ---- */

enum { ARN_EXACT_ORDERS = 9 };

/* A key per item for order number `order`, 0 <= order < ARN_EXACT_ORDERS: items with larger
 * keys come first. Keys are logarithms, 64 to a factor of two. */
void arn_exact_make_keys(const arn_exact_model *model, uint32_t order, int64_t *keys);

/* Adds to each of n keys a random number of up to `noise` either way; 0 draws none. */
void arn_exact_disturb(uint64_t *random, uint32_t noise, int64_t *keys, uint32_t n);

/* Writes into rank[i] how many items come before item i: those with larger keys and, of equals,
 * with lower numbers. `scratch` holds 2 × n ids. O(n log n). */
void arn_exact_rank(const int64_t *keys, uint32_t n, uint32_t *scratch, uint32_t *rank);

#endif
