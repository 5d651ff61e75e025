/* Tensors of arenaut.program/1. Members that the text leaves out are concluded: bytes from the
 * shape, the device from the storage, class and method from use. */
#include <inttypes.h>
#include <string.h>

#include <arenaut/expr.h>

#include "formats/program_json_reader.h"
#include "ir/expr.h"
#include "ir/extent.h"

typedef arn_program_json_reader reader;

static bool fine(const reader *r) { return arn_json_fine(&r->json); }

static const char *dtype_word(uint32_t k) { return arenaut_dtype_name((arenaut_dtype)k); }
static const char *class_word(uint32_t k) { return arenaut_class_name((arenaut_class)k); }

#define TENSOR_KEYS(XX)                    \
    XX(T_ID, "id")                         \
    XX(T_NAME, "name")                     \
    XX(T_DTYPE, "dtype")                   \
    XX(T_DIMS, "dims")                     \
    XX(T_BYTES, "bytes")                   \
    XX(T_CLASS, "class")                   \
    XX(T_METHOD, "method")                 \
    XX(T_ALIGN, "align")                   \
    XX(T_DEVICE, "device")                 \
    XX(T_VIEW_OF, "view_of")               \
    XX(T_VIEW_OFFSET, "view_offset")       \
    XX(T_QUALIFIED_NAME, "qualified_name") \
    XX(T_CALLER_OWNED, "caller_owned")     \
    XX(T_FILE_INDEX, "file_index")         \
    XX(T_GIVEN, "given")                   \
    XX(T_SOURCE, "source")                 \
    XX(T_UPPER, "upper")                   \
    XX(T_STRIDES, "strides")               \
    XX(T_DYNAMIC, "dynamic")               \
    XX(T_UNSIZED, "unsized")               \
    XX(T_COMPRESSED, "compressed")         \
    XX(T_VALUES, "values")                 \
    XX(T_LANES, "lanes")                   \
    XX(T_SCALES, "scales")                 \
    XX(T_WHOLE_ALONG, "whole_along")       \
    XX(T_FINITE, "finite")
enum { TENSOR_KEYS(ARN_KEY_ENUM) T_KEYS };
static const char *const tensor_keys[] = {TENSOR_KEYS(ARN_KEY_TEXT)};

/* A size that varies: an expression over the symbols. */
static uint32_t read_expr(reader *r, uint32_t value) {
    uint32_t expr = ARENAUT_NONE;
    arenaut_error inner = {ARENAUT_OK, 0, ""};
    const char *text = arn_json_string(&r->json, value);
    if (!fine(r)) return expr;
    const arenaut_status st = arn_expr_parse(r->program, text, strlen(text), &expr, &inner);
    arn_json_pass(&r->json, value, st, &inner);
    if (fine(r) && r->program->exprs[expr].kind == ARENAUT_EXPR_VALUE) {
        arn_json_unexpected(&r->json, value, "a number, or an expression that varies");
    }
    return expr;
}

/* Numbers past 2^53 are text, too. */
static bool is_expr(const reader *r, uint32_t value) {
    uint64_t number;
    return arn_json_type_of(&r->json.json, value) == ARN_JSON_STRING &&
           !arn_json_to_u64(&r->json.json, value, &number);
}

/* Null is a dimension of which nothing is known. */
static void read_dim(reader *r, uint32_t value, uint32_t at, bool *varies) {
    const bool text = is_expr(r, value);
    const uint32_t expr = text ? read_expr(r, value) : ARENAUT_NONE;
    if (!fine(r)) return;
    r->exprs[at] = expr;
    *varies = *varies || text;
    if (text || arn_json_type_of(&r->json.json, value) == ARN_JSON_NULL) {
        r->dims[at] = -1;
    } else {
        r->dims[at] = (int64_t)arn_json_size(&r->json, value, 0);
    }
}

static void read_dims(reader *r, uint32_t array, arenaut_tensor *tensor) {
    uint32_t rank = 0;
    bool varies = false;
    ARN_JSON_EACH(&r->json, v, array) {
        const uint64_t needed = (uint64_t)rank + 1;
        if (!arn_program_json_grow(r, (void **)&r->dims, &r->dim_capacity, needed,
                                   sizeof *r->dims) ||
            !arn_program_json_grow(r, (void **)&r->exprs, &r->expr_capacity, needed,
                                   sizeof *r->exprs)) {
            return;
        }
        read_dim(r, v, rank++, &varies);
    }
    tensor->rank = rank;
    tensor->dims = r->dims;
    tensor->dim_exprs = varies ? r->exprs : NULL;
}

/* A list with an entry for each dimension. */
static void check_rank(reader *r, uint32_t array, const arenaut_tensor *tensor) {
    const uint32_t n = fine(r) ? arn_json_count(&r->json.json, array) : tensor->rank;
    if (n == tensor->rank) return;
    arn_json_fail(&r->json, array, ARENAUT_BAD_INPUT,
                  "%" PRIu32 " entries; the tensor has %" PRIu32 " dimensions", n, tensor->rank);
}

/* Upper bounds of the dimensions, where the expressions do not say them. */
static void read_upper(reader *r, uint32_t array, const arenaut_tensor *tensor) {
    uint32_t i = 0;
    uint32_t v = arn_json_elements(&r->json, array);
    if (v != ARN_JSON_NONE) check_rank(r, array, tensor);
    for (; v != ARN_JSON_NONE && fine(r); v = arn_json_next(&r->json.json, array, v)) {
        r->dims[i++] = (int64_t)arn_json_size(&r->json, v, 0);
    }
}

static void read_strides(reader *r, uint32_t array, arenaut_tensor *tensor) {
    uint32_t i = 0;
    bool varies = false;
    uint32_t v = arn_json_elements(&r->json, array);
    if (v == ARN_JSON_NONE) return;
    check_rank(r, array, tensor);
    if (!arn_program_json_grow(r, (void **)&r->strides, &r->stride_capacity, tensor->rank,
                               sizeof *r->strides) ||
        !arn_program_json_grow(r, (void **)&r->stride_exprs, &r->stride_expr_capacity, tensor->rank,
                               sizeof *r->stride_exprs)) {
        return;
    }
    for (; v != ARN_JSON_NONE && fine(r); v = arn_json_next(&r->json.json, array, v), i++) {
        const uint32_t expr = is_expr(r, v) ? read_expr(r, v) : ARENAUT_NONE;
        const bool text = fine(r) && expr != ARENAUT_NONE;
        r->stride_exprs[i] = expr;
        r->strides[i] = text ? arn_expr_sample(r->program, expr, 0) : arn_json_step(&r->json, v, 0);
        varies = varies || text;
    }
    tensor->strides = r->strides;
    tensor->stride_exprs = varies ? r->stride_exprs : NULL;
}

uint32_t arn_program_json_read_values(reader *r, uint32_t array) {
    const uint32_t first = r->n_numbers;
    ARN_JSON_EACH(&r->json, v, array) {
        if (!arn_program_json_grow(r, (void **)&r->numbers, &r->number_capacity,
                                   (uint64_t)r->n_numbers + 1, sizeof *r->numbers)) {
            break;
        }
        r->numbers[r->n_numbers++] = arn_json_step(&r->json, v, 0);
    }
    return r->n_numbers - first;
}

static bool all_dims_known(const arenaut_tensor *tensor) {
    for (uint32_t i = 0; i < tensor->rank; i++) {
        if (tensor->dims[i] < 0) return false;
    }
    return true;
}

/* Without "bytes": the extent of its layout, and nothing for types without a size, if the program
 * says that there is none, or where strides vary, until their bounds are known. */
static void read_bytes(reader *r, uint32_t object, const uint32_t *v, arenaut_tensor *tensor) {
    if (v[T_BYTES] != ARN_JSON_NONE) {
        tensor->bytes = arn_json_size(&r->json, v[T_BYTES], 0);
        if (!tensor->unsized || tensor->bytes == 0) return;
        arn_json_fail(&r->json, v[T_BYTES], ARENAUT_BAD_INPUT,
                      "tensor '%.60s' is unsized, so it cannot have %" PRIu64 " bytes",
                      tensor->name ? tensor->name : "", tensor->bytes);
        return;
    }
    if (tensor->unsized || !fine(r) || arenaut_dtype_bits(tensor->dtype) == 0) return;
    if (v[T_DTYPE] == ARN_JSON_NONE) {
        arn_json_fail(&r->json, object, ARENAUT_BAD_INPUT,
                      "a tensor needs 'bytes', or 'dtype' and 'dims' (a scalar has none)");
        return;
    }
    if (!all_dims_known(tensor) || tensor->stride_exprs) return;
    arenaut_error inner = {ARENAUT_OK, 0, ""};
    const arenaut_status st = arn_tensor_extent_bytes(tensor, &tensor->bytes, &inner);
    arn_json_pass(&r->json, object, st, &inner);
}

static void read_given(reader *r, uint32_t object, arenaut_tensor *tensor) {
    static const char *const keys[] = {"pool", "offset"};
    if (!fine(r) || object == ARN_JSON_NONE) return;
    uint32_t v[2];
    arn_json_members(&r->json, object, keys, 2, v);
    arn_json_require(&r->json, object, v[1], keys[1]);
    tensor->given_pool = arn_json_below(&r->json, v[0], ARENAUT_MAX_POOLS, 0);
    tensor->given_offset = arn_json_size(&r->json, v[1], 0);
}

static uint32_t read_home(reader *r, uint32_t value) {
    if (value == ARN_JSON_NONE) return ARN_METHOD_UNSEEN;
    if (arn_json_text_is(&r->json.json, value, ARN_EVERY_METHOD)) return ARENAUT_NONE;
    return arn_json_reference(&r->json, &r->methods, value, ARN_METHOD_UNSEEN);
}

static void read_tensor(reader *r, uint32_t object, uint32_t id) {
    uint32_t v[T_KEYS];
    arn_json_reader *json = &r->json;
    arenaut_tensor tensor = arenaut_tensor_default();
    arn_json_members(json, object, tensor_keys, T_KEYS, v);
    arn_json_hold(json, object);
    arn_json_check_id(json, v[T_ID], id);
    tensor.name = arn_json_string(json, v[T_NAME]);
    tensor.qualified_name = arn_json_string(json, v[T_QUALIFIED_NAME]);
    tensor.source = arn_json_string(json, v[T_SOURCE]);
    tensor.dtype = (arenaut_dtype)arn_json_word(json, v[T_DTYPE], dtype_word, ARENAUT_DTYPE_COUNT,
                                                tensor.dtype);
    read_dims(r, v[T_DIMS], &tensor);
    read_upper(r, v[T_UPPER], &tensor);
    read_strides(r, v[T_STRIDES], &tensor);
    tensor.lanes = arn_json_below(json, v[T_LANES], UINT16_MAX + 1u, r->lanes);
    tensor.unsized = arn_json_flag(json, v[T_UNSIZED], false);
    tensor.compressed = arn_json_flag(json, v[T_COMPRESSED], false);
    tensor.finite = arn_json_flag(json, v[T_FINITE], false);
    tensor.whole_along = (uint8_t)arn_json_below(json, v[T_WHOLE_ALONG], UINT8_MAX + 1u, 0);
    read_bytes(r, object, v, &tensor);
    r->n_numbers = 0;
    tensor.n_values = arn_program_json_read_values(r, v[T_VALUES]);
    tensor.values = tensor.n_values ? r->numbers : NULL;
    tensor.n_scales = arn_json_below(json, v[T_SCALES], UINT32_MAX, 0);
    tensor.align = arn_json_size(json, v[T_ALIGN], 0);
    tensor.cls =
        (arenaut_class)arn_json_word(json, v[T_CLASS], class_word, ARENAUT_CLASS_COUNT, tensor.cls);
    tensor.method = read_home(r, v[T_METHOD]);
    tensor.view_of = arn_json_reference(json, &r->tensors, v[T_VIEW_OF], ARENAUT_NONE);
    tensor.view_offset = arn_json_size(json, v[T_VIEW_OFFSET], 0);
    tensor.device = arn_json_device(json, v[T_DEVICE]);
    tensor.caller_owned = arn_json_flag(json, v[T_CALLER_OWNED], false);
    tensor.dynamic = arn_json_flag(json, v[T_DYNAMIC], false);
    tensor.file_index = arn_json_below(json, v[T_FILE_INDEX], UINT32_MAX, id);
    read_given(r, v[T_GIVEN], &tensor);
    if (!fine(r)) return;
    if (v[T_CLASS] != ARN_JSON_NONE) r->stated[id] |= ARN_CLASS_STATED;
    if (v[T_METHOD] != ARN_JSON_NONE) r->stated[id] |= ARN_METHOD_STATED;
    if (v[T_DEVICE] != ARN_JSON_NONE) r->stated[id] |= ARN_DEVICE_STATED;
    json->status = arenaut_program_add_tensor(r->program, &tensor, NULL, json->err);
}

/* A view lies where its storage does. */
static void conclude_devices(const reader *r) {
    arenaut_tensor *tensors = r->program->tensors;
    for (uint32_t t = 0; t < r->program->n_tensors; t++) {
        const uint32_t storage = tensors[t].view_of;
        if (storage >= r->program->n_tensors || r->stated[t] & ARN_DEVICE_STATED) continue;
        tensors[t].device = tensors[storage].device;
    }
}

void arn_program_json_read_tensors(reader *r) {
    uint32_t id = 0;
    ARN_JSON_EACH(&r->json, v, r->tensors.array) {
        read_tensor(r, v, id++);
    }
    if (fine(r)) conclude_devices(r);
}

/* ---- conclusions from uses ---- */

void arn_program_json_note_use(reader *r, arn_program_json_ids list, uint32_t method) {
    for (uint32_t i = 0; i < list.n; i++) {
        const uint32_t id = r->ids[list.first + i];
        if (id == ARENAUT_NONE || r->stated[id] & ARN_METHOD_STATED) continue;
        arenaut_tensor *tensor = &r->program->tensors[id];
        if (tensor->method == ARN_METHOD_UNSEEN) tensor->method = method;
        if (tensor->method != method) tensor->method = ARENAUT_NONE;
    }
}

void arn_program_json_conclude_class(reader *r, const uint32_t *ids, uint32_t n,
                                     arenaut_class cls) {
    for (uint32_t i = 0; i < n; i++) {
        if (ids[i] == ARENAUT_NONE || r->stated[ids[i]] & ARN_CLASS_STATED) continue;
        arenaut_tensor *tensor = &r->program->tensors[ids[i]];
        if (tensor->cls == ARENAUT_INTERMEDIATE) tensor->cls = cls;
    }
}
