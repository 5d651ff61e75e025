/* Independently written byte ranges of storages, for the check of reordered programs. */
#ifndef ARN_CHECK_REORDER_CELLS_H
#define ARN_CHECK_REORDER_CELLS_H

#include <arenaut/program.h>

#include "check/rewrite/reorder_views.h"
#include "core/memory.h"

/* Cells of a storage are numbered from 0. */
typedef struct arn_reorder_cells {
    uint32_t *first, *n; /* per tensor: its cells in the storage */
    uint32_t *width; /* per storage: its number of cells, at least 1; one more for shared state */
    uint64_t total;  /* over all arguments of ops */
} arn_reorder_cells;

/* `shared`, no storage's number, stands for shared state. The lists are the region's. False if
 * there is no memory. O(n log n). */
bool arn_reorder_cells_find(const arenaut_program *program, const arn_reorder_names *names,
                            uint32_t shared, arn_region *region, arn_reorder_cells *cells);

#endif
