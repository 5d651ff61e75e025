/* Comparison of tensors that methods share by name: they must be equal in each method. The first
 * difference is found and worded here, for messages. O(rank). */
#include "ir/shared_state.h"

#include <inttypes.h>
#include <stdio.h>

#include "core/fail.h"

/* Of a tensor without dimensions whose bytes are not a single element's, only the bytes are
 * stated. */
static bool states_shape(const arenaut_tensor *t) {
    uint64_t single;
    if (t->rank > 0) return true;
    return arenaut_dense_bytes(t->dtype, NULL, 0, &single, NULL) == ARENAUT_OK &&
           single == t->bytes;
}

/* A size that is not known yet may still turn out to be the other's. */
static bool same_shape(const arenaut_tensor *a, const arenaut_tensor *b) {
    if (!states_shape(a) || !states_shape(b)) return true;
    if (a->rank != b->rank) return false;
    for (uint32_t i = 0; i < a->rank; i++) {
        if (a->dims[i] >= 0 && b->dims[i] >= 0 && a->dims[i] != b->dims[i]) return false;
    }
    return true;
}

/* Without strides of its own a tensor is dense: `dense` is then the stride of axis i. */
static int64_t stride_of(const arenaut_tensor *t, uint32_t i, int64_t dense) {
    return t->strides ? t->strides[i] : dense;
}

/* Of shapes that are the same. Products of dimensions stay below 2^63: they have bytes. */
static bool same_strides(const arenaut_tensor *a, const arenaut_tensor *b) {
    int64_t dense = 1;
    if ((!a->strides && !b->strides) || a->rank != b->rank) return true;
    for (uint32_t i = a->rank; i-- > 0;) {
        if (a->dims[i] < 0 || a->dims[i] != b->dims[i]) return true;
        if (a->dims[i] == 0) return true;
        if (a->dims[i] > 1 && stride_of(a, i, dense) != stride_of(b, i, dense)) return false;
        dense = dense <= INT64_MAX / a->dims[i] ? dense * a->dims[i] : INT64_MAX;
    }
    return true;
}

arn_difference arn_shared_state_compare(const arenaut_tensor *a, const arenaut_tensor *b) {
    if (a->dtype != b->dtype || a->lanes != b->lanes) return ARN_OTHER_TYPE;
    if (a->bytes != b->bytes) return ARN_OTHER_SIZE;
    if (!same_shape(a, b)) return ARN_OTHER_SHAPE;
    if (!same_strides(a, b)) return ARN_OTHER_STRIDES;
    if (a->device.type != b->device.type || a->device.index != b->device.index) {
        return ARN_OTHER_DEVICE;
    }
    const bool valued = a->first_value && b->first_value;
    return valued && a->first_value != b->first_value ? ARN_OTHER_VALUE : ARN_SAME;
}

const char *arn_shared_state_word(arn_difference difference) {
    static const char *const words[] = {
        "nothing else",  "another type",   "another size",          "another shape",
        "other strides", "another device", "another initial value",
    };
    return words[difference];
}

/* "[2, 3]"; dots stand for numbers without room. */
static void tell_list(const int64_t *numbers, uint32_t n, char *text) {
    const size_t room = ARN_DIFFERENCE_TEXT - sizeof ", ...]";
    size_t used = (size_t)snprintf(text, room, "[");
    for (uint32_t i = 0; i < n; i++) {
        char number[24];
        const int length = numbers[i] < 0 ? snprintf(number, sizeof number, "?")
                                          : snprintf(number, sizeof number, "%" PRId64, numbers[i]);
        if (used + (size_t)length + 2 >= room) {
            used += (size_t)snprintf(text + used, ARN_DIFFERENCE_TEXT - used, ", ...");
            break;
        }
        used += (size_t)snprintf(text + used, ARN_DIFFERENCE_TEXT - used, "%s%s", i ? ", " : "",
                                 number);
    }
    snprintf(text + used, ARN_DIFFERENCE_TEXT - used, "]");
}

const char *arn_shared_state_tell(arn_difference difference, const arenaut_tensor *t,
                                  char text[ARN_DIFFERENCE_TEXT]) {
    const size_t room = ARN_DIFFERENCE_TEXT;
    switch (difference) {
        case ARN_OTHER_TYPE:
            snprintf(text, room, "%s", arenaut_dtype_name(t->dtype));
            if (t->lanes > 1) {
                snprintf(text, room, "%s x %" PRIu32, arenaut_dtype_name(t->dtype), t->lanes);
            }
            break;
        case ARN_OTHER_SIZE: snprintf(text, room, "%" PRIu64 " bytes", t->bytes); break;
        case ARN_OTHER_SHAPE: tell_list(t->dims, t->rank, text); break;
        case ARN_OTHER_STRIDES:
            if (t->strides) tell_list(t->strides, t->rank, text);
            else snprintf(text, room, "dense");
            break;
        case ARN_OTHER_DEVICE:
            snprintf(text, room, "%u.%u", (unsigned)t->device.type, (unsigned)t->device.index);
            break;
        default: snprintf(text, room, "fingerprint %016" PRIx64, t->first_value); break;
    }
    return text;
}

/* "method 'decode', tensor 'k2'". */
static const char *place_of(const arenaut_program *p, uint32_t t, char text[160]) {
    const uint32_t m = p->tensors[t].method;
    char store[24];
    const char *name = arenaut_program_tensor_name(p, t, store);
    if (m == ARENAUT_NONE) snprintf(text, 160, "tensor '%.50s'", name);
    else if (p->methods[m].name) {
        snprintf(text, 160, "method '%.50s', tensor '%.50s'", p->methods[m].name, name);
    } else {
        snprintf(text, 160, "method %" PRIu32 ", tensor '%.50s'", m, name);
    }
    return text;
}

arenaut_status arn_shared_state_check(const arenaut_program *p, uint32_t a, uint32_t b,
                                      arenaut_error *err) {
    const arn_difference differs = arn_shared_state_compare(&p->tensors[a], &p->tensors[b]);
    char place_a[160], place_b[160], in_a[ARN_DIFFERENCE_TEXT], in_b[ARN_DIFFERENCE_TEXT];
    if (differs == ARN_SAME) return ARENAUT_OK;
    return arn_fail(err, ARENAUT_BAD_INPUT, 0,
                    "shared state '%.60s' has %s in %s (%s) than in %s (%s)",
                    p->tensors[a].qualified_name, arn_shared_state_word(differs),
                    place_of(p, b, place_b), arn_shared_state_tell(differs, &p->tensors[b], in_b),
                    place_of(p, a, place_a), arn_shared_state_tell(differs, &p->tensors[a], in_a));
}
