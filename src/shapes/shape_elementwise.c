/* Operators that work element by element, or keep their operand's shape for another reason.
 * Several operands are broadcast together, as NumPy does. */

#include "shapes/shapes.h"

/* All inputs from `first` on, broadcast together. */
static void broadcast_from(arn_shapes *s, uint32_t first, arenaut_dtype dtype) {
    int64_t dims[ARN_SHAPE_MAX_RANK];
    arn_shape all = *arn_shape_input(s, first);
    for (uint32_t i = first + 1; i < s->op->n_inputs; i++) {
        if (!arn_shape_has_input(s, i)) continue;
        if (!all.ranked || !arn_shape_input(s, i)->ranked) {
            arn_shape_set_dtype(s, 0, dtype);
            return;
        }
        if (!arn_shape_broadcast(s, &all, arn_shape_input(s, i), &all.rank, dims)) return;
        all.dims = dims;
    }
    arn_shape_set_like(s, 0, dtype, &all);
    arn_shape_compute_values(s);
}

/* Before version 7 the first operand decided, and said how the second fits. */
ARN_SHAPE_FUNCTION(broadcast) {
    if (arn_shape_attribute(s, "broadcast")->name) {
        arn_shape_set_like(s, 0, arn_shape_input(s, 0)->dtype, arn_shape_input(s, 0));
        return;
    }
    broadcast_from(s, 0, arn_shape_input(s, 0)->dtype);
}

ARN_SHAPE_FUNCTION(compare) {
    if (arn_shape_attribute(s, "broadcast")->name) {
        arn_shape_set_like(s, 0, ARENAUT_DTYPE_BOOL, arn_shape_input(s, 0));
        return;
    }
    broadcast_from(s, 0, ARENAUT_DTYPE_BOOL);
}

ARN_SHAPE_FUNCTION(where) { broadcast_from(s, 0, arn_shape_input(s, 1)->dtype); }

ARN_SHAPE_FUNCTION(same) {
    arn_shape_set_like(s, 0, arn_shape_input(s, 0)->dtype, arn_shape_input(s, 0));
    arn_shape_compute_values(s);
}

ARN_SHAPE_FUNCTION(same_bool) {
    arn_shape_set_like(s, 0, ARENAUT_DTYPE_BOOL, arn_shape_input(s, 0));
    arn_shape_compute_values(s);
}

/* The values are unchanged, under the same or another shape of as many elements. */
ARN_SHAPE_FUNCTION(identity) {
    arn_shape_set_like(s, 0, arn_shape_input(s, 0)->dtype, arn_shape_input(s, 0));
    arn_shape_copy_values(s, 0, arn_shape_input(s, 0));
}

/* A mask beside the result, which before version 10 was of its type. */
ARN_SHAPE_FUNCTION(dropout) {
    const arn_shape *x = arn_shape_input(s, 0);
    const uint32_t version = s->program->dialect_version;
    const arenaut_dtype mask = version > 0 && version < 10 ? x->dtype : ARENAUT_DTYPE_BOOL;
    arn_shape_set_like(s, 0, x->dtype, x);
    arn_shape_copy_values(s, 0, x);
    arn_shape_set_like(s, 1, mask, x);
}

/* Readers number types as arenaut_dtype does. */
static arenaut_dtype dtype_attribute(const arn_shapes *s, const char *name) {
    const int64_t number = arn_shape_number(s, name, ARENAUT_DTYPE_OTHER);
    return number >= 0 && number < ARENAUT_DTYPE_COUNT ? (arenaut_dtype)number
                                                       : ARENAUT_DTYPE_OTHER;
}

ARN_SHAPE_FUNCTION(cast) {
    arn_shape_set_like(s, 0, dtype_attribute(s, "to"), arn_shape_input(s, 0));
    arn_shape_compute_values(s);
}

ARN_SHAPE_FUNCTION(cast_like) {
    arn_shape_set_like(s, 0, arn_shape_input(s, 1)->dtype, arn_shape_input(s, 0));
    arn_shape_compute_values(s);
}

ARN_SHAPE_FUNCTION(quantize) {
    const arenaut_dtype stated = dtype_attribute(s, "output_dtype");
    const arenaut_dtype by_zero = arn_shape_input(s, 2)->dtype;
    const bool has_zero = arn_shape_has_input(s, 2);
    arn_shape_set_like(s, 0,
                       has_zero                        ? by_zero
                       : stated != ARENAUT_DTYPE_OTHER ? stated
                                                       : ARENAUT_DTYPE_UINT8,
                       arn_shape_input(s, 0));
}

ARN_SHAPE_FUNCTION(dequantize) {
    const arenaut_dtype stated = dtype_attribute(s, "output_dtype");
    arn_shape_set_like(s, 0, stated != ARENAUT_DTYPE_OTHER ? stated : arn_shape_input(s, 1)->dtype,
                       arn_shape_input(s, 0));
}

ARN_SHAPE_FUNCTION(dynamic_quantize) {
    arn_shape_set_like(s, 0, ARENAUT_DTYPE_UINT8, arn_shape_input(s, 0));
    arn_shape_set(s, 1, ARENAUT_DTYPE_FLOAT32, 0, NULL);
    arn_shape_set(s, 2, ARENAUT_DTYPE_UINT8, 0, NULL);
}

/* Statistics of a batch are as long as it has channels; without training they are no outputs. */
ARN_SHAPE_FUNCTION(batch_normalization) {
    const arn_shape *x = arn_shape_input(s, 0);
    arn_shape_set_like(s, 0, x->dtype, x);
    for (uint32_t i = 1; i < s->op->n_outputs; i++) {
        arn_shape_set_like(s, i, arn_shape_input(s, 1)->dtype, arn_shape_input(s, 1));
    }
}

/* Mean and inverse deviation are over the axes from `axis` on. */
ARN_SHAPE_FUNCTION(layer_normalization) {
    const arn_shape *x = arn_shape_input(s, 0);
    uint32_t axis;
    arn_shape_set_like(s, 0, x->dtype, x);
    if (s->op->n_outputs < 2 || !x->ranked) return;
    int64_t *dims = arn_shape_new_dims(s, x->rank);
    if (!dims || !arn_shape_axis(s, arn_shape_number(s, "axis", -1), x->rank, &axis)) return;
    for (uint32_t i = 0; i < x->rank; i++) dims[i] = i < axis ? x->dims[i] : 1;
    for (uint32_t i = 1; i < s->op->n_outputs; i++)
        arn_shape_set(s, i, ARENAUT_DTYPE_FLOAT32, x->rank, dims);
}

/* Random numbers in the shape of an operand, or of an attribute. */
ARN_SHAPE_FUNCTION(like) {
    const arenaut_dtype stated = dtype_attribute(s, "dtype");
    arn_shape_set_like(s, 0, stated != ARENAUT_DTYPE_OTHER ? stated : arn_shape_input(s, 0)->dtype,
                       arn_shape_input(s, 0));
}

ARN_SHAPE_FUNCTION(random) {
    const arenaut_attribute *shape = arn_shape_attribute(s, "shape");
    const arenaut_dtype stated = dtype_attribute(s, "dtype");
    if (!shape->name) return;
    arn_shape_set(s, 0, stated != ARENAUT_DTYPE_OTHER ? stated : ARENAUT_DTYPE_FLOAT32,
                  shape->n_numbers, shape->numbers);
}
