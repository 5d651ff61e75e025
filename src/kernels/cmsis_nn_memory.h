/* The parts that the sets "cmsis-nn", "cmsis-nn-c" and "cmsis-nn-mve" share, and those that are
 * about memory beside tensors. */
#ifndef ARN_KERNELS_CMSIS_NN_MEMORY_H
#define ARN_KERNELS_CMSIS_NN_MEMORY_H

#include <arenaut/kernels.h>

extern const arenaut_type_rule arn_cmsis_nn_types[];
extern const arenaut_persistent_rule arn_cmsis_nn_persistent[];
extern const arenaut_persistent_rule arn_cmsis_nn_mve_persistent[];

bool arn_cmsis_nn_scratch(const arenaut_program *program, const arenaut_op *op,
                          arenaut_scratch_requests *requests);
bool arn_cmsis_nn_c_scratch(const arenaut_program *program, const arenaut_op *op,
                            arenaut_scratch_requests *requests);
bool arn_cmsis_nn_mve_scratch(const arenaut_program *program, const arenaut_op *op,
                              arenaut_scratch_requests *requests);

#endif
