/* A partial packing, grown from below and taken back again.
 *
 * For every item that is not placed yet, `lowest` is an address below which it cannot lie
 * any more: the placed items that it conflicts with end there or lower, and it is a place
 * that the item itself may take. The *floor* of a clique is the lowest `lowest` among its
 * unplaced members: all of them must fit above it, so floor + load <= capacity, or this
 * packing leads nowhere.
 *
 * There are two moves. *Place* puts an item at its lowest address. *Reject* says that in a
 * given clique nobody lies at the floor, which raises the members that could. Both are
 * undone in reverse order from a trail.
 *
 * Where items are tied into groups, a move is about the group: all of it is placed, raised and
 * rejected together. Then an item may be unplaced below a placed one, since other items of its
 * group lie elsewhere, and its `lowest` keeps clear of that one all the same. */
#ifndef ARN_EXACT_STATE_H
#define ARN_EXACT_STATE_H

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
    uint64_t wasted; /* how much all floors together have risen beyond what was placed; may
                      * wrap around, only differences mean something */

    arn_exact_change *trail;
    uint32_t n_trail, trail_room;
    uint32_t *dirty; /* cliques that have lost all members at their floor */
    uint32_t n_dirty;
    uint32_t *seats; /* scratch for reject: members at the floor, */
    int64_t *next;   /* and where each could lie next */

    uint32_t overfull; /* the clique in which the last move that failed did not fit, */
    bool item_failed;  /* or rather an item by itself, in that clique */
    uint64_t work;     /* elementary operations so far */
} arn_exact_state;

arenaut_status arn_exact_state_init(arn_exact_state *state, const arn_exact_model *model,
                                    arn_region *region, arenaut_error *err);

/* Both return false if the packing cannot be completed within the capacity any more; the
 * caller then undoes the move. Room in the trail must have been checked before. */
bool arn_exact_place(arn_exact_state *state, uint32_t item);
bool arn_exact_reject(arn_exact_state *state, uint32_t clique);
void arn_exact_undo(arn_exact_state *state, uint32_t n_trail);

/* Whether the trail has room for one more move, however large. */
bool arn_exact_has_room(const arn_exact_state *state);

static inline bool arn_exact_is_placed(const arn_exact_state *s, uint32_t item) {
    return s->lowest[item] == ARN_EXACT_PLACED;
}

#endif
