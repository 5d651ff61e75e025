/* Items: what planners really place.
 *
 * An item is a buffer, or several that keep their distance from each other: a host with its
 * slices, and, where wanted, a chain of buffers that each take over their base's memory. It
 * is a rigid set of pieces, each alive for a while and covering some bytes. Placing the item
 * at an offset places all its buffers. */
#ifndef ARN_PLANNERS_PLACING_ITEMS_H
#define ARN_PLANNERS_PLACING_ITEMS_H

#include <stdbool.h>

#include <arenaut/problem.h>

#include "core/memory.h"

typedef struct arn_piece {
    int64_t first, end;
    uint64_t low, high; /* bytes from the item's start, [low, high) */
    uint32_t buffer;
} arn_piece;

typedef struct arn_item {
    uint64_t extent; /* bytes */
    uint64_t align, pools, fixed, hint;
    int64_t first, end; /* from the start of the first piece to the end of the last */
    uint32_t piece, n_pieces;
    uint32_t member, n_members; /* in arn_items.member */
    uint64_t traffic;           /* size × uses of all members together */
    bool tied; /* a member has same-base partners in other items, or conflict edges */
} arn_item;

typedef struct arn_items {
    const arenaut_problem *problem;
    uint32_t n, n_pieces;
    arn_item *item;
    arn_piece *piece;
    uint32_t *member; /* buffers, item by item */
    uint32_t *owner;  /* per buffer: its item; ARENAUT_NONE if it needs no memory */
    uint64_t *delta;  /* per buffer: bytes from its item's start */
    /* The buffers whose base is b: heir[heir_start[b] .. heir_start[b + 1]). NULL: none. */
    uint32_t *heir_start, *heir;
    /* The buffers that an edge keeps apart from b, likewise. */
    uint32_t *rival_start, *rival;
    arn_region region;
} arn_items;

/* What the item spills in `pool`. Its members have the same pools to choose from. */
static inline uint64_t arn_item_spill(const arn_items *items, const arn_item *item, uint32_t pool) {
    return item->traffic * arenaut_problem_rank(items->problem, items->member[item->member], pool);
}

enum {
    ARN_COLLAPSE = 1, /* chains of same-base buffers become one item */
    ARN_HULL = 2,     /* each item is alive from its first step to its last, in one piece */
};

/* Items are numbered by their first buffer. O(n + edges). */
arenaut_status arn_items_make(const arenaut_problem *problem, unsigned how,
                              const arenaut_allocator *allocator, arn_items *items,
                              arenaut_error *err);
void arn_items_free(arn_items *items);

#endif
