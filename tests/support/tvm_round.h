/* A TVM graph through the library: read, lower, plan, write. */
#ifndef SUPPORT_TVM_ROUND_H
#define SUPPORT_TVM_ROUND_H

#include "support/pipelines.h"

/* Read, prepared for `target`, planned by `planner` and checked; the caller frees it. Borrows
 * `data`. On failure nothing is left to be freed. */
arenaut_status tvm_open(const void *data, size_t size, const char *target, const char *planner,
                        const arenaut_allocator *allocator, arenaut_pipeline **out,
                        arenaut_error *err);

/* Writes the graph with the plan. The text is the caller's. */
arenaut_status tvm_write(const arenaut_pipeline *p, const arenaut_allocator *allocator,
                         arenaut_text *out, arenaut_error *err);

/* The bytes that the file's own storage ids make the runtime allocate. */
uint64_t tvm_bytes_now(const arenaut_pipeline *p);

/* Property of any bytes: they are refused with a message, or they make a valid program with a plan
 * that passes the checker; with that plan written, the graph is read back as one that needs the
 * plan's bytes, and writing it once more changes nothing. Aborts, with a line on standard error, if
 * it does not. True if the bytes were accepted as a graph. */
bool tvm_property(const uint8_t *data, size_t size);

#endif
