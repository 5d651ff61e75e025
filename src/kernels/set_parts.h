/* Parts of kernel sets that several sets share: the types that kernels take, persistent memory and
 * scratch. */
#ifndef ARN_KERNELS_SET_PARTS_H
#define ARN_KERNELS_SET_PARTS_H

#include <arenaut/kernels.h>

extern const arenaut_persistent_rule arn_reference_persistent[];

bool arn_reference_scratch(const arenaut_program *program, const arenaut_op *op,
                           arenaut_scratch_requests *requests);

extern const arenaut_type_rule arn_reference_types[];

/* The parts that the sets "cmsis-nn", "cmsis-nn-c" and "cmsis-nn-mve" share, and those that are
 * about memory beside tensors. */

extern const arenaut_in_place_rule arn_cmsis_nn_in_place[];
extern const arenaut_type_rule arn_cmsis_nn_types[];
extern const arenaut_persistent_rule arn_cmsis_nn_persistent[];
extern const arenaut_persistent_rule arn_cmsis_nn_mve_persistent[];

bool arn_cmsis_nn_scratch(const arenaut_program *program, const arenaut_op *op,
                          arenaut_scratch_requests *requests);
bool arn_cmsis_nn_c_scratch(const arenaut_program *program, const arenaut_op *op,
                            arenaut_scratch_requests *requests);
bool arn_cmsis_nn_mve_scratch(const arenaut_program *program, const arenaut_op *op,
                              arenaut_scratch_requests *requests);

/* The parts that the sets "esp-nn" and "esp32-s3" share, and those that are about memory beside
 * tensors. */

extern const arenaut_type_rule arn_esp_nn_types[];
extern const arenaut_persistent_rule arn_esp_nn_persistent[];

bool arn_esp_nn_scratch(const arenaut_program *program, const arenaut_op *op,
                        arenaut_scratch_requests *requests);
bool arn_esp32_s3_scratch(const arenaut_program *program, const arenaut_op *op,
                          arenaut_scratch_requests *requests);

#endif
