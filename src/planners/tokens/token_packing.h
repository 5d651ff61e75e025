/* Shared objects: buffers put into blocks that each hold one buffer at a time, or two of which
 * one may take over the other's memory (same-base), so that the blocks' arenas add up to as
 * little as can be.
 *
 * Items are the buffers, from large to small: an item that opens a block then sets its size,
 * and those that join it later are no larger. Which pool a block lies in is decided last: till
 * then it may lie in every pool that all of its buffers may use. */
#ifndef ARN_PLANNERS_TOKENS_TOKEN_PACKING_H
#define ARN_PLANNERS_TOKENS_TOKEN_PACKING_H

#include "core/memory.h"
#include "planners/run/meter.h"

enum { ARN_OBJECTS_MOST = 8192 /* items: who conflicts with whom is a bit for each two */ };

/* Which item is in which block. */
typedef struct arn_packing {
    uint32_t n_blocks;
    uint32_t *block; /* per item */
    uint64_t total;  /* of the blocks' sizes */
} arn_packing;

/* Where the blocks of a packing lie. */
typedef struct arn_layout {
    uint64_t *size, *align; /* per block: what its buffers ask for, in bytes, not rounded */
    uint64_t *pools;        /* per block: bit k: all of its buffers may lie in pool k */
    uint32_t *pool;         /* per block */
    uint64_t *start;        /* per block */
    uint64_t total;         /* of the arenas; ARENAUT_UNPLACED: the blocks do not fit */
    bool least;             /* these blocks need no less; or cannot fit, if they do not */
} arn_layout;

typedef struct arn_objects {
    const arenaut_problem *problem;
    const arenaut_allocator *allocator;
    uint64_t pools; /* bit k: pool k; the items may lie in no other */
    uint32_t n, words;
    uint32_t *buffer;  /* per item */
    uint64_t *size;    /* per item, rounded up to the grain, of which every offset is a multiple */
    uint64_t *allowed; /* per item: the pools in which it fits */
    int64_t *first, *end;
    uint64_t *conflicts; /* `words` for each item: a bit for each that must be in another block */
    /* The k-th largest block, counted from 0, has at least a certain size, since the buffers of
     * that size or more that are alive at some step need more than k blocks. floors[k]: those
     * sizes from the k-th on, added up. */
    uint64_t *floors;
    uint32_t n_floors;
    uint64_t grain, waste; /* waste: the most that rounding adds to the topmost blocks */
    uint64_t bound;        /* proven: the arenas add up to no less, ... */
    bool impossible;       /* ... or the items do not fit at all */
    bool out_of_memory;
    arn_ask *ask; /* asked in all that takes long */
    arn_packing best;
    arn_layout layout; /* of the best; its total is ARENAUT_UNPLACED while there is none */
    arn_layout next;   /* of the packing that is being tried */
    arn_region region;
} arn_objects;

/* Whether there are few enough buffers for this. */
bool arn_objects_suit(const arenaut_problem *problem);

/* Gathers what needs memory in `pools` and may lie in no other. NO_MEMORY, or REFUSED past
 * ARN_OBJECTS_MOST. */
arenaut_status arn_objects_make(arn_meter *meter, uint64_t pools, arn_objects *objects);
void arn_objects_free(arn_objects *objects);

/* What the arenas of blocks of `total` bytes add up to at the least. */
uint64_t arn_objects_bound(const arn_objects *objects, uint64_t total);

/* Blocks while they are being filled. */
typedef struct arn_filling {
    const arn_objects *objects;
    arn_packing packing;
    uint64_t *size;    /* per block */
    uint64_t *pools;   /* per block: where it may lie */
    uint64_t *before;  /* per item: where its block might lie without it */
    uint64_t *members; /* `words` for each block */
} arn_filling;

/* Room for as many blocks as items. False if there is no memory. */
bool arn_filling_make(arn_objects *objects, arn_filling *filling);
void arn_filling_clear(arn_filling *filling);
bool arn_filling_has_room(const arn_filling *filling, uint32_t block, uint32_t item);
/* Steps for which the block would lie idle around the item: the fewer, the better it fits. */
uint64_t arn_filling_idle(const arn_filling *filling, uint32_t block, uint32_t item);
void arn_filling_put(arn_filling *filling, uint32_t block, uint32_t item); /* may open it */
void arn_filling_take(arn_filling *filling, uint32_t item); /* the last one put; not its size */

/* What looking at one block costs, in steps of a search: it grows with the words to compare. */
static inline uint64_t arn_filling_step(const arn_filling *filling) {
    return 1 + filling->objects->words / 4;
}

/* Each item, in the order given, into the block that grows least and fits best. Returns
 * how many steps that took. */
uint64_t arn_fill_in_order(arn_filling *filling, const uint32_t *order);

/* Lays the blocks of a packing into the pools: objects->next says where. `at_once`: without a
 * search, if they fit at all without one. Returns how many steps that took; where there was no
 * memory, objects->out_of_memory is set. */
uint64_t arn_objects_lay(arn_objects *objects, const arn_packing *packing, bool at_once);

/* Makes the filling the best if it is. Adds the steps it took to *spent. If some way of laying
 * it might be better than the one that was found, lowers *unsure to what that could come to. */
void arn_objects_keep(arn_objects *objects, const arn_filling *filling, bool at_once,
                      uint64_t *spent, uint64_t *unsure);

/* A first packing. */
arenaut_status arn_objects_start(arn_meter *meter, arn_objects *objects);
/* Looks for better ones until there are none, or `effort` is spent: by search through all
 * packings, then by chance. Whoever must be asked is asked through the meter. */
arenaut_status arn_objects_improve(arn_meter *meter, uint64_t effort, arn_objects *objects);

#endif
