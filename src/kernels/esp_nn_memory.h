/* The parts that the sets "esp-nn" and "esp32-s3" share, and those that are about memory beside
 * tensors. */
#ifndef ARN_KERNELS_ESP_NN_MEMORY_H
#define ARN_KERNELS_ESP_NN_MEMORY_H

#include <arenaut/kernels.h>

extern const arenaut_type_rule arn_esp_nn_types[];
extern const arenaut_persistent_rule arn_esp_nn_persistent[];

bool arn_esp_nn_scratch(const arenaut_program *program, const arenaut_op *op,
                        arenaut_scratch_requests *requests);
bool arn_esp32_s3_scratch(const arenaut_program *program, const arenaut_op *op,
                          arenaut_scratch_requests *requests);

#endif
