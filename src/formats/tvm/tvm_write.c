/* Writer of a plan into a TVM graph: the numbers in its list of storage ids change, and nothing
 * else does, unless the ops were reordered: then arguments come first and nodes in their new order,
 * with all lists per node or value.
 *
 * Ids that are not the plan's stay as they are, since code that was compiled with the graph
 * may know them; tokens of the plan get the lowest numbers that are free. */
#include <inttypes.h>

#include <arenaut/rewrite.h>
#include <arenaut/tokens.h>

#include "formats/json_patch.h"
#include "formats/tvm/tvm_graph.h"

typedef struct writer {
    arn_tvm_graph graph;
    const arenaut_result *result;
    const arenaut_allocator *allocator;
    arenaut_error *err;
    arenaut_tokens tokens;
    uint32_t *number; /* per token, then one per device: its storage id; ARENAUT_NONE: none yet */
    bool *taken;      /* per storage id */
    arn_json_patch patch;
    uint32_t *order; /* the nodes in their new order; NULL: they stay */
    uint32_t *now;   /* per node: its new number */
} writer;

/* Which token an entry is in. Values without bytes share one of no bytes on each device. */
static uint32_t token_of(const writer *w, uint32_t e) {
    const uint32_t buffer = w->result->lowering->buffer[e];
    const uint32_t token = buffer == ARENAUT_NONE ? buffer : w->tokens.of[buffer];
    return token == ARENAUT_NONE ? w->tokens.n + w->graph.device[e] : token;
}

/* The id of an entry, which its token gets at the first use. */
static uint32_t id_of(writer *w, uint32_t e, uint32_t *next) {
    uint32_t *number = &w->number[token_of(w, e)];
    if (*number == ARENAUT_NONE) {
        while (w->taken[*next]) (*next)++;
        w->taken[*next] = true;
        *number = *next;
    }
    return *number;
}

static void put_ids(writer *w) {
    const arn_json *json = &w->graph.json.json;
    uint32_t e = 0, next = 0;
    for (uint32_t v = arn_json_first(json, w->graph.storage_ids); v != ARN_JSON_NONE;
         v = arn_json_next(json, w->graph.storage_ids, v), e++) {
        if (!w->graph.kept[e]) arn_json_patch_number(&w->patch, v, id_of(w, e, &next));
    }
}

/* ---- the nodes in another order ---- */

static bool is_reordered(const writer *w) {
    return w->result->rewrite && !arenaut_rewrite_is_tiled(w->result->rewrite);
}

static arenaut_status list_order(writer *w) {
    const arn_tvm_graph *g = &w->graph;
    const arenaut_rewrite *rewrite = w->result->rewrite;
    uint32_t *ops, n = 0, n_ops = 0;
    if (!ARN_REGION_ARRAYS(&w->graph.json.texts, ARN_ARRAY(ops, g->n_nodes),
                           ARN_ARRAY(w->order, g->n_nodes), ARN_ARRAY(w->now, g->n_nodes))) {
        return arn_no_memory(w->err);
    }
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        if (arn_tvm_is_argument(g, i)) w->order[n++] = i;
        else ops[n_ops++] = i;
    }
    if (rewrite->n_ops != n_ops) {
        return arn_fail(w->err, ARENAUT_REFUSED, 0,
                        "the order is of %" PRIu32 " ops; the graph has %" PRIu32, rewrite->n_ops,
                        n_ops);
    }
    for (uint32_t i = 0; i < n_ops; i++) w->order[n++] = ops[rewrite->ops[i]];
    for (uint32_t i = 0; i < n; i++) w->now[w->order[i]] = i;
    return ARENAUT_OK;
}

/* A list of references [node, …], or of numbers of nodes. */
static void renumber(writer *w, uint32_t list, bool references) {
    const arn_json *json = &w->graph.json.json;
    uint64_t node;
    if (list == ARN_JSON_NONE || arn_json_type_of(json, list) != ARN_JSON_ARRAY) return;
    for (uint32_t v = arn_json_first(json, list); v != ARN_JSON_NONE;
         v = arn_json_next(json, list, v)) {
        const uint32_t number = references ? arn_json_first(json, v) : v;
        if (number == ARN_JSON_NONE || !arn_json_to_u64(json, number, &node)) continue;
        if (node < w->graph.n_nodes) arn_json_patch_number(&w->patch, number, w->now[node]);
    }
}

static void move_nodes(writer *w) {
    const arn_tvm_graph *g = &w->graph;
    const arn_json *json = &g->json.json;
    const uint32_t rows = arn_json_get(json, 0, "node_row_ptr");
    uint32_t row = 0, i = 0;
    for (uint32_t v = arn_json_first(json, rows); v != ARN_JSON_NONE;
         v = arn_json_next(json, rows, v), i++) {
        arn_json_patch_number(&w->patch, v, row);
        if (i < g->n_nodes) row += g->row[w->order[i] + 1] - g->row[w->order[i]];
    }
    for (i = 0; i < g->n_nodes; i++) {
        arn_json_patch_move(&w->patch, g->node[i], g->node[w->order[i]]);
        renumber(w, arn_json_get(json, g->node[i], "inputs"), true);
        renumber(w, arn_json_get(json, g->node[i], "control_deps"), false);
    }
    renumber(w, g->heads, true);
    renumber(w, g->arg_nodes, false);
}

/* A graph attribute [type, list] of one element per value. */
static void move_column(writer *w, uint32_t list, uint32_t *element) {
    const arn_tvm_graph *g = &w->graph;
    const arn_json *json = &g->json.json;
    uint32_t n = 0, at = 0;
    for (uint32_t v = arn_json_first(json, list); v != ARN_JSON_NONE;
         v = arn_json_next(json, list, v)) {
        element[n++] = v;
    }
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const uint32_t node = w->order[i];
        for (uint32_t e = g->row[node]; e < g->row[node + 1]; e++, at++) {
            if (element[at] == element[e]) continue;
            arn_json_patch_move(&w->patch, element[at], element[e]);
        }
    }
}

static arenaut_status reorder(writer *w) {
    const arn_json *json = &w->graph.json.json;
    const uint32_t attrs = arn_json_get(json, 0, "attrs");
    const size_t n_entries = w->graph.n_entries;
    uint32_t *element = arn_region_allocate(&w->graph.json.texts, n_entries, sizeof *element);
    if (!element) return arn_no_memory(w->err);
    const arenaut_status st = list_order(w);
    if (st != ARENAUT_OK) return st;
    move_nodes(w);
    for (uint32_t v = arn_json_first(json, attrs); v != ARN_JSON_NONE;
         v = arn_json_next(json, attrs, v)) {
        if (arn_json_type_of(json, v) != ARN_JSON_ARRAY || arn_json_count(json, v) != 2) continue;
        const uint32_t list = arn_json_next(json, v, arn_json_first(json, v));
        if (arn_json_type_of(json, list) != ARN_JSON_ARRAY) continue;
        if (arn_json_count(json, list) == n_entries) move_column(w, list, element);
    }
    return ARENAUT_OK;
}

/* ---- all of it ---- */

static arenaut_status check_call(const writer *w) {
    const arenaut_result *result = w->result;
    if (!result->plan || !result->lowering || !result->program ||
        result->plan->quality == ARENAUT_INFEASIBLE) {
        return arn_fail(w->err, ARENAUT_REFUSED, 0, "there is no plan to put into the graph");
    }
    if (result->program->n_tensors == w->graph.n_entries &&
        result->lowering->n_tensors == w->graph.n_entries) {
        return ARENAUT_OK;
    }
    return arn_fail(w->err, ARENAUT_REFUSED, 0,
                    "the plan is of %" PRIu32 " values; the graph has %" PRIu32,
                    result->program->n_tensors, w->graph.n_entries);
}

static arenaut_status write_graph(writer *w, arenaut_sink sink) {
    arn_region *region = &w->graph.json.texts;
    const size_t n_numbers = (size_t)w->tokens.n + UINT16_MAX + 1;
    const size_t n_ids = (size_t)w->graph.n_ids + w->graph.n_entries;
    if (!ARN_REGION_ARRAYS(region, ARN_ARRAY(w->number, n_numbers), ARN_ARRAY(w->taken, n_ids)))
        return arn_no_memory(w->err);
    for (size_t k = 0; k < n_numbers; k++) w->number[k] = ARENAUT_NONE;
    for (uint32_t e = 0; e < w->graph.n_entries; e++) {
        if (w->graph.kept[e] && w->graph.id[e] >= 0) w->taken[w->graph.id[e]] = true;
    }
    put_ids(w);
    const arenaut_status st = is_reordered(w) ? reorder(w) : ARENAUT_OK;
    return st == ARENAUT_OK ? arn_json_patch_write(&w->patch, sink, w->err) : st;
}

arenaut_status arn_tvm_write(const arenaut_result *result, arenaut_sink sink,
                             const arenaut_allocator *allocator, arenaut_error *err) {
    writer w = {.result = result, .allocator = allocator, .err = err};
    arn_tvm_graph_open(&w.graph, result->file, result->file_size, allocator, err);
    w.patch = arn_json_patch_begin(&w.graph.json.json, allocator);
    arenaut_status st = w.graph.json.status;
    if (st == ARENAUT_OK) st = check_call(&w);
    if (st == ARENAUT_OK) {
        st = arenaut_tokens_find(result->problem, result->plan, allocator, &w.tokens, err);
    }
    if (st == ARENAUT_OK) st = write_graph(&w, sink);
    arenaut_tokens_free(&w.tokens, allocator);
    arn_json_patch_free(&w.patch);
    arn_tvm_graph_close(&w.graph);
    return st;
}
