/* Outlining of row tiles: tiles with the same ops, one by one, on tensors of the same sizes in the
 * same places become calls of one method (procedural abstraction, Fraser et al. 1984): the ops of
 * the one, on the tensors of the other, are the ops of the other. */
#include <string.h>

#include "core/checked.h"
#include "core/memory.h"
#include "rewrite/split/tiled_draft.h"

/* A stretch of ops that may become a call. */
typedef struct tile {
    uint32_t first, end;
    uint32_t body;    /* the first tile like it */
    uint32_t n_alike; /* of such a one: tiles like it, itself included */
    uint32_t call;    /* if it is one */
} tile;

typedef struct outlining {
    arn_draft *draft;
    uint32_t n_before, n_tensors; /* of the program before; and those of the draft as well */
    uint32_t *last;               /* per tensor: the last op that reads it, 0 if none does */
    uint32_t *there, *back;       /* per tensor: its counterpart in the other tile, both ways */
    uint32_t *listed;             /* per tensor: the tile that it was last listed for */
    tile *tiles;
} outlining;

static bool is_constant(const outlining *c, uint32_t tensor) {
    if (tensor < c->n_before) {
        return c->draft->graph->program->tensors[tensor].cls == ARENAUT_CONSTANT;
    }
    return c->draft->tensors[tensor - c->n_before].origin.tensor == ARENAUT_NONE;
}

static const uint32_t *arguments_of(const outlining *c, uint32_t op) {
    return c->draft->arguments + c->draft->ops[op].first;
}

/* ---- slices in front ---- */

/* Rows taken from an image that is there as a whole: the place differs from tile to tile. */
static bool takes_from_outside(const outlining *c, uint32_t op) {
    const arn_draft_op *o = &c->draft->ops[op];
    return o->move == ARN_MOVE_SLICE && arguments_of(c, op)[0] < c->n_before;
}

/* Puts these ops in front of the tile's others, and lets it begin behind them. */
static bool move_to_front(outlining *c, tile *b) {
    arn_draft_op *ops = c->draft->ops;
    const uint32_t n = b->end - b->first;
    arn_draft_op *sorted = arn_allocate(c->draft->graph->allocator, n, sizeof *sorted);
    uint32_t at = 0;
    if (!sorted) return false;
    for (uint32_t i = b->first; i < b->end; i++) {
        if (takes_from_outside(c, i)) sorted[at++] = ops[i];
    }
    const uint32_t begin = b->first + at;
    for (uint32_t i = b->first; i < b->end; i++) {
        if (!takes_from_outside(c, i)) sorted[at++] = ops[i];
    }
    if (n > 0) memcpy(ops + b->first, sorted, n * sizeof *sorted);
    b->first = begin;
    arn_release(c->draft->graph->allocator, sorted);
    return true;
}

/* ---- equal tiles ---- */

static bool same_constants(const outlining *c, uint32_t a, uint32_t b) {
    if (a < c->n_before || b < c->n_before) return a == b;
    const arn_draft_tensor *left = &c->draft->tensors[a - c->n_before];
    const arn_draft_tensor *right = &c->draft->tensors[b - c->n_before];
    return left->n_values == right->n_values && left->rank == right->rank &&
           memcmp(left->values, right->values, left->n_values * sizeof *left->values) == 0;
}

static uint32_t origin_of(const outlining *c, uint32_t tensor) {
    return tensor < c->n_before ? tensor : c->draft->tensors[tensor - c->n_before].origin.tensor;
}

static bool same_sizes(const outlining *c, uint32_t a, uint32_t b) {
    const arenaut_tensor *of = &c->draft->graph->program->tensors[origin_of(c, a)];
    return origin_of(c, a) == origin_of(c, b) &&
           memcmp(arn_draft_dims(c->draft, a), arn_draft_dims(c->draft, b),
                  of->rank * sizeof(int64_t)) == 0;
}

/* Takes b for the counterpart of a, from now on. */
static bool match(outlining *c, uint32_t a, uint32_t b) {
    if (a == ARENAUT_NONE || b == ARENAUT_NONE) return a == b;
    if (is_constant(c, a) || is_constant(c, b)) {
        return is_constant(c, a) && is_constant(c, b) && same_constants(c, a, b);
    }
    if (c->there[a] != ARENAUT_NONE || c->back[b] != ARENAUT_NONE) return c->there[a] == b;
    c->there[a] = b;
    c->back[b] = a;
    return same_sizes(c, a, b);
}

static bool is_needed_later(const outlining *c, uint32_t tensor, const tile *b) {
    return tensor != ARENAUT_NONE && c->last[tensor] >= b->end;
}

static bool match_ops(outlining *c, const tile *a, const tile *b, uint32_t index) {
    const arn_draft_op *left = &c->draft->ops[a->first + index];
    const arn_draft_op *right = &c->draft->ops[b->first + index];
    const uint32_t *from = c->draft->arguments + left->first;
    const uint32_t *to = c->draft->arguments + right->first;
    if (left->before != right->before || left->move != right->move ||
        left->n_pads != right->n_pads || left->axis != right->axis ||
        memcmp(left->pads, right->pads, sizeof left->pads) != 0 ||
        left->n_inputs != right->n_inputs || left->n_outputs != right->n_outputs) {
        return false;
    }
    for (uint32_t i = 0; i < left->n_inputs + left->n_outputs; i++) {
        const bool made = i >= left->n_inputs;
        if (!match(c, from[i], to[i])) return false;
        if (made && is_needed_later(c, from[i], a) != is_needed_later(c, to[i], b)) return false;
    }
    return true;
}

static void forget(const outlining *c, const tile *b, uint32_t *counterparts) {
    for (uint32_t i = b->first; i < b->end; i++) {
        const arn_draft_op *op = &c->draft->ops[i];
        for (uint32_t k = 0; k < op->n_inputs + op->n_outputs; k++) {
            const uint32_t tensor = arguments_of(c, i)[k];
            if (tensor != ARENAUT_NONE) counterparts[tensor] = ARENAUT_NONE;
        }
    }
}

static bool are_alike(outlining *c, const tile *a, const tile *b) {
    const uint32_t n = a->end - a->first;
    bool alike = n > 0 && n == b->end - b->first;
    for (uint32_t i = 0; i < n && alike; i++) alike = match_ops(c, a, b, i);
    forget(c, a, c->there);
    forget(c, b, c->back);
    return alike;
}

static uint32_t find_bodies(outlining *c, uint32_t n) {
    uint32_t most = 0;
    for (uint32_t i = 0; i < n; i++) {
        tile *b = &c->tiles[i];
        b->body = i;
        b->n_alike = 1;
        for (uint32_t k = 0; k < i && b->body == i; k++) {
            if (c->tiles[k].body != k || !are_alike(c, &c->tiles[k], b)) continue;
            b->body = k;
            c->tiles[k].n_alike++;
        }
        if (c->tiles[b->body].n_alike > most) most = c->tiles[b->body].n_alike;
    }
    return most;
}

/* ---- calls ---- */

static bool list(outlining *c, uint32_t tensor, uint32_t number) {
    arn_draft *d = c->draft;
    if (tensor == ARENAUT_NONE || is_constant(c, tensor)) return false;
    if (c->listed[tensor] == number) return false;
    c->listed[tensor] = number;
    return arn_draft_make_room(d, (void **)&d->arguments, &d->arguments_capacity,
                               (uint64_t)d->n_arguments + 1, sizeof *d->arguments);
}

/* Live-in tensors of the tile's ops in the order of their readers, then its live-out tensors. */
static void list_arguments(outlining *c, uint32_t number, arn_draft_call *call) {
    arn_draft *d = c->draft;
    const tile *b = &c->tiles[number];
    call->first = d->n_arguments;
    for (uint32_t i = b->first; i < b->end; i++) {
        const arn_draft_op *op = &d->ops[i];
        for (uint32_t k = 0; k < op->n_inputs; k++) {
            const uint32_t tensor = arguments_of(c, i)[k];
            if (list(c, tensor, number)) d->arguments[d->n_arguments++] = tensor;
        }
        for (uint32_t k = 0; k < op->n_outputs; k++) {
            const uint32_t tensor = arguments_of(c, i)[op->n_inputs + k];
            if (tensor != ARENAUT_NONE) c->listed[tensor] = number;
        }
    }
    call->n_inputs = d->n_arguments - call->first;
    for (uint32_t i = b->first; i < b->end; i++) {
        const arn_draft_op *op = &d->ops[i];
        for (uint32_t k = 0; k < op->n_outputs; k++) {
            const uint32_t tensor = arguments_of(c, i)[op->n_inputs + k];
            if (!is_needed_later(c, tensor, b)) continue;
            c->listed[tensor] = ARENAUT_NONE;
            if (list(c, tensor, number)) d->arguments[d->n_arguments++] = tensor;
        }
    }
    call->n_outputs = d->n_arguments - call->first - call->n_inputs;
}

static void add_calls(outlining *c, uint32_t n) {
    arn_draft *d = c->draft;
    for (uint32_t i = 0; i < n; i++) {
        tile *b = &c->tiles[i];
        if (c->tiles[b->body].n_alike < 2) continue;
        if (!arn_draft_make_room(d, (void **)&d->calls, &d->calls_capacity,
                                 (uint64_t)d->n_calls + 1, sizeof *d->calls)) {
            return;
        }
        b->call = d->n_calls;
        arn_draft_call call = {
            .first_op = b->first, .n_ops = b->end - b->first, .body = c->tiles[b->body].call};
        list_arguments(c, i, &call);
        d->calls[d->n_calls++] = call;
    }
}

static void note_last(outlining *c) {
    for (uint32_t i = 0; i < c->draft->n_ops; i++) {
        for (uint32_t k = 0; k < c->draft->ops[i].n_inputs; k++) {
            const uint32_t tensor = arguments_of(c, i)[k];
            if (tensor != ARENAUT_NONE) c->last[tensor] = i;
        }
    }
}

static bool call_tiles(outlining *c, const uint32_t *starts, uint32_t n) {
    for (uint32_t t = 0; t < c->n_tensors; t++) {
        c->last[t] = 0;
        c->there[t] = c->back[t] = c->listed[t] = ARENAUT_NONE;
    }
    for (uint32_t i = 0; i < n; i++) {
        c->tiles[i] = (tile){.first = starts[i], .end = starts[i + 1]};
        if (!move_to_front(c, &c->tiles[i])) return false;
    }
    note_last(c);
    if (find_bodies(c, n) < 2) c->draft->refused = "no two of its tiles are alike";
    else add_calls(c, n);
    return true;
}

void arn_draft_call_tiles(arn_draft *draft, const uint32_t *starts, uint32_t n) {
    const arenaut_allocator *allocator = draft->graph->allocator;
    if (draft->failed) return;
    const uint32_t n_before = draft->graph->program->n_tensors;
    const uint32_t n_tensors = n_before + draft->n_tensors;
    outlining c = {.draft = draft, .n_before = n_before, .n_tensors = n_tensors};
    c.last = arn_allocate(allocator, n_tensors, 4 * sizeof *c.last);
    c.tiles = arn_allocate(allocator, n, sizeof *c.tiles);
    if (c.last) {
        c.there = c.last + n_tensors;
        c.back = c.there + n_tensors;
        c.listed = c.back + n_tensors;
    }
    if (!c.last || !c.tiles || !call_tiles(&c, starts, n)) draft->failed = true;
    ARN_RELEASE(allocator, c.last, c.tiles);
}

/* ---- questions ---- */

/* The last call that begins at this op or before; NULL: none. */
static const arn_draft_call *call_before(const arn_draft *draft, uint32_t op) {
    uint32_t low = 0, high = draft->n_calls;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (draft->calls[middle].first_op <= op) low = middle + 1;
        else high = middle;
    }
    return low > 0 ? &draft->calls[low - 1] : NULL;
}

const arn_draft_call *arn_draft_call_at(const arn_draft *draft, uint32_t op) {
    const arn_draft_call *call = call_before(draft, op);
    return call && call->first_op == op ? call : NULL;
}

bool arn_draft_is_repeated(const arn_draft *draft, uint32_t op) {
    const arn_draft_call *call = call_before(draft, op);
    return call && op - call->first_op < call->n_ops && !arn_draft_is_body(draft, call);
}

uint32_t arn_draft_count_ops(const arn_draft *draft) {
    uint32_t n = draft->n_ops + draft->n_calls;
    for (uint32_t i = 0; i < draft->n_calls; i++) {
        if (!arn_draft_is_body(draft, &draft->calls[i])) n -= draft->calls[i].n_ops;
    }
    return n;
}

/* ---- bytes of copies ---- */

static int64_t bytes_of(const arn_draft *draft, uint32_t tensor) {
    return (int64_t)arn_aligned(arn_draft_planned_bytes(draft, tensor), ARN_DRAFT_ROUNDING);
}

/* Bytes of the op's arguments whose lives begin, or end, with it. */
static int64_t turn_over(const arn_draft *draft, uint32_t op, const uint32_t *limit) {
    const arn_draft_op *o = &draft->ops[op];
    int64_t sum = 0;
    for (uint32_t k = 0; k < o->n_inputs + o->n_outputs; k++) {
        const uint32_t tensor = draft->arguments[o->first + k];
        if (tensor != ARENAUT_NONE && limit[tensor] == op) sum += bytes_of(draft, tensor);
    }
    return sum;
}

static void add_at(int64_t *change, uint32_t op, int64_t bytes) {
    if (bytes <= 0) return;
    change[op] += bytes;
    change[op + 1] -= bytes;
}

/* An argument that is needed behind the call as well is there twice while it runs. */
void arn_draft_add_copies(const arn_draft *draft, const uint32_t *first, const uint32_t *last,
                          int64_t *change) {
    for (uint32_t i = 0; i < draft->n_calls; i++) {
        const arn_draft_call *call = &draft->calls[i];
        const uint32_t begin = call->first_op, end = begin + call->n_ops;
        const uint32_t *arguments = draft->arguments + call->first;
        int64_t in = 0, out = 0;
        for (uint32_t k = 0; k < call->n_inputs; k++) {
            const int64_t bytes = bytes_of(draft, arguments[k]);
            if (last[arguments[k]] < end) {
                in += bytes;
                continue;
            }
            change[begin] += bytes;
            change[end] -= bytes;
        }
        for (uint32_t k = 0; k < call->n_outputs; k++) {
            out += bytes_of(draft, arguments[call->n_inputs + k]);
        }
        add_at(change, begin, in - turn_over(draft, begin, first));
        add_at(change, end - 1, out - turn_over(draft, end - 1, last));
    }
}
