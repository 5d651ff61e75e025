/* What ops of a program wait for: for those that wrote what they read and, before they write, for
 * those that read or wrote there; of views that is their storage. Ops that may do more than compute
 * their results stay in their order. */
#include "rewrite/order/order_waits.h"

#include "rewrite/order/order_effects.h"

static void wait_for(arn_order_waits *w, uint32_t op, uint32_t first) {
    if (first == ARENAUT_NONE || first == op) return;
    w->list[w->n++] = (arenaut_order_wait){op, first};
}

/* Shared state is one storage, whatever its names; and what an op makes another name of its
 * operand's memory lies there, even if the tensor does not say so. */
static void find_storages(arn_order_waits *w) {
    const arenaut_program *p = w->program;
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        const uint32_t s = arenaut_program_storage(p, t, NULL);
        w->storage[t] = p->tensors[s].qualified_name ? p->n_tensors : s;
    }
    for (uint32_t i = 0; i < p->n_ops; i++) {
        const arenaut_op *op = &p->ops[i];
        const uint32_t from = op->n_inputs > 0 ? op->inputs[0] : ARENAUT_NONE;
        if (op->kind != ARENAUT_OP_VIEW || from == ARENAUT_NONE) continue;
        for (uint32_t k = 0; k < op->n_outputs; k++) {
            const uint32_t t = op->outputs[k];
            if (t != ARENAUT_NONE && w->storage[t] == t) w->storage[t] = w->storage[from];
        }
    }
}

static uint32_t storage_of(const arn_order_waits *w, uint32_t tensor) { return w->storage[tensor]; }

static void read(arn_order_waits *w, uint32_t op, uint32_t tensor) {
    const uint32_t s = storage_of(w, tensor);
    wait_for(w, op, w->maker[tensor]);
    wait_for(w, op, w->writer[s]);
    w->read_by[w->n_reads] = op;
    w->read_before[w->n_reads] = w->reader[s];
    w->reader[s] = w->n_reads++;
}

static void write(arn_order_waits *w, uint32_t op, uint32_t tensor) {
    const uint32_t s = storage_of(w, tensor);
    wait_for(w, op, w->writer[s]);
    for (uint32_t i = w->reader[s]; i != ARENAUT_NONE; i = w->read_before[i]) {
        wait_for(w, op, w->read_by[i]);
    }
    w->reader[s] = ARENAUT_NONE;
    w->writer[s] = op;
    w->maker[tensor] = op;
}

/* Whether an output only is another name for an input's memory. */
static bool is_name(const arn_order_waits *w, const arenaut_op *op, uint32_t tensor) {
    if (op->kind != ARENAUT_OP_VIEW) return false;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const uint32_t input = op->inputs[i];
        if (input != ARENAUT_NONE && storage_of(w, input) == storage_of(w, tensor)) return true;
    }
    return false;
}

/* Updates write what they read, and delegates and what no list knows may write whatever they are
 * given, but for constants. */
static bool may_write(const arn_order_waits *w, const arenaut_op *op, uint32_t input) {
    if (op->kind == ARENAUT_OP_IN_PLACE) return true;
    if (op->kind != ARENAUT_OP_DELEGATE && !arn_order_is_foreign(w->program, op)) return false;
    return w->program->tensors[input].cls != ARENAUT_CONSTANT;
}

static void add_waits(arn_order_waits *w, uint32_t i) {
    const arenaut_op *op = &w->program->ops[i];
    if (op->kind == ARENAUT_OP_ALLOC || op->kind == ARENAUT_OP_ALLOC_IN_PLACE) return;
    for (uint32_t k = 0; k < op->n_inputs; k++) {
        if (op->inputs[k] == ARENAUT_NONE) continue;
        read(w, i, op->inputs[k]);
        if (may_write(w, op, op->inputs[k])) write(w, i, op->inputs[k]);
    }
    for (uint32_t k = 0; k < op->n_outputs; k++) {
        const uint32_t t = op->outputs[k];
        if (t == ARENAUT_NONE) continue;
        if (is_name(w, op, t)) {
            w->maker[t] = i;
            continue;
        }
        const bool anew = w->writer[storage_of(w, t)] != ARENAUT_NONE;
        if (anew && op->kind != ARENAUT_OP_IN_PLACE) w->anew[t] = true;
        write(w, i, t);
    }
    for (uint32_t k = 0; k < op->n_after; k++) {
        wait_for(w, i, w->program->methods[op->method].first_op + op->after[k]);
    }
    if (!arn_order_has_effects(w->program, op)) return;
    wait_for(w, i, w->last_effect);
    w->last_effect = i;
}

static bool allocate(arn_order_waits *w, arn_region *region) {
    const arenaut_program *p = w->program;
    size_t arguments = 0, reads = 0, stated = 0;
    for (uint32_t i = 0; i < p->n_ops; i++) {
        arguments += (size_t)p->ops[i].n_inputs + p->ops[i].n_outputs;
        reads += p->ops[i].n_inputs;
        stated += p->ops[i].n_after;
    }
    const size_t most = 5 * arguments + stated + p->n_ops; /* a read makes two, and is awaited */
    const size_t tensors = (size_t)p->n_tensors + 1;
    if (most > UINT32_MAX) return false;
    w->list = arn_region_allocate(region, most, sizeof *w->list);
    w->storage = arn_region_allocate(region, tensors, sizeof *w->storage);
    w->maker = arn_region_allocate(region, tensors, sizeof *w->maker);
    w->writer = arn_region_allocate(region, tensors, sizeof *w->writer);
    w->reader = arn_region_allocate(region, tensors, sizeof *w->reader);
    w->anew = arn_region_allocate(region, tensors, sizeof *w->anew);
    w->read_by = arn_region_allocate(region, reads, sizeof *w->read_by);
    w->read_before = arn_region_allocate(region, reads, sizeof *w->read_before);
    if (!w->list || !w->storage || !w->maker || !w->writer || !w->reader || !w->anew ||
        !w->read_by || !w->read_before) {
        return false;
    }
    for (size_t t = 0; t < tensors; t++) {
        w->maker[t] = w->writer[t] = w->reader[t] = ARENAUT_NONE;
        w->anew[t] = false;
    }
    return true;
}

bool arn_order_waits_find(const arenaut_program *program, arn_region *region,
                          arn_order_waits *waits) {
    *waits = (arn_order_waits){.program = program, .last_effect = ARENAUT_NONE};
    if (!allocate(waits, region)) return false;
    find_storages(waits);
    for (uint32_t i = 0; i < program->n_ops; i++) add_waits(waits, i);
    return true;
}
