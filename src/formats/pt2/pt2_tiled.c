/* Writer of a tiled program: the nodes of the only graph and the types of its values are listed
 * anew. A node that is as before keeps its text; a part of one is that text with other names, and
 * with other padding where the part has; moves are nodes of their own. Everything else of the model
 * stays as it stands, to the byte. O(length of what is written). */
#include <inttypes.h>
#include <string.h>

#include "core/fail.h"
#include "core/memory.h"
#include "formats/pt2/pt2.h"

typedef struct tiling {
    const arenaut_rewrite *rewrite;
    const arenaut_program *before;
    const arn_json *json;
    const arenaut_allocator *allocator;
    arenaut_error *err;
    arn_region region;
    const char **name; /* per tensor of the rewritten program */
    uint32_t *values;  /* per tensor of the file: its type */
    uint32_t *nodes;   /* per node of the file */
    uint8_t *of_op;    /* likewise: 1 if an op stands for it, 2 once it was written */
    uint32_t n_nodes, n_passed;
    bool written; /* some node stands before the next */
    arn_writer out;
} tiling;

static arenaut_status refuse(const tiling *t, const char *name, const char *why) {
    return arn_fail(t->err, ARENAUT_REFUSED, 0, "'%.80s' %s", name ? name : "", why);
}

/* ---- the file ---- */

static uint32_t *list_children(tiling *t, uint32_t parent, uint32_t *n) {
    *n = arn_json_count(t->json, parent);
    uint32_t *list = arn_region_allocate(&t->region, *n, sizeof *list), i = 0;
    for (uint32_t v = list ? arn_json_first(t->json, parent) : ARN_JSON_NONE; v != ARN_JSON_NONE;
         v = arn_json_next(t->json, parent, v)) {
        list[i++] = v;
    }
    return list;
}

static arenaut_status open_graph(tiling *t, uint32_t values, uint32_t nodes) {
    uint32_t n_values = 0;
    t->values = list_children(t, values, &n_values);
    t->nodes = list_children(t, nodes, &t->n_nodes);
    t->of_op = arn_region_allocate(&t->region, t->n_nodes, 1);
    if (!t->values || !t->nodes || !t->of_op) return arn_no_memory(t->err);
    memset(t->of_op, 0, t->n_nodes);
    if (n_values != t->before->n_tensors || t->before->n_methods != 1) {
        return arn_fail(t->err, ARENAUT_REFUSED, 0,
                        "a model with graphs among its arguments cannot be tiled");
    }
    for (uint32_t i = 0; i < t->before->n_ops; i++) {
        const uint32_t node = t->before->ops[i].file_index.id;
        if (node >= t->n_nodes || t->of_op[node]) {
            return refuse(t, t->before->ops[i].name, "is a node of two ops, which is not tiled");
        }
        t->of_op[node] = 1;
    }
    return ARENAUT_OK;
}

/* ---- names ---- */

static arenaut_status name_values(tiling *t) {
    arn_fresh_names fresh;
    const uint32_t n = t->rewrite->n_tensors, n_before = t->before->n_tensors;
    uint32_t *next;
    if (!ARN_REGION_ARRAYS(&t->region, ARN_ARRAY(next, n_before), ARN_ARRAY(t->name, n)) ||
        !arn_pt2_fresh_begin(t->json, "__tile_", t->allocator, &t->region, &fresh)) {
        return arn_no_memory(t->err);
    }
    for (uint32_t i = 0; i < n_before; i++) next[i] = 1;
    for (uint32_t i = 0; i < n; i++) {
        const arenaut_origin *origin = &t->rewrite->tensors[i];
        if (origin->tensor >= n_before || origin->axis != ARENAUT_NONE) {
            return refuse(t, t->rewrite->program->tensors[i].name, "cannot be stored");
        }
        const char *old = t->before->tensors[origin->tensor].name;
        t->name[i] = old;
        if (origin->same) continue;
        if (!arn_pt2_fresh_name(&fresh, old, &next[origin->tensor], &t->name[i])) {
            return arn_no_memory(t->err);
        }
        next[origin->tensor]++;
    }
    return ARENAUT_OK;
}

/* ---- types of values ---- */

static void put_sizes(arn_writer *out, const uint64_t *sizes, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        arn_putf(out, "%s{\"as_int\": %" PRIu64 "}", i > 0 ? ", " : "[", sizes[i]);
    }
    arn_puts(out, n > 0 ? "]" : "[]");
}

/* That of another value, but dense and of these sizes. */
static arenaut_status put_type(tiling *t, const arenaut_tensor *tensor, uint32_t like) {
    const uint32_t sizes = arn_json_get(t->json, like, "sizes");
    const uint32_t strides = arn_json_get(t->json, like, "strides");
    const uint32_t offset = arn_json_get(t->json, like, "storage_offset");
    arenaut_text texts[2] = {{.allocator = t->allocator}, {.allocator = t->allocator}};
    uint64_t *numbers = arn_allocate(t->allocator, tensor->rank, 2 * sizeof *numbers), dense = 1;
    arn_json_patch patch = arn_json_patch_begin(t->json, t->allocator);
    bool room = numbers != NULL;
    for (uint32_t i = tensor->rank; i-- > 0 && room;) {
        numbers[i] = (uint64_t)tensor->dims[i];
        numbers[tensor->rank + i] = dense;
        dense *= numbers[i]; /* below its bytes */
    }
    for (int k = 0; k < 2 && room; k++) {
        arn_writer out = arn_writer_to(arenaut_text_sink(&texts[k]));
        put_sizes(&out, numbers + (size_t)k * tensor->rank, tensor->rank);
        room = !out.failed;
        if (room) arn_json_patch_raw(&patch, k == 0 ? sizes : strides, texts[k].bytes);
    }
    if (room && offset != ARN_JSON_NONE) arn_json_patch_raw(&patch, offset, "{\"as_int\": 0}");
    room = room && arn_json_patch_write_value(&patch, like, &t->out);
    arn_json_patch_free(&patch);
    arn_release(t->allocator, numbers);
    for (int k = 0; k < 2; k++) arenaut_text_free(&texts[k]);
    return room ? ARENAUT_OK : arn_no_memory(t->err);
}

static arenaut_status put_values(tiling *t) {
    arenaut_status st = ARENAUT_OK;
    arn_puts(&t->out, "{");
    for (uint32_t i = 0; i < t->rewrite->n_tensors && st == ARENAUT_OK; i++) {
        const arenaut_origin *origin = &t->rewrite->tensors[i];
        const uint32_t value = t->values[origin->tensor];
        if (i > 0) arn_puts(&t->out, ", ");
        arn_put_json_string(&t->out, t->name[i]);
        arn_puts(&t->out, ": ");
        if (origin->same) arn_json_put_value(t->json, value, &t->out);
        else st = put_type(t, &t->rewrite->program->tensors[i], value);
    }
    arn_puts(&t->out, "}");
    return st;
}

/* ---- nodes ---- */

static void begin_node(tiling *t) {
    if (t->written) arn_puts(&t->out, ", ");
    t->written = true;
}

/* Nodes that are no ops compute with scalars only: they keep their order. */
static void put_scalars_before(tiling *t, uint32_t node) {
    for (; t->n_passed < node; t->n_passed++) {
        if (t->of_op[t->n_passed]) continue;
        begin_node(t);
        arn_json_put_value(t->json, t->nodes[t->n_passed], &t->out);
    }
}

/* The argument of a node; ARN_JSON_NONE if it is left out. */
static uint32_t find_argument(const tiling *t, uint32_t node, const char *name) {
    const uint32_t inputs = arn_json_get(t->json, node, "inputs");
    for (uint32_t v = arn_json_first(t->json, inputs); v != ARN_JSON_NONE;
         v = arn_json_next(t->json, inputs, v)) {
        const uint32_t value = arn_json_get(t->json, v, "name");
        if (value != ARN_JSON_NONE && arn_json_text_is(t->json, value, name)) {
            return arn_json_get(t->json, v, "arg");
        }
    }
    return ARN_JSON_NONE;
}

static bool same_attribute(const arenaut_attribute *a, const arenaut_attribute *b) {
    return a->n_numbers == b->n_numbers && !a->text == !b->text &&
           (!a->text || strcmp(a->text, b->text) == 0) &&
           (a->n_numbers == 0 ||
            memcmp(a->numbers, b->numbers, a->n_numbers * sizeof *a->numbers) == 0);
}

/* Padding as a convolution or a pool states it, the same in front and behind, or as `pad` does: of
 * so many pairs, in front and behind, of the last axis first. */
static bool put_pads(arn_writer *out, const arenaut_attribute *pads, uint32_t pairs) {
    const uint32_t axes = pads->n_numbers / 2, n = pairs ? pairs : axes;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t axis = pairs ? axes - 1 - i : i;
        const int64_t front = pads->numbers[axis], behind = pads->numbers[axes + axis];
        if (!pairs && front != behind) return false;
        arn_putf(out, "%s%" PRId64, i > 0 ? ", " : "{\"as_ints\": [", front);
        if (pairs) arn_putf(out, ", %" PRId64, behind);
    }
    arn_puts(out, "]}");
    return axes > 0 && !out->failed;
}

/* Pairs of the numbers of `pad`, which may leave axes out: some modes must. */
static uint32_t count_pairs(const tiling *t, uint32_t arg, uint32_t axes) {
    const uint32_t list = arg == ARN_JSON_NONE ? arg : arn_json_get(t->json, arg, "as_ints");
    const uint32_t n = list == ARN_JSON_NONE ? 0 : arn_json_count(t->json, list) / 2;
    return n > 0 && n < axes ? n : axes;
}

/* Gives a part its own padding: the only attribute in which it may differ. `text` must last. */
static arenaut_status repad(tiling *t, const arenaut_op *op, const arenaut_op *old, uint32_t node,
                            arenaut_text *text, arn_json_patch *patch) {
    arn_writer out = arn_writer_to(arenaut_text_sink(text));
    if (op->n_attributes != old->n_attributes) return refuse(t, op->name, "has other attributes");
    for (uint32_t i = 0; i < op->n_attributes; i++) {
        const arenaut_attribute *now = &op->attributes[i];
        if (same_attribute(now, &old->attributes[i])) continue;
        uint32_t arg = find_argument(t, node, "padding"), pairs = 0;
        if (arg == ARN_JSON_NONE) {
            arg = find_argument(t, node, "pad");
            pairs = count_pairs(t, arg, now->n_numbers / 2);
        }
        if (strcmp(now->name, "pads") != 0 || now->text || arg == ARN_JSON_NONE ||
            !put_pads(&out, now, pairs)) {
            return out.failed ? arn_no_memory(t->err)
                              : refuse(t, op->name, "cannot state the padding of a tile");
        }
        arn_json_patch_raw(patch, arg, text->bytes);
    }
    return ARENAUT_OK;
}

/* Renames the tensors of a node, which are as many as the op's. */
static arenaut_status rename_tensors(tiling *t, const arenaut_op *op, uint32_t node,
                                     arn_json_patch *patch) {
    const uint32_t lists[] = {arn_json_get(t->json, node, "inputs"),
                              arn_json_get(t->json, node, "outputs")};
    arn_id_list named = {0};
    bool room = true;
    for (int k = 0; k < 2; k++) {
        for (uint32_t v = arn_json_first(t->json, lists[k]); v != ARN_JSON_NONE && room;
             v = arn_json_next(t->json, lists[k], v)) {
            const uint32_t arg = k == 0 ? arn_json_get(t->json, v, "arg") : v;
            room = arn_pt2_list_tensors(t->json, arg, t->allocator, &named);
        }
    }
    const bool fits = named.n == op->n_inputs + op->n_outputs;
    for (uint32_t i = 0; i < named.n && room && fits; i++) {
        const uint32_t id = i < op->n_inputs ? op->inputs[i] : op->outputs[i - op->n_inputs];
        arn_json_patch_text(patch, arn_json_get(t->json, named.ids[i], "name"), t->name[id]);
    }
    arn_release(t->allocator, named.ids);
    if (!room) return arn_no_memory(t->err);
    return fits ? ARENAUT_OK : refuse(t, op->name, "has other arguments than tensors");
}

/* A part of a node. What is known of its origin stands at the first one alone: it may be long. */
static arenaut_status put_part(tiling *t, const arenaut_op *op, const arenaut_op *old) {
    const uint32_t number = old->file_index.id, node = t->nodes[number];
    const uint32_t name = arn_json_get(t->json, node, "name");
    const uint32_t metadata = arn_json_get(t->json, node, "metadata");
    arenaut_text text = {.allocator = t->allocator};
    arn_json_patch patch = arn_json_patch_begin(t->json, t->allocator);
    arenaut_status st = rename_tensors(t, op, node, &patch);
    if (st == ARENAUT_OK) st = repad(t, op, old, node, &text, &patch);
    if (name != ARN_JSON_NONE && arn_json_type_of(t->json, name) == ARN_JSON_STRING) {
        arn_json_patch_text(&patch, name, t->name[op->outputs[0]]);
    }
    if (t->of_op[number] == 2 && metadata != ARN_JSON_NONE) {
        arn_json_patch_raw(&patch, metadata, "{}");
    }
    t->of_op[number] = 2;
    if (st == ARENAUT_OK && !arn_json_patch_write_value(&patch, node, &t->out)) {
        st = arn_no_memory(t->err);
    }
    arn_json_patch_free(&patch);
    arenaut_text_free(&text);
    return st;
}

/* ---- moves ---- */

/* Of the arguments of a node; `kind` is a field of newer files: by position. */
static void end_argument(tiling *t, bool kind) {
    arn_puts(&t->out, kind ? "}, \"kind\": 1}" : "}}");
}

static void put_tensors(tiling *t, const arenaut_op *op, bool list, bool kind) {
    arn_puts(&t->out, list ? "{\"name\": \"tensors\", \"arg\": {\"as_tensors\": ["
                           : "{\"name\": \"self\", \"arg\": {\"as_tensor\": ");
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        arn_puts(&t->out, i > 0 ? ", {\"name\": " : "{\"name\": ");
        arn_put_json_string(&t->out, t->name[op->inputs[i]]);
        arn_puts(&t->out, "}");
    }
    if (list) arn_puts(&t->out, "]");
    end_argument(t, kind);
}

static bool put_number(tiling *t, const arenaut_op *op, const char *attribute, const char *argument,
                       bool kind) {
    const arenaut_attribute *a = arenaut_op_attribute(op, attribute);
    if (!a || a->text || a->n_numbers != 1) return false;
    arn_putf(&t->out, ", {\"name\": \"%s\", \"arg\": {\"as_int\": %" PRId64, argument,
             a->numbers[0]);
    end_argument(t, kind);
    return true;
}

static bool put_numbers(tiling *t, const arenaut_op *op, const char *attribute,
                        const char *argument, bool kind) {
    const arenaut_attribute *a = arenaut_op_attribute(op, attribute);
    if (!a || a->text || a->n_numbers == 0) return false;
    arn_putf(&t->out, ", {\"name\": \"%s\", \"arg\": {\"as_ints\": [", argument);
    for (uint32_t i = 0; i < a->n_numbers; i++) {
        arn_putf(&t->out, "%s%" PRId64, i > 0 ? ", " : "", a->numbers[i]);
    }
    arn_puts(&t->out, "]");
    end_argument(t, kind);
    return true;
}

/* Means whose axes stay, of one element. */
static bool put_mean(tiling *t, const arenaut_op *op, bool kind) {
    const arenaut_attribute *keeps = arenaut_op_attribute(op, "keepdim");
    if (op->n_inputs != 1 || op->n_attributes != 2 || !keeps || keeps->n_numbers != 1 ||
        keeps->numbers[0] != 1) {
        return false;
    }
    put_tensors(t, op, false, kind);
    if (!put_numbers(t, op, "axis", "dim", kind)) return false;
    arn_puts(&t->out, ", {\"name\": \"keepdim\", \"arg\": {\"as_bool\": true");
    end_argument(t, kind);
    return true;
}

/* The sum of a tensor and a number, as another node states it. */
static bool put_raised(tiling *t, const arenaut_op *op, bool kind) {
    const arenaut_attribute *number = arenaut_op_attribute(op, "other");
    if (op->n_inputs != 1 || op->n_attributes != 1 || !number || !number->text) return false;
    put_tensors(t, op, false, kind);
    arn_putf(&t->out, ", {\"name\": \"other\", \"arg\": {\"as_float\": %s", number->text);
    end_argument(t, kind);
    return true;
}

/* Arithmetic on one tensor or two, without other arguments. */
static bool put_arithmetic(tiling *t, const arenaut_op *op, bool kind) {
    arenaut_op first = *op;
    first.n_inputs = 1;
    if (op->n_inputs == 0 || op->n_inputs > 2 || op->n_attributes > 0) return false;
    put_tensors(t, &first, false, kind);
    if (op->n_inputs == 1) return true;
    arn_puts(&t->out, ", {\"name\": \"other\", \"arg\": {\"as_tensor\": {\"name\": ");
    arn_put_json_string(&t->out, t->name[op->inputs[1]]);
    arn_puts(&t->out, "}");
    end_argument(t, kind);
    return true;
}

static bool put_shape(tiling *t, const arenaut_op *op, bool kind) {
    if (op->n_inputs != 1 || op->n_attributes != 1) return false;
    put_tensors(t, op, false, kind);
    return put_numbers(t, op, "size", "size", kind);
}

/* What an op that moves data is called in a file, and its arguments behind the tensors. */
static bool put_move_arguments(tiling *t, const arenaut_op *op, bool kind) {
    static const struct {
        const char *name;
        bool (*put)(tiling *t, const arenaut_op *op, bool kind);
    } computed[] = {{"aten::mean.dim", put_mean},         {"aten::add.Scalar", put_raised},
                    {"aten::add.Tensor", put_arithmetic}, {"aten::sub.Tensor", put_arithmetic},
                    {"aten::mul.Tensor", put_arithmetic}, {"aten::sqrt", put_arithmetic},
                    {"aten::reciprocal", put_arithmetic}, {"aten::view_copy", put_shape},
                    {"aten::expand_copy", put_shape}};
    if (strcmp(op->name, "aten::cat") == 0) {
        put_tensors(t, op, true, kind);
        return put_number(t, op, "axis", "dim", kind);
    }
    for (size_t i = 0; i < sizeof computed / sizeof *computed; i++) {
        if (strcmp(op->name, computed[i].name) == 0) return computed[i].put(t, op, kind);
    }
    if (strcmp(op->name, "aten::slice_copy.Tensor") != 0 || op->n_inputs != 1) return false;
    put_tensors(t, op, false, kind);
    return put_number(t, op, "axis", "dim", kind) && put_number(t, op, "start", "start", kind) &&
           put_number(t, op, "end", "end", kind);
}

/* "torch.ops.aten.cat.default" of "aten::cat". */
static void put_target(tiling *t, const char *name) {
    const char *base = strstr(name, "::");
    arn_putf(&t->out, "{\"target\": \"torch.ops.aten.%s%s\", \"inputs\": [", base + 2,
             strchr(base, '.') ? "" : ".default");
}

/* Files of older versions lack some fields, which their readers would not know. */
static arenaut_status put_move(tiling *t, const arenaut_op *op) {
    const uint32_t like = t->nodes[0], inputs = arn_json_get(t->json, like, "inputs");
    const bool kind = arn_json_get(t->json, inputs + 1, "kind") != ARN_JSON_NONE;
    const char *made = t->name[op->outputs[0]];
    if (!op->name || strncmp(op->name, "aten::", 6) != 0) return refuse(t, op->name, "is no node");
    put_target(t, op->name);
    if (!put_move_arguments(t, op, kind)) return refuse(t, op->name, "is not known as a move");
    arn_puts(&t->out, "], \"outputs\": [{\"as_tensor\": {\"name\": ");
    arn_put_json_string(&t->out, made);
    arn_puts(&t->out, "}}], \"metadata\": {}");
    if (arn_json_get(t->json, like, "is_hop_single_tensor_return") != ARN_JSON_NONE) {
        arn_puts(&t->out, ", \"is_hop_single_tensor_return\": null");
    }
    if (arn_json_get(t->json, like, "name") != ARN_JSON_NONE) {
        arn_puts(&t->out, ", \"name\": ");
        arn_put_json_string(&t->out, made);
    }
    arn_puts(&t->out, "}");
    return ARENAUT_OK;
}

/* Numbers alone do not tell: those that became free were given away. */
static bool are_as_before(const tiling *t, const uint32_t *now, const uint32_t *before,
                          uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        if (now[i] != before[i]) return false;
        if (now[i] != ARENAUT_NONE && !t->rewrite->tensors[now[i]].same) return false;
    }
    return true;
}

static bool is_as_before(const tiling *t, const arenaut_op *op, const arenaut_op *old) {
    return op->n_inputs == old->n_inputs && op->n_outputs == old->n_outputs &&
           are_as_before(t, op->inputs, old->inputs, op->n_inputs) &&
           are_as_before(t, op->outputs, old->outputs, op->n_outputs);
}

/* An op without a result has nothing that a tile could be. */
static arenaut_status put_op(tiling *t, uint32_t index) {
    const arenaut_op *op = &t->rewrite->program->ops[index];
    const uint32_t before = t->rewrite->ops[index];
    if (before == ARENAUT_NONE) {
        begin_node(t);
        return put_move(t, op);
    }
    const arenaut_op *old = &t->before->ops[before];
    put_scalars_before(t, old->file_index.id);
    begin_node(t);
    if (!is_as_before(t, op, old)) return put_part(t, op, old);
    arn_json_put_value(t->json, t->nodes[old->file_index.id], &t->out);
    t->of_op[old->file_index.id] = 2;
    return ARENAUT_OK;
}

static arenaut_status put_nodes(tiling *t) {
    arenaut_status st = ARENAUT_OK;
    arn_puts(&t->out, "[");
    for (uint32_t i = 0; i < t->rewrite->n_ops && st == ARENAUT_OK; i++) st = put_op(t, i);
    put_scalars_before(t, t->n_nodes);
    arn_puts(&t->out, "]");
    return st;
}

/* ---- all of it ---- */

static bool is_of_program(const tiling *t) {
    const arenaut_rewrite *r = t->rewrite;
    bool fits = r->n_ops_before == t->before->n_ops && r->n_tensors >= t->before->n_tensors &&
                r->program->n_tensors >= r->n_tensors && r->program->n_ops >= r->n_ops;
    for (uint32_t i = 0; i < r->n_ops && fits; i++) {
        fits = r->ops[i] == ARENAUT_NONE || r->ops[i] < t->before->n_ops;
    }
    return fits;
}

static arenaut_status put_text(tiling *t, arenaut_text *to, arenaut_status (*put)(tiling *)) {
    t->out = arn_writer_to(arenaut_text_sink(to));
    const arenaut_status st = put(t);
    return st == ARENAUT_OK && t->out.failed ? arn_no_memory(t->err) : st;
}

arenaut_status arn_pt2_put_tiles(const arn_json *json, uint32_t graph,
                                 const arenaut_program *program, const arenaut_rewrite *rewrite,
                                 arn_json_patch *patch, arenaut_text texts[2],
                                 const arenaut_allocator *allocator, arenaut_error *err) {
    const uint32_t values = arn_json_get(json, graph, "tensor_values");
    const uint32_t nodes = arn_json_get(json, graph, "nodes");
    tiling t = {
        .rewrite = rewrite, .before = program, .json = json, .allocator = allocator, .err = err};
    if (!is_of_program(&t)) {
        return arn_fail(err, ARENAUT_REFUSED, 0, "the tiles are of another program");
    }
    arn_region_init(&t.region, allocator);
    arenaut_status st = open_graph(&t, values, nodes);
    if (st == ARENAUT_OK) st = name_values(&t);
    if (st == ARENAUT_OK) st = put_text(&t, &texts[0], put_values);
    if (st == ARENAUT_OK) st = put_text(&t, &texts[1], put_nodes);
    arn_region_free(&t.region);
    if (st != ARENAUT_OK) return st;
    arn_json_patch_raw(patch, values, texts[0].bytes);
    arn_json_patch_raw(patch, nodes, texts[1].bytes);
    return ARENAUT_OK;
}
