/* Writes random programs, op by op, with the public calls. An author knows at every point the
 * tensors that hold a value on all paths to it, and hands out only these. */
#include "support/flow_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/program.h"
#include "support/random.h"

enum { MAX_KNOWN = 40, MAX_ARGUMENTS = 4, MAX_METHODS = 8 };

typedef struct author {
    rng *r;
    arenaut_program *program;
    uint32_t known[MAX_KNOWN], n_known; /* hold a value here */
    uint32_t first_callee, n_callees;   /* methods that may be called: those after this one */
    uint32_t method, n_written;
    uint32_t n_in[MAX_METHODS], n_out[MAX_METHODS];
    bool with_devices, functional;
} author;

static void must(arenaut_status st, const arenaut_error *err) {
    if (st == ARENAUT_OK) return;
    fprintf(stderr, "flow_program: %s: %s\n", arenaut_status_text(st), err->msg);
    abort();
}

/* ---- tensors ---- */

static void know(author *a, uint32_t tensor) {
    if (a->n_known < MAX_KNOWN) a->known[a->n_known++] = tensor;
}

static uint32_t any(author *a) { return a->known[rng_below(a->r, a->n_known)]; }

static uint64_t bytes_of(const author *a, uint32_t t) { return a->program->tensors[t].bytes; }

static uint32_t storage_of(const author *a, uint32_t t) {
    return arenaut_program_storage(a->program, t, NULL);
}

static uint32_t add_tensor(author *a, arenaut_tensor tensor) {
    arenaut_error err = {0};
    uint32_t id;
    char name[16];
    const int64_t dims[1] = {(int64_t)tensor.bytes};
    snprintf(name, sizeof name, "t%u", (unsigned)a->program->n_tensors);
    tensor.name = name;
    tensor.method = a->method;
    tensor.rank = 1;
    tensor.dims = dims;
    must(arenaut_program_add_tensor(a->program, &tensor, &id, &err), &err);
    return id;
}

static uint32_t tensor_of(author *a, uint64_t bytes, arenaut_class cls) {
    arenaut_tensor tensor = arenaut_tensor_default();
    tensor.bytes = bytes;
    tensor.cls = cls;
    if (a->with_devices && rng_once_in(a->r, 3)) tensor.device.type = 1;
    return add_tensor(a, tensor);
}

static uint32_t fresh(author *a, uint64_t bytes) {
    return tensor_of(a, bytes, ARENAUT_INTERMEDIATE);
}

static uint64_t random_bytes(author *a) { return 1 + rng_below(a->r, 4); }

/* Arguments and results of methods are of one size. */
enum { PASSED = 3 };

/* ---- ops ---- */

/* Fills in method and source. `elements`: the inputs read element by element, as digits. */
static void add_op(author *a, arenaut_op op, const char *elements) {
    arenaut_error err = {0};
    char source[32];
    snprintf(source, sizeof source, "ew:%s#%u", elements, (unsigned)a->program->n_ops);
    op.method = a->method;
    op.source = source;
    if (!op.name && op.n_calls) op.name = arn_op_kind_name(op.kind);
    if (!op.name) op.name = elements[0] == '0' ? "by_element" : "mix";
    must(arn_program_add_op(a->program, &op, NULL, &err), &err);
}

/* One op of an ordinary kernel, writing `out`. */
static void compute(author *a, uint32_t out) {
    const uint32_t in[2] = {any(a), any(a)};
    add_op(a,
           (arenaut_op){.kind = a->functional ? ARENAUT_OP_FUNCTIONAL : ARENAUT_OP_OUT,
                        .inputs = in,
                        .n_inputs = 1 + rng_below(a->r, 2),
                        .outputs = &out,
                        .n_outputs = 1},
           "");
}

/* A value of that size, made for the purpose. */
static uint32_t made(author *a, uint64_t bytes) {
    const uint32_t t = fresh(a, bytes);
    compute(a, t);
    return t;
}

/* Explicitly allocated, alone or in the memory of a tensor that dies here. */
static void allocate(author *a, uint32_t t) {
    if (rng_once_in(a->r, 6))
        add_op(a, (arenaut_op){.kind = ARENAUT_OP_ALLOC, .outputs = &t, .n_outputs = 1}, "");
}

static void write_kernel(author *a) {
    static const arenaut_op_kind kinds[] = {ARENAUT_OP_OUT, ARENAUT_OP_OUT, ARENAUT_OP_OUT,
                                            ARENAUT_OP_DELEGATE, ARENAUT_OP_MAKES};
    uint32_t in[3], out[2], scratch, n_pairs = 0;
    char digits[4] = "";
    arenaut_in_place pairs[3];
    const uint32_t n_in = 1 + rng_below(a->r, 3), n_out = 1 + rng_once_in(a->r, 4);
    for (uint32_t i = 0; i < n_in; i++) in[i] = any(a);
    arenaut_op op = {.kind = kinds[rng_below(a->r, 5)],
                     .inputs = in,
                     .n_inputs = n_in,
                     .outputs = out,
                     .n_outputs = n_out,
                     .in_place = pairs};
    const bool elementwise = op.kind == ARENAUT_OP_OUT && !rng_once_in(a->r, 3);
    out[0] = fresh(a, elementwise ? bytes_of(a, in[0]) : random_bytes(a));
    if (n_out > 1) out[1] = fresh(a, random_bytes(a));
    if (op.kind == ARENAUT_OP_OUT) allocate(a, out[0]);
    for (uint32_t i = 0; i < n_in && elementwise; i++) {
        if (bytes_of(a, in[i]) != bytes_of(a, out[0]) || rng_once_in(a->r, 4)) continue;
        digits[strlen(digits) + 1] = '\0';
        digits[strlen(digits)] = (char)('0' + i);
        if (!rng_once_in(a->r, 3)) pairs[n_pairs++] = (arenaut_in_place){0, i};
    }
    op.n_in_place = n_pairs;
    if (rng_once_in(a->r, 5)) {
        scratch = tensor_of(a, random_bytes(a), ARENAUT_SCRATCH);
        op.scratch = &scratch;
        op.n_scratch = 1;
    }
    add_op(a, op, digits);
    for (uint32_t i = 0; i < n_out; i++) know(a, out[i]);
}

/* An op whose result is declared to lie in its operand's place. */
static void write_in_place_allocation(author *a) {
    const uint32_t x = made(a, random_bytes(a)), y = fresh(a, bytes_of(a, x));
    a->program->tensors[y].device = a->program->tensors[x].device;
    add_op(a,
           (arenaut_op){.kind = ARENAUT_OP_ALLOC_IN_PLACE,
                        .inputs = &x,
                        .n_inputs = 1,
                        .outputs = &y,
                        .n_outputs = 1},
           "");
    const uint32_t in[2] = {x, any(a)};
    add_op(a,
           (arenaut_op){.inputs = in,
                        .n_inputs = storage_of(a, in[1]) == x ? 1 : 2,
                        .outputs = &y,
                        .n_outputs = 1},
           "0");
    know(a, y);
}

static bool is_moved_to(const author *a, uint32_t t) {
    for (uint32_t i = 0; i < a->program->n_ops; i++) {
        const arenaut_op *op = &a->program->ops[i];
        if (op->kind == ARENAUT_OP_MOVE && op->outputs[0] == t) return true;
    }
    return false;
}

static void write_view(author *a) {
    const uint32_t of = any(a), host = storage_of(a, of);
    if (is_moved_to(a, host)) return; /* the memory of a view of it is ambiguous */
    arenaut_tensor view = arenaut_tensor_default();
    view.view_of = host;
    view.view_offset = rng_below(a->r, (uint32_t)bytes_of(a, host));
    view.bytes = 1 + rng_below(a->r, (uint32_t)(bytes_of(a, host) - view.view_offset));
    view.device = a->program->tensors[host].device;
    view.cls = ARENAUT_INTERMEDIATE;
    const uint32_t id = add_tensor(a, view);
    add_op(a,
           (arenaut_op){.kind = ARENAUT_OP_VIEW,
                        .inputs = &host,
                        .n_inputs = 1,
                        .outputs = &id,
                        .n_outputs = 1},
           "");
    know(a, id);
}

/* Writes where something lies already; the other operand lies elsewhere. */
static void write_update(author *a) {
    const uint32_t in[2] = {any(a), any(a)};
    const arenaut_tensor *target = &a->program->tensors[storage_of(a, in[0])];
    const char *name = target->qualified_name;
    const char *other = a->program->tensors[storage_of(a, in[1])].qualified_name;
    if (target->cls == ARENAUT_CONSTANT || storage_of(a, in[0]) == storage_of(a, in[1])) return;
    if (name && other && strcmp(name, other) == 0) return;
    const arenaut_in_place pair = {0, 0};
    add_op(a,
           (arenaut_op){.kind = ARENAUT_OP_IN_PLACE,
                        .inputs = in,
                        .n_inputs = 2,
                        .outputs = in,
                        .n_outputs = 1,
                        .in_place = &pair,
                        .n_in_place = 1},
           "0");
}

/* ---- calls ---- */

static uint32_t callee(author *a) { return a->first_callee + rng_below(a->r, a->n_callees); }

/* A value of the size that is handed over: made for it, or any that happens to be so large. */
static uint32_t argument(author *a) {
    const uint32_t t = any(a);
    return bytes_of(a, t) == PASSED && rng_once_in(a->r, 2) ? t : made(a, PASSED);
}

static void finish_call(author *a, arenaut_op op, uint32_t *out) {
    for (uint32_t i = 0; i < op.n_outputs; i++) out[i] = fresh(a, PASSED);
    op.outputs = out;
    add_op(a, op, "");
    for (uint32_t i = 0; i < op.n_outputs; i++) know(a, out[i]);
}

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

/* Callees are written after their callers, but how much they take is settled before. */
static void write_call(author *a) {
    static const arenaut_op_kind kinds[] = {ARENAUT_OP_CALL,  ARENAUT_OP_IF,       ARENAUT_OP_IF,
                                            ARENAUT_OP_WHILE, ARENAUT_OP_WHILE,    ARENAUT_OP_LOOP,
                                            ARENAUT_OP_LOOP,  ARENAUT_OP_CALL_ONCE};
    if (a->n_callees == 0) return;
    const arenaut_op_kind kind = kinds[rng_below(a->r, 8)];
    const uint32_t calls[2] = {callee(a), callee(a)};
    const bool two = kind == ARENAUT_OP_IF || kind == ARENAUT_OP_WHILE;
    const uint32_t f = calls[0], g = calls[two ? 1 : 0], skip = kind == ARENAUT_OP_IF;
    uint32_t in[MAX_ARGUMENTS + 1], out[MAX_ARGUMENTS];
    arenaut_op op = {.kind = kind, .inputs = in, .calls = calls, .n_calls = two ? 2 : 1};
    op.n_inputs = skip + (a->n_in[f] > a->n_in[g] ? a->n_in[f] : a->n_in[g]);
    for (uint32_t i = 0; i < op.n_inputs; i++) in[i] = i < skip ? any(a) : argument(a);
    op.n_outputs = kind == ARENAUT_OP_IF ? least(a->n_out[f], a->n_out[g]) : a->n_out[g];
    if (kind == ARENAUT_OP_WHILE || kind == ARENAUT_OP_LOOP) {
        op.n_outputs = least(op.n_outputs, op.n_inputs);
    }
    if (kind == ARENAUT_OP_CALL_ONCE) op.n_outputs = 0;
    /* Of a loop's results some may be collected by the runtime rather than carried. */
    op.target = kind == ARENAUT_OP_LOOP ? op.n_outputs - rng_once_in(a->r, 3) : 0;
    if (kind == ARENAUT_OP_LOOP && rng_once_in(a->r, 3) && op.n_inputs > op.target) {
        in[op.n_inputs - 1] = ARENAUT_NONE; /* the number of the turn */
    }
    finish_call(a, op, out);
}

static void write_ops(author *a, uint32_t n) {
    static void (*const kinds[])(author *) = {
        write_kernel,
        write_kernel,
        write_kernel,
        write_kernel,
        write_view,
        write_update,
        write_in_place_allocation,
        write_call,
        write_call,
    };
    while (n-- > 0) kinds[rng_below(a->r, sizeof kinds / sizeof *kinds)](a);
}

/* ---- jumps ---- */

static void write_simple_ops(author *a, uint32_t n) {
    static void (*const kinds[])(author *) = {write_kernel, write_kernel, write_view, write_update};
    while (n-- > 0) kinds[rng_below(a->r, sizeof kinds / sizeof *kinds)](a);
}

/* The number that the next op of the method will have. */
static uint32_t here(const author *a) {
    return a->program->n_ops - a->program->methods[a->method].first_op;
}

static uint32_t jump(author *a, arenaut_op_kind kind, uint32_t target) {
    const uint32_t at = a->program->n_ops, condition = any(a);
    add_op(a,
           (arenaut_op){.kind = kind,
                        .inputs = &condition,
                        .n_inputs = kind == ARENAUT_OP_JUMP_FALSE,
                        .target = target},
           "");
    return at;
}

static void move(author *a, uint32_t from, uint32_t to) {
    add_op(a,
           (arenaut_op){.kind = ARENAUT_OP_MOVE,
                        .inputs = &from,
                        .n_inputs = 1,
                        .outputs = &to,
                        .n_outputs = 1},
           "");
}

/* One side of a branch gives `merged` its value: written there, or moved there. */
static void write_side(author *a, uint32_t merged) {
    const uint32_t before = a->n_known;
    write_simple_ops(a, rng_below(a->r, 3));
    if (rng_once_in(a->r, 2)) compute(a, merged);
    else move(a, made(a, PASSED), merged);
    a->n_known = before; /* holds on this side only */
}

static void write_branch(author *a) {
    const uint32_t merged = fresh(a, PASSED);
    const uint32_t away = jump(a, ARENAUT_OP_JUMP_FALSE, 0);
    write_side(a, merged);
    const uint32_t over = jump(a, ARENAUT_OP_JUMP, 0);
    a->program->ops[away].target = here(a);
    write_side(a, merged);
    a->program->ops[over].target = here(a);
    know(a, merged);
}

/* Carried values are written at the end of a turn, when the old value has no reader any more, in
 * place or by a move. */
static void write_turns(author *a) {
    const uint32_t carried = fresh(a, PASSED), next = fresh(a, PASSED);
    const bool moved = rng_once_in(a->r, 2), test_first = rng_once_in(a->r, 2);
    if (moved) move(a, made(a, PASSED), carried);
    else compute(a, carried);
    const uint32_t before = a->n_known, top = here(a);
    const uint32_t leave = test_first ? jump(a, ARENAUT_OP_JUMP_FALSE, 0) : 0;
    know(a, carried);
    write_simple_ops(a, rng_below(a->r, 3));
    a->n_known = before;
    const uint32_t value = fresh(a, PASSED), in[2] = {carried, any(a)};
    add_op(a, (arenaut_op){.inputs = in, .n_inputs = 2, .outputs = &value, .n_outputs = 1}, "");
    const uint32_t end = moved ? next : carried;
    add_op(a, (arenaut_op){.inputs = &value, .n_inputs = 1, .outputs = &end, .n_outputs = 1}, "0");
    if (moved) move(a, next, carried);
    jump(a, test_first ? ARENAUT_OP_JUMP : ARENAUT_OP_JUMP_FALSE, top);
    if (test_first) a->program->ops[leave].target = here(a);
    know(a, carried);
}

static void write_flow(author *a) {
    for (uint32_t n = 1 + rng_below(a->r, 3); n > 0; n--) {
        write_simple_ops(a, rng_below(a->r, 3));
        if (rng_once_in(a->r, 2)) write_branch(a);
        else write_turns(a);
    }
    write_simple_ops(a, 1 + rng_below(a->r, 2));
}

/* ---- methods ---- */

static void add_kept(author *a) {
    if (rng_once_in(a->r, 3)) know(a, tensor_of(a, PASSED, ARENAUT_STATE));
    if (rng_once_in(a->r, 6)) know(a, tensor_of(a, PASSED, ARENAUT_CONSTANT));
    if (rng_once_in(a->r, 3)) {
        arenaut_tensor shared = arenaut_tensor_default();
        shared.qualified_name = "kv.cache";
        shared.cls = ARENAUT_STATE;
        shared.bytes = 4;
        know(a, add_tensor(a, shared));
    }
}

static void begin_method(author *a, uint32_t m, bool entry) {
    arenaut_error err = {0};
    char name[16];
    snprintf(name, sizeof name, entry ? "entry%u" : "sub%u", (unsigned)m);
    must(arn_program_add_method(a->program, name, entry, &a->method, &err), &err);
    a->program->methods[a->method].outer = ARENAUT_NONE;
    a->n_known = 0;
}

static void write_method(author *a, uint32_t m, bool entry, bool jumps) {
    uint32_t in[MAX_ARGUMENTS], out[MAX_ARGUMENTS];
    arenaut_error err = {0};
    begin_method(a, m, entry);
    for (uint32_t i = 0; i < a->n_in[m]; i++) know(a, in[i] = fresh(a, PASSED));
    add_kept(a);
    if (jumps) write_flow(a);
    else write_ops(a, 1 + rng_below(a->r, 6));
    for (uint32_t i = 0; i < a->n_out[m]; i++) out[i] = jumps ? made(a, PASSED) : argument(a);
    must(arenaut_program_set_method_io(a->program, m, in, a->n_in[m], out, a->n_out[m], &err),
         &err);
}

/* Entries first, then their callees: each method calls later ones. */
static void write_methods(author *a) {
    const bool jumps = rng_once_in(a->r, 4);
    const uint32_t n_entries = 1 + rng_below(a->r, 2);
    const uint32_t n = n_entries + (jumps ? 0 : rng_below(a->r, 4));
    for (uint32_t m = 0; m < n; m++) {
        a->n_in[m] = 1 + rng_below(a->r, 3);
        a->n_out[m] = 1 + rng_below(a->r, 2);
    }
    for (uint32_t m = 0; m < n; m++) {
        a->first_callee = m < n_entries ? n_entries : m + 1;
        a->n_callees = n - a->first_callee;
        write_method(a, m, m < n_entries, jumps);
    }
}

/* ---- graphs before lowering ---- */

static void write_functional_op(author *a) {
    static const struct {
        const char *name, *elements;
    } kernels[] = {{"aten::add.Tensor", "01"},
                   {"aten::relu", "0"},
                   {"aten::slice_scatter", "0"},
                   {"aten::index_put", "0"},
                   {"custom::mix", ""}};
    const size_t k = rng_below(a->r, 5);
    const uint32_t in[2] = {any(a), any(a)}, out = fresh(a, PASSED);
    add_op(a,
           (arenaut_op){.name = kernels[k].name,
                        .kind = ARENAUT_OP_FUNCTIONAL,
                        .inputs = in,
                        .n_inputs = k == 1 ? 1 : 2,
                        .outputs = &out,
                        .n_outputs = 1},
           kernels[k].elements);
    know(a, out);
}

/* One method over states, of which some get new values: of an op, of another state, of an
 * input. */
static void write_graph(author *a) {
    uint32_t in[2], state[3], out[2];
    arenaut_binding bindings[3];
    arenaut_error err = {0};
    a->functional = true;
    must(arn_program_set_dialect(a->program, "aten", &err), &err);
    begin_method(a, 0, true);
    for (uint32_t i = 0; i < 2; i++) know(a, in[i] = tensor_of(a, PASSED, ARENAUT_INPUT));
    const uint32_t n_states = 1 + rng_below(a->r, 3);
    for (uint32_t i = 0; i < n_states; i++) know(a, state[i] = tensor_of(a, PASSED, ARENAUT_STATE));
    for (uint32_t n = 1 + rng_below(a->r, 5); n > 0; n--) write_functional_op(a);
    for (uint32_t i = 0; i < 2; i++) out[i] = any(a);
    const uint32_t n_out = 1 + rng_below(a->r, 2), n_bound = rng_below(a->r, n_states + 1);
    for (uint32_t i = 0; i < n_bound; i++) {
        bindings[i] = (arenaut_binding){ARENAUT_BINDING_MUTATES, any(a), state[i]};
        if (bindings[i].value == state[i]) bindings[i].value = a->known[a->n_known - 1];
    }
    must(arenaut_program_set_method_io(a->program, 0, in, 2, out, n_out, &err), &err);
    must(arn_program_set_bindings(a->program, 0, bindings, n_bound, &err), &err);
}

arenaut_program *flow_program(uint64_t seed) {
    rng r = {seed * 2 + 1};
    arenaut_error err = {0};
    author a = {.r = &r, .with_devices = rng_once_in(&r, 8)};
    must(arn_program_new(NULL, &a.program, &err), &err);
    if (rng_once_in(&r, 4)) write_graph(&a);
    else write_methods(&a);
    must(arn_program_validate(a.program, &err), &err);
    return a.program;
}
