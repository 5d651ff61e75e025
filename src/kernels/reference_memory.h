/* The parts of the set "reference" that are about memory beside tensors. */
#ifndef ARN_KERNELS_REFERENCE_MEMORY_H
#define ARN_KERNELS_REFERENCE_MEMORY_H

#include <arenaut/kernels.h>

extern const arenaut_persistent_rule arn_reference_persistent[];

bool arn_reference_scratch(const arenaut_program *program, const arenaut_op *op,
                           arenaut_scratch_requests *requests);

extern const arenaut_type_rule arn_reference_types[];

#endif
