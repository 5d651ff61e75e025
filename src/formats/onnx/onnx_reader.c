/* Common functions of the .onnx reader: the allowance, the names that nodes can use, and lists and
 * numbers. Looking a name up is logarithmic in the names of its scope. onnx_read.c is the walk. */
#include "formats/onnx/onnx_reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/fail.h"
#include "core/utf8.h"

enum { TENSOR_COST = sizeof(arenaut_tensor) + 160 }; /* with its name's place in the tree */

arenaut_status arn_onnx_charge(arn_onnx *r, uint64_t count, uint64_t cost) {
    if (arn_allowance_take(&r->allowance, count, cost)) return ARENAUT_OK;
    char place[32];
    snprintf(place, sizeof place, "method %" PRIu32, r->method);
    return arn_allowance_spent(&r->allowance, place,
                               "functions and subgraphs are used so often that the file", r->err);
}

const char *arn_onnx_copy_name(arn_onnx *r, const char *prefix, arn_pb_bytes bytes) {
    const size_t before = strlen(prefix);
    const size_t length = arn_utf8_cut(r->data + bytes.at, bytes.size, ARN_ONNX_NAME_LIMIT);
    char *copy = arenaut_program_alloc(r->program, before + length + 1);
    if (!copy) return NULL;
    memcpy(copy, prefix, before);
    if (length) memcpy(copy + before, r->data + bytes.at, length);
    copy[before + length] = '\0';
    /* Names are C strings from here on. */
    for (size_t i = before; i < before + length; i++) {
        if (!copy[i]) copy[i] = '?';
    }
    return copy;
}

arenaut_status arn_onnx_find(arn_onnx *r, const arn_onnx_scope *scope, arn_pb_bytes name,
                             uint32_t *tensor) {
    for (const arn_onnx_scope *s = scope; s; s = s->outer) {
        if (arn_name_tree_find(&s->names, arn_onnx_name(r, name), tensor)) return ARENAUT_OK;
    }
    return arn_fail(r->err, ARENAUT_BAD_INPUT, name.at,
                    "node %" PRIu32 " of method %" PRIu32 ": nothing is named '%.*s'", r->node,
                    r->method, ARN_ONNX_TEXT(r, name));
}

static arenaut_status note_maker(arn_onnx *r, uint32_t tensor, uint32_t made_by) {
    if (!arn_grow(r->allocator, (void **)&r->made_by, &r->made_by_capacity, (uint64_t)tensor + 1,
                  sizeof *r->made_by)) {
        return arn_no_memory(r->err);
    }
    r->made_by[tensor] = made_by;
    return ARENAUT_OK;
}

arenaut_status arn_onnx_define(arn_onnx *r, arn_onnx_scope *scope, arn_pb_bytes name,
                               const arenaut_tensor *tensor, uint32_t made_by, uint32_t *id) {
    const char *prefix = scope->call ? scope->call->prefix : "";
    bool found = false;
    *id = r->program->n_tensors;
    arenaut_status st = arn_onnx_charge(r, 1, TENSOR_COST + strlen(prefix) + name.size);
    if (st != ARENAUT_OK) return st;
    if (!arn_name_tree_add(&scope->names, &r->region, arn_onnx_name(r, name), id, &found)) {
        return arn_no_memory(r->err);
    }
    if (found) {
        return arn_fail(r->err, ARENAUT_BAD_INPUT, name.at,
                        "method %" PRIu32 ": '%.*s' is defined twice", r->method,
                        ARN_ONNX_TEXT(r, name));
    }
    arenaut_tensor named = *tensor;
    named.name = NULL; /* set below: the copy is not to be copied again */
    named.method = r->method;
    named.file_index = r->program->n_tensors;
    st = arenaut_program_add_tensor(r->program, &named, id, r->err);
    if (st != ARENAUT_OK) return st;
    r->program->tensors[*id].name = arn_onnx_copy_name(r, prefix, name);
    if (!r->program->tensors[*id].name) return arn_no_memory(r->err);
    return note_maker(r, *id, made_by);
}

arenaut_status arn_onnx_define_nameless(arn_onnx *r, uint32_t *id) {
    arenaut_tensor tensor = arenaut_tensor_default();
    tensor.dtype = ARENAUT_DTYPE_OTHER;
    tensor.unsized = true;
    tensor.method = r->method;
    tensor.file_index = r->program->n_tensors;
    arenaut_status st = arn_onnx_charge(r, 1, TENSOR_COST);
    if (st == ARENAUT_OK) st = arenaut_program_add_tensor(r->program, &tensor, id, r->err);
    return st == ARENAUT_OK ? note_maker(r, *id, ARN_ONNX_NOT_MADE) : st;
}

arenaut_status arn_onnx_push(arn_onnx *r, arn_id_list *list, uint32_t id) {
    return arn_id_list_push(list, r->allocator, id) ? ARENAUT_OK : arn_no_memory(r->err);
}

arenaut_status arn_onnx_push_number(arn_onnx *r, int64_t number) {
    if (!arn_grow(r->allocator, (void **)&r->numbers, &r->number_capacity,
                  (uint64_t)r->n_numbers + 1, sizeof *r->numbers)) {
        return arn_no_memory(r->err);
    }
    r->numbers[r->n_numbers++] = number;
    return ARENAUT_OK;
}

void arn_onnx_rotate(uint32_t *ids, uint32_t n, uint32_t by) {
    enum { MOST = 2 };
    uint32_t first[MOST];
    memcpy(first, ids, by * sizeof *ids);
    memmove(ids, ids + by, (n - by) * sizeof *ids);
    memcpy(ids + n - by, first, by * sizeof *ids);
}

uint32_t arn_onnx_count(const arn_onnx *r, arn_pb_bytes bytes, uint32_t number) {
    arn_pb message = arn_pb_open(r->data, bytes);
    arn_pb_field field;
    uint32_t n = 0;
    while (arn_pb_next(&message, &field)) n += arn_pb_is(&field, number, ARN_PB_BYTES);
    return n;
}

int64_t arn_onnx_widen(uint32_t bits) {
    float single;
    memcpy(&single, &bits, sizeof single);
    const double wide = single;
    int64_t value;
    memcpy(&value, &wide, sizeof value);
    return value;
}
