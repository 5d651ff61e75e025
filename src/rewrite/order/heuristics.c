/* Orders made in one go: lists, from which the op comes next that looks best, and depth first. What
 * other projects do is done over from what they say they do. */
#include "rewrite/order/schedule_search.h"

#include <string.h>

#include "core/checked.h"
#include "core/memory.h"
#include "core/sort.h"

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

/* ======== */
/* A minimum cut tells which ops should have run before the op that needs most. If these run first,
 * then that op, then the others, each part in the order in which it was, most ops need no more than
 * before: of what has run when they run, the part inside the cut and its union with the cut both
 * have no more alive, since what is alive is submodular. Only ops that change sides may need more,
 * and get their turn if it is they that need most then. */

/* Moves in a row from which nothing may come. */
enum { PATIENCE = 48 };

typedef struct uncrossing {
    arn_order_state *state;
    arn_order_cut *cut;
    uint32_t *now, *next; /* orders */
    bool *before;
} uncrossing;

/* First what should have run before `op`, then that, then the others. */
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

static uint64_t work_of(const uncrossing *u) { return u->state->work + u->cut->work / 8; }

static bool uncross(uncrossing *u, uint64_t bound, uint64_t effort, uint32_t *ops) {
    const uint32_t n = u->state->graph->n_ops;
    arn_order_height best = arn_order_height_of(u->state, ops), now = best;
    const uint64_t end = work_of(u) + effort;
    for (uint32_t tries = 0; tries < PATIENCE && work_of(u) < end && best.peak > bound; tries++) {
        if (arn_budget_ended(u->state->budget)) break;
        const uint32_t op = u->now[now.at];
        uint64_t least;
        if (!arn_order_least_load(u->cut, op, &least, u->before)) return false;
        if (least >= now.peak) break; /* no order is better */
        part_at(u, op);
        now = arn_order_height_of(u->state, u->now);
        if (!arn_order_is_lower(now, best)) continue;
        best = now;
        memcpy(ops, u->now, n * sizeof *ops);
        tries = 0;
    }
    return true;
}

bool arn_order_uncross(arn_order_state *front, arn_order_cut *cut, uint64_t bound, uint64_t effort,
                       uint32_t *ops) {
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
    arn_release(a, u.now);
    arn_release(a, u.next);
    arn_release(a, u.before);
    return ok;
}

/* ======== */
/* Where an order is too long to be searched as a whole, what lies around the op that needs most is
 * searched by itself, between what runs before and what runs after it: a few ops first, then twice
 * as many, and so on. */

enum { FIRST_WIDTH = 32 };

typedef struct windows {
    arn_order_side *sides; /* two */
    uint32_t *ops, *spare;
    uint64_t per_op, width; /* of one window: work for each op, and how many */
    arn_order_height now;
} windows;

/* Searches around the op that needs most, below `limit`. *better: something came of it. */
static bool try_window(windows *w, uint64_t limit, bool *better) {
    const uint32_t n = w->sides[0].graph.n_ops, width = (uint32_t)arn_min_u64(w->width, n);
    const uint32_t from = w->now.at > width / 2 ? w->now.at - width / 2 : 0;
    const arn_order_window window = {w->ops, from, width < n - from ? from + width : n};
    const arn_order_answer answer =
        arn_order_search_window(w->sides, limit, w->per_op * width, window, w->spare);
    *better = false;
    if (answer != ARN_ORDER_FOUND) return answer != ARN_ORDER_FAILED;
    const arn_order_height found = arn_order_height_of(&w->sides[0].state, w->spare);
    *better = arn_order_is_lower(found, w->now);
    if (!*better) return true;
    w->now = found;
    memcpy(w->ops, w->spare, n * sizeof *w->ops);
    return true;
}

/* Windows of one width, as long as they make the order better. */
static bool search_width(windows *w, uint64_t bound, uint64_t end) {
    bool better = true;
    const arn_budget *budget = w->sides->state.budget;
    while (better && w->now.peak > bound && arn_order_work(w->sides) < end &&
           !arn_budget_ended(budget)) {
        const uint64_t middle = bound + (w->now.peak - bound) / 2;
        if (!try_window(w, middle, &better)) return false;
        if (!better && !try_window(w, w->now.peak - 1, &better)) return false;
    }
    return true;
}

bool arn_order_search_windows(arn_order_side sides[2], arn_order_purse purse, uint64_t bound,
                              uint32_t *ops, uint32_t *spare) {
    windows w = {.sides = sides, .ops = ops, .spare = spare, .per_op = purse.per_op};
    const uint64_t end = arn_order_work(sides) + purse.all, n = sides[0].graph.n_ops;
    bool ok = true;
    w.now = arn_order_height_of(&sides[0].state, ops);
    for (w.width = FIRST_WIDTH; ok; w.width *= 2) {
        ok = search_width(&w, bound, end);
        if (w.width >= n || w.now.peak <= bound || arn_order_work(sides) >= end ||
            arn_budget_ended(sides->state.budget)) {
            break;
        }
    }
    return ok;
}

/* ======== */
/* The few best orders, sorted by peak; and an order with the same peak that is closer to today's.
 */

enum {
    CLOSE = 16,  /* a peak is close that is larger by no more than one part of so many */
    PASSES = 16, /* over all ops, for them to go back */
};

static uint32_t *near_ops(arenaut_order *o, uint32_t i) { return o->near + (size_t)i * o->n_ops; }

static bool is_same(const arenaut_order *o, const uint32_t *a, const uint32_t *b) {
    return memcmp(a, b, o->n_ops * sizeof *a) == 0;
}

static void drop(arenaut_order *o, uint32_t at) {
    const uint32_t behind = --o->n_near - at;
    memmove(&o->near_peak[at], &o->near_peak[at + 1], behind * sizeof *o->near_peak);
    memmove(near_ops(o, at), near_ops(o, at + 1), behind * (size_t)o->n_ops * sizeof *o->near);
}

void arn_order_keep_near(arenaut_order *o, const uint32_t *ops, uint64_t peak) {
    uint32_t at = o->n_near;
    for (uint32_t i = 0; i < o->n_near; i++) {
        if (is_same(o, near_ops(o, i), ops)) return;
    }
    while (at > 0 && peak < o->near_peak[at - 1]) at--;
    if (at == ARN_ORDER_MOST_NEAR) return;
    if (o->n_near == ARN_ORDER_MOST_NEAR) o->n_near--;
    const uint32_t behind = o->n_near++ - at;
    memmove(&o->near_peak[at + 1], &o->near_peak[at], behind * sizeof *o->near_peak);
    memmove(near_ops(o, at + 1), near_ops(o, at), behind * (size_t)o->n_ops * sizeof *o->near);
    o->near_peak[at] = peak;
    memcpy(near_ops(o, at), ops, o->n_ops * sizeof *ops);
}

static bool is_given_order(const arenaut_order *o, const uint32_t *ops) {
    for (uint32_t i = 0; i < o->n_ops; i++) {
        if (ops[i] != i) return false;
    }
    return true;
}

void arn_order_trim_near(arenaut_order *o) {
    for (uint32_t i = o->n_near; i-- > 0;) {
        const bool close = o->near_peak[i] - o->peak <= o->peak / CLOSE;
        const uint32_t *ops = near_ops(o, i);
        if (!close || is_same(o, ops, o->ops) || is_given_order(o, ops)) drop(o, i);
    }
}

static bool waits_for(const arn_order_graph *g, uint32_t op, uint32_t first) {
    for (uint32_t i = g->first.begin[op]; i < g->first.begin[op + 1]; i++) {
        if (g->first.ids[i] == first) return true;
    }
    return false;
}

/* Whether two ops, the first of which would run now, may as well run the other way round. */
static bool may_swap(arn_order_state *s, uint32_t a, uint32_t b, uint64_t peak) {
    if (b > a || waits_for(s->graph, b, a) || arn_order_load(s, b) > peak) return false;
    arn_order_run(s, b);
    const bool fits = arn_order_load(s, a) <= peak;
    arn_order_take_back(s, s->n_ran - 1);
    return fits;
}

void arn_order_settle(arn_order_state *s, uint64_t peak, uint32_t *ops) {
    const uint32_t n = s->graph->n_ops;
    bool moved = true;
    for (int pass = 0; pass < PASSES && moved; pass++) {
        moved = false;
        arn_order_take_back(s, 0);
        for (uint32_t i = 0; i + 1 < n; i++) {
            const uint32_t a = ops[i], b = ops[i + 1];
            if (may_swap(s, a, b, peak)) {
                ops[i] = b;
                ops[i + 1] = a;
                moved = true;
            }
            arn_order_run(s, ops[i]);
        }
    }
    arn_order_take_back(s, 0);
}
