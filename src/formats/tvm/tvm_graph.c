/* The skeleton of a TVM graph: nodes, their entries, and the storage id of each. Compilers
 * have added to this JSON for years, so keys that say nothing about memory are passed over. */
#include "formats/tvm/tvm_graph.h"

#include <inttypes.h>
#include <string.h>

static bool fine(const arn_tvm_graph *g) { return arn_json_fine(&g->json); }

/* Room that lasts as long as the graph; NULL, and an error, if there is none. */
static void *allocate(arn_tvm_graph *g, size_t count, size_t size) {
    void *block = arn_region_allocate(&g->json.texts, count, size);
    if (!block && fine(g)) g->json.status = arn_no_memory(g->json.err);
    return block;
}

static uint32_t member(arn_tvm_graph *g, uint32_t object, const char *key) {
    if (!fine(g)) return ARN_JSON_NONE;
    const uint32_t value = arn_json_get(&g->json.json, object, key);
    arn_json_require(&g->json, object, value, key);
    return value;
}

static uint32_t string_member(const arn_tvm_graph *g, uint32_t object, const char *key) {
    const uint32_t value = arn_json_get(&g->json.json, object, key);
    if (value == ARN_JSON_NONE) return value;
    return arn_json_type_of(&g->json.json, value) == ARN_JSON_STRING ? value : ARN_JSON_NONE;
}

uint32_t arn_tvm_attribute(const arn_tvm_graph *g, uint32_t node, const char *name) {
    const uint32_t attrs = arn_json_get(&g->json.json, g->node[node], "attrs");
    return attrs == ARN_JSON_NONE ? attrs : string_member(g, attrs, name);
}

bool arn_tvm_is_argument(const arn_tvm_graph *g, uint32_t node) {
    const uint32_t op = string_member(g, g->node[node], "op");
    return op != ARN_JSON_NONE && arn_json_text_is(&g->json.json, op, "null");
}

bool arn_tvm_is_view(const arn_tvm_graph *g, uint32_t node) {
    const uint32_t function = arn_tvm_attribute(g, node, "func_name");
    return function != ARN_JSON_NONE && (arn_json_text_is(&g->json.json, function, "__nop") ||
                                         arn_json_text_is(&g->json.json, function, "reshape_nop"));
}

/* ---- nodes ---- */

/* Kinds of nodes other than these two are of graphs that were not compiled. */
static void check_node(arn_tvm_graph *g, uint32_t node) {
    const uint32_t op = member(g, g->node[node], "op");
    if (!fine(g) || arn_tvm_is_argument(g, node)) return;
    if (arn_json_text_is(&g->json.json, op, "tvm_op")) return;
    arn_json_unexpected(&g->json, op,
                        "\"null\" or \"tvm_op\"; a graph that was not compiled for "
                        "the graph executor has no storage ids");
}

static void list_nodes(arn_tvm_graph *g) {
    g->nodes = member(g, 0, "nodes");
    const uint32_t first = arn_json_elements(&g->json, g->nodes);
    if (!fine(g)) return;
    const uint32_t n = arn_json_count(&g->json.json, g->nodes);
    g->node = allocate(g, n, sizeof *g->node);
    for (uint32_t v = first; v != ARN_JSON_NONE && fine(g);
         v = arn_json_next(&g->json.json, g->nodes, v)) {
        g->node[g->n_nodes++] = v;
        if (arn_json_type_of(&g->json.json, v) != ARN_JSON_OBJECT) {
            arn_json_unexpected(&g->json, v, "a node, which is an object");
        }
    }
}

/* The number of outputs that a node states. */
static uint32_t output_count(arn_tvm_graph *g, uint32_t node) {
    if (arn_tvm_is_argument(g, node)) return 1;
    const uint32_t value = arn_tvm_attribute(g, node, "num_outputs");
    return value == ARN_JSON_NONE ? 1 : arn_json_below(&g->json, value, ARENAUT_NONE, 0);
}

/* Nodes of the same text cannot have more entries than the text has shapes, so the number that a
 * node states is compared with that before anything is made for it. */
static void list_rows(arn_tvm_graph *g) {
    const uint32_t rows = member(g, 0, "node_row_ptr");
    g->row = allocate(g, (size_t)g->n_nodes + 1, sizeof *g->row);
    uint32_t v = arn_json_elements(&g->json, rows);
    if (!fine(g)) return;
    if (arn_json_count(&g->json.json, rows) != g->n_nodes + 1) {
        arn_json_fail(&g->json, rows, ARENAUT_BAD_INPUT,
                      "found %" PRIu32 " numbers; there are %" PRIu32
                      " nodes, so it must be one more than that",
                      arn_json_count(&g->json.json, rows), g->n_nodes);
        return;
    }
    uint64_t at = 0;
    for (uint32_t i = 0; i <= g->n_nodes && fine(g); i++) {
        g->row[i] = arn_json_below(&g->json, v, ARENAUT_NONE, 0);
        if (fine(g) && g->row[i] != at) {
            arn_json_fail(&g->json, v, ARENAUT_BAD_INPUT,
                          "found %" PRIu32 "; the nodes before have %" PRIu64 " outputs", g->row[i],
                          at);
        }
        if (i < g->n_nodes && fine(g)) at += output_count(g, i);
        v = arn_json_next(&g->json.json, rows, v);
    }
    if (fine(g)) g->n_entries = g->row[g->n_nodes];
}

uint32_t arn_tvm_entry(arn_tvm_graph *g, uint32_t reference, uint32_t limit) {
    uint32_t part[3] = {ARN_JSON_NONE, ARN_JSON_NONE, ARN_JSON_NONE}, n = 0;
    for (uint32_t v = arn_json_elements(&g->json, reference); v != ARN_JSON_NONE && n < 3;
         v = arn_json_next(&g->json.json, reference, v)) {
        part[n++] = v;
    }
    if (fine(g) && n < 2) {
        arn_json_fail(&g->json, reference, ARENAUT_BAD_INPUT,
                      "found %" PRIu32 " numbers; expected [node, output, version]", n);
    }
    const uint32_t node = arn_json_below(&g->json, part[0], ARENAUT_NONE, 0);
    const uint32_t output = arn_json_below(&g->json, part[1], ARENAUT_NONE, 0);
    if (!fine(g)) return ARENAUT_NONE;
    if (node >= limit) {
        arn_json_fail(&g->json, part[0], ARENAUT_BAD_INPUT,
                      "node %" PRIu32 " is not defined here; the nodes before are 0 to %" PRIu32
                      " (of %" PRIu32 ")",
                      node, limit ? limit - 1 : 0, g->n_nodes);
        return ARENAUT_NONE;
    }
    const uint32_t n_outputs = g->row[node + 1] - g->row[node];
    if (output >= n_outputs) {
        arn_json_fail(&g->json, part[1], ARENAUT_BAD_INPUT,
                      "output %" PRIu32 " of node %" PRIu32 ", which has %" PRIu32, output, node,
                      n_outputs);
        return ARENAUT_NONE;
    }
    return g->row[node] + output;
}

/* ---- columns ---- */

uint32_t arn_tvm_column(arn_tvm_graph *g, const char *name, const char *type, bool required) {
    const uint32_t attrs = member(g, 0, "attrs");
    if (!fine(g)) return ARN_JSON_NONE;
    const uint32_t pair = arn_json_get(&g->json.json, attrs, name);
    if (required) arn_json_require(&g->json, attrs, pair, name);
    if (!fine(g) || pair == ARN_JSON_NONE) return ARN_JSON_NONE;
    uint32_t part[2];
    arn_json_tuple(&g->json, pair, 2, part);
    if (!fine(g)) return ARN_JSON_NONE;
    if (!arn_json_text_is(&g->json.json, part[0], type)) {
        char expected[48] = "\"";
        strcat(strcat(expected, type), "\"");
        arn_json_unexpected(&g->json, part[0], expected);
        return ARN_JSON_NONE;
    }
    (void)arn_json_elements(&g->json, part[1]);
    const uint32_t n = fine(g) ? arn_json_count(&g->json.json, part[1]) : 0;
    if (fine(g) && n != g->n_entries) {
        arn_json_fail(&g->json, pair, ARENAUT_BAD_INPUT,
                      "found %" PRIu32 " elements; the nodes have %" PRIu32 " outputs", n,
                      g->n_entries);
    }
    return fine(g) ? part[1] : ARN_JSON_NONE;
}

static uint32_t elements(arn_tvm_graph *g, uint32_t list) {
    return list == ARN_JSON_NONE ? list : arn_json_elements(&g->json, list);
}

/* A number of its own for each entry would be n_entries of them. Some gaps do no harm, but the
 * runtime makes a block for every number up to the largest. */
static void read_ids(arn_tvm_graph *g) {
    g->storage_ids = arn_tvm_column(g, "storage_id", "list_int", true);
    if (!fine(g)) return; /* n_entries is no more than a claim before */
    g->id = allocate(g, g->n_entries, sizeof *g->id);
    const uint64_t most = 16 * (uint64_t)g->n_entries;
    uint32_t e = 0;
    for (uint32_t v = elements(g, g->storage_ids); v != ARN_JSON_NONE && fine(g);
         v = arn_json_next(&g->json.json, g->storage_ids, v)) {
        const int64_t id = arn_json_step(&g->json, v, 0);
        if (fine(g) && (id >= (int64_t)most || id >= INT32_MAX)) {
            arn_json_fail(&g->json, v, ARENAUT_BAD_INPUT,
                          "storage id %" PRId64 " of only %" PRIu32 " outputs; below %" PRIu64
                          " is allowed",
                          id, g->n_entries, most);
            return;
        }
        g->id[e] = id < 0 ? ARN_TVM_NO_ID : (int32_t)id;
        if (id >= (int64_t)g->n_ids) g->n_ids = (uint32_t)id + 1;
        e++;
    }
}

/* All nodes have a device or none has: a type of 0 is none. */
static void read_devices(arn_tvm_graph *g) {
    const uint32_t list = arn_tvm_column(g, "device_index", "list_int", false);
    uint32_t e = 0, n_annotated = 0;
    g->device = allocate(g, g->n_entries, sizeof *g->device);
    for (uint32_t i = 0; i < g->n_entries && fine(g); i++) g->device[i] = 0;
    for (uint32_t v = elements(g, list); v != ARN_JSON_NONE && fine(g);
         v = arn_json_next(&g->json.json, list, v)) {
        g->device[e] = (uint16_t)arn_json_below(&g->json, v, UINT16_MAX + 1, 0);
        n_annotated += g->device[e++] != 0;
    }
    if (!fine(g) || n_annotated == 0 || n_annotated == g->n_entries) return;
    arn_json_fail(&g->json, list, ARENAUT_BAD_INPUT,
                  "%" PRIu32 " of %" PRIu32 " values have a device and %" PRIu32
                  " have none (type 0); give one to all of them or to none",
                  n_annotated, g->n_entries, g->n_entries - n_annotated);
}

/* Images are not flat memory, so values in one keep their place. */
static bool is_flat(const arn_tvm_graph *g, uint32_t scope) {
    return arn_json_text_is(&g->json.json, scope, "") ||
           arn_json_text_is(&g->json.json, scope, "global");
}

/* Arguments have memory that their owner fills, as has any value that shares an id with one. */
static void find_kept(arn_tvm_graph *g) {
    const uint32_t scopes = arn_tvm_column(g, "storage_scope", "list_str", false);
    g->kept = allocate(g, g->n_entries, sizeof *g->kept);
    bool *kept_id = allocate(g, g->n_ids, sizeof *kept_id);
    uint16_t *device_of_id = allocate(g, g->n_ids, sizeof *device_of_id);
    if (!fine(g)) return;
    for (uint32_t k = 0; k < g->n_ids; k++) kept_id[k] = false;
    for (uint32_t e = 0; e < g->n_entries; e++) g->kept[e] = g->id[e] == ARN_TVM_NO_ID;
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        if (arn_tvm_is_argument(g, i)) g->kept[g->row[i]] = true;
    }
    uint32_t at = 0;
    for (uint32_t v = elements(g, scopes); v != ARN_JSON_NONE;
         v = arn_json_next(&g->json.json, scopes, v)) {
        if (!is_flat(g, v)) g->kept[at] = true;
        at++;
    }
    for (uint32_t e = 0; e < g->n_entries; e++) {
        if (g->id[e] == ARN_TVM_NO_ID) continue;
        if (g->kept[e]) kept_id[g->id[e]] = true;
        device_of_id[g->id[e]] = g->device[e];
    }
    for (uint32_t e = 0; e < g->n_entries; e++) {
        if (g->id[e] == ARN_TVM_NO_ID) continue;
        g->kept[e] = kept_id[g->id[e]];
        if (device_of_id[g->id[e]] == g->device[e]) continue;
        arn_json_fail(&g->json, g->storage_ids, ARENAUT_BAD_INPUT,
                      "storage id %d is of values on devices %u and %u; one memory has one device",
                      g->id[e], (unsigned)device_of_id[g->id[e]], (unsigned)g->device[e]);
        return;
    }
}

static void read_graph(arn_tvm_graph *g) {
    if (arn_json_type_of(&g->json.json, 0) != ARN_JSON_OBJECT) {
        arn_json_unexpected(&g->json, 0, "an object");
        return;
    }
    list_nodes(g);
    g->heads = member(g, 0, "heads");
    g->arg_nodes = member(g, 0, "arg_nodes");
    for (uint32_t i = 0; i < g->n_nodes && fine(g); i++) check_node(g, i);
    if (fine(g)) list_rows(g);
    if (fine(g)) read_ids(g);
    if (fine(g)) read_devices(g);
    if (fine(g)) find_kept(g);
}

void arn_tvm_graph_open(arn_tvm_graph *g, const uint8_t *data, size_t size,
                        const arenaut_allocator *allocator, arenaut_error *err) {
    memset(g, 0, sizeof *g);
    arn_json_reader_open(&g->json, data, size, allocator, err);
    if (fine(g)) read_graph(g);
}

void arn_tvm_graph_close(arn_tvm_graph *g) { arn_json_reader_free(&g->json); }
