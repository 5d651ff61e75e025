/* Validation of a program as a whole: every id exists and may be used by its method, views lie in
 * their bases, kinds of ops have the arguments that they need, and calls form no circle. Readers
 * and passes rely on it. O(tensors + ops + arguments). */
#include <inttypes.h>
#include <string.h>

#include <arenaut/program.h>

#include "core/checked.h"
#include "core/fail.h"
#include "core/memory.h"
#include "core/sort.h"
#include "ir/program.h"
#include "ir/shared_state.h"
#include "ir/store.h"

static const char *tensor_name(const arenaut_program *p, uint32_t t, char store[24]) {
    return arenaut_program_tensor_name(p, t, store);
}

static arenaut_status bad_tensor(const arenaut_program *p, uint32_t t, arenaut_error *err,
                                 const char *what) {
    char store[24];
    return arn_fail(err, ARENAUT_BAD_INPUT, 0, "tensor '%s': %s", tensor_name(p, t, store), what);
}

static arenaut_status check_view(const arenaut_program *p, uint32_t t, arenaut_error *err) {
    const arenaut_tensor *tensor = &p->tensors[t];
    if (tensor->view_of == ARENAUT_NONE) return ARENAUT_OK;
    if (tensor->view_of >= p->n_tensors || tensor->view_of == t) {
        return bad_tensor(p, t, err, "is a view of a tensor that does not exist, or of itself");
    }
    const arenaut_tensor *storage = &p->tensors[tensor->view_of];
    uint64_t end;
    char a[24], b[24];
    if (storage->view_of != ARENAUT_NONE) {
        return arn_fail(err, ARENAUT_BAD_INPUT, 0,
                        "tensor '%s' is a view of '%s', which is a view itself; views name the "
                        "tensor that owns the storage",
                        tensor_name(p, t, a), tensor_name(p, tensor->view_of, b));
    }
    if (tensor->device.type != storage->device.type ||
        tensor->device.index != storage->device.index) {
        return arn_fail(
            err, ARENAUT_BAD_INPUT, 0,
            "tensor '%s' of device %u.%u is a view of '%s' of device %u.%u; a view lies "
            "where its storage does",
            tensor_name(p, t, a), (unsigned)tensor->device.type, (unsigned)tensor->device.index,
            tensor_name(p, tensor->view_of, b), (unsigned)storage->device.type,
            (unsigned)storage->device.index);
    }
    if (!arn_add(tensor->view_offset, tensor->bytes, &end) || end > storage->bytes) {
        return arn_fail(err, ARENAUT_BAD_INPUT, 0,
                        "tensor '%s' of %" PRIu64 " bytes at %" PRIu64
                        " does not lie inside '%s' of %" PRIu64 " bytes",
                        tensor_name(p, t, a), tensor->bytes, tensor->view_offset,
                        tensor_name(p, tensor->view_of, b), storage->bytes);
    }
    return ARENAUT_OK;
}

static arenaut_status check_tensor(const arenaut_program *p, uint32_t t, arenaut_error *err) {
    const arenaut_tensor *tensor = &p->tensors[t];
    if ((unsigned)tensor->dtype >= ARENAUT_DTYPE_COUNT)
        return bad_tensor(p, t, err, "unknown type");
    if ((unsigned)tensor->cls >= ARENAUT_CLASS_COUNT) return bad_tensor(p, t, err, "unknown class");
    if (tensor->bytes > ARENAUT_SIZE_MAX)
        return bad_tensor(p, t, err, "larger than 2^63 - 1 bytes");
    if (tensor->align != 0 && !arn_is_power_of_two(tensor->align)) {
        return bad_tensor(p, t, err, "its alignment is not a power of two");
    }
    if (tensor->method != ARENAUT_NONE && tensor->method >= p->n_methods) {
        return bad_tensor(p, t, err, "belongs to a method that does not exist");
    }
    return check_view(p, t, err);
}

/* The tensors that the present method may name besides its own: operands of the one op that calls
 * it, if it has an outer method. */
typedef struct scope {
    uint32_t *caller;  /* per method: the op that calls it; NONE: no op, MANY: several */
    uint32_t *visible; /* per tensor: the latest method + 1 that may name it */
} scope;

#define MANY (ARENAUT_NONE - 1)

static bool scope_make(const arenaut_program *p, scope *s) {
    const arenaut_allocator *allocator = arn_program_allocator(p);
    s->caller = arn_allocate(allocator, p->n_methods, sizeof *s->caller);
    s->visible = arn_allocate_zeroed(allocator, p->n_tensors, sizeof *s->visible);
    if (!s->caller || !s->visible) return false;
    for (uint32_t m = 0; m < p->n_methods; m++) s->caller[m] = ARENAUT_NONE;
    for (uint32_t i = 0; i < p->n_ops; i++) {
        for (uint32_t k = 0; k < p->ops[i].n_calls; k++) {
            const uint32_t callee = p->ops[i].calls[k];
            if (callee >= p->n_methods || s->caller[callee] == i) continue;
            s->caller[callee] = s->caller[callee] == ARENAUT_NONE ? i : MANY;
        }
    }
    return true;
}

static void scope_free(const arenaut_program *p, const scope *s) {
    ARN_RELEASE(arn_program_allocator(p), s->caller, s->visible);
}

/* The caller's list is checked with the caller, so no chain has to be followed. A method with a
 * view has its base's memory. */
static arenaut_status enter_scope(const arenaut_program *p, const scope *s, uint32_t m,
                                  arenaut_error *err) {
    const arenaut_method *method = &p->methods[m];
    if (method->outer == ARENAUT_NONE || s->caller[m] == ARENAUT_NONE) return ARENAUT_OK;
    const arenaut_op *caller = s->caller[m] == MANY ? NULL : &p->ops[s->caller[m]];
    if (!caller || caller->method != method->outer) {
        return arn_fail(err, ARENAUT_BAD_INPUT, 0,
                        "method '%s' has an outer method, so exactly one op must call it, of that "
                        "method",
                        method->name ? method->name : "method");
    }
    for (uint32_t i = 0; i < caller->n_inputs; i++) {
        const uint32_t t = caller->inputs[i];
        if (t >= p->n_tensors) continue;
        const uint32_t storage = arenaut_program_storage(p, t, NULL);
        s->visible[t] = m + 1;
        if (storage < p->n_tensors) s->visible[storage] = m + 1;
    }
    return ARENAUT_OK;
}

/* Tensors that an op or a method lists. */
typedef struct id_list {
    const uint32_t *ids;
    uint32_t count;
    bool optional;           /* entries may be ARENAUT_NONE */
    const char *kind, *name; /* "input", and the name of the op or method, for messages */
} id_list;

/* A tensor of one method may not be an argument in another, unless it is captured. */
static arenaut_status check_ids(const arenaut_program *p, const scope *s, uint32_t method,
                                id_list list, arenaut_error *err) {
    for (uint32_t i = 0; i < list.count; i++) {
        const uint32_t t = list.ids[i];
        if (list.optional && t == ARENAUT_NONE) continue;
        if (t >= p->n_tensors) {
            return arn_fail(err, ARENAUT_BAD_INPUT, 0,
                            "'%s': %s %" PRIu32 " is tensor %" PRIu32 "; there are %" PRIu32,
                            list.name, list.kind, i, t, p->n_tensors);
        }
        const uint32_t home = p->tensors[t].method;
        if (home != ARENAUT_NONE && home != method && s->visible[t] != method + 1) {
            char store[24];
            return arn_fail(err, ARENAUT_BAD_INPUT, 0,
                            "'%s' of method %" PRIu32 ": %s %" PRIu32
                            " is tensor '%s', which belongs to method %" PRIu32,
                            list.name, method, list.kind, i, tensor_name(p, t, store), home);
        }
    }
    return ARENAUT_OK;
}

static uint32_t calls_expected(arenaut_op_kind kind) {
    switch (kind) {
        case ARENAUT_OP_IF:
        case ARENAUT_OP_WHILE: return 2;
        case ARENAUT_OP_LOOP:
        case ARENAUT_OP_CALL:
        case ARENAUT_OP_CALL_ONCE: return 1;
        default: return 0;
    }
}

static arenaut_status check_calls(const arenaut_program *p, const arenaut_op *op, const char *name,
                                  arenaut_error *err) {
    if (op->n_calls != calls_expected(op->kind)) {
        return arn_fail(err, ARENAUT_BAD_INPUT, 0,
                        "op '%s' of kind '%s' calls %" PRIu32 " methods; it must call %" PRIu32,
                        name, arn_op_kind_name(op->kind), op->n_calls, calls_expected(op->kind));
    }
    for (uint32_t i = 0; i < op->n_calls; i++) {
        if (op->calls[i] >= p->n_methods) {
            return arn_fail(err, ARENAUT_BAD_INPUT, 0,
                            "op '%s' calls method %" PRIu32 "; there are %" PRIu32, name,
                            op->calls[i], p->n_methods);
        }
    }
    return ARENAUT_OK;
}

static arenaut_status check_flow(const arenaut_program *p, const arenaut_op *op, const char *name,
                                 arenaut_error *err) {
    const bool jump = op->kind == ARENAUT_OP_JUMP || op->kind == ARENAUT_OP_JUMP_FALSE;
    if (jump && op->target > p->methods[op->method].n_ops) {
        return arn_fail(err, ARENAUT_BAD_INPUT, 0,
                        "op '%s' jumps to op %" PRIu32 " of its method, which has %" PRIu32, name,
                        op->target, p->methods[op->method].n_ops);
    }
    if (op->kind == ARENAUT_OP_LOOP && (op->target > op->n_inputs || op->target > op->n_outputs)) {
        return arn_fail(err, ARENAUT_BAD_INPUT, 0,
                        "loop '%s' carries %" PRIu32 " values, and has %" PRIu32
                        " inputs and %" PRIu32 " outputs",
                        name, op->target, op->n_inputs, op->n_outputs);
    }
    if (op->kind == ARENAUT_OP_FREE && op->n_outputs > 0) {
        return arn_fail(err, ARENAUT_BAD_INPUT, 0,
                        "op '%s' frees, and has %" PRIu32 " outputs; it must have none", name,
                        op->n_outputs);
    }
    if (op->kind != ARENAUT_OP_MOVE) return ARENAUT_OK;
    if (op->n_inputs != 1 || op->n_outputs != 1 || op->inputs[0] == ARENAUT_NONE ||
        op->outputs[0] == ARENAUT_NONE) {
        return arn_fail(err, ARENAUT_BAD_INPUT, 0,
                        "op '%s' moves %" PRIu32 " tensors to %" PRIu32 "; it must move one to one",
                        name, op->n_inputs, op->n_outputs);
    }
    return ARENAUT_OK;
}

/* An op that only names values names one of them, and a tuple has no holes. */
static arenaut_status check_naming(const arenaut_op *op, const char *name, arenaut_error *err) {
    const bool tuple = op->kind == ARENAUT_OP_TUPLE;
    if (!tuple && op->kind != ARENAUT_OP_FIELD && op->kind != ARENAUT_OP_LET) return ARENAUT_OK;
    bool whole =
        op->n_outputs == 1 && op->outputs[0] != ARENAUT_NONE && (tuple || op->n_inputs == 1);
    for (uint32_t i = 0; i < op->n_inputs; i++) whole = whole && op->inputs[i] != ARENAUT_NONE;
    if (whole) return ARENAUT_OK;
    return arn_fail(err, ARENAUT_BAD_INPUT, 0,
                    "op '%s' of kind '%s' has %" PRIu32 " inputs and %" PRIu32
                    " outputs; it must have %s and one output, none left out",
                    name, arn_op_kind_name(op->kind), op->n_inputs, op->n_outputs,
                    tuple ? "any number of inputs" : "one input");
}

/* alloc([spec, …]) and alloc_in_place(base, [spec, …]). */
static arenaut_status check_alloc(const arenaut_op *op, const char *name, arenaut_error *err) {
    const bool in_place = op->kind == ARENAUT_OP_ALLOC_IN_PLACE;
    if (!in_place && op->kind != ARENAUT_OP_ALLOC) return ARENAUT_OK;
    bool whole = op->n_outputs > 0;
    if (in_place) whole = whole && op->n_inputs == 1 && op->inputs[0] != ARENAUT_NONE;
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        whole = whole && op->outputs[i] != ARENAUT_NONE;
        if (in_place && whole) whole = op->outputs[i] != op->inputs[0];
    }
    if (whole) return ARENAUT_OK;
    return arn_fail(err, ARENAUT_BAD_INPUT, 0,
                    "op '%s' of kind '%s' has %" PRIu32 " inputs and %" PRIu32
                    " outputs; it must have %sat least one output, none left out%s",
                    name, arn_op_kind_name(op->kind), op->n_inputs, op->n_outputs,
                    in_place ? "one input, the base, and " : "", in_place ? " or the base" : "");
}

/* The order of the ops is one in which they can run. */
static arenaut_status check_after(const arenaut_program *p, const arenaut_op *op, const char *name,
                                  arenaut_error *err) {
    const uint32_t at = (uint32_t)(op - p->ops) - p->methods[op->method].first_op;
    for (uint32_t i = 0; i < op->n_after; i++) {
        if (op->after[i] < at) continue;
        return arn_fail(err, ARENAUT_BAD_INPUT, 0,
                        "op '%s', number %" PRIu32 " of its method, depends on op %" PRIu32
                        "; it can depend on earlier ops only",
                        name, at, op->after[i]);
    }
    return ARENAUT_OK;
}

static arenaut_status check_overlaps(const arenaut_op *op, const char *name, arenaut_error *err) {
    for (uint32_t i = 0; i < op->n_overlaps; i++) {
        const arenaut_overlap *pair = &op->overlaps[i];
        if (pair->output >= op->n_outputs || pair->input >= op->n_inputs ||
            op->outputs[pair->output] == ARENAUT_NONE || op->inputs[pair->input] == ARENAUT_NONE) {
            return arn_fail(err, ARENAUT_BAD_INPUT, 0,
                            "op '%s': overlap (output %" PRIu32 ", input %" PRIu32
                            ") names an argument that it does not have",
                            name, pair->output, pair->input);
        }
        if (pair->distance == INT64_MIN) {
            return arn_fail(err, ARENAUT_TOO_LARGE, 0,
                            "op '%s': the distance of an overlap is below -(2^63 - 1)", name);
        }
        for (uint32_t k = 0; k < i; k++) {
            if (op->overlaps[k].output != pair->output || op->overlaps[k].input != pair->input) {
                continue;
            }
            return arn_fail(err, ARENAUT_BAD_INPUT, 0,
                            "op '%s': overlap (output %" PRIu32 ", input %" PRIu32
                            ") is stated twice",
                            name, pair->output, pair->input);
        }
    }
    return ARENAUT_OK;
}

static arenaut_status check_op(const arenaut_program *p, const scope *s, const arenaut_op *op,
                               arenaut_error *err) {
    const char *name = op->name ? op->name : "op";
    if ((unsigned)op->kind >= ARENAUT_OP_KIND_COUNT) {
        return arn_fail(err, ARENAUT_BAD_INPUT, 0, "op '%s': unknown kind", name);
    }
    const id_list lists[] = {{op->inputs, op->n_inputs, true, "input", name},
                             {op->outputs, op->n_outputs, true, "output", name},
                             {op->scratch, op->n_scratch, false, "scratch", name}};
    arenaut_status st = ARENAUT_OK;
    for (int i = 0; i < 3 && st == ARENAUT_OK; i++) st = check_ids(p, s, op->method, lists[i], err);
    if (st == ARENAUT_OK) st = check_calls(p, op, name, err);
    if (st == ARENAUT_OK) st = check_flow(p, op, name, err);
    if (st == ARENAUT_OK) st = check_naming(op, name, err);
    if (st == ARENAUT_OK) st = check_alloc(op, name, err);
    if (st == ARENAUT_OK) st = check_after(p, op, name, err);
    if (st == ARENAUT_OK) st = check_overlaps(op, name, err);
    for (uint32_t i = 0; i < op->n_in_place && st == ARENAUT_OK; i++) {
        const arenaut_in_place pair = op->in_place[i];
        if (pair.output >= op->n_outputs || pair.input >= op->n_inputs ||
            op->outputs[pair.output] == ARENAUT_NONE || op->inputs[pair.input] == ARENAUT_NONE) {
            st = arn_fail(err, ARENAUT_BAD_INPUT, 0,
                          "op '%s': in-place pair (output %" PRIu32 ", input %" PRIu32
                          ") names an argument that it does not have",
                          name, pair.output, pair.input);
        }
    }
    return st;
}

static arenaut_status check_bindings(const arenaut_program *p, const arenaut_method *method,
                                     const char *name, arenaut_error *err) {
    for (uint32_t i = 0; i < method->n_bindings; i++) {
        const arenaut_binding *b = &method->bindings[i];
        const bool targeted = b->kind != ARENAUT_BINDING_LOSS;
        if ((unsigned)b->kind < ARENAUT_BINDING_COUNT && b->value < p->n_tensors &&
            (targeted ? b->target < p->n_tensors : b->target == ARENAUT_NONE)) {
            continue;
        }
        return arn_fail(err, ARENAUT_BAD_INPUT, 0,
                        "method '%s': binding %" PRIu32
                        " is of an unknown kind, or names tensors "
                        "that do not exist",
                        name, i);
    }
    return ARENAUT_OK;
}

static arenaut_status check_method(const arenaut_program *p, const scope *s, uint32_t m,
                                   uint32_t *next_op, arenaut_error *err) {
    const arenaut_method *method = &p->methods[m];
    const char *name = method->name ? method->name : "method";
    if (method->first_op != *next_op || method->n_ops > p->n_ops - method->first_op) {
        return arn_fail(err, ARENAUT_BAD_INPUT, 0,
                        "method '%s': its ops are not the next ones after the method before", name);
    }
    *next_op += method->n_ops;
    for (uint32_t i = 0; i < method->n_ops; i++) {
        if (p->ops[method->first_op + i].method != m) {
            return arn_fail(err, ARENAUT_BAD_INPUT, 0,
                            "method '%s': op %" PRIu32 " says it belongs to another", name, i);
        }
    }
    if (method->outer != ARENAUT_NONE && (method->outer >= p->n_methods || method->outer == m)) {
        return arn_fail(err, ARENAUT_BAD_INPUT, 0,
                        "method '%s': its outer method does not exist, or is itself", name);
    }
    arenaut_status st = enter_scope(p, s, m, err);
    if (st == ARENAUT_OK) st = check_bindings(p, method, name, err);
    const id_list inputs = {method->inputs, method->n_inputs, false, "method input", name};
    const id_list outputs = {method->outputs, method->n_outputs, false, "method output", name};
    if (st == ARENAUT_OK) st = check_ids(p, s, m, inputs, err);
    return st == ARENAUT_OK ? check_ids(p, s, m, outputs, err) : st;
}

/* A scratch tensor is one op's own: it has class scratch and appears in one list. */
static arenaut_status check_scratch(const arenaut_program *p, uint8_t *seen, arenaut_error *err) {
    for (uint32_t i = 0; i < p->n_ops; i++) {
        for (uint32_t k = 0; k < p->ops[i].n_scratch; k++) {
            const uint32_t t = p->ops[i].scratch[k];
            if (p->tensors[t].cls != ARENAUT_SCRATCH) {
                return bad_tensor(p, t, err, "is an op's scratch but not of class scratch");
            }
            if (seen[t]++) return bad_tensor(p, t, err, "is scratch of two ops");
        }
    }
    return ARENAUT_OK;
}

/* Depth-first over calls without recursion: `state` is 0 new, 1 on the path, 2 done. `path`
 * and `next` hold, per level, the method and the op to look at next in it. */
static arenaut_status check_recursion(const arenaut_program *p, uint8_t *state, uint32_t *path,
                                      uint32_t *next, arenaut_error *err) {
    for (uint32_t root = 0; root < p->n_methods; root++) {
        if (state[root]) continue;
        uint32_t depth = 0;
        path[0] = root;
        next[0] = 0;
        state[root] = 1;
        while (depth != ARENAUT_NONE) {
            const arenaut_method *method = &p->methods[path[depth]];
            /* `next` counts (op, call) pairs, two a step, since no op calls more. */
            const uint32_t at = next[depth]++;
            if (at >= 2 * method->n_ops) {
                state[path[depth--]] = 2;
                continue;
            }
            const arenaut_op *op = &p->ops[method->first_op + at / 2];
            if (at % 2 >= op->n_calls) continue;
            const uint32_t callee = op->calls[at % 2];
            if (state[callee] == 1) {
                return arn_fail(err, ARENAUT_BAD_INPUT, 0,
                                "op '%s' of method %" PRIu32 " calls method %" PRIu32
                                ", which is running already: recursion is not allowed",
                                op->name ? op->name : "op", path[depth], callee);
            }
            if (state[callee] == 0) {
                state[callee] = 1;
                path[++depth] = callee;
                next[depth] = 0;
            }
        }
    }
    return ARENAUT_OK;
}

static bool qualified_before(const void *context, uint32_t a, uint32_t b) {
    const arenaut_program *p = context;
    return strcmp(p->tensors[a].qualified_name, p->tensors[b].qualified_name) < 0;
}

/* State that several methods name alike must be the same thing in each. Where the file places it in
 * a memory of each, it may be a thing for each of them: lowering compares what it takes for one. */
static arenaut_status check_shared(const arenaut_program *p, uint32_t *ids, uint32_t *scratch,
                                   arenaut_error *err) {
    uint32_t n = 0;
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        if (p->tensors[t].qualified_name) ids[n++] = t;
    }
    arn_sort_ids(ids, n, qualified_before, p, scratch);
    for (uint32_t i = 1; i < n; i++) {
        const arenaut_tensor *a = &p->tensors[ids[i - 1]], *b = &p->tensors[ids[i]];
        if (strcmp(a->qualified_name, b->qualified_name) != 0) continue;
        const bool placed = a->given_pool != ARENAUT_NONE && b->given_pool != ARENAUT_NONE;
        if (placed && a->method != b->method) continue;
        const arenaut_status st = arn_shared_state_check(p, ids[i - 1], ids[i], err);
        if (st != ARENAUT_OK) return st;
    }
    return ARENAUT_OK;
}

/* The checks that need marks or an order, over parts that are valid by themselves. */
static arenaut_status check_graph(const arenaut_program *p, arenaut_error *err) {
    const arenaut_allocator *allocator = arn_program_allocator(p);
    uint8_t *marks = arn_allocate_zeroed(allocator, (size_t)p->n_tensors + p->n_methods, 1);
    uint32_t *ids = arn_allocate(allocator, (size_t)p->n_tensors + p->n_methods, 2 * sizeof *ids);
    arenaut_status st = marks && ids ? ARENAUT_OK : arn_no_memory(err);
    if (st == ARENAUT_OK) st = check_scratch(p, marks, err);
    if (st == ARENAUT_OK) {
        st = check_recursion(p, marks + p->n_tensors, ids, ids + p->n_methods, err);
    }
    if (st == ARENAUT_OK) st = check_shared(p, ids, ids + p->n_tensors, err);
    ARN_RELEASE(allocator, marks, ids);
    return st;
}

/* Methods and their ops, each in its scope. */
static arenaut_status check_methods(const arenaut_program *p, const scope *s, arenaut_error *err) {
    arenaut_status st = ARENAUT_OK;
    uint32_t next_op = 0;
    for (uint32_t m = 0; m < p->n_methods && st == ARENAUT_OK; m++) {
        const uint32_t first = next_op;
        st = check_method(p, s, m, &next_op, err);
        for (uint32_t i = first; i < next_op && st == ARENAUT_OK; i++) {
            st = check_op(p, s, &p->ops[i], err);
        }
    }
    if (st == ARENAUT_OK && next_op != p->n_ops) {
        st = arn_fail(err, ARENAUT_BAD_INPUT, 0, "%" PRIu32 " ops belong to no method",
                      p->n_ops - next_op);
    }
    return st;
}

arenaut_status arn_program_validate(const arenaut_program *p, arenaut_error *err) {
    arenaut_status st = ARENAUT_OK;
    scope s = {NULL, NULL};
    for (uint32_t t = 0; t < p->n_tensors && st == ARENAUT_OK; t++) st = check_tensor(p, t, err);
    if (st == ARENAUT_OK && !scope_make(p, &s)) st = arn_no_memory(err);
    if (st == ARENAUT_OK) st = check_methods(p, &s, err);
    if (st == ARENAUT_OK) st = check_graph(p, err);
    scope_free(p, &s);
    return st;
}
