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
 * If items are tied into groups, a move is about the group: all of it is placed, raised and
 * rejected together. Then an item may be unplaced below a placed one, since other items of its
 * group lie elsewhere, and its `lowest` keeps clear of that one all the same. */
#ifndef ARN_PLANNERS_EXACT_EXACT_STATE_H
#define ARN_PLANNERS_EXACT_EXACT_STATE_H

#include "planners/exact/exact_model.h"

/* In `lowest`: the item is placed. In `floor`: all members are. Above every address. */
#define ARN_EXACT_PLACED INT64_MAX

typedef struct arn_exact_change {
    int64_t before;
    uint32_t index;
    uint32_t kind;
} arn_exact_change;

typedef struct arn_exact_state {
    const arn_exact_model *model;
    int64_t capacity;
    int64_t *lowest, *offset;        /* per item */
    int64_t *floor, *load;           /* per clique; load is the sum of unplaced sizes */
    uint32_t *at_floor;              /* per clique: unplaced members whose lowest is its floor */
    uint32_t *crossing;              /* per clique: unplaced items in it and in the next one */
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

    uint32_t overfull; /* the clique in which the last move that failed did not fit, */
    bool item_failed;  /* or rather an item by itself, in that clique */
    uint64_t work;     /* elementary operations so far, see ARN_EXACT_OPERATIONS_PER_EFFORT */
} arn_exact_state;

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

/* The second of the two moves of a packing (exact_state.h): rejecting the floor of a clique.
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
 * tree.h proves that nothing is lost by that. */

/* Raises every candidate of `clique`, with its group, to the least place that it may take then.
 * False if the packing cannot be completed within the capacity any more; the caller then undoes
 * the move. Room in the trail must have been checked before. O(neighbours of the candidates). */
bool arn_exact_reject(arn_exact_state *state, uint32_t clique);

#endif
