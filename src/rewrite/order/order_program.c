/* From a lowered program to an order problem, and from an order to a program. An op waits for those
 * that wrote what it reads, and before it writes for those that read or wrote there; of views that
 * is their storage. Ops that may do more than compute their results stay in their order. */
#include <inttypes.h>
#include <string.h>

#include <arenaut/lowering.h>
#include <arenaut/rewrite.h>

#include "core/checked.h"
#include "core/fail.h"
#include "core/memory.h"
#include "rewrite/order/order_effects.h"

struct arenaut_program_order {
    arenaut_order_problem problem;
    arn_region region;
    arenaut_allocator allocator;
};

typedef struct builder {
    const arenaut_program *program;
    const arenaut_lowering *lowering;
    arn_region *region;
    uint64_t *size;
    uint8_t *held;
    arenaut_order_use *uses;
    arenaut_order_wait *waits;
    arenaut_order_right *rights;
    uint32_t n_uses, n_waits, n_rights;
    uint32_t *maker;  /* per tensor: the op that made it, or gave it this name; NONE: none */
    uint32_t *writer; /* per storage: the last op that wrote there; NONE: none */
    uint32_t *reader; /* per storage: the last read since then; NONE: none */
    uint32_t *read_by, *read_before; /* per read: its op, and the read before it */
    uint32_t n_reads;
    uint32_t last_effect; /* the last op that may do more than compute its results */
    uint32_t rewritten;   /* a tensor whose memory is written anew while it is planned; else NONE */
} builder;

/* ---- what can be reordered ---- */

/* Two results of one op over operands would save more than a right tells. */
static bool overwrites_twice(const arenaut_op *op) {
    for (uint32_t i = 1; i < op->n_in_place; i++) {
        if (op->in_place[i].output != op->in_place[0].output) return true;
    }
    return false;
}

static const char *refusal(const arenaut_program *p, uint32_t *op) {
    *op = ARENAUT_NONE;
    if (p->n_methods != 1) return "it has several methods";
    if (p->methods[0].n_bindings > 0) return "values of it have yet to become outputs";
    if (p->methods[0].concurrent) return "its ops run at the same time";
    for (*op = 0; *op < p->n_ops; ++*op) {
        if (p->ops[*op].arguments_may_alias) return "its arguments may share memory";
        if (overwrites_twice(&p->ops[*op])) return "several results may be written over operands";
        switch (p->ops[*op].kind) {
            case ARENAUT_OP_OUT:
            case ARENAUT_OP_FUNCTIONAL:
            case ARENAUT_OP_VIEW:
            case ARENAUT_OP_IN_PLACE:
            case ARENAUT_OP_MAKES:
            case ARENAUT_OP_DELEGATE: break;
            default: return "it is of a kind that stays where it is";
        }
        if (p->ops[*op].n_after > 0) return "it states what it runs after";
        if (*op > 0 && p->ops[*op].file_index.given && p->ops[*op - 1].file_index.given &&
            p->ops[*op].file_index.id == p->ops[*op - 1].file_index.id) {
            return "one op of the file stands for several ops";
        }
    }
    return NULL;
}

static arenaut_status check_kinds(const arenaut_program *p, arenaut_error *err) {
    uint32_t op;
    const char *why = refusal(p, &op);
    if (!why) return ARENAUT_OK;
    if (op == ARENAUT_NONE) {
        return arn_fail(err, ARENAUT_REFUSED, 0, "the program cannot be reordered: %s", why);
    }
    return arn_fail(err, ARENAUT_REFUSED, 0, "op %" PRIu32 " (%.80s) cannot be reordered: %s", op,
                    p->ops[op].name ? p->ops[op].name : "unnamed", why);
}

/* ---- what an op waits for ---- */

/* NONE: it takes no bytes of the arena. */
static uint32_t buffer_of(const builder *b, uint32_t tensor) {
    return tensor == ARENAUT_NONE ? tensor : b->lowering->buffer[tensor];
}

static void wait_for(builder *b, uint32_t op, uint32_t first) {
    if (first == ARENAUT_NONE || first == op) return;
    b->waits[b->n_waits++] = (arenaut_order_wait){op, first};
}

/* Shared state is one storage, whatever its names. */
static uint32_t storage_of(const builder *b, uint32_t tensor) {
    const uint32_t s = arenaut_program_storage(b->program, tensor, NULL);
    return b->program->tensors[s].qualified_name ? b->program->n_tensors : s;
}

static void read(builder *b, uint32_t op, uint32_t tensor) {
    const uint32_t s = storage_of(b, tensor);
    wait_for(b, op, b->maker[tensor]);
    wait_for(b, op, b->writer[s]);
    b->read_by[b->n_reads] = op;
    b->read_before[b->n_reads] = b->reader[s];
    b->reader[s] = b->n_reads++;
}

static void write(builder *b, uint32_t op, uint32_t tensor) {
    const uint32_t s = storage_of(b, tensor);
    wait_for(b, op, b->writer[s]);
    for (uint32_t i = b->reader[s]; i != ARENAUT_NONE; i = b->read_before[i]) {
        wait_for(b, op, b->read_by[i]);
    }
    b->reader[s] = ARENAUT_NONE;
    b->writer[s] = op;
    b->maker[tensor] = op;
}

/* Whether an output only is another name for an input's memory. */
static bool is_name(const builder *b, const arenaut_op *op, uint32_t tensor) {
    if (op->kind != ARENAUT_OP_VIEW) return false;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const uint32_t input = op->inputs[i];
        if (input != ARENAUT_NONE && storage_of(b, input) == storage_of(b, tensor)) return true;
    }
    return false;
}

static void add_waits(builder *b, uint32_t i) {
    const arenaut_op *op = &b->program->ops[i];
    for (uint32_t k = 0; k < op->n_inputs; k++) {
        if (op->inputs[k] == ARENAUT_NONE) continue;
        read(b, i, op->inputs[k]);
        if (op->kind == ARENAUT_OP_IN_PLACE) write(b, i, op->inputs[k]);
    }
    for (uint32_t k = 0; k < op->n_outputs; k++) {
        const uint32_t t = op->outputs[k];
        if (t == ARENAUT_NONE) continue;
        if (is_name(b, op, t)) {
            b->maker[t] = i;
            continue;
        }
        const bool anew = b->writer[storage_of(b, t)] != ARENAUT_NONE;
        if (anew && op->kind != ARENAUT_OP_IN_PLACE && buffer_of(b, t) != ARENAUT_NONE) {
            b->rewritten = t;
        }
        write(b, i, t);
    }
    if (!arn_order_has_effects(b->program, op)) return;
    wait_for(b, i, b->last_effect);
    b->last_effect = i;
}

/* ---- what an op uses ---- */

static void use_all(builder *b, uint32_t op, const uint32_t *tensors, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t buffer = buffer_of(b, tensors[i]);
        if (buffer != ARENAUT_NONE) b->uses[b->n_uses++] = (arenaut_order_use){op, buffer};
    }
}

static void add_uses(builder *b, uint32_t i) {
    const arenaut_op *op = &b->program->ops[i];
    use_all(b, i, op->inputs, op->n_inputs);
    use_all(b, i, op->outputs, op->n_outputs);
    use_all(b, i, op->scratch, op->n_scratch);
    for (uint32_t k = 0; k < op->n_in_place; k++) {
        const uint32_t made = buffer_of(b, op->outputs[op->in_place[k].output]);
        const uint32_t over = buffer_of(b, op->inputs[op->in_place[k].input]);
        if (made == ARENAUT_NONE || over == ARENAUT_NONE || made == over) continue;
        b->rights[b->n_rights++] = (arenaut_order_right){i, made, over};
    }
}

static void hold(builder *b, const uint32_t *tensors, uint32_t n, int held) {
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t buffer = buffer_of(b, tensors[i]);
        if (buffer != ARENAUT_NONE) b->held[buffer] |= (uint8_t)held;
    }
}

static void add_held(builder *b, const arenaut_target *target, bool preserve_inputs) {
    const arenaut_program *p = b->program;
    const arenaut_method *m = &p->methods[0];
    const int stays = target->keep_inputs || preserve_inputs ? ARENAUT_HELD_AFTER : 0;
    const int early = target->keep_outputs ? ARENAUT_HELD_BEFORE : 0;
    hold(b, m->inputs, m->n_inputs, ARENAUT_HELD_BEFORE | stays);
    hold(b, m->outputs, m->n_outputs, ARENAUT_HELD_AFTER | early);
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        const bool state = p->tensors[t].cls == ARENAUT_STATE || p->tensors[t].qualified_name;
        if (state) hold(b, &t, 1, ARENAUT_HELD_BEFORE | ARENAUT_HELD_AFTER);
    }
}

/* ---- all of it ---- */

static bool allocate(builder *b) {
    const arenaut_program *p = b->program;
    const uint32_t n_buffers = b->lowering->problem->n_buffers;
    size_t arguments = 0, reads = 0, rights = 0;
    for (uint32_t i = 0; i < p->n_ops; i++) {
        const arenaut_op *op = &p->ops[i];
        arguments += (size_t)op->n_inputs + op->n_outputs + op->n_scratch;
        reads += op->n_inputs;
        rights += op->n_in_place;
    }
    const size_t waits = 5 * arguments + p->n_ops; /* a read makes two, is waited for once */
    const size_t tensors = (size_t)p->n_tensors + 1;
    if (waits > UINT32_MAX) return false;
    b->size = arn_region_allocate(b->region, n_buffers, sizeof *b->size);
    b->held = arn_region_allocate(b->region, n_buffers, sizeof *b->held);
    b->uses = arn_region_allocate(b->region, arguments, sizeof *b->uses);
    b->waits = arn_region_allocate(b->region, waits, sizeof *b->waits);
    b->rights = arn_region_allocate(b->region, rights, sizeof *b->rights);
    b->maker = arn_region_allocate(b->region, tensors, sizeof *b->maker);
    b->writer = arn_region_allocate(b->region, tensors, sizeof *b->writer);
    b->reader = arn_region_allocate(b->region, tensors, sizeof *b->reader);
    b->read_by = arn_region_allocate(b->region, reads, sizeof *b->read_by);
    b->read_before = arn_region_allocate(b->region, reads, sizeof *b->read_before);
    if (!b->size || !b->held || !b->uses || !b->waits || !b->rights || !b->maker || !b->writer ||
        !b->reader || !b->read_by || !b->read_before) {
        return false;
    }
    memset(b->held, 0, n_buffers);
    for (size_t t = 0; t < tensors; t++) b->maker[t] = b->writer[t] = b->reader[t] = ARENAUT_NONE;
    return true;
}

/* Every offset is a multiple of the least alignment, so that sizes can be rounded up to it. */
static void build(builder *b, const arenaut_target *target, bool preserve_inputs) {
    const arenaut_problem *problem = b->lowering->problem;
    uint64_t grain = ARENAUT_SIZE_MAX;
    for (uint32_t i = 0; i < problem->n_buffers; i++) {
        grain = arn_min_u64(grain, arenaut_problem_align(problem, i));
    }
    for (uint32_t i = 0; i < problem->n_buffers; i++) {
        b->size[i] = arn_aligned(problem->size[i], grain);
    }
    b->last_effect = b->rewritten = ARENAUT_NONE;
    for (uint32_t i = 0; i < b->program->n_ops; i++) {
        add_waits(b, i);
        add_uses(b, i);
    }
    add_held(b, target, preserve_inputs);
}

arenaut_status arenaut_program_order_new(const arenaut_program *program,
                                         const arenaut_lowering *lowering,
                                         const arenaut_target *target, bool preserve_inputs,
                                         const arenaut_allocator *allocator,
                                         arenaut_program_order **out, arenaut_error *err) {
    const arenaut_problem *problem = lowering->problem;
    const arenaut_status st = check_kinds(program, err);
    if (st != ARENAUT_OK) return st;
    for (uint32_t i = 0; i < problem->n_buffers; i++) {
        if (arenaut_problem_inside(problem, i) == ARENAUT_NONE) continue;
        return arn_fail(err, ARENAUT_REFUSED, 0, "slices of a tensor lie in it from the start");
    }
    arenaut_program_order *order = arn_allocate_zeroed(allocator, 1, sizeof *order);
    if (!order) return arn_no_memory(err);
    order->allocator = arn_allocator_or_default(allocator);
    arn_region_init(&order->region, allocator);
    builder b = {.program = program, .lowering = lowering, .region = &order->region};
    if (!allocate(&b)) {
        arenaut_program_order_free(order);
        return arn_no_memory(err);
    }
    build(&b, target, preserve_inputs);
    if (b.rewritten != ARENAUT_NONE) {
        char store[24];
        arenaut_program_order_free(order);
        return arn_fail(err, ARENAUT_REFUSED, 0, "tensor '%.80s' is written more than once",
                        arenaut_program_tensor_name(program, b.rewritten, store));
    }
    order->problem = (arenaut_order_problem){program->n_ops, problem->n_buffers,
                                             b.n_uses,       b.n_waits,
                                             b.n_rights,     b.size,
                                             b.held,         b.uses,
                                             b.waits,        b.rights};
    *out = order;
    return ARENAUT_OK;
}

const arenaut_order_problem *arenaut_program_order_problem(const arenaut_program_order *order) {
    return &order->problem;
}

void arenaut_program_order_free(arenaut_program_order *order) {
    if (!order) return;
    const arenaut_allocator allocator = order->allocator;
    arn_region_free(&order->region);
    arn_release(&allocator, order);
}

/* ---- the program in another order ---- */

static bool is_order(const uint32_t *ops, uint32_t n, uint32_t *seen) {
    for (uint32_t i = 0; i < n; i++) seen[i] = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (ops[i] >= n || seen[ops[i]]++) return false;
    }
    return true;
}

arenaut_status arenaut_reorder(arenaut_program *program, const uint32_t *ops, arenaut_rewrite **out,
                               arenaut_error *err) {
    const uint32_t n = program->n_ops;
    arenaut_rewrite *made = arenaut_program_alloc(program, sizeof *made);
    arenaut_op *ordered = arenaut_program_alloc(program, n * sizeof *ordered);
    uint32_t *copy = arenaut_program_alloc(program, n * sizeof *copy);
    arenaut_origin *tensors = arenaut_program_alloc(program, program->n_tensors * sizeof *tensors);
    if (!made || !ordered || !copy || !tensors) return arn_no_memory(err);
    if (program->n_methods != 1 || !is_order(ops, n, copy)) {
        return arn_fail(err, ARENAUT_BAD_ARGUMENT, 0, "it is no order of the ops of one method");
    }
    *made = (arenaut_rewrite){.program = program,
                              .n_tensors = program->n_tensors,
                              .n_ops = n,
                              .n_ops_before = n,
                              .tensors = tensors,
                              .ops = copy,
                              .before = arenaut_program_fingerprint(program)};
    for (uint32_t t = 0; t < program->n_tensors; t++) {
        tensors[t] = (arenaut_origin){.tensor = t, .same = true, .axis = ARENAUT_NONE};
    }
    for (uint32_t i = 0; i < n; i++) {
        copy[i] = ops[i];
        ordered[i] = program->ops[ops[i]];
    }
    for (uint32_t i = 0; i < n; i++) program->ops[i] = ordered[i];
    made->after = arenaut_program_fingerprint(program);
    *out = made;
    return ARENAUT_OK;
}
