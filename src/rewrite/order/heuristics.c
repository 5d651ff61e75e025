/* Heuristics: list scheduling with several priorities and depth-first orders, the latter
 * reimplemented from the descriptions of PyTorch's inductor and ONNX Runtime, also along the
 * schedules of trees; and improvement of a schedule by minimum cuts and by windows. Each schedule
 * costs O(ops × ready ops + uses); see the functions. */
#include "rewrite/order/schedule_search.h"

#include <string.h>

#include "core/checked.h"
#include "core/memory.h"
#include "core/sort.h"

/* ---- list scheduling (a topological order, Kahn 1962, by priority) ---- */

/* The priority of a ready op: the least first number, then the least second one. */
typedef struct rank {
    uint64_t first, second;
} rank;

typedef struct list_run {
    arn_schedule_state *state;
    arenaut_order_heuristic heuristic;
    uint64_t peak;
    uint32_t *turn; /* per executed op: its position; of others: when it became ready */
} list_run;

/* The increase of the live bytes, offset so that it is never negative. */
static uint64_t growth(const arn_schedule_state *s, uint32_t op) {
    return (UINT64_C(1) << 63) + s->allocates[op] - s->frees[op];
}

/* The positions of the first and the last predecessor. */
static rank operands_there(const list_run *run, uint32_t op) {
    const arn_schedule_graph *g = run->state->graph;
    rank r = {UINT32_MAX, 0};
    for (uint32_t i = g->predecessors.begin[op]; i < g->predecessors.begin[op + 1]; i++) {
        const uint32_t turn = run->turn[g->predecessors.ids[i]];
        r.first = arn_min_u64(r.first, turn);
        r.second = arn_max_u64(r.second, turn);
    }
    if (g->predecessors.begin[op] == g->predecessors.begin[op + 1]) r.first = 0;
    return r;
}

static rank rank_of(const list_run *run, uint32_t op) {
    const arn_schedule_state *s = run->state;
    switch (run->heuristic) {
        case ARENAUT_ORDER_HEURISTIC_LPMF:
            return (rank){arn_max_u64(arn_schedule_load(s, op), run->peak), growth(s, op)};
        case ARENAUT_ORDER_HEURISTIC_BFS: return operands_there(run, op);
        case ARENAUT_ORDER_HEURISTIC_LIFO: return (rank){UINT32_MAX - run->turn[op], 0};
        default: return (rank){growth(s, op), s->allocates[op]};
    }
}

static uint32_t choose(const list_run *run) {
    const arn_schedule_state *s = run->state;
    uint32_t best = s->ready[0];
    rank least = rank_of(run, best);
    if (!arn_budget_spend(s->budget, s->n_ready))
        return best; /* a schedule, but not of this heuristic */
    for (uint32_t i = 1; i < s->n_ready; i++) {
        const uint32_t op = s->ready[i];
        const rank r = rank_of(run, op);
        if (r.first > least.first || (r.first == least.first && r.second > least.second)) continue;
        if (r.first == least.first && r.second == least.second && op > best) continue;
        best = op;
        least = r;
    }
    return best;
}

static bool run_list(arenaut_order_heuristic heuristic, arn_schedule_state *s, uint32_t *ops) {
    list_run run = {.state = s, .heuristic = heuristic};
    run.turn = arn_allocate_zeroed(&s->graph->allocator, s->graph->n_ops, sizeof *run.turn);
    if (!run.turn) return false;
    while (s->n_ready > 0) {
        const uint32_t op = choose(&run), n_ready = s->n_ready - 1;
        run.peak = arn_max_u64(run.peak, arn_schedule_load(s, op));
        arn_schedule_run(s, op);
        run.turn[op] = s->n_ran;
        for (uint32_t i = n_ready; i < s->n_ready; i++) run.turn[s->ready[i]] = s->n_ran;
    }
    memcpy(ops, s->ran, s->n_ran * sizeof *ops);
    arn_schedule_undo(s, 0);
    arn_release(&s->graph->allocator, run.turn);
    return true;
}

static void reverse(uint32_t *ops, uint32_t n) {
    for (uint32_t i = 0; i < n / 2; i++) {
        const uint32_t op = ops[i];
        ops[i] = ops[n - 1 - i];
        ops[n - 1 - i] = op;
    }
}

/* ---- depth-first order ---- */

/* Sorts ops by the bytes that they read and write. */
static bool sort_by_moved(const arn_schedule_graph *g, uint32_t *sorted) {
    uint64_t *moved = arn_allocate_zeroed(&g->allocator, g->n_ops, sizeof *moved);
    uint32_t *scratch = arn_allocate(&g->allocator, g->n_ops, sizeof *scratch);
    const bool ok = moved && scratch;
    for (uint32_t op = 0; ok && op < g->n_ops; op++) {
        for (uint32_t i = g->uses.begin[op]; i < g->uses.begin[op + 1]; i++) {
            moved[op] += g->size[g->uses.ids[i]];
        }
    }
    if (ok) arn_sort_by_key(sorted, g->n_ops, moved, scratch);
    ARN_RELEASE(&g->allocator, moved, scratch);
    return ok;
}

typedef struct descent {
    const arn_schedule_graph *graph;
    uint32_t *rank;  /* per op; NONE: it is in the schedule */
    uint32_t *stack; /* ops with pending operands */
    uint32_t *ops;
    uint32_t n;
} descent;

/* The pending predecessor of least rank; NONE: none is pending. */
static uint32_t next_operand(const descent *d, uint32_t op) {
    const arn_schedule_graph *g = d->graph;
    uint32_t best = ARENAUT_NONE;
    for (uint32_t i = g->predecessors.begin[op]; i < g->predecessors.begin[op + 1]; i++) {
        const uint32_t first = g->predecessors.ids[i];
        if (d->rank[first] == ARENAUT_NONE) continue;
        if (best == ARENAUT_NONE || d->rank[first] < d->rank[best]) best = first;
    }
    return best;
}

static void descend(descent *d, uint32_t from) {
    uint32_t depth = 0;
    if (d->rank[from] == ARENAUT_NONE) return;
    d->stack[depth++] = from;
    while (depth > 0) {
        const uint32_t op = d->stack[depth - 1], operand = next_operand(d, op);
        if (operand != ARENAUT_NONE) {
            d->stack[depth++] = operand;
            continue;
        }
        d->rank[op] = ARENAUT_NONE;
        d->ops[d->n++] = op;
        depth--;
    }
}

/* From the results, or from all ops; operands in the sequence of `sorted`. */
static bool depth_first(const arn_schedule_graph *g, arenaut_order_heuristic heuristic,
                        uint32_t *ops) {
    const bool from_results = heuristic == ARENAUT_ORDER_HEURISTIC_DFS_OUT;
    descent d = {.graph = g, .ops = ops};
    uint32_t *sorted = arn_allocate(&g->allocator, g->n_ops, sizeof *sorted);
    d.rank = arn_allocate(&g->allocator, g->n_ops, sizeof *d.rank);
    d.stack = arn_allocate(&g->allocator, g->n_ops, sizeof *d.stack);
    bool ok = sorted && d.rank && d.stack;
    for (uint32_t i = 0; ok && i < g->n_ops; i++) sorted[i] = i;
    if (ok && heuristic == ARENAUT_ORDER_HEURISTIC_DFS) ok = sort_by_moved(g, sorted);
    if (ok && heuristic == ARENAUT_ORDER_HEURISTIC_TREES) ok = arn_schedule_trees(g, sorted);
    for (uint32_t i = 0; ok && i < g->n_ops; i++) d.rank[sorted[i]] = i;
    for (uint32_t i = 0; ok && i < g->n_ops; i++) {
        const uint32_t op = sorted[i];
        if (!from_results || g->successors.begin[op] == g->successors.begin[op + 1])
            descend(&d, op);
    }
    ARN_RELEASE(&g->allocator, sorted, d.rank, d.stack);
    return ok;
}

bool arn_schedule_by_heuristic(arenaut_order_heuristic heuristic, arn_schedule_state *front,
                               arn_schedule_state *back, uint32_t *ops) {
    const uint32_t n = front->graph->n_ops;
    switch (heuristic) {
        case ARENAUT_ORDER_HEURISTIC_GIVEN:
            for (uint32_t i = 0; i < n; i++) ops[i] = i;
            return true;
        case ARENAUT_ORDER_HEURISTIC_DFS:
        case ARENAUT_ORDER_HEURISTIC_DFS_OUT:
        case ARENAUT_ORDER_HEURISTIC_TREES: return depth_first(front->graph, heuristic, ops);
        case ARENAUT_ORDER_HEURISTIC_BACKWARD:
            if (!run_list(ARENAUT_ORDER_HEURISTIC_GREEDY, back, ops)) return false;
            reverse(ops, n);
            return true;
        default: return run_list(heuristic, front, ops);
    }
}

arn_schedule_cost arn_schedule_cost_of(arn_schedule_state *s, const uint32_t *ops) {
    arn_schedule_undo(s, 0);
    arn_schedule_cost h = {.peak = s->live};
    for (uint32_t i = 0; i < s->graph->n_ops; i++) {
        const uint64_t load = arn_schedule_load(s, ops[i]);
        if (load > h.peak) h = (arn_schedule_cost){load, 0, i};
        h.n += load == h.peak;
        arn_schedule_run(s, ops[i]);
    }
    arn_schedule_undo(s, 0);
    return h;
}

arenaut_status arn_schedule_measure(const arenaut_order_problem *problem, const uint32_t *ops,
                                    const arenaut_allocator *allocator, arn_schedule_cost *cost,
                                    arenaut_error *err) {
    arn_schedule_graph graph;
    arn_schedule_state state;
    arenaut_status st = arn_schedule_graph_make(problem, false, allocator, &graph, err);
    if (st != ARENAUT_OK) return st;
    arn_budget own = arn_budget_make(0, NULL, NULL); /* nothing is searched */
    st = arn_schedule_state_make(&graph, &own, &state, err);
    if (st == ARENAUT_OK) {
        *cost = arn_schedule_cost_of(&state, ops);
        arn_schedule_state_free(&state);
    }
    arn_schedule_graph_free(&graph);
    return st;
}

/* ---- hill climbing by minimum cuts ---- */

/* The minimum cut at the op of the peak gives the ops that should run before it. They are moved in
 * front of it, the others behind, each group in its sequence (uncrossing). Most loads do not
 * increase: live bytes are submodular, so that the intersection and the union of a prefix with the
 * cut have no more of them than the prefix. Only ops that change sides may need more; if one of
 * them is the new peak, it is next. */

/* Consecutive moves without improvement. */
enum { PATIENCE = 48 };

typedef struct uncrossing {
    arn_schedule_state *state;
    arn_mincut *cut;
    uint32_t *now, *next; /* schedules */
    bool *before;
} uncrossing;

/* The ops before the cut, `op`, the ops after the cut. */
static void part_at(uncrossing *u, uint32_t op) {
    const uint32_t n_ops = u->state->graph->n_ops;
    uint32_t n = 0;
    for (uint32_t i = 0; i < n_ops; i++) {
        if (u->before[u->now[i]]) u->next[n++] = u->now[i];
    }
    u->next[n++] = op;
    for (uint32_t i = 0; i < n_ops; i++) {
        if (!u->before[u->now[i]] && u->now[i] != op) u->next[n++] = u->now[i];
    }
    memcpy(u->now, u->next, n * sizeof *u->now);
}

static uint64_t spent_of(const uncrossing *u) { return u->state->spent + u->cut->spent / 8; }

static bool uncross(uncrossing *u, uint64_t bound, uint64_t effort, uint32_t *ops) {
    const uint32_t n = u->state->graph->n_ops;
    arn_schedule_cost best = arn_schedule_cost_of(u->state, ops), now = best;
    const uint64_t end = spent_of(u) + effort;
    for (uint32_t tries = 0; tries < PATIENCE && spent_of(u) < end && best.peak > bound; tries++) {
        if (arn_budget_ended(u->state->budget)) break;
        const uint32_t op = u->now[now.at];
        uint64_t least;
        if (!arn_mincut_load_bound(u->cut, op, &least, u->before)) return false;
        if (least >= now.peak) break; /* it is a lower bound of any schedule */
        part_at(u, op);
        now = arn_schedule_cost_of(u->state, u->now);
        if (!arn_schedule_is_cheaper(now, best)) continue;
        best = now;
        memcpy(ops, u->now, n * sizeof *ops);
        tries = 0;
    }
    return true;
}

bool arn_schedule_uncross(arn_schedule_state *front, arn_mincut *cut, uint64_t bound,
                          uint64_t effort, uint32_t *ops) {
    const arenaut_allocator *a = &front->graph->allocator;
    const uint32_t n = front->graph->n_ops;
    uncrossing u = {.state = front, .cut = cut};
    u.now = arn_allocate(a, n, sizeof *u.now);
    u.next = arn_allocate(a, n, sizeof *u.next);
    u.before = arn_allocate(a, n, sizeof *u.before);
    bool ok = u.now && u.next && u.before;
    if (ok) {
        memcpy(u.now, ops, n * sizeof *ops);
        ok = uncross(&u, bound, effort, ops);
    }
    ARN_RELEASE(a, u.now, u.next, u.before);
    return ok;
}

/* ---- large neighborhood search (Shaw 1998) ---- */

/* Optimizes a window around the peak by branch and bound, with the ops before and after it fixed;
 * the width of the window doubles. */

enum { FIRST_WIDTH = 32 };

typedef struct windows {
    arn_direction *directions; /* both */
    uint32_t *ops, *spare;
    uint64_t per_op, width; /* effort per op, and the width of a window */
    arn_schedule_cost now;
} windows;

/* Searches the window around the peak, below `limit`. *better: it improved the schedule. */
static bool try_window(windows *w, uint64_t limit, bool *better) {
    const uint32_t n = w->directions[0].graph.n_ops, width = (uint32_t)arn_min_u64(w->width, n);
    const uint32_t from = w->now.at > width / 2 ? w->now.at - width / 2 : 0;
    const arn_schedule_window window = {w->ops, from, width < n - from ? from + width : n};
    const arn_search_result answer =
        arn_schedule_search_window(w->directions, limit, w->per_op * width, window, w->spare);
    *better = false;
    if (answer != ARN_SEARCH_FOUND) return answer != ARN_SEARCH_NO_MEMORY;
    const arn_schedule_cost found = arn_schedule_cost_of(&w->directions[0].state, w->spare);
    *better = arn_schedule_is_cheaper(found, w->now);
    if (!*better) return true;
    w->now = found;
    memcpy(w->ops, w->spare, n * sizeof *w->ops);
    return true;
}

/* Windows of one width, while they improve the schedule. */
static bool search_width(windows *w, uint64_t bound, uint64_t end) {
    bool better = true;
    const arn_budget *budget = w->directions->state.budget;
    while (better && w->now.peak > bound && arn_schedule_spent(w->directions) < end &&
           !arn_budget_ended(budget)) {
        const uint64_t middle = bound + (w->now.peak - bound) / 2;
        if (!try_window(w, middle, &better)) return false;
        if (!better && !try_window(w, w->now.peak - 1, &better)) return false;
    }
    return true;
}

bool arn_schedule_search_windows(arn_direction directions[2], arn_window_budget budget,
                                 uint64_t bound, uint32_t *ops, uint32_t *spare) {
    windows w = {.directions = directions, .ops = ops, .spare = spare, .per_op = budget.per_op};
    const uint64_t end = arn_schedule_spent(directions) + budget.all, n = directions[0].graph.n_ops;
    bool ok = true;
    w.now = arn_schedule_cost_of(&directions[0].state, ops);
    for (w.width = FIRST_WIDTH; ok; w.width *= 2) {
        ok = search_width(&w, bound, end);
        if (w.width >= n || w.now.peak <= bound || arn_schedule_spent(directions) >= end ||
            arn_budget_ended(directions->state.budget)) {
            break;
        }
    }
    return ok;
}
