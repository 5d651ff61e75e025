/* cortex-m: ExecuTorch's library for Cortex-M, quantized operators over CMSIS-NN as GCC compiles it
 * with DSP instructions or in plain C, beside the portable kernels. Each operator here calls one
 * function of CMSIS-NN on all of its images, which is the one that tflite-micro's folder cmsis_nn
 * calls, so these walk as those do (cmsis_nn_kernels.c); padding is as wide on either side, and
 * may be wider than tflite's. Measured by examples/measure_kernels/measure_cmsis_nn.sh, with calls
 * as ExecuTorch makes them. Element-wise rights were read in the library's loops: each makes one
 * element after another, or up to 16 at once, of which all operands are read before they are
 * written. Transposed convolutions, matrix products, `pad`, `transpose`, and the operators named
 * `_nhwc`, whose sources were not to be had, have no rule. */
#include <arenaut/kernels.h>

static const arenaut_kernel_rule rules[] = {
    /* Their operand and result differ in width. */
    {.op = "cortex_m::dequantize_per_tensor.out", .order = ARENAUT_KERNEL_RASTER},
    {.op = "cortex_m::quantize_per_tensor.out", .order = ARENAUT_KERNEL_RASTER},
    /* A 1x1 filter with padding is taken for any other. */
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
     ARENAUT_KERNEL_NONE,
     0,
     true},
    {"cortex_m::quantized_conv2d.out",
     {.pointwise = ARENAUT_KERNEL_YES, .dilated = ARENAUT_KERNEL_NO, .padded = ARENAUT_KERNEL_NO},
     ARENAUT_KERNEL_ROWS,
     0,
     true},
    {"cortex_m::quantized_conv2d.out", {0}, ARENAUT_KERNEL_BLOCK, 2, true},
    {"cortex_m::quantized_depthwise_conv2d.out", {0}, ARENAUT_KERNEL_RASTER, 0, true},
    {"cortex_m::quantized_avg_pool2d.out", {0}, ARENAUT_KERNEL_RASTER, 0, true},
    /* The maximum so far is kept in the output. */
    {"cortex_m::quantized_max_pool2d.out", {0}, ARENAUT_KERNEL_BLOCK_REREAD, 1, true},
    /* Row by row, each for several columns at a time. */
    {"cortex_m::quantized_linear.out", {0}, ARENAUT_KERNEL_BLOCK_REREAD, 1, true},
    {.op = NULL},
};

static const arenaut_in_place_rule in_place[] = {
    {"cortex_m::maximum.out", 0, 0, false},
    {"cortex_m::maximum.out", 1, 0, false},
    {"cortex_m::minimum.out", 0, 0, false},
    {"cortex_m::minimum.out", 1, 0, false},
    {"cortex_m::quantized_activation.out", 0, 0, false},
    {"cortex_m::quantized_add.out", 0, 0, false},
    {"cortex_m::quantized_add.out", 4, 0, false},
    {"cortex_m::quantized_div.out", 0, 0, false},
    {"cortex_m::quantized_div.out", 2, 0, false},
    {"cortex_m::quantized_mul.out", 0, 0, false},
    {"cortex_m::quantized_mul.out", 2, 0, false},
    {"cortex_m::softmax.out", 0, 0, false},
    {NULL, 0, 0, false},
};

extern const arenaut_kernel_set arn_kernels_portable;
extern const arenaut_kernel_set arn_kernels_cortex_m;
const arenaut_kernel_set arn_kernels_cortex_m = {
    .name = "cortex-m",
    .summary =
        "ExecuTorch's quantized kernels over CMSIS-NN in C, with DSP instructions or without",
    .version = "executorch cff6f4dd, CMSIS-NN dbf45dbf",
    .base = &arn_kernels_portable,
    .rules = rules,
    .in_place = in_place,
};
