/* A relaxation that bounds all choices of in-place concatenations and materialized views from
 * below. Each concatenation consists of the pieces of its operands, each copy of the pieces of its
 * source. Joined in place or not, view or copy, each piece is somewhere from its definition to its
 * last use, under any name; so each piece counts once, and concatenations and copies are free. A
 * piece is not rounded up, unlike a buffer of its own.
 *
 * A view of the whole may be scheduled directly after the whole's definition, so that it counts as
 * a reader of all pieces. An op that may write a cut buffer over an operand defines a stand-in of
 * its size, live while it runs, since a right is to write one buffer.
 *
 * Pieces: concatenations are composed, in the sequence of the ops, of byte ranges of leaf buffers,
 * which are cut at the ends of these ranges. Memory outside of the arena has no pieces. O(n log n)
 * in ranges and uses, of which there are at most MOST_USES. */
#include <string.h>

#include <arenaut/lowering.h>
#include <arenaut/rewrite.h>

#include "core/checked.h"
#include "core/fail.h"
#include "core/memory.h"
#include "core/sort.h"
#include "rewrite/order/program_order.h"
#include "rewrite/order/schedule_problem.h"

/* Pieces have the numbers of buffers that are not cut, and further ones. All arrays are the
 * region's. */
typedef struct byte_pieces {
    uint32_t n;      /* numbers of pieces are below this */
    uint64_t *bytes; /* per piece: its size, not rounded; 0 for a cut buffer */
    bool *is_part;   /* per piece: it may lie within another buffer */
    bool *is_whole;  /* per buffer: it is cut or composed, and has a list of pieces; else it is its
                      * own piece */
    bool *is_made;   /* per buffer: of these, it is composed, and its definition is free */
    bool *may_leave; /* per buffer: it may be part of memory outside of the arena */
    uint32_t *first, *count; /* per such buffer: its list, without duplicates */
    uint32_t *list;
} byte_pieces;

typedef struct range {
    uint32_t base; /* a leaf buffer; NONE: not in the arena */
    uint32_t first_piece, n_pieces;
    uint64_t begin, end;
} range;

typedef struct composing {
    const arenaut_program *program;
    const arenaut_lowering *lowering;
    const arn_relaxation *choices;
    arn_region *region;
    uint32_t most;
    range *ranges;
    uint32_t n_ranges, capacity;
    uint32_t *first, *count; /* per composed buffer: its ranges */
    uint32_t *part;          /* per tensor: its index in the parts; NONE: it is no part */
    bool *joined;            /* per tensor: the result of a concatenation that may be in place */
    bool *is_made, *is_base; /* per buffer */
    bool *may_leave; /* likewise: an operand of a concatenation whose result is not in the arena */
    uint32_t *ids;   /* twice a range, plus one for its end, sorted by position; and scratch */
    byte_pieces *pieces;
} composing;

static arenaut_status no_own_buffer(arenaut_error *err) {
    return arn_fail(
        err, ARENAUT_REFUSED, 0,
        "an operand of a join, or the source of a copy, shares its buffer with other tensors");
}

static arenaut_status too_many(arenaut_error *err) {
    return arn_fail(err, ARENAUT_REFUSED, 0, "joins and copies have too many parts");
}

static uint64_t bytes_of(const composing *c, uint32_t buffer) {
    return c->lowering->problem->size[buffer];
}

static bool owns(const composing *c, uint32_t tensor) {
    const uint32_t buffer = c->lowering->buffer[tensor];
    return buffer == ARENAUT_NONE || c->lowering->tensor[buffer] == tensor;
}

/* ---- composition ---- */

static arenaut_status add_range(composing *c, uint32_t base, uint64_t begin, uint64_t end,
                                arenaut_error *err) {
    if (begin == end) return ARENAUT_OK;
    if (c->n_ranges >= c->most) return too_many(err);
    if (c->n_ranges == c->capacity) {
        const uint32_t capacity = c->capacity ? 2 * c->capacity : 64;
        range *more = arn_region_allocate(c->region, capacity, sizeof *more);
        if (!more) return arn_no_memory(err);
        if (c->n_ranges > 0) memcpy(more, c->ranges, c->n_ranges * sizeof *more);
        c->ranges = more;
        c->capacity = capacity;
    }
    c->ranges[c->n_ranges++] = (range){.base = base, .begin = begin, .end = end};
    return ARENAUT_OK;
}

/* Bytes [begin, end) of a buffer, or of memory outside of the arena. */
static arenaut_status add_bytes(composing *c, uint32_t buffer, uint64_t begin, uint64_t end,
                                arenaut_error *err) {
    uint64_t at = 0;
    if (buffer == ARENAUT_NONE) return add_range(c, buffer, begin, end, err);
    if (end > bytes_of(c, buffer)) return no_own_buffer(err);
    if (!c->is_made[buffer]) {
        c->is_base[buffer] = true;
        return add_range(c, buffer, begin, end, err);
    }
    arenaut_status st = ARENAUT_OK;
    for (uint32_t i = 0; i < c->count[buffer] && st == ARENAUT_OK; i++) {
        const range r = c->ranges[c->first[buffer] + i];
        const uint64_t next = at + (r.end - r.begin);
        const uint64_t from = arn_max_u64(begin, at), to = arn_min_u64(end, next);
        if (from < to) {
            st = add_range(c, r.base, r.begin + (from - at), r.begin + (to - at), err);
        }
        at = next;
    }
    return st;
}

/* Begins a composed buffer, no part of which may have been used as a leaf. */
static arenaut_status begin_list(composing *c, uint32_t tensor, arenaut_error *err) {
    const uint32_t buffer = c->lowering->buffer[tensor];
    if (!owns(c, tensor) || c->is_base[buffer] || c->is_made[buffer]) return no_own_buffer(err);
    c->first[buffer] = c->n_ranges;
    return ARENAUT_OK;
}

static void end_list(composing *c, uint32_t tensor) {
    const uint32_t buffer = c->lowering->buffer[tensor];
    c->count[buffer] = c->n_ranges - c->first[buffer];
    c->is_made[buffer] = true;
}

static arenaut_status put_part(composing *c, const arn_part *part, arenaut_error *err) {
    uint64_t end;
    if (c->lowering->buffer[part->tensor] == ARENAUT_NONE) return ARENAUT_OK; /* it has no reader */
    if (!owns(c, part->whole) || !arn_add(part->offset, part->bytes, &end)) {
        return no_own_buffer(err);
    }
    arenaut_status st = begin_list(c, part->tensor, err);
    if (st == ARENAUT_OK) {
        st = add_bytes(c, c->lowering->buffer[part->whole], part->offset, end, err);
    }
    if (st == ARENAUT_OK) end_list(c, part->tensor);
    return st;
}

static arenaut_status put_operands(composing *c, const arenaut_op *op, arenaut_error *err) {
    const bool planned = c->lowering->buffer[op->outputs[0]] != ARENAUT_NONE;
    arenaut_status st = ARENAUT_OK;
    for (uint32_t k = 0; k < op->n_inputs && st == ARENAUT_OK; k++) {
        const uint32_t t = op->inputs[k];
        if (t == ARENAUT_NONE) continue;
        const uint32_t buffer = c->lowering->buffer[t];
        if (buffer != ARENAUT_NONE && !planned) c->may_leave[buffer] = true;
        st = add_bytes(c, buffer, 0, c->program->tensors[t].bytes, err);
    }
    return st;
}

/* Operands of a concatenation whose result is not in the arena are cut all the same: their pieces
 * may lie there. */
static arenaut_status put_join(composing *c, const arenaut_op *op, arenaut_error *err) {
    const uint32_t result = op->outputs[0];
    const bool planned = c->lowering->buffer[result] != ARENAUT_NONE;
    arenaut_status st = planned ? begin_list(c, result, err) : ARENAUT_OK;
    if (st == ARENAUT_OK) st = put_operands(c, op, err);
    if (st == ARENAUT_OK && planned) end_list(c, result);
    return st;
}

/* An alias cannot be written in place, and cannot hold operands. */
static bool may_join(const composing *c, const arenaut_op *op) {
    bool may = op->n_outputs == 1 && op->outputs[0] != ARENAUT_NONE && c->joined[op->outputs[0]] &&
               owns(c, op->outputs[0]);
    for (uint32_t k = 0; may && k < op->n_inputs; k++) {
        may = op->inputs[k] == ARENAUT_NONE || owns(c, op->inputs[k]);
    }
    return may;
}

static arenaut_status put_together(composing *c, arenaut_error *err) {
    const arenaut_program *p = c->program;
    arenaut_status st = ARENAUT_OK;
    for (uint32_t i = 0; i < p->n_ops && st == ARENAUT_OK; i++) {
        const arenaut_op *op = &p->ops[i];
        if (op->kind != ARENAUT_OP_OUT) continue;
        for (uint32_t k = 0; k < op->n_outputs && st == ARENAUT_OK; k++) {
            const uint32_t t = op->outputs[k];
            if (t == ARENAUT_NONE || c->part[t] == ARENAUT_NONE) continue;
            st = put_part(c, &c->choices->parts[c->part[t]], err);
        }
        if (st == ARENAUT_OK && may_join(c, op)) st = put_join(c, op, err);
    }
    return st;
}

/* ---- pieces ---- */

static uint64_t end_at(const composing *c, uint32_t id) {
    return id % 2 ? c->ranges[id / 2].end : c->ranges[id / 2].begin;
}

static bool ends_before(const void *context, uint32_t a, uint32_t b) {
    const composing *c = context;
    const uint32_t x = c->ranges[a / 2].base, y = c->ranges[b / 2].base;
    return x != y ? x < y : end_at(c, a) < end_at(c, b);
}

static void add_piece(byte_pieces *p, uint64_t bytes) {
    p->bytes[p->n] = bytes;
    p->is_part[p->n++] = true;
}

/* A leaf that is used only as a whole is one piece. */
static bool stays(composing *c, uint32_t base, const uint32_t *ids, uint32_t n) {
    const uint64_t bytes = bytes_of(c, base);
    for (uint32_t i = 0; i < n; i++) {
        if (end_at(c, ids[i]) != 0 && end_at(c, ids[i]) != bytes) return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        c->ranges[ids[i] / 2].first_piece = base;
        c->ranges[ids[i] / 2].n_pieces = 1;
    }
    c->pieces->is_part[base] = true;
    return true;
}

/* Cuts a leaf at these ends of its ranges, in ascending sequence. */
static void cut(composing *c, const uint32_t *ids, uint32_t n) {
    byte_pieces *p = c->pieces;
    const uint32_t base = c->ranges[ids[0] / 2].base;
    uint64_t at = 0;
    if (stays(c, base, ids, n)) return;
    const uint32_t first = p->n;
    for (uint32_t i = 0; i < n; i++) {
        range *r = &c->ranges[ids[i] / 2];
        const uint64_t next = end_at(c, ids[i]);
        if (next > at) add_piece(p, next - at);
        at = next;
        if (ids[i] % 2 == 0) r->first_piece = p->n;
        else r->n_pieces = p->n - r->first_piece;
    }
    if (bytes_of(c, base) > at) add_piece(p, bytes_of(c, base) - at);
    p->is_whole[base] = true;
    p->bytes[base] = 0;
    p->first[base] = first;
    p->count[base] = p->n - first;
}

static bool cut_all(composing *c) {
    uint32_t n = 0;
    c->ids = arn_region_allocate(c->region, c->n_ranges, 4 * sizeof *c->ids);
    if (!c->ids) return false;
    for (uint32_t i = 0; i < 2 * c->n_ranges; i++) {
        if (c->ranges[i / 2].base != ARENAUT_NONE) c->ids[n++] = i;
    }
    arn_sort_ids(c->ids, n, ends_before, c, c->ids + n);
    for (uint32_t i = 0, k; i < n; i = k) {
        const uint32_t base = c->ranges[c->ids[i] / 2].base;
        for (k = i; k < n && c->ranges[c->ids[k] / 2].base == base; k++) {
        }
        cut(c, c->ids + i, k - i);
    }
    return true;
}

/* ---- lists ---- */

/* The pieces of a leaf; *n counts, and the list may not exist yet. */
static bool list_base(byte_pieces *p, uint32_t base, uint32_t most, uint32_t *n) {
    const uint32_t first = p->first[base];
    if (p->count[base] > most - *n) return false;
    for (uint32_t i = 0; p->list && i < p->count[base]; i++) p->list[*n + i] = first + i;
    if (p->list) p->first[base] = *n;
    *n += p->count[base];
    return true;
}

static bool list_made(const composing *c, uint32_t buffer, uint32_t *seen, uint32_t *n) {
    byte_pieces *p = c->pieces;
    const uint32_t first = *n;
    for (uint32_t i = 0; i < c->count[buffer]; i++) {
        const range *r = &c->ranges[c->first[buffer] + i];
        for (uint32_t k = 0; r->base != ARENAUT_NONE && k < r->n_pieces; k++) {
            const uint32_t piece = r->first_piece + k;
            if (seen[piece] == buffer) continue;
            if (*n == c->most) return false;
            seen[piece] = buffer;
            if (p->list) p->list[*n] = piece;
            ++*n;
        }
    }
    if (p->list) p->first[buffer] = first;
    p->count[buffer] = *n - first;
    p->is_whole[buffer] = p->is_made[buffer] = true;
    p->bytes[buffer] = 0;
    return true;
}

static bool list_all(const composing *c, uint32_t *seen, uint32_t *n) {
    const uint32_t n_buffers = c->lowering->problem->n_buffers;
    bool all = true;
    *n = 0;
    for (uint32_t i = 0; i < c->pieces->n; i++) seen[i] = ARENAUT_NONE;
    for (uint32_t b = 0; b < n_buffers && all; b++) {
        if (c->is_made[b]) all = list_made(c, b, seen, n);
        else if (c->pieces->is_whole[b]) all = list_base(c->pieces, b, c->most, n);
    }
    return all;
}

/* Counts, then lists. */
static arenaut_status make_lists(composing *c, arenaut_error *err) {
    uint32_t n, *seen = arn_region_allocate(c->region, c->pieces->n, sizeof *seen);
    if (!seen) return arn_no_memory(err);
    if (!list_all(c, seen, &n)) return too_many(err);
    c->pieces->list = arn_region_allocate(c->region, n, sizeof *c->pieces->list);
    if (!c->pieces->list) return arn_no_memory(err);
    (void)list_all(c, seen, &n);
    return ARENAUT_OK;
}

/* ---- pieces of a program ---- */

static bool are_tensors(const arenaut_program *program, const arn_relaxation *choices) {
    bool are = true;
    for (uint32_t i = 0; i < choices->n_joins; i++) are &= choices->joins[i] < program->n_tensors;
    for (uint32_t i = 0; i < choices->n_parts; i++) {
        const arn_part *part = &choices->parts[i];
        are &= part->tensor < program->n_tensors && part->whole < program->n_tensors;
    }
    return are;
}

static bool allocate(composing *c) {
    const uint32_t n = c->lowering->problem->n_buffers, n_tensors = c->program->n_tensors;
    if (!ARN_REGION_ARRAYS(c->region, ARN_ARRAY(c->first, n), ARN_ARRAY(c->count, n),
                           ARN_ARRAY(c->is_made, n), ARN_ARRAY(c->is_base, n),
                           ARN_ARRAY(c->may_leave, n), ARN_ARRAY(c->part, n_tensors),
                           ARN_ARRAY(c->joined, n_tensors))) {
        return false;
    }
    for (uint32_t t = 0; t < n_tensors; t++) c->part[t] = ARENAUT_NONE;
    for (uint32_t i = 0; i < c->choices->n_joins; i++) c->joined[c->choices->joins[i]] = true;
    for (uint32_t i = 0; i < c->choices->n_parts; i++) c->part[c->choices->parts[i].tensor] = i;
    return true;
}

/* A range has two ends, and its leaf one more piece. */
static bool allocate_pieces(const composing *c) {
    byte_pieces *p = c->pieces;
    const uint32_t n = c->lowering->problem->n_buffers, most = n + 3 * c->n_ranges;
    if (!ARN_REGION_ARRAYS(c->region, ARN_ARRAY(p->bytes, most), ARN_ARRAY(p->is_part, most),
                           ARN_ARRAY(p->is_whole, n), ARN_ARRAY(p->is_made, n),
                           ARN_ARRAY(p->first, n), ARN_ARRAY(p->count, n))) {
        return false;
    }
    p->may_leave = c->may_leave;
    p->n = n;
    for (uint32_t b = 0; b < n; b++) p->bytes[b] = bytes_of(c, b);
    return true;
}

static arenaut_status find_pieces(const arenaut_program *program, const arenaut_lowering *lowering,
                                  const arn_relaxation *choices, uint32_t max_pieces,
                                  arn_region *region, byte_pieces *out, arenaut_error *err) {
    if (!are_tensors(program, choices)) {
        return arn_fail(err, ARENAUT_BAD_ARGUMENT, 0,
                        "a join or part is not a tensor of the program");
    }
    composing c = {.program = program,
                   .lowering = lowering,
                   .choices = choices,
                   .region = region,
                   .most = max_pieces,
                   .pieces = out};
    *out = (byte_pieces){0};
    if (!allocate(&c)) return arn_no_memory(err);
    arenaut_status st = put_together(&c, err);
    if (st != ARENAUT_OK) return st;
    if (!allocate_pieces(&c) || !cut_all(&c)) return arn_no_memory(err);
    return make_lists(&c, err);
}

/* ---- the relaxed problem ---- */

enum { MOST_USES = 1 << 22 };

typedef struct relaxing {
    arenaut_order_problem *problem;
    arn_region *region;
    byte_pieces pieces;
    uint32_t *stands_in; /* per cut buffer: its stand-in while it is defined; NONE: itself */
    uint32_t *maker;     /* likewise: the op that defines it over an operand */
    uint64_t *size;
    uint8_t *boundary;
    uint32_t n_buffers, n_all; /* without and with pieces and stand-ins */
} relaxing;

static bool is_cut(const relaxing *l, uint32_t buffer) {
    return l->pieces.is_whole[buffer] && !l->pieces.is_made[buffer];
}

/* The pieces of a buffer, or the buffer itself. */
static uint32_t pieces_of(const relaxing *l, const uint32_t *buffer, const uint32_t **list) {
    const byte_pieces *p = &l->pieces;
    *list = p->is_whole[*buffer] ? p->list + p->first[*buffer] : buffer;
    return p->is_whole[*buffer] ? p->count[*buffer] : 1;
}

static uint32_t count_stand_ins(const relaxing *l) {
    uint32_t n = 0;
    for (uint32_t b = 0; b < l->n_buffers; b++) n += is_cut(l, b);
    return n;
}

static bool allocate_relaxed(relaxing *l) {
    const uint32_t most = l->pieces.n + count_stand_ins(l);
    l->n_all = l->pieces.n;
    if (!ARN_REGION_ARRAYS(l->region, ARN_ARRAY(l->size, most), ARN_ARRAY(l->boundary, most),
                           ARN_ARRAY(l->stands_in, l->n_buffers),
                           ARN_ARRAY(l->maker, l->n_buffers))) {
        return false;
    }
    for (uint32_t b = 0; b < l->n_buffers; b++) l->stands_in[b] = ARENAUT_NONE;
    for (uint32_t i = 0; i < l->pieces.n; i++) {
        const bool rounded = i < l->n_buffers && !l->pieces.is_part[i] && !l->pieces.is_whole[i];
        l->size[i] = rounded ? l->problem->size[i] : l->pieces.bytes[i];
    }
    return true;
}

/* ---- buffers ---- */

/* Not rounded up, as a part of another buffer; 0 if it may be part of memory outside of the arena.
 */
static uint64_t least_bytes(const relaxing *l, uint32_t buffer) {
    const uint32_t *list, n = pieces_of(l, &buffer, &list);
    uint64_t bytes = 0, planned = 0;
    for (uint32_t i = 0; i < n; i++) {
        bytes += l->pieces.bytes[list[i]];
        planned += l->size[list[i]];
    }
    return planned > 0 ? bytes : 0;
}

static void stand_in(relaxing *l) {
    const arenaut_order_problem *p = l->problem;
    for (uint32_t i = 0; i < p->n_rights; i++) {
        const uint32_t made = p->rights[i].made;
        if (!is_cut(l, made) || l->stands_in[made] != ARENAUT_NONE) continue;
        l->stands_in[made] = l->n_all;
        l->maker[made] = p->rights[i].op;
        l->size[l->n_all++] = least_bytes(l, made);
    }
}

static void mark_boundary(relaxing *l) {
    for (uint32_t b = 0; b < l->n_buffers; b++) {
        const uint32_t *list, n = pieces_of(l, &b, &list);
        for (uint32_t i = 0; i < n; i++) l->boundary[list[i]] |= l->problem->boundary[b];
    }
}

/* Possible parts of memory outside of the arena are free. */
static void leave_out(relaxing *l) {
    for (uint32_t b = 0; b < l->n_buffers; b++) {
        const uint32_t *list, n = l->pieces.may_leave[b] ? pieces_of(l, &b, &list) : 0;
        for (uint32_t i = 0; i < n; i++) l->size[list[i]] = 0;
    }
}

/* ---- uses ---- */

static arenaut_status settle_uses(relaxing *l, arenaut_error *err) {
    arenaut_order_problem *p = l->problem;
    const uint32_t *list;
    uint64_t n = 0;
    for (uint32_t i = 0; i < p->n_uses && n <= MOST_USES; i++) {
        n += (uint64_t)pieces_of(l, &p->uses[i].buffer, &list) + 1;
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
        const uint32_t n_pieces = pieces_of(l, &use->buffer, &list);
        for (uint32_t k = 0; k < n_pieces; k++) {
            uses[n++] = (arenaut_order_use){use->op, list[k]};
        }
    }
    p->uses = uses;
    p->n_uses = (uint32_t)n;
    return ARENAUT_OK;
}

/* ---- rights ---- */

/* The most that a right can save; over pieces all of the result, which may cover several. */
static uint64_t most_saved(const relaxing *l, const arenaut_order_right *r) {
    const bool parts = l->pieces.is_whole[r->over] || l->pieces.is_part[r->over];
    const uint64_t all = l->size[is_cut(l, r->made) ? l->stands_in[r->made] : r->made];
    return parts ? all : arn_min_u64(r->bytes, all);
}

/* A free concatenation or copy saves nothing. */
static bool remains(const relaxing *l, const arenaut_order_right *r) {
    return !l->pieces.is_made[r->made] && most_saved(l, r) > 0;
}

static arenaut_status settle_rights(relaxing *l, arenaut_error *err) {
    arenaut_order_problem *p = l->problem;
    const uint32_t *list;
    uint64_t n = 0;
    for (uint32_t i = 0; i < p->n_rights && n <= MOST_USES; i++) {
        n += pieces_of(l, &p->rights[i].over, &list);
    }
    if (n > MOST_USES) return too_many(err);
    arenaut_order_right *rights = arn_region_allocate(l->region, (size_t)n, sizeof *rights);
    if (!rights) return arn_no_memory(err);
    n = 0;
    for (uint32_t i = 0; i < p->n_rights; i++) {
        const arenaut_order_right *r = &p->rights[i];
        const uint32_t n_pieces = pieces_of(l, &r->over, &list);
        for (uint32_t k = 0; k < n_pieces && remains(l, r); k++) {
            if (list[k] == r->made) continue;
            const uint32_t other = l->stands_in[r->made];
            const uint32_t made = other == ARENAUT_NONE ? r->made : other;
            rights[n++] = (arenaut_order_right){r->op, made, list[k], most_saved(l, r)};
        }
    }
    p->rights = rights;
    p->n_rights = (uint32_t)n;
    return ARENAUT_OK;
}

/* ---- relaxation ---- */

static arenaut_status relax(relaxing *l, arenaut_error *err) {
    if (!allocate_relaxed(l)) return arn_no_memory(err);
    mark_boundary(l);
    leave_out(l);
    stand_in(l);
    arenaut_status st = settle_uses(l, err);
    if (st == ARENAUT_OK) st = settle_rights(l, err);
    l->problem->size = l->size;
    l->problem->boundary = l->boundary;
    l->problem->n_buffers = l->n_all;
    return st;
}

arenaut_status arn_program_order_relax(arn_program_order *order, const arenaut_program *program,
                                       const arenaut_lowering *lowering,
                                       const arn_relaxation *choices, arenaut_error *err) {
    if (order->n_blocks != 1 || order->context.live ||
        order->blocks[0].problem.n_buffers != lowering->problem->n_buffers) {
        return arn_fail(err, ARENAUT_REFUSED, 0,
                        "joins and views are bounded in programs of a single method without jumps");
    }
    relaxing l = {.problem = &order->blocks[0].problem,
                  .region = &order->region,
                  .n_buffers = lowering->problem->n_buffers};
    const arenaut_status st =
        find_pieces(program, lowering, choices, MOST_USES, l.region, &l.pieces, err);
    return st == ARENAUT_OK ? relax(&l, err) : st;
}
