/* Orders made in one go: lists, from which the op comes next that looks best, and depth first. What
 * other projects do is done over from what they say they do. */
#include "rewrite/order/order_ways.h"

#include <string.h>

#include "core/checked.h"
#include "core/memory.h"
#include "core/sort.h"
#include "rewrite/order/order_trees.h"

/* ---- lists ---- */

/* What the next op is chosen by: the least of the first number, then of the second. */
typedef struct rank {
    uint64_t first, second;
} rank;

typedef struct list_run {
    arn_order_state *state;
    arenaut_order_way way;
    uint64_t peak;
    uint32_t *turn; /* per op that ran: when; of others: when they became ready */
} list_run;

/* What an op leaves alive beyond what was, as a number that is never negative. */
static uint64_t growth(const arn_order_state *s, uint32_t op) {
    return (UINT64_C(1) << 63) + s->opens[op] - s->closes[op];
}

/* When the first and the last of its operands were there. */
static rank operands_there(const list_run *run, uint32_t op) {
    const arn_order_graph *g = run->state->graph;
    rank r = {UINT32_MAX, 0};
    for (uint32_t i = g->first.begin[op]; i < g->first.begin[op + 1]; i++) {
        const uint32_t turn = run->turn[g->first.ids[i]];
        r.first = arn_min_u64(r.first, turn);
        r.second = arn_max_u64(r.second, turn);
    }
    if (g->first.begin[op] == g->first.begin[op + 1]) r.first = 0;
    return r;
}

static rank rank_of(const list_run *run, uint32_t op) {
    const arn_order_state *s = run->state;
    switch (run->way) {
        case ARENAUT_ORDER_WAY_LPMF:
            return (rank){arn_max_u64(arn_order_load(s, op), run->peak), growth(s, op)};
        case ARENAUT_ORDER_WAY_BFS: return operands_there(run, op);
        case ARENAUT_ORDER_WAY_LIFO: return (rank){UINT32_MAX - run->turn[op], 0};
        default: return (rank){growth(s, op), s->opens[op]};
    }
}

static uint32_t choose(const list_run *run) {
    const arn_order_state *s = run->state;
    uint32_t best = s->ready[0];
    rank least = rank_of(run, best);
    if (!arn_budget_spend(s->budget, s->n_ready)) return best; /* an order, but not of this way */
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

static bool run_list(arenaut_order_way way, arn_order_state *s, uint32_t *ops) {
    list_run run = {.state = s, .way = way};
    run.turn = arn_allocate_zeroed(&s->graph->allocator, s->graph->n_ops, sizeof *run.turn);
    if (!run.turn) return false;
    while (s->n_ready > 0) {
        const uint32_t op = choose(&run), n_ready = s->n_ready - 1;
        run.peak = arn_max_u64(run.peak, arn_order_load(s, op));
        arn_order_run(s, op);
        run.turn[op] = s->n_ran;
        for (uint32_t i = n_ready; i < s->n_ready; i++) run.turn[s->ready[i]] = s->n_ran;
    }
    memcpy(ops, s->ran, s->n_ran * sizeof *ops);
    arn_order_take_back(s, 0);
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

/* ---- depth first ---- */

/* Ops by what they read and write. */
static bool sort_by_moved(const arn_order_graph *g, uint32_t *sorted) {
    uint64_t *moved = arn_allocate_zeroed(&g->allocator, g->n_ops, sizeof *moved);
    uint32_t *scratch = arn_allocate(&g->allocator, g->n_ops, sizeof *scratch);
    const bool ok = moved && scratch;
    for (uint32_t op = 0; ok && op < g->n_ops; op++) {
        for (uint32_t i = g->uses.begin[op]; i < g->uses.begin[op + 1]; i++) {
            moved[op] += g->size[g->uses.ids[i]];
        }
    }
    if (ok) arn_sort_by_key(sorted, g->n_ops, moved, scratch);
    arn_release(&g->allocator, moved);
    arn_release(&g->allocator, scratch);
    return ok;
}

typedef struct descent {
    const arn_order_graph *graph;
    uint32_t *rank;  /* per op; NONE: it is in the order */
    uint32_t *stack; /* ops whose operands are looked at */
    uint32_t *ops;
    uint32_t n;
} descent;

/* The operand that comes first of those that are not there; NONE: all are. */
static uint32_t next_operand(const descent *d, uint32_t op) {
    const arn_order_graph *g = d->graph;
    uint32_t best = ARENAUT_NONE;
    for (uint32_t i = g->first.begin[op]; i < g->first.begin[op + 1]; i++) {
        const uint32_t first = g->first.ids[i];
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

/* From the results, or from all ops; operands in the order of `sorted`. */
static bool depth_first(const arn_order_graph *g, arenaut_order_way way, uint32_t *ops) {
    const bool from_results = way == ARENAUT_ORDER_WAY_DFS_OUT;
    descent d = {.graph = g, .ops = ops};
    uint32_t *sorted = arn_allocate(&g->allocator, g->n_ops, sizeof *sorted);
    d.rank = arn_allocate(&g->allocator, g->n_ops, sizeof *d.rank);
    d.stack = arn_allocate(&g->allocator, g->n_ops, sizeof *d.stack);
    bool ok = sorted && d.rank && d.stack;
    for (uint32_t i = 0; ok && i < g->n_ops; i++) sorted[i] = i;
    if (ok && way == ARENAUT_ORDER_WAY_DFS) ok = sort_by_moved(g, sorted);
    if (ok && way == ARENAUT_ORDER_WAY_TREES) ok = arn_order_by_trees(g, sorted);
    for (uint32_t i = 0; ok && i < g->n_ops; i++) d.rank[sorted[i]] = i;
    for (uint32_t i = 0; ok && i < g->n_ops; i++) {
        const uint32_t op = sorted[i];
        if (!from_results || g->next.begin[op] == g->next.begin[op + 1]) descend(&d, op);
    }
    arn_release(&g->allocator, sorted);
    arn_release(&g->allocator, d.rank);
    arn_release(&g->allocator, d.stack);
    return ok;
}

bool arn_order_by_way(arenaut_order_way way, arn_order_state *front, arn_order_state *back,
                      uint32_t *ops) {
    const uint32_t n = front->graph->n_ops;
    switch (way) {
        case ARENAUT_ORDER_WAY_GIVEN:
            for (uint32_t i = 0; i < n; i++) ops[i] = i;
            return true;
        case ARENAUT_ORDER_WAY_DFS:
        case ARENAUT_ORDER_WAY_DFS_OUT:
        case ARENAUT_ORDER_WAY_TREES: return depth_first(front->graph, way, ops);
        case ARENAUT_ORDER_WAY_BACKWARD:
            if (!run_list(ARENAUT_ORDER_WAY_GREEDY, back, ops)) return false;
            reverse(ops, n);
            return true;
        default: return run_list(way, front, ops);
    }
}

arn_order_height arn_order_height_of(arn_order_state *s, const uint32_t *ops) {
    arn_order_take_back(s, 0);
    arn_order_height h = {.peak = s->live};
    for (uint32_t i = 0; i < s->graph->n_ops; i++) {
        const uint64_t load = arn_order_load(s, ops[i]);
        if (load > h.peak) h = (arn_order_height){load, 0, i};
        h.n += load == h.peak;
        arn_order_run(s, ops[i]);
    }
    arn_order_take_back(s, 0);
    return h;
}

arenaut_status arn_order_measure(const arenaut_order_problem *problem, const uint32_t *ops,
                                 const arenaut_allocator *allocator, arn_order_height *height,
                                 arenaut_error *err) {
    arn_order_graph graph;
    arn_order_state state;
    arenaut_status st = arn_order_graph_make(problem, false, allocator, &graph, err);
    if (st != ARENAUT_OK) return st;
    arn_budget own = arn_budget_make(0, NULL, NULL); /* nothing is searched for */
    st = arn_order_state_make(&graph, &own, &state, err);
    if (st == ARENAUT_OK) {
        *height = arn_order_height_of(&state, ops);
        arn_order_state_free(&state);
    }
    arn_order_graph_free(&graph);
    return st;
}
