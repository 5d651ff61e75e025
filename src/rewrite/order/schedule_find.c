/* Minimization of the peak: heuristics give an upper bound, minimum cuts a lower bound, then
 * improvement and branch and bound at limits between the two, with growing effort, until they meet
 * or the budget is spent. The bound comes with its proof. */
#include "rewrite/order/schedule_search.h"

#include <inttypes.h>
#include <string.h>

#include "core/checked.h"
#include "core/fail.h"
#include "core/memory.h"
#include "core/sort.h"
#include "rewrite/find_within.h"
#include "rewrite/order/program_order.h"

/* ---- proof ---- */

/* Of an exhausted search: the committed steps, then the search tree in depth-first order. A
 * memoized state is referred to by its number. The lines are described in arenaut/order.h; O(nodes
 * + branches). */

typedef struct schedule_proof {
    arenaut_order_line *lines;
    uint32_t n, capacity;
    arenaut_allocator allocator;
} schedule_proof;

typedef struct writer {
    arn_direction *direction;
    schedule_proof *proof;
    uint32_t *number; /* per node: its number in the proof */
    arn_id_list
        open; /* nodes on the path, each with the end of its ops in the direction's `branches` */
} writer;

static bool put(schedule_proof *p, arenaut_order_rule rule, uint32_t item) {
    if (!arn_grow(&p->allocator, (void **)&p->lines, &p->capacity, (uint64_t)p->n + 1,
                  sizeof *p->lines)) {
        return false;
    }
    p->lines[p->n++] = (arenaut_order_line){rule, item};
    return true;
}

static bool prove_cut(schedule_proof *proof, uint32_t op) {
    proof->n = 0;
    return put(proof, ARENAUT_ORDER_CUT, op);
}

static bool put_committed(schedule_proof *p, const arn_direction *s) {
    const arenaut_order_rule rule = s->graph.backward ? ARENAUT_ORDER_BACK : ARENAUT_ORDER_AHEAD;
    uint32_t op = 0;
    for (uint32_t i = 0; i < s->steps.n; i++) {
        const uint32_t end = s->steps.ids[i];
        if (!put(p, rule, end - op)) return false;
        for (; op < end; op++) {
            if (!put(p, ARENAUT_ORDER_RUN, s->state.ran[op])) return false;
        }
    }
    return true;
}

/* Numbers nodes in the preorder of the proof. Children were created in the sequence of their ops,
 * after their parents. A duplicate has no number of its own. */
static bool number_nodes(writer *w) {
    const arn_search_tree *t = &w->direction->tree;
    const arenaut_allocator *a = &w->direction->graph.allocator;
    uint32_t *size = arn_allocate(a, t->n, sizeof *size);
    uint32_t *next = arn_allocate(a, t->n, sizeof *next); /* of the next child */
    const bool ok = size && next;
    for (uint32_t i = 0; ok && i < t->n; i++) size[i] = !arn_search_tree_is_duplicate(t, i);
    for (uint32_t i = ok ? t->n : 0; i-- > 1;) size[t->parent[i]] += size[i];
    for (uint32_t i = 0; ok && i < t->n; i++) {
        w->number[i] = i == 0 ? 0 : next[t->parent[i]];
        if (i > 0) next[t->parent[i]] += size[i];
        next[i] = w->number[i] + 1;
    }
    ARN_RELEASE(a, size, next);
    return ok;
}

/* Opens `node`, where the state is, and lists its branches. */
static bool begin_each(writer *w, uint32_t node) {
    arn_direction *s = w->direction;
    const arenaut_allocator *a = &s->graph.allocator;
    const uint32_t from = s->branches.n;
    if (!put(w->proof, ARENAUT_ORDER_EACH, 0) || !arn_id_list_push(&w->open, a, node) ||
        !arn_id_list_push(&w->open, a, from) || !arn_direction_list_branches(s)) {
        return false;
    }
    for (uint32_t i = from, k = s->branches.n; i + 1 < k;
         i++, k--) { /* they are taken from the end */
        const uint32_t op = s->branches.ids[i];
        s->branches.ids[i] = s->branches.ids[k - 1];
        s->branches.ids[k - 1] = op;
    }
    return true;
}

/* The proof of a node, except for its children. */
static bool put_state(writer *w, uint32_t node) {
    const arn_search_tree *t = &w->direction->tree;
    while (t->dominant[node] != ARENAUT_NONE && !arn_search_tree_is_duplicate(t, node)) {
        const uint32_t dominant = t->dominant[node], n = t->n_ran[dominant] - t->n_ran[node];
        if (!put(w->proof, ARENAUT_ORDER_AHEAD, n)) return false;
        for (uint32_t i = 0; i < n; i++) {
            if (!put(w->proof, ARENAUT_ORDER_RUN, t->ops.ids[t->first[dominant] + i])) return false;
        }
        node = dominant;
    }
    if (arn_search_tree_is_duplicate(t, node)) {
        return put(w->proof, ARENAUT_ORDER_SAME, w->number[t->dominant[node]]);
    }
    return arn_search_tree_stand_at(&w->direction->tree, node) && begin_each(w, node);
}

/* The branch `op` of the innermost open node. */
static bool put_child(writer *w, uint32_t op) {
    arn_direction *s = w->direction;
    arn_search_tree *t = &s->tree;
    const uint32_t node = w->open.ids[w->open.n - 2], n_ran = t->n_ran[node] + 1;
    if (!arn_search_tree_stand_at(t, node) || !put(w->proof, ARENAUT_ORDER_RUN, op)) return false;
    arn_schedule_run(&s->state, op);
    arn_direction_run_safe(s);
    for (uint32_t i = n_ran; i < s->state.n_ran; i++) {
        if (!put(w->proof, ARENAUT_ORDER_SAFE, s->state.ran[i])) return false;
    }
    const uint32_t child = arn_search_tree_find(t, arn_search_tree_key(t));
    const bool made_here = t->parent[child] == node && t->ops.ids[t->first[child]] == op;
    arn_search_tree_return(t);
    if (!made_here) return put(w->proof, ARENAUT_ORDER_SAME, w->number[child]);
    return put_state(w, child);
}

static bool put_tree(writer *w) {
    arn_direction *s = w->direction;
    s->branches.n = 0;
    if (!number_nodes(w) || !put_state(w, 0)) return false;
    while (w->open.n > 0) {
        if (s->branches.n > w->open.ids[w->open.n - 1]) {
            if (!put_child(w, s->branches.ids[--s->branches.n])) return false;
        } else {
            w->open.n -= 2;
            if (!put(w->proof, ARENAUT_ORDER_END, 0)) return false;
        }
    }
    return true;
}

/* The proof of an exhausted search from directions[direction], whose nodes are visited again. False
 * if there is no memory. */
static bool prove_search(arn_direction directions[2], uint32_t direction, schedule_proof *proof) {
    writer w = {.direction = &directions[direction], .proof = proof};
    const arenaut_allocator *a = &w.direction->graph.allocator;
    proof->n = 0;
    w.number = arn_allocate(a, w.direction->tree.n, sizeof *w.number);
    const bool ok = w.number && put_committed(proof, &directions[0]) &&
                    put_committed(proof, &directions[1]) &&
                    put(proof, ARENAUT_ORDER_SEARCH, direction) && put_tree(&w);
    ARN_RELEASE(a, w.number, w.open.ids);
    return ok;
}

/* ---- search ---- */

/* About two seconds on hard problems. */
enum {
    DEFAULT_EFFORT = 20000000,
    FIRST_SHARE = 24,  /* of a limit at first */
    WORK_PER_OP = 200, /* of a window at first */
    SHARE_OF_WINDOWS = 4,
    SHARE_OF_CUTS = 8, /* for the lower bound, and for hill climbing by cuts */
    SHARE_OF_HEURISTICS = 64,
    SHARE_OF_ANNEALING = 20,
    MOST_ANNEALINGS = 6,
    SHARE_OF_FIRST_WINDOWS = 10, /* beside annealed schedules, and beyond the effort */
    SHARE_OF_MORE_WINDOWS = 3,
};

uint64_t arn_order_default_effort(void) { return DEFAULT_EFFORT; }

const char *arn_order_rule_name(arenaut_order_rule rule) {
    static const char *const names[] = {
#define XX(name, text) text,
        ARENAUT_ORDER_RULE_MAP(XX)
#undef XX
    };
    return (unsigned)rule < ARENAUT_ORDER_RULE_COUNT ? names[rule] : NULL;
}

const char *arenaut_order_heuristic_name(arenaut_order_heuristic heuristic) {
    static const char *const names[] = {
#define XX(name, text) text,
        ARENAUT_ORDER_HEURISTIC_MAP(XX)
#undef XX
    };
    return (unsigned)heuristic < ARENAUT_ORDER_HEURISTIC_COUNT ? names[heuristic] : NULL;
}

void arenaut_order_free(arenaut_order *order) {
    if (!order) return;
    const arenaut_allocator allocator = order->allocator;
    ARN_RELEASE(&allocator, order->ops, order->near, order->near_peak, order->lines, order);
}

typedef struct optimizer {
    arn_direction directions[2];
    arenaut_order *best;
    schedule_proof proof;
    uint32_t *ops;    /* a trial schedule */
    uint32_t *others; /* of windows alone, beside annealed ones; NULL: none was annealed */
    arn_budget *budget;
    uint64_t effort, end; /* of what is under way, and what is spent then */
    bool has_heuristics;  /* each heuristic has completed */
} optimizer;

/* Whether there is effort left, and the caller has not stopped. */
static bool goes_on(const optimizer *f) {
    return !arn_budget_ended(f->budget) && arn_schedule_spent(f->directions) < f->end;
}

static void keep_if_better(optimizer *f, uint64_t peak) {
    arn_schedule_keep_near(f->best, f->ops, peak);
    if (peak >= f->best->peak) return;
    f->best->peak = peak;
    memcpy(f->best->ops, f->ops, f->best->n_ops * sizeof *f->ops);
}

static bool try_heuristics(optimizer *f) {
    for (int heuristic = 0; heuristic < ARENAUT_ORDER_HEURISTIC_COUNT; heuristic++) {
        arn_schedule_state *front = &f->directions[0].state, *back = &f->directions[1].state;
        if (!arn_budget_goes_on(f->budget)) return true;
        if (!arn_schedule_by_heuristic((arenaut_order_heuristic)heuristic, front, back, f->ops))
            return false;
        f->best->heuristics[heuristic] = arn_schedule_cost_of(front, f->ops).peak;
        keep_if_better(f, f->best->heuristics[heuristic]);
    }
    f->has_heuristics = !arn_budget_ended(f->budget);
    return true;
}

/* Hill climbing from each heuristic: one that is not the best may lead further. */
static bool uncross_heuristics(optimizer *f) {
    const arenaut_order *best = f->best;
    arn_schedule_state *front = &f->directions[0].state, *back = &f->directions[1].state;
    for (int heuristic = 0; heuristic < ARENAUT_ORDER_HEURISTIC_COUNT && best->peak > best->bound;
         heuristic++) {
        if (arn_budget_ended(f->budget)) break;
        if (!arn_schedule_by_heuristic((arenaut_order_heuristic)heuristic, front, back, f->ops) ||
            !arn_schedule_uncross(front, &f->directions[0].cut, best->bound,
                                  f->effort / SHARE_OF_HEURISTICS, f->ops)) {
            return false;
        }
        keep_if_better(f, arn_schedule_cost_of(front, f->ops).peak);
    }
    return true;
}

/* Whether the best schedule is above the bound by more than one of so many parts of it. */
static bool is_far_from_bound(const arenaut_order *best, uint64_t parts) {
    return best->peak - best->bound > best->bound / parts;
}

/* Anneals the best schedule again and again, while that improves it. With few ops or close to the
 * bound windows lead as far. */
static bool anneal(optimizer *f) {
    enum { MANY_OPS = 1000, PARTS = 5 };
    const arenaut_order *best = f->best;
    if (best->n_ops <= MANY_OPS || !is_far_from_bound(best, PARTS)) return true;
    f->others = arn_allocate(&best->allocator, best->n_ops, sizeof *f->others);
    if (!f->others) return false;
    memcpy(f->others, best->ops, best->n_ops * sizeof *f->others);
    arn_schedule_state *front = &f->directions[0].state;
    const uint64_t effort = f->effort / SHARE_OF_ANNEALING;
    uint64_t before = UINT64_MAX;
    for (int i = 0; i < MOST_ANNEALINGS && best->peak < before; i++) {
        if (best->peak <= best->bound || !goes_on(f)) break;
        before = best->peak;
        memcpy(f->ops, best->ops, best->n_ops * sizeof *f->ops);
        if (!arn_schedule_anneal(front, best->bound, effort, f->ops)) return false;
        keep_if_better(f, arn_schedule_cost_of(front, f->ops).peak);
    }
    return true;
}

/* The load of each op in the best schedule. */
static void list_loads(optimizer *f, uint64_t *load) {
    arn_schedule_state *s = &f->directions[0].state;
    arn_schedule_undo(s, 0);
    for (uint32_t i = 0; i < f->best->n_ops; i++) {
        const uint32_t op = f->best->ops[i];
        load[op] = arn_schedule_load(s, op);
        arn_schedule_run(s, op);
    }
    arn_schedule_undo(s, 0);
}

/* The load at the peak of the best schedule often is a lower bound. `load` and `ops`: the ops by
 * load there. */
static bool bound_by_cuts(optimizer *f, const uint64_t *load, const uint32_t *ops) {
    const uint64_t end = arn_schedule_spent(f->directions) + f->effort / SHARE_OF_CUTS;
    uint64_t least;
    for (uint32_t i = f->best->n_ops; i-- > 0;) {
        if (load[ops[i]] <= f->best->bound) return true;
        if (f->best->bound > 0 && arn_schedule_spent(f->directions) > end) return true;
        if (!arn_budget_goes_on(f->budget)) return true;
        if (!arn_mincut_load_bound(&f->directions[0].cut, ops[i], &least, NULL)) return false;
        if (least <= f->best->bound) continue;
        f->best->bound = least;
        if (!prove_cut(&f->proof, ops[i])) return false;
    }
    return true;
}

static bool find_bound(optimizer *f) {
    const arenaut_allocator *a = &f->best->allocator;
    const uint32_t n = f->best->n_ops;
    uint64_t *load = arn_allocate(a, n, sizeof *load);
    uint32_t *ops = arn_allocate(a, n, 2 * sizeof *ops);
    bool ok = load && ops;
    if (ok) {
        list_loads(f, load);
        for (uint32_t i = 0; i < n; i++) ops[i] = i;
        arn_sort_by_key(ops, n, load, ops + n);
        ok = bound_by_cuts(f, load, ops);
    }
    ARN_RELEASE(a, load, ops);
    return ok;
}

/* Decides one limit. */
static arn_search_result try_limit(optimizer *f, uint64_t limit, uint64_t effort) {
    uint32_t direction;
    const arn_search_result answer =
        arn_schedule_search(f->directions, limit, effort, f->ops, &direction);
    if (answer == ARN_SEARCH_FOUND) {
        keep_if_better(f, arn_schedule_cost_of(&f->directions[0].state, f->ops).peak);
    } else if (answer == ARN_SEARCH_EXHAUSTED) {
        f->best->bound = f->directions[direction].least_rejected;
        if (!prove_search(f->directions, direction, &f->proof)) return ARN_SEARCH_NO_MEMORY;
    }
    return answer;
}

/* Hill climbing and windows in turn, while they improve the best schedule. */
static bool improve(optimizer *f, uint64_t per_op) {
    arn_direction *s = &f->directions[0];
    arenaut_order *best = f->best;
    const arn_window_budget budget = {per_op, f->effort / SHARE_OF_WINDOWS};
    const uint64_t effort = f->effort / SHARE_OF_CUTS;
    uint64_t before = UINT64_MAX;
    while (best->peak < before && best->peak > best->bound) {
        before = best->peak;
        if (!arn_schedule_uncross(&s->state, &s->cut, best->bound, effort, best->ops) ||
            !arn_schedule_search_windows(f->directions, budget, best->bound, best->ops, f->ops)) {
            return false;
        }
        best->peak = arn_schedule_cost_of(&s->state, best->ops).peak;
        arn_schedule_keep_near(best, best->ops, best->peak);
        if (arn_schedule_spent(f->directions) > f->end || arn_budget_ended(f->budget)) break;
    }
    return true;
}

/* The limits between the bounds, in eighths: bisection while searches are decided, else near the
 * ends, where they are easier. */
static const unsigned eighths[] = {4, 7, 1};

/* Tries limits, each within this effort, until none is decided. The lower bound itself comes first:
 * it is often reached. */
static bool search_limits(optimizer *f, uint64_t each) {
    const arenaut_order *best = f->best;
    const unsigned n = sizeof eighths / sizeof *eighths;
    uint64_t limit = best->bound;
    unsigned next = 0;
    while (next <= n && best->bound < best->peak && goes_on(f)) {
        const uint64_t left = f->end - arn_schedule_spent(f->directions);
        const arn_search_result answer = try_limit(f, limit, arn_min_u64(each, left));
        if (answer == ARN_SEARCH_NO_MEMORY) return false;
        if (answer != ARN_SEARCH_BUDGET_SPENT) next = 0;
        if (next == n) break;
        const uint64_t range = best->peak - best->bound - 1;
        limit = best->bound + range / 8 * eighths[next] + range % 8 * eighths[next] / 8;
        next++;
    }
    return true;
}

/* Windows and limits in turn, with growing effort, until they meet. */
static bool search(optimizer *f) {
    uint64_t each = f->effort / FIRST_SHARE + 1, per_op = WORK_PER_OP;
    while (f->best->bound < f->best->peak && goes_on(f)) {
        if (!improve(f, per_op) || !search_limits(f, each)) return false;
        each *= 4;
        per_op *= 4;
    }
    return true;
}

static void swap_others(optimizer *f) {
    uint32_t *const ops = f->best->ops;
    f->best->ops = f->others;
    f->others = ops;
    f->best->peak = arn_schedule_cost_of(&f->directions[0].state, f->best->ops).peak;
}

/* The same from where annealing began, with so much effort more. */
static bool search_with(optimizer *f, uint64_t effort) {
    f->effort = effort;
    f->end = arn_schedule_spent(f->directions) + effort;
    return search(f);
}

/* Schedules of windows alone keep more of the given order than annealed ones, so that layouts of
 * them waste less: one may need fewer bytes, though its peak is higher. So there is one of these,
 * too; with more effort, where windows come close at all. */
static bool search_others(optimizer *f) {
    enum { PARTS = 2 };
    const uint64_t annealed = f->best->peak, whole = f->effort;
    if (!f->others) return true;
    swap_others(f);
    const bool ok =
        search_with(f, whole / SHARE_OF_FIRST_WINDOWS) &&
        (is_far_from_bound(f->best, PARTS) || search_with(f, whole / SHARE_OF_MORE_WINDOWS));
    if (annealed <= f->best->peak) swap_others(f);
    return ok;
}

/* Near-optimal schedules, one of which may pack into a smaller arena. */
static void find_near(optimizer *f) {
    arenaut_order *best = f->best;
    memcpy(f->ops, best->ops, best->n_ops * sizeof *f->ops);
    arn_schedule_settle(&f->directions[0].state, best->peak, f->ops);
    arn_schedule_keep_near(best, f->ops,
                           arn_schedule_cost_of(&f->directions[0].state, f->ops).peak);
    arn_schedule_trim_near(best);
    if (!f->others) return;
    arn_schedule_add_near(best, f->others,
                          arn_schedule_cost_of(&f->directions[0].state, f->others).peak);
}

static bool find(optimizer *f) {
    if (!try_heuristics(f)) return false;
    if (!f->has_heuristics || f->best->n_ops == 0) return true;
    if (!find_bound(f) || !uncross_heuristics(f) || !anneal(f)) return false;
    if (!search(f) || !search_others(f)) return false;
    find_near(f);
    return true;
}

static bool allocate(optimizer *f, const arenaut_allocator *allocator, uint32_t n_ops) {
    arenaut_order *best = arn_allocate_zeroed(allocator, 1, sizeof *best);
    f->best = best;
    if (!best) return false;
    best->allocator = arn_allocator_or_default(allocator);
    best->n_ops = n_ops;
    best->peak = UINT64_MAX;
    best->ops = arn_allocate(allocator, n_ops, sizeof *best->ops);
    f->ops = arn_allocate(allocator, n_ops, sizeof *f->ops);
    f->proof.allocator = best->allocator;
    best->near = arn_allocate(allocator, n_ops, ARN_SCHEDULE_MAX_NEAR * sizeof *best->near);
    best->near_peak = arn_allocate(allocator, ARN_SCHEDULE_MAX_NEAR, sizeof *best->near_peak);
    return best->ops && f->ops && best->near && best->near_peak;
}

/* Whether ops use the buffers of their rights; checked here since it needs the graph. */
static arenaut_status validate_rights(const arn_schedule_graph *g, arenaut_error *err) {
    for (uint32_t i = 0; i < g->problem->n_rights; i++) {
        const arenaut_order_right *r = &g->problem->rights[i];
        uint32_t found = 0;
        for (uint32_t k = g->uses.begin[r->op]; k < g->uses.begin[r->op + 1]; k++) {
            found += g->uses.ids[k] == r->made || g->uses.ids[k] == r->over;
        }
        if (found == 2) continue;
        return arn_fail(err, ARENAUT_BAD_ARGUMENT, 0,
                        "right %" PRIu32 " names a buffer that its op does not use", i);
    }
    return ARENAUT_OK;
}

/* Stopped before all heuristics have completed. */
static arenaut_status stopped(arenaut_error *err) {
    return arn_fail(err, ARENAUT_STOPPED, 0,
                    "the search was stopped before all heuristics had completed");
}

arenaut_status arn_order_find(const arenaut_order_problem *problem, arn_budget *budget,
                              const arenaut_allocator *allocator, arenaut_order **out,
                              arenaut_error *err) {
    optimizer f = {.budget = budget, .effort = budget->effort ? budget->effort : DEFAULT_EFFORT};
    f.end = f.effort;
    arenaut_status st = arn_schedule_validate(problem, err);
    if (st == ARENAUT_OK) st = arn_directions_make(problem, budget, allocator, f.directions, err);
    if (st != ARENAUT_OK) return st;
    st = validate_rights(&f.directions[0].graph, err);
    if (st == ARENAUT_OK && (!allocate(&f, allocator, problem->n_ops) || !find(&f))) {
        st = arn_no_memory(err);
    }
    if (st == ARENAUT_OK && !f.has_heuristics) st = stopped(err);
    if (f.best) {
        f.best->lines = f.proof.lines;
        f.best->n_lines = f.proof.n;
        f.best->effort = arn_schedule_spent(f.directions);
    }
    if (st == ARENAUT_OK) *out = f.best;
    else arenaut_order_free(f.best);
    ARN_RELEASE(allocator, f.ops, f.others);
    arn_directions_free(f.directions);
    return st;
}

arenaut_status arenaut_order_find(const arenaut_order_problem *problem,
                                  const arenaut_order_options *options,
                                  const arenaut_allocator *allocator, arenaut_order **out,
                                  arenaut_error *err) {
    static const arenaut_order_options standard = {0};
    const arenaut_order_options *o = options ? options : &standard;
    arn_budget budget = arn_budget_make(o->effort, o->progress, o->progress_context);
    return arn_order_find(problem, &budget, allocator, out, err);
}
