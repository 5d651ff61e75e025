/* Reader of .onnx files: every graph becomes a method, the main one first, then those that its
 * nodes hold, in the order in which they come up. Numbers of ops are those of the main graph's
 * nodes, unless functions are put in between. */
#include <inttypes.h>

#include "core/fail.h"
#include "core/memory.h"
#include "formats/onnx/onnx_reader.h"
#include "formats/onnx/onnx_schema.h"
#include "ir/program.h"

enum {
    EXPANSION = 256, /* bytes of memory per byte of file; without functions, under 20 */
    EXPANSION_BASE = 1 << 20,
};

/* ---- graphs ---- */

static arenaut_status define_constants(arn_onnx *r, arn_pb_bytes graph, uint32_t field_number,
                                       arn_onnx_scope *scope) {
    arn_pb message = arn_pb_open(r->data, graph);
    arn_pb_field field;
    arenaut_status st = ARENAUT_OK;
    while (st == ARENAUT_OK && arn_pb_next(&message, &field)) {
        if (!arn_pb_is(&field, field_number, ARN_PB_BYTES)) continue;
        arn_onnx_constant constant;
        uint32_t id;
        const bool sparse = field_number == GRAPH_SPARSE_INITIALIZER;
        st = arn_onnx_take_constant(r, field.bytes, sparse, &constant);
        if (st == ARENAUT_OK) {
            st = arn_onnx_define(r, scope, constant.name, &constant.tensor, 0, &id);
        }
    }
    return st == ARENAUT_OK ? arn_pb_status(&message, "a graph", r->err) : st;
}

/* Before version 4 of the format every initializer had to be listed as an input too; such
 * an input is a constant. */
static arenaut_status define_input(arn_onnx *r, arn_pb_bytes value_info, arn_onnx_scope *scope) {
    arn_pb_bytes name, type;
    uint32_t id;
    arenaut_status st = arn_onnx_take_value_info(r, value_info, &name, &type);
    if (st != ARENAUT_OK) return st;
    if (arn_name_tree_find(&scope->names, arn_onnx_name(r, name), &id)) {
        if (r->program->tensors[id].cls == ARENAUT_CONSTANT) return ARENAUT_OK;
    }
    arenaut_tensor tensor = arenaut_tensor_default();
    tensor.dtype = ARENAUT_DTYPE_OTHER;
    tensor.unsized = true;
    tensor.cls = r->method == 0 ? ARENAUT_INPUT : ARENAUT_INTERMEDIATE;
    st = arn_onnx_define(r, scope, name, &tensor, 0, &id);
    if (st == ARENAUT_OK) st = arn_onnx_take_type(r, type, id, r->method == 0);
    return st == ARENAUT_OK ? arn_onnx_push(r, &r->inputs, id) : st;
}

static arenaut_status define_inputs(arn_onnx *r, arn_pb_bytes graph, arn_onnx_scope *scope) {
    arn_pb message = arn_pb_open(r->data, graph);
    arn_pb_field field;
    arenaut_status st = ARENAUT_OK;
    r->inputs.n = 0;
    while (st == ARENAUT_OK && arn_pb_next(&message, &field)) {
        if (arn_pb_is(&field, GRAPH_INPUT, ARN_PB_BYTES)) st = define_input(r, field.bytes, scope);
    }
    return st;
}

static arenaut_status find_results(arn_onnx *r, arn_pb_bytes graph, const arn_onnx_scope *scope) {
    arn_pb message = arn_pb_open(r->data, graph);
    arn_pb_field field;
    arenaut_status st = ARENAUT_OK;
    r->outputs.n = 0;
    while (st == ARENAUT_OK && arn_pb_next(&message, &field)) {
        arn_pb_bytes name, type;
        uint32_t id = 0;
        if (!arn_pb_is(&field, GRAPH_OUTPUT, ARN_PB_BYTES)) continue;
        st = arn_onnx_take_value_info(r, field.bytes, &name, &type);
        if (st == ARENAUT_OK) st = arn_onnx_find(r, scope, name, &id);
        if (st != ARENAUT_OK) continue;
        arenaut_tensor *tensor = &r->program->tensors[id];
        if (r->method == 0 && tensor->cls == ARENAUT_INTERMEDIATE) tensor->cls = ARENAUT_OUTPUT;
        st = arn_onnx_push(r, &r->outputs, id);
    }
    return st;
}

static arenaut_status name_graph(arn_onnx *r, arn_pb_bytes graph) {
    arn_pb message = arn_pb_open(r->data, graph);
    arn_pb_field field;
    arn_pb_bytes name = {graph.at, 0};
    while (arn_pb_next(&message, &field)) {
        if (arn_pb_is(&field, GRAPH_NAME, ARN_PB_BYTES)) name = field.bytes;
    }
    arenaut_status st = arn_pb_status(&message, "a graph", r->err);
    if (st == ARENAUT_OK) st = arn_onnx_charge(r, 1, 2 * sizeof(arenaut_method) + name.size);
    if (st != ARENAUT_OK) return st;
    const char *copy = arn_onnx_copy_name(r, "", name);
    if (!copy) return arn_no_memory(r->err);
    return arn_program_add_method(r->program, copy, r->method == 0, NULL, r->err);
}

/* Types come before nodes, so that a node can be refused for them; inputs stay in r->inputs
 * only until the nodes are read. */
static arenaut_status read_graph(arn_onnx *r, arn_pb_bytes graph, arn_onnx_scope *scope) {
    arenaut_status st = name_graph(r, graph);
    if (st == ARENAUT_OK) st = define_constants(r, graph, GRAPH_INITIALIZER, scope);
    if (st == ARENAUT_OK) st = define_constants(r, graph, GRAPH_SPARSE_INITIALIZER, scope);
    if (st == ARENAUT_OK) st = define_inputs(r, graph, scope);
    if (st == ARENAUT_OK) {
        st = arenaut_program_set_method_io(r->program, r->method, r->inputs.ids, r->inputs.n, NULL,
                                           0, r->err);
    }
    if (st == ARENAUT_OK) st = arn_onnx_define_outputs(r, graph, GRAPH_NODE, scope);
    if (st == ARENAUT_OK) st = arn_onnx_take_types(r, graph, GRAPH_VALUE_INFO, scope);
    if (st == ARENAUT_OK) st = arn_onnx_take_types(r, graph, GRAPH_OUTPUT, scope);
    if (st == ARENAUT_OK) st = arn_onnx_read_nodes(r, graph, GRAPH_NODE, scope);
    if (st == ARENAUT_OK) st = find_results(r, graph, scope);
    if (st != ARENAUT_OK) return st;
    const arenaut_method *method = &r->program->methods[r->method];
    return arenaut_program_set_method_io(r->program, r->method, method->inputs, method->n_inputs,
                                         r->outputs.ids, r->outputs.n, r->err);
}

/* The lists belong to the program by now, which has its own copies of them. */
static arenaut_status rotate_arguments(arn_onnx *r, const arn_onnx_pending *pending) {
    arenaut_method *method = &r->program->methods[r->method];
    if (method->n_inputs != pending->n_inputs || method->n_outputs != pending->n_outputs) {
        return arn_fail(r->err, ARENAUT_BAD_INPUT, pending->graph.at,
                        "subgraph '%.80s' is called with %" PRIu32 " inputs and %" PRIu32
                        " outputs; it has %" PRIu32 " and %" PRIu32,
                        method->name, pending->n_inputs, pending->n_outputs, method->n_inputs,
                        method->n_outputs);
    }
    method->outer = pending->outer;
    if (pending->rotate_inputs) {
        arn_onnx_rotate((uint32_t *)(uintptr_t)method->inputs, method->n_inputs,
                        pending->rotate_inputs);
    }
    if (pending->rotate_outputs) {
        arn_onnx_rotate((uint32_t *)(uintptr_t)method->outputs, method->n_outputs,
                        pending->rotate_outputs);
    }
    return ARENAUT_OK;
}

static arenaut_status read_pending(arn_onnx *r) {
    arenaut_status st = ARENAUT_OK;
    for (r->method = 0; r->method < r->n_pending && st == ARENAUT_OK; r->method++) {
        const arn_onnx_pending pending = r->pending[r->method];
        arn_onnx_scope *scope = arn_region_allocate(&r->region, 1, sizeof *scope);
        if (!scope) return arn_no_memory(r->err);
        *scope = (arn_onnx_scope){.outer = pending.scope,
                                  .call = pending.scope ? pending.scope->call : NULL};
        r->depth = pending.depth;
        r->node = 0;
        st = read_graph(r, pending.graph, scope);
        if (st == ARENAUT_OK && r->method > 0) st = rotate_arguments(r, &pending);
    }
    return st;
}

/* ---- the model ---- */

/* The version of ONNX's own operators; other domains have their own. */
static void take_opset(arn_onnx *r, arn_pb_bytes bytes) {
    arn_pb message = arn_pb_open(r->data, bytes);
    arn_pb_field field;
    arn_pb_bytes domain = {bytes.at, 0};
    uint64_t version = 0;
    while (arn_pb_next(&message, &field)) {
        if (arn_pb_is(&field, OPSET_DOMAIN, ARN_PB_BYTES)) domain = field.bytes;
        if (arn_pb_is(&field, OPSET_VERSION, ARN_PB_VARINT)) version = field.value;
    }
    if (domain.size > 0 && !arn_onnx_is(r, domain, "ai.onnx")) return;
    if (version <= UINT32_MAX) r->program->dialect_version = (uint32_t)version;
}

static arenaut_status read_model(arn_onnx *r) {
    const arn_pb_bytes file = {0, r->size};
    arn_pb message = arn_pb_open(r->data, file);
    arn_pb_field field;
    arenaut_status st = ARENAUT_OK;
    while (st == ARENAUT_OK && arn_pb_next(&message, &field)) {
        if (arn_pb_is(&field, MODEL_GRAPH, ARN_PB_BYTES)) r->graph = field.bytes;
        if (arn_pb_is(&field, MODEL_OPSET_IMPORT, ARN_PB_BYTES)) take_opset(r, field.bytes);
        if (arn_pb_is(&field, MODEL_FUNCTIONS, ARN_PB_BYTES)) {
            st = arn_onnx_add_function(r, field.bytes);
        }
    }
    if (st == ARENAUT_OK) st = arn_pb_status(&message, "the model", r->err);
    if (st != ARENAUT_OK) return st;
    if (r->graph.at == 0) return arn_fail(r->err, ARENAUT_BAD_INPUT, 0, "the model has no graph");
    if (!arn_grow(r->allocator, (void **)&r->pending, &r->pending_capacity, 1,
                  sizeof *r->pending)) {
        return arn_no_memory(r->err);
    }
    r->pending[r->n_pending++] = (arn_onnx_pending){.graph = r->graph};
    st = arn_program_set_dialect(r->program, "onnx", r->err);
    if (st == ARENAUT_OK) st = read_pending(r);
    if (st == ARENAUT_OK) st = arn_onnx_list_captures(r);
    return st == ARENAUT_OK ? arn_program_validate(r->program, r->err) : st;
}

static void release(arn_onnx *r) {
    arn_region_free(&r->region);
    ARN_RELEASE(r->allocator, r->function, r->pending, r->made_by, r->inputs.ids, r->outputs.ids,
                r->numbers, r->values, r->attributes);
}

static arenaut_status read(arn_onnx *r) {
    r->allowance = arn_allowance_for(r->size, EXPANSION, EXPANSION_BASE, 0);
    arn_region_init(&r->region, r->allocator);
    arenaut_status st = arn_program_new(r->allocator, &r->program, r->err);
    r->values = arn_allocate(r->allocator, ARN_ONNX_MAX_VALUES, sizeof *r->values);
    if (st == ARENAUT_OK && !r->values) st = arn_no_memory(r->err);
    return st == ARENAUT_OK ? read_model(r) : st;
}

arenaut_status arn_onnx_read(const uint8_t *data, size_t size, const arenaut_read_options *options,
                             const arenaut_allocator *allocator, arenaut_program **out,
                             arenaut_error *err) {
    arn_onnx r = {
        .data = data, .size = size, .options = options, .allocator = allocator, .err = err};
    const arenaut_status st = read(&r);
    release(&r);
    if (st != ARENAUT_OK) {
        arn_program_free(r.program);
        return st;
    }
    *out = r.program;
    return ARENAUT_OK;
}

arenaut_status arn_onnx_list_graphs(const uint8_t *data, size_t size,
                                    const arenaut_allocator *allocator, arn_pb_bytes **graphs,
                                    uint32_t *n, arenaut_error *err) {
    arn_onnx r = {.data = data, .size = size, .allocator = allocator, .err = err};
    arenaut_status st = read(&r);
    if (st == ARENAUT_OK) {
        *n = r.n_pending;
        *graphs = arn_allocate(allocator, r.n_pending, sizeof **graphs);
        if (!*graphs) st = arn_no_memory(err);
    }
    for (uint32_t i = 0; st == ARENAUT_OK && i < *n; i++) (*graphs)[i] = r.pending[i].graph;
    release(&r);
    arn_program_free(r.program);
    return st;
}
