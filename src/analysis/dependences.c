/* Dependences between the ops of a program: read after write, write after read and write after
 * write, per storage, or per byte range of a view. Ops with side effects, and calls, keep their
 * sequence. No op moves across a pinned op, or across the call of a method that accesses state.
 * There are no dependences between methods.
 *
 * A single pass over the ops with the last writer, and the readers since, of each memory cell:
 * O(arguments + dependences). */
#include "analysis/dependences.h"

#include "analysis/aliases.h"
#include "analysis/basic_blocks.h"

/* ---- effects of calls ---- */

/* Topological order of the call graph, callees first (Kahn 1962, reversed): calls form no cycle.
 * `callers` has room for all methods. */
static void sort_methods(const arenaut_program *p, uint32_t *callers, uint32_t *list) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n_ops; i++) {
        for (uint32_t k = 0; k < p->ops[i].n_calls; k++) callers[p->ops[i].calls[k]]++;
    }
    for (uint32_t m = p->n_methods; m-- > 0;) {
        if (callers[m] == 0) list[n++] = m;
    }
    for (uint32_t next = 0; next < n; next++) {
        const arenaut_method *method = &p->methods[list[next]];
        for (uint32_t i = method->first_op; i < method->first_op + method->n_ops; i++) {
            for (uint32_t k = p->ops[i].n_calls; k-- > 0;) {
                const uint32_t callee = p->ops[i].calls[k];
                if (--callers[callee] == 0) list[n++] = callee;
            }
        }
    }
    for (uint32_t i = 0; i < n / 2; i++) {
        const uint32_t m = list[i];
        list[i] = list[n - 1 - i];
        list[n - 1 - i] = m;
    }
}

/* The method that owns the memory of a tensor; NONE: none, or all. */
static uint32_t home_of(const arenaut_program *p, uint32_t tensor) {
    return p->tensors[arenaut_program_storage(p, tensor, NULL)].method;
}

static bool is_shared(const arenaut_program *p, const arenaut_op *op, uint32_t tensor) {
    const arenaut_tensor *root = &p->tensors[arenaut_program_storage(p, tensor, NULL)];
    if (root->cls == ARENAUT_CONSTANT) return false;
    if (root->cls == ARENAUT_STATE || root->qualified_name) return true;
    const bool nested = p->methods[op->method].outer != ARENAUT_NONE;
    return root->method != op->method && (!nested || root->method == ARENAUT_NONE);
}

static bool any_callee(const bool *facts, const arenaut_op *op) {
    bool any = false;
    for (uint32_t i = 0; i < op->n_calls; i++) any = any || facts[op->calls[i]];
    return any;
}

static void add_op_effects(const arenaut_program *p, const arenaut_op *op, arn_call_effects *c) {
    const bool unknown = op->kind == ARENAUT_OP_DELEGATE || arn_is_foreign(p, op);
    const uint32_t m = op->method;
    c->writes[m] = c->writes[m] || any_callee(c->writes, op);
    c->shares[m] = c->shares[m] || any_callee(c->shares, op);
    for (uint32_t i = 0; i < op->n_inputs + op->n_outputs; i++) {
        const bool reads = i < op->n_inputs;
        const uint32_t t = reads ? op->inputs[i] : op->outputs[i - op->n_inputs];
        if (t == ARENAUT_NONE) continue;
        c->shares[m] = c->shares[m] || is_shared(p, op, t);
        const bool written = !reads || unknown || arn_may_write(p, op, t);
        c->writes[m] = c->writes[m] || (written && home_of(p, t) != m);
    }
}

static bool find_call_effects(const arenaut_program *p, arn_region *region,
                              arn_call_effects *calls) {
    const uint32_t n = p->n_methods;
    *calls = (arn_call_effects){0};
    uint32_t *callers;
    if (!ARN_REGION_ARRAYS(region, ARN_ARRAY(callers, n), ARN_ARRAY(calls->callees_first, n),
                           ARN_ARRAY(calls->writes, n), ARN_ARRAY(calls->shares, n))) {
        return false;
    }
    sort_methods(p, callers, calls->callees_first);
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t m = calls->callees_first[k];
        const arenaut_method *method = &p->methods[m];
        for (uint32_t i = 0; i < method->n_ops; i++) {
            add_op_effects(p, &p->ops[method->first_op + i], calls);
        }
    }
    return true;
}

/* ---- jumps ---- */

/* Pinned ops of methods with jumps or moves: these ops, jump targets, and ops on memory whose
 * lifetime depends on several ops or aliases. Between pinned ops, memory is live from its
 * definition to its last use, as in a basic block. */

typedef struct finder {
    const arenaut_program *program;
    const uint32_t *storage;
    arn_control_flow *flow;
    uint32_t *seen, *complex_storage; /* per storage: the last method that uses it, and the last one
                                       * in which its lifetime is not that simple */
    uint32_t method;
} finder;

static bool may_move(const arenaut_op *op) {
    const bool known = op->kind == ARENAUT_OP_OUT || op->kind == ARENAUT_OP_VIEW ||
                       op->kind == ARENAUT_OP_IN_PLACE || op->kind == ARENAUT_OP_DELEGATE;
    return known && op->file_index.given && !op->arguments_may_alias;
}

static void note_storages(finder *f, const uint32_t *tensors, uint32_t n, bool complex_storage) {
    for (uint32_t i = 0; i < n; i++) {
        if (tensors[i] == ARENAUT_NONE) continue;
        const uint32_t s = f->storage[tensors[i]];
        const uint32_t root = arenaut_program_storage(f->program, tensors[i], NULL);
        const bool foreign = f->program->tensors[root].method != f->method;
        f->seen[s] = f->method;
        if (complex_storage || foreign) f->complex_storage[s] = f->method;
    }
}

/* A second definition ends one lifetime and begins another, on any path. */
static void note_results(finder *f, const arenaut_op *op) {
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        if (op->outputs[i] == ARENAUT_NONE) continue;
        const bool makes = arn_makes_output(f->program, op, i);
        const bool again = f->seen[f->storage[op->outputs[i]]] == f->method;
        note_storages(f, &op->outputs[i], 1, op->kind == ARENAUT_OP_MOVE || (makes && again));
    }
}

static bool names_complex(const finder *f, const uint32_t *tensors, uint32_t n) {
    bool any = false;
    for (uint32_t i = 0; i < n; i++) {
        any = any || (tensors[i] != ARENAUT_NONE &&
                      f->complex_storage[f->storage[tensors[i]]] == f->method);
    }
    return any;
}

static void pin_ops(finder *f, const arenaut_method *method) {
    const arenaut_op *ops = f->program->ops + method->first_op;
    bool *fixed = f->flow->pinned + method->first_op;
    note_storages(f, method->inputs, method->n_inputs, false);
    for (uint32_t i = 0; i < method->n_ops; i++) {
        note_storages(f, ops[i].inputs, ops[i].n_inputs, ops[i].kind == ARENAUT_OP_MOVE);
        note_results(f, &ops[i]);
    }
    for (uint32_t i = 0; i < method->n_ops; i++) {
        const arenaut_op *op = &ops[i];
        if (arn_is_jump(op) && op->target < method->n_ops) fixed[op->target] = true;
        fixed[i] = fixed[i] || !may_move(op) || names_complex(f, op->inputs, op->n_inputs) ||
                   names_complex(f, op->outputs, op->n_outputs);
    }
}

static bool find_control_flow(const arenaut_program *p, const uint32_t *storage, arn_region *region,
                              arn_control_flow *flow) {
    const size_t storages = (size_t)p->n_tensors + 1;
    finder f = {.program = p, .storage = storage, .flow = flow};
    if (!ARN_REGION_ARRAYS(region, ARN_ARRAY(flow->jumps, p->n_methods),
                           ARN_ARRAY(flow->pinned, p->n_ops), ARN_ARRAY(f.seen, storages),
                           ARN_ARRAY(f.complex_storage, storages))) {
        return false;
    }
    for (size_t s = 0; s < storages; s++) f.seen[s] = f.complex_storage[s] = ARENAUT_NONE;
    for (f.method = 0; f.method < p->n_methods; f.method++) {
        flow->jumps[f.method] = arn_has_control_flow(p, f.method);
        if (flow->jumps[f.method]) pin_ops(&f, &p->methods[f.method]);
    }
    return true;
}

/* ---- dependences ---- */

static void depend_on(arn_dependences *w, uint32_t op, uint32_t first) {
    if (first == ARENAUT_NONE || first == op) return;
    if (w->program->ops[first].method != w->program->ops[op].method) return;
    w->list[w->n++] = (arenaut_order_dependence){op, first};
}

static void depend(void *context, uint32_t op, uint32_t first, bool on_read) {
    (void)on_read;
    depend_on(context, op, first);
}

/* Whether results of an op may alias its first operand. */
static bool may_alias(const arn_dependences *w, const arenaut_op *op) {
    return op->n_inputs > 0 && op->inputs[0] != ARENAUT_NONE && arn_may_view(w->dialect, op);
}

static void alias_storage(arn_dependences *w, uint32_t from, uint32_t tensor) {
    if (from == ARENAUT_NONE || tensor == ARENAUT_NONE) return;
    if (w->storage[tensor] == tensor) w->storage[tensor] = w->storage[from];
}

/* The result of an in-place update aliases the updated operand. */
static void find_updated(arn_dependences *w, const arenaut_op *op) {
    uint32_t n;
    const arenaut_in_place *pairs = arn_updates_of(op, &n);
    for (uint32_t k = 0; k < n && op->n_outputs > 0; k++) {
        alias_storage(w, op->inputs[pairs[k].input], op->outputs[pairs[k].output]);
    }
}

/* Results of views lie in the storage of the operand, even if the tensor does not say so. */
static void alias_results(arn_dependences *w) {
    const arenaut_program *p = w->program;
    for (uint32_t i = 0; i < p->n_ops; i++) {
        const arenaut_op *op = &p->ops[i];
        if (op->kind == ARENAUT_OP_IN_PLACE) find_updated(w, op);
        if (!may_alias(w, op)) continue;
        for (uint32_t k = 0; k < op->n_outputs; k++)
            alias_storage(w, op->inputs[0], op->outputs[k]);
    }
}

/* A cell's history begins anew in each method, whose ops are contiguous. */
static void enter(arn_dependences *w, uint32_t op, uint32_t cell) {
    const uint32_t method = w->program->ops[op].method;
    if (w->used_by[cell] != method) arn_accesses_forget(&w->accesses, cell);
    w->used_by[cell] = method;
}

static void read(arn_dependences *w, uint32_t op, uint32_t tensor) {
    const uint32_t first = w->cells.first[tensor];
    depend_on(w, op, w->maker[tensor]);
    for (uint32_t i = 0; i < w->cells.n[tensor]; i++) {
        enter(w, op, first + i);
        arn_accesses_read(&w->accesses, op, first + i);
    }
}

static void write(arn_dependences *w, uint32_t op, uint32_t tensor) {
    const uint32_t first = w->cells.first[tensor];
    for (uint32_t i = 0; i < w->cells.n[tensor]; i++) {
        enter(w, op, first + i);
        arn_accesses_write(&w->accesses, op, first + i);
    }
    w->maker[tensor] = op;
}

/* Whether an op of the same method writes the tensor's cells before. */
static bool is_written(arn_dependences *w, uint32_t op, uint32_t tensor) {
    const uint32_t first = w->cells.first[tensor];
    bool written = false;
    for (uint32_t i = 0; i < w->cells.n[tensor]; i++) {
        enter(w, op, first + i);
        written |= w->accesses.writer[first + i] != ARENAUT_NONE;
    }
    return written;
}

/* Whether an output is only an alias of an input's memory. */
static bool is_alias(const arn_dependences *w, const arenaut_op *op, uint32_t tensor) {
    return may_alias(w, op) && arn_find_in_storage(w->storage, op->inputs, op->n_inputs,
                                                   w->storage[tensor]) != ARENAUT_NONE;
}

/* Calls of methods that write captured tensors may write any operand that is no constant, too. */
static bool may_write(const arn_dependences *w, const arenaut_op *op, uint32_t input) {
    return arn_may_write(w->program, op, input) ||
           (any_callee(w->calls.writes, op) && w->program->tensors[input].cls != ARENAUT_CONSTANT);
}

/* A pinned op depends on all ops before it, and all later ones depend on it. */
static void pin_op(arn_dependences *w, uint32_t i) {
    const arenaut_op *op = &w->program->ops[i];
    const uint32_t first = w->program->methods[op->method].first_op;
    const bool mine = w->last_pinned != ARENAUT_NONE && w->last_pinned >= first;
    if (mine) depend_on(w, i, w->last_pinned);
    if (!w->flow.pinned[i] && !any_callee(w->calls.shares, op)) return;
    for (uint32_t k = mine ? w->last_pinned + 1 : first; k < i; k++) depend_on(w, i, k);
    w->last_pinned = i;
}

static void add_dependences(arn_dependences *w, uint32_t i) {
    const arenaut_op *op = &w->program->ops[i];
    pin_op(w, i);
    if (op->kind == ARENAUT_OP_ALLOC || op->kind == ARENAUT_OP_ALLOC_IN_PLACE) return;
    for (uint32_t k = 0; k < op->n_inputs; k++) {
        if (op->inputs[k] == ARENAUT_NONE) continue;
        read(w, i, op->inputs[k]);
        if (may_write(w, op, op->inputs[k])) write(w, i, op->inputs[k]);
    }
    for (uint32_t k = 0; k < op->n_outputs; k++) {
        const uint32_t t = op->outputs[k];
        if (t == ARENAUT_NONE) continue;
        if (is_alias(w, op, t)) {
            read(w, i, t);
            w->maker[t] = i;
            continue;
        }
        if (op->kind != ARENAUT_OP_IN_PLACE && is_written(w, i, t)) {
            w->rewritten[t] = !w->flow.jumps[op->method];
        }
        write(w, i, t);
    }
    for (uint32_t k = 0; k < op->n_after; k++) {
        depend_on(w, i, w->program->methods[op->method].first_op + op->after[k]);
    }
    if (op->n_calls == 0 && !arn_has_side_effects(w->program, op)) return;
    depend_on(w, i, w->last_effect);
    w->last_effect = i;
}

/* Upper bounds of the lists: a read depends on the tensor's definition and on the last writer of
 * each cell; a write also on each read since then. */
static bool count(const arn_dependences *w, size_t *reads, size_t *dependences) {
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
        /* +3: side effects, pinned ops, their successors */
        named += (uint64_t)op->n_inputs + op->n_outputs + op->n_after + 3;
    }
    *reads = (size_t)(read + made);                       /* results that are aliases are read */
    *dependences = (size_t)(3 * read + 2 * made + named); /* operands may be written as well */
    return 3 * read + 2 * made + named <= UINT32_MAX;
}

static void set_none(uint32_t *list, size_t n) {
    for (size_t i = 0; i < n; i++) list[i] = ARENAUT_NONE;
}

static bool allocate(arn_dependences *w, arn_region *region) {
    const size_t tensors = (size_t)w->program->n_tensors + 1;
    size_t reads = 0, dependences = 0;
    w->storage = arn_shared_storages_find(w->program, region);
    if (!w->storage) return false;
    alias_results(w);
    if (!arn_memory_cells_find(w->program, w->storage, region, &w->cells)) return false;
    if (!count(w, &reads, &dependences)) return false;
    const size_t cells = w->cells.n_cells;
    if (!arn_accesses_make(&w->accesses, region, cells, reads) ||
        !ARN_REGION_ARRAYS(region, ARN_ARRAY(w->list, dependences), ARN_ARRAY(w->maker, tensors),
                           ARN_ARRAY(w->used_by, cells), ARN_ARRAY(w->rewritten, tensors))) {
        return false;
    }
    set_none(w->maker, tensors);
    set_none(w->used_by, cells);
    return true;
}

bool arn_dependences_find(const arenaut_program *program, arn_region *region,
                          arn_dependences *dependences) {
    *dependences = (arn_dependences){.program = program,
                                     .dialect = arenaut_dialect_find(program->dialect),
                                     .accesses = {.depend = depend, .context = dependences},
                                     .last_effect = ARENAUT_NONE,
                                     .last_pinned = ARENAUT_NONE};
    if (!allocate(dependences, region) ||
        !find_call_effects(program, region, &dependences->calls) ||
        !find_control_flow(program, dependences->storage, region, &dependences->flow)) {
        return false;
    }
    for (uint32_t i = 0; i < program->n_ops; i++) add_dependences(dependences, i);
    return true;
}
