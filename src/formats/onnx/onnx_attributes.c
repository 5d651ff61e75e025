/* Attributes of nodes. Inside a function an attribute may refer to one of the node that calls it,
 * or to the function's own default. */
#include <string.h>

#include "core/fail.h"
#include "core/memory.h"
#include "formats/onnx/onnx_reader.h"
#include "formats/onnx/onnx_schema.h"

/* The name of an AttributeProto, and that of its reference; size 0: none. */
static void take_names(const arn_onnx *r, arn_pb_bytes bytes, arn_pb_bytes *name,
                       arn_pb_bytes *refers_to) {
    arn_pb message = arn_pb_open(r->data, bytes);
    arn_pb_field field;
    *name = *refers_to = (arn_pb_bytes){bytes.at, 0};
    while (arn_pb_next(&message, &field)) {
        if (arn_pb_is(&field, ATTRIBUTE_NAME, ARN_PB_BYTES)) *name = field.bytes;
        if (arn_pb_is(&field, ATTRIBUTE_REF, ARN_PB_BYTES)) *refers_to = field.bytes;
    }
}

static bool same_text(const arn_onnx *r, arn_pb_bytes a, arn_pb_bytes b) {
    return a.size == b.size && memcmp(r->data + a.at, r->data + b.at, a.size) == 0;
}

/* The attribute of that name among the ones in this field of a message. */
static bool find_named(const arn_onnx *r, arn_pb_bytes bytes, uint32_t number, arn_pb_bytes wanted,
                       arn_pb_bytes *attribute, arn_pb_bytes *refers_to) {
    arn_pb message = arn_pb_open(r->data, bytes);
    arn_pb_field field;
    while (arn_pb_next(&message, &field)) {
        arn_pb_bytes name;
        if (!arn_pb_is(&field, number, ARN_PB_BYTES)) continue;
        take_names(r, field.bytes, &name, refers_to);
        *attribute = field.bytes;
        if (same_text(r, name, wanted)) return true;
    }
    return false;
}

/* Follows a reference outwards, from call to call. */
static bool follow(const arn_onnx *r, arn_pb_bytes wanted, const arn_onnx_call *call,
                   arn_onnx_attribute *out) {
    while (call) {
        arn_pb_bytes refers_to;
        if (find_named(r, call->node, NODE_ATTRIBUTE, wanted, &out->value, &refers_to)) {
            out->call = call->outer;
            if (refers_to.size == 0) return true;
            wanted = refers_to;
            call = call->outer;
            continue;
        }
        out->call = call;
        return find_named(r, call->function, FUNCTION_ATTRIBUTE_DEFAULT, wanted, &out->value,
                          &refers_to);
    }
    return false;
}

bool arn_onnx_next_attribute(const arn_onnx *r, arn_pb *node, const arn_onnx_call *call,
                             arn_onnx_attribute *attribute) {
    arn_pb_field field;
    while (arn_pb_next(node, &field)) {
        arn_pb_bytes refers_to;
        if (!arn_pb_is(&field, NODE_ATTRIBUTE, ARN_PB_BYTES)) continue;
        attribute->value = field.bytes;
        attribute->call = call;
        take_names(r, field.bytes, &attribute->name, &refers_to);
        if (refers_to.size == 0 || follow(r, refers_to, call, attribute)) return true;
    }
    return false;
}

arn_pb_bytes arn_onnx_part(const arn_onnx *r, arn_pb_bytes node, const arn_onnx_call *call,
                           const char *name, uint32_t number) {
    arn_pb message = arn_pb_open(r->data, node);
    arn_onnx_attribute attribute;
    while (arn_onnx_next_attribute(r, &message, call, &attribute)) {
        arn_pb value = arn_pb_open(r->data, attribute.value);
        arn_pb_field field;
        if (!arn_onnx_is(r, attribute.name, name)) continue;
        while (arn_pb_next(&value, &field)) {
            if (arn_pb_is(&field, number, ARN_PB_BYTES)) return field.bytes;
        }
    }
    return (arn_pb_bytes){0, 0};
}

/* ---- numbers and words ---- */

/* ConstantOfShape has a tensor of one element: its type, then its value if that is known. */
static arenaut_status push_tensor(arn_onnx *r, arn_pb_bytes bytes) {
    arn_onnx_constant constant;
    arenaut_status st = arn_onnx_take_constant(r, bytes, false, &constant);
    r->n_numbers = 0; /* its dims were there */
    if (st == ARENAUT_OK) st = arn_onnx_push_number(r, constant.tensor.dtype);
    if (st == ARENAUT_OK && constant.tensor.n_values > 0) {
        st = arn_onnx_push_number(r, constant.tensor.values[0]);
    }
    return st;
}

static arenaut_status push_packed(arn_onnx *r, const arn_pb_field *field) {
    arn_pb packed = arn_pb_open(r->data, field->bytes);
    arenaut_status st = ARENAUT_OK;
    uint64_t number;
    uint32_t bits;
    if (field->number == ATTRIBUTE_INTS) {
        while (st == ARENAUT_OK && arn_pb_next_varint(&packed, &number)) {
            st = arn_onnx_push_number(r, (int64_t)number);
        }
    } else {
        while (st == ARENAUT_OK && arn_pb_next_fixed32(&packed, &bits))
            st = arn_onnx_push_number(r, arn_onnx_widen(bits));
    }
    return st == ARENAUT_OK ? arn_pb_status(&packed, "an attribute", r->err) : st;
}

static arenaut_status take_field(arn_onnx *r, const arn_pb_field *field, arenaut_attribute *out) {
    switch (field->number) {
        case ATTRIBUTE_F:
        case ATTRIBUTE_FLOATS:
            if (field->type == ARN_PB_FIXED32)
                return arn_onnx_push_number(r, arn_onnx_widen((uint32_t)field->value));
            return field->type == ARN_PB_BYTES ? push_packed(r, field) : ARENAUT_OK;
        case ATTRIBUTE_I:
        case ATTRIBUTE_INTS:
            if (field->type == ARN_PB_VARINT) return arn_onnx_push_number(r, (int64_t)field->value);
            return field->type == ARN_PB_BYTES ? push_packed(r, field) : ARENAUT_OK;
        case ATTRIBUTE_T:
            return field->type == ARN_PB_BYTES ? push_tensor(r, field->bytes) : ARENAUT_OK;
        case ATTRIBUTE_S:
            if (field->type != ARN_PB_BYTES) return ARENAUT_OK;
            out->text = arn_onnx_copy_name(r, "", field->bytes);
            return out->text ? ARENAUT_OK : arn_no_memory(r->err);
        default: return ARENAUT_OK;
    }
}

/* Types are the program's numbers, not by onnx.proto's. */
static void translate_type(const arn_onnx *r, arn_pb_bytes name) {
    arenaut_dtype dtype;
    if (!arn_onnx_is(r, name, "to") && !arn_onnx_is(r, name, "dtype") &&
        !arn_onnx_is(r, name, "output_dtype")) {
        return;
    }
    if (r->n_numbers != 1) return;
    const bool known = arn_onnx_dtype((uint64_t)r->numbers[0], &dtype);
    r->numbers[0] = known ? dtype : ARENAUT_DTYPE_OTHER;
}

static arenaut_status take_attribute(arn_onnx *r, const arn_onnx_attribute *from,
                                     arenaut_attribute *out) {
    arn_pb message = arn_pb_open(r->data, from->value);
    arn_pb_field field;
    arenaut_status st = arn_onnx_charge(r, 2, sizeof *out + from->name.size + from->value.size);
    *out = (arenaut_attribute){.name = NULL};
    r->n_numbers = 0;
    while (st == ARENAUT_OK && arn_pb_next(&message, &field)) st = take_field(r, &field, out);
    if (st == ARENAUT_OK) st = arn_pb_status(&message, "an attribute", r->err);
    if (st != ARENAUT_OK) return st;
    translate_type(r, from->name);
    int64_t *numbers = arn_region_allocate(&r->region, r->n_numbers, sizeof *numbers);
    if (!numbers) return arn_no_memory(r->err);
    if (r->n_numbers) memcpy(numbers, r->numbers, r->n_numbers * sizeof *numbers);
    out->numbers = numbers;
    out->n_numbers = r->n_numbers;
    out->name = arn_onnx_copy_name(r, "", from->name);
    return out->name ? ARENAUT_OK : arn_no_memory(r->err);
}

arenaut_status arn_onnx_take_attributes(arn_onnx *r, arn_pb_bytes node, const arn_onnx_call *call) {
    arn_pb message = arn_pb_open(r->data, node);
    arn_onnx_attribute attribute;
    arenaut_status st = ARENAUT_OK;
    r->n_attributes = 0;
    while (st == ARENAUT_OK && arn_onnx_next_attribute(r, &message, call, &attribute)) {
        if (!arn_grow(r->allocator, (void **)&r->attributes, &r->attribute_capacity,
                      (uint64_t)r->n_attributes + 1, sizeof *r->attributes)) {
            return arn_no_memory(r->err);
        }
        arenaut_attribute taken;
        st = take_attribute(r, &attribute, &taken);
        /* Graphs and lists of words say nothing about shapes. */
        if (st == ARENAUT_OK && (taken.n_numbers > 0 || taken.text)) {
            r->attributes[r->n_attributes++] = taken;
        }
    }
    return st == ARENAUT_OK ? arn_pb_status(&message, "a node", r->err) : st;
}
