/* The control flow graph of a method with jumps. */
#ifndef ARN_ANALYSIS_BASIC_BLOCKS_H
#define ARN_ANALYSIS_BASIC_BLOCKS_H

#include <arenaut/program.h>

#include "core/memory.h"

/* Basic blocks: stretches of positions that are entered at their first only. Positions count the
 * steps of the method: 0 is its start, op i is at i + 1. */
typedef struct arn_blocks {
    uint32_t n;      /* the method's end is block n, without positions */
    uint32_t *first; /* n + 1: positions */
    uint32_t *of;    /* per position, and the end: its block */
    uint32_t *next;  /* two per block: where it goes on; ARENAUT_NONE: nowhere else */
    uint32_t *back;  /* n + 2: block b is reached from from[back[b] .. back[b + 1]) */
    uint32_t *from;
} arn_blocks;

/* False if there is no memory. O(ops). */
bool arn_blocks_make(const arenaut_program *program, uint32_t method, arn_region *region,
                     arn_blocks *blocks);

static inline bool arn_is_jump(const arenaut_op *op) {
    return op->kind == ARENAUT_OP_JUMP || op->kind == ARENAUT_OP_JUMP_FALSE;
}

/* Whether ops of the method jump or move. */
bool arn_has_control_flow(const arenaut_program *program, uint32_t method);

#endif
