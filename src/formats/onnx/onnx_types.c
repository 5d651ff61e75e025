/* Types and constants of an ONNX graph. Of a constant only the header is read, and its values if
 * they are few enough to be sizes; weights are stepped over. */
#include <inttypes.h>
#include <stdio.h>

#include "core/checked.h"
#include "core/cursor.h"
#include "core/fail.h"
#include "formats/onnx/onnx_reader.h"
#include "formats/onnx/onnx_schema.h"
#include "ir/expr.h"

/* In the order of TensorProto.DataType. Of the kinds of 4- and 8-bit floats and of the signs
 * of 2-bit numbers only the width matters here. */
static const uint8_t dtypes[] = {
    ARENAUT_DTYPE_OTHER,      ARENAUT_DTYPE_FLOAT32,  ARENAUT_DTYPE_UINT8,
    ARENAUT_DTYPE_INT8,       ARENAUT_DTYPE_UINT16,   ARENAUT_DTYPE_INT16,
    ARENAUT_DTYPE_INT32,      ARENAUT_DTYPE_INT64,    ARENAUT_DTYPE_STRING,
    ARENAUT_DTYPE_BOOL,       ARENAUT_DTYPE_FLOAT16,  ARENAUT_DTYPE_FLOAT64,
    ARENAUT_DTYPE_UINT32,     ARENAUT_DTYPE_UINT64,   ARENAUT_DTYPE_COMPLEX64,
    ARENAUT_DTYPE_COMPLEX128, ARENAUT_DTYPE_BFLOAT16, ARENAUT_DTYPE_FLOAT8,
    ARENAUT_DTYPE_FLOAT8,     ARENAUT_DTYPE_FLOAT8,   ARENAUT_DTYPE_FLOAT8,
    ARENAUT_DTYPE_UINT4,      ARENAUT_DTYPE_INT4,     ARENAUT_DTYPE_FLOAT4,
    ARENAUT_DTYPE_FLOAT8,     ARENAUT_DTYPE_INT2,     ARENAUT_DTYPE_INT2,
};

bool arn_onnx_dtype(uint64_t number, arenaut_dtype *dtype) {
    if (number >= sizeof dtypes) return false;
    *dtype = (arenaut_dtype)dtypes[number];
    return true;
}

static arenaut_status take_dtype(arn_onnx *r, uint64_t number, size_t at, arenaut_dtype *dtype) {
    if (arn_onnx_dtype(number, dtype)) return ARENAUT_OK;
    return arn_fail(r->err, ARENAUT_UNSUPPORTED, at,
                    "method %" PRIu32 ": element type %" PRIu64 " is not known; 0 to %zu are",
                    r->method, number, sizeof dtypes - 1);
}

/* ---- constants ---- */

static arenaut_status take_dims(arn_onnx *r, const arn_pb_field *field) {
    if (field->type == ARN_PB_VARINT) return arn_onnx_push_number(r, (int64_t)field->value);
    if (field->type != ARN_PB_BYTES) return ARENAUT_OK;
    arn_pb packed = arn_pb_open(r->data, field->bytes);
    arenaut_status st = ARENAUT_OK;
    uint64_t dim;
    while (st == ARENAUT_OK && arn_pb_next_varint(&packed, &dim))
        st = arn_onnx_push_number(r, (int64_t)dim);
    return st == ARENAUT_OK ? arn_pb_status(&packed, "the shape of a tensor", r->err) : st;
}

/* One element of raw data, as values are kept. Halves and narrower floats say nothing about
 * shapes in any operator. */
static bool raw_value(arn_cursor *cursor, arenaut_dtype dtype, int64_t *value) {
    const unsigned bytes = arenaut_dtype_bits(dtype) / 8;
    const uint64_t bits = arn_take(cursor, bytes);
    const uint32_t low = (uint32_t)bits;
    switch (dtype) {
        case ARENAUT_DTYPE_INT64:
        case ARENAUT_DTYPE_UINT64:
        case ARENAUT_DTYPE_FLOAT64:
        case ARENAUT_DTYPE_UINT32:
        case ARENAUT_DTYPE_UINT16:
        case ARENAUT_DTYPE_UINT8:
        case ARENAUT_DTYPE_BOOL: *value = (int64_t)bits; return true;
        case ARENAUT_DTYPE_INT32: *value = (int32_t)low; return true;
        case ARENAUT_DTYPE_INT16: *value = (int16_t)low; return true;
        case ARENAUT_DTYPE_INT8: *value = (int8_t)low; return true;
        case ARENAUT_DTYPE_FLOAT32: *value = arn_onnx_widen(low); return true;
        default: return false;
    }
}

typedef struct value_list {
    uint32_t n;
    bool known; /* false: too many, or of a type that says nothing */
} value_list;

static void push_value(arn_onnx *r, value_list *list, int64_t value) {
    if (list->n == ARN_ONNX_MAX_VALUES) list->known = false;
    if (list->known) r->values[list->n++] = value;
}

static void take_raw(arn_onnx *r, arn_pb_bytes bytes, arenaut_dtype dtype, value_list *list) {
    const unsigned width = arenaut_dtype_bits(dtype) / 8;
    if (width == 0 || width > 8 || bytes.size / width > ARN_ONNX_MAX_VALUES) {
        list->known = false;
        return;
    }
    arn_cursor cursor = arn_cursor_at(r->data, bytes.at + bytes.size, bytes.at);
    for (size_t i = 0; i < bytes.size / width; i++) {
        int64_t value;
        if (!raw_value(&cursor, dtype, &value)) list->known = false;
        else push_value(r, list, value);
    }
}

/* Numbers of 32 bits hold the narrower types too; bits of halves are left alone. */
static void take_numbers(arn_onnx *r, const arn_pb_field *field, arenaut_dtype dtype,
                         value_list *list) {
    const bool narrow = field->number == TENSOR_INT32_DATA;
    const bool integer = dtype == ARENAUT_DTYPE_BOOL ||
                         (dtype >= ARENAUT_DTYPE_INT8 && dtype <= ARENAUT_DTYPE_UINT64);
    if (!integer) list->known = false;
    if (field->type == ARN_PB_VARINT) {
        push_value(r, list, narrow ? (int32_t)(uint32_t)field->value : (int64_t)field->value);
    } else if (field->type == ARN_PB_BYTES) {
        arn_pb packed = arn_pb_open(r->data, field->bytes);
        uint64_t number;
        while (list->known && arn_pb_next_varint(&packed, &number)) {
            push_value(r, list, narrow ? (int32_t)(uint32_t)number : (int64_t)number);
        }
    }
}

static void push_float(arn_onnx *r, uint32_t bits, value_list *list) {
    push_value(r, list, arn_onnx_widen(bits));
}

static void take_floats(arn_onnx *r, const arn_pb_field *field, value_list *list) {
    uint32_t bits;
    if (field->type == ARN_PB_FIXED32) push_float(r, (uint32_t)field->value, list);
    if (field->type != ARN_PB_BYTES) return;
    arn_pb packed = arn_pb_open(r->data, field->bytes);
    while (list->known && arn_pb_next_fixed32(&packed, &bits)) push_float(r, bits, list);
}

/* Once the type is known. Values that do not fill the shape are in another file, or wrong. */
static void take_values(arn_onnx *r, arn_pb_bytes bytes, arenaut_tensor *tensor) {
    value_list list = {0, true};
    arn_pb message = arn_pb_open(r->data, bytes);
    arn_pb_field field;
    while (list.known && arn_pb_next(&message, &field)) {
        switch (field.number) {
            case TENSOR_RAW_DATA:
                if (field.type == ARN_PB_BYTES) take_raw(r, field.bytes, tensor->dtype, &list);
                break;
            case TENSOR_INT32_DATA:
            case TENSOR_INT64_DATA: take_numbers(r, &field, tensor->dtype, &list); break;
            case TENSOR_FLOAT_DATA: take_floats(r, &field, &list); break;
            default: break;
        }
    }
    uint64_t elements = 1;
    for (uint32_t i = 0; i < tensor->rank; i++) {
        if (!arn_multiply(elements, (uint64_t)tensor->dims[i], &elements)) return;
    }
    if (!list.known || list.n != elements) return;
    tensor->n_values = list.n;
    tensor->values = r->values;
}

static arenaut_status check_dims(arn_onnx *r, const arn_onnx_constant *c, size_t at) {
    for (uint32_t i = 0; i < c->tensor.rank; i++) {
        if (c->tensor.dims[i] >= 0) continue;
        return arn_fail(r->err, ARENAUT_BAD_INPUT, at,
                        "constant '%.*s': dimension %" PRIu32 " is %" PRId64
                        "; it must not be negative",
                        ARN_ONNX_TEXT(r, c->name), i, c->tensor.dims[i]);
    }
    return ARENAUT_OK;
}

/* Words and other things without a size are nothing that could be planned. */
static arenaut_status set_bytes(arn_onnx *r, arn_pb_bytes name, arenaut_tensor *tensor) {
    arenaut_error why;
    tensor->bytes = 0;
    if (arenaut_dtype_bits(tensor->dtype) == 0) return ARENAUT_OK;
    const arenaut_status st =
        arenaut_dense_bytes(tensor->dtype, tensor->dims, tensor->rank, &tensor->bytes, &why);
    if (st == ARENAUT_OK) return st;
    return arn_fail(r->err, st, name.at, "'%.*s': %s", ARN_ONNX_TEXT(r, name), why.msg);
}

/* The name and type of a TensorProto; its dims go to r->numbers. */
static arenaut_status take_header(arn_onnx *r, arn_pb_bytes bytes, bool with_dims,
                                  arn_onnx_constant *out) {
    arn_pb message = arn_pb_open(r->data, bytes);
    arn_pb_field field;
    arenaut_status st = ARENAUT_OK;
    while (st == ARENAUT_OK && arn_pb_next(&message, &field)) {
        if (arn_pb_is(&field, TENSOR_NAME, ARN_PB_BYTES)) out->name = field.bytes;
        if (arn_pb_is(&field, TENSOR_DATA_TYPE, ARN_PB_VARINT)) {
            st = take_dtype(r, field.value, message.at, &out->tensor.dtype);
        }
        if (with_dims && field.number == TENSOR_DIMS) st = take_dims(r, &field);
    }
    return st == ARENAUT_OK ? arn_pb_status(&message, "a tensor", r->err) : st;
}

/* Of a sparse tensor the values' type counts, and the dims of the whole. */
static arenaut_status take_sparse(arn_onnx *r, arn_pb_bytes bytes, arn_onnx_constant *out) {
    arn_pb message = arn_pb_open(r->data, bytes);
    arn_pb_field field;
    arenaut_status st = ARENAUT_OK;
    while (st == ARENAUT_OK && arn_pb_next(&message, &field)) {
        if (arn_pb_is(&field, SPARSE_VALUES, ARN_PB_BYTES)) {
            st = take_header(r, field.bytes, false, out);
        } else if (field.number == SPARSE_DIMS) {
            st = take_dims(r, &field);
        }
    }
    return st == ARENAUT_OK ? arn_pb_status(&message, "a sparse tensor", r->err) : st;
}

arenaut_status arn_onnx_take_constant(arn_onnx *r, arn_pb_bytes bytes, bool sparse,
                                      arn_onnx_constant *out) {
    *out = (arn_onnx_constant){.name = {bytes.at, 0}, .tensor = arenaut_tensor_default()};
    out->tensor.dtype = ARENAUT_DTYPE_OTHER;
    out->tensor.cls = ARENAUT_CONSTANT;
    r->n_numbers = 0;
    arenaut_status st = sparse ? take_sparse(r, bytes, out) : take_header(r, bytes, true, out);
    if (st != ARENAUT_OK) return st;
    out->tensor.dims = r->numbers;
    out->tensor.rank = r->n_numbers;
    st = check_dims(r, out, bytes.at);
    if (st == ARENAUT_OK) st = set_bytes(r, out->name, &out->tensor);
    if (st == ARENAUT_OK && !sparse) take_values(r, bytes, &out->tensor);
    return st;
}

/* ---- stated types ---- */

/* The size that an exporter wrote is an expression or, failing that, a name. */
static arenaut_status parse_dim(arn_onnx *r, const char *text, size_t length, uint32_t *expr) {
    arenaut_error why;
    const arenaut_status st = arn_expr_parse(r->program, text, length, expr, &why);
    if (st != ARENAUT_BAD_INPUT) {
        return st == ARENAUT_OK ? st : arn_fail(r->err, st, 0, "size '%.80s': %s", text, why.msg);
    }
    uint32_t symbol = 0;
    char name[256];
    snprintf(name, sizeof name, "%.*s", length < 255 ? (int)length : 255, text);
    const arenaut_status added =
        arn_program_add_symbol(r->program, name, 0, ARENAUT_UNBOUNDED, &symbol, r->err);
    if (added != ARENAUT_OK) return added;
    const arenaut_expr by_name = {.kind = ARENAUT_EXPR_SYMBOL, .a = symbol};
    return arn_program_add_expr(r->program, &by_name, expr, r->err);
}

/* "NAME.AXIS" for a size of an input that has no name, so that it can be bound. */
static arenaut_status name_dim(arn_onnx *r, uint32_t tensor, uint32_t axis, uint32_t *expr) {
    char name[256];
    uint32_t symbol = 0;
    snprintf(name, sizeof name, "%.240s.%" PRIu32, r->program->tensors[tensor].name, axis);
    const arenaut_status st =
        arn_program_add_symbol(r->program, name, 0, ARENAUT_UNBOUNDED, &symbol, r->err);
    if (st != ARENAUT_OK) return st;
    const arenaut_expr by_name = {.kind = ARENAUT_EXPR_SYMBOL, .a = symbol};
    return arn_program_add_expr(r->program, &by_name, expr, r->err);
}

/* One Dimension: a number, an expression, or nothing; a number below 1 is nothing too, as
 * converters write -1 and 0 for unknown sizes. */
static arenaut_status take_dim(arn_onnx *r, arn_pb_bytes bytes, int64_t *dim, arn_pb_bytes *param) {
    arn_pb message = arn_pb_open(r->data, bytes);
    arn_pb_field field;
    *dim = -1;
    *param = (arn_pb_bytes){bytes.at, 0};
    while (arn_pb_next(&message, &field)) {
        if (arn_pb_is(&field, DIM_VALUE, ARN_PB_VARINT)) *dim = (int64_t)field.value;
        if (arn_pb_is(&field, DIM_PARAM, ARN_PB_BYTES)) *param = field.bytes;
    }
    if (*dim < 1) *dim = -1;
    if (arn_onnx_is(r, *param, "?")) param->size = 0; /* each is another size */
    return arn_pb_status(&message, "a dimension", r->err);
}

static arenaut_status take_one_dim(arn_onnx *r, arn_pb_bytes bytes, uint32_t id, bool input,
                                   uint32_t axis, int64_t *dim, uint32_t *expr) {
    arn_pb_bytes param;
    arenaut_status st = take_dim(r, bytes, dim, &param);
    *expr = ARENAUT_NONE;
    if (st != ARENAUT_OK || *dim > 0) return st;
    if (param.size > 0) {
        const char *text = (const char *)r->data + param.at;
        st = arn_onnx_charge(r, 1, 64 * (16 + (uint64_t)param.size));
        return st == ARENAUT_OK ? parse_dim(r, text, param.size, expr) : st;
    }
    return input ? name_dim(r, id, axis, expr) : ARENAUT_OK;
}

/* Dims that are known become numbers; the others keep -1 and, if they have one, a name. */
static arenaut_status take_shape(arn_onnx *r, arn_pb_bytes shape, uint32_t id, bool input) {
    const uint32_t rank = arn_onnx_count(r, shape, SHAPE_DIM);
    arenaut_status st = arn_onnx_charge(r, rank, sizeof(int64_t) + sizeof(uint32_t));
    if (st != ARENAUT_OK) return st;
    int64_t *dims = arenaut_program_alloc(r->program, (size_t)rank * sizeof *dims);
    uint32_t *exprs = arenaut_program_alloc(r->program, (size_t)rank * sizeof *exprs);
    if (!dims || !exprs) return arn_no_memory(r->err);
    arn_pb message = arn_pb_open(r->data, shape);
    arn_pb_field field;
    uint32_t axis = 0;
    bool known = true, varies = false;
    while (st == ARENAUT_OK && arn_pb_next(&message, &field)) {
        if (!arn_pb_is(&field, SHAPE_DIM, ARN_PB_BYTES)) continue;
        st = take_one_dim(r, field.bytes, id, input, axis, &dims[axis], &exprs[axis]);
        if (st == ARENAUT_OK) {
            known = known && dims[axis] >= 0;
            varies = varies || exprs[axis] != ARENAUT_NONE;
        }
        axis++;
    }
    if (st == ARENAUT_OK) st = arn_pb_status(&message, "a shape", r->err);
    if (st != ARENAUT_OK) return st;
    arenaut_tensor *tensor = &r->program->tensors[id];
    tensor->rank = rank;
    tensor->dims = dims;
    tensor->dim_exprs = varies ? exprs : NULL;
    tensor->unsized = !known || arenaut_dtype_bits(tensor->dtype) == 0;
    if (tensor->unsized) return ARENAUT_OK;
    arenaut_error why;
    st = arenaut_dense_bytes(tensor->dtype, dims, rank, &tensor->bytes, &why);
    if (st == ARENAUT_OK) return st;
    return arn_fail(r->err, st, shape.at, "'%.80s': %s", tensor->name, why.msg);
}

static arenaut_status take_tensor_type(arn_onnx *r, arn_pb_bytes bytes, uint32_t id, bool input) {
    arn_pb message = arn_pb_open(r->data, bytes);
    arn_pb_field field;
    arn_pb_bytes shape = {0, 0};
    arenaut_dtype dtype = ARENAUT_DTYPE_OTHER;
    arenaut_status st = ARENAUT_OK;
    while (st == ARENAUT_OK && arn_pb_next(&message, &field)) {
        if (arn_pb_is(&field, TENSOR_TYPE_ELEMENT, ARN_PB_VARINT)) {
            st = take_dtype(r, field.value, message.at, &dtype);
        }
        if (arn_pb_is(&field, TENSOR_TYPE_SHAPE, ARN_PB_BYTES)) shape = field.bytes;
    }
    if (st == ARENAUT_OK) st = arn_pb_status(&message, "a type", r->err);
    if (st != ARENAUT_OK) return st;
    if (dtype != ARENAUT_DTYPE_OTHER) r->program->tensors[id].dtype = dtype;
    return shape.at == 0 ? ARENAUT_OK : take_shape(r, shape, id, input);
}

/* Sequences, maps and optional values have no size of their own: they stay unsized. */
arenaut_status arn_onnx_take_type(arn_onnx *r, arn_pb_bytes type, uint32_t id, bool input) {
    arn_pb message = arn_pb_open(r->data, type);
    arn_pb_field field;
    arenaut_status st = ARENAUT_OK;
    if (r->program->tensors[id].cls == ARENAUT_CONSTANT) return ARENAUT_OK;
    while (st == ARENAUT_OK && arn_pb_next(&message, &field)) {
        if (field.type != ARN_PB_BYTES) continue;
        switch (field.number) {
            case TYPE_TENSOR:
            case TYPE_SPARSE_TENSOR: st = take_tensor_type(r, field.bytes, id, input); break;
            case TYPE_SEQUENCE:
            case TYPE_MAP:
            case TYPE_OPAQUE:
            case TYPE_OPTIONAL: r->program->tensors[id].dtype = ARENAUT_DTYPE_VARIANT; break;
            default: break;
        }
    }
    return st == ARENAUT_OK ? arn_pb_status(&message, "a type", r->err) : st;
}

arenaut_status arn_onnx_take_value_info(arn_onnx *r, arn_pb_bytes bytes, arn_pb_bytes *name,
                                        arn_pb_bytes *type) {
    arn_pb message = arn_pb_open(r->data, bytes);
    arn_pb_field field;
    *name = *type = (arn_pb_bytes){bytes.at, 0};
    while (arn_pb_next(&message, &field)) {
        if (arn_pb_is(&field, VALUE_INFO_NAME, ARN_PB_BYTES)) *name = field.bytes;
        if (arn_pb_is(&field, VALUE_INFO_TYPE, ARN_PB_BYTES)) *type = field.bytes;
    }
    return arn_pb_status(&message, "the type of a value", r->err);
}

arenaut_status arn_onnx_take_types(arn_onnx *r, arn_pb_bytes body, uint32_t field_number,
                                   const arn_onnx_scope *scope) {
    arn_pb message = arn_pb_open(r->data, body);
    arn_pb_field field;
    arenaut_status st = ARENAUT_OK;
    while (st == ARENAUT_OK && arn_pb_next(&message, &field)) {
        arn_pb_bytes name, type;
        uint32_t id;
        if (!arn_pb_is(&field, field_number, ARN_PB_BYTES)) continue;
        st = arn_onnx_take_value_info(r, field.bytes, &name, &type);
        /* Types of values that do not exist do no harm; tools leave such behind. */
        if (st == ARENAUT_OK && arn_name_tree_find(&scope->names, arn_onnx_name(r, name), &id)) {
            st = arn_onnx_take_type(r, type, id, false);
        }
    }
    return st;
}
