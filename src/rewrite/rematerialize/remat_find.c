/* The fastest sequence within a budget, and bounds: starts, local search, proofs. */
#include <string.h>

#include <arenaut/rematerialization.h>

#include "core/checked.h"
#include "core/fail.h"
#include "rewrite/find_within.h"
#include "rewrite/rematerialize/remat_anneal.h"
#include "rewrite/rematerialize/remat_bound.h"
#include "rewrite/rematerialize/remat_branch.h"
#include "rewrite/rematerialize/remat_measure.h"
#include "rewrite/rematerialize/remat_moments.h"
#include "rewrite/rematerialize/remat_order.h"
#include "rewrite/rematerialize/remat_search.h"
#include "rewrite/rematerialize/remat_segments.h"

#define DEFAULT_EFFORT UINT64_C(16000000)

enum {
    TRIES_OF_BOUND = 400,
    TRIES_OF_RUNG = 60,
    MOST_IN_VAIN = 1000,
    PARTS_OF_START = 14, /* of the effort: windows from one start, and from the best of all */
    PARTS_OF_BEST = 3,
    PARTS_OF_LAST = 5,
    FLOWS_OF_MOMENTS = 2, /* times the effort, in steps of the search for flows of a chain */
    FLOWS_OF_CASES = 3,
};

uint64_t arn_remat_default_effort(void) { return DEFAULT_EFFORT; }

typedef struct finder finder;
struct finder {
    const arenaut_remat_problem *problem;
    const uint32_t *op_at; /* per op: its number in the answer; NULL: the same */
    arn_remat_order order;
    finder *moved; /* the same problem in that order; NULL: it promises nothing */
    arn_region region;
    arn_budget *budget;
    uint64_t effort; /* of all searches */
    arn_remat_graph graph;
    arn_remat_sequence sequence;
    arn_remat_search search;
    arn_remat_cut cut;
    arn_remat_bounds bounds;
    arn_remat_chain chain;
    arn_remat_moments moments;
    arn_remat_branch branch;
    arn_remat_segments segments;
    int64_t *load;         /* per op, where each runs once */
    arn_remat_state *base; /* states where each runs once */
    arn_remat_state *best; /* states of the best sequence by now */
    arn_remat_state *states;
    arn_remat_state *kept; /* likewise, while another start is tried */
    arn_remat_state
        *known;     /* states of a sequence that may be within the next budget; those of `base` */
    bool found;     /* which is within the budget */
    uint64_t added; /* by it */
    int64_t peak;
    uint64_t other;     /* added in the other order within the same budget; 0: unknown */
    uint32_t floor_op;  /* NONE: none */
    uint64_t lowest;    /* peak to which repair comes */
    uint64_t measured;  /* the exact peak of the last schedule that was found */
    bool out_of_memory; /* cases could not be told apart */
};

static void free_cuts(finder *f) {
    arn_remat_cut_free(&f->cut);
    arn_remat_chain_free(&f->chain);
}

static void free_moved(finder *f) {
    if (!f->moved) return;
    free_cuts(f->moved);
    arn_region_free(&f->moved->region);
    f->moved = NULL;
}

static arenaut_status make(finder *f, arenaut_error *err) {
    const arenaut_status st = arn_remat_graph_make(f->problem, &f->region, &f->graph, err);
    if (st != ARENAUT_OK) return st;
    f->load = arn_region_allocate(&f->region, f->problem->n_ops, sizeof *f->load);
    f->base = arn_region_allocate(&f->region, f->graph.n_gaps, sizeof *f->base);
    f->best = arn_region_allocate(&f->region, f->graph.n_gaps, sizeof *f->best);
    f->states = arn_region_allocate(&f->region, f->graph.n_gaps, sizeof *f->states);
    f->kept = arn_region_allocate(&f->region, f->graph.n_gaps, sizeof *f->kept);
    f->known = arn_region_allocate(&f->region, f->graph.n_gaps, sizeof *f->known);
    if (!f->load || !f->base || !f->best || !f->states || !f->kept || !f->known ||
        !arn_remat_sequence_make(&f->graph, &f->region, f->budget, &f->sequence) ||
        !arn_remat_search_make(&f->sequence, &f->region, f->budget, f->effort, &f->search) ||
        !arn_remat_cut_make(&f->graph, &f->region.allocator, &f->region, f->budget, &f->cut) ||
        !arn_remat_bounds_make(&f->cut, &f->region, &f->bounds) ||
        !arn_remat_chain_make(&f->graph, &f->region.allocator, &f->region, f->budget, &f->chain) ||
        !arn_remat_moments_make(&f->chain, &f->region, &f->moments) ||
        !arn_remat_branch_make(&f->chain, &f->region, &f->branch)) {
        return arn_no_memory(err);
    }
    uint32_t peak;
    arn_remat_peak(&f->sequence, &peak);
    if (!arn_remat_segments_make(&f->graph, &f->region, peak, &f->segments))
        return arn_no_memory(err);
    memcpy(f->load, f->sequence.peak, f->problem->n_ops * sizeof *f->load);
    memcpy(f->base, f->sequence.state, f->graph.n_gaps * sizeof *f->base);
    memcpy(f->best, f->base, f->graph.n_gaps * sizeof *f->best);
    memcpy(f->known, f->base, f->graph.n_gaps * sizeof *f->known);
    return ARENAUT_OK;
}

/* Where results of the step that are made last leave a peak that is clearly lower. */
static arenaut_status make_moved(finder *f, arenaut_error *err) {
    enum { PARTS = 64 };
    if (!arn_remat_order_make(&f->graph, &f->region, &f->order)) return arn_no_memory(err);
    if (!f->order.differs) return ARENAUT_OK;
    finder *m = arn_region_allocate(&f->region, 1, sizeof *m);
    if (!m) return arn_no_memory(err);
    *m = (finder){.problem = &f->order.problem,
                  .op_at = f->order.op_at,
                  .budget = f->budget,
                  .effort = f->effort / 2,
                  .floor_op = ARENAUT_NONE};
    arn_region_init(&m->region, &f->region.allocator);
    f->moved = m;
    const arenaut_status st = make(m, err);
    if (st != ARENAUT_OK) return st;
    const int64_t before = arn_remat_peak(&f->sequence, NULL);
    if (arn_remat_peak(&m->sequence, NULL) < before - before / PARTS) return ARENAUT_OK;
    free_moved(f);
    return ARENAUT_OK;
}

/* ---- sequences ---- */

/* Keeps the present schedule, if it is better. */
static void take(finder *f) {
    const arn_remat_sequence *q = &f->sequence;
    const bool fits = q->excess == 0 && q->n_bad == 0;
    const int64_t peak = arn_remat_peak(q, NULL);
    const bool better = fits ? !f->found || q->added < f->added : !f->found && peak < f->peak;
    if (!better || q->n_bad > 0) return;
    memcpy(f->best, q->state, f->graph.n_gaps * sizeof *f->best);
    f->found = fits;
    f->added = q->added;
    f->peak = peak;
}

/* Keeps operands behind their last use, as far as repetitions cannot do without. */
static void keep_tails(finder *f) {
    enum { MOST_TAILS = 200 };
    arn_remat_sequence *q = &f->sequence;
    for (uint32_t i = 0; i < MOST_TAILS && q->n_bad > 0; i++) {
        if (q->blocked == ARENAUT_NONE || q->state[q->blocked] != ARN_REMAT_LATE) return;
        arn_remat_set(q, q->blocked, ARN_REMAT_KEEP);
    }
}

/* The minimum cut at the bound's op that is within the budget there, if need be at a higher price.
 */
static bool cut_within(finder *f, uint64_t budget, uint64_t price) {
    enum { MOST_RISES = 40 };
    for (uint32_t i = 0; i < MOST_RISES && price < f->bounds.most_byte_price; i++) {
        arn_remat_cut_find(&f->cut, price, f->bounds.time_price);
        if (f->cut.own + f->cut.cut_bytes <= budget) return true;
        price += price / 16 + 1;
    }
    return false;
}

/* Drops the storages that the cut does not keep live. Operands of repetitions that it keeps stay
 * behind their last use; others are dropped there, and then stay where they were made again, or not
 * (`tails`). */
static void start_from_cut(finder *f, arn_remat_state tails) {
    arn_remat_sequence *q = &f->sequence;
    const uint32_t op = f->cut.op;
    arn_remat_restore(&f->search, f->base);
    for (uint32_t gap = 0; gap < f->graph.n_gaps; gap++) {
        const arn_remat_gap *of = &f->graph.gaps[gap];
        if (of->from >= op || of->to <= op || f->graph.solid[of->storage]) continue;
        if (of->tail) {
            const bool kept = arn_remat_cut_keeps(&f->cut, of->storage);
            arn_remat_change(q, gap, kept ? ARN_REMAT_KEEP : tails);
        } else if (arn_remat_cut_drops(&f->cut, of->storage) &&
                   arn_remat_may_repeat(f->problem, f->problem->maker[of->storage], of->to)) {
            arn_remat_change(q, gap, ARN_REMAT_RETAIN);
        }
    }
    arn_remat_follow(q);
    keep_tails(f);
    if (q->n_bad > 0) arn_remat_restore(&f->search, f->base);
}

static void try_start(finder *f) {
    if (arn_remat_repair(&f->search, 0)) arn_remat_give_back(&f->search);
    take(f);
}

/* The cut of the floor, where repetitions cost nothing. */
static void start_from_floor(finder *f) {
    if (f->floor_op == ARENAUT_NONE) return;
    arn_remat_cut_at(&f->cut, f->floor_op);
    arn_remat_cut_find(&f->cut, 1, 0);
    start_from_cut(f, ARN_REMAT_LATE);
    try_start(f);
}

/* Segments that share the budget with all checkpoints before them, by estimates of several sizes.
 */
static void start_from_segments(finder *f, uint64_t budget) {
    static const uint32_t parts[] = {100, 90, 80, 70, 60, 50, 40, 30}, strides[] = {1, 2, 3, 4};
    for (size_t k = 0; k < sizeof strides / sizeof *strides; k++) {
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
            if (arn_remat_is_over(&f->search)) return;
            memcpy(f->states, f->base, f->graph.n_gaps * sizeof *f->states);
            if (!arn_remat_segments_choose(&f->segments, budget / 100 * parts[i], strides[k],
                                           f->states)) {
                break;
            }
            arn_remat_restore(&f->search, f->states);
            keep_tails(f);
            if (f->sequence.n_bad > 0) continue;
            try_start(f);
        }
        if (f->found) return;
    }
}

/* Whether a sequence was found that is close to the bound. */
static bool is_close(const finder *f) {
    return f->found && f->added <= f->bounds.value + f->graph.base / 400;
}

/* Whether the other order's answer within the same budget is far better. */
static bool is_hopeless(const finder *f) {
    enum { PARTS = 200 };
    return f->other > 0 && f->found && f->added > f->other + f->graph.base / PARTS;
}

static void begin_within(finder *f, uint64_t budget) {
    arn_remat_restore(&f->search, f->base);
    arn_remat_forget_reads(&f->sequence);
    arn_remat_set_budget(&f->sequence, budget);
    f->found = false;
    f->peak = arn_remat_peak(&f->sequence, NULL);
    f->added = 0;
    memcpy(f->best, f->base, f->graph.n_gaps * sizeof *f->best);
}

/* The lowest peak to which repair comes, by bisection. */
static uint64_t least_peak(finder *f, uint64_t floor, uint64_t before) {
    enum { MOST_TIMES = 24 };
    uint64_t low = floor, high = before;
    for (uint32_t i = 0; i < MOST_TIMES && low < high && !arn_remat_is_over(&f->search); i++) {
        const uint64_t middle = low + (high - low) / 2;
        begin_within(f, middle);
        try_start(f);
        arn_remat_restore(&f->search, f->known);
        if (!f->found) try_start(f);
        arn_remat_restore(&f->search, f->base);
        if (!f->found) start_from_floor(f);
        if (!f->found) start_from_segments(f, middle);
        if (!f->found) {
            low = middle + 1;
            continue;
        }
        high = (uint64_t)f->peak;
        memcpy(f->known, f->best, f->graph.n_gaps * sizeof *f->known);
    }
    return high;
}

/* Windows from the best by now, with one of so many parts of the effort, and the same chances each
 * time. */
static void improve(finder *f, uint32_t parts) {
    const uint64_t whole = f->search.limit;
    if (!f->found) return;
    arn_remat_forget(&f->search);
    f->search.random = 1;
    f->search.limit = arn_min_u64(whole, f->sequence.effort + f->effort / parts);
    arn_remat_restore(&f->search, f->best);
    arn_remat_improve(&f->search, MOST_IN_VAIN);
    arn_remat_give_back(&f->search);
    f->search.limit = whole;
    take(f);
}

/* Windows from the better one of the last starts, which need not be the best of all. */
static void improve_from_cut(finder *f) {
    const bool found = f->found;
    const uint64_t added = f->added;
    const int64_t peak = f->peak;
    memcpy(f->kept, f->best, f->graph.n_gaps * sizeof *f->kept);
    f->found = false;
    start_from_cut(f, ARN_REMAT_LATE);
    try_start(f);
    start_from_cut(f, ARN_REMAT_RETAIN);
    try_start(f);
    improve(f, PARTS_OF_START);
    if (!found || (f->found && f->added <= added)) return;
    memcpy(f->best, f->kept, f->graph.n_gaps * sizeof *f->best);
    f->found = found;
    f->added = added;
    f->peak = peak;
}

/* With a cut, which may take more or less than the budget, and with the next one that is within it.
 */
static void search_from_cut(finder *f, uint64_t budget, uint64_t price) {
    arn_remat_cut_find(&f->cut, price, f->bounds.time_price);
    const bool fits = f->cut.own + f->cut.cut_bytes <= budget;
    improve_from_cut(f);
    if (!fits && cut_within(f, budget, price)) improve_from_cut(f);
}

/* A price of bytes where time has another price. */
static uint64_t at_time_price(uint64_t price, uint64_t from, uint64_t to) {
    return (uint64_t)((double)price * (double)to / (double)from);
}

/* Puts the chain to the bound's op alone. */
static bool look_at_one(finder *f, uint64_t budget) {
    arn_remat_chain *c = &f->chain;
    c->budget = budget;
    arn_remat_chain_at(c, &f->bounds.op, 1);
    c->best.byte[0] = at_time_price(f->bounds.byte_price, f->bounds.time_price, c->time_price);
    c->best.unit[0] = 1;
    return arn_remat_chain_link(c);
}

/* Of the case of the bound that shows least: where storages are large beside what is left, it is
 * alive or gone in it, and the bound without cases is far below. */
static bool search_from_case(finder *f, uint64_t budget) {
    enum { MOST_CASES = 30, PARTS = 400 };
    if (!look_at_one(f, budget)) return true; /* no case is within the budget */
    if (!arn_remat_branch_find(&f->branch, f->found ? f->added : UINT64_MAX, MOST_CASES,
                               UINT64_MAX)) {
        return false;
    }
    if (f->branch.value == UINT64_MAX) return true;
    const bool more = f->branch.value > f->bounds.value + f->graph.base / PARTS;
    f->bounds.value = arn_max_u64(f->branch.value, f->bounds.value);
    if (!more || is_close(f)) return true;
    const uint64_t price = arn_remat_branch_lowest(&f->branch, &f->cut);
    search_from_cut(f, budget, at_time_price(price, f->chain.time_price, f->bounds.time_price));
    return true;
}

/* With the cuts of the bound. */
static void search_from_cuts(finder *f, uint64_t budget) {
    if (f->bounds.op == ARENAUT_NONE) return;
    arn_remat_cut_at(&f->cut, f->bounds.op);
    search_from_cut(f, budget, f->bounds.byte_price);
    if (!is_close(f) && !search_from_case(f, budget)) f->out_of_memory = true;
}

static void anneal(finder *f) {
    enum { OF_TWO_GAPS = 16 };
    const uint64_t n_gaps = f->graph.n_gaps, most = OF_TWO_GAPS * n_gaps * n_gaps;
    if (is_close(f)) return;
    arn_remat_forget(&f->search);
    f->search.random = 1;
    arn_remat_restore(&f->search, f->found ? f->best : f->base);
    arn_remat_anneal(&f->search, arn_min_u64(f->effort / 5 * 2, most), f->best,
                     f->found ? f->added : UINT64_MAX);
    arn_remat_restore(&f->search, f->best);
    if (f->sequence.excess == 0) arn_remat_give_back(&f->search);
    take(f);
}

/* Storages stay from one of their repetitions on, where not all of them can be spared. */
static void retain_later(finder *f) {
    if (!f->found) return;
    arn_remat_restore(&f->search, f->best);
    arn_remat_retain_later(&f->search);
    arn_remat_give_back(&f->search);
    take(f);
}

/* From all starts, then windows and annealing. The bound is that of the budget. */
static void search_from_all(finder *f, uint64_t budget) {
    search_from_cuts(f, budget);
    if (is_close(f) || is_hopeless(f)) return;
    arn_remat_restore(&f->search, f->base);
    try_start(f);
    if (!f->found) start_from_segments(f, budget);
    improve(f, PARTS_OF_BEST);
    retain_later(f);
    anneal(f);
    retain_later(f);
    if (!is_close(f)) improve(f, PARTS_OF_LAST);
}

/* First without storages that stay for a repeated run and go behind it: most good schedules have
 * none, and each way more to drop one leads some searches astray. */
static void search_with_all_states(finder *f, uint64_t budget) {
    search_from_all(f, budget);
    if (is_close(f) || is_hopeless(f)) return;
    f->search.goes_later = true;
    search_from_all(f, budget);
    f->search.goes_later = false;
}

/* First with few repetitions at each position. */
static void search_within(finder *f, uint64_t budget) {
    enum { PARTS = 8 };
    begin_within(f, budget);
    take(f);
    if (f->found) return;
    f->sequence.most_cost = f->graph.base / PARTS;
    search_with_all_states(f, budget);
    f->sequence.most_cost = UINT64_MAX;
    if (!f->found) search_with_all_states(f, budget);
}

/* ---- the answer ---- */

static bool list_runs(finder *f, arenaut_rematerialization *r) {
    uint32_t n;
    arn_remat_restore(&f->search, f->best);
    arn_remat_list_runs(&f->sequence, NULL, 0, &n);
    r->runs = arn_allocate(&r->allocator, n, sizeof *r->runs);
    if (!r->runs) return false;
    r->added = f->sequence.added;
    const bool ok = arn_remat_list_runs(&f->sequence, r->runs, n, &r->n_runs) &&
                    arn_remat_measure(&f->graph, &f->region, r->runs, r->n_runs, &r->peak);
    f->measured = r->peak;
    for (uint32_t i = 0; i < r->n_runs && ok && f->op_at; i++) r->runs[i] = f->op_at[r->runs[i]];
    return ok;
}

/* Keeps the sequence that was found last, if it is within the budget, exactly, and adds less than
 * the answer so far; without an answer, if its peak is lower. */
static bool keep_answer(finder *f, arenaut_rematerialization *r) {
    uint32_t *const runs = r->runs;
    const arenaut_rematerialization was = *r;
    r->runs = NULL;
    if (!list_runs(f, r)) {
        arn_release(&r->allocator, runs);
        return false;
    }
    r->fits = r->peak <= r->budget;
    const bool better = !was.runs || (r->fits ? !was.fits || r->added < was.added
                                              : !was.fits && r->peak < was.peak);
    arn_release(&r->allocator, better ? runs : r->runs);
    if (!better) *r = was;
    return true;
}

/* From the cut that leaves open which results have to stay. */
static void search_from_open_cut(finder *f, uint64_t budget) {
    const arn_remat_bounds kept = f->bounds;
    arn_remat_cut_leave_open(&f->cut, true);
    arn_remat_bound_time(&f->bounds, budget, f->load, TRIES_OF_RUNG);
    search_within(f, budget);
    f->bounds = kept;
    arn_remat_cut_leave_open(&f->cut, false);
}

/* Copies of storages that are live out are live beside these, which the search does not count: then
 * its budget is that much smaller, and below the peak that it saw. */
static bool search_exactly(finder *f, uint64_t budget, arenaut_rematerialization *r) {
    enum { MOST_TIMES = 4 };
    uint64_t within = budget;
    for (uint32_t i = 0; i < MOST_TIMES; i++) {
        if (i == 1) search_from_open_cut(f, budget);
        else search_within(f, within);
        if (f->out_of_memory || !keep_answer(f, r)) return false;
        if (!f->found || f->measured <= budget || f->measured - budget >= within) break;
        if (i > 0) within = arn_min_u64(within - (f->measured - budget), (uint64_t)f->peak - 1);
    }
    return true;
}

/* ---- rungs ---- */

/* Budgets are multiples of a fixed part of the peak where each op runs once. The schedule found for
 * one of them depends on no other, and the answer is the fastest of all that are within the budget:
 * so a larger budget never costs more. Lower rungs are left out where the bound shows that they
 * cannot be faster. The floor is the lowest rung. At last there is the lowest peak that repair
 * reaches. */
static uint32_t count_rungs(const arenaut_remat_problem *p) {
    return p->n_ops <= 1000 ? 200 : p->n_ops <= 4000 ? 100 : 50;
}

static uint64_t rung_bytes(uint64_t before, uint64_t rung, uint64_t rungs) {
    return before / rungs * rung + before % rungs * rung / rungs;
}

static void find_lowest(finder *f, const arenaut_rematerialization *r) {
    f->lowest = least_peak(f, r->floor, (uint64_t)arn_remat_peak(&f->sequence, NULL));
    if (f->moved) find_lowest(f->moved, r);
}

/* Whichever order comes to a lower peak. */
static uint64_t lowest_of_all(const finder *f) {
    return f->moved ? arn_min_u64(f->lowest, f->moved->lowest) : f->lowest;
}

static bool search_lowest(finder *f, arenaut_rematerialization *r) {
    if (f->moved && f->moved->lowest < f->lowest) return search_lowest(f->moved, r);
    begin_within(f, f->lowest);
    arn_remat_restore(&f->search, f->known);
    take(f);
    improve(f, PARTS_OF_START);
    return keep_answer(f, r);
}

/* Bounds hold for any order of first runs. */
static bool search_moved(finder *f, uint64_t budget, arenaut_rematerialization *r) {
    finder *m = f->moved;
    if (!m || is_close(f) || m->sequence.effort >= m->effort) return true;
    const uint32_t op = f->bounds.op;
    m->other = f->found ? f->added : 0;
    m->bounds.budget = budget;
    m->bounds.value = f->bounds.value;
    m->bounds.op = op == ARENAUT_NONE ? op : f->order.turn[op];
    m->bounds.byte_price = f->bounds.byte_price;
    m->bounds.time_price = f->bounds.time_price;
    return search_exactly(m, budget, r);
}

/* The answer is the best of the rungs from the highest within the budget on. */
static bool search_rungs(finder *f, arenaut_rematerialization *r) {
    const uint64_t most = arn_max_u64(r->before, 1);
    const uint32_t rungs = count_rungs(f->problem);
    for (uint64_t rung = rungs; rung > 0; rung--) {
        const uint64_t budget = arn_max_u64(rung_bytes(most, rung, rungs), r->floor);
        if (budget > r->budget) continue;
        if (r->fits && r->added == 0) return true;
        arn_remat_bound_time(&f->bounds, budget, f->load, TRIES_OF_RUNG);
        if (r->fits && f->bounds.value >= r->added) return true;
        if (f->sequence.effort >= f->effort || arn_budget_ended(f->budget)) return true;
        if (!search_exactly(f, budget, r) || !search_moved(f, budget, r)) return false;
        if (budget == r->floor) break;
    }
    find_lowest(f, r);
    return search_lowest(f, r);
}

/* After the floor's cut was found. */
static arenaut_status list_at_floor(finder *f, arenaut_rematerialization *r, arenaut_error *err) {
    const uint32_t n = f->problem->n_storages;
    r->at_floor = arn_allocate(&r->allocator, n, sizeof *r->at_floor);
    if (!r->at_floor) return arn_no_memory(err);
    for (uint32_t s = 0; s < n && r->floor_proof.op != ARENAUT_NONE; s++) {
        const bool at_end = r->floor_proof.op == f->problem->n_ops;
        if (at_end ? arn_remat_end_holds(&f->bounds.end, s) : arn_remat_cut_keeps(&f->cut, s)) {
            r->at_floor[r->n_at_floor++] = s;
        }
    }
    return ARENAUT_OK;
}

/* Without a budget the one with the lowest peak; where there is none within the budget, a try. That
 * each op runs once is the first answer, however soon the search is stopped. */
static bool search(finder *f, bool lowest, arenaut_rematerialization *r) {
    memcpy(f->best, f->base, f->graph.n_gaps * sizeof *f->best);
    if (!keep_answer(f, r)) return false;
    if (!lowest && r->floor <= r->budget) return search_rungs(f, r);
    if (lowest && !search_lowest(f, r)) return false;
    if (r->fits) return true;
    return search_exactly(f, r->budget, r);
}

/* The bound's proof: at one op, or at several and by cases, if these show more. */
static bool prove(finder *f, const arn_remat_bounds *bounds, arenaut_rematerialization *r) {
    enum { CASES = 200000, LEAST = 30 };
    const uint32_t n = CASES / (f->problem->n_ops + 1) + LEAST;
    f->bounds = *bounds;
    arn_remat_bound_prove(&f->bounds, bounds->op, bounds->byte_price, bounds->time_price,
                          &r->proof);
    if (!r->fits || bounds->op == ARENAUT_NONE || r->added <= bounds->value) return true;
    if (arn_budget_ended(f->budget) || !look_at_one(f, r->budget)) return true;
    const uint64_t spent = arn_remat_chain_spent(&f->chain);
    const uint64_t effort = arn_min_u64(f->effort, UINT64_MAX / 16);
    arn_remat_moments_find(&f->moments, f->load, arn_remat_chain_target(&f->chain, r->added),
                           spent + FLOWS_OF_MOMENTS * effort);
    const uint64_t limit = spent + (FLOWS_OF_MOMENTS + FLOWS_OF_CASES) * effort;
    if (!arn_remat_branch_find(&f->branch, r->added,
                               n < ARN_REMAT_MOST_CASES ? n : ARN_REMAT_MOST_CASES,
                               f->chain.n > 1 ? limit : UINT64_MAX)) {
        return false;
    }
    if (f->branch.value <= bounds->value) return true;
    r->bound = arn_min_u64(f->branch.value, r->added);
    return arn_remat_branch_prove(&f->branch, r->bound, &r->allocator, &r->proof);
}

/* Of the answer's budget: where none was given, of its peak, which need not be the one that the
 * search had in mind. Where nothing fits no bound is told, as any number would be one. */
static void bound_answer(finder *f, bool lowest, arn_remat_bounds *b,
                         arenaut_rematerialization *r) {
    if (lowest && r->peak != r->budget) {
        r->budget = r->peak;
        arn_remat_bound_time(&f->bounds, r->budget, f->load, TRIES_OF_BOUND);
        *b = f->bounds;
    }
    if (r->floor > r->budget) {
        b->value = b->byte_price = b->time_price = 0;
        b->op = ARENAUT_NONE;
    }
    r->bound = b->value;
    r->fits = r->peak <= r->budget;
}

static arenaut_status find(finder *f, uint64_t budget, arenaut_rematerialization *r,
                           arenaut_error *err) {
    arenaut_status st = make(f, err);
    if (st == ARENAUT_OK) st = make_moved(f, err);
    if (st != ARENAUT_OK) return st;
    r->proof.flow = arn_allocate(&r->allocator, f->problem->n_reads, sizeof *r->proof.flow);
    r->floor_proof.flow =
        arn_allocate(&r->allocator, f->problem->n_reads, sizeof *r->floor_proof.flow);
    if (!r->proof.flow || !r->floor_proof.flow) return arn_no_memory(err);
    const bool lowest = budget == 0;
    r->before = (uint64_t)arn_remat_peak(&f->sequence, NULL);
    r->base = f->graph.base;
    r->budget = budget;
    uint32_t op;
    r->floor = arn_remat_bound_bytes(&f->bounds, &op);
    f->floor_op = op < f->problem->n_ops ? op : ARENAUT_NONE;
    arn_remat_bound_prove(&f->bounds, op, 1, 0, &r->floor_proof);
    st = list_at_floor(f, r, err);
    if (st != ARENAUT_OK) return st;
    if (lowest) {
        find_lowest(f, r);
        r->budget = budget = lowest_of_all(f);
    }
    arn_remat_bound_time(&f->bounds, budget, f->load, TRIES_OF_BOUND);
    arn_remat_bounds b = f->bounds;
    if (!search(f, lowest, r)) return arn_no_memory(err);
    bound_answer(f, lowest, &b, r);
    if (!prove(f, &b, r)) return arn_no_memory(err);
    r->effort = f->sequence.effort + (f->moved ? f->moved->sequence.effort : 0);
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
                              arenaut_rematerialization **out, arenaut_error *err) {
    arenaut_rematerialization *r = arn_allocate_zeroed(allocator, 1, sizeof *r);
    if (!r) return arn_no_memory(err);
    r->allocator = arn_allocator_or_default(allocator);
    finder f = {.problem = problem,
                .budget = budget,
                .effort = budget->effort ? budget->effort : DEFAULT_EFFORT};
    arn_region_init(&f.region, allocator);
    const arenaut_status st = find(&f, bytes, r, err);
    free_moved(&f);
    free_cuts(&f);
    arn_region_free(&f.region);
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
    return arn_remat_find(problem, &budget, o->budget, allocator, out, err);
}
