/* The order problem that no choice of joins in place, and of views that are copies, is below. What
 * is joined consists of the pieces of its parts, a copy of those of what it is a copy of. In place
 * or not, names or copies, each piece is somewhere from when it is made until it has been read for
 * the last time, under whatever name; so that is what counts, once, and joining and copying cost
 * nothing. Whoever reads a part reads its pieces, whoever reads the whole all of them. A piece
 * within something else is not rounded up by itself, so that it counts with the bytes that it has.
 *
 * A view's op may stand right behind what made the whole wherever it only names that, so that it
 * may well count as one that reads it. An op that may write what is cut over an operand makes
 * something else of its size, which is there while it runs: a right is to write one buffer. */
#include "rewrite/order/order_program.h"

#include <string.h>

#include "core/checked.h"
#include "core/fail.h"
#include "rewrite/order/order_pieces.h"

enum { MOST_USES = 1 << 22 };

typedef struct loosening {
    arenaut_order_problem *problem;
    arn_region *region;
    arn_order_pieces pieces;
    uint32_t *stands_in; /* per buffer that is cut: what is there while it is made; NONE: itself */
    uint32_t *maker;     /* likewise: the op that makes it over an operand */
    uint64_t *size;
    uint8_t *held;
    uint32_t n_buffers, n_all; /* without and with pieces and what stands in */
} loosening;

static bool is_cut(const loosening *l, uint32_t buffer) {
    return l->pieces.is_whole[buffer] && !l->pieces.is_made[buffer];
}

/* Its pieces, or itself. */
static uint32_t pieces_of(const loosening *l, const uint32_t *buffer, const uint32_t **list) {
    const arn_order_pieces *p = &l->pieces;
    *list = p->is_whole[*buffer] ? p->list + p->first[*buffer] : buffer;
    return p->is_whole[*buffer] ? p->count[*buffer] : 1;
}

static uint32_t count_stand_ins(const loosening *l) {
    uint32_t n = 0;
    for (uint32_t b = 0; b < l->n_buffers; b++) n += is_cut(l, b);
    return n;
}

static bool allocate(loosening *l) {
    const uint32_t most = l->pieces.n + count_stand_ins(l);
    l->n_all = l->pieces.n;
    l->size = arn_region_allocate(l->region, most, sizeof *l->size);
    l->held = arn_region_allocate(l->region, most, sizeof *l->held);
    l->stands_in = arn_region_allocate(l->region, l->n_buffers, 2 * sizeof *l->stands_in);
    if (!l->size || !l->held || !l->stands_in) return false;
    l->maker = l->stands_in + l->n_buffers;
    memset(l->held, 0, most * sizeof *l->held);
    for (uint32_t b = 0; b < l->n_buffers; b++) l->stands_in[b] = ARENAUT_NONE;
    for (uint32_t i = 0; i < l->pieces.n; i++) {
        const bool rounded = i < l->n_buffers && !l->pieces.is_part[i] && !l->pieces.is_whole[i];
        l->size[i] = rounded ? l->problem->size[i] : l->pieces.bytes[i];
    }
    return true;
}

/* ---- buffers ---- */

/* Not rounded up, as where it is a part; nothing if it may be one of what is not in the arena. */
static uint64_t least_bytes(const loosening *l, uint32_t buffer) {
    const uint32_t *list, n = pieces_of(l, &buffer, &list);
    uint64_t bytes = 0, planned = 0;
    for (uint32_t i = 0; i < n; i++) {
        bytes += l->pieces.bytes[list[i]];
        planned += l->size[list[i]];
    }
    return planned > 0 ? bytes : 0;
}

static void stand_in(loosening *l) {
    const arenaut_order_problem *p = l->problem;
    for (uint32_t i = 0; i < p->n_rights; i++) {
        const uint32_t made = p->rights[i].made;
        if (!is_cut(l, made) || l->stands_in[made] != ARENAUT_NONE) continue;
        l->stands_in[made] = l->n_all;
        l->maker[made] = p->rights[i].op;
        l->size[l->n_all++] = least_bytes(l, made);
    }
}

static void hold(loosening *l) {
    for (uint32_t b = 0; b < l->n_buffers; b++) {
        const uint32_t *list, n = pieces_of(l, &b, &list);
        for (uint32_t i = 0; i < n; i++) l->held[list[i]] |= l->problem->held[b];
    }
}

/* What may be a part of what is not in the arena costs nothing. */
static void leave_out(loosening *l) {
    for (uint32_t b = 0; b < l->n_buffers; b++) {
        const uint32_t *list, n = l->pieces.may_leave[b] ? pieces_of(l, &b, &list) : 0;
        for (uint32_t i = 0; i < n; i++) l->size[list[i]] = 0;
    }
}

/* ---- uses ---- */

static arenaut_status too_many(arenaut_error *err) {
    return arn_fail(err, ARENAUT_REFUSED, 0, "too many parts are joined or copied");
}

static arenaut_status settle_uses(loosening *l, arenaut_error *err) {
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

/* What a right may save at most; over parts, all of what is made: there may be more of them. */
static uint64_t most_saved(const loosening *l, const arenaut_order_right *r) {
    const bool parts = l->pieces.is_whole[r->over] || l->pieces.is_part[r->over];
    const uint64_t all = l->size[is_cut(l, r->made) ? l->stands_in[r->made] : r->made];
    return parts ? all : arn_min_u64(r->bytes, all);
}

/* A join that costs nothing saves nothing, and no more does a copy. */
static bool remains(const loosening *l, const arenaut_order_right *r) {
    return !l->pieces.is_made[r->made] && most_saved(l, r) > 0;
}

static arenaut_status settle_rights(loosening *l, arenaut_error *err) {
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

/* ---- all of it ---- */

static arenaut_status loosen(loosening *l, arenaut_error *err) {
    if (!allocate(l)) return arn_no_memory(err);
    hold(l);
    leave_out(l);
    stand_in(l);
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
    if (order->n_parts != 1 || order->base.alive ||
        order->parts[0].problem.n_buffers != lowering->problem->n_buffers) {
        return arn_fail(err, ARENAUT_REFUSED, 0,
                        "joins and views are bound in programs of one method only");
    }
    loosening l = {.problem = &order->parts[0].problem,
                   .region = &order->region,
                   .n_buffers = lowering->problem->n_buffers};
    const arenaut_status st =
        arn_order_find_pieces(program, lowering, choices, MOST_USES, l.region, &l.pieces, err);
    return st == ARENAUT_OK ? loosen(&l, err) : st;
}
