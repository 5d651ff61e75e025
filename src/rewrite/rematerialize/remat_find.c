/* The fastest sequence within a budget, or that with the lowest peak, and its bounds: a ladder of
 * budgets, each searched in two orders of first runs (remat_multistart.h), then proofs. */
#include <arenaut/rematerialization.h>

#include <string.h>

#include "core/checked.h"
#include "core/fail.h"
#include "rewrite/find_within.h"
#include "rewrite/rematerialize/remat_measure.h"
#include "rewrite/rematerialize/remat_moments.h"
#include "rewrite/rematerialize/remat_multistart.h"
#include "rewrite/rematerialize/remat_order.h"

#define DEFAULT_EFFORT UINT64_C(16000000)

enum {
    TRIES_OF_BOUND = 400,
    TRIES_OF_RUNG = 60,
    FLOWS_OF_MOMENTS = 2, /* times the effort, in steps of the search for flows of a chain */
    FLOWS_OF_CASES = 3,
};

uint64_t arn_remat_default_effort(void) { return DEFAULT_EFFORT; }

/* The given order of first runs, and a second one, if that promises anything. */
enum { GIVEN, MOVED, ORDERS };

typedef struct finder {
    arn_remat_multistart in[ORDERS];
    uint32_t n_orders;
    arn_remat_order order; /* the second */
    arn_remat_moments moments;
    arenaut_rematerialization *r; /* the answer */
    arn_remat_runs all;           /* its runs with those that were left out */
    uint64_t measured;            /* the exact peak of the sequence that was listed last */
} finder;

/* Where results of the step that are made last leave a peak that is clearly lower. */
static arenaut_status make_moved(finder *f, arenaut_error *err) {
    enum { PARTS = 64 };
    arn_remat_multistart *given = &f->in[GIVEN], *moved = &f->in[MOVED];
    if (!arn_remat_order_make(&given->graph, &given->region, &f->order)) return arn_no_memory(err);
    if (!f->order.differs) return ARENAUT_OK;
    f->n_orders = ORDERS;
    const arenaut_status st = arn_remat_multistart_make(
        moved, &f->order.problem, given->budget, given->effort / 2, &given->region.allocator, err);
    const int64_t before = given->base.peak;
    if (st != ARENAUT_OK || moved->base.peak < before - before / PARTS) return st;
    arn_remat_multistart_free(moved);
    f->n_orders = 1;
    return ARENAUT_OK;
}

/* ---- the answer ---- */

static bool measure(const finder *f, arn_remat_multistart *x, uint32_t n, uint64_t *peak) {
    arn_region scratch;
    arn_region_init(&scratch, &f->r->allocator);
    const bool ok = arn_remat_measure(&x->graph, &scratch, f->r->runs, n, peak);
    arn_region_free(&scratch);
    x->sequence.effort += n;
    return ok;
}

/* Leaves out the repetition at `at`, unless the peak is higher without it. */
static bool leave_out(finder *f, arn_remat_multistart *x, uint32_t at) {
    arenaut_rematerialization *r = f->r;
    const uint32_t op = r->runs[at], n = r->n_runs - 1;
    const size_t behind = (n - at) * sizeof *r->runs;
    uint64_t peak;
    memmove(r->runs + at, r->runs + at + 1, behind);
    const bool ok = measure(f, x, n, &peak);
    if (ok && peak <= r->peak) {
        r->n_runs = n;
        r->peak = peak;
        r->added -= x->problem->cost[op];
        return ok;
    }
    memmove(r->runs + at + 1, r->runs + at, behind);
    r->runs[at] = op;
    return ok;
}

/* From the last one on, since makers of its operands that are repeated come before. */
static bool leave_out_each(finder *f, arn_remat_multistart *x) {
    const arenaut_rematerialization *r = f->r;
    uint32_t *runs_of = x->search.runs_of;
    bool ok = true;
    memset(runs_of, 0, x->problem->n_ops * sizeof *runs_of);
    for (uint32_t i = 0; i < r->n_runs; i++) runs_of[r->runs[i]]++;
    for (uint32_t i = r->n_runs; i-- > 0 && ok && arn_budget_spend(x->budget, r->n_runs);) {
        if (runs_of[r->runs[i]]-- > 1) ok = leave_out(f, x, i);
    }
    return ok;
}

/* States of gaps that change one by one need not come to it: an operand that stays for a repetition
 * goes only if that goes, too. */
static bool leave_out_needless(finder *f, arn_remat_multistart *x) {
    uint32_t before;
    bool ok;
    do {
        before = f->r->n_runs;
        ok = leave_out_each(f, x);
    } while (ok && f->r->n_runs < before);
    return ok;
}

static void number_as_given(const arn_remat_order *order, uint32_t *runs, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) runs[i] = order->op_at[runs[i]];
}

static bool list_runs(finder *f, arn_remat_multistart *x, const arn_remat_schedule *s) {
    arenaut_rematerialization *r = f->r;
    uint32_t n;
    arn_remat_restore(&x->search, s->states);
    arn_remat_list_runs(&x->sequence, NULL, 0, &n);
    r->runs = arn_allocate(&r->allocator, n, sizeof *r->runs);
    f->all.runs = arn_allocate(&r->allocator, n, sizeof *r->runs);
    if (!r->runs || !f->all.runs) return false;
    r->added = x->sequence.added;
    if (!arn_remat_list_runs(&x->sequence, f->all.runs, n, &f->all.n)) return false;
    memcpy(r->runs, f->all.runs, f->all.n * sizeof *r->runs);
    r->n_runs = f->all.n;
    const bool ok = measure(f, x, r->n_runs, &r->peak) && leave_out_needless(f, x);
    f->measured = r->peak;
    if (x == &f->in[MOVED]) {
        number_as_given(&f->order, r->runs, r->n_runs);
        number_as_given(&f->order, f->all.runs, f->all.n);
    }
    return ok;
}

/* Keeps a sequence, if it is within the budget, exactly, and adds less than the answer so far;
 * without an answer, if its peak is lower. */
static bool keep_answer(finder *f, arn_remat_multistart *x, const arn_remat_schedule *s) {
    arenaut_rematerialization *r = f->r;
    uint32_t *const runs = r->runs;
    const arenaut_rematerialization was = *r;
    const arn_remat_runs all = f->all;
    r->runs = f->all.runs = NULL;
    if (!list_runs(f, x, s)) {
        ARN_RELEASE(&r->allocator, runs, all.runs);
        return false;
    }
    r->fits = r->peak <= r->budget;
    const bool better = !was.runs || (r->fits ? !was.fits || r->added < was.added
                                              : !was.fits && r->peak < was.peak);
    ARN_RELEASE(&r->allocator, better ? runs : r->runs, better ? all.runs : f->all.runs);
    if (better) return true;
    *r = was;
    f->all = all;
    return true;
}

/* From the cut that leaves open which results have to stay. */
static void search_from_open_cut(arn_remat_multistart *x, uint64_t budget) {
    const arn_remat_bounds kept = x->bounds;
    arn_remat_cut_leave_open(&x->cut, true);
    arn_remat_bound_time(&x->bounds, budget, x->load, TRIES_OF_RUNG);
    arn_remat_multistart_find(x, budget);
    x->bounds = kept;
    arn_remat_cut_leave_open(&x->cut, false);
}

/* Copies of storages that are live out are live beside these, which the search does not count: then
 * its budget is that much smaller, and below the peak that it saw. */
static bool search_exactly(finder *f, arn_remat_multistart *x, uint64_t budget) {
    enum { MOST_TIMES = 4 };
    uint64_t within = budget;
    for (uint32_t i = 0; i < MOST_TIMES; i++) {
        if (i == 1) search_from_open_cut(x, budget);
        else arn_remat_multistart_find(x, within);
        if (x->out_of_memory || !keep_answer(f, x, &x->best)) return false;
        if (!x->best.fits || f->measured <= budget || f->measured - budget >= within) break;
        if (i > 0)
            within = arn_min_u64(within - (f->measured - budget), (uint64_t)x->best.peak - 1);
    }
    return true;
}

/* ---- rungs ---- */

/* Budgets are multiples of a fixed part of the peak where each op runs once. The schedule found for
 * one of them depends on no other, and the answer is the fastest of all that are within the budget:
 * so a larger budget never costs more. Lower rungs are left out where the bound shows that they
 * cannot be faster. The floor is the lowest rung. At last there is the lowest peak that repair
 * reaches. Loads of which there are fewer than such parts are the rungs themselves: the search
 * takes a budget between two of them for the lower one, but plans its segments for all of it. */
static uint64_t count_parts(const arenaut_remat_problem *p) {
    return p->n_ops <= 1000 ? 200 : p->n_ops <= 4000 ? 100 : 50;
}

static bool has_few_loads(const arn_remat_multistart *x, uint64_t before) {
    return before >= x->unit && before / x->unit <= count_parts(x->problem);
}

static uint64_t rung_bytes(uint64_t before, uint64_t rung, uint64_t rungs) {
    return before / rungs * rung + before % rungs * rung / rungs;
}

static void find_lowest(finder *f) {
    for (uint32_t i = 0; i < f->n_orders; i++) {
        arn_remat_multistart_find_lowest(&f->in[i], f->r->floor);
    }
}

/* Whichever order comes to a lower peak. */
static arn_remat_multistart *lowest_of_all(finder *f) {
    arn_remat_multistart *given = &f->in[GIVEN], *moved = &f->in[MOVED];
    return f->n_orders == ORDERS && moved->lowest < given->lowest ? moved : given;
}

static bool search_lowest(finder *f) {
    arn_remat_multistart *x = lowest_of_all(f);
    arn_remat_multistart_improve_lowest(x);
    return keep_answer(f, x, &x->best);
}

/* Bounds hold for any order of first runs. */
static bool search_moved(finder *f, uint64_t budget) {
    const arn_remat_multistart *given = &f->in[GIVEN];
    arn_remat_multistart *moved = &f->in[MOVED];
    if (f->n_orders < ORDERS || arn_remat_multistart_is_close(given)) return true;
    if (arn_remat_is_over(&moved->search)) return true;
    const uint32_t op = given->bounds.op;
    moved->other = given->best.fits ? given->best.added : 0;
    moved->bounds.budget = budget;
    moved->bounds.value = given->bounds.value;
    moved->bounds.op = op == ARENAUT_NONE ? op : f->order.turn[op];
    moved->bounds.byte_price = given->bounds.byte_price;
    moved->bounds.time_price = given->bounds.time_price;
    return search_exactly(f, moved, budget);
}

/* From now on no more than was spent by now, or a part of the whole where that was little. */
static void limit_to_as_much(arn_remat_multistart *x) {
    enum { PARTS = 4 };
    const uint64_t spent = x->sequence.effort;
    const uint64_t most = spent + arn_max_u64(spent, x->effort / PARTS);
    x->search.limit = arn_min_u64(x->search.limit, most);
}

/* Repair passes over some peaks, and bisection over those below one that was not reached: lower
 * ones are searched for as budgets are, the next first, then by eighths down to the floor. The
 * answer's budget is left open. */
static bool search_below(finder *f) {
    enum { PARTS = 8 };
    arn_remat_multistart *x = &f->in[GIVEN];
    arenaut_rematerialization *r = f->r;
    const uint64_t part = (r->peak - arn_min_u64(r->floor, r->peak)) / PARTS;
    uint64_t down = x->unit;
    for (uint32_t i = 0; i < f->n_orders; i++) limit_to_as_much(&f->in[i]);
    while (r->peak > r->floor && !arn_remat_is_over(&x->search)) {
        const uint64_t was = r->peak;
        r->budget = was - arn_min_u64(down, was - r->floor);
        r->fits = false;
        arn_remat_bound_time(&x->bounds, r->budget, x->load, TRIES_OF_RUNG);
        x->other = 1; /* no more is asked of a sequence than to fit */
        if (!search_exactly(f, x, r->budget)) return false;
        if (r->peak == was && !search_moved(f, r->budget)) return false;
        if (r->peak == was && r->budget == r->floor) break;
        down = r->peak < was ? x->unit : down + arn_max_u64(part, x->unit);
    }
    x->other = 0;
    r->budget = 0;
    return true;
}

/* The answer is the best of the rungs from the highest within the budget on. */
static bool search_rungs(finder *f) {
    arn_remat_multistart *x = &f->in[GIVEN];
    const arenaut_rematerialization *r = f->r;
    const uint64_t most = arn_max_u64(r->before, 1);
    const uint64_t rungs = has_few_loads(x, most) ? most / x->unit : count_parts(x->problem);
    for (uint64_t rung = rungs; rung > 0; rung--) {
        const uint64_t budget = arn_max_u64(rung_bytes(most, rung, rungs), r->floor);
        if (budget > r->budget) continue;
        if (r->fits && r->added == 0) return true;
        arn_remat_bound_time(&x->bounds, budget, x->load, TRIES_OF_RUNG);
        if (r->fits && x->bounds.value >= r->added) return true;
        if (x->sequence.effort >= x->effort || arn_budget_ended(x->budget)) return true;
        if (!search_exactly(f, x, budget) || !search_moved(f, budget)) return false;
        if (budget == r->floor) break;
    }
    find_lowest(f);
    return search_lowest(f);
}

/* After the floor's cut was found. */
static arenaut_status list_at_floor(finder *f, arenaut_error *err) {
    const arn_remat_multistart *x = &f->in[GIVEN];
    arenaut_rematerialization *r = f->r;
    const uint32_t n = x->problem->n_storages;
    r->at_floor = arn_allocate(&r->allocator, n, sizeof *r->at_floor);
    if (!r->at_floor) return arn_no_memory(err);
    for (uint32_t s = 0; s < n && r->floor_proof.op != ARENAUT_NONE; s++) {
        const bool at_end = r->floor_proof.op == x->problem->n_ops;
        if (at_end ? arn_remat_end_holds(&x->bounds.end, s) : arn_remat_cut_keeps(&x->cut, s)) {
            r->at_floor[r->n_at_floor++] = s;
        }
    }
    return ARENAUT_OK;
}

/* Without a budget the one with the lowest peak; where there is none within the budget, a try. That
 * each op runs once is the first answer, however soon the search is stopped. */
static bool search(finder *f, bool lowest) {
    arn_remat_multistart *x = &f->in[GIVEN];
    if (!keep_answer(f, x, &x->base)) return false;
    if (!lowest && f->r->floor <= f->r->budget) return search_rungs(f);
    if (lowest && !search_lowest(f)) return false;
    if (!f->r->fits && !search_exactly(f, x, f->r->budget)) return false;
    return !lowest || search_below(f);
}

/* Of the answer's budget: where none was given, of its peak, which need not be the one that the
 * search had in mind. Where nothing fits no bound is told, as any number would be one. `b`: the
 * bound of the search's budget. */
static void bound_answer(finder *f, bool lowest, const arn_remat_bounds *b) {
    arn_remat_multistart *x = &f->in[GIVEN];
    arenaut_rematerialization *r = f->r;
    if (lowest && r->peak != r->budget) {
        r->budget = r->peak;
        arn_remat_bound_time(&x->bounds, r->budget, x->load, TRIES_OF_BOUND);
    } else {
        x->bounds = *b;
    }
    if (r->floor > r->budget) {
        x->bounds.value = x->bounds.byte_price = x->bounds.time_price = 0;
        x->bounds.op = ARENAUT_NONE;
    }
    r->bound = x->bounds.value;
    r->fits = r->peak <= r->budget;
}

/* The bound's proof: at one op, or at several and by cases, if these show more. */
static bool prove(finder *f) {
    enum { CASES = 200000, LEAST = 30 };
    arn_remat_multistart *x = &f->in[GIVEN];
    arenaut_rematerialization *r = f->r;
    const arn_remat_bounds *b = &x->bounds;
    const uint32_t n = CASES / (x->problem->n_ops + 1) + LEAST;
    arn_remat_bound_prove(&x->bounds, b->op, b->byte_price, b->time_price, &r->proof);
    if (!r->fits || b->op == ARENAUT_NONE || r->added <= b->value) return true;
    if (arn_budget_ended(x->budget) || !arn_remat_multistart_chain(x, r->budget)) return true;
    const uint64_t spent = arn_remat_chain_spent(&x->chain);
    const uint64_t effort = arn_min_u64(x->effort, UINT64_MAX / 16);
    arn_remat_moments_find(&f->moments, x->load, arn_remat_chain_target(&x->chain, r->added),
                           spent + FLOWS_OF_MOMENTS * effort);
    const uint64_t limit = spent + (FLOWS_OF_MOMENTS + FLOWS_OF_CASES) * effort;
    if (!arn_remat_branch_find(&x->branch, r->added,
                               n < ARN_REMAT_MOST_CASES ? n : ARN_REMAT_MOST_CASES,
                               x->chain.n > 1 ? limit : UINT64_MAX)) {
        return false;
    }
    if (x->branch.value <= b->value) return true;
    r->bound = arn_min_u64(x->branch.value, r->added);
    return arn_remat_branch_prove(&x->branch, r->bound, &r->allocator, &r->proof);
}

/* The floor, its proof, and the storages that are alive there. */
static arenaut_status find_floor(finder *f, arenaut_error *err) {
    arn_remat_multistart *x = &f->in[GIVEN];
    arenaut_rematerialization *r = f->r;
    uint32_t op;
    r->floor = arn_remat_bound_bytes(&x->bounds, &op);
    x->floor_op = op < x->problem->n_ops ? op : ARENAUT_NONE;
    arn_remat_bound_prove(&x->bounds, op, 1, 0, &r->floor_proof);
    return list_at_floor(f, err);
}

static arenaut_status make(finder *f, const arenaut_remat_problem *problem, arn_budget *budget,
                           arenaut_error *err) {
    arn_remat_multistart *x = &f->in[GIVEN];
    arenaut_rematerialization *r = f->r;
    arenaut_status st = arn_remat_multistart_make(
        x, problem, budget, budget->effort ? budget->effort : DEFAULT_EFFORT, &r->allocator, err);
    if (st == ARENAUT_OK) st = make_moved(f, err);
    if (st != ARENAUT_OK) return st;
    r->proof.flow = arn_allocate(&r->allocator, problem->n_reads, sizeof *r->proof.flow);
    r->floor_proof.flow =
        arn_allocate(&r->allocator, problem->n_reads, sizeof *r->floor_proof.flow);
    if (!r->proof.flow || !r->floor_proof.flow ||
        !arn_remat_moments_make(&x->chain, &x->region, &f->moments)) {
        return arn_no_memory(err);
    }
    r->before = (uint64_t)x->base.peak;
    r->base = x->graph.base;
    return find_floor(f, err);
}

/* `bytes`: the budget, which past the sizes of all storages is as good as that; 0: the lowest peak.
 */
static arenaut_status find(finder *f, uint64_t bytes, arenaut_error *err) {
    bytes = arn_min_u64(bytes, ARN_REMAT_LARGEST_SUM);
    arn_remat_multistart *x = &f->in[GIVEN];
    const bool lowest = bytes == 0;
    if (lowest) {
        find_lowest(f);
        bytes = lowest_of_all(f)->lowest;
    }
    f->r->budget = bytes;
    arn_remat_bound_time(&x->bounds, bytes, x->load, TRIES_OF_BOUND);
    const arn_remat_bounds b = x->bounds;
    if (!search(f, lowest)) return arn_no_memory(err);
    bound_answer(f, lowest, &b);
    if (!prove(f)) return arn_no_memory(err);
    for (uint32_t i = 0; i < f->n_orders; i++) f->r->effort += f->in[i].sequence.effort;
    return ARENAUT_OK;
}

void arenaut_rematerialization_free(arenaut_rematerialization *r) {
    if (!r) return;
    const arenaut_allocator allocator = r->allocator;
    ARN_RELEASE(&allocator, r->runs, r->proof.flow, r->proof.cases, r->proof.flows,
                r->floor_proof.flow, r->at_floor, r);
}

arenaut_status arn_remat_find(const arenaut_remat_problem *problem, arn_budget *budget,
                              uint64_t bytes, const arenaut_allocator *allocator,
                              arenaut_rematerialization **out, arn_remat_runs *all,
                              arenaut_error *err) {
    arenaut_rematerialization *r = arn_allocate_zeroed(allocator, 1, sizeof *r);
    if (!r) return arn_no_memory(err);
    r->allocator = arn_allocator_or_default(allocator);
    finder f = {.n_orders = 1, .r = r};
    arenaut_status st = make(&f, problem, budget, err);
    if (st == ARENAUT_OK) st = find(&f, bytes, err);
    for (uint32_t i = f.n_orders; i > 0; i--) arn_remat_multistart_free(&f.in[i - 1]);
    if (st == ARENAUT_OK && all) *all = f.all;
    else arn_release(&r->allocator, f.all.runs);
    if (st != ARENAUT_OK) arenaut_rematerialization_free(r);
    else *out = r;
    return st;
}

static const arenaut_remat_options standard = {0};

arenaut_status arenaut_remat_find(const arenaut_remat_problem *problem,
                                  const arenaut_remat_options *options,
                                  const arenaut_allocator *allocator,
                                  arenaut_rematerialization **out, arenaut_error *err) {
    const arenaut_remat_options *o = options ? options : &standard;
    arn_budget budget = arn_budget_make(o->effort, o->progress, o->progress_context);
    return arn_remat_find(problem, &budget, o->budget, allocator, out, NULL, err);
}
