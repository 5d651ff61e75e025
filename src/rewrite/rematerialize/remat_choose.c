/* Choice of the ops of a program to be rematerialized: its problem, solved and checked, as runs of
 * the file's ops. Fewer ops are added where a higher peak is allowed, which bisection makes use of.
 */
#include <string.h>

#include <arenaut/rewrite.h>

#include "core/checked.h"
#include "core/fail.h"
#include "ir/certificate.h"
#include "rewrite/find_within.h"
#include "rewrite/order/program_order.h"
#include "rewrite/rematerialize/remat_certificate.h"

uint64_t arn_recompute_default_effort(void) { return arn_remat_default_effort(); }

typedef struct chooser {
    const arn_recompute_task *task;
    const arenaut_recompute_options *options;
    const arenaut_allocator *allocator;
    arn_budget *budget;
    arn_region region;
    arn_remat_program program;
    arenaut_error *err;
} chooser;

/* ---- one budget ---- */

/* Of runs beyond the first of each op: a first one may have been left out since. */
static uint64_t count_added(const chooser *c, const uint32_t *ops, uint32_t n) {
    uint64_t all = 0, once = 0;
    for (uint32_t i = 0; i < n; i++) all += c->program.file_cost[ops[i]];
    for (uint32_t i = 0; i < c->task->file->n_ops; i++) once += c->program.file_cost[i];
    return all - once;
}

/* In place of those that are in *to. */
static arenaut_status emit_ops(chooser *c, const uint32_t *runs, uint32_t n_runs, uint32_t **to,
                               uint32_t *n, arn_recomputation *r) {
    uint32_t *ops;
    const arenaut_status st = arn_remat_program_ops(&c->program, runs, n_runs, &ops, n, c->err);
    if (st != ARENAUT_OK) return st;
    arn_release(&r->allocator, *to);
    *to = arn_allocate(&r->allocator, *n, sizeof **to);
    if (!*to) return arn_no_memory(c->err);
    memcpy(*to, ops, *n * sizeof *ops);
    return ARENAUT_OK;
}

static arenaut_status emit(chooser *c, const arenaut_rematerialization *found,
                           const arn_remat_runs *all, arn_recomputation *r) {
    arenaut_status st = emit_ops(c, found->runs, found->n_runs, &r->ops, &r->n_ops, r);
    if (st == ARENAUT_OK) st = emit_ops(c, all->runs, all->n, &r->all_ops, &r->n_all_ops, r);
    if (st != ARENAUT_OK) return st;
    r->all_added = count_added(c, r->all_ops, r->n_all_ops);
    r->before = found->before;
    r->after = found->peak;
    r->base = found->base;
    r->added = count_added(c, r->ops, r->n_ops);
    r->bound = r->floor = 0;
    r->floor_op = ARENAUT_NONE;
    r->fits = found->fits;
    arn_remat_certificate_free(r->certificate);
    r->certificate = NULL;
    if (c->task->open_aliases) return ARENAUT_OK;
    r->bound = found->bound;
    r->floor = found->floor;
    st = arn_remat_certificate_make(&c->program, found, c->allocator, &r->certificate, c->err);
    if (st != ARENAUT_OK) return st;
    r->certificate->added = r->added;
    const uint32_t op = found->floor_proof.op;
    const bool at_op = op < c->program.problem.n_ops;
    r->floor_op = at_op ? c->program.file_op[c->program.op_of[op]] : ARENAUT_NONE;
    return ARENAUT_OK;
}

static arenaut_status try_budget(chooser *c, uint64_t bytes, arn_recomputation *r) {
    arenaut_rematerialization *found = NULL;
    arn_remat_runs all = {0};
    arenaut_status st =
        arn_remat_program_solve(&c->program, c->budget, bytes, c->allocator, &found, &all, c->err);
    if (st == ARENAUT_OK) st = emit(c, found, &all, r);
    arenaut_rematerialization_free(found);
    arn_release(c->allocator, all.runs);
    return st;
}

/* ---- the number of ops ---- */

static bool adds_too_many(const chooser *c, const arn_recomputation *r) {
    const arenaut_optional_id most = c->options->max_ops;
    return most.given && r->n_ops > c->task->file->n_ops &&
           r->n_ops - c->task->file->n_ops > most.id;
}

/* The other's sequence; each keeps its proof. */
static void swap_sequences(arn_recomputation *a, arn_recomputation *b) {
    const arn_recomputation was = *a;
    a->after = b->after;
    a->added = b->added;
    a->ops = b->ops;
    a->n_ops = b->n_ops;
    b->after = was.after;
    b->added = was.added;
    b->ops = was.ops;
    b->n_ops = was.n_ops;
}

/* Within the budget, if there is one, the faster; else that with the lower peak. */
static bool is_better(const arn_recomputation *a, const arn_recomputation *b, uint64_t bytes) {
    const uint64_t peaks[] = {arn_max_u64(a->after, bytes), arn_max_u64(b->after, bytes)};
    return peaks[0] != peaks[1] ? peaks[0] < peaks[1] : a->added < b->added;
}

/* The best sequence of so many ops that is found on the way to the lowest peak they can reach. A
 * smaller budget than the one that is kept may lead to one, and to proofs that do not hold for it.
 * `trial` is of no other use. */
static arenaut_status bisect(chooser *c, uint64_t bytes, const arn_recomputation *r,
                             arn_recomputation *trial, arn_recomputation *best) {
    enum { MOST_TIMES = 16 };
    uint64_t low = r->after, high = r->before; /* too many are added at the low end */
    arenaut_status st = ARENAUT_OK;
    for (uint32_t i = 0; i < MOST_TIMES && high - low > 1; i++) {
        const uint64_t middle = low + (high - low) / 2;
        st = try_budget(c, middle, trial);
        if (st != ARENAUT_OK) return st;
        if (adds_too_many(c, trial)) {
            low = middle;
            continue;
        }
        high = arn_max_u64(trial->after, low + 1);
        if (!best->ops || is_better(trial, best, bytes)) swap_sequences(trial, best);
    }
    return best->ops ? st : try_budget(c, r->before, best);
}

static void free_content(arn_recomputation *r) {
    ARN_RELEASE(&r->allocator, r->ops, r->all_ops);
    arn_remat_certificate_free(r->certificate);
}

/* Another sequence, with fewer ops. What is proven of the budget stays, as it holds for all of
 * them; without one it is of the peak. */
static arenaut_status limit_ops(chooser *c, uint64_t bytes, arn_recomputation *r) {
    arn_recomputation trial = {.allocator = r->allocator}, best = trial;
    arenaut_status st = bisect(c, bytes, r, &trial, &best);
    if (st == ARENAUT_OK && bytes == 0) st = try_budget(c, best.after, r);
    if (st == ARENAUT_OK && (adds_too_many(c, r) || is_better(&best, r, bytes))) {
        swap_sequences(r, &best);
    }
    if (st == ARENAUT_OK) r->fits = bytes == 0 || r->after <= bytes;
    if (r->certificate) r->certificate->added = r->added;
    free_content(&trial);
    free_content(&best);
    return st;
}

static arenaut_status choose(chooser *c, arn_recomputation *r) {
    arenaut_status st =
        arn_remat_program_make(c->task, c->options, &c->region, &c->program, c->err);
    if (st != ARENAUT_OK) return st;
    /* An arena may end with the last byte of a buffer whose size counts rounded up. */
    const uint64_t at_ends = arn_program_order_peaks(c->task->order).at_ends;
    uint64_t bytes = 0;
    if (c->options->budget && !arn_add(c->options->budget, at_ends, &bytes)) bytes = UINT64_MAX;
    st = try_budget(c, bytes, r);
    if (st == ARENAUT_OK && adds_too_many(c, r)) st = limit_ops(c, bytes, r);
    r->floor -= arn_min_u64(r->floor, at_ends);
    return st;
}

void arn_recomputation_free(arn_recomputation *r) {
    if (!r) return;
    const arenaut_allocator allocator = r->allocator;
    free_content(r);
    arn_release(&allocator, r);
}

static const arenaut_recompute_options standard = {0};

arenaut_status arn_recompute_find(const arn_recompute_task *task, arn_budget *budget,
                                  const arenaut_recompute_options *options,
                                  const arenaut_allocator *allocator, arn_recomputation **out,
                                  arenaut_error *err) {
    arenaut_status st = arn_remat_program_check_task(task, err);
    if (st != ARENAUT_OK) return st;
    chooser c = {.task = task,
                 .options = options ? options : &standard,
                 .allocator = allocator,
                 .budget = budget,
                 .err = err};
    arn_recomputation *r = arn_allocate_zeroed(allocator, 1, sizeof *r);
    if (!r) return arn_no_memory(err);
    r->allocator = arn_allocator_or_default(allocator);
    arn_region_init(&c.region, allocator);
    st = choose(&c, r);
    arn_region_free(&c.region);
    if (st != ARENAUT_OK) arn_recomputation_free(r);
    else *out = r;
    return st;
}
