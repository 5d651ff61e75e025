/* Windows of convolutions and pools on images NCHW, from attributes that state the padding of each
 * side: a part of such an op has its own padding, at the edges of the image alone, so that no op is
 * needed to pad it. */
#include "rewrite/split/tile_nchw.h"

static bool is_size(int64_t number) { return number > 0 && number <= ARN_TILE_LONGEST; }

/* The rows or columns that the window gives of so many. */
static bool fits(arn_tile_window *w, bool rounds_up, int64_t in, int64_t out) {
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
    const int64_t *in = graph->program->tensors[op->inputs[0]].dims + ARN_NCHW_H;
    const int64_t *made = graph->program->tensors[op->outputs[0]].dims + ARN_NCHW_H;
    out->pads_sides = true;
    for (int k = 0; k < 2; k++) {
        arn_tile_window *w = &out->window[ARN_AXIS_H + k];
        *w = (arn_tile_window){window->filter[k], window->strides[k], window->dilations[k],
                               window->before[k], window->after[k],   1};
        if (!is_size(w->filter) || !is_size(w->stride) || !is_size(w->dilation)) return false;
        if (w->before < 0 || w->after < 0 || w->before > ARN_TILE_LONGEST ||
            w->after > ARN_TILE_LONGEST || !fits(w, window->rounds_up, in[k], made[k]) ||
            !arn_tile_all_see_image(w, in[k], made[k])) {
            return false;
        }
    }
    return true;
}

/* One number for each channel of the result; a convolution may have none. */
static bool is_bias(const arn_tile_graph *graph, const arenaut_op *op, int64_t channels) {
    const arenaut_tensor *bias = arn_tile_input(graph, op, 2);
    return !bias || (arn_tile_is_fixed(graph, op->inputs[2]) && bias->rank == 1 &&
                     bias->dims[0] == channels);
}

bool arn_tile_take_nchw_convolution(const arn_tile_graph *graph, const arenaut_op *op,
                                    const arn_nchw_window *window, arn_tile_op *out) {
    const arenaut_tensor *image = arn_tile_input(graph, op, 0);
    const arenaut_tensor *weights = arn_tile_input(graph, op, 1);
    const arenaut_tensor *made = &graph->program->tensors[op->outputs[0]];
    if (!weights || weights->rank != ARN_IMAGE_RANK || weights->dtype != image->dtype) return false;
    if (op->n_inputs > 3 || !arn_tile_is_fixed(graph, op->inputs[1])) return false;
    const int64_t channels = made->dims[ARN_NCHW_C], groups = window->groups;
    if (groups <= 0 || weights->dims[0] != channels || channels % groups != 0 ||
        weights->dims[1] * groups != image->dims[ARN_NCHW_C] || made->dims[0] != image->dims[0]) {
        return false;
    }
    for (int k = 0; k < 2; k++) {
        if (weights->dims[ARN_NCHW_H + k] != window->filter[k]) return false;
    }
    return is_bias(graph, op, channels) && take_windows(graph, op, window, out);
}

/* Gaps between the filters would be rows that see nothing. */
static bool take_up(const arn_nchw_window *window, int k, int64_t extra, int64_t in, int64_t made,
                    arn_tile_op *out) {
    const int64_t filter = window->filter[k], up = window->strides[k];
    const int64_t before = window->before[k], after = window->after[k];
    if (window->dilations[k] != 1 || !is_size(filter) || !is_size(up) || filter < up) return false;
    if (before < 0 || after < 0 || before >= filter || extra < 0 || extra > after) return false;
    out->window[ARN_AXIS_H + k] = (arn_tile_window){filter, up, 1, before, after, 1};
    if (k == 0) out->window[ARN_AXIS_H] = (arn_tile_window){filter, 1, 1, before, extra, up};
    return made == (in - 1) * up + filter + extra - before - after;
}

bool arn_tile_take_nchw_transposed(const arn_tile_graph *graph, const arenaut_op *op,
                                   const arn_nchw_window *window, const int64_t extra[2],
                                   arn_tile_op *out) {
    const arenaut_tensor *image = arn_tile_input(graph, op, 0);
    const arenaut_tensor *weights = arn_tile_input(graph, op, 1);
    const arenaut_tensor *made = &graph->program->tensors[op->outputs[0]];
    if (!weights || weights->rank != ARN_IMAGE_RANK || weights->dtype != image->dtype) return false;
    if (op->n_inputs > 3 || !arn_tile_is_fixed(graph, op->inputs[1])) return false;
    const int64_t channels = made->dims[ARN_NCHW_C], groups = window->groups;
    if (groups <= 0 || weights->dims[0] != image->dims[ARN_NCHW_C] ||
        weights->dims[1] * groups != channels || made->dims[0] != image->dims[0]) {
        return false;
    }
    out->pads_sides = true;
    for (int k = 0; k < 2; k++) {
        if (weights->dims[ARN_NCHW_H + k] != window->filter[k] ||
            !take_up(window, k, extra[k], image->dims[ARN_NCHW_H + k], made->dims[ARN_NCHW_H + k],
                     out)) {
            return false;
        }
    }
    if (out->window[ARN_AXIS_H].up == 1) return false; /* a convolution in disguise */
    return is_bias(graph, op, channels);
}

/* Pools are not padded by as much as their window has elements. */
static bool is_narrow(const arn_tile_window *w) {
    return w->before < w->filter && w->after < w->filter;
}

bool arn_tile_take_nchw_pool(const arn_tile_graph *graph, const arenaut_op *op,
                             const arn_nchw_window *window, arn_tile_op *out) {
    const arenaut_tensor *image = arn_tile_input(graph, op, 0);
    const arenaut_tensor *made = &graph->program->tensors[op->outputs[0]];
    return op->n_inputs == 1 && image->dims[ARN_NCHW_C] == made->dims[ARN_NCHW_C] &&
           image->dims[0] == made->dims[0] && take_windows(graph, op, window, out) &&
           is_narrow(&out->window[ARN_AXIS_H]) && is_narrow(&out->window[ARN_AXIS_W]);
}

uint64_t arn_tile_nchw_macs(const arn_tile_graph *graph, const arenaut_op *op, bool transposed) {
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
