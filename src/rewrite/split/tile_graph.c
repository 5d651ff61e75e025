/* The graph of a program to be tiled: its values, def-use chains and windows. O(arguments). */
#include "rewrite/split/tile_graph.h"

#include <inttypes.h>

#include "core/fail.h"
#include "core/memory.h"
#include "rewrite/tile_dialects/tile_dialect.h"

uint64_t arn_tile_planned_bytes(const arn_tile_graph *graph, uint32_t tensor) {
    const arenaut_tensor *t = &graph->program->tensors[tensor];
    const bool apart = t->cls == ARENAUT_INPUT && graph->dialect->inputs_apart;
    const bool planned =
        t->cls == ARENAUT_INTERMEDIATE || t->cls == ARENAUT_INPUT || t->cls == ARENAUT_OUTPUT;
    return planned && !apart ? t->bytes : 0;
}

/* Defined before the first op, even if an op writes it later. */
static bool is_given(const arenaut_tensor *t) {
    return t->cls == ARENAUT_CONSTANT || t->cls == ARENAUT_INPUT || t->cls == ARENAUT_STATE;
}

static arenaut_status check_inputs(const arenaut_program *p, uint32_t op, const bool *there,
                                   arenaut_error *err) {
    const arenaut_op *o = &p->ops[op];
    for (uint32_t k = 0; k < o->n_inputs; k++) {
        const uint32_t t = o->inputs[k];
        if (t == ARENAUT_NONE || there[t]) continue;
        return arn_fail(err, ARENAUT_REFUSED, 0,
                        "op %" PRIu32 " reads tensor %" PRIu32
                        " before anything has written it; such programs cannot be split",
                        op, t);
    }
    return ARENAUT_OK;
}

/* State is written again; and so are constants that an op makes of constants, in dialects whose
 * passes fold these. */
static arenaut_status check_outputs(const arenaut_program *p, uint32_t op, bool *there,
                                    arenaut_error *err) {
    const arenaut_op *o = &p->ops[op];
    for (uint32_t k = 0; k < o->n_outputs; k++) {
        const uint32_t t = o->outputs[k];
        if (t == ARENAUT_NONE) continue;
        const arenaut_class cls = p->tensors[t].cls;
        const bool folded = p->dialect && cls == ARENAUT_CONSTANT;
        if (there[t] && cls != ARENAUT_STATE && !folded) {
            return arn_fail(err, ARENAUT_REFUSED, 0,
                            "op %" PRIu32 " writes tensor %" PRIu32
                            ", which holds something already; such programs cannot be split",
                            op, t);
        }
        there[t] = true;
    }
    return ARENAUT_OK;
}

static arenaut_status check_results(const arenaut_program *p, const bool *there,
                                    arenaut_error *err) {
    const arenaut_method *method = &p->methods[0];
    for (uint32_t i = 0; i < method->n_outputs; i++) {
        if (there[method->outputs[i]]) continue;
        return arn_fail(err, ARENAUT_REFUSED, 0,
                        "tensor %" PRIu32
                        " is a result, but nothing has written it; such "
                        "programs cannot be split",
                        method->outputs[i]);
    }
    return ARENAUT_OK;
}

/* REFUSED if a tensor is written twice, or read before it is, or a result that never is: tiles are
 * known by the one value of each tensor. `there`, per tensor: it has a value by now. O(arguments).
 */
static arenaut_status check_values(const arenaut_program *p, bool *there, arenaut_error *err) {
    for (uint32_t t = 0; t < p->n_tensors; t++) there[t] = is_given(&p->tensors[t]);
    for (uint32_t i = 0; i < p->n_ops; i++) {
        arenaut_status st = check_inputs(p, i, there, err);
        if (st == ARENAUT_OK) st = check_outputs(p, i, there, err);
        if (st != ARENAUT_OK) return st;
    }
    return check_results(p, there, err);
}

static bool makes_constants(const arn_tile_graph *graph, const arenaut_op *op) {
    for (uint32_t k = 0; k < op->n_outputs; k++) {
        const uint32_t t = op->outputs[k];
        if (t != ARENAUT_NONE && !arn_tile_is_constant(graph, t)) return false;
    }
    return op->n_outputs > 0;
}

static bool all_fixed(const arn_tile_graph *graph, const arenaut_op *op) {
    for (uint32_t k = 0; k < op->n_inputs; k++) {
        const uint32_t t = op->inputs[k];
        if (t != ARENAUT_NONE && !arn_tile_is_fixed(graph, t)) return false;
    }
    return op->n_inputs > 0 || makes_constants(graph, op);
}

static bool makes_little(const arn_tile_graph *graph, const arenaut_op *op) {
    bool some = false;
    for (uint32_t k = 0; k < op->n_outputs; k++) {
        if (op->outputs[k] == ARENAUT_NONE) continue;
        const arenaut_tensor *made = &graph->program->tensors[op->outputs[k]];
        if (made->cls == ARENAUT_STATE || made->cls == ARENAUT_CONSTANT || made->unsized ||
            made->bytes > ARN_TILE_SQUEEZED) {
            return false;
        }
        some = true;
    }
    return some;
}

static bool is_squeezed(const arn_tile_graph *graph, const arenaut_op *op) {
    bool some = false;
    if (op->kind != graph->dialect->kind || op->n_calls > 0 || op->n_scratch > 0) return false;
    for (uint32_t k = 0; k < op->n_inputs; k++) {
        const uint32_t t = op->inputs[k];
        if (t == ARENAUT_NONE || arn_tile_is_constant(graph, t)) continue;
        if (graph->program->tensors[t].cls == ARENAUT_STATE) return false;
        if (arn_tile_is_fixed(graph, t)) continue;
        if (!arn_tile_is_squeezed(graph, t)) return false;
        some = true;
    }
    return some && makes_little(graph, op);
}

static void take_ops(arn_tile_graph *graph) {
    const arenaut_program *p = graph->program;
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        graph->image[t] = t;
        graph->fixed[t] = arn_tile_is_constant(graph, t) ||
                          (graph->dialect->keeps_state && p->tensors[t].cls == ARENAUT_STATE);
    }
    for (uint32_t i = 0; i < p->n_ops; i++) {
        const arenaut_op *op = &p->ops[i];
        graph->ops[i].of_constants = op->kind == graph->dialect->kind && all_fixed(graph, op);
        for (uint32_t k = 0; k < op->n_outputs && graph->ops[i].of_constants; k++) {
            if (op->outputs[k] != ARENAUT_NONE) graph->fixed[op->outputs[k]] = true;
        }
        graph->dialect->take_operator(graph, i);
        if (is_squeezed(graph, op)) graph->ops[i] = (arn_tile_op){.is_squeezed = true};
    }
}

arenaut_status arn_tile_graph_make(const arenaut_program *program, bool rounding,
                                   const arenaut_allocator *allocator, arn_tile_graph *graph,
                                   arenaut_error *err) {
    const arn_tile_dialect *dialect = arn_tile_dialect_find(program->dialect);
    if (!dialect) {
        return arn_fail(err, ARENAUT_REFUSED, 0, "no tiles are made of ops of the dialect '%.40s'",
                        program->dialect);
    }
    const char *why = dialect->refuse ? dialect->refuse(program) : NULL;
    if (why) return arn_fail(err, ARENAUT_REFUSED, 0, "%s", why);
    if (program->n_symbols > 0) {
        return arn_fail(err, ARENAUT_REFUSED, 0,
                        "tiles have fixed sizes, and those of the program vary: each needs one "
                        "value");
    }
    if (program->n_methods != 1 || program->methods[0].concurrent) {
        return arn_fail(err, ARENAUT_REFUSED, 0,
                        "the program has %u methods; only programs of one, whose ops run one after "
                        "another, can be split",
                        (unsigned)program->n_methods);
    }
    *graph = (arn_tile_graph){
        .program = program, .dialect = dialect, .allocator = allocator, .rounding = rounding};
    arn_region_init(&graph->region, allocator);
    graph->uses = arn_def_use_find(program, NULL, 0, &graph->region);
    const bool fits =
        graph->uses && ARN_REGION_ARRAYS(&graph->region, ARN_ARRAY(graph->ops, program->n_ops),
                                         ARN_ARRAY(graph->macs, program->n_ops),
                                         ARN_ARRAY(graph->fixed, program->n_tensors),
                                         ARN_ARRAY(graph->image, program->n_tensors));
    const arenaut_status st = fits ? check_values(program, graph->fixed, err) : arn_no_memory(err);
    if (st == ARENAUT_OK) take_ops(graph);
    else arn_tile_graph_free(graph);
    return st;
}

void arn_tile_graph_free(arn_tile_graph *graph) { arn_region_free(&graph->region); }
