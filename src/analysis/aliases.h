/* Storages and aliases: the memory that a tensor lies in, the results that are other names for an
 * operand's memory, and the operands that an op updates. */
#ifndef ARN_ANALYSIS_ALIASES_H
#define ARN_ANALYSIS_ALIASES_H

#include <arenaut/dialect.h>
#include <arenaut/program.h>

#include "core/memory.h"

/* Per tensor: its storage (arenaut_program_storage). NULL if there is no memory. */
uint32_t *arn_storages_find(const arenaut_program *program, arn_region *region);

/* Likewise, but shared state is one storage under any name, n_tensors: two names may be of the same
 * memory. */
uint32_t *arn_shared_storages_find(const arenaut_program *program, arn_region *region);

/* Whether a tensor is all of its storage, so that a fact about one holds for the other. */
bool arn_fills_storage(const arenaut_program *program, uint32_t tensor);

/* The first tensor of the list in that storage; ARENAUT_NONE: none. */
uint32_t arn_find_in_storage(const uint32_t *storage_of, const uint32_t *tensors, uint32_t n,
                             uint32_t storage);

/* The operands of an op that updates some, with the results that are their new values: those that
 * it states, else the first of each. It may have no results. */
const arenaut_in_place *arn_updates_of(const arenaut_op *op, uint32_t *n);

/* Whether an op of that kind may update this operand: one of these, or any if it has no results. */
bool arn_may_update(const arenaut_op *op, uint32_t operand);

/* Whether the op makes that output, rather than give another name to an operand's memory: results
 * of updates are the updated operands, and so is a result in an operand's memory. */
bool arn_makes_output(const arenaut_program *program, const arenaut_op *op, uint32_t output);

/* The traits of an operator in the dialect; 0: none. */
uint32_t arn_traits_of(const arenaut_dialect *dialect, const arenaut_op *op);

/* Whether results of an op may be views of its first operand: in a graph before its passes, only
 * the operator's traits say so. */
bool arn_may_view(const arenaut_dialect *dialect, const arenaut_op *op);

#endif
