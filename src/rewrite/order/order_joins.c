/* The order problem that no choice of joins in place is below. What is joined consists of the parts
 * that nothing joins. In place or not, each of these is somewhere from when it is made until it has
 * been read for the last time, under its own name or as a part of what it was joined to; so that is
 * what counts, once, and joining costs nothing. A part in place is not rounded up by itself, so
 * that it counts with the bytes that it has. */
#include "rewrite/order/order_program.h"

#include <string.h>

#include "core/checked.h"
#include "core/fail.h"

enum { MOST_USES = 1 << 22 };

typedef struct loosening {
    const arenaut_program *program;
    const uint32_t *buffer; /* per tensor */
    const uint64_t *bytes;  /* per buffer, not rounded */
    arenaut_order_problem *problem;
    arn_region *region;
    uint32_t *joined_by; /* per buffer: the op that joins it, if it may do so in place; NONE */
    bool *is_part;       /* per buffer: of such a join */
    bool *outside;       /* per buffer: of one whose result is not in the arena */
    uint64_t *size;
    uint8_t *held;
    /* Parts of the buffer that was asked about last. */
    uint32_t *parts, *stack, *seen, n_parts, asked;
} loosening;

static bool allocate(loosening *l) {
    const uint32_t n = l->problem->n_buffers;
    l->joined_by = arn_region_allocate(l->region, n, sizeof *l->joined_by);
    l->is_part = arn_region_allocate(l->region, n, sizeof *l->is_part);
    l->outside = arn_region_allocate(l->region, n, sizeof *l->outside);
    l->size = arn_region_allocate(l->region, n, sizeof *l->size);
    l->held = arn_region_allocate(l->region, n, sizeof *l->held);
    l->parts = arn_region_allocate(l->region, n, 3 * sizeof *l->parts);
    if (!l->joined_by || !l->is_part || !l->outside || !l->size || !l->held || !l->parts) {
        return false;
    }
    l->stack = l->parts + n;
    l->seen = l->stack + n;
    for (uint32_t b = 0; b < n; b++) {
        l->joined_by[b] = ARENAUT_NONE;
        l->is_part[b] = l->outside[b] = false;
        l->seen[b] = 0;
    }
    return true;
}

static uint32_t buffer_of(const loosening *l, uint32_t tensor) {
    return tensor == ARENAUT_NONE ? tensor : l->buffer[tensor];
}

static void note_join(loosening *l, uint32_t i) {
    const arenaut_op *op = &l->program->ops[i];
    const uint32_t whole = buffer_of(l, op->outputs[0]);
    if (whole != ARENAUT_NONE) l->joined_by[whole] = i;
    for (uint32_t k = 0; k < op->n_inputs; k++) {
        const uint32_t part = buffer_of(l, op->inputs[k]);
        if (part == ARENAUT_NONE) continue;
        l->is_part[part] = true;
        l->outside[part] = l->outside[part] || whole == ARENAUT_NONE;
    }
}

static void push(loosening *l, uint32_t *depth, uint32_t buffer) {
    if (buffer == ARENAUT_NONE || l->seen[buffer] == l->asked) return;
    l->seen[buffer] = l->asked;
    l->stack[(*depth)++] = buffer;
}

/* Fills in l->parts: what the buffer is joined of, or itself. */
static void find_parts(loosening *l, uint32_t buffer) {
    uint32_t depth = 0;
    l->asked++;
    l->n_parts = 0;
    push(l, &depth, buffer);
    while (depth > 0) {
        const uint32_t b = l->stack[--depth];
        if (l->joined_by[b] == ARENAUT_NONE) {
            l->parts[l->n_parts++] = b;
            continue;
        }
        const arenaut_op *op = &l->program->ops[l->joined_by[b]];
        for (uint32_t k = 0; k < op->n_inputs; k++) push(l, &depth, buffer_of(l, op->inputs[k]));
    }
}

static void settle_buffers(loosening *l) {
    const arenaut_order_problem *p = l->problem;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        l->size[b] = l->is_part[b] ? l->bytes[b] : p->size[b];
        l->held[b] = 0;
    }
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (!l->outside[b] && !p->held[b]) continue;
        find_parts(l, b);
        for (uint32_t i = 0; i < l->n_parts; i++) {
            l->held[l->parts[i]] |= p->held[b];
            if (l->outside[b]) l->size[l->parts[i]] = 0;
        }
    }
}

static arenaut_status too_many(arenaut_error *err) {
    return arn_fail(err, ARENAUT_REFUSED, 0, "too many parts are joined in place");
}

static arenaut_status settle_uses(loosening *l, arenaut_error *err) {
    arenaut_order_problem *p = l->problem;
    uint64_t n = 0;
    for (uint32_t i = 0; i < p->n_uses && n <= MOST_USES; i++) {
        find_parts(l, p->uses[i].buffer);
        n += l->n_parts;
    }
    if (n > MOST_USES) return too_many(err);
    arenaut_order_use *uses = arn_region_allocate(l->region, (size_t)n, sizeof *uses);
    if (!uses) return arn_no_memory(err);
    n = 0;
    for (uint32_t i = 0; i < p->n_uses; i++) {
        find_parts(l, p->uses[i].buffer);
        for (uint32_t k = 0; k < l->n_parts; k++) {
            uses[n++] = (arenaut_order_use){p->uses[i].op, l->parts[k]};
        }
    }
    p->uses = uses;
    p->n_uses = (uint32_t)n;
    return ARENAUT_OK;
}

/* What a right may save at most; over parts, all of what is made: there may be more of them. */
static uint64_t most_saved(const loosening *l, const arenaut_order_right *r) {
    const bool parts = l->is_part[r->over] || l->joined_by[r->over] != ARENAUT_NONE;
    return parts ? l->size[r->made] : arn_min_u64(r->bytes, l->size[r->made]);
}

/* A join that costs nothing saves nothing. */
static bool remains(const loosening *l, const arenaut_order_right *r) {
    return l->joined_by[r->made] == ARENAUT_NONE && most_saved(l, r) > 0;
}

static arenaut_status settle_rights(loosening *l, arenaut_error *err) {
    arenaut_order_problem *p = l->problem;
    uint64_t n = 0;
    for (uint32_t i = 0; i < p->n_rights && n <= MOST_USES; i++) {
        find_parts(l, p->rights[i].over);
        n += l->n_parts;
    }
    if (n > MOST_USES) return too_many(err);
    arenaut_order_right *rights = arn_region_allocate(l->region, (size_t)n, sizeof *rights);
    if (!rights) return arn_no_memory(err);
    n = 0;
    for (uint32_t i = 0; i < p->n_rights; i++) {
        const arenaut_order_right *r = &p->rights[i];
        find_parts(l, r->over);
        for (uint32_t k = 0; k < l->n_parts && remains(l, r); k++) {
            if (l->parts[k] == r->made) continue;
            rights[n++] = (arenaut_order_right){r->op, r->made, l->parts[k], most_saved(l, r)};
        }
    }
    p->rights = rights;
    p->n_rights = (uint32_t)n;
    return ARENAUT_OK;
}

static bool is_among(const uint32_t *joins, uint32_t n, const arenaut_op *op) {
    bool among = false;
    for (uint32_t i = 0; i < n && op->n_outputs == 1; i++) among |= joins[i] == op->outputs[0];
    return among && op->kind == ARENAUT_OP_OUT;
}

static arenaut_status loosen(loosening *l, const uint32_t *joins, uint32_t n, arenaut_error *err) {
    if (!allocate(l)) return arn_no_memory(err);
    for (uint32_t i = 0; i < l->program->n_ops; i++) {
        if (is_among(joins, n, &l->program->ops[i])) note_join(l, i);
    }
    settle_buffers(l);
    arenaut_status st = settle_uses(l, err);
    if (st == ARENAUT_OK) st = settle_rights(l, err);
    l->problem->size = l->size;
    l->problem->held = l->held;
    return st;
}

arenaut_status arenaut_program_order_loosen(arenaut_program_order *order,
                                            const arenaut_program *program,
                                            const arenaut_lowering *lowering, const uint32_t *joins,
                                            uint32_t n, arenaut_error *err) {
    if (order->n_parts != 1 || order->base.alive) {
        return arn_fail(err, ARENAUT_REFUSED, 0, "joins are bound in programs of one method only");
    }
    loosening l = {.program = program,
                   .buffer = lowering->buffer,
                   .bytes = lowering->problem->size,
                   .problem = &order->parts[0].problem,
                   .region = &order->region};
    return loosen(&l, joins, n, err);
}
