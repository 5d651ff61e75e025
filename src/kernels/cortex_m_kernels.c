/* cortex-m: ExecuTorch's library for Cortex-M, quantized operators over CMSIS-NN, beside the
 * portable kernels. Read in its sources: each loop of these makes one element after another, or up
 * to 16 at once, of which all operands are read before they are written. Convolutions, pools,
 * matrix products, `pad` and `transpose` have no rule. */
#include <arenaut/kernels.h>

/* Their operand and result differ in width. */
static const arenaut_kernel_rule rules[] = {
    {.op = "cortex_m::dequantize_per_tensor.out", .order = ARENAUT_KERNEL_RASTER},
    {.op = "cortex_m::quantize_per_tensor.out", .order = ARENAUT_KERNEL_RASTER},
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
    .summary = "ExecuTorch's quantized kernels over CMSIS-NN",
    .version = "executorch cff6f4dd",
    .base = &arn_kernels_portable,
    .rules = rules,
    .in_place = in_place,
};
