/* Types of values in an archive: element types, sizes, strides, devices, and the ranges of symbols.
 * Values are found by name in a sorted list of their graph, O(log n) each. */
#include <inttypes.h>
#include <string.h>

#include "core/checked.h"
#include "core/fail.h"
#include "core/memory.h"
#include "core/sort.h"
#include "formats/pt2/pt2.h"
#include "ir/expr.h"
#include "ir/extent.h"

/* torch's numbers of element types; others have no fixed size here. */
static arenaut_dtype dtype_of(uint64_t number) {
    static const struct {
        uint8_t number, dtype;
    } types[] = {
        {1, ARENAUT_DTYPE_UINT8},      {2, ARENAUT_DTYPE_INT8},        {3, ARENAUT_DTYPE_INT16},
        {4, ARENAUT_DTYPE_INT32},      {5, ARENAUT_DTYPE_INT64},       {6, ARENAUT_DTYPE_FLOAT16},
        {7, ARENAUT_DTYPE_FLOAT32},    {8, ARENAUT_DTYPE_FLOAT64},     {9, ARENAUT_DTYPE_FLOAT32},
        {10, ARENAUT_DTYPE_COMPLEX64}, {11, ARENAUT_DTYPE_COMPLEX128}, {12, ARENAUT_DTYPE_BOOL},
        {13, ARENAUT_DTYPE_BFLOAT16},  {28, ARENAUT_DTYPE_UINT16},     {29, ARENAUT_DTYPE_FLOAT8},
        {30, ARENAUT_DTYPE_FLOAT8},    {31, ARENAUT_DTYPE_FLOAT8},     {32, ARENAUT_DTYPE_FLOAT8},
        {33, ARENAUT_DTYPE_FLOAT8},    {34, ARENAUT_DTYPE_UINT32},     {35, ARENAUT_DTYPE_UINT64},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (types[i].number == number) return (arenaut_dtype)types[i].dtype;
    }
    return ARENAUT_DTYPE_OTHER;
}

/* torch's types of devices in the order of its numbers, but for OpenCL, which has the number
 * that device.h gives it, and MKL-DNN, which has OpenCL's. */
static const char *const device_types[] = {
    [ARENAUT_DEVICE_HOST] = "cpu",
    [ARENAUT_DEVICE_CUDA] = "cuda",
    [ARENAUT_DEVICE_OPENCL] = "opencl",
    "opengl",
    "mkldnn",
    "ideep",
    "hip",
    "fpga",
    "maia",
    "xla",
    "vulkan",
    "metal",
    "xpu",
    "mps",
};

static bool find_device_type(const arn_pt2 *r, uint32_t type, uint16_t *number) {
    *number = ARENAUT_DEVICE_HOST; /* of tensors without memory, too */
    if (type == ARN_JSON_NONE || arn_json_text_is(&r->json.json, type, "meta")) return true;
    for (size_t i = 0; i < sizeof device_types / sizeof *device_types; i++) {
        *number = (uint16_t)i;
        if (arn_json_text_is(&r->json.json, type, device_types[i])) return true;
    }
    return false;
}

static arenaut_device read_device(arn_pt2 *r, uint32_t value) {
    arenaut_device device = {ARENAUT_DEVICE_HOST, 0};
    uint64_t number = 0;
    const uint32_t type = arn_pt2_get(r, value, "type"), index = arn_pt2_get(r, value, "index");
    const bool has_index =
        index != ARN_JSON_NONE && arn_json_type_of(&r->json.json, index) != ARN_JSON_NULL;
    if (!arn_pt2_fine(r)) return device;
    if (!find_device_type(r, type, &device.type)) {
        arn_json_unexpected(&r->json, type, "a type of device that is known: cpu, cuda, opencl …");
    } else if (has_index &&
               (!arn_json_to_u64(&r->json.json, index, &number) || number > UINT16_MAX)) {
        arn_json_unexpected(&r->json, index, "the index of a device, from 0 to 65535");
    }
    device.index = (uint16_t)number;
    return device;
}

/* ---- sizes ---- */

/* The expression of a size; NONE for one in another notation than that of sizes. A size that cannot
 * be read is unknown, which later passes name; it does not make the file bad. */
static uint32_t read_expr(arn_pt2 *r, uint32_t text) {
    uint32_t expr = ARENAUT_NONE;
    const size_t length = arn_json_raw_length(&r->json.json, r->json.json.nodes[text].at);
    if (!arn_grow(r->json.allocator, (void **)&r->text, &r->text_capacity,
                  (uint64_t)length * (1 + ARN_PT2_INFIX) + 1, 1)) {
        r->json.status = arn_no_memory(r->json.err);
        return expr;
    }
    char *infix = r->text + length;
    const size_t decoded = arn_json_decode(&r->json.json, r->json.json.nodes[text].at, r->text);
    if (memchr(r->text, '\0', decoded) || !arn_pt2_infix(r->text, decoded, infix)) return expr;
    const arenaut_status st = arn_expr_parse(r->program, infix, strlen(infix), &expr, NULL);
    if (st == ARENAUT_NO_MEMORY) r->json.status = arn_no_memory(r->json.err);
    return st == ARENAUT_OK ? expr : ARENAUT_NONE;
}

/* {"as_int": 4} or {"as_expr": {"expr_str": …}}: the number, or -1 and the expression. */
static void read_size(arn_pt2 *r, uint32_t value, int64_t *number, uint32_t *expr) {
    *number = -1;
    *expr = ARENAUT_NONE;
    const uint32_t fixed = arn_pt2_get(r, value, "as_int");
    if (fixed != ARN_JSON_NONE) {
        *number = arn_json_step(&r->json, fixed, 0);
        return;
    }
    const uint32_t text = arn_pt2_get(r, arn_pt2_get(r, value, "as_expr"), "expr_str");
    if (text == ARN_JSON_NONE || arn_json_type_of(&r->json.json, text) != ARN_JSON_STRING) {
        if (arn_pt2_fine(r)) arn_json_unexpected(&r->json, value, "a size");
        return;
    }
    *expr = read_expr(r, text);
    if (*expr == ARENAUT_NONE || r->program->exprs[*expr].kind != ARENAUT_EXPR_VALUE) return;
    *number = r->program->exprs[*expr].value;
    *expr = ARENAUT_NONE;
}

static bool read_dims(arn_pt2 *r, uint32_t array, arenaut_tensor *tensor) {
    bool varies = false;
    uint32_t rank = 0;
    ARN_JSON_EACH(&r->json, v, array) {
        const uint64_t needed = (uint64_t)rank + 1;
        if (!arn_pt2_grow(r, (void **)&r->dims, &r->dim_capacity, needed, sizeof *r->dims) ||
            !arn_pt2_grow(r, (void **)&r->exprs, &r->expr_capacity, needed, sizeof *r->exprs)) {
            return false;
        }
        read_size(r, v, &r->dims[rank], &r->exprs[rank]);
        if (arn_pt2_fine(r) && r->dims[rank] < -1) arn_json_unexpected(&r->json, v, "a size");
        varies = varies || r->exprs[rank] != ARENAUT_NONE;
        rank++;
    }
    tensor->rank = rank;
    tensor->dims = r->dims;
    tensor->dim_exprs = varies ? r->exprs : NULL;
    return arn_pt2_fine(r);
}

/* ---- strides ---- */

/* Whether the last dimension is the fastest and nothing lies between, at two samples. */
static bool is_dense(arn_pt2 *r, const arenaut_tensor *tensor) {
    const uint32_t rank = tensor->rank;
    if (!arn_pt2_grow(r, (void **)&r->order, &r->order_capacity, rank, sizeof *r->order)) {
        return false;
    }
    for (uint32_t k = 0; k < rank; k++) r->order[k] = rank - 1 - k;
    return arn_tensor_is_packed(r->program, tensor, r->order, rank, 0) &&
           arn_tensor_is_packed(r->program, tensor, r->order, rank, 1);
}

static void read_strides(arn_pt2 *r, uint32_t array, arenaut_tensor *tensor) {
    uint32_t n = 0;
    bool varies = false;
    ARN_JSON_EACH(&r->json, v, array) {
        const uint64_t needed = (uint64_t)n + 1;
        if (!arn_pt2_grow(r, (void **)&r->strides, &r->stride_capacity, needed,
                          sizeof *r->strides) ||
            !arn_pt2_grow(r, (void **)&r->stride_exprs, &r->stride_expr_capacity, needed,
                          sizeof *r->stride_exprs)) {
            return;
        }
        const uint32_t *expr = &r->stride_exprs[n];
        read_size(r, v, &r->strides[n], &r->stride_exprs[n]);
        if (*expr != ARENAUT_NONE) r->strides[n] = arn_expr_sample(r->program, *expr, 0);
        varies = varies || *expr != ARENAUT_NONE;
        n++;
    }
    if (!arn_pt2_fine(r)) return;
    if (n != tensor->rank) {
        arn_json_fail(&r->json, array, ARENAUT_BAD_INPUT,
                      "%" PRIu32 " strides; the value has %" PRIu32 " dimensions", n, tensor->rank);
        return;
    }
    tensor->strides = r->strides;
    tensor->stride_exprs = varies ? r->stride_exprs : NULL;
    if (is_dense(r, tensor)) tensor->strides = NULL;
    if (!tensor->strides) tensor->stride_exprs = NULL;
}

/* ---- values ---- */

/* Bytes from the storage's start; ARENAUT_SIZE_MAX where that depends on sizes or data. */
static uint64_t read_offset(arn_pt2 *r, uint32_t value, const arenaut_tensor *tensor) {
    int64_t elements;
    uint32_t expr;
    uint64_t bits;
    if (value == ARN_JSON_NONE) return 0;
    read_size(r, value, &elements, &expr);
    const bool known =
        elements >= 0 && arn_multiply((uint64_t)elements, arenaut_dtype_bits(tensor->dtype), &bits);
    return known ? bits / 8 : ARENAUT_SIZE_MAX;
}

/* An unknown size is no mistake of the file; a varying tensor has its bytes from a later pass. */
static void set_bytes(arn_pt2 *r, uint32_t value, arenaut_tensor *tensor) {
    arenaut_error inner = {ARENAUT_OK, 0, ""};
    for (uint32_t i = 0; i < tensor->rank; i++) {
        const bool varies = tensor->dim_exprs && tensor->dim_exprs[i] != ARENAUT_NONE;
        if (varies) tensor->dynamic = true;
        else if (tensor->dims[i] < 0) tensor->unsized = true;
    }
    if (arenaut_dtype_bits(tensor->dtype) == 0) tensor->unsized = true;
    if (tensor->dynamic || tensor->unsized) return;
    const arenaut_status st = arn_tensor_extent_bytes(tensor, &tensor->bytes, &inner);
    arn_json_pass(&r->json, value, st, &inner);
}

static uint32_t read_tensor(arn_pt2 *r, uint32_t value, const char *name) {
    arenaut_tensor tensor = arenaut_tensor_default();
    uint64_t number = 0;
    uint32_t id = ARENAUT_NONE;
    const uint32_t dtype = arn_pt2_need(r, value, "dtype");
    if (!arn_pt2_fine(r)) return id;
    if (!arn_json_to_u64(&r->json.json, dtype, &number)) {
        arn_json_unexpected(&r->json, dtype, "the number of a type");
        return id;
    }
    tensor.name = name;
    tensor.dtype = dtype_of(number);
    tensor.method = r->program->n_methods - 1;
    tensor.file_index = r->program->n_tensors;
    tensor.device = read_device(r, arn_pt2_get(r, value, "device"));
    if (!read_dims(r, arn_pt2_need(r, value, "sizes"), &tensor)) return id;
    read_strides(r, arn_pt2_need(r, value, "strides"), &tensor);
    tensor.view_offset = read_offset(r, arn_pt2_get(r, value, "storage_offset"), &tensor);
    if (arn_pt2_fine(r)) set_bytes(r, value, &tensor);
    if (!arn_pt2_fine(r)) return id;
    r->json.status = arenaut_program_add_tensor(r->program, &tensor, &id, r->json.err);
    return id;
}

static bool name_before(const void *context, uint32_t a, uint32_t b) {
    const char *const *names = context;
    return strcmp(names[a], names[b]) < 0;
}

static bool make_scope(arn_pt2 *r, uint32_t values, arn_pt2_scope *scope) {
    scope->n = arn_json_count(&r->json.json, values);
    if (ARN_REGION_ARRAYS(&r->names, ARN_ARRAY(scope->names, scope->n),
                          ARN_ARRAY(scope->tensors, scope->n),
                          ARN_ARRAY(scope->order, 2 * (size_t)scope->n))) {
        return true;
    }
    r->json.status = arn_no_memory(r->json.err);
    return false;
}

void arn_pt2_read_names(arn_pt2 *r, uint32_t values, arn_pt2_scope *scope) {
    if (!arn_pt2_fine(r)) return;
    if (arn_json_type_of(&r->json.json, values) != ARN_JSON_OBJECT) {
        arn_json_unexpected(&r->json, values, "an object");
        return;
    }
    if (!make_scope(r, values, scope)) return;
    uint32_t i = 0;
    for (uint32_t v = arn_json_first(&r->json.json, values); v != ARN_JSON_NONE;
         v = arn_json_next(&r->json.json, values, v)) {
        const char *name = arn_pt2_key(r, v);
        if (!name) return;
        scope->names[i] = name;
        scope->tensors[i] = ARENAUT_NONE;
        scope->order[i] = i;
        i++;
    }
    arn_sort_ids(scope->order, scope->n, name_before, scope->names, scope->order + scope->n);
}

void arn_pt2_read_tensors(arn_pt2 *r, uint32_t values, arn_pt2_scope *scope) {
    uint32_t i = 0;
    if (!arn_pt2_fine(r)) return;
    for (uint32_t v = arn_json_first(&r->json.json, values); v != ARN_JSON_NONE && arn_pt2_fine(r);
         v = arn_json_next(&r->json.json, values, v), i++) {
        if (scope->tensors[i] == ARENAUT_NONE)
            scope->tensors[i] = read_tensor(r, v, scope->names[i]);
    }
}

uint32_t *arn_pt2_place(arn_pt2 *r, const arn_pt2_scope *scope, uint32_t value) {
    const char *name = arn_pt2_text(r, value);
    uint32_t low = 0, high = scope->n;
    if (!name) return NULL;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2, at = scope->order[middle];
        const int order = strcmp(scope->names[at], name);
        if (order == 0) return &scope->tensors[at];
        if (order < 0) low = middle + 1;
        else high = middle;
    }
    arn_json_fail(&r->json, value, ARENAUT_BAD_INPUT, "the graph has no value '%.80s'", name);
    return NULL;
}

/* ---- ranges ---- */

static int64_t read_bound(arn_pt2 *r, uint32_t object, const char *name, int64_t fallback) {
    int64_t bound;
    const uint32_t value = arn_pt2_get(r, object, name);
    if (value == ARN_JSON_NONE || !arn_json_to_i64(&r->json.json, value, &bound)) return fallback;
    return bound;
}

/* A range of k*s gives one of s; from other expressions nothing is concluded. */
static arenaut_status narrow(arenaut_program *p, uint32_t expr, int64_t min, int64_t max,
                             arenaut_error *err) {
    const arenaut_expr *e = &p->exprs[expr];
    int64_t factor = 1;
    if (e->kind == ARENAUT_EXPR_MUL) {
        const arenaut_expr *a = &p->exprs[e->a], *b = &p->exprs[e->b];
        const bool scaled = a->kind == ARENAUT_EXPR_VALUE && a->value > 0;
        if (scaled) factor = a->value;
        e = scaled ? b : e;
    }
    if (e->kind != ARENAUT_EXPR_SYMBOL) return ARENAUT_OK;
    const int64_t low = min > 0 ? (min - 1) / factor + 1 : min / factor;
    const int64_t high = max == ARENAUT_UNBOUNDED || max < 0 ? max : max / factor;
    return arn_program_add_symbol(p, p->symbols[e->a].name, low, high, NULL, err);
}

void arn_pt2_read_ranges(arn_pt2 *r, uint32_t constraints) {
    if (!arn_pt2_fine(r) || constraints == ARN_JSON_NONE) return;
    if (arn_json_type_of(&r->json.json, constraints) != ARN_JSON_OBJECT) return;
    for (uint32_t v = arn_json_first(&r->json.json, constraints);
         v != ARN_JSON_NONE && arn_pt2_fine(r); v = arn_json_next(&r->json.json, constraints, v)) {
        arenaut_error inner = {ARENAUT_OK, 0, ""};
        uint32_t expr;
        const char *name = arn_pt2_key(r, v);
        if (!name) return;
        const int64_t min = read_bound(r, v, "min_val", INT64_MIN);
        const int64_t max = read_bound(r, v, "max_val", ARENAUT_UNBOUNDED);
        arenaut_status st = arn_expr_parse(r->program, name, strlen(name), &expr, &inner);
        if (st == ARENAUT_BAD_INPUT) continue; /* a condition that no size is */
        if (st == ARENAUT_OK) st = narrow(r->program, expr, min, max, &inner);
        arn_json_pass(&r->json, v, st, &inner);
    }
}
