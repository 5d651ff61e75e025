/* The walk over the graphs of an exported program. A graph that a node has as an argument becomes a
 * method of its own; values that it only reads are captured, as the runtime hands over references
 * and copies nothing. Time and memory follow the size of the JSON. */
#include <inttypes.h>

#include "core/memory.h"
#include "formats/pt2/pt2.h"
#include "ir/program.h"

/* Binds the graph's inputs to the calling op's arguments. Inputs of its own become tensors and the
 * method's inputs; the others are the caller's tensors by another name. */
static void bind_inputs(arn_pt2 *r, uint32_t inputs, const arn_pt2_scope *scope,
                        const arn_pt2_queue *q, const arn_pt2_pending *p) {
    uint32_t k = 0;
    ARN_JSON_EACH(&r->json, v, inputs) {
        const uint32_t tensor = arn_pt2_get(r, v, "as_tensor");
        if (tensor == ARN_JSON_NONE) continue;
        uint32_t *place = arn_pt2_place(r, scope, arn_pt2_need(r, tensor, "name"));
        if (place && k == p->n_arguments) {
            arn_json_fail(&r->json, v, ARENAUT_BAD_INPUT,
                          "the graph has more inputs than the %" PRIu32 " that it is given",
                          p->n_arguments);
        }
        if (!arn_pt2_fine(r)) return;
        if (k >= p->n_own) *place = q->arguments.ids[p->first + k];
        k++;
    }
}

static void read_nested_io(arn_pt2 *r, uint32_t graph, const arn_pt2_scope *scope,
                           const arn_pt2_pending *p) {
    r->inputs.n = r->outputs.n = 0;
    const uint32_t inputs = arn_pt2_need(r, graph, "inputs");
    for (uint32_t v = arn_json_elements(&r->json, inputs);
         v != ARN_JSON_NONE && arn_pt2_fine(r) && r->inputs.n < p->n_own;
         v = arn_json_next(&r->json.json, inputs, v)) {
        arn_pt2_push_tensors(r, scope, v, &r->inputs);
    }
    const uint32_t outputs = arn_pt2_need(r, graph, "outputs");
    ARN_JSON_EACH(&r->json, v, outputs) {
        arn_pt2_push_tensors(r, scope, v, &r->outputs);
    }
    if (!arn_pt2_fine(r)) return;
    r->json.status =
        arenaut_program_set_method_io(r->program, scope->method, r->inputs.ids, r->inputs.n,
                                      r->outputs.ids, r->outputs.n, r->json.err);
}

static void read_nested(arn_pt2 *r, arn_pt2_queue *q, uint32_t index) {
    const arn_pt2_pending p = q->list[index];
    arn_pt2_scope scope = {.n = 0};
    const char *name = arn_pt2_text(r, arn_pt2_need(r, p.graph, "name"));
    const uint32_t graph = arn_pt2_need(r, p.graph, "graph");
    if (!arn_pt2_fine(r)) return;
    r->json.status = arn_program_add_method(r->program, name, false, &scope.method, r->json.err);
    if (!arn_pt2_fine(r)) return;
    r->program->methods[scope.method].outer = p.outer;
    const uint32_t values = arn_pt2_need(r, graph, "tensor_values");
    arn_pt2_read_names(r, values, &scope);
    if (arn_pt2_fine(r)) bind_inputs(r, arn_pt2_need(r, graph, "inputs"), &scope, q, &p);
    arn_pt2_read_tensors(r, values, &scope);
    if (arn_pt2_fine(r)) arn_pt2_read_nodes(r, arn_pt2_need(r, graph, "nodes"), &scope, q);
    if (arn_pt2_fine(r)) read_nested_io(r, graph, &scope, &p);
}

/* All graphs, the outermost first. */
static void read_graphs(arn_pt2 *r, uint32_t module) {
    arn_pt2_queue q = {.list = NULL};
    arn_pt2_scope scope = {.n = 0};
    const uint32_t graph = arn_pt2_need(r, module, "graph");
    const uint32_t values = arn_pt2_need(r, graph, "tensor_values");
    if (arn_pt2_fine(r)) {
        r->json.status = arn_program_add_method(r->program, "forward", true, NULL, r->json.err);
    }
    arn_pt2_read_names(r, values, &scope);
    arn_pt2_read_tensors(r, values, &scope);
    if (arn_pt2_fine(r)) arn_pt2_read_nodes(r, arn_pt2_need(r, graph, "nodes"), &scope, &q);
    if (arn_pt2_fine(r)) {
        arn_pt2_read_signature(r, arn_pt2_need(r, module, "signature"), &scope);
    }
    for (uint32_t i = 0; i < q.n && arn_pt2_fine(r); i++) read_nested(r, &q, i);
    arn_release(r->json.allocator, q.list);
    arn_release(r->json.allocator, q.arguments.ids);
}

/* ---- the model ---- */

/* Other versions of the schema are unknown here. */
static void check_version(arn_pt2 *r) {
    enum { OLDEST = 5, NEWEST = 8 };
    uint64_t major = 0;
    const uint32_t version = arn_pt2_need(r, 0, "schema_version");
    const uint32_t number = arn_pt2_need(r, version, "major");
    if (!arn_pt2_fine(r)) return;
    if (arn_json_to_u64(&r->json.json, number, &major) && major >= OLDEST && major <= NEWEST)
        return;
    arn_json_fail(&r->json, number, ARENAUT_UNSUPPORTED,
                  "the export schema is not of a version from %d to %d", OLDEST, NEWEST);
}

static void read_model(arn_pt2 *r) {
    check_version(r);
    if (arn_pt2_fine(r)) arn_pt2_read_ranges(r, arn_pt2_get(r, 0, "range_constraints"));
    if (arn_pt2_fine(r)) read_graphs(r, arn_pt2_need(r, 0, "graph_module"));
    if (arn_pt2_fine(r)) {
        r->json.status = arn_program_set_dialect(r->program, "aten", r->json.err);
    }
    if (arn_pt2_fine(r)) r->json.status = arn_program_validate(r->program, r->json.err);
}

arenaut_status arn_pt2_read(const uint8_t *data, size_t size, const arenaut_allocator *allocator,
                            arenaut_program **out, arenaut_error *err) {
    arn_pt2 r = {.program = NULL};
    arn_region_init(&r.names, allocator);
    arn_json_reader_open(&r.json, data, size, allocator, err);
    if (arn_pt2_fine(&r)) r.json.status = arn_program_new(allocator, &r.program, err);
    if (arn_pt2_fine(&r)) read_model(&r);
    const arenaut_status st = r.json.status;
    if (st == ARENAUT_OK) {
        *out = r.program;
    } else {
        arn_program_free(r.program);
    }
    arn_release(allocator, r.inputs.ids);
    arn_release(allocator, r.outputs.ids);
    arn_release(allocator, r.named.ids);
    arn_release(allocator, r.attributes);
    arn_release(allocator, r.dims);
    arn_release(allocator, r.strides);
    arn_release(allocator, r.exprs);
    arn_release(allocator, r.text);
    arn_region_free(&r.names);
    arn_json_reader_free(&r.json);
    return st;
}
