/* Kernel scratch of a program: the scratch file, and the ops whose scratch is unknown. */
#ifndef ARN_PASSES_SCRATCH_H
#define ARN_PASSES_SCRATCH_H

#include <arenaut/pass.h>

/* Reads a scratch file: CSV, and its header names the columns. `op` (its number within the method)
 * and `bytes` must be there; `method` (number or name; without it the first) and `model` may be.
 * One row per request, in the order of the requests. With a `model` column one file serves several
 * models: rows count if they name `model` (NULL: all rows count); a model without scratch has one
 * row with empty cells. Other columns are for people, lines that begin with '#' are comments.
 * BAD_INPUT with the line in err->at. */
arenaut_status arn_scratch_read(const char *text, size_t size, const char *model,
                                const arenaut_program *program, const arenaut_allocator *allocator,
                                arenaut_scratch_sizes *out, arenaut_error *err);
void arn_scratch_sizes_free(arenaut_scratch_sizes *sizes, const arenaut_allocator *allocator);

/* The first op whose results `target` may keep outside of the arena (arenaut_target.outside), so
 * that the content of the arena is unknown; ARENAUT_NONE: there is none. O(ops). */
uint32_t arn_find_outside(const arenaut_program *program, const arenaut_target *target);

/* Whether these kernels may need scratch for this op: they are listed as such, with sizes that are
 * unknown or not zero, or an operand is compressed. `kernels` may be NULL. */
bool arn_op_asks_for_scratch(const arenaut_program *program, const arenaut_op *op,
                             const arenaut_kernel_set *kernels);

/* The knowledge of scratch if `program` runs with these kernels. `sizes` may be NULL. An op that
 * has scratch already, from its file or from the pass, counts as known. O(ops × rules). */
arenaut_scratch_knowledge arn_scratch_known(const arenaut_program *program,
                                            const arenaut_kernel_set *kernels,
                                            const arenaut_scratch_sizes *sizes);

#endif
