/* Memory beside tensors of the ops of tflite-micro's own kernels: persistent bytes, and scratch. */
#include "kernels/set_parts.h"

#include "kernels/scratch_sizes.h"

#define TYPE(name) (UINT32_C(1) << ARENAUT_DTYPE_##name)
#define EXTRA(name) ARENAUT_PERSISTENT_##name

const arenaut_persistent_rule arn_reference_persistent[] = {
    {"ABS", 0, 0, {0, 0}, {32, 32}, EXTRA(NOTHING)},
    {"ADD", 0, 0, {8, 8}, {64, 64}, EXTRA(NOTHING)},
    {"ADD_N", 0, TYPE(INT8), {0, 0}, {48, 48}, EXTRA(NOTHING)},
    {"ADD_N", 0, 0, {0, 0}, {0, 0}, EXTRA(NOTHING)},
    {"ARG_MAX", 0, 0, {4, 4}, {0, 0}, EXTRA(NOTHING)},
    {"ARG_MIN", 0, 0, {4, 4}, {0, 0}, EXTRA(NOTHING)},
    {"ASSIGN_VARIABLE", 0, 0, {0, 0}, {0, 16}, EXTRA(NOTHING)},
    {"AVERAGE_POOL_2D", 0, 0, {40, 40}, {32, 32}, EXTRA(NOTHING)},
    {"BATCH_MATMUL", 0, 0, {3, 3}, {16, 32}, EXTRA(TRANSPOSED)},
    {"BATCH_TO_SPACE_ND", 0, 0, {0, 0}, {0, 0}, EXTRA(NOTHING)},
    {"BROADCAST_ARGS", 0, 0, {0, 0}, {0, 0}, EXTRA(NOTHING)},
    {"BROADCAST_TO", 0, 0, {0, 0}, {0, 0}, EXTRA(NOTHING)},
    {"CALL_ONCE", 0, 0, {4, 4}, {16, 16}, EXTRA(NOTHING)},
    {"CAST", 0, 0, {8, 8}, {0, 0}, EXTRA(NOTHING)},
    {"CEIL", 0, 0, {0, 0}, {0, 0}, EXTRA(NOTHING)},
    {"CONCATENATION", 0, 0, {8, 8}, {32, 80}, EXTRA(NOTHING)},
    {"CONV_2D", 0, 0, {28, 28}, {64, 80}, EXTRA(CHANNELS)},
    {"COS", 0, 0, {0, 0}, {0, 0}, EXTRA(NOTHING)},
    {"CUMSUM", 0, TYPE(INT8), {2, 2}, {48, 48}, EXTRA(NOTHING)},
    {"CUMSUM", 0, 0, {2, 2}, {0, 0}, EXTRA(NOTHING)},
    {"DEPTHWISE_CONV_2D", 0, 0, {28, 28}, {64, 80}, EXTRA(CHANNELS)},
    {"DEPTH_TO_SPACE", 0, 0, {4, 4}, {0, 0}, EXTRA(SHAPE)},
    {"DEQUANTIZE", 0, 0, {0, 0}, {32, 32}, EXTRA(NOTHING)},
    {"DIV", 0, 0, {4, 4}, {32, 32}, EXTRA(NOTHING)},
    {"DYNAMIC_UPDATE_SLICE", 0, 0, {0, 0}, {0, 0}, EXTRA(NOTHING)},
    {"ELU", 0, 0, {0, 0}, {256, 256}, EXTRA(NOTHING)},
    {"EMBEDDING_LOOKUP", 0, 0, {0, 0}, {16, 16}, EXTRA(SHAPE)},
    {"EQUAL", 0, 0, {0, 0}, {32, 32}, EXTRA(NOTHING)},
    {"EXP", 0, 0, {0, 0}, {0, 0}, EXTRA(NOTHING)},
    {"EXPAND_DIMS", 0, 0, {0, 0}, {0, 0}, EXTRA(NOTHING)},
    {"FILL", 0, 0, {0, 0}, {0, 0}, EXTRA(NOTHING)},
    {"FLOOR", 0, 0, {0, 0}, {0, 0}, EXTRA(NOTHING)},
    {"FLOOR_DIV", 0, 0, {0, 0}, {0, 0}, EXTRA(NOTHING)},
    {"FLOOR_MOD", 0, 0, {0, 0}, {0, 0}, EXTRA(NOTHING)},
    {"FULLY_CONNECTED", 0, 0, {16, 32}, {48, 80}, EXTRA(SCALES)},
    {"GATHER", 0, 0, {8, 8}, {0, 0}, EXTRA(SHAPE)},
    {"GATHER_ND", 0, 0, {0, 0}, {0, 0}, EXTRA(SHAPE)},
    {"GREATER", 0, 0, {0, 0}, {32, 32}, EXTRA(NOTHING)},
    {"GREATER_EQUAL", 0, 0, {0, 0}, {32, 32}, EXTRA(NOTHING)},
    {"HARD_SWISH", 0, 0, {0, 0}, {32, 32}, EXTRA(NOTHING)},
    {"IF", 0, 0, {8, 8}, {16, 16}, EXTRA(NOTHING)},
    {"L2_NORMALIZATION", 0, 0, {4, 4}, {16, 16}, EXTRA(NOTHING)},
    {"L2_POOL_2D", 0, 0, {40, 40}, {0, 0}, EXTRA(SHAPE)},
    {"LEAKY_RELU", 0, 0, {4, 4}, {32, 32}, EXTRA(NOTHING)},
    {"LESS", 0, 0, {0, 0}, {32, 32}, EXTRA(NOTHING)},
    {"LESS_EQUAL", 0, 0, {0, 0}, {32, 32}, EXTRA(NOTHING)},
    {"LOG", 0, 0, {0, 0}, {0, 0}, EXTRA(NOTHING)},
    {"LOGICAL_AND", 0, 0, {0, 0}, {0, 0}, EXTRA(NOTHING)},
    {"LOGICAL_NOT", 0, 0, {0, 0}, {0, 0}, EXTRA(NOTHING)},
    {"LOGICAL_OR", 0, 0, {0, 0}, {0, 0}, EXTRA(NOTHING)},
    {"LOGISTIC", 0, 0, {0, 0}, {16, 16}, EXTRA(NOTHING)},
    {"LOG_SOFTMAX", 0, TYPE(INT8), {0, 0}, {32, 48}, EXTRA(NOTHING)},
    {"LOG_SOFTMAX", 0, 0, {0, 0}, {0, 0}, EXTRA(NOTHING)},
    {"MAXIMUM", 0, 0, {0, 0}, {0, 0}, EXTRA(NOTHING)},
    {"MAX_POOL_2D", 0, 0, {40, 40}, {32, 32}, EXTRA(NOTHING)},
    {"MEAN", 0, 0, {1, 1}, {48, 48}, EXTRA(NOTHING)},
    {"MINIMUM", 0, 0, {0, 0}, {0, 0}, EXTRA(NOTHING)},
    {"MIRROR_PAD", 0, 0, {4, 4}, {32, 32}, EXTRA(NOTHING)},
    {"MUL", 0, 0, {4, 4}, {48, 48}, EXTRA(NOTHING)},
    {"NEG", 0, 0, {0, 0}, {0, 0}, EXTRA(NOTHING)},
    {"NOT_EQUAL", 0, 0, {0, 0}, {32, 32}, EXTRA(NOTHING)},
    {"PACK", 0, 0, {8, 8}, {0, 0}, EXTRA(NOTHING)},
    {"PAD", 0, 0, {0, 0}, {64, 64}, EXTRA(NOTHING)},
    {"PADV2", 0, 0, {0, 0}, {64, 64}, EXTRA(NOTHING)},
    {"PRELU", 0, 0, {0, 0}, {32, 32}, EXTRA(NOTHING)},
    {"QUANTIZE", 0, 0, {0, 0}, {32, 32}, EXTRA(NOTHING)},
    {"READ_VARIABLE", 0, 0, {0, 0}, {0, 0}, EXTRA(NOTHING)},
    {"REDUCE_ALL", 0, 0, {1, 1}, {48, 48}, EXTRA(NOTHING)},
    {"REDUCE_MAX", 0, 0, {1, 1}, {48, 48}, EXTRA(NOTHING)},
    {"REDUCE_MIN", 0, 0, {1, 1}, {48, 48}, EXTRA(NOTHING)},
    {"RELU", 0, 0, {0, 0}, {32, 32}, EXTRA(NOTHING)},
    {"RELU6", 0, 0, {0, 0}, {16, 16}, EXTRA(NOTHING)},
    {"RESHAPE", 0, 0, {36, 36}, {0, 0}, EXTRA(NOTHING)},
    {"RESIZE_BILINEAR", 0, 0, {2, 2}, {0, 0}, EXTRA(NOTHING)},
    {"RESIZE_NEAREST_NEIGHBOR", 0, 0, {2, 2}, {0, 0}, EXTRA(NOTHING)},
    {"REVERSE_V2", 0, 0, {0, 0}, {0, 0}, EXTRA(NOTHING)},
    {"ROUND", 0, 0, {0, 0}, {0, 0}, EXTRA(NOTHING)},
    {"RSQRT", 0, 0, {0, 0}, {32, 32}, EXTRA(NOTHING)},
    {"SELECT_V2", 0, 0, {0, 0}, {16, 16}, EXTRA(NOTHING)},
    {"SHAPE", 0, 0, {4, 4}, {0, 0}, EXTRA(NOTHING)},
    {"SIN", 0, 0, {0, 0}, {0, 0}, EXTRA(NOTHING)},
    {"SLICE", 0, 0, {0, 0}, {0, 0}, EXTRA(NOTHING)},
    {"SOFTMAX", 0, TYPE(INT16), {4, 4}, {64, 80}, EXTRA(LOOKUP)},
    {"SOFTMAX", 0, 0, {4, 4}, {64, 80}, EXTRA(NOTHING)},
    {"SPACE_TO_BATCH_ND", 0, 0, {0, 0}, {16, 16}, EXTRA(NOTHING)},
    {"SPACE_TO_DEPTH", 0, 0, {4, 4}, {0, 0}, EXTRA(SHAPE)},
    {"SPLIT", 0, 0, {4, 4}, {0, 0}, EXTRA(NOTHING)},
    {"SPLIT_V", 0, 0, {4, 4}, {0, 0}, EXTRA(NOTHING)},
    {"SQRT", 0, 0, {0, 0}, {0, 0}, EXTRA(NOTHING)},
    {"SQUARE", 0, 0, {0, 0}, {0, 0}, EXTRA(NOTHING)},
    {"SQUARED_DIFFERENCE", 0, 0, {0, 0}, {112, 112}, EXTRA(NOTHING)},
    {"SQUEEZE", 0, 0, {36, 36}, {0, 0}, EXTRA(NOTHING)},
    {"STRIDED_SLICE", 0, 0, {24, 24}, {96, 96}, EXTRA(NOTHING)},
    {"SUB", 0, 0, {8, 8}, {64, 64}, EXTRA(NOTHING)},
    {"SUM", 0, 0, {1, 1}, {48, 48}, EXTRA(NOTHING)},
    {"SVDF", 0, 0, {12, 12}, {48, 48}, EXTRA(NOTHING)},
    {"TANH", 0, 0, {0, 0}, {16, 16}, EXTRA(NOTHING)},
    {"TRANSPOSE", 0, 0, {0, 0}, {0, 0}, EXTRA(NOTHING)},
    {"TRANSPOSE_CONV", 0, 0, {20, 20}, {80, 96}, EXTRA(CHANNELS)},
    {"UNIDIRECTIONAL_SEQUENCE_LSTM", 0, 0, {16, 16}, {688, 688}, EXTRA(NOTHING)},
    {"UNPACK", 0, 0, {8, 8}, {0, 0}, EXTRA(NOTHING)},
    {"VAR_HANDLE", 0, 0, {8, 16}, {16, 16}, EXTRA(NOTHING)},
    {"WHILE", 0, 0, {8, 8}, {16, 16}, EXTRA(NOTHING)},
    {"ZEROS_LIKE", 0, 0, {0, 0}, {0, 0}, EXTRA(NOTHING)},
    {"SignalEnergy", 0, 0, {0, 0}, {16, 16}, EXTRA(NOTHING)},
    {"SignalFftAutoScale", 0, 0, {0, 0}, {0, 0}, EXTRA(NOTHING)},
    {"SignalFilterBank", 0, 0, {0, 0}, {32, 64}, EXTRA(SUMS)},
    {"SignalFilterBankLog", 0, 0, {0, 0}, {16, 16}, EXTRA(NOTHING)},
    {"SignalFilterBankSpectralSubtraction", 0, 0, {0, 0}, {48, 64}, EXTRA(ESTIMATES)},
    {"SignalFilterBankSquareRoot", 0, 0, {0, 0}, {0, 0}, EXTRA(NOTHING)},
    {"SignalPCAN", 0, 0, {0, 0}, {16, 16}, EXTRA(NOTHING)},
    {"SignalRfft", 0, 0, {0, 0}, {32, 48}, EXTRA(FFT)},
    {"SignalWindow", 0, 0, {0, 0}, {16, 16}, EXTRA(NOTHING)},
    {NULL, 0, 0, {0, 0}, {0, 0}, EXTRA(NOTHING)},
};

/* Scratch of tflite-micro's own kernels, from the shapes of an op's tensors: the formulas of their
 * Prepare functions. A formula is here only if the wheel was seen to follow it, by
 * tests/pytest/test_scratch_sizes.py; all sizes are the same where pointers have 4 and 8 bytes, so
 * that ADD_N's table of pointers is none of them. */

#define TYPE(name) (UINT32_C(1) << ARENAUT_DTYPE_##name)

/* A position in the input, and the axes without doubles. */
static bool reduced(const arenaut_program *p, const arenaut_op *op,
                    arenaut_scratch_requests *requests) {
    const arenaut_tensor *input = arn_op_input(p, op, 0);
    uint64_t n;
    if (!arn_count_elements(input, &n) || input->rank == 0) return false;
    arn_ask(requests, input->rank, 4);
    return arn_ask_for_each(requests, arn_op_input(p, op, 1), 4);
}

/* Before these, quantized sums. */
static bool summed(const arenaut_program *p, const arenaut_op *op,
                   arenaut_scratch_requests *requests) {
    const arenaut_tensor *input = arn_op_input(p, op, 0);
    const bool quantized = input && input->dtype != ARENAUT_DTYPE_FLOAT32;
    if (quantized && !arn_ask_for_each(requests, arn_op_output(p, op, 0), 4)) return false;
    return reduced(p, op, requests);
}

/* The strides of output and input. */
static bool mirrored(const arenaut_program *p, const arenaut_op *op,
                     arenaut_scratch_requests *requests) {
    const arenaut_tensor *input = arn_op_input(p, op, 0);
    uint64_t n;
    if (!arn_count_elements(input, &n) || input->rank == 0) return false;
    arn_ask(requests, input->rank, 4);
    arn_ask(requests, input->rank, 4);
    return true;
}

/* Sums wider than the output; with images of int16, a bias of two bytes is widened as well. */
static bool transposed(const arenaut_program *p, const arenaut_op *op,
                       arenaut_scratch_requests *requests) {
    const arenaut_tensor *image = arn_op_input(p, op, 2), *bias = arn_op_input(p, op, 3);
    const arenaut_tensor *output = arn_op_output(p, op, 0);
    if (image->dtype == ARENAUT_DTYPE_INT8) return arn_ask_for_each(requests, output, 4);
    if (!arn_ask_for_each(requests, output, 8)) return false;
    if (!bias || bias->dtype == ARENAUT_DTYPE_INT64) return true;
    return bias->dtype == ARENAUT_DTYPE_INT16 && arn_ask_for_each(requests, bias, 8);
}

/* Four gates, each as large as the cell state. */
static bool gated(const arenaut_program *p, const arenaut_op *op,
                  arenaut_scratch_requests *requests) {
    enum { CELL_STATE = 19, GATES = 4 };
    const arenaut_tensor *input = arn_op_input(p, op, 0), *cell = arn_op_input(p, op, CELL_STATE);
    const bool quantized = input->dtype == ARENAUT_DTYPE_INT8;
    if (!cell || cell->dtype != (quantized ? ARENAUT_DTYPE_INT16 : ARENAUT_DTYPE_FLOAT32)) {
        return false;
    }
    for (int gate = 0; gate < GATES; gate++) {
        if (!arn_ask_for_each(requests, cell, arn_element_bytes(cell))) return false;
    }
    return true;
}

static const arn_scratch_row rows[] = {
    {"CONV_2D", 0, TYPE(INT8), arn_scratch_of_small_weights},
    {"DEPTHWISE_CONV_2D", 0, TYPE(INT8), arn_scratch_of_small_weights},
    {"FULLY_CONNECTED", 0, TYPE(INT8), arn_scratch_of_small_weights},
    {"MEAN", 0, TYPE(FLOAT32) | TYPE(INT8) | TYPE(INT16), summed},
    {"MIRROR_PAD", 0, TYPE(FLOAT32) | TYPE(INT8), mirrored},
    {"REDUCE_ALL", 0, TYPE(BOOL), reduced},
    {"REDUCE_MAX", 0, TYPE(FLOAT32) | TYPE(INT8), reduced},
    {"REDUCE_MIN", 0, TYPE(FLOAT32) | TYPE(INT8), reduced},
    {"SUM", 0, TYPE(FLOAT32) | TYPE(INT8) | TYPE(INT16), summed},
    {"SVDF", 0, TYPE(FLOAT32) | TYPE(INT8), arn_scratch_of_svdf},
    {"TRANSPOSE_CONV", 2, TYPE(INT8) | TYPE(INT16), transposed},
    {"UNIDIRECTIONAL_SEQUENCE_LSTM", 0, TYPE(FLOAT32) | TYPE(INT8), gated},
    {NULL, 0, 0, NULL},
};

bool arn_reference_scratch(const arenaut_program *program, const arenaut_op *op,
                           arenaut_scratch_requests *requests) {
    return arn_scratch_by_rows(rows, program, op, requests);
}
