/* Reader of the arguments of a node that are no tensors, as attributes of its op: those that tiles
 * and their check depend on, of operators whose family can be tiled, and a few that passes ask for.
 * The sides of windows get the names and the forms that ONNX has for them, so that both dialects
 * state a window alike: one number for each axis, padding in front of all axes and then behind
 * them. An argument that the file leaves out, or has none for, is left out here, too, unless the
 * schema's default is another than ONNX's. One of a form that is not known becomes a text, which is
 * no number to anybody. Operands of an op are its tensors, in the order of the file: where some
 * that the schema has before others are left out, or follow them, `operands` is the place of each
 * in the schema. O(length of the arguments). */
#include <string.h>

#include "core/fail.h"
#include "core/memory.h"
#include "formats/pt2/pt2.h"
#include "ops/ops.h"

enum { MOST_AXES = 8 }; /* of an image whose window is spelled out */

typedef enum argument_form {
    PLAIN,
    EACH_AXIS,  /* one number stands for all axes of the image */
    BOTH_SIDES, /* likewise, and the padding is the same in front and behind */
    PAIRS,      /* in front and behind, of the last axis first; axes may be left out */
} argument_form;

typedef struct argument {
    const char *name, *attribute;
    argument_form form;
} argument;

static const argument arguments[] = {
    {"stride", "strides", EACH_AXIS},
    {"dilation", "dilations", EACH_AXIS},
    {"padding", "pads", BOTH_SIDES},
    {"kernel_size", "kernel_shape", EACH_AXIS},
    {"pad", "pads", PAIRS},
    {"output_padding", "output_padding", EACH_AXIS},
    {"scale_factors", "scales", PLAIN},
    {"groups", "group", PLAIN},
    {"dim", "axis", PLAIN},
};

#define COUNT(list) (sizeof(list) / sizeof *(list))

static const char unknown[] = "?";

/* Those that tiles are made of. */
static bool is_kept(const arn_op_row *row) {
    return row->family <= ARN_FAMILY_CONCATENATION || row->family == ARN_FAMILY_LAYOUT ||
           row->family == ARN_FAMILY_SLICE || strcmp(row->name, "aten::mean.dim") == 0;
}

static const argument *find_argument(const arn_pt2 *r, uint32_t name) {
    for (size_t i = 0; i < COUNT(arguments); i++) {
        if (arn_json_text_is(&r->json.json, name, arguments[i].name)) return &arguments[i];
    }
    return NULL;
}

/* Memory that lasts until the reader ends. */
static void *take_memory(arn_pt2 *r, size_t count, size_t size) {
    void *memory = arn_region_allocate(&r->names, count, size);
    if (!memory && arn_pt2_fine(r)) r->json.status = arn_no_memory(r->json.err);
    return memory;
}

static void add(arn_pt2 *r, arenaut_attribute attribute) {
    if (!arn_pt2_grow(r, (void **)&r->attributes, &r->attribute_capacity,
                      (uint64_t)r->n_attributes + 1, sizeof *r->attributes)) {
        return;
    }
    r->attributes[r->n_attributes++] = attribute;
}

/* ---- values ---- */

static bool is_true(const arn_json *json, uint32_t value) {
    return json->text[json->nodes[value].at] == 't';
}

/* The digits of a number as they stand. */
static const char *copy_number(arn_pt2 *r, uint32_t value) {
    const char *from = r->json.json.text + r->json.json.nodes[value].at;
    const size_t n = strspn(from, "0123456789+-.eE");
    char *text = take_memory(r, n + 1, 1);
    if (!text) return NULL;
    memcpy(text, from, n);
    text[n] = '\0';
    return text;
}

/* Numbers that are whole; a list of others is unknown. */
static void read_list(arn_pt2 *r, uint32_t array, arenaut_attribute *out) {
    const arn_json *json = &r->json.json;
    uint32_t n = 0;
    out->text = unknown;
    if (arn_json_type_of(json, array) != ARN_JSON_ARRAY) return;
    int64_t *numbers = take_memory(r, arn_json_count(json, array), sizeof *numbers);
    if (!numbers) return;
    for (uint32_t v = arn_json_first(json, array); v != ARN_JSON_NONE;
         v = arn_json_next(json, array, v)) {
        if (!arn_json_to_i64(json, v, &numbers[n++])) return;
    }
    *out = (arenaut_attribute){out->name, n, numbers, NULL};
}

static void read_one(arn_pt2 *r, uint32_t value, arenaut_attribute *out) {
    const arn_json *json = &r->json.json;
    const arn_json_type type = arn_json_type_of(json, value);
    int64_t *number = take_memory(r, 1, sizeof *number);
    if (!number) return;
    out->text = unknown;
    if (type == ARN_JSON_BOOL) *number = is_true(json, value);
    else if (type != ARN_JSON_NUMBER || !arn_json_to_i64(json, value, number)) return;
    *out = (arenaut_attribute){out->name, 1, number, NULL};
}

/* The value of an argument that has one of these forms. */
static uint32_t find_form(const arn_pt2 *r, uint32_t arg, const char *const *forms, size_t n) {
    uint32_t value = ARN_JSON_NONE;
    for (size_t i = 0; i < n && value == ARN_JSON_NONE; i++) value = arn_pt2_get(r, arg, forms[i]);
    return value;
}

/* False if the argument says nothing, or is a tensor. */
static bool read_value(arn_pt2 *r, uint32_t arg, arenaut_attribute *out) {
    static const char *const lists[] = {"as_ints", "as_floats"};
    static const char *const ones[] = {"as_int", "as_bool", "as_scalar_type", "as_memory_format",
                                       "as_layout"};
    static const char *const none[] = {
        "as_none",  "as_tensor", "as_tensors",        "as_optional_tensor",   "as_optional_tensors",
        "as_graph", "as_device", "as_nested_tensors", "as_string_to_argument"};
    static const char *const texts[] = {"as_float", "as_string"};
    uint32_t value;
    if (find_form(r, arg, none, COUNT(none)) != ARN_JSON_NONE) return false;
    if ((value = find_form(r, arg, lists, COUNT(lists))) != ARN_JSON_NONE) {
        read_list(r, value, out);
        return true;
    }
    if ((value = find_form(r, arg, ones, COUNT(ones))) != ARN_JSON_NONE) {
        read_one(r, value, out);
        return true;
    }
    out->text = unknown;
    if ((value = find_form(r, arg, texts, COUNT(texts))) == ARN_JSON_NONE) return true;
    if (arn_json_type_of(&r->json.json, value) == ARN_JSON_STRING) {
        out->text = arn_pt2_text(r, value);
    } else if (arn_json_type_of(&r->json.json, value) == ARN_JSON_NUMBER) {
        out->text = copy_number(r, value);
    }
    return true;
}

/* ---- windows ---- */

static uint32_t rank_of(const arn_pt2 *r, const arenaut_op *op) {
    return op->n_inputs > 0 && op->inputs[0] != ARENAUT_NONE
               ? r->program->tensors[op->inputs[0]].rank
               : 0;
}

/* Spells the numbers of a window out. An image has a batch and channels in front. */
static void spell_out(arn_pt2 *r, const arenaut_op *op, argument_form form, arenaut_attribute *a) {
    const uint32_t rank = rank_of(r, op), n = a->n_numbers;
    if (a->text || form == PLAIN) return;
    const uint32_t axes = form == PAIRS ? rank : n != 1 ? n : rank > 2 ? rank - 2 : 1;
    const bool fits = axes <= MOST_AXES && (form != PAIRS || (n % 2 == 0 && n / 2 <= axes));
    int64_t *numbers = fits ? take_memory(r, (size_t)2 * axes, sizeof *numbers) : NULL;
    if (!numbers) {
        *a = (arenaut_attribute){.name = a->name, .text = unknown};
        return;
    }
    for (uint32_t i = 0; i < axes && form != PAIRS; i++) {
        numbers[i] = numbers[axes + i] = a->numbers[n == 1 ? 0 : i];
    }
    for (uint32_t i = 0; i < axes && form == PAIRS; i++) {
        const uint32_t pair = axes - 1 - i;
        numbers[i] = pair < n / 2 ? a->numbers[(size_t)2 * pair] : 0;
        numbers[axes + i] = pair < n / 2 ? a->numbers[(size_t)2 * pair + 1] : 0;
    }
    a->numbers = numbers;
    a->n_numbers = form == EACH_AXIS ? axes : 2 * axes;
}

static arenaut_attribute *find(const arn_pt2 *r, const char *name) {
    for (uint32_t i = 0; i < r->n_attributes; i++) {
        if (strcmp(r->attributes[i].name, name) == 0) return &r->attributes[i];
    }
    return NULL;
}

/* A pool's strides are its window's sides unless they are given, and an average counts its
 * padding. */
static void add_defaults(arn_pt2 *r, const arenaut_op *op) {
    static const int64_t yes = 1;
    arenaut_attribute *strides = find(r, "strides");
    const arenaut_attribute *sides = find(r, "kernel_shape");
    if (!sides) return;
    arenaut_attribute made = *sides;
    made.name = "strides";
    if (!strides) add(r, made);
    else if (!strides->text && strides->n_numbers == 0) *strides = made;
    if (strstr(op->name, "::avg_pool") && !find(r, "count_include_pad")) {
        add(r, (arenaut_attribute){"count_include_pad", 1, &yes, NULL});
    }
}

/* ---- all of them ---- */

static void read_argument(arn_pt2 *r, const arenaut_op *op, uint32_t name, uint32_t arg) {
    const argument *row = find_argument(r, name);
    arenaut_attribute made = {.name = unknown};
    if (!read_value(r, arg, &made) || !arn_pt2_fine(r)) return;
    made.name = row ? row->attribute : arn_pt2_text(r, name);
    if (row) spell_out(r, op, row->form, &made);
    if (arn_pt2_fine(r)) add(r, made);
}

/* Which operator an auto-functionalized call stands for, and how many tensors that one updates. */
static void read_call(arn_pt2 *r, uint32_t name, uint32_t arg) {
    const uint32_t called = arn_pt2_get(r, arg, "as_operator");
    const uint32_t list = arn_pt2_get(r, arg, "as_tensors");
    if (called != ARN_JSON_NONE) {
        const char *target = arn_pt2_text(r, called);
        const char *text = target ? arn_pt2_operator_name(r, target) : NULL;
        if (text) add(r, (arenaut_attribute){"operator", 0, NULL, text});
    } else if (list != ARN_JSON_NONE && arn_json_text_is(&r->json.json, name, "_all_bases")) {
        int64_t *n = take_memory(r, 1, sizeof *n);
        if (!n) return;
        *n = arn_json_count(&r->json.json, list);
        add(r, (arenaut_attribute){"bases", 1, n, NULL});
    }
}

/* ---- operands ---- */

/* Whose operators tell an image, its weights and other constants apart by their places. */
static bool has_places(const arn_op_row *row) {
    return row->family == ARN_FAMILY_CONVOLUTION ||
           row->family == ARN_FAMILY_TRANSPOSED_CONVOLUTION ||
           row->family == ARN_FAMILY_NORMALIZATION;
}

/* In the schemas of these operators; -1: of another name. */
static int64_t place_of(const arn_pt2 *r, uint32_t name) {
    static const char *const names[] = {"input", "weight", "bias", "running_mean", "running_var"};
    for (size_t i = 0; i < COUNT(names); i++) {
        if (arn_json_text_is(&r->json.json, name, names[i])) return (int64_t)i;
    }
    return -1;
}

/* How many tensors an argument names. */
static uint32_t count_tensors(arn_pt2 *r, uint32_t arg) {
    r->named.n = 0;
    if (!arn_pt2_list_tensors(&r->json.json, arg, r->json.allocator, &r->named) &&
        arn_pt2_fine(r)) {
        r->json.status = arn_no_memory(r->json.err);
    }
    return r->named.n;
}

static void add_places(arn_pt2 *r, uint32_t array, const arenaut_op *op) {
    int64_t *places = take_memory(r, op->n_inputs, sizeof *places);
    uint32_t n = 0;
    bool in_order = true;
    if (!places) return;
    ARN_JSON_EACH(&r->json, v, array) {
        const uint32_t name = arn_pt2_get(r, v, "name");
        const uint32_t tensors = count_tensors(r, arn_pt2_get(r, v, "arg"));
        for (uint32_t i = 0; i < tensors && n < op->n_inputs; i++, n++) {
            places[n] = name == ARN_JSON_NONE || i > 0 ? -1 : place_of(r, name);
            in_order = in_order && places[n] == n;
        }
    }
    if (!in_order && arn_pt2_fine(r)) {
        add(r, (arenaut_attribute){"operands", op->n_inputs, places, NULL});
    }
}

/* ---- of a node ---- */

void arn_pt2_read_attributes(arn_pt2 *r, uint32_t array, arenaut_op *op) {
    const arn_op_row *row = arn_op_row_find(ARN_OPS_ATEN, op->name);
    r->n_attributes = 0;
    ARN_JSON_EACH(&r->json, v, array) {
        const uint32_t name = arn_pt2_get(r, v, "name"), arg = arn_pt2_get(r, v, "arg");
        if (name == ARN_JSON_NONE || arn_json_type_of(&r->json.json, name) != ARN_JSON_STRING) {
            continue;
        }
        if (row && is_kept(row)) read_argument(r, op, name, arg);
        else read_call(r, name, arg);
    }
    if (row && row->family == ARN_FAMILY_POOL && arn_pt2_fine(r)) add_defaults(r, op);
    if (row && has_places(row) && op->n_inputs > 0 && arn_pt2_fine(r)) add_places(r, array, op);
    op->attributes = r->attributes;
    op->n_attributes = r->n_attributes;
}
