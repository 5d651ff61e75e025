/* What ops of a program wait for: for those that wrote what they read and, before they write, for
 * those that read or wrote there; of views that is their storage, or the part of it that they are.
 * Ops that may do more than compute their results stay in their order, like those that call
 * methods. No op goes past one that calls a method in which state is named, or that stays for the
 * sake of jumps. Methods wait for nothing of one another. */
#include "rewrite/order/order_waits.h"

#include <arenaut/dialect.h>

#include "rewrite/order/order_effects.h"

static void wait_for(arn_order_waits *w, uint32_t op, uint32_t first) {
    if (first == ARENAUT_NONE || first == op) return;
    if (w->program->ops[first].method != w->program->ops[op].method) return;
    w->list[w->n++] = (arenaut_order_wait){op, first};
}

/* Whether results of an op may be names of its first operand's memory: those of a graph before its
 * passes say so only by their names. */
static bool may_name(const arenaut_program *p, const arenaut_op *op) {
    if (op->n_inputs == 0 || op->inputs[0] == ARENAUT_NONE) return false;
    if (op->kind == ARENAUT_OP_VIEW) return true;
    if (op->kind != ARENAUT_OP_FUNCTIONAL) return false;
    const arenaut_operator *known =
        arenaut_dialect_operator(arenaut_dialect_find(p->dialect), op->name);
    return known && (known->traits & (ARENAUT_TRAIT_VIEW | ARENAUT_TRAIT_MAY_VIEW)) &&
           !(known->traits & ARENAUT_TRAIT_COPIES);
}

static void lie_in(arn_order_waits *w, uint32_t from, uint32_t tensor) {
    if (from == ARENAUT_NONE || tensor == ARENAUT_NONE) return;
    if (w->storage[tensor] == tensor) w->storage[tensor] = w->storage[from];
}

/* What an update returns is what it has updated. */
static void find_updated(arn_order_waits *w, const arenaut_op *op) {
    for (uint32_t k = 0; k < op->n_in_place; k++) {
        lie_in(w, op->inputs[op->in_place[k].input], op->outputs[op->in_place[k].output]);
    }
    if (op->n_in_place == 0 && op->n_inputs > 0 && op->n_outputs > 0) {
        lie_in(w, op->inputs[0], op->outputs[0]);
    }
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
        if (op->kind == ARENAUT_OP_IN_PLACE) find_updated(w, op);
        if (!may_name(p, op)) continue;
        for (uint32_t k = 0; k < op->n_outputs; k++) lie_in(w, op->inputs[0], op->outputs[k]);
    }
}

static uint32_t storage_of(const arn_order_waits *w, uint32_t tensor) { return w->storage[tensor]; }

/* What a method finds in a cell was there before it; the ops of one stand together. */
static void enter(arn_order_waits *w, uint32_t op, uint32_t cell) {
    const uint32_t method = w->program->ops[op].method;
    if (w->used_by[cell] != method) w->writer[cell] = w->reader[cell] = ARENAUT_NONE;
    w->used_by[cell] = method;
}

static void read_cell(arn_order_waits *w, uint32_t op, uint32_t cell) {
    enter(w, op, cell);
    wait_for(w, op, w->writer[cell]);
    w->read_by[w->n_reads] = op;
    w->read_before[w->n_reads] = w->reader[cell];
    w->reader[cell] = w->n_reads++;
}

static void write_cell(arn_order_waits *w, uint32_t op, uint32_t cell) {
    enter(w, op, cell);
    wait_for(w, op, w->writer[cell]);
    for (uint32_t i = w->reader[cell]; i != ARENAUT_NONE; i = w->read_before[i]) {
        wait_for(w, op, w->read_by[i]);
    }
    w->reader[cell] = ARENAUT_NONE;
    w->writer[cell] = op;
}

static void read(arn_order_waits *w, uint32_t op, uint32_t tensor) {
    const uint32_t first = w->cells.first[tensor];
    wait_for(w, op, w->maker[tensor]);
    for (uint32_t i = 0; i < w->cells.n[tensor]; i++) read_cell(w, op, first + i);
}

static void write(arn_order_waits *w, uint32_t op, uint32_t tensor) {
    const uint32_t first = w->cells.first[tensor];
    for (uint32_t i = 0; i < w->cells.n[tensor]; i++) write_cell(w, op, first + i);
    w->maker[tensor] = op;
}

/* By an op of the same method. */
static bool is_written(arn_order_waits *w, uint32_t op, uint32_t tensor) {
    const uint32_t first = w->cells.first[tensor];
    bool written = false;
    for (uint32_t i = 0; i < w->cells.n[tensor]; i++) {
        enter(w, op, first + i);
        written |= w->writer[first + i] != ARENAUT_NONE;
    }
    return written;
}

/* Whether an output only is another name for an input's memory. */
static bool is_name(const arn_order_waits *w, const arenaut_op *op, uint32_t tensor) {
    if (!may_name(w->program, op)) return false;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const uint32_t input = op->inputs[i];
        if (input != ARENAUT_NONE && storage_of(w, input) == storage_of(w, tensor)) return true;
    }
    return false;
}

/* Updates write what they read, and delegates, what no list knows, and calls of methods that write
 * what they capture may write whatever they are given, but for constants. */
static bool may_write(const arn_order_waits *w, const arenaut_op *op, uint32_t input) {
    if (op->kind == ARENAUT_OP_IN_PLACE) return true;
    if (op->kind != ARENAUT_OP_DELEGATE && !arn_order_is_foreign(w->program, op) &&
        !arn_order_calls_any(w->calls.writes, op)) {
        return false;
    }
    return w->program->tensors[input].cls != ARENAUT_CONSTANT;
}

/* All before such an op run before it, all behind it after. */
static void keep_place(arn_order_waits *w, uint32_t i) {
    const arenaut_op *op = &w->program->ops[i];
    const uint32_t first = w->program->methods[op->method].first_op;
    const bool mine = w->fixed != ARENAUT_NONE && w->fixed >= first;
    if (mine) wait_for(w, i, w->fixed);
    if (!w->flow.fixed[i] && !arn_order_calls_any(w->calls.shares, op)) return;
    for (uint32_t k = mine ? w->fixed + 1 : first; k < i; k++) wait_for(w, i, k);
    w->fixed = i;
}

static void add_waits(arn_order_waits *w, uint32_t i) {
    const arenaut_op *op = &w->program->ops[i];
    keep_place(w, i);
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
            read(w, i, t);
            w->maker[t] = i;
            continue;
        }
        if (op->kind != ARENAUT_OP_IN_PLACE && is_written(w, i, t)) {
            w->anew[t] = !w->flow.flows[op->method];
        }
        write(w, i, t);
    }
    for (uint32_t k = 0; k < op->n_after; k++) {
        wait_for(w, i, w->program->methods[op->method].first_op + op->after[k]);
    }
    if (op->n_calls == 0 && !arn_order_has_effects(w->program, op)) return;
    wait_for(w, i, w->last_effect);
    w->last_effect = i;
}

/* A read waits for what made the tensor, and in each cell for what wrote there last; so does a
 * write, and for each read since. */
static bool count(const arn_order_waits *w, size_t *reads, size_t *waits) {
    const arenaut_program *p = w->program;
    uint64_t read = 0, made = 0, named = 0;
    for (uint32_t i = 0; i < p->n_ops; i++) {
        const arenaut_op *op = &p->ops[i];
        for (uint32_t k = 0; k < op->n_inputs; k++) {
            if (op->inputs[k] != ARENAUT_NONE) read += w->cells.n[op->inputs[k]];
        }
        for (uint32_t k = 0; k < op->n_outputs; k++) {
            if (op->outputs[k] != ARENAUT_NONE) made += w->cells.n[op->outputs[k]];
        }
        /* One for effects; one for what stays in its place, and one that waits for it there. */
        named += (uint64_t)op->n_inputs + op->n_outputs + op->n_after + 3;
    }
    *reads = (size_t)(read + made);                 /* what is named is read */
    *waits = (size_t)(3 * read + 2 * made + named); /* operands may be written, too */
    return 3 * read + 2 * made + named <= UINT32_MAX;
}

static uint32_t *no_ops(arn_region *region, size_t n) {
    uint32_t *list = arn_region_allocate(region, n, sizeof *list);
    for (size_t i = 0; list && i < n; i++) list[i] = ARENAUT_NONE;
    return list;
}

static bool allocate(arn_order_waits *w, arn_region *region) {
    const size_t tensors = (size_t)w->program->n_tensors + 1;
    size_t reads = 0, waits = 0;
    w->storage = arn_region_allocate(region, tensors, sizeof *w->storage);
    if (!w->storage) return false;
    find_storages(w);
    if (!arn_order_cells_find(w->program, w->storage, region, &w->cells)) return false;
    if (!count(w, &reads, &waits)) return false;
    w->list = arn_region_allocate(region, waits, sizeof *w->list);
    w->maker = no_ops(region, tensors);
    w->writer = no_ops(region, w->cells.n_cells);
    w->reader = no_ops(region, w->cells.n_cells);
    w->used_by = no_ops(region, w->cells.n_cells);
    w->anew = arn_region_allocate(region, tensors, sizeof *w->anew);
    w->read_by = arn_region_allocate(region, reads, sizeof *w->read_by);
    w->read_before = arn_region_allocate(region, reads, sizeof *w->read_before);
    if (!w->list || !w->maker || !w->writer || !w->reader || !w->anew || !w->read_by ||
        !w->read_before || !w->used_by) {
        return false;
    }
    for (size_t t = 0; t < tensors; t++) w->anew[t] = false;
    return true;
}

bool arn_order_waits_find(const arenaut_program *program, arn_region *region,
                          arn_order_waits *waits) {
    *waits =
        (arn_order_waits){.program = program, .last_effect = ARENAUT_NONE, .fixed = ARENAUT_NONE};
    if (!allocate(waits, region) || !arn_order_calls_find(program, region, &waits->calls) ||
        !arn_order_flow_find(program, waits->storage, region, &waits->flow)) {
        return false;
    }
    for (uint32_t i = 0; i < program->n_ops; i++) add_waits(waits, i);
    return true;
}
