/* Common functions of the .pte reader: the place for messages, the allowance, texts, and the values
 * that lists and instructions name. Each costs what it copies. pte_read.c is the walk. */
#include "formats/pte/pte_reader.h"

#include <inttypes.h>
#include <stdio.h>

#include "core/fail.h"
#include "formats/pte/pte_schema.h"

const char *arn_pte_place(const arn_pte_reader *r, char store[ARN_PTE_PLACE_SIZE]) {
    if (r->method == ARENAUT_NONE) return "program";
    const char *name =
        r->method < r->program->n_methods ? r->program->methods[r->method].name : NULL;
    const int used = name ? snprintf(store, ARN_PTE_PLACE_SIZE, "method '%.60s'", name)
                          : snprintf(store, ARN_PTE_PLACE_SIZE, "method %" PRIu32, r->method);
    if (r->object && used > 0) {
        snprintf(store + used, ARN_PTE_PLACE_SIZE - (size_t)used, ": %s %" PRIu32, r->object,
                 r->object_index);
    }
    return store;
}

void arn_pte_now(arn_pte_reader *r, const char *object, uint32_t index) {
    r->object = object;
    r->object_index = index;
}

arenaut_status arn_pte_status(const arn_pte_reader *r) {
    char store[ARN_PTE_PLACE_SIZE];
    return r->model.fb.wrong ? arn_fb_status(&r->model.fb, arn_pte_place(r, store), r->err)
                             : ARENAUT_OK;
}

arenaut_status arn_pte_bad(const arn_pte_reader *r, arenaut_status code, size_t at,
                           const char *what) {
    char store[ARN_PTE_PLACE_SIZE];
    return arn_fail(r->err, code, at, "%s: %s", arn_pte_place(r, store), what);
}

arenaut_status arn_pte_charge(arn_pte_reader *r, uint64_t count, uint64_t cost) {
    if (arn_allowance_take(&r->allowance, count, cost)) return ARENAUT_OK;
    char store[ARN_PTE_PLACE_SIZE];
    return arn_allowance_spent(&r->allowance, arn_pte_place(r, store),
                               "parts of the file are used so often that it", r->err);
}

arenaut_status arn_pte_text(arn_pte_reader *r, arn_fb_table table, unsigned slot, char *store) {
    const arn_fb_vector bytes = arn_fb_vector_field(&r->model.fb, table, slot, 1);
    store[0] = '\0';
    if (bytes.count == 0) return ARENAUT_OK;
    const size_t length = arn_fb_copy_text(&r->model.fb, bytes, ARN_PTE_NAME_LIMIT, store);
    return arn_pte_charge(r, 1, length + 32);
}

arn_pte_value *arn_pte_value_at(arn_pte_reader *r, int32_t index, size_t at, const char *what) {
    if (index >= 0 && (uint32_t)index < r->n_values) return &r->values[index];
    char store[ARN_PTE_PLACE_SIZE];
    arn_fail(r->err, ARENAUT_BAD_INPUT, at,
             "%s: %s is value %" PRId32 "; the method has %" PRIu32 " values",
             arn_pte_place(r, store), what, index, r->n_values);
    return NULL;
}

arenaut_status arn_pte_push(arn_pte_reader *r, arn_id_list *to, uint32_t id) {
    if (!arn_id_list_push(to, r->allocator, id)) return arn_no_memory(r->err);
    return arn_pte_charge(r, 1, 3 * sizeof *to->ids);
}

/* Only lists of optional tensors have items that are left out or none. */
static arenaut_status append_item(arn_pte_reader *r, int32_t index, size_t at, bool optional,
                                  arn_id_list *to) {
    if (optional && index == -1) return arn_pte_push(r, to, ARENAUT_NONE);
    const arn_pte_value *item = arn_pte_value_at(r, index, at, "an item of a list");
    if (!item) return ARENAUT_BAD_INPUT;
    if (item->type == PTE_TENSOR || (optional && item->type == PTE_NULL)) {
        return arn_pte_push(r, to, item->tensor);
    }
    return arn_pte_bad(r, ARENAUT_BAD_INPUT, at, "an item of a list of tensors is no tensor");
}

arenaut_status arn_pte_append(arn_pte_reader *r, const arn_pte_value *value, arn_id_list *to) {
    if (value->type != PTE_TENSOR_LIST && value->type != PTE_OPTIONAL_TENSOR_LIST) {
        return arn_pte_push(r, to, value->tensor);
    }
    const bool optional = value->type == PTE_OPTIONAL_TENSOR_LIST;
    const arn_fb_vector items = arn_fb_vector_field(&r->model.fb, value->table, LIST_ITEMS, 4);
    arenaut_status st = ARENAUT_OK;
    for (uint32_t i = 0; i < items.count && st == ARENAUT_OK; i++) {
        const int32_t index = arn_fb_item_i32(&r->model.fb, items, i);
        st = append_item(r, index, items.at + (size_t)i * 4, optional, to);
    }
    return st;
}
