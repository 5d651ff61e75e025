/* A TVM graph as in its JSON, before it becomes a program: common to the reader and the writer. An
 * *entry* is one output of one node; most columns are per entry. */
#ifndef ARN_FORMATS_TVM_TVM_GRAPH_H
#define ARN_FORMATS_TVM_TVM_GRAPH_H

#include <arenaut/format.h>

#include "formats/json_reader.h"

enum { ARN_TVM_NO_ID = -1 };

typedef struct arn_tvm_graph {
    arn_json_reader json;
    uint32_t nodes, heads, arg_nodes, storage_ids; /* values of the text; the last is the list */
    uint32_t n_nodes, n_entries;
    uint32_t *node;   /* per node: its value */
    uint32_t *row;    /* n_nodes + 1: node i has the entries [row[i], row[i + 1]) */
    int32_t *id;      /* per entry: its storage id; ARN_TVM_NO_ID for any negative one */
    uint16_t *device; /* per entry: 0 where none is given */
    bool *kept;       /* per entry: its memory is not the planner's, so its id stays */
    uint32_t n_ids;   /* one more than the largest */
} arn_tvm_graph;

/* Parses. The caller frees the graph, in any case: see graph.json.status. */
void arn_tvm_graph_open(arn_tvm_graph *graph, const uint8_t *data, size_t size,
                        const arenaut_allocator *allocator, arenaut_error *err);
void arn_tvm_graph_close(arn_tvm_graph *graph);

/* "op" of a node is "null": an input or a parameter. */
bool arn_tvm_is_argument(const arn_tvm_graph *graph, uint32_t node);
/* The node only gives its operand another shape: it does nothing when it runs. */
bool arn_tvm_is_view(const arn_tvm_graph *graph, uint32_t node);
/* A string among a node's attributes; ARN_JSON_NONE if there is none. */
uint32_t arn_tvm_attribute(const arn_tvm_graph *graph, uint32_t node, const char *name);
/* The entry that a reference [node, index, version] names, which must be of a node before
 * `limit`; ARENAUT_NONE after an error. */
uint32_t arn_tvm_entry(arn_tvm_graph *graph, uint32_t reference, uint32_t limit);
/* The list in a graph attribute [type, list], of one element per entry; ARN_JSON_NONE if the
 * attribute is absent and not required. */
uint32_t arn_tvm_column(arn_tvm_graph *graph, const char *name, const char *type, bool required);

arenaut_status arn_tvm_read(const uint8_t *data, size_t size, const arenaut_read_options *options,
                            const arenaut_allocator *allocator, arenaut_document *out,
                            arenaut_error *err);
arenaut_status arn_tvm_write(const arenaut_result *result, arenaut_sink sink,
                             const arenaut_allocator *allocator, arenaut_error *err);

#endif
