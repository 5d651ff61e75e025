/* Which ops stay where they are in methods that jump or move: these themselves, what something
 * jumps to, and all that name memory of which several ops or names tell the lives. Between them,
 * memory is alive from the op that makes it to its last reader, as anywhere else. */
#include "rewrite/order/order_flow.h"

#include <string.h>

typedef struct finder {
    const arenaut_program *program;
    const uint32_t *storage;
    arn_order_flow *flow;
    uint32_t *seen, *odd; /* per storage: the last method in which it was named, and in which it is
                           * not as simple as that */
    uint32_t method;
} finder;

static bool is_flow(arenaut_op_kind kind) {
    return kind == ARENAUT_OP_JUMP || kind == ARENAUT_OP_JUMP_FALSE || kind == ARENAUT_OP_MOVE;
}

static bool may_move(const arenaut_op *op) {
    const bool known = op->kind == ARENAUT_OP_OUT || op->kind == ARENAUT_OP_VIEW ||
                       op->kind == ARENAUT_OP_IN_PLACE || op->kind == ARENAUT_OP_DELEGATE;
    return known && op->file_index.given && !op->arguments_may_alias;
}

static void see(finder *f, const uint32_t *tensors, uint32_t n, bool odd) {
    for (uint32_t i = 0; i < n; i++) {
        if (tensors[i] == ARENAUT_NONE) continue;
        const uint32_t s = f->storage[tensors[i]];
        const uint32_t root = arenaut_program_storage(f->program, tensors[i], NULL);
        const bool foreign = f->program->tensors[root].method != f->method;
        f->seen[s] = f->method;
        if (odd || foreign) f->odd[s] = f->method;
    }
}

/* What is written anew ends one life and begins another, wherever the flow comes from. */
static void see_results(finder *f, const arenaut_op *op) {
    const bool makes = op->kind != ARENAUT_OP_IN_PLACE && op->kind != ARENAUT_OP_VIEW;
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        if (op->outputs[i] == ARENAUT_NONE) continue;
        const bool again = f->seen[f->storage[op->outputs[i]]] == f->method;
        see(f, &op->outputs[i], 1, op->kind == ARENAUT_OP_MOVE || (makes && again));
    }
}

static bool names_odd(const finder *f, const uint32_t *tensors, uint32_t n) {
    bool any = false;
    for (uint32_t i = 0; i < n; i++) {
        any = any || (tensors[i] != ARENAUT_NONE && f->odd[f->storage[tensors[i]]] == f->method);
    }
    return any;
}

static void fix(finder *f, const arenaut_method *method) {
    const arenaut_op *ops = f->program->ops + method->first_op;
    bool *fixed = f->flow->fixed + method->first_op;
    see(f, method->inputs, method->n_inputs, false);
    for (uint32_t i = 0; i < method->n_ops; i++) {
        see(f, ops[i].inputs, ops[i].n_inputs, ops[i].kind == ARENAUT_OP_MOVE);
        see_results(f, &ops[i]);
    }
    for (uint32_t i = 0; i < method->n_ops; i++) {
        const arenaut_op *op = &ops[i];
        const bool jumps = op->kind == ARENAUT_OP_JUMP || op->kind == ARENAUT_OP_JUMP_FALSE;
        if (jumps && op->target < method->n_ops) fixed[op->target] = true;
        fixed[i] = fixed[i] || !may_move(op) || names_odd(f, op->inputs, op->n_inputs) ||
                   names_odd(f, op->outputs, op->n_outputs);
    }
}

bool arn_order_flow_find(const arenaut_program *p, const uint32_t *storage, arn_region *region,
                         arn_order_flow *flow) {
    const size_t storages = (size_t)p->n_tensors + 1;
    finder f = {.program = p, .storage = storage, .flow = flow};
    flow->flows = arn_region_allocate(region, p->n_methods, sizeof *flow->flows);
    flow->fixed = arn_region_allocate(region, p->n_ops, sizeof *flow->fixed);
    f.seen = arn_region_allocate(region, storages, sizeof *f.seen);
    f.odd = arn_region_allocate(region, storages, sizeof *f.odd);
    if (!flow->flows || !flow->fixed || !f.seen || !f.odd) return false;
    memset(flow->flows, 0, p->n_methods * sizeof *flow->flows);
    memset(flow->fixed, 0, p->n_ops * sizeof *flow->fixed);
    for (size_t s = 0; s < storages; s++) f.seen[s] = f.odd[s] = ARENAUT_NONE;
    for (uint32_t i = 0; i < p->n_ops; i++) {
        if (is_flow(p->ops[i].kind)) flow->flows[p->ops[i].method] = true;
    }
    for (f.method = 0; f.method < p->n_methods; f.method++) {
        if (flow->flows[f.method]) fix(&f, &p->methods[f.method]);
    }
    return true;
}
