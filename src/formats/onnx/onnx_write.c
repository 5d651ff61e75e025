/* Writer of a model's nodes in another schedule, in each of its graphs. The messages of the nodes
 * change places, and nothing else does: as many bytes, weights at their old offsets. Graphs that
 * nodes hold come first, and move with these. With rematerialized nodes, onnx_again.c writes the
 * model; with tiles of nodes, onnx_tiles.c. */
#include <inttypes.h>
#include <string.h>

#include <arenaut/rewrite.h>

#include "core/fail.h"
#include "core/memory.h"
#include "core/protobuf.h"
#include "core/writer.h"
#include "formats/onnx/onnx.h"
#include "formats/onnx/onnx_schema.h"

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
    const bool tiled = rewrite->n_stages > 0;
    const bool again = !tiled && rewrite->n_ops > rewrite->n_ops_before;
    if (st == ARENAUT_OK && tiled) {
        st = arn_onnx_write_tiles(result, w.graphs[0], sink, allocator, err);
    } else if (st == ARENAUT_OK && again) {
        st = arn_onnx_write_again(result, w.graphs[0], sink, allocator, err);
    } else if (st == ARENAUT_OK) {
        st = put_graphs(&w);
    }
    if (st == ARENAUT_OK && !again && !tiled) {
        arn_writer out = arn_writer_to(sink);
        arn_put(&out, w.file, result->file_size);
        st = arn_writer_finish(&out, err);
    }
    arn_release(allocator, w.graphs);
    arn_release(allocator, w.file);
    arn_release(allocator, w.nodes);
    return st;
}
