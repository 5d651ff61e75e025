/* Tiles of the micro runtime's operators (TensorFlow Lite), on images NHWC. Windows: for each op
 * that tiles can be made of, by its row of ops.def, from attributes and sizes; the rules of padding
 * are SAME and VALID. Moves: SLICE, PAD and CONCATENATION, which read places and sizes from
 * constants. */
#include <string.h>

#include "rewrite/tile_dialects/tile_dialect.h"

/* Dimensions of an image and of weights. */
enum { H = 1, W = 2, C = 3, RANK = 4 };

static arn_tile_kind kind_named(const char *name) {
    const arn_op_row *row = arn_op_row_find(ARN_OPS_TFLITE, name);
    return row && row->tiled ? arn_tile_kind_of(row) : ARN_TILE_OPAQUE;
}

/* Numbers for height and width; false if they are missing or out of range. */
static bool take_pair(const arenaut_op *op, const char *name, int64_t pair[2]) {
    const arenaut_attribute *a = arenaut_op_attribute(op, name);
    if (!a || a->text || a->n_numbers != 2) return false;
    pair[0] = a->numbers[0];
    pair[1] = a->numbers[1];
    return pair[0] > 0 && pair[1] > 0 && pair[0] <= ARN_TILE_LONGEST && pair[1] <= ARN_TILE_LONGEST;
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

/* Convolutions and pools. */
static bool take_windows(const arn_tile_graph *graph, const arenaut_op *op, const int64_t filter[2],
                         arn_tile_op *out) {
    int64_t strides[2], dilations[2] = {1, 1};
    const arenaut_attribute *padding = arenaut_op_attribute(op, "padding");
    if (!padding || !padding->text || !take_pair(op, "strides", strides)) return false;
    if (arenaut_op_attribute(op, "dilations") && !take_pair(op, "dilations", dilations))
        return false;
    out->same = strcmp(padding->text, "SAME") == 0;
    if (!out->same && strcmp(padding->text, "VALID") != 0) return false;
    const int64_t *in = graph->program->tensors[op->inputs[0]].dims;
    const int64_t *made = graph->program->tensors[op->outputs[0]].dims;
    for (int k = 0; k < 2; k++) {
        arn_tile_window *window = &out->window[ARN_AXIS_H + k];
        *window = (arn_tile_window){filter[k], strides[k], dilations[k], 0, 0, 1};
        if (!pad_window(window, out->same, in[H + k], made[H + k]) ||
            !arn_tile_all_see_image(window, in[H + k], made[H + k])) {
            return false;
        }
    }
    return true;
}

/* Weights may hold a number that times zero is not zero. */
static bool may_be_infinite(const arn_tile_graph *graph, uint32_t weights) {
    const arenaut_tensor *t = &graph->program->tensors[weights];
    if (t->dtype != ARENAUT_DTYPE_FLOAT32 || t->finite) return false;
    const uint32_t producer = arn_tile_def(graph, weights);
    if (producer == ARENAUT_NONE) return true;
    const arenaut_op *op = &graph->program->ops[producer];
    return !graph->ops[producer].widens || !graph->program->tensors[op->inputs[0]].finite;
}

/* The weights are a constant, or made of one, and of the image's own type: kernels that quantise
 * their input by themselves look at all of it. */
static bool take_convolution(const arn_tile_graph *graph, const arenaut_op *op, arn_tile_op *out) {
    const arenaut_tensor *image = arn_tile_input(graph, op, 0),
                         *weights = arn_tile_input(graph, op, 1);
    const bool depthwise = out->kind == ARN_TILE_DEPTHWISE;
    const int64_t channels = graph->program->tensors[op->outputs[0]].dims[C];
    if (!weights || weights->rank != RANK || weights->dtype != image->dtype) return false;
    if (!arn_tile_is_fixed(graph, op->inputs[1]) || op->n_inputs > ARN_TILE_INPUTS) return false;
    if (!arn_tile_is_bias(graph, op, channels)) return false;
    if (weights->dims[depthwise ? C : 0] != channels) return false;
    if (depthwise && channels != image->dims[C]) return false;
    if (!depthwise && weights->dims[C] != image->dims[C]) return false;
    for (int axis = H; axis <= W; axis++) {
        if (weights->dims[axis] <= 0 || weights->dims[axis] > ARN_TILE_LONGEST) return false;
    }
    out->counts_zeroes = may_be_infinite(graph, op->inputs[1]);
    return take_windows(graph, op, weights->dims + 1, out);
}

static bool take_pool(const arn_tile_graph *graph, const arenaut_op *op, arn_tile_op *out) {
    int64_t filter[2];
    const arenaut_tensor *image = arn_tile_input(graph, op, 0);
    const arenaut_tensor *made = &graph->program->tensors[op->outputs[0]];
    out->counts_zeroes = true;
    return take_pair(op, "filter", filter) && op->n_inputs == 1 &&
           image->dims[C] == made->dims[C] && take_windows(graph, op, filter, out);
}

/* The elements that a MIRROR_PAD shows beyond an edge. False if it does not say. */
static bool take_mirror(const arenaut_op *op, arn_tile_op *out) {
    out->reflects = strcmp(op->name, "MIRROR_PAD") == 0;
    if (!out->reflects) return true;
    const arenaut_attribute *mode = arenaut_op_attribute(op, "mode");
    if (!mode || !mode->text || op->n_inputs != 2) return false;
    out->repeats_edge = strcmp(mode->text, "SYMMETRIC") == 0;
    return out->repeats_edge || strcmp(mode->text, "REFLECT") == 0;
}

/* Rows of padding at one edge of an axis of so many elements, less than this. */
static int64_t most_padding(const arn_tile_op *op, int64_t elements) {
    if (!op->reflects) return INT32_MAX;
    return op->repeats_edge ? elements + 1 : elements;
}

/* The batch stays as it is. */
static bool take_pad(const arn_tile_graph *graph, const arenaut_op *op, arn_tile_op *out) {
    const arenaut_tensor *image = arn_tile_input(graph, op, 0),
                         *pads = arn_tile_input(graph, op, 1);
    const arenaut_tensor *made = &graph->program->tensors[op->outputs[0]];
    if (!pads || pads->n_values != 2 * RANK || image->dtype != made->dtype) return false;
    if (op->n_inputs > ARN_TILE_INPUTS) return false;
    if (op->n_inputs > 2 && !arn_tile_is_fixed(graph, op->inputs[2])) return false;
    if (!take_mirror(op, out)) return false;
    for (int axis = 0; axis <= C; axis++) {
        const int64_t before = pads->values[2 * axis], after = pads->values[2 * axis + 1];
        const int64_t most = most_padding(out, image->dims[axis]);
        if (before < 0 || after < 0 || before >= most || after >= most) return false;
        if (axis < H && before + after > 0) return false;
        if (made->dims[axis] != image->dims[axis] + before + after) return false;
        const int of = axis == C ? ARN_AXIS_C : ARN_AXIS_H + axis - H;
        if (axis >= H) out->window[of] = (arn_tile_window){1, 1, 1, before, after, 1};
    }
    return true;
}

static bool take_join(const arn_tile_graph *graph, const arenaut_op *op, arn_tile_op *out) {
    const arenaut_attribute *axis = arenaut_op_attribute(op, "axis");
    return axis && axis->n_numbers == 1 && arn_tile_take_join(graph, op, axis->numbers[0], out);
}

/* Of 0 and -0 XNNPACK takes the second operand; but of one element each, the first, which it takes
 * for a number that is repeated. */
static bool take_elementwise(const arn_tile_graph *graph, const arenaut_op *op, arn_tile_op *out) {
    const bool extreme = strcmp(op->name, "MAXIMUM") == 0 || strcmp(op->name, "MINIMUM") == 0;
    const int64_t *made = graph->program->tensors[op->outputs[0]].dims;
    if (extreme && made[W] * made[C] == 1) out->least = 2;
    return arn_tile_take_elementwise(graph, op, out);
}

static bool take_op(const arn_tile_graph *graph, const arenaut_op *op, arn_tile_op *out) {
    out->kind = kind_named(op->name);
    if (out->kind == ARN_TILE_OPAQUE || !arn_tile_makes_image(graph, op)) return false;
    if (out->kind == ARN_TILE_ELEMENTWISE) return take_elementwise(graph, op, out);
    if (out->kind == ARN_TILE_JOIN) return take_join(graph, op, out);
    if (!arn_tile_is_image(graph, op->inputs[0])) return false;
    if (out->kind == ARN_TILE_POOL) return take_pool(graph, op, out);
    if (out->kind == ARN_TILE_PAD) return take_pad(graph, op, out);
    return take_convolution(graph, op, out);
}

/* Multiplications of an op that tiles may repeat. */
static uint64_t count_macs(const arn_tile_graph *graph, const arenaut_op *op) {
    const arenaut_tensor *weights = arn_tile_input(graph, op, 1);
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

static void take_operator(arn_tile_graph *graph, uint32_t op) {
    const arenaut_op *it = &graph->program->ops[op];
    if (!take_op(graph, it, &graph->ops[op])) graph->ops[op].kind = ARN_TILE_OPAQUE;
    graph->ops[op].widens = it->name && strcmp(it->name, "DEQUANTIZE") == 0 && it->n_inputs == 1;
    graph->macs[op] = it->name ? count_macs(graph, it) : 0;
}

/* ---- moves ---- */

/* Begin and size along all dimensions. */
static uint32_t list_slice(arn_draft *draft, const arn_draft_op *slice, const int64_t *dims,
                           uint32_t *operands) {
    int64_t from[RANK] = {0};
    from[slice->axis] = slice->begin;
    operands[1] = arn_draft_numbers(draft, from, RANK, 0);
    operands[2] = arn_draft_numbers(draft, dims, RANK, 0);
    return 3;
}

static uint32_t list_pads(arn_draft *draft, const int64_t pads[2 * ARN_IMAGE_AXES], uint32_t rank) {
    int64_t values[2 * RANK] = {0};
    for (int axis = 0; axis < ARN_IMAGE_AXES; axis++) {
        const uint32_t dim = arn_tile_dim(draft->graph, axis);
        if (dim >= rank) continue;
        values[2 * dim] = pads[2 * axis];
        values[2 * dim + 1] = pads[2 * axis + 1];
    }
    return arn_draft_numbers(draft, values, 2 * rank, 2);
}

static uint32_t describe_move(const arn_draft_op *op, arenaut_attribute *attributes) {
    attributes[0] = (arenaut_attribute){"axis", 1, &op->axis, NULL};
    return op->move == ARN_MOVE_JOIN ? 1 : 0;
}

/* The rule of padding becomes VALID: parts are padded by ops of their own. */
static uint32_t describe_part(const arn_draft_op *part, const arenaut_op *before,
                              arenaut_attribute *attributes) {
    static const arenaut_attribute no_padding = {"padding", 0, NULL, "VALID"};
    (void)part;
    for (uint32_t i = 0; i < before->n_attributes; i++) {
        const bool padding = strcmp(before->attributes[i].name, no_padding.name) == 0;
        attributes[i] = padding ? no_padding : before->attributes[i];
    }
    return before->n_attributes;
}

extern const arn_tile_dialect arn_tile_tflite;
const arn_tile_dialect arn_tile_tflite = {
    .name = NULL,
    .dim = {[ARN_AXIS_H] = H, [ARN_AXIS_W] = W, [ARN_AXIS_V] = RANK, [ARN_AXIS_C] = C},
    .least_rank = RANK,
    .most_rank = RANK,
    .mover = {[ARN_MOVE_SLICE] = "SLICE",
              [ARN_MOVE_JOIN] = "CONCATENATION",
              [ARN_MOVE_PAD] = "PAD"},
    .numbers = ARENAUT_DTYPE_INT32,
    .most_joined = 10, /* the micro runtime joins no more at once */
    .channels = true,
    .calls = true,
    .take_operator = take_operator,
    .list_slice = list_slice,
    .list_pads = list_pads,
    .describe_move = describe_move,
    .describe_part = describe_part,
};
