/* Reading an op's attributes, constants and shapes: see op_facts.h. O(attributes) each. */
#include "kernels/op_facts.h"

#include <string.h>

#include "ops/ops.h"

const int64_t *arn_op_numbers(const arenaut_op *op, const char *name, uint32_t n) {
    const arenaut_attribute *attribute = arenaut_op_attribute(op, name);
    if (!attribute || attribute->text || attribute->n_numbers != n) return NULL;
    for (uint32_t i = 0; i < n; i++) {
        const int64_t number = attribute->numbers[i];
        if (number > ARN_MOST_EXTENT || number < -ARN_MOST_EXTENT) return NULL;
    }
    return attribute->numbers;
}

bool arn_op_number(const arenaut_op *op, const char *name, int64_t *number) {
    const int64_t *numbers = arn_op_numbers(op, name, 1);
    if (numbers) *number = numbers[0];
    return numbers != NULL;
}

bool arn_op_flag(const arenaut_op *op, const char *name) {
    int64_t number;
    return arn_op_number(op, name, &number) && number != 0;
}

bool arn_op_text_is(const arenaut_op *op, const char *name, const char *text) {
    const arenaut_attribute *attribute = arenaut_op_attribute(op, name);
    return attribute && attribute->text && strcmp(attribute->text, text) == 0;
}

const arenaut_tensor *arn_op_input(const arenaut_program *p, const arenaut_op *op, uint32_t k) {
    return k < op->n_inputs && op->inputs[k] != ARENAUT_NONE ? &p->tensors[op->inputs[k]] : NULL;
}

const arenaut_tensor *arn_op_output(const arenaut_program *p, const arenaut_op *op, uint32_t k) {
    return k < op->n_outputs && op->outputs[k] != ARENAUT_NONE ? &p->tensors[op->outputs[k]] : NULL;
}

const int64_t *arn_op_values(const arenaut_program *p, const arenaut_op *op, uint32_t k,
                             uint32_t n) {
    const arenaut_tensor *tensor = arn_op_input(p, op, k);
    if (!tensor || tensor->cls != ARENAUT_CONSTANT || tensor->n_values != n) return NULL;
    for (uint32_t i = 0; i < n; i++) {
        const int64_t value = tensor->values[i];
        if (value > ARN_MOST_EXTENT || value < -ARN_MOST_EXTENT) return NULL;
    }
    return tensor->values;
}

bool arn_has_sizes(const arenaut_tensor *tensor) {
    for (uint32_t i = 0; i < tensor->rank; i++) {
        if (tensor->dims[i] < 1 || tensor->dims[i] > ARN_MOST_EXTENT) return false;
    }
    return true;
}

bool arn_is_plain(const arenaut_tensor *tensor) {
    uint64_t bytes;
    const uint32_t bits = arenaut_dtype_bits(tensor->dtype);
    if (bits == 0 || bits % 8 != 0 || tensor->strides || tensor->lanes || tensor->dim_exprs ||
        tensor->dynamic || tensor->unsized) {
        return false;
    }
    return arn_has_sizes(tensor) &&
           arenaut_dense_bytes(tensor->dtype, tensor->dims, tensor->rank, &bytes, NULL) ==
               ARENAUT_OK &&
           bytes == tensor->bytes;
}

uint64_t arn_element_bytes(const arenaut_tensor *tensor) {
    return arenaut_dtype_bits(tensor->dtype) / 8;
}

uint64_t arn_element_count(const arenaut_tensor *tensor) {
    return tensor->bytes / arn_element_bytes(tensor);
}

/* ---- windows ---- */

/* The first position past a window, from its first. */
static int64_t reach(const arn_window_axis *axis) { return (axis->taps - 1) * axis->dilation + 1; }

/* Padding goes half in front, the smaller half, as runtimes have it; sizes that do not follow from
 * one another are refused. */
static bool settle_axis(arn_window_axis *axis, bool same) {
    if (axis->taps < 1 || axis->stride < 1 || axis->dilation < 1) return false;
    const int64_t missing = (axis->out - 1) * axis->stride + reach(axis) - axis->in;
    const int64_t rounded = (axis->in + axis->stride - 1) / axis->stride;
    const int64_t inside = (axis->in + axis->stride - reach(axis)) / axis->stride;
    axis->before = same && missing > 0 ? missing / 2 : 0;
    return axis->out == (same ? rounded : inside);
}

bool arn_axis_is_padded(const arn_window_axis *axis) {
    return axis->before > 0 ||
           (axis->out - 1) * axis->stride - axis->before + reach(axis) > axis->in;
}

/* Of convolutions and pools: transposed convolutions have windows of the result. */
static arn_op_window window_of(const arenaut_op *op) {
    const arn_op_row *row = arn_op_row_find(ARN_OPS_TFLITE, op->name);
    const bool has = row && row->overlap == ARN_OVERLAP_WINDOW;
    return has ? row->window : ARN_WINDOW_NONE;
}

/* A pool states the sides of its filter; a convolution's weights have them. */
static bool take_filter(const arenaut_program *p, const arenaut_op *op, arn_op_window window,
                        arn_windows *w) {
    const arenaut_tensor *weights = arn_op_input(p, op, 1);
    w->groups = w->in_channels;
    if (window == ARN_WINDOW_FILTER) {
        const int64_t *filter = arn_op_numbers(op, "filter", 2);
        if (!filter) return false;
        w->y.taps = filter[0];
        w->x.taps = filter[1];
        return w->in_channels == w->out_channels;
    }
    if (!weights || weights->rank != 4 || !arn_has_sizes(weights)) return false;
    w->y.taps = weights->dims[1];
    w->x.taps = weights->dims[2];
    if (window == ARN_WINDOW_CHANNELS) {
        return weights->dims[3] == w->out_channels && w->out_channels % w->in_channels == 0;
    }
    w->groups = w->in_channels / weights->dims[3];
    return weights->dims[0] == w->out_channels && w->in_channels % weights->dims[3] == 0 &&
           w->out_channels % w->groups == 0;
}

bool arn_op_windows(const arenaut_program *p, const arenaut_op *op, arn_windows *w) {
    static const int64_t ones[] = {1, 1};
    const arenaut_tensor *in = arn_op_input(p, op, 0), *out = arn_op_output(p, op, 0);
    const arn_op_window window = window_of(op);
    if (window == ARN_WINDOW_NONE || !in || !out || in->rank != 4 || out->rank != 4) return false;
    if (!arn_is_plain(in) || !arn_is_plain(out) || in->dims[0] != out->dims[0]) return false;
    const int64_t *strides = arn_op_numbers(op, "strides", 2);
    const int64_t *dilations =
        window == ARN_WINDOW_FILTER ? ones : arn_op_numbers(op, "dilations", 2);
    const bool same = arn_op_text_is(op, "padding", "SAME");
    if (!strides || !dilations || (!same && !arn_op_text_is(op, "padding", "VALID"))) return false;
    *w = (arn_windows){
        .y = {.in = in->dims[1],
              .out = out->dims[1],
              .stride = strides[0],
              .dilation = dilations[0]},
        .x = {.in = in->dims[2],
              .out = out->dims[2],
              .stride = strides[1],
              .dilation = dilations[1]},
        .batches = in->dims[0],
        .in_channels = in->dims[3],
        .out_channels = out->dims[3],
    };
    return take_filter(p, op, window, w) && settle_axis(&w->y, same) && settle_axis(&w->x, same);
}
