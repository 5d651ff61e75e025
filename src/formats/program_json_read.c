/* From arenaut.program/1 to a program. Tensors come first, since ops refer to them; what
 * the text leaves unsaid (class, method, entry) is then concluded from how they are used. */
#include "formats/program_json.h"

#include <inttypes.h>
#include <string.h>

#include <arenaut/dialect.h>
#include <arenaut/expr.h>

#include "core/memory.h"
#include "formats/json_reader.h"
#include "ir/extent.h"

/* What the text said of a tensor; the rest is concluded. */
enum { CLASS_STATED = 1, METHOD_STATED = 2, DEVICE_STATED = 4 };

/* A tensor whose method is not known yet. */
#define UNSEEN (ARENAUT_NONE - 1)

typedef struct reader {
    arn_json_reader json;
    arenaut_program *program;
    arn_json_list tensors, methods;
    uint8_t *stated;    /* per tensor */
    uint32_t lanes;     /* of tensors that do not state them */
    bool *entry_stated; /* per method */
    /* Reused from object to object. */
    uint32_t *ids;
    int64_t *dims, *strides, *numbers;
    uint32_t *exprs;
    arenaut_in_place *pairs;
    arenaut_binding *bindings;
    uint32_t n_ids, id_capacity, dim_capacity, stride_capacity, expr_capacity, pair_capacity;
    uint32_t binding_capacity, n_numbers, number_capacity;
} reader;

/* Part of reader.ids, which may move while it grows. */
typedef struct id_list {
    uint32_t first, n;
} id_list;

static bool fine(const reader *r) { return arn_json_fine(&r->json); }

static bool grow(reader *r, void **array, uint32_t *capacity, uint64_t needed, size_t size) {
    if (arn_grow(r->json.allocator, array, capacity, needed, size)) return true;
    if (fine(r)) r->json.status = arn_no_memory(r->json.err);
    return false;
}

static const char *dtype_word(uint32_t k) { return arenaut_dtype_name((arenaut_dtype)k); }
static const char *class_word(uint32_t k) { return arenaut_class_name((arenaut_class)k); }
static const char *kind_word(uint32_t k) { return arenaut_op_kind_name((arenaut_op_kind)k); }
static const char *binding_word(uint32_t k) {
    return arenaut_binding_kind_name((arenaut_binding_kind)k);
}

/* ---- tensors ---- */

#define TENSOR_KEYS(XX)                                                                            \
    XX(T_ID, "id")                                                                                 \
    XX(T_NAME, "name")                                                                             \
    XX(T_DTYPE, "dtype")                                                                           \
    XX(T_DIMS, "dims") XX(T_BYTES, "bytes") XX(T_CLASS, "class") XX(T_METHOD, "method")            \
        XX(T_ALIGN, "align") XX(T_DEVICE, "device") XX(T_VIEW_OF, "view_of")                       \
            XX(T_VIEW_OFFSET, "view_offset") XX(T_QUALIFIED_NAME, "qualified_name")                \
                XX(T_CALLER_OWNED, "caller_owned") XX(T_FILE_INDEX, "file_index")                  \
                    XX(T_GIVEN, "given") XX(T_SOURCE, "source") XX(T_UPPER, "upper")               \
                        XX(T_STRIDES, "strides") XX(T_DYNAMIC, "dynamic") XX(T_UNSIZED, "unsized") \
                            XX(T_VALUES, "values") XX(T_LANES, "lanes")
enum { TENSOR_KEYS(ARN_KEY_ENUM) T_KEYS };
static const char *const tensor_keys[] = {TENSOR_KEYS(ARN_KEY_TEXT)};

/* A dimension that varies is text: an expression over the symbols; null is one of which
 * nothing is known. */
static uint32_t read_expr(reader *r, uint32_t value) {
    uint32_t expr = ARENAUT_NONE;
    arenaut_error inner = {ARENAUT_OK, 0, ""};
    const char *text = arn_json_string(&r->json, value);
    if (!fine(r)) return expr;
    const arenaut_status st = arenaut_expr_parse(r->program, text, strlen(text), &expr, &inner);
    arn_json_pass(&r->json, value, st, &inner);
    if (fine(r) && r->program->exprs[expr].kind == ARENAUT_EXPR_VALUE) {
        arn_json_unexpected(&r->json, value, "a number, or an expression that varies");
    }
    return expr;
}

static void read_dim(reader *r, uint32_t value, uint32_t at, bool *varies) {
    uint64_t number;
    const bool text = arn_json_type_of(&r->json.json, value) == ARN_JSON_STRING &&
                      !arn_json_to_u64(&r->json.json, value, &number);
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
    for (uint32_t v = arn_json_elements(&r->json, array); v != ARN_JSON_NONE && fine(r);
         v = arn_json_next(&r->json.json, array, v)) {
        const uint64_t needed = (uint64_t)rank + 1;
        if (!grow(r, (void **)&r->dims, &r->dim_capacity, needed, sizeof *r->dims) ||
            !grow(r, (void **)&r->exprs, &r->expr_capacity, needed, sizeof *r->exprs)) {
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
    uint32_t v = arn_json_elements(&r->json, array);
    if (v == ARN_JSON_NONE) return;
    check_rank(r, array, tensor);
    if (!grow(r, (void **)&r->strides, &r->stride_capacity, tensor->rank, sizeof *r->strides)) {
        return;
    }
    for (; v != ARN_JSON_NONE && fine(r); v = arn_json_next(&r->json.json, array, v)) {
        r->strides[i++] = arn_json_step(&r->json, v, 0);
    }
    tensor->strides = r->strides;
}

/* Numbers, appended to r->numbers; returns how many. */
static uint32_t read_values(reader *r, uint32_t array) {
    const uint32_t first = r->n_numbers;
    for (uint32_t v = arn_json_elements(&r->json, array); v != ARN_JSON_NONE && fine(r);
         v = arn_json_next(&r->json.json, array, v)) {
        if (!grow(r, (void **)&r->numbers, &r->number_capacity, (uint64_t)r->n_numbers + 1,
                  sizeof *r->numbers)) {
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

/* Without "bytes": what a dense tensor takes, and nothing for types without a size, or where the
 * program says that there is none. */
static void read_bytes(reader *r, uint32_t object, const uint32_t *v, arenaut_tensor *tensor) {
    if (v[T_BYTES] != ARN_JSON_NONE) {
        tensor->bytes = arn_json_size(&r->json, v[T_BYTES], 0);
        if (!tensor->unsized || tensor->bytes == 0) return;
        arn_json_fail(&r->json, v[T_BYTES], ARENAUT_BAD_INPUT,
                      "tensor '%.60s' is unsized, so it cannot have %" PRIu64 " bytes",
                      tensor->name ? tensor->name : "", tensor->bytes);
        return;
    }
    if (tensor->unsized || !fine(r) || arenaut_dtype_bits(tensor->dtype) == 0 ||
        !all_dims_known(tensor))
        return;
    if (v[T_DIMS] == ARN_JSON_NONE && v[T_DTYPE] == ARN_JSON_NONE) {
        arn_json_fail(&r->json, object, ARENAUT_BAD_INPUT,
                      "a tensor needs 'bytes', or 'dtype' and 'dims'");
        return;
    }
    arenaut_error inner = {ARENAUT_OK, 0, ""};
    const arenaut_status st = arn_tensor_dense_bytes(tensor->dtype, tensor->lanes, tensor->dims,
                                                     tensor->rank, &tensor->bytes, &inner);
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
    if (value == ARN_JSON_NONE) return UNSEEN;
    if (arn_json_text_is(&r->json.json, value, ARN_EVERY_METHOD)) return ARENAUT_NONE;
    return arn_json_reference(&r->json, &r->methods, value, UNSEEN);
}

static void check_id(reader *r, uint32_t value, uint32_t id) {
    if (arn_json_below(&r->json, value, ARENAUT_NONE, id) == id) return;
    arn_json_fail(&r->json, value, ARENAUT_BAD_INPUT, "ids count from 0; expected %" PRIu32, id);
}

static void read_tensor(reader *r, uint32_t object, uint32_t id) {
    uint32_t v[T_KEYS];
    arn_json_reader *json = &r->json;
    arenaut_tensor tensor = arenaut_tensor_default();
    arn_json_members(json, object, tensor_keys, T_KEYS, v);
    arn_json_hold(json, object);
    check_id(r, v[T_ID], id);
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
    read_bytes(r, object, v, &tensor);
    r->n_numbers = 0;
    tensor.n_values = read_values(r, v[T_VALUES]);
    tensor.values = tensor.n_values ? r->numbers : NULL;
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
    if (v[T_CLASS] != ARN_JSON_NONE) r->stated[id] |= CLASS_STATED;
    if (v[T_METHOD] != ARN_JSON_NONE) r->stated[id] |= METHOD_STATED;
    if (v[T_DEVICE] != ARN_JSON_NONE) r->stated[id] |= DEVICE_STATED;
    json->status = arenaut_program_add_tensor(r->program, &tensor, NULL, json->err);
}

/* A view lies where its storage does. */
static void conclude_devices(const reader *r) {
    arenaut_tensor *tensors = r->program->tensors;
    for (uint32_t t = 0; t < r->program->n_tensors; t++) {
        const uint32_t storage = tensors[t].view_of;
        if (storage >= r->program->n_tensors || r->stated[t] & DEVICE_STATED) continue;
        tensors[t].device = tensors[storage].device;
    }
}

static void read_tensors(reader *r) {
    uint32_t id = 0;
    for (uint32_t v = arn_json_elements(&r->json, r->tensors.array); v != ARN_JSON_NONE && fine(r);
         v = arn_json_next(&r->json.json, r->tensors.array, v)) {
        read_tensor(r, v, id++);
    }
    if (fine(r)) conclude_devices(r);
}

/* ---- ops ---- */

#define OP_KEYS(XX)                                                                          \
    XX(O_NAME, "name")                                                                       \
    XX(O_KIND, "kind")                                                                       \
    XX(O_INPUTS, "inputs")                                                                   \
    XX(O_OUTPUTS, "outputs") XX(O_SCRATCH, "scratch") XX(O_CALLS, "calls")                   \
        XX(O_IN_PLACE, "in_place") XX(O_ALIAS, "arguments_may_alias") XX(O_TARGET, "target") \
            XX(O_SOURCE, "source") XX(O_INDEX, "index") XX(O_STREAM, "stream")               \
                XX(O_AFTER, "after") XX(O_CARRIES, "carries") XX(O_ATTRIBUTES, "attributes")
enum { OP_KEYS(ARN_KEY_ENUM) O_KEYS };
static const char *const op_keys[] = {OP_KEYS(ARN_KEY_TEXT)};

/* References, appended to r->ids; null is an argument left out. */
static id_list read_ids(reader *r, uint32_t array, arn_json_list *list) {
    const id_list empty = {r->n_ids, 0};
    id_list ids = empty;
    for (uint32_t v = arn_json_elements(&r->json, array); v != ARN_JSON_NONE && fine(r);
         v = arn_json_next(&r->json.json, array, v)) {
        if (!grow(r, (void **)&r->ids, &r->id_capacity, (uint64_t)r->n_ids + 1, sizeof *r->ids)) {
            return empty;
        }
        const bool none = arn_json_type_of(&r->json.json, v) == ARN_JSON_NULL;
        const uint32_t id =
            none ? ARENAUT_NONE : arn_json_reference(&r->json, list, v, ARENAUT_NONE);
        r->ids[r->n_ids++] = id;
        ids.n++;
    }
    return fine(r) ? ids : empty;
}

static const uint32_t *at(const reader *r, id_list list) {
    return list.n ? r->ids + list.first : NULL;
}

/* Ops of the same method, by number, appended likewise. */
static id_list read_numbers(reader *r, uint32_t array) {
    id_list ids = {r->n_ids, 0};
    for (uint32_t v = arn_json_elements(&r->json, array); v != ARN_JSON_NONE && fine(r);
         v = arn_json_next(&r->json.json, array, v)) {
        if (!grow(r, (void **)&r->ids, &r->id_capacity, (uint64_t)r->n_ids + 1, sizeof *r->ids)) {
            break;
        }
        r->ids[r->n_ids++] = arn_json_below(&r->json, v, ARENAUT_NONE, 0);
        ids.n++;
    }
    return ids;
}

static uint32_t read_pairs(reader *r, uint32_t array) {
    uint32_t n = 0;
    for (uint32_t v = arn_json_elements(&r->json, array); v != ARN_JSON_NONE && fine(r);
         v = arn_json_next(&r->json.json, array, v)) {
        uint32_t pair[2];
        arn_json_tuple(&r->json, v, 2, pair);
        if (!grow(r, (void **)&r->pairs, &r->pair_capacity, (uint64_t)n + 1, sizeof *r->pairs)) {
            return 0;
        }
        r->pairs[n].output = arn_json_below(&r->json, pair[0], ARENAUT_NONE, 0);
        r->pairs[n].input = arn_json_below(&r->json, pair[1], ARENAUT_NONE, 0);
        n++;
    }
    return n;
}

/* A tensor that two methods use belongs to all. */
static void note_use(reader *r, id_list list, uint32_t method) {
    for (uint32_t i = 0; i < list.n; i++) {
        const uint32_t id = r->ids[list.first + i];
        if (id == ARENAUT_NONE || r->stated[id] & METHOD_STATED) continue;
        arenaut_tensor *tensor = &r->program->tensors[id];
        if (tensor->method == UNSEEN) tensor->method = method;
        if (tensor->method != method) tensor->method = ARENAUT_NONE;
    }
}

static void conclude_class(reader *r, const uint32_t *ids, uint32_t n, arenaut_class cls) {
    for (uint32_t i = 0; i < n; i++) {
        if (ids[i] == ARENAUT_NONE || r->stated[ids[i]] & CLASS_STATED) continue;
        arenaut_tensor *tensor = &r->program->tensors[ids[i]];
        if (tensor->cls == ARENAUT_INTERMEDIATE) tensor->cls = cls;
    }
}

/* What an attribute says; its numbers are set when r->numbers no longer moves. */
static void read_attribute(reader *r, uint32_t object, arenaut_attribute *attribute) {
    static const char *const keys[] = {"name", "text", "numbers"};
    uint32_t v[3];
    arn_json_members(&r->json, object, keys, 3, v);
    arn_json_require(&r->json, object, v[0], keys[0]);
    attribute->name = arn_json_string(&r->json, v[0]);
    attribute->text = arn_json_string(&r->json, v[1]);
    attribute->n_numbers = read_values(r, v[2]);
}

/* They live in the program from the start: there are few, and most have one number. */
static const arenaut_attribute *read_attributes(reader *r, uint32_t array, uint32_t *n) {
    arenaut_attribute *all = NULL;
    uint32_t k = 0;
    *n = fine(r) && array != ARN_JSON_NONE ? arn_json_count(&r->json.json, array) : 0;
    if (*n == 0) return NULL;
    r->n_numbers = 0;
    all = arenaut_program_alloc(r->program, (size_t)*n * sizeof *all);
    if (!all) {
        r->json.status = arn_no_memory(r->json.err);
        return NULL;
    }
    for (uint32_t v = arn_json_elements(&r->json, array); v != ARN_JSON_NONE && fine(r);
         v = arn_json_next(&r->json.json, array, v)) {
        read_attribute(r, v, &all[k++]);
    }
    const int64_t *numbers = r->numbers;
    for (uint32_t i = 0; i < k; i++) {
        all[i].numbers = all[i].n_numbers ? numbers : NULL;
        numbers += all[i].n_numbers ? all[i].n_numbers : 0;
    }
    return fine(r) ? all : NULL;
}

static void read_op(reader *r, uint32_t object, uint32_t method) {
    uint32_t v[O_KEYS];
    arn_json_reader *json = &r->json;
    arn_json_members(json, object, op_keys, O_KEYS, v);
    arn_json_hold(json, object);
    r->n_ids = 0;
    const char *name = arn_json_string(json, v[O_NAME]);
    const uint32_t kind =
        arn_json_word(json, v[O_KIND], kind_word, ARENAUT_OP_KIND_COUNT, ARENAUT_OP_OUT);
    const id_list inputs = read_ids(r, v[O_INPUTS], &r->tensors);
    const id_list outputs = read_ids(r, v[O_OUTPUTS], &r->tensors);
    const id_list scratch = read_ids(r, v[O_SCRATCH], &r->tensors);
    const id_list calls = read_ids(r, v[O_CALLS], &r->methods);
    const uint32_t n_pairs = read_pairs(r, v[O_IN_PLACE]);
    const bool may_alias = arn_json_flag(json, v[O_ALIAS], false);
    const bool field = kind == ARENAUT_OP_FIELD;
    const unsigned key = field ? O_INDEX : kind == ARENAUT_OP_LOOP ? O_CARRIES : O_TARGET;
    const uint32_t target = arn_json_below(json, v[key], ARENAUT_NONE, 0);
    if (field) arn_json_require(json, object, v[O_INDEX], op_keys[O_INDEX]);
    const uint32_t stream = arn_json_below(json, v[O_STREAM], ARENAUT_NONE, 0);
    const id_list after = read_numbers(r, v[O_AFTER]);
    uint32_t n_attributes;
    const arenaut_attribute *attributes = read_attributes(r, v[O_ATTRIBUTES], &n_attributes);
    const char *source = arn_json_string(json, v[O_SOURCE]);
    const arenaut_op op = {
        .name = name,
        .source = source,
        .kind = (arenaut_op_kind)kind,
        .method = method,
        .n_inputs = inputs.n,
        .inputs = at(r, inputs),
        .n_outputs = outputs.n,
        .outputs = at(r, outputs),
        .n_scratch = scratch.n,
        .scratch = at(r, scratch),
        .n_calls = calls.n,
        .calls = at(r, calls),
        .n_in_place = n_pairs,
        .in_place = r->pairs,
        .arguments_may_alias = may_alias,
        .target = target,
        .stream = stream,
        .n_after = after.n,
        .after = at(r, after),
        .n_attributes = n_attributes,
        .attributes = attributes,
    };
    if (!fine(r)) return;
    note_use(r, inputs, method);
    note_use(r, outputs, method);
    note_use(r, scratch, method);
    conclude_class(r, op.scratch, op.n_scratch, ARENAUT_SCRATCH);
    json->status = arenaut_program_add_op(r->program, &op, NULL, json->err);
}

/* ---- methods ---- */

#define METHOD_KEYS(XX)                                                        \
    XX(M_NAME, "name")                                                         \
    XX(M_ENTRY, "entry")                                                       \
    XX(M_INPUTS, "inputs")                                                     \
    XX(M_OUTPUTS, "outputs") XX(M_OPS, "ops") XX(M_GIVEN_POOLS, "given_pools") \
        XX(M_BINDINGS, "bindings") XX(M_OUTER, "outer") XX(M_CONCURRENT, "concurrent")
enum { METHOD_KEYS(ARN_KEY_ENUM) M_KEYS };
static const char *const method_keys[] = {METHOD_KEYS(ARN_KEY_TEXT)};

static void read_method_body(reader *r, uint32_t method, uint32_t inputs_at, uint32_t outputs_at,
                             uint32_t ops_at) {
    r->n_ids = 0;
    const id_list inputs = read_ids(r, inputs_at, &r->tensors);
    const id_list outputs = read_ids(r, outputs_at, &r->tensors);
    if (!fine(r)) return;
    note_use(r, inputs, method);
    note_use(r, outputs, method);
    r->json.status = arenaut_program_set_method_io(r->program, method, at(r, inputs), inputs.n,
                                                   at(r, outputs), outputs.n, r->json.err);
    for (uint32_t v = arn_json_elements(&r->json, ops_at); v != ARN_JSON_NONE && fine(r);
         v = arn_json_next(&r->json.json, ops_at, v)) {
        read_op(r, v, method);
    }
}

static void read_concurrent(reader *r, uint32_t method, uint32_t value) {
    const bool concurrent = arn_json_flag(&r->json, value, false);
    if (fine(r)) r->program->methods[method].concurrent = concurrent;
}

/* The arenas that the file states for a method. */
static void read_given_pools(reader *r, uint32_t array, uint32_t method) {
    static const char *const keys[] = {"bytes", "device"};
    arenaut_given_pool pools[ARENAUT_MAX_POOLS];
    uint32_t n = 0;
    for (uint32_t v = arn_json_elements(&r->json, array); v != ARN_JSON_NONE && fine(r);
         v = arn_json_next(&r->json.json, array, v)) {
        uint32_t members[2];
        if (n == ARENAUT_MAX_POOLS) {
            arn_json_fail(&r->json, v, ARENAUT_BAD_INPUT, "more than %u pools", ARENAUT_MAX_POOLS);
            return;
        }
        arn_json_members(&r->json, v, keys, 2, members);
        arn_json_require(&r->json, v, members[0], keys[0]);
        pools[n].bytes = arn_json_size(&r->json, members[0], 0);
        pools[n++].device = arn_json_device(&r->json, members[1]);
    }
    if (!fine(r) || n == 0) return;
    r->json.status = arenaut_program_set_given_pools(r->program, method, pools, n, r->json.err);
}

/* What the values of a method are for. */
static void read_bindings(reader *r, uint32_t array, uint32_t method) {
    static const char *const keys[] = {"kind", "value", "target"};
    uint32_t n = 0;
    for (uint32_t v = arn_json_elements(&r->json, array); v != ARN_JSON_NONE && fine(r);
         v = arn_json_next(&r->json.json, array, v)) {
        uint32_t members[3];
        if (!grow(r, (void **)&r->bindings, &r->binding_capacity, (uint64_t)n + 1,
                  sizeof *r->bindings)) {
            return;
        }
        arn_json_members(&r->json, v, keys, 3, members);
        arn_json_require(&r->json, v, members[0], keys[0]);
        arn_json_require(&r->json, v, members[1], keys[1]);
        arenaut_binding *binding = &r->bindings[n++];
        binding->kind = (arenaut_binding_kind)arn_json_word(&r->json, members[0], binding_word,
                                                            ARENAUT_BINDING_COUNT, 0);
        binding->value = arn_json_reference(&r->json, &r->tensors, members[1], ARENAUT_NONE);
        binding->target = arn_json_reference(&r->json, &r->tensors, members[2], ARENAUT_NONE);
    }
    if (!fine(r) || n == 0) return;
    r->json.status = arenaut_program_set_bindings(r->program, method, r->bindings, n, r->json.err);
}

static void read_method(reader *r, uint32_t object, uint32_t method) {
    uint32_t v[M_KEYS];
    arn_json_members(&r->json, object, method_keys, M_KEYS, v);
    arn_json_hold(&r->json, object);
    const char *name = arn_json_string(&r->json, v[M_NAME]);
    const bool entry = arn_json_flag(&r->json, v[M_ENTRY], true);
    if (!fine(r)) return;
    r->entry_stated[method] = v[M_ENTRY] != ARN_JSON_NONE;
    r->json.status = arenaut_program_add_method(r->program, name, entry, NULL, r->json.err);
    if (fine(r)) read_method_body(r, method, v[M_INPUTS], v[M_OUTPUTS], v[M_OPS]);
    read_concurrent(r, method, v[M_CONCURRENT]);
    if (fine(r)) read_given_pools(r, v[M_GIVEN_POOLS], method);
    if (fine(r)) read_bindings(r, v[M_BINDINGS], method);
    const uint32_t outer = arn_json_reference(&r->json, &r->methods, v[M_OUTER], ARENAUT_NONE);
    if (fine(r)) r->program->methods[method].outer = outer;
}

/* ---- the whole ---- */

#define ROOT_KEYS(XX)                                                                             \
    XX(R_SCHEMA, "schema")                                                                        \
    XX(R_VERSION, "version")                                                                      \
    XX(R_DESCRIPTION, "description")                                                              \
    XX(R_GIVEN, "given") XX(R_GIVEN_NOTE, "given_note") XX(R_TENSORS, "tensors")                  \
        XX(R_METHODS, "methods") XX(R_INPUTS, "inputs") XX(R_OUTPUTS, "outputs") XX(R_OPS, "ops") \
            XX(R_DIALECT, "dialect") XX(R_SYMBOLS, "symbols")                                     \
                XX(R_DIALECT_VERSION, "dialect_version") XX(R_CONCURRENT, "concurrent")
enum { ROOT_KEYS(ARN_KEY_ENUM) R_KEYS };
static const char *const root_keys[] = {ROOT_KEYS(ARN_KEY_TEXT)};

/* Methods that an op calls are not entries, unless the text says so. */
static void conclude_entries(reader *r) {
    arenaut_program *program = r->program;
    for (uint32_t i = 0; i < program->n_ops; i++) {
        const arenaut_op *op = &program->ops[i];
        for (uint32_t k = 0; k < op->n_calls; k++) {
            const uint32_t callee = op->calls[k];
            if (callee < program->n_methods && !r->entry_stated[callee]) {
                program->methods[callee].entry = false;
            }
        }
    }
    for (uint32_t m = 0; m < program->n_methods; m++) {
        const arenaut_method *method = &program->methods[m];
        if (!method->entry) continue;
        conclude_class(r, method->inputs, method->n_inputs, ARENAUT_INPUT);
        conclude_class(r, method->outputs, method->n_outputs, ARENAUT_OUTPUT);
    }
    for (uint32_t t = 0; t < program->n_tensors; t++) {
        if (program->tensors[t].method == UNSEEN) {
            program->tensors[t].method = program->n_methods == 1 ? 0 : ARENAUT_NONE;
        }
    }
}

/* A program of one method may have its parts at the top. */
static void read_methods(reader *r, const uint32_t *v) {
    const bool at_top =
        v[R_OPS] != ARN_JSON_NONE || v[R_INPUTS] != ARN_JSON_NONE || v[R_OUTPUTS] != ARN_JSON_NONE;
    if (at_top && v[R_METHODS] != ARN_JSON_NONE) {
        arn_json_fail(&r->json, v[R_METHODS], ARENAUT_BAD_INPUT,
                      "either 'methods', or 'inputs', 'outputs' and 'ops' of the only one");
        return;
    }
    if (at_top) {
        r->json.status = arenaut_program_add_method(r->program, "main", true, NULL, r->json.err);
        if (fine(r)) read_method_body(r, 0, v[R_INPUTS], v[R_OUTPUTS], v[R_OPS]);
        read_concurrent(r, 0, v[R_CONCURRENT]);
        return;
    }
    uint32_t method = 0;
    for (uint32_t m = arn_json_elements(&r->json, v[R_METHODS]); m != ARN_JSON_NONE && fine(r);
         m = arn_json_next(&r->json.json, v[R_METHODS], m)) {
        read_method(r, m, method++);
    }
}

static void read_description(reader *r, const uint32_t *v) {
    arn_json_hold(&r->json, 0);
    const char *description = arn_json_string(&r->json, v[R_DESCRIPTION]);
    const char *note = arn_json_string(&r->json, v[R_GIVEN_NOTE]);
    arenaut_program *program = r->program;
    program->given =
        (arenaut_given_plan)arn_json_word(&r->json, v[R_GIVEN], arn_program_json_given_word, 3, 0);
    if (!fine(r)) return;
    if (description) {
        program->description = arenaut_program_strdup(program, description, strlen(description));
    }
    if (note) program->given_note = arenaut_program_strdup(program, note, strlen(note));
    if ((description && !program->description) || (note && !program->given_note)) {
        r->json.status = arn_no_memory(r->json.err);
    }
}

/* Sizes that vary. Those that expressions name and this list does not are from 0 on. */
static void read_symbols(reader *r, uint32_t array) {
    static const char *const keys[] = {"name", "min", "max"};
    for (uint32_t v = arn_json_elements(&r->json, array); v != ARN_JSON_NONE && fine(r);
         v = arn_json_next(&r->json.json, array, v)) {
        uint32_t members[3];
        arenaut_error inner = {ARENAUT_OK, 0, ""};
        arn_json_members(&r->json, v, keys, 3, members);
        arn_json_hold(&r->json, v);
        arn_json_require(&r->json, v, members[0], keys[0]);
        const char *name = arn_json_string(&r->json, members[0]);
        const int64_t min = arn_json_step(&r->json, members[1], 0);
        const int64_t max = arn_json_step(&r->json, members[2], ARENAUT_UNBOUNDED);
        if (!fine(r)) return;
        const arenaut_status st =
            arenaut_program_add_symbol(r->program, name, min, max, NULL, &inner);
        arn_json_pass(&r->json, v, st, &inner);
    }
}

static void read_dialect(reader *r, uint32_t value) {
    if (value == ARN_JSON_NONE || !fine(r)) return;
    arn_json_hold(&r->json, 0);
    const char *name = arn_json_string(&r->json, value);
    if (!fine(r)) return;
    const arenaut_dialect *dialect = arenaut_dialect_find(name);
    if (dialect) r->lanes = dialect->lanes;
    r->json.status = arenaut_program_set_dialect(r->program, name, r->json.err);
}

static void read_program(reader *r) {
    uint32_t v[R_KEYS];
    arn_json_members(&r->json, 0, root_keys, R_KEYS, v);
    if (!fine(r)) return;
    r->tensors = arn_json_list_of(&r->json, v[R_TENSORS], "tensor");
    r->methods = arn_json_list_of(&r->json, v[R_METHODS], "method");
    if (!fine(r)) return;
    r->stated = arn_allocate_zeroed(r->json.allocator, r->tensors.n, sizeof *r->stated);
    r->entry_stated =
        arn_allocate_zeroed(r->json.allocator, (size_t)r->methods.n + 1, sizeof *r->entry_stated);
    if (!r->stated || !r->entry_stated) {
        r->json.status = arn_no_memory(r->json.err);
        return;
    }
    read_description(r, v);
    read_dialect(r, v[R_DIALECT]);
    r->program->dialect_version = arn_json_below(&r->json, v[R_DIALECT_VERSION], ARENAUT_NONE, 0);
    read_symbols(r, v[R_SYMBOLS]);
    read_tensors(r);
    if (fine(r)) read_methods(r, v);
    if (!fine(r)) return;
    conclude_entries(r);
    r->json.status = arenaut_program_validate(r->program, r->json.err);
}

arenaut_status arn_program_json_read(const uint8_t *data, size_t size,
                                     const arenaut_read_options *options,
                                     const arenaut_allocator *allocator, arenaut_document *out,
                                     arenaut_error *err) {
    (void)options;
    reader r = {.program = NULL};
    arn_json_reader_begin(&r.json, data, size, "arenaut.program", allocator, err);
    if (fine(&r)) r.json.status = arenaut_program_new(allocator, &r.program, err);
    if (fine(&r)) read_program(&r);
    const arenaut_status st = r.json.status;
    if (st == ARENAUT_OK) {
        out->program = r.program;
    } else {
        arenaut_program_free(r.program);
    }
    arn_release(allocator, r.stated);
    arn_release(allocator, r.entry_stated);
    arn_release(allocator, r.ids);
    arn_release(allocator, r.dims);
    arn_release(allocator, r.strides);
    arn_release(allocator, r.numbers);
    arn_release(allocator, r.exprs);
    arn_release(allocator, r.bindings);
    arn_release(allocator, r.pairs);
    arn_json_reader_free(&r.json);
    return st;
}
