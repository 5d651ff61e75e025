/* Common functions of the .tflite reader: the place for messages, the allowance, texts, and lists
 * of tensors. Each costs what it copies. tflite_read.c is the walk. */
#include "formats/tflite/tflite_reader.h"

#include <inttypes.h>
#include <stdio.h>

#include "core/fail.h"

const char *arn_tflite_place(const arn_tflite_reader *r, char store[ARN_TFLITE_PLACE_SIZE]) {
    if (r->subgraph == ARENAUT_NONE) return "model";
    if (r->object) {
        snprintf(store, ARN_TFLITE_PLACE_SIZE, "%s %" PRIu32 " of subgraph %" PRIu32, r->object,
                 r->object_index, r->subgraph);
    } else {
        snprintf(store, ARN_TFLITE_PLACE_SIZE, "subgraph %" PRIu32, r->subgraph);
    }
    return store;
}

void arn_tflite_now(arn_tflite_reader *r, const char *object, uint32_t index) {
    r->object = object;
    r->object_index = index;
}

arenaut_status arn_tflite_status(const arn_tflite_reader *r) {
    char store[ARN_TFLITE_PLACE_SIZE];
    return r->model.fb.wrong ? arn_fb_status(&r->model.fb, arn_tflite_place(r, store), r->err)
                             : ARENAUT_OK;
}

arenaut_status arn_tflite_charge(arn_tflite_reader *r, uint64_t count, uint64_t cost) {
    if (arn_allowance_take(&r->allowance, count, cost)) return ARENAUT_OK;
    char store[ARN_TFLITE_PLACE_SIZE];
    return arn_allowance_spent(&r->allowance, arn_tflite_place(r, store),
                               "parts of the file are used so often that it", r->err);
}

arenaut_status arn_tflite_text(arn_tflite_reader *r, arn_fb_table table, unsigned slot,
                               const char **text) {
    const arn_fb_vector bytes = arn_fb_vector_field(&r->model.fb, table, slot, 1);
    *text = NULL;
    if (bytes.at == 0) return ARENAUT_OK;
    const size_t length = arn_fb_copy_text(&r->model.fb, bytes, ARN_TFLITE_NAME_LIMIT, r->name);
    *text = r->name;
    return arn_tflite_charge(r, 1, length + 32);
}

arenaut_status arn_tflite_ids(arn_tflite_reader *r, arn_fb_table table, unsigned slot,
                              bool optional, const char *list, arn_id_list *out) {
    const arn_fb_vector vector = arn_fb_vector_field(&r->model.fb, table, slot, 4);
    out->n = 0;
    const arenaut_status st = arn_tflite_charge(r, vector.count, 2 * sizeof *out->ids);
    if (st != ARENAUT_OK) return st;
    if (!arn_grow(r->allocator, (void **)&out->ids, &out->capacity, vector.count,
                  sizeof *out->ids)) {
        return arn_no_memory(r->err);
    }
    for (uint32_t i = 0; i < vector.count; i++) {
        const int32_t index = arn_fb_item_i32(&r->model.fb, vector, i);
        if (index == -1 && optional) {
            out->ids[i] = ARENAUT_NONE;
        } else if (index >= 0 && (uint32_t)index < r->n_tensors) {
            out->ids[i] = r->first_tensor + (uint32_t)index;
        } else {
            char store[ARN_TFLITE_PLACE_SIZE];
            return arn_fail(r->err, ARENAUT_BAD_INPUT, vector.at + (size_t)i * 4,
                            "%s: %s %" PRIu32 " is tensor %" PRId32 "; the subgraph has %" PRIu32
                            " tensors%s",
                            arn_tflite_place(r, store), list, i, index, r->n_tensors,
                            optional ? ", and -1 leaves an argument out" : "");
        }
    }
    out->n = vector.count;
    return ARENAUT_OK;
}
