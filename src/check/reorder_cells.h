/* Which parts of a storage are written by themselves, for holding reordered programs against those
 * before. */
#ifndef ARN_CHECK_REORDER_CELLS_H
#define ARN_CHECK_REORDER_CELLS_H

#include <arenaut/program.h>

#include "check/reorder_views.h"
#include "core/memory.h"

/* Cells of a storage count from 0. */
typedef struct arn_reorder_cells {
    uint32_t *first, *n; /* per tensor: of its storage's cells, those that it has bytes in */
    uint32_t *width;     /* per storage: how many it has, at least 1; one more for what methods
                          * share */
    uint64_t total;      /* over all arguments of ops */
} arn_reorder_cells;

/* `shared`, which is none, stands for what methods share. The lists are the
 * region's. False if there is no memory. O(n log n). */
bool arn_reorder_cells_find(const arenaut_program *program, const arn_reorder_names *names,
                            uint32_t shared, arn_region *region, arn_reorder_cells *cells);

#endif
