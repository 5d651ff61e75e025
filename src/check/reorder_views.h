/* Views of a graph before its passes, for holding reordered programs against those before: their
 * ops say only by what they are called that they name their operand's memory; and such a view may
 * have become a copy. */
#ifndef ARN_CHECK_REORDER_VIEWS_H
#define ARN_CHECK_REORDER_VIEWS_H

#include <arenaut/program.h>

#include "core/memory.h"

/* Per tensor: whose memory it has, and where in it. */
typedef struct arn_reorder_names {
    uint32_t *storage;
    uint64_t *begin, *bytes; /* bytes 0: all of it, as far as is known */
} arn_reorder_names;

/* A view may name its operand's memory without a word in the tensor itself: by the kind of its op,
 * or by what its dialect says of that; and what updates an operand returns it. `copied`, per op:
 * those do not; NULL: none. `shared` stands for what methods share. The lists are the region's;
 * false if there is no memory. O(arguments). */
bool arn_reorder_names_find(const arenaut_program *program, const bool *copied, uint32_t shared,
                            arn_region *region, arn_reorder_names *names);

/* Whether the op's results are, by what its dialect says of it, other names of its first operand's
 * memory. An op that may return a view does so where the layouts allow. */
bool arn_reorder_is_view(const arenaut_program *program, const arenaut_op *op);

/* Whether it is certain that the op, of a graph before its passes, only names its operand's memory.
 */
bool arn_reorder_always_names(const arenaut_program *program, const arenaut_op *op);

/* Whether `new` does what the view `old` names in new memory, by their names alone. */
bool arn_reorder_is_copy_of(const arenaut_op *old, const arenaut_op *new);

/* Whether `copy` has in memory of its own the elements that `view` has in its operand's, which lie
 * densely there: whoever reads it finds them at the same distances. */
bool arn_reorder_is_dense_copy(const arenaut_tensor *view, const arenaut_tensor *copy);

/* Whether none of these ops of `program`, each of which is marked, names what is written behind it.
 * *room: false where there was no memory to tell. */
bool arn_reorder_copies_keep(const arenaut_program *program, const bool *copied, arn_region *region,
                             bool *room);

#endif
