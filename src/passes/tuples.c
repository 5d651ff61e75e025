/* tuples: let bindings, tuples and their fields are resolved to their values.
 *
 * None of them has memory. A field, or a bound name, becomes a view of its value; an op or a method
 * that names a tuple names its fields instead. The ops that only name stay, so that the value of
 * each name stays known, but nothing happens in them. */
#include <inttypes.h>

#include <arenaut/pass.h>

#include "core/fail.h"
#include "core/memory.h"
#include "ir/store.h"

typedef struct tuples {
    arenaut_program *program;
    uint32_t *tuple_of; /* per tensor: the op that makes the tuple it stands for; NONE: no tuple */
    bool *defined;      /* per tensor: something has made it */
    bool any;
    arenaut_error *err;
} tuples;

static const char *name_of(const tuples *s, uint32_t tensor, char store[24]) {
    return arenaut_program_tensor_name(s->program, tensor, store);
}

static const char *op_name(const arenaut_op *op) { return op->name ? op->name : "op"; }

static bool only_names(arenaut_op_kind kind) {
    return kind == ARENAUT_OP_TUPLE || kind == ARENAUT_OP_FIELD || kind == ARENAUT_OP_LET;
}

static arenaut_status undefined(const tuples *s, const arenaut_op *op, uint32_t tensor) {
    char store[24];
    return arn_fail(s->err, ARENAUT_BAD_INPUT, 0,
                    "op '%.80s' names '%.80s', which nothing before it defines", op_name(op),
                    name_of(s, tensor, store));
}

/* A view is defined with its base. */
static bool is_defined(const tuples *s, uint32_t tensor) {
    const uint32_t storage = s->program->tensors[tensor].view_of;
    return s->defined[tensor] || (storage != ARENAUT_NONE && s->defined[storage]);
}

/* ---- the values of names ---- */

static arenaut_status visit_tuple(tuples *s, uint32_t at) {
    const arenaut_op *op = &s->program->ops[at];
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        if (s->tuple_of[op->inputs[i]] == ARENAUT_NONE) continue;
        char store[24];
        return arn_fail(s->err, ARENAUT_UNSUPPORTED, 0,
                        "op '%.80s': field %" PRIu32
                        ", '%.80s', is a tuple itself; each field must be one value",
                        op_name(op), i, name_of(s, op->inputs[i], store));
    }
    s->tuple_of[op->outputs[0]] = at;
    return ARENAUT_OK;
}

/* The tensor with the memory that a tensor lies in; *offset gets its distance from there. */
static uint32_t storage_of(const arenaut_program *p, uint32_t tensor, uint64_t *offset) {
    *offset = 0;
    while (p->tensors[tensor].view_of != ARENAUT_NONE) {
        *offset += p->tensors[tensor].view_offset;
        tensor = p->tensors[tensor].view_of;
    }
    return tensor;
}

/* Lets `name` lie where `value` lies. */
static arenaut_status stand_for(tuples *s, const arenaut_op *op, uint32_t name, uint32_t value) {
    arenaut_tensor *tensor = &s->program->tensors[name];
    const arenaut_tensor *source = &s->program->tensors[value];
    uint64_t offset;
    const uint32_t storage = storage_of(s->program, value, &offset);
    if (storage == name) {
        char store[24];
        return arn_fail(s->err, ARENAUT_BAD_INPUT, 0, "op '%.80s': '%.80s' would stand for itself",
                        op_name(op), name_of(s, name, store));
    }
    if (tensor->bytes > source->bytes) {
        char a[24], b[24];
        return arn_fail(
            s->err, ARENAUT_BAD_INPUT, 0,
            "op '%.60s': '%.60s' of %" PRIu64 " bytes cannot stand for '%.60s' of %" PRIu64,
            op_name(op), name_of(s, name, a), tensor->bytes, name_of(s, value, b), source->bytes);
    }
    tensor->view_of = storage;
    tensor->view_offset = offset;
    tensor->device = source->device;
    return ARENAUT_OK;
}

static arenaut_status visit_field(tuples *s, const arenaut_op *op) {
    const uint32_t maker = s->tuple_of[op->inputs[0]];
    char store[24];
    const char *tuple = name_of(s, op->inputs[0], store);
    if (maker == ARENAUT_NONE) {
        return arn_fail(s->err, ARENAUT_BAD_INPUT, 0,
                        "op '%.80s' takes field %" PRIu32 " of '%.80s', which is no tuple",
                        op_name(op), op->target, tuple);
    }
    const arenaut_op *made = &s->program->ops[maker];
    if (op->target >= made->n_inputs) {
        return arn_fail(s->err, ARENAUT_BAD_INPUT, 0,
                        "op '%.80s' takes field %" PRIu32 " of tuple '%.80s', which has %" PRIu32,
                        op_name(op), op->target, tuple, made->n_inputs);
    }
    return stand_for(s, op, op->outputs[0], made->inputs[op->target]);
}

static arenaut_status visit_let(tuples *s, const arenaut_op *op) {
    const uint32_t maker = s->tuple_of[op->inputs[0]];
    s->tuple_of[op->outputs[0]] = maker;
    return maker == ARENAUT_NONE ? stand_for(s, op, op->outputs[0], op->inputs[0]) : ARENAUT_OK;
}

/* ---- tuples among arguments ---- */

static uint32_t width(const tuples *s, uint32_t tensor) {
    const uint32_t maker = tensor == ARENAUT_NONE ? tensor : s->tuple_of[tensor];
    return maker == ARENAUT_NONE ? 1 : s->program->ops[maker].n_inputs;
}

/* The list with fields in place of tuples; NULL if there is no memory. */
static uint32_t *spread(tuples *s, const uint32_t *list, uint32_t n, uint32_t *n_spread) {
    uint64_t total = 0;
    for (uint32_t i = 0; i < n; i++) total += width(s, list[i]);
    if (total >= ARENAUT_NONE) return NULL;
    uint32_t *out = arenaut_program_alloc(s->program, (size_t)(total + 1) * sizeof *out), k = 0;
    for (uint32_t i = 0; i < n && out; i++) {
        const uint32_t maker = list[i] == ARENAUT_NONE ? list[i] : s->tuple_of[list[i]];
        const arenaut_op *made = maker == ARENAUT_NONE ? NULL : &s->program->ops[maker];
        for (uint32_t f = 0; f < width(s, list[i]); f++)
            out[k++] = made ? made->inputs[f] : list[i];
    }
    *n_spread = k;
    return out;
}

static bool names_a_tuple(const tuples *s, const uint32_t *list, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        if (list[i] != ARENAUT_NONE && s->tuple_of[list[i]] != ARENAUT_NONE) return true;
    }
    return false;
}

/* Positions of in-place pairs move along; of a tuple it is not said which field is meant. */
static arenaut_status move_pairs(tuples *s, arenaut_op *op) {
    arenaut_in_place *pairs =
        arenaut_program_alloc(s->program, (op->n_in_place + 1) * sizeof *pairs);
    if (!pairs) return arn_no_memory(s->err);
    for (uint32_t i = 0; i < op->n_in_place; i++) {
        pairs[i] = op->in_place[i];
        pairs[i].input = 0;
        for (uint32_t k = 0; k < op->in_place[i].input; k++)
            pairs[i].input += width(s, op->inputs[k]);
        if (s->tuple_of[op->inputs[op->in_place[i].input]] == ARENAUT_NONE) continue;
        return arn_fail(s->err, ARENAUT_BAD_INPUT, 0,
                        "op '%.80s' writes over its input %" PRIu32 ", which is a tuple",
                        op_name(op), op->in_place[i].input);
    }
    op->in_place = pairs;
    return ARENAUT_OK;
}

static arenaut_status spread_inputs(tuples *s, arenaut_op *op) {
    if (!names_a_tuple(s, op->inputs, op->n_inputs)) return ARENAUT_OK;
    const arenaut_status st = move_pairs(s, op);
    if (st != ARENAUT_OK) return st;
    uint32_t n;
    const uint32_t *inputs = spread(s, op->inputs, op->n_inputs, &n);
    if (!inputs) return arn_no_memory(s->err);
    op->inputs = inputs;
    op->n_overlaps = 0; /* which speak of positions; unused, they only cost memory */
    op->n_inputs = n;
    return ARENAUT_OK;
}

/* ---- the walk ---- */

static arenaut_status visit(tuples *s, uint32_t at) {
    arenaut_op *op = &s->program->ops[at];
    for (uint32_t i = 0; i < op->n_inputs && only_names(op->kind); i++) {
        if (!is_defined(s, op->inputs[i])) return undefined(s, op, op->inputs[i]);
    }
    arenaut_status st = ARENAUT_OK;
    if (op->kind == ARENAUT_OP_TUPLE) st = visit_tuple(s, at);
    else if (op->kind == ARENAUT_OP_FIELD) st = visit_field(s, op);
    else if (op->kind == ARENAUT_OP_LET) st = visit_let(s, op);
    else st = spread_inputs(s, op);
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        if (op->outputs[i] == ARENAUT_NONE) continue;
        if (only_names(op->kind) && s->defined[op->outputs[i]] && st == ARENAUT_OK) {
            char store[24];
            st = arn_fail(s->err, ARENAUT_BAD_INPUT, 0,
                          "op '%.80s' defines '%.80s', which is defined already", op_name(op),
                          name_of(s, op->outputs[i], store));
        }
        s->defined[op->outputs[i]] = true;
    }
    return st;
}

static arenaut_status visit_method(tuples *s, uint32_t m) {
    arenaut_method *method = &s->program->methods[m];
    arenaut_status st = ARENAUT_OK;
    for (uint32_t i = 0; i < method->n_inputs; i++) s->defined[method->inputs[i]] = true;
    for (uint32_t i = 0; i < method->n_ops && st == ARENAUT_OK; i++) {
        st = visit(s, method->first_op + i);
    }
    if (st != ARENAUT_OK || !names_a_tuple(s, method->outputs, method->n_outputs)) return st;
    uint32_t n;
    const uint32_t *outputs = spread(s, method->outputs, method->n_outputs, &n);
    if (!outputs) return arn_no_memory(s->err);
    method->outputs = outputs;
    method->n_outputs = n;
    return ARENAUT_OK;
}

/* Views of a name become views of the owner of its memory. */
static void find_storages(arenaut_program *p) {
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        uint64_t offset;
        const uint32_t storage = storage_of(p, t, &offset);
        if (storage == t) continue;
        p->tensors[t].view_of = storage;
        p->tensors[t].view_offset = offset;
    }
}

/* A tensor that no op makes is defined from the start. */
static void begin(tuples *s) {
    const arenaut_program *p = s->program;
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        const arenaut_tensor *tensor = &p->tensors[t];
        s->tuple_of[t] = ARENAUT_NONE;
        s->defined[t] = tensor->cls == ARENAUT_CONSTANT || tensor->cls == ARENAUT_STATE ||
                        tensor->qualified_name || tensor->caller_owned;
    }
}

static arenaut_status tuples_run(arenaut_program *p, const arenaut_pass_options *options,
                                 arenaut_error *err) {
    (void)options;
    tuples s = {.program = p, .err = err};
    for (uint32_t i = 0; i < p->n_ops; i++) s.any = s.any || only_names(p->ops[i].kind);
    if (!s.any) return ARENAUT_OK;
    const arenaut_allocator *allocator = arn_program_allocator(p);
    s.tuple_of = arn_allocate(allocator, p->n_tensors, sizeof *s.tuple_of);
    s.defined = arn_allocate(allocator, p->n_tensors, sizeof *s.defined);
    arenaut_status st = s.tuple_of && s.defined ? ARENAUT_OK : arn_no_memory(err);
    if (st == ARENAUT_OK) begin(&s);
    for (uint32_t m = 0; m < p->n_methods && st == ARENAUT_OK; m++) st = visit_method(&s, m);
    if (st == ARENAUT_OK) find_storages(p);
    ARN_RELEASE(allocator, s.tuple_of, s.defined);
    return st;
}

extern const arenaut_pass arn_pass_tuples;
const arenaut_pass arn_pass_tuples = {
    .name = "tuples",
    .summary = "resolves lets, tuples and fields to their values",
    .by_default = true,
    .run = tuples_run,
};
