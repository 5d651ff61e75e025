/* reference: the kernels that tflite-micro brings itself, plain loops in C. Libraries that replace
 * some of them (for a certain CPU or DSP) ask for more scratch, and walk in other orders. */
#include <arenaut/kernels.h>

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

extern const arenaut_kernel_set arn_kernels_reference;
const arenaut_kernel_set arn_kernels_reference = {
    .name = "reference",
    .summary = "tflite-micro's own kernels, plain C",
    .version = "tflite-micro 90b983c2",
    .in_place = in_place,
    .scratch = scratch,
};
