/* Names that bodies take from around them: a subgraph from the graphs around it, a function's body
 * from its caller. */
#include <inttypes.h>
#include <string.h>

#include "core/fail.h"
#include "core/memory.h"
#include "formats/onnx/onnx_reader.h"
#include "formats/onnx/onnx_schema.h"

/* Captures: a subgraph may name values of the graphs around it. The op that calls it lists them
 * among its inputs, so that the op alone keeps them alive while it runs. */

typedef struct captures {
    arn_onnx *r;
    uint32_t *seen; /* per tensor: 1 + the last op that was found to list it */
    arn_id_list list;
} captures;

static arenaut_status note(captures *c, uint32_t op, uint32_t tensor) {
    if (tensor == ARENAUT_NONE || c->seen[tensor] == op + 1) return ARENAUT_OK;
    const arenaut_program *p = c->r->program;
    c->seen[tensor] = op + 1;
    if (p->tensors[tensor].method == p->ops[op].method && c->r->made_by[tensor] > op) {
        return arn_fail(c->r->err, ARENAUT_BAD_INPUT, 0,
                        "op %" PRIu32 " of method %" PRIu32
                        ": its subgraph uses '%.80s', which is "
                        "made later",
                        op - p->methods[p->ops[op].method].first_op, p->ops[op].method,
                        p->tensors[tensor].name);
    }
    const arenaut_status st = arn_onnx_charge(c->r, 1, 2 * sizeof tensor);
    return st == ARENAUT_OK ? arn_onnx_push(c->r, &c->list, tensor) : st;
}

/* Notes the tensors of other methods in a list of the called method. */
static arenaut_status note_foreign(captures *c, uint32_t op, uint32_t method,
                                   const uint32_t *tensors, uint32_t n) {
    const arenaut_program *p = c->r->program;
    arenaut_status st = ARENAUT_OK;
    for (uint32_t i = 0; i < n && st == ARENAUT_OK; i++) {
        if (tensors[i] == ARENAUT_NONE || p->tensors[tensors[i]].method == method) continue;
        st = note(c, op, tensors[i]);
    }
    return st;
}

static arenaut_status gather(captures *c, uint32_t op, uint32_t callee) {
    const arenaut_program *p = c->r->program;
    const arenaut_method *m = &p->methods[callee];
    arenaut_status st = note_foreign(c, op, callee, m->outputs, m->n_outputs);
    for (uint32_t i = m->first_op; i < m->first_op + m->n_ops && st == ARENAUT_OK; i++) {
        st = note_foreign(c, op, callee, p->ops[i].inputs, p->ops[i].n_inputs);
    }
    return st;
}

/* Adds to the op's inputs the captures of its subgraphs, whose own lists are complete. */
static arenaut_status list_for(captures *c, uint32_t at) {
    arenaut_op *op = &c->r->program->ops[at];
    arenaut_status st = ARENAUT_OK;
    c->list.n = 0;
    for (uint32_t i = 0; i < op->n_inputs; i++) { /* it lists these already */
        if (op->inputs[i] != ARENAUT_NONE) c->seen[op->inputs[i]] = at + 1;
    }
    for (uint32_t i = 0; i < op->n_calls && st == ARENAUT_OK; i++) {
        st = gather(c, at, op->calls[i]);
    }
    if (st != ARENAUT_OK || c->list.n == 0) return st;
    uint32_t *inputs =
        arenaut_program_alloc(c->r->program, ((size_t)op->n_inputs + c->list.n) * sizeof *inputs);
    if (!inputs) return arn_no_memory(c->r->err);
    if (op->n_inputs) memcpy(inputs, op->inputs, op->n_inputs * sizeof *inputs);
    memcpy(inputs + op->n_inputs, c->list.ids, c->list.n * sizeof *inputs);
    op->inputs = inputs;
    op->n_inputs += c->list.n;
    return ARENAUT_OK;
}

arenaut_status arn_onnx_list_captures(arn_onnx *r) {
    const arenaut_program *p = r->program;
    captures c = {.r = r};
    if (p->n_methods == 1) return ARENAUT_OK;
    c.seen = arn_allocate_zeroed(r->allocator, p->n_tensors, sizeof *c.seen);
    arenaut_status st = c.seen ? ARENAUT_OK : arn_no_memory(r->err);
    /* Methods come after those that call them, so from the last to the first. */
    for (uint32_t i = p->n_ops; i-- > 0 && st == ARENAUT_OK;) {
        if (p->ops[i].n_calls > 0) st = list_for(&c, i);
    }
    ARN_RELEASE(r->allocator, c.seen, c.list.ids);
    return st;
}

/* Inlining of a model's functions: a node that calls one stands for the nodes of its body, which
 * have names of their own. Here a body's arguments are bound to the caller's values; onnx_nodes.c
 * reads the body. A call costs the size of the function. */

enum { KEY_LIMIT = 512 };

/* "domain\nname\noverload" identifies a function. False if that is too long. */
static bool make_key(const arn_onnx *r, const arn_onnx_node *node, char key[KEY_LIMIT],
                     size_t *length) {
    const arn_pb_bytes parts[] = {node->domain, node->op_type, node->overload};
    *length = 0;
    for (unsigned i = 0; i < 3; i++) {
        if (parts[i].size + 1 > KEY_LIMIT - *length) return false;
        if (parts[i].size) memcpy(key + *length, r->data + parts[i].at, parts[i].size);
        *length += parts[i].size;
        key[(*length)++] = '\n';
    }
    return true;
}

arenaut_status arn_onnx_add_function(arn_onnx *r, arn_pb_bytes function) {
    arn_pb message = arn_pb_open(r->data, function);
    arn_pb_field field;
    const arn_pb_bytes none = {function.at, 0};
    arn_onnx_node named = {function, none, none, none, none};
    while (arn_pb_next(&message, &field)) {
        if (arn_pb_is(&field, FUNCTION_NAME, ARN_PB_BYTES)) named.op_type = field.bytes;
        if (arn_pb_is(&field, FUNCTION_DOMAIN, ARN_PB_BYTES)) named.domain = field.bytes;
        if (arn_pb_is(&field, FUNCTION_OVERLOAD, ARN_PB_BYTES)) named.overload = field.bytes;
    }
    char key[KEY_LIMIT];
    size_t length;
    arenaut_status st = arn_pb_status(&message, "a function", r->err);
    if (st != ARENAUT_OK) return st;
    if (arn_onnx_is(r, named.domain, "ai.onnx")) named.domain = none;
    if (!make_key(r, &named, key, &length)) {
        return arn_fail(r->err, ARENAUT_UNSUPPORTED, function.at,
                        "function '%.*s': its name and domain are too long",
                        ARN_ONNX_TEXT(r, named.op_type));
    }
    uint32_t index = r->n_functions;
    bool found;
    const char *copy = arn_region_copy_text(&r->region, key, length);
    const arn_name name = {(const uint8_t *)copy, length};
    if (!copy || !arn_name_tree_add(&r->functions, &r->region, name, &index, &found) ||
        !arn_grow(r->allocator, (void **)&r->function, &r->function_capacity,
                  (uint64_t)r->n_functions + 1, sizeof *r->function)) {
        return arn_no_memory(r->err);
    }
    if (found) {
        return arn_fail(r->err, ARENAUT_BAD_INPUT, function.at, "function '%.*s' is defined twice",
                        ARN_ONNX_TEXT(r, named.op_type));
    }
    r->function[r->n_functions++] = function;
    return ARENAUT_OK;
}

bool arn_onnx_called_function(const arn_onnx *r, const arn_onnx_node *node,
                              arn_pb_bytes *function) {
    char key[KEY_LIMIT];
    size_t length;
    uint32_t index;
    if (r->n_functions == 0 || !make_key(r, node, key, &length)) return false;
    const arn_name name = {(const uint8_t *)key, length};
    if (!arn_name_tree_find(&r->functions, name, &index)) return false;
    *function = r->function[index];
    return true;
}

/* Gives the function's names for its arguments the caller's values, in order; arguments that the
 * caller leaves out at the end are left out. */
static arenaut_status bind(arn_onnx *r, arn_pb_bytes function, uint32_t number,
                           const uint32_t *actual, uint32_t n_actual, arn_onnx_scope *scope) {
    arn_pb message = arn_pb_open(r->data, function);
    arn_pb_field field;
    const bool results = number == FUNCTION_OUTPUT;
    uint32_t n = 0;
    while (arn_pb_next(&message, &field)) {
        bool found = false;
        if (!arn_pb_is(&field, number, ARN_PB_BYTES)) continue;
        uint32_t id = n < n_actual ? actual[n] : ARENAUT_NONE;
        n++;
        /* A result that the caller leaves out is a value of the body's own. */
        if (results && id == ARENAUT_NONE) continue;
        if (!arn_name_tree_add(&scope->names, &r->region, arn_onnx_name(r, field.bytes), &id,
                               &found)) {
            return arn_no_memory(r->err);
        }
        if (found) {
            return arn_fail(r->err, ARENAUT_BAD_INPUT, field.bytes.at,
                            "a function has two arguments or results '%.*s'",
                            ARN_ONNX_TEXT(r, field.bytes));
        }
    }
    if (n >= n_actual) return ARENAUT_OK;
    return arn_fail(r->err, ARENAUT_BAD_INPUT, function.at,
                    "node %" PRIu32 " of method %" PRIu32 " gives a function %" PRIu32
                    " %s; it has %" PRIu32,
                    r->node, r->method, n_actual, results ? "outputs" : "inputs", n);
}

/* "PREFIX" + the node's name, or its operator if it has none, + "/". */
static const char *make_prefix(arn_onnx *r, const arn_onnx_node *node, const char *outer) {
    const arn_pb_bytes name = node->name.size ? node->name : node->op_type;
    const size_t before = strlen(outer), length = name.size < 256 ? name.size : 256;
    char *prefix = arn_region_allocate(&r->region, before + length + 2, 1);
    if (!prefix) return NULL;
    memcpy(prefix, outer, before);
    memcpy(prefix + before, r->data + name.at, length);
    memcpy(prefix + before + length, "/", 2);
    return prefix;
}

arenaut_status arn_onnx_enter_function(arn_onnx *r, const arn_onnx_node *node,
                                       arn_pb_bytes function, const arn_onnx_scope *scope,
                                       arn_onnx_body *out) {
    const uint32_t n = r->outputs.n;
    arn_onnx_call *call = arn_region_allocate(&r->region, 1, sizeof *call);
    out->scope = arn_region_allocate(&r->region, 1, sizeof *out->scope);
    out->results = arn_region_allocate(&r->region, n, sizeof *out->results);
    out->n_results = n;
    arenaut_status st = arn_onnx_charge(r, 1, 256 + function.size + node->bytes.size);
    if (st != ARENAUT_OK) return st;
    if (!call || !out->scope || !out->results) return arn_no_memory(r->err);
    if (n) memcpy(out->results, r->outputs.ids, n * sizeof *out->results);
    *call = (arn_onnx_call){.node = node->bytes,
                            .function = function,
                            .outer = scope->call,
                            .depth = scope->call ? scope->call->depth + 1 : 1};
    call->prefix = make_prefix(r, node, scope->call ? scope->call->prefix : "");
    if (!call->prefix) return arn_no_memory(r->err);
    if (call->depth > ARN_ONNX_DEPTH) {
        return arn_fail(r->err, ARENAUT_UNSUPPORTED, node->bytes.at,
                        "function '%.*s': functions that call functions more than %d deep, or "
                        "themselves, are not supported",
                        ARN_ONNX_TEXT(r, node->op_type), ARN_ONNX_DEPTH);
    }
    *out->scope = (arn_onnx_scope){.call = call};
    st = bind(r, function, FUNCTION_INPUT, r->inputs.ids, r->inputs.n, out->scope);
    if (st != ARENAUT_OK) return st;
    return bind(r, function, FUNCTION_OUTPUT, out->results, n, out->scope);
}

arenaut_status arn_onnx_check_results(const arn_onnx *r, const arn_onnx_node *node,
                                      const arn_onnx_body *body) {
    for (uint32_t i = 0; i < body->n_results; i++) {
        const uint32_t id = body->results[i];
        if (id == ARENAUT_NONE || r->made_by[id] != ARN_ONNX_NOT_MADE) continue;
        return arn_fail(r->err, ARENAUT_BAD_INPUT, node->bytes.at,
                        "function '%.*s' makes no '%.80s'", ARN_ONNX_TEXT(r, node->op_type),
                        r->program->tensors[id].name);
    }
    return ARENAUT_OK;
}
