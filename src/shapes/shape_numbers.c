/* Arithmetic on sizes of which some are unknown, and on the floats among values, which are kept as
 * the bits of doubles. */
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
