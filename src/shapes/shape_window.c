/* Operators that move a window over images: convolutions, pooling, resizing. The formulas are
 * those of the ONNX standard; only spatial axes change. */
#include <string.h>

#include "shapes/shapes.h"

/* The moves of a window along one axis. */
typedef struct window {
    int64_t size, stride, dilation, before, after;
} window;

/* The number of places that it takes: rounded up if the last may hang over the edge, but one
 * that begins behind the padding does not count. */
static int64_t places(arn_shapes *s, int64_t in, window w, bool round_up) {
    if (in == ARN_SHAPE_ANY || w.size == ARN_SHAPE_ANY) return ARN_SHAPE_ANY;
    const int64_t reach = arn_shape_plus(arn_shape_times(w.size - 1, w.dilation), 1);
    const int64_t padded = arn_shape_plus(in, arn_shape_plus(w.before, w.after));
    if (reach == ARN_SHAPE_ANY || padded == ARN_SHAPE_ANY) return ARN_SHAPE_ANY;
    if (padded < reach) {
        arn_shape_fail(s, "its window is larger than its operand");
        return ARN_SHAPE_ANY;
    }
    int64_t n = (padded - reach) / w.stride + 1;
    if (round_up && (padded - reach) % w.stride != 0) {
        n++;
        if ((n - 1) * w.stride >= in + w.before) n--;
    }
    return n;
}

static int64_t per_axis(const arenaut_attribute *a, uint32_t axis, int64_t otherwise) {
    return axis < a->n_numbers ? a->numbers[axis] : otherwise;
}

static bool is_text(const arenaut_attribute *a, const char *text) {
    return a->text && strcmp(a->text, text) == 0;
}

/* The attributes of spatial axis `axis` out of `n`. False, and noted, for strides and the like that
 * no runtime takes. */
static bool take_window(arn_shapes *s, uint32_t axis, uint32_t n, int64_t size, window *w) {
    const arenaut_attribute *pads = arn_shape_attribute(s, "pads");
    *w = (window){.size = size,
                  .stride = per_axis(arn_shape_attribute(s, "strides"), axis, 1),
                  .dilation = per_axis(arn_shape_attribute(s, "dilations"), axis, 1),
                  .before = per_axis(pads, axis, 0),
                  .after = per_axis(pads, n + axis, 0)};
    if (is_text(arn_shape_attribute(s, "auto_pad"), "VALID")) w->before = w->after = 0;
    const bool sound = w->stride > 0 && w->dilation > 0 && (size == ARN_SHAPE_ANY || size > 0) &&
                       w->before > -INT32_MAX && w->before < INT32_MAX && w->after > -INT32_MAX &&
                       w->after < INT32_MAX && w->stride < INT32_MAX && w->dilation < INT32_MAX;
    if (!sound) arn_shape_fail(s, "its kernel, strides, dilations or pads make no sense");
    return sound;
}

static bool pads_by_itself(const arn_shapes *s) {
    const arenaut_attribute *automatic = arn_shape_attribute(s, "auto_pad");
    return is_text(automatic, "SAME_UPPER") || is_text(automatic, "SAME_LOWER");
}

/* A place for each stride. */
static int64_t strides_of(int64_t in, window w) {
    return in == ARN_SHAPE_ANY ? ARN_SHAPE_ANY : in / w.stride + (in % w.stride != 0);
}

/* ONNX Runtime pads a pool as if its window were not dilated. */
static int64_t pooled(arn_shapes *s, int64_t in, window w) {
    const bool round_up = arn_shape_number(s, "ceil_mode", 0) != 0;
    if (!pads_by_itself(s)) return places(s, in, w, round_up);
    if (w.dilation == 1 || in == ARN_SHAPE_ANY) return strides_of(in, w);
    const int64_t missing = (strides_of(in, w) - 1) * w.stride + w.size - in;
    const bool lower = is_text(arn_shape_attribute(s, "auto_pad"), "SAME_LOWER");
    w.before = (missing + lower) / 2;
    w.after = missing - w.before;
    return places(s, in, w, round_up);
}

/* An image has a batch, channels and at least one spatial axis. */
static bool is_image(arn_shapes *s, const arn_shape *x) {
    if (!x->ranked) return false;
    if (x->rank < 3) arn_shape_fail(s, "its operand has fewer than 3 dimensions");
    return x->rank >= 3;
}

/* The kernel is an operand: output channels, input channels of a group, spatial axes. */
static void convolve(arn_shapes *s, uint32_t at, arenaut_dtype dtype) {
    const arn_shape *x = arn_shape_input(s, 0), *kernel = arn_shape_input(s, at);
    const arenaut_attribute *stated = arn_shape_attribute(s, "kernel_shape");
    arn_shape_set_dtype(s, 0, dtype);
    if (!is_image(s, x)) return;
    int64_t *dims = arn_shape_new_dims(s, x->rank);
    if (!dims) return;
    const bool fits = kernel->ranked && kernel->rank == x->rank;
    if (kernel->ranked && !fits) {
        arn_shape_fail(s, "its kernel has another number of dimensions than its operand");
        return;
    }
    dims[0] = x->dims[0];
    dims[1] = fits ? kernel->dims[0] : ARN_SHAPE_ANY;
    const int64_t groups = arn_shape_number(s, "group", 1);
    if (fits && x->dims[1] != ARN_SHAPE_ANY && kernel->dims[1] != ARN_SHAPE_ANY &&
        arn_shape_times(kernel->dims[1], groups) != x->dims[1]) {
        arn_shape_fail(s, "its kernel and its operand differ in channels");
    }
    for (uint32_t i = 2; i < x->rank; i++) {
        window w;
        const int64_t size = per_axis(stated, i - 2, fits ? kernel->dims[i] : ARN_SHAPE_ANY);
        if (!take_window(s, i - 2, x->rank - 2, size, &w)) return;
        dims[i] = pads_by_itself(s) ? strides_of(x->dims[i], w) : places(s, x->dims[i], w, false);
    }
    arn_shape_set(s, 0, dtype, x->rank, dims);
}

ARN_SHAPE_FUNCTION(conv) { convolve(s, 1, arn_shape_input(s, 0)->dtype); }
ARN_SHAPE_FUNCTION(conv_integer) { convolve(s, 1, ARENAUT_DTYPE_INT32); }
ARN_SHAPE_FUNCTION(qlinear_conv) { convolve(s, 3, arn_shape_input(s, 7)->dtype); }

/* The reverse: each place of the window is spread out. */
ARN_SHAPE_FUNCTION(conv_transpose) {
    const arn_shape *x = arn_shape_input(s, 0), *kernel = arn_shape_input(s, 1);
    const arenaut_attribute *stated = arn_shape_attribute(s, "kernel_shape");
    const arenaut_attribute *result = arn_shape_attribute(s, "output_shape");
    const arenaut_attribute *extra = arn_shape_attribute(s, "output_padding");
    arn_shape_set_dtype(s, 0, x->dtype);
    if (!is_image(s, x)) return;
    int64_t *dims = arn_shape_new_dims(s, x->rank);
    if (!dims) return;
    const bool fits = kernel->ranked && kernel->rank == x->rank;
    dims[0] = x->dims[0];
    dims[1] =
        fits ? arn_shape_times(kernel->dims[1], arn_shape_number(s, "group", 1)) : ARN_SHAPE_ANY;
    for (uint32_t i = 2; i < x->rank; i++) {
        window w;
        const int64_t size = per_axis(stated, i - 2, fits ? kernel->dims[i] : ARN_SHAPE_ANY);
        if (!take_window(s, i - 2, x->rank - 2, size, &w)) return;
        const int64_t reach = w.size == ARN_SHAPE_ANY
                                  ? ARN_SHAPE_ANY
                                  : arn_shape_plus(arn_shape_times(w.size - 1, w.dilation), 1);
        const int64_t spread = arn_shape_times(arn_shape_plus(x->dims[i], -1), w.stride);
        const int64_t full =
            arn_shape_plus(arn_shape_plus(spread, reach), per_axis(extra, i - 2, 0));
        const int64_t same = arn_shape_times(x->dims[i], w.stride);
        dims[i] = !pads_by_itself(s) ? arn_shape_plus(full, -(w.before + w.after))
                  : full < same      ? full /* there is nothing to cut; or unknown */
                                     : same;
        /* It may be stated for all axes or for the spatial ones alone. */
        const uint32_t skipped = result->n_numbers == x->rank ? 0 : 2;
        if (result->name) dims[i] = per_axis(result, i - skipped, ARN_SHAPE_ANY);
        if (dims[i] < 0 && dims[i] != ARN_SHAPE_ANY) arn_shape_fail(s, "a size becomes negative");
    }
    arn_shape_set(s, 0, x->dtype, x->rank, dims);
}

/* MaxPool has a second output: the indices of the largest elements. */
ARN_SHAPE_FUNCTION(pool) {
    const arn_shape *x = arn_shape_input(s, 0);
    const arenaut_attribute *kernel = arn_shape_attribute(s, "kernel_shape");
    arn_shape_set_dtype(s, 0, x->dtype);
    arn_shape_set_dtype(s, 1, ARENAUT_DTYPE_INT64);
    if (!is_image(s, x)) return;
    int64_t *dims = arn_shape_new_dims(s, x->rank);
    if (!dims) return;
    if (kernel->n_numbers != x->rank - 2) {
        arn_shape_fail(s, "kernel_shape must have a size for each spatial axis");
        return;
    }
    dims[0] = x->dims[0];
    dims[1] = x->dims[1];
    for (uint32_t i = 2; i < x->rank; i++) {
        window w;
        if (!take_window(s, i - 2, x->rank - 2, kernel->numbers[i - 2], &w)) return;
        dims[i] = pooled(s, x->dims[i], w);
    }
    arn_shape_set(s, 0, x->dtype, x->rank, dims);
    arn_shape_set(s, 1, ARENAUT_DTYPE_INT64, x->rank, dims);
}

ARN_SHAPE_FUNCTION(global_pool) {
    const arn_shape *x = arn_shape_input(s, 0);
    arn_shape_set_dtype(s, 0, x->dtype);
    if (!is_image(s, x)) return;
    int64_t *dims = arn_shape_new_dims(s, x->rank);
    if (!dims) return;
    for (uint32_t i = 0; i < x->rank; i++) dims[i] = i < 2 ? x->dims[i] : 1;
    arn_shape_set(s, 0, x->dtype, x->rank, dims);
}

/* ---- resizing ---- */

/* Sizes are whole numbers; scales are floats of 32 bits, and so are products, before they are
 * rounded down. */
static int64_t scaled(int64_t size, int64_t scale) {
    const double factor = scale == ARN_SHAPE_ANY ? 0.0 : arn_shape_as_double(scale);
    const double result = arn_shape_floor((double)(float)((double)(float)size * factor));
    return size == ARN_SHAPE_ANY || scale == ARN_SHAPE_ANY || !(result >= 0.0 && result < 9.0e15)
               ? ARN_SHAPE_ANY
               : (int64_t)result;
}

/* Whether this op keeps the ratio of sizes, which then are bounds for it. */
static bool keeps_ratio(const arn_shapes *s) {
    const arenaut_attribute *policy = arn_shape_attribute(s, "keep_aspect_ratio_policy");
    return policy->text && !is_text(policy, "stretch");
}

/* From version 13 on the axes may be named; else there is a number for each. */
static void resize_axes(arn_shapes *s, const arn_shape *x, arn_shape_numbers numbers,
                        bool are_scales) {
    const arenaut_attribute *axes = arn_shape_attribute(s, "axes");
    int64_t *dims = arn_shape_new_dims(s, x->rank);
    if (!dims) return;
    if (x->rank) memcpy(dims, x->dims, x->rank * sizeof *dims);
    const uint32_t n = axes->name ? axes->n_numbers : x->rank;
    if (numbers.n != n) {
        arn_shape_fail(s, "it must have a size or a scale for each axis");
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t axis;
        if (!arn_shape_axis(s, axes->name ? axes->numbers[i] : (int64_t)i, x->rank, &axis)) return;
        dims[axis] = are_scales       ? scaled(x->dims[axis], numbers.at[i])
                     : keeps_ratio(s) ? ARN_SHAPE_ANY
                                      : numbers.at[i];
        if (dims[axis] < 0) dims[axis] = ARN_SHAPE_ANY;
    }
    arn_shape_set(s, 0, x->dtype, x->rank, dims);
}

/* Resize: X, roi, scales, sizes; at first, and as Upsample, X, scales. */
ARN_SHAPE_FUNCTION(resize) {
    const arn_shape *x = arn_shape_input(s, 0);
    const bool early = s->op->n_inputs <= 2;
    arn_shape_numbers numbers = {0, NULL};
    arn_shape_set_dtype(s, 0, x->dtype);
    if (!x->ranked) return;
    if (arn_shape_has_input(s, 3)) {
        if (arn_shape_numbers_of(s, 3, "", &numbers)) resize_axes(s, x, numbers, false);
    } else if (arn_shape_numbers_of(s, early ? 1 : 2, "scales", &numbers) && numbers.n > 0) {
        if (arn_shape_is_float(arn_shape_input(s, early ? 1 : 2)->dtype) ||
            !arn_shape_has_input(s, early ? 1 : 2)) {
            resize_axes(s, x, numbers, true);
        }
    }
    if (s->status == ARENAUT_OK) arn_shape_set(s, 0, x->dtype, x->rank, NULL);
}

/* The grid of sample points: batch, height, width, 2. */
ARN_SHAPE_FUNCTION(grid_sample) {
    const arn_shape *x = arn_shape_input(s, 0), *grid = arn_shape_input(s, 1);
    arn_shape_set_dtype(s, 0, x->dtype);
    if (!is_image(s, x) || !grid->ranked || grid->rank != x->rank) return;
    int64_t *dims = arn_shape_new_dims(s, x->rank);
    if (!dims) return;
    for (uint32_t i = 0; i < x->rank; i++) dims[i] = i < 2 ? x->dims[i] : grid->dims[i - 1];
    arn_shape_set(s, 0, x->dtype, x->rank, dims);
}

ARN_SHAPE_FUNCTION(roi_align) {
    const arn_shape *x = arn_shape_input(s, 0), *boxes = arn_shape_input(s, 1);
    const int64_t dims[4] = {boxes->ranked && boxes->rank ? boxes->dims[0] : ARN_SHAPE_ANY,
                             x->ranked && x->rank > 1 ? x->dims[1] : ARN_SHAPE_ANY,
                             arn_shape_number(s, "output_height", 1),
                             arn_shape_number(s, "output_width", 1)};
    arn_shape_set(s, 0, x->dtype, 4, dims);
}
