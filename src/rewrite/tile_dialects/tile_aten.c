/* Tiles of PyTorch's operators (aten), on images NCHW in float32. Windows: from arguments, which
 * the reader has in ONNX's forms, and sizes. A convolution or a pool states one padding for both
 * sides of an axis, so that a tile at an edge of the image is padded at its cut edge, too, and the
 * rows of its result that saw that are left out. Moves: slice_copy, whose result is dense, and cat.
 * PyTorch runs nodes as they stand. */
#include <string.h>

#include "rewrite/tile_dialects/tile_dialect.h"

enum {
    /* Of the process, once a node is loaded: some hundred bytes in ExecuTorch, and 12 KiB in
     * PyTorch 2.13, whose graphs are not meant to be small. */
    KEPT_PER_NODE = 2048,
    MOST_MACS = 5, /* percent */
};

/* ---- the tile rule ----
 *
 * The tiles of which PyTorch (2.13, CPU, eager, x86-64) makes the same bits as of the whole. A
 * convolution goes to oneDNN if its image has more than so many elements (ConvParams::use_mkldnn),
 * else to a matrix product: a tile stays on the side of the whole, and small images stay whole.
 * oneDNN sums up in one order, whatever the height, but for groups, and for 1x1 with many channels;
 * where those are a matrix product, it has no rows that end within a vector. Curves are computed in
 * vectors of elements, and by another function for the rest. */
enum { SMALL_IMAGE = 20480, MOST_SUMS = 64, VECTORS = 64, WIDTH = 16, LEAST_SIDES = 129 };

static int64_t row_of(const arenaut_tensor *image) {
    return image->dims[0] * image->dims[ARN_NCHW_C] * image->dims[ARN_NCHW_W];
}

/* Rows of an image that has more elements than a small one. */
static int64_t rows_of_large(const arenaut_tensor *image) {
    return SMALL_IMAGE / row_of(image) + 1;
}

/* The fewest rows of a tile's result, in which no more rows of padding count than it may have.
 * False if the bits may differ at any height. */
static bool rule_convolution(const arenaut_tensor *image, const arn_nchw_window *w,
                             arn_tile_op *out) {
    const bool one = w->filter[0] == 1 && w->filter[1] == 1;
    const int64_t reach = (w->filter[0] - 1) * w->dilations[0] + 1;
    const int64_t missing = rows_of_large(image) - reach + 2 * w->before[0];
    out->least = 1;
    if (out->kind == ARN_TILE_DEPTHWISE) return true;
    if (missing > 0) out->least = (missing + w->strides[0] - 1) / w->strides[0] + 1;
    if (image->dims[ARN_NCHW_H] < rows_of_large(image) || w->groups > 1) return false;
    return !one || (w->strides[0] == 1 && w->strides[1] == 1 &&
                    image->dims[ARN_NCHW_C] <= MOST_SUMS && image->dims[ARN_NCHW_W] % WIDTH == 0);
}

/* Windows that lie side by side. */
static bool rule_transposed(const arenaut_tensor *image, const arn_nchw_window *w,
                            arn_tile_op *out) {
    out->least = rows_of_large(image) * w->strides[0];
    return image->dims[ARN_NCHW_H] >= rows_of_large(image) && w->groups == 1 &&
           w->filter[0] == w->strides[0] && w->filter[1] == w->strides[1];
}

static bool rule_curve(const arenaut_tensor *made, arn_tile_op *out) {
    const int64_t row = row_of(made);
    out->multiple = VECTORS;
    while (out->multiple > 1 && row * (out->multiple / 2) % VECTORS == 0) out->multiple /= 2;
    return row * made->dims[ARN_NCHW_H] % VECTORS == 0;
}

static bool is_curve(const char *name) {
    static const char *const curves[] = {"aten::sigmoid", "aten::silu", "aten::tanh", "aten::gelu"};
    for (size_t i = 0; i < sizeof curves / sizeof *curves; i++) {
        if (strcmp(curves[i], name) == 0) return true;
    }
    return false;
}

/* ---- windows ---- */

static bool is_positive(const int64_t numbers[2]) {
    return numbers[0] > 0 && numbers[0] <= ARN_TILE_LONGEST && numbers[1] > 0 &&
           numbers[1] <= ARN_TILE_LONGEST;
}

/* The same padding on both sides. */
static bool take_window(const arenaut_op *op, arn_nchw_window *w) {
    int64_t pads[4] = {0};
    if (!arn_tile_numbers(op, "kernel_shape", 2, w->filter) ||
        !arn_tile_numbers(op, "strides", 2, w->strides) ||
        !arn_tile_numbers(op, "dilations", 2, w->dilations) ||
        !arn_tile_numbers(op, "pads", 4, pads)) {
        return false;
    }
    for (int k = 0; k < 2; k++) w->before[k] = w->after[k] = pads[k];
    return pads[0] == pads[2] && pads[1] == pads[3] && is_positive(w->filter) &&
           is_positive(w->strides) && is_positive(w->dilations);
}

static bool take_convolution(const arn_tile_graph *graph, const arenaut_op *op, arn_tile_op *out) {
    const arenaut_tensor *image = arn_tile_input(graph, op, 0);
    const arenaut_tensor *weights = arn_tile_input(graph, op, 1);
    arn_nchw_window w = {.strides = {1, 1}, .dilations = {1, 1}};
    if (!weights || weights->rank != ARN_IMAGE_RANK || arn_tile_number(op, "transposed", 0) != 0) {
        return false;
    }
    w.filter[0] = weights->dims[ARN_NCHW_H];
    w.filter[1] = weights->dims[ARN_NCHW_W];
    w.groups = arn_tile_number(op, "group", 1);
    if (w.groups > 1 && weights->dims[1] == 1) out->kind = ARN_TILE_DEPTHWISE;
    return take_window(op, &w) && arn_tile_take_nchw_convolution(graph, op, &w, out) &&
           rule_convolution(image, &w, out);
}

/* Windows that are rounded up may reach farther in a tile than in the whole. */
static bool take_pool(const arn_tile_graph *graph, const arenaut_op *op, arn_tile_op *out) {
    arn_nchw_window w = {.strides = {1, 1}, .dilations = {1, 1}};
    if (!arenaut_op_attribute(op, "kernel_shape") || arn_tile_number(op, "ceil_mode", 0) != 0)
        return false;
    return take_window(op, &w) && arn_tile_take_nchw_pool(graph, op, &w, out);
}

/* ---- more rows than there are ---- */

/* Each column of the image becomes as many as each row does. */
static bool take_blocks(const arn_tile_graph *graph, const arenaut_op *op, arn_tile_op *out) {
    const arenaut_tensor *image = arn_tile_input(graph, op, 0);
    const arenaut_tensor *made = &graph->program->tensors[op->outputs[0]];
    return arn_tile_take_blocks(graph, op, out) &&
           made->dims[ARN_NCHW_W] == out->window[ARN_AXIS_H].filter * image->dims[ARN_NCHW_W];
}

/* By factors that are arguments: sizes would be those of the whole. They are powers of two: then
 * places are exact in floating point, whatever part of the image they are in. */
static bool take_resize(const arn_tile_graph *graph, const arenaut_op *op, bool linear,
                        arn_tile_op *out) {
    const arenaut_tensor *image = arn_tile_input(graph, op, 0);
    const arenaut_tensor *made = &graph->program->tensors[op->outputs[0]];
    int64_t scales[2] = {0};
    if (op->n_inputs != 1 || !take_blocks(graph, op, out) ||
        made->dims[ARN_NCHW_C] != image->dims[ARN_NCHW_C] ||
        arenaut_op_attribute(op, "output_size") || !arn_tile_numbers(op, "scales", 2, scales)) {
        return false;
    }
    arn_tile_window *rows = &out->window[ARN_AXIS_H];
    if (scales[0] != rows->up || scales[1] != rows->up || (rows->up & (rows->up - 1)) != 0) {
        return false;
    }
    if (!linear) return true;
    rows->filter = 2 * rows->up;
    rows->before = rows->up / 2;
    out->least = LEAST_SIDES - made->dims[ARN_NCHW_W];
    return arn_tile_number(op, "align_corners", 0) == 0 && out->least <= made->dims[ARN_NCHW_H];
}

/* Weights by input channel, then output channel; windows side by side. */
static bool take_transposed(const arn_tile_graph *graph, const arenaut_op *op, arn_tile_op *out) {
    const arenaut_tensor *image = arn_tile_input(graph, op, 0);
    const arenaut_tensor *weights = arn_tile_input(graph, op, 1);
    const int64_t nothing[2] = {0};
    arn_nchw_window w = {.strides = {1, 1}, .dilations = {1, 1}};
    int64_t more[2] = {0};
    if (!weights || weights->rank != ARN_IMAGE_RANK) return false;
    for (int k = 0; k < 2; k++) w.filter[k] = weights->dims[ARN_NCHW_H + k];
    w.groups = arn_tile_number(op, "group", 1);
    if (!take_window(op, &w) || !arn_tile_numbers(op, "output_padding", 2, more) || more[0] != 0 ||
        more[1] != 0 || w.before[0] != 0 || w.before[1] != 0 ||
        !arn_tile_take_nchw_transposed(graph, op, &w, nothing, out)) {
        return false;
    }
    out->kind = ARN_TILE_CONV;
    out->pads_sides = false;
    out->in_blocks = true;
    return rule_transposed(image, &w, out);
}

/* Blocks of channels become blocks of rows and columns. */
static bool take_shuffle(const arn_tile_graph *graph, const arenaut_op *op, arn_tile_op *out) {
    return op->n_inputs == 1 && take_blocks(graph, op, out) &&
           arn_tile_number(op, "upscale_factor", ARN_TILE_UNKNOWN) == out->window[ARN_AXIS_H].up;
}

static bool take_unshuffle(const arn_tile_graph *graph, const arenaut_op *op, arn_tile_op *out) {
    return arn_tile_take_nchw_unshuffle(
        graph, op, arn_tile_number(op, "downscale_factor", ARN_TILE_UNKNOWN), out);
}

static bool take_up(const arn_tile_graph *graph, const arenaut_op *op, arn_tile_op *out) {
    if (strcmp(op->name, "aten::upsample_nearest2d.vec") == 0) {
        return take_resize(graph, op, false, out);
    }
    if (strcmp(op->name, "aten::upsample_bilinear2d.vec") == 0) {
        return take_resize(graph, op, true, out);
    }
    if (strcmp(op->name, "aten::pixel_unshuffle") == 0) return take_unshuffle(graph, op, out);
    return strcmp(op->name, "aten::pixel_shuffle") == 0 ? take_shuffle(graph, op, out)
                                                        : take_transposed(graph, op, out);
}

/* ---- margins ---- */

/* A value around, or rows and columns of the image again. */
static bool take_pad(const arn_tile_graph *graph, const arenaut_op *op, arn_tile_op *out) {
    const arenaut_attribute *mode = arenaut_op_attribute(op, "mode");
    const char *const text = mode && mode->text ? mode->text : "constant";
    int64_t pads[2 * ARN_IMAGE_RANK] = {0};
    const bool reflects = strcmp(text, "reflect") == 0;
    if (op->n_inputs != 1 || !arenaut_op_attribute(op, "pads") ||
        !arn_tile_numbers(op, "pads", 2 * ARN_IMAGE_RANK, pads)) {
        return false;
    }
    return (reflects || strcmp(text, "replicate") == 0 || strcmp(text, "constant") == 0) &&
           arn_tile_take_nchw_margin(graph, op, pads, reflects, out);
}

/* ---- all of them ---- */

/* Numbers for each channel, and one result: not that of training. */
static bool take_normalization(const arn_tile_graph *graph, const arenaut_op *op,
                               arn_tile_op *out) {
    const arenaut_op image = {
        .inputs = op->inputs, .outputs = op->outputs, .n_inputs = 1, .n_outputs = 1};
    if (arn_tile_number(op, "training", 1) != 0 || op->n_inputs < 3) return false;
    for (uint32_t i = 1; i < op->n_inputs; i++) {
        const arenaut_tensor *each = arn_tile_input(graph, op, i);
        if (!each || !arn_tile_is_fixed(graph, op->inputs[i]) || each->rank != 1) return false;
    }
    out->kind = ARN_TILE_ELEMENTWISE;
    return arn_tile_take_elementwise(graph, &image, out);
}

static bool are_float(const arn_tile_graph *graph, const arenaut_op *op) {
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const arenaut_tensor *in = arn_tile_input(graph, op, i);
        if (in && in->dtype != ARENAUT_DTYPE_FLOAT32) return false;
    }
    return graph->program->tensors[op->outputs[0]].dtype == ARENAUT_DTYPE_FLOAT32;
}

/* If no axis is given, it is the first. */
static bool take_join(const arn_tile_graph *graph, const arenaut_op *op, arn_tile_op *out) {
    return arn_tile_take_join(graph, op, arn_tile_number(op, "axis", 0), out);
}

/* Of which each kernel was seen to make the same bits of a tile. */
static const char *const tiled[] = {"aten::conv2d",
                                    "aten::convolution",
                                    "aten::max_pool2d",
                                    "aten::avg_pool2d",
                                    "aten::batch_norm",
                                    "aten::cat",
                                    "aten::pad",
                                    "aten::constant_pad_nd",
                                    "aten::add.Tensor",
                                    "aten::sub.Tensor",
                                    "aten::mul.Tensor",
                                    "aten::div.Tensor",
                                    "aten::relu",
                                    "aten::relu6",
                                    "aten::hardtanh",
                                    "aten::leaky_relu",
                                    "aten::sigmoid",
                                    "aten::silu",
                                    "aten::hardswish",
                                    "aten::tanh",
                                    "aten::gelu",
                                    "aten::clamp",
                                    "aten::hardsigmoid",
                                    "aten::conv_transpose2d.input",
                                    "aten::upsample_nearest2d.vec",
                                    "aten::upsample_bilinear2d.vec",
                                    "aten::pixel_shuffle",
                                    "aten::pixel_unshuffle"};

static bool is_tiled(const char *name) {
    for (size_t i = 0; name && i < sizeof tiled / sizeof *tiled; i++) {
        if (strcmp(tiled[i], name) == 0) return true;
    }
    return false;
}

static bool take_op(const arn_tile_graph *graph, const arenaut_op *op, arn_tile_op *out) {
    const arn_op_row *row = is_tiled(op->name) ? arn_op_row_find(ARN_OPS_ATEN, op->name) : NULL;
    if (!row || !arn_tile_makes_image(graph, op) || !are_float(graph, op)) return false;
    out->kind = arn_tile_kind_of(row);
    if (row->family == ARN_FAMILY_NORMALIZATION) return take_normalization(graph, op, out);
    if (is_curve(op->name) && !rule_curve(&graph->program->tensors[op->outputs[0]], out))
        return false;
    if (out->kind == ARN_TILE_ELEMENTWISE) return arn_tile_take_elementwise(graph, op, out);
    if (out->kind == ARN_TILE_JOIN) return take_join(graph, op, out);
    if (!arn_tile_is_image(graph, op->inputs[0])) return false;
    if (row->family == ARN_FAMILY_RESIZE || row->family == ARN_FAMILY_TRANSPOSED_CONVOLUTION ||
        row->family == ARN_FAMILY_LAYOUT || arn_tile_number(op, "transposed", 0) == 1) {
        return take_up(graph, op, out);
    }
    if (out->kind == ARN_TILE_PAD) return take_pad(graph, op, out);
    out->mirrors = true;
    if (out->kind == ARN_TILE_POOL) return take_pool(graph, op, out);
    return out->kind == ARN_TILE_CONV && take_convolution(graph, op, out);
}

static void take_operator(arn_tile_graph *graph, uint32_t op) {
    arn_tile_take_nchw(graph, op, ARN_OPS_ATEN, take_op);
}

/* A name may stand for another value once its memory was updated. */
static const char *refuse(const arenaut_program *program) {
    for (uint32_t i = 0; i < program->n_ops; i++) {
        if (program->ops[i].kind != ARENAUT_OP_FUNCTIONAL) {
            return "an operator of it updates its operands in place, or runs another graph; "
                   "run_decompositions() leaves only such as do not";
        }
    }
    return program->n_methods == 1 && program->methods[0].n_bindings > 0
               ? "it updates its state or its inputs"
               : NULL;
}

/* ---- moves ---- */

static uint32_t describe_move(const arn_draft_op *op, arenaut_attribute *attributes) {
    attributes[0] = (arenaut_attribute){"axis", 1, &op->axis, NULL};
    attributes[1] = (arenaut_attribute){"start", 1, &op->begin, NULL};
    attributes[2] = (arenaut_attribute){"end", 1, &op->end, NULL};
    return op->move == ARN_MOVE_SLICE ? 3 : 1;
}

/* Top and left, bottom and right. */
static uint32_t describe_part(const arn_draft_op *part, const arenaut_op *before,
                              arenaut_attribute *attributes) {
    for (uint32_t i = 0; i < before->n_attributes; i++) {
        attributes[i] = before->attributes[i];
        if (strcmp(attributes[i].name, "pads") == 0) attributes[i].numbers = part->pads;
    }
    return before->n_attributes;
}

extern const arn_tile_dialect arn_tile_aten;
const arn_tile_dialect arn_tile_aten = {
    .name = "aten",
    .dim = {ARN_NCHW_H, ARN_NCHW_W, ARN_NCHW_C},
    .mover = {[ARN_MOVE_SLICE] = "aten::slice_copy.Tensor", [ARN_MOVE_JOIN] = "aten::cat"},
    .kind = ARENAUT_OP_FUNCTIONAL,
    .numbers = ARENAUT_DTYPE_INT64,
    .most_joined = UINT32_MAX,
    .batches = true,
    .inputs_apart = true,
    .many_tiles = true,
    .most_macs = {true, MOST_MACS},
    .kept = KEPT_PER_NODE,
    .keeps_state = true,
    .same_bits =
        "the tiles compute the same bits in PyTorch with one thread; with more, functions such "
        "as sigmoid may be rounded otherwise",
    .refuse = refuse,
    .take_operator = take_operator,
    .describe_move = describe_move,
    .describe_part = describe_part,
};
