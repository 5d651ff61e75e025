/* Operators that put their operand's elements in another order or another shape, or take some of
 * them. If the elements are few and known, they are followed too, since shapes are computed from
 * them. */
#include <string.h>

#include "shapes/shapes.h"

/* Values of an output whose element at (i, j, ...) is its operand's at first + i * stride[0] +
 * j * stride[1] and so on. */
static void pick_values(arn_shapes *s, const arn_shape *x, int64_t first, const int64_t *stride) {
    int64_t *values = x->values ? arn_shape_new_values(s, 0) : NULL;
    if (!values) return;
    const arn_shape *out = &s->of[s->op->outputs[0]];
    for (uint32_t k = 0; k < out->n_values; k++) {
        int64_t at = first;
        uint32_t rest = k;
        for (uint32_t i = out->rank; i-- > 0;) {
            const uint32_t size = (uint32_t)out->dims[i];
            at = arn_shape_plus(at, arn_shape_times((int64_t)(rest % size), stride[i]));
            rest /= size;
        }
        if (at >= 0 && at < (int64_t)x->n_values) values[k] = x->values[at];
    }
}

/* Only for a shape whose values are known, and which therefore is small. */
static void strides_of(const arn_shape *x, int64_t stride[ARN_SHAPE_MAX_RANK]) {
    int64_t next = 1;
    for (uint32_t i = x->rank; i-- > 0;) {
        stride[i] = next;
        next = arn_shape_times(next, x->dims[i]);
    }
}

/* ---- other shapes of the same elements ---- */

/* A size of the new shape: 0 is the operand's size at that place, unless zeros are meant. */
static int64_t new_size(arn_shapes *s, const arn_shape *x, int64_t wanted, uint32_t i) {
    if (wanted == 0 && arn_shape_number(s, "allowzero", 0) == 0) {
        return x->ranked && i < x->rank ? x->dims[i] : ARN_SHAPE_ANY;
    }
    if (wanted >= -1 || wanted == ARN_SHAPE_ANY) return wanted;
    arn_shape_fail(s, "a size of the new shape is negative");
    return ARN_SHAPE_ANY;
}

/* The size that is left over for the axis stated as -1, or a look at whether all fit. `others`
 * is the product of the sizes that are stated. */
static void divide_rest(arn_shapes *s, const arn_shape *x, int64_t others, int64_t *rest) {
    const int64_t all = x->ranked ? arn_shape_product(x->dims, 0, x->rank) : ARN_SHAPE_ANY;
    if (rest) {
        const bool fits = all != ARN_SHAPE_ANY && others > 0;
        if (fits && all % others != 0) arn_shape_fail(s, "the new shape does not divide the old");
        *rest = fits ? all / others : ARN_SHAPE_ANY;
    } else if (all != ARN_SHAPE_ANY && others != ARN_SHAPE_ANY && all != others) {
        arn_shape_fail(s, "the new shape has another number of elements");
    }
}

/* The new sizes are values; where they are not known, their number may be. */
ARN_SHAPE_FUNCTION(reshape) {
    const arn_shape *x = arn_shape_input(s, 0);
    arn_shape_numbers wanted;
    arn_shape_set_dtype(s, 0, x->dtype);
    if (!arn_shape_numbers_of(s, 1, "shape", &wanted)) {
        const arn_shape *shape = arn_shape_input(s, 1);
        const bool length_known = shape->ranked && shape->rank == 1 && shape->dims[0] >= 0;
        if (length_known && shape->dims[0] <= ARN_SHAPE_MAX_RANK) {
            arn_shape_set(s, 0, x->dtype, (uint32_t)shape->dims[0], NULL);
        }
        return;
    }
    int64_t *dims = arn_shape_new_dims(s, wanted.n), *rest = NULL;
    int64_t others = 1;
    if (!dims) return;
    for (uint32_t i = 0; i < wanted.n; i++) {
        dims[i] = new_size(s, x, wanted.at[i], i);
        if (dims[i] != -1) {
            others = arn_shape_times(others, dims[i]);
            continue;
        }
        if (rest) arn_shape_fail(s, "two sizes of the new shape are -1");
        rest = &dims[i];
    }
    divide_rest(s, x, others, rest);
    arn_shape_set(s, 0, x->dtype, wanted.n, dims);
    arn_shape_copy_values(s, 0, x);
}

ARN_SHAPE_FUNCTION(flatten) {
    const arn_shape *x = arn_shape_input(s, 0);
    const int64_t wanted = arn_shape_number(s, "axis", 1);
    uint32_t axis;
    if (!x->ranked) {
        arn_shape_set(s, 0, x->dtype, 2, NULL);
        return;
    }
    /* One past the last axis is allowed too. */
    if (!arn_shape_axis(s, wanted < 0 ? wanted + (int64_t)x->rank : wanted, x->rank + 1, &axis))
        return;
    const int64_t dims[2] = {arn_shape_product(x->dims, 0, axis),
                             arn_shape_product(x->dims, axis, x->rank)};
    arn_shape_set(s, 0, x->dtype, 2, dims);
}

/* Marks the axes that are named; all of them must exist in `rank`. */
static bool mark_axes(arn_shapes *s, arn_shape_numbers axes, uint32_t rank,
                      bool marked[ARN_SHAPE_MAX_RANK]) {
    memset(marked, 0, ARN_SHAPE_MAX_RANK * sizeof *marked);
    if (rank > ARN_SHAPE_MAX_RANK) return arn_shape_new_dims(s, rank) != NULL; /* which says so */
    for (uint32_t i = 0; i < axes.n; i++) {
        uint32_t axis;
        if (!arn_shape_axis(s, axes.at[i], rank, &axis)) return false;
        marked[axis] = true;
    }
    return true;
}

ARN_SHAPE_FUNCTION(squeeze) {
    const arn_shape *x = arn_shape_input(s, 0);
    arn_shape_numbers axes = {0, NULL};
    const bool stated = arn_shape_has_input(s, 1) || arn_shape_attribute(s, "axes")->name;
    bool gone[ARN_SHAPE_MAX_RANK];
    arn_shape_set_dtype(s, 0, x->dtype);
    if (!x->ranked) return;
    if (stated && (!arn_shape_numbers_of(s, 1, "axes", &axes) || !arn_shape_all_known(axes)))
        return;
    int64_t *dims = arn_shape_new_dims(s, x->rank);
    if (!dims || !mark_axes(s, axes, x->rank, gone)) return;
    uint32_t rank = 0;
    for (uint32_t i = 0; i < x->rank; i++) {
        if (!stated && x->dims[i] == ARN_SHAPE_ANY) return; /* it might be 1 */
        if (gone[i] && x->dims[i] != 1 && x->dims[i] != ARN_SHAPE_ANY) {
            arn_shape_fail(s, "an axis that is squeezed has another size than 1");
        }
        if (stated ? !gone[i] : x->dims[i] != 1) dims[rank++] = x->dims[i];
    }
    arn_shape_set(s, 0, x->dtype, rank, dims);
    arn_shape_copy_values(s, 0, x);
}

ARN_SHAPE_FUNCTION(unsqueeze) {
    const arn_shape *x = arn_shape_input(s, 0);
    arn_shape_numbers axes;
    bool added[ARN_SHAPE_MAX_RANK];
    arn_shape_set_dtype(s, 0, x->dtype);
    if (!x->ranked || !arn_shape_numbers_of(s, 1, "axes", &axes) || !arn_shape_all_known(axes))
        return;
    if (axes.n > ARN_SHAPE_MAX_RANK || !mark_axes(s, axes, x->rank + axes.n, added)) return;
    const uint32_t rank = x->rank + axes.n;
    int64_t *dims = arn_shape_new_dims(s, rank);
    uint32_t from = 0;
    for (uint32_t i = 0; dims && i < rank; i++) {
        if (!added[i] && from == x->rank) {
            arn_shape_fail(s, "an axis is named twice");
            return;
        }
        dims[i] = added[i] ? 1 : x->dims[from++];
    }
    if (!dims) return;
    arn_shape_set(s, 0, x->dtype, rank, dims);
    arn_shape_copy_values(s, 0, x);
}

ARN_SHAPE_FUNCTION(transpose) {
    const arn_shape *x = arn_shape_input(s, 0);
    const arenaut_attribute *order = arn_shape_attribute(s, "perm");
    arn_shape_set_dtype(s, 0, x->dtype);
    if (!x->ranked) return;
    int64_t *dims = arn_shape_new_dims(s, x->rank);
    if (!dims) return;
    if (order->name && order->n_numbers != x->rank) {
        arn_shape_fail(s, "perm has another length than its operand has dimensions");
        return;
    }
    for (uint32_t i = 0; i < x->rank; i++) {
        uint32_t axis = x->rank - 1 - i;
        if (order->name && !arn_shape_axis(s, order->numbers[i], x->rank, &axis)) return;
        dims[i] = x->dims[axis];
    }
    arn_shape_set(s, 0, x->dtype, x->rank, dims);
    if (!x->values) return;
    int64_t stride[ARN_SHAPE_MAX_RANK], turned[ARN_SHAPE_MAX_RANK];
    strides_of(x, stride);
    for (uint32_t i = 0; i < x->rank; i++) {
        uint32_t axis = x->rank - 1 - i;
        if (order->name && !arn_shape_axis(s, order->numbers[i], x->rank, &axis)) return;
        turned[i] = stride[axis];
    }
    pick_values(s, x, 0, turned);
}

/* ---- several together, or one apart ---- */

static void concat_values(arn_shapes *s, uint32_t axis) {
    if (axis != 0) return;
    int64_t *values = arn_shape_new_values(s, 0);
    if (!values) return;
    const uint32_t room = s->of[s->op->outputs[0]].n_values;
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->op->n_inputs; i++) {
        const arn_shape *in = arn_shape_input(s, i);
        const int64_t elements =
            in->ranked ? arn_shape_product(in->dims, 0, in->rank) : ARN_SHAPE_ANY;
        if (elements == ARN_SHAPE_ANY || elements > (int64_t)(room - n)) return;
        if (in->values && elements)
            memcpy(values + n, in->values, (size_t)elements * sizeof *values);
        n += (uint32_t)elements;
    }
}

ARN_SHAPE_FUNCTION(concat) {
    arn_shape all = *arn_shape_input(s, 0);
    uint32_t axis;
    for (uint32_t i = 0; i < s->op->n_inputs; i++)
        arn_shape_set_dtype(s, 0, arn_shape_input(s, i)->dtype);
    for (uint32_t i = 0; i < s->op->n_inputs; i++) {
        if (!arn_shape_input(s, i)->ranked) return;
    }
    if (s->op->n_inputs == 0) return;
    int64_t *dims = arn_shape_new_dims(s, all.rank);
    if (!dims || !arn_shape_axis(s, arn_shape_number(s, "axis", 1), all.rank, &axis)) return;
    if (all.rank) memcpy(dims, all.dims, all.rank * sizeof *dims);
    for (uint32_t i = 1; i < s->op->n_inputs; i++) {
        const arn_shape *in = arn_shape_input(s, i);
        if (in->rank != all.rank) {
            arn_shape_fail(s, "its operands have different numbers of dimensions");
            return;
        }
        for (uint32_t k = 0; k < all.rank; k++) {
            if (k == axis) dims[k] = arn_shape_plus(dims[k], in->dims[k]);
            else if (dims[k] == ARN_SHAPE_ANY) dims[k] = in->dims[k];
            else if (in->dims[k] != ARN_SHAPE_ANY && in->dims[k] != dims[k]) {
                arn_shape_fail(s, "its operands differ in a dimension that is not joined");
            }
        }
    }
    arn_shape_set(s, 0, all.dtype, all.rank, dims);
    concat_values(s, axis);
}

/* The parts' sizes are stated, or they are alike and the last is the rest. */
static int64_t part_size(const arn_shapes *s, arn_shape_numbers sizes, bool stated, int64_t whole,
                         uint32_t part) {
    const int64_t n = s->op->n_outputs;
    if (stated) return part < sizes.n ? sizes.at[part] : ARN_SHAPE_ANY;
    if (whole == ARN_SHAPE_ANY) return ARN_SHAPE_ANY;
    const int64_t each = (whole + n - 1) / n, before = each * part;
    if (arn_shape_input(s, 0)->at_most) return each;
    return before + each <= whole ? each : before < whole ? whole - before : 0;
}

ARN_SHAPE_FUNCTION(split) {
    const arn_shape *x = arn_shape_input(s, 0);
    arn_shape_numbers sizes = {0, NULL};
    uint32_t axis;
    for (uint32_t i = 0; i < s->op->n_outputs; i++) arn_shape_set_dtype(s, i, x->dtype);
    if (!x->ranked || !arn_shape_axis(s, arn_shape_number(s, "axis", 0), x->rank, &axis)) return;
    const bool stated = arn_shape_has_input(s, 1) || arn_shape_attribute(s, "split")->name;
    const bool known = stated && arn_shape_numbers_of(s, 1, "split", &sizes);
    int64_t begin = 0;
    for (uint32_t i = 0; i < s->op->n_outputs; i++) {
        int64_t *dims = arn_shape_new_dims(s, x->rank);
        if (!dims) return;
        memcpy(dims, x->dims, x->rank * sizeof *dims);
        dims[axis] =
            stated && !known ? ARN_SHAPE_ANY : part_size(s, sizes, stated, x->dims[axis], i);
        if (dims[axis] < 0 && dims[axis] != ARN_SHAPE_ANY)
            arn_shape_fail(s, "a part has a negative size");
        arn_shape_set(s, i, x->dtype, x->rank, dims);
        int64_t *values = x->rank == 1 && x->values ? arn_shape_new_values(s, i) : NULL;
        for (int64_t k = 0; values && k < dims[axis] && begin + k < (int64_t)x->n_values; k++) {
            values[k] = x->values[begin + k];
        }
        begin = arn_shape_plus(begin, dims[axis]);
        if (begin == ARN_SHAPE_ANY) begin = (int64_t)x->n_values;
    }
}

/* ---- some of the elements ---- */

typedef struct range {
    int64_t first, count, step;
} range;

static int64_t clamp(int64_t x, int64_t low, int64_t high) {
    return x < low ? low : x > high ? high : x;
}

/* As ONNX Runtime reads them: from the end if negative, clamped to the size; a start into it. */
static bool slice_range(int64_t size, int64_t start, int64_t end, int64_t step, range *out) {
    if (size == ARN_SHAPE_ANY || start == ARN_SHAPE_ANY || end == ARN_SHAPE_ANY ||
        step == ARN_SHAPE_ANY || step == 0) {
        return false;
    }
    if (start < 0) start = start < -size ? 0 : start + size;
    const bool far = end == INT32_MAX || end == INT64_MAX; /* the end of either direction */
    if (step < 0 && far) end = -1;
    else if (end < 0) end = end < -size ? -1 : end + size;
    start = step > 0 ? clamp(start, 0, size) : clamp(start, 0, size - 1);
    end = step > 0 ? clamp(end, 0, size) : clamp(end, -1, size - 1);
    const int64_t distance = step > 0 ? end - start : start - end;
    const uint64_t stride = step > 0 ? (uint64_t)step : 0 - (uint64_t)step;
    const uint64_t count = distance > 0 ? ((uint64_t)distance - 1) / stride + 1 : 0;
    *out = (range){start, (int64_t)count, step};
    return true;
}

/* The arguments of a slice, from inputs or from attributes. */
typedef struct slicing {
    arn_shape_numbers starts, ends, axes, steps;
    bool bounds_known, has_axes, has_steps, steps_known;
    uint32_t n; /* axes that are sliced */
} slicing;

/* False where it is unknown which axes are sliced. */
static bool read_slicing(const arn_shapes *s, slicing *c) {
    *c = (slicing){.has_axes = arn_shape_has_input(s, 3) || arn_shape_attribute(s, "axes")->name,
                   .has_steps = arn_shape_has_input(s, 4)};
    const bool starts_known = arn_shape_numbers_of(s, 1, "starts", &c->starts);
    c->bounds_known = arn_shape_numbers_of(s, 2, "ends", &c->ends) && starts_known;
    c->steps_known = !c->has_steps || arn_shape_numbers_of(s, 4, "steps", &c->steps);
    c->n = c->starts.n;
    if (!c->has_axes) return c->bounds_known;
    if (!arn_shape_numbers_of(s, 3, "axes", &c->axes)) return false;
    c->n = c->axes.n;
    return arn_shape_all_known(c->axes);
}

static bool lengths_agree(const slicing *c) {
    if (!c->bounds_known) return true;
    const bool steps_agree = !c->has_steps || !c->steps_known || c->steps.n == c->n;
    return c->starts.n == c->n && c->ends.n == c->n && steps_agree;
}

/* The range taken along the i-th sliced axis; false if that is unknown. From an element counted
 * from the end to one counted from the front there are the fewer, the larger the size is. */
static bool range_of(const slicing *c, uint32_t i, const arn_shape *x, int64_t size, range *out) {
    if (!c->bounds_known || !c->steps_known) return false;
    const int64_t step = c->has_steps ? c->steps.at[i] : 1;
    const int64_t low = step > 0 ? c->starts.at[i] : c->ends.at[i];
    const int64_t high = step > 0 ? c->ends.at[i] : c->starts.at[i];
    if (x->at_most && size != ARN_SHAPE_ANY && low < 0 && low >= -size && high >= 0 && high < size)
        return false;
    return slice_range(size, c->starts.at[i], c->ends.at[i], step, out);
}

/* Along each axis the slice begins so many elements later and takes every step-th. False where
 * the first element cannot be counted. */
static bool move_along(range r, int64_t *first, int64_t *stride) {
    *first = arn_shape_plus(*first, arn_shape_times(r.first, *stride));
    *stride = arn_shape_times(*stride, r.step);
    /* A stride past 63 bits leads nowhere: there is at most one element then. */
    if (*stride == ARN_SHAPE_ANY) *stride = 0;
    return *first != ARN_SHAPE_ANY;
}

ARN_SHAPE_FUNCTION(slice) {
    const arn_shape *x = arn_shape_input(s, 0);
    slicing c;
    arn_shape_set_dtype(s, 0, x->dtype);
    if (!x->ranked) return;
    int64_t *dims = arn_shape_new_dims(s, x->rank);
    if (!dims) return;
    if (x->rank) memcpy(dims, x->dims, x->rank * sizeof *dims);
    if (!read_slicing(s, &c)) {
        arn_shape_set(s, 0, x->dtype, x->rank, NULL);
        return;
    }
    if (!lengths_agree(&c)) {
        arn_shape_fail(s, "starts, ends, axes and steps differ in length");
        return;
    }
    int64_t stride[ARN_SHAPE_MAX_RANK], first = 0;
    bool all_known = true;
    if (x->values) strides_of(x, stride);
    for (uint32_t i = 0; i < c.n; i++) {
        uint32_t axis;
        range r;
        if (!arn_shape_axis(s, c.has_axes ? c.axes.at[i] : (int64_t)i, x->rank, &axis)) return;
        const bool known = range_of(&c, i, x, dims[axis], &r);
        dims[axis] = known ? r.count : ARN_SHAPE_ANY;
        all_known = all_known && known;
        if (x->values && known && !move_along(r, &first, &stride[axis])) return;
    }
    arn_shape_set(s, 0, x->dtype, x->rank, dims);
    if (all_known) pick_values(s, x, first, stride);
}

static void gather_values(arn_shapes *s, const arn_shape *x, const arn_shape *indices) {
    int64_t *values =
        x->rank == 1 && x->values && indices->values ? arn_shape_new_values(s, 0) : NULL;
    if (!values) return;
    for (uint32_t i = 0; i < indices->n_values && i < s->of[s->op->outputs[0]].n_values; i++) {
        int64_t at = indices->values[i];
        if (at == ARN_SHAPE_ANY) continue;
        if (at < 0) at += (int64_t)x->n_values;
        if (at >= 0 && at < (int64_t)x->n_values) values[i] = x->values[at];
    }
}

ARN_SHAPE_FUNCTION(gather) {
    const arn_shape *x = arn_shape_input(s, 0), *indices = arn_shape_input(s, 1);
    uint32_t axis, n = 0;
    arn_shape_set_dtype(s, 0, x->dtype);
    if (!x->ranked || !indices->ranked) return;
    if (!arn_shape_axis(s, arn_shape_number(s, "axis", 0), x->rank, &axis)) return;
    const uint32_t rank = x->rank - 1 + indices->rank;
    int64_t *dims = arn_shape_new_dims(s, rank);
    if (!dims) return;
    for (uint32_t i = 0; i < axis; i++) dims[n++] = x->dims[i];
    for (uint32_t i = 0; i < indices->rank; i++) dims[n++] = indices->dims[i];
    for (uint32_t i = axis + 1; i < x->rank; i++) dims[n++] = x->dims[i];
    arn_shape_set(s, 0, x->dtype, rank, dims);
    gather_values(s, x, indices);
}

/* One element for each index. */
ARN_SHAPE_FUNCTION(gather_elements) {
    arn_shape_set_like(s, 0, arn_shape_input(s, 0)->dtype, arn_shape_input(s, 1));
}

ARN_SHAPE_FUNCTION(gather_nd) {
    const arn_shape *x = arn_shape_input(s, 0), *indices = arn_shape_input(s, 1);
    const int64_t batch = arn_shape_number(s, "batch_dims", 0);
    arn_shape_set_dtype(s, 0, x->dtype);
    if (!x->ranked || !indices->ranked || indices->rank == 0) return;
    const int64_t depth = indices->dims[indices->rank - 1];
    if (depth == ARN_SHAPE_ANY || batch < 0 || batch >= (int64_t)ARN_SHAPE_MAX_RANK) return;
    if (depth < 0 || depth > (int64_t)x->rank || batch + depth > (int64_t)x->rank) {
        arn_shape_fail(s, "its indices have more parts than its operand has dimensions");
        return;
    }
    const uint32_t kept = x->rank - (uint32_t)(batch + depth), rank = indices->rank - 1 + kept;
    int64_t *dims = arn_shape_new_dims(s, rank);
    if (!dims) return;
    for (uint32_t i = 0; i + 1 < indices->rank; i++) dims[i] = indices->dims[i];
    for (uint32_t i = 0; i < kept; i++) dims[indices->rank - 1 + i] = x->dims[x->rank - kept + i];
    arn_shape_set(s, 0, x->dtype, rank, dims);
}

/* ---- more elements ---- */

/* New sizes are numbers, broadcast with the operand's. */
ARN_SHAPE_FUNCTION(expand) {
    const arn_shape *x = arn_shape_input(s, 0), *shape = arn_shape_input(s, 1);
    int64_t dims[ARN_SHAPE_MAX_RANK];
    uint32_t rank;
    arn_shape_set_dtype(s, 0, x->dtype);
    if (!x->ranked) return;
    arn_shape wanted = {.ranked = true, .rank = shape->n_values, .dims = shape->values};
    if (!shape->values) {
        if (!shape->ranked || shape->rank != 1 || shape->dims[0] < 0) return;
        if (shape->dims[0] > ARN_SHAPE_MAX_RANK) return;
        const uint32_t most = shape->dims[0] > x->rank ? (uint32_t)shape->dims[0] : x->rank;
        arn_shape_set(s, 0, x->dtype, most, NULL);
        return;
    }
    if (!arn_shape_broadcast(s, x, &wanted, &rank, dims)) return;
    arn_shape_set(s, 0, x->dtype, rank, dims);
    int64_t *values = x->values && x->n_values == 1 ? arn_shape_new_values(s, 0) : NULL;
    const uint32_t n = values ? s->of[s->op->outputs[0]].n_values : 0;
    for (uint32_t i = 0; i < n; i++) values[i] = x->values[0];
}

ARN_SHAPE_FUNCTION(tile) {
    const arn_shape *x = arn_shape_input(s, 0);
    arn_shape_numbers repeats;
    arn_shape_set_dtype(s, 0, x->dtype);
    if (!x->ranked) return;
    int64_t *dims = arn_shape_new_dims(s, x->rank);
    if (!dims) return;
    const bool known = arn_shape_numbers_of(s, 1, "repeats", &repeats) && repeats.n == x->rank;
    for (uint32_t i = 0; i < x->rank; i++) {
        dims[i] = known ? arn_shape_times(x->dims[i], repeats.at[i]) : ARN_SHAPE_ANY;
    }
    arn_shape_set(s, 0, x->dtype, x->rank, dims);
}

ARN_SHAPE_FUNCTION(pad) {
    const arn_shape *x = arn_shape_input(s, 0);
    arn_shape_numbers pads, axes = {0, NULL};
    const char *attribute = arn_shape_attribute(s, "paddings")->name ? "paddings" : "pads";
    arn_shape_set_dtype(s, 0, x->dtype);
    if (!x->ranked) return;
    int64_t *dims = arn_shape_new_dims(s, x->rank);
    if (!dims) return;
    const bool has_axes = arn_shape_has_input(s, 3);
    const bool known =
        arn_shape_numbers_of(s, 1, attribute, &pads) &&
        (!has_axes || (arn_shape_numbers_of(s, 3, "", &axes) && arn_shape_all_known(axes)));
    const uint32_t n = has_axes ? axes.n : x->rank;
    if (!known) {
        arn_shape_set(s, 0, x->dtype, x->rank, NULL);
        return;
    }
    if (pads.n != 2 * n) {
        arn_shape_fail(s, "pads must have two numbers for each axis");
        return;
    }
    if (x->rank) memcpy(dims, x->dims, x->rank * sizeof *dims);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t axis;
        if (!arn_shape_axis(s, has_axes ? axes.at[i] : (int64_t)i, x->rank, &axis)) return;
        dims[axis] = arn_shape_plus(dims[axis], arn_shape_plus(pads.at[i], pads.at[n + i]));
        if (dims[axis] < 0 && dims[axis] != ARN_SHAPE_ANY)
            arn_shape_fail(s, "a size becomes negative");
    }
    arn_shape_set(s, 0, x->dtype, x->rank, dims);
}

/* Blocks of pixels become channels, or the other way round. */
static void move_blocks(arn_shapes *s, bool to_space) {
    const arn_shape *x = arn_shape_input(s, 0);
    const int64_t block = arn_shape_number(s, "blocksize", 0);
    arn_shape_set_dtype(s, 0, x->dtype);
    if (!x->ranked || x->rank != 4 || block < 1 || block > INT32_MAX) return;
    int64_t dims[4];
    memcpy(dims, x->dims, sizeof dims);
    const int64_t area = block * block;
    for (uint32_t i = 1; i < 4; i++) {
        const bool grows = (i == 1) != to_space;
        const int64_t factor = i == 1 ? area : block;
        if (dims[i] == ARN_SHAPE_ANY) continue;
        if (!grows && dims[i] % factor != 0) arn_shape_fail(s, "blocksize does not divide a size");
        dims[i] = grows ? arn_shape_times(dims[i], factor) : dims[i] / factor;
    }
    arn_shape_set(s, 0, x->dtype, 4, dims);
}

ARN_SHAPE_FUNCTION(depth_to_space) { move_blocks(s, true); }
ARN_SHAPE_FUNCTION(space_to_depth) { move_blocks(s, false); }
