/* From a lowered program to an order problem. What is ordered are the ops of the file: what passes
 * put in front of one, as allocations, goes with it, and what they put behind all stays there. */
#include <inttypes.h>
#include <string.h>

#include <arenaut/lowering.h>
#include <arenaut/rewrite.h>

#include "core/checked.h"
#include "core/fail.h"
#include "rewrite/order/order_numbers.h"
#include "rewrite/order/order_program.h"
#include "rewrite/order/order_waits.h"

typedef struct builder {
    const arenaut_program *program;
    const arenaut_lowering *lowering;
    arn_region *region;
    bool overlap;     /* results may lie over operands in part */
    uint64_t grain;   /* sizes are multiples of it, and so are places */
    uint64_t at_ends; /* as in arenaut_program_order */
    uint64_t *size;
    uint8_t *held;
    arenaut_order_use *uses;
    arenaut_order_wait *waits;
    arenaut_order_right *rights;
    uint32_t n_uses, n_waits, n_rights;
    arn_order_waits found;
    uint32_t *unit;  /* per op of the program: that of the problem */
    uint32_t *op;    /* per op of the problem: as in arenaut_program_order */
    uint32_t *most;  /* likewise: the op of the program with most arguments */
    uint32_t *stamp; /* per buffer: the op of the problem that was last seen to use it */
    uint32_t n_units;
} builder;

/* ---- what can be reordered ---- */

/* Two results of one op over operands would save more than a right tells. */
static bool overwrites_twice(const arenaut_op *op) {
    uint32_t first = ARENAUT_NONE;
    for (uint32_t i = 0; i < op->n_in_place + op->n_overlaps; i++) {
        const uint32_t output =
            i < op->n_in_place ? op->in_place[i].output : op->overlaps[i - op->n_in_place].output;
        if (first != ARENAUT_NONE && output != first) return true;
        first = output;
    }
    return false;
}

/* The method that all ops are of: others may tell the host what it has to know of this one. NULL:
 * there is none. */
static const arenaut_method *find_method(const arenaut_program *p) {
    for (uint32_t m = 0; m < p->n_methods; m++) {
        if (p->methods[m].n_ops == p->n_ops) return &p->methods[m];
    }
    return NULL;
}

static const char *refusal(const arenaut_program *p, uint32_t *op) {
    const arenaut_method *method = find_method(p);
    *op = ARENAUT_NONE;
    if (!method) return "several methods have ops";
    for (uint32_t i = 0; i < method->n_bindings; i++) {
        if (method->bindings[i].kind == ARENAUT_BINDING_MUTATED) continue;
        return "values of it have yet to become outputs";
    }
    if (method->concurrent) return "its ops run at the same time";
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
            case ARENAUT_OP_ALLOC:
            case ARENAUT_OP_ALLOC_IN_PLACE:
                if (!p->ops[*op].file_index.given) break;
                return "it is of a kind that stays where it is";
            default: return "it is of a kind that stays where it is";
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

/* ---- which op is which ---- */

static uint32_t n_arguments(const arenaut_op *op) {
    return op->n_inputs + op->n_outputs + op->n_scratch;
}

/* The ops of one op of the file are one of the problem; an allocation goes with the op behind it.
 */
static const char *find_units(builder *b) {
    const arenaut_program *p = b->program;
    uint32_t last = ARENAUT_NONE; /* op of the file */
    bool behind = false, begun = false;
    for (uint32_t i = 0; i < p->n_ops; i++) {
        const arenaut_op *op = &p->ops[i];
        const bool own = op->file_index.given;
        if (own && behind) return "passes put ops between those of the file";
        if (!begun && !(own && op->file_index.id == last)) {
            b->op[b->n_units] = b->most[b->n_units] = ARENAUT_NONE;
            b->n_units++;
        }
        const uint32_t unit = b->n_units - 1;
        b->unit[i] = unit;
        begun = op->kind == ARENAUT_OP_ALLOC || op->kind == ARENAUT_OP_ALLOC_IN_PLACE;
        behind = behind || (!own && !begun);
        if (own) b->op[unit] = last = op->file_index.id;
        const uint32_t most = b->most[unit];
        if (most == ARENAUT_NONE || n_arguments(op) > n_arguments(&p->ops[most])) {
            b->most[unit] = i;
        }
    }
    return NULL;
}

/* NONE: it takes no bytes of the arena. */
static uint32_t buffer_of(const builder *b, uint32_t tensor) {
    return tensor == ARENAUT_NONE ? tensor : b->lowering->buffer[tensor];
}

/* Whether a tensor is all of its storage: what is written over a part of a buffer, or written as a
 * part of one, saves nothing. */
static bool fills_storage(const builder *b, uint32_t tensor) {
    const arenaut_tensor *tensors = b->program->tensors;
    uint64_t offset;
    const uint32_t storage = arenaut_program_storage(b->program, tensor, &offset);
    return offset == 0 && tensors[tensor].bytes == tensors[storage].bytes;
}

/* ---- what an op uses ---- */

static void use_all(builder *b, uint32_t unit, const uint32_t *tensors, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t buffer = buffer_of(b, tensors[i]);
        if (buffer != ARENAUT_NONE) b->uses[b->n_uses++] = (arenaut_order_use){unit, buffer};
    }
}

static void add_right(builder *b, uint32_t unit, uint32_t made, uint32_t over, uint64_t bytes) {
    if (made == over || bytes == 0) return;
    b->rights[b->n_rights++] = (arenaut_order_right){unit, made, over, bytes};
}

/* Whether both are buffers, all of them. */
static bool are_buffers(const builder *b, uint32_t output, uint32_t input) {
    return buffer_of(b, output) != ARENAUT_NONE && buffer_of(b, input) != ARENAUT_NONE &&
           fills_storage(b, output) && fills_storage(b, input);
}

/* What counts once where a result lies below an operand, by what their tensors allow. */
static uint64_t shared(const builder *b, const arenaut_op *op, const arenaut_overlap *pair) {
    const uint32_t output = op->outputs[pair->output], input = op->inputs[pair->input];
    if (!are_buffers(b, output, input)) return 0;
    const uint32_t made = buffer_of(b, output), over = buffer_of(b, input);
    if (made == over) return 0;
    const uint64_t below = pair->distance > 0 ? (uint64_t)pair->distance : 0;
    if (below >= b->size[made]) return 0;
    return arn_min_u64(b->size[made] - arn_aligned(below, b->grain), b->size[over]);
}

/* An op may reach into several operands at once: each of them is taken to save what all do
 * together, which is rather too much than too little. */
static void add_overlaps(builder *b, uint32_t i) {
    const arenaut_op *op = &b->program->ops[i];
    uint64_t all = 0;
    for (uint32_t k = 0; k < op->n_overlaps; k++) {
        const uint32_t made = buffer_of(b, op->outputs[op->overlaps[k].output]);
        if (made == ARENAUT_NONE) continue;
        all = arn_min_u64(all + shared(b, op, &op->overlaps[k]), b->size[made]);
    }
    for (uint32_t k = 0; k < op->n_overlaps; k++) {
        if (shared(b, op, &op->overlaps[k]) == 0) continue;
        const uint32_t made = buffer_of(b, op->outputs[op->overlaps[k].output]);
        const uint32_t over = buffer_of(b, op->inputs[op->overlaps[k].input]);
        add_right(b, b->unit[i], made, over, all);
    }
}

static void add_uses(builder *b, uint32_t i) {
    const arenaut_op *op = &b->program->ops[i];
    const uint32_t unit = b->unit[i];
    use_all(b, unit, op->inputs, op->n_inputs);
    use_all(b, unit, op->outputs, op->n_outputs);
    use_all(b, unit, op->scratch, op->n_scratch);
    for (uint32_t k = 0; k < op->n_in_place; k++) {
        const uint32_t output = op->outputs[op->in_place[k].output];
        const uint32_t input = op->inputs[op->in_place[k].input];
        if (!are_buffers(b, output, input)) continue;
        const uint32_t made = buffer_of(b, output), over = buffer_of(b, input);
        add_right(b, unit, made, over, arn_min_u64(b->size[made], b->size[over]));
    }
    if (b->overlap) add_overlaps(b, i);
}

/* What several ops need together is what one of them does, if the others use nothing that it does
 * not, or that is alive anyway. */
static bool needs_as_much(builder *b, uint32_t i) {
    const arenaut_op *op = &b->program->ops[i];
    const uint32_t *const lists[] = {op->inputs, op->outputs, op->scratch};
    const uint32_t lengths[] = {op->n_inputs, op->n_outputs, op->n_scratch};
    const bool most = b->most[b->unit[i]] == i;
    for (int list = 0; list < 3; list++) {
        for (uint32_t k = 0; k < lengths[list]; k++) {
            const uint32_t buffer = buffer_of(b, lists[list][k]);
            if (buffer == ARENAUT_NONE) continue;
            if (most) b->stamp[buffer] = b->unit[i];
            else if (b->stamp[buffer] != b->unit[i] && b->held[buffer] != 3) return false;
        }
    }
    return true;
}

static bool units_need_as_much(builder *b) {
    for (uint32_t i = 0; i < b->lowering->problem->n_buffers; i++) b->stamp[i] = ARENAUT_NONE;
    for (uint32_t i = 0, end; i < b->program->n_ops; i = end) {
        bool same = needs_as_much(b, b->most[b->unit[i]]);
        for (end = i; end < b->program->n_ops && b->unit[end] == b->unit[i]; end++) {
            same = same && needs_as_much(b, end);
        }
        if (!same) return false;
    }
    return true;
}

static void hold(builder *b, const uint32_t *tensors, uint32_t n, int held) {
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t buffer = buffer_of(b, tensors[i]);
        if (buffer != ARENAUT_NONE) b->held[buffer] |= (uint8_t)held;
    }
}

static void add_held(builder *b, const arenaut_target *target, bool preserve_inputs) {
    const arenaut_program *p = b->program;
    const arenaut_method *m = find_method(p);
    const int stays = target->keep_inputs || preserve_inputs ? ARENAUT_HELD_AFTER : 0;
    const int early = target->keep_outputs ? ARENAUT_HELD_BEFORE : 0;
    hold(b, m->inputs, m->n_inputs, ARENAUT_HELD_BEFORE | stays);
    hold(b, m->outputs, m->n_outputs, ARENAUT_HELD_AFTER | early);
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        const bool state = p->tensors[t].cls == ARENAUT_STATE || p->tensors[t].qualified_name;
        if (state) hold(b, &t, 1, ARENAUT_HELD_BEFORE | ARENAUT_HELD_AFTER);
    }
}

/* ---- what an op waits for ---- */

/* What passes put behind all the others comes behind them, one after another. */
static bool add_waits(builder *b) {
    const uint32_t n = b->found.n;
    uint32_t first = b->n_units;
    while (first > 0 && b->op[first - 1] == ARENAUT_NONE) first--;
    const uint64_t behind = first < b->n_units ? (uint64_t)b->n_units : 0;
    if (n + behind > UINT32_MAX) return false;
    b->waits = arn_region_allocate(b->region, n + (size_t)behind, sizeof *b->waits);
    if (!b->waits) return false;
    for (uint32_t i = 0; i < n; i++) {
        const arenaut_order_wait *w = &b->found.list[i];
        const uint32_t op = b->unit[w->op], earlier = b->unit[w->first];
        if (op != earlier) b->waits[b->n_waits++] = (arenaut_order_wait){op, earlier};
    }
    for (uint32_t i = 0; i < first && behind > 0; i++) {
        b->waits[b->n_waits++] = (arenaut_order_wait){first, i};
    }
    for (uint32_t i = first + 1; i < b->n_units; i++) {
        b->waits[b->n_waits++] = (arenaut_order_wait){i, i - 1};
    }
    return true;
}

/* A tensor whose memory is written anew while it is planned; NONE: there is none. */
static uint32_t find_rewritten(const builder *b) {
    for (uint32_t t = 0; t < b->program->n_tensors; t++) {
        if (b->found.anew[t] && buffer_of(b, t) != ARENAUT_NONE) return t;
    }
    return ARENAUT_NONE;
}

/* ---- all of it ---- */

static bool allocate(builder *b) {
    const arenaut_program *p = b->program;
    const uint32_t n_buffers = b->lowering->problem->n_buffers;
    size_t arguments = 0, rights = 0;
    for (uint32_t i = 0; i < p->n_ops; i++) {
        arguments += (size_t)n_arguments(&p->ops[i]);
        rights += (size_t)p->ops[i].n_in_place + p->ops[i].n_overlaps;
    }
    b->size = arn_region_allocate(b->region, n_buffers, sizeof *b->size);
    b->held = arn_region_allocate(b->region, n_buffers, sizeof *b->held);
    b->stamp = arn_region_allocate(b->region, n_buffers, sizeof *b->stamp);
    b->uses = arn_region_allocate(b->region, arguments, sizeof *b->uses);
    b->rights = arn_region_allocate(b->region, rights, sizeof *b->rights);
    b->unit = arn_region_allocate(b->region, p->n_ops, sizeof *b->unit);
    b->op = arn_region_allocate(b->region, p->n_ops, sizeof *b->op);
    b->most = arn_region_allocate(b->region, p->n_ops, sizeof *b->most);
    if (!b->size || !b->held || !b->stamp || !b->uses || !b->rights || !b->unit || !b->op ||
        !b->most) {
        return false;
    }
    memset(b->held, 0, n_buffers);
    return true;
}

/* Every offset is a multiple of the least alignment, so that sizes can be rounded up to it; but
 * a pool may end with the last byte of its last buffer. */
static void round_sizes(builder *b) {
    const arenaut_problem *problem = b->lowering->problem;
    uint64_t grain = ARENAUT_SIZE_MAX, most = 0;
    for (uint32_t i = 0; i < problem->n_buffers; i++) {
        grain = arn_min_u64(grain, arenaut_problem_align(problem, i));
    }
    for (uint32_t i = 0; i < problem->n_buffers; i++) {
        b->size[i] = arn_aligned(problem->size[i], grain);
        most = arn_max_u64(most, b->size[i] - problem->size[i]);
    }
    b->grain = grain;
    for (uint32_t i = 0; i < problem->n_pools; i++) {
        if (problem->pool[i].align < grain) b->at_ends += most;
    }
}

static arenaut_status build(builder *b, const arenaut_target *target,
                            const arenaut_lowering_options *options, arenaut_error *err) {
    char store[24];
    if (!allocate(b) || !arn_order_waits_find(b->program, b->region, &b->found)) {
        return arn_no_memory(err);
    }
    const char *why = find_units(b);
    if (why) return arn_fail(err, ARENAUT_REFUSED, 0, "the program cannot be reordered: %s", why);
    if (b->found.cells.too_many) {
        return arn_fail(err, ARENAUT_REFUSED, 0, "too many parts of tensors are written apart");
    }
    const uint32_t rewritten = find_rewritten(b);
    if (rewritten != ARENAUT_NONE) {
        return arn_fail(err, ARENAUT_REFUSED, 0, "tensor '%.80s' is written more than once",
                        arenaut_program_tensor_name(b->program, rewritten, store));
    }
    round_sizes(b);
    for (uint32_t i = 0; i < b->program->n_ops; i++) add_uses(b, i);
    add_held(b, target, options && options->preserve_inputs);
    if (!units_need_as_much(b)) {
        return arn_fail(err, ARENAUT_REFUSED, 0, "one op of the file stands for several ops");
    }
    return add_waits(b) ? ARENAUT_OK : arn_no_memory(err);
}

arenaut_status arenaut_program_order_new(const arenaut_program *program,
                                         const arenaut_lowering *lowering,
                                         const arenaut_target *target,
                                         const arenaut_lowering_options *options,
                                         const arenaut_allocator *allocator,
                                         arenaut_program_order **out, arenaut_error *err) {
    const arenaut_problem *problem = lowering->problem;
    arenaut_status st = check_kinds(program, err);
    if (st != ARENAUT_OK) return st;
    arenaut_program_order *order = arn_allocate_zeroed(allocator, 1, sizeof *order);
    if (!order) return arn_no_memory(err);
    order->allocator = arn_allocator_or_default(allocator);
    arn_region_init(&order->region, allocator);
    builder b = {.program = program,
                 .lowering = lowering,
                 .region = &order->region,
                 .overlap = options && options->overlap};
    st = build(&b, target, options, err);
    if (st != ARENAUT_OK) {
        arenaut_program_order_free(order);
        return st;
    }
    order->op = b.op;
    order->at_ends = b.at_ends;
    order->problem = (arenaut_order_problem){b.n_units,  problem->n_buffers,
                                             b.n_uses,   b.n_waits,
                                             b.n_rights, b.size,
                                             b.held,     b.uses,
                                             b.waits,    b.rights};
    *out = order;
    return ARENAUT_OK;
}

const arenaut_order_problem *arenaut_program_order_problem(const arenaut_program_order *order) {
    return &order->problem;
}

uint64_t arenaut_program_order_at_ends(const arenaut_program_order *order) {
    return order->at_ends;
}

void arenaut_program_order_free(arenaut_program_order *order) {
    if (!order) return;
    const arenaut_allocator allocator = order->allocator;
    arn_region_free(&order->region);
    arn_release(&allocator, order);
}

/* ---- the order of the file's ops ---- */

typedef struct emitter {
    const arenaut_program *file;
    uint32_t *begin, *first; /* per op of the file: where its waits begin, and what it waits for */
    uint32_t *next;          /* likewise: the wait to look at next */
    uint32_t *stack;
    bool *put;
    uint32_t *out, n;
} emitter;

/* Counting sort of the waits by their ops. */
static void sort_waits(emitter *e, const arn_order_waits *waits) {
    const uint32_t n = e->file->n_ops;
    memset(e->begin, 0, ((size_t)n + 1) * sizeof *e->begin);
    for (uint32_t i = 0; i < waits->n; i++) e->begin[waits->list[i].op + 1]++;
    for (uint32_t i = 0; i < n; i++) e->begin[i + 1] += e->begin[i];
    memcpy(e->next, e->begin, n * sizeof *e->next);
    for (uint32_t i = 0; i < waits->n; i++) {
        e->first[e->next[waits->list[i].op]++] = waits->list[i].first;
    }
    memcpy(e->next, e->begin, n * sizeof *e->next);
}

/* Puts an op, and before it all that it waits for: what passes have dropped comes so, too. */
static void emit(emitter *e, uint32_t op) {
    uint32_t depth = 0;
    if (!e->put[op]) e->stack[depth++] = op;
    while (depth > 0) {
        const uint32_t top = e->stack[depth - 1];
        uint32_t *next = &e->next[top];
        while (*next < e->begin[top + 1] && e->put[e->first[*next]]) ++*next;
        if (*next < e->begin[top + 1]) {
            e->stack[depth++] = e->first[*next];
            continue;
        }
        depth--;
        if (!e->put[top]) e->out[e->n++] = top;
        e->put[top] = true;
    }
}

static void emit_all(emitter *e, const arenaut_program_order *order, const uint32_t *ops,
                     const arn_order_numbers *numbers) {
    const uint32_t *same;
    for (uint32_t i = 0; i < order->problem.n_ops; i++) {
        const uint32_t n_same = arn_order_numbers_ops(numbers, order->op[ops[i]], &same);
        for (uint32_t k = 0; k < n_same; k++) emit(e, same[k]);
    }
    for (uint32_t k = 0; k < e->file->n_ops; k++) emit(e, k);
}

static arenaut_status order_file(arn_region *region, const arenaut_program_order *order,
                                 const arenaut_program *file, const uint32_t *ops, uint32_t *out) {
    arn_order_waits waits;
    arn_order_numbers numbers;
    if (!arn_order_waits_find(file, region, &waits) ||
        !arn_order_numbers_find(file, region, &numbers)) {
        return ARENAUT_NO_MEMORY;
    }
    emitter e = {.file = file, .out = out};
    e.begin = arn_region_allocate(region, (size_t)file->n_ops + 1, sizeof *e.begin);
    e.first = arn_region_allocate(region, waits.n, sizeof *e.first);
    e.next = arn_region_allocate(region, file->n_ops, sizeof *e.next);
    e.stack = arn_region_allocate(region, (size_t)file->n_ops + 1, sizeof *e.stack);
    e.put = arn_region_allocate(region, file->n_ops, sizeof *e.put);
    if (!e.begin || !e.first || !e.next || !e.stack || !e.put) return ARENAUT_NO_MEMORY;
    for (uint32_t k = 0; k < file->n_ops; k++) e.put[k] = false;
    sort_waits(&e, &waits);
    emit_all(&e, order, ops, &numbers);
    return ARENAUT_OK;
}

arenaut_status arenaut_program_order_ops(const arenaut_program_order *order,
                                         const arenaut_program *file, const uint32_t *ops,
                                         const arenaut_allocator *allocator, uint32_t *out,
                                         arenaut_error *err) {
    arn_region region;
    arn_region_init(&region, allocator);
    const arenaut_status st = order_file(&region, order, file, ops, out);
    arn_region_free(&region);
    return st == ARENAUT_OK ? st : arn_no_memory(err);
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
    uint32_t *seen = arenaut_program_alloc(program, program->n_ops * sizeof *seen);
    if (!seen) return arn_no_memory(err);
    if (!find_method(program) || !is_order(ops, program->n_ops, seen)) {
        return arn_fail(err, ARENAUT_BAD_ARGUMENT, 0, "it is no order of the ops of one method");
    }
    return arenaut_recompute(program, ops, program->n_ops, out, err);
}
