/* The def-use graph of a program to be tiled: the producer, the readers and the last reader of each
 * tensor, and the tensors that are computed from constants alone. O(arguments). */
#include "rewrite/split/tile_graph.h"

#include <inttypes.h>
#include <string.h>

#include "core/fail.h"
#include "core/memory.h"
#include "rewrite/split/tile_dialect.h"

uint64_t arn_tile_planned_bytes(const arn_tile_graph *graph, uint32_t tensor) {
    const arenaut_tensor *t = &graph->program->tensors[tensor];
    const bool apart = t->cls == ARENAUT_INPUT && graph->dialect->inputs_apart;
    const bool planned =
        t->cls == ARENAUT_INTERMEDIATE || t->cls == ARENAUT_INPUT || t->cls == ARENAUT_OUTPUT;
    return planned && !apart ? t->bytes : 0;
}

uint32_t arn_tile_dim(const arn_tile_graph *graph, int axis) { return graph->dialect->dim[axis]; }

/* Defined before the first op, even if an op writes it later. */
static bool is_given(const arenaut_tensor *t) {
    return t->cls == ARENAUT_CONSTANT || t->cls == ARENAUT_INPUT || t->cls == ARENAUT_STATE;
}

static bool is_there(const arn_tile_graph *graph, uint32_t tensor) {
    return graph->producer[tensor] != ARENAUT_NONE || is_given(&graph->program->tensors[tensor]);
}

/* A constant that an op makes of constants, in dialects whose passes fold these. */
static bool is_folded(const arn_tile_graph *graph, const arenaut_tensor *tensor) {
    return graph->program->dialect && tensor->cls == ARENAUT_CONSTANT;
}

static void note_reader(arn_tile_graph *graph, uint32_t tensor, uint32_t reader) {
    graph->n_readers[tensor]++;
    graph->last_reader[tensor] = reader;
}

static arenaut_status take_inputs(arn_tile_graph *graph, uint32_t op, arenaut_error *err) {
    const arenaut_op *o = &graph->program->ops[op];
    for (uint32_t k = 0; k < o->n_inputs; k++) {
        const uint32_t t = o->inputs[k];
        if (t == ARENAUT_NONE) continue;
        if (!is_there(graph, t)) {
            return arn_fail(err, ARENAUT_REFUSED, 0,
                            "op %" PRIu32 " reads tensor %" PRIu32
                            " before anything has written it; such programs cannot be split",
                            op, t);
        }
        note_reader(graph, t, op);
    }
    return ARENAUT_OK;
}

static arenaut_status take_outputs(arn_tile_graph *graph, uint32_t op, arenaut_error *err) {
    const arenaut_op *o = &graph->program->ops[op];
    for (uint32_t k = 0; k < o->n_outputs; k++) {
        const uint32_t t = o->outputs[k];
        if (t == ARENAUT_NONE) continue;
        const arenaut_tensor *tensor = &graph->program->tensors[t];
        const bool again = graph->producer[t] != ARENAUT_NONE || is_given(tensor);
        if (is_folded(graph, tensor)) continue;
        if (again && tensor->cls != ARENAUT_STATE) {
            return arn_fail(err, ARENAUT_REFUSED, 0,
                            "op %" PRIu32 " writes tensor %" PRIu32
                            ", which holds something already; such programs cannot be split",
                            op, t);
        }
        graph->producer[t] = op;
    }
    return ARENAUT_OK;
}

static arenaut_status take_results(arn_tile_graph *graph, arenaut_error *err) {
    const arenaut_program *p = graph->program;
    const arenaut_method *method = &p->methods[0];
    for (uint32_t i = 0; i < method->n_outputs; i++) {
        if (!is_there(graph, method->outputs[i])) {
            return arn_fail(err, ARENAUT_REFUSED, 0,
                            "tensor %" PRIu32
                            " is a result, but nothing has written it; such "
                            "programs cannot be split",
                            method->outputs[i]);
        }
        note_reader(graph, method->outputs[i], p->n_ops);
    }
    return ARENAUT_OK;
}

/* REFUSED if a tensor is written twice, or read before it is, or a result that never is: tiles are
 * known by the one value of each tensor. */
static arenaut_status take_flow(arn_tile_graph *graph, arenaut_error *err) {
    const arenaut_program *p = graph->program;
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        graph->producer[t] = graph->last_reader[t] = ARENAUT_NONE;
    }
    for (uint32_t i = 0; i < p->n_ops; i++) {
        arenaut_status st = take_inputs(graph, i, err);
        if (st == ARENAUT_OK) st = take_outputs(graph, i, err);
        if (st != ARENAUT_OK) return st;
    }
    return take_results(graph, err);
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

static void take_ops(arn_tile_graph *graph) {
    const arenaut_program *p = graph->program;
    for (uint32_t t = 0; t < p->n_tensors; t++) {
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
    }
}

arenaut_status arn_tile_graph_make(const arenaut_program *program,
                                   const arenaut_allocator *allocator, arn_tile_graph *graph,
                                   arenaut_error *err) {
    const size_t n = program->n_tensors;
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
        .program = program,
        .dialect = dialect,
        .allocator = allocator,
        .ops = arn_allocate_zeroed(allocator, program->n_ops, sizeof *graph->ops),
        .producer = arn_allocate(allocator, n, sizeof *graph->producer),
        .last_reader = arn_allocate(allocator, n, sizeof *graph->last_reader),
        .n_readers = arn_allocate_zeroed(allocator, n, sizeof *graph->n_readers),
        .macs = arn_allocate_zeroed(allocator, program->n_ops, sizeof *graph->macs),
        .fixed = arn_allocate(allocator, n, sizeof *graph->fixed),
    };
    if (!graph->ops || !graph->producer || !graph->last_reader || !graph->n_readers ||
        !graph->macs || !graph->fixed) {
        arn_tile_graph_free(graph);
        return arn_no_memory(err);
    }
    const arenaut_status st = take_flow(graph, err);
    if (st == ARENAUT_OK) take_ops(graph);
    else arn_tile_graph_free(graph);
    return st;
}

void arn_tile_graph_free(arn_tile_graph *graph) {
    arn_release(graph->allocator, graph->ops);
    arn_release(graph->allocator, graph->producer);
    arn_release(graph->allocator, graph->last_reader);
    arn_release(graph->allocator, graph->n_readers);
    arn_release(graph->allocator, graph->macs);
    arn_release(graph->allocator, graph->fixed);
}
