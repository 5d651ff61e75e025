/* replay_mutations: versions of state (as in SSA form), held against the bindings of a functional
 * graph.
 *
 * In a functional graph the name of a state is its value when the call began, and all states get
 * their new values at once. The ops that passes make of it write one after another, so each write
 * makes another version of the memory. Walking the ops in order, every tensor is read at the
 * version that it was made with; and in the end each state has the version that its binding names.
 * The bytes that hold it are the replay's own matter. */
#include "check/replay/replay.h"

#include <inttypes.h>
#include <stdio.h>

#include <arenaut/dialect.h>

#include "check/finding.h"
#include "core/fail.h"
#include "core/memory.h"
#include "dialects/dialect.h"
#include "ir/program.h"

typedef struct mutations {
    arn_replay *r;
    const arenaut_dialect *dialect;
    const uint32_t *storage; /* per tensor */
    uint32_t *tracked;       /* per storage: how many bindings say that it is mutated */
    uint32_t *version;       /* per storage: writes so far */
    uint32_t *last;          /* per storage: the op of the latest write; ARENAUT_NONE */
    uint32_t *made;          /* per tensor: the version that it is the name of */
    uint32_t *copy_of;       /* per tensor: the one that its value was copied from; itself */
} mutations;

static bool is_mutated(const arenaut_binding *b) { return b->kind == ARENAUT_BINDING_MUTATED; }

static bool is_stale(const mutations *m, uint32_t tensor) {
    const uint32_t storage = m->storage[tensor];
    return m->tracked[storage] && m->made[tensor] != m->version[storage];
}

/* Operands of an update without results are where it writes: it may not read them. */
static bool is_destination(const arenaut_op *op, uint32_t input) {
    return op->kind == ARENAUT_OP_IN_PLACE && op->n_outputs == 0 && input == 0;
}

static arenaut_status reject(const mutations *m, uint32_t tensor, uint32_t at, const char *fault) {
    const arenaut_program *p = m->r->program;
    const arenaut_method *method = &p->methods[m->r->method];
    const uint32_t storage = m->storage[tensor], last = m->last[storage];
    arenaut_finding *f = m->r->finding;
    char store[24], by[80] = "nothing writes it";
    f->rule = ARENAUT_RULE_STALE;
    f->a = tensor;
    f->b = storage;
    f->op = at;
    f->method = m->r->method;
    if (last != ARENAUT_NONE) {
        snprintf(by, sizeof by, "op %" PRIu32 " '%.40s' writes it", last - method->first_op,
                 p->ops[last].name ? p->ops[last].name : "op");
    }
    return arn_check_reject(f, m->r->err, "%s of method '%.40s' %s '%.60s': %s",
                            at == ARENAUT_NONE ? "the end"
                            : p->ops[at].name  ? p->ops[at].name
                                               : "an op",
                            method->name ? method->name : "method", fault,
                            arenaut_program_tensor_name(p, tensor, store), by);
}

static arenaut_status read_inputs(const mutations *m, const arenaut_op *op, uint32_t at) {
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const uint32_t t = op->inputs[i];
        if (t == ARENAUT_NONE || is_destination(op, i) || !is_stale(m, t)) continue;
        return reject(m, t, at, "reads the new value by the name of the old one,");
    }
    return ARENAUT_OK;
}

static void write_to(const mutations *m, uint32_t tensor, uint32_t at) {
    const uint32_t storage = m->storage[tensor];
    if (!m->tracked[storage] || m->last[storage] == at) return;
    m->version[storage]++;
    m->last[storage] = at;
}

static void write_outputs(const mutations *m, const arenaut_op *op, uint32_t at) {
    if (op->kind == ARENAUT_OP_IN_PLACE && op->n_in_place == 0 && op->n_inputs > 0) {
        if (op->inputs[0] != ARENAUT_NONE) write_to(m, op->inputs[0], at);
    }
    for (uint32_t i = 0; i < op->n_in_place && op->kind == ARENAUT_OP_IN_PLACE; i++) {
        write_to(m, op->inputs[op->in_place[i].input], at);
    }
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        const uint32_t t = op->outputs[i];
        if (t == ARENAUT_NONE) continue;
        write_to(m, t, at);
        m->made[t] = m->version[m->storage[t]];
    }
}

/* Views name the version at which they are made. */
static void name_views(const mutations *m, const arenaut_op *op) {
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        const uint32_t t = op->outputs[i];
        if (t != ARENAUT_NONE) m->made[t] = m->version[m->storage[t]];
    }
}

/* A copy of the old value of a state has that value from then on. Ops that only copy are marked by
 * the dialect. */
static void note_copy(const mutations *m, const arenaut_op *op) {
    const arenaut_operator *known = arn_dialect_operator(m->dialect, op->name);
    if (!known || !(known->traits & ARENAUT_TRAIT_SAME_VALUE) || op->n_inputs == 0 ||
        op->n_outputs != 1)
        return;
    if (op->inputs[0] == ARENAUT_NONE || op->outputs[0] == ARENAUT_NONE) return;
    m->copy_of[op->outputs[0]] = m->copy_of[op->inputs[0]];
}

static arenaut_status walk(const mutations *m, const arenaut_method *method) {
    arenaut_status status = ARENAUT_OK;
    for (uint32_t i = 0; i < method->n_ops && status == ARENAUT_OK; i++) {
        const uint32_t at = method->first_op + i;
        const arenaut_op *op = &m->r->program->ops[at];
        if (!arn_op_kind_touches(op->kind)) continue;
        if (op->kind == ARENAUT_OP_VIEW) {
            name_views(m, op);
            continue;
        }
        status = read_inputs(m, op, at);
        note_copy(m, op);
        write_outputs(m, op, at);
    }
    for (uint32_t i = 0; i < method->n_outputs && status == ARENAUT_OK; i++) {
        if (!is_stale(m, method->outputs[i])) continue;
        status = reject(m, method->outputs[i], ARENAUT_NONE,
                        "returns the new value by the name of the old one,");
    }
    return status;
}

/* Whether the op's arguments are enough to have written the value to the state. */
static bool writes_value(const mutations *m, uint32_t at, uint32_t value) {
    const arenaut_op *op = &m->r->program->ops[at];
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        if (op->outputs[i] == value) return true;
    }
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const uint32_t t = op->inputs[i];
        if (t != ARENAUT_NONE && m->copy_of[t] == m->copy_of[value]) return true;
    }
    return false;
}

static bool has_its_value(const mutations *m, const arenaut_binding *b) {
    const uint32_t storage = m->storage[b->target], last = m->last[storage];
    if (m->storage[b->value] == storage && !is_stale(m, b->value)) return true;
    return last != ARENAUT_NONE && writes_value(m, last, b->value);
}

/* Of memory that several bindings are about, only the last write is known: that is left out. */
static arenaut_status check_end(const mutations *m, const arenaut_method *method) {
    for (uint32_t i = 0; i < method->n_bindings; i++) {
        const arenaut_binding *b = &method->bindings[i];
        if (!is_mutated(b) || m->tracked[m->storage[b->target]] > 1 || has_its_value(m, b))
            continue;
        return reject(m, b->target, ARENAUT_NONE, "does not leave its new value in");
    }
    return ARENAUT_OK;
}

static bool begin(mutations *m, arn_region *region, const arenaut_method *method) {
    const uint32_t n = m->r->program->n_tensors;
    if (!ARN_REGION_ARRAYS(region, ARN_ARRAY(m->tracked, n), ARN_ARRAY(m->version, n),
                           ARN_ARRAY(m->last, n), ARN_ARRAY(m->made, n),
                           ARN_ARRAY(m->copy_of, n))) {
        return false;
    }
    for (uint32_t t = 0; t < n; t++) {
        m->last[t] = ARENAUT_NONE;
        m->copy_of[t] = t;
    }
    for (uint32_t i = 0; i < method->n_bindings; i++) {
        if (is_mutated(&method->bindings[i])) m->tracked[m->storage[method->bindings[i].target]]++;
    }
    return true;
}

arenaut_status arn_replay_check_mutations(arn_replay *r, uint32_t method) {
    const arenaut_method *of = &r->program->methods[method];
    mutations m = {
        .r = r, .dialect = arenaut_dialect_find(r->program->dialect), .storage = r->places.storage};
    bool any = false;
    for (uint32_t i = 0; i < of->n_bindings; i++) any = any || is_mutated(&of->bindings[i]);
    if (!any) return ARENAUT_OK;
    r->method = method;
    r->op = ARENAUT_NONE;
    arn_region region;
    arn_region_init(&region, r->allocator);
    arenaut_status status = begin(&m, &region, of) ? ARENAUT_OK : arn_no_memory(r->err);
    if (status == ARENAUT_OK) status = walk(&m, of);
    if (status == ARENAUT_OK) status = check_end(&m, of);
    arn_region_free(&region);
    return status;
}
