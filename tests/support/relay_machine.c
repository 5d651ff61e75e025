#include "support/relay_machine.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arenaut/check.h>
#include <arenaut/format.h>
#include <arenaut/pass.h>
#include <arenaut/planner.h>
#include <arenaut/report.h>

#include "support/random.h"

enum { MAX_VALUES = 96, MAX_OPS = 20, MAX_LIST = 6, MAX_FLAT = 16, MAX_TEXT = 1 << 16 };

typedef enum what { PARAMETER, CONSTANT, RESULT, TUPLE, FIELD, LET } what;

/* An expression, or one of the results of a call. Its parts: of a tuple its fields, of all others
 * themselves or the expressions that they name. */
typedef struct value {
    what kind;
    bool tuple;
    uint32_t of[MAX_FLAT], n; /* the parameters, constants and results that it stands for */
    const char *dtype;
    uint32_t lanes; /* 0: not stated */
    uint32_t rank, dims[3], device;
    uint64_t bytes;
    /* The reading's. */
    uint32_t readers, block;
} value;

typedef struct op {
    what kind; /* RESULT: a call */
    uint32_t inputs[MAX_LIST], n_inputs, outputs[MAX_LIST], n_outputs, index;
} op;

/* A block of memory. `number` is the first value of some size in it: its place among the ids, since
 * a value without bytes gets none here. */
typedef struct block {
    uint64_t bytes;
    uint32_t device, number;
} block;

typedef struct text {
    char bytes[MAX_TEXT];
    size_t n;
} text;

typedef struct machine {
    rng r;
    value values[MAX_VALUES];
    op ops[MAX_OPS];
    uint32_t n_values, n_parameters, n_ops, outputs[MAX_LIST], n_outputs;
    bool annotated;
    uint64_t range;
    char range_text[24];
    block blocks[MAX_VALUES];
    uint32_t n_blocks, free[MAX_VALUES], n_free;
    text program, expected;
} machine;

static void put(text *t, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int n = vsnprintf(t->bytes + t->n, sizeof t->bytes - t->n, format, arguments);
    va_end(arguments);
    if (n > 0) t->n += (size_t)n;
    if (t->n >= sizeof t->bytes) abort();
}

/* ---- random programs ---- */

static void choose_type(machine *m, value *v) {
    static const struct {
        const char *name;
        uint32_t bits;
    } types[] = {
        {"int4", 4}, {"bool", 1}, {"int8", 8}, {"float16", 16}, {"float32", 32}, {"float64", 64},
    };
    static const uint32_t lanes[] = {0, 0, 0, 1, 2, 3, 4, 16};
    const uint32_t k = rng_below(&m->r, sizeof types / sizeof *types);
    v->dtype = types[k].name;
    v->lanes = lanes[rng_below(&m->r, sizeof lanes / sizeof *lanes)];
    v->rank = rng_below(&m->r, 4);
    v->bytes = (types[k].bits * (v->lanes ? v->lanes : 1) + 7) / 8;
    for (uint32_t i = 0; i < v->rank; i++) {
        v->dims[i] =
            rng_once_in(&m->r, 24) ? 0 : 1 + rng_below(&m->r, rng_once_in(&m->r, 3) ? 40 : 6);
        v->bytes *= v->dims[i];
    }
}

/* A parameter, a constant or a result. */
static uint32_t add_origin(machine *m, what kind) {
    const uint32_t id = m->n_values++;
    value *v = &m->values[id];
    *v = (value){.kind = kind, .of = {id}, .n = 1};
    choose_type(m, v);
    v->device = m->annotated ? 1 + rng_below(&m->r, 3) : 0;
    return id;
}

/* Recent ones more often, so that memory comes free. */
static uint32_t any_value(machine *m) {
    const uint32_t n = m->n_values, near = n < 6 ? n : 6;
    return rng_once_in(&m->r, 3) ? rng_below(&m->r, n) : n - 1 - rng_below(&m->r, near);
}

static bool any_tuple(machine *m, uint32_t *id) {
    for (uint32_t tries = 0; tries < 10; tries++) {
        *id = any_value(m);
        if (m->values[*id].tuple && m->values[*id].n > 0) return true;
    }
    return false;
}

static void make_call(machine *m, op *o) {
    o->kind = RESULT;
    o->n_inputs = m->n_values ? rng_below(&m->r, 5) : 0;
    for (uint32_t i = 0; i < o->n_inputs; i++) o->inputs[i] = any_value(m);
    o->n_outputs = rng_once_in(&m->r, 3) ? 1 + rng_below(&m->r, 4) : 1;
    for (uint32_t i = 0; i < o->n_outputs; i++) o->outputs[i] = add_origin(m, RESULT);
}

/* Each field is one value: Relay takes no tuples in tuples. */
static void make_tuple(machine *m, op *o) {
    o->kind = TUPLE;
    const uint32_t wanted = rng_below(&m->r, 5), id = m->n_values;
    value tuple = {.kind = TUPLE, .tuple = true};
    for (uint32_t i = 0; i < wanted; i++) {
        const uint32_t field = any_value(m);
        if (m->values[field].tuple) continue;
        o->inputs[o->n_inputs++] = field;
        tuple.of[tuple.n++] = m->values[field].of[0];
    }
    m->values[m->n_values++] = tuple;
    o->outputs[o->n_outputs++] = id;
}

/* A name has the type of its expression; and its device, implicitly. */
static void make_name(machine *m, op *o, uint32_t named, bool field) {
    const uint32_t id = m->n_values++;
    const value *from = &m->values[named];
    o->kind = field ? FIELD : LET;
    o->inputs[o->n_inputs++] = named;
    o->outputs[o->n_outputs++] = id;
    o->index = field ? rng_below(&m->r, from->n) : 0;
    m->values[id] = field ? m->values[from->of[o->index]] : *from;
    m->values[id].kind = o->kind;
    if (!field) return;
    m->values[id].of[0] = from->of[o->index];
}

static void make_op(machine *m) {
    op *o = &m->ops[m->n_ops++];
    uint32_t tuple;
    *o = (op){.kind = RESULT};
    switch (m->n_values ? rng_below(&m->r, 8) : 0) {
        case 5: make_tuple(m, o); break;
        case 6:
            if (any_tuple(m, &tuple)) make_name(m, o, tuple, true);
            else make_call(m, o);
            break;
        case 7: make_name(m, o, any_value(m), false); break;
        default: make_call(m, o); break;
    }
}

static void make_program(machine *m) {
    m->annotated = rng_once_in(&m->r, 3);
    m->n_parameters = rng_below(&m->r, 4);
    for (uint32_t i = 0; i < m->n_parameters; i++) add_origin(m, PARAMETER);
    for (uint32_t i = rng_below(&m->r, 3); i > 0; i--) add_origin(m, CONSTANT);
    for (uint32_t i = 1 + rng_below(&m->r, MAX_OPS); i > 0; i--) make_op(m);
    m->n_outputs = 1 + rng_below(&m->r, 3);
    for (uint32_t i = 0; i < m->n_outputs; i++) m->outputs[i] = any_value(m);
    static const uint64_t ranges[] = {16, 16, 16, 16, 0, 1, 2, 3, 17, 1000};
    m->range = ranges[rng_below(&m->r, sizeof ranges / sizeof *ranges)];
    snprintf(m->range_text, sizeof m->range_text, "%" PRIu64, m->range);
}

/* ---- as program JSON ---- */

static void put_names(text *t, const char *key, const uint32_t *ids, uint32_t n) {
    put(t, "\"%s\": [", key);
    for (uint32_t i = 0; i < n; i++) put(t, "%s\"v%" PRIu32 "\"", i ? ", " : "", ids[i]);
    put(t, "]");
}

static void put_tensor(machine *m, uint32_t id) {
    const value *v = &m->values[id];
    text *t = &m->program;
    put(t, "\n  {\"name\": \"v%" PRIu32 "\"", id);
    if (v->tuple) {
        put(t, ", \"dtype\": \"other\"}");
        return;
    }
    put(t, ", \"dtype\": \"%s\", \"dims\": [", v->dtype);
    for (uint32_t i = 0; i < v->rank; i++) put(t, "%s%" PRIu32, i ? ", " : "", v->dims[i]);
    put(t, "]");
    if (v->lanes) put(t, ", \"lanes\": %" PRIu32, v->lanes);
    if (v->kind == CONSTANT) put(t, ", \"class\": \"constant\"");
    if (v->device && v->kind <= RESULT) put(t, ", \"device\": %" PRIu32, v->device);
    put(t, "}");
}

static void put_op(machine *m, const op *o) {
    text *t = &m->program;
    put(t, "\n  {");
    if (o->kind == TUPLE) put(t, "\"kind\": \"tuple\", ");
    if (o->kind == LET) put(t, "\"kind\": \"let\", ");
    if (o->kind == FIELD) put(t, "\"kind\": \"field\", \"index\": %" PRIu32 ", ", o->index);
    put_names(t, "inputs", o->inputs, o->n_inputs);
    put(t, ", ");
    put_names(t, "outputs", o->outputs, o->n_outputs);
    put(t, "}");
}

/* `order`: which value comes where in the list of tensors. */
static void write_program(machine *m, const uint32_t *order) {
    uint32_t parameters[MAX_VALUES];
    text *t = &m->program;
    for (uint32_t i = 0; i < m->n_parameters; i++) parameters[i] = i;
    put(t, "{\"schema\": \"arenaut.program/1\", \"dialect\": \"tvm\", \"tensors\": [");
    for (uint32_t i = 0; i < m->n_values; i++) {
        if (i) put(t, ",");
        put_tensor(m, order[i]);
    }
    put(t, "],\n");
    put_names(t, "inputs", parameters, m->n_parameters);
    put(t, ", ");
    put_names(t, "outputs", m->outputs, m->n_outputs);
    put(t, ", \"ops\": [");
    for (uint32_t i = 0; i < m->n_ops; i++) {
        if (i) put(t, ",");
        put_op(m, &m->ops[i]);
    }
    put(t, "]}\n");
}

/* ---- the second reading ---- */

/* First walk: how often each is read. A tuple among the arguments counts for all its fields, and
 * the program's result is read once more, so that it stays. */
static void count_readers(machine *m) {
    for (uint32_t i = 0; i < m->n_ops; i++) {
        for (uint32_t k = 0; k < m->ops[i].n_inputs && m->ops[i].kind == RESULT; k++) {
            const value *v = &m->values[m->ops[i].inputs[k]];
            for (uint32_t f = 0; f < v->n; f++) m->values[v->of[f]].readers++;
        }
    }
    for (uint32_t i = 0; i < m->n_outputs; i++) {
        const value *v = &m->values[m->outputs[i]];
        for (uint32_t f = 0; f < v->n; f++) m->values[v->of[f]].readers++;
    }
}

/* Free blocks lie by size, and among equals in the order in which they came. */
static void let_go(machine *m, uint32_t b) {
    uint32_t at = m->n_free++;
    for (; at > 0 && m->blocks[m->free[at - 1]].bytes > m->blocks[b].bytes; at--) {
        m->free[at] = m->free[at - 1];
    }
    m->free[at] = b;
}

static void give(machine *m, uint32_t id, uint32_t b) {
    m->values[id].block = b;
    if (m->values[id].bytes > 0 && m->blocks[b].number == UINT32_MAX) m->blocks[b].number = id;
}

static void give_new(machine *m, uint32_t id) {
    m->blocks[m->n_blocks] = (block){m->values[id].bytes, m->values[id].device, UINT32_MAX};
    give(m, id, m->n_blocks++);
}

static void take(machine *m, uint32_t id, uint32_t at) {
    const uint32_t b = m->free[at];
    memmove(m->free + at, m->free + at + 1, (m->n_free - at - 1) * sizeof *m->free);
    m->n_free--;
    if (m->blocks[b].bytes < m->values[id].bytes) m->blocks[b].bytes = m->values[id].bytes;
    give(m, id, b);
}

/* Of the free blocks of its device, the smallest from its size to `range` times it, both
 * included; else the largest of those down to size / range. */
static void request(machine *m, uint32_t id) {
    const uint64_t size = m->values[id].bytes;
    for (uint32_t i = 0; i < m->n_free && m->range > 0; i++) {
        const block *b = &m->blocks[m->free[i]];
        if (b->device != m->values[id].device || b->bytes < size) continue;
        if (b->bytes > size * m->range) break;
        take(m, id, i);
        return;
    }
    for (uint32_t i = m->n_free; i-- > 0 && m->range > 0;) {
        const block *b = &m->blocks[m->free[i]];
        if (b->device != m->values[id].device || b->bytes >= size) continue;
        if (b->bytes < size / m->range) break;
        take(m, id, i);
        return;
    }
    give_new(m, id);
}

/* Second walk. Parameters and constants have blocks of their own; a constant's has no id here. */
static void hand_out(machine *m) {
    for (uint32_t i = 0; i < m->n_parameters; i++) give_new(m, i);
    for (uint32_t i = 0; i < m->n_ops; i++) {
        const op *o = &m->ops[i];
        if (o->kind != RESULT) continue;
        for (uint32_t k = 0; k < o->n_outputs; k++) request(m, o->outputs[k]);
        for (uint32_t k = 0; k < o->n_outputs; k++) {
            const value *v = &m->values[o->outputs[k]];
            if (v->readers == 0) let_go(m, v->block);
        }
        for (uint32_t k = 0; k < o->n_inputs; k++) {
            const value *argument = &m->values[o->inputs[k]];
            for (uint32_t f = 0; f < argument->n; f++) {
                value *v = &m->values[argument->of[f]];
                if (--v->readers == 0 && v->kind == RESULT) let_go(m, v->block);
            }
        }
    }
}

/* Values are numbered in the order in which they ask, so ids follow from them. */
static uint32_t id_of_block(const machine *m, uint32_t b) {
    uint32_t id = 0;
    for (uint32_t k = 0; k < m->n_blocks; k++) id += m->blocks[k].number < m->blocks[b].number;
    return id;
}

/* The block that a parameter, constant or result lies in; NULL: none that is told. */
static const block *block_of(const machine *m, uint32_t origin) {
    const value *v = &m->values[origin];
    return v->kind == CONSTANT || v->bytes == 0 ? NULL : &m->blocks[v->block];
}

static void put_device(text *t, uint32_t device) {
    put(t, "{\"type\": %" PRIu32 ", \"index\": 0}", device);
}

static void tell_value(machine *m, uint32_t id) {
    const value *v = &m->values[id];
    text *t = &m->expected;
    put(t, "\n    {\"name\": \"v%" PRIu32 "\", \"bytes\": %" PRIu64 ", \"%s\": ", id, v->bytes,
        v->tuple ? "devices" : "device");
    if (v->tuple) put(t, "[");
    for (uint32_t f = 0; f < v->n; f++) {
        if (f) put(t, ", ");
        put_device(t, m->values[v->of[f]].device);
    }
    put(t, "%s, \"storage_ids\": [", v->tuple ? "]" : "");
    for (uint32_t f = 0; f < v->n; f++) {
        const block *b = block_of(m, v->of[f]);
        if (f) put(t, ", ");
        if (b) put(t, "%" PRIu32, id_of_block(m, m->values[v->of[f]].block));
        else if (v->tuple) put(t, "null");
    }
    put(t, "]}");
}

static void tell(machine *m, const uint32_t *order) {
    text *t = &m->expected;
    uint64_t total = 0;
    uint32_t told = 0;
    for (uint32_t b = 0; b < m->n_blocks; b++) total += m->blocks[b].bytes;
    put(t,
        "{\n  \"schema\": \"arenaut.tokens/1\",\n  \"planner\": \"tvm-tokens\",\n  \"bytes\": "
        "%" PRIu64 ",\n  \"tokens\": [",
        total);
    for (uint32_t id = 0; id < m->n_values; id++) {
        for (uint32_t b = 0; b < m->n_blocks; b++) {
            if (m->blocks[b].number != id) continue;
            put(t, "%s\n    {\"id\": %" PRIu32 ", \"bytes\": %" PRIu64 ", \"device\": ",
                told ? "," : "", told, m->blocks[b].bytes);
            put_device(t, m->blocks[b].device);
            put(t, "}");
            told++;
        }
    }
    put(t, "],\n  \"values\": [");
    for (uint32_t i = 0; i < m->n_values; i++) {
        if (i) put(t, ",");
        tell_value(m, order[i]);
    }
    put(t, "]\n}\n");
}

/* ---- the library ---- */

/* The report `tokens` of the program, planned; an error's status and message if it comes to
 * that. */
static arenaut_status plan_and_tell(const machine *m, arenaut_text *out, arenaut_error *err) {
    const arenaut_target *target = arenaut_target_find("tvm");
    const arenaut_pass_options options = {.target = target};
    const arenaut_setting setting = {"match_range", m->range_text};
    const arenaut_plan_options plan_options = {
        .planner = "tvm-tokens", .settings = &setting, .n_settings = 1};
    arenaut_document d = {0};
    arenaut_lowering *lowering = NULL;
    arenaut_plan *plan = NULL;
    arenaut_finding finding;
    arenaut_status st =
        arenaut_read((const uint8_t *)m->program.bytes, m->program.n, NULL, NULL, NULL, &d, err);
    if (st == ARENAUT_OK) st = arenaut_passes_run(d.program, NULL, &options, NULL, NULL, err);
    if (st == ARENAUT_OK) st = arenaut_lower(d.program, target, NULL, NULL, &lowering, err);
    if (st == ARENAUT_OK) {
        st = arenaut_plan_make(lowering->problem, &plan_options, NULL, &plan, err);
    }
    if (st == ARENAUT_OK) st = arenaut_check_plan(lowering->problem, plan, NULL, &finding, err);
    if (st == ARENAUT_OK) {
        const arenaut_result result = {.path = "relay.json",
                                       .format = "program-json",
                                       .program = d.program,
                                       .lowering = lowering,
                                       .problem = lowering->problem,
                                       .plan = plan,
                                       .seconds = -1};
        st = arenaut_report_emit(arenaut_report_find("tokens"), &result, NULL,
                                 arenaut_text_sink(out), NULL, err);
    }
    arenaut_plan_free(plan);
    arenaut_lowering_free(lowering);
    arenaut_document_free(&d);
    return st;
}

static char *describe(const machine *m, uint64_t seed, const char *found) {
    const size_t room = m->program.n + m->expected.n + strlen(found) + 200;
    char *message = malloc(room);
    if (!message) abort();
    snprintf(message, room,
             "seed %" PRIu64 ", match_range %s:\n%s\n-- expected\n%s\n-- found\n%s\n", seed,
             m->range_text, m->program.bytes, m->expected.bytes, found);
    return message;
}

char *relay_machine_try(uint64_t seed) {
    machine *m = calloc(1, sizeof *m);
    uint32_t order[MAX_VALUES];
    arenaut_text found = {0};
    arenaut_error err = {0};
    if (!m) abort();
    m->r.state = seed;
    make_program(m);
    for (uint32_t i = 0; i < m->n_values; i++) order[i] = i;
    const bool shuffled = !rng_once_in(&m->r, 4);
    for (uint32_t i = m->n_values; i > 1 && shuffled; i--) {
        const uint32_t k = rng_below(&m->r, i), moved = order[k];
        order[k] = order[i - 1];
        order[i - 1] = moved;
    }
    write_program(m, order);
    count_readers(m);
    hand_out(m);
    tell(m, order);
    const arenaut_status st = plan_and_tell(m, &found, &err);
    char *message = NULL;
    if (st != ARENAUT_OK) message = describe(m, seed, err.msg);
    else if (strcmp(found.bytes, m->expected.bytes) != 0) message = describe(m, seed, found.bytes);
    arenaut_text_free(&found);
    free(m);
    return message;
}
