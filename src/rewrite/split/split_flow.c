/* Who makes each tensor of a program that is to be split, and who reads it. */
#include <inttypes.h>

#include "core/fail.h"
#include "rewrite/split/split_graph.h"

/* There from the start, whatever writes it later. */
static bool is_given(const arenaut_tensor *t) {
    return t->cls == ARENAUT_CONSTANT || t->cls == ARENAUT_INPUT || t->cls == ARENAUT_STATE;
}

static bool is_there(const arn_split_graph *graph, uint32_t tensor) {
    return graph->producer[tensor] != ARENAUT_NONE || is_given(&graph->program->tensors[tensor]);
}

static void note_reader(arn_split_graph *graph, uint32_t tensor, uint32_t reader) {
    graph->n_readers[tensor]++;
    graph->last_reader[tensor] = reader;
}

static arenaut_status take_inputs(arn_split_graph *graph, uint32_t op, arenaut_error *err) {
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

static arenaut_status take_outputs(arn_split_graph *graph, uint32_t op, arenaut_error *err) {
    const arenaut_op *o = &graph->program->ops[op];
    for (uint32_t k = 0; k < o->n_outputs; k++) {
        const uint32_t t = o->outputs[k];
        if (t == ARENAUT_NONE) continue;
        const arenaut_tensor *tensor = &graph->program->tensors[t];
        const bool again = graph->producer[t] != ARENAUT_NONE || is_given(tensor);
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

static arenaut_status take_results(arn_split_graph *graph, arenaut_error *err) {
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

arenaut_status arn_split_take_flow(arn_split_graph *graph, arenaut_error *err) {
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
