/* Puts a plan into a TVM graph: the numbers in its list of storage ids change, and nothing
 * else does.
 *
 * Ids that are not the plan's stay as they are, since code that was compiled with the graph
 * may know them; tokens of the plan get the lowest numbers that are free. */
#include <inttypes.h>
#include <string.h>

#include <arenaut/tokens.h>

#include "core/writer.h"
#include "formats/tvm/tvm_graph.h"

typedef struct writer {
    arn_tvm_graph graph;
    const arenaut_result *result;
    const arenaut_allocator *allocator;
    arenaut_error *err;
    arenaut_tokens tokens;
    uint32_t *number; /* per token, then one per device: its storage id; ARENAUT_NONE: none yet */
    bool *taken;      /* per storage id */
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

/* Where the number that begins at `at` ends. */
static size_t end_of_number(const arn_json *json, size_t at) {
    while (at < json->size && strchr("+-.eE0123456789\"", json->text[at])) at++;
    return at;
}

static arenaut_status copy_with_ids(writer *w, arenaut_sink sink) {
    const arn_json *json = &w->graph.json.json;
    arn_writer out = arn_writer_to(sink);
    size_t copied = 0;
    uint32_t e = 0, next = 0;
    for (uint32_t v = arn_json_first(json, w->graph.storage_ids); v != ARN_JSON_NONE;
         v = arn_json_next(json, w->graph.storage_ids, v), e++) {
        if (w->graph.kept[e]) continue;
        arn_put(&out, json->text + copied, json->nodes[v].at - copied);
        arn_putf(&out, "%" PRIu32, id_of(w, e, &next));
        copied = end_of_number(json, json->nodes[v].at);
    }
    arn_put(&out, json->text + copied, json->size - copied);
    return arn_writer_finish(&out, w->err);
}

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
    w->number = arn_region_allocate(region, n_numbers, sizeof *w->number);
    w->taken = arn_region_allocate(region, n_ids, sizeof *w->taken);
    if (!w->number || !w->taken) return arn_no_memory(w->err);
    for (size_t k = 0; k < n_numbers; k++) w->number[k] = ARENAUT_NONE;
    for (size_t k = 0; k < n_ids; k++) w->taken[k] = false;
    for (uint32_t e = 0; e < w->graph.n_entries; e++) {
        if (w->graph.kept[e] && w->graph.id[e] >= 0) w->taken[w->graph.id[e]] = true;
    }
    return copy_with_ids(w, sink);
}

arenaut_status arn_tvm_write(const arenaut_result *result, arenaut_sink sink,
                             const arenaut_allocator *allocator, arenaut_error *err) {
    writer w = {.result = result, .allocator = allocator, .err = err};
    arn_tvm_graph_open(&w.graph, result->file, result->file_size, allocator, err);
    arenaut_status st = w.graph.json.status;
    if (st == ARENAUT_OK) st = check_call(&w);
    if (st == ARENAUT_OK) {
        st = arenaut_tokens_find(result->problem, result->plan, allocator, &w.tokens, err);
    }
    if (st == ARENAUT_OK) st = write_graph(&w, sink);
    arenaut_tokens_free(&w.tokens, allocator);
    arn_tvm_graph_close(&w.graph);
    return st;
}
