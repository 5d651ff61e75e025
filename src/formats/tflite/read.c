/* Reading a .tflite file: every subgraph becomes a method, and its tensors follow one
 * another in the program as they do in the file.
 *
 * A flatbuffer may use one part in many places, so a small file can stand for a huge
 * program. All that is copied is therefore charged against an allowance that is a multiple
 * of the file's size, which bounds time too: nothing here is visited free of charge. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/checked.h"
#include "core/fail.h"
#include "core/memory.h"
#include "formats/tflite/schema.h"
#include "formats/tflite/tflite.h"

enum {
    NAME_LIMIT = 4096, /* longer names are cut */
    EXPANSION = 64,    /* bytes of memory per byte of file; real models stay under 10 */
    EXPANSION_BASE = 1 << 16,
    /* What is charged for one: the array that holds them doubles as it grows. */
    TENSOR_COST = 2 * sizeof(arenaut_tensor),
    OP_COST = 2 * sizeof(arenaut_op),
};

typedef struct id_list {
    uint32_t *ids;
    uint32_t count, capacity;
} id_list;

typedef struct reader {
    arn_tflite_model model;
    arn_tflite_plan plan;
    arenaut_program *program;
    const arenaut_allocator *allocator;
    arenaut_error *err;
    uint64_t allowance; /* bytes of memory that may still be asked for */
    bool limited;       /* the caller's limit, not the file's size, set the allowance */
    /* What is being read, for messages. */
    const char *object;
    uint32_t object_index, subgraph;
    uint32_t first_tensor, n_tensors; /* of the subgraph */
    uint32_t n_dynamic; /* tensors whose shape the runtime may change */
    uint8_t *called;    /* per subgraph: some operator refers to it */
    id_list inputs, outputs;
    int64_t *dims;
    uint32_t dims_capacity;
    char name[NAME_LIMIT + 1];
} reader;

/* "operator 3 of subgraph 0" */
static const char *place(const reader *r, char store[64]) {
    snprintf(store, 64, "%s %" PRIu32 " of subgraph %" PRIu32, r->object, r->object_index,
             r->subgraph);
    return store;
}

static void now_reading(reader *r, const char *object, uint32_t index) {
    r->object = object;
    r->object_index = index;
}

/* What the flatbuffer has to say about all that was read since it was last asked. */
static arenaut_status flatbuffer_status(const reader *r) {
    char store[64];
    return r->model.fb.wrong ? arn_fb_status(&r->model.fb, place(r, store), r->err) : ARENAUT_OK;
}

static arenaut_status charge(reader *r, uint64_t count, uint64_t cost) {
    uint64_t total;
    if (arn_multiply(count, cost, &total) && total <= r->allowance) {
        r->allowance -= total;
        return ARENAUT_OK;
    }
    char store[64];
    if (r->limited) {
        return arn_fail(r->err, ARENAUT_TOO_LARGE, 0,
                        "%s: the program takes more memory than the limit that was given",
                        place(r, store));
    }
    return arn_fail(r->err, ARENAUT_BAD_INPUT, 0,
                    "%s: parts of the file are used so often that it stands for a program more "
                    "than %d times its size",
                    place(r, store), EXPANSION);
}

/* A copy of a text, cut to NAME_LIMIT bytes (between characters, if it is UTF-8), that is
 * good until the next call; NULL if there is none. */
static arenaut_status take_text(reader *r, arn_fb_table table, unsigned slot, const char **text) {
    const arn_fb_vector bytes = arn_fb_vector_field(&r->model.fb, table, slot, 1);
    *text = NULL;
    if (bytes.at == 0) return ARENAUT_OK;
    const uint8_t *from = r->model.fb.data + bytes.at;
    size_t length = bytes.count;
    if (length > NAME_LIMIT) {
        length = NAME_LIMIT;
        while (length > 0 && (from[length] & 0xC0) == 0x80) length--;
    }
    memcpy(r->name, from, length);
    r->name[length] = '\0';
    *text = r->name;
    return charge(r, 1, length + 32);
}

/* Indices of tensors of this subgraph, as ids of the program. -1 stands for an argument
 * left out, where `optional`. */
static arenaut_status take_ids(reader *r, arn_fb_table table, unsigned slot, bool optional,
                               const char *list, id_list *out) {
    const arn_fb_vector vector = arn_fb_vector_field(&r->model.fb, table, slot, 4);
    out->count = 0;
    const arenaut_status st = charge(r, vector.count, 2 * sizeof *out->ids);
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
            char store[64];
            return arn_fail(r->err, ARENAUT_BAD_INPUT, vector.at + (size_t)i * 4,
                            "%s: %s %" PRIu32 " is tensor %" PRId32 "; the subgraph has %" PRIu32
                            " tensors%s",
                            place(r, store), list, i, index, r->n_tensors,
                            optional ? ", and -1 leaves an argument out" : "");
        }
    }
    out->count = vector.count;
    return ARENAUT_OK;
}

/* Tensors. */

static const uint8_t dtypes[] = {
    ARENAUT_DTYPE_FLOAT32,   ARENAUT_DTYPE_FLOAT16,  ARENAUT_DTYPE_INT32,
    ARENAUT_DTYPE_UINT8,     ARENAUT_DTYPE_INT64,    ARENAUT_DTYPE_STRING,
    ARENAUT_DTYPE_BOOL,      ARENAUT_DTYPE_INT16,    ARENAUT_DTYPE_COMPLEX64,
    ARENAUT_DTYPE_INT8,      ARENAUT_DTYPE_FLOAT64,  ARENAUT_DTYPE_COMPLEX128,
    ARENAUT_DTYPE_UINT64,    ARENAUT_DTYPE_RESOURCE, ARENAUT_DTYPE_VARIANT,
    ARENAUT_DTYPE_UINT32,    ARENAUT_DTYPE_UINT16,   ARENAUT_DTYPE_INT4,
    ARENAUT_DTYPE_BFLOAT16,  ARENAUT_DTYPE_INT2,     ARENAUT_DTYPE_UINT4,
    ARENAUT_DTYPE_FLOAT8,    ARENAUT_DTYPE_FLOAT8,
};

static arenaut_status bad_tensor(const reader *r, arenaut_status code, size_t at,
                                 const char *what) {
    char store[64];
    return arn_fail(r->err, code, at, "%s ('%.120s'): %s", place(r, store), r->name, what);
}

static arenaut_status take_dtype(reader *r, arn_fb_table table, arenaut_tensor *tensor) {
    const uint8_t type = arn_fb_u8(&r->model.fb, table, TENSOR_TYPE, 0);
    if (type < sizeof dtypes) {
        tensor->dtype = (arenaut_dtype)dtypes[type];
        return ARENAUT_OK;
    }
    char what[80];
    snprintf(what, sizeof what, "element type %u is not known; 0 to %zu are", type,
             sizeof dtypes - 1);
    return bad_tensor(r, ARENAUT_UNSUPPORTED, table.at, what);
}

/* `shape` always holds the sizes that a runtime starts with; where `shape_signature` says
 * that some may change, both runtimes plan with `shape` all the same. */
static arenaut_status take_dims(reader *r, arn_fb_table table, arenaut_tensor *tensor) {
    arn_flatbuffer *fb = &r->model.fb;
    const arn_fb_vector shape = arn_fb_vector_field(fb, table, TENSOR_SHAPE, 4);
    const arenaut_status st = charge(r, shape.count, 2 * sizeof *r->dims);
    if (st != ARENAUT_OK) return st;
    if (!arn_grow(r->allocator, (void **)&r->dims, &r->dims_capacity, shape.count,
                  sizeof *r->dims)) {
        return arn_no_memory(r->err);
    }
    for (uint32_t i = 0; i < shape.count; i++) {
        r->dims[i] = arn_fb_item_i32(fb, shape, i);
        if (r->dims[i] >= 0) continue;
        char what[112];
        snprintf(what, sizeof what,
                 "dimension %" PRIu32 " is %" PRId64 "%s; it must be 0 or more", i, r->dims[i],
                 r->dims[i] == -1 ? ", a size known only at run time" : "");
        return bad_tensor(r, r->dims[i] == -1 ? ARENAUT_UNSUPPORTED : ARENAUT_BAD_INPUT,
                          shape.at + (size_t)i * 4, what);
    }
    tensor->dims = r->dims;
    tensor->rank = shape.count;
    const arn_fb_vector signature = arn_fb_vector_field(fb, table, TENSOR_SHAPE_SIGNATURE, 4);
    for (uint32_t i = 0; i < signature.count && i < shape.count; i++) {
        if (arn_fb_item_i32(fb, signature, i) >= 0) continue;
        r->n_dynamic++;
        break;
    }
    return ARENAUT_OK;
}

/* Whether the tensor's values are in the file. A large file keeps them behind the
 * flatbuffer and gives their place in the file instead. */
static arenaut_status take_constness(reader *r, arn_fb_table table, bool *constant) {
    arn_flatbuffer *fb = &r->model.fb;
    const uint32_t buffer = arn_fb_u32(fb, table, TENSOR_BUFFER, 0);
    *constant = arn_fb_u32(fb, table, TENSOR_EXTERNAL_BUFFER, 0) != 0;
    if (buffer == 0) return ARENAUT_OK;
    if (buffer >= r->model.buffers.count) {
        char what[80];
        snprintf(what, sizeof what, "buffer %" PRIu32 " does not exist; there are %" PRIu32,
                 buffer, r->model.buffers.count);
        return bad_tensor(r, ARENAUT_BAD_INPUT, table.at, what);
    }
    const arn_fb_table entry = arn_fb_item_table(fb, r->model.buffers, buffer);
    const arn_fb_vector data = arn_fb_vector_field(fb, entry, BUFFER_DATA, 1);
    const uint64_t offset = arn_fb_u64(fb, entry, BUFFER_OFFSET, 0);
    const uint64_t size = arn_fb_u64(fb, entry, BUFFER_SIZE, 0);
    const bool outside = offset > 1; /* 1 is a place holder that writers leave behind */
    if (data.count > 0 || (outside && size > 0)) *constant = true;
    if (outside && (offset > fb->size || size > fb->size - offset)) {
        char what[144];
        snprintf(what, sizeof what,
                 "buffer %" PRIu32 " lies at %" PRIu64 " with %" PRIu64
                 " bytes; the file ends at %zu",
                 buffer, offset, size, fb->size);
        return bad_tensor(r, ARENAUT_BAD_INPUT, entry.at, what);
    }
    return ARENAUT_OK;
}

/* The bytes that the micro runtime sets aside. It gives elements of less than a byte one
 * each, unless they are packed in the file, and 4 bytes to a handle. */
static arenaut_status take_bytes(reader *r, arn_fb_table table, arenaut_tensor *tensor) {
    arenaut_dtype sized = tensor->dtype;
    if (sized == ARENAUT_DTYPE_STRING || sized == ARENAUT_DTYPE_VARIANT) return ARENAUT_OK;
    if (sized == ARENAUT_DTYPE_RESOURCE) sized = ARENAUT_DTYPE_INT32;
    if (arenaut_dtype_bits(sized) < 8 && tensor->cls != ARENAUT_CONSTANT) {
        sized = ARENAUT_DTYPE_INT8;
    }
    arenaut_error why;
    const arenaut_status st =
        arenaut_dense_bytes(sized, tensor->dims, tensor->rank, &tensor->bytes, &why);
    return st == ARENAUT_OK ? st : bad_tensor(r, st, table.at, why.msg);
}

/* Where the plan in the file puts it. The runtime ignores what is said of constants and of
 * tensors without bytes. A negative offset other than -1 wraps to a huge one, so that the
 * checker, not the reader, has the last word on a bad plan. */
static void take_given(const reader *r, arenaut_tensor *tensor, uint32_t id) {
    if (r->plan.data.at == 0 || tensor->cls == ARENAUT_CONSTANT || tensor->bytes == 0) return;
    const arn_fb_vector offsets = {r->plan.offsets, r->plan.n_offsets};
    const int32_t offset = arn_fb_item_i32(&r->model.fb, offsets, id);
    if (offset == -1) return;
    tensor->given_pool = 0;
    tensor->given_offset = (uint64_t)(int64_t)offset;
}

static arenaut_status read_tensor(reader *r, arn_fb_table table, uint32_t index) {
    arenaut_tensor tensor = arenaut_tensor_default();
    tensor.method = r->subgraph;
    tensor.file_index = index;
    bool constant = false;
    r->name[0] = '\0';
    arenaut_status st = charge(r, 1, TENSOR_COST);
    if (st == ARENAUT_OK) st = take_text(r, table, TENSOR_NAME, &tensor.name);
    if (st == ARENAUT_OK) st = take_dtype(r, table, &tensor);
    if (st == ARENAUT_OK) st = take_dims(r, table, &tensor);
    if (st == ARENAUT_OK) st = take_constness(r, table, &constant);
    const bool variable = arn_fb_u8(&r->model.fb, table, TENSOR_IS_VARIABLE, 0) != 0;
    if (st == ARENAUT_OK) st = flatbuffer_status(r);
    if (st != ARENAUT_OK) return st;
    tensor.cls = variable ? ARENAUT_STATE : constant ? ARENAUT_CONSTANT : ARENAUT_INTERMEDIATE;
    st = take_bytes(r, table, &tensor);
    if (st != ARENAUT_OK) return st;
    take_given(r, &tensor, r->first_tensor + index);
    return arenaut_program_add_tensor(r->program, &tensor, NULL, r->err);
}

/* Operators. */

/* What an operator is: a builtin by its number, a custom one by its name. */
static arenaut_status take_code(reader *r, arn_fb_table table, int32_t *builtin,
                                const char **name) {
    arn_flatbuffer *fb = &r->model.fb;
    char store[64];
    const uint32_t index = arn_fb_u32(fb, table, OPERATOR_CODE, 0);
    if (index >= r->model.operator_codes.count) {
        return arn_fail(r->err, ARENAUT_BAD_INPUT, table.at,
                        "%s: operator code %" PRIu32 " does not exist; there are %" PRIu32,
                        place(r, store), index, r->model.operator_codes.count);
    }
    const arn_fb_table code = arn_fb_item_table(fb, r->model.operator_codes, index);
    /* The old field is a byte; numbers past it are in the new one, and either may lack. */
    const int32_t old = arn_fb_i8(fb, code, CODE_DEPRECATED_BUILTIN, 0);
    const int32_t new = arn_fb_i32(fb, code, CODE_BUILTIN, 0);
    *builtin = old > new ? old : new;
    *name = arn_tflite_operator_name(*builtin);
    if (!*name) {
        return arn_fail(r->err, ARENAUT_UNSUPPORTED, code.at,
                        "%s: builtin operator %" PRId32 " is not known; 0 to %d are",
                        place(r, store), *builtin, BUILTIN_STABLEHLO_CASE);
    }
    if (*builtin != BUILTIN_CUSTOM) return ARENAUT_OK;
    const char *custom;
    const arenaut_status st = take_text(r, code, CODE_CUSTOM, &custom);
    if (custom && custom[0]) *name = custom;
    return st;
}

/* The subgraphs that an operator names in its options. */
static arenaut_status take_calls(reader *r, arn_fb_table table, const arn_tflite_operator *special,
                                 const char *name, uint32_t calls[2]) {
    arn_flatbuffer *fb = &r->model.fb;
    char store[64];
    const uint8_t type = arn_fb_u8(fb, table, special->options_slot, 0);
    if (type != special->options_type) {
        return arn_fail(r->err, ARENAUT_BAD_INPUT, table.at,
                        "%s (%s): its options are of type %u; they must be of type %u",
                        place(r, store), name, type, special->options_type);
    }
    const arn_fb_table options = arn_fb_table_field(fb, table, special->options_slot + 1u);
    for (uint32_t i = 0; i < special->n_calls; i++) {
        const int32_t callee = arn_fb_i32(fb, options, special->call_slot[i], 0);
        if (callee < 0 || (uint32_t)callee >= r->model.subgraphs.count) {
            return arn_fail(r->err, ARENAUT_BAD_INPUT, table.at,
                            "%s (%s) calls subgraph %" PRId32 "; there are %" PRIu32,
                            place(r, store), name, callee, r->model.subgraphs.count);
        }
        calls[i] = (uint32_t)callee;
        r->called[callee] = 1;
    }
    return ARENAUT_OK;
}

/* Tensors are named after the layer of the author's model that they come from. */
static arenaut_status take_source(reader *r, arenaut_op *op) {
    if (op->n_outputs == 0 || op->outputs[0] == ARENAUT_NONE) return ARENAUT_OK;
    op->source = r->program->tensors[op->outputs[0]].name;
    return op->source ? charge(r, 1, strlen(op->source) + 32) : ARENAUT_OK;
}

/* The runtime keeps a handle with the operator that makes it, not in the arena. */
static void forget_handles(arenaut_program *program, const arenaut_op *op) {
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        if (op->outputs[i] == ARENAUT_NONE) continue;
        arenaut_tensor *tensor = &program->tensors[op->outputs[i]];
        tensor->bytes = 0;
        tensor->given_pool = ARENAUT_NONE;
        tensor->given_offset = ARENAUT_UNPLACED;
    }
}

static arenaut_status read_operator(reader *r, arn_fb_table table) {
    arenaut_op op = {.kind = ARENAUT_OP_OUT, .method = r->subgraph};
    uint32_t calls[2];
    int32_t builtin = 0;
    arenaut_status st = charge(r, 1, OP_COST);
    if (st == ARENAUT_OK) {
        st = take_ids(r, table, OPERATOR_INPUTS, true, "input", &r->inputs);
    }
    if (st == ARENAUT_OK) {
        st = take_ids(r, table, OPERATOR_OUTPUTS, true, "output", &r->outputs);
    }
    if (st == ARENAUT_OK) st = take_code(r, table, &builtin, &op.name);
    if (st != ARENAUT_OK) return st;
    op.inputs = r->inputs.ids;
    op.n_inputs = r->inputs.count;
    op.outputs = r->outputs.ids;
    op.n_outputs = r->outputs.count;
    op.calls = calls;
    const arn_tflite_operator *special = arn_tflite_special_operator(builtin);
    if (special && special->n_calls) st = take_calls(r, table, special, op.name, calls);
    if (st == ARENAUT_OK) st = flatbuffer_status(r);
    if (st != ARENAUT_OK) return st;
    if (special) op.kind = special->kind;
    if (special && !special->call_is_recipe) op.n_calls = special->n_calls;
    if (builtin == BUILTIN_STABLEHLO_CASE) {
        char store[64];
        return arn_fail(r->err, ARENAUT_UNSUPPORTED, table.at,
                        "%s: %s may call any number of subgraphs; IF with two is supported",
                        place(r, store), op.name);
    }
    /* One command stream for the whole model: it uses all its arguments as it likes, and
     * the compiler that wrote it has laid them over one another where that is safe. */
    if (builtin == BUILTIN_CUSTOM && strcmp(op.name, "ethos-u") == 0) {
        op.kind = ARENAUT_OP_DELEGATE;
        op.arguments_may_alias = true;
    }
    if (builtin == BUILTIN_VAR_HANDLE || builtin == BUILTIN_HASHTABLE) {
        forget_handles(r->program, &op);
    }
    st = take_source(r, &op);
    if (st != ARENAUT_OK) return st;
    return arenaut_program_add_op(r->program, &op, NULL, r->err);
}

/* Subgraphs, and the whole. */

static arenaut_status read_subgraph(reader *r, arn_fb_table table) {
    arn_flatbuffer *fb = &r->model.fb;
    const char *name;
    arenaut_status st = charge(r, 1, 2 * sizeof(arenaut_method));
    if (st == ARENAUT_OK) st = take_text(r, table, SUBGRAPH_NAME, &name);
    if (st == ARENAUT_OK) st = flatbuffer_status(r);
    if (st == ARENAUT_OK) {
        st = arenaut_program_add_method(r->program, name, false, NULL, r->err);
    }
    const arn_fb_vector tensors = arn_fb_vector_field(fb, table, SUBGRAPH_TENSORS, 4);
    r->first_tensor = r->program->n_tensors;
    r->n_tensors = tensors.count;
    for (uint32_t i = 0; i < tensors.count && st == ARENAUT_OK; i++) {
        now_reading(r, "tensor", i);
        st = read_tensor(r, arn_fb_item_table(fb, tensors, i), i);
    }
    const arn_fb_vector operators = arn_fb_vector_field(fb, table, SUBGRAPH_OPERATORS, 4);
    for (uint32_t i = 0; i < operators.count && st == ARENAUT_OK; i++) {
        now_reading(r, "operator", i);
        st = read_operator(r, arn_fb_item_table(fb, operators, i));
    }
    now_reading(r, "input or output list", 0);
    if (st == ARENAUT_OK) {
        st = take_ids(r, table, SUBGRAPH_INPUTS, false, "entry", &r->inputs);
    }
    if (st == ARENAUT_OK) {
        st = take_ids(r, table, SUBGRAPH_OUTPUTS, false, "entry", &r->outputs);
    }
    if (st == ARENAUT_OK) st = flatbuffer_status(r);
    if (st != ARENAUT_OK) return st;
    return arenaut_program_set_method_io(r->program, r->subgraph, r->inputs.ids, r->inputs.count,
                                         r->outputs.ids, r->outputs.count, r->err);
}

/* A subgraph can be called from outside if it is the main one, if a signature names it, or
 * if nobody else could call it. */
static arenaut_status find_entries(reader *r) {
    arn_flatbuffer *fb = &r->model.fb;
    arenaut_program *program = r->program;
    for (uint32_t m = 0; m < program->n_methods; m++) {
        program->methods[m].entry = m == 0 || !r->called[m];
    }
    for (uint32_t i = 0; i < r->model.signatures.count; i++) {
        const arn_fb_table signature = arn_fb_item_table(fb, r->model.signatures, i);
        const uint32_t subgraph = arn_fb_u32(fb, signature, SIGNATURE_SUBGRAPH, 0);
        if (fb->wrong) return arn_fb_status(fb, "signature", r->err);
        if (subgraph >= program->n_methods) {
            return arn_fail(r->err, ARENAUT_BAD_INPUT, signature.at,
                            "signature %" PRIu32 " names subgraph %" PRIu32 "; there are %" PRIu32,
                            i, subgraph, program->n_methods);
        }
        program->methods[subgraph].entry = true;
    }
    return ARENAUT_OK;
}

static void mark_class(arenaut_program *program, const uint32_t *ids, uint32_t count,
                       arenaut_class cls) {
    for (uint32_t i = 0; i < count; i++) {
        arenaut_tensor *tensor = &program->tensors[ids[i]];
        if (tensor->cls == ARENAUT_INTERMEDIATE) tensor->cls = cls;
    }
}

static void mark_entry_arguments(arenaut_program *program) {
    for (uint32_t m = 0; m < program->n_methods; m++) {
        const arenaut_method *method = &program->methods[m];
        if (!method->entry) continue;
        mark_class(program, method->inputs, method->n_inputs, ARENAUT_INPUT);
        mark_class(program, method->outputs, method->n_outputs, ARENAUT_OUTPUT);
    }
}

/* Whose plan it is. One of ours that no longer fits, because the graph or the plan has
 * been edited since, is as good as a stranger's. */
static arenaut_status judge_plan(reader *r) {
    const arn_tflite_plan *plan = &r->plan;
    arenaut_program *program = r->program;
    if (plan->data.at == 0) return ARENAUT_OK;
    char note[320];
    program->given = ARENAUT_GIVEN_FOREIGN;
    if (plan->mark_data.at == 0) {
        snprintf(note, sizeof note, "metadata '%s' without arenaut's mark%s%.160s%s",
                 ARN_TFLITE_PLAN_NAME, program->description ? ", in a file described as '" : "",
                 program->description ? program->description : "",
                 program->description ? "'" : "");
    } else if (plan->mark.fingerprint != arn_tflite_fingerprint(program)) {
        snprintf(note, sizeof note, "arenaut %s, but for another graph", plan->mark.version);
    } else if (plan->mark.plan_hash !=
               arn_tflite_hash(r->model.fb.data + plan->data.at, plan->data.count)) {
        snprintf(note, sizeof note, "arenaut %s, but edited since", plan->mark.version);
    } else {
        program->given = ARENAUT_GIVEN_OURS;
        snprintf(note, sizeof note, "arenaut %s, planner '%s'", plan->mark.version,
                 plan->mark.planner);
    }
    program->given_note = arenaut_program_strdup(program, note, strlen(note));
    return program->given_note ? ARENAUT_OK : arn_no_memory(r->err);
}

static arenaut_status read_description(reader *r) {
    const char *text;
    now_reading(r, "description", 0);
    arenaut_status st = take_text(r, r->model.root, MODEL_DESCRIPTION, &text);
    if (st == ARENAUT_OK) st = flatbuffer_status(r);
    if (st != ARENAUT_OK || !text || !text[0]) return st;
    r->program->description = arenaut_program_strdup(r->program, text, strlen(text));
    return r->program->description ? ARENAUT_OK : arn_no_memory(r->err);
}

static arenaut_status read_model(reader *r) {
    uint64_t n_tensors;
    arenaut_status st = arn_tflite_count_tensors(&r->model, &n_tensors, r->err);
    if (st == ARENAUT_OK) st = arn_tflite_find_plan(&r->model, n_tensors, &r->plan, r->err);
    if (st == ARENAUT_OK) st = read_description(r);
    if (st == ARENAUT_OK) st = charge(r, r->model.subgraphs.count, 1);
    if (st != ARENAUT_OK) return st;
    r->called = arn_allocate_zeroed(r->allocator, r->model.subgraphs.count, 1);
    if (!r->called) return arn_no_memory(r->err);
    for (uint32_t s = 0; s < r->model.subgraphs.count && st == ARENAUT_OK; s++) {
        r->subgraph = s;
        now_reading(r, "name", 0);
        st = read_subgraph(r, arn_fb_item_table(&r->model.fb, r->model.subgraphs, s));
    }
    if (st == ARENAUT_OK) st = find_entries(r);
    if (st != ARENAUT_OK) return st;
    mark_entry_arguments(r->program);
    st = judge_plan(r);
    return st == ARENAUT_OK ? arenaut_program_validate(r->program, r->err) : st;
}

static void tell_notes(const reader *r, const arenaut_read_options *options) {
    if (r->n_dynamic == 0 || !options || !options->note) return;
    char text[160];
    snprintf(text, sizeof text,
             "%" PRIu32 " tensors have dimensions that may change at run time; they are planned "
             "with the shape that the file states",
             r->n_dynamic);
    options->note(options->note_context, text);
}

arenaut_status arn_tflite_read(const uint8_t *data, size_t size,
                               const arenaut_read_options *options,
                               const arenaut_allocator *allocator, arenaut_program **out,
                               arenaut_error *err) {
    reader r;
    memset(&r, 0, sizeof r);
    r.allocator = allocator;
    r.err = err;
    arenaut_status st = arn_tflite_open(data, size, &r.model, err);
    if (st != ARENAUT_OK) return st;
    if (!arn_multiply(size, EXPANSION, &r.allowance)) r.allowance = ARENAUT_SIZE_MAX / 2;
    r.allowance += EXPANSION_BASE;
    r.limited = options && options->max_memory != 0 && options->max_memory < r.allowance;
    if (r.limited) r.allowance = options->max_memory;
    st = arenaut_program_new(allocator, &r.program, err);
    if (st == ARENAUT_OK) st = read_model(&r);
    if (st == ARENAUT_OK) {
        tell_notes(&r, options);
        *out = r.program;
        r.program = NULL; /* handed over */
    }
    arenaut_program_free(r.program);
    arn_release(allocator, r.called);
    arn_release(allocator, r.inputs.ids);
    arn_release(allocator, r.outputs.ids);
    arn_release(allocator, r.dims);
    return st;
}
