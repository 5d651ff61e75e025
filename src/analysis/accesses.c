/* Data dependences, found in one pass over the accesses of ops: read after write, write after write
 * and write after read. O(1) for a read; for a write O(reads since the last). */
#include "analysis/accesses.h"

#include <arenaut/problem.h>

bool arn_accesses_make(arn_accesses *a, arn_region *region, size_t n_cells, size_t n_reads) {
    if (!ARN_REGION_ARRAYS(region, ARN_ARRAY(a->writer, n_cells), ARN_ARRAY(a->reader, n_cells),
                           ARN_ARRAY(a->reads, n_reads))) {
        return false;
    }
    for (size_t i = 0; i < n_cells; i++) a->writer[i] = a->reader[i] = ARENAUT_NONE;
    return true;
}

void arn_accesses_read(arn_accesses *a, uint32_t op, uint32_t cell) {
    a->depend(a->context, op, a->writer[cell], false);
    a->reads[a->n_reads] = (arn_access){op, a->reader[cell]};
    a->reader[cell] = a->n_reads++;
}

void arn_accesses_write(arn_accesses *a, uint32_t op, uint32_t cell) {
    a->depend(a->context, op, a->writer[cell], false);
    for (uint32_t i = a->reader[cell]; i != ARENAUT_NONE; i = a->reads[i].before) {
        a->depend(a->context, op, a->reads[i].op, true);
    }
    a->reader[cell] = ARENAUT_NONE;
    a->writer[cell] = op;
}

void arn_accesses_forget(arn_accesses *a, uint32_t cell) {
    a->writer[cell] = a->reader[cell] = ARENAUT_NONE;
}
