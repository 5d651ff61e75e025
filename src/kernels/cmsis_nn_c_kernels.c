/* cmsis-nn-c: CMSIS-NN for a machine without DSP instructions (Cortex-M0, M3, M23). The kernels
 * walk as those of cmsis-nn, which were measured without them, too; some ask for less scratch. */
#include "kernels/set_parts.h"

extern const arenaut_kernel_set arn_kernels_cmsis_nn;
extern const arenaut_kernel_set arn_kernels_cmsis_nn_c;
const arenaut_kernel_set arn_kernels_cmsis_nn_c = {
    .name = "cmsis-nn-c",
    .summary = "CMSIS-NN in plain C, by GCC",
    .version = "CMSIS-NN 99f736a6, tflite-micro 90b983c2",
    .base = &arn_kernels_cmsis_nn,
    .scratch_sizes = arn_cmsis_nn_c_scratch,
    .macro = "CMSIS_NN",
};
