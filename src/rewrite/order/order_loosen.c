/* The order problem that no choice of joins in place, and of views that are copies, is below. What
 * is joined consists of the parts that nothing joins. In place or not, each of these is somewhere
 * from when it is made until it has been read for the last time, under its own name or as a part of
 * what it was joined to; so that is what counts, once, and joining costs nothing. A part in place
 * is not rounded up by itself, so that it counts with the bytes that it has.
 *
 * What views that may be copies are a part of is cut where they begin and end. Whoever reads such a
 * view reads these pieces, whoever reads the whole all of them; names or copies, each piece is
 * somewhere until its last reader, and a copy costs nothing either. A view's op may stand right
 * behind what made the whole wherever it only names that, so that it may well count as one that
 * reads it. An op that may write the whole over an operand makes something else of its size, which
 * is there while it runs: a right is to write one buffer. */
#include "rewrite/order/order_program.h"

#include <string.h>

#include "core/checked.h"
#include "core/fail.h"
#include "core/sort.h"

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
    uint32_t *first_piece, *n_pieces; /* per buffer: of what it consists, if it was cut or copied */
    uint32_t *stands_in; /* per buffer that was cut: what is there while it is made; NONE: itself */
    uint32_t *maker;     /* likewise: the op that makes it over an operand */
    uint64_t *size;
    uint8_t *held;
    uint32_t n_buffers, n_all; /* without and with pieces */
    /* Parts of the buffer that was asked about last. */
    uint32_t *parts, *stack, *seen, n_parts, asked;
} loosening;

static bool allocate(loosening *l) {
    const uint32_t n = l->n_all;
    l->joined_by = arn_region_allocate(l->region, n, sizeof *l->joined_by);
    l->is_part = arn_region_allocate(l->region, n, sizeof *l->is_part);
    l->outside = arn_region_allocate(l->region, n, sizeof *l->outside);
    l->size = arn_region_allocate(l->region, n, sizeof *l->size);
    l->held = arn_region_allocate(l->region, n, sizeof *l->held);
    l->parts = arn_region_allocate(l->region, n, 3 * sizeof *l->parts);
    l->first_piece = arn_region_allocate(l->region, n, 4 * sizeof *l->first_piece);
    if (!l->joined_by || !l->is_part || !l->outside || !l->size || !l->held || !l->parts ||
        !l->first_piece) {
        return false;
    }
    l->n_pieces = l->first_piece + n;
    l->stands_in = l->n_pieces + n;
    l->maker = l->stands_in + n;
    l->stack = l->parts + n;
    l->seen = l->stack + n;
    for (uint32_t b = 0; b < n; b++) {
        l->joined_by[b] = l->stands_in[b] = ARENAUT_NONE;
        l->is_part[b] = l->outside[b] = false;
        l->seen[b] = l->n_pieces[b] = 0;
        l->size[b] = l->held[b] = 0;
    }
    return true;
}

/* ---- views ---- */

typedef struct ends {
    const arenaut_part *parts;
    uint32_t *ids; /* twice a part, and one more where it ends, by where that is */
} ends;

static uint64_t end_at(const ends *e, uint32_t id) {
    const arenaut_part *p = &e->parts[id / 2];
    return id % 2 ? p->offset + p->bytes : p->offset;
}

static bool ends_before(const void *context, uint32_t a, uint32_t b) {
    const ends *e = context;
    const uint32_t x = e->parts[a / 2].whole, y = e->parts[b / 2].whole;
    return x != y ? x < y : end_at(e, a) < end_at(e, b);
}

static uint32_t add_piece(loosening *l, uint64_t bytes) {
    l->size[l->n_all] = bytes;
    l->is_part[l->n_all] = true;
    return l->n_all++;
}

/* Cuts one whole, of whose parts these are the ends, in their order. */
static void cut(loosening *l, const ends *e, const uint32_t *ids, uint32_t n) {
    const uint32_t whole = l->buffer[e->parts[ids[0] / 2].whole];
    uint64_t at = 0;
    l->first_piece[whole] = l->n_all;
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t next = end_at(e, ids[i]);
        if (next > at) add_piece(l, next - at);
        at = next;
        const uint32_t copy = l->buffer[e->parts[ids[i] / 2].tensor];
        if (ids[i] % 2 == 0) l->first_piece[copy] = l->n_all;
        else l->n_pieces[copy] = l->n_all - l->first_piece[copy];
    }
    if (l->bytes[whole] > at) add_piece(l, l->bytes[whole] - at);
    l->n_pieces[whole] = l->n_all - l->first_piece[whole];
}

static bool cut_all(loosening *l, const arenaut_part *parts, uint32_t n) {
    ends e = {parts, arn_region_allocate(l->region, n, 4 * sizeof *e.ids)};
    if (!e.ids) return false;
    for (uint32_t i = 0; i < 2 * n; i++) e.ids[i] = i;
    arn_sort_ids(e.ids, 2 * n, ends_before, &e, e.ids + 2 * (size_t)n);
    l->n_all = l->n_buffers;
    for (uint32_t i = 0, k; i < 2 * n; i = k) {
        for (k = i; k < 2 * n && parts[e.ids[k] / 2].whole == parts[e.ids[i] / 2].whole; k++) {
        }
        cut(l, &e, e.ids + i, k - i);
    }
    return true;
}

static void stand_in(loosening *l) {
    const arenaut_order_problem *p = l->problem;
    for (uint32_t i = 0; i < p->n_rights; i++) {
        const uint32_t made = p->rights[i].made;
        if (l->n_pieces[made] == 0 || l->stands_in[made] != ARENAUT_NONE) continue;
        l->stands_in[made] = l->n_all;
        l->maker[made] = p->rights[i].op;
        l->size[l->n_all++] = p->size[made];
    }
}

/* A copy that nobody reads has no buffer, and whoever reads the whole reads all pieces. */
static uint32_t list_parts(const loosening *l, const arenaut_loosening *choices,
                           arenaut_part *parts) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < choices->n_parts; i++) {
        if (l->buffer[choices->parts[i].tensor] == ARENAUT_NONE) continue;
        parts[n++] = choices->parts[i];
    }
    return n;
}

/* Whether all of them, and what they are parts of, are in the arena, each in a buffer of its own,
 * lie where it is said, and nothing is both, or joined. */
static bool are_parts(const loosening *l, const arenaut_part *parts, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t whole = l->buffer[parts[i].whole], copy = l->buffer[parts[i].tensor];
        uint64_t end;
        if (whole == ARENAUT_NONE || copy == ARENAUT_NONE || whole == copy ||
            !arn_add(parts[i].offset, parts[i].bytes, &end) || end > l->bytes[whole] ||
            parts[i].bytes > l->bytes[copy] || parts[i].bytes == 0 ||
            l->joined_by[whole] != ARENAUT_NONE || l->joined_by[copy] != ARENAUT_NONE ||
            l->stack[copy]++) {
            return false;
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        if (l->stack[l->buffer[parts[i].whole]]) return false;
    }
    return true;
}

/* ---- joins ---- */

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
        for (uint32_t k = 0; k < l->n_pieces[b]; k++) push(l, &depth, l->first_piece[b] + k);
        if (l->n_pieces[b] > 0) continue;
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
    for (uint32_t b = 0; b < l->n_buffers; b++) {
        l->size[b] = l->is_part[b] ? l->bytes[b] : p->size[b];
    }
    for (uint32_t b = 0; b < l->n_buffers; b++) {
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
        const arenaut_order_use *use = &p->uses[i];
        const uint32_t other = l->stands_in[use->buffer];
        if (other != ARENAUT_NONE && l->maker[use->buffer] == use->op) {
            uses[n++] = (arenaut_order_use){use->op, other};
            continue;
        }
        find_parts(l, use->buffer);
        for (uint32_t k = 0; k < l->n_parts; k++) {
            uses[n++] = (arenaut_order_use){use->op, l->parts[k]};
        }
    }
    p->uses = uses;
    p->n_uses = (uint32_t)n;
    return ARENAUT_OK;
}

/* What a right may save at most; over parts, all of what is made: there may be more of them. */
static uint64_t most_saved(const loosening *l, const arenaut_order_right *r) {
    const bool parts =
        l->is_part[r->over] || l->joined_by[r->over] != ARENAUT_NONE || l->n_pieces[r->over] > 0;
    const uint64_t all = l->n_pieces[r->made] > 0 ? l->problem->size[r->made] : l->size[r->made];
    return parts ? all : arn_min_u64(r->bytes, all);
}

/* A join that costs nothing saves nothing, and no more does a copy. */
static bool remains(const loosening *l, const arenaut_order_right *r) {
    const bool costs = l->n_pieces[r->made] == 0 || l->stands_in[r->made] != ARENAUT_NONE;
    return costs && l->joined_by[r->made] == ARENAUT_NONE && most_saved(l, r) > 0;
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
            const uint32_t other = l->stands_in[r->made];
            const uint32_t made = other == ARENAUT_NONE ? r->made : other;
            rights[n++] = (arenaut_order_right){r->op, made, l->parts[k], most_saved(l, r)};
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

static arenaut_status loosen(loosening *l, const arenaut_loosening *choices, arenaut_error *err) {
    /* A part has two ends, its whole one more piece, and what stands in for it. */
    l->n_buffers = l->problem->n_buffers;
    if (choices->n_parts > MOST_USES) return too_many(err);
    l->n_all = l->n_buffers + 4 * choices->n_parts;
    if (!allocate(l)) return arn_no_memory(err);
    for (uint32_t i = 0; i < l->program->n_ops; i++) {
        if (is_among(choices->joins, choices->n_joins, &l->program->ops[i])) note_join(l, i);
    }
    memset(l->stack, 0, l->n_buffers * sizeof *l->stack);
    arenaut_part *parts = arn_region_allocate(l->region, choices->n_parts, sizeof *parts);
    if (!parts) return arn_no_memory(err);
    const uint32_t n_parts = list_parts(l, choices, parts);
    if (!are_parts(l, parts, n_parts)) {
        return arn_fail(err, ARENAUT_REFUSED, 0, "views are of what is no buffer of its own");
    }
    if (!cut_all(l, parts, n_parts)) return arn_no_memory(err);
    stand_in(l);
    settle_buffers(l);
    arenaut_status st = settle_uses(l, err);
    if (st == ARENAUT_OK) st = settle_rights(l, err);
    l->problem->size = l->size;
    l->problem->held = l->held;
    l->problem->n_buffers = l->n_all;
    return st;
}

arenaut_status arenaut_program_order_loosen(arenaut_program_order *order,
                                            const arenaut_program *program,
                                            const arenaut_lowering *lowering,
                                            const arenaut_loosening *choices, arenaut_error *err) {
    if (order->n_parts != 1 || order->base.alive) {
        return arn_fail(err, ARENAUT_REFUSED, 0,
                        "joins and views are bound in programs of one method only");
    }
    loosening l = {.program = program,
                   .buffer = lowering->buffer,
                   .bytes = lowering->problem->size,
                   .problem = &order->parts[0].problem,
                   .region = &order->region};
    return loosen(&l, choices, err);
}
