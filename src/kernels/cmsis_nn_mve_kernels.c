/* cmsis-nn-mve: tflite-micro's folder cmsis_nn over CMSIS-NN with the vector instructions (MVE,
 * Helium) of a Cortex-M55 or M85. Ops that the folder does not replace have the reference kernels;
 * ops that it replaces are here with all their types. Measured by
 * examples/measure_kernels/measure_cmsis_nn.sh: every load and store of a Cortex-M55, which QEMU
 * plays. */
#include "kernels/set_parts.h"

#define TYPE(name) (UINT32_C(1) << ARENAUT_DTYPE_##name)

enum { FLOAT = TYPE(FLOAT32), S8 = TYPE(INT8), S16 = TYPE(INT16) };

static const arenaut_kernel_rule rules[] = {
    {"ADD", {0}, ARENAUT_KERNEL_RASTER, 0, true},
    {"MUL", {0}, ARENAUT_KERNEL_RASTER, 0, true},
    {"MINIMUM", {0}, ARENAUT_KERNEL_RASTER, 0, true},
    {"MAXIMUM", {0}, ARENAUT_KERNEL_RASTER, 0, true},
    /* Four pixels at a time: 1x1 reads them again for each channel, with a stride each row begins
     * anew; windows are gathered first, but those of an image of one row are read in place. Groups
     * go one after the other. */
    {"CONV_2D", {.types = FLOAT}, ARENAUT_KERNEL_RASTER, 0, true},
    {"CONV_2D", {.types = S16}, ARENAUT_KERNEL_BLOCK, 4, true},
    {"CONV_2D", {.grouped = ARENAUT_KERNEL_YES}, ARENAUT_KERNEL_NONE, 0, true},
    {"CONV_2D",
     {.pointwise = ARENAUT_KERNEL_YES,
      .unit_stride = ARENAUT_KERNEL_YES,
      .dilated = ARENAUT_KERNEL_NO},
     ARENAUT_KERNEL_BLOCK_REREAD,
     4,
     true},
    {"CONV_2D",
     {.pointwise = ARENAUT_KERNEL_YES, .dilated = ARENAUT_KERNEL_NO},
     ARENAUT_KERNEL_ROWS,
     0,
     true},
    {"CONV_2D", {.one_row = ARENAUT_KERNEL_YES}, ARENAUT_KERNEL_ROWS, 0, true},
    {"CONV_2D", {.types = S8}, ARENAUT_KERNEL_BLOCK, 4, true},
    /* Blocks of 124 channels, one after the other. One channel made into several is a convolution,
     * which reads an image of one row in place; other compilers than GCC draw the line at nine. */
    {"DEPTHWISE_CONV_2D", {.types = S8, .min_in_channels = 125}, ARENAUT_KERNEL_NONE, 0, true},
    {"DEPTHWISE_CONV_2D",
     {.types = S8, .max_in_channels = 1, .min_out_channels = 2},
     ARENAUT_KERNEL_NONE,
     0,
     true},
    {"DEPTHWISE_CONV_2D", {0}, ARENAUT_KERNEL_RASTER, 0, true},
    {"AVERAGE_POOL_2D", {0}, ARENAUT_KERNEL_RASTER, 0, true},
    /* The maximum so far is kept in the output. */
    {"MAX_POOL_2D", {0}, ARENAUT_KERNEL_BLOCK_REREAD, 1, true},
    /* Of int8 with more than two dimensions, this is the 1x1 convolution. */
    {"FULLY_CONNECTED", {.types = S8}, ARENAUT_KERNEL_BLOCK_REREAD, 4, true},
    {"FULLY_CONNECTED", {0}, ARENAUT_KERNEL_RASTER, 0, true},
    {"SOFTMAX", {0}, ARENAUT_KERNEL_RASTER, 0, true},
    /* Of int8, row by row with memcpy. */
    {"PAD", {.types = S8}, ARENAUT_KERNEL_ROWS, 0, true},
    {"PAD", {0}, ARENAUT_KERNEL_RASTER, 0, true},
    {"PADV2", {.types = S8}, ARENAUT_KERNEL_ROWS, 0, true},
    {"PADV2", {0}, ARENAUT_KERNEL_RASTER, 0, true},
    /* Of int8, sixteen elements are read before they are spread. */
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

/* Gathered windows, sums of weights, and scales for each channel. */
static const arenaut_scratch_rule scratch[] = {
    {"CONV_2D", 0, S8 | S16},
    {"DEPTHWISE_CONV_2D", 0, S8},
    {"FULLY_CONNECTED", 0, S8},
    {"BATCH_MATMUL", 0, S8},
    {NULL, 0, 0},
};

extern const arenaut_kernel_set arn_kernels_cmsis_nn_mve;
extern const arenaut_kernel_set arn_kernels_reference;
const arenaut_kernel_set arn_kernels_cmsis_nn_mve = {
    .name = "cmsis-nn-mve",
    .summary = "CMSIS-NN with vector instructions (MVE, Helium)",
    .version = "CMSIS-NN 99f736a6, tflite-micro 90b983c2",
    .base = &arn_kernels_reference,
    .rules = rules,
    .in_place = arn_cmsis_nn_in_place,
    .scratch = scratch,
    .persistent = arn_cmsis_nn_mve_persistent,
    .scratch_sizes = arn_cmsis_nn_mve_scratch,
    .macro = "CMSIS_NN",
    .types = arn_cmsis_nn_types,
};
