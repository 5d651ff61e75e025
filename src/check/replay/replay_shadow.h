/* The shadow of all arenas together: for each byte, the storage whose content it holds and the
 * write that put it there. Bytes between which no tensor begins or ends are one *cell*, so there
 * are at most two cells for each tensor, and a write or a look at any range takes O(log cells). */
#ifndef ARN_CHECK_REPLAY_SHADOW_H
#define ARN_CHECK_REPLAY_SHADOW_H

#include <arenaut/allocator.h>

#include "core/memory.h"

/* Contents are storages, numbered below ARN_SHADOW_LIMIT; the others stand for something else. */
#define ARN_SHADOW_LIMIT UINT32_C(0x7FFFFFF0)
#define ARN_SHADOW_STALE UINT32_C(0x80000000) /* with a storage: it is of a call that has ended */
#define ARN_SHADOW_UNWRITTEN UINT32_MAX       /* never written */
#define ARN_SHADOW_VARIES (UINT32_MAX - 1)    /* another content on each way that leads here */

typedef struct arn_replay_shadow_node {
    uint32_t content; /* of all cells below, or a mark of the tree's own if they differ */
    uint32_t version; /* the latest among the cells below */
    bool assigned;    /* what the nodes below say is out of date: all are as this one */
} arn_replay_shadow_node;

typedef struct arn_replay_shadow {
    arn_replay_shadow_node *nodes; /* a heap: 1 is the root, the leaves are [leaves, 2 * leaves) */
    uint32_t n_cells, leaves;
    /* Per cell, the contents that met when it came to vary last: for messages only. */
    uint32_t *met[2];
    uint64_t work; /* nodes looked at so far: a measure of time that does not need a clock */
    arenaut_allocator allocator;
} arn_replay_shadow;

/* Nothing is written yet. False if there is no memory. */
bool arn_replay_shadow_make(arn_replay_shadow *shadow, const arenaut_allocator *allocator,
                            uint32_t n_cells);
void arn_replay_shadow_free(arn_replay_shadow *shadow);

void arn_replay_shadow_write(arn_replay_shadow *shadow, uint32_t first, uint32_t end,
                             uint32_t content, uint32_t version);
uint32_t arn_replay_shadow_content(arn_replay_shadow *shadow, uint32_t cell);

/* The first cell in [first, end) that is not `content`'s and was written by `version` or
 * later; ARENAUT_NONE if there is none. */
uint32_t arn_replay_shadow_find(arn_replay_shadow *shadow, uint32_t first, uint32_t end,
                                uint32_t content, uint32_t version);

/* A call has ended: cells go stale unless keep[content]. */
void arn_replay_shadow_retire(arn_replay_shadow *shadow, const bool *keep);

/* A copy of the present state, to be released with arn_release; NULL if there is no
 * memory. And back: both are nodes of this shadow. */
arn_replay_shadow_node *arn_replay_shadow_save(arn_replay_shadow *shadow);
void arn_replay_shadow_copy(arn_replay_shadow *shadow, arn_replay_shadow_node *to,
                            const arn_replay_shadow_node *from);

/* Two ways meet: `into` keeps what it has in common with `from`; other cells vary. Whether
 * `into` has changed. Versions stay as they are: they tell an op's own writes from all
 * earlier ones, and ways only meet between ops. */
bool arn_replay_shadow_meet(arn_replay_shadow *shadow, arn_replay_shadow_node *into,
                            arn_replay_shadow_node *from);

#endif
