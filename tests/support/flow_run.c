/* The machine of flow_run.h: one flat array of bytes holds all pools, and behind them memory of
 * their own for tensors without a place. */
#include "support/flow_run.h"

#include <stdlib.h>
#include <string.h>

#include "support/random.h"

enum { MOST_STEPS = 3000, MOST_TURNS = 4, SLACK = 64 };

#define SPOILED UINT64_C(0xDEADBEEFDEADBEEF)

typedef struct machine {
    const arenaut_program *program;
    const flow_path *path;
    flow_trace *trace;
    uint64_t *byte;
    size_t n_bytes;
    size_t *home;    /* per tensor: where it lies when an entry is called */
    size_t *at;      /* per tensor: where its name leads now */
    uint32_t *asked; /* per op: number of its choices of a path */
    uint32_t steps;
    bool first_run;
} machine;

static uint64_t mix(uint64_t a, uint64_t b) {
    rng r = {a ^ (b * UINT64_C(0xD6E8FEB86659FD93))};
    return rng_next(&r);
}

static uint64_t hash_text(const char *text) {
    uint64_t h = 1469598103934665603u;
    for (; text && *text; text++) h = (h ^ (unsigned char)*text) * 1099511628211u;
    return h;
}

/* ---- memory ---- */

static const arenaut_tensor *tensor_of(const machine *m, uint32_t t) {
    return &m->program->tensors[t];
}

static size_t bytes_of(const machine *m, uint32_t t) { return (size_t)tensor_of(m, t)->bytes; }

static uint32_t base_of(const machine *m, uint32_t t) {
    while (tensor_of(m, t)->view_of != ARENAUT_NONE) t = tensor_of(m, t)->view_of;
    return t;
}

static size_t distance_of(const machine *m, uint32_t t) {
    size_t distance = 0;
    for (; tensor_of(m, t)->view_of != ARENAUT_NONE; t = tensor_of(m, t)->view_of) {
        distance += (size_t)tensor_of(m, t)->view_offset;
    }
    return distance;
}

static bool is_kept(const machine *m, uint32_t t) {
    const arenaut_tensor *tensor = tensor_of(m, t);
    return tensor->view_of == ARENAUT_NONE &&
           (tensor->cls == ARENAUT_STATE || tensor->cls == ARENAUT_CONSTANT ||
            tensor->qualified_name);
}

/* Without a place: memory of its own, one for all that are the same by name. */
static size_t own_memory(machine *m, uint32_t t, size_t *end) {
    const char *name = tensor_of(m, t)->qualified_name;
    for (uint32_t s = 0; name && s < t; s++) {
        const char *other = tensor_of(m, s)->qualified_name;
        if (other && strcmp(name, other) == 0) return m->home[s];
    }
    const size_t at = *end;
    *end += bytes_of(m, t) + 1;
    return at;
}

static bool lay_out(machine *m, const arenaut_placement *placement) {
    const uint32_t n = m->program->n_tensors;
    size_t pool_base[ARENAUT_MAX_POOLS], end = 0;
    for (uint32_t k = 0; placement && k < placement->n_pools; k++) {
        pool_base[k] = end;
        end += (size_t)placement->arena[k] + SLACK;
    }
    m->home = calloc(n + 1, sizeof *m->home);
    m->at = calloc(n + 1, sizeof *m->at);
    m->asked = calloc(m->program->n_ops + 1, sizeof *m->asked);
    if (!m->home || !m->at || !m->asked) return false;
    for (uint32_t views = 0; views < 2; views++) {
        for (uint32_t t = 0; t < n; t++) {
            if ((tensor_of(m, t)->view_of != ARENAUT_NONE) != (views == 1)) continue;
            if (placement && placement->pool[t] != ARENAUT_NONE)
                m->home[t] = pool_base[placement->pool[t]] + (size_t)placement->offset[t];
            else if (views) m->home[t] = m->home[base_of(m, t)] + distance_of(m, t);
            else m->home[t] = own_memory(m, t, &end);
        }
    }
    m->n_bytes = end + SLACK;
    m->byte = calloc(m->n_bytes, sizeof *m->byte);
    return m->byte != NULL;
}

static void fill(machine *m, uint32_t t, uint64_t what) {
    for (size_t i = 0; i < bytes_of(m, t); i++) m->byte[m->at[t] + i] = mix(what, i);
}

static bool is_listed(const machine *m, uint32_t t, const uint32_t *list, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        if (list[i] != ARENAUT_NONE && base_of(m, list[i]) == t) return true;
    }
    return false;
}

static bool is_called(const arenaut_program *p, uint32_t method) {
    bool called = p->methods[method].entry;
    for (uint32_t i = 0; i < p->n_ops && !called; i++) {
        for (uint32_t k = 0; k < p->ops[i].n_calls && !called; k++) {
            called = p->ops[i].calls[k] == method && is_called(p, p->ops[i].method);
        }
    }
    return called;
}

/* Whether an op or a method that runs names the tensor, or one that is the same by name. */
static bool is_used(const machine *m, uint32_t t) {
    const arenaut_program *p = m->program;
    const char *name = tensor_of(m, t)->qualified_name;
    for (uint32_t i = 0; i < p->n_ops; i++) {
        if (!is_called(p, p->ops[i].method)) continue;
        if (is_listed(m, t, p->ops[i].inputs, p->ops[i].n_inputs) ||
            is_listed(m, t, p->ops[i].outputs, p->ops[i].n_outputs))
            return true;
    }
    for (uint32_t i = 0; i < p->n_methods; i++) {
        if (!is_called(p, i)) continue;
        if (is_listed(m, t, p->methods[i].outputs, p->methods[i].n_outputs)) return true;
    }
    for (uint32_t s = t + 1; name && s < p->n_tensors; s++) {
        const char *other = tensor_of(m, s)->qualified_name;
        if (other && strcmp(name, other) == 0) return is_used(m, s);
    }
    return false;
}

/* The first contents of states and constants depend on their names. Unused ones may lie anywhere,
 * so they come first. */
static void fill_kept(machine *m) {
    for (int used = 0; used < 2; used++) {
        for (uint32_t t = 0; t < m->program->n_tensors; t++) {
            const char *name = tensor_of(m, t)->qualified_name;
            if (!is_kept(m, t) || is_used(m, t) != used) continue;
            fill(m, t, hash_text(name ? name : tensor_of(m, t)->name));
        }
    }
}

/* Nothing but state outlasts a call. */
static bool spoil_the_rest(machine *m) {
    bool *kept = calloc(m->n_bytes, sizeof *kept);
    if (!kept) return false;
    for (uint32_t t = 0; t < m->program->n_tensors; t++) {
        for (size_t i = 0; is_kept(m, t) && i < bytes_of(m, t); i++) kept[m->home[t] + i] = true;
    }
    for (size_t i = 0; i < m->n_bytes; i++) {
        if (!kept[i]) m->byte[i] = SPOILED;
    }
    free(kept);
    return true;
}

/* ---- reading ---- */

static void note(machine *m, uint32_t op, uint64_t read) {
    if (m->trace->n_events == FLOW_EVENTS) {
        m->trace->cut = true;
        return;
    }
    m->trace->event[m->trace->n_events++] = (flow_event){op, read};
}

static uint64_t digest(machine *m, const uint64_t *byte, size_t n) {
    uint64_t h = 7;
    for (size_t i = 0; i < n; i++) {
        if (byte[i] == SPOILED) m->trace->spoiled = true;
        h = mix(h, byte[i]);
    }
    return h;
}

static uint64_t read_tensor(machine *m, uint32_t op, uint32_t t) {
    const uint64_t h = digest(m, m->byte + m->at[t], bytes_of(m, t));
    note(m, op, h);
    return h;
}

/* As memcpy does it: a copy that overlaps itself in part is spoiled. */
static void copy(machine *m, uint32_t op, uint32_t from, uint32_t to) {
    const size_t a = m->at[from], b = m->at[to];
    const size_t n = bytes_of(m, from) < bytes_of(m, to) ? bytes_of(m, from) : bytes_of(m, to);
    read_tensor(m, op, from);
    const bool torn = a != b && a < b + n && b < a + n;
    for (size_t i = 0; i < n && a != b; i++) m->byte[b + i] = torn ? SPOILED : m->byte[a + i];
}

/* ---- kernels ---- */

static bool by_element(const arenaut_op *op, uint32_t input) {
    const char *digit = op->source + 3;
    for (; *digit && *digit != '#'; digit++) {
        if ((uint32_t)(*digit - '0') == input) return true;
    }
    return false;
}

/* Where output `k` is written: an update writes its first operand, under any name. */
static uint32_t target_of(const arenaut_op *op, uint32_t k) {
    return op->kind == ARENAUT_OP_IN_PLACE ? op->inputs[0] : op->outputs[k];
}

static uint32_t n_targets(const arenaut_op *op) {
    return op->kind == ARENAUT_OP_IN_PLACE ? 1 : op->n_outputs;
}

static bool covers(const machine *m, uint32_t t, size_t address) {
    return t != ARENAUT_NONE && address >= m->at[t] && address < m->at[t] + bytes_of(m, t);
}

/* Byte `address` of input `i` when the kernel reads it, spoiled if something else that the
 * kernel writes lies there. */
static uint64_t seen(const machine *m, const arenaut_op *op, uint32_t i, size_t address) {
    for (uint32_t s = 0; s < op->n_scratch; s++) {
        if (covers(m, op->scratch[s], address)) return SPOILED;
    }
    for (uint32_t k = 0; k < n_targets(op); k++) {
        const uint32_t t = target_of(op, k);
        if (!covers(m, t, address)) continue;
        const bool first_read = k == 0 && by_element(op, i) && m->at[t] == m->at[op->inputs[i]] &&
                                bytes_of(m, t) <= bytes_of(m, op->inputs[i]);
        if (!first_read) return SPOILED;
    }
    return m->byte[address];
}

enum { MOST_INPUTS = 8, MOST_BYTES = 16 };

static void run_kernel(machine *m, uint32_t at) {
    const arenaut_op *op = &m->program->ops[at];
    uint64_t value[MOST_INPUTS][MOST_BYTES], whole[MOST_INPUTS];
    const uint64_t id = hash_text(op->source);
    if (op->n_inputs > MOST_INPUTS) m->trace->cut = true;
    for (uint32_t i = 0; i < op->n_inputs && !m->trace->cut; i++) {
        const uint32_t t = op->inputs[i];
        if (t == ARENAUT_NONE) continue;
        if (bytes_of(m, t) > MOST_BYTES) abort();
        for (size_t b = 0; b < bytes_of(m, t); b++) value[i][b] = seen(m, op, i, m->at[t] + b);
        whole[i] = digest(m, value[i], bytes_of(m, t));
        note(m, at, whole[i]);
    }
    for (uint32_t s = 0; s < op->n_scratch; s++) {
        for (size_t b = 0; b < bytes_of(m, op->scratch[s]); b++)
            m->byte[m->at[op->scratch[s]] + b] = SPOILED;
    }
    for (uint32_t k = 0; k < n_targets(op) && !m->trace->cut; k++) {
        const uint32_t t = target_of(op, k);
        for (size_t b = 0; t != ARENAUT_NONE && b < bytes_of(m, t); b++) {
            uint64_t h = mix(mix(id, k), b);
            for (uint32_t i = 0; i < op->n_inputs; i++) {
                if (op->inputs[i] == ARENAUT_NONE) continue;
                const bool element = k == 0 && by_element(op, i);
                const bool there = b < bytes_of(m, op->inputs[i]);
                h = mix(h, !element ? whole[i] : there ? value[i][b] : 0);
            }
            m->byte[m->at[t] + b] = h;
        }
    }
}

/* Ops that passes have added copy their last operand. */
static void run_added(machine *m, uint32_t at) {
    const arenaut_op *op = &m->program->ops[at];
    const bool copies = op->name && (strstr(op->name, "copy") || strstr(op->name, "write_back") ||
                                     strstr(op->name, "clone"));
    if (!copies || op->n_inputs == 0) {
        m->trace->cut = true;
        return;
    }
    const bool update = op->kind == ARENAUT_OP_IN_PLACE;
    copy(m, at, op->inputs[update ? 1 : 0], update ? op->inputs[0] : op->outputs[0]);
}

/* ---- paths ---- */

static bool chooses(machine *m, uint32_t at) {
    const arenaut_op *op = &m->program->ops[at];
    return mix(mix(m->path->seed, hash_text(op->source)), m->asked[at]++) % 2;
}

static uint32_t turns(machine *m, uint32_t at) {
    const arenaut_op *op = &m->program->ops[at];
    return (uint32_t)(mix(mix(m->path->seed, hash_text(op->source)), m->asked[at]++) % MOST_TURNS);
}

static void run_method(machine *m, uint32_t method);

static void fill_arguments(machine *m, uint32_t at, uint32_t method, uint32_t skip,
                           uint32_t carried, uint32_t turn) {
    const arenaut_op *op = &m->program->ops[at];
    const arenaut_method *called = &m->program->methods[method];
    for (uint32_t i = 0; i < called->n_inputs; i++) {
        const uint32_t from = i < carried               ? op->outputs[i]
                              : i + skip < op->n_inputs ? op->inputs[i + skip]
                                                        : ARENAUT_NONE;
        if (from != ARENAUT_NONE) copy(m, at, from, called->inputs[i]);
        else fill(m, called->inputs[i], mix(hash_text(op->source), turn));
    }
}

static void take_results(machine *m, uint32_t at, uint32_t method) {
    const arenaut_op *op = &m->program->ops[at];
    const arenaut_method *called = &m->program->methods[method];
    for (uint32_t i = 0; i < op->n_outputs && i < called->n_outputs; i++) {
        copy(m, at, called->outputs[i], op->outputs[i]);
    }
}

static void call(machine *m, uint32_t at, uint32_t method, uint32_t skip) {
    fill_arguments(m, at, method, skip, 0, 0);
    run_method(m, method);
    take_results(m, at, method);
}

static void carry(machine *m, uint32_t at, uint32_t n) {
    const arenaut_op *op = &m->program->ops[at];
    for (uint32_t i = 0; i < n; i++) copy(m, at, op->inputs[i], op->outputs[i]);
}

static void ask(machine *m, uint32_t at, uint32_t carried) {
    const arenaut_op *op = &m->program->ops[at];
    const arenaut_method *condition = &m->program->methods[op->calls[0]];
    fill_arguments(m, at, op->calls[0], 0, carried, 0);
    run_method(m, op->calls[0]);
    for (uint32_t i = 0; i < condition->n_outputs; i++) read_tensor(m, at, condition->outputs[i]);
}

static void run_while(machine *m, uint32_t at) {
    const arenaut_op *op = &m->program->ops[at];
    if (!m->path->late_carry) carry(m, at, op->n_outputs);
    ask(m, at, m->path->late_carry ? 0 : op->n_outputs);
    if (m->path->late_carry) carry(m, at, op->n_outputs);
    for (uint32_t left = turns(m, at); left > 0 && !m->trace->cut; left--) {
        fill_arguments(m, at, op->calls[1], 0, op->n_outputs, 0);
        run_method(m, op->calls[1]);
        take_results(m, at, op->calls[1]);
        ask(m, at, op->n_outputs);
    }
}

static void run_loop(machine *m, uint32_t at) {
    const arenaut_op *op = &m->program->ops[at];
    const arenaut_method *body = &m->program->methods[op->calls[0]];
    carry(m, at, op->target);
    for (uint32_t i = op->target; i < op->n_outputs; i++) {
        fill(m, op->outputs[i], mix(hash_text(op->source), 99));
    }
    for (uint32_t left = turns(m, at); left > 0 && !m->trace->cut; left--) {
        fill_arguments(m, at, op->calls[0], 0, op->target, left);
        run_method(m, op->calls[0]);
        take_results(m, at, op->calls[0]);
        for (uint32_t i = op->n_outputs; i < body->n_outputs; i++) {
            read_tensor(m, at, body->outputs[i]);
        }
    }
}

static void run_calling(machine *m, uint32_t at) {
    const arenaut_op *op = &m->program->ops[at];
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        if (op->inputs[i] != ARENAUT_NONE) read_tensor(m, at, op->inputs[i]);
    }
    switch (op->kind) {
        case ARENAUT_OP_IF: call(m, at, op->calls[chooses(m, at) ? 0 : 1], 1); break;
        case ARENAUT_OP_WHILE: run_while(m, at); break;
        case ARENAUT_OP_LOOP: run_loop(m, at); break;
        case ARENAUT_OP_CALL_ONCE:
            if (m->asked[at]++ == 0) call(m, at, op->calls[0], 0);
            break;
        default: call(m, at, op->calls[0], 0);
    }
}

/* An exit of a loop is taken at last: forward jumps always, backward ones no more. */
static bool jumps(machine *m, uint32_t at, uint32_t number) {
    const arenaut_op *op = &m->program->ops[at];
    if (op->kind == ARENAUT_OP_JUMP) return true;
    read_tensor(m, at, op->inputs[0]);
    if (m->asked[at] >= MOST_TURNS) return op->target > number;
    return chooses(m, at);
}

static void run_method(machine *m, uint32_t method) {
    const arenaut_method *called = &m->program->methods[method];
    for (uint32_t i = 0; i < called->n_ops && !m->trace->cut;) {
        const uint32_t at = called->first_op + i;
        const arenaut_op *op = &m->program->ops[at];
        if (m->steps++ > MOST_STEPS) m->trace->cut = true;
        bool away = false;
        switch (op->kind) {
            case ARENAUT_OP_VIEW: /* of the storage that its operand names now */
                m->at[op->outputs[0]] =
                    m->at[base_of(m, op->outputs[0])] + distance_of(m, op->outputs[0]);
                break;
            case ARENAUT_OP_ALLOC:
            case ARENAUT_OP_ALLOC_IN_PLACE:
            case ARENAUT_OP_FREE: break;
            case ARENAUT_OP_JUMP:
            case ARENAUT_OP_JUMP_FALSE: away = jumps(m, at, i); break;
            case ARENAUT_OP_MOVE: m->at[op->outputs[0]] = m->at[op->inputs[0]]; break;
            default:
                if (op->n_calls > 0) run_calling(m, at);
                else if (op->source && strncmp(op->source, "ew:", 3) == 0) run_kernel(m, at);
                else run_added(m, at);
        }
        i = away ? op->target : i + 1;
    }
}

/* ---- calls from outside ---- */

static void fill_inputs(machine *m, const arenaut_method *method, uint64_t call_id) {
    const uint32_t n = method->n_inputs, first = n ? (uint32_t)(call_id % n) : 0;
    for (uint32_t k = 0; k < n; k++) { /* in any order */
        const uint32_t i = (first + k) % n;
        fill(m, method->inputs[i], mix(call_id, i));
    }
}

/* The new values by a graph's signature, as long as no pass has made ops of it: all at once, from
 * the computed ones. */
static void bind_values(machine *m, const arenaut_method *method) {
    uint64_t value[MOST_INPUTS][MOST_BYTES];
    for (uint32_t i = 0; i < method->n_bindings; i++) {
        const uint32_t t = method->bindings[i].value;
        memcpy(value[i], m->byte + m->at[t], bytes_of(m, t) * sizeof **value);
    }
    for (uint32_t i = 0; i < method->n_bindings; i++) {
        const uint32_t t = method->bindings[i].target;
        if (method->bindings[i].kind != ARENAUT_BINDING_MUTATES) continue;
        memcpy(m->byte + m->at[t], value[i], bytes_of(m, t) * sizeof **value);
    }
}

static bool call_entry(machine *m, uint32_t entry, uint64_t call_id) {
    const arenaut_method *method = &m->program->methods[entry];
    memcpy(m->at, m->home, m->program->n_tensors * sizeof *m->at);
    if (!spoil_the_rest(m)) return false;
    fill_inputs(m, method, call_id);
    run_method(m, entry);
    for (uint32_t i = 0; i < method->n_outputs; i++) {
        m->trace->results =
            mix(m->trace->results, read_tensor(m, ARENAUT_NONE, method->outputs[i]));
    }
    for (uint32_t i = 0; i < method->n_inputs && m->path->keep_inputs; i++) {
        read_tensor(m, ARENAUT_NONE, method->inputs[i]);
    }
    bind_values(m, method);
    return true;
}

static bool run_calls(machine *m) {
    rng r = {m->path->seed};
    uint32_t entries[64], n = 0;
    for (uint32_t i = 0; i < m->program->n_methods && n < 64; i++) {
        if (m->program->methods[i].entry) entries[n++] = i;
    }
    memcpy(m->at, m->home, m->program->n_tensors * sizeof *m->at);
    fill_kept(m);
    for (uint32_t i = 0; i < m->path->n_calls && !m->trace->cut; i++) {
        const uint32_t entry = entries[rng_below(&r, n)];
        if (!call_entry(m, entry, rng_next(&r))) return false;
    }
    return true;
}

bool flow_run(const arenaut_program *program, const arenaut_placement *placement,
              const flow_path *path, flow_trace *trace) {
    machine m = {.program = program, .path = path, .trace = trace};
    trace->n_events = 0;
    trace->results = 0;
    trace->spoiled = trace->cut = false;
    const bool done = lay_out(&m, placement) && run_calls(&m);
    free(m.byte);
    free(m.home);
    free(m.at);
    free(m.asked);
    return done;
}

bool flow_same(const flow_trace *a, const flow_trace *b, uint32_t *at) {
    const uint32_t n = a->n_events < b->n_events ? a->n_events : b->n_events;
    for (*at = 0; *at < n; ++*at) {
        const flow_event *x = &a->event[*at], *y = &b->event[*at];
        if (x->op != y->op || x->read != y->read) return false;
    }
    return a->n_events == b->n_events;
}
