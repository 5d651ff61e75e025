/* Shared objects: the buffers of one pool put into blocks that each hold one buffer at a time,
 * so that the blocks add up to as little as can be.
 *
 * Items are the buffers, from large to small: an item that opens a block then sets its size,
 * and those that join it later are no larger. */
#ifndef ARN_PLANNERS_OBJECTS_H
#define ARN_PLANNERS_OBJECTS_H

#include "core/memory.h"
#include "planners/tokens.h"

enum { ARN_OBJECTS_MOST = 8192 /* items: who conflicts with whom is a bit for each two */ };

/* Which item is in which block. */
typedef struct arn_packing {
    uint32_t n_blocks;
    uint32_t *block; /* per item */
    uint64_t total;  /* of the blocks' sizes */
} arn_packing;

typedef struct arn_objects {
    const arenaut_problem *problem;
    uint32_t n, words;
    uint32_t *buffer; /* per item */
    uint64_t *size;   /* per item */
    int64_t *first, *end;
    uint64_t *conflicts; /* `words` for each item: a bit for each that must be in another block */
    /* The k-th largest block, counted from 0, is at least as large as the k-th largest of the
     * buffers alive at any step. floors[k]: those from the k-th on, added up. */
    uint64_t *floors;
    uint32_t n_floors;
    uint64_t bound; /* proven: floors[0], or what a search has shown */
    arn_packing best;
    arn_region region;
} arn_objects;

/* Gathers what needs memory in `pool`. NO_MEMORY, or REFUSED past ARN_OBJECTS_MOST. */
arenaut_status arn_objects_make(const arenaut_planning *planning, uint32_t pool,
                                arn_objects *objects);
void arn_objects_free(arn_objects *objects);

/* Blocks while they are being filled. */
typedef struct arn_filling {
    const arn_objects *objects;
    arn_packing packing;
    uint64_t *size;    /* per block */
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
/* Makes the filling the best if it is. */
bool arn_objects_keep(arn_objects *objects, const arn_filling *filling);

/* A first packing. */
arenaut_status arn_objects_start(const arenaut_planning *planning, arn_objects *objects);
/* Looks for better ones until there are none, or `effort` is spent: by search through all
 * packings, then by chance. Whoever must be asked is asked through the meter. */
arenaut_status arn_objects_improve(arn_meter *meter, uint64_t effort, arn_objects *objects);

#endif
