/* How far results of a draft's ops may reach into their operands. Kernels are asked once for each
 * form of an op; the search meets the same ones over and over. Remembers that it ran out of memory,
 * as a draft does. */
#ifndef ARN_REWRITE_SPLIT_DRAFT_REACH_H
#define ARN_REWRITE_SPLIT_DRAFT_REACH_H

#include <arenaut/kernels.h>

#include "rewrite/split/draft.h"

typedef struct arn_draft_answer {
    uint64_t question; /* hash of an op's form and its operand; 0: the place is free */
    uint64_t distance; /* bytes from the result's begin to the operand's, at least */
} arn_draft_answer;

typedef struct arn_draft_reach {
    const arenaut_allocator *allocator;
    const arenaut_kernel_set *kernels;
    bool unmeasured;
    arn_draft_answer *answers; /* by question, open addressing */
    uint32_t n, capacity;      /* a power of two, or 0 */
    uint64_t steps_left;       /* of kernels, to be followed */
    arenaut_tensor *tensors;   /* arguments of the op at work */
    uint32_t *ids;             /* likewise */
    arenaut_attribute *attributes;
    uint32_t tensors_capacity, ids_capacity, attributes_capacity;
    bool failed; /* no memory */
} arn_draft_reach;

arn_draft_reach arn_draft_reach_begin(const arenaut_allocator *allocator,
                                      const arenaut_kernel_set *kernels, bool unmeasured);
void arn_draft_reach_free(arn_draft_reach *reach);

/* The least distance, never below 0; ARENAUT_SIZE_MAX: the result must not touch that operand. The
 * op has one result. */
uint64_t arn_draft_distance(arn_draft_reach *reach, const arn_draft *draft, const arn_draft_op *op,
                            uint32_t input);

#endif
