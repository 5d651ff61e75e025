/* Placing groups one by one where some may overlap others partly. */
#ifndef ARN_PLANNERS_OVERLAP_PLACING_H
#define ARN_PLANNERS_OVERLAP_PLACING_H

#include "planners/placing/buffer_groups.h"
#include "planners/run/cost.h"

typedef struct arn_overlap_placing arn_overlap_placing;

/* NULL if there is no memory. `groups` is borrowed, and made without ARN_COLLAPSE and ARN_HULL. */
arn_overlap_placing *arn_overlap_placing_new(const arn_groups *groups,
                                             const arenaut_allocator *allocator);
void arn_overlap_placing_free(arn_overlap_placing *placing);

/* Takes all groups away again. */
void arn_overlap_placing_clear(arn_overlap_placing *placing);

/* Puts the group at the lowest offset that is free, in the first of its pools that has one: one
 * that is fixed, at its own. False if there is none, or no memory. Looks only at what is alive at
 * about the same time, or for very long; *looked counts them. */
bool arn_overlap_place(arn_overlap_placing *placing, uint32_t group, uint64_t *looked);
bool arn_overlap_placing_out_of_memory(const arn_overlap_placing *placing);

/* Of what is placed: where, what it costs, and how that is written into a plan. */
uint64_t arn_overlap_placing_end(const arn_overlap_placing *placing, uint32_t group);
arn_cost arn_overlap_placing_cost(const arn_overlap_placing *placing);
void arn_overlap_placing_export(const arn_overlap_placing *placing, uint32_t *pool,
                                uint64_t *offset);

#endif
