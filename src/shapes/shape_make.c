/* Operators that make new values: from a shape, of a shape, or of a number that depends on data,
 * which stays unknown. */
#include <string.h>

#include "shapes/shapes.h"

/* From version 15 on a part of the shape can be asked for. */
ARN_SHAPE_FUNCTION(shape) {
    const arn_shape *x = arn_shape_input(s, 0);
    const arenaut_attribute *stop = arn_shape_attribute(s, "end");
    if (!x->ranked) {
        arn_shape_set(s, 0, ARENAUT_DTYPE_INT64, 1, NULL);
        return;
    }
    const int64_t rank = x->rank;
    int64_t start = arn_shape_number(s, "start", 0),
            end = stop->n_numbers ? stop->numbers[0] : rank;
    if (start < 0) start += rank;
    if (end < 0) end += rank;
    start = start < 0 ? 0 : start > rank ? rank : start;
    end = end < start ? start : end > rank ? rank : end;
    const int64_t length = end - start;
    arn_shape_set(s, 0, ARENAUT_DTYPE_INT64, 1, &length);
    int64_t *values = arn_shape_new_values(s, 0);
    if (values && length && !x->at_most)
        memcpy(values, x->dims + start, (size_t)length * sizeof *values);
}

ARN_SHAPE_FUNCTION(size) {
    const arn_shape *x = arn_shape_input(s, 0);
    arn_shape_set(s, 0, ARENAUT_DTYPE_INT64, 0, NULL);
    int64_t *values = x->ranked ? arn_shape_new_values(s, 0) : NULL;
    if (values && !x->at_most) values[0] = arn_shape_product(x->dims, 0, x->rank);
}

/* The attribute has the type and the one value; without it, zeros. */
ARN_SHAPE_FUNCTION(constant_of_shape) {
    const arn_shape *shape = arn_shape_input(s, 0);
    const arenaut_attribute *value = arn_shape_attribute(s, "value");
    const bool typed = value->n_numbers > 0 && value->numbers[0] < ARENAUT_DTYPE_COUNT;
    const arenaut_dtype dtype = typed ? (arenaut_dtype)value->numbers[0] : ARENAUT_DTYPE_FLOAT32;
    arn_shape_set_dtype(s, 0, dtype);
    if (!shape->values) {
        const bool counted = shape->ranked && shape->rank == 1 && shape->dims[0] >= 0;
        if (counted && shape->dims[0] <= ARN_SHAPE_MAX_RANK) {
            arn_shape_set(s, 0, dtype, (uint32_t)shape->dims[0], NULL);
        }
        return;
    }
    int64_t *dims = arn_shape_new_dims(s, shape->n_values);
    if (!dims) return;
    for (uint32_t i = 0; i < shape->n_values; i++) {
        dims[i] = shape->values[i];
        if (dims[i] < 0 && dims[i] != ARN_SHAPE_ANY) arn_shape_fail(s, "a size is negative");
    }
    if (s->status != ARENAUT_OK) return;
    arn_shape_set(s, 0, dtype, shape->n_values, dims);
    int64_t *values = value->name && value->n_numbers < 2 ? NULL : arn_shape_new_values(s, 0);
    const uint32_t n = values ? s->of[s->op->outputs[0]].n_values : 0;
    for (uint32_t i = 0; i < n; i++) values[i] = value->name ? value->numbers[1] : 0;
}

/* The number of elements from start to limit. */
static int64_t range_count(arenaut_dtype dtype, const int64_t at[3]) {
    for (int i = 0; i < 3; i++) {
        if (at[i] == ARN_SHAPE_ANY) return ARN_SHAPE_ANY;
    }
    if (arn_shape_is_float(dtype)) {
        const double step = arn_shape_as_double(at[2]);
        const double count = (arn_shape_as_double(at[1]) - arn_shape_as_double(at[0])) / step;
        if (!(count < 9.0e15)) return ARN_SHAPE_ANY;
        if (!(count > 0.0)) return count <= 0.0 ? 0 : ARN_SHAPE_ANY;
        const int64_t whole = (int64_t)count;
        return whole + ((double)whole < count);
    }
    const int64_t distance = arn_shape_plus(at[1], -at[0]), step = at[2];
    if (step == 0 || distance == ARN_SHAPE_ANY) return ARN_SHAPE_ANY;
    if ((distance > 0) != (step > 0) || distance == 0) return 0;
    return distance / step + (distance % step != 0);
}

ARN_SHAPE_FUNCTION(range) {
    int64_t at[3] = {ARN_SHAPE_ANY, ARN_SHAPE_ANY, ARN_SHAPE_ANY};
    const arenaut_dtype dtype = arn_shape_input(s, 0)->dtype;
    for (uint32_t i = 0; i < 3; i++) {
        const arn_shape *x = arn_shape_input(s, i);
        if (x->values && x->n_values == 1) at[i] = x->values[0];
    }
    const int64_t count = range_count(dtype, at);
    arn_shape_set(s, 0, dtype, 1, &count);
    int64_t *values =
        count == ARN_SHAPE_ANY || arn_shape_is_float(dtype) ? NULL : arn_shape_new_values(s, 0);
    for (int64_t i = 0; values && i < count; i++) values[i] = at[0] + i * at[2];
}

/* A line of coordinates for each element that is not zero. */
ARN_SHAPE_FUNCTION(non_zero) {
    const arn_shape *x = arn_shape_input(s, 0);
    int64_t dims[2] = {x->ranked ? (int64_t)(x->rank ? x->rank : 1) : ARN_SHAPE_ANY, 0};
    for (uint32_t i = 0; i < x->n_values && x->values; i++) {
        if (x->values[i] == ARN_SHAPE_ANY) dims[1] = ARN_SHAPE_ANY;
        if (dims[1] != ARN_SHAPE_ANY) dims[1] += x->values[i] != 0;
    }
    if (!x->values) dims[1] = ARN_SHAPE_ANY;
    arn_shape_set(s, 0, ARENAUT_DTYPE_INT64, 2, dims);
    int64_t *values =
        x->ranked && x->rank == 1 && dims[1] != ARN_SHAPE_ANY ? arn_shape_new_values(s, 0) : NULL;
    for (uint32_t i = 0, n = 0; values && i < x->n_values; i++) {
        if (x->values[i] != 0) values[n++] = i;
    }
}

ARN_SHAPE_FUNCTION(one_hot) {
    const arn_shape *indices = arn_shape_input(s, 0), *depth = arn_shape_input(s, 1);
    uint32_t axis;
    arn_shape_set_dtype(s, 0, arn_shape_input(s, 2)->dtype);
    if (!indices->ranked) return;
    const uint32_t rank = indices->rank + 1;
    int64_t *dims = arn_shape_new_dims(s, rank);
    if (!dims || !arn_shape_axis(s, arn_shape_number(s, "axis", -1), rank, &axis)) return;
    const bool known = depth->values && depth->n_values == 1 && !arn_shape_is_float(depth->dtype);
    for (uint32_t i = 0, from = 0; i < rank; i++) {
        dims[i] = i != axis ? indices->dims[from++] : known ? depth->values[0] : ARN_SHAPE_ANY;
    }
    arn_shape_set(s, 0, arn_shape_input(s, 2)->dtype, rank, dims);
}

/* The number of chosen boxes shows only in a run; each has three numbers. */
ARN_SHAPE_FUNCTION(non_max_suppression) {
    const int64_t dims[2] = {ARN_SHAPE_ANY, 3};
    arn_shape_set(s, 0, ARENAUT_DTYPE_INT64, 2, dims);
}

/* The same elements, as many as there are different ones. */
ARN_SHAPE_FUNCTION(unique) {
    const arn_shape *x = arn_shape_input(s, 0);
    arn_shape_set_dtype(s, 0, x->dtype);
    for (uint32_t i = 1; i < 4; i++) arn_shape_set(s, i, ARENAUT_DTYPE_INT64, 1, NULL);
}

ARN_SHAPE_FUNCTION(multinomial) {
    const arn_shape *x = arn_shape_input(s, 0);
    const int64_t stated = arn_shape_number(s, "dtype", ARENAUT_DTYPE_INT32);
    const int64_t dims[2] = {x->ranked && x->rank ? x->dims[0] : ARN_SHAPE_ANY,
                             arn_shape_number(s, "sample_size", 1)};
    arn_shape_set(s, 0, stated < ARENAUT_DTYPE_COUNT ? (arenaut_dtype)stated : ARENAUT_DTYPE_OTHER,
                  2, dims);
}

/* The determinant of each matrix. */
ARN_SHAPE_FUNCTION(det) {
    const arn_shape *x = arn_shape_input(s, 0);
    if (x->ranked && x->rank >= 2) arn_shape_set(s, 0, x->dtype, x->rank - 2, x->dims);
}
