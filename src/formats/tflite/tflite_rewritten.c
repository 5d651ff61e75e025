/* Writer of a rewritten program: unchanged objects are references into the old file; new tensors
 * and operators get tables, and constants that are parts of old ones their bytes. The old constants
 * stay in the file, so that it can be given back. */
#include "formats/tflite/tflite_write.h"

#include <inttypes.h>
#include <string.h>

#include "core/cursor.h"
#include "core/fail.h"
#include "formats/tflite/tflite_schema.h"
#include "ir/program.h"

enum { DATA_ALIGN = 16 };

/* Names of the added operators, by the order of their codes, and versions with int8. */
typedef struct added_operator {
    const char *name;
    uint32_t version;
} added_operator;
static const added_operator movers[] = {{"CONCATENATION", 2}, {"PAD", 2}, {"SLICE", 2}, {"IF", 1}};
enum { N_MOVERS = sizeof movers / sizeof *movers };

typedef struct graph_writer {
    arn_fb_prefix *prefix;
    arn_tflite_model *model;
    const arenaut_program *before, *program;
    const arenaut_rewrite *rewrite;
    uint32_t method;       /* at work, */
    uint32_t first_tensor; /* and where its tensors begin: the file counts them by method */
    arn_fb_table graph;    /* the old one of it, */
    uint32_t first_before; /* where its tensors began, */
    arn_fb_vector tensors, operators;
    uint32_t codes[N_MOVERS]; /* indices of the operator codes */
    size_t buffers;           /* the new vector */
    uint32_t n_buffers;       /* of its elements that stand */
    arenaut_error *err;
} graph_writer;

/* Elements of a constant. */
static bool is_part(const arenaut_origin *origin) {
    return origin->tensor != ARENAUT_NONE && origin->axis != ARENAUT_NONE;
}

uint32_t arn_tflite_added_buffers(const arenaut_rewrite *rewrite) {
    uint32_t n = 0;
    for (uint32_t t = 0; t < rewrite->n_tensors; t++) {
        const arenaut_origin *origin = &rewrite->tensors[t];
        n += origin->tensor == ARENAUT_NONE || is_part(origin);
    }
    return n;
}

static void lead_to_table(graph_writer *w, size_t at, arn_fb_table old) {
    arn_fb_lead_behind(w->prefix, at, old.at);
}

/* ---- operator codes ---- */

static int32_t builtin_named(const char *name) {
    int32_t builtin = 0;
    while (strcmp(arn_tflite_operator_name(builtin), name) != 0) builtin++;
    return builtin;
}

static uint32_t find_code(graph_writer *w, int32_t builtin) {
    arn_flatbuffer *fb = &w->model->fb;
    for (uint32_t i = 0; i < w->model->operator_codes.count; i++) {
        const arn_fb_table code = arn_fb_item_table(fb, w->model->operator_codes, i);
        const int32_t old = arn_fb_i8(fb, code, CODE_DEPRECATED_BUILTIN, 0);
        const int32_t new = arn_fb_i32(fb, code, CODE_BUILTIN, 0);
        if ((old > new ? old : new) == builtin) return i;
    }
    return ARENAUT_NONE;
}

static bool is_needed(const graph_writer *w, const char *name) {
    for (uint32_t i = 0; i < w->rewrite->n_ops; i++) {
        if (w->rewrite->ops[i] == ARENAUT_NONE && strcmp(w->program->ops[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* The old codes, and codes of operators that move data if the model has none. */
static size_t add_codes(graph_writer *w) {
    const uint32_t n_old = w->model->operator_codes.count;
    uint32_t n = n_old;
    for (uint32_t i = 0; i < N_MOVERS; i++) {
        w->codes[i] = find_code(w, builtin_named(movers[i].name));
        if (w->codes[i] == ARENAUT_NONE && is_needed(w, movers[i].name)) w->codes[i] = n++;
    }
    const size_t vector = arn_fb_add_vector(w->prefix, n, 4, 4);
    for (uint32_t i = 0; i < n_old; i++) {
        lead_to_table(w, arn_fb_element(vector, i),
                      arn_fb_item_table(&w->model->fb, w->model->operator_codes, i));
    }
    for (uint32_t i = 0; i < N_MOVERS; i++) {
        if (w->codes[i] == ARENAUT_NONE || w->codes[i] < n_old) continue;
        const arn_fb_new_table code =
            arn_fb_add_table(w->prefix, ARN_FB_SLOT(CODE_DEPRECATED_BUILTIN) |
                                            ARN_FB_SLOT(CODE_VERSION) | ARN_FB_SLOT(CODE_BUILTIN));
        const uint32_t builtin = (uint32_t)builtin_named(movers[i].name);
        arn_fb_lead(w->prefix, arn_fb_element(vector, w->codes[i]), code.at);
        arn_fb_set(w->prefix, arn_fb_slot(code, CODE_DEPRECATED_BUILTIN), builtin);
        arn_fb_set(w->prefix, arn_fb_slot(code, CODE_VERSION), movers[i].version);
        arn_fb_set(w->prefix, arn_fb_slot(code, CODE_BUILTIN), builtin);
    }
    return vector;
}

/* ---- tensors ---- */

/* The next buffer, with room for so many bytes; gives where they go. */
static size_t add_buffer(graph_writer *w, size_t size, uint32_t *buffer) {
    const arn_fb_new_table table = arn_fb_add_table(w->prefix, ARN_FB_SLOT(BUFFER_DATA));
    *buffer = w->n_buffers++;
    arn_fb_lead(w->prefix, arn_fb_element(w->buffers, *buffer), table.at);
    const size_t vector = arn_fb_add_vector(w->prefix, size, 1, DATA_ALIGN);
    arn_fb_lead(w->prefix, arn_fb_slot(table, BUFFER_DATA), vector);
    return vector + 4;
}

/* Sizes and places, or the condition of calls. */
static void add_values(graph_writer *w, const arenaut_tensor *tensor, uint32_t *buffer) {
    const size_t width = arenaut_dtype_bits(tensor->dtype) / 8;
    const size_t at = add_buffer(w, (size_t)tensor->n_values * width, buffer);
    for (uint32_t i = 0; i < tensor->n_values; i++) {
        uint8_t number[4];
        arn_store_u32(number, (uint32_t)tensor->values[i]);
        arn_fb_fill(w->prefix, at + i * width, number, width);
    }
}

static uint32_t type_of_values(const arenaut_tensor *tensor) {
    return tensor->dtype == ARENAUT_DTYPE_BOOL ? TYPE_BOOL : TYPE_INT32;
}

static arenaut_status check_part(graph_writer *w, uint32_t t, arn_fb_table old) {
    const arenaut_origin *origin = &w->rewrite->tensors[t];
    const arenaut_tensor *whole = &w->before->tensors[origin->tensor];
    const arn_fb_vector data =
        arn_tflite_buffer_data(w->model, arn_fb_u32(&w->model->fb, old, TENSOR_BUFFER, 0));
    const bool divided =
        origin->axis < whole->rank && origin->axis < 8 && !(whole->whole_along >> origin->axis & 1);
    if (divided && data.count == whole->bytes && w->program->tensors[t].bytes > 0) {
        return ARENAUT_OK;
    }
    char store[24];
    return arn_fail(w->err, ARENAUT_REFUSED, 0,
                    "no part of tensor '%.120s' along axis %" PRIu32 " can be stored",
                    arenaut_program_tensor_name(w->before, origin->tensor, store), origin->axis);
}

/* Bytes of elements [begin, begin + count) along the axis, for each place on the axes before. */
static void add_part(graph_writer *w, uint32_t t, arn_fb_table old, uint32_t *buffer) {
    const arenaut_origin *origin = &w->rewrite->tensors[t];
    const arenaut_tensor *part = &w->program->tensors[t];
    const arenaut_tensor *whole = &w->before->tensors[origin->tensor];
    const arn_fb_vector data =
        arn_tflite_buffer_data(w->model, arn_fb_u32(&w->model->fb, old, TENSOR_BUFFER, 0));
    size_t outer = 1;
    for (uint32_t i = 0; i < origin->axis; i++) outer *= (size_t)whole->dims[i];
    const size_t row = (size_t)whole->bytes / outer, some = (size_t)part->bytes / outer;
    const size_t first = row / (size_t)whole->dims[origin->axis] * (size_t)origin->begin;
    const size_t at = add_buffer(w, (size_t)part->bytes, buffer);
    for (size_t i = 0; i < outer; i++) {
        arn_fb_fill(w->prefix, at + i * some, w->model->fb.data + data.at + i * row + first, some);
    }
}

/* The part of a vector of numbers of `width` bytes that belongs to elements from `begin` on. */
static void add_numbers(graph_writer *w, size_t from, arn_fb_vector old, size_t width, size_t begin,
                        size_t count) {
    const size_t vector = arn_fb_add_vector(w->prefix, count, width, width);
    arn_fb_lead(w->prefix, from, vector);
    arn_fb_fill(w->prefix, vector + 4, w->model->fb.data + old.at + begin * width, count * width);
}

/* A scale per tensor is shared. Scales of the elements along the axis are divided with them. */
static void add_quantization(graph_writer *w, uint32_t t, arn_fb_table old, size_t from) {
    const arenaut_origin *origin = &w->rewrite->tensors[t];
    arn_flatbuffer *fb = &w->model->fb;
    const arn_fb_vector scale = arn_fb_vector_field(fb, old, QUANTIZATION_SCALE, 4);
    const arn_fb_vector zero = arn_fb_vector_field(fb, old, QUANTIZATION_ZERO_POINT, 8);
    const uint32_t axis = arn_fb_u32(fb, old, QUANTIZATION_DIMENSION, 0);
    if (origin->axis == ARENAUT_NONE || (scale.count <= 1 && zero.count <= 1)) {
        lead_to_table(w, from, old);
        return;
    }
    const size_t begin = (size_t)origin->begin;
    const size_t count = (size_t)w->program->tensors[t].dims[origin->axis];
    const arn_fb_new_table made = arn_fb_add_table(
        w->prefix, ARN_FB_SLOT(QUANTIZATION_SCALE) | ARN_FB_SLOT(QUANTIZATION_DIMENSION) |
                       (zero.count > 0 ? ARN_FB_SLOT(QUANTIZATION_ZERO_POINT) : 0));
    arn_fb_lead(w->prefix, from, made.at);
    arn_fb_set(w->prefix, arn_fb_slot(made, QUANTIZATION_DIMENSION), axis);
    add_numbers(w, arn_fb_slot(made, QUANTIZATION_SCALE), scale, 4, begin, count);
    if (zero.count > 0) {
        const bool each = zero.count > 1;
        add_numbers(w, arn_fb_slot(made, QUANTIZATION_ZERO_POINT), zero, 8, each ? begin : 0,
                    each ? count : 1);
    }
}

static void add_shape(graph_writer *w, size_t from, const arenaut_tensor *tensor) {
    const size_t vector = arn_fb_add_vector(w->prefix, tensor->rank, 4, 4);
    arn_fb_lead(w->prefix, from, vector);
    for (uint32_t i = 0; i < tensor->rank; i++) {
        arn_fb_set(w->prefix, arn_fb_element(vector, i), (uint32_t)tensor->dims[i]);
    }
}

/* A tensor that the old file does not have. */
static arenaut_status add_tensor(graph_writer *w, uint32_t t, size_t from) {
    const arenaut_tensor *tensor = &w->program->tensors[t];
    const arenaut_origin *origin = &w->rewrite->tensors[t];
    arn_flatbuffer *fb = &w->model->fb;
    arn_fb_table old = {0, 0, 0}, quantization = old;
    arenaut_status st = ARENAUT_OK;
    uint32_t buffer = 0;
    if (origin->tensor != ARENAUT_NONE) {
        old = arn_fb_item_table(fb, w->tensors, origin->tensor - w->first_before);
        quantization = arn_fb_table_field(fb, old, TENSOR_QUANTIZATION);
    }
    if (is_part(origin)) st = check_part(w, t, old);
    if (st != ARENAUT_OK) return st;
    const arn_fb_new_table made =
        arn_fb_add_table(w->prefix, ARN_FB_SLOT(TENSOR_SHAPE) | ARN_FB_SLOT(TENSOR_TYPE) |
                                        ARN_FB_SLOT(TENSOR_BUFFER) | ARN_FB_SLOT(TENSOR_NAME) |
                                        (quantization.at ? ARN_FB_SLOT(TENSOR_QUANTIZATION) : 0));
    arn_fb_lead(w->prefix, from, made.at);
    arn_fb_set(w->prefix, arn_fb_slot(made, TENSOR_TYPE),
               origin->tensor == ARENAUT_NONE ? type_of_values(tensor)
                                              : arn_fb_u8(fb, old, TENSOR_TYPE, 0));
    add_shape(w, arn_fb_slot(made, TENSOR_SHAPE), tensor);
    arn_fb_lead(w->prefix, arn_fb_slot(made, TENSOR_NAME),
                arn_fb_add_text(w->prefix, tensor->name));
    if (quantization.at) {
        add_quantization(w, t, quantization, arn_fb_slot(made, TENSOR_QUANTIZATION));
    }
    if (origin->tensor == ARENAUT_NONE) add_values(w, tensor, &buffer);
    else if (is_part(origin)) add_part(w, t, old, &buffer);
    arn_fb_set(w->prefix, arn_fb_slot(made, TENSOR_BUFFER), buffer);
    return st;
}

/* Whether a tensor can have the table of one of the old file: it is that, or an equal constant. */
static bool is_old(const graph_writer *w, uint32_t t) {
    const arenaut_origin *origin = &w->rewrite->tensors[t];
    return origin->same || (origin->tensor != ARENAUT_NONE && origin->axis == ARENAUT_NONE &&
                            w->program->tensors[t].cls == ARENAUT_CONSTANT);
}

static uint32_t count_tensors(const graph_writer *w) {
    uint32_t n = 0;
    for (uint32_t t = w->first_tensor; t < w->rewrite->n_tensors; t++, n++) {
        if (w->program->tensors[t].method != w->method) break;
    }
    return n;
}

static arenaut_status add_tensors(graph_writer *w, size_t from) {
    const uint32_t n = count_tensors(w);
    const size_t vector = arn_fb_add_vector(w->prefix, n, 4, 4);
    arenaut_status st = ARENAUT_OK;
    arn_fb_lead(w->prefix, from, vector);
    for (uint32_t i = 0; i < n && st == ARENAUT_OK; i++) {
        const uint32_t t = w->first_tensor + i;
        const size_t at = arn_fb_element(vector, i);
        if (is_old(w, t)) {
            const uint32_t old = w->rewrite->tensors[t].tensor - w->first_before;
            lead_to_table(w, at, arn_fb_item_table(&w->model->fb, w->tensors, old));
        } else {
            st = add_tensor(w, t, at);
        }
    }
    return st;
}

/* ---- operators ---- */

static const arenaut_attribute *padding_of(const arenaut_op *op) {
    for (uint32_t i = 0; i < op->n_attributes; i++) {
        if (strcmp(op->attributes[i].name, "padding") == 0) return &op->attributes[i];
    }
    return NULL;
}

/* Whether an op pads as its old one does. */
static bool pads_alike(const arenaut_op *a, const arenaut_op *b) {
    const arenaut_attribute *left = padding_of(a), *right = padding_of(b);
    return !left || !right || strcmp(left->text, right->text) == 0;
}

static bool same_arguments(const arenaut_op *a, const arenaut_op *b) {
    return arn_same_ids(a->inputs, a->n_inputs, b->inputs, b->n_inputs) &&
           arn_same_ids(a->outputs, a->n_outputs, b->outputs, b->n_outputs);
}

/* The operators of an added method are copies of the first one's. */
static uint32_t first_op_before(const graph_writer *w) {
    const bool added = w->method >= w->before->n_methods;
    return added ? 0 : w->before->methods[w->method].first_op;
}

/* Options that are all numbers: how many there are, and which take one byte. */
typedef struct option_table {
    uint8_t type, slots;
    uint32_t bytes;
} option_table;

static const option_table padded_options[] = {
    {OPTIONS_CONV, 7, ARN_FB_SLOT(0) | ARN_FB_SLOT(3) | ARN_FB_SLOT(6)},
    {OPTIONS_DEPTHWISE, 7, ARN_FB_SLOT(0) | ARN_FB_SLOT(4)},
    {OPTIONS_POOL, 6, ARN_FB_SLOT(0) | ARN_FB_SLOT(5)},
};

/* The old options, but for the padding. */
static arenaut_status add_valid_options(graph_writer *w, uint8_t type, arn_fb_table old,
                                        size_t from) {
    arn_flatbuffer *fb = &w->model->fb;
    const option_table *row = padded_options;
    uint32_t present = ARN_FB_SLOT(OPTIONS_PADDING);
    while (row->type != type && row < padded_options + 2) row++;
    for (unsigned slot = 0; 4 + 2 * slot < old.vtable_size; slot++) {
        if (arn_fb_field(fb, old, slot, 1) == 0) continue;
        if (row->type != type || slot >= row->slots) {
            return arn_fail(w->err, ARENAUT_REFUSED, old.at,
                            "options of type %u: field %u is not known, so they cannot be changed",
                            type, slot);
        }
        present |= ARN_FB_SLOT(slot);
    }
    const arn_fb_new_table made = arn_fb_add_table(w->prefix, present);
    arn_fb_lead(w->prefix, from, made.at);
    for (unsigned slot = 0; slot < row->slots; slot++) {
        if (!(present >> slot & 1)) continue;
        const unsigned width = row->bytes >> slot & 1 ? 1 : 4;
        arn_fb_set(w->prefix, arn_fb_slot(made, slot),
                   slot == OPTIONS_PADDING ? PADDING_VALID
                                           : (uint32_t)arn_fb_number(fb, old, slot, width, 0));
    }
    return ARENAUT_OK;
}

static void add_ids(graph_writer *w, size_t from, const uint32_t *ids, uint32_t n) {
    const size_t vector = arn_fb_add_vector(w->prefix, n, 4, 4);
    arn_fb_lead(w->prefix, from, vector);
    for (uint32_t i = 0; i < n; i++) { /* NONE is -1 there too */
        arn_fb_set(w->prefix, arn_fb_element(vector, i),
                   ids[i] == ARENAUT_NONE ? ids[i] : ids[i] - w->first_tensor);
    }
}

/* An operator of that code, with options if it has a type for them. */
static arn_fb_new_table begin_operator(graph_writer *w, size_t from, const arenaut_op *op,
                                       uint32_t code, uint8_t options) {
    const arn_fb_new_table made = arn_fb_add_table(
        w->prefix,
        ARN_FB_SLOT(OPERATOR_CODE) | ARN_FB_SLOT(OPERATOR_INPUTS) | ARN_FB_SLOT(OPERATOR_OUTPUTS) |
            (options ? ARN_FB_SLOT(OPERATOR_OPTIONS_TYPE) | ARN_FB_SLOT(OPERATOR_OPTIONS_TYPE + 1)
                     : 0));
    arn_fb_lead(w->prefix, from, made.at);
    arn_fb_set(w->prefix, arn_fb_slot(made, OPERATOR_CODE), code);
    if (options) arn_fb_set(w->prefix, arn_fb_slot(made, OPERATOR_OPTIONS_TYPE), options);
    add_ids(w, arn_fb_slot(made, OPERATOR_INPUTS), op->inputs, op->n_inputs);
    add_ids(w, arn_fb_slot(made, OPERATOR_OUTPUTS), op->outputs, op->n_outputs);
    return made;
}

/* A part of an old operator: it is of the same code and has the same options, but for padding. */
static arenaut_status add_part_operator(graph_writer *w, size_t from, const arenaut_op *op,
                                        uint32_t before) {
    arn_flatbuffer *fb = &w->model->fb;
    const uint32_t first = first_op_before(w);
    const arn_fb_table old = arn_fb_item_table(fb, w->operators, before - first);
    const arn_fb_table options = arn_fb_table_field(fb, old, OPERATOR_OPTIONS_TYPE + 1);
    const uint8_t type = options.at ? arn_fb_u8(fb, old, OPERATOR_OPTIONS_TYPE, 0) : 0;
    if (arn_fb_u8(fb, old, OPERATOR_OPTIONS_2_TYPE, 0) != 0) {
        return arn_fail(w->err, ARENAUT_REFUSED, old.at,
                        "operator %" PRIu32 " has options of a kind that cannot be shared", before);
    }
    const arn_fb_new_table made =
        begin_operator(w, from, op, arn_fb_u32(fb, old, OPERATOR_CODE, 0), type);
    if (!type) return ARENAUT_OK;
    const size_t at = arn_fb_slot(made, OPERATOR_OPTIONS_TYPE + 1);
    if (!pads_alike(op, &w->before->ops[before])) return add_valid_options(w, type, options, at);
    lead_to_table(w, at, options);
    return ARENAUT_OK;
}

/* Options of two kinds: the axis of a concatenation, and the method of a call, with any
 * condition. */
static void add_mover_options(graph_writer *w, size_t from, const arenaut_op *op) {
    if (op->n_calls == 0) {
        const arn_fb_new_table made = arn_fb_add_table(w->prefix, ARN_FB_SLOT(CONCATENATION_AXIS));
        arn_fb_lead(w->prefix, from, made.at);
        arn_fb_set(w->prefix, arn_fb_slot(made, CONCATENATION_AXIS),
                   (uint32_t)op->attributes[0].numbers[0]);
        return;
    }
    const arn_fb_new_table made =
        arn_fb_add_table(w->prefix, ARN_FB_SLOT(IF_THEN) | ARN_FB_SLOT(IF_ELSE));
    arn_fb_lead(w->prefix, from, made.at);
    arn_fb_set(w->prefix, arn_fb_slot(made, IF_THEN), op->calls[0]);
    arn_fb_set(w->prefix, arn_fb_slot(made, IF_ELSE), op->calls[1]);
}

static void add_mover(graph_writer *w, size_t from, const arenaut_op *op) {
    uint32_t mover = 0;
    while (strcmp(movers[mover].name, op->name) != 0) mover++;
    const uint8_t options = op->n_calls > 0        ? OPTIONS_IF
                            : op->n_attributes > 0 ? OPTIONS_CONCATENATION
                                                   : 0;
    const arn_fb_new_table made = begin_operator(w, from, op, w->codes[mover], options);
    if (options) add_mover_options(w, arn_fb_slot(made, OPERATOR_OPTIONS_TYPE + 1), op);
}

static arenaut_status add_operators(graph_writer *w, size_t from) {
    const arenaut_method *method = &w->program->methods[w->method];
    const uint32_t first = first_op_before(w);
    const size_t vector = arn_fb_add_vector(w->prefix, method->n_ops, 4, 4);
    arenaut_status st = ARENAUT_OK;
    arn_fb_lead(w->prefix, from, vector);
    for (uint32_t i = 0; i < method->n_ops && st == ARENAUT_OK; i++) {
        const uint32_t before = w->rewrite->ops[method->first_op + i];
        const arenaut_op *op = &w->program->ops[method->first_op + i];
        const size_t at = arn_fb_element(vector, i);
        if (before == ARENAUT_NONE) {
            add_mover(w, at, op);
        } else if (same_arguments(op, &w->before->ops[before])) {
            lead_to_table(w, at, arn_fb_item_table(&w->model->fb, w->operators, before - first));
        } else {
            st = add_part_operator(w, at, op, before);
        }
    }
    return st;
}

/* ---- the graph ---- */

/* Lists that the new subgraph shares with the old one. */
static const unsigned shared_slots[] = {SUBGRAPH_NAME, SUBGRAPH_INPUTS, SUBGRAPH_OUTPUTS};
enum { N_SHARED = sizeof shared_slots / sizeof *shared_slots };

static arenaut_status add_graph(graph_writer *w, size_t from) {
    arn_flatbuffer *fb = &w->model->fb;
    const uint32_t note = arn_fb_u32(fb, w->graph, SUBGRAPH_DEBUG_METADATA, 0);
    arn_fb_vector lists[N_SHARED];
    uint32_t present = ARN_FB_SLOT(SUBGRAPH_TENSORS) | ARN_FB_SLOT(SUBGRAPH_OPERATORS);
    if (note) present |= ARN_FB_SLOT(SUBGRAPH_DEBUG_METADATA);
    for (unsigned i = 0; i < N_SHARED; i++) {
        lists[i] = arn_fb_vector_field(fb, w->graph, shared_slots[i], 1);
        if (lists[i].at) present |= ARN_FB_SLOT(shared_slots[i]);
    }
    const arn_fb_new_table graph = arn_fb_add_table(w->prefix, present);
    arn_fb_lead(w->prefix, from, graph.at);
    for (unsigned i = 0; i < N_SHARED; i++) {
        if (!lists[i].at) continue;
        arn_fb_lead_behind(w->prefix, arn_fb_slot(graph, shared_slots[i]), lists[i].at - 4);
    }
    if (note) arn_fb_set(w->prefix, arn_fb_slot(graph, SUBGRAPH_DEBUG_METADATA), note);
    const arenaut_status st = add_tensors(w, arn_fb_slot(graph, SUBGRAPH_TENSORS));
    return st == ARENAUT_OK ? add_operators(w, arn_fb_slot(graph, SUBGRAPH_OPERATORS)) : st;
}

/* The subgraph of a method that was added. */
static arenaut_status add_method(graph_writer *w, size_t from) {
    const arenaut_method *method = &w->program->methods[w->method];
    const arn_fb_new_table graph = arn_fb_add_table(
        w->prefix, ARN_FB_SLOT(SUBGRAPH_TENSORS) | ARN_FB_SLOT(SUBGRAPH_INPUTS) |
                       ARN_FB_SLOT(SUBGRAPH_OUTPUTS) | ARN_FB_SLOT(SUBGRAPH_OPERATORS) |
                       ARN_FB_SLOT(SUBGRAPH_NAME));
    arn_fb_lead(w->prefix, from, graph.at);
    add_ids(w, arn_fb_slot(graph, SUBGRAPH_INPUTS), method->inputs, method->n_inputs);
    add_ids(w, arn_fb_slot(graph, SUBGRAPH_OUTPUTS), method->outputs, method->n_outputs);
    arn_fb_lead(w->prefix, arn_fb_slot(graph, SUBGRAPH_NAME),
                arn_fb_add_text(w->prefix, method->name));
    const arenaut_status st = add_tensors(w, arn_fb_slot(graph, SUBGRAPH_TENSORS));
    return st == ARENAUT_OK ? add_operators(w, arn_fb_slot(graph, SUBGRAPH_OPERATORS)) : st;
}

/* An added graph takes its tensors and operators from the first one. */
static void open_graph(graph_writer *w, uint32_t method) {
    arn_flatbuffer *fb = &w->model->fb;
    w->graph = arn_fb_item_table(fb, w->model->subgraphs, method);
    w->tensors = arn_fb_vector_field(fb, w->graph, SUBGRAPH_TENSORS, 4);
    w->operators = arn_fb_vector_field(fb, w->graph, SUBGRAPH_OPERATORS, 4);
}

static arenaut_status add_graphs(graph_writer *w, arn_fb_new_table root) {
    const uint32_t n = w->program->n_methods, n_before = w->before->n_methods;
    const size_t graphs = arn_fb_add_vector(w->prefix, n, 4, 4);
    arn_fb_lead(w->prefix, arn_fb_slot(root, MODEL_SUBGRAPHS), graphs);
    arenaut_status st = ARENAUT_OK;
    for (uint32_t m = 0; m < n && st == ARENAUT_OK; m++) {
        w->method = m;
        if (m < n_before) open_graph(w, m);
        st = m < n_before ? add_graph(w, arn_fb_element(graphs, m))
                          : add_method(w, arn_fb_element(graphs, m));
        w->first_tensor += count_tensors(w);
        if (m + 1 < n_before) w->first_before = w->first_tensor;
    }
    return st;
}

/* Of several subgraphs, none may have other tensors than before. */
static arenaut_status check_graphs(graph_writer *w) {
    uint32_t entry;
    const bool several = w->before->n_methods != 1;
    arn_tflite_metadata(w->model, ARN_TFLITE_COMPRESSION_NAME, &entry);
    if (entry != ARENAUT_NONE || (several && w->rewrite->n_tensors != w->before->n_tensors)) {
        return arn_fail(w->err, ARENAUT_REFUSED, 0, "a model %s cannot be rewritten",
                        entry != ARENAUT_NONE ? "with compressed tensors" : "of several subgraphs");
    }
    for (uint32_t m = 0; m < w->before->n_methods; m++) {
        open_graph(w, m);
        for (unsigned slot = SUBGRAPH_SLOTS; 4 + 2 * slot < w->graph.vtable_size; slot++) {
            if (arn_fb_field(&w->model->fb, w->graph, slot, 1) == 0) continue;
            return arn_fail(
                w->err, ARENAUT_REFUSED, w->graph.at,
                "subgraph %" PRIu32 ": field %u is not known, so it cannot be rewritten", m, slot);
        }
    }
    return ARENAUT_OK;
}

arenaut_status arn_tflite_add_rewritten(arn_fb_prefix *prefix, arn_tflite_model *model,
                                        const arenaut_program *before,
                                        const arenaut_rewrite *rewrite, arn_fb_new_table root,
                                        size_t buffers, arenaut_error *err) {
    graph_writer w = {.prefix = prefix,
                      .model = model,
                      .before = before,
                      .program = rewrite->program,
                      .rewrite = rewrite,
                      .buffers = buffers,
                      .n_buffers = model->buffers.count,
                      .err = err};
    const arenaut_status st = check_graphs(&w);
    if (st != ARENAUT_OK) return st;
    arn_fb_lead(prefix, arn_fb_slot(root, MODEL_OPERATOR_CODES), add_codes(&w));
    return add_graphs(&w, root);
}
