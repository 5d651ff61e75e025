#include "support/replay_oracle.h"

#include "support/test.h"

/* Owners of bytes besides tensors. */
enum { NO_OWNER = -1, UNUSABLE = -2 };

typedef struct memory {
    int owner[ORACLE_POOLS][ORACLE_BYTES];
    uint32_t written[ORACLE_POOLS][ORACLE_BYTES]; /* by which event */
} memory;

typedef struct oracle {
    const arenaut_program *program;
    const arenaut_placement *placement;
    const arenaut_replay_options *options;
    memory now;
    uint32_t event;
    bool first_call;
    bool wrong;
    bool touched[256]; /* per owner */
} oracle;

static const arenaut_tensor *tensor_of(const oracle *o, uint32_t t) {
    return &o->program->tensors[t];
}

/* The lowest tensor that is the same memory. */
static uint32_t owner_of(const oracle *o, uint32_t t) {
    if (tensor_of(o, t)->view_of != ARENAUT_NONE) t = tensor_of(o, t)->view_of;
    const char *name = tensor_of(o, t)->qualified_name;
    for (uint32_t i = 0; name && i < t; i++) {
        const arenaut_tensor *other = tensor_of(o, i);
        if (other->view_of == ARENAUT_NONE && other->qualified_name &&
            strcmp(other->qualified_name, name) == 0) {
            return i;
        }
    }
    return t;
}

static uint64_t delta_of(const oracle *o, uint32_t t) {
    return tensor_of(o, t)->view_of == ARENAUT_NONE ? 0 : tensor_of(o, t)->view_offset;
}

static bool is_state(const oracle *o, uint32_t owner) {
    for (uint32_t t = 0; t < o->program->n_tensors; t++) {
        if (owner_of(o, t) != owner || tensor_of(o, t)->view_of != ARENAUT_NONE) continue;
        if (tensor_of(o, t)->cls == ARENAUT_STATE || tensor_of(o, t)->qualified_name) return true;
    }
    return false;
}

/* Where an owner's memory begins: storages first, then views, the first that has a place. */
static bool base_of(const oracle *o, uint32_t owner, uint32_t *pool, uint64_t *offset) {
    for (int views = 0; views < 2; views++) {
        for (uint32_t t = 0; t < o->program->n_tensors; t++) {
            if (owner_of(o, t) != owner || o->placement->pool[t] == ARENAUT_NONE) continue;
            if ((tensor_of(o, t)->view_of != ARENAUT_NONE) != (views == 1)) continue;
            if (o->placement->offset[t] < delta_of(o, t)) continue;
            *pool = o->placement->pool[t];
            *offset = o->placement->offset[t] - delta_of(o, t);
            return true;
        }
    }
    return false;
}

static bool in_list(const oracle *o, uint32_t owner, const uint32_t *list, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        if (list[i] != ARENAUT_NONE && owner_of(o, list[i]) == owner) return true;
    }
    return false;
}

static bool is_entry_io(const oracle *o, uint32_t owner) {
    for (uint32_t m = 0; m < o->program->n_methods; m++) {
        const arenaut_method *method = &o->program->methods[m];
        if (!method->entry) continue;
        if (in_list(o, owner, method->inputs, method->n_inputs)) return true;
        if (in_list(o, owner, method->outputs, method->n_outputs)) return true;
    }
    return false;
}

static bool left_alone(const oracle *o, uint32_t t) {
    const uint32_t owner = owner_of(o, t);
    bool callers = false, constant = true;
    uint32_t pool;
    uint64_t offset;
    for (uint32_t i = 0; i < o->program->n_tensors; i++) {
        const arenaut_tensor *storage = tensor_of(o, i);
        if (storage->view_of != ARENAUT_NONE || owner_of(o, i) != owner) continue;
        if (storage->caller_owned) callers = true;
        if (storage->cls != ARENAUT_CONSTANT) constant = false;
    }
    if (tensor_of(o, t)->bytes == 0 || callers || constant) return true;
    for (uint32_t i = 0; i < o->program->n_ops; i++) {
        const arenaut_op *op = &o->program->ops[i];
        if (op->kind == ARENAUT_OP_MAKES && in_list(o, owner, op->outputs, op->n_outputs))
            return true;
    }
    if (base_of(o, owner, &pool, &offset)) return false;
    return is_state(o, owner) || (o->options->exclude_io && is_entry_io(o, owner));
}

/* Finds the bytes of a tensor; false if there are none to look at, or if it lies wrong. */
static bool locate(oracle *o, uint32_t t, uint32_t *pool, uint64_t *from, uint64_t *to) {
    uint64_t base;
    if (o->wrong || left_alone(o, t)) return false;
    const uint32_t owner = owner_of(o, t);
    const uint64_t delta = delta_of(o, t);
    if (!base_of(o, owner, pool, &base)) {
        o->wrong = true;
        return false;
    }
    *from = base + delta;
    *to = *from + tensor_of(o, t)->bytes;
    if (o->placement->pool[t] != ARENAUT_NONE &&
        (o->placement->pool[t] != *pool || o->placement->offset[t] != *from)) {
        o->wrong = true;
    } else if (*pool >= o->placement->n_pools || *pool >= ORACLE_POOLS || *to > ORACLE_BYTES ||
               (o->placement->arena && *to > o->placement->arena[*pool])) {
        o->wrong = true;
    }
    o->touched[owner] = true;
    return !o->wrong;
}

static void read_tensor(oracle *o, uint32_t t) {
    uint32_t pool;
    uint64_t from, to;
    if (t == ARENAUT_NONE || !locate(o, t, &pool, &from, &to)) return;
    for (uint64_t i = from; i < to; i++) {
        if (o->now.owner[pool][i] != (int)owner_of(o, t)) o->wrong = true;
    }
}

/* `apart`: no byte may have been written by this event already, but by the same memory. */
static void write_tensor(oracle *o, uint32_t t, bool apart) {
    uint32_t pool;
    uint64_t from, to;
    if (t == ARENAUT_NONE || !locate(o, t, &pool, &from, &to)) return;
    for (uint64_t i = from; i < to; i++) {
        const bool fresh = o->now.written[pool][i] == o->event;
        if (apart && fresh && o->now.owner[pool][i] != (int)owner_of(o, t)) o->wrong = true;
        o->now.owner[pool][i] = (int)owner_of(o, t);
        o->now.written[pool][i] = o->event;
    }
}

static void copy_tensor(oracle *o, uint32_t from, uint32_t to) {
    uint32_t pa, pb;
    uint64_t fa, fb, ta, tb;
    if (from == ARENAUT_NONE || to == ARENAUT_NONE) return;
    read_tensor(o, from);
    if (locate(o, from, &pa, &fa, &ta) && locate(o, to, &pb, &fb, &tb)) {
        if (pa == pb && fa != fb && fa < tb && fb < ta) o->wrong = true;
    }
    o->event++;
    write_tensor(o, to, false);
}

static bool may_replace(oracle *o, const arenaut_op *op, uint32_t input, uint32_t output) {
    uint32_t pa, pb;
    uint64_t fa, fb, ta, tb;
    if (op->kind == ARENAUT_OP_DELEGATE) return false;
    for (uint32_t i = 0; i < op->n_in_place; i++) {
        if (op->in_place[i].input != input || op->in_place[i].output != output) continue;
        if (!locate(o, op->inputs[input], &pa, &fa, &ta)) continue;
        if (!locate(o, op->outputs[output], &pb, &fb, &tb)) continue;
        if (pa == pb && fa == fb && tb <= ta) return true;
    }
    return false;
}

/* Whether the op really writes this output, rather than some other memory. */
static bool writes(oracle *o, const arenaut_op *op, uint32_t output) {
    if (op->kind != ARENAUT_OP_IN_PLACE) return true;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        if (op->inputs[i] == ARENAUT_NONE) continue;
        if (owner_of(o, op->inputs[i]) == owner_of(o, op->outputs[output])) return true;
        if (may_replace(o, op, i, output)) return true;
    }
    return false;
}

/* Byte `at` of an input has been written by this op: was that an output that may? */
static bool is_replaced(oracle *o, const arenaut_op *op, uint32_t input, uint64_t at) {
    for (uint32_t k = 0; k < op->n_outputs; k++) {
        uint32_t pool;
        uint64_t from, to;
        if (op->outputs[k] == ARENAUT_NONE || !may_replace(o, op, input, k)) continue;
        if (locate(o, op->outputs[k], &pool, &from, &to) && from <= at && at < to) return true;
    }
    return false;
}

static void check_input(oracle *o, const arenaut_op *op, uint32_t input) {
    const uint32_t t = op->inputs[input];
    const bool may_update = op->kind == ARENAUT_OP_IN_PLACE || op->kind == ARENAUT_OP_DELEGATE;
    uint32_t pool;
    uint64_t from, to;
    if (t == ARENAUT_NONE || !locate(o, t, &pool, &from, &to)) return;
    for (uint64_t i = from; i < to; i++) {
        if (o->now.written[pool][i] != o->event) continue;
        if (may_update && o->now.owner[pool][i] == (int)owner_of(o, t)) continue;
        if (!is_replaced(o, op, input, i)) o->wrong = true;
    }
}

static bool is_fed(const oracle *o, uint32_t t) {
    const uint32_t owner = owner_of(o, t);
    if (is_state(o, owner)) return true;
    for (uint32_t m = 0; m < o->program->n_methods; m++) {
        if (in_list(o, owner, o->program->methods[m].inputs, o->program->methods[m].n_inputs)) {
            return true;
        }
    }
    for (uint32_t i = 0; i < o->program->n_ops; i++) {
        if (in_list(o, owner, o->program->ops[i].outputs, o->program->ops[i].n_outputs))
            return true;
    }
    return false;
}

static void run_aliasing(oracle *o, const arenaut_op *op) {
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        if (op->inputs[i] != ARENAUT_NONE && is_fed(o, op->inputs[i]))
            read_tensor(o, op->inputs[i]);
    }
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        if (op->inputs[i] != ARENAUT_NONE && !is_fed(o, op->inputs[i])) {
            write_tensor(o, op->inputs[i], false);
        }
    }
    for (uint32_t i = 0; i < op->n_scratch; i++) write_tensor(o, op->scratch[i], false);
    for (uint32_t i = 0; i < op->n_outputs; i++) write_tensor(o, op->outputs[i], false);
}

static void run_kernel(oracle *o, const arenaut_op *op) {
    o->event++;
    if (op->kind == ARENAUT_OP_VIEW) return;
    if (op->arguments_may_alias) {
        run_aliasing(o, op);
        return;
    }
    for (uint32_t i = 0; i < op->n_inputs; i++) read_tensor(o, op->inputs[i]);
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        uint32_t pool;
        uint64_t from, to;
        if (op->outputs[i] == ARENAUT_NONE) continue;
        (void)locate(o, op->outputs[i], &pool, &from, &to); /* it must lie right, written or not */
        if (writes(o, op, i)) write_tensor(o, op->outputs[i], true);
    }
    for (uint32_t i = 0; i < op->n_scratch; i++) write_tensor(o, op->scratch[i], true);
    for (uint32_t i = 0; i < op->n_inputs; i++) check_input(o, op, i);
}

static void run_method(oracle *o, uint32_t method);

/* The call's arguments: `skip` are not passed on; a loop's live in its outputs. */
static void call(oracle *o, const arenaut_op *op, uint32_t callee, uint32_t skip, bool carried) {
    const arenaut_method *m = &o->program->methods[callee];
    for (uint32_t i = 0; i < m->n_inputs; i++) {
        uint32_t from = i + skip < op->n_inputs ? op->inputs[i + skip] : ARENAUT_NONE;
        if (carried && i < op->n_outputs && op->outputs[i] != ARENAUT_NONE) from = op->outputs[i];
        copy_tensor(o, from, m->inputs[i]);
    }
    run_method(o, callee);
}

static void copy_back(oracle *o, const arenaut_op *op, uint32_t callee) {
    const arenaut_method *m = &o->program->methods[callee];
    for (uint32_t i = 0; i < m->n_outputs && i < op->n_outputs; i++) {
        copy_tensor(o, m->outputs[i], op->outputs[i]);
    }
}

/* Contents that agree on two paths. Whether `into` has changed. */
static bool join(memory *into, const memory *from) {
    bool changed = false;
    for (int p = 0; p < ORACLE_POOLS; p++) {
        for (int i = 0; i < ORACLE_BYTES; i++) {
            if (into->owner[p][i] == from->owner[p][i] || into->owner[p][i] == UNUSABLE) continue;
            into->owner[p][i] = UNUSABLE;
            changed = true;
        }
    }
    return changed;
}

static void run_if(oracle *o, const arenaut_op *op) {
    const memory before = o->now;
    call(o, op, op->calls[0], 1, false);
    copy_back(o, op, op->calls[0]);
    const memory after = o->now;
    o->now = before;
    call(o, op, op->calls[1], 1, false);
    copy_back(o, op, op->calls[1]);
    (void)join(&o->now, &after);
}

/* A carried value is whole until the condition has run once, unless it lies in its destination. */
static void read_carried(oracle *o, const arenaut_op *op) {
    for (uint32_t i = 0; i < op->n_inputs && i < op->n_outputs; i++) {
        uint32_t pa, pb;
        uint64_t fa, fb, ta, tb;
        const uint32_t from = op->inputs[i], to = op->outputs[i];
        if (from == ARENAUT_NONE || to == ARENAUT_NONE) continue;
        if (locate(o, from, &pa, &fa, &ta) && locate(o, to, &pb, &fb, &tb) && pa == pb && fa == fb)
            continue;
        read_tensor(o, from);
    }
}

static void run_while(oracle *o, const arenaut_op *op) {
    for (uint32_t i = 0; i < op->n_inputs && i < op->n_outputs; i++) {
        copy_tensor(o, op->inputs[i], op->outputs[i]);
    }
    const arenaut_method *condition = &o->program->methods[op->calls[0]];
    memory head = o->now, left;
    bool first = true;
    do {
        o->now = head;
        call(o, op, op->calls[0], 0, true);
        for (uint32_t i = 0; i < condition->n_outputs; i++) read_tensor(o, condition->outputs[i]);
        if (first) read_carried(o, op);
        first = false;
        left = o->now;
        call(o, op, op->calls[1], 0, true);
        copy_back(o, op, op->calls[1]);
    } while (!o->wrong && join(&head, &o->now));
    o->now = left;
}

static void run_calling(oracle *o, const arenaut_op *op) {
    for (uint32_t i = 0; i < op->n_inputs; i++) read_tensor(o, op->inputs[i]);
    o->event++;
    for (uint32_t i = 0; i < op->n_scratch; i++) write_tensor(o, op->scratch[i], true);
    if (op->kind == ARENAUT_OP_IF) run_if(o, op);
    if (op->kind == ARENAUT_OP_WHILE) run_while(o, op);
    if (op->kind == ARENAUT_OP_CALL || (op->kind == ARENAUT_OP_CALL_ONCE && o->first_call)) {
        call(o, op, op->calls[0], 0, false);
        copy_back(o, op, op->calls[0]);
    }
    for (uint32_t i = 0; i < op->n_scratch; i++) read_tensor(o, op->scratch[i]);
}

static void run_method(oracle *o, uint32_t method) {
    const arenaut_method *m = &o->program->methods[method];
    for (uint32_t i = m->first_op; i < m->first_op + m->n_ops && !o->wrong; i++) {
        const arenaut_op *op = &o->program->ops[i];
        if (op->n_calls > 0) run_calling(o, op);
        else run_kernel(o, op);
    }
}

/* Nothing but state outlives a call. */
static void forget(oracle *o) {
    for (int p = 0; p < ORACLE_POOLS; p++) {
        for (int i = 0; i < ORACLE_BYTES; i++) {
            const int owner = o->now.owner[p][i];
            if (owner < 0 || !is_state(o, (uint32_t)owner)) o->now.owner[p][i] = NO_OWNER;
        }
    }
}

static void call_entry(oracle *o, uint32_t method) {
    const arenaut_method *m = &o->program->methods[method];
    forget(o);
    o->event++;
    for (uint32_t i = 0; i < m->n_inputs; i++) write_tensor(o, m->inputs[i], true);
    run_method(o, method);
    for (uint32_t i = 0; i < m->n_outputs; i++) read_tensor(o, m->outputs[i]);
    for (uint32_t i = 0; i < m->n_inputs && o->options->keep_inputs; i++)
        read_tensor(o, m->inputs[i]);
    for (uint32_t t = 0; t < o->program->n_tensors; t++) {
        if (owner_of(o, t) == t && is_state(o, t) && o->touched[t]) read_tensor(o, t);
    }
}

static bool is_named(const oracle *o, uint32_t owner) {
    bool named = false;
    for (uint32_t i = 0; i < o->program->n_ops; i++) {
        const arenaut_op *op = &o->program->ops[i];
        for (uint32_t k = 0; k < op->n_inputs + op->n_outputs; k++) {
            const uint32_t t = k < op->n_inputs ? op->inputs[k] : op->outputs[k - op->n_inputs];
            named = named || (t != ARENAUT_NONE && owner_of(o, t) == owner);
        }
    }
    for (uint32_t i = 0; i < o->program->n_methods; i++) {
        const arenaut_method *m = &o->program->methods[i];
        for (uint32_t k = 0; k < m->n_inputs; k++)
            named = named || owner_of(o, m->inputs[k]) == owner;
        for (uint32_t k = 0; k < m->n_outputs; k++) {
            named = named || owner_of(o, m->outputs[k]) == owner;
        }
    }
    return named;
}

/* First tensors that no op or method names; they own no bytes. */
static void fill_states(oracle *o, bool backwards) {
    const uint32_t n = o->program->n_tensors;
    for (int named = 0; named < 2; named++) {
        for (uint32_t i = 0; i < n; i++) {
            const uint32_t t = backwards ? n - 1 - i : i;
            if (owner_of(o, t) != t || !is_state(o, t) || is_named(o, t) != named) continue;
            write_tensor(o, t, false);
            o->wrong = o->touched[t] = false;
        }
    }
}

/* Bytes that are another state's if states are filled in reverse have no owner. */
static void fill_states_in_any_order(oracle *o) {
    static int one[ORACLE_POOLS][ORACLE_BYTES];
    fill_states(o, true);
    for (int p = 0; p < ORACLE_POOLS; p++) {
        for (int i = 0; i < ORACLE_BYTES; i++) one[p][i] = o->now.owner[p][i];
    }
    fill_states(o, false);
    for (int p = 0; p < ORACLE_POOLS; p++) {
        for (int i = 0; i < ORACLE_BYTES; i++) {
            if (one[p][i] != o->now.owner[p][i]) o->now.owner[p][i] = NO_OWNER;
        }
    }
}

bool oracle_accepts_replay(const arenaut_program *program, const arenaut_placement *placement,
                           const arenaut_replay_options *options) {
    static oracle o; /* large */
    memset(&o, 0, sizeof o);
    o.program = program;
    o.placement = placement;
    o.options = options;
    assert_true(program->n_tensors <= COUNT_OF(o.touched));
    memset(o.now.owner, 0xFF, sizeof o.now.owner); /* NO_OWNER */
    fill_states_in_any_order(&o);
    for (int time = 0; time < 2; time++) {
        o.first_call = time == 0;
        for (uint32_t m = 0; m < program->n_methods && !o.wrong; m++) {
            const bool wanted = options->only_method.given ? options->only_method.id == m
                                                           : program->methods[m].entry;
            if (wanted) call_entry(&o, m);
        }
    }
    return !o.wrong;
}
