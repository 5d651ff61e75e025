/* cortex-m-mve: the set cortex-m where CMSIS-NN has the vector instructions (MVE, Helium) of a
 * Cortex-M55 or M85, whose convolutions walk as in cmsis_nn_mve_kernels.c. Measured in the same
 * way, on a Cortex-M55 that QEMU plays. */
#include <arenaut/kernels.h>

static const arenaut_kernel_rule rules[] = {
    {"cortex_m::quantized_conv2d.out",
     {.grouped = ARENAUT_KERNEL_YES},
     ARENAUT_KERNEL_NONE,
     0,
     true},
    {"cortex_m::quantized_conv2d.out",
     {.pointwise = ARENAUT_KERNEL_YES,
      .unit_stride = ARENAUT_KERNEL_YES,
      .dilated = ARENAUT_KERNEL_NO,
      .padded = ARENAUT_KERNEL_NO},
     ARENAUT_KERNEL_BLOCK_REREAD,
     4,
     true},
    {"cortex_m::quantized_conv2d.out",
     {.pointwise = ARENAUT_KERNEL_YES, .dilated = ARENAUT_KERNEL_NO, .padded = ARENAUT_KERNEL_NO},
     ARENAUT_KERNEL_ROWS,
     0,
     true},
    {"cortex_m::quantized_conv2d.out",
     {.one_row = ARENAUT_KERNEL_YES},
     ARENAUT_KERNEL_ROWS,
     0,
     true},
    {"cortex_m::quantized_conv2d.out", {0}, ARENAUT_KERNEL_BLOCK, 4, true},
    /* Blocks of 124 channels, one after the other; one channel made into several is a convolution.
     */
    {"cortex_m::quantized_depthwise_conv2d.out",
     {.min_in_channels = 125},
     ARENAUT_KERNEL_NONE,
     0,
     true},
    {"cortex_m::quantized_depthwise_conv2d.out",
     {.max_in_channels = 1, .min_out_channels = 2},
     ARENAUT_KERNEL_NONE,
     0,
     true},
    {"cortex_m::quantized_depthwise_conv2d.out", {0}, ARENAUT_KERNEL_RASTER, 0, true},
    {.op = NULL},
};

extern const arenaut_kernel_set arn_kernels_cortex_m;
extern const arenaut_kernel_set arn_kernels_cortex_m_mve;
const arenaut_kernel_set arn_kernels_cortex_m_mve = {
    .name = "cortex-m-mve",
    .summary =
        "ExecuTorch's quantized kernels over CMSIS-NN with vector instructions (MVE, Helium)",
    .version = "executorch cff6f4dd, CMSIS-NN dbf45dbf",
    .base = &arn_kernels_cortex_m,
    .rules = rules,
};
