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

/* But for the order of its dimensions. */
static bool is_whole(const arenaut_tensor *tensor) {
    uint64_t bytes;
    const uint32_t bits = arenaut_dtype_bits(tensor->dtype);
    if (bits == 0 || bits % 8 != 0 || tensor->lanes || tensor->dim_exprs || tensor->dynamic ||
        tensor->unsized) {
        return false;
    }
    return arn_has_sizes(tensor) &&
           arenaut_dense_bytes(tensor->dtype, tensor->dims, tensor->rank, &bytes, NULL) ==
               ARENAUT_OK &&
           bytes == tensor->bytes;
}

bool arn_is_plain(const arenaut_tensor *tensor) { return !tensor->strides && is_whole(tensor); }

/* The place of a dimension of one does not matter. */
bool arn_is_channels_last(const arenaut_tensor *tensor) {
    static const uint32_t inwards[] = {1, 3, 2, 0};
    if (tensor->rank != 4 || !is_whole(tensor)) return false;
    const int64_t *dims = tensor->dims;
    const int64_t plain[] = {dims[1] * dims[2] * dims[3], dims[2] * dims[3], dims[3], 1};
    const int64_t *strides = tensor->strides ? tensor->strides : plain;
    int64_t dense = 1;
    for (uint32_t i = 0; i < 4; dense *= dims[inwards[i++]]) {
        if (dims[inwards[i]] > 1 && strides[inwards[i]] != dense) return false;
    }
    return true;
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

/* As much padding on either side; pools may round up. Each window has a tap inside of the image. */
static bool settle_padded(arn_window_axis *axis, int64_t padding) {
    if (axis->taps < 1 || axis->stride < 1 || axis->dilation < 1 || padding < 0) return false;
    const int64_t last = (axis->out - 1) * axis->stride - padding;
    const int64_t free = axis->in + padding - last - reach(axis); /* behind the last window */
    axis->before = padding;
    return free > -axis->stride && free < axis->stride && padding < reach(axis) && last < axis->in;
}

bool arn_axis_is_padded(const arn_window_axis *axis) {
    return axis->before > 0 ||
           (axis->out - 1) * axis->stride - axis->before + reach(axis) > axis->in;
}

/* Of convolutions and pools: transposed convolutions have windows of the result. */
static arn_op_window window_of(const arenaut_op *op, bool *channels_last) {
    const arn_op_row *row = arn_op_row_find(ARN_OPS_TFLITE, op->name);
    if (!row) row = arn_op_row_find(ARN_OPS_EXECUTORCH, op->name);
    *channels_last = row && row->overlap == ARN_OVERLAP_CHANNELS_LAST;
    const bool has = *channels_last || (row && row->overlap == ARN_OVERLAP_WINDOW);
    return has ? row->window : ARN_WINDOW_NONE;
}

/* A pool states the sides of its filter; a convolution's weights have them. */
static bool take_filter(const arenaut_program *p, const arenaut_op *op, arn_op_window window,
                        arn_windows *w) {
    const arenaut_tensor *weights = arn_op_input(p, op, 1);
    w->groups = w->in_channels;
    if (window == ARN_WINDOW_FILTER) {
        const int64_t *filter = arn_op_numbers(op, "filter", 2);
        if (!filter) filter = arn_op_numbers(op, "kernel_shape", 2);
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

/* Sides and channels of the two images. */
static bool take_images(const arenaut_tensor *in, const arenaut_tensor *out, bool channels_last,
                        arn_windows *w) {
    const uint32_t y = channels_last ? 2 : 1, channels = channels_last ? 1 : 3;
    bool (*is_image)(const arenaut_tensor *) = channels_last ? arn_is_channels_last : arn_is_plain;
    if (!in || !out || in->rank != 4 || out->rank != 4 || !is_image(in) || !is_image(out))
        return false;
    w->y.in = in->dims[y];
    w->y.out = out->dims[y];
    w->x.in = in->dims[y + 1];
    w->x.out = out->dims[y + 1];
    w->batches = in->dims[0];
    w->in_channels = in->dims[channels];
    w->out_channels = out->dims[channels];
    return in->dims[0] == out->dims[0];
}

static bool settle(const arenaut_op *op, bool channels_last, arn_windows *w) {
    const bool same = arn_op_text_is(op, "padding", "SAME");
    const int64_t *pads = arn_op_numbers(op, "pads", 4);
    if (channels_last)
        return pads && settle_padded(&w->y, pads[0]) && settle_padded(&w->x, pads[1]);
    if (!same && !arn_op_text_is(op, "padding", "VALID")) return false;
    return settle_axis(&w->y, same) && settle_axis(&w->x, same);
}

bool arn_op_windows(const arenaut_program *p, const arenaut_op *op, arn_windows *w) {
    static const int64_t ones[] = {1, 1};
    bool channels_last;
    const arn_op_window window = window_of(op, &channels_last);
    *w = (arn_windows){0};
    if (window == ARN_WINDOW_NONE ||
        !take_images(arn_op_input(p, op, 0), arn_op_output(p, op, 0), channels_last, w))
        return false;
    const int64_t *strides = arn_op_numbers(op, "strides", 2);
    const int64_t *dilations =
        window == ARN_WINDOW_FILTER ? ones : arn_op_numbers(op, "dilations", 2);
    if (!strides || !dilations) return false;
    w->y.stride = strides[0];
    w->y.dilation = dilations[0];
    w->x.stride = strides[1];
    w->x.dilation = dilations[1];
    return take_filter(p, op, window, w) && settle(op, channels_last, w);
}
