/* Search for a packing of one case, in three layers: partial packings with propagation
 * (partial_packing.c), branch and bound for one capacity on them (packing_tree.c), and runs of that
 * at changing capacities (search_runs.h), with open pairs as a relaxation (case_search.c). */
#ifndef ARN_PLANNERS_EXACT_PACKING_SEARCH_H
#define ARN_PLANNERS_EXACT_PACKING_SEARCH_H

#include "planners/certificate_log.h"
#include "planners/exact/case_relations.h"
#include "planners/exact/item_model.h"

/* ---- partial packings ---- */

/* A partial packing with its propagation, grown from below and undone by a trail.
 *
 * For every unplaced item, `lowest` is an address below which it cannot lie any more: the placed
 * items that interfere with it end there or lower, and it is a place that the item itself may take.
 * The *floor* of a clique is the lowest `lowest` among its unplaced members: all of them must fit
 * above it, so floor + load <= capacity, or this packing is pruned. Here p is placed; of a, b, c
 * nothing is yet:
 *
 *     capacity - - - - - - - - - - - - - - - -    lowest: a 2, b 2, c 0
 *
 *     2        ...... lowest of a, b ........     clique   members   floor  load
 *                                                   0       p a        2      a
 *     0       [=====p=====][===== c? ========]      1       p b        2      b
 *              clique 0, 1      clique 2            2       b c        0      b + c
 *
 * There are two moves. *Place* puts an item at its lowest address, and raises the neighbours that
 * could have lain there. *Reject* (below) rules out that an item lies at the floor of a given
 * clique, which raises the members that could. Every change is noted in the *trail* with the value
 * before, and moves are undone by taking back the changes behind a mark:
 *
 *     trail   | unplaced p | lowest a: 0 | lowest b: 0 | floor 0: 0 | floor 1: 0 |
 *             ^ before p was placed                 before clique 2 is rejected ^
 *
 * Where alignments leave room between items, a clique has *marks* as well (item_model.h): those of
 * the unplaced members must find as many between its floor and the start of the topmost, at the
 * latest where the capacity lets that start.
 *
 * If items are tied into groups, a move is about the group: all of it is placed, raised and
 * rejected together. Then an item may be unplaced below a placed one, since other items of its
 * group lie elsewhere, and its `lowest` keeps clear of that one all the same. */

/* In `lowest`: the item is placed. In `floor`: all members are. Above every address. */
#define ARN_EXACT_PLACED INT64_MAX

/* Cliques in a block: scores of cliques are found again by blocks. */
enum { ARN_EXACT_BLOCK = 32 };

static inline uint32_t arn_exact_blocks(const arn_exact_model *m) {
    return m->n_cliques / ARN_EXACT_BLOCK + 1;
}

typedef struct arn_exact_change {
    int64_t before;
    uint32_t index;
    uint32_t kind : 2, watch : 30; /* `watch` is of a floor: the member that was watched */
} arn_exact_change;

typedef struct arn_exact_state {
    const arn_exact_model *model;
    int64_t capacity;
    int64_t *lowest, *offset; /* per item */
    int64_t *floor, *load;    /* per clique; load is the sum of unplaced sizes */
    int64_t *marks;           /* per clique: of unplaced members, at least; 0 without a grain */
    int64_t *most_marks;      /* per clique: below the capacity, with those of the topmost member */
    uint32_t *watch;          /* per clique: one unplaced member whose lowest is its floor */
    uint32_t *first_watched;  /* per item: of the cliques that watch it, the first of a list; */
    uint32_t *next_watched, *watched_before; /* per clique: its neighbours in that; or NONE */
    uint32_t *crossing;              /* per clique: unplaced items in it and in the next one */
    bool *changed;                   /* per block of cliques: one of them did, since this was last
                                      * set back */
    uint64_t *digest;                /* per clique: of the state of the items that begin there */
    uint32_t *hull_first, *hull_end; /* per item: its first clique, and the one after its last */
    uint64_t *code;                  /* per item, random */
    uint32_t n_unplaced;
    uint64_t wasted; /* the sum by which all floors have risen beyond the sizes placed; may wrap
                        around, only differences mean something */

    arn_exact_change *trail;
    uint32_t n_trail, trail_room;
    uint32_t *dirty; /* cliques that have lost all members at their floor */
    uint32_t n_dirty;
    /* Scratch for reject: the members at the floor, and the next place of each. Between moves
     * `next` is 0; PLACED marks a candidate. */
    uint32_t *candidate;
    int64_t *next;

    uint32_t overfull; /* the clique in which the last move that failed did not fit, of one that was
                        * broken off any clique; */
    bool item_failed;  /* or rather an item by itself, in that clique */
    uint64_t work;     /* elementary operations so far, see ARN_EXACT_OPERATIONS_PER_EFFORT */
} arn_exact_state;

/* Sets the capacity of a packing, which must be empty. O(members, if some have marks). */
void arn_exact_set_capacity(arn_exact_state *state, int64_t capacity);

/* How much room is left above the floor of clique `c`, which has unplaced members: negative if they
 * do not fit. In units, or in marks if these leave less. */
int64_t arn_exact_slack(const arn_exact_state *state, uint32_t clique);

/* The length of the trail of a packing. */
uint32_t arn_exact_trail_room(const arn_exact_model *model);

/* Makes the empty packing, of any capacity. Arrays are the region's, the model is borrowed.
 * NO_MEMORY. */
arenaut_status arn_exact_state_init(arn_exact_state *state, const arn_exact_model *model,
                                    arn_region *region, arenaut_error *err);

/* Places an unplaced item, with its group, at its lowest address. False if the packing cannot be
 * completed within the capacity any more; the caller then undoes the move. Room in the trail
 * must have been checked before. O(neighbours, and cliques of those that are raised). */
bool arn_exact_place(arn_exact_state *state, uint32_t item);

/* Takes back all changes behind the first `n_trail` of the trail. As costly as making them was. */
void arn_exact_undo(arn_exact_state *state, uint32_t n_trail);

/* Whether the trail has room for one more move, however large. */
bool arn_exact_has_room(const arn_exact_state *state);

/* ---- reject ---- */

/* The second of the two moves of a packing: rejecting the floor of a clique.
 *
 * The *candidates* are the clique's unplaced members whose `lowest` is its floor. Rejecting says
 * that none of them lies there, in a packing from which nothing can be moved down. So each
 * rests on the end of an unplaced neighbour, and that is at least the lowest end of one:
 *
 *     4            +---+         a and c are candidates, b is an unplaced neighbour of c only. The
 *                  | b |         lower one of a and c rests on an item that is no candidate: c on
 *     1            +---+         b, at 4 or higher. So a, which can rest on c only, lies at
 *     0   [ a ][ c ]  the floor  4 + size(c) or higher.
 *
 * Nothing is lost by that: the proof stands at the tree, below. */

/* Raises every candidate of `clique`, with its group, to the least place that it may take then.
 * False if the packing cannot be completed within the capacity any more; the caller then undoes
 * the move. Room in the trail must have been checked before. O(neighbours of the candidates). */
bool arn_exact_reject(arn_exact_state *state, uint32_t clique);

/* ---- one capacity ---- */

/* Branch and bound for one capacity: a depth-first search that decides whether everything fits
 * below it, with propagation of floors, no-goods, and dominance among equal items. Packings in
 * which nothing can be moved down are enough (compare the normal patterns of Herz 1972 and of
 * Christofides and Whitlock 1977).
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
    ARN_EXACT_PAUSED,     /* at `stop_at`, and may go on from there */
} arn_exact_verdict;

enum { ARN_EXACT_BATCH = 8 };

/* Less is better: in `first`, and among equals in children / weight. */
typedef struct arn_exact_score {
    uint64_t first, children, weight;
} arn_exact_score;

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
    uint32_t *rank;         /* per item: those with lower ranks are tried first */
    uint64_t *weight;       /* per clique: how often packings failed there, plus one */
    arn_exact_score *least; /* per block of cliques that have not changed: of all their scores */
    arn_exact_node *node;
    uint32_t n_nodes, node_room;
    uint32_t first, end; /* the cliques to enter next */
    bool begun;          /* the root was entered */
    uint64_t *safe;      /* per item: whether it is safe to place, as of one node: 2 × node + yes */
    uint32_t *below;  /* per item: the neighbour that could lie below it when one was last found */
    uint64_t visited; /* nodes, over all runs */
    bool (*go_on)(void *context); /* polled now and then; false: abandon the run */
    void *context;
    uint64_t next_poll;  /* amount of work at the next poll */
    uint64_t stop_at;    /* amount of work at which a run pauses */
    uint64_t salt;       /* no-goods hold for runs of the same salt; 0 at first */
    uint64_t *no_good;   /* the no-goods: digests of states that fail, by their low bits */
    uint64_t n_no_goods; /* a power of two */

    /* NULL, or the log of the proof if nothing is found; then no style may look ahead. */
    arn_certificate_log *log;
    uint32_t *no_good_line;   /* per entry of `no_good`: the line of the log that proves it, */
    uint64_t *no_good_serial; /* if that is still the same line */
} arn_exact_tree;

/* Makes a tree for the model, with an empty packing, ranks in order of items, and nothing known to
 * fail; it remembers up to `n_no_goods` no-goods, a power of two. Arrays are the region's, the
 * model is borrowed; the caller sets `style`, `rank`, `go_on` and `context`. NO_MEMORY. */
arenaut_status arn_exact_tree_init(arn_exact_tree *tree, const arn_exact_model *model,
                                   uint64_t n_no_goods, arn_region *region, arenaut_error *err);

/* As many no-goods as are worth remembering over all runs; and the bytes of a tree, about. */
uint64_t arn_exact_no_goods(const arn_exact_model *model);
uint64_t arn_exact_tree_size(const arn_exact_model *model, uint64_t n_no_goods);

/* Makes the tree write its proofs into the log, which is borrowed. Call it before the first run.
 * NO_MEMORY. */
arenaut_status arn_exact_tree_log(arn_exact_tree *tree, arn_certificate_log *log,
                                  arn_region *region, arenaut_error *err);

/* Looks for a packing that ends at `capacity` (units) or below, for at most `max_nodes` nodes. Runs
 * from the empty packing; the state is empty again afterwards, except that offset holds the packing
 * if one was found. No-goods are kept for later runs, at any capacity. */
arn_exact_verdict arn_exact_tree_run(arn_exact_tree *tree, int64_t capacity, uint64_t max_nodes);

/* The same in pieces, each up to the `stop_at` that the caller sets: begin one, and go on while the
 * verdict is PAUSED. A run that was begun needs no end, the next one may be begun at any time. */
void arn_exact_tree_begin(arn_exact_tree *tree, int64_t capacity);
arn_exact_verdict arn_exact_tree_go_on(arn_exact_tree *tree, uint64_t max_nodes);

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

/* ---- one case ---- */

/* Branch and bound with restarts for one case of a problem (case_relations.h): one pool, with
 * assumptions about same-base pairs. A case with open pairs is a relaxation; as soon as a packing
 * is found that violates a constraint left out, the search ends and names a pair to branch on. */

/* Searches for an arena smaller than the input's, and for a proof that there is none. Of *out only
 * `offset` is read; `spill` and `spill_bound` are left alone, the rest is written. OK, also if
 * nothing was found or the search was stopped; REFUSED, with the reason: too large; NO_MEMORY. */
arenaut_status arn_exact_search(const arn_exact_case *assumed, arn_exact_output *out,
                                arenaut_error *err);

/* ---- open pairs ---- */

/* Open pairs: same-base pairs without an assumption, and packings that violate the constraints left
 * out.
 *
 * The search keeps the buffers of an open pair neither at one place nor apart, and the smaller one
 * interferes with no other while the larger one is alive. So its packings may be wrong in two ways,
 * and both are repaired by branching on an open pair:
 *
 *     base  [========]              the pair overlaps, and does not start at one place
 *     heir     [=======]
 *
 *     base  [===]                   the pair lies apart, so that `other`, which was kept clear
 *     heir        [========]        of the heir only, may run into the base
 *     other   [==] */

typedef struct arn_exact_pairs {
    const arn_exact_input *in;
    uint32_t *open, n_open; /* the heirs of open pairs */
    uint32_t *covered,
        n_covered;   /* buffers with lifetimes that may have been cut, see arn_exact_relations */
    uint64_t *place; /* per buffer, in bytes: of the packing that is checked */
} arn_exact_pairs;

/* Lists the open pairs of a case. Arrays are the region's, the case is borrowed. False if there is
 * no memory. O(buffers, and pairs times their lifetimes). */
bool arn_exact_list_pairs(const arn_exact_case *assumed, arn_region *region,
                          arn_exact_pairs *pairs);

/* Writes the place of each buffer of the pool in the packing, in bytes, into place[buffer]. Returns
 * the end of the highest of them, in units. O(buffers). */
int64_t arn_exact_write_places(const arn_exact_model *model, const int64_t *offset,
                               uint64_t *place);

/* Returns a pair to branch on, by its heir: an open one, if two buffers overlap in this packing
 * although they may not; one that involves either of these if there is such a pair. ARENAUT_NONE if
 * the packing keeps every constraint. If the input's `poll` ends meanwhile, some open pair: the
 * packing is not known to be right. O(covered buffers times buffers). */
uint32_t arn_exact_open_pair(arn_exact_pairs *pairs, const arn_exact_model *model,
                             const int64_t *offset);

#endif
