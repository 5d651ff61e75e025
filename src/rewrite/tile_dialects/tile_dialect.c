/* The dialects that tiles are made in, by the name that a program has, and the reading of operators
 * that several of them share. */
#include "rewrite/tile_dialects/tile_dialect.h"

#include <string.h>

#include "ir/program.h"

extern const arn_tile_dialect arn_tile_tflite, arn_tile_onnx, arn_tile_aten;

static const arn_tile_dialect *const dialects[] = {&arn_tile_tflite, &arn_tile_onnx,
                                                   &arn_tile_aten};

const arn_tile_dialect *arn_tile_dialect_find(const char *name) {
    for (size_t i = 0; i < sizeof dialects / sizeof *dialects; i++) {
        if (arn_same_text(dialects[i]->name, name)) return dialects[i];
    }
    return NULL;
}

const char *arn_tile_dialect_refuse(const arn_tile_dialect *dialect, arenaut_split_mode mode) {
    const bool called = mode == ARENAUT_SPLIT_ROWS_CALLED || mode == ARENAUT_SPLIT_KEPT_CALLED;
    if (called && !dialect->calls) return "tiles of this format are no calls";
    if (arn_tile_by_channels(mode) && !dialect->channels) {
        return "tiles of this format are rows, not channels";
    }
    return NULL;
}

/* ---- operators that are the same in all dialects ---- */

/* Elementwise ops, whose window is one element, and concatenations of channels. An op is opaque
 * unless its kernel computes each element from a window around its own place and all attributes are
 * there, with sizes that agree with them.
 */

bool arn_tile_numbers(const arenaut_op *op, const char *name, uint32_t n, int64_t *numbers) {
    const arenaut_attribute *a = arenaut_op_attribute(op, name);
    if (!a) return true;
    if (a->text || a->n_numbers != n) return false;
    memcpy(numbers, a->numbers, n * sizeof *numbers);
    return true;
}

int64_t arn_tile_number(const arenaut_op *op, const char *name, int64_t otherwise) {
    return arn_tile_numbers(op, name, 1, &otherwise) ? otherwise : ARN_TILE_UNKNOWN;
}

const arenaut_tensor *arn_tile_input(const arn_tile_graph *graph, const arenaut_op *op,
                                     uint32_t i) {
    if (i >= op->n_inputs || op->inputs[i] == ARENAUT_NONE) return NULL;
    return &graph->program->tensors[op->inputs[i]];
}

/* Types that every runtime with tiles can copy, concatenate and pad. */
static bool is_plain(arenaut_dtype dtype) {
    return dtype == ARENAUT_DTYPE_INT8 || dtype == ARENAUT_DTYPE_FLOAT32;
}

bool arn_tile_is_image(const arn_tile_graph *graph, uint32_t tensor) {
    const arenaut_tensor *t = &graph->program->tensors[tensor];
    const bool made =
        t->cls == ARENAUT_INTERMEDIATE || t->cls == ARENAUT_INPUT || t->cls == ARENAUT_OUTPUT;
    if (!made || !is_plain(t->dtype) || t->rank < graph->dialect->least_rank ||
        t->rank > graph->dialect->most_rank) {
        return false;
    }
    if (t->dims[0] != 1 && !graph->dialect->batches) return false;
    if (t->dynamic || t->unsized || t->view_of != ARENAUT_NONE || t->strides || t->dim_exprs) {
        return false;
    }
    for (uint32_t i = 0; i < t->rank; i++) {
        if (t->dims[i] <= 0 || t->dims[i] > ARN_TILE_LONGEST) return false;
    }
    return true;
}

bool arn_tile_makes_image(const arn_tile_graph *graph, const arenaut_op *op) {
    if (op->kind != graph->dialect->kind) return false;
    if (op->n_inputs == 0 || op->n_outputs != 1 || op->n_scratch > 0) return false;
    if (op->inputs[0] == ARENAUT_NONE || op->outputs[0] == ARENAUT_NONE) return false;
    return !arn_op_reads_compressed(graph->program, op) && arn_tile_is_image(graph, op->outputs[0]);
}

arn_tile_kind arn_tile_kind_of(const arn_op_row *row) {
    static const arn_tile_kind kinds[] = {
        [ARN_FAMILY_CONVOLUTION] = ARN_TILE_CONV,
        [ARN_FAMILY_POOL] = ARN_TILE_POOL,
        [ARN_FAMILY_PAD] = ARN_TILE_PAD,
        [ARN_FAMILY_CONCATENATION] = ARN_TILE_JOIN,
        [ARN_FAMILY_ELEMENTWISE] = ARN_TILE_ELEMENTWISE,
    };
    if (!row || row->family >= sizeof kinds / sizeof *kinds) return ARN_TILE_OPAQUE;
    return row->window == ARN_WINDOW_CHANNELS ? ARN_TILE_DEPTHWISE : kinds[row->family];
}

bool arn_tile_repeats_by_row(const arn_tile_graph *graph, const arenaut_tensor *constant,
                             const arenaut_tensor *image) {
    if (constant->rank > image->rank) return false;
    for (uint32_t i = 0; i < constant->rank; i++) {
        const uint32_t axis = image->rank - constant->rank + i;
        const bool along = axis > 0 && axis != arn_tile_dim(graph, ARN_AXIS_H);
        if (constant->dims[i] != 1 && !(along && constant->dims[i] == image->dims[axis])) {
            return false;
        }
    }
    return true;
}

/* An image as large as the result, or one that is repeated along some of its dimensions. */
static bool fits(const arn_tile_graph *graph, const arenaut_tensor *in,
                 const arenaut_tensor *made) {
    if (in->rank != made->rank) return false;
    for (uint32_t dim = 0; dim < made->rank; dim++) {
        const bool repeats = in->dims[dim] == 1 && dim > 0 && graph->dialect->broadcasts;
        if (in->dims[dim] != made->dims[dim] && !repeats) return false;
    }
    return true;
}

/* A window that lies in padding alone tells nothing of its place. */
static bool sees_image(const arn_tile_window *w, int64_t in, int64_t row) {
    const int64_t start = row * w->stride - w->before;
    const int64_t tap = start >= 0 ? 0 : (-start + w->dilation - 1) / w->dilation;
    return tap < w->filter && start + tap * w->dilation < in;
}

bool arn_tile_all_see_image(const arn_tile_window *w, int64_t in, int64_t out) {
    for (int64_t row = 0; row < out; row++) {
        if (!sees_image(w, in, row)) return false;
    }
    return true;
}

static const arn_tile_window one_to_one = {1, 1, 1, 0, 0, 1};

bool arn_tile_take_elementwise(const arn_tile_graph *graph, const arenaut_op *op,
                               arn_tile_op *out) {
    const arenaut_tensor *made = &graph->program->tensors[op->outputs[0]];
    bool seen = false; /* an image whose rows are those of the result */
    out->window[ARN_AXIS_H] = out->window[ARN_AXIS_W] = one_to_one;
    if (op->n_inputs > ARN_TILE_INPUTS) return false;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const arenaut_tensor *in = arn_tile_input(graph, op, i);
        if (!in) return false;
        if (arn_tile_is_fixed(graph, op->inputs[i])
                ? !arn_tile_repeats_by_row(graph, in, made)
                : !arn_tile_is_image(graph, op->inputs[i]) || !fits(graph, in, made)) {
            return false;
        }
        const bool whole = arn_tile_is_fixed(graph, op->inputs[i]);
        seen = seen || (!whole && arn_tile_along(graph, in, ARN_AXIS_H) ==
                                      arn_tile_along(graph, made, ARN_AXIS_H));
    }
    return seen || !graph->dialect->broadcasts;
}

bool arn_tile_take_join(const arn_tile_graph *graph, const arenaut_op *op, int64_t axis,
                        arn_tile_op *out) {
    const arenaut_tensor *made = &graph->program->tensors[op->outputs[0]];
    const int64_t along = axis < 0 ? axis + made->rank : axis;
    int64_t channels = 0;
    out->window[ARN_AXIS_H] = out->window[ARN_AXIS_W] = one_to_one;
    if (along != arn_tile_dim(graph, ARN_AXIS_C)) return false;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const arenaut_tensor *in = arn_tile_input(graph, op, i);
        if (!in || !arn_tile_is_image(graph, op->inputs[i]) || in->dtype != made->dtype ||
            in->rank != made->rank) {
            return false;
        }
        if (arn_tile_is_fixed(graph, op->inputs[i])) return false; /* it is there whole */
        for (uint32_t other = 0; other < made->rank; other++) {
            if (other != along && in->dims[other] != made->dims[other]) return false;
        }
        channels += in->dims[along];
    }
    return channels == made->dims[along];
}

enum { OF_SIGNALS = 3, LEAST_BLOCK = 8, MOST_BLOCK = 512, FEWEST_BLOCKS = 32 };

/* A signal has rows of one place: its statistics are those of blocks of places, all as long, at
 * least 32 of them in a long one. */
static int64_t block_of(const arenaut_tensor *image) {
    const int64_t length = image->dims[ARN_NCHW_H];
    if (image->rank > OF_SIGNALS) return 1;
    int64_t most = length / FEWEST_BLOCKS;
    if (most > MOST_BLOCK) most = MOST_BLOCK;
    if (most < LEAST_BLOCK) most = LEAST_BLOCK;
    for (int64_t block = most; block >= LEAST_BLOCK; block--) {
        if (length % block == 0) return block;
    }
    return 0;
}

bool arn_tile_take_norm(const arenaut_tensor *image, int64_t groups, arn_tile_op *out) {
    const int64_t block = block_of(image);
    if (block == 0 || groups <= 0 || image->dims[ARN_NCHW_C] % groups != 0) return false;
    out->kind = ARN_TILE_ELEMENTWISE;
    out->window[ARN_AXIS_H] = out->window[ARN_AXIS_W] = one_to_one;
    out->norm = ARN_NORM_ITSELF;
    out->groups = groups;
    out->block = block;
    return true;
}

bool arn_tile_take_reduction(const arn_tile_graph *graph, const arenaut_op *op, arn_draft_move move,
                             arn_tile_op *out) {
    const arenaut_tensor *image = arn_tile_input(graph, op, 0);
    if (!image || op->kind != graph->dialect->kind || op->n_outputs != 1 ||
        op->outputs[0] == ARENAUT_NONE || op->n_scratch > 0 || op->n_inputs > ARN_TILE_INPUTS ||
        !arn_tile_is_image(graph, op->inputs[0]) || arn_tile_is_fixed(graph, op->inputs[0])) {
        return false;
    }
    const arenaut_tensor *made = &graph->program->tensors[op->outputs[0]];
    const uint32_t first = arn_tile_dim(graph, ARN_AXIS_H);
    if (image->rank < first + 2 || made->dtype != image->dtype || made->unsized || made->strides ||
        made->view_of != ARENAUT_NONE || (made->rank != image->rank && made->rank != first)) {
        return false;
    }
    for (uint32_t i = 0; i < made->rank; i++) {
        if (made->dims[i] != (i < first ? image->dims[i] : 1)) return false;
    }
    out->kind = ARN_TILE_POOL;
    out->window[ARN_AXIS_H] = out->window[ARN_AXIS_W] = one_to_one;
    out->reduces = move;
    out->least = ARN_TILE_NEVER;
    return true;
}

/* ---- windows on images NCHW ---- */

/* Convolutions and pools, from attributes that state the padding of each side: a part of such an op
 * has its own padding, at the edges of the image alone, so that no op is needed to pad it. */

static bool is_size(int64_t number) { return number > 0 && number <= ARN_TILE_LONGEST; }

static bool are_sizes(const int64_t *numbers, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        if (!is_size(numbers[i])) return false;
    }
    return true;
}

bool arn_tile_take_sides(const arenaut_op *op, const arenaut_tensor *image, arn_nchw_window *w) {
    const uint32_t n = arn_nchw_axes(image);
    return arn_tile_numbers(op, "kernel_shape", n, w->filter) &&
           arn_tile_numbers(op, "strides", n, w->strides) &&
           arn_tile_numbers(op, "dilations", n, w->dilations) && are_sizes(w->filter, n) &&
           are_sizes(w->strides, n) && are_sizes(w->dilations, n);
}

bool arn_tile_take_kernel(const arn_tile_graph *graph, const arenaut_op *op, arn_nchw_window *w) {
    const arenaut_tensor *image = arn_tile_input(graph, op, 0);
    const arenaut_tensor *weights = arn_tile_input(graph, op, 1);
    if (!weights || weights->rank != image->rank) return false;
    for (uint32_t k = 0; k < arn_nchw_axes(image); k++) {
        w->filter[k] = weights->dims[ARN_NCHW_H + k];
    }
    w->groups = arn_tile_number(op, "group", 1);
    return arn_tile_take_sides(op, image, w);
}

/* The rows or columns that the window gives of so many. */
static bool window_fits(arn_tile_window *w, bool rounds_up, int64_t in, int64_t out) {
    const int64_t reach = (w->filter - 1) * w->dilation + 1;
    const int64_t left = in + w->before + w->after - reach;
    if (left < 0) return false;
    if (out == left / w->stride + 1) return true;
    if (!rounds_up || out != (left + w->stride - 1) / w->stride + 1) return false;
    w->after = (out - 1) * w->stride + reach - in - w->before;
    return true;
}

static bool take_windows(const arn_tile_graph *graph, const arenaut_op *op,
                         const arn_nchw_window *window, arn_tile_op *out) {
    const arenaut_tensor *image = arn_tile_input(graph, op, 0);
    const int64_t *in = image->dims + ARN_NCHW_H;
    const int64_t *made = graph->program->tensors[op->outputs[0]].dims + ARN_NCHW_H;
    out->pads_sides = true;
    for (uint32_t k = 0; k < arn_nchw_axes(image); k++) {
        arn_tile_window *w = &out->window[ARN_AXIS_H + k];
        *w = (arn_tile_window){window->filter[k], window->strides[k], window->dilations[k],
                               window->before[k], window->after[k],   1};
        if (!is_size(w->filter) || !is_size(w->stride) || !is_size(w->dilation)) return false;
        if (w->before < 0 || w->after < 0 || w->before > ARN_TILE_LONGEST ||
            w->after > ARN_TILE_LONGEST || !window_fits(w, window->rounds_up, in[k], made[k]) ||
            !arn_tile_all_see_image(w, in[k], made[k])) {
            return false;
        }
    }
    return true;
}

bool arn_tile_is_bias(const arn_tile_graph *graph, const arenaut_op *op, int64_t channels) {
    const arenaut_tensor *bias = arn_tile_input(graph, op, 2);
    return !bias || (arn_tile_is_fixed(graph, op->inputs[2]) && bias->rank == 1 &&
                     bias->dims[0] == channels);
}

/* Constant weights of the window's sides, and a result of as many images as the operand. */
static bool has_weights(const arn_tile_graph *graph, const arenaut_op *op,
                        const arn_nchw_window *window) {
    const arenaut_tensor *image = arn_tile_input(graph, op, 0);
    const arenaut_tensor *weights = arn_tile_input(graph, op, 1);
    const arenaut_tensor *made = &graph->program->tensors[op->outputs[0]];
    if (!weights || weights->rank != image->rank || weights->dtype != image->dtype ||
        made->rank != image->rank || made->dims[0] != image->dims[0] || window->groups <= 0 ||
        op->n_inputs > 3 || !arn_tile_is_fixed(graph, op->inputs[1])) {
        return false;
    }
    for (uint32_t k = 0; k < arn_nchw_axes(image); k++) {
        if (weights->dims[ARN_NCHW_H + k] != window->filter[k]) return false;
    }
    return true;
}

bool arn_tile_take_nchw_convolution(const arn_tile_graph *graph, const arenaut_op *op,
                                    const arn_nchw_window *window, arn_tile_op *out) {
    const arenaut_tensor *image = arn_tile_input(graph, op, 0);
    const arenaut_tensor *weights = arn_tile_input(graph, op, 1);
    const arenaut_tensor *made = &graph->program->tensors[op->outputs[0]];
    if (!has_weights(graph, op, window)) return false;
    const int64_t channels = made->dims[ARN_NCHW_C], groups = window->groups;
    if (weights->dims[0] != channels || channels % groups != 0 ||
        weights->dims[1] * groups != image->dims[ARN_NCHW_C]) {
        return false;
    }
    return arn_tile_is_bias(graph, op, channels) && take_windows(graph, op, window, out);
}

/* Gaps between the filters would be rows that see nothing. */
static bool take_up(const arn_nchw_window *window, uint32_t k, int64_t extra, int64_t in,
                    int64_t made, arn_tile_op *out) {
    const int64_t filter = window->filter[k], up = window->strides[k];
    const int64_t before = window->before[k], after = window->after[k];
    if (window->dilations[k] != 1 || !is_size(filter) || !is_size(up) || filter < up) return false;
    if (before < 0 || after < 0 || before >= filter || extra < 0 || extra > after) return false;
    out->window[ARN_AXIS_H + k] = (arn_tile_window){filter, up, 1, before, after, 1};
    if (k == 0) out->window[ARN_AXIS_H] = (arn_tile_window){filter, 1, 1, before, extra, up};
    return made == (in - 1) * up + filter + extra - before - after;
}

bool arn_tile_take_nchw_transposed(const arn_tile_graph *graph, const arenaut_op *op,
                                   const arn_nchw_window *window,
                                   const int64_t extra[ARN_NCHW_AXES], arn_tile_op *out) {
    const arenaut_tensor *image = arn_tile_input(graph, op, 0);
    const arenaut_tensor *weights = arn_tile_input(graph, op, 1);
    const arenaut_tensor *made = &graph->program->tensors[op->outputs[0]];
    if (!has_weights(graph, op, window)) return false;
    const int64_t channels = made->dims[ARN_NCHW_C];
    if (weights->dims[0] != image->dims[ARN_NCHW_C] ||
        weights->dims[1] * window->groups != channels) {
        return false;
    }
    out->pads_sides = true;
    for (uint32_t k = 0; k < arn_nchw_axes(image); k++) {
        if (!take_up(window, k, extra[k], image->dims[ARN_NCHW_H + k], made->dims[ARN_NCHW_H + k],
                     out)) {
            return false;
        }
    }
    if (out->window[ARN_AXIS_H].up == 1) return false; /* a convolution in disguise */
    return arn_tile_is_bias(graph, op, channels);
}

/* Pools are not padded by as much as their window has elements. */
static bool are_narrow(const arn_tile_op *pool, uint32_t axes) {
    for (uint32_t k = 0; k < axes; k++) {
        const arn_tile_window *w = &pool->window[ARN_AXIS_H + k];
        if (w->before >= w->filter || w->after >= w->filter) return false;
    }
    return true;
}

bool arn_tile_take_nchw_pool(const arn_tile_graph *graph, const arenaut_op *op,
                             const arn_nchw_window *window, arn_tile_op *out) {
    const arenaut_tensor *image = arn_tile_input(graph, op, 0);
    const arenaut_tensor *made = &graph->program->tensors[op->outputs[0]];
    return op->n_inputs == 1 && image->rank == made->rank &&
           image->dims[ARN_NCHW_C] == made->dims[ARN_NCHW_C] && image->dims[0] == made->dims[0] &&
           take_windows(graph, op, window, out) && are_narrow(out, arn_nchw_axes(image));
}

bool arn_tile_take_nchw_margin(const arn_tile_graph *graph, const arenaut_op *op,
                               const int64_t *pads, bool reflects, arn_tile_op *out) {
    const arenaut_tensor *image = arn_tile_input(graph, op, 0);
    const arenaut_tensor *made = &graph->program->tensors[op->outputs[0]];
    out->reflects = reflects;
    if (made->rank != image->rank) return false;
    for (uint32_t dim = 0; dim < image->rank; dim++) {
        const int64_t before = pads[dim], after = pads[image->rank + dim];
        const uint32_t axis = dim == ARN_NCHW_C ? ARN_AXIS_C : ARN_AXIS_H + dim - ARN_NCHW_H;
        const int64_t most = reflects ? image->dims[dim] : INT32_MAX;
        if (before < 0 || after < 0 || before >= most || after >= most) return false;
        if (dim == 0 && before + after > 0) return false;
        if (made->dims[dim] != image->dims[dim] + before + after) return false;
        if (dim > 0) out->window[axis] = (arn_tile_window){1, 1, 1, before, after, 1};
    }
    return true;
}

bool arn_tile_take_nchw_unshuffle(const arn_tile_graph *graph, const arenaut_op *op, int64_t down,
                                  arn_tile_op *out) {
    const arenaut_tensor *image = arn_tile_input(graph, op, 0);
    const arenaut_tensor *made = &graph->program->tensors[op->outputs[0]];
    out->kind = ARN_TILE_POOL;
    out->window[ARN_AXIS_H] = out->window[ARN_AXIS_W] = (arn_tile_window){down, down, 1, 0, 0, 1};
    return op->n_inputs == 1 && is_size(down) && arn_nchw_axes(image) == 2 &&
           arn_nchw_axes(made) == 2 && made->dims[ARN_NCHW_H] * down == image->dims[ARN_NCHW_H] &&
           arn_nchw_row(made) * down == arn_nchw_row(image);
}

/* By its weights; 0 if it has none, or they are unknown. */
static uint64_t count_macs(const arn_tile_graph *graph, const arenaut_op *op,
                           const arn_op_row *row) {
    if (!row || row->window != ARN_WINDOW_WEIGHTS) return 0;
    const bool transposed = row->family == ARN_FAMILY_TRANSPOSED_CONVOLUTION ||
                            arn_tile_number(op, "transposed", 0) == 1;
    const arenaut_tensor *image = arn_tile_input(graph, op, 0);
    const arenaut_tensor *weights = arn_tile_input(graph, op, 1);
    if (!image || !weights || weights->rank < 2 || weights->unsized || op->n_outputs == 0 ||
        op->outputs[0] == ARENAUT_NONE) {
        return 0;
    }
    /* Each element of the result, or of the image if it is transposed, meets all weights but those
     * of other channels of the first dimension. */
    const arenaut_tensor *each = transposed ? image : &graph->program->tensors[op->outputs[0]];
    double macs = each->unsized ? 0 : 1;
    for (uint32_t i = 0; i < each->rank; i++) macs *= (double)each->dims[i];
    for (uint32_t i = 1; i < weights->rank; i++) macs *= (double)weights->dims[i];
    return macs >= 0 && macs < (double)ARENAUT_SIZE_MAX ? (uint64_t)macs : 0;
}

void arn_tile_take_nchw(arn_tile_graph *graph, uint32_t op, arn_op_dialect ops,
                        arn_tile_taker *take) {
    const arenaut_op *it = &graph->program->ops[op];
    if (!take(graph, it, &graph->ops[op])) graph->ops[op].kind = ARN_TILE_OPAQUE;
    graph->macs[op] = count_macs(graph, it, arn_op_row_find(ops, it->name));
}

bool arn_tile_take_blocks(const arn_tile_graph *graph, const arenaut_op *op, arn_tile_op *out) {
    const arenaut_tensor *image = arn_tile_input(graph, op, 0);
    const arenaut_tensor *made = &graph->program->tensors[op->outputs[0]];
    const int64_t up = made->dims[ARN_NCHW_H] / image->dims[ARN_NCHW_H];
    out->kind = ARN_TILE_POOL;
    out->in_blocks = true;
    out->window[ARN_AXIS_H] = (arn_tile_window){up, 1, 1, 0, 0, up};
    return up > 1 && made->dims[ARN_NCHW_H] == up * image->dims[ARN_NCHW_H] &&
           made->rank == image->rank && made->dims[0] == image->dims[0];
}
