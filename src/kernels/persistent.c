/* Persistent memory of an op in a runtime: the op's row in the kernel set, and the part that
 * depends on its tensors. */
#include <arenaut/kernels.h>

#include <string.h>

#include "core/checked.h"
#include "ir/program.h"
#include "kernels/kernel_set.h"
#include "kernels/op_facts.h"

static bool is_met(const arenaut_persistent_rule *rule, const arenaut_program *program,
                   const arenaut_op *op) {
    if (strcmp(rule->op, op->name) != 0) return false;
    if (rule->types == 0) return true;
    const arenaut_tensor *tensor = arn_op_input(program, op, rule->input);
    return tensor && rule->types >> tensor->dtype & 1;
}

static const arenaut_persistent_rule *find_rule(const arenaut_kernel_set *set,
                                                const arenaut_program *program,
                                                const arenaut_op *op) {
    for (; set && op->name; set = arn_kernel_set_has_rules(set, op->name) ? NULL : set->base) {
        const arenaut_persistent_rule *rule = set->persistent;
        for (; rule && rule->op; rule++) {
            if (is_met(rule, program, op)) return rule;
        }
    }
    return NULL;
}

/* A request for `n` times `bytes`; false on overflow. */
static bool add(uint64_t n, uint64_t bytes, uint64_t align, uint64_t *sum) {
    uint64_t rounded;
    return arn_multiply(n, bytes, &rounded) && arn_align_up(rounded, align, &rounded) &&
           arn_add(*sum, rounded, sum);
}

/* Two such requests: a multiplier and a shift each, or a table and another. */
static bool add_twice(uint64_t n, uint64_t bytes, uint64_t align, uint64_t *sum) {
    uint64_t one = 0;
    return add(n, bytes, align, &one) && add(2, one, 1, sum);
}

/* The side of the weights that counts the output channels: DEPTHWISE_CONV_2D has it last. */
static bool add_channels(const arenaut_tensor *weights, const char *op, uint64_t align,
                         uint64_t *sum) {
    if (!weights || weights->rank == 0) return false;
    const uint32_t side = strcmp(op, "DEPTHWISE_CONV_2D") == 0 ? weights->rank - 1 : 0;
    if (weights->dims[side] < 0) return false;
    return add_twice((uint64_t)weights->dims[side], 4, align, sum);
}

/* Shapes are lists of 4-byte numbers behind their length. */
static bool add_shape(const arenaut_tensor *tensor, uint64_t align, uint64_t *sum) {
    return tensor && add((uint64_t)tensor->rank + 1, 4, align, sum);
}

/* Numbers of so many bytes, one for each channel of a tensor and `more`. */
static bool add_each_channel(const arenaut_tensor *tensor, uint64_t more, uint64_t bytes,
                             uint64_t align, uint64_t *sum) {
    if (!tensor || tensor->rank == 0 || tensor->dims[tensor->rank - 1] < 0) return false;
    return add((uint64_t)tensor->dims[tensor->rank - 1] + more, bytes, align, sum);
}

/* A transposed operand is a tensor of its own: three words, a shape and values. */
static bool add_transposed(const arenaut_program *program, const arenaut_op *op, uint32_t pointer,
                           uint64_t align, uint64_t *sum) {
    const bool transposed[] = {arn_op_flag(op, "adj_x"), !arn_op_flag(op, "adj_y")};
    const arenaut_tensor *left = arn_op_input(program, op, 0);
    const bool quantized = left && left->dtype != ARENAUT_DTYPE_FLOAT32;
    enum { QUANTIZATION = 28 };
    if (quantized && !add(1, QUANTIZATION, align, sum)) return false;
    for (uint32_t i = 0; i < 2; i++) {
        const arenaut_tensor *operand = arn_op_input(program, op, i);
        if (!operand) return false;
        if (!transposed[i]) continue;
        if (!add(3, pointer, align, sum) || !add_shape(operand, align, sum)) return false;
        if (!add(operand->bytes, 1, align, sum)) return false;
    }
    return add_shape(arn_op_output(program, op, 0), align, sum);
}

/* Kiss FFT's state for 2 n reals of so many bytes: three pointers, its factors, n complex
 * twiddles, and n and n / 2 more for the reals. Its result has n + 1 complex numbers. */
static bool add_fft(const arenaut_tensor *result, uint32_t pointer, uint64_t align, uint64_t *sum) {
    enum { FACTORS = 264 };
    if (!result || result->rank == 0 || result->dims[result->rank - 1] < 2) return false;
    const uint64_t n = ((uint64_t)result->dims[result->rank - 1] - 2) / 2;
    uint64_t bytes;
    return arn_multiply(n, 5 * (arenaut_dtype_bits(result->dtype) / 8), &bytes) &&
           arn_add(bytes, 3 * pointer + FACTORS, &bytes) && add(1, bytes, align, sum);
}

static bool add_scales(const arenaut_tensor *weights, uint64_t align, uint64_t *sum) {
    return !weights || weights->n_scales < 2 || add_twice(weights->n_scales, 4, align, sum);
}

/* FULLY_CONNECTED: whether a kernel adds up the weights of each output channel. */
static bool sums_weights(const arenaut_program *program, const arenaut_op *op) {
    const arenaut_tensor *weights = arn_op_input(program, op, 1);
    const arenaut_tensor *bias = arn_op_input(program, op, 2);
    const arenaut_tensor *result = arn_op_output(program, op, 0);
    if (weights->dtype == ARENAUT_DTYPE_INT4 || weights->cls != ARENAUT_CONSTANT) return false;
    if (bias && bias->cls != ARENAUT_CONSTANT) return false;
    return result->rank <= 2 || weights->dims[weights->rank - 1] % 4 != 0;
}

static bool add_scales_and_sums(const arenaut_program *program, const arenaut_op *op,
                                uint64_t align, uint64_t *sum) {
    const arenaut_tensor *weights = arn_op_input(program, op, 1);
    const arenaut_tensor *result = arn_op_output(program, op, 0);
    if (!weights || weights->rank == 0 || !result) return false;
    return add_scales(weights, align, sum) &&
           (!sums_weights(program, op) || add_each_channel(result, 0, 4, align, sum));
}

static bool add_rows(const arenaut_tensor *weights, uint64_t align, uint64_t *sum) {
    if (!weights || weights->rank == 0 || weights->dims[0] < 0) return false;
    return add((uint64_t)weights->dims[0], 4, align, sum);
}

/* Of input and hidden state, for each of four gates. */
static bool add_gates(const arenaut_program *program, const arenaut_op *op, uint64_t align,
                      uint64_t *sum) {
    enum { HIDDEN_STATE = 18, SUMS = 8 };
    const arenaut_tensor *input = arn_op_input(program, op, 0);
    const arenaut_tensor *hidden = arn_op_input(program, op, HIDDEN_STATE);
    const uint64_t bytes = input && input->dtype == ARENAUT_DTYPE_INT16 ? 8 : 4;
    for (int i = 0; i < SUMS; i++) {
        if (!add_each_channel(hidden, 0, bytes, align, sum)) return false;
    }
    return true;
}

static bool add_extra(arenaut_persistent_extra extra, const arenaut_program *program,
                      const arenaut_op *op, uint32_t pointer, uint64_t align, uint64_t *sum) {
    const arenaut_tensor *second = arn_op_input(program, op, 1);
    const arenaut_tensor *result = arn_op_output(program, op, 0);
    enum { LOOKUP = 513 };
    switch (extra) {
        case ARENAUT_PERSISTENT_NOTHING: return true;
        case ARENAUT_PERSISTENT_CHANNELS: return add_channels(second, op->name, align, sum);
        case ARENAUT_PERSISTENT_SCALES: return add_scales(second, align, sum);
        case ARENAUT_PERSISTENT_SHAPE: return add_shape(result, align, sum);
        case ARENAUT_PERSISTENT_LOOKUP: return add_twice(LOOKUP, 2, align, sum);
        case ARENAUT_PERSISTENT_TRANSPOSED: return add_transposed(program, op, pointer, align, sum);
        case ARENAUT_PERSISTENT_SUMS: return add_each_channel(result, 1, 8, align, sum);
        case ARENAUT_PERSISTENT_ESTIMATES: return add_each_channel(result, 0, 4, align, sum);
        case ARENAUT_PERSISTENT_FFT: return add_fft(result, pointer, align, sum);
        case ARENAUT_PERSISTENT_GATES: return add_gates(program, op, align, sum);
        case ARENAUT_PERSISTENT_ROW_SUMS: return add_rows(second, align, sum);
        case ARENAUT_PERSISTENT_SCALES_SUMS: return add_scales_and_sums(program, op, align, sum);
    }
    return false;
}

bool arn_kernel_persistent(const arenaut_kernel_set *set, const arenaut_program *program,
                           const arenaut_op *op, uint32_t pointer, uint64_t align,
                           arn_persistent *kept) {
    const arenaut_persistent_rule *rule = find_rule(set, program, op);
    const unsigned wide = pointer > 4;
    *kept = (arn_persistent){0};
    if (!rule || arn_op_reads_compressed(program, op)) return false;
    kept->options = rule->options[wide];
    kept->looks_twice = rule->extra == ARENAUT_PERSISTENT_CHANNELS;
    if (!add(rule->data[wide], 1, align, &kept->begun)) return false;
    kept->data = kept->begun;
    return add_extra(rule->extra, program, op, pointer, align, &kept->data);
}
