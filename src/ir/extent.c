#include "ir/extent.h"

#include <inttypes.h>

#include "core/checked.h"
#include "core/fail.h"

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

arenaut_status arn_extent_bytes(const arenaut_tensor *t, uint64_t *bytes, arenaut_error *err) {
    uint64_t dense, elements, bits;
    const arenaut_status st = arenaut_dense_bytes(t->dtype, t->dims, t->rank, &dense, err);
    if (st != ARENAUT_OK || !t->strides) {
        if (st == ARENAUT_OK) *bytes = dense;
        return st;
    }
    for (uint32_t i = 0; i < t->rank; i++) {
        if (t->strides[i] >= 0) continue;
        return arn_fail(err, ARENAUT_BAD_INPUT, 0, "stride %" PRIu32 " is %" PRId64
                        "; it must not be negative", i, t->strides[i]);
    }
    if (!strided_elements(t, &elements) ||
        !arn_multiply(elements, arenaut_dtype_bits(t->dtype), &bits)) {
        return arn_fail(err, ARENAUT_TOO_LARGE, 0,
                        "the last element lies past 2^63 - 1 bits");
    }
    *bytes = bits / 8 + (bits % 8 != 0);
    return ARENAUT_OK;
}
