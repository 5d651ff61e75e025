/* The state that the parts of lowering share: storage.c has the storages, pools.c their pools,
 * reuse.c the rights to overwrite, streams.c the conflicts of ops that may run at the same time;
 * lowering.c puts them together. Live ranges are an analysis. */
#ifndef ARN_PASSES_LOWER_H
#define ARN_PASSES_LOWER_H

#include <arenaut/lowering.h>

#include "analysis/live_ranges.h"
#include "core/memory.h"

/* Dependences between the ops of concurrent methods: see streams.c. */
typedef struct arn_order arn_order;

/* The input of every part, and the region of their results. */
typedef struct arn_lower {
    const arenaut_program *program;
    const arenaut_target *target;
    arenaut_lowering_options options;
    arenaut_allocator allocator;
    arn_region scratch; /* gone when the problem is made */
    arn_live live;      /* storages, and their live ranges */
    /* Per storage, where the target wants the order of the ops (else NULL): how many are made
     * before it, counted from 1 (0: nothing makes it), and the operand that it is where it is
     * read last. */
    uint32_t *made, *release;
    arn_order *orders; /* of the concurrent methods, one linked to the next */
    uint64_t *unit;    /* per storage: its size is a multiple of this; NULL: of the target's */
    uint64_t *pools;   /* per storage: those it may lie in, as a bit set; 0: it needs none */
    arenaut_error *err;
} arn_lower;

/* Fills lower->live.storage. */
arenaut_status arn_lower_storage(arn_lower *lower);

/* Adds the pools to the problem and fills lower->pools; REFUSED naming a tensor for which
 * there is none. */
arenaut_status arn_lower_pools(arn_lower *lower, arenaut_problem *problem);

/* Finds the dependences of concurrent methods, once storages are known; UNSUPPORTED for methods
 * that do more than compute, or are too large. */
arenaut_status arn_lower_order(arn_lower *lower);
/* Whether all other ops that touch the storage are over when `op` begins, as far as they are of
 * its method and that is concurrent. */
bool arn_lower_ends_with(const arn_lower *lower, uint32_t storage, uint32_t op);
/* Adds edges between buffers of concurrent methods whose lives do not meet in the sequence of
 * the ops, but may meet in another one. */
arenaut_status arn_lower_streams(arn_lower *lower, const uint32_t *buffer_of,
                                 arenaut_problem *problem);

/* base[s]: the storage that s may be written over, or ARENAUT_NONE; each is the base of at
 * most one other. Needs lives and pools. */
arenaut_status arn_lower_reuse(arn_lower *lower, const uint32_t **base);

/* Adds a separation for each overlap of an op that holds for whole buffers. Likewise. */
arenaut_status arn_lower_overlaps(arn_lower *lower, const uint32_t *buffer_of,
                                  arenaut_problem *problem);

/* Whether the successor depends on a value. */
static inline bool arn_lower_is_branch(arenaut_op_kind kind) {
    return kind == ARENAUT_OP_IF || kind == ARENAUT_OP_WHILE || kind == ARENAUT_OP_LOOP ||
           kind == ARENAUT_OP_JUMP_FALSE;
}

static inline bool arn_lower_is_touched(const arn_lower *lower, uint32_t storage) {
    return (lower->live.storage.facts[storage] & ARN_ALWAYS_ALIVE) ||
           lower->live.lives.start[storage + 1] > lower->live.lives.start[storage];
}

/* Whether a tensor stands for a storage that is a buffer of the problem. */
static inline bool arn_lower_has_buffer(const arn_lower *lower, uint32_t tensor) {
    return lower->live.storage.of[tensor] == tensor &&
           !(lower->live.storage.facts[tensor] & ARN_NO_BUFFER) &&
           (arn_lower_is_touched(lower, tensor) || !lower->target->skip_untouched);
}

#endif
