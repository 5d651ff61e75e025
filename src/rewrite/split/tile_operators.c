/* Windows of operators that are the same in all dialects: elementwise ops, whose window is one
 * element, and concatenations of channels. An op is opaque unless its kernel computes each element
 * from a window around its own place and all attributes are there, with sizes that agree with them.
 */
#include "rewrite/split/tile_operators.h"

#include <string.h>

#include "ir/program.h"

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
    if (!made || t->rank != ARN_IMAGE_RANK || !is_plain(t->dtype)) return false;
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
    const uint32_t w = arn_tile_dim(graph, ARN_AXIS_W), c = arn_tile_dim(graph, ARN_AXIS_C);
    if (constant->rank > ARN_IMAGE_RANK) return false;
    for (uint32_t i = 0; i < constant->rank; i++) {
        const uint32_t axis = ARN_IMAGE_RANK - constant->rank + i;
        const bool along = axis == w || axis == c;
        if (constant->dims[i] != 1 && !(along && constant->dims[i] == image->dims[axis])) {
            return false;
        }
    }
    return true;
}

/* An image as large as the result, or one that is repeated along some of its dimensions. */
static bool fits(const arn_tile_graph *graph, const arenaut_tensor *in,
                 const arenaut_tensor *made) {
    for (uint32_t dim = 0; dim < ARN_IMAGE_RANK; dim++) {
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
    const int64_t along = axis < 0 ? axis + ARN_IMAGE_RANK : axis;
    int64_t channels = 0;
    out->window[ARN_AXIS_H] = out->window[ARN_AXIS_W] = one_to_one;
    if (along != arn_tile_dim(graph, ARN_AXIS_C)) return false;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const arenaut_tensor *in = arn_tile_input(graph, op, i);
        if (!in || !arn_tile_is_image(graph, op->inputs[i]) || in->dtype != made->dtype) {
            return false;
        }
        if (arn_tile_is_fixed(graph, op->inputs[i])) return false; /* it is there whole */
        for (int other = ARN_AXIS_H; other <= ARN_AXIS_W; other++) {
            if (arn_tile_along(graph, in, other) != arn_tile_along(graph, made, other))
                return false;
        }
        channels += in->dims[along];
    }
    return channels == made->dims[along];
}
