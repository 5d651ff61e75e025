/* Writer of a model's nodes in another schedule, with rematerialized nodes if there are any. With
 * tiles of nodes, onnx_tiles.c writes the model. */
#include <inttypes.h>
#include <string.h>

#include <arenaut/rewrite.h>

#include "core/fail.h"
#include "core/memory.h"
#include "core/protobuf.h"
#include "core/writer.h"
#include "formats/fresh_names.h"
#include "formats/onnx/onnx.h"
#include "formats/onnx/onnx_schema.h"
#include "ir/program.h"

/* Writer of rematerialized nodes in the main graph of a model: each copy stands there with names of
 * its own for itself and for its results, and the graph states the same types of these as of the
 * first ones. Readers of other values than before name them. All other fields are copied as they
 * stand. */

typedef struct again {
    const uint8_t *data;
    size_t size;
    const arenaut_rewrite *rewrite;
    const arenaut_allocator *allocator;
    arenaut_error *err;
    arenaut_program *program; /* the file's */
    arn_region region;
    arn_pb_bytes graph;
    arn_pb_bytes *nodes; /* each with its tag and length, */
    arn_pb_bytes *inner; /* and without */
    size_t *first;       /* per op of the rewritten program: its arguments in the rewrite's list */
    arn_name *name;      /* per tensor behind the file's */
    uint32_t *number;    /* per tensor of the file: of its next copy's name */
    arn_fresh_names fresh;
} again;

static const arenaut_op *old_op(const again *a, uint32_t op) {
    return &a->program->ops[a->rewrite->ops[op]];
}

static uint32_t old_argument(const arenaut_op *old, uint32_t i) {
    return i < old->n_inputs ? old->inputs[i] : old->outputs[i - old->n_inputs];
}

static arn_name name_at(const again *a, arn_pb_bytes bytes) {
    return (arn_name){a->data + bytes.at, bytes.size};
}

/* ---- contents of the file ---- */

static uint32_t list_nodes(again *a) {
    arn_pb graph = arn_pb_open(a->data, a->graph);
    arn_pb_field field;
    uint32_t n = 0;
    for (size_t at = graph.at; arn_pb_next(&graph, &field); at = graph.at) {
        if (!arn_pb_is(&field, GRAPH_NODE, ARN_PB_BYTES)) continue;
        if (n < a->program->n_ops) {
            a->nodes[n] = (arn_pb_bytes){at, graph.at - at};
            a->inner[n] = field.bytes;
        }
        n++;
    }
    return n;
}

/* Whether the node names just the arguments that its op has. */
static bool is_node_of(const again *a, uint32_t node) {
    const arenaut_op *op = &a->program->ops[node];
    arn_pb message = arn_pb_open(a->data, a->inner[node]);
    arn_pb_field field;
    uint32_t n_inputs = 0, n_outputs = 0;
    bool same = true;
    while (arn_pb_next(&message, &field)) {
        const bool input = arn_pb_is(&field, NODE_INPUT, ARN_PB_BYTES);
        if (!input && !arn_pb_is(&field, NODE_OUTPUT, ARN_PB_BYTES)) continue;
        const uint32_t i = input ? n_inputs++ : n_outputs++;
        if (i >= (input ? op->n_inputs : op->n_outputs)) return false;
        const uint32_t t = input ? op->inputs[i] : op->outputs[i];
        same = same && (field.bytes.size == 0) == (t == ARENAUT_NONE);
    }
    return same && n_inputs == op->n_inputs && n_outputs == op->n_outputs;
}

/* ---- nodes ---- */

static const uint32_t *arguments_of(const again *a, uint32_t op) {
    return a->rewrite->arguments + a->first[op];
}

static bool is_copy(const again *a, uint32_t tensor) {
    return tensor != ARENAUT_NONE && tensor >= a->program->n_tensors;
}

static arn_name name_of(const again *a, uint32_t tensor, arn_name old) {
    return is_copy(a, tensor) ? a->name[tensor - a->program->n_tensors] : old;
}

/* Results of a further run get their names when that is put; readers come behind it. */
static bool name_results(again *a, uint32_t op) {
    const arenaut_op *old = old_op(a, op);
    const uint32_t *now = arguments_of(a, op) + old->n_inputs;
    arn_pb message = arn_pb_open(a->data, a->inner[a->rewrite->ops[op]]);
    arn_pb_field field;
    uint32_t i = 0;
    while (arn_pb_next(&message, &field)) {
        if (!arn_pb_is(&field, NODE_OUTPUT, ARN_PB_BYTES)) continue;
        const uint32_t t = now[i], of = old->outputs[i++];
        if (!is_copy(a, t)) continue;
        arn_name *name = &a->name[t - a->program->n_tensors];
        if (!arn_fresh_names_make(&a->fresh, name_at(a, field.bytes), &a->number[of], name)) {
            return false;
        }
    }
    return true;
}

static bool makes_copies(const again *a, uint32_t op) {
    const arenaut_op *old = old_op(a, op);
    const uint32_t *now = arguments_of(a, op);
    bool any = false;
    for (uint32_t i = 0; i < old->n_outputs; i++) any = any || is_copy(a, now[old->n_inputs + i]);
    return any;
}

static bool is_as_before(const again *a, uint32_t op) {
    const arenaut_op *old = old_op(a, op);
    const uint32_t *now = arguments_of(a, op);
    bool same = true;
    for (uint32_t i = 0; same && i < old->n_inputs + old->n_outputs; i++) {
        same = now[i] == old_argument(old, i);
    }
    return same;
}

/* The fields of a node, with the names that its arguments have by now. */
static bool put_fields(again *a, uint32_t op, arn_writer *out) {
    const arenaut_op *old = old_op(a, op);
    const uint32_t *now = arguments_of(a, op);
    const bool copies = makes_copies(a, op);
    arn_pb message = arn_pb_open(a->data, a->inner[a->rewrite->ops[op]]);
    arn_pb_field field;
    uint32_t input = 0, output = old->n_inputs, number = 2;
    for (size_t at = message.at; arn_pb_next(&message, &field); at = message.at) {
        arn_name name = name_at(a, field.bytes);
        if (arn_pb_is(&field, NODE_INPUT, ARN_PB_BYTES)) {
            name = name_of(a, now[input++], name);
        } else if (arn_pb_is(&field, NODE_OUTPUT, ARN_PB_BYTES)) {
            name = name_of(a, now[output++], name);
        } else if (copies && arn_pb_is(&field, NODE_NAME, ARN_PB_BYTES) && name.length > 0) {
            if (!arn_fresh_names_make(&a->fresh, name, &number, &name)) return false;
        } else {
            arn_put(out, a->data + at, message.at - at);
            continue;
        }
        arn_pb_put_bytes(out, field.number, name.text, name.length);
    }
    return true;
}

static arenaut_status put_node(again *a, uint32_t op, arn_writer *out) {
    const arn_pb_bytes node = a->nodes[a->rewrite->ops[op]];
    arenaut_text text = {.allocator = a->allocator};
    arn_writer fields = arn_writer_to(arenaut_text_sink(&text));
    if (is_as_before(a, op)) {
        arn_put(out, a->data + node.at, node.size);
        return ARENAUT_OK;
    }
    const bool room = name_results(a, op) && put_fields(a, op, &fields) && !fields.failed;
    if (room) arn_pb_put_bytes(out, GRAPH_NODE, text.bytes, text.size);
    arenaut_text_free(&text);
    return room ? ARENAUT_OK : arn_no_memory(a->err);
}

/* ---- types of values ---- */

typedef struct said {
    arn_name_tree names; /* of values that the graph says something of, and which field says it */
    arn_pb_bytes *infos;
    uint32_t n;
} said;

static bool find_name(const again *a, arn_pb_bytes info, arn_pb_bytes *name) {
    arn_pb message = arn_pb_open(a->data, info);
    arn_pb_field field;
    bool found = false;
    while (arn_pb_next(&message, &field)) {
        if (!arn_pb_is(&field, VALUE_INFO_NAME, ARN_PB_BYTES)) continue;
        *name = field.bytes;
        found = true;
    }
    return found;
}

static bool list_infos(again *a, said *s) {
    arn_pb graph = arn_pb_open(a->data, a->graph);
    arn_pb_field field;
    uint32_t most = 0;
    while (arn_pb_next(&graph, &field)) most += arn_pb_is(&field, GRAPH_VALUE_INFO, ARN_PB_BYTES);
    s->infos = arn_region_allocate(&a->region, most, sizeof *s->infos);
    if (!s->infos) return false;
    graph = arn_pb_open(a->data, a->graph);
    while (arn_pb_next(&graph, &field)) {
        arn_pb_bytes name;
        uint32_t at = s->n;
        bool found;
        if (!arn_pb_is(&field, GRAPH_VALUE_INFO, ARN_PB_BYTES)) continue;
        if (!find_name(a, field.bytes, &name)) continue;
        s->infos[s->n++] = field.bytes;
        if (!arn_name_tree_add(&s->names, &a->region, name_at(a, name), &at, &found)) return false;
    }
    return true;
}

static bool put_info(const again *a, arn_pb_bytes info, arn_name name, arn_writer *out) {
    arenaut_text text = {.allocator = a->allocator};
    arn_writer fields = arn_writer_to(arenaut_text_sink(&text));
    arn_pb message = arn_pb_open(a->data, info);
    arn_pb_field field;
    arn_pb_put_bytes(&fields, VALUE_INFO_NAME, name.text, name.length);
    for (size_t at = message.at; arn_pb_next(&message, &field); at = message.at) {
        if (field.number == VALUE_INFO_NAME) continue;
        arn_put(&fields, a->data + at, message.at - at);
    }
    const bool room = !fields.failed;
    if (room) arn_pb_put_bytes(out, GRAPH_VALUE_INFO, text.bytes, text.size);
    arenaut_text_free(&text);
    return room;
}

/* The type of each copy is that of the first one. */
static bool put_infos(again *a, arn_writer *out) {
    said s = {.n = 0};
    if (!list_infos(a, &s)) return false;
    for (uint32_t op = 0; op < a->rewrite->n_ops; op++) {
        const arenaut_op *old = old_op(a, op);
        const uint32_t *now = arguments_of(a, op) + old->n_inputs;
        arn_pb message = arn_pb_open(a->data, a->inner[a->rewrite->ops[op]]);
        arn_pb_field field;
        uint32_t i = 0, info;
        while (arn_pb_next(&message, &field)) {
            if (!arn_pb_is(&field, NODE_OUTPUT, ARN_PB_BYTES)) continue;
            const uint32_t t = now[i++];
            if (!is_copy(a, t)) continue;
            if (!arn_name_tree_find(&s.names, name_at(a, field.bytes), &info)) continue;
            if (!put_info(a, s.infos[info], name_of(a, t, name_at(a, field.bytes)), out)) {
                return false;
            }
        }
    }
    return true;
}

/* ---- the graph, and the model around it ---- */

/* Nodes stand at the old places of nodes; added ones behind the last of them. */
static arenaut_status put_main_graph(again *a, arn_writer *out) {
    arn_pb graph = arn_pb_open(a->data, a->graph);
    arn_pb_field field;
    uint32_t op = 0, left = a->program->n_ops;
    arenaut_status st = ARENAUT_OK;
    for (size_t at = graph.at; st == ARENAUT_OK && arn_pb_next(&graph, &field); at = graph.at) {
        if (!arn_pb_is(&field, GRAPH_NODE, ARN_PB_BYTES)) {
            arn_put(out, a->data + at, graph.at - at);
            continue;
        }
        const uint32_t end = --left > 0 ? op + 1 : a->rewrite->n_ops;
        for (; op < end && st == ARENAUT_OK; op++) st = put_node(a, op, out);
    }
    if (st == ARENAUT_OK && !put_infos(a, out)) st = arn_no_memory(a->err);
    return st;
}

static arenaut_status put_model(again *a, arenaut_sink sink) {
    const arn_pb_bytes all = {0, a->size};
    arn_pb model = arn_pb_open(a->data, all);
    arn_pb_field field;
    arenaut_text text = {.allocator = a->allocator};
    arn_writer graph = arn_writer_to(arenaut_text_sink(&text)), out = arn_writer_to(sink);
    arenaut_status st = put_main_graph(a, &graph);
    if (st == ARENAUT_OK && graph.failed) st = arn_no_memory(a->err);
    for (size_t at = 0; st == ARENAUT_OK && arn_pb_next(&model, &field); at = model.at) {
        const bool it =
            arn_pb_is(&field, MODEL_GRAPH, ARN_PB_BYTES) && field.bytes.at == a->graph.at;
        if (it) arn_pb_put_bytes(&out, MODEL_GRAPH, text.bytes, text.size);
        else arn_put(&out, a->data + at, model.at - at);
    }
    arenaut_text_free(&text);
    return st == ARENAUT_OK ? arn_writer_finish(&out, a->err) : st;
}

/* ---- all of it ---- */

/* Whether the rewrite is of this file: a caller may have mixed them up. */
static bool is_of_program(const again *a) {
    const arenaut_rewrite *r = a->rewrite;
    bool fits = a->program->n_methods == 1 && r->arguments &&
                r->n_ops_before == a->program->n_ops && r->n_tensors >= a->program->n_tensors &&
                r->n_ops >= r->n_ops_before;
    for (uint32_t i = 0; fits && i < r->n_ops; i++) fits = r->ops[i] < a->program->n_ops;
    for (uint32_t t = 0; fits && t < r->n_tensors; t++) {
        fits = r->tensors[t].tensor < a->program->n_tensors;
    }
    return fits;
}

static bool allocate(again *a) {
    const uint32_t n_ops = a->program->n_ops, n_tensors = a->program->n_tensors;
    size_t at = 0;
    if (!ARN_REGION_ARRAYS(&a->region, ARN_ARRAY(a->nodes, 2 * (size_t)n_ops),
                           ARN_ARRAY(a->first, a->rewrite->n_ops),
                           ARN_ARRAY(a->name, a->rewrite->n_tensors - n_tensors),
                           ARN_ARRAY(a->number, n_tensors))) {
        return false;
    }
    a->inner = a->nodes + n_ops;
    for (uint32_t i = 0; i < a->rewrite->n_ops; i++) {
        a->first[i] = at;
        at += (size_t)old_op(a, i)->n_inputs + old_op(a, i)->n_outputs;
    }
    for (uint32_t t = 0; t < n_tensors; t++) a->number[t] = 2;
    return true;
}

/* Each argument is the one that it was, or a copy that has been made by then. */
static bool has_right_arguments(const again *a, bool *made) {
    bool right = true;
    for (uint32_t op = 0; right && op < a->rewrite->n_ops; op++) {
        const arenaut_op *old = old_op(a, op);
        const uint32_t *now = arguments_of(a, op);
        for (uint32_t i = 0; right && i < old->n_inputs + old->n_outputs; i++) {
            const bool input = i < old->n_inputs;
            if (now[i] == old_argument(old, i)) continue;
            right = is_copy(a, now[i]) && now[i] < a->rewrite->n_tensors &&
                    old_argument(old, i) != ARENAUT_NONE && input == made[now[i]];
            if (right && !input) made[now[i]] = true;
        }
    }
    return right;
}

/* Each op makes its results once. */
static bool runs_all_once(const again *a, bool *ran) {
    uint32_t left = a->program->n_ops;
    for (uint32_t op = 0; op < a->rewrite->n_ops; op++) {
        if (makes_copies(a, op)) continue;
        if (ran[a->rewrite->ops[op]]) return false;
        ran[a->rewrite->ops[op]] = true;
        left--;
    }
    return left == 0;
}

static arenaut_status check_runs(const again *a) {
    bool *made = arn_allocate_zeroed(a->allocator, a->rewrite->n_tensors, sizeof *made);
    bool *ran = arn_allocate_zeroed(a->allocator, a->program->n_ops, sizeof *ran);
    arenaut_status st = made && ran ? ARENAUT_OK : arn_no_memory(a->err);
    if (st == ARENAUT_OK && !(has_right_arguments(a, made) && runs_all_once(a, ran))) {
        st = arn_fail(a->err, ARENAUT_REFUSED, 0,
                      "the program reads values that it has not made, or leaves a node out");
    }
    ARN_RELEASE(a->allocator, made, ran);
    return st;
}

static arenaut_status write_again(again *a, arenaut_sink sink) {
    if (!is_of_program(a)) {
        return arn_fail(a->err, ARENAUT_REFUSED, 0, "the program is another one than the model's");
    }
    if (!allocate(a)) return arn_no_memory(a->err);
    const uint32_t n = list_nodes(a), n_ops = a->program->n_ops;
    if (n != n_ops) {
        return arn_fail(a->err, ARENAUT_REFUSED, 0,
                        "nodes of functions cannot be rematerialized: the graph has %" PRIu32
                        " nodes, the program %" PRIu32 " ops",
                        n, n_ops);
    }
    for (uint32_t i = 0; i < n; i++) {
        if (is_node_of(a, i)) continue;
        return arn_fail(a->err, ARENAUT_REFUSED, 0, "node %" PRIu32 " has other values than its op",
                        i);
    }
    const arenaut_status st = check_runs(a);
    if (st != ARENAUT_OK) return st;
    if (!arn_onnx_take_names(&a->fresh, a->data, a->graph)) return arn_no_memory(a->err);
    return put_model(a, sink);
}

/* The same with rematerialized nodes of `graph`, the main one. */
static arenaut_status write_copies(const arenaut_result *result, arn_pb_bytes graph,
                                   arenaut_sink sink, const arenaut_allocator *allocator,
                                   arenaut_error *err) {
    again a = {.data = result->file,
               .size = result->file_size,
               .rewrite = result->rewrite,
               .allocator = allocator,
               .err = err,
               .graph = graph};
    arn_region_init(&a.region, allocator);
    a.fresh = (arn_fresh_names){.region = &a.region, .mark = "__again_"};
    arenaut_status st =
        arn_onnx_read(result->file, result->file_size, NULL, allocator, &a.program, err);
    if (st == ARENAUT_OK) st = write_again(&a, sink);
    arn_program_free(a.program);
    arn_region_free(&a.region);
    return st;
}

/* Writer of a model's nodes in another schedule, in each of its graphs. The messages of the nodes
 * change places, and nothing else does: as many bytes, weights at their old offsets. Graphs that
 * nodes hold come first, and move with these. */

typedef struct writing {
    const arenaut_result *result;
    arn_pb_bytes *graphs; /* per method */
    uint32_t n_graphs;
    uint8_t *file;       /* the new one: all begins and ends where it did */
    arn_pb_bytes *nodes; /* of a graph; room for the nodes of all */
    const arenaut_allocator *allocator;
    arenaut_error *err;
} writing;

/* Begin and end of each node, with its tag and length; `n` of them have room. Returns their
 * number. */
static uint32_t find_nodes(const writing *w, arn_pb_bytes graph, uint32_t n) {
    arn_pb message = arn_pb_open(w->result->file, graph);
    arn_pb_field field;
    uint32_t found = 0;
    for (size_t at = message.at; arn_pb_next(&message, &field); at = message.at) {
        if (!arn_pb_is(&field, GRAPH_NODE, ARN_PB_BYTES)) continue;
        if (found < n) w->nodes[found] = (arn_pb_bytes){at, message.at - at};
        found++;
    }
    return found;
}

/* `ops`: of a graph that begins with op `first`. Fields between nodes stay there. */
static bool put_nodes(const writing *w, const uint32_t *ops, uint32_t first, uint32_t n) {
    const size_t begin = w->nodes[0].at, end = w->nodes[n - 1].at + w->nodes[n - 1].size;
    uint8_t *moved = arn_allocate(w->allocator, end - begin, 1);
    size_t copied = begin, to = 0;
    if (!moved) return false;
    for (uint32_t i = 0; i < n; i++) {
        const arn_pb_bytes old = w->nodes[i], put = w->nodes[ops[i] - first];
        memcpy(moved + to, w->file + copied, old.at - copied);
        to += old.at - copied;
        memcpy(moved + to, w->file + put.at, put.size);
        to += put.size;
        copied = old.at + old.size;
    }
    memcpy(w->file + begin, moved, end - begin);
    arn_release(w->allocator, moved);
    return true;
}

static bool is_moved(const uint32_t *ops, uint32_t first, uint32_t n) {
    bool same = true;
    for (uint32_t i = 0; same && i < n; i++) same = ops[i] == first + i;
    return !same;
}

/* The graphs of a function are those of all its calls. */
static bool is_in_function(const writing *w, uint32_t method) {
    const arn_pb_bytes all = w->graphs[0], graph = w->graphs[method];
    return graph.at < all.at || graph.at + graph.size > all.at + all.size;
}

static arenaut_status put_graph(const writing *w, uint32_t m) {
    const arenaut_method *method = &w->result->rewrite->program->methods[m];
    const uint32_t first = method->first_op, n = method->n_ops;
    const uint32_t *ops = w->result->rewrite->ops + first;
    if (!is_moved(ops, first, n)) return ARENAUT_OK;
    const uint32_t found = find_nodes(w, w->graphs[m], n);
    if (found != n || is_in_function(w, m)) {
        return arn_fail(w->err, ARENAUT_REFUSED, 0,
                        "the order is of %" PRIu32 " nodes; the graph has %" PRIu32 "%s", n, found,
                        found == n ? ", and is a function's" : "");
    }
    return put_nodes(w, ops, first, n) ? ARENAUT_OK : arn_no_memory(w->err);
}

/* A caller may have mixed up rewrites and files. */
static bool is_order(const arenaut_rewrite *rewrite) {
    const arenaut_program *program = rewrite->program;
    uint64_t n = 0;
    for (uint32_t m = 0; m < program->n_methods; m++) {
        const arenaut_method *method = &program->methods[m];
        if (method->first_op != n) return false;
        n += method->n_ops;
        if (n > rewrite->n_ops) return false;
        for (uint32_t i = method->first_op; i < n; i++) {
            if (rewrite->ops[i] < method->first_op || rewrite->ops[i] >= n) return false;
        }
    }
    return n == rewrite->n_ops;
}

/* Graphs are counted from the outermost on. */
static arenaut_status put_graphs(writing *w) {
    const arenaut_result *result = w->result;
    const arenaut_program *program = result->rewrite->program;
    if (!is_order(result->rewrite)) {
        return arn_fail(w->err, ARENAUT_REFUSED, 0, "it is no order of the ops of each graph");
    }
    if (w->n_graphs != program->n_methods) {
        return arn_fail(w->err, ARENAUT_REFUSED, 0,
                        "the order is of %" PRIu32 " graphs; the model has %" PRIu32,
                        program->n_methods, w->n_graphs);
    }
    w->file = arn_allocate(w->allocator, result->file_size, 1);
    w->nodes = arn_allocate(w->allocator, result->rewrite->n_ops, sizeof *w->nodes);
    if (!w->file || !w->nodes) return arn_no_memory(w->err);
    memcpy(w->file, result->file, result->file_size);
    arenaut_status st = ARENAUT_OK;
    for (uint32_t m = w->n_graphs; m-- > 0 && st == ARENAUT_OK;) st = put_graph(w, m);
    return st;
}

arenaut_status arn_onnx_write(const arenaut_result *result, arenaut_sink sink,
                              const arenaut_allocator *allocator, arenaut_error *err) {
    const arenaut_rewrite *rewrite = result->rewrite;
    writing w = {.result = result, .allocator = allocator, .err = err};
    if (!rewrite) {
        return arn_fail(err, ARENAUT_REFUSED, 0,
                        "an ONNX model holds an order of its nodes, but no plan: they stay in "
                        "theirs");
    }
    arenaut_status st = arn_onnx_list_graphs(result->file, result->file_size, allocator, &w.graphs,
                                             &w.n_graphs, err);
    const bool tiled = arenaut_rewrite_is_tiled(rewrite);
    const bool copies = !tiled && rewrite->n_ops > rewrite->n_ops_before;
    if (st == ARENAUT_OK && tiled) {
        st = arn_onnx_write_tiles(result, w.graphs[0], sink, allocator, err);
    } else if (st == ARENAUT_OK && copies) {
        st = write_copies(result, w.graphs[0], sink, allocator, err);
    } else if (st == ARENAUT_OK) {
        st = put_graphs(&w);
    }
    if (st == ARENAUT_OK && !copies && !tiled) {
        arn_writer out = arn_writer_to(sink);
        arn_put(&out, w.file, result->file_size);
        st = arn_writer_finish(&out, err);
    }
    ARN_RELEASE(allocator, w.graphs, w.file, w.nodes);
    return st;
}
