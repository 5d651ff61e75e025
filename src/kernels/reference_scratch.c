/* Scratch of tflite-micro's own kernels, from the shapes of an op's tensors: the formulas of their
 * Prepare functions. A formula is here only if the wheel was seen to follow it, by
 * tests/pytest/test_scratch_sizes.py; all sizes are the same where pointers have 4 and 8 bytes, so
 * that ADD_N's table of pointers is none of them. */
#include "kernels/reference_memory.h"

#include "kernels/scratch_sizes.h"

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
