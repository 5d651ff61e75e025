/* Dependences in methods with ops that may run at the same time: a plan must hold for every
 * schedule.
 *
 * An op depends on the ops before it in its stream, those in its `after`, the makers of its
 * operands, and earlier readers and writers of the memory that it writes. All other ops may run at
 * the same time. So one buffer may take another's memory only if every op that touches the other is
 * over before the first op that touches it, in any schedule: pairs for which the sequence promises
 * that and the dependences do not get a conflict edge. */
#include <inttypes.h>

#include "analysis/accesses.h"
#include "analysis/aliases.h"
#include "analysis/basic_blocks.h"
#include "core/fail.h"
#include "core/sort.h"
#include "ir/program.h"
#include "passes/lower/lower.h"

enum { MOST_OPS = 1 << 14 /* a bit for each two of them */ };
#define MOST_EDGES (UINT32_C(1) << 24)
#define MOST_PAIRS (UINT64_C(1) << 30)
#define MOST_NOTES (UINT64_C(1) << 25)

struct arn_order {
    uint32_t method, n_ops, words;
    uint64_t *before;      /* per op: a bit for each that has ended when it begins */
    uint32_t *first;       /* per storage: the op that writes it first; ARENAUT_NONE: it is older */
    arn_accesses accesses; /* to storages; ops are counted within the method */
    bool *touched;         /* per storage: by this method */
    struct arn_order *next;
};

static uint64_t *row_of(const arn_order *o, uint32_t op) {
    return o->before + (size_t)op * o->words;
}

static bool is_before(const arn_order *o, uint32_t a, uint32_t b) {
    return row_of(o, b)[a / 64] >> a % 64 & 1;
}

/* `op` comes after `other`, and so after all that `other` comes after. */
static void come_after(arn_order *o, uint32_t op, uint32_t other) {
    uint64_t *row = row_of(o, op);
    if (other == ARENAUT_NONE || other == op || row[other / 64] >> other % 64 & 1) return;
    const uint64_t *from = row_of(o, other);
    for (uint32_t w = 0; w < o->words; w++) row[w] |= from[w];
    row[other / 64] |= UINT64_C(1) << other % 64;
}

static void depend(void *order, uint32_t op, uint32_t first, bool on_read) {
    (void)on_read;
    come_after(order, op, first);
}

static void touch(const arn_lower *lower, arn_order *o, uint32_t op, const uint32_t *tensors,
                  uint32_t n, bool writes) {
    for (uint32_t i = 0; i < n; i++) {
        if (tensors[i] == ARENAUT_NONE) continue;
        const uint32_t storage = lower->live.storage.of[tensors[i]];
        if (writes && !o->touched[storage]) o->first[storage] = op;
        o->touched[storage] = true;
        if (writes) arn_accesses_write(&o->accesses, op, storage);
        else arn_accesses_read(&o->accesses, op, storage);
    }
}

/* Ops with unknown effects on their operands count as writing all of them, updates as writing those
 * that they update: what they only read makes no other reader wait. A view writes nothing, and
 * depends only on the writers of its base. */
static void visit(const arn_lower *lower, arn_order *o, uint32_t at) {
    const arenaut_op *op = &lower->program->ops[lower->program->methods[o->method].first_op + at];
    for (uint32_t i = 0; i < op->n_after; i++) come_after(o, at, op->after[i]);
    if (!arn_op_kind_touches(op->kind)) return;
    const bool any = op->kind == ARENAUT_OP_DELEGATE || op->arguments_may_alias;
    touch(lower, o, at, op->inputs, op->n_inputs, false);
    if (op->kind == ARENAUT_OP_VIEW) return;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const bool updated = op->kind == ARENAUT_OP_IN_PLACE && arn_may_update(op, op->inputs[i]);
        if (any || updated) touch(lower, o, at, &op->inputs[i], 1, true);
    }
    touch(lower, o, at, op->outputs, op->n_outputs, true);
    touch(lower, o, at, op->scratch, op->n_scratch, true);
}

static bool stream_before(const void *ops, uint32_t a, uint32_t b) {
    return ((const arenaut_op *)ops)[a].stream < ((const arenaut_op *)ops)[b].stream;
}

/* Per op, the one before it in its stream. */
static uint32_t *find_previous(arn_lower *lower, const arn_order *o) {
    const arenaut_op *ops = lower->program->ops + lower->program->methods[o->method].first_op;
    uint32_t *previous = arn_region_allocate(&lower->scratch, o->n_ops, sizeof *previous);
    uint32_t *order = arn_region_allocate(&lower->scratch, o->n_ops, 2 * sizeof *order);
    if (!previous || !order) return NULL;
    for (uint32_t i = 0; i < o->n_ops; i++) order[i] = i;
    arn_sort_ids(order, o->n_ops, stream_before, ops, order + o->n_ops);
    for (uint32_t i = 0; i < o->n_ops; i++) {
        const bool first = i == 0 || ops[order[i - 1]].stream != ops[order[i]].stream;
        previous[order[i]] = first ? ARENAUT_NONE : order[i - 1];
    }
    return previous;
}

static bool allocate(arn_lower *lower, arn_order *o) {
    const uint32_t n = lower->program->n_tensors;
    uint64_t arguments = 0;
    for (uint32_t i = 0; i < o->n_ops; i++) {
        arguments += lower->program->ops[lower->program->methods[o->method].first_op + i].n_inputs;
    }
    o->words = (o->n_ops + 63) / 64;
    o->accesses = (arn_accesses){.depend = depend, .context = o};
    if (!arn_accesses_make(&o->accesses, &lower->scratch, n, (size_t)arguments) ||
        !ARN_REGION_ARRAYS(&lower->scratch, ARN_ARRAY(o->before, (size_t)o->n_ops * o->words),
                           ARN_ARRAY(o->first, n), ARN_ARRAY(o->touched, n))) {
        return false;
    }
    for (uint32_t t = 0; t < n; t++) o->first[t] = ARENAUT_NONE;
    return true;
}

/* Arguments filled by the caller are older than all ops. */
static void touch_arguments(const arn_lower *lower, arn_order *o) {
    const arenaut_method *method = &lower->program->methods[o->method];
    for (uint32_t i = 0; i < method->n_inputs; i++) {
        o->touched[lower->live.storage.of[method->inputs[i]]] = true;
    }
}

static arenaut_status refuse(const arn_lower *lower, uint32_t m, const char *why) {
    const char *name = lower->program->methods[m].name;
    return arn_fail(lower->err, ARENAUT_UNSUPPORTED, 0, "method '%.80s' is concurrent, and %s",
                    name ? name : "", why);
}

/* Only a method by itself, of ops that do nothing but compute, has one order of its ops. */
static arenaut_status check_plain(const arn_lower *lower, uint32_t m) {
    const arenaut_program *p = lower->program;
    const arenaut_method *method = &p->methods[m];
    if (!method->entry) return refuse(lower, m, "is no entry; only entries can be");
    if (method->n_ops > MOST_OPS) return refuse(lower, m, "has more than 16384 ops");
    for (uint32_t i = 0; i < p->n_ops; i++) {
        for (uint32_t k = 0; k < p->ops[i].n_calls; k++) {
            if (p->ops[i].calls[k] == m) return refuse(lower, m, "an op calls it");
        }
    }
    for (uint32_t i = method->first_op; i < method->first_op + method->n_ops; i++) {
        if (p->ops[i].n_calls > 0) return refuse(lower, m, "its ops call methods");
    }
    return arn_has_control_flow(p, m) ? refuse(lower, m, "its ops jump or move") : ARENAUT_OK;
}

static arenaut_status order_method(arn_lower *lower, uint32_t m) {
    const arenaut_status st = check_plain(lower, m);
    if (st != ARENAUT_OK) return st;
    arn_order *o = arn_region_allocate(&lower->scratch, 1, sizeof *o);
    if (!o) return arn_no_memory(lower->err);
    *o = (arn_order){.method = m, .n_ops = lower->program->methods[m].n_ops, .next = lower->orders};
    const uint32_t *previous = allocate(lower, o) ? find_previous(lower, o) : NULL;
    if (!previous) return arn_no_memory(lower->err);
    touch_arguments(lower, o);
    for (uint32_t i = 0; i < o->n_ops; i++) {
        come_after(o, i, previous[i]);
        visit(lower, o, i);
    }
    lower->orders = o;
    return ARENAUT_OK;
}

/* Each concurrent method looks at all ops and has notes on all tensors. */
arenaut_status arn_lower_order(arn_lower *lower) {
    const arenaut_program *p = lower->program;
    arenaut_status st = ARENAUT_OK;
    uint64_t notes = 0;
    for (uint32_t m = 0; m < p->n_methods && st == ARENAUT_OK; m++) {
        if (!p->methods[m].concurrent) continue;
        notes += (uint64_t)p->n_tensors + p->n_ops;
        if (notes > MOST_NOTES) return refuse(lower, m, "there are too many such methods");
        st = order_method(lower, m);
    }
    return st;
}

/* ---- conclusions from the dependences ---- */

/* Whether all that touch the storage have ended when `op` begins, or are `op` itself. Ops before
 * its last writer ended before that. */
static bool has_ended(const arn_order *o, uint32_t storage, uint32_t op) {
    const arn_accesses *a = &o->accesses;
    if (a->reader[storage] == ARENAUT_NONE) {
        const uint32_t writer = a->writer[storage];
        return writer == ARENAUT_NONE || writer == op || is_before(o, writer, op);
    }
    for (uint32_t r = a->reader[storage]; r != ARENAUT_NONE; r = a->reads[r].before) {
        if (a->reads[r].op != op && !is_before(o, a->reads[r].op, op)) return false;
    }
    return true;
}

bool arn_lower_ends_with(const arn_lower *lower, uint32_t storage, uint32_t op) {
    const uint32_t m = lower->program->ops[op].method;
    for (const arn_order *o = lower->orders; o; o = o->next) {
        if (o->method == m) return has_ended(o, storage, op - lower->program->methods[m].first_op);
    }
    return true;
}

/* Storages of the method that are buffers, by the step at which they come alive. */
static bool born_before(const void *context, uint32_t a, uint32_t b) {
    const arn_lives *lives = context;
    return lives->life[lives->start[a]].first < lives->life[lives->start[b]].first;
}

static int64_t end_of(const arn_lower *lower, uint32_t storage) {
    return lower->live.lives.life[lower->live.lives.start[storage + 1] - 1].end;
}

static int64_t first_of(const arn_lower *lower, uint32_t storage) {
    return lower->live.lives.life[lower->live.lives.start[storage]].first;
}

/* A storage that other methods touch as well is alive for as long as this one runs. */
static bool can_be_parted(const arn_lower *lower, const arn_order *o, uint32_t earlier,
                          uint32_t later) {
    const arenaut_tensor *tensors = lower->program->tensors;
    if (tensors[earlier].method != o->method || tensors[later].method != o->method) return false;
    return o->first[later] != ARENAUT_NONE && has_ended(o, earlier, o->first[later]);
}

static arenaut_status add_edges(arn_lower *lower, const arn_order *o, const uint32_t *buffer_of,
                                const uint32_t *ids, uint32_t n, arenaut_problem *problem) {
    if ((uint64_t)n * n > MOST_PAIRS) {
        return refuse(lower, o->method, "has so many values that their pairs are too many");
    }
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < i; k++) {
            if (end_of(lower, ids[k]) > first_of(lower, ids[i])) continue;
            if (can_be_parted(lower, o, ids[k], ids[i])) continue;
            if (problem->n_conflicts == MOST_EDGES) {
                return refuse(lower, o->method, "more than 16777216 pairs of its values may meet");
            }
            const arenaut_status st = arenaut_problem_add_conflict(problem, buffer_of[ids[k]],
                                                                   buffer_of[ids[i]], lower->err);
            if (st != ARENAUT_OK) return st;
        }
    }
    return ARENAUT_OK;
}

arenaut_status arn_lower_streams(arn_lower *lower, const uint32_t *buffer_of,
                                 arenaut_problem *problem) {
    arenaut_status st = ARENAUT_OK;
    for (const arn_order *o = lower->orders; o && st == ARENAUT_OK; o = o->next) {
        const uint32_t n_tensors = lower->program->n_tensors;
        uint32_t *ids = arn_region_allocate(&lower->scratch, n_tensors, 2 * sizeof *ids), n = 0;
        if (!ids) return arn_no_memory(lower->err);
        for (uint32_t t = 0; t < n_tensors; t++) {
            const bool lives = lower->live.lives.start[t + 1] > lower->live.lives.start[t];
            if (o->touched[t] && lives && arn_lower_has_buffer(lower, t)) ids[n++] = t;
        }
        arn_sort_ids(ids, n, born_before, &lower->live.lives, ids + n_tensors);
        st = add_edges(lower, o, buffer_of, ids, n, problem);
    }
    return st;
}
