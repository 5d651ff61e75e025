/* Puts the nodes of a model in another order. The messages of the nodes change places, and nothing
 * else does: as many bytes, weights where they were. */
#include <inttypes.h>

#include <arenaut/rewrite.h>

#include "core/fail.h"
#include "core/memory.h"
#include "core/protobuf.h"
#include "core/writer.h"
#include "formats/onnx/onnx.h"
#include "formats/onnx/onnx_schema.h"

/* A model that may hold several parts of a graph: the last one counts, as for the reader. */
static arn_pb_bytes find_graph(const arenaut_result *result) {
    const arn_pb_bytes whole = {0, result->file_size};
    arn_pb message = arn_pb_open(result->file, whole);
    arn_pb_field field;
    arn_pb_bytes graph = {0, 0};
    while (arn_pb_next(&message, &field)) {
        if (arn_pb_is(&field, MODEL_GRAPH, ARN_PB_BYTES)) graph = field.bytes;
    }
    return graph;
}

/* Where each node begins and ends, its tag and length included; `n` of them have room. Returns how
 * many there are. */
static uint32_t find_nodes(const arenaut_result *result, arn_pb_bytes graph, arn_pb_bytes *nodes,
                           uint32_t n) {
    arn_pb message = arn_pb_open(result->file, graph);
    arn_pb_field field;
    uint32_t found = 0;
    for (size_t at = message.at; arn_pb_next(&message, &field); at = message.at) {
        if (!arn_pb_is(&field, GRAPH_NODE, ARN_PB_BYTES)) continue;
        if (found < n) nodes[found] = (arn_pb_bytes){at, message.at - at};
        found++;
    }
    return found;
}

static arenaut_status put_nodes(const arenaut_result *result, const arn_pb_bytes *nodes, uint32_t n,
                                arenaut_sink sink, arenaut_error *err) {
    arn_writer out = arn_writer_to(sink);
    const uint8_t *file = result->file;
    size_t copied = 0;
    for (uint32_t i = 0; i < n; i++) {
        const arn_pb_bytes *put = &nodes[result->rewrite->ops[i]];
        arn_put(&out, file + copied, nodes[i].at - copied);
        arn_put(&out, file + put->at, put->size);
        copied = nodes[i].at + nodes[i].size;
    }
    arn_put(&out, file + copied, result->file_size - copied);
    return arn_writer_finish(&out, err);
}

arenaut_status arn_onnx_write(const arenaut_result *result, arenaut_sink sink,
                              const arenaut_allocator *allocator, arenaut_error *err) {
    const arenaut_rewrite *rewrite = result->rewrite;
    if (!rewrite || rewrite->n_stages > 0) {
        return arn_fail(err, ARENAUT_REFUSED, 0,
                        "an ONNX model holds an order of its nodes, but no plan: they stay in "
                        "theirs");
    }
    const arn_pb_bytes graph = find_graph(result);
    arn_pb_bytes *nodes = arn_allocate(allocator, rewrite->n_ops, sizeof *nodes);
    if (!nodes) return arn_no_memory(err);
    const uint32_t n = find_nodes(result, graph, nodes, rewrite->n_ops);
    const arenaut_status st =
        n == rewrite->n_ops ? put_nodes(result, nodes, n, sink, err)
                            : arn_fail(err, ARENAUT_REFUSED, 0,
                                       "the order is of %" PRIu32 " nodes; the graph has %" PRIu32,
                                       rewrite->n_ops, n);
    arn_release(allocator, nodes);
    return st;
}
