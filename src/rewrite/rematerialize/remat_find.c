/* The fastest sequence within a budget, and bounds: starts, local search, proofs. */
#include <string.h>

#include <arenaut/rematerialization.h>

#include "core/checked.h"
#include "core/fail.h"
#include "rewrite/find_within.h"
#include "rewrite/rematerialize/remat_bound.h"
#include "rewrite/rematerialize/remat_search.h"
#include "rewrite/rematerialize/remat_segments.h"

#define DEFAULT_EFFORT UINT64_C(30000000)

enum {
    TRIES_OF_BOUND = 400,
    TRIES_OF_RUNG = 60,
    MOST_IN_VAIN = 2000,
};

uint64_t arn_remat_default_effort(void) { return DEFAULT_EFFORT; }

typedef struct finder {
    const arenaut_remat_problem *problem;
    arn_region region;
    arn_budget *budget;
    uint64_t effort; /* of all searches */
    arn_remat_graph graph;
    arn_remat_sequence sequence;
    arn_remat_search search;
    arn_remat_cut cut;
    arn_remat_bounds bounds;
    arn_remat_segments segments;
    int64_t *load; /* per op, where each runs once */
    uint8_t *base; /* states where each runs once */
    uint8_t *best; /* states of the best sequence by now */
    uint8_t *states;
    uint8_t *known; /* states of a sequence that may be within the next budget; those of `base` */
    bool found;     /* which is within the budget */
    uint64_t added; /* by it */
    int64_t peak;
    uint32_t floor_op; /* NONE: none */
    uint64_t lowest;   /* peak to which repair comes */
    uint64_t measured; /* the exact peak of the last schedule that was found */
} finder;

static arenaut_status make(finder *f, arenaut_error *err) {
    const arenaut_status st = arn_remat_graph_make(f->problem, &f->region, &f->graph, err);
    if (st != ARENAUT_OK) return st;
    f->load = arn_region_allocate(&f->region, f->problem->n_ops, sizeof *f->load);
    f->base = arn_region_allocate(&f->region, f->graph.n_gaps, sizeof *f->base);
    f->best = arn_region_allocate(&f->region, f->graph.n_gaps, sizeof *f->best);
    f->states = arn_region_allocate(&f->region, f->graph.n_gaps, sizeof *f->states);
    f->known = arn_region_allocate(&f->region, f->graph.n_gaps, sizeof *f->known);
    if (!f->load || !f->base || !f->best || !f->states || !f->known ||
        !arn_remat_sequence_make(&f->graph, &f->region, f->budget, &f->sequence) ||
        !arn_remat_search_make(&f->sequence, &f->region, f->budget, f->effort, &f->search) ||
        !arn_remat_cut_make(&f->graph, &f->region.allocator, &f->region, f->budget, &f->cut) ||
        !arn_remat_bounds_make(&f->cut, &f->region, &f->bounds)) {
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
        q->state[q->blocked] = ARN_REMAT_KEEP;
        arn_remat_follow(q, 0, f->problem->n_ops - 1);
    }
}

/* Drops the storages that the minimum cut at the bound's op does not keep live. */
static void start_from_cut(finder *f, uint32_t op, uint64_t byte_price, uint64_t time_price) {
    arn_remat_sequence *q = &f->sequence;
    if (op == ARENAUT_NONE) return;
    arn_remat_cut_at(&f->cut, op);
    arn_remat_cut_find(&f->cut, byte_price, time_price);
    for (uint32_t gap = 0; gap < f->graph.n_gaps; gap++) {
        const arn_remat_gap *of = &f->graph.gaps[gap];
        if (of->tail || of->from >= op || of->to <= op) continue;
        if (arn_remat_cut_drops(&f->cut, of->storage)) q->state[gap] = ARN_REMAT_RETAIN;
    }
    arn_remat_follow(q, 0, f->problem->n_ops - 1);
    keep_tails(f);
    if (q->n_bad > 0) arn_remat_restore(&f->search, f->base);
}

static void try_start(finder *f) {
    if (arn_remat_repair(&f->search, 0)) arn_remat_give_back(&f->search);
    take(f);
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
    return f->found && f->added <= f->bounds.value + f->graph.base / 50;
}

static void begin_within(finder *f, uint64_t budget) {
    arn_remat_restore(&f->search, f->base);
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
        if (!f->found) start_from_cut(f, f->floor_op, 1, 0);
        if (!f->found) try_start(f);
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

/* Windows, with the same part of the effort and the same chances in every search. */
static void improve(finder *f) {
    enum { SEARCHES = 5 };
    const uint64_t whole = f->search.limit;
    f->search.random = 1;
    f->search.limit = arn_min_u64(whole, f->sequence.effort + f->effort / SEARCHES);
    arn_remat_restore(&f->search, f->best);
    arn_remat_improve(&f->search, MOST_IN_VAIN);
    f->search.limit = whole;
    take(f);
}

/* From all starts, then windows. The bound is that of the budget. */
static void search_within(finder *f, uint64_t budget) {
    begin_within(f, budget);
    take(f);
    if (f->found) return;
    try_start(f);
    arn_remat_restore(&f->search, f->base);
    start_from_cut(f, f->bounds.op, f->bounds.byte_price, f->bounds.time_price);
    try_start(f);
    if (!is_close(f)) start_from_segments(f, budget);
    if (f->found) improve(f);
}

/* ---- the answer ---- */

/* Marks, per run and argument, the last reads of instances, from the back. */
static bool *mark_last_reads(finder *f, const uint32_t *runs, uint32_t n, size_t *n_marks) {
    const arn_remat_graph *g = &f->graph;
    bool *read = arn_region_allocate(&f->region, f->problem->n_storages, sizeof *read);
    *n_marks = 0;
    for (uint32_t i = 0; i < n; i++) {
        *n_marks += g->reads.begin[runs[i] + 1] - g->reads.begin[runs[i]];
        *n_marks += g->makes.begin[runs[i] + 1] - g->makes.begin[runs[i]];
    }
    bool *marks = arn_region_allocate(&f->region, *n_marks, sizeof *marks);
    if (!read || !marks) return NULL;
    memset(read, 0, f->problem->n_storages * sizeof *read);
    size_t at = *n_marks;
    for (uint32_t i = n; i-- > 0;) {
        for (uint32_t k = g->makes.begin[runs[i] + 1]; k-- > g->makes.begin[runs[i]];) {
            marks[--at] = !read[g->makes.ids[k]];
            read[g->makes.ids[k]] = false;
        }
        for (uint32_t k = g->reads.begin[runs[i] + 1]; k-- > g->reads.begin[runs[i]];) {
            marks[--at] = !read[g->reads.ids[k]];
            read[g->reads.ids[k]] = true;
        }
    }
    return marks;
}

static uint64_t right_over(const arn_remat_graph *g, uint32_t op, uint32_t s) {
    uint64_t most = 0;
    for (uint32_t i = g->rights.begin[op]; i < g->rights.begin[op + 1]; i++) {
        const arenaut_order_right *r = &g->problem->rights[g->rights.ids[i]];
        if (r->over == s) most = arn_max_u64(most, r->bytes);
    }
    return most;
}

/* The exact peak of live bytes: the search counts a copy beside its original as the same instance.
 */
static bool measure(finder *f, const uint32_t *runs, uint32_t n, uint64_t *peak) {
    const arenaut_remat_problem *p = f->problem;
    const arn_remat_graph *g = &f->graph;
    size_t n_marks, at = 0;
    const bool *last = mark_last_reads(f, runs, n, &n_marks);
    bool *begun = arn_region_allocate(&f->region, p->n_storages, sizeof *begun);
    uint32_t *held = arn_region_allocate(&f->region, p->n_storages, sizeof *held);
    if (!last || !begun || !held) return false;
    uint64_t now = 0;
    for (uint32_t s = 0; s < p->n_storages; s++) {
        const bool read = g->readers.begin[s] < g->readers.begin[s + 1];
        const bool after = arn_remat_held(p, s, ARENAUT_LIVE_OUT);
        begun[s] = arn_remat_held(p, s, ARENAUT_LIVE_IN) && (read || after);
        held[s] = after; /* instances that outlast their last reads */
        if (begun[s]) now += p->size[s];
    }
    *peak = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t op = runs[i], n_reads = g->reads.begin[op + 1] - g->reads.begin[op];
        const uint32_t *reads = g->reads.ids + g->reads.begin[op];
        const uint32_t *makes = g->makes.ids + g->makes.begin[op];
        const uint32_t n_makes = g->makes.begin[op + 1] - g->makes.begin[op];
        uint64_t ends = 0, right = 0;
        for (uint32_t k = 0; k < n_reads; k++) {
            if (!begun[reads[k]]) now += p->size[reads[k]];
            begun[reads[k]] = true;
            if (!last[at + k] || held[reads[k]] == 1) continue;
            ends += p->size[reads[k]];
            right = arn_max_u64(right, right_over(g, op, reads[k]));
        }
        for (uint32_t k = 0; k < n_makes; k++) {
            now += p->size[makes[k]];
            held[makes[k]] += begun[makes[k]] && held[makes[k]] == 1; /* a copy is not held */
            begun[makes[k]] = true;
            if (last[at + n_reads + k] && held[makes[k]] != 1) ends += p->size[makes[k]];
        }
        *peak = arn_max_u64(*peak, now + arn_remat_scratch(p, op) - right);
        now -= ends;
        at += n_reads + n_makes;
    }
    return true;
}

static bool list_runs(finder *f, arenaut_rematerialization *r) {
    uint32_t n;
    arn_remat_restore(&f->search, f->best);
    arn_remat_list_runs(&f->sequence, NULL, 0, &n);
    r->runs = arn_allocate(&r->allocator, n, sizeof *r->runs);
    if (!r->runs) return false;
    r->added = f->sequence.added;
    const bool ok = arn_remat_list_runs(&f->sequence, r->runs, n, &r->n_runs) &&
                    measure(f, r->runs, r->n_runs, &r->peak);
    f->measured = r->peak;
    return ok;
}

/* Keeps the sequence that was found last, if it is within the budget, exactly, and adds less than
 * the answer so far; without an answer, if its peak is lower. */
static bool keep_answer(finder *f, uint64_t within, arenaut_rematerialization *r) {
    uint32_t *const runs = r->runs;
    const arenaut_rematerialization was = *r;
    r->runs = NULL;
    if (!list_runs(f, r)) {
        arn_release(&r->allocator, runs);
        return false;
    }
    r->fits = r->peak <= within;
    const bool better = !was.runs || (r->fits ? !was.fits || r->added < was.added
                                              : !was.fits && r->peak < was.peak);
    arn_release(&r->allocator, better ? runs : r->runs);
    if (!better) *r = was;
    return true;
}

/* Copies of storages that are live out are live beside these, which the search does not count: then
 * its budget is that much smaller. */
static bool search_exactly(finder *f, uint64_t budget, arenaut_rematerialization *r) {
    enum { MOST_TIMES = 4 };
    uint64_t within = budget;
    for (uint32_t i = 0; i < MOST_TIMES; i++) {
        search_within(f, within);
        if (!keep_answer(f, budget, r)) return false;
        if (!f->found || f->measured <= budget || f->measured - budget >= within) break;
        within -= f->measured - budget;
    }
    return true;
}

/* ---- rungs ---- */

/* Budgets are multiples of a fixed part of the peak where each op runs once. The schedule found for
 * one of them depends on no other, and the answer is the fastest of all that are within the budget:
 * so a larger budget never costs more. Lower rungs are left out where the bound shows that they
 * cannot be faster. Below the lowest rung there is the lowest peak that repair reaches. */
static uint32_t count_rungs(const arenaut_remat_problem *p) {
    return p->n_ops <= 1000 ? 200 : p->n_ops <= 4000 ? 100 : 50;
}

static uint64_t rung_bytes(uint64_t before, uint64_t rung, uint64_t rungs) {
    return before / rungs * rung + before % rungs * rung / rungs;
}

static void find_lowest(finder *f, const arenaut_rematerialization *r) {
    f->lowest = least_peak(f, r->floor, r->before);
}

static bool search_lowest(finder *f, arenaut_rematerialization *r) {
    begin_within(f, f->lowest);
    arn_remat_restore(&f->search, f->known);
    take(f);
    if (f->found) improve(f);
    return keep_answer(f, r->budget, r);
}

/* The answer is the best of the rungs from the highest within the budget on. */
static bool search_rungs(finder *f, arenaut_rematerialization *r) {
    const uint64_t most = arn_max_u64(r->before, 1);
    const uint32_t rungs = count_rungs(f->problem);
    for (uint64_t rung = rungs; rung > 0; rung--) {
        const uint64_t budget = rung_bytes(most, rung, rungs);
        if (budget > r->budget) continue;
        if (budget < r->floor) break;
        if (r->fits && r->added == 0) return true;
        arn_remat_bound_time(&f->bounds, budget, f->load, TRIES_OF_RUNG);
        if (r->fits && f->bounds.value >= r->added) return true;
        if (f->sequence.effort >= f->effort || arn_budget_ended(f->budget)) return true;
        if (!search_exactly(f, budget, r)) return false;
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
        if (arn_remat_cut_keeps(&f->cut, s)) r->at_floor[r->n_at_floor++] = s;
    }
    return ARENAUT_OK;
}

/* Without a budget the one with the lowest peak; where there is none within the budget, a try. That
 * each op runs once is the first answer, however soon the search is stopped. */
static bool search(finder *f, bool lowest, arenaut_rematerialization *r) {
    memcpy(f->best, f->base, f->graph.n_gaps * sizeof *f->best);
    if (!keep_answer(f, r->budget, r)) return false;
    if (!lowest && r->floor <= r->budget) return search_rungs(f, r);
    if (lowest && !search_lowest(f, r)) return false;
    if (r->fits) return true;
    return search_exactly(f, r->budget, r);
}

static arenaut_status find(finder *f, uint64_t budget, arenaut_rematerialization *r,
                           arenaut_error *err) {
    arenaut_status st = make(f, err);
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
    f->floor_op = op;
    arn_remat_bound_prove(&f->bounds, op, 1, 0, &r->floor_proof);
    st = list_at_floor(f, r, err);
    if (st != ARENAUT_OK) return st;
    if (lowest) {
        find_lowest(f, r);
        r->budget = budget = f->lowest;
    }
    arn_remat_bound_time(&f->bounds, budget, f->load, TRIES_OF_BOUND);
    const arn_remat_bounds b = f->bounds;
    r->bound = b.value;
    if (!search(f, lowest, r)) return arn_no_memory(err);
    r->fits = r->peak <= r->budget;
    arn_remat_bound_prove(&f->bounds, b.op, b.byte_price, b.time_price, &r->proof);
    r->effort = f->sequence.effort;
    return ARENAUT_OK;
}

void arenaut_rematerialization_free(arenaut_rematerialization *r) {
    if (!r) return;
    const arenaut_allocator allocator = r->allocator;
    arn_release(&allocator, r->runs);
    arn_release(&allocator, r->proof.flow);
    arn_release(&allocator, r->floor_proof.flow);
    arn_release(&allocator, r->at_floor);
    arn_release(&allocator, r);
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
    arn_remat_cut_free(&f.cut);
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
