/* Multi-start local search (remat_multistart.h).
 *
 * Starts are sequences that drop storages as a minimum cut does (of the bound, of its weakest case,
 * of the floor), segments between checkpoints, and each op once. Each is repaired until it is
 * within the budget, then improved by windows and annealing. */
#include "rewrite/rematerialize/remat_multistart.h"

#include <string.h>

#include "core/checked.h"
#include "core/fail.h"
#include "rewrite/rematerialize/remat_anneal.h"

enum {
    MOST_IN_VAIN = 1000,
    PARTS_OF_START = 14, /* of the effort: windows from one start, and from the best of all */
    PARTS_OF_BEST = 3,
    PARTS_OF_LAST = 5,
};

static void copy(const arn_remat_multistart *x, arn_remat_schedule *to,
                 const arn_remat_schedule *from) {
    arn_remat_state *states = to->states;
    memcpy(states, from->states, x->graph.n_gaps * sizeof *states);
    *to = *from;
    to->states = states;
}

static bool allocate(arn_remat_multistart *x) {
    const uint32_t n = x->graph.n_gaps;
    return ARN_REGION_ARRAYS(&x->region, ARN_ARRAY(x->load, x->problem->n_ops),
                             ARN_ARRAY(x->base.states, n), ARN_ARRAY(x->best.states, n),
                             ARN_ARRAY(x->kept.states, n), ARN_ARRAY(x->states, n),
                             ARN_ARRAY(x->known, n));
}

static bool make_parts(arn_remat_multistart *x) {
    arn_region *region = &x->region;
    uint32_t peak;
    if (!allocate(x) || !arn_remat_sequence_make(&x->graph, region, x->budget, &x->sequence) ||
        !arn_remat_search_make(&x->sequence, region, x->budget, x->effort, &x->search) ||
        !arn_remat_cut_make(&x->graph, &region->allocator, region, x->budget, &x->cut) ||
        !arn_remat_bounds_make(&x->cut, region, &x->bounds) ||
        !arn_remat_chain_make(&x->graph, &region->allocator, region, x->budget, &x->chain) ||
        !arn_remat_branch_make(&x->chain, region, &x->branch)) {
        return false;
    }
    x->base.peak = arn_remat_peak(&x->sequence, &peak);
    memcpy(x->load, x->sequence.peak, x->problem->n_ops * sizeof *x->load);
    memcpy(x->base.states, x->sequence.state, x->graph.n_gaps * sizeof *x->base.states);
    memcpy(x->known, x->base.states, x->graph.n_gaps * sizeof *x->known);
    copy(x, &x->best, &x->base);
    return arn_remat_segments_make(&x->graph, region, peak, &x->segments);
}

/* Loads are sums of these, less what rights let two storages share. */
static uint64_t find_unit(const arenaut_remat_problem *p) {
    uint64_t unit = 0;
    for (uint32_t s = 0; s < p->n_storages; s++) unit = arn_gcd(unit, p->size[s]);
    for (uint32_t r = 0; r < p->n_rights; r++) unit = arn_gcd(unit, p->rights[r].bytes);
    for (uint32_t i = 0; p->scratch && i < p->n_ops; i++) unit = arn_gcd(unit, p->scratch[i]);
    return arn_max_u64(unit, 1);
}

arenaut_status arn_remat_multistart_make(arn_remat_multistart *x,
                                         const arenaut_remat_problem *problem, arn_budget *budget,
                                         uint64_t effort, const arenaut_allocator *allocator,
                                         arenaut_error *err) {
    *x = (arn_remat_multistart){.problem = problem,
                                .budget = budget,
                                .effort = effort,
                                .unit = find_unit(problem),
                                .floor_op = ARENAUT_NONE};
    arn_region_init(&x->region, allocator);
    const arenaut_status st = arn_remat_graph_make(problem, &x->region, &x->graph, err);
    if (st != ARENAUT_OK) return st;
    return make_parts(x) ? ARENAUT_OK : arn_no_memory(err);
}

void arn_remat_multistart_free(arn_remat_multistart *x) {
    arn_remat_cut_free(&x->cut);
    arn_remat_chain_free(&x->chain);
    arn_region_free(&x->region);
}

/* ---- starts ---- */

/* Keeps the present schedule, if it is better. */
static void take(arn_remat_multistart *x) {
    const arn_remat_sequence *q = &x->sequence;
    const arn_remat_schedule now = {.states = q->state,
                                    .fits = q->excess == 0,
                                    .added = q->added,
                                    .peak = arn_remat_peak(q, NULL)};
    const arn_remat_schedule *best = &x->best;
    if (q->n_bad > 0) return;
    const bool better =
        now.fits ? !best->fits || now.added < best->added : !best->fits && now.peak < best->peak;
    if (better) copy(x, &x->best, &now);
}

/* Keeps operands behind their last use, as far as repetitions cannot do without. */
static void keep_tails(arn_remat_multistart *x) {
    enum { MOST_TAILS = 200 };
    arn_remat_sequence *q = &x->sequence;
    for (uint32_t i = 0; i < MOST_TAILS && q->n_bad > 0; i++) {
        if (q->blocked == ARENAUT_NONE || q->state[q->blocked] != ARN_REMAT_LATE) return;
        arn_remat_set(q, q->blocked, ARN_REMAT_KEEP);
    }
}

/* The minimum cut at the bound's op that is within the budget there, if need be at a higher price.
 */
static bool cut_within(arn_remat_multistart *x, uint64_t price) {
    enum { MOST_RISES = 40 };
    for (uint32_t i = 0; i < MOST_RISES && price < x->bounds.most_byte_price; i++) {
        arn_remat_cut_find(&x->cut, price, x->bounds.time_price);
        if (x->cut.own + x->cut.cut_bytes <= x->bytes) return true;
        price += price / 16 + 1;
    }
    return false;
}

/* Drops the storages that the cut does not keep live. Operands of repetitions that it keeps stay
 * behind their last use; others are dropped there, and then stay where they were made again, or not
 * (`tails`). */
static void start_from_cut(arn_remat_multistart *x, arn_remat_state tails) {
    arn_remat_sequence *q = &x->sequence;
    const uint32_t op = x->cut.op;
    arn_remat_restore(&x->search, x->base.states);
    for (uint32_t gap = 0; gap < x->graph.n_gaps; gap++) {
        const arn_remat_gap *of = &x->graph.gaps[gap];
        if (of->from >= op || of->to <= op || x->graph.solid[of->storage]) continue;
        if (of->tail) {
            const bool kept = arn_remat_cut_keeps(&x->cut, of->storage);
            arn_remat_change(q, gap, kept ? ARN_REMAT_KEEP : tails);
        } else if (arn_remat_cut_drops(&x->cut, of->storage) &&
                   arn_remat_may_repeat(x->problem, x->problem->maker[of->storage], of->to)) {
            arn_remat_change(q, gap, ARN_REMAT_RETAIN);
        }
    }
    arn_remat_follow(q);
    keep_tails(x);
    if (q->n_bad > 0) arn_remat_restore(&x->search, x->base.states);
}

static void try_start(arn_remat_multistart *x) {
    if (arn_remat_repair(&x->search, 0)) arn_remat_give_back(&x->search);
    take(x);
}

/* The cut of the floor, where repetitions cost nothing. */
static void start_from_floor(arn_remat_multistart *x) {
    if (x->floor_op == ARENAUT_NONE) return;
    arn_remat_cut_at(&x->cut, x->floor_op);
    arn_remat_cut_find(&x->cut, 1, 0);
    start_from_cut(x, ARN_REMAT_LATE);
    try_start(x);
}

/* Segments that share the budget with all checkpoints before them, by estimates of several sizes.
 */
static void start_from_segments(arn_remat_multistart *x) {
    static const uint32_t parts[] = {100, 90, 80, 70, 60, 50, 40, 30}, strides[] = {1, 2, 3, 4};
    for (size_t k = 0; k < sizeof strides / sizeof *strides; k++) {
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
            if (arn_remat_is_over(&x->search)) return;
            memcpy(x->states, x->base.states, x->graph.n_gaps * sizeof *x->states);
            if (!arn_remat_segments_choose(&x->segments, x->bytes / 100 * parts[i], strides[k],
                                           x->states)) {
                break;
            }
            arn_remat_restore(&x->search, x->states);
            keep_tails(x);
            if (x->sequence.n_bad > 0) continue;
            try_start(x);
        }
        if (x->best.fits) return;
    }
}

bool arn_remat_multistart_is_close(const arn_remat_multistart *x) {
    return x->best.fits && x->best.added <= x->bounds.value + x->graph.base / 400;
}

/* Whether the other order's answer within the same budget is far better. */
static bool is_hopeless(const arn_remat_multistart *x) {
    enum { PARTS = 200 };
    return x->other > 0 && x->best.fits && x->best.added > x->other + x->graph.base / PARTS;
}

static void begin_within(arn_remat_multistart *x, uint64_t bytes) {
    x->bytes = bytes;
    arn_remat_restore(&x->search, x->base.states);
    arn_remat_forget_reads(&x->sequence);
    arn_remat_set_budget(&x->sequence, bytes);
    copy(x, &x->best, &x->base);
}

/* By bisection, from the lowest that is known. */
void arn_remat_multistart_find_lowest(arn_remat_multistart *x, uint64_t floor) {
    enum { MOST_TIMES = 24 };
    arn_remat_restore(&x->search, x->known);
    uint64_t low = floor, high = (uint64_t)arn_remat_peak(&x->sequence, NULL);
    for (uint32_t i = 0; i < MOST_TIMES && low < high && !arn_remat_is_over(&x->search); i++) {
        const uint64_t half = low + (high - low) / 2;
        const uint64_t middle = arn_max_u64(half - half % x->unit, low);
        begin_within(x, middle);
        try_start(x);
        arn_remat_restore(&x->search, x->known);
        if (!x->best.fits) try_start(x);
        arn_remat_restore(&x->search, x->base.states);
        if (!x->best.fits) start_from_floor(x);
        if (!x->best.fits) start_from_segments(x);
        if (!x->best.fits) {
            low = middle - middle % x->unit + x->unit;
            continue;
        }
        high = (uint64_t)x->best.peak;
        memcpy(x->known, x->best.states, x->graph.n_gaps * sizeof *x->known);
    }
    x->lowest = high;
}

/* Windows from the best by now, with one of so many parts of the effort, and the same chances each
 * time. */
static void improve(arn_remat_multistart *x, uint32_t parts) {
    const uint64_t whole = x->search.limit;
    if (!x->best.fits) return;
    arn_remat_forget(&x->search);
    x->search.random = 1;
    x->search.limit = arn_min_u64(whole, x->sequence.effort + x->effort / parts);
    arn_remat_restore(&x->search, x->best.states);
    arn_remat_improve(&x->search, MOST_IN_VAIN);
    arn_remat_give_back(&x->search);
    x->search.limit = whole;
    take(x);
}

/* Windows from the better one of the last starts, which need not be the best of all. */
static void improve_from_cut(arn_remat_multistart *x) {
    const arn_remat_schedule *best = &x->best, *kept = &x->kept;
    copy(x, &x->kept, &x->best);
    x->best.fits = false;
    start_from_cut(x, ARN_REMAT_LATE);
    try_start(x);
    start_from_cut(x, ARN_REMAT_RETAIN);
    try_start(x);
    improve(x, PARTS_OF_START);
    if (kept->fits && !(best->fits && best->added <= kept->added)) copy(x, &x->best, &x->kept);
}

/* With a cut, which may take more or less than the budget, and with the next one that is within it.
 */
static void search_from_cut(arn_remat_multistart *x, uint64_t price) {
    arn_remat_cut_find(&x->cut, price, x->bounds.time_price);
    const bool fits = x->cut.own + x->cut.cut_bytes <= x->bytes;
    improve_from_cut(x);
    if (!fits && cut_within(x, price)) improve_from_cut(x);
}

/* A price of bytes where time has another price. */
static uint64_t at_time_price(uint64_t price, uint64_t from, uint64_t to) {
    return (uint64_t)((double)price * (double)to / (double)from);
}

bool arn_remat_multistart_chain(arn_remat_multistart *x, uint64_t bytes) {
    arn_remat_chain *c = &x->chain;
    c->budget = bytes;
    arn_remat_chain_at(c, &x->bounds.op, 1);
    c->best.byte[0] = at_time_price(x->bounds.byte_price, x->bounds.time_price, c->time_price);
    c->best.unit[0] = 1;
    return arn_remat_chain_link(c);
}

/* Of the case of the bound that shows least: where storages are large beside what is left, it is
 * alive or gone in it, and the bound without cases is far below. */
static bool search_from_case(arn_remat_multistart *x) {
    enum { MOST_CASES = 30, PARTS = 400 };
    if (!arn_remat_multistart_chain(x, x->bytes)) return true; /* no case is within the budget */
    if (!arn_remat_branch_find(&x->branch, x->best.fits ? x->best.added : UINT64_MAX, MOST_CASES,
                               UINT64_MAX)) {
        return false;
    }
    if (x->branch.value == UINT64_MAX) return true;
    const bool more = x->branch.value > x->bounds.value + x->graph.base / PARTS;
    x->bounds.value = arn_max_u64(x->branch.value, x->bounds.value);
    if (!more || arn_remat_multistart_is_close(x)) return true;
    const uint64_t price = arn_remat_branch_lowest(&x->branch, &x->cut);
    search_from_cut(x, at_time_price(price, x->chain.time_price, x->bounds.time_price));
    return true;
}

/* With the cuts of the bound. */
static void search_from_cuts(arn_remat_multistart *x) {
    if (x->bounds.op == ARENAUT_NONE) return;
    arn_remat_cut_at(&x->cut, x->bounds.op);
    search_from_cut(x, x->bounds.byte_price);
    if (!arn_remat_multistart_is_close(x) && !search_from_case(x)) x->out_of_memory = true;
}

static void anneal(arn_remat_multistart *x) {
    enum { OF_TWO_GAPS = 16 };
    const uint64_t n_gaps = x->graph.n_gaps, most = OF_TWO_GAPS * n_gaps * n_gaps;
    if (arn_remat_multistart_is_close(x)) return;
    arn_remat_forget(&x->search);
    x->search.random = 1;
    arn_remat_restore(&x->search, x->best.fits ? x->best.states : x->base.states);
    arn_remat_anneal(&x->search, arn_min_u64(x->effort / 5 * 2, most), x->best.states,
                     x->best.fits ? x->best.added : UINT64_MAX);
    arn_remat_restore(&x->search, x->best.states);
    if (x->sequence.excess == 0) arn_remat_give_back(&x->search);
    take(x);
}

/* Storages stay from one of their repetitions on, where not all of them can be spared. */
static void retain_later(arn_remat_multistart *x) {
    if (!x->best.fits) return;
    arn_remat_restore(&x->search, x->best.states);
    arn_remat_retain_later(&x->search);
    arn_remat_give_back(&x->search);
    take(x);
}

/* From all starts, then windows and annealing. The bound is that of the budget. */
static void search_from_all(arn_remat_multistart *x) {
    search_from_cuts(x);
    if (arn_remat_multistart_is_close(x) || is_hopeless(x)) return;
    arn_remat_restore(&x->search, x->base.states);
    try_start(x);
    if (!x->best.fits) start_from_segments(x);
    improve(x, PARTS_OF_BEST);
    retain_later(x);
    anneal(x);
    retain_later(x);
    if (!arn_remat_multistart_is_close(x)) improve(x, PARTS_OF_LAST);
}

/* First without storages that stay for a repeated run and go behind it: most good schedules have
 * none, and each way more to drop one leads some searches astray. */
static void search_with_all_states(arn_remat_multistart *x) {
    search_from_all(x);
    if (arn_remat_multistart_is_close(x) || is_hopeless(x)) return;
    x->search.goes_later = true;
    search_from_all(x);
    x->search.goes_later = false;
}

/* First with few repetitions at each position. */
void arn_remat_multistart_find(arn_remat_multistart *x, uint64_t bytes) {
    enum { PARTS = 8 };
    begin_within(x, bytes);
    take(x);
    if (x->best.fits) return;
    x->sequence.most_cost = x->graph.base / PARTS;
    search_with_all_states(x);
    x->sequence.most_cost = UINT64_MAX;
    if (!x->best.fits) search_with_all_states(x);
}

void arn_remat_multistart_improve_lowest(arn_remat_multistart *x) {
    begin_within(x, x->lowest);
    arn_remat_restore(&x->search, x->known);
    take(x);
    improve(x, PARTS_OF_START);
}
