/* replay_races: happens-before race detection in methods with concurrent ops, by vector clocks
 * (Fidge 1988, Mattern 1989).
 *
 * Replay has found the one sequence right in which the ops are listed. Every other order that is
 * allowed comes of it by exchanging neighbours without a dependence, and changes nothing if no such
 * two use the same bytes, one of them writing. So it is enough to look, at each byte, whether an op
 * that uses it comes after its earlier users: a reader after the last writer, a writer after the
 * last writer and all readers since.
 *
 * A vector clock has, for each op and each stream, the number of ops of that stream that have ended
 * when the op begins. O(ops * streams), and one look at each cell used. */
#include "check/replay/replay.h"

#include <inttypes.h>

#include "check/finding.h"
#include "check/updates.h"
#include "core/fail.h"
#include "core/memory.h"
#include "core/sort.h"
#include "ir/program.h"

#define MOST_CLOCKS (UINT64_C(1) << 25)

/* A read of a place since its last write. */
typedef struct note {
    uint32_t op, tensor, next;
} note;

/* The last uses of each of some places: storages, to learn the dependences of the program, and
 * cells of the shadow, to see whether they are kept. Ops are counted within the method. */
typedef struct users {
    uint32_t *writer, *written; /* per place: the op, and the tensor that it wrote */
    uint32_t *readers;          /* per place: in `notes` */
} users;

typedef struct races {
    arn_replay *replay;
    const arenaut_method *method;
    uint32_t n_streams;
    uint32_t *stream, *position; /* per op: its stream, and how many of that come before it */
    uint32_t *clock;             /* n_streams for each op */
    users storages, cells;
    note *notes;
    uint32_t n_notes, note_capacity;
} races;

static uint32_t *clock_of(const races *s, uint32_t op) {
    return s->clock + (size_t)op * s->n_streams;
}

static bool happens_after(const races *s, uint32_t op, uint32_t other) {
    return clock_of(s, op)[s->stream[other]] > s->position[other];
}

/* `op` begins after the end of `other`, and so after all that `other` depends on. */
static void add_dependence(races *s, uint32_t op, uint32_t other) {
    uint32_t *mine = clock_of(s, op);
    const uint32_t *its = clock_of(s, other);
    for (uint32_t k = 0; k < s->n_streams; k++) {
        if (its[k] > mine[k]) mine[k] = its[k];
    }
    uint32_t *own = &mine[s->stream[other]];
    if (*own <= s->position[other]) *own = s->position[other] + 1;
}

/* ---- notes ---- */

static bool note_read(races *s, users *u, uint32_t place, uint32_t op, uint32_t tensor) {
    const uint32_t head = u->readers[place];
    if (head != ARENAUT_NONE && s->notes[head].op == op) return true;
    if (!arn_grow(s->replay->allocator, (void **)&s->notes, &s->note_capacity,
                  (uint64_t)s->n_notes + 1, sizeof *s->notes)) {
        return false;
    }
    s->notes[s->n_notes] = (note){op, tensor, head};
    u->readers[place] = s->n_notes++;
    return true;
}

static void note_write(users *u, uint32_t place, uint32_t op, uint32_t tensor) {
    u->writer[place] = op;
    u->written[place] = tensor;
    u->readers[place] = ARENAUT_NONE;
}

static bool forget_all(users *u, arn_region *region, uint32_t n) {
    if (!ARN_REGION_ARRAYS(region, ARN_ARRAY(u->writer, n), ARN_ARRAY(u->written, n),
                           ARN_ARRAY(u->readers, n))) {
        return false;
    }
    for (uint32_t i = 0; i < n; i++) u->writer[i] = u->readers[i] = ARENAUT_NONE;
    return true;
}

/* ---- one use of one tensor ---- */

typedef struct use {
    uint32_t op, tensor;
    bool writes;
} use;

/* Uses of the same memory stay in the sequence of the program. */
static bool order_by_memory(races *s, use u) {
    users *o = &s->storages;
    const uint32_t storage = s->replay->places.storage[u.tensor];
    if (o->writer[storage] != ARENAUT_NONE && o->writer[storage] != u.op) {
        add_dependence(s, u.op, o->writer[storage]);
    }
    if (!u.writes) return note_read(s, o, storage, u.op, u.tensor);
    for (uint32_t n = o->readers[storage]; n != ARENAUT_NONE; n = s->notes[n].next) {
        if (s->notes[n].op != u.op) add_dependence(s, u.op, s->notes[n].op);
    }
    note_write(o, storage, u.op, u.tensor);
    return true;
}

static arenaut_status reject(const races *s, use u, uint32_t other, uint32_t its, uint32_t cell) {
    const arn_replay *r = s->replay;
    const arn_replay_places *p = &r->places;
    const arenaut_op *ops = r->program->ops + s->method->first_op;
    char names[2][24];
    arenaut_finding *f = r->finding;
    f->rule = ARENAUT_RULE_RACE;
    f->a = u.tensor;
    f->b = its;
    f->op = s->method->first_op + u.op;
    f->method = (uint32_t)(s->method - r->program->methods);
    f->pool = p->cell_pool[cell];
    f->first = p->cell_address[cell];
    f->end = p->cell_address[cell + 1];
    return arn_check_reject(f, r->err,
                            "op %" PRIu32 " '%.40s' does not depend on op %" PRIu32
                            " '%.40s', but bytes [%" PRIu64 ", %" PRIu64 ") of pool %" PRIu32
                            " are of '%.40s' in one and of '%.40s' in the other",
                            u.op, ops[u.op].name ? ops[u.op].name : "op", other,
                            ops[other].name ? ops[other].name : "op", f->first, f->end, f->pool,
                            arenaut_program_tensor_name(r->program, u.tensor, names[0]),
                            arenaut_program_tensor_name(r->program, its, names[1]));
}

static arenaut_status use_cell(races *s, use u, uint32_t cell) {
    users *c = &s->cells;
    const uint32_t writer = c->writer[cell];
    if (writer != ARENAUT_NONE && writer != u.op && !happens_after(s, u.op, writer)) {
        return reject(s, u, writer, c->written[cell], cell);
    }
    if (!u.writes) {
        return note_read(s, c, cell, u.op, u.tensor) ? ARENAUT_OK : arn_no_memory(s->replay->err);
    }
    for (uint32_t n = c->readers[cell]; n != ARENAUT_NONE; n = s->notes[n].next) {
        const uint32_t reader = s->notes[n].op;
        s->replay->shadow.work++;
        if (reader != u.op && !happens_after(s, u.op, reader)) {
            return reject(s, u, reader, s->notes[n].tensor, cell);
        }
    }
    note_write(c, cell, u.op, u.tensor);
    return ARENAUT_OK;
}

static arenaut_status use_cells(races *s, use u) {
    arn_replay *r = s->replay;
    const arn_replay_place *place = &r->places.place[u.tensor];
    arenaut_status status = ARENAUT_OK;
    if (place->left_alone || place->broken != ARENAUT_RULE_NONE) return status;
    for (uint32_t cell = place->first; cell < place->end && status == ARENAUT_OK; cell++) {
        status = use_cell(s, u, cell);
        if (++r->shadow.work > r->work_limit) {
            return arn_fail(r->err, ARENAUT_UNSUPPORTED, 0,
                            "method '%.80s' cannot be replayed: its ops share memory in too many "
                            "pieces; the limit is %" PRIu64,
                            s->method->name ? s->method->name : "", r->work_limit);
        }
    }
    return status;
}

/* ---- ops ---- */

typedef bool (*on_use)(races *s, use u, arenaut_status *status);

static bool learn(races *s, use u, arenaut_status *status) {
    if (!order_by_memory(s, u)) *status = arn_no_memory(s->replay->err);
    return *status == ARENAUT_OK;
}

static bool look(races *s, use u, arenaut_status *status) {
    *status = use_cells(s, u);
    return *status == ARENAUT_OK;
}

static bool use_list(races *s, const uint32_t *tensors, uint32_t n, use u, on_use on,
                     arenaut_status *status) {
    for (uint32_t i = 0; i < n; i++) {
        u.tensor = tensors[i];
        if (tensors[i] != ARENAUT_NONE && !on(s, u, status)) return false;
    }
    return true;
}

static bool write_operands(races *s, uint32_t at, on_use on, arenaut_status *status) {
    const arenaut_op *op = &s->replay->program->ops[s->method->first_op + at];
    const bool any = op->kind == ARENAUT_OP_DELEGATE || op->arguments_may_alias;
    const use writes = {.op = at, .writes = true};
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        if (!any && !arn_updates_operand(op, i)) continue;
        if (!use_list(s, &op->inputs[i], 1, writes, on, status)) return false;
    }
    return true;
}

/* Operands are read; an op that updates them, or does as it likes with them, writes them too. A
 * view is only a name. */
static arenaut_status use_all(races *s, uint32_t at, on_use on) {
    const arenaut_op *op = &s->replay->program->ops[s->method->first_op + at];
    const bool view = op->kind == ARENAUT_OP_VIEW;
    const use reads = {.op = at}, writes = {.op = at, .writes = true};
    arenaut_status status = ARENAUT_OK;
    if (!arn_op_kind_touches(op->kind) || (view && on == look)) return status;
    (void)(use_list(s, op->inputs, op->n_inputs, reads, on, &status) &&
           (view || (write_operands(s, at, on, &status) &&
                     use_list(s, op->outputs, op->n_outputs, writes, on, &status) &&
                     use_list(s, op->scratch, op->n_scratch, writes, on, &status))));
    return status;
}

static arenaut_status visit(races *s, uint32_t at, const uint32_t *latest) {
    const arenaut_op *op = &s->replay->program->ops[s->method->first_op + at];
    if (latest[s->stream[at]] != ARENAUT_NONE) add_dependence(s, at, latest[s->stream[at]]);
    for (uint32_t i = 0; i < op->n_after; i++) add_dependence(s, at, op->after[i]);
    const arenaut_status status = use_all(s, at, learn);
    return status == ARENAUT_OK ? use_all(s, at, look) : status;
}

/* ---- the method ---- */

static bool stream_before(const void *ops, uint32_t a, uint32_t b) {
    return ((const arenaut_op *)ops)[a].stream < ((const arenaut_op *)ops)[b].stream;
}

static bool number_streams(races *s, arn_region *region) {
    const uint32_t n = s->method->n_ops;
    const arenaut_op *ops = s->replay->program->ops + s->method->first_op;
    uint32_t *order, position = 0;
    if (!ARN_REGION_ARRAYS(region, ARN_ARRAY(order, 2 * (size_t)n), ARN_ARRAY(s->stream, n),
                           ARN_ARRAY(s->position, n))) {
        return false;
    }
    for (uint32_t i = 0; i < n; i++) order[i] = i;
    arn_sort_ids(order, n, stream_before, ops, order + n);
    for (uint32_t i = 0; i < n; i++) {
        const bool begins = i == 0 || ops[order[i - 1]].stream != ops[order[i]].stream;
        s->n_streams += begins;
        position = begins ? 0 : position + 1;
        s->stream[order[i]] = s->n_streams - 1;
        s->position[order[i]] = position;
    }
    return true;
}

static arenaut_status refuse(const races *s, const char *why) {
    return arn_fail(s->replay->err, ARENAUT_UNSUPPORTED, 0,
                    "method '%.80s' cannot be replayed: it is concurrent, and %s",
                    s->method->name ? s->method->name : "", why);
}

static arenaut_status check_plain(const races *s) {
    const arenaut_program *p = s->replay->program;
    for (uint32_t i = 0; i < s->method->n_ops; i++) {
        const arenaut_op *op = &p->ops[s->method->first_op + i];
        const bool moves = op->kind == ARENAUT_OP_JUMP || op->kind == ARENAUT_OP_JUMP_FALSE ||
                           op->kind == ARENAUT_OP_MOVE;
        if (op->n_calls > 0 || moves) return refuse(s, "its ops call methods, jump or move");
    }
    return ARENAUT_OK;
}

static arenaut_status walk(races *s, arn_region *region) {
    const uint32_t n = s->method->n_ops;
    arn_replay *r = s->replay;
    arenaut_status status = check_plain(s);
    if (status != ARENAUT_OK) return status;
    if (!number_streams(s, region)) return arn_no_memory(r->err);
    if ((uint64_t)n * s->n_streams > MOST_CLOCKS) return refuse(s, "has too many ops and streams");
    uint32_t *latest;
    if (!ARN_REGION_ARRAYS(region, ARN_ARRAY(s->clock, (size_t)n * s->n_streams),
                           ARN_ARRAY(latest, s->n_streams)) ||
        !forget_all(&s->storages, region, r->program->n_tensors) ||
        !forget_all(&s->cells, region, r->places.n_cells)) {
        return arn_no_memory(r->err);
    }
    for (uint32_t k = 0; k < s->n_streams; k++) latest[k] = ARENAUT_NONE;
    for (uint32_t i = 0; i < n && status == ARENAUT_OK; i++) {
        status = visit(s, i, latest);
        latest[s->stream[i]] = i;
    }
    return status;
}

arenaut_status arn_replay_check_races(arn_replay *r, uint32_t method) {
    races s = {.replay = r, .method = &r->program->methods[method]};
    arn_region region;
    arn_region_init(&region, r->allocator);
    const arenaut_status status = walk(&s, &region);
    arn_release(r->allocator, s.notes);
    arn_region_free(&region);
    return status;
}
