/* Puts a plan into a TVM graph: the numbers in its list of storage ids change, and nothing
 * else does.
 *
 * A storage id is a whole block, so values either have the same id or no byte in common. Ids
 * that are not the plan's stay as they are, since code that was compiled with the graph may
 * know them; blocks of the plan get the lowest numbers that are free. */
#include <inttypes.h>

#include "core/sort.h"
#include "core/writer.h"
#include "formats/tvm/graph.h"

typedef struct writer {
    arn_tvm_graph graph;
    const arenaut_result *result;
    arenaut_error *err;
    uint32_t *order; /* buffers by address */
    uint32_t *block; /* per buffer: the number of its block, by address */
    uint32_t *number; /* per block: its storage id; ARENAUT_NONE: none yet */
    bool *taken;     /* per storage id */
} writer;

static bool lies_before(const void *context, uint32_t a, uint32_t b) {
    const arenaut_plan *plan = context;
    if (plan->pool[a] != plan->pool[b]) return plan->pool[a] < plan->pool[b];
    return plan->offset[a] < plan->offset[b];
}

static arenaut_status refuse_parts(const writer *w, uint32_t a, uint32_t b) {
    const arenaut_problem *p = w->result->problem;
    char store_a[24], store_b[24];
    return arn_fail(w->err, ARENAUT_REFUSED, 0,
                    "storage ids cannot say where in a block a value lies: '%.80s' at [%" PRIu64
                    ", %" PRIu64 ") and '%.80s' at [%" PRIu64 ", %" PRIu64
                    ") would be parts of one; plan with 'shared-objects'",
                    arenaut_problem_buffer_name(p, a, store_a), w->result->plan->offset[a],
                    w->result->plan->offset[a] + p->size[a],
                    arenaut_problem_buffer_name(p, b, store_b), w->result->plan->offset[b],
                    w->result->plan->offset[b] + p->size[b]);
}

/* Numbers the blocks; *longest is the buffer of the block at hand that reaches furthest. */
static arenaut_status find_blocks(writer *w) {
    const arenaut_problem *p = w->result->problem;
    const arenaut_plan *plan = w->result->plan;
    uint32_t n = 0, block = 0, longest = 0;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        w->block[b] = ARENAUT_NONE;
        w->number[b] = ARENAUT_NONE;
        if (plan->pool[b] != ARENAUT_NONE) w->order[n++] = b;
    }
    arn_sort_ids(w->order, n, lies_before, plan, w->order + p->n_buffers);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t b = w->order[i];
        const uint64_t end = plan->offset[b] + p->size[b];
        const uint64_t reach = plan->offset[longest] + p->size[longest];
        if (i == 0 || plan->pool[b] != plan->pool[longest] || reach <= plan->offset[b]) {
            block += i > 0;
            longest = b;
        } else if (plan->offset[b] != plan->offset[longest]) {
            return refuse_parts(w, longest, b);
        } else if (end > reach) {
            longest = b;
        }
        w->block[b] = block;
    }
    return ARENAUT_OK;
}

/* The buffer of an entry whose id the plan decides; ARENAUT_NONE for others. */
static uint32_t planned_buffer(const writer *w, uint32_t e) {
    return w->graph.kept[e] ? ARENAUT_NONE : w->result->lowering->buffer[e];
}

/* Values that need no memory keep to themselves, in a block of no bytes: one for them all. */
static uint32_t block_of(const writer *w, uint32_t e) {
    const uint32_t b = planned_buffer(w, e), n = w->result->problem->n_buffers;
    return b == ARENAUT_NONE || w->block[b] == ARENAUT_NONE ? n + w->graph.device[e] : w->block[b];
}

/* The id of an entry, which is given out at its first use. */
static int32_t id_of(writer *w, uint32_t e, uint32_t *next) {
    if (w->graph.kept[e]) return w->graph.id[e];
    uint32_t *number = &w->number[block_of(w, e)];
    if (*number == ARENAUT_NONE) {
        while (w->taken[*next]) (*next)++;
        w->taken[*next] = true;
        *number = *next;
    }
    return (int32_t)*number;
}

/* Where the digits that begin at `at` end. */
static size_t end_of_number(const arn_json *json, size_t at) {
    while (at < json->size && json->text[at] != ',' && json->text[at] != ']' &&
           json->text[at] != ' ' && json->text[at] != '\n' && json->text[at] != '\r' &&
           json->text[at] != '\t') {
        at++;
    }
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
        arn_putf(&out, "%" PRId32, id_of(w, e, &next));
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
    if (result->program->n_tensors != w->graph.n_entries ||
        result->lowering->n_tensors != w->graph.n_entries) {
        return arn_fail(w->err, ARENAUT_REFUSED, 0,
                        "the plan is of %" PRIu32 " values; the graph has %" PRIu32,
                        result->program->n_tensors, w->graph.n_entries);
    }
    return ARENAUT_OK;
}

static arenaut_status write_graph(writer *w, arenaut_sink sink) {
    arenaut_status st = check_call(w);
    if (st != ARENAUT_OK) return st;
    arn_region *region = &w->graph.json.texts;
    const uint32_t n = w->result->problem->n_buffers;
    w->order = arn_region_allocate(region, n, 2 * sizeof *w->order);
    w->block = arn_region_allocate(region, n, sizeof *w->block);
    w->number = arn_region_allocate(region, (size_t)n + UINT16_MAX + 1, sizeof *w->number);
    const size_t n_ids = (size_t)w->graph.n_ids + w->graph.n_entries;
    w->taken = arn_region_allocate(region, n_ids, sizeof *w->taken);
    if (!w->order || !w->block || !w->number || !w->taken) return arn_no_memory(w->err);
    for (uint32_t k = 0; k <= UINT16_MAX; k++) w->number[n + k] = ARENAUT_NONE;
    for (size_t k = 0; k < n_ids; k++) w->taken[k] = false;
    for (uint32_t e = 0; e < w->graph.n_entries; e++) {
        if (w->graph.kept[e] && w->graph.id[e] >= 0) w->taken[w->graph.id[e]] = true;
    }
    st = find_blocks(w);
    return st == ARENAUT_OK ? copy_with_ids(w, sink) : st;
}

arenaut_status arn_tvm_write(const arenaut_result *result, arenaut_sink sink,
                             const arenaut_allocator *allocator, arenaut_error *err) {
    writer w = {.result = result, .err = err};
    arn_tvm_graph_open(&w.graph, result->file, result->file_size, allocator, err);
    arenaut_status st = w.graph.json.status;
    if (st == ARENAUT_OK) st = write_graph(&w, sink);
    arn_tvm_graph_close(&w.graph);
    return st;
}
