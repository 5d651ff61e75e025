/* Reader of one operator of a .tflite file: its name, its inputs and outputs, the subgraphs that
 * its options name, and the options that passes depend on. */
#include <inttypes.h>
#include <string.h>

#include "core/fail.h"
#include "formats/tflite/tflite.h"
#include "formats/tflite/tflite_reader.h"
#include "formats/tflite/tflite_schema.h"
#include "ir/program.h"

/* Names of operators, and the few with other effects on memory than "reads its inputs, writes its
 * outputs". */

/* By number, as the schema's enum BuiltinOperator has them. */
static const char *const names[] = {
#define TFLITE(name, number, family, purity, cost, window, tiling, overlap, in_place, resolver) \
    [number] = (name),
#include "ops/ops.def"
};

const char *arn_tflite_operator_name(int32_t builtin) {
    return builtin >= 0 && (size_t)builtin < sizeof names / sizeof *names ? names[builtin] : NULL;
}

bool arn_tflite_is_operator_name(const char *name) {
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i], name) == 0) return true;
    }
    return false;
}

/* The numbers of the options' types are positions in the schema's two unions. */
#define OPTIONS OPERATOR_OPTIONS_TYPE
#define OPTIONS_2 OPERATOR_OPTIONS_2_TYPE
static const arn_tflite_operator specials[] = {
    {BUILTIN_IF, ARENAUT_OP_IF, OPTIONS, 92, 2, {0, 1}, false},
    {BUILTIN_WHILE, ARENAUT_OP_WHILE, OPTIONS, 93, 2, {0, 1}, false},
    {BUILTIN_CALL_ONCE, ARENAUT_OP_CALL_ONCE, OPTIONS, 103, 1, {0, 0}, false},
    {BUILTIN_CALL, ARENAUT_OP_CALL, OPTIONS, 16, 1, {0, 0}, false},
    {BUILTIN_DELEGATE, ARENAUT_OP_DELEGATE, 0, 0, 0, {0, 0}, false},
    {BUILTIN_STABLEHLO_WHILE, ARENAUT_OP_WHILE, OPTIONS_2, 15, 2, {0, 1}, false},
    {BUILTIN_STABLEHLO_COMPOSITE, ARENAUT_OP_CALL, OPTIONS_2, 21, 1, {1, 0}, false},
    {BUILTIN_STABLEHLO_REDUCE, ARENAUT_OP_OUT, OPTIONS_2, 6, 1, {1, 0}, true},
    {BUILTIN_STABLEHLO_SCATTER, ARENAUT_OP_OUT, OPTIONS_2, 7, 1, {6, 0}, true},
    {BUILTIN_STABLEHLO_REDUCE_WINDOW, ARENAUT_OP_OUT, OPTIONS_2, 13, 1, {5, 0}, true},
    {BUILTIN_STABLEHLO_SORT, ARENAUT_OP_OUT, OPTIONS_2, 14, 1, {2, 0}, true},
};

/* NULL for an operator that just reads its inputs and writes its outputs. */
static const arn_tflite_operator *tflite_special_operator(int32_t builtin) {
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++) {
        if (specials[i].builtin == builtin) return &specials[i];
    }
    return NULL;
}

/* Reader of an operator's options that a kernel's walk over memory depends on: fields of the
 * schema's tables that distances and shapes need, one row each. Other fields, such as activations,
 * are ignored, and so is an unknown word: a missing attribute only costs memory. O(rows) for an
 * operator. */

typedef enum form {
    NUMBER, /* 32 bits, signed */
    PAIR,   /* two of them, height first, though files have the width first */
    FLAG,   /* a byte, 0 or 1 */
    PADDING,
    MIRROR,
    TEXT,
} form;

/* By number, as the schema's enums have them. */
static const char *const padding_words[] = {"SAME", "VALID"};
static const char *const mirror_words[] = {"REFLECT", "SYMMETRIC"};

typedef struct field {
    uint8_t options; /* the table's number in the union BuiltinOptions */
    uint8_t slot, second_slot;
    uint8_t form;
    int32_t fallback; /* where the file leaves it out */
    const char *name;
} field;

static const field fields[] = {
    /* CONV_2D */
    {1, 2, 1, PAIR, 0, "strides"},
    {1, 5, 4, PAIR, 1, "dilations"},
    {1, 0, 0, PADDING, 0, "padding"},
    /* DEPTHWISE_CONV_2D */
    {2, 2, 1, PAIR, 0, "strides"},
    {2, 6, 5, PAIR, 1, "dilations"},
    {2, 0, 0, PADDING, 0, "padding"},
    {2, 3, 0, NUMBER, 0, "depth_multiplier"},
    /* AVERAGE_POOL_2D, MAX_POOL_2D, L2_POOL_2D */
    {5, 2, 1, PAIR, 0, "strides"},
    {5, 4, 3, PAIR, 0, "filter"},
    {5, 0, 0, PADDING, 0, "padding"},
    /* SVDF */
    {6, 0, 0, NUMBER, 0, "rank"},
    /* FULLY_CONNECTED */
    {8, 2, 0, FLAG, 0, "keep_num_dims"},
    /* CONCATENATION */
    {10, 0, 0, NUMBER, 0, "axis"},
    /* RESIZE_BILINEAR */
    {15, 2, 0, FLAG, 0, "align_corners"},
    {15, 3, 0, FLAG, 0, "half_pixel_centers"},
    /* SPACE_TO_DEPTH */
    {19, 0, 0, NUMBER, 0, "block_size"},
    /* GATHER */
    {23, 0, 0, NUMBER, 0, "axis"},
    {23, 1, 0, NUMBER, 0, "batch_dims"},
    /* MEAN, SUM, REDUCE_… */
    {27, 0, 0, FLAG, 0, "keep_dims"},
    /* STRIDED_SLICE */
    {32, 0, 0, NUMBER, 0, "begin_mask"},
    {32, 1, 0, NUMBER, 0, "end_mask"},
    {32, 2, 0, NUMBER, 0, "ellipsis_mask"},
    {32, 3, 0, NUMBER, 0, "new_axis_mask"},
    {32, 4, 0, NUMBER, 0, "shrink_axis_mask"},
    {32, 5, 0, FLAG, 0, "offset"},
    /* SPLIT */
    {35, 0, 0, NUMBER, 0, "num_splits"},
    /* TRANSPOSE_CONV */
    {49, 2, 1, PAIR, 0, "strides"},
    {49, 0, 0, PADDING, 0, "padding"},
    /* PACK */
    {59, 0, 0, NUMBER, 0, "values_count"},
    {59, 1, 0, NUMBER, 0, "axis"},
    /* UNPACK */
    {64, 0, 0, NUMBER, 0, "num"},
    {64, 1, 0, NUMBER, 0, "axis"},
    /* UNIDIRECTIONAL_SEQUENCE_LSTM */
    {71, 3, 0, FLAG, 0, "time_major"},
    /* RESIZE_NEAREST_NEIGHBOR */
    {74, 0, 0, FLAG, 0, "align_corners"},
    {74, 1, 0, FLAG, 0, "half_pixel_centers"},
    /* MIRROR_PAD */
    {77, 0, 0, MIRROR, 0, "mode"},
    /* SPLIT_V */
    {79, 0, 0, NUMBER, 0, "num_splits"},
    /* DEPTH_TO_SPACE */
    {94, 0, 0, NUMBER, 0, "block_size"},
    /* BATCH_MATMUL */
    {101, 0, 0, FLAG, 0, "adj_x"},
    {101, 1, 0, FLAG, 0, "adj_y"},
    /* VAR_HANDLE */
    {111, 1, 0, TEXT, 0, "shared_name"},
};

static const char *word_of(uint8_t number, const char *const words[2]) {
    return number < 2 ? words[number] : NULL;
}

/* False if it says nothing: a word that is not known. At most one field of an operator is text. */
static bool take_field(arn_tflite_reader *r, arn_fb_table options, const field *row,
                       int64_t numbers[2], arenaut_attribute *attribute) {
    arn_flatbuffer *fb = &r->model.fb;
    *attribute = (arenaut_attribute){.name = row->name, .numbers = numbers};
    switch ((form)row->form) {
        case PAIR:
            numbers[1] = arn_fb_i32(fb, options, row->second_slot, row->fallback);
            attribute->n_numbers = 1; /* fall through */
        case NUMBER:
            numbers[0] = arn_fb_i32(fb, options, row->slot, row->fallback);
            attribute->n_numbers++;
            return true;
        case FLAG:
            numbers[0] = arn_fb_u8(fb, options, row->slot, (uint8_t)row->fallback) != 0;
            attribute->n_numbers = 1;
            return true;
        case PADDING:
            attribute->text = word_of(arn_fb_u8(fb, options, row->slot, 0), padding_words);
            return attribute->text != NULL;
        case MIRROR:
            attribute->text = word_of(arn_fb_u8(fb, options, row->slot, 0), mirror_words);
            return attribute->text != NULL;
        case TEXT:
            return arn_tflite_text(r, options, row->slot, &attribute->text) == ARENAUT_OK &&
                   attribute->text;
    }
    return false;
}

static arenaut_status tflite_attributes(arn_tflite_reader *r, arn_fb_table table,
                                        arn_tflite_attribute_list *list) {
    arn_flatbuffer *fb = &r->model.fb;
    const uint8_t type = arn_fb_u8(fb, table, OPERATOR_OPTIONS_TYPE, 0);
    list->n = 0;
    if (type == 0) return ARENAUT_OK;
    const arn_fb_table options = arn_fb_table_field(fb, table, OPERATOR_OPTIONS_TYPE + 1);
    if (options.at == 0) return arn_tflite_status(r);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (fields[i].options != type) continue;
        list->n +=
            take_field(r, options, &fields[i], list->numbers[list->n], &list->attributes[list->n]);
    }
    const arenaut_status st = arn_tflite_status(r);
    return st == ARENAUT_OK ? arn_tflite_charge(r, list->n, ARN_TFLITE_ATTRIBUTE_COST) : st;
}

/* Reader of one operator of a .tflite file: its kind, its inputs and outputs, and the subgraphs
 * that its options name. */

/* The charge for one: the array that holds them doubles as it grows. */
enum { OP_COST = 2 * sizeof(arenaut_op) };

/* The kind of an operator: a builtin by its number, a custom one by its name, unless that is a
 * builtin's, whose kernel it does not run. */
static arenaut_status take_code(arn_tflite_reader *r, arn_fb_table table, int32_t *builtin,
                                const char **name) {
    arn_flatbuffer *fb = &r->model.fb;
    char store[ARN_TFLITE_PLACE_SIZE];
    const uint32_t index = arn_fb_u32(fb, table, OPERATOR_CODE, 0);
    if (index >= r->model.operator_codes.count) {
        return arn_fail(r->err, ARENAUT_BAD_INPUT, table.at,
                        "%s: operator code %" PRIu32 " does not exist; there are %" PRIu32,
                        arn_tflite_place(r, store), index, r->model.operator_codes.count);
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
                        arn_tflite_place(r, store), *builtin, BUILTIN_STABLEHLO_CASE);
    }
    if (*builtin != BUILTIN_CUSTOM) return ARENAUT_OK;
    const char *custom;
    const arenaut_status st = arn_tflite_text(r, code, CODE_CUSTOM, &custom);
    if (custom && custom[0] && !arn_tflite_is_operator_name(custom)) *name = custom;
    return st;
}

/* The subgraphs that an operator names in its options. */
static arenaut_status take_calls(arn_tflite_reader *r, arn_fb_table table,
                                 const arn_tflite_operator *special, const char *name,
                                 uint32_t calls[2]) {
    arn_flatbuffer *fb = &r->model.fb;
    char store[ARN_TFLITE_PLACE_SIZE];
    const uint8_t type = arn_fb_u8(fb, table, special->options_slot, 0);
    if (type != special->options_type) {
        return arn_fail(r->err, ARENAUT_BAD_INPUT, table.at,
                        "%s (%s): its options are of type %u; they must be of type %u",
                        arn_tflite_place(r, store), name, type, special->options_type);
    }
    const arn_fb_table options = arn_fb_table_field(fb, table, special->options_slot + 1u);
    for (uint32_t i = 0; i < special->n_calls; i++) {
        const int32_t callee = arn_fb_i32(fb, options, special->call_slot[i], 0);
        if (callee < 0 || (uint32_t)callee >= r->model.subgraphs.count) {
            return arn_fail(r->err, ARENAUT_BAD_INPUT, table.at,
                            "%s (%s) calls subgraph %" PRId32 "; there are %" PRIu32,
                            arn_tflite_place(r, store), name, callee, r->model.subgraphs.count);
        }
        calls[i] = (uint32_t)callee;
        r->called[callee] = 1;
    }
    return ARENAUT_OK;
}

/* Tensors are named after the layer of the author's model that they come from. */
static arenaut_status take_source(arn_tflite_reader *r, arenaut_op *op) {
    if (op->n_outputs == 0 || op->outputs[0] == ARENAUT_NONE) return ARENAUT_OK;
    op->source = r->program->tensors[op->outputs[0]].name;
    return op->source ? arn_tflite_charge(r, 1, strlen(op->source) + 32) : ARENAUT_OK;
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

arenaut_status arn_tflite_read_operator(arn_tflite_reader *r, arn_fb_table table) {
    arenaut_op op = {.kind = ARENAUT_OP_OUT, .method = r->subgraph};
    arn_tflite_attribute_list attributes;
    uint32_t calls[2];
    int32_t builtin = 0;
    arenaut_status st = arn_tflite_charge(r, 1, OP_COST);
    if (st == ARENAUT_OK) {
        st = arn_tflite_ids(r, table, OPERATOR_INPUTS, true, "input", &r->inputs);
    }
    if (st == ARENAUT_OK) {
        st = arn_tflite_ids(r, table, OPERATOR_OUTPUTS, true, "output", &r->outputs);
    }
    if (st == ARENAUT_OK) st = take_code(r, table, &builtin, &op.name);
    if (st != ARENAUT_OK) return st;
    op.inputs = r->inputs.ids;
    op.n_inputs = r->inputs.n;
    op.outputs = r->outputs.ids;
    op.n_outputs = r->outputs.n;
    op.calls = calls;
    const arn_tflite_operator *special = tflite_special_operator(builtin);
    if (special && special->n_calls) st = take_calls(r, table, special, op.name, calls);
    if (st == ARENAUT_OK) st = tflite_attributes(r, table, &attributes);
    if (st == ARENAUT_OK) st = arn_tflite_status(r);
    if (st != ARENAUT_OK) return st;
    op.attributes = attributes.attributes;
    op.n_attributes = attributes.n;
    if (special) op.kind = special->kind;
    if (special && !special->call_is_recipe) op.n_calls = special->n_calls;
    if (builtin == BUILTIN_STABLEHLO_CASE) {
        char store[ARN_TFLITE_PLACE_SIZE];
        return arn_fail(r->err, ARENAUT_UNSUPPORTED, table.at,
                        "%s: %s may call any number of subgraphs; IF with two is supported",
                        arn_tflite_place(r, store), op.name);
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
    return arn_program_add_op(r->program, &op, NULL, r->err);
}
