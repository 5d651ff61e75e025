/* The bytes that a shape takes: densely, or with strides from the first element to behind the last.
 * Every product is checked, and counted in bits, since some types are smaller than a byte. */
#include "ir/extent.h"

#include <inttypes.h>

#include "core/checked.h"
#include "core/fail.h"

/* Bits from one element to the next; 0 for a type without fixed size. */
static uint64_t element_bits(arenaut_dtype dtype, uint32_t lanes) {
    const uint64_t bits = arenaut_dtype_bits(dtype);
    if (lanes == 0 || bits == 0) return bits;
    return ((dtype == ARENAUT_DTYPE_BOOL ? 1 : bits) * lanes + 7) / 8 * 8;
}

arenaut_status arn_tensor_dense_bytes(arenaut_dtype dtype, uint32_t lanes, const int64_t *dims,
                                      uint32_t rank, uint64_t *bytes, arenaut_error *err) {
    const uint64_t bits = element_bits(dtype, lanes);
    if (bits == 0) {
        const char *name = arenaut_dtype_name(dtype);
        return arn_fail(err, ARENAUT_UNSUPPORTED, 0, "elements of type '%s' have no fixed size",
                        name ? name : "unknown");
    }
    uint64_t elements = 1, total_bits;
    bool empty = false, fits = true;
    for (uint32_t i = 0; i < rank; i++) {
        if (dims[i] < 0) {
            return arn_fail(err, ARENAUT_BAD_INPUT, 0,
                            "dimension %" PRIu32 " is %" PRId64 "; it must not be negative", i,
                            dims[i]);
        }
        if (dims[i] == 0) empty = true;
        fits = fits && arn_multiply(elements, (uint64_t)dims[i], &elements);
    }
    if (empty) {
        *bytes = 0;
        return ARENAUT_OK;
    }
    if (!fits || !arn_multiply(elements, bits, &total_bits)) {
        return arn_fail(err, ARENAUT_TOO_LARGE, 0,
                        "the product of the dimensions passes 2^63 - 1 bits");
    }
    *bytes = total_bits / 8 + (total_bits % 8 != 0);
    return ARENAUT_OK;
}

/* Elements up to and including the last one; 0 if a dimension is. */
static bool strided_elements(const arenaut_tensor *t, uint64_t *elements) {
    uint64_t last = 0;
    for (uint32_t i = 0; i < t->rank; i++) {
        uint64_t step;
        if (t->dims[i] == 0) {
            *elements = 0;
            return true;
        }
        if (!arn_multiply((uint64_t)t->dims[i] - 1, (uint64_t)t->strides[i], &step) ||
            !arn_add(last, step, &last)) {
            return false;
        }
    }
    return arn_add(last, 1, elements);
}

arenaut_status arn_tensor_extent_bytes(const arenaut_tensor *t, uint64_t *bytes,
                                       arenaut_error *err) {
    uint64_t dense, elements, bits;
    const arenaut_status st =
        arn_tensor_dense_bytes(t->dtype, t->lanes, t->dims, t->rank, &dense, err);
    if (st != ARENAUT_OK || !t->strides) {
        if (st == ARENAUT_OK) *bytes = dense;
        return st;
    }
    for (uint32_t i = 0; i < t->rank; i++) {
        if (t->strides[i] >= 0) continue;
        return arn_fail(err, ARENAUT_BAD_INPUT, 0,
                        "stride %" PRIu32 " is %" PRId64 "; it must not be negative", i,
                        t->strides[i]);
    }
    if (!strided_elements(t, &elements) ||
        !arn_multiply(elements, element_bits(t->dtype, t->lanes), &bits)) {
        return arn_fail(err, ARENAUT_TOO_LARGE, 0, "the last element lies past 2^63 - 1 bits");
    }
    *bytes = bits / 8 + (bits % 8 != 0);
    return ARENAUT_OK;
}
