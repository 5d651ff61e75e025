/* How much scratch tflite-micro's own kernels ask for, from the shapes of an op's tensors: what
 * their Prepare functions compute. A formula is here only if the wheel was seen to follow it, by
 * tests/pytest/test_scratch_sizes.py; all sizes are the same where pointers have 4 and 8 bytes, so
 * that ADD_N's table of pointers is none of them. */
#include "kernels/reference_memory.h"

#include <string.h>

#include "core/checked.h"
#include "kernels/op_facts.h"

#define TYPE(name) (UINT32_C(1) << ARENAUT_DTYPE_##name)

/* How many elements; false if that is not known for good, or more than the kernels' ints count. */
static bool count(const arenaut_tensor *tensor, uint64_t *n) {
    uint64_t bytes;
    if (!tensor || tensor->dynamic || tensor->unsized || tensor->dim_exprs) return false;
    if (!arn_has_sizes(tensor) || arenaut_dtype_bits(tensor->dtype) == 0) return false;
    *n = 1;
    for (uint32_t i = 0; i < tensor->rank; i++) {
        if (!arn_multiply(*n, (uint64_t)tensor->dims[i], n) || *n > ARN_MOST_EXTENT) return false;
    }
    return arenaut_dense_bytes(tensor->dtype, tensor->dims, tensor->rank, &bytes, NULL) ==
               ARENAUT_OK &&
           bytes == tensor->bytes;
}

static void ask(arenaut_scratch_requests *requests, uint64_t n, uint64_t each) {
    requests->bytes[requests->n++] = n * each;
}

static bool ask_for_each(arenaut_scratch_requests *requests, const arenaut_tensor *tensor,
                         uint64_t each) {
    uint64_t n;
    if (!count(tensor, &n)) return false;
    ask(requests, n, each);
    return true;
}

/* Weights of four bits, as bytes. */
static bool unpacked(const arenaut_program *p, const arenaut_op *op,
                     arenaut_scratch_requests *requests) {
    const arenaut_tensor *weights = arn_op_input(p, op, 1);
    return weights && weights->dtype == ARENAUT_DTYPE_INT4 && ask_for_each(requests, weights, 1);
}

/* A position in the input, and the axes without doubles. */
static bool reduced(const arenaut_program *p, const arenaut_op *op,
                    arenaut_scratch_requests *requests) {
    const arenaut_tensor *input = arn_op_input(p, op, 0);
    uint64_t n;
    if (!count(input, &n) || input->rank == 0) return false;
    ask(requests, input->rank, 4);
    return ask_for_each(requests, arn_op_input(p, op, 1), 4);
}

/* Before these, quantized sums. */
static bool summed(const arenaut_program *p, const arenaut_op *op,
                   arenaut_scratch_requests *requests) {
    const arenaut_tensor *input = arn_op_input(p, op, 0);
    const bool quantized = input && input->dtype != ARENAUT_DTYPE_FLOAT32;
    if (quantized && !ask_for_each(requests, arn_op_output(p, op, 0), 4)) return false;
    return reduced(p, op, requests);
}

/* The strides of output and input. */
static bool mirrored(const arenaut_program *p, const arenaut_op *op,
                     arenaut_scratch_requests *requests) {
    const arenaut_tensor *input = arn_op_input(p, op, 0);
    uint64_t n;
    if (!count(input, &n) || input->rank == 0) return false;
    ask(requests, input->rank, 4);
    ask(requests, input->rank, 4);
    return true;
}

/* The state of every filter, and quantized sums of the output. */
static bool filtered(const arenaut_program *p, const arenaut_op *op,
                     arenaut_scratch_requests *requests) {
    const arenaut_tensor *input = arn_op_input(p, op, 0), *features = arn_op_input(p, op, 1);
    uint64_t n;
    if (!count(input, &n) || !count(features, &n)) return false;
    if (input->rank != 2 || features->rank != 2) return false;
    const uint64_t states = (uint64_t)input->dims[0] * (uint64_t)features->dims[0];
    if (states > ARN_MOST_EXTENT) return false;
    ask(requests, states, 4);
    return input->dtype == ARENAUT_DTYPE_FLOAT32 ||
           ask_for_each(requests, arn_op_output(p, op, 0), 4);
}

/* Sums wider than the output. With images of int16, a bias that is not of int64 is widened as well;
 * this was not tried. */
static bool transposed(const arenaut_program *p, const arenaut_op *op,
                       arenaut_scratch_requests *requests) {
    const arenaut_tensor *image = arn_op_input(p, op, 2), *bias = arn_op_input(p, op, 3);
    const bool wide = image->dtype == ARENAUT_DTYPE_INT16;
    if (wide && bias && bias->dtype != ARENAUT_DTYPE_INT64) return false;
    return ask_for_each(requests, arn_op_output(p, op, 0), wide ? 8 : 4);
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
        if (!ask_for_each(requests, cell, arn_element_bytes(cell))) return false;
    }
    return true;
}

static const struct {
    const char *op;
    uint32_t input, types; /* the types of that argument for which it was tried */
    bool (*formula)(const arenaut_program *, const arenaut_op *, arenaut_scratch_requests *);
} formulas[] = {
    {"CONV_2D", 0, TYPE(INT8), unpacked},
    {"DEPTHWISE_CONV_2D", 0, TYPE(INT8), unpacked},
    {"FULLY_CONNECTED", 0, TYPE(INT8), unpacked},
    {"MEAN", 0, TYPE(FLOAT32) | TYPE(INT8) | TYPE(INT16), summed},
    {"MIRROR_PAD", 0, TYPE(FLOAT32) | TYPE(INT8), mirrored},
    {"REDUCE_ALL", 0, TYPE(BOOL), reduced},
    {"REDUCE_MAX", 0, TYPE(FLOAT32) | TYPE(INT8), reduced},
    {"REDUCE_MIN", 0, TYPE(FLOAT32) | TYPE(INT8), reduced},
    {"SUM", 0, TYPE(FLOAT32) | TYPE(INT8) | TYPE(INT16), summed},
    {"SVDF", 0, TYPE(FLOAT32) | TYPE(INT8), filtered},
    {"TRANSPOSE_CONV", 2, TYPE(INT8) | TYPE(INT16), transposed},
    {"UNIDIRECTIONAL_SEQUENCE_LSTM", 0, TYPE(FLOAT32) | TYPE(INT8), gated},
};

bool arn_reference_scratch(const arenaut_program *program, const arenaut_op *op,
                           arenaut_scratch_requests *requests) {
    for (size_t i = 0; i < sizeof formulas / sizeof *formulas; i++) {
        if (strcmp(formulas[i].op, op->name) != 0) continue;
        const arenaut_tensor *tensor = arn_op_input(program, op, formulas[i].input);
        return tensor && formulas[i].types >> tensor->dtype & 1 &&
               formulas[i].formula(program, op, requests);
    }
    return false;
}
