/* From a method of a lowered program to its order problem. What is ordered are the ops of the file:
 * what passes put in front of one, as allocations, goes with it, and what they put behind all stays
 * there. */
#include "rewrite/order/schedule_problem.h"

#include <inttypes.h>
#include <string.h>

#include "core/checked.h"
#include "core/fail.h"

typedef struct builder {
    arn_order_base *base;
    const arenaut_program *program;
    const arenaut_method *method;
    arn_order_part *part;
    uint8_t *held;             /* per buffer of the problem */
    bool *always;              /* likewise: it is alive in all methods */
    uint32_t *buffer, n_named; /* those of the program: their numbers there */
    arenaut_order_use *uses;
    arenaut_order_wait *waits;
    arenaut_order_right *rights;
    uint32_t n_uses, n_waits, n_rights, n_buffers;
    uint32_t *unit;  /* per op of the method: that of the problem */
    uint32_t *most;  /* per op of the problem: the op of the program with most arguments */
    uint32_t *stamp; /* per buffer: the op of the problem that was last seen to use it */
    uint32_t n_units;
    arenaut_error *err;
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

/* NULL: it can. */
static const char *refusal_of_op(const arenaut_op *op) {
    if (op->arguments_may_alias) return "its arguments may share memory";
    if (overwrites_twice(op)) return "several results may be written over operands";
    switch (op->kind) {
        case ARENAUT_OP_OUT:
        case ARENAUT_OP_FUNCTIONAL:
        case ARENAUT_OP_VIEW:
        case ARENAUT_OP_IN_PLACE:
        case ARENAUT_OP_MAKES:
        case ARENAUT_OP_IF:
        case ARENAUT_OP_WHILE:
        case ARENAUT_OP_LOOP:
        case ARENAUT_OP_CALL:
        case ARENAUT_OP_CALL_ONCE:
        case ARENAUT_OP_DELEGATE: return NULL;
        case ARENAUT_OP_ALLOC:
        case ARENAUT_OP_ALLOC_IN_PLACE:
            if (!op->file_index.given) return NULL;
            return "it is of a kind that stays where it is";
        default: return "it is of a kind that stays where it is";
    }
}

static arenaut_status refuse(const builder *b, const char *why) {
    return arn_fail(b->err, ARENAUT_REFUSED, 0, "the program cannot be reordered: %s", why);
}

static arenaut_status check_method(const builder *b) {
    for (uint32_t i = 0; i < b->method->n_bindings; i++) {
        if (b->method->bindings[i].kind == ARENAUT_BINDING_MUTATED) continue;
        return refuse(b, "values of it have yet to become outputs");
    }
    if (b->method->concurrent) return refuse(b, "its ops run at the same time");
    for (uint32_t i = 0; i < b->part->n_ops; i++) {
        const uint32_t at = b->part->first + i;
        const arenaut_op *op = &b->program->ops[at];
        const char *why = refusal_of_op(op);
        if (!why) continue;
        return arn_fail(b->err, ARENAUT_REFUSED, 0,
                        "op %" PRIu32 " (%.80s) cannot be reordered: %s", at,
                        op->name ? op->name : "unnamed", why);
    }
    return ARENAUT_OK;
}

/* ---- which op is which ---- */

static bool flows(const builder *b) { return b->base->waits.flow.flows[b->part->method]; }

static uint32_t n_arguments(const arenaut_op *op) {
    return op->n_inputs + op->n_outputs + op->n_scratch;
}

static const arenaut_op *op_at(const builder *b, uint32_t i) {
    return &b->program->ops[b->part->first + i];
}

/* The ops of one op of the file are one of the problem; an allocation goes with the op behind it.
 */
static const char *find_units(builder *b) {
    uint32_t *const ops = b->part->op;
    uint32_t last = ARENAUT_NONE; /* op of the file */
    bool behind = false, begun = false;
    for (uint32_t i = 0; i < b->part->n_ops; i++) {
        const arenaut_op *op = op_at(b, i);
        const bool own = op->file_index.given;
        if (own && behind) return "passes put ops between those of the file";
        if (!begun && !(own && op->file_index.id == last)) {
            ops[b->n_units] = b->most[b->n_units] = ARENAUT_NONE;
            b->n_units++;
        }
        const uint32_t unit = b->n_units - 1;
        b->unit[i] = unit;
        begun = op->kind == ARENAUT_OP_ALLOC || op->kind == ARENAUT_OP_ALLOC_IN_PLACE;
        behind = behind || (!own && !begun);
        if (own) ops[unit] = last = op->file_index.id;
        const uint32_t most = b->most[unit];
        if (most == ARENAUT_NONE || n_arguments(op) > n_arguments(op_at(b, most))) {
            b->most[unit] = i;
        }
    }
    return NULL;
}

/* NONE: it takes no bytes of the arena, or is alive whatever the method does. */
static uint32_t buffer_of(const builder *b, uint32_t tensor) {
    const uint32_t buffer = tensor == ARENAUT_NONE ? tensor : b->base->lowering->buffer[tensor];
    return buffer == ARENAUT_NONE ? buffer : b->base->local[buffer];
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
    if (below >= b->part->size[made]) return 0;
    return arn_min_u64(b->part->size[made] - arn_aligned(below, b->base->grain),
                       b->part->size[over]);
}

/* An op may reach into several operands at once: each of them is taken to save what all do
 * together, which is rather too much than too little. */
static void add_overlaps(builder *b, uint32_t i) {
    const arenaut_op *op = op_at(b, i);
    uint64_t all = 0;
    for (uint32_t k = 0; k < op->n_overlaps; k++) {
        const uint32_t made = buffer_of(b, op->outputs[op->overlaps[k].output]);
        if (made == ARENAUT_NONE) continue;
        all = arn_min_u64(all + shared(b, op, &op->overlaps[k]), b->part->size[made]);
    }
    for (uint32_t k = 0; k < op->n_overlaps; k++) {
        if (shared(b, op, &op->overlaps[k]) == 0) continue;
        const uint32_t made = buffer_of(b, op->outputs[op->overlaps[k].output]);
        const uint32_t over = buffer_of(b, op->inputs[op->overlaps[k].input]);
        add_right(b, b->unit[i], made, over, all);
    }
}

static void add_uses(builder *b, uint32_t i) {
    const arenaut_op *op = op_at(b, i);
    const uint32_t unit = b->unit[i];
    use_all(b, unit, op->inputs, op->n_inputs);
    use_all(b, unit, op->outputs, op->n_outputs);
    use_all(b, unit, op->scratch, op->n_scratch);
    for (uint32_t k = 0; k < op->n_in_place; k++) {
        const uint32_t output = op->outputs[op->in_place[k].output];
        const uint32_t input = op->inputs[op->in_place[k].input];
        if (!are_buffers(b, output, input)) continue;
        const uint32_t made = buffer_of(b, output), over = buffer_of(b, input);
        add_right(b, unit, made, over, arn_min_u64(b->part->size[made], b->part->size[over]));
    }
    if (b->base->overlap) add_overlaps(b, i);
    if (op->n_calls == 0) return;
    const uint32_t more = b->n_buffers++;
    b->part->caller[more - b->part->n_plain] = b->part->first + i;
    b->uses[b->n_uses++] = (arenaut_order_use){unit, more};
}

/* What several ops need together is what one of them does, if the others use nothing that it does
 * not, or that is alive anyway. */
static bool needs_as_much(builder *b, uint32_t i) {
    const arenaut_op *op = op_at(b, i);
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

/* What is called needs memory beside nothing but the op that calls. */
static bool calls_among_others(const builder *b, uint32_t first, uint32_t end) {
    uint32_t n_calling = 0, n_touching = 0;
    for (uint32_t i = first; i < end; i++) {
        n_calling += op_at(b, i)->n_calls > 0;
        n_touching += arenaut_op_kind_touches(op_at(b, i)->kind);
    }
    return n_calling > 0 && n_touching > 1;
}

static bool units_need_as_much(builder *b) {
    for (uint32_t i = 0; i < b->part->n_plain; i++) b->stamp[i] = ARENAUT_NONE;
    for (uint32_t i = 0, end; i < b->part->n_ops; i = end) {
        bool same = needs_as_much(b, b->most[b->unit[i]]);
        for (end = i; end < b->part->n_ops && b->unit[end] == b->unit[i]; end++) {
            same = same && needs_as_much(b, end);
        }
        if (!same || calls_among_others(b, i, end)) return false;
    }
    return true;
}

static void hold(builder *b, const uint32_t *tensors, uint32_t n, int held) {
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t buffer = buffer_of(b, tensors[i]);
        if (buffer != ARENAUT_NONE) b->held[buffer] |= (uint8_t)held;
    }
}

/* The one life of a buffer among the steps of the ops; false: it has several. */
static bool find_life(const builder *b, uint32_t buffer, arenaut_interval *life) {
    const arenaut_problem *problem = b->base->lowering->problem;
    const int64_t first = b->part->step, end = first + b->part->n_ops;
    uint32_t n = 0;
    for (uint32_t k = 0; k < arenaut_problem_lifetime_count(problem, buffer); k++) {
        const arenaut_interval other = arenaut_problem_lifetimes(problem, buffer)[k];
        if (other.first >= end || other.end <= first) continue;
        *life = other;
        n++;
    }
    return n == 1;
}

static bool makes(const builder *b, const arenaut_op *op, uint32_t buffer) {
    const bool writes = op->kind != ARENAUT_OP_IN_PLACE && op->kind != ARENAUT_OP_VIEW;
    bool any = false;
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        any = any || (writes && buffer_of(b, op->outputs[i]) == buffer);
    }
    for (uint32_t i = 0; i < op->n_scratch; i++) {
        any = any || buffer_of(b, op->scratch[i]) == buffer;
    }
    return any;
}

/* Between jumps, what is alive before and after shows in lives: what the first op makes was not
 * there, and what outlives the last one is needed elsewhere. */
static bool add_held_between_jumps(builder *b) {
    const arenaut_method *m = b->method;
    const int64_t first = b->part->step, end = first + b->part->n_ops;
    uint64_t within = 0;
    for (uint32_t i = 0; i < b->part->n_plain; i++) {
        arenaut_interval life;
        if (!find_life(b, b->buffer[i], &life)) return false;
        const bool before = life.first <= first && !makes(b, op_at(b, 0), i);
        if (before) b->held[i] |= ARENAUT_HELD_BEFORE;
        if (life.end > end) b->held[i] |= ARENAUT_HELD_AFTER;
        if (life.first <= first) within += b->part->size[i];
        if (b->always[i]) b->held[i] = ARENAUT_HELD_BEFORE | ARENAUT_HELD_AFTER;
    }
    b->part->around = b->base->alive[first] - within;
    if (b->part->first + b->part->n_ops < m->first_op + m->n_ops) return true;
    const bool stay = b->base->target->keep_inputs || b->base->preserve_inputs;
    hold(b, m->outputs, m->n_outputs, ARENAUT_HELD_AFTER);
    if (stay) hold(b, m->inputs, m->n_inputs, ARENAUT_HELD_AFTER);
    return true;
}

/* What calls a method keeps its results and needs its inputs no more. */
static void add_held(builder *b) {
    const arenaut_method *m = b->method;
    const arenaut_target *target = b->base->target;
    const bool stay = m->entry && (target->keep_inputs || b->base->preserve_inputs);
    const bool early = m->entry && target->keep_outputs;
    const int both = ARENAUT_HELD_BEFORE | ARENAUT_HELD_AFTER;
    hold(b, m->inputs, m->n_inputs, stay ? both : ARENAUT_HELD_BEFORE);
    hold(b, m->outputs, m->n_outputs, early ? both : ARENAUT_HELD_AFTER);
    for (uint32_t i = 0; i < b->part->n_plain; i++) {
        if (b->always[i]) b->held[i] |= (uint8_t)both;
        if (b->held[i] & ARENAUT_HELD_BEFORE) b->part->start += b->part->size[i];
    }
}

/* ---- what an op waits for ---- */

/* The first wait of this op or one behind it: they stand by ops. */
static uint32_t find_waits(const arn_order_waits *waits, uint32_t op) {
    uint32_t low = 0, high = waits->n;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (waits->list[middle].op < op) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* What passes put behind all the others comes behind them, one after another. */
static bool add_waits(builder *b) {
    const arn_order_waits *waits = &b->base->waits;
    const uint32_t at = b->part->first;
    const uint32_t begin = find_waits(waits, at), end = find_waits(waits, at + b->part->n_ops);
    uint32_t first = b->n_units;
    while (first > 0 && b->part->op[first - 1] == ARENAUT_NONE) first--;
    const uint64_t behind = first < b->n_units ? (uint64_t)b->n_units : 0;
    if (end - begin + behind > UINT32_MAX) return false;
    b->waits = arn_region_allocate(b->base->region, end - begin + (size_t)behind, sizeof *b->waits);
    if (!b->waits) return false;
    for (uint32_t i = begin; i < end; i++) {
        const arenaut_order_wait *w = &waits->list[i];
        if (w->first < at) continue;
        const uint32_t op = b->unit[w->op - at], earlier = b->unit[w->first - at];
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

/* ---- all of it ---- */

static void number(builder *b, uint32_t from, uint32_t to) {
    arn_order_base *base = b->base;
    for (uint32_t i = from; i < to; i++) {
        const uint32_t buffer = base->listed[i];
        b->buffer[b->n_buffers] = buffer;
        b->part->size[b->n_buffers] = base->size[buffer];
        b->always[b->n_buffers] = base->always[buffer];
        base->local[buffer] = b->n_buffers++;
    }
}

/* Between jumps the problem has no more than what the ops name. */
static void number_named(builder *b, const uint32_t *tensors, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t t = tensors[i];
        const uint32_t buffer = t == ARENAUT_NONE ? t : b->base->lowering->buffer[t];
        if (buffer == ARENAUT_NONE || b->base->local[buffer] != ARENAUT_NONE) continue;
        b->buffer[b->n_buffers] = buffer;
        b->part->size[b->n_buffers] = b->base->size[buffer];
        b->always[b->n_buffers] = b->base->always[buffer];
        b->base->local[buffer] = b->n_buffers++;
    }
}

static void number_between_jumps(builder *b) {
    for (uint32_t i = 0; i < b->part->n_ops; i++) {
        const arenaut_op *op = op_at(b, i);
        number_named(b, op->inputs, op->n_inputs);
        number_named(b, op->outputs, op->n_outputs);
        number_named(b, op->scratch, op->n_scratch);
    }
    b->part->n_plain = b->n_buffers;
}

/* Buffers of the method first, then what is alive in all. */
static void number_buffers(builder *b) {
    const uint32_t *begin = b->base->begin, m = b->part->method, n = b->program->n_methods;
    number(b, begin[m], begin[m + 1]);
    if (b->method->entry) number(b, begin[n], begin[n + 1]);
    b->part->n_plain = b->n_buffers;
}

static void forget_numbers(builder *b) {
    for (uint32_t i = 0; i < b->n_named; i++) b->base->local[b->buffer[i]] = ARENAUT_NONE;
}

static bool allocate(builder *b) {
    arn_region *region = b->base->region;
    const uint32_t *begin = b->base->begin, m = b->part->method, n = b->program->n_methods;
    const uint32_t n_ops = b->part->n_ops;
    size_t arguments = 0, rights = 0, calls = 0;
    for (uint32_t i = 0; i < n_ops; i++) {
        const arenaut_op *op = op_at(b, i);
        arguments += (size_t)n_arguments(op);
        rights += (size_t)op->n_in_place + op->n_overlaps;
        calls += op->n_calls > 0;
    }
    const size_t own = (size_t)begin[m + 1] - begin[m] + begin[n + 1] - begin[n];
    const size_t buffers = (flows(b) ? arguments : own) + calls;
    arn_order_part *part = b->part;
    part->size = arn_region_allocate(region, buffers, sizeof *part->size);
    part->caller = arn_region_allocate(region, calls, sizeof *part->caller);
    part->op = arn_region_allocate(region, n_ops, sizeof *part->op);
    b->buffer = arn_region_allocate(region, buffers, sizeof *b->buffer);
    b->held = arn_region_allocate(region, buffers, sizeof *b->held);
    b->always = arn_region_allocate(region, buffers, sizeof *b->always);
    b->stamp = arn_region_allocate(region, buffers, sizeof *b->stamp);
    b->uses = arn_region_allocate(region, arguments + calls, sizeof *b->uses);
    b->rights = arn_region_allocate(region, rights, sizeof *b->rights);
    b->unit = arn_region_allocate(region, n_ops, sizeof *b->unit);
    b->most = arn_region_allocate(region, n_ops, sizeof *b->most);
    if (!part->size || !part->caller || !part->op || !b->buffer || !b->held || !b->always ||
        !b->stamp || !b->uses || !b->rights || !b->unit || !b->most) {
        return false;
    }
    memset(b->held, 0, buffers);
    memset(part->size, 0, buffers * sizeof *part->size);
    return true;
}

static arenaut_status build(builder *b) {
    arenaut_status st = check_method(b);
    if (st != ARENAUT_OK) return st;
    if (!allocate(b)) return arn_no_memory(b->err);
    const char *why = find_units(b);
    if (why) return refuse(b, why);
    if (flows(b)) number_between_jumps(b);
    else number_buffers(b);
    b->n_named = b->n_buffers;
    for (uint32_t i = 0; i < b->part->n_ops; i++) add_uses(b, i);
    if (flows(b)) {
        if (!add_held_between_jumps(b)) return refuse(b, "memory is written anew between jumps");
    } else {
        add_held(b);
    }
    if (!units_need_as_much(b)) {
        return arn_fail(b->err, ARENAUT_REFUSED, 0, "one op of the file stands for several ops");
    }
    return add_waits(b) ? ARENAUT_OK : arn_no_memory(b->err);
}

arenaut_status arn_order_part_make(arn_order_base *base, arn_order_part *part, arenaut_error *err) {
    builder b = {.base = base,
                 .program = base->program,
                 .method = &base->program->methods[part->method],
                 .part = part,
                 .err = err};
    const arenaut_status st = build(&b);
    forget_numbers(&b);
    part->problem =
        (arenaut_order_problem){b.n_units,  b.n_buffers, b.n_uses, b.n_waits, b.n_rights,
                                part->size, b.held,      b.uses,   b.waits,   b.rights};
    return st;
}
