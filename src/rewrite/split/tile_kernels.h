/* Answers of kernels about ops of a draft: how far a result may reach into an operand, and the
 * bytes that the runtime keeps. */
#ifndef ARN_REWRITE_SPLIT_TILE_KERNELS_H
#define ARN_REWRITE_SPLIT_TILE_KERNELS_H

#include <arenaut/kernels.h>

#include "rewrite/split/tiled_draft.h"

typedef struct arn_draft_answer {
    uint64_t question; /* hash of the op's form and the kind of question; 0: the place is free */
    uint64_t bytes;
} arn_draft_answer;

typedef struct arn_draft_kernels {
    const arenaut_allocator *allocator;
    const arenaut_split_options *options;
    arn_draft_answer *answers; /* by question, open addressing */
    uint32_t n, capacity;      /* a power of two, or 0 */
    uint64_t steps_left;       /* of kernels, to be followed */
    arenaut_tensor *tensors;   /* arguments of the op at work */
    uint32_t *ids;             /* likewise */
    arenaut_attribute *attributes;
    uint32_t tensors_capacity, ids_capacity, attributes_capacity;
    bool failed; /* no memory */
} arn_draft_kernels;

arn_draft_kernels arn_draft_kernels_begin(const arenaut_allocator *allocator,
                                          const arenaut_split_options *options);
void arn_draft_kernels_free(arn_draft_kernels *kernels);

/* The least distance from the result's begin to the operand's, never below 0; ARENAUT_SIZE_MAX: the
 * result must not touch that operand. The op has one result. */
uint64_t arn_draft_distance(arn_draft_kernels *kernels, const arn_draft *draft,
                            const arn_draft_op *op, uint32_t input);

/* Bytes that the runtime keeps of an op as long as it lives. */
uint64_t arn_draft_kept(arn_draft_kernels *kernels, const arn_draft *draft, const arn_draft_op *op);
/* The same of an op that calls a method. */
uint64_t arn_draft_kept_of_call(const arn_draft_kernels *kernels);

#endif
