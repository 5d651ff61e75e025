/* Accesses of ops to memory cells, in the order of the ops: the last writer of each cell, and the
 * reads since. */
#ifndef ARN_ANALYSIS_ACCESSES_H
#define ARN_ANALYSIS_ACCESSES_H

#include <stdint.h>

#include "core/memory.h"

typedef struct arn_access {
    uint32_t op, before; /* the previous read of the cell since it was written; NONE */
} arn_access;

typedef struct arn_accesses {
    /* Called for each dependence: `op` reads or writes a cell that `first` wrote last or, for
     * `on_read`, writes one that it has read since. They may be the same op, and `first` NONE. */
    void (*depend)(void *context, uint32_t op, uint32_t first, bool on_read);
    void *context;
    uint32_t *writer; /* per cell: its last writer; NONE: none */
    uint32_t *reader; /* per cell: the last read since that write, in `reads`; NONE: none */
    arn_access *reads;
    uint32_t n_reads;
} arn_accesses;

/* All lists are the region's, with room for so many reads. False if there is no memory. */
bool arn_accesses_make(arn_accesses *accesses, arn_region *region, size_t n_cells, size_t n_reads);

void arn_accesses_read(arn_accesses *accesses, uint32_t op, uint32_t cell);
void arn_accesses_write(arn_accesses *accesses, uint32_t op, uint32_t cell);
/* As if the cell had never been accessed. */
void arn_accesses_forget(arn_accesses *accesses, uint32_t cell);

#endif
