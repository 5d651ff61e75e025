/* Nodes: one op each, but for those that call a function of the model, which become the ops of
 * its body. If, Loop and Scan queue their subgraphs for onnx_read.c. A node costs its arguments'
 * names and the attributes' bytes, which are charged. */
#include <inttypes.h>
#include <string.h>

#include "core/fail.h"
#include "core/memory.h"
#include "formats/onnx/onnx_reader.h"
#include "formats/onnx/onnx_schema.h"
#include "ir/program.h"

enum { OP_COST = sizeof(arenaut_op) + 64 };

static arenaut_status take_node(arn_onnx *r, arn_pb_bytes bytes, arn_onnx_node *node) {
    arn_pb message = arn_pb_open(r->data, bytes);
    arn_pb_field field;
    const arn_pb_bytes none = {bytes.at, 0};
    *node = (arn_onnx_node){bytes, none, none, none, none};
    while (arn_pb_next(&message, &field)) {
        if (field.type != ARN_PB_BYTES) continue;
        switch (field.number) {
            case NODE_NAME: node->name = field.bytes; break;
            case NODE_OP_TYPE: node->op_type = field.bytes; break;
            case NODE_DOMAIN: node->domain = field.bytes; break;
            case NODE_OVERLOAD: node->overload = field.bytes; break;
            default: break;
        }
    }
    const arenaut_status st = arn_pb_status(&message, "a node", r->err);
    if (st != ARENAUT_OK) return st;
    if (arn_onnx_is(r, node->domain, "ai.onnx")) node->domain = none;
    if (node->op_type.size > 0) return ARENAUT_OK;
    return arn_fail(r->err, ARENAUT_BAD_INPUT, bytes.at,
                    "node %" PRIu32 " of method %" PRIu32 " names no operator", r->node, r->method);
}

/* ---- results of nodes ---- */

/* Inside a function the names of its results are bound to the caller's values already. */
static bool is_bound_result(const arn_onnx *r, const arn_onnx_scope *scope, arn_pb_bytes name) {
    uint32_t id;
    return scope->call && arn_name_tree_find(&scope->names, arn_onnx_name(r, name), &id) &&
           id != ARENAUT_NONE && r->made_by[id] == ARN_ONNX_NOT_MADE;
}

static arenaut_status define_node_outputs(arn_onnx *r, arn_pb_bytes bytes, arn_onnx_scope *scope) {
    arn_pb message = arn_pb_open(r->data, bytes);
    arn_pb_field field;
    arenaut_status st = ARENAUT_OK;
    arenaut_tensor tensor = arenaut_tensor_default();
    tensor.dtype = ARENAUT_DTYPE_OTHER;
    tensor.unsized = true;
    while (st == ARENAUT_OK && arn_pb_next(&message, &field)) {
        uint32_t id;
        if (!arn_pb_is(&field, NODE_OUTPUT, ARN_PB_BYTES) || field.bytes.size == 0) continue;
        if (is_bound_result(r, scope, field.bytes)) continue;
        st = arn_onnx_define(r, scope, field.bytes, &tensor, ARN_ONNX_NOT_MADE, &id);
    }
    return st == ARENAUT_OK ? arn_pb_status(&message, "a node", r->err) : st;
}

arenaut_status arn_onnx_define_outputs(arn_onnx *r, arn_pb_bytes body, uint32_t node_field,
                                       arn_onnx_scope *scope) {
    arn_pb message = arn_pb_open(r->data, body);
    arn_pb_field field;
    arenaut_status st = ARENAUT_OK;
    while (st == ARENAUT_OK && arn_pb_next(&message, &field)) {
        if (!arn_pb_is(&field, node_field, ARN_PB_BYTES)) continue;
        st = define_node_outputs(r, field.bytes, scope);
    }
    return st;
}

/* ---- arguments ---- */

static arenaut_status push(arn_onnx *r, arn_id_list *list, uint32_t id) {
    const arenaut_status st = arn_onnx_push(r, list, id);
    return st == ARENAUT_OK ? arn_onnx_charge(r, 1, 2 * sizeof id) : st;
}

/* A node's operand must have been made by one before it: in a cycle of nodes that is impossible. */
static arenaut_status take_input(arn_onnx *r, const arn_onnx_scope *scope, arn_pb_bytes name) {
    uint32_t id = ARENAUT_NONE;
    arenaut_status st = name.size ? arn_onnx_find(r, scope, name, &id) : ARENAUT_OK;
    if (st != ARENAUT_OK) return st;
    if (id != ARENAUT_NONE && r->made_by[id] == ARN_ONNX_NOT_MADE) {
        return arn_fail(r->err, ARENAUT_BAD_INPUT, name.at,
                        "node %" PRIu32 " of method %" PRIu32
                        " uses '%.*s' before it is made: the "
                        "nodes are not in order, or form a cycle",
                        r->node, r->method, ARN_ONNX_TEXT(r, name));
    }
    return push(r, &r->inputs, id);
}

static arenaut_status take_output(arn_onnx *r, const arn_onnx_scope *scope, arn_pb_bytes name) {
    uint32_t id = ARENAUT_NONE;
    arenaut_status st = name.size ? arn_onnx_find(r, scope, name, &id) : ARENAUT_OK;
    if (st != ARENAUT_OK) return st;
    if (id != ARENAUT_NONE && r->made_by[id] != ARN_ONNX_NOT_MADE) {
        return arn_fail(r->err, ARENAUT_BAD_INPUT, name.at,
                        "node %" PRIu32 " of method %" PRIu32
                        " makes '%.*s', which there is "
                        "already: it is defined twice",
                        r->node, r->method, ARN_ONNX_TEXT(r, name));
    }
    return push(r, &r->outputs, id);
}

static arenaut_status take_arguments(arn_onnx *r, arn_pb_bytes bytes, const arn_onnx_scope *scope) {
    arn_pb message = arn_pb_open(r->data, bytes);
    arn_pb_field field;
    arenaut_status st = ARENAUT_OK;
    r->inputs.n = r->outputs.n = 0;
    while (st == ARENAUT_OK && arn_pb_next(&message, &field)) {
        if (arn_pb_is(&field, NODE_INPUT, ARN_PB_BYTES)) st = take_input(r, scope, field.bytes);
        if (arn_pb_is(&field, NODE_OUTPUT, ARN_PB_BYTES)) st = take_output(r, scope, field.bytes);
    }
    return st;
}

/* ---- subgraphs ---- */

/* Puts a subgraph in the queue; *method is the number that it will have. */
static arenaut_status enqueue(arn_onnx *r, const arn_onnx_node *node, const arn_onnx_scope *scope,
                              const char *attribute, arn_onnx_pending pending, uint32_t *method) {
    pending.graph = arn_onnx_part(r, node->bytes, scope->call, attribute, ATTRIBUTE_G);
    pending.scope = scope;
    pending.outer = r->method;
    pending.depth = r->depth + 1;
    if (pending.graph.at == 0) {
        return arn_fail(r->err, ARENAUT_BAD_INPUT, node->bytes.at,
                        "node %" PRIu32 " of method %" PRIu32 " ('%.*s') has no graph '%s'",
                        r->node, r->method, ARN_ONNX_TEXT(r, node->op_type), attribute);
    }
    if (pending.depth > ARN_ONNX_DEPTH) {
        return arn_fail(r->err, ARENAUT_UNSUPPORTED, node->bytes.at,
                        "node %" PRIu32 " of method %" PRIu32
                        ": graphs within graphs more than %d "
                        "deep are not supported",
                        r->node, r->method, ARN_ONNX_DEPTH);
    }
    if (!arn_grow(r->allocator, (void **)&r->pending, &r->pending_capacity,
                  (uint64_t)r->n_pending + 1, sizeof *r->pending)) {
        return arn_no_memory(r->err);
    }
    *method = r->n_pending;
    r->pending[r->n_pending++] = pending;
    /* Its bytes are walked several times. */
    return arn_onnx_charge(r, 1, sizeof pending + pending.graph.size);
}

static arenaut_status bad_arity(const arn_onnx *r, const arn_onnx_node *node, const char *what) {
    return arn_fail(r->err, ARENAUT_BAD_INPUT, node->bytes.at,
                    "node %" PRIu32 " of method %" PRIu32 " ('%.*s'): %s", r->node, r->method,
                    ARN_ONNX_TEXT(r, node->op_type), what);
}

/* Results that the node does not name are listed as left out; but a carried value needs a place
 * between turns all the same. */
static arenaut_status pad_outputs(arn_onnx *r, const arn_onnx_node *node, uint32_t n,
                                  uint32_t carried) {
    arenaut_status st = ARENAUT_OK;
    if (r->outputs.n > n) return bad_arity(r, node, "it has more outputs than its subgraph");
    while (st == ARENAUT_OK && r->outputs.n < n) st = push(r, &r->outputs, ARENAUT_NONE);
    for (uint32_t i = 0; i < carried && st == ARENAUT_OK; i++) {
        if (r->outputs.ids[i] == ARENAUT_NONE) st = arn_onnx_define_nameless(r, &r->outputs.ids[i]);
    }
    return st;
}

static arenaut_status take_if(arn_onnx *r, const arn_onnx_node *node, const arn_onnx_scope *scope,
                              arenaut_op *op, uint32_t *calls) {
    op->kind = ARENAUT_OP_IF;
    op->n_calls = 2;
    const arn_onnx_pending branch = {.n_outputs = r->outputs.n};
    if (r->inputs.n != 1) return bad_arity(r, node, "it must have one input, the condition");
    arenaut_status st = enqueue(r, node, scope, "then_branch", branch, &calls[0]);
    return st == ARENAUT_OK ? enqueue(r, node, scope, "else_branch", branch, &calls[1]) : st;
}

static arenaut_status take_loop(arn_onnx *r, const arn_onnx_node *node, const arn_onnx_scope *scope,
                                arenaut_op *op, uint32_t *calls) {
    const arn_pb_bytes body = arn_onnx_part(r, node->bytes, scope->call, "body", ATTRIBUTE_G);
    const uint32_t n_outputs = body.at ? arn_onnx_count(r, body, GRAPH_OUTPUT) : 1;
    const arn_onnx_pending pending = {
        .rotate_inputs = 2, .rotate_outputs = 1, .n_inputs = r->inputs.n, .n_outputs = n_outputs};
    op->kind = ARENAUT_OP_LOOP;
    op->n_calls = 1;
    if (r->inputs.n < 2) return bad_arity(r, node, "it must have a trip count and a condition");
    op->target = r->inputs.n - 2;
    if (n_outputs < 1 + op->target) {
        return bad_arity(r, node, "its subgraph has fewer results than the loop carries");
    }
    arn_onnx_rotate(r->inputs.ids, r->inputs.n, 2);
    const arenaut_status st = pad_outputs(r, node, n_outputs - 1, op->target);
    return st == ARENAUT_OK ? enqueue(r, node, scope, "body", pending, &calls[0]) : st;
}

/* The first version of Scan had the lengths of its sequences as a first input. */
static arenaut_status take_scan(arn_onnx *r, const arn_onnx_node *node, const arn_onnx_scope *scope,
                                arenaut_op *op, uint32_t *calls) {
    const arn_pb_bytes body = arn_onnx_part(r, node->bytes, scope->call, "body", ATTRIBUTE_G);
    const uint32_t n_inputs = body.at ? arn_onnx_count(r, body, GRAPH_INPUT) : r->inputs.n;
    const uint32_t n_outputs = body.at ? arn_onnx_count(r, body, GRAPH_OUTPUT) : 0;
    const arn_onnx_pending pending = {.n_inputs = n_inputs, .n_outputs = n_outputs};
    uint32_t scanned = 0;
    op->kind = ARENAUT_OP_LOOP;
    op->n_calls = 1;
    for (uint32_t i = 0; i < r->n_attributes; i++) {
        const arenaut_attribute *a = &r->attributes[i];
        if (strcmp(a->name, "num_scan_inputs") != 0 || a->n_numbers != 1) continue;
        scanned =
            a->numbers[0] > 0 && a->numbers[0] <= (int64_t)n_inputs ? (uint32_t)a->numbers[0] : 0;
    }
    if (scanned == 0) return bad_arity(r, node, "num_scan_inputs does not fit its subgraph");
    const bool has_lengths = r->inputs.n == n_inputs + 1;
    if (has_lengths) arn_onnx_rotate(r->inputs.ids, r->inputs.n, 1);
    if (!has_lengths && r->inputs.n != n_inputs) {
        return bad_arity(r, node, "it and its subgraph do not have the same number of inputs");
    }
    op->target = n_inputs - scanned;
    if (n_outputs < op->target) {
        return bad_arity(r, node, "its subgraph has fewer results than it carries");
    }
    const arenaut_status st = pad_outputs(r, node, n_outputs, op->target);
    return st == ARENAUT_OK ? enqueue(r, node, scope, "body", pending, &calls[0]) : st;
}

/* ---- ops ---- */

/* The value of a Constant, which its attributes give in one of several forms. */
static arenaut_status take_constant_node(arn_onnx *r, const arn_onnx_node *node,
                                         const arn_onnx_scope *scope) {
    static const char *const lists[] = {"value_int", "value_ints", "value_float", "value_floats"};
    arn_onnx_constant c = {.tensor = arenaut_tensor_default()};
    if (r->outputs.n != 1 || r->outputs.ids[0] == ARENAUT_NONE) return ARENAUT_OK;
    arenaut_tensor *tensor = &r->program->tensors[r->outputs.ids[0]];
    const arn_pb_bytes value = arn_onnx_part(r, node->bytes, scope->call, "value", ATTRIBUTE_T);
    const arn_pb_bytes sparse =
        arn_onnx_part(r, node->bytes, scope->call, "sparse_value", ATTRIBUTE_SPARSE_TENSOR);
    const bool is_tensor = value.at || sparse.at;
    arenaut_status st = !is_tensor
                            ? ARENAUT_OK
                            : arn_onnx_take_constant(r, value.at ? value : sparse, !value.at, &c);
    if (st != ARENAUT_OK) return st;
    int64_t count = 0;
    for (uint32_t i = 0; !is_tensor && i < r->n_attributes; i++) {
        const arenaut_attribute *a = &r->attributes[i];
        for (unsigned k = 0; k < 4; k++) {
            if (strcmp(a->name, lists[k]) != 0) continue;
            count = a->n_numbers;
            c.tensor.dtype = k < 2 ? ARENAUT_DTYPE_INT64 : ARENAUT_DTYPE_FLOAT32;
            c.tensor.rank = k % 2;
            c.tensor.dims = &count;
            c.tensor.n_values = a->n_numbers <= ARN_ONNX_MAX_VALUES ? a->n_numbers : 0;
            c.tensor.values = a->numbers;
            c.tensor.bytes = (uint64_t)count * arenaut_dtype_bits(c.tensor.dtype) / 8;
        }
    }
    /* The tensor exists already: only its type is new. */
    int64_t *dims = arenaut_program_alloc(
        r->program, (c.tensor.rank + (size_t)c.tensor.n_values) * sizeof *dims);
    if (!dims) return arn_no_memory(r->err);
    if (c.tensor.rank) memcpy(dims, c.tensor.dims, c.tensor.rank * sizeof *dims);
    int64_t *values = dims + c.tensor.rank;
    if (c.tensor.n_values) memcpy(values, c.tensor.values, c.tensor.n_values * sizeof *values);
    tensor->dtype = c.tensor.dtype;
    tensor->rank = c.tensor.rank;
    tensor->dims = dims;
    tensor->dim_exprs = NULL;
    tensor->n_values = c.tensor.n_values;
    tensor->values = c.tensor.n_values ? values : NULL;
    tensor->bytes = c.tensor.bytes;
    tensor->unsized = false;
    tensor->cls = ARENAUT_CONSTANT;
    return ARENAUT_OK;
}

static const char *operator_name(arn_onnx *r, const arn_onnx_node *node) {
    char prefix[160] = "";
    if (node->domain.size > 0) {
        const int length = node->domain.size < 150 ? (int)node->domain.size : 150;
        memcpy(prefix, r->data + node->domain.at, (size_t)length);
        memcpy(prefix + length, "::", 3);
    }
    return arn_onnx_copy_name(r, prefix, node->op_type);
}

static arenaut_status take_control_flow(arn_onnx *r, const arn_onnx_node *node,
                                        const arn_onnx_scope *scope, arenaut_op *op,
                                        uint32_t *calls) {
    const bool known = node->domain.size == 0;
    if (known && arn_onnx_is(r, node->op_type, "If")) return take_if(r, node, scope, op, calls);
    if (known && arn_onnx_is(r, node->op_type, "Loop")) return take_loop(r, node, scope, op, calls);
    if (known && arn_onnx_is(r, node->op_type, "Scan")) return take_scan(r, node, scope, op, calls);
    arn_pb message = arn_pb_open(r->data, node->bytes);
    arn_onnx_attribute attribute;
    while (arn_onnx_next_attribute(r, &message, scope->call, &attribute)) {
        if (arn_onnx_count(r, attribute.value, ATTRIBUTE_G) == 0) continue;
        return arn_fail(r->err, ARENAUT_UNSUPPORTED, node->bytes.at,
                        "node %" PRIu32 " of method %" PRIu32
                        ": operator '%.*s' has a subgraph; "
                        "those of If, Loop and Scan are supported",
                        r->node, r->method, ARN_ONNX_TEXT(r, node->op_type));
    }
    return ARENAUT_OK;
}

/* An ONNX runtime gives its kernels the memory of their results, so ops are of kind out. */
static arenaut_status add_op(arn_onnx *r, const arn_onnx_node *node, const arn_onnx_scope *scope) {
    uint32_t calls[2];
    arenaut_op op = {
        .kind = ARENAUT_OP_OUT, .method = r->method, .file_index = arenaut_id(r->node)};
    arenaut_status st =
        arn_onnx_charge(r, 1, OP_COST + node->name.size + node->op_type.size + node->domain.size);
    if (st == ARENAUT_OK) st = arn_onnx_take_attributes(r, node->bytes, scope->call);
    if (st == ARENAUT_OK) st = take_control_flow(r, node, scope, &op, calls);
    if (st == ARENAUT_OK && node->domain.size == 0 && arn_onnx_is(r, node->op_type, "Constant")) {
        st = take_constant_node(r, node, scope);
        r->n_attributes = 0; /* the tensor says it all */
    }
    if (st != ARENAUT_OK) return st;
    op.name = operator_name(r, node);
    op.source = node->name.size
                    ? arn_onnx_copy_name(r, scope->call ? scope->call->prefix : "", node->name)
                    : NULL;
    if (!op.name || (node->name.size && !op.source)) return arn_no_memory(r->err);
    op.inputs = r->inputs.ids;
    op.n_inputs = r->inputs.n;
    op.outputs = r->outputs.ids;
    op.n_outputs = r->outputs.n;
    op.calls = calls;
    op.attributes = r->attributes;
    op.n_attributes = r->n_attributes;
    uint32_t id;
    st = arn_program_add_op(r->program, &op, &id, r->err);
    for (uint32_t i = 0; i < r->outputs.n && st == ARENAUT_OK; i++) {
        if (r->outputs.ids[i] != ARENAUT_NONE) r->made_by[r->outputs.ids[i]] = id + 1;
    }
    return st;
}

/* NOLINTBEGIN(misc-no-recursion): functions that call functions, at most ARN_ONNX_DEPTH deep. */
static arenaut_status read_body(arn_onnx *r, const arn_onnx_node *node, arn_pb_bytes function,
                                const arn_onnx_scope *scope) {
    arn_onnx_body body;
    arenaut_status st = arn_onnx_enter_function(r, node, function, scope, &body);
    if (st == ARENAUT_OK) st = arn_onnx_define_outputs(r, function, FUNCTION_NODE, body.scope);
    if (st == ARENAUT_OK) st = arn_onnx_take_types(r, function, FUNCTION_VALUE_INFO, body.scope);
    if (st == ARENAUT_OK) st = arn_onnx_read_nodes(r, function, FUNCTION_NODE, body.scope);
    return st == ARENAUT_OK ? arn_onnx_check_results(r, node, &body) : st;
}

arenaut_status arn_onnx_read_nodes(arn_onnx *r, arn_pb_bytes body, uint32_t node_field,
                                   arn_onnx_scope *scope) {
    arn_pb message = arn_pb_open(r->data, body);
    arn_pb_field field;
    arenaut_status st = ARENAUT_OK;
    while (st == ARENAUT_OK && arn_pb_next(&message, &field)) {
        arn_onnx_node node;
        arn_pb_bytes function;
        if (!arn_pb_is(&field, node_field, ARN_PB_BYTES)) continue;
        st = take_node(r, field.bytes, &node);
        if (st == ARENAUT_OK) st = take_arguments(r, field.bytes, scope);
        if (st != ARENAUT_OK) break;
        st = arn_onnx_called_function(r, &node, &function) ? read_body(r, &node, function, scope)
                                                           : add_op(r, &node, scope);
        if (!scope->call) r->node++;
    }
    return st;
}
/* NOLINTEND(misc-no-recursion) */
