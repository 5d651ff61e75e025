/* Tiles of ONNX's operators, on images NCHW, signals NCL and volumes NCDHW in float32. Windows:
 * from attributes and sizes; a part of a convolution or a pool has padding of its own. Moves: Slice
 * and Concat. ONNX Runtime runs nodes in a sequence of its own, all tiles of one op before the next
 * op if nothing forbids it: order edges do. A tile's slices begin at places that are computed from
 * one element of each result of the tile before (GatherND, Max), by way of where its greatest
 * element lies (ArgMax of a list of one: 0, for any element). Shapes would not do, since the
 * runtime folds them.
 *
 * And it plans by shapes, before it runs: for each value whose rank it knows it looks through all
 * that are free by then, in time that grows as the square of their number. What tiles read of whole
 * images are aliases, reshaped to the shape that they have: a computed one, in a list of which the
 * runtime does not know the rank either (a sum with what Squeeze makes along a computed axis). So
 * it knows no rank of anything behind them.
 *
 * Tiles need Slice and Pad with operands, GatherND, and Squeeze along an operand: version 13 of the
 * operators has all in the form that is written here. */
#include <string.h>

#include "rewrite/tile_dialects/tile_onnx.h"

enum {
    FIRST_OPSET = 13,
    MOST_MACS = 5,           /* percent */
    KEPT_PER_NODE = 3 << 10, /* bytes of a process that has loaded the model, measured */
};

/* ---- least heights ---- */

typedef struct least_height {
    const char *name;
    int64_t rows; /* 0: see below */
} least_height;

/* The tile rule: operators whose kernels in ONNX Runtime (1.31, CPU, each level of optimization)
 * make the same bits of a tile of at least so many rows as of the whole, measured by
 * examples/measure_tiles.py. ARN_TILE_NEVER: not so at any height, since the last elements of a
 * tensor take another path than those before. A pool over all of an image is another kernel (of 0
 * and -0 it takes the other as the greatest), so that a tile has two of them at least. Sums within
 * each row: tests/pytest/test_split_onnx.py. */
static const least_height least_heights[] = {
    {"Conv", 0},
    {"ConvTranspose", 0},
    {"MaxPool", 2},
    {"AveragePool", 2},
    {"Concat", 1},
    {"Pad", 1},
    {"Resize", 1},
    {"DepthToSpace", 1},
    {"SpaceToDepth", 1},
    {"BatchNormalization", 1},
    {"Softmax", 1},
    {"LogSoftmax", 1},
    {"LayerNormalization", 1},
    {"ReduceMean", 1},
    {"ReduceMax", 1},
    {"Add", 1},
    {"Sub", 1},
    {"Mul", 1},
    {"Div", 1},
    {"Pow", 1},
    {"Relu", 1},
    {"Clip", 1},
    {"LeakyRelu", 1},
    {"PRelu", 1},
    {"ThresholdedRelu", 1},
    {"Sigmoid", 1},
    {"HardSigmoid", 1},
    {"HardSwish", 1},
    {"Tanh", 1},
    {"Exp", 1},
    {"Erf", 1},
    {"Gelu", 1},
    {"Abs", 1},
    {"Neg", 1},
    {"Sqrt", 1},
    {"Reciprocal", 1},
    {"Softsign", 1},
    {"Floor", 1},
    {"Ceil", 1},
    {"Round", 1},
    {"Max", ARN_TILE_NEVER}, /* of zeros of both signs by where they lie */
    {"Min", ARN_TILE_NEVER},
    {"Log", ARN_TILE_NEVER},
    {"Softplus", ARN_TILE_NEVER},
    {"Mish", ARN_TILE_NEVER},
    {"Elu", ARN_TILE_NEVER},
    {"Selu", ARN_TILE_NEVER},
    {"Celu", ARN_TILE_NEVER},
    {"Sin", ARN_TILE_NEVER},
    {"Cos", ARN_TILE_NEVER},
    {"Atan", ARN_TILE_NEVER},
};

static const least_height *find_least(const char *name) {
    for (size_t i = 0; name && i < sizeof least_heights / sizeof *least_heights; i++) {
        if (strcmp(least_heights[i].name, name) == 0) return &least_heights[i];
    }
    return NULL;
}

/* Numbers of float32, as a program keeps them. */
static double number_at(const arenaut_tensor *list, uint32_t i) {
    double number;
    memcpy(&number, &list->values[i], sizeof number);
    return number;
}

/* Max or Min of an image and one number: either is taken, or both have the same bits, unless that
 * number is a zero. */
static bool is_bound_by_number(const arn_tile_graph *graph, const arenaut_op *op) {
    if ((strcmp(op->name, "Max") != 0 && strcmp(op->name, "Min") != 0) || op->n_inputs != 2)
        return false;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const arenaut_tensor *in = arn_tile_input(graph, op, i);
        if (in && in->cls == ARENAUT_CONSTANT && in->n_values == 1 && number_at(in, 0) != 0)
            return true;
    }
    return false;
}

/* NEVER: no tile has the same bits. */
static int64_t least_rows(const arn_tile_graph *graph, const arenaut_op *op) {
    return is_bound_by_number(graph, op) ? 1 : find_least(op->name)->rows;
}

/* Convolutions are matrix products, which sum up more than 128 products in several sums, of another
 * size if a thread has 64 places of the result or fewer, and otherwise differ for one place alone.
 * Threads have equal shares of the places, rounded up to 16, and the last one the rest; or blocks
 * of 16 places, each as many or one more. */
enum { THREADS = 8, SHARE_UNIT = 16, FEW_PLACES = 64, ONE_SUM = 128 };

/* So many threads or fewer have more than `few` of the places each. */
static bool all_have_more(int64_t places, int64_t few) {
    const int64_t blocks = (places + SHARE_UNIT - 1) / SHARE_UNIT;
    for (int64_t threads = 2; threads <= THREADS; threads++) {
        const int64_t each = (places + threads - 1) / threads;
        const int64_t stride = (each + SHARE_UNIT - 1) / SHARE_UNIT * SHARE_UNIT;
        const int64_t least = blocks > threads ? blocks / threads : 1;
        const int64_t rest = (places - 1) % stride + 1;
        if (rest <= few || least * SHARE_UNIT - (blocks * SHARE_UNIT - places) <= few) return false;
    }
    return places > few;
}

/* The numbers of rows that a tile may have of a product with `all` rows of `width` places. */
static void take_product(arn_tile_op *out, int64_t sums, int64_t width, int64_t all) {
    const int64_t few = sums > ONE_SUM ? FEW_PLACES : 1;
    const int64_t enough = few * THREADS + SHARE_UNIT * (int64_t)(THREADS - 1) * (THREADS - 1);
    out->least = all_have_more(all * width, few) ? enough / width + 1 : ARN_TILE_NEVER;
    for (int64_t rows = 1; rows < ARN_TILE_ALSO && rows < out->least; rows++) {
        if (out->least < ARN_TILE_NEVER && all_have_more(rows * width, few))
            out->also |= (uint64_t)1 << rows;
    }
}

/* ---- windows ---- */

/* Padding so that the result has an element for each stride; the odd one behind, or in front. Where
 * a window is dilated, or a stride is longer, ONNX Runtime pads otherwise, or cuts the image. */
static bool pad_same(arn_nchw_window *w, const arenaut_tensor *image, bool upper) {
    const int64_t *in = image->dims + ARN_NCHW_H;
    for (uint32_t k = 0; k < arn_nchw_axes(image); k++) {
        const int64_t out = (in[k] + w->strides[k] - 1) / w->strides[k];
        const int64_t reach = (w->filter[k] - 1) * w->dilations[k] + 1;
        const int64_t missing = (out - 1) * w->strides[k] + reach - in[k];
        const int64_t total = missing > 0 ? missing : 0;
        if (w->dilations[k] != 1 || missing < -1) return false;
        w->before[k] = upper ? total / 2 : total - total / 2;
        w->after[k] = total - w->before[k];
    }
    return true;
}

static bool take_padding(const arenaut_op *op, const arenaut_tensor *image, arn_nchw_window *w) {
    const arenaut_attribute *rule = arenaut_op_attribute(op, "auto_pad");
    const uint32_t axes = arn_nchw_axes(image);
    int64_t pads[2 * ARN_NCHW_AXES] = {0};
    if (rule && rule->text && strcmp(rule->text, "NOTSET") != 0) {
        const bool upper = strcmp(rule->text, "SAME_UPPER") == 0;
        if (!upper && strcmp(rule->text, "SAME_LOWER") != 0) {
            return strcmp(rule->text, "VALID") == 0;
        }
        return pad_same(w, image, upper);
    }
    if (!arn_tile_numbers(op, "pads", 2 * axes, pads)) return false;
    for (uint32_t k = 0; k < axes; k++) {
        w->before[k] = pads[k];
        w->after[k] = pads[axes + k];
    }
    return true;
}

/* Products that an element of the result is the sum of. */
static int64_t count_sums(const arenaut_tensor *weights, const arn_nchw_window *w) {
    int64_t sums = weights->dims[1];
    for (uint32_t k = 0; k < arn_nchw_axes(weights); k++) sums *= w->filter[k];
    return sums;
}

/* A product with one column of an image takes another path; a signal's has none. */
static bool is_one_column(const arenaut_tensor *image) {
    return arn_nchw_axes(image) > 1 && arn_nchw_row(image) == 1;
}

static bool take_convolution(const arn_tile_graph *graph, const arenaut_op *op, arn_tile_op *out) {
    const arenaut_tensor *weights = arn_tile_input(graph, op, 1);
    const arenaut_tensor *made = &graph->program->tensors[op->outputs[0]];
    arn_nchw_window w = arn_nchw_window_begin();
    if (!arn_tile_take_kernel(graph, op, &w)) return false;
    const bool depthwise = w.groups > 1 && weights->dims[1] == 1;
    if (depthwise) out->kind = ARN_TILE_DEPTHWISE;
    if (is_one_column(made) || (depthwise && weights->dims[0] > w.groups))
        out->least = ARN_TILE_NEVER;
    else take_product(out, count_sums(weights, &w), arn_nchw_row(made), made->dims[ARN_NCHW_H]);
    return take_padding(op, arn_tile_input(graph, op, 0), &w) &&
           arn_tile_take_nchw_convolution(graph, op, &w, out);
}

static bool take_transposed(const arn_tile_graph *graph, const arenaut_op *op, arn_tile_op *out) {
    const arenaut_tensor *image = arn_tile_input(graph, op, 0);
    const arenaut_tensor *weights = arn_tile_input(graph, op, 1);
    const arenaut_attribute *rule = arenaut_op_attribute(op, "auto_pad");
    arn_nchw_window w = arn_nchw_window_begin();
    int64_t extra[ARN_NCHW_AXES] = {0};
    if ((rule && rule->text && strcmp(rule->text, "NOTSET") != 0) ||
        arenaut_op_attribute(op, "output_shape") || !arn_tile_take_kernel(graph, op, &w)) {
        return false;
    }
    out->kind = ARN_TILE_CONV;
    const int64_t sums = weights->dims[0] / (w.groups > 0 ? w.groups : 1);
    const int64_t up = w.filter[0]; /* no more rows for each of the operand */
    if (!arn_tile_numbers(op, "output_padding", arn_nchw_axes(image), extra) ||
        !take_padding(op, image, &w) || !arn_tile_take_nchw_transposed(graph, op, &w, extra, out)) {
        return false;
    }
    if (is_one_column(image)) out->least = ARN_TILE_NEVER;
    else take_product(out, sums, arn_nchw_row(image), image->dims[ARN_NCHW_H]);
    const bool in_blocks = up == w.strides[0] && w.before[0] + w.after[0] + extra[0] == 0;
    if (!in_blocks) out->also = 0;
    /* At the lower edge a window that is higher than its stride sees a row that is not there. */
    if (out->least < ARN_TILE_NEVER) out->least = (out->least + !in_blocks) * up;
    return true;
}

static bool is_text(const arenaut_op *op, const char *name, const char *otherwise,
                    const char *wanted) {
    const arenaut_attribute *a = arenaut_op_attribute(op, name);
    return strcmp(a && a->text ? a->text : otherwise, wanted) == 0;
}

/* ---- a constant padding in front of a pool ---- */

/* With optimization on, ONNX Runtime moves the padding into a pool that alone reads it and has no
 * auto_pad, where it is no number any more. A tile may have another rule or another number of
 * readers than the whole, and then computes other values: both are left as they are. */
static bool pads_with_a_number(const arenaut_op *op) {
    return op->name && strcmp(op->name, "Pad") == 0 && is_text(op, "mode", "constant", "constant");
}

static bool is_windowed_pool(const arenaut_op *op) {
    return op->name && (strcmp(op->name, "MaxPool") == 0 || strcmp(op->name, "AveragePool") == 0);
}

static bool is_pool_of_pad(const arn_tile_graph *graph, const arenaut_op *op) {
    const uint32_t from = arn_tile_def(graph, op->inputs[0]);
    return from != ARENAUT_NONE && is_windowed_pool(op) &&
           pads_with_a_number(&graph->program->ops[from]);
}

static bool is_read_by_a_pool(const arn_tile_graph *graph, const arenaut_op *pad) {
    const uint32_t made = pad->outputs[0], last = graph->uses[made].last_use;
    for (uint32_t at = graph->uses[made].last_def; last != ARENAUT_NONE && at <= last; at++) {
        const arenaut_op *op = &graph->program->ops[at];
        if (is_windowed_pool(op) && op->n_inputs > 0 && op->inputs[0] == made) return true;
    }
    return false;
}

/* An average that counts padding depends on how its last windows are rounded. */
static bool take_pool(const arn_tile_graph *graph, const arenaut_op *op, arn_tile_op *out) {
    arn_nchw_window w = arn_nchw_window_begin();
    const arenaut_tensor *image = arn_tile_input(graph, op, 0);
    const bool counts_padding = arn_tile_number(op, "count_include_pad", 0) != 0;
    const int64_t rounds_up = arn_tile_number(op, "ceil_mode", 0);
    if (!arenaut_op_attribute(op, "kernel_shape") || rounds_up < 0 || rounds_up > 1) return false;
    w.rounds_up = rounds_up == 1 && !counts_padding;
    return !is_pool_of_pad(graph, op) && arn_tile_take_sides(op, image, &w) &&
           take_padding(op, image, &w) && arn_tile_take_nchw_pool(graph, op, &w, out);
}

/* Numbers for each channel, and one result: not that of training. */
static bool take_normalization(const arn_tile_graph *graph, const arenaut_op *op,
                               arn_tile_op *out) {
    const arenaut_op image = {
        .inputs = op->inputs, .outputs = op->outputs, .n_inputs = 1, .n_outputs = 1};
    if (op->n_inputs != 5 || arn_tile_number(op, "training_mode", 0) != 0) return false;
    for (uint32_t i = 1; i < op->n_inputs; i++) {
        const arenaut_tensor *each = arn_tile_input(graph, op, i);
        if (!each || !arn_tile_is_fixed(graph, op->inputs[i]) || each->rank != 1) return false;
    }
    out->kind = ARN_TILE_ELEMENTWISE;
    return arn_tile_take_elementwise(graph, &image, out);
}

/* ---- resized images ---- */

enum { NEAREST_UP = 8, LINEAR_UP = 64 }; /* so that places are exact in float32 */

/* Row i shows row i / up, rounded down. */
static bool is_nearest(const arenaut_op *op, int64_t up) {
    const bool halves = is_text(op, "coordinate_transformation_mode", "half_pixel", "half_pixel");
    const bool whole = is_text(op, "coordinate_transformation_mode", "half_pixel", "asymmetric");
    const char *const mode = "round_prefer_floor";
    if (up > NEAREST_UP) return false;
    if (halves) return is_text(op, "nearest_mode", mode, mode);
    return whole && (is_text(op, "nearest_mode", mode, "floor") ||
                     (up == 2 && is_text(op, "nearest_mode", mode, mode)));
}

/* Row i lies between two rows: of those around (i + 1/2) / up - 1/2, or i / up. Places have no
 * rounding errors, wherever the tile begins, if `up` is a power of two. */
static bool take_linear(const arenaut_op *op, int64_t up, arn_tile_window *w) {
    const char *const name = "coordinate_transformation_mode", *const usual = "half_pixel";
    const bool halves =
        is_text(op, name, usual, usual) || is_text(op, name, usual, "pytorch_half_pixel");
    w->filter = 2 * up;
    w->before = halves ? up / 2 : up;
    return up <= LINEAR_UP && (up & (up - 1)) == 0 &&
           (halves || is_text(op, name, usual, "asymmetric"));
}

/* The scale of heights is given as it is, or by the sizes of the result, which then are whole
 * multiples of the image's. */
static bool take_scale(const arn_tile_graph *graph, const arenaut_op *op, arn_tile_op *out) {
    const arenaut_tensor *scales = arn_tile_input(graph, op, 2);
    const arenaut_tensor *sizes = arn_tile_input(graph, op, 3);
    const arenaut_tensor *image = arn_tile_input(graph, op, 0);
    const arenaut_tensor *made = &graph->program->tensors[op->outputs[0]];
    if (sizes && sizes->n_values == image->rank && sizes->values) {
        bool whole = !scales || scales->bytes == 0;
        for (uint32_t i = 0; i < image->rank; i++)
            whole = whole && made->dims[i] % image->dims[i] == 0;
        out->scales = 2;
        return whole;
    }
    return !sizes && scales && scales->cls == ARENAUT_CONSTANT && scales->values &&
           scales->n_values == image->rank &&
           number_at(scales, ARN_NCHW_H) == (double)out->window[ARN_AXIS_H].up;
}

static bool take_resize(const arn_tile_graph *graph, const arenaut_op *op, arn_tile_op *out) {
    const arenaut_tensor *image = arn_tile_input(graph, op, 0);
    const arenaut_tensor *made = &graph->program->tensors[op->outputs[0]];
    arn_tile_window *w = &out->window[ARN_AXIS_H];
    if (!arn_tile_take_blocks(graph, op, out) || !take_scale(graph, op, out)) return false;
    if (made->dims[ARN_NCHW_C] != image->dims[ARN_NCHW_C] || arenaut_op_attribute(op, "axes") ||
        arn_tile_number(op, "antialias", 0) != 0 ||
        !is_text(op, "keep_aspect_ratio_policy", "stretch", "stretch")) {
        return false;
    }
    return is_text(op, "mode", "nearest", "linear")
               ? take_linear(op, w->up, w)
               : is_text(op, "mode", "nearest", "nearest") && is_nearest(op, w->up);
}

static bool take_shuffle(const arn_tile_graph *graph, const arenaut_op *op, arn_tile_op *out) {
    return op->n_inputs == 1 && arn_tile_input(graph, op, 0)->rank == 4 &&
           arn_tile_take_blocks(graph, op, out) &&
           arn_tile_number(op, "blocksize", ARN_TILE_UNKNOWN) == out->window[ARN_AXIS_H].up;
}

static bool take_unshuffle(const arn_tile_graph *graph, const arenaut_op *op, arn_tile_op *out) {
    return arn_tile_take_nchw_unshuffle(graph, op,
                                        arn_tile_number(op, "blocksize", ARN_TILE_UNKNOWN), out);
}

/* A value around, or rows and columns of the image again. */
static bool take_pad(const arn_tile_graph *graph, const arenaut_op *op, arn_tile_op *out) {
    const arenaut_tensor *pads = arn_tile_input(graph, op, 1);
    const char *const usual = "constant";
    const bool reflects = is_text(op, "mode", usual, "reflect");
    if (!pads || pads->n_values != (uint64_t)2 * arn_tile_input(graph, op, 0)->rank ||
        !pads->values || op->n_inputs > 3) {
        return false;
    }
    if (arn_tile_input(graph, op, 2) && !arn_tile_is_fixed(graph, op->inputs[2])) return false;
    if (pads_with_a_number(op) && is_read_by_a_pool(graph, op)) return false;
    return (reflects || is_text(op, "mode", usual, "edge") || is_text(op, "mode", usual, usual)) &&
           arn_tile_take_nchw_margin(graph, op, pads->values, reflects, out);
}

/* ---- operators by name ---- */

/* Operators of families that do not tell how they see an image. */
static arn_tile_taker *find_taker(const char *name) {
    static const struct {
        const char *name;
        arn_tile_taker *take;
    } takers[] = {{"ConvTranspose", take_transposed},
                  {"Resize", take_resize},
                  {"DepthToSpace", take_shuffle},
                  {"SpaceToDepth", take_unshuffle},
                  {"Pad", take_pad},
                  {"BatchNormalization", take_normalization},
                  {"Softmax", arn_onnx_take_softmax},
                  {"LogSoftmax", arn_onnx_take_softmax},
                  {"LayerNormalization", arn_onnx_take_layer},
                  {"ReduceMean", arn_onnx_take_channels},
                  {"ReduceMax", arn_onnx_take_channels}};
    for (size_t i = 0; i < sizeof takers / sizeof *takers; i++) {
        if (strcmp(takers[i].name, name) == 0) return takers[i].take;
    }
    return NULL;
}

/* But for lists of sizes. */
static bool are_float(const arn_tile_graph *graph, const arenaut_op *op) {
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const arenaut_tensor *in = arn_tile_input(graph, op, i);
        const bool sizes = in && i > 0 && in->dtype == ARENAUT_DTYPE_INT64;
        if (in && in->dtype != ARENAUT_DTYPE_FLOAT32 && !sizes) return false;
    }
    return graph->program->tensors[op->outputs[0]].dtype == ARENAUT_DTYPE_FLOAT32;
}

static bool take_join(const arn_tile_graph *graph, const arenaut_op *op, arn_tile_op *out) {
    const arenaut_attribute *axis = arenaut_op_attribute(op, "axis");
    return axis && axis->n_numbers == 1 && arn_tile_take_join(graph, op, axis->numbers[0], out);
}

static bool take_any(const arn_tile_graph *graph, const arenaut_op *op, arn_tile_op *out) {
    const arn_op_row *row = arn_op_row_find(ARN_OPS_ONNX, op->name);
    if (!row || !find_least(op->name) || !arn_tile_makes_image(graph, op) || !are_float(graph, op))
        return false;
    out->least = least_rows(graph, op);
    out->kind = arn_tile_kind_of(row);
    arn_tile_taker *take = find_taker(op->name);
    if (take) return arn_tile_is_image(graph, op->inputs[0]) && take(graph, op, out);
    if (out->kind == ARN_TILE_ELEMENTWISE) return arn_tile_take_elementwise(graph, op, out);
    if (out->kind == ARN_TILE_JOIN) return take_join(graph, op, out);
    if (!arn_tile_is_image(graph, op->inputs[0])) return false;
    if (out->kind == ARN_TILE_POOL) return take_pool(graph, op, out);
    return out->kind == ARN_TILE_CONV && take_convolution(graph, op, out);
}

/* Operators whose tiles are never within the rule bound groups, unless rounding is allowed. */
static bool take_op(const arn_tile_graph *graph, const arenaut_op *op, arn_tile_op *out) {
    if (arn_onnx_take_norm(graph, (uint32_t)(op - graph->program->ops), out)) return true;
    if (out->is_rounded) return false;
    const bool reduces = op->n_inputs > 0 && op->n_outputs > 0 && are_float(graph, op) &&
                         arn_onnx_take_reduction(graph, op, out);
    if (!reduces && !take_any(graph, op, out)) return false;
    out->is_rounded = !graph->rounding && (reduces || least_rows(graph, op) == ARN_TILE_NEVER);
    return !out->is_rounded;
}

static void take_operator(arn_tile_graph *graph, uint32_t op) {
    arn_tile_take_nchw(graph, op, ARN_OPS_ONNX, take_op);
}

static const char *refuse(const arenaut_program *program) {
    return program->dialect_version < FIRST_OPSET
               ? "tiles are made of version 13 of ONNX's operators and later"
               : NULL;
}

/* ---- moves ---- */

/* Where it begins, where it ends, and along which dimension. */
static uint32_t list_slice(arn_draft *draft, const arn_draft_op *slice, const int64_t *dims,
                           uint32_t *operands) {
    (void)dims;
    const bool ordered = draft->zero != ARENAUT_NONE && operands[0] < draft->n_there;
    operands[1] = arn_draft_numbers(draft, &slice->begin, 1, 0);
    operands[2] = arn_draft_numbers(draft, &slice->end, 1, 0);
    operands[3] = arn_draft_numbers(draft, &slice->axis, 1, 0);
    if (ordered) {
        const uint32_t both[] = {operands[1], draft->zero};
        operands[1] = arn_draft_edge(draft, ARN_MOVE_ADD, ARENAUT_DTYPE_INT64, both, 2);
    }
    return ARN_MOVE_OPERANDS;
}

static uint32_t list_pads(arn_draft *draft, const int64_t pads[2 * ARN_IMAGE_AXES], uint32_t rank) {
    int64_t values[ARN_DRAFT_VALUES] = {0};
    for (int axis = 0; axis < ARN_IMAGE_AXES; axis++) {
        const uint32_t dim = arn_tile_dim(draft->graph, axis);
        if (dim >= rank) continue;
        values[dim] = pads[2 * axis];
        values[rank + dim] = pads[2 * axis + 1];
    }
    return arn_draft_numbers(draft, values, 2 * rank, 0);
}

static uint32_t put_zero(arn_draft *draft, uint32_t *tensors, uint32_t n) {
    static const int64_t first[ARN_IMAGE_RANK] = {0};
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t rank = arn_draft_rank(draft, tensors[i]);
        const uint32_t inputs[] = {tensors[i], arn_draft_numbers(draft, first, rank, rank)};
        tensors[i] = arn_draft_edge(draft, ARN_MOVE_PEEK, ARENAUT_DTYPE_FLOAT32, inputs, 2);
    }
    if (n > 1) tensors[0] = arn_draft_edge(draft, ARN_MOVE_ANY, ARENAUT_DTYPE_FLOAT32, tensors, n);
    return arn_draft_edge(draft, ARN_MOVE_ZERO, ARENAUT_DTYPE_INT64, tensors, 1);
}

static uint32_t put_shape(arn_draft *draft, uint32_t image) {
    const uint32_t zeroes[] = {draft->zero, draft->zero};
    const uint32_t both[] = {
        arn_draft_numbers(draft, arn_draft_dims(draft, image), arn_draft_rank(draft, image), 0),
        arn_draft_edge(draft, ARN_MOVE_SCALAR, ARENAUT_DTYPE_INT64, zeroes, 2)};
    return arn_draft_edge(draft, ARN_MOVE_ADD, ARENAUT_DTYPE_INT64, both, 2);
}

static uint32_t describe_move(const arn_draft_op *op, arenaut_attribute *attributes) {
    static const int64_t first = 0;
    if (op->move == ARN_MOVE_AVERAGE || op->move == ARN_MOVE_GREATEST) {
        attributes[0] = (arenaut_attribute){"kernel_shape", op->n_pads, op->pads, NULL};
        return 1;
    }
    const bool joins = op->move == ARN_MOVE_JOIN, finds = op->move == ARN_MOVE_ZERO;
    attributes[0] = (arenaut_attribute){"axis", 1, joins ? &op->axis : &first, NULL};
    return joins || finds ? 1 : 0;
}

/* Padding as numbers, by any rule before. */
static uint32_t describe_part(const arn_draft_op *part, const arenaut_op *before,
                              arenaut_attribute *attributes) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < before->n_attributes; i++) {
        const char *name = before->attributes[i].name;
        if (strcmp(name, "pads") == 0 || strcmp(name, "auto_pad") == 0) continue;
        attributes[n++] = before->attributes[i];
    }
    attributes[n++] = (arenaut_attribute){"pads", part->n_pads, part->pads, NULL};
    return n;
}

extern const arn_tile_dialect arn_tile_onnx;
const arn_tile_dialect arn_tile_onnx = {
    .name = "onnx",
    .dim = {[ARN_AXIS_H] = 2, [ARN_AXIS_W] = 3, [ARN_AXIS_V] = 4, [ARN_AXIS_C] = ARN_NCHW_C},
    .least_rank = 3,
    .most_rank = 5,
    .mover = {[ARN_MOVE_SLICE] = "Slice",
              [ARN_MOVE_JOIN] = "Concat",
              [ARN_MOVE_PEEK] = "GatherND",
              [ARN_MOVE_ANY] = "Max",
              [ARN_MOVE_ZERO] = "ArgMax",
              [ARN_MOVE_ADD] = "Add",
              [ARN_MOVE_SCALAR] = "Squeeze",
              [ARN_MOVE_ALIAS] = "Reshape",
              [ARN_MOVE_AVERAGE] = "AveragePool",
              [ARN_MOVE_GREATEST] = "MaxPool",
              [ARN_MOVE_SUB] = "Sub",
              [ARN_MOVE_MUL] = "Mul",
              [ARN_MOVE_MEAN] = "GlobalAveragePool",
              [ARN_MOVE_ROOT] = "Sqrt",
              [ARN_MOVE_INVERSE] = "Reciprocal",
              [ARN_MOVE_EXPAND] = "Expand"},
    .numbers = ARENAUT_DTYPE_INT64,
    .most_joined = UINT32_MAX,
    .broadcasts = true,
    .batches = true,
    .inputs_apart = true,
    .many_tiles = true,
    .own_heights = 1,
    .most_macs = {true, MOST_MACS},
    .kept = KEPT_PER_NODE,
    .same_bits =
        "the tiles compute the same bits in ONNX Runtime with graph optimization off and up "
        "to eight threads; else results may be rounded otherwise",
    .refuse = refuse,
    .take_operator = take_operator,
    .list_slice = list_slice,
    .list_pads = list_pads,
    .put_zero = put_zero,
    .put_shape = put_shape,
    .describe_move = describe_move,
    .describe_part = describe_part,
};
