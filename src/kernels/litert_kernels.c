/* litert: LiteRT has kernels for many machines; the rules here are the assumptions of its own
 * planner for all of them. */
#include <string.h>

#include <arenaut/kernels.h>

#include "kernels/op_facts.h"

/* Results that its own planner writes over an operand. Ops that only rename memory come first. */
static const arenaut_in_place_rule in_place[] = {
    {"RESHAPE", 0, 0, true},  {"SQUEEZE", 0, 0, true},      {"EXPAND_DIMS", 0, 0, true},
    {"BITCAST", 0, 0, true},  {"ADD", 0, 0, false},         {"ADD", 1, 0, false},
    {"SUB", 0, 0, false},     {"SUB", 1, 0, false},         {"MUL", 0, 0, false},
    {"MUL", 1, 0, false},     {"DIV", 0, 0, false},         {"DIV", 1, 0, false},
    {"SOFTMAX", 0, 0, false}, {"LOG_SOFTMAX", 0, 0, false}, {"DYNAMIC_UPDATE_SLICE", 0, 0, false},
    {NULL, 0, 0, false},
};

/* Ops whose kernels keep temporary tensors, on some machine or other, in the arena among the rest.
 * Their sizes depend on the machine: none is known. */
static const arenaut_scratch_rule scratch[] = {
    {"ADD_N", 0, 0},
    {"BATCH_MATMUL", 0, 0},
    {"BIDIRECTIONAL_SEQUENCE_LSTM", 0, 0},
    {"BIDIRECTIONAL_SEQUENCE_RNN", 0, 0},
    {"CONV_2D", 0, 0},
    {"CONV_3D", 0, 0},
    {"CONV_3D_TRANSPOSE", 0, 0},
    {"DEPTHWISE_CONV_2D", 0, 0},
    {"FULLY_CONNECTED", 0, 0},
    {"LSTM", 0, 0},
    {"MEAN", 0, 0},
    {"REDUCE_ALL", 0, 0},
    {"REDUCE_ANY", 0, 0},
    {"REDUCE_MAX", 0, 0},
    {"REDUCE_MIN", 0, 0},
    {"REDUCE_PROD", 0, 0},
    {"REDUCE_WINDOW", 0, 0},
    {"RFFT2D", 0, 0},
    {"RNN", 0, 0},
    {"STABLEHLO_REDUCE_WINDOW", 0, 0},
    {"SUM", 0, 0},
    {"SVDF", 0, 0},
    {"TFLite_Detection_PostProcess", 0, 0},
    {"TRANSPOSE_CONV", 0, 0},
    {"UNIDIRECTIONAL_SEQUENCE_LSTM", 0, 0},
    {"UNIDIRECTIONAL_SEQUENCE_RNN", 0, 0},
    {NULL, 0, 0},
};

/* Operands of floats that are quantized for the weights' sake. */
static bool is_hybrid(const arenaut_program *p, const arenaut_op *op) {
    const arenaut_tensor *input = arn_op_input(p, op, 0), *weights = arn_op_input(p, op, 1);
    return !input || !weights ||
           (input->dtype == ARENAUT_DTYPE_FLOAT32 && weights->dtype != ARENAUT_DTYPE_FLOAT32);
}

/* Of a convolution whose windows are the pixels of a quantized image, in their order, so that
 * nothing is rearranged. Weights of floats may be, for each kernel. */
static bool takes_pixels(const arenaut_program *p, const arenaut_op *op) {
    arn_windows at;
    const arenaut_tensor *input = arn_op_input(p, op, 0);
    return input && input->dtype != ARENAUT_DTYPE_FLOAT32 && arn_op_windows(p, op, &at) &&
           at.y.taps == 1 && at.x.taps == 1 && at.y.stride == 1 && at.x.stride == 1 &&
           at.y.dilation == 1 && at.x.dilation == 1;
}

/* True of those that have none for their types and shapes. */
static bool scratch_sizes(const arenaut_program *p, const arenaut_op *op,
                          arenaut_scratch_requests *requests) {
    (void)requests;
    if (strcmp(op->name, "CONV_2D") == 0) return takes_pixels(p, op);
    const bool weighted =
        strcmp(op->name, "DEPTHWISE_CONV_2D") == 0 || strcmp(op->name, "FULLY_CONNECTED") == 0;
    return weighted && !is_hybrid(p, op);
}

/* No kernel for any type: the op resolver of the wheel has no version of these operators. Of the
 * others it has some, and which types those take is not known. */
#define NONE_OF(name) \
    {.op = name, .refused = (UINT32_C(1) << ARENAUT_DTYPE_COUNT) - 1, .measured = true}
static const arenaut_type_rule types[] = {
    NONE_OF("CALL"),
    NONE_OF("CONCAT_EMBEDDINGS"),
    NONE_OF("STABLEHLO_ABS"),
    NONE_OF("STABLEHLO_BROADCAST_IN_DIM"),
    NONE_OF("STABLEHLO_CBRT"),
    NONE_OF("STABLEHLO_CLAMP"),
    NONE_OF("STABLEHLO_COMPARE"),
    NONE_OF("STABLEHLO_CONCATENATE"),
    NONE_OF("STABLEHLO_CONVERT"),
    NONE_OF("STABLEHLO_CONVOLUTION"),
    NONE_OF("STABLEHLO_COSINE"),
    NONE_OF("STABLEHLO_CUSTOM_CALL"),
    NONE_OF("STABLEHLO_DIVIDE"),
    NONE_OF("STABLEHLO_DOT_GENERAL"),
    NONE_OF("STABLEHLO_DYNAMIC_SLICE"),
    NONE_OF("STABLEHLO_DYNAMIC_UPDATE_SLICE"),
    NONE_OF("STABLEHLO_EXPONENTIAL"),
    NONE_OF("STABLEHLO_FLOOR"),
    NONE_OF("STABLEHLO_IOTA"),
    NONE_OF("STABLEHLO_LOG"),
    NONE_OF("STABLEHLO_LOGISTIC"),
    NONE_OF("STABLEHLO_NEGATE"),
    NONE_OF("STABLEHLO_OR"),
    NONE_OF("STABLEHLO_POWER"),
    NONE_OF("STABLEHLO_REDUCE"),
    NONE_OF("STABLEHLO_REMAINDER"),
    NONE_OF("STABLEHLO_RESHAPE"),
    NONE_OF("STABLEHLO_RSQRT"),
    NONE_OF("STABLEHLO_SELECT"),
    NONE_OF("STABLEHLO_SLICE"),
    NONE_OF("STABLEHLO_SORT"),
    NONE_OF("STABLEHLO_SUBTRACT"),
    NONE_OF("STABLEHLO_TANH"),
    NONE_OF("STABLEHLO_TRANSPOSE"),
    NONE_OF("STABLEHLO_WHILE"),
    {.op = NULL},
};

extern const arenaut_kernel_set arn_kernels_litert;
const arenaut_kernel_set arn_kernels_litert = {
    .name = "litert",
    .summary = "results that LiteRT without delegates writes over an operand itself",
    .version = "ai-edge-litert 2.3.0",
    .in_place = in_place,
    .scratch = scratch,
    .scratch_sizes = scratch_sizes,
    .types = types,
};
