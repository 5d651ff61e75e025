/* reference: the kernels that tflite-micro brings itself, plain loops in C. Libraries that replace
 * some of them (for a certain CPU or DSP) ask for more scratch, and walk in other orders. */
#include <arenaut/kernels.h>

#include "kernels/reference_memory.h"

#define TYPE(name) (UINT32_C(1) << ARENAUT_DTYPE_##name)

static const arenaut_scratch_rule scratch[] = {
    {"ADD_N", 0, 0},
    /* Weights of four bits are unpacked first. */
    {"CONV_2D", 1, TYPE(INT4)},
    {"DEPTHWISE_CONV_2D", 1, TYPE(INT4)},
    {"FULLY_CONNECTED", 1, TYPE(INT4)},
    {"MEAN", 0, 0},
    {"MIRROR_PAD", 0, 0},
    {"REDUCE_ALL", 0, 0},
    {"REDUCE_MAX", 0, 0},
    {"REDUCE_MIN", 0, 0},
    {"SUM", 0, 0},
    {"SVDF", 0, 0},
    /* Input 2 is the image; input 0 says how large the result is to be. Quantized kernels
     * sum up in wider numbers. */
    {"TRANSPOSE_CONV", 2, TYPE(INT8) | TYPE(INT16)},
    {"UNIDIRECTIONAL_SEQUENCE_LSTM", 0, 0},
    {"SignalRfft", 0, 0},
    {"TFLite_Detection_PostProcess", 0, 0},
    {NULL, 0, 0},
};

/* Each entry is proved in the stock wheel by tests/pytest/test_inplace_kernels.py: all element
 * types, several shapes and operands, the output written over this input against the same op
 * with its tensors apart. What turned out wrong there (convolutions, pools, FULLY_CONNECTED,
 * DEPTH_TO_SPACE, TRANSPOSE, SignalPCAN's second input) is left out, and so are ops that are
 * safe only for some parameters (STRIDED_SLICE) or never of one size (SVDF, the LSTM). */
static const arenaut_in_place_rule in_place[] = {
    {"ADD", 0, 0, false},
    {"ADD", 1, 0, false},
    {"SUB", 0, 0, false},
    {"SUB", 1, 0, false},
    {"MUL", 0, 0, false},
    {"MUL", 1, 0, false},
    {"DIV", 0, 0, false},
    {"DIV", 1, 0, false},
    {"MINIMUM", 0, 0, false},
    {"MINIMUM", 1, 0, false},
    {"MAXIMUM", 0, 0, false},
    {"MAXIMUM", 1, 0, false},
    {"SQUARED_DIFFERENCE", 0, 0, false},
    {"SQUARED_DIFFERENCE", 1, 0, false},
    {"FLOOR_DIV", 0, 0, false},
    {"FLOOR_DIV", 1, 0, false},
    {"FLOOR_MOD", 0, 0, false},
    {"FLOOR_MOD", 1, 0, false},
    {"LOGICAL_AND", 0, 0, false},
    {"LOGICAL_AND", 1, 0, false},
    {"LOGICAL_OR", 0, 0, false},
    {"LOGICAL_OR", 1, 0, false},
    {"LOGICAL_NOT", 0, 0, false},
    {"RELU", 0, 0, false},
    {"RELU6", 0, 0, false},
    {"ELU", 0, 0, false},
    {"TANH", 0, 0, false},
    {"LEAKY_RELU", 0, 0, false},
    {"PRELU", 0, 0, false},
    {"HARD_SWISH", 0, 0, false},
    {"LOGISTIC", 0, 0, false},
    {"SOFTMAX", 0, 0, false},
    {"LOG_SOFTMAX", 0, 0, false},
    {"L2_NORMALIZATION", 0, 0, false},
    {"RSQRT", 0, 0, false},
    {"SQRT", 0, 0, false},
    {"SQUARE", 0, 0, false},
    {"EXP", 0, 0, false},
    {"ABS", 0, 0, false},
    {"NEG", 0, 0, false},
    {"LOG", 0, 0, false},
    {"SIN", 0, 0, false},
    {"COS", 0, 0, false},
    {"FLOOR", 0, 0, false},
    {"CEIL", 0, 0, false},
    {"ROUND", 0, 0, false},
    {"CAST", 0, 0, false},
    {"QUANTIZE", 0, 0, false},
    {"RESHAPE", 0, 0, true},
    {"SQUEEZE", 0, 0, true},
    {"EXPAND_DIMS", 0, 0, true},
    {"SignalWindow", 0, 0, false},
    {"SignalFftAutoScale", 0, 0, false},
    {"SignalFilterBankSpectralSubtraction", 0, 0, false},
    {"SignalPCAN", 0, 0, false},
    {NULL, 0, 0, false},
};

#define NUMBERS (TYPE(FLOAT32) | TYPE(INT8) | TYPE(INT16))

/* Each was run in the stock wheel, byte by byte against disjoint tensors, at the distance that
 * src/kernels/distance.c gives and just below it. Ops that clear their output first and sum into it
 * (the other reductions, TRANSPOSE_CONV of floats) or whose reads depend on data have none. */
static const arenaut_kernel_rule rules[] = {
    {"CONV_2D", {.types = NUMBERS}, ARENAUT_KERNEL_RASTER, 0, true},
    {"DEPTHWISE_CONV_2D", {.types = NUMBERS}, ARENAUT_KERNEL_RASTER, 0, true},
    {"AVERAGE_POOL_2D", {.types = NUMBERS}, ARENAUT_KERNEL_RASTER, 0, true},
    {"MAX_POOL_2D", {.types = NUMBERS}, ARENAUT_KERNEL_RASTER, 0, true},
    {"FULLY_CONNECTED", {.types = NUMBERS}, ARENAUT_KERNEL_RASTER, 0, true},
    {"TRANSPOSE_CONV", {.types = TYPE(INT8)}, ARENAUT_KERNEL_ANY, 0, true},
    {"RELU", {.types = NUMBERS}, ARENAUT_KERNEL_RASTER, 0, true},
    {"RELU6", {.types = NUMBERS}, ARENAUT_KERNEL_RASTER, 0, true},
    {"ELU", {.types = NUMBERS}, ARENAUT_KERNEL_RASTER, 0, true},
    {"TANH", {.types = NUMBERS}, ARENAUT_KERNEL_RASTER, 0, true},
    {"LOGISTIC", {.types = NUMBERS}, ARENAUT_KERNEL_RASTER, 0, true},
    {"LEAKY_RELU", {.types = NUMBERS}, ARENAUT_KERNEL_RASTER, 0, true},
    {"HARD_SWISH", {.types = NUMBERS}, ARENAUT_KERNEL_RASTER, 0, true},
    {"ABS", {.types = NUMBERS}, ARENAUT_KERNEL_RASTER, 0, true},
    {"QUANTIZE", {.types = NUMBERS}, ARENAUT_KERNEL_RASTER, 0, true},
    {"DEQUANTIZE", {.types = NUMBERS}, ARENAUT_KERNEL_RASTER, 0, true},
    {"CAST", {.types = NUMBERS}, ARENAUT_KERNEL_RASTER, 0, true},
    {"ADD", {.types = NUMBERS}, ARENAUT_KERNEL_RASTER, 0, true},
    {"SUB", {.types = NUMBERS}, ARENAUT_KERNEL_RASTER, 0, true},
    {"MUL", {.types = NUMBERS}, ARENAUT_KERNEL_RASTER, 0, true},
    {"MINIMUM", {.types = NUMBERS}, ARENAUT_KERNEL_RASTER, 0, true},
    {"MAXIMUM", {.types = NUMBERS}, ARENAUT_KERNEL_RASTER, 0, true},
    {"PRELU", {.types = NUMBERS}, ARENAUT_KERNEL_RASTER, 0, true},
    {"SOFTMAX", {.types = NUMBERS}, ARENAUT_KERNEL_RASTER, 0, true},
    {"LOG_SOFTMAX", {.types = NUMBERS}, ARENAUT_KERNEL_RASTER, 0, true},
    {"L2_NORMALIZATION", {.types = NUMBERS}, ARENAUT_KERNEL_RASTER, 0, true},
    {"PAD", {.types = NUMBERS}, ARENAUT_KERNEL_RASTER, 0, true},
    {"PADV2", {.types = NUMBERS}, ARENAUT_KERNEL_RASTER, 0, true},
    {"MIRROR_PAD", {.types = NUMBERS}, ARENAUT_KERNEL_RASTER, 0, true},
    {"CONCATENATION", {.types = NUMBERS}, ARENAUT_KERNEL_RASTER, 0, true},
    {"PACK", {.types = NUMBERS}, ARENAUT_KERNEL_RASTER, 0, true},
    {"SPLIT", {.types = NUMBERS}, ARENAUT_KERNEL_RASTER, 0, true},
    {"SPLIT_V", {.types = NUMBERS}, ARENAUT_KERNEL_RASTER, 0, true},
    {"SLICE", {.types = NUMBERS}, ARENAUT_KERNEL_RASTER, 0, true},
    {"STRIDED_SLICE", {.types = NUMBERS}, ARENAUT_KERNEL_RASTER, 0, true},
    {"TRANSPOSE", {.types = NUMBERS}, ARENAUT_KERNEL_RASTER, 0, true},
    {"DEPTH_TO_SPACE", {.types = NUMBERS}, ARENAUT_KERNEL_RASTER, 0, true},
    {"SPACE_TO_DEPTH", {.types = NUMBERS}, ARENAUT_KERNEL_RASTER, 0, true},
    {"RESIZE_BILINEAR", {.types = TYPE(FLOAT32) | TYPE(INT8)}, ARENAUT_KERNEL_RASTER, 0, true},
    {"RESIZE_NEAREST_NEIGHBOR", {.types = NUMBERS}, ARENAUT_KERNEL_RASTER, 0, true},
    {"MEAN", {.types = TYPE(FLOAT32)}, ARENAUT_KERNEL_RASTER, 0, true},
    {"BATCH_MATMUL", {.types = TYPE(FLOAT32) | TYPE(INT8)}, ARENAUT_KERNEL_RASTER, 0, true},
    {"ARG_MAX", {.types = NUMBERS}, ARENAUT_KERNEL_RASTER, 0, true},
    {"ARG_MIN", {.types = NUMBERS}, ARENAUT_KERNEL_RASTER, 0, true},
    {"SVDF", {.types = TYPE(INT8)}, ARENAUT_KERNEL_ANY, 0, true},
    {"UNIDIRECTIONAL_SEQUENCE_LSTM", {.types = TYPE(INT8)}, ARENAUT_KERNEL_RASTER, 0, true},
    {NULL, {0}, ARENAUT_KERNEL_NONE, 0, false},
};

extern const arenaut_kernel_set arn_kernels_reference;
const arenaut_kernel_set arn_kernels_reference = {
    .name = "reference",
    .summary = "tflite-micro's own kernels, plain C",
    .version = "tflite-micro 90b983c2",
    .rules = rules,
    .in_place = in_place,
    .scratch = scratch,
    .persistent = arn_reference_persistent,
    .scratch_sizes = arn_reference_scratch,
    .types = arn_reference_types,
    .complete = true,
};
