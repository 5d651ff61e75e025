/* tokens: the plan as storage ids, for graph runtimes: the token of each value, its device, and the
 * sizes of tokens. A tuple has an id and a device for each of its fields. */
#include <inttypes.h>

#include <arenaut/report.h>
#include <arenaut/tokens.h>

#include "core/fail.h"
#include "core/memory.h"
#include "core/writer.h"

typedef struct listing {
    arn_writer out;
    const arenaut_result *result;
    arenaut_tokens tokens;
    uint32_t *tuple_of; /* per tensor: the op that makes it as a tuple; ARENAUT_NONE: it is none */
} listing;

static void put_device(listing *l, arenaut_device device) {
    arn_putf(&l->out, "{\"type\": %u, \"index\": %u}", (unsigned)device.type,
             (unsigned)device.index);
}

static void put_name(listing *l, const char *name) {
    if (name) arn_put_json_string(&l->out, name);
    else arn_puts(&l->out, "null");
}

static void put_tokens(listing *l) {
    arn_puts(&l->out, "  \"tokens\": [");
    for (uint32_t k = 0; k < l->tokens.n; k++) {
        arn_putf(&l->out, "%s\n    {\"id\": %" PRIu32 ", \"bytes\": ", k ? "," : "", k);
        arn_put_json_u64(&l->out, l->tokens.bytes[k]);
        arn_puts(&l->out, ", \"device\": ");
        put_device(l, l->result->problem->pool[l->tokens.pool[k]].device);
        arn_puts(&l->out, "}");
    }
    arn_puts(&l->out, "],\n");
}

/* The token that a tensor lies in; NONE if it needs no memory, or not the arena's. */
static uint32_t token_of(const listing *l, uint32_t tensor) {
    const uint32_t buffer = l->result->lowering->buffer[tensor];
    return buffer == ARENAUT_NONE ? buffer : l->tokens.of[buffer];
}

/* A value in a token is on its device, even if a file states another for one of its names. */
static void put_device_of(listing *l, uint32_t tensor) {
    const uint32_t token = token_of(l, tensor);
    put_device(l, token == ARENAUT_NONE ? l->result->program->tensors[tensor].device
                                        : l->result->problem->pool[l->tokens.pool[token]].device);
}

static void put_single(listing *l, uint32_t tensor) {
    const uint32_t token = token_of(l, tensor);
    arn_puts(&l->out, ", \"device\": ");
    put_device_of(l, tensor);
    arn_puts(&l->out, ", \"storage_ids\": [");
    if (token != ARENAUT_NONE) arn_putf(&l->out, "%" PRIu32, token);
    arn_puts(&l->out, "]");
}

/* An entry for each field, so that its place tells which one it is of. */
static void put_tuple(listing *l, const arenaut_op *maker) {
    arn_puts(&l->out, ", \"devices\": [");
    for (uint32_t i = 0; i < maker->n_inputs; i++) {
        if (i > 0) arn_puts(&l->out, ", ");
        put_device_of(l, maker->inputs[i]);
    }
    arn_puts(&l->out, "], \"storage_ids\": [");
    for (uint32_t i = 0; i < maker->n_inputs; i++) {
        const uint32_t token = token_of(l, maker->inputs[i]);
        if (i > 0) arn_puts(&l->out, ", ");
        if (token == ARENAUT_NONE) arn_puts(&l->out, "null");
        else arn_putf(&l->out, "%" PRIu32, token);
    }
    arn_puts(&l->out, "]");
}

static void put_value(listing *l, uint32_t t) {
    const arenaut_program *p = l->result->program;
    const uint32_t maker = l->tuple_of[t];
    arn_puts(&l->out, t ? ",\n    {\"name\": " : "\n    {\"name\": ");
    put_name(l, p->tensors[t].name);
    arn_puts(&l->out, ", \"bytes\": ");
    arn_put_json_u64(&l->out, p->tensors[t].bytes);
    if (maker == ARENAUT_NONE) put_single(l, t);
    else put_tuple(l, &p->ops[maker]);
    arn_puts(&l->out, "}");
}

/* Of a bare problem the buffers are the values. */
static void put_buffer(listing *l, uint32_t b) {
    const arenaut_problem *p = l->result->problem;
    const uint32_t token = l->tokens.of[b];
    const arenaut_device host = {0, 0};
    arn_puts(&l->out, b ? ",\n    {\"name\": " : "\n    {\"name\": ");
    put_name(l, p->name ? p->name[b] : NULL);
    arn_puts(&l->out, ", \"bytes\": ");
    arn_put_json_u64(&l->out, p->size[b]);
    arn_puts(&l->out, ", \"device\": ");
    put_device(l, token == ARENAUT_NONE ? host : p->pool[l->tokens.pool[token]].device);
    arn_puts(&l->out, ", \"storage_ids\": [");
    if (token != ARENAUT_NONE) arn_putf(&l->out, "%" PRIu32, token);
    arn_puts(&l->out, "]}");
}

static arenaut_status put_all(listing *l, arenaut_error *err) {
    const arenaut_result *result = l->result;
    const bool program = result->program && result->lowering;
    arn_puts(&l->out, "{\n  \"schema\": \"arenaut.tokens/1\",\n  \"planner\": ");
    put_name(l, result->plan->planner);
    arn_puts(&l->out, ",\n  \"bytes\": ");
    arn_put_json_u64(&l->out, l->tokens.total);
    arn_puts(&l->out, ",\n");
    put_tokens(l);
    arn_puts(&l->out, "  \"values\": [");
    const uint32_t n = program ? result->program->n_tensors : result->problem->n_buffers;
    for (uint32_t i = 0; i < n; i++) {
        if (program) put_value(l, i);
        else put_buffer(l, i);
    }
    arn_puts(&l->out, "]\n}\n");
    return arn_writer_finish(&l->out, err);
}

static bool find_tuples(listing *l, const arenaut_allocator *allocator) {
    const arenaut_program *p = l->result->program;
    const uint32_t n = p ? p->n_tensors : 0;
    l->tuple_of = arn_allocate(allocator, n, sizeof *l->tuple_of);
    for (uint32_t t = 0; t < n && l->tuple_of; t++) l->tuple_of[t] = ARENAUT_NONE;
    for (uint32_t i = 0; p && i < p->n_ops && l->tuple_of; i++) {
        const arenaut_op *op = &p->ops[i];
        if (op->kind == ARENAUT_OP_TUPLE) l->tuple_of[op->outputs[0]] = i;
        if (op->kind == ARENAUT_OP_LET) l->tuple_of[op->outputs[0]] = l->tuple_of[op->inputs[0]];
    }
    return l->tuple_of != NULL;
}

static arenaut_status tokens_emit(const arenaut_result *result,
                                  const arenaut_report_options *options, arenaut_sink sink,
                                  const arenaut_allocator *allocator, arenaut_error *err) {
    (void)options;
    listing l = {.out = arn_writer_to(sink), .result = result};
    arenaut_status st =
        arenaut_tokens_find(result->problem, result->plan, allocator, &l.tokens, err);
    if (st == ARENAUT_OK && !find_tuples(&l, allocator)) st = arn_no_memory(err);
    if (st == ARENAUT_OK) st = put_all(&l, err);
    arn_release(allocator, l.tuple_of);
    arenaut_tokens_free(&l.tokens, allocator);
    return st;
}

extern const arenaut_report arn_report_tokens;
const arenaut_report arn_report_tokens = {
    .name = "tokens",
    .summary = "storage ids, as graph runtimes want them, in JSON",
    .extension = ".tokens",
    .needs_plan = true,
    .emit = tokens_emit,
};
