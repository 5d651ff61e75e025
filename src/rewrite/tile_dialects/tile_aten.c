/* Tiles of PyTorch's operators (aten), on images NCHW and signals NCL in float32. Windows: from
 * arguments, which the reader has in ONNX's forms, and sizes. A convolution or a pool states one
 * padding for both sides of an axis, so that a tile at an edge of the image is padded at its cut
 * edge, too, and the rows of its result that saw that are left out. Moves: slice_copy, whose result
 * is dense, and cat. PyTorch runs nodes as they stand. */
#include <string.h>

#include "rewrite/tile_dialects/tile_dialect.h"

enum {
    /* Of the process, once a node is loaded: some hundred bytes in ExecuTorch, and 12 KiB in
     * PyTorch 2.13, whose graphs are not meant to be small. */
    KEPT_PER_NODE = 2048,
    MOST_MACS = 5,   /* percent */
    LONG_GROUP = 17, /* ops: in a shorter one, own heights save little */
};

/* ---- the tile rule ----
 *
 * The tiles of which PyTorch (2.13, CPU, eager, x86-64 with AVX2 or AVX-512) makes the same bits as
 * of the whole. A convolution goes to oneDNN if its image has more than so many elements
 * (ConvParams::use_mkldnn), else to a matrix product: a tile stays on the side of the whole, and
 * small images stay whole. oneDNN sums up in one order, whatever the height, but for groups, for
 * 1x1 with many channels, and for windows that its direct kernels do not take; where those are a
 * matrix product, it has no rows that end within a vector. A signal is an image of one row to it.
 * Curves are computed in vectors of elements, and by another function for the rest. What runs in
 * ExecuTorch is tiled by the same rule. */
enum { SMALL_IMAGE = 20480, MOST_SUMS = 64, VECTORS = 64, WIDTH = 16, LEAST_SIDES = 129 };
/* A direct kernel holds so many columns in registers (jit_avx2_conv_fwd_kernel_f32::init_conf), and
 * takes no padding of more. Longer windows are those of signals. */
enum { MOST_PADDING = 3, LONG_FILTER = 7, LONG_WINDOW = 17 };
enum { OF_IMAGES = 4, OF_VOLUMES = 5 }; /* dimensions */

/* Whether the op may be tiled, now that all else is known: within the rule, or by leave of the
 * caller. */
static bool keep_rule(const arn_tile_graph *graph, bool is_within, arn_tile_op *out) {
    if (!is_within) out->least = ARN_TILE_NEVER;
    out->is_rounded = !is_within && !graph->rounding;
    return is_within || graph->rounding;
}

static int64_t row_of(const arenaut_tensor *image) {
    return image->dims[0] * image->dims[ARN_NCHW_C] * arn_nchw_row(image);
}

/* Rows of an image that has more elements than a small one. */
static int64_t rows_of_large(const arenaut_tensor *image) {
    return SMALL_IMAGE / row_of(image) + 1;
}

static int64_t reach_of(const arn_nchw_window *w, uint32_t axis) {
    return (w->filter[axis] - 1) * w->dilations[axis] + 1;
}

/* Whether a direct kernel takes the window, with the padding of rows and without: each window sees
 * an element, the columns that are padded are no more than it holds at once, or than the result
 * has, and padded filters that are long move in steps of one. */
static bool is_direct(const arn_nchw_window *w, const arenaut_tensor *made) {
    const uint32_t axes = arn_nchw_axes(made), last = axes - 1;
    bool padded = false, strided = false, sees = true;
    for (uint32_t k = 0; k < axes; k++) {
        padded = padded || w->before[k] > 0;
        strided = strided || w->strides[k] > 1;
        sees = sees && w->before[k] < reach_of(w, k);
    }
    const bool too_long = axes == 1 && padded && reach_of(w, 0) > LONG_WINDOW;
    return sees && !too_long && w->before[last] <= MOST_PADDING &&
           w->before[last] <= made->dims[made->rank - 1] &&
           !(w->filter[last] > LONG_FILTER && padded && strided);
}

/* The fewest rows of a tile's result, in which no more rows of padding count than it may have.
 * False if the bits may differ at any height. */
static bool rule_convolution(const arenaut_tensor *image, const arenaut_tensor *made,
                             const arn_nchw_window *w, arn_tile_op *out) {
    const bool signal = arn_nchw_axes(image) == 1;
    const bool one = w->filter[0] == 1 && (signal || w->filter[1] == 1);
    const int64_t missing = rows_of_large(image) - reach_of(w, 0) + 2 * w->before[0];
    const int64_t vectors = signal ? image->dims[ARN_NCHW_H] : arn_nchw_row(image);
    out->least = signal && w->before[0] > 1 ? w->before[0] : 1;
    if (!is_direct(w, made)) return false;
    if (out->kind == ARN_TILE_DEPTHWISE) return true;
    if (missing > 0) out->least = (missing + w->strides[0] - 1) / w->strides[0] + 1;
    if (image->dims[ARN_NCHW_H] < rows_of_large(image) || w->groups > 1) return false;
    if (one && signal) out->multiple = WIDTH;
    return !one || (w->strides[0] == 1 && (signal || w->strides[1] == 1) &&
                    image->dims[ARN_NCHW_C] <= MOST_SUMS && vectors % WIDTH == 0);
}

/* A filter of one row may be 1x1, which is a matrix product. */
static bool rule_transposed(const arenaut_tensor *image, const arn_nchw_window *w,
                            arn_tile_op *out) {
    out->least = rows_of_large(image) * w->strides[0];
    return image->dims[ARN_NCHW_H] >= rows_of_large(image) && w->groups == 1 && w->filter[0] > 1;
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

/* A float of a file is its digits: it is no zero if one of them is another, unless it may be too
 * small for single precision. */
static bool may_be_zero(const arenaut_attribute *bound) {
    if (!bound->text) return bound->n_numbers > 0 && bound->numbers[0] == 0;
    return !bound->text[strcspn(bound->text, "123456789")] || strpbrk(bound->text, "eE");
}

/* ExecuTorch's kernel takes one of 0 and -0 in vectors, and may take the other in the rest, as for
 * curves; PyTorch's and that of hardtanh do not. */
static bool is_clamp_at_zero(const arenaut_op *op) {
    const arenaut_attribute *least = arenaut_op_attribute(op, "min");
    const arenaut_attribute *most = arenaut_op_attribute(op, "max");
    return strcmp(op->name, "aten::clamp") == 0 &&
           ((least && may_be_zero(least)) || (most && may_be_zero(most)));
}

/* Whether operands are an image, then its weights, then other constants. A file may have them in
 * another order, or leave one out before others: then places do not tell. */
static bool are_in_order(const arenaut_op *op) {
    return arenaut_op_attribute(op, "operands") == NULL;
}

/* ---- windows ---- */

/* The same padding on both sides. */
static bool take_padding(const arenaut_op *op, const arenaut_tensor *image, arn_nchw_window *w) {
    const uint32_t axes = arn_nchw_axes(image);
    int64_t pads[2 * ARN_NCHW_AXES] = {0};
    if (!arn_tile_numbers(op, "pads", 2 * axes, pads)) return false;
    for (uint32_t k = 0; k < axes; k++) {
        w->before[k] = w->after[k] = pads[k];
        if (pads[k] != pads[axes + k]) return false;
    }
    return true;
}

static bool take_convolution(const arn_tile_graph *graph, const arenaut_op *op, arn_tile_op *out) {
    const arenaut_tensor *image = arn_tile_input(graph, op, 0);
    arn_nchw_window w = arn_nchw_window_begin();
    if (arn_tile_number(op, "transposed", 0) != 0 || !are_in_order(op) ||
        !arn_tile_take_kernel(graph, op, &w) || !take_padding(op, image, &w)) {
        return false;
    }
    const int64_t each = arn_tile_input(graph, op, 1)->dims[ARN_NCHW_C];
    if (w.groups > 1 && each == 1) out->kind = ARN_TILE_DEPTHWISE;
    const arenaut_tensor *made = &graph->program->tensors[op->outputs[0]];
    return arn_tile_take_nchw_convolution(graph, op, &w, out) &&
           keep_rule(graph, rule_convolution(image, made, &w, out), out);
}

/* Windows that are rounded up may reach farther in a tile than in the whole. An average over a
 * volume is refused where the window has more rows than the volume, whatever the padding. */
static bool take_pool(const arn_tile_graph *graph, const arenaut_op *op, arn_tile_op *out) {
    const arenaut_tensor *image = arn_tile_input(graph, op, 0);
    arn_nchw_window w = arn_nchw_window_begin();
    if (!arenaut_op_attribute(op, "kernel_shape") || arn_tile_number(op, "ceil_mode", 0) != 0)
        return false;
    const bool all_rows = strcmp(op->name, "aten::avg_pool3d") == 0;
    return arn_tile_take_sides(op, image, &w) && take_padding(op, image, &w) &&
           (!all_rows || w.before[0] == 0) && arn_tile_take_nchw_pool(graph, op, &w, out);
}

/* ---- more rows than there are ---- */

/* Each column of the image becomes as many as each row does. */
static bool take_blocks(const arn_tile_graph *graph, const arenaut_op *op, arn_tile_op *out) {
    const arenaut_tensor *image = arn_tile_input(graph, op, 0);
    const arenaut_tensor *made = &graph->program->tensors[op->outputs[0]];
    bool takes = arn_tile_take_blocks(graph, op, out);
    for (uint32_t i = ARN_NCHW_H + 1; i < image->rank && takes; i++) {
        takes = made->dims[i] == out->window[ARN_AXIS_H].filter * image->dims[i];
    }
    return takes;
}

/* By factors that are arguments: sizes would be those of the whole. They are powers of two: then
 * places are exact in floating point, whatever part of the image they are in. */
static bool take_resize(const arn_tile_graph *graph, const arenaut_op *op, bool linear,
                        arn_tile_op *out) {
    const arenaut_tensor *image = arn_tile_input(graph, op, 0);
    const arenaut_tensor *made = &graph->program->tensors[op->outputs[0]];
    int64_t scales[ARN_NCHW_AXES] = {0};
    const uint32_t axes = arn_nchw_axes(image);
    if (op->n_inputs != 1 || !take_blocks(graph, op, out) ||
        made->dims[ARN_NCHW_C] != image->dims[ARN_NCHW_C] ||
        arenaut_op_attribute(op, "output_size") || !arn_tile_numbers(op, "scales", axes, scales)) {
        return false;
    }
    arn_tile_window *rows = &out->window[ARN_AXIS_H];
    for (uint32_t k = 0; k < axes; k++) {
        if (scales[k] != rows->up || (rows->up & (rows->up - 1)) != 0) return false;
    }
    if (!linear) return true;
    rows->filter = 2 * rows->up;
    rows->before = rows->up / 2;
    if (axes == 2) out->least = LEAST_SIDES - arn_nchw_row(made);
    return arn_tile_number(op, "align_corners", 0) == 0 &&
           keep_rule(graph, out->least <= made->dims[ARN_NCHW_H], out);
}

/* Weights by input channel, then output channel; windows side by side. */
static bool take_transposed(const arn_tile_graph *graph, const arenaut_op *op, arn_tile_op *out) {
    const arenaut_tensor *image = arn_tile_input(graph, op, 0);
    const int64_t nothing[ARN_NCHW_AXES] = {0};
    arn_nchw_window w = arn_nchw_window_begin();
    int64_t more[ARN_NCHW_AXES] = {0};
    if (!are_in_order(op) || !arn_tile_take_kernel(graph, op, &w) || !take_padding(op, image, &w) ||
        !arn_tile_numbers(op, "output_padding", arn_nchw_axes(image), more)) {
        return false;
    }
    for (uint32_t k = 0; k < arn_nchw_axes(image); k++) {
        if (more[k] != 0 || w.before[k] != 0 || w.filter[k] != w.strides[k]) return false;
    }
    if (!arn_tile_take_nchw_transposed(graph, op, &w, nothing, out)) return false;
    out->kind = ARN_TILE_CONV;
    out->pads_sides = false;
    out->in_blocks = true;
    return keep_rule(graph, rule_transposed(image, &w, out), out);
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
    if (strstr(op->name, "::upsample_")) {
        return take_resize(graph, op, strstr(op->name, "linear") != NULL, out);
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
    const uint32_t rank = arn_tile_input(graph, op, 0)->rank;
    int64_t pads[2 * ARN_IMAGE_RANK] = {0};
    const bool reflects = strcmp(text, "reflect") == 0;
    if (op->n_inputs != 1 || !arenaut_op_attribute(op, "pads") ||
        !arn_tile_numbers(op, "pads", 2 * rank, pads)) {
        return false;
    }
    return (reflects || strcmp(text, "replicate") == 0 || strcmp(text, "constant") == 0) &&
           arn_tile_take_nchw_margin(graph, op, pads, reflects, out);
}

/* ---- all of them ---- */

/* Numbers for each channel, whichever they are, and one result: not that of training. */
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

/* Operators whose kernels make the same bits of a tile, as measured; those on volumes excepted. The
 * rank tells an image that has a batch from one without, which is not tiled: the operator is for
 * images of so many axes. */
static const struct {
    const char *name;
    uint32_t rank; /* of images that have a batch; 0: of any */
} tileable[] = {
    {"aten::conv1d", 3},
    {"aten::conv2d", 4},
    {"aten::conv3d", 5},
    {"aten::convolution", 0},
    {"aten::max_pool1d", 3},
    {"aten::max_pool2d", 4},
    {"aten::max_pool3d", 5},
    {"aten::avg_pool1d", 3},
    {"aten::avg_pool2d", 4},
    {"aten::avg_pool3d", 5},
    {"aten::batch_norm", 0},
    {"aten::cat", 0},
    {"aten::pad", 0},
    {"aten::constant_pad_nd", 0},
    {"aten::add.Tensor", 0},
    {"aten::sub.Tensor", 0},
    {"aten::mul.Tensor", 0},
    {"aten::div.Tensor", 0},
    {"aten::relu", 0},
    {"aten::relu6", 0},
    {"aten::hardtanh", 0},
    {"aten::leaky_relu", 0},
    {"aten::sigmoid", 0},
    {"aten::silu", 0},
    {"aten::hardswish", 0},
    {"aten::tanh", 0},
    {"aten::gelu", 0},
    {"aten::clamp", 0},
    {"aten::hardsigmoid", 0},
    {"aten::conv_transpose1d", 3},
    {"aten::conv_transpose2d.input", 4},
    {"aten::conv_transpose3d.input", 5},
    {"aten::upsample_nearest1d.vec", 3},
    {"aten::upsample_nearest2d.vec", 4},
    {"aten::upsample_linear1d.vec", 3},
    {"aten::upsample_bilinear2d.vec", 4},
    {"aten::pixel_shuffle", 4},
    {"aten::pixel_unshuffle", 4},
};

static bool is_tileable(const arn_tile_graph *graph, const arenaut_op *op) {
    const arenaut_tensor *image = arn_tile_input(graph, op, 0);
    for (size_t i = 0; op->name && image && i < sizeof tileable / sizeof *tileable; i++) {
        if (strcmp(tileable[i].name, op->name) != 0) continue;
        return tileable[i].rank == 0 || tileable[i].rank == image->rank;
    }
    return false;
}

/* A sum with a multiple of its second operand, one of the two being repeated: vectors multiply and
 * add at once, and the rest of a tensor does not, so that it is rounded twice. */
static bool sums_repeated(const arn_tile_graph *graph, const arenaut_op *op) {
    const arenaut_attribute *alpha = arenaut_op_attribute(op, "alpha");
    if (!alpha || (alpha->text ? strcmp(alpha->text, "1.0") == 0
                               : alpha->n_numbers == 1 && alpha->numbers[0] == 1)) {
        return false;
    }
    const uint64_t bytes = graph->program->tensors[op->outputs[0]].bytes;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        if (arn_tile_input(graph, op, i)->bytes != bytes) return true;
    }
    return op->n_inputs < 2;
}

static bool take_elementwise(const arn_tile_graph *graph, const arenaut_op *op, arn_tile_op *out) {
    const arenaut_tensor *made = &graph->program->tensors[op->outputs[0]];
    if (!arn_tile_take_elementwise(graph, op, out)) return false;
    if (is_curve(op->name) || is_clamp_at_zero(op))
        return keep_rule(graph, rule_curve(made, out), out);
    return !sums_repeated(graph, op) || keep_rule(graph, false, out);
}

/* Whether the op averages all elements of each channel of an image of two axes. */
static bool averages_all(const arenaut_op *op) {
    int64_t sides[2] = {0}, axes[2] = {0};
    if (!op->name) return false;
    if (strcmp(op->name, "aten::adaptive_avg_pool2d") == 0) {
        return arn_tile_numbers(op, "output_size", 2, sides) && sides[0] == 1 && sides[1] == 1;
    }
    if (strcmp(op->name, "aten::mean.dim") != 0 || arenaut_op_attribute(op, "dtype") ||
        !arn_tile_numbers(op, "axis", 2, axes)) {
        return false;
    }
    const int64_t low = axes[0] < 0 ? axes[0] + OF_IMAGES : axes[0];
    const int64_t high = axes[1] < 0 ? axes[1] + OF_IMAGES : axes[1];
    return low + high == 2 * ARN_NCHW_H + 1 && (low == ARN_NCHW_H || high == ARN_NCHW_H);
}

/* An average over all of an image. */
static bool take_reduction(const arn_tile_graph *graph, const arenaut_op *op, arn_tile_op *out) {
    if (op->n_inputs != 1 || !averages_all(op)) return false;
    return arn_tile_take_reduction(graph, op, ARN_MOVE_AVERAGE, out) && are_float(graph, op) &&
           arn_tile_input(graph, op, 0)->rank == OF_IMAGES && keep_rule(graph, false, out);
}

/* ---- normalizations ---- */

static const char usual_epsilon[] = "1e-05";

/* Whether the numbers of images, channels and places that the op states are those of the image: its
 * kernel divides the elements by these, whatever the image's dimensions are. */
static bool states_image(const arenaut_op *op, const arenaut_tensor *image) {
    const int64_t places = image->dims[ARN_NCHW_H] * arn_nchw_row(image);
    return arn_tile_number(op, "N", ARN_TILE_UNKNOWN) == image->dims[0] &&
           arn_tile_number(op, "C", ARN_TILE_UNKNOWN) == image->dims[ARN_NCHW_C] &&
           arn_tile_number(op, "HxW", ARN_TILE_UNKNOWN) == places;
}

/* Channels of an image are normalized in groups, by statistics of all its rows. */
static int64_t count_groups(const arenaut_op *op, const arenaut_tensor *image) {
    if (strcmp(op->name, "aten::group_norm") == 0) {
        return arn_tile_number(op, "num_groups", ARN_TILE_UNKNOWN);
    }
    if (strcmp(op->name, "aten::native_group_norm") == 0) {
        return states_image(op, image) ? arn_tile_number(op, "group", ARN_TILE_UNKNOWN)
                                       : ARN_TILE_UNKNOWN;
    }
    const bool by_image = arn_tile_number(op, "use_input_stats", ARN_TILE_UNKNOWN) == 1;
    return strcmp(op->name, "aten::instance_norm") == 0 && by_image ? image->dims[ARN_NCHW_C]
                                                                    : ARN_TILE_UNKNOWN;
}

/* A factor and a summand of each channel, or none of either. */
static bool has_constants(const arn_tile_graph *graph, const arenaut_op *op, int64_t channels) {
    if ((op->n_inputs != 1 && op->n_inputs != 3) || !are_in_order(op)) return false;
    for (uint32_t i = 1; i < op->n_inputs; i++) {
        const arenaut_tensor *each = arn_tile_input(graph, op, i);
        if (!each || each->cls != ARENAUT_CONSTANT || each->rank != 1 ||
            each->dims[0] != channels || each->dtype != ARENAUT_DTYPE_FLOAT32) {
            return false;
        }
    }
    return true;
}

/* Nothing reads the statistics that it makes, too. */
static bool makes_image_alone(const arn_tile_graph *graph, const arenaut_op *op) {
    for (uint32_t i = 1; i < op->n_outputs; i++) {
        const uint32_t t = op->outputs[i];
        if (t != ARENAUT_NONE && (graph->uses[t].n_uses > 0 || graph->uses[t].wanted)) return false;
    }
    const arenaut_op image = {.kind = op->kind,
                              .inputs = op->inputs,
                              .outputs = op->outputs,
                              .n_inputs = op->n_inputs,
                              .n_outputs = op->n_outputs > 0,
                              .n_scratch = op->n_scratch};
    return arn_tile_makes_image(graph, &image);
}

/* Of digits: a file states it as it stands. */
static bool is_number(const char *text) {
    return text && text[0] != '\0' && text[strspn(text, "0123456789+-.eE")] == '\0';
}

static bool is_same_image(const arenaut_tensor *a, const arenaut_tensor *b) {
    return a->rank == b->rank && a->dtype == b->dtype && a->dtype == ARENAUT_DTYPE_FLOAT32 &&
           memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) == 0;
}

static bool take_norm(const arn_tile_graph *graph, const arenaut_op *op, arn_tile_op *out) {
    const arn_op_row *row = op->name ? arn_op_row_find(ARN_OPS_ATEN, op->name) : NULL;
    if (!row || row->family != ARN_FAMILY_NORMALIZATION || !makes_image_alone(graph, op) ||
        !arn_tile_is_image(graph, op->inputs[0]) || arn_tile_is_fixed(graph, op->inputs[0])) {
        return false;
    }
    const arenaut_tensor *image = arn_tile_input(graph, op, 0);
    const int64_t channels = image->dims[ARN_NCHW_C], groups = count_groups(op, image);
    const arenaut_attribute *epsilon = arenaut_op_attribute(op, "eps");
    out->number = epsilon ? epsilon->text : usual_epsilon;
    return is_same_image(image, &graph->program->tensors[op->outputs[0]]) &&
           has_constants(graph, op, channels) && is_number(out->number) &&
           arn_tile_take_norm(image, groups, out) && keep_rule(graph, false, out);
}

/* ---- all of them, by name ---- */

static bool take_any(const arn_tile_graph *graph, const arenaut_op *op, arn_tile_op *out) {
    const arn_op_row *row = is_tileable(graph, op) ? arn_op_row_find(ARN_OPS_ATEN, op->name) : NULL;
    if (!row || !arn_tile_makes_image(graph, op) || !are_float(graph, op)) return false;
    out->kind = arn_tile_kind_of(row);
    if (row->family == ARN_FAMILY_NORMALIZATION) return take_normalization(graph, op, out);
    if (out->kind == ARN_TILE_ELEMENTWISE) return take_elementwise(graph, op, out);
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

/* A convolution of a volume makes other bits of any tile, and of other operators on volumes nothing
 * was measured. */
static bool take_op(const arn_tile_graph *graph, const arenaut_op *op, arn_tile_op *out) {
    if (take_norm(graph, op, out)) return true;
    if (!out->is_rounded && take_reduction(graph, op, out)) return true;
    if (out->is_rounded || !take_any(graph, op, out)) return false;
    return graph->program->tensors[op->outputs[0]].rank < OF_VOLUMES ||
           keep_rule(graph, false, out);
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

/* Along the columns of each row, or all axes of an image but the channels; `first` of them all. */
static uint32_t describe_mean(uint32_t first, uint32_t rank, arenaut_attribute *attributes) {
    static const int64_t axes[] = {0, 1, 2, 3, 4}, keeps = 1;
    attributes[0] = (arenaut_attribute){"axis", rank - first, axes + first, NULL};
    attributes[1] = (arenaut_attribute){"keepdim", 1, &keeps, NULL};
    return 2;
}

static uint32_t describe_place(const arn_draft_op *op, arenaut_attribute *attributes) {
    attributes[0] = (arenaut_attribute){"axis", 1, &op->axis, NULL};
    attributes[1] = (arenaut_attribute){"start", 1, &op->begin, NULL};
    attributes[2] = (arenaut_attribute){"end", 1, &op->end, NULL};
    return op->move == ARN_MOVE_SLICE ? 3 : 1;
}

/* As the reader has them. */
static uint32_t describe_move(const arn_draft_op *op, arenaut_attribute *attributes) {
    switch (op->move) {
        case ARN_MOVE_AVERAGE:
            return describe_mean(ARN_NCHW_H + 1, ARN_NCHW_H + op->n_pads, attributes);
        case ARN_MOVE_MEAN: return describe_mean(ARN_NCHW_H, op->n_pads, attributes);
        case ARN_MOVE_ALIAS:
        case ARN_MOVE_EXPAND:
            attributes[0] = (arenaut_attribute){"size", op->n_pads, op->pads, NULL};
            return 1;
        case ARN_MOVE_RAISE:
            attributes[0] = (arenaut_attribute){"other", 0, NULL, op->number};
            return 1;
        case ARN_MOVE_SLICE:
        case ARN_MOVE_JOIN: return describe_place(op, attributes);
        default: return 0;
    }
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
    .dim = {[ARN_AXIS_H] = 2, [ARN_AXIS_W] = 3, [ARN_AXIS_V] = 4, [ARN_AXIS_C] = ARN_NCHW_C},
    .least_rank = 3,
    .most_rank = OF_VOLUMES,
    .mover = {[ARN_MOVE_SLICE] = "aten::slice_copy.Tensor",
              [ARN_MOVE_JOIN] = "aten::cat",
              [ARN_MOVE_AVERAGE] = "aten::mean.dim",
              [ARN_MOVE_ADD] = "aten::add.Tensor",
              [ARN_MOVE_SUB] = "aten::sub.Tensor",
              [ARN_MOVE_MUL] = "aten::mul.Tensor",
              [ARN_MOVE_RAISE] = "aten::add.Scalar",
              [ARN_MOVE_MEAN] = "aten::mean.dim",
              [ARN_MOVE_ROOT] = "aten::sqrt",
              [ARN_MOVE_INVERSE] = "aten::reciprocal",
              [ARN_MOVE_ALIAS] = "aten::view_copy",
              [ARN_MOVE_EXPAND] = "aten::expand_copy"},
    .kind = ARENAUT_OP_FUNCTIONAL,
    .numbers = ARENAUT_DTYPE_INT64,
    .most_joined = UINT32_MAX,
    .broadcasts = true,
    .batches = true,
    .inputs_apart = true,
    .states_numbers = true,
    .many_tiles = true,
    .own_heights = LONG_GROUP,
    .most_macs = {true, MOST_MACS},
    .kept = KEPT_PER_NODE,
    .keeps_state = true,
    .same_bits =
        "the tiles compute the same bits in PyTorch with one thread, on x86-64 with AVX2 or "
        "AVX-512; with more threads, functions such as sigmoid may be rounded otherwise",
    .refuse = refuse,
    .take_operator = take_operator,
    .describe_move = describe_move,
    .describe_part = describe_part,
};
