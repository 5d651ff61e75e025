/* The parts of memory that ops write apart from one another. */
#ifndef ARN_REWRITE_ORDER_ORDER_CELLS_H
#define ARN_REWRITE_ORDER_ORDER_CELLS_H

#include <arenaut/program.h>

#include "core/memory.h"

/* A tensor takes `n` cells, from `first` on; tensors that share a byte share a cell. */
typedef struct arn_order_cells {
    uint32_t *first, *n; /* per tensor */
    uint32_t n_cells;
    bool too_many; /* arguments would take more cells than are followed: each storage is one */
} arn_order_cells;

/* `storage`: per tensor, the one that stands for its memory, or n_tensors for what methods share.
 * The lists are the region's. False if there is no memory. O(n log n + arguments). */
bool arn_order_cells_find(const arenaut_program *program, const uint32_t *storage,
                          arn_region *region, arn_order_cells *cells);

#endif
