/* Windows of the micro runtime's operators (TensorFlow Lite): for each op that tiles can be made
 * of, by its row of ops.def, the window through which an element of its result sees its operands,
 * from attributes and sizes. An op is opaque unless its kernel computes each element from a window
 * around its own place and all attributes are there, with sizes that agree with them. The geometry
 * of tiles (row_tiles.c, channel_tiles.c) knows windows alone. */
#include "rewrite/split/tile_graph.h"

#include <string.h>

#include "core/fail.h"
#include "core/memory.h"
#include "ops/ops.h"

static arn_tile_kind kind_named(const char *name) {
    static const arn_tile_kind kinds[] = {
        [ARN_FAMILY_CONVOLUTION] = ARN_TILE_CONV,
        [ARN_FAMILY_POOL] = ARN_TILE_POOL,
        [ARN_FAMILY_PAD] = ARN_TILE_PAD,
        [ARN_FAMILY_CONCATENATION] = ARN_TILE_JOIN,
        [ARN_FAMILY_ELEMENTWISE] = ARN_TILE_ELEMENTWISE,
    };
    const arn_op_row *row = arn_op_row_find(ARN_OPS_TFLITE, name);
    if (!row || !row->tiled) return ARN_TILE_OPAQUE;
    return row->window == ARN_WINDOW_CHANNELS ? ARN_TILE_DEPTHWISE : kinds[row->family];
}

static const arenaut_attribute *attribute(const arenaut_op *op, const char *name) {
    for (uint32_t i = 0; i < op->n_attributes; i++) {
        if (strcmp(op->attributes[i].name, name) == 0) return &op->attributes[i];
    }
    return NULL;
}

/* Numbers for height and width; false if they are missing or out of range. */
static bool take_pair(const arenaut_op *op, const char *name, int64_t pair[2]) {
    const arenaut_attribute *a = attribute(op, name);
    if (!a || a->text || a->n_numbers != 2) return false;
    pair[0] = a->numbers[0];
    pair[1] = a->numbers[1];
    return pair[0] > 0 && pair[1] > 0 && pair[0] <= ARN_TILE_LONGEST && pair[1] <= ARN_TILE_LONGEST;
}

/* Types that every runtime with tiles can copy, concatenate and pad. */
static bool is_plain(arenaut_dtype dtype) {
    return dtype == ARENAUT_DTYPE_INT8 || dtype == ARENAUT_DTYPE_FLOAT32;
}

static bool is_image(const arn_tile_graph *graph, uint32_t tensor) {
    const arenaut_tensor *t = &graph->program->tensors[tensor];
    const bool made =
        t->cls == ARENAUT_INTERMEDIATE || t->cls == ARENAUT_INPUT || t->cls == ARENAUT_OUTPUT;
    if (!made || t->rank != ARN_IMAGE_RANK || t->dims[0] != 1 || !is_plain(t->dtype)) return false;
    if (t->dynamic || t->view_of != ARENAUT_NONE || t->strides || t->dim_exprs) return false;
    for (uint32_t i = 0; i < t->rank; i++) {
        if (t->dims[i] <= 0 || t->dims[i] > ARN_TILE_LONGEST) return false;
    }
    return true;
}

static const arenaut_tensor *input(const arn_tile_graph *graph, const arenaut_op *op, uint32_t i) {
    if (i >= op->n_inputs || op->inputs[i] == ARENAUT_NONE) return NULL;
    return &graph->program->tensors[op->inputs[i]];
}

/* Fills in the padding, by the rule SAME or none; false unless the output is as long as that makes
 * it. */
static bool pad_window(arn_tile_window *w, bool same, int64_t in, int64_t out) {
    const int64_t reach = (w->filter - 1) * w->dilation + 1;
    w->before = w->after = 0;
    if (!same) return in >= reach && out == (in - reach) / w->stride + 1;
    if (out != (in + w->stride - 1) / w->stride) return false;
    const int64_t total = (out - 1) * w->stride + reach - in;
    if (total <= 0) return true;
    w->before = total / 2;
    w->after = total - w->before;
    return true;
}

/* A window that lies in padding alone tells nothing of its place. */
static bool sees_image(const arn_tile_window *w, int64_t in, int64_t row) {
    const int64_t start = row * w->stride - w->before;
    const int64_t tap = start >= 0 ? 0 : (-start + w->dilation - 1) / w->dilation;
    return tap < w->filter && start + tap * w->dilation < in;
}

static bool all_see_image(const arn_tile_window *w, int64_t in, int64_t out) {
    for (int64_t row = 0; row < out; row++) {
        if (!sees_image(w, in, row)) return false;
    }
    return true;
}

/* Convolutions and pools. */
static bool take_windows(const arn_tile_graph *graph, const arenaut_op *op, const int64_t filter[2],
                         arn_tile_op *out) {
    int64_t strides[2], dilations[2] = {1, 1};
    const arenaut_attribute *padding = attribute(op, "padding");
    if (!padding || !padding->text || !take_pair(op, "strides", strides)) return false;
    if (attribute(op, "dilations") && !take_pair(op, "dilations", dilations)) return false;
    out->same = strcmp(padding->text, "SAME") == 0;
    if (!out->same && strcmp(padding->text, "VALID") != 0) return false;
    const int64_t *in = graph->program->tensors[op->inputs[0]].dims;
    const int64_t *made = graph->program->tensors[op->outputs[0]].dims;
    for (int axis = ARN_AXIS_H; axis <= ARN_AXIS_W; axis++) {
        const int k = axis - ARN_AXIS_H;
        out->window[axis] = (arn_tile_window){filter[k], strides[k], dilations[k], 0, 0};
        if (!pad_window(&out->window[axis], out->same, in[axis], made[axis]) ||
            !all_see_image(&out->window[axis], in[axis], made[axis])) {
            return false;
        }
    }
    return true;
}

/* One number for each channel of the result; a convolution may have none. */
static bool is_bias(const arn_tile_graph *graph, const arenaut_op *op, int64_t channels) {
    const arenaut_tensor *bias = input(graph, op, 2);
    return !bias || (arn_tile_is_fixed(graph, op->inputs[2]) && bias->rank == 1 &&
                     bias->dims[0] == channels);
}

/* Weights may hold a number that times zero is not zero. */
static bool may_be_infinite(const arn_tile_graph *graph, uint32_t weights) {
    const arenaut_tensor *t = &graph->program->tensors[weights];
    if (t->dtype != ARENAUT_DTYPE_FLOAT32 || t->finite) return false;
    const uint32_t producer = graph->producer[weights];
    if (producer == ARENAUT_NONE) return true;
    const arenaut_op *op = &graph->program->ops[producer];
    return !graph->ops[producer].widens || !graph->program->tensors[op->inputs[0]].finite;
}

/* The weights are a constant, or made of one, and of the image's own type: kernels that quantise
 * their input by themselves look at all of it. */
static bool take_convolution(const arn_tile_graph *graph, const arenaut_op *op, arn_tile_op *out) {
    const arenaut_tensor *image = input(graph, op, 0), *weights = input(graph, op, 1);
    const bool depthwise = out->kind == ARN_TILE_DEPTHWISE;
    const int64_t channels = graph->program->tensors[op->outputs[0]].dims[ARN_AXIS_C];
    if (!weights || weights->rank != ARN_IMAGE_RANK || weights->dtype != image->dtype) return false;
    if (!arn_tile_is_fixed(graph, op->inputs[1]) || op->n_inputs > ARN_TILE_INPUTS) return false;
    if (!is_bias(graph, op, channels)) return false;
    if (weights->dims[depthwise ? ARN_AXIS_C : 0] != channels) return false;
    if (depthwise && channels != image->dims[ARN_AXIS_C]) return false;
    if (!depthwise && weights->dims[ARN_AXIS_C] != image->dims[ARN_AXIS_C]) return false;
    for (int axis = ARN_AXIS_H; axis <= ARN_AXIS_W; axis++) {
        if (weights->dims[axis] <= 0 || weights->dims[axis] > ARN_TILE_LONGEST) return false;
    }
    out->counts_zeroes = may_be_infinite(graph, op->inputs[1]);
    return take_windows(graph, op, weights->dims + 1, out);
}

static bool take_pool(const arn_tile_graph *graph, const arenaut_op *op, arn_tile_op *out) {
    int64_t filter[2];
    const arenaut_tensor *image = input(graph, op, 0);
    const arenaut_tensor *made = &graph->program->tensors[op->outputs[0]];
    out->counts_zeroes = true;
    return take_pair(op, "filter", filter) && op->n_inputs == 1 &&
           image->dims[ARN_AXIS_C] == made->dims[ARN_AXIS_C] &&
           take_windows(graph, op, filter, out);
}

/* The batch stays as it is. */
static bool take_pad(const arn_tile_graph *graph, const arenaut_op *op, arn_tile_op *out) {
    const arenaut_tensor *image = input(graph, op, 0), *pads = input(graph, op, 1);
    const arenaut_tensor *made = &graph->program->tensors[op->outputs[0]];
    if (!pads || pads->n_values != 2 * ARN_IMAGE_RANK || image->dtype != made->dtype) return false;
    if (op->n_inputs > ARN_TILE_INPUTS) return false;
    if (op->n_inputs > 2 && !arn_tile_is_fixed(graph, op->inputs[2])) return false;
    for (int axis = 0; axis < ARN_IMAGE_RANK; axis++) {
        const int64_t before = pads->values[2 * axis], after = pads->values[2 * axis + 1];
        if (before < 0 || after < 0 || before >= INT32_MAX || after >= INT32_MAX) return false;
        if (axis < ARN_AXIS_H && before + after > 0) return false;
        if (made->dims[axis] != image->dims[axis] + before + after) return false;
        out->window[axis] = (arn_tile_window){1, 1, 1, before, after};
    }
    return true;
}

static const arn_tile_window one_to_one = {1, 1, 1, 0, 0};

/* A constant that every row of the image sees whole; along the other axes it is as long as the
 * image, or repeated. */
static bool repeats_by_row(const arenaut_tensor *constant, const arenaut_tensor *image) {
    if (constant->rank > ARN_IMAGE_RANK) return false;
    for (uint32_t i = 0; i < constant->rank; i++) {
        const uint32_t axis = ARN_IMAGE_RANK - constant->rank + i;
        const bool along = axis == ARN_AXIS_W || axis == ARN_AXIS_C;
        if (constant->dims[i] != 1 && !(along && constant->dims[i] == image->dims[axis])) {
            return false;
        }
    }
    return true;
}

static bool same_sizes(const arenaut_tensor *a, const arenaut_tensor *b) {
    return memcmp(a->dims, b->dims, sizeof(int64_t) * ARN_IMAGE_RANK) == 0;
}

/* Images of the result's sizes, and constants. */
static bool take_elementwise(const arn_tile_graph *graph, const arenaut_op *op, arn_tile_op *out) {
    const arenaut_tensor *made = &graph->program->tensors[op->outputs[0]];
    out->window[ARN_AXIS_H] = out->window[ARN_AXIS_W] = one_to_one;
    if (op->n_inputs > ARN_TILE_INPUTS) return false;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const arenaut_tensor *in = input(graph, op, i);
        if (!in) return false;
        if (arn_tile_is_fixed(graph, op->inputs[i])
                ? !repeats_by_row(in, made)
                : !is_image(graph, op->inputs[i]) || !same_sizes(in, made)) {
            return false;
        }
    }
    return true;
}

/* Of channels only: rows of the result are made of the same rows. */
static bool take_join(const arn_tile_graph *graph, const arenaut_op *op, arn_tile_op *out) {
    const arenaut_attribute *axis = attribute(op, "axis");
    const arenaut_tensor *made = &graph->program->tensors[op->outputs[0]];
    int64_t channels = 0;
    out->window[ARN_AXIS_H] = out->window[ARN_AXIS_W] = one_to_one;
    if (!axis || axis->n_numbers != 1) return false;
    if (axis->numbers[0] != ARN_AXIS_C && axis->numbers[0] != -1) return false;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const arenaut_tensor *in = input(graph, op, i);
        if (!in || !is_image(graph, op->inputs[i]) || in->dtype != made->dtype) {
            return false;
        }
        if (arn_tile_is_fixed(graph, op->inputs[i])) return false; /* it is there whole */
        if (in->dims[ARN_AXIS_H] != made->dims[ARN_AXIS_H]) return false;
        if (in->dims[ARN_AXIS_W] != made->dims[ARN_AXIS_W]) return false;
        channels += in->dims[ARN_AXIS_C];
    }
    return channels == made->dims[ARN_AXIS_C];
}

static bool take_op(const arn_tile_graph *graph, const arenaut_op *op, arn_tile_op *out) {
    out->kind = kind_named(op->name);
    if (out->kind == ARN_TILE_OPAQUE || op->kind != ARENAUT_OP_OUT) return false;
    if (op->n_inputs == 0 || op->n_outputs != 1 || op->n_scratch > 0) return false;
    if (op->inputs[0] == ARENAUT_NONE || op->outputs[0] == ARENAUT_NONE) return false;
    if (arenaut_op_reads_compressed(graph->program, op)) return false;
    if (!is_image(graph, op->outputs[0])) return false;
    if (out->kind == ARN_TILE_ELEMENTWISE) return take_elementwise(graph, op, out);
    if (out->kind == ARN_TILE_JOIN) return take_join(graph, op, out);
    if (!is_image(graph, op->inputs[0])) return false;
    if (out->kind == ARN_TILE_POOL) return take_pool(graph, op, out);
    if (out->kind == ARN_TILE_PAD) return take_pad(graph, op, out);
    return take_convolution(graph, op, out);
}

/* Multiplications of an op that tiles may repeat. */
static uint64_t count_macs(const arn_tile_graph *graph, const arenaut_op *op) {
    const arenaut_tensor *weights = input(graph, op, 1);
    const bool conv = strcmp(op->name, "CONV_2D") == 0;
    const bool depthwise = strcmp(op->name, "DEPTHWISE_CONV_2D") == 0;
    const bool product = strcmp(op->name, "FULLY_CONNECTED") == 0;
    if (!weights || op->n_outputs == 0 || op->outputs[0] == ARENAUT_NONE) return 0;
    const arenaut_tensor *made = &graph->program->tensors[op->outputs[0]];
    if (!(conv || depthwise || product) || weights->rank < 2) return 0;
    double macs = conv || depthwise ? (double)weights->dims[1] : 1;
    if ((conv || depthwise) && weights->rank == 4) macs *= (double)weights->dims[2];
    if (!depthwise) macs *= (double)weights->dims[weights->rank - 1];
    for (uint32_t i = 0; i < made->rank; i++) macs *= (double)made->dims[i];
    return macs >= 0 && macs < (double)ARENAUT_SIZE_MAX ? (uint64_t)macs : 0;
}

void arn_tile_take_operator(arn_tile_graph *graph, uint32_t op) {
    const arenaut_op *it = &graph->program->ops[op];
    if (!take_op(graph, it, &graph->ops[op])) graph->ops[op].kind = ARN_TILE_OPAQUE;
    graph->ops[op].widens = it->name && strcmp(it->name, "DEQUANTIZE") == 0 && it->n_inputs == 1;
    graph->macs[op] = it->name ? count_macs(graph, it) : 0;
}
