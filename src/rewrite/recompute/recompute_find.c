/* Looking for ops that had better run again. What is alive at the peak, is not used there, and is
 * read again only later need not be there, if cheap ops can make it again then: of what is alive
 * at that time or, where that is not, of what cheap ops make again of it. The largest that lowers
 * the peak is taken, again and again; in the end what has become useless is left out. */
#include <inttypes.h>
#include <string.h>

#include <arenaut/rewrite.h>

#include "core/fail.h"
#include "rewrite/find_within.h"
#include "rewrite/order/dependences.h"
#include "rewrite/order/schedule_problem.h"
#include "rewrite/recompute/recompute_cheap.h"
#include "rewrite/recompute/recompute_runs.h"
#include "rewrite/recompute/recompute_unread.h"

enum {
    MOST_CHAIN = 24, /* ops that run again for one tensor */
    MOST_TRIES = 64, /* tensors at one peak */
    MOST_COPIES = 4, /* runs, for each that the program has */
};
#define DEFAULT_EFFORT UINT64_C(50000000)

uint64_t arenaut_recompute_default_effort(void) { return DEFAULT_EFFORT; }

typedef struct finder {
    arn_runs_graph graph;
    const arenaut_program *file;
    const arenaut_recompute_options *options;
    arn_budget *budget;
    arn_region region;
    arn_runs now, trial;
    uint32_t *file_op; /* per op: that of the file, if it stands for that alone; NONE */
    bool *repeats;     /* per op: it may run again, and is cheap */
    uint32_t *maker;   /* per tensor: the op that makes it, or names it; NONE */
    bool *tried;       /* per instance, at one peak */
    uint64_t effort;
    /* Of a candidate. */
    uint32_t instance, reader;  /* the first run behind the peak that reads it; NONE */
    bool *wanted;               /* per tensor: some run behind the peak reads it */
    uint32_t chain[MOST_CHAIN]; /* what runs again for it, in this order */
    uint32_t n_chain;
    bool *chained; /* per op */
} finder;

/* ---- facts ---- */

static uint32_t only_op(const arn_file_numbers *numbers, uint32_t number) {
    const uint32_t *ops;
    return arn_file_numbers_ops(numbers, number, &ops) == 1 ? ops[0] : ARENAUT_NONE;
}

/* Which op of the file an op stands for, where neither stands for several. */
static bool find_file_ops(finder *f) {
    const arenaut_program *p = f->graph.program;
    arn_file_numbers now, before;
    if (!arn_file_numbers_find(p, 0, &f->region, &now) ||
        !arn_file_numbers_find(f->file, 0, &f->region, &before)) {
        return false;
    }
    for (uint32_t i = 0; i < p->n_ops; i++) {
        const uint32_t number = p->ops[i].file_index.id;
        f->file_op[i] = only_op(&now, number) == i ? only_op(&before, number) : ARENAUT_NONE;
    }
    return true;
}

static bool may_run_again(const finder *f, uint32_t i) {
    const arenaut_op *op = &f->graph.program->ops[i];
    if (f->file_op[i] == ARENAUT_NONE) return false;
    const arenaut_op *own = &f->file->ops[f->file_op[i]];
    return arn_recompute_is_cheap(own->name) && arn_recompute_may_repeat(f->file, own) &&
           (op->kind == ARENAUT_OP_OUT || op->kind == ARENAUT_OP_FUNCTIONAL ||
            op->kind == ARENAUT_OP_VIEW);
}

/* Ops that touch nothing are left out of the list. */
static void list_runs(finder *f) {
    const arenaut_program *p = f->graph.program;
    for (uint32_t t = 0; t < p->n_tensors; t++) f->maker[t] = ARENAUT_NONE;
    for (uint32_t i = 0; i < p->n_ops; i++) {
        const arenaut_op *op = &p->ops[i];
        f->repeats[i] = may_run_again(f, i);
        f->graph.changes[i] = op->kind == ARENAUT_OP_IN_PLACE || arn_has_side_effects(p, op);
        if (!arenaut_op_kind_touches(op->kind)) continue;
        f->now.list[f->now.n++] = (arn_run){i, ARENAUT_NONE};
        for (uint32_t k = 0; k < op->n_outputs; k++) {
            const uint32_t t = op->outputs[k];
            if (t != ARENAUT_NONE && f->maker[t] == ARENAUT_NONE) f->maker[t] = i;
        }
    }
}

/* ---- what runs again for a tensor ---- */

/* Whether what a tensor holds is the same from `from` up to run `to`. */
static bool is_steady(const finder *f, uint32_t tensor, uint32_t from, uint32_t to) {
    const uint32_t s = arenaut_program_storage(f->graph.program, tensor, NULL);
    const arn_runs *now = &f->now;
    return now->n_writes[s] == 0 || now->last_write[s] < from || now->first_write[s] >= to;
}

static bool is_written_once(const finder *f, uint32_t tensor) {
    return f->now.n_writes[arenaut_program_storage(f->graph.program, tensor, NULL)] == 1;
}

/* Whether a tensor is there, right before the reader, without what is to go. */
static bool is_there(const finder *f, uint32_t tensor) {
    const uint32_t instance = f->now.latest[tensor];
    return instance == ARENAUT_NONE ||
           (instance != f->instance && f->now.first[instance] < f->reader &&
            f->now.last[instance] >= f->reader);
}

/* Puts what makes a tensor into the chain, behind what makes its operands. What is not there and
 * cannot be made again is kept up to the reader. */
static bool put_maker(finder *f, uint32_t tensor, uint32_t depth) {
    const uint32_t i = f->maker[tensor];
    if (i == ARENAUT_NONE || !f->repeats[i] || depth == MOST_CHAIN) return false;
    if (f->chained[i]) return true;
    const arenaut_op *op = &f->graph.program->ops[i];
    const uint32_t ran = f->now.first_run[i];
    for (uint32_t k = 0; k < op->n_inputs; k++) {
        const uint32_t t = op->inputs[k];
        if (t == ARENAUT_NONE) continue;
        if (!is_steady(f, t, ran, f->reader)) return false;
        if (is_there(f, t)) continue;
        const bool must = f->now.latest[t] == f->instance;
        if (!put_maker(f, t, depth + 1) && must) return false;
    }
    for (uint32_t k = 0; k < op->n_outputs; k++) {
        const uint32_t t = op->outputs[k];
        const bool named = t != ARENAUT_NONE && arn_runs_aliased(&f->graph, op, k) != ARENAUT_NONE;
        if (t != ARENAUT_NONE && !named && !is_written_once(f, t)) return false;
    }
    if (f->n_chain == MOST_CHAIN) return false;
    f->chain[f->n_chain++] = i;
    f->chained[i] = true;
    return true;
}

/* Finds who reads an instance behind the peak, and under which names. */
static bool find_readers(finder *f) {
    arn_runs *now = &f->now;
    f->reader = ARENAUT_NONE;
    memset(f->wanted, 0, f->graph.program->n_tensors * sizeof *f->wanted);
    arn_runs_restart(&f->graph, now);
    for (uint32_t at = 0; at < now->n; at++) {
        const arenaut_op *op = &f->graph.program->ops[now->list[at].op];
        for (uint32_t i = 0; i < op->n_inputs && at > now->at; i++) {
            const uint32_t t = op->inputs[i];
            if (t == ARENAUT_NONE || now->latest[t] != f->instance) continue;
            if (f->graph.changes[now->list[at].op]) return false;
            if (f->file_op[now->list[at].op] == ARENAUT_NONE) return false;
            if (f->reader == ARENAUT_NONE) f->reader = at;
            f->wanted[t] = true;
        }
        arn_runs_step(&f->graph, now, at);
    }
    return f->reader != ARENAUT_NONE;
}

static bool find_chain(finder *f) {
    const arenaut_program *p = f->graph.program;
    bool found = true;
    f->n_chain = 0;
    memset(f->chained, 0, p->n_ops * sizeof *f->chained);
    arn_runs_restart(&f->graph, &f->now);
    for (uint32_t at = 0; at < f->reader; at++) arn_runs_step(&f->graph, &f->now, at);
    for (uint32_t t = 0; t < p->n_tensors && found; t++) {
        /* What a late view names is wanted under the name that it reads. */
        if (f->wanted[t] && f->now.latest[t] == f->instance) found = put_maker(f, t, 0);
    }
    return found && f->n_chain > 0;
}

/* ---- taking ---- */

enum { LOOKS_PER_OP = 4 }; /* at arguments, about */

static void count(finder *f, uint64_t ops) {
    f->effort += ops;
    arn_budget_spend(f->budget, LOOKS_PER_OP * ops);
}

static void take(finder *f) {
    const arn_runs other = f->now;
    f->now = f->trial;
    f->trial = other;
}

static bool has_room(const finder *f) {
    const arenaut_optional_id most = f->options->max_ops;
    const uint32_t n = f->now.n_again + f->n_chain;
    uint32_t made = f->now.n_made;
    for (uint32_t i = 0; i < f->n_chain; i++) {
        made += f->graph.program->ops[f->chain[i]].n_outputs;
    }
    return f->now.n + f->n_chain <= f->graph.n_runs && made <= f->graph.n_instances &&
           (!most.given || n <= most.id);
}

static void try_list(finder *f) {
    count(f, f->trial.n);
    arn_runs_measure(&f->graph, &f->trial);
}

static bool is_lower(const arn_runs *a, const arn_runs *b) {
    return a->peak != b->peak ? a->peak < b->peak : a->n_at < b->n_at;
}

/* The list with the chain before the reader. */
static bool try_chain(finder *f) {
    const arn_run *reader = &f->now.list[f->reader];
    const uint32_t of = reader->of == ARENAUT_NONE ? reader->op : reader->of;
    arn_run *list = f->trial.list;
    if (!has_room(f)) return false;
    memcpy(list, f->now.list, f->reader * sizeof *list);
    for (uint32_t i = 0; i < f->n_chain; i++) {
        list[f->reader + i] = (arn_run){f->chain[i], of};
    }
    memcpy(list + f->reader + f->n_chain, reader, (f->now.n - f->reader) * sizeof *list);
    f->trial.n = f->now.n + f->n_chain;
    f->trial.n_again = f->now.n_again + f->n_chain;
    try_list(f);
    return is_lower(&f->trial, &f->now);
}

/* The largest instance that is alive at the peak, but not used there; NONE: all were tried. */
static uint32_t next_candidate(finder *f) {
    const arn_runs *now = &f->now;
    uint32_t best = ARENAUT_NONE;
    uint64_t most = 0;
    for (uint32_t i = 0; i < now->n_made; i++) {
        if (f->tried[i] || now->first[i] == ARENAUT_NONE || now->first[i] >= now->at ||
            now->last[i] <= now->at) {
            continue;
        }
        const uint64_t size = f->graph.plain->size[now->buffer[i]];
        if (size <= most || (f->graph.plain->boundary[now->buffer[i]] && i == now->buffer[i]))
            continue;
        most = size;
        best = i;
    }
    if (best != ARENAUT_NONE) f->tried[best] = true;
    return best;
}

static bool is_used_at_peak(finder *f) {
    const arenaut_op *op = &f->graph.program->ops[f->now.list[f->now.at].op];
    arn_runs_restart(&f->graph, &f->now);
    for (uint32_t at = 0; at < f->now.at; at++) arn_runs_step(&f->graph, &f->now, at);
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const uint32_t t = op->inputs[i];
        if (t != ARENAUT_NONE && f->now.latest[t] == f->instance) return true;
    }
    return false;
}

/* Whether some op could be added with which the peak is lower. */
static bool lower_peak(finder *f) {
    const uint64_t limit = f->budget->effort ? f->budget->effort : DEFAULT_EFFORT;
    memset(f->tried, 0, f->graph.n_instances * sizeof *f->tried);
    for (uint32_t tries = 0; tries < MOST_TRIES && f->effort < limit; tries++) {
        if (arn_budget_ended(f->budget)) return false;
        f->instance = next_candidate(f);
        if (f->instance == ARENAUT_NONE) return false;
        count(f, 2 * (uint64_t)f->now.n);
        if (is_used_at_peak(f) || !find_readers(f) || !find_chain(f)) continue;
        if (!try_chain(f)) continue;
        take(f);
        return true;
    }
    return false;
}

/* Leaves out runs [at, at + n), if the peak is no higher without them. */
static bool leave_out(finder *f, uint32_t at, uint32_t n) {
    const uint32_t behind = f->now.n - at - n;
    memcpy(f->trial.list, f->now.list, at * sizeof *f->now.list);
    memcpy(f->trial.list + at, f->now.list + at + n, behind * sizeof *f->now.list);
    f->trial.n = f->now.n - n;
    f->trial.n_again = f->now.n_again - n;
    try_list(f);
    if (f->trial.peak > f->now.peak) return false;
    take(f);
    return true;
}

/* What helped at first need not help in the end: all that runs again for one reader, or some. */
static void leave_out_useless(finder *f) {
    uint32_t end = f->now.n;
    while (end > 0 && !arn_budget_ended(f->budget)) {
        uint32_t begin = end;
        while (begin > 0 && f->now.list[begin - 1].of != ARENAUT_NONE) begin--;
        const uint32_t n = end - begin;
        if (n > 1 && !leave_out(f, begin, n)) {
            while (end > begin) leave_out(f, --end, 1);
        } else if (n == 1) {
            leave_out(f, begin, 1);
        }
        end = begin > 0 ? begin - 1 : 0;
    }
}

/* ---- the file's ops ---- */

static arenaut_status emit(finder *f, const uint32_t *base, arenaut_recomputation *r,
                           arenaut_error *err) {
    const uint32_t n = f->file->n_ops, n_runs = f->now.n;
    uint32_t *begin = arn_region_allocate(&f->region, n, sizeof *begin);
    uint32_t *end = arn_region_allocate(&f->region, n, sizeof *end);
    r->ops = arn_allocate(&r->allocator, (size_t)n + f->now.n_again, sizeof *r->ops);
    if (!begin || !end || !r->ops) return arn_no_memory(err);
    for (uint32_t i = 0; i < n; i++) begin[i] = end[i] = 0;
    for (uint32_t at = 0, from; at < n_runs; at++) {
        for (from = at; f->now.list[at].of != ARENAUT_NONE; at++) continue;
        if (from == at) continue;
        const uint32_t reader = f->file_op[f->now.list[at].op];
        begin[reader] = from;
        end[reader] = at;
    }
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t at = begin[base[i]]; at < end[base[i]]; at++) {
            r->ops[r->n_ops++] = f->file_op[f->now.list[at].op];
        }
        r->ops[r->n_ops++] = base[i];
    }
    if (arn_recompute_leave_out_unread(f->file, &f->region, r->ops, &r->n_ops)) return ARENAUT_OK;
    return arn_no_memory(err);
}

/* ---- all of it ---- */

static bool allocate(finder *f) {
    const arenaut_program *p = f->graph.program;
    size_t made = 0;
    for (uint32_t i = 0; i < p->n_ops; i++) made += p->ops[i].n_outputs;
    const uint64_t instances = f->graph.plain->n_buffers + (uint64_t)MOST_COPIES * made;
    const uint64_t runs = (uint64_t)(1 + MOST_COPIES) * p->n_ops;
    if (instances > UINT32_MAX / 2 || runs > UINT32_MAX / 2) return false;
    f->graph.n_instances = (uint32_t)instances;
    f->graph.n_runs = (uint32_t)runs;
    f->file_op = arn_region_allocate(&f->region, p->n_ops, sizeof *f->file_op);
    f->graph.changes = arn_region_allocate(&f->region, p->n_ops, sizeof *f->graph.changes);
    f->repeats = arn_region_allocate(&f->region, p->n_ops, sizeof *f->repeats);
    f->chained = arn_region_allocate(&f->region, p->n_ops, sizeof *f->chained);
    f->maker = arn_region_allocate(&f->region, p->n_tensors, sizeof *f->maker);
    f->wanted = arn_region_allocate(&f->region, p->n_tensors, sizeof *f->wanted);
    f->tried = arn_region_allocate(&f->region, f->graph.n_instances, sizeof *f->tried);
    return f->file_op && f->graph.changes && f->repeats && f->chained && f->maker && f->wanted &&
           f->tried && arn_runs_make(&f->graph, &f->region, &f->now) &&
           arn_runs_make(&f->graph, &f->region, &f->trial) && find_file_ops(f);
}

/* Nothing runs again where the peak is as high as before. */
static void forget(finder *f) {
    f->now.n = f->now.n_again = 0;
    list_runs(f);
}

static arenaut_status find(finder *f, const uint32_t *base, arenaut_recomputation *r,
                           arenaut_error *err) {
    if (!allocate(f)) return arn_no_memory(err);
    list_runs(f);
    arn_runs_measure(&f->graph, &f->now);
    r->before = f->now.peak;
    while (lower_peak(f)) continue;
    leave_out_useless(f);
    if (f->now.peak == r->before) forget(f);
    r->after = f->now.peak;
    return emit(f, base, r, err);
}

void arenaut_recomputation_free(arenaut_recomputation *r) {
    if (!r) return;
    const arenaut_allocator allocator = r->allocator;
    arn_release(&allocator, r->ops);
    arn_release(&allocator, r);
}

static const arenaut_recompute_options standard = {0};

arenaut_status arn_recompute_find(const arn_recompute_task *task, arn_budget *budget,
                                  const arenaut_recompute_options *options,
                                  const arenaut_allocator *allocator, arenaut_recomputation **out,
                                  arenaut_error *err) {
    if (arenaut_program_order_count(task->order) != 1 ||
        arenaut_program_order_peaks(task->order).between_jumps) {
        return arn_fail(err, ARENAUT_REFUSED, 0, "its ops are not those of one method");
    }
    finder f = {.graph = {.program = task->program,
                          .lowering = task->lowering,
                          .plain = arenaut_program_order_problem(task->order, 0)},
                .file = task->file,
                .budget = budget,
                .options = options ? options : &standard};
    arenaut_recomputation *r = arn_allocate_zeroed(allocator, 1, sizeof *r);
    if (!r) return arn_no_memory(err);
    r->allocator = arn_allocator_or_default(allocator);
    arn_region_init(&f.region, allocator);
    const arenaut_status st = find(&f, task->base, r, err);
    arn_region_free(&f.region);
    if (st != ARENAUT_OK) arenaut_recomputation_free(r);
    else *out = r;
    return st;
}

arenaut_status arenaut_recompute_find(const arenaut_program *program,
                                      const arenaut_lowering *lowering,
                                      const arenaut_program_order *order,
                                      const arenaut_program *file, const uint32_t *base,
                                      const arenaut_recompute_options *options,
                                      const arenaut_allocator *allocator,
                                      arenaut_recomputation **out, arenaut_error *err) {
    const arenaut_recompute_options *o = options ? options : &standard;
    const arn_recompute_task task = {program, lowering, order, file, base};
    arn_budget budget = arn_budget_make(o->effort, o->progress, o->progress_context);
    return arn_recompute_find(&task, &budget, o, allocator, out, err);
}
