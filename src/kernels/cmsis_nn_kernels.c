/* cmsis-nn: tflite-micro's folder cmsis_nn over CMSIS-NN with the DSP instructions of a Cortex-M4,
 * M7 or M33, as GCC compiles it: other compilers take another branch of the 1x1 convolution. In
 * plain C it walks in the same order and asks for less scratch (cmsis-nn-c). Ops that the folder
 * does not replace have the reference kernels; ops that it replaces are here with all their types.
 * Measured by examples/measure_kernels/measure_cmsis_nn.sh: every load and store of a Cortex-M3 and
 * of an M7, which QEMU plays. */
#include "kernels/set_parts.h"

#define TYPE(name) (UINT32_C(1) << ARENAUT_DTYPE_##name)

enum { FLOAT = TYPE(FLOAT32), S8 = TYPE(INT8), S16 = TYPE(INT16) };

static const arenaut_kernel_rule rules[] = {
    {"ADD", {0}, ARENAUT_KERNEL_RASTER, 0, true},
    {"MUL", {0}, ARENAUT_KERNEL_RASTER, 0, true},
    {"MINIMUM", {0}, ARENAUT_KERNEL_RASTER, 0, true},
    {"MAXIMUM", {0}, ARENAUT_KERNEL_RASTER, 0, true},
    /* Of int8, 1x1 makes two output channels of every pixel before the next two (with a stride: of
       every pixel of a row), and groups go one after the other. All else gathers the windows of two
     * pixels first, also 1x1 if it is dilated, which changes nothing else. */
    {"CONV_2D", {.types = FLOAT}, ARENAUT_KERNEL_RASTER, 0, true},
    {"CONV_2D", {.types = S16}, ARENAUT_KERNEL_BLOCK, 2, true},
    {"CONV_2D", {.grouped = ARENAUT_KERNEL_YES}, ARENAUT_KERNEL_NONE, 0, true},
    {"CONV_2D",
     {.pointwise = ARENAUT_KERNEL_YES,
      .unit_stride = ARENAUT_KERNEL_YES,
      .dilated = ARENAUT_KERNEL_NO},
     ARENAUT_KERNEL_NONE,
     0,
     true},
    {"CONV_2D",
     {.pointwise = ARENAUT_KERNEL_YES, .dilated = ARENAUT_KERNEL_NO},
     ARENAUT_KERNEL_ROWS,
     0,
     true},
    {"CONV_2D", {.types = S8}, ARENAUT_KERNEL_BLOCK, 2, true},
    {"DEPTHWISE_CONV_2D", {0}, ARENAUT_KERNEL_RASTER, 0, true},
    {"AVERAGE_POOL_2D", {0}, ARENAUT_KERNEL_RASTER, 0, true},
    /* The maximum so far is kept in the output. */
    {"MAX_POOL_2D", {0}, ARENAUT_KERNEL_BLOCK_REREAD, 1, true},
    /* Of int8 with more than two dimensions, this is the 1x1 convolution. */
    {"FULLY_CONNECTED", {.types = S8}, ARENAUT_KERNEL_NONE, 0, true},
    {"FULLY_CONNECTED", {0}, ARENAUT_KERNEL_RASTER, 0, true},
    {"SOFTMAX", {0}, ARENAUT_KERNEL_RASTER, 0, true},
    /* Of int8, row by row with memcpy. */
    {"PAD", {.types = S8}, ARENAUT_KERNEL_ROWS, 0, true},
    {"PAD", {0}, ARENAUT_KERNEL_RASTER, 0, true},
    {"PADV2", {.types = S8}, ARENAUT_KERNEL_ROWS, 0, true},
    {"PADV2", {0}, ARENAUT_KERNEL_RASTER, 0, true},
    /* Of int8, a vector is copied with memcpy. */
    {"TRANSPOSE", {.types = S8}, ARENAUT_KERNEL_NONE, 0, true},
    {"TRANSPOSE", {0}, ARENAUT_KERNEL_RASTER, 0, true},
    {"SVDF", {.types = S8}, ARENAUT_KERNEL_ANY, 0, true},
    /* Not looked into. */
    {"SVDF", {0}, ARENAUT_KERNEL_NONE, 0, false},
    {"BATCH_MATMUL", {0}, ARENAUT_KERNEL_NONE, 0, false},
    {"TRANSPOSE_CONV", {0}, ARENAUT_KERNEL_NONE, 0, false},
    {"UNIDIRECTIONAL_SEQUENCE_LSTM", {0}, ARENAUT_KERNEL_NONE, 0, false},
    {.op = NULL},
};

const arenaut_in_place_rule arn_cmsis_nn_in_place[] = {
    {"ADD", 0, 0, false},     {"ADD", 1, 0, false},     {"MUL", 0, 0, false},
    {"MUL", 1, 0, false},     {"MINIMUM", 0, 0, false}, {"MINIMUM", 1, 0, false},
    {"MAXIMUM", 0, 0, false}, {"MAXIMUM", 1, 0, false}, {"SOFTMAX", 0, 0, false},
    {NULL, 0, 0, false},
};

/* Gathered windows, sums of a row of pools, and scales for each channel. */
static const arenaut_scratch_rule scratch[] = {
    {"CONV_2D", 0, S8 | S16},
    {"DEPTHWISE_CONV_2D", 0, S8},
    {"AVERAGE_POOL_2D", 0, S8 | S16},
    {"FULLY_CONNECTED", 0, S8},
    {NULL, 0, 0},
};

/* Unlike the reference kernel, this one refuses weights of int16. */
enum { OTHERS = TYPE(FLOAT16) | TYPE(INT32) | TYPE(INT64) | TYPE(UINT8) | TYPE(BOOL) };
#define LIKE ARENAUT_TYPES_LIKE

const arenaut_type_rule arn_cmsis_nn_types[] = {
    {"TRANSPOSE_CONV", 2, FLOAT | S8, S16 | OTHERS, LIKE, 0, LIKE, false, true},
    {"TRANSPOSE_CONV", 2, S8 | S16, FLOAT | OTHERS, S8, 0, LIKE, false, true},
    {.op = NULL},
};

extern const arenaut_kernel_set arn_kernels_cmsis_nn;
extern const arenaut_kernel_set arn_kernels_reference;
const arenaut_kernel_set arn_kernels_cmsis_nn = {
    .name = "cmsis-nn",
    .summary = "CMSIS-NN in C with DSP instructions, by GCC; in plain C it asks for less",
    .version = "CMSIS-NN 99f736a6, tflite-micro 90b983c2",
    .base = &arn_kernels_reference,
    .rules = rules,
    .in_place = arn_cmsis_nn_in_place,
    .scratch = scratch,
    .persistent = arn_cmsis_nn_persistent,
    .scratch_sizes = arn_cmsis_nn_scratch,
    .macro = "CMSIS_NN",
    .types = arn_cmsis_nn_types,
};
