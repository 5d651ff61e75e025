/* Operators that work element by element, or keep their operand's shape for another reason. */
#include <string.h>

#include "shapes/shapes.h"

int64_t arn_shape_plus(int64_t a, int64_t b) {
    if (a == ARN_SHAPE_ANY || b == ARN_SHAPE_ANY) return ARN_SHAPE_ANY;
    if (b > 0 ? a > INT64_MAX - b : a < INT64_MIN + 1 - b) return ARN_SHAPE_ANY;
    return a + b;
}

int64_t arn_shape_times(int64_t a, int64_t b) {
    if (a == ARN_SHAPE_ANY || b == ARN_SHAPE_ANY) return ARN_SHAPE_ANY;
    if (a == 0 || b == 0) return 0;
    const uint64_t ua = a < 0 ? 0 - (uint64_t)a : (uint64_t)a;
    const uint64_t ub = b < 0 ? 0 - (uint64_t)b : (uint64_t)b;
    return ua > (uint64_t)INT64_MAX / ub ? ARN_SHAPE_ANY : a * b;
}

int64_t arn_shape_product(const int64_t *dims, uint32_t from, uint32_t to) {
    int64_t product = 1;
    for (uint32_t i = from; i < to; i++) product = arn_shape_times(product, dims[i]);
    return product;
}

double arn_shape_floor(double value) {
    enum { EXACT = 53 }; /* from 2^53 on every double is whole */
    const double limit = (double)(INT64_C(1) << EXACT);
    if (!(value > -limit && value < limit)) return value;
    const double towards_zero = (double)(int64_t)value;
    return towards_zero > value ? towards_zero - 1.0 : towards_zero;
}

double arn_shape_as_double(int64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

int64_t arn_shape_as_bits(double value) {
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* An unknown size meets one above 1: it is that one, or 1 and stretched to it. */
static bool stretch(int64_t a, int64_t b, int64_t *both) {
    if (a == b) *both = a;
    else if (a == 1) *both = b;
    else if (b == 1) *both = a;
    else if (a == ARN_SHAPE_ANY) *both = b;
    else if (b == ARN_SHAPE_ANY) *both = a;
    else return false;
    return true;
}

bool arn_shape_broadcast(arn_shapes *s, const arn_shape *a, const arn_shape *b, uint32_t *rank,
                         int64_t *dims) {
    const uint32_t most = a->rank > b->rank ? a->rank : b->rank;
    if (most > ARN_SHAPE_MAX_RANK) {
        arn_shape_fail(s, "a tensor of more than 64 dimensions is not supported");
        return false;
    }
    for (uint32_t i = 0; i < most; i++) {
        const int64_t da = i < a->rank ? a->dims[a->rank - 1 - i] : 1;
        const int64_t db = i < b->rank ? b->dims[b->rank - 1 - i] : 1;
        if (!stretch(da, db, &dims[most - 1 - i])) {
            arn_shape_fail(s, "the shapes of its operands do not fit one another");
            return false;
        }
    }
    *rank = most;
    return true;
}

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

/* The values stay what they are, under the same or another shape of as many elements. */
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

/* Statistics of a batch are as long as it has channels; those of one that is not being
 * trained are no outputs. */
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
