/* Writer of a model's nodes in tiles. A part of a node is a copy of it with other values and, of a
 * window, with padding of its own; nodes that move data, and the numbers that these read, are
 * added, with names of their own. Types of new values are not stated: where ONNX Runtime knows all
 * sizes, it lets tiles share memory by a plan that keeps most of them to the end, and needs two to
 * four times as much. All other fields are copied as they stand: weights stay where they are, in
 * the file or beside it. Sizes that the graph's inputs leave open are stated, since tiles have
 * fixed ones. */
#include <inttypes.h>
#include <string.h>

#include <arenaut/rewrite.h>

#include "core/cursor.h"
#include "core/fail.h"
#include "core/memory.h"
#include "core/protobuf.h"
#include "formats/fresh_names.h"
#include "formats/onnx/onnx.h"
#include "formats/onnx/onnx_schema.h"
#include "ir/program.h"

enum {
    FIRST_IR = 4,           /* version of the format in which constants need not be inputs, too */
    MOST_BYTES = INT32_MAX, /* of a protocol buffer */
};

typedef struct tiling {
    const uint8_t *data;
    size_t size;
    const arenaut_rewrite *rewrite;
    const arenaut_program *program; /* the rewritten one */
    arenaut_program *before;        /* the file's */
    const arenaut_allocator *allocator;
    arenaut_error *err;
    arn_region region;
    arn_pb_bytes graph;
    arn_pb_bytes *nodes; /* each with its tag and length, */
    arn_pb_bytes *inner; /* and without */
    arn_name *old;       /* per tensor of the file: its name there */
    arn_name *name;      /* per tensor of the rewritten program */
    uint32_t *number;    /* per tensor of the file, and one more: of its next tile's name */
    arn_fresh_names fresh;
} tiling;

static const arenaut_op *op_of(const tiling *t, uint32_t op) { return &t->program->ops[op]; }

/* ---- contents of the file ---- */

static uint32_t list_nodes(tiling *t) {
    arn_pb graph = arn_pb_open(t->data, t->graph);
    arn_pb_field field;
    uint32_t n = 0;
    for (size_t at = graph.at; arn_pb_next(&graph, &field); at = graph.at) {
        if (!arn_pb_is(&field, GRAPH_NODE, ARN_PB_BYTES)) continue;
        if (n < t->before->n_ops) {
            t->nodes[n] = (arn_pb_bytes){at, graph.at - at};
            t->inner[n] = field.bytes;
        }
        n++;
    }
    return n;
}

/* Whether the node names just the arguments that its op has; takes these names. */
static bool take_arguments(tiling *t, uint32_t node) {
    const arenaut_op *op = &t->before->ops[node];
    arn_pb message = arn_pb_open(t->data, t->inner[node]);
    arn_pb_field field;
    uint32_t n_inputs = 0, n_outputs = 0;
    while (arn_pb_next(&message, &field)) {
        const bool input = arn_pb_is(&field, NODE_INPUT, ARN_PB_BYTES);
        if (!input && !arn_pb_is(&field, NODE_OUTPUT, ARN_PB_BYTES)) continue;
        const uint32_t i = input ? n_inputs++ : n_outputs++;
        if (i >= (input ? op->n_inputs : op->n_outputs)) return false;
        const uint32_t tensor = input ? op->inputs[i] : op->outputs[i];
        if ((field.bytes.size == 0) != (tensor == ARENAUT_NONE)) return false;
        if (tensor == ARENAUT_NONE) continue;
        t->old[tensor] = (arn_name){t->data + field.bytes.at, field.bytes.size};
    }
    return n_inputs == op->n_inputs && n_outputs == op->n_outputs;
}

/* Tensors of the file keep their names, as far as nodes have them; new ones are named after the
 * tensor that they are a tile of. */
static bool name_tensor(tiling *t, uint32_t tensor) {
    static const arn_name number = {(const uint8_t *)"number", 6};
    const arenaut_origin *origin = &t->rewrite->tensors[tensor];
    const bool is_new = origin->tensor == ARENAUT_NONE;
    const uint32_t of = is_new ? t->before->n_tensors : origin->tensor;
    if (!is_new && origin->same) {
        t->name[tensor] = t->old[of];
        return true;
    }
    return arn_fresh_names_make(&t->fresh, is_new ? number : t->old[of], &t->number[of],
                                &t->name[tensor]);
}

/* ---- messages ---- */

/* A message that is written to a text of its own, and then to `out` as field `number`. */
typedef struct part {
    arenaut_text text;
    arn_writer to;
} part;

static void begin_part(const tiling *t, part *p) {
    p->text = (arenaut_text){.allocator = t->allocator};
    p->to = arn_writer_to(arenaut_text_sink(&p->text));
}

static void end_part(part *p, arn_writer *out, uint32_t number) {
    if (p->to.failed) out->failed = true;
    else arn_pb_put_bytes(out, number, p->text.bytes, p->text.size);
    arenaut_text_free(&p->text);
}

static void put_name(arn_writer *out, uint32_t number, arn_name name) {
    arn_pb_put_bytes(out, number, name.text, name.length);
}

/* One number, or several. */
static void put_attribute(const tiling *t, const arenaut_attribute *from, arn_writer *out) {
    const bool list = from->n_numbers > 1;
    part p;
    begin_part(t, &p);
    arn_pb_put_text(&p.to, ATTRIBUTE_NAME, from->name);
    for (uint32_t i = 0; i < from->n_numbers; i++) {
        arn_pb_put_number(&p.to, list ? ATTRIBUTE_INTS : ATTRIBUTE_I, (uint64_t)from->numbers[i]);
    }
    arn_pb_put_number(&p.to, ATTRIBUTE_TYPE, list ? ATTRIBUTE_TYPE_INTS : ATTRIBUTE_TYPE_INT);
    end_part(&p, out, NODE_ATTRIBUTE);
}

/* ---- nodes ---- */

static const arenaut_attribute *padding_of(const arenaut_op *op) {
    for (uint32_t i = 0; i < op->n_attributes; i++) {
        if (strcmp(op->attributes[i].name, "pads") == 0) return &op->attributes[i];
    }
    return NULL;
}

static bool pads_alike(const arenaut_op *a, const arenaut_op *b) {
    const arenaut_attribute *left = padding_of(a), *right = padding_of(b);
    if (a->n_attributes != b->n_attributes || !left || !right) return !left && !right;
    return left->n_numbers == right->n_numbers &&
           memcmp(left->numbers, right->numbers, left->n_numbers * sizeof *left->numbers) == 0;
}

static bool is_padding(const tiling *t, arn_pb_bytes attribute) {
    arn_pb message = arn_pb_open(t->data, attribute);
    arn_pb_field field;
    while (arn_pb_next(&message, &field)) {
        if (!arn_pb_is(&field, ATTRIBUTE_NAME, ARN_PB_BYTES)) continue;
        const char *name = (const char *)t->data + field.bytes.at;
        return (field.bytes.size == 4 && memcmp(name, "pads", 4) == 0) ||
               (field.bytes.size == 8 && memcmp(name, "auto_pad", 8) == 0);
    }
    return false;
}

static arn_name name_of(const tiling *t, uint32_t argument) {
    static const arn_name none = {(const uint8_t *)"", 0};
    return argument == ARENAUT_NONE ? none : t->name[argument];
}

/* The fields of the node that the op is a part of, with other values and, if it is padded
 * otherwise, its padding. */
static bool put_part(tiling *t, uint32_t op, const uint32_t *arguments, arn_writer *out) {
    const arenaut_op *made = op_of(t, op), *before = &t->before->ops[t->rewrite->ops[op]];
    const bool repadded = !pads_alike(made, before);
    arn_pb message = arn_pb_open(t->data, t->inner[t->rewrite->ops[op]]);
    arn_pb_field field;
    uint32_t input = 0, output = made->n_inputs, number = 1;
    for (size_t at = message.at; arn_pb_next(&message, &field); at = message.at) {
        arn_name name = {t->data + field.bytes.at, field.bytes.size};
        if (arn_pb_is(&field, NODE_INPUT, ARN_PB_BYTES)) {
            name = name_of(t, arguments[input++]);
        } else if (arn_pb_is(&field, NODE_OUTPUT, ARN_PB_BYTES)) {
            name = name_of(t, arguments[output++]);
        } else if (arn_pb_is(&field, NODE_NAME, ARN_PB_BYTES) && name.length > 0) {
            if (!arn_fresh_names_make(&t->fresh, name, &number, &name)) return false;
        } else {
            const bool pads = repadded && arn_pb_is(&field, NODE_ATTRIBUTE, ARN_PB_BYTES) &&
                              is_padding(t, field.bytes);
            if (!pads) arn_put(out, t->data + at, message.at - at);
            continue;
        }
        put_name(out, field.number, name);
    }
    if (repadded) put_attribute(t, padding_of(made), out);
    return true;
}

static bool put_mover(tiling *t, uint32_t op, const uint32_t *arguments, arn_writer *out) {
    const arenaut_op *made = op_of(t, op);
    for (uint32_t i = 0; i < made->n_inputs + made->n_outputs; i++) {
        put_name(out, i < made->n_inputs ? NODE_INPUT : NODE_OUTPUT, name_of(t, arguments[i]));
    }
    arn_pb_put_text(out, NODE_OP_TYPE, made->name);
    for (uint32_t i = 0; i < made->n_attributes; i++) put_attribute(t, &made->attributes[i], out);
    return true;
}

/* The op has the arguments of the op before, and all of its work. */
static bool is_as_before(const tiling *t, uint32_t op, const uint32_t *arguments) {
    const arenaut_op *before = &t->before->ops[t->rewrite->ops[op]];
    for (uint32_t i = 0; i < before->n_inputs + before->n_outputs; i++) {
        const uint32_t old =
            i < before->n_inputs ? before->inputs[i] : before->outputs[i - before->n_inputs];
        if (old == ARENAUT_NONE && arguments[i] == ARENAUT_NONE) continue;
        if (old == ARENAUT_NONE || arguments[i] == ARENAUT_NONE) return false;
        const arenaut_origin *origin = &t->rewrite->tensors[arguments[i]];
        if (!origin->same || origin->tensor != old) return false;
    }
    return true;
}

static bool put_node(tiling *t, uint32_t op, const uint32_t *arguments, arn_writer *out) {
    const uint32_t before = t->rewrite->ops[op];
    if (before != ARENAUT_NONE && is_as_before(t, op, arguments)) {
        arn_put(out, t->data + t->nodes[before].at, t->nodes[before].size);
        return true;
    }
    part p;
    begin_part(t, &p);
    const bool room = before == ARENAUT_NONE ? put_mover(t, op, arguments, &p.to)
                                             : put_part(t, op, arguments, &p.to);
    end_part(&p, out, GRAPH_NODE);
    return room;
}

static bool put_nodes(tiling *t, arn_writer *out) {
    const uint32_t *arguments = t->rewrite->arguments;
    for (uint32_t op = 0; op < t->rewrite->n_ops; op++) {
        if (!put_node(t, op, arguments, out)) return false;
        arguments += op_of(t, op)->n_inputs + op_of(t, op)->n_outputs;
    }
    return true;
}

/* ---- constants ---- */

static uint64_t type_number(arenaut_dtype dtype) {
    return dtype == ARENAUT_DTYPE_INT64 ? TYPE_OF_INT64 : TYPE_OF_FLOAT;
}

/* A number of float32, kept as the bits of a double, or a whole one. */
static void put_value(arenaut_dtype dtype, int64_t value, arn_writer *out) {
    const bool is_real = dtype == ARENAUT_DTYPE_FLOAT32;
    uint8_t bytes[8];
    uint32_t low = (uint32_t)value;
    if (is_real) {
        double wide;
        memcpy(&wide, &value, sizeof wide);
        const float real = (float)wide;
        memcpy(&low, &real, sizeof low);
    }
    arn_store_u32(bytes, low);
    arn_store_u32(bytes + 4, (uint32_t)((uint64_t)value >> 32));
    arn_put(out, bytes, is_real ? 4 : sizeof bytes);
}

/* The numbers of a new constant. */
static void put_constant(const tiling *t, uint32_t tensor, arn_writer *out) {
    const arenaut_tensor *constant = &t->program->tensors[tensor];
    part p, raw;
    begin_part(t, &p);
    begin_part(t, &raw);
    for (uint32_t i = 0; i < constant->rank; i++) {
        arn_pb_put_number(&p.to, TENSOR_DIMS, (uint64_t)constant->dims[i]);
    }
    arn_pb_put_number(&p.to, TENSOR_DATA_TYPE, type_number(constant->dtype));
    put_name(&p.to, TENSOR_NAME, t->name[tensor]);
    for (uint32_t i = 0; i < constant->n_values; i++) {
        put_value(constant->dtype, constant->values[i], &raw.to);
    }
    end_part(&raw, &p.to, TENSOR_RAW_DATA);
    end_part(&p, out, GRAPH_INITIALIZER);
}

static void put_constants(const tiling *t, arn_writer *out) {
    for (uint32_t i = 0; i < t->rewrite->n_tensors; i++) {
        const bool is_new = t->rewrite->tensors[i].tensor == ARENAUT_NONE;
        if (is_new && t->program->tensors[i].cls == ARENAUT_CONSTANT) put_constant(t, i, out);
    }
}

/* ---- inputs ---- */

/* A ValueInfoProto: name, type, sizes. */
static void put_info(const tiling *t, arn_name name, const arenaut_tensor *tensor,
                     arn_writer *out) {
    part info, type, of, shape;
    begin_part(t, &info);
    begin_part(t, &type);
    begin_part(t, &of);
    begin_part(t, &shape);
    for (uint32_t i = 0; i < tensor->rank; i++) {
        part dim;
        begin_part(t, &dim);
        arn_pb_put_number(&dim.to, DIM_VALUE, (uint64_t)tensor->dims[i]);
        end_part(&dim, &shape.to, SHAPE_DIM);
    }
    arn_pb_put_number(&of.to, TENSOR_TYPE_ELEMENT, type_number(tensor->dtype));
    end_part(&shape, &of.to, TENSOR_TYPE_SHAPE);
    end_part(&of, &type.to, TYPE_TENSOR);
    put_name(&info.to, VALUE_INFO_NAME, name);
    end_part(&type, &info.to, VALUE_INFO_TYPE);
    end_part(&info, out, GRAPH_INPUT);
}

/* The input of the rewritten program with this name, if the file leaves a size of it open. */
static uint32_t find_open(const tiling *t, arn_pb_bytes info) {
    const arenaut_method *method = &t->before->methods[0];
    arn_pb message = arn_pb_open(t->data, info);
    arn_pb_field field;
    while (arn_pb_next(&message, &field)) {
        if (!arn_pb_is(&field, VALUE_INFO_NAME, ARN_PB_BYTES)) continue;
        for (uint32_t i = 0; i < method->n_inputs; i++) {
            const uint32_t old = method->inputs[i];
            const arn_name name = t->old[old];
            const bool same = name.length == field.bytes.size &&
                              memcmp(name.text, t->data + field.bytes.at, name.length) == 0;
            if (same && name.length > 0 && t->before->tensors[old].dim_exprs) {
                return t->program->methods[0].inputs[i];
            }
        }
    }
    return ARENAUT_NONE;
}

static bool put_input(const tiling *t, arn_pb_bytes info, arn_writer *out) {
    const uint32_t open = find_open(t, info);
    if (open == ARENAUT_NONE) return false;
    put_info(t, t->name[open], &t->program->tensors[open], out);
    return true;
}

/* ---- the graph, and the model around it ---- */

/* All nodes stand where the first one stood. */
static arenaut_status put_graph(tiling *t, arn_writer *out) {
    arn_pb graph = arn_pb_open(t->data, t->graph);
    arn_pb_field field;
    bool begun = false;
    for (size_t at = graph.at; arn_pb_next(&graph, &field); at = graph.at) {
        const bool node = arn_pb_is(&field, GRAPH_NODE, ARN_PB_BYTES);
        const bool input = arn_pb_is(&field, GRAPH_INPUT, ARN_PB_BYTES);
        if (node && !begun && !put_nodes(t, out)) return arn_no_memory(t->err);
        begun = begun || node;
        if (node || (input && put_input(t, field.bytes, out))) continue;
        arn_put(out, t->data + at, graph.at - at);
    }
    put_constants(t, out);
    return out->failed ? arn_no_memory(t->err) : ARENAUT_OK;
}

static arenaut_status check_size(const tiling *t, size_t bytes) {
    if (bytes <= MOST_BYTES) return ARENAUT_OK;
    return arn_fail(t->err, ARENAUT_TOO_LARGE, 0,
                    "the tiled model would have more than 2 GiB, which no ONNX file may have; "
                    "weights may lie in a file beside it");
}

static arenaut_status put_model(tiling *t, arenaut_sink sink) {
    const arn_pb_bytes all = {0, t->size};
    arn_pb model = arn_pb_open(t->data, all);
    arn_pb_field field;
    part graph;
    arn_writer out = arn_writer_to(sink);
    begin_part(t, &graph);
    arenaut_status st = check_size(t, t->size); /* before all of it is read */
    if (st == ARENAUT_OK) st = put_graph(t, &graph.to);
    if (st == ARENAUT_OK) st = check_size(t, graph.text.size + (t->size - t->graph.size));
    for (size_t at = 0; st == ARENAUT_OK && arn_pb_next(&model, &field); at = model.at) {
        const bool it =
            arn_pb_is(&field, MODEL_GRAPH, ARN_PB_BYTES) && field.bytes.at == t->graph.at;
        if (it) arn_pb_put_bytes(&out, MODEL_GRAPH, graph.text.bytes, graph.text.size);
        else arn_put(&out, t->data + at, model.at - at);
    }
    arenaut_text_free(&graph.text);
    return st == ARENAUT_OK ? arn_writer_finish(&out, t->err) : st;
}

/* ---- all of it ---- */

/* Whether the rewrite is of this file: a caller may have mixed them up. */
static bool is_of_program(const tiling *t) {
    const arenaut_rewrite *r = t->rewrite;
    bool fits = t->before->n_methods == 1 && t->program->n_methods == 1 && r->arguments &&
                r->n_ops_before == t->before->n_ops && r->n_ops <= t->program->n_ops &&
                r->n_tensors <= t->program->n_tensors &&
                t->program->methods[0].n_inputs == t->before->methods[0].n_inputs;
    for (uint32_t i = 0; fits && i < r->n_ops; i++) {
        fits = r->ops[i] == ARENAUT_NONE || r->ops[i] < t->before->n_ops;
    }
    for (uint32_t i = 0; fits && i < r->n_tensors; i++) {
        fits = r->tensors[i].tensor == ARENAUT_NONE ||
               (r->tensors[i].tensor < t->before->n_tensors && r->tensors[i].axis == ARENAUT_NONE);
    }
    return fits;
}

static bool allocate(tiling *t) {
    const uint32_t n_ops = t->before->n_ops, n = t->before->n_tensors;
    if (!ARN_REGION_ARRAYS(&t->region, ARN_ARRAY(t->nodes, 2 * (size_t)n_ops), ARN_ARRAY(t->old, n),
                           ARN_ARRAY(t->name, t->rewrite->n_tensors),
                           ARN_ARRAY(t->number, (size_t)n + 1))) {
        return false;
    }
    t->inner = t->nodes + n_ops;
    for (uint32_t i = 0; i <= n; i++) t->number[i] = 1;
    return true;
}

static arenaut_status check_version(const tiling *t) {
    const arn_pb_bytes all = {0, t->size};
    arn_pb model = arn_pb_open(t->data, all);
    arn_pb_field field;
    uint64_t version = 0;
    while (arn_pb_next(&model, &field)) {
        if (arn_pb_is(&field, MODEL_IR_VERSION, ARN_PB_VARINT)) version = field.value;
    }
    if (version >= FIRST_IR) return ARENAUT_OK;
    return arn_fail(t->err, ARENAUT_REFUSED, 0,
                    "the model is of version %" PRIu64
                    " of the format, in which no constants can "
                    "be added; version %d and later can be tiled",
                    version, FIRST_IR);
}

static arenaut_status take_nodes(tiling *t) {
    const uint32_t n = list_nodes(t), n_ops = t->before->n_ops;
    if (n != n_ops) {
        return arn_fail(t->err, ARENAUT_REFUSED, 0,
                        "nodes of functions cannot be tiled: the graph has %" PRIu32
                        " nodes, the program %" PRIu32 " ops",
                        n, n_ops);
    }
    for (uint32_t i = 0; i < n; i++) {
        if (take_arguments(t, i)) continue;
        return arn_fail(t->err, ARENAUT_REFUSED, 0, "node %" PRIu32 " has other values than its op",
                        i);
    }
    return ARENAUT_OK;
}

static arenaut_status write_tiles(tiling *t, arenaut_sink sink) {
    if (!is_of_program(t)) {
        return arn_fail(t->err, ARENAUT_REFUSED, 0, "the program is another one than the model's");
    }
    if (!allocate(t)) return arn_no_memory(t->err);
    arenaut_status st = check_version(t);
    if (st == ARENAUT_OK) st = take_nodes(t);
    if (st != ARENAUT_OK) return st;
    if (!arn_onnx_take_names(&t->fresh, t->data, t->graph)) return arn_no_memory(t->err);
    for (uint32_t i = 0; i < t->rewrite->n_tensors; i++) {
        if (!name_tensor(t, i)) return arn_no_memory(t->err);
    }
    return put_model(t, sink);
}

arenaut_status arn_onnx_write_tiles(const arenaut_result *result, arn_pb_bytes graph,
                                    arenaut_sink sink, const arenaut_allocator *allocator,
                                    arenaut_error *err) {
    tiling t = {.data = result->file,
                .size = result->file_size,
                .rewrite = result->rewrite,
                .program = result->rewrite->program,
                .allocator = allocator,
                .err = err,
                .graph = graph};
    arn_region_init(&t.region, allocator);
    t.fresh = (arn_fresh_names){.region = &t.region, .mark = "__tile_"};
    arenaut_status st =
        arn_onnx_read(result->file, result->file_size, NULL, allocator, &t.before, err);
    if (st == ARENAUT_OK) st = write_tiles(&t, sink);
    arn_program_free(t.before);
    arn_region_free(&t.region);
    return st;
}
