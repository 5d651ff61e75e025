/* The rematerialization problems of a lowered program: buffers are storages, with the sizes that
 * plans see; views are reads that cost nothing. In the one that is searched, a storage with several
 * writers, or one outside, has one instance, and an op may be repeated only until one of its
 * operands is overwritten. Behind the search, a reader of a storage by the name of a view gets a
 * new view, if the storage was rematerialized since.
 *
 * Other sequences are right, too: an op whose result is updated later may be rematerialized for
 * readers of the values before. So bounds and floor are proven of a second problem, which allows
 * more than any sequence can do: there a storage with several writers is rematerialized by the
 * first alone, if that may be repeated, and one that others make, too, has no bytes. */
#include "rewrite/rematerialize/remat_program.h"

#include <string.h>

#include "analysis/aliases.h"
#include "analysis/dependences.h"
#include "core/checked.h"
#include "core/fail.h"
#include "ir/program.h"
#include "rewrite/order/program_order.h"
#include "rewrite/order/schedule_problem.h"
#include "ops/ops.h"
#include "rewrite/recompute/recompute_sequence.h"
#include "rewrite/rematerialize/remat_cost.h"

typedef struct modeller {
    arn_remat_program *out;
    const arenaut_program *program, *file;
    arn_region *region;
    bool any;                     /* the problem of all sequences is made, not that of the search */
    arn_file_numbers before;      /* ops of the file */
    uint32_t *n_writers, *writer; /* per buffer: ops that write there, and the first of them */
    uint32_t *last_writer;
    bool *remade;          /* per buffer: another op than the first writer may make it anew */
    const uint32_t *of;    /* per tensor: its storage, with shared state as one */
    uint32_t *next_write;  /* per storage: the next op that writes there, from the back */
    arn_accesses accesses; /* to storages */
    uint32_t *n_writes;    /* per storage: how many ops do */
    uint64_t *cost, *scratch, *sizes;
    uint32_t *until, *buffer_maker;
    bool *in_turn;
    uint64_t *shared;
    uint32_t *counted, n_counts; /* per buffer: the last sum in which it is */
    uint8_t *held;
    arenaut_order_use *reads;
    arenaut_order_dependence *dependences;
    arenaut_order_right *rights;
    uint32_t n_reads, n_dependences, n_rights;
} modeller;

/* ---- which op of the file an op stands for ---- */

static uint32_t only_op(const arn_file_numbers *numbers, uint32_t number) {
    const uint32_t *ops;
    return arn_file_numbers_ops(numbers, number, &ops) == 1 ? ops[0] : ARENAUT_NONE;
}

static bool find_file_ops(modeller *m) {
    const arenaut_program *p = m->program;
    arn_file_numbers now;
    if (!arn_file_numbers_find(p, 0, m->region, &now) ||
        !arn_file_numbers_find(m->file, 0, m->region, &m->before)) {
        return false;
    }
    for (uint32_t i = 0; i < p->n_ops; i++) {
        const uint32_t number = p->ops[i].file_index.id;
        m->out->file_op[i] =
            only_op(&now, number) == i ? only_op(&m->before, number) : ARENAUT_NONE;
    }
    return true;
}

/* ---- writes ---- */

static uint32_t buffer_of(const modeller *m, uint32_t tensor) {
    return tensor == ARENAUT_NONE ? tensor : m->out->task->lowering->buffer[tensor];
}

/* Whether a result is another name of an operand. */
static bool is_name(const modeller *m, const arenaut_op *op, uint32_t result) {
    const bool names = op->kind == ARENAUT_OP_VIEW || op->kind == ARENAUT_OP_IN_PLACE;
    return names &&
           arn_find_in_storage(m->of, op->inputs, op->n_inputs, m->of[result]) != ARENAUT_NONE;
}

/* Calls `each` for each argument that an op writes. */
static void for_each_write(modeller *m, uint32_t op,
                           void (*each)(modeller *m, uint32_t op, uint32_t tensor)) {
    const arenaut_op *own = &m->program->ops[op];
    for (uint32_t i = 0; i < own->n_inputs; i++) {
        const uint32_t t = own->inputs[i];
        if (t != ARENAUT_NONE && arn_may_write(m->program, own, t)) each(m, op, t);
    }
    for (uint32_t i = 0; i < own->n_outputs; i++) {
        const uint32_t t = own->outputs[i];
        const bool named = own->kind == ARENAUT_OP_VIEW && t != ARENAUT_NONE && is_name(m, own, t);
        if (t != ARENAUT_NONE && !named) each(m, op, t);
    }
}

static void note_next_write(modeller *m, uint32_t op, uint32_t tensor) {
    m->next_write[m->of[tensor]] = op;
}

/* ---- ops that may be repeated ---- */

static bool may_repeat(const modeller *m, uint32_t file_op) {
    const arenaut_op *op = &m->file->ops[file_op];
    return (m->out->options->budget > 0 || arn_op_is_cheap(op->name)) &&
           arn_recompute_may_repeat(m->file, op);
}

/* In some sequence of the file's ops: of several that an op stands for, or that stand for one, any
 * may be repeated. */
static bool may_run_again_at_all(const modeller *m, uint32_t op) {
    const arenaut_optional_id number = m->program->ops[op].file_index;
    const uint32_t *ops;
    const uint32_t n = number.given ? arn_file_numbers_ops(&m->before, number.id, &ops) : 0;
    for (uint32_t i = 0; i < n; i++) {
        if (may_repeat(m, ops[i])) return true;
    }
    return false;
}

static bool may_run_again(const modeller *m, uint32_t op) {
    const uint32_t own = m->out->file_op[op];
    const arenaut_op_kind kind = m->program->ops[op].kind;
    if (m->any) return may_run_again_at_all(m, op);
    return own != ARENAUT_NONE && may_repeat(m, own) &&
           (kind == ARENAUT_OP_OUT || kind == ARENAUT_OP_FUNCTIONAL || kind == ARENAUT_OP_VIEW);
}

static void count_write(modeller *m, uint32_t op, uint32_t tensor) {
    const uint32_t buffer = buffer_of(m, tensor);
    m->n_writes[m->of[tensor]]++;
    if (buffer == ARENAUT_NONE || (m->n_writers[buffer] > 0 && m->last_writer[buffer] == op))
        return;
    if (m->n_writers[buffer]++ == 0) m->writer[buffer] = op;
    else m->remade[buffer] = m->remade[buffer] || may_run_again_at_all(m, op);
    m->last_writer[buffer] = op;
}

/* Whether there may be more than one of a storage that is written several times. */
static bool has_copies(const modeller *m, uint32_t buffer) {
    return buffer != ARENAUT_NONE && m->n_writers[buffer] > 1 &&
           m->buffer_maker[buffer] != ARENAUT_NONE;
}

/* From the back: until one of its operands is overwritten. Its results must be its own. */
static void find_ends_of_rights(modeller *m) {
    const arenaut_program *p = m->program;
    for (uint32_t s = 0; s <= p->n_tensors; s++) m->next_write[s] = ARENAUT_NONE;
    for (uint32_t op = p->n_ops; op-- > 0;) {
        const arenaut_op *own = &p->ops[op];
        const uint32_t number = m->out->number[op];
        if (number == ARENAUT_NONE) continue;
        uint32_t until = ARENAUT_NONE;
        for (uint32_t i = 0; i < own->n_inputs; i++) {
            if (own->inputs[i] == ARENAUT_NONE) continue;
            if (has_copies(m, buffer_of(m, own->inputs[i]))) continue;
            const uint32_t next = m->next_write[m->of[own->inputs[i]]];
            if (next < until) until = next;
        }
        bool may = may_run_again(m, op);
        for (uint32_t i = 0; i < own->n_outputs && may && !m->any; i++) {
            const uint32_t t = own->outputs[i];
            may = t == ARENAUT_NONE || is_name(m, own, t) || m->n_writes[m->of[t]] == 1;
        }
        m->until[number] = may ? (until == ARENAUT_NONE ? until : m->out->number[until]) : number;
        for_each_write(m, op, note_next_write);
    }
}

static void bar(modeller *m, const uint32_t *tensors, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t buffer = buffer_of(m, tensors[i]);
        if (buffer == ARENAUT_NONE || m->buffer_maker[buffer] == ARENAUT_NONE) continue;
        m->until[m->buffer_maker[buffer]] = m->buffer_maker[buffer];
    }
}

/* A storage stays that some view names which cannot be named again, or that is read by an op which
 * has no place among those of the file. */
static void bar_unnamed(modeller *m) {
    const arenaut_program *p = m->program;
    for (uint32_t op = 0; op < p->n_ops; op++) {
        const arenaut_op *own = &p->ops[op];
        const uint32_t number = m->out->number[op];
        if (number == ARENAUT_NONE) continue;
        const bool is_view = own->kind == ARENAUT_OP_VIEW;
        if (m->out->file_op[op] == ARENAUT_NONE || (is_view && m->until[number] != ARENAUT_NONE)) {
            bar(m, own->inputs, own->n_inputs);
        }
    }
}

/* ---- storages ---- */

static void find_makers(modeller *m) {
    for (uint32_t b = 0; b < m->out->n_buffers; b++) {
        const bool before = m->held[b] & ARENAUT_LIVE_IN;
        const uint32_t n = m->n_writers[b];
        const bool own =
            !before && (n == 1 || (n > 1 && m->any && may_run_again_at_all(m, m->writer[b])));
        m->buffer_maker[b] = own ? m->out->number[m->writer[b]] : ARENAUT_NONE;
        if (m->any && !before && m->remade[b]) m->sizes[b] = 0;
    }
}

static void add_read(modeller *m, uint32_t number, uint32_t tensor) {
    const uint32_t buffer = buffer_of(m, tensor);
    if (buffer == ARENAUT_NONE || m->buffer_maker[buffer] == number) return;
    m->reads[m->n_reads++] = (arenaut_order_use){number, buffer};
}

/* A storage with one instance is read by all ops that touch it. */
static void add_touches(modeller *m) {
    const arenaut_program *p = m->program;
    for (uint32_t op = 0; op < p->n_ops; op++) {
        const arenaut_op *own = &p->ops[op];
        const uint32_t number = m->out->number[op];
        if (number == ARENAUT_NONE) continue;
        for (uint32_t i = 0; i < own->n_inputs; i++) add_read(m, number, own->inputs[i]);
        for (uint32_t i = 0; i < own->n_outputs; i++) {
            const uint32_t buffer = buffer_of(m, own->outputs[i]);
            const bool solid = buffer != ARENAUT_NONE && m->buffer_maker[buffer] == ARENAUT_NONE;
            if (solid) add_read(m, number, own->outputs[i]);
        }
        for (uint32_t i = 0; i < own->n_scratch; i++) {
            const uint32_t buffer = buffer_of(m, own->scratch[i]);
            if (buffer != ARENAUT_NONE) m->scratch[number] += m->sizes[buffer];
        }
    }
}

static bool is_read(const modeller *m, uint32_t number, uint32_t buffer, uint32_t from) {
    for (uint32_t i = from; i < m->n_reads; i++) {
        if (m->reads[i].op == number && m->reads[i].buffer == buffer) return true;
    }
    return false;
}

static void add_rights(modeller *m) {
    const arenaut_program *p = m->program;
    uint32_t from = 0;
    for (uint32_t op = 0; op < p->n_ops; op++) {
        const arenaut_op *own = &p->ops[op];
        const uint32_t number = m->out->number[op];
        if (number == ARENAUT_NONE) continue;
        while (from < m->n_reads && m->reads[from].op < number) from++;
        for (uint32_t i = 0; i < own->n_in_place; i++) {
            const uint32_t over = buffer_of(m, own->inputs[own->in_place[i].input]);
            const uint32_t made = buffer_of(m, own->outputs[own->in_place[i].output]);
            if (over == ARENAUT_NONE || made == ARENAUT_NONE || over == made) continue;
            if (m->buffer_maker[made] != number || !is_read(m, number, over, from)) continue;
            m->rights[m->n_rights++] = (arenaut_order_right){
                number, made, over, arn_min_u64(m->sizes[made], m->sizes[over])};
        }
    }
}

/* Sums the bytes of distinct buffers that the pairs of an op name: results, or operands. */
static uint64_t sum_of_pairs(modeller *m, const arenaut_op *op, bool results) {
    const uint32_t n = op->n_in_place + op->n_overlaps;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t k = i - op->n_in_place;
        const uint32_t t = i < op->n_in_place ? (results ? op->outputs[op->in_place[i].output]
                                                         : op->inputs[op->in_place[i].input])
                                              : (results ? op->outputs[op->overlaps[k].output]
                                                         : op->inputs[op->overlaps[k].input]);
        const uint32_t buffer = buffer_of(m, t);
        if (buffer == ARENAUT_NONE || m->counted[buffer] == m->n_counts) continue;
        m->counted[buffer] = m->n_counts;
        sum += m->sizes[buffer];
    }
    m->n_counts++;
    return sum;
}

/* Plans may lay results over operands in more ways than the search makes use of: results that were
 * written before, and by the distances of kernels. Bounds hold for all of these. */
static void add_shared(modeller *m) {
    m->n_counts = 1;
    for (uint32_t op = 0; op < m->program->n_ops; op++) {
        const arenaut_op *own = &m->program->ops[op];
        if (m->out->number[op] == ARENAUT_NONE) continue;
        m->shared[m->out->number[op]] =
            arn_min_u64(sum_of_pairs(m, own, true), sum_of_pairs(m, own, false));
    }
}

/* ---- dependences ---- */

/* An op may be repeated only until an operand is overwritten, so that no writer needs to come after
 * the reads before it. */
static void depend(void *context, uint32_t number, uint32_t first, bool on_read) {
    modeller *m = context;
    if (first == ARENAUT_NONE || first == number || on_read) return;
    m->dependences[m->n_dependences++] = (arenaut_order_dependence){number, first};
}

static void note_write(modeller *m, uint32_t op, uint32_t tensor) {
    arn_accesses_write(&m->accesses, m->out->number[op], m->of[tensor]);
}

/* Read after write, write after write. */
static void add_dependences(modeller *m) {
    const arenaut_program *p = m->program;
    for (uint32_t op = 0; op < p->n_ops; op++) {
        const arenaut_op *own = &p->ops[op];
        const uint32_t number = m->out->number[op];
        if (number == ARENAUT_NONE) continue;
        for (uint32_t i = 0; i < own->n_inputs; i++) {
            if (own->inputs[i] == ARENAUT_NONE) continue;
            arn_accesses_read(&m->accesses, number, m->of[own->inputs[i]]);
        }
        for_each_write(m, op, note_write);
    }
}

/* ---- ops of the file for which no single op stands ---- */

static void find_standing(modeller *m) {
    for (uint32_t op = 0; op < m->program->n_ops; op++) {
        const uint32_t own = m->out->file_op[op];
        if (m->out->number[op] != ARENAUT_NONE && own != ARENAUT_NONE) m->out->stands[own] = true;
    }
}

/* They keep their places in the file, so that those whose results they read run in turn. */
static bool find_in_turn(modeller *m) {
    const arenaut_program *file = m->file;
    const uint32_t *of = arn_storages_find(file, m->region);
    bool *read;
    if (!of || !ARN_REGION_ARRAYS(m->region, ARN_ARRAY(read, (size_t)file->n_tensors + 1)))
        return false;
    for (uint32_t i = 0; i < file->n_ops; i++) {
        const arenaut_op *op = &file->ops[i];
        for (uint32_t k = 0; k < op->n_inputs && !m->out->stands[i]; k++) {
            if (op->inputs[k] != ARENAUT_NONE) read[of[op->inputs[k]]] = true;
        }
    }
    for (uint32_t op = 0; op < m->program->n_ops; op++) {
        const uint32_t own = m->out->file_op[op], number = m->out->number[op];
        if (own == ARENAUT_NONE || number == ARENAUT_NONE) continue;
        for (uint32_t k = 0; k < file->ops[own].n_outputs; k++) {
            const uint32_t t = file->ops[own].outputs[k];
            if (t != ARENAUT_NONE && read[of[t]]) m->in_turn[number] = true;
        }
    }
    return true;
}

/* ---- all of it ---- */

static uint64_t cost_of(const arn_remat_program *p, uint32_t op) {
    const arenaut_recompute_options *o = p->options;
    if (o->costs && o->costs[op] != ARENAUT_COST_UNKNOWN) return o->costs[op];
    return arn_remat_cost(p->task->file, &p->task->file->ops[op], arn_roofline_of(o));
}

static size_t count_arguments(const arenaut_program *p) {
    size_t n = 0;
    for (uint32_t i = 0; i < p->n_ops; i++) n += (size_t)p->ops[i].n_inputs + p->ops[i].n_outputs;
    return n;
}

/* What both problems have. */
static bool allocate(modeller *m) {
    arn_remat_program *out = m->out;
    const size_t n = m->program->n_ops, n_b = out->n_buffers;
    const size_t n_storages = (size_t)m->program->n_tensors + 1;
    const size_t n_args = count_arguments(m->program);
    m->of = arn_shared_storages_find(m->program, m->region);
    out->values = arn_def_use_find(m->program, NULL, ARN_TOUCHING, m->region);
    return m->of && out->values && arn_accesses_make(&m->accesses, m->region, n_storages, n_args) &&
           ARN_REGION_ARRAYS(m->region, ARN_ARRAY(out->file_op, n), ARN_ARRAY(out->number, n),
                             ARN_ARRAY(out->file_cost, m->file->n_ops), ARN_ARRAY(out->op_of, n),
                             ARN_ARRAY(m->n_writers, n_b), ARN_ARRAY(m->writer, n_b),
                             ARN_ARRAY(m->last_writer, n_b), ARN_ARRAY(m->remade, n_b),
                             ARN_ARRAY(m->next_write, n_storages),
                             ARN_ARRAY(m->n_writes, n_storages), ARN_ARRAY(m->cost, n),
                             ARN_ARRAY(m->held, n_b), ARN_ARRAY(m->dependences, 2 * n_args),
                             ARN_ARRAY(m->in_turn, n), ARN_ARRAY(out->stands, m->file->n_ops),
                             ARN_ARRAY(m->counted, n_b));
}

static bool allocate_own(modeller *m) {
    const size_t n = m->program->n_ops, n_b = m->out->n_buffers;
    size_t n_in_place = 0;
    for (size_t i = 0; i < n; i++) n_in_place += m->program->ops[i].n_in_place;
    return ARN_REGION_ARRAYS(m->region, ARN_ARRAY(m->scratch, n), ARN_ARRAY(m->until, n),
                             ARN_ARRAY(m->sizes, n_b), ARN_ARRAY(m->buffer_maker, n_b),
                             ARN_ARRAY(m->reads, count_arguments(m->program)),
                             ARN_ARRAY(m->rights, n_in_place), ARN_ARRAY(m->shared, n));
}

/* Ops that passes have put behind all others, as those that write new values of states back, read
 * first instances, which are held for them; else they are none of the problem. */
static uint32_t hold_for_tail(modeller *m) {
    const arenaut_program *p = m->program;
    uint32_t n = p->n_ops;
    for (; n > 0 && m->out->file_op[n - 1] == ARENAUT_NONE; n--) {
        const arenaut_op *op = &p->ops[n - 1];
        for (uint32_t i = 0; i < op->n_inputs; i++) {
            const uint32_t buffer = buffer_of(m, op->inputs[i]);
            if (buffer != ARENAUT_NONE) m->held[buffer] |= ARENAUT_LIVE_OUT;
        }
    }
    return n;
}

static void number_ops(modeller *m, uint32_t *n) {
    const arenaut_program *p = m->program;
    const uint32_t end = hold_for_tail(m);
    *n = 0;
    for (uint32_t op = 0; op < p->n_ops; op++) {
        const bool touches = op < end && arn_op_kind_touches(p->ops[op].kind);
        m->out->number[op] = touches ? *n : ARENAUT_NONE;
        if (!touches) continue;
        const uint32_t own = m->out->file_op[op];
        m->cost[*n] = 0;
        if (own != ARENAUT_NONE && p->ops[op].kind != ARENAUT_OP_VIEW) {
            m->cost[*n] = m->out->file_cost[own] = cost_of(m->out, own);
        }
        m->out->op_of[(*n)++] = op;
    }
}

arenaut_status arn_remat_program_check_task(const arn_recompute_task *task, arenaut_error *err) {
    if (task->file->n_ops == 0) return arn_fail(err, ARENAUT_REFUSED, 0, "there are no ops");
    if (arn_program_order_count(task->order) == 1 && task->program->n_methods == 1 &&
        !arn_program_order_peaks(task->order).between_jumps) {
        return ARENAUT_OK;
    }
    return arn_fail(err, ARENAUT_REFUSED, 0, "its ops are not those of one method");
}

static bool make_problem(modeller *m, uint32_t n_ops, const uint64_t *sizes,
                         arenaut_remat_problem *problem) {
    if (!allocate_own(m)) return false;
    m->n_reads = m->n_rights = 0;
    memcpy(m->sizes, sizes, m->out->n_buffers * sizeof *m->sizes);
    find_makers(m);
    find_ends_of_rights(m);
    if (!m->any) bar_unnamed(m);
    add_touches(m);
    add_rights(m);
    add_shared(m);
    *problem = (arenaut_remat_problem){.n_ops = n_ops,
                                       .n_storages = m->out->n_buffers,
                                       .n_reads = m->n_reads,
                                       .n_dependences = m->n_dependences,
                                       .n_rights = m->n_rights,
                                       .cost = m->cost,
                                       .scratch = m->scratch,
                                       .until = m->until,
                                       .size = m->sizes,
                                       .maker = m->buffer_maker,
                                       .held = m->held,
                                       .reads = m->reads,
                                       .dependences = m->dependences,
                                       .rights = m->rights,
                                       .in_turn = m->in_turn,
                                       .shared = m->shared};
    return true;
}

static bool are_apart(const arenaut_remat_problem *a, const arenaut_remat_problem *b) {
    return memcmp(a->until, b->until, a->n_ops * sizeof *a->until) != 0 ||
           memcmp(a->maker, b->maker, a->n_storages * sizeof *a->maker) != 0 ||
           memcmp(a->size, b->size, a->n_storages * sizeof *a->size) != 0;
}

arenaut_status arn_remat_program_make(const arn_recompute_task *task,
                                      const arenaut_recompute_options *options, arn_region *region,
                                      arn_remat_program *out, arenaut_error *err) {
    const arenaut_order_problem *plain = arn_program_order_problem(task->order, 0);
    modeller m = {.out = out, .program = task->program, .file = task->file, .region = region};
    m.accesses = (arn_accesses){.depend = depend, .context = &m};
    uint32_t n_ops;
    *out = (arn_remat_program){
        .task = task, .options = options, .region = region, .n_buffers = plain->n_buffers};
    if (!allocate(&m) || !find_file_ops(&m)) return arn_no_memory(err);
    for (uint32_t b = 0; b < out->n_buffers; b++)
        m.held[b] = plain->boundary ? plain->boundary[b] : 0;
    number_ops(&m, &n_ops);
    find_standing(&m);
    if (!find_in_turn(&m)) return arn_no_memory(err);
    for (uint32_t op = 0; op < m.program->n_ops; op++) {
        if (out->number[op] != ARENAUT_NONE) for_each_write(&m, op, count_write);
    }
    add_dependences(&m);
    if (!make_problem(&m, n_ops, plain->size, &out->problem)) return arn_no_memory(err);
    m.any = true;
    if (!make_problem(&m, n_ops, plain->size, &out->any)) return arn_no_memory(err);
    out->apart = are_apart(&out->problem, &out->any);
    return ARENAUT_OK;
}

/* ---- runs of the file's ops ---- */

enum { VIEWS_A_RUN = 16 }; /* that are named again for one run, at most, on average */

typedef struct emitter {
    const arn_remat_program *p;
    uint32_t *instance; /* per buffer: how often it was made */
    uint32_t *named;    /* per tensor: which instance its name is of */
    bool *put;          /* per op of the file */
    bool *awaited;      /* likewise: it runs in turn, and was not put */
    uint32_t *turn;     /* per op of the file: its position in the base */
    uint32_t next;      /* the next op of the base that was not looked at */
    uint32_t *runs, n, room;
} emitter;

static bool put_run(emitter *e, uint32_t op);

static uint32_t buffer_named(const emitter *e, uint32_t tensor) {
    return tensor == ARENAUT_NONE ? tensor : e->p->task->lowering->buffer[tensor];
}

/* Whether a tensor that is read is of the latest instance; else its view is repeated. */
static bool name_again(emitter *e, uint32_t tensor) {
    const uint32_t buffer = buffer_named(e, tensor);
    if (buffer == ARENAUT_NONE || e->named[tensor] == e->instance[buffer]) return true;
    const uint32_t op = e->p->values[tensor].first_def;
    if (op == ARENAUT_NONE || e->p->task->program->ops[op].kind != ARENAUT_OP_VIEW) return true;
    return put_run(e, op);
}

static bool put_run(emitter *e, uint32_t op) {
    const arenaut_op *own = &e->p->task->program->ops[op];
    for (uint32_t i = 0; i < own->n_inputs; i++) {
        if (own->inputs[i] != ARENAUT_NONE && !name_again(e, own->inputs[i])) return false;
    }
    for (uint32_t i = 0; i < own->n_outputs && own->kind != ARENAUT_OP_VIEW; i++) {
        const uint32_t t = own->outputs[i], buffer = buffer_named(e, t);
        if (buffer == ARENAUT_NONE || e->p->problem.maker[buffer] != e->p->number[op]) continue;
        if (i == 0 || buffer != buffer_named(e, own->outputs[i - 1])) e->instance[buffer]++;
    }
    for (uint32_t i = 0; i < own->n_outputs; i++) {
        const uint32_t buffer = buffer_named(e, own->outputs[i]);
        if (buffer != ARENAUT_NONE) e->named[own->outputs[i]] = e->instance[buffer];
    }
    if (e->p->file_op[op] == ARENAUT_NONE) return true;
    if (e->n == e->room) return false;
    e->runs[e->n++] = e->p->file_op[op];
    return true;
}

static bool put_file_op(emitter *e, uint32_t op) {
    if (e->n == e->room) return false;
    e->runs[e->n++] = op;
    return true;
}

/* Ops of the file for which no single op stands keep their places among the others: those before
 * this position of the base, but behind those that run in turn, whose results they may read. */
static bool put_up_to(emitter *e, uint32_t end) {
    for (; e->next < end; e->next++) {
        const uint32_t op = e->p->task->base[e->next];
        if (e->awaited[op]) return true;
        if (!e->p->stands[op] && !put_file_op(e, op)) return false;
    }
    return true;
}

static bool put_all(emitter *e, const uint32_t *runs, uint32_t n_runs) {
    const arn_remat_program *p = e->p;
    for (uint32_t i = 0; i < n_runs; i++) {
        const uint32_t op = p->op_of[runs[i]], own = p->file_op[op];
        if (own != ARENAUT_NONE && !e->put[own]) {
            if (!put_up_to(e, e->turn[own])) return false;
            e->put[own] = true;
            e->awaited[own] = false;
        }
        if (!put_run(e, op)) return false;
    }
    return put_up_to(e, p->task->file->n_ops);
}

arenaut_status arn_remat_program_ops(const arn_remat_program *p, const uint32_t *runs,
                                     uint32_t n_runs, uint32_t **ops, uint32_t *n_ops,
                                     arenaut_error *err) {
    const uint32_t n_tensors = p->task->program->n_tensors, n_file = p->task->file->n_ops;
    const uint64_t room = (uint64_t)n_runs * VIEWS_A_RUN + n_file;
    if (room > UINT32_MAX) return arn_fail(err, ARENAUT_TOO_LARGE, 0, "too many repetitions");
    emitter e = {.p = p, .room = (uint32_t)room};
    if (!ARN_REGION_ARRAYS(p->region, ARN_ARRAY(e.instance, p->n_buffers),
                           ARN_ARRAY(e.named, n_tensors), ARN_ARRAY(e.put, n_file),
                           ARN_ARRAY(e.awaited, n_file), ARN_ARRAY(e.turn, n_file),
                           ARN_ARRAY(e.runs, e.room))) {
        return arn_no_memory(err);
    }
    for (uint32_t i = 0; i < n_file; i++) e.turn[p->task->base[i]] = i;
    for (uint32_t i = 0; i < p->problem.n_ops; i++) {
        const uint32_t own = p->file_op[p->op_of[i]];
        if (own != ARENAUT_NONE) e.awaited[own] = p->problem.in_turn[i];
    }
    if (!put_all(&e, runs, n_runs)) {
        return arn_fail(err, ARENAUT_TOO_LARGE, 0, "too many views are named again");
    }
    if (!arn_recompute_leave_out_unread(p->task->file, p->region, e.runs, &e.n)) {
        return arn_no_memory(err);
    }
    *ops = e.runs;
    *n_ops = e.n;
    return ARENAUT_OK;
}
