/* The scheduling problem of a method, or of the ops between two jumps, in a lowered program. Its
 * units are the ops of the file: ops that passes inserted before one, such as allocations, stay
 * with it; ops that passes appended stay last. O(arguments + dependences). */
#include "analysis/aliases.h"
#include "ir/program.h"
#include "rewrite/order/schedule_problem.h"

#include <inttypes.h>
#include <string.h>

#include "core/checked.h"
#include "core/fail.h"

typedef struct builder {
    arn_schedule_context *context;
    const arenaut_program *program;
    const arenaut_method *method;
    arn_schedule_block *block;
    uint8_t *boundary;         /* per buffer of the problem */
    bool *always;              /* likewise: it is live in all methods */
    uint32_t *buffer, n_named; /* per buffer of the program: its number there */
    arenaut_order_use *uses;
    arenaut_order_dependence *dependences;
    arenaut_order_right *rights;
    uint32_t n_uses, n_dependences, n_rights, n_buffers;
    uint32_t *unit;  /* per op of the method: its op of the problem */
    uint32_t *most;  /* per op of the problem: its op of the program with most arguments */
    uint32_t *stamp; /* per buffer: the last op of the problem that uses it */
    uint32_t n_units;
    arenaut_error *err;
} builder;

/* ---- limits of reordering ---- */

/* Pairs of two results with one operand, which both must lie below: results are apart, so that the
 * lower one ends where the upper one begins, and the operand is above that. */
static bool is_of_one(const arenaut_overlap *a, const arenaut_overlap *b) {
    return a->output == b->output || (a->input == b->input && a->distance >= 0 && b->distance >= 0);
}

/* Two results over operands would save more than a single right. */
static bool overwrites_twice(const arenaut_op *op) {
    for (uint32_t i = 0; i < op->n_in_place; i++) {
        if (op->in_place[i].output != op->in_place[0].output) return true;
    }
    for (uint32_t i = 0; i < op->n_overlaps; i++) {
        if (op->n_in_place && op->overlaps[i].output != op->in_place[0].output) return true;
        for (uint32_t k = 0; k < i; k++) {
            if (!is_of_one(&op->overlaps[i], &op->overlaps[k])) return true;
        }
    }
    return false;
}

/* The reason; NULL: it can be reordered. */
static const char *refusal_of_op(const arenaut_op *op) {
    if (op->arguments_may_alias) return "its arguments may alias";
    if (overwrites_twice(op)) return "several results may be written over its operands";
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
            return "ops of its kind cannot move";
        default: return "ops of its kind cannot move";
    }
}

static arenaut_status refuse(const builder *b, const char *why) {
    return arn_fail(b->err, ARENAUT_REFUSED, 0, "the program cannot be reordered: %s", why);
}

static arenaut_status check_method(const builder *b) {
    for (uint32_t i = 0; i < b->method->n_bindings; i++) {
        if (b->method->bindings[i].kind == ARENAUT_BINDING_MUTATED) continue;
        return refuse(b, "some of its bindings are not outputs yet");
    }
    if (b->method->concurrent) return refuse(b, "its ops run concurrently");
    for (uint32_t i = 0; i < b->block->n_ops; i++) {
        const uint32_t at = b->block->first + i;
        const arenaut_op *op = &b->program->ops[at];
        const char *why = refusal_of_op(op);
        if (!why) continue;
        return arn_fail(b->err, ARENAUT_REFUSED, 0,
                        "op %" PRIu32 " (%.80s) cannot be reordered: %s", at,
                        op->name ? op->name : "unnamed", why);
    }
    return ARENAUT_OK;
}

/* ---- units ---- */

static bool has_jumps(const builder *b) {
    return b->context->dependences.flow.jumps[b->block->method];
}

static uint32_t n_arguments(const arenaut_op *op) {
    return op->n_inputs + op->n_outputs + op->n_scratch;
}

static const arenaut_op *op_at(const builder *b, uint32_t i) {
    return &b->program->ops[b->block->first + i];
}

/* Ops from one op of the file are one unit; an allocation belongs to the op after it. */
static const char *find_units(builder *b) {
    uint32_t *const ops = b->block->op;
    uint32_t last = ARENAUT_NONE; /* op of the file */
    bool behind = false, begun = false;
    for (uint32_t i = 0; i < b->block->n_ops; i++) {
        const arenaut_op *op = op_at(b, i);
        const bool own = op->file_index.given;
        if (own && behind) return "passes inserted ops between those of the file";
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

/* NONE: not in the arena, or live throughout. */
static uint32_t buffer_of(const builder *b, uint32_t tensor) {
    const uint32_t buffer = tensor == ARENAUT_NONE ? tensor : b->context->lowering->buffer[tensor];
    return buffer == ARENAUT_NONE ? buffer : b->context->local[buffer];
}

/* ---- uses and rights ---- */

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

/* Whether both are whole buffers: writing over part of one, or writing part of one, saves nothing.
 */
static bool are_buffers(const builder *b, uint32_t output, uint32_t input) {
    return buffer_of(b, output) != ARENAUT_NONE && buffer_of(b, input) != ARENAUT_NONE &&
           arn_fills_storage(b->program, output) && arn_fills_storage(b->program, input);
}

/* The bytes that count once if the result lies below the operand, by the distance of the kernel. */
static uint64_t shared(const builder *b, const arenaut_op *op, const arenaut_overlap *pair) {
    const uint32_t output = op->outputs[pair->output], input = op->inputs[pair->input];
    if (!are_buffers(b, output, input)) return 0;
    const uint32_t made = buffer_of(b, output), over = buffer_of(b, input);
    if (made == over) return 0;
    const uint64_t below = pair->distance > 0 ? (uint64_t)pair->distance : 0;
    if (below >= b->block->size[made]) return 0;
    return arn_min_u64(b->block->size[made] - arn_aligned(below, b->context->grain),
                       b->block->size[over]);
}

/* A result may overlap several operands at once: each is credited with the sum, an overestimate of
 * the saving, so that bounds hold. */
static uint64_t shared_by(const builder *b, const arenaut_op *op, uint32_t output) {
    const uint32_t made = buffer_of(b, op->outputs[output]);
    uint64_t all = 0;
    for (uint32_t k = 0; k < op->n_overlaps && made != ARENAUT_NONE; k++) {
        if (op->overlaps[k].output != output) continue;
        all = arn_min_u64(all + shared(b, op, &op->overlaps[k]), b->block->size[made]);
    }
    return all;
}

static void add_overlaps(builder *b, uint32_t i) {
    const arenaut_op *op = op_at(b, i);
    for (uint32_t k = 0; k < op->n_overlaps; k++) {
        if (shared(b, op, &op->overlaps[k]) == 0) continue;
        const uint32_t made = buffer_of(b, op->outputs[op->overlaps[k].output]);
        const uint32_t over = buffer_of(b, op->inputs[op->overlaps[k].input]);
        add_right(b, b->unit[i], made, over, shared_by(b, op, op->overlaps[k].output));
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
        add_right(b, unit, made, over, arn_min_u64(b->block->size[made], b->block->size[over]));
    }
    if (b->context->overlap) add_overlaps(b, i);
    if (op->n_calls == 0) return;
    const uint32_t more = b->n_buffers++;
    b->block->caller[more - b->block->n_plain] = b->block->first + i;
    b->uses[b->n_uses++] = (arenaut_order_use){unit, more};
}

/* A unit of several ops has the load of one of them if the others use only its buffers, or buffers
 * live throughout. */
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
            else if (b->stamp[buffer] != b->unit[i] && b->boundary[buffer] != 3) return false;
        }
    }
    return true;
}

/* The memory of a callee is live together with the calling op only. */
static bool calls_among_others(const builder *b, uint32_t first, uint32_t end) {
    uint32_t n_calling = 0, n_touching = 0;
    for (uint32_t i = first; i < end; i++) {
        n_calling += op_at(b, i)->n_calls > 0;
        n_touching += arn_op_kind_touches(op_at(b, i)->kind);
    }
    return n_calling > 0 && n_touching > 1;
}

static bool units_need_as_much(builder *b) {
    for (uint32_t i = 0; i < b->block->n_plain; i++) b->stamp[i] = ARENAUT_NONE;
    for (uint32_t i = 0, end; i < b->block->n_ops; i = end) {
        bool same = needs_as_much(b, b->most[b->unit[i]]);
        for (end = i; end < b->block->n_ops && b->unit[end] == b->unit[i]; end++) {
            same = same && needs_as_much(b, end);
        }
        if (!same || calls_among_others(b, i, end)) return false;
    }
    return true;
}

static void mark_boundary(builder *b, const uint32_t *tensors, uint32_t n, int boundary) {
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t buffer = buffer_of(b, tensors[i]);
        if (buffer != ARENAUT_NONE) b->boundary[buffer] |= (uint8_t)boundary;
    }
}

/* The only lifetime of a buffer among the steps of the ops; false: it has several. */
static bool find_lifetime(const builder *b, uint32_t buffer, arenaut_interval *lifetime) {
    const arenaut_problem *problem = b->context->lowering->problem;
    const int64_t first = b->block->step, end = first + b->block->n_ops;
    uint32_t n = 0;
    for (uint32_t k = 0; k < arenaut_problem_lifetime_count(problem, buffer); k++) {
        const arenaut_interval other = arenaut_problem_lifetimes(problem, buffer)[k];
        if (other.first >= end || other.end <= first) continue;
        *lifetime = other;
        n++;
    }
    return n == 1;
}

static bool makes(const builder *b, const arenaut_op *op, uint32_t buffer) {
    bool any = false;
    for (uint32_t i = 0; i < op->n_outputs && !any; i++) {
        any = op->outputs[i] != ARENAUT_NONE && buffer_of(b, op->outputs[i]) == buffer &&
              arn_makes_output(b->program, op, i);
    }
    for (uint32_t i = 0; i < op->n_scratch; i++) {
        any = any || buffer_of(b, op->scratch[i]) == buffer;
    }
    return any;
}

/* Between jumps, lifetimes show the live-in and live-out buffers: a definition by the first op is
 * not live-in, and a lifetime that extends past the last op is live-out. */
static bool add_boundary_between_jumps(builder *b) {
    const arenaut_method *m = b->method;
    const int64_t first = b->block->step, end = first + b->block->n_ops;
    uint64_t within = 0;
    for (uint32_t i = 0; i < b->block->n_plain; i++) {
        arenaut_interval lifetime;
        if (!find_lifetime(b, b->buffer[i], &lifetime)) return false;
        const bool before = lifetime.first <= first && !makes(b, op_at(b, 0), i);
        if (before) b->boundary[i] |= ARENAUT_LIVE_IN;
        if (lifetime.end > end) b->boundary[i] |= ARENAUT_LIVE_OUT;
        if (lifetime.first <= first) within += b->block->size[i];
        if (b->always[i]) b->boundary[i] = ARENAUT_LIVE_IN | ARENAUT_LIVE_OUT;
    }
    b->block->around = b->context->live[first] - within;
    if (b->block->first + b->block->n_ops < m->first_op + m->n_ops) return true;
    const bool stay = b->context->target->keep_inputs || b->context->preserve_inputs;
    mark_boundary(b, m->outputs, m->n_outputs, ARENAUT_LIVE_OUT);
    if (stay) mark_boundary(b, m->inputs, m->n_inputs, ARENAUT_LIVE_OUT);
    return true;
}

/* The caller keeps its results and no longer needs its inputs. */
static void add_boundary(builder *b) {
    const arenaut_method *m = b->method;
    const arenaut_target *target = b->context->target;
    const bool stay = m->entry && (target->keep_inputs || b->context->preserve_inputs);
    const bool early = m->entry && target->keep_outputs;
    const int both = ARENAUT_LIVE_IN | ARENAUT_LIVE_OUT;
    mark_boundary(b, m->inputs, m->n_inputs, stay ? both : ARENAUT_LIVE_IN);
    mark_boundary(b, m->outputs, m->n_outputs, early ? both : ARENAUT_LIVE_OUT);
    for (uint32_t i = 0; i < b->block->n_plain; i++) {
        if (b->always[i]) b->boundary[i] |= (uint8_t)both;
        if (b->boundary[i] & ARENAUT_LIVE_IN) b->block->start += b->block->size[i];
    }
}

/* ---- dependences ---- */

/* The first dependence of this op or a later one (binary search). */
static uint32_t find_dependences(const arn_dependences *dependences, uint32_t op) {
    uint32_t low = 0, high = dependences->n;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (dependences->list[middle].op < op) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* Ops appended by passes depend on all others, and form a chain. */
static bool add_dependences(builder *b) {
    const arn_dependences *dependences = &b->context->dependences;
    const uint32_t at = b->block->first;
    const uint32_t begin = find_dependences(dependences, at),
                   end = find_dependences(dependences, at + b->block->n_ops);
    uint32_t first = b->n_units;
    while (first > 0 && b->block->op[first - 1] == ARENAUT_NONE) first--;
    const uint64_t behind = first < b->n_units ? (uint64_t)b->n_units : 0;
    if (end - begin + behind > UINT32_MAX) return false;
    b->dependences = arn_region_allocate(b->context->region, end - begin + (size_t)behind,
                                         sizeof *b->dependences);
    if (!b->dependences) return false;
    for (uint32_t i = begin; i < end; i++) {
        const arenaut_order_dependence *w = &dependences->list[i];
        if (w->first < at) continue;
        const uint32_t op = b->unit[w->op - at], earlier = b->unit[w->first - at];
        if (op != earlier)
            b->dependences[b->n_dependences++] = (arenaut_order_dependence){op, earlier};
    }
    for (uint32_t i = 0; i < first && behind > 0; i++) {
        b->dependences[b->n_dependences++] = (arenaut_order_dependence){first, i};
    }
    for (uint32_t i = first + 1; i < b->n_units; i++) {
        b->dependences[b->n_dependences++] = (arenaut_order_dependence){i, i - 1};
    }
    return true;
}

/* ---- numbering ---- */

static void number(builder *b, uint32_t from, uint32_t to) {
    arn_schedule_context *context = b->context;
    for (uint32_t i = from; i < to; i++) {
        const uint32_t buffer = context->listed[i];
        b->buffer[b->n_buffers] = buffer;
        b->block->size[b->n_buffers] = context->size[buffer];
        b->always[b->n_buffers] = context->always[buffer];
        context->local[buffer] = b->n_buffers++;
    }
}

/* Between jumps, the problem has the buffers of its ops only. */
static void number_named(builder *b, const uint32_t *tensors, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t t = tensors[i];
        const uint32_t buffer = t == ARENAUT_NONE ? t : b->context->lowering->buffer[t];
        if (buffer == ARENAUT_NONE || b->context->local[buffer] != ARENAUT_NONE) continue;
        b->buffer[b->n_buffers] = buffer;
        b->block->size[b->n_buffers] = b->context->size[buffer];
        b->always[b->n_buffers] = b->context->always[buffer];
        b->context->local[buffer] = b->n_buffers++;
    }
}

static void number_between_jumps(builder *b) {
    for (uint32_t i = 0; i < b->block->n_ops; i++) {
        const arenaut_op *op = op_at(b, i);
        number_named(b, op->inputs, op->n_inputs);
        number_named(b, op->outputs, op->n_outputs);
        number_named(b, op->scratch, op->n_scratch);
    }
    b->block->n_plain = b->n_buffers;
}

/* The method's buffers, then those live in all methods. */
static void number_buffers(builder *b) {
    const uint32_t *begin = b->context->begin, m = b->block->method, n = b->program->n_methods;
    number(b, begin[m], begin[m + 1]);
    if (b->method->entry) number(b, begin[n], begin[n + 1]);
    b->block->n_plain = b->n_buffers;
}

static void forget_numbers(builder *b) {
    for (uint32_t i = 0; i < b->n_named; i++) b->context->local[b->buffer[i]] = ARENAUT_NONE;
}

static bool allocate(builder *b) {
    arn_region *region = b->context->region;
    const uint32_t *begin = b->context->begin, m = b->block->method, n = b->program->n_methods;
    const uint32_t n_ops = b->block->n_ops;
    size_t arguments = 0, rights = 0, calls = 0;
    for (uint32_t i = 0; i < n_ops; i++) {
        const arenaut_op *op = op_at(b, i);
        arguments += (size_t)n_arguments(op);
        rights += (size_t)op->n_in_place + op->n_overlaps;
        calls += op->n_calls > 0;
    }
    const size_t own = (size_t)begin[m + 1] - begin[m] + begin[n + 1] - begin[n];
    const size_t buffers = (has_jumps(b) ? arguments : own) + calls;
    arn_schedule_block *block = b->block;
    return ARN_REGION_ARRAYS(region, ARN_ARRAY(block->size, buffers),
                             ARN_ARRAY(block->caller, calls), ARN_ARRAY(block->op, n_ops),
                             ARN_ARRAY(b->buffer, buffers), ARN_ARRAY(b->boundary, buffers),
                             ARN_ARRAY(b->always, buffers), ARN_ARRAY(b->stamp, buffers),
                             ARN_ARRAY(b->uses, arguments + calls), ARN_ARRAY(b->rights, rights),
                             ARN_ARRAY(b->unit, n_ops), ARN_ARRAY(b->most, n_ops));
}

static arenaut_status build(builder *b) {
    arenaut_status st = check_method(b);
    if (st != ARENAUT_OK) return st;
    if (!allocate(b)) return arn_no_memory(b->err);
    const char *why = find_units(b);
    if (why) return refuse(b, why);
    if (has_jumps(b)) number_between_jumps(b);
    else number_buffers(b);
    b->n_named = b->n_buffers;
    for (uint32_t i = 0; i < b->block->n_ops; i++) add_uses(b, i);
    if (has_jumps(b)) {
        if (!add_boundary_between_jumps(b))
            return refuse(b, "a buffer has several lifetimes between jumps");
    } else {
        add_boundary(b);
    }
    if (!units_need_as_much(b)) {
        return arn_fail(b->err, ARENAUT_REFUSED, 0, "one op of the file stands for several ops");
    }
    return add_dependences(b) ? ARENAUT_OK : arn_no_memory(b->err);
}

arenaut_status arn_schedule_block_make(arn_schedule_context *context, arn_schedule_block *block,
                                       arenaut_error *err) {
    builder b = {.context = context,
                 .program = context->program,
                 .method = &context->program->methods[block->method],
                 .block = block,
                 .err = err};
    const arenaut_status st = build(&b);
    forget_numbers(&b);
    block->problem =
        (arenaut_order_problem){b.n_units,   b.n_buffers, b.n_uses, b.n_dependences, b.n_rights,
                                block->size, b.boundary,  b.uses,   b.dependences,   b.rights};
    return st;
}
