/* Check that a reordered program computes the same as before, and the memory of tensors for it. */
#ifndef ARN_CHECK_CHECK_REORDER_H
#define ARN_CHECK_CHECK_REORDER_H

#include <arenaut/check.h>
#include <arenaut/program.h>

#include "core/memory.h"

/* Both programs are valid. As arenaut_check_rewrite. */
arenaut_status arn_check_reorder(const arenaut_program *before, const arenaut_rewrite *rewrite,
                                 const arenaut_allocator *allocator, arenaut_finding *finding,
                                 arenaut_error *err);

/* Memory of tensors, for the check of reordered programs. Aliases in graphs before their passes:
 * only operator names tell that results are views of the operand, and such a view may have become a
 * copy. Cells: independently written byte ranges of storages. */

/* Per tensor: its storage, and its bytes there. */
typedef struct arn_reorder_names {
    uint32_t *storage;
    uint64_t *begin, *bytes; /* bytes 0: all of it, as far as is known */
} arn_reorder_names;

/* The storage of each tensor. A view may alias its operand without a mark in the tensor itself, by
 * the kind of its op or by its dialect's traits; an update returns its operand. `copied`, per op:
 * no alias; NULL: none. `shared` stands for shared state. The lists are the region's; false if
 * there is no memory. O(arguments). */
bool arn_reorder_names_find(const arenaut_program *program, const bool *copied, uint32_t shared,
                            arn_region *region, arn_reorder_names *names);

/* Whether the op's results alias its first operand, by the dialect's traits. An op that may return
 * a view does so if the layouts allow. */
bool arn_reorder_is_view(const arenaut_program *program, const arenaut_op *op);

/* Whether the op certainly only aliases its operand, in a graph before its passes. */
bool arn_reorder_always_names(const arenaut_program *program, const arenaut_op *op);

/* Whether `new` is the copying operator of the view `old`, by name. */
bool arn_reorder_is_copy_of(const arenaut_op *old, const arenaut_op *new);

/* Whether `copy` has in its own memory the elements of `view`, which are dense in its operand:
 * readers find them at the same distances. */
bool arn_reorder_is_dense_copy(const arenaut_tensor *view, const arenaut_tensor *copy);

/* Whether no view among these ops, each of which is marked, aliases memory that is written later.
 * *room: false if there was no memory to decide. */
bool arn_reorder_copies_keep(const arenaut_program *program, const bool *copied, arn_region *region,
                             bool *room);

/* ---- cells ---- */

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

/* ---- effects ---- */

/* Effects of a method and its callees beyond the arguments of the calling op: writes to another
 * method's memory, accesses to memory that no caller lists. */
enum { ARN_REORDER_WRITES_OUT = 1, ARN_REORDER_NAMES_MORE = 2 };

/* Sets the effects of each method, as bits. */
void arn_reorder_find_effects(const arenaut_program *program, uint8_t *effects);

/* Those of all methods that the op calls. */
uint8_t arn_reorder_effects_of_calls(const uint8_t *effects, const arenaut_op *op);

/* Whether the op is an operator of an unknown library, which may write its inputs. */
bool arn_reorder_is_foreign(const arenaut_program *program, const arenaut_op *op);

/* Whether the op may do more than write its results. */
bool arn_reorder_may_do_more(const arenaut_program *program, const arenaut_op *op);

/* Whether a second run may compute another result: random numbers under other names and, without a
 * dialect, state that may be written. */
bool arn_reorder_may_differ(const arenaut_program *program, const arenaut_op *op);

#endif
