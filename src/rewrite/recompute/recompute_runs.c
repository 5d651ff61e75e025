/* Lives of instances, from the first run that touches one to the last, and what they add up to. */
#include "rewrite/recompute/recompute_runs.h"

#include <string.h>

#include "core/checked.h"

bool arn_runs_make(const arn_runs_graph *graph, arn_region *region, arn_runs *runs) {
    const uint32_t n_tensors = graph->program->n_tensors, n = graph->n_instances;
    *runs = (arn_runs){
        .list = arn_region_allocate(region, graph->n_runs, sizeof *runs->list),
        .latest = arn_region_allocate(region, n_tensors, sizeof *runs->latest),
        .buffer = arn_region_allocate(region, n, sizeof *runs->buffer),
        .first = arn_region_allocate(region, n, sizeof *runs->first),
        .last = arn_region_allocate(region, n, sizeof *runs->last),
        .first_run = arn_region_allocate(region, graph->program->n_ops, sizeof *runs->first_run),
        .n_writes = arn_region_allocate(region, n_tensors, sizeof *runs->n_writes),
        .first_write = arn_region_allocate(region, n_tensors, sizeof *runs->first_write),
        .last_write = arn_region_allocate(region, n_tensors, sizeof *runs->last_write),
        .load = arn_region_allocate(region, (size_t)graph->n_runs + 1, sizeof *runs->load),
    };
    return runs->list && runs->latest && runs->buffer && runs->first && runs->last &&
           runs->first_run && runs->n_writes && runs->first_write && runs->last_write && runs->load;
}

uint32_t arn_runs_aliased(const arn_runs_graph *graph, const arenaut_op *op, uint32_t output) {
    const arenaut_program *p = graph->program;
    if (op->kind != ARENAUT_OP_VIEW && op->kind != ARENAUT_OP_IN_PLACE) return ARENAUT_NONE;
    const uint32_t storage = arenaut_program_storage(p, op->outputs[output], NULL);
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const uint32_t t = op->inputs[i];
        if (t != ARENAUT_NONE && arenaut_program_storage(p, t, NULL) == storage) return t;
    }
    return ARENAUT_NONE;
}

void arn_runs_restart(const arn_runs_graph *graph, arn_runs *runs) {
    for (uint32_t t = 0; t < graph->program->n_tensors; t++) {
        runs->latest[t] = arn_runs_buffer(graph, t);
    }
    runs->n_instances = graph->plain->n_buffers;
}

void arn_runs_step(const arn_runs_graph *graph, arn_runs *runs, uint32_t at) {
    const arn_run *run = &runs->list[at];
    const arenaut_op *op = &graph->program->ops[run->op];
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        const uint32_t t = op->outputs[i], buffer = arn_runs_buffer(graph, t);
        if (buffer == ARENAUT_NONE) continue;
        const uint32_t operand = arn_runs_aliased(graph, op, i);
        if (operand != ARENAUT_NONE) {
            runs->latest[t] = runs->latest[operand];
        } else if (run->of == ARENAUT_NONE) {
            runs->latest[t] = buffer;
        } else {
            runs->buffer[runs->n_instances] = buffer;
            runs->latest[t] = runs->n_instances++;
        }
    }
}

/* ---- all of a list ---- */

static void note_write(const arn_runs_graph *graph, arn_runs *runs, uint32_t tensor, uint32_t at) {
    const uint32_t s = arenaut_program_storage(graph->program, tensor, NULL);
    if (runs->n_writes[s] == 0) runs->first_write[s] = at;
    runs->last_write[s] = at;
    runs->n_writes[s]++;
}

static void note_writes(const arn_runs_graph *graph, arn_runs *runs, uint32_t at) {
    const arn_run *run = &runs->list[at];
    const arenaut_op *op = &graph->program->ops[run->op];
    if (run->of != ARENAUT_NONE) return;
    runs->first_run[run->op] = at;
    for (uint32_t i = 0; i < op->n_inputs && graph->changes[run->op]; i++) {
        if (op->inputs[i] != ARENAUT_NONE) note_write(graph, runs, op->inputs[i], at);
    }
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        if (op->outputs[i] == ARENAUT_NONE) continue;
        const bool named =
            op->kind == ARENAUT_OP_VIEW && arn_runs_aliased(graph, op, i) != ARENAUT_NONE;
        if (!named) note_write(graph, runs, op->outputs[i], at);
    }
}

static void touch(arn_runs *runs, const uint32_t *tensors, uint32_t n, uint32_t at) {
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t instance =
            tensors[i] == ARENAUT_NONE ? ARENAUT_NONE : runs->latest[tensors[i]];
        if (instance == ARENAUT_NONE) continue;
        if (runs->first[instance] == ARENAUT_NONE) runs->first[instance] = at;
        runs->last[instance] = at;
    }
}

static void find_lives(const arn_runs_graph *graph, arn_runs *runs) {
    for (uint32_t i = 0; i < graph->n_instances; i++) runs->first[i] = ARENAUT_NONE;
    for (uint32_t i = 0; i < graph->plain->n_buffers; i++) runs->buffer[i] = i;
    arn_runs_restart(graph, runs);
    for (uint32_t at = 0; at < runs->n; at++) {
        const arenaut_op *op = &graph->program->ops[runs->list[at].op];
        touch(runs, op->inputs, op->n_inputs, at);
        arn_runs_step(graph, runs, at);
        touch(runs, op->outputs, op->n_outputs, at);
        note_writes(graph, runs, at);
    }
}

static void hold(const arn_runs_graph *graph, arn_runs *runs) {
    const uint8_t *boundary = graph->plain->boundary;
    for (uint32_t i = 0; i < graph->plain->n_buffers; i++) {
        if (runs->first[i] == ARENAUT_NONE) continue;
        if (boundary[i] & ARENAUT_LIVE_IN) runs->first[i] = 0;
        if (boundary[i] & ARENAUT_LIVE_OUT) runs->last[i] = runs->n - 1;
    }
}

static void add_lives(const arn_runs_graph *graph, arn_runs *runs) {
    memset(runs->load, 0, ((size_t)runs->n + 1) * sizeof *runs->load);
    for (uint32_t i = 0; i < runs->n_made; i++) {
        if (runs->first[i] == ARENAUT_NONE) continue;
        const uint64_t size = graph->plain->size[runs->buffer[i]];
        runs->load[runs->first[i]] += size;
        runs->load[runs->last[i] + 1] -= size;
    }
    for (uint32_t at = 0; at < runs->n; at++) runs->load[at + 1] += runs->load[at];
    for (uint32_t at = 0; at < runs->n; at++) {
        const arenaut_op *op = &graph->program->ops[runs->list[at].op];
        for (uint32_t i = 0; i < op->n_scratch; i++) {
            const uint32_t buffer = arn_runs_buffer(graph, op->scratch[i]);
            if (buffer != ARENAUT_NONE) runs->load[at] += graph->plain->size[buffer];
        }
    }
}

/* What is written over an operand that dies there counts once. */
static void take_credit(const arn_runs_graph *graph, arn_runs *runs, uint32_t at) {
    const arenaut_op *op = &graph->program->ops[runs->list[at].op];
    uint64_t most = 0;
    for (uint32_t i = 0; i < op->n_in_place; i++) {
        const uint32_t over = op->inputs[op->in_place[i].input];
        const uint32_t made = op->outputs[op->in_place[i].output];
        if (over == ARENAUT_NONE || made == ARENAUT_NONE) continue;
        const uint32_t from = runs->latest[over], to = arn_runs_buffer(graph, made);
        if (from == ARENAUT_NONE || to == ARENAUT_NONE || runs->last[from] != at) continue;
        const uint64_t size = graph->plain->size[runs->buffer[from]];
        const uint64_t least = arn_min_u64(size, graph->plain->size[to]);
        if (least > most) most = least;
    }
    runs->load[at] -= most;
}

static void find_peak(arn_runs *runs) {
    runs->peak = 0;
    runs->at = runs->n_at = 0;
    for (uint32_t at = 0; at < runs->n; at++) {
        const uint64_t load = runs->load[at];
        if (load > runs->peak) {
            runs->peak = load;
            runs->at = at;
            runs->n_at = 0;
        }
        runs->n_at += load == runs->peak;
    }
}

void arn_runs_measure(const arn_runs_graph *graph, arn_runs *runs) {
    for (uint32_t t = 0; t < graph->program->n_tensors; t++) runs->n_writes[t] = 0;
    for (uint32_t i = 0; i < graph->program->n_ops; i++) runs->first_run[i] = ARENAUT_NONE;
    find_lives(graph, runs);
    runs->n_made = runs->n_instances;
    hold(graph, runs);
    add_lives(graph, runs);
    arn_runs_restart(graph, runs);
    for (uint32_t at = 0; at < runs->n; at++) {
        take_credit(graph, runs, at);
        arn_runs_step(graph, runs, at);
    }
    find_peak(runs);
}
