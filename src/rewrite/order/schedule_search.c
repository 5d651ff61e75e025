/* Branch and bound on the peak: is there a schedule with all loads at most a limit? Bidirectional
 * best-first search over partial schedules, with dominance and memoization.
 *
 * Dominance: live bytes are a submodular function of the set of executed ops. So of the ops since
 * an earlier state, the subset, closed under predecessors, that leaves the least live bytes can run
 * first in any schedule from that state, and no load increases: it is committed, and all other
 * branches are pruned. Memoization: states with the same set of executed ops are one node, as in
 * dynamic programming over downsets (Ahn et al. 2020). */
#include "rewrite/order/schedule_search.h"

#include <string.h>

#include "core/checked.h"
#include "core/fail.h"
#include "core/memory.h"
#include "core/hash.h"
#include "core/sort.h"

static void free_tree(arn_search_tree *t) {
    void *const blocks[] = {t->parent, t->n_ran,   t->level, t->first, t->dominant, t->live,
                            t->key,    t->ops.ids, t->heap,  t->slots, t->path.ids};
    if (!t->state) return;
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        arn_release(&t->state->graph->allocator, blocks[i]);
    }
}

static bool make_room(arn_search_tree *t) {
    const arenaut_allocator *a = &t->state->graph->allocator;
    const uint64_t n = (uint64_t)t->n + 1;
    uint32_t *room = t->capacity;
    return arn_grow(a, (void **)&t->parent, &room[0], n, sizeof *t->parent) &&
           arn_grow(a, (void **)&t->n_ran, &room[1], n, sizeof *t->n_ran) &&
           arn_grow(a, (void **)&t->level, &room[2], n, sizeof *t->level) &&
           arn_grow(a, (void **)&t->first, &room[3], n, sizeof *t->first) &&
           arn_grow(a, (void **)&t->dominant, &room[4], n, sizeof *t->dominant) &&
           arn_grow(a, (void **)&t->live, &room[5], n, sizeof *t->live) &&
           arn_grow(a, (void **)&t->key, &room[6], n, sizeof *t->key);
}

static void put_slot(arn_search_tree *t, uint32_t node) {
    uint32_t at = (uint32_t)t->key[node] & (t->n_slots - 1);
    while (t->slots[at] != ARENAUT_NONE) at = (at + 1) & (t->n_slots - 1);
    t->slots[at] = node;
}

/* At most half of the slots are occupied. */
static bool grow_slots(arn_search_tree *t) {
    if ((uint64_t)t->n * 2 < t->n_slots) return true;
    const uint32_t n = t->n_slots == 0 ? 64 : t->n_slots * 2;
    uint32_t *slots = n == 0 ? NULL : arn_allocate(&t->state->graph->allocator, n, sizeof *slots);
    if (!slots) return false;
    arn_release(&t->state->graph->allocator, t->slots);
    t->slots = slots;
    t->n_slots = n;
    memset(slots, 0xFF, n * sizeof *slots);
    for (uint32_t i = 0; i < t->n; i++) {
        if (!arn_search_tree_is_duplicate(t, i)) put_slot(t, i);
    }
    return true;
}

/* ---- open list, a binary heap ---- */

/* Fewest live bytes first; then more executed ops, then the older node. */
static bool is_better(const arn_search_tree *t, uint32_t a, uint32_t b) {
    if (t->live[a] != t->live[b]) return t->live[a] < t->live[b];
    if (t->n_ran[a] != t->n_ran[b]) return t->n_ran[a] > t->n_ran[b];
    return a < b;
}

static bool push_heap(arn_search_tree *t, uint32_t node) {
    if (!arn_grow(&t->state->graph->allocator, (void **)&t->heap, &t->heap_capacity,
                  (uint64_t)t->n_heap + 1, sizeof *t->heap)) {
        return false;
    }
    uint32_t at = t->n_heap++;
    for (; at > 0 && is_better(t, node, t->heap[(at - 1) / 2]); at = (at - 1) / 2) {
        t->heap[at] = t->heap[(at - 1) / 2];
    }
    t->heap[at] = node;
    return true;
}

static uint32_t take_best(arn_search_tree *t) {
    if (t->n_heap == 0) return ARENAUT_NONE;
    const uint32_t best = t->heap[0], last = t->heap[--t->n_heap];
    uint32_t at = 0;
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= t->n_heap) break;
        if (child + 1 < t->n_heap && is_better(t, t->heap[child + 1], t->heap[child])) child++;
        if (!is_better(t, t->heap[child], last)) break;
        t->heap[at] = t->heap[child];
        at = child;
    }
    t->heap[at] = last;
    return best;
}

/* ---- nodes ---- */

static bool push_node(arn_search_tree *t, uint32_t parent, uint64_t key) {
    if (!make_room(t) || !grow_slots(t)) return false;
    const uint32_t node = t->n++;
    t->parent[node] = parent;
    t->n_ran[node] = t->state->n_ran;
    t->level[node] = parent == ARENAUT_NONE ? 0 : t->level[parent] + 1;
    t->first[node] = t->ops.n;
    t->dominant[node] = ARENAUT_NONE;
    t->live[node] = t->state->live;
    t->key[node] = key;
    return true;
}

static bool plant_tree(arn_search_tree *t, arn_schedule_state *state) {
    t->state = state;
    t->n = t->n_heap = t->now = t->ops.n = 0;
    if (t->slots) memset(t->slots, 0xFF, t->n_slots * sizeof *t->slots);
    if (!push_node(t, ARENAUT_NONE, 0)) return false;
    put_slot(t, 0);
    return push_heap(t, 0);
}

static bool add_ops(arn_search_tree *t) {
    const arn_schedule_state *s = t->state;
    for (uint32_t i = t->n_ran[t->now]; i < s->n_ran; i++) {
        if (!arn_id_list_push(&t->ops, &s->graph->allocator, s->ran[i])) return false;
    }
    return true;
}

static bool add_node(arn_search_tree *t, uint64_t key) {
    if (!push_node(t, t->now, key) || !add_ops(t)) return false;
    put_slot(t, t->n - 1);
    return push_heap(t, t->n - 1);
}

static bool add_duplicate(arn_search_tree *t, uint32_t node) {
    if (!push_node(t, t->now, t->key[node]) || !add_ops(t)) return false;
    t->dominant[t->n - 1] = node;
    return true;
}

static uint64_t number_for(uint32_t op) {
    uint64_t seed = op;
    return arn_random_next(&seed);
}

uint64_t arn_search_tree_key(const arn_search_tree *t) {
    uint64_t key = t->key[t->now];
    for (uint32_t i = t->n_ran[t->now]; i < t->state->n_ran; i++) {
        key ^= number_for(t->state->ran[i]);
    }
    return key;
}

uint32_t arn_search_tree_find(const arn_search_tree *t, uint64_t key) {
    for (uint32_t at = (uint32_t)key & (t->n_slots - 1);; at = (at + 1) & (t->n_slots - 1)) {
        const uint32_t node = t->slots[at];
        if (node == ARENAUT_NONE) return node;
        if (t->key[node] == key && t->n_ran[node] == t->state->n_ran) return node;
    }
}

void arn_search_tree_return(arn_search_tree *t) { arn_schedule_undo(t->state, t->n_ran[t->now]); }

/* Backtracks to the common ancestor and replays the ops from there. */
bool arn_search_tree_stand_at(arn_search_tree *t, uint32_t node) {
    uint32_t up = t->now;
    t->path.n = 0;
    for (uint32_t at = node; at != up;) {
        if (t->level[at] < t->level[up]) {
            up = t->parent[up];
        } else {
            if (!arn_id_list_push(&t->path, &t->state->graph->allocator, at)) return false;
            at = t->parent[at];
        }
    }
    arn_schedule_undo(t->state, t->n_ran[up]);
    for (uint32_t i = t->path.n; i-- > 0;) {
        const uint32_t at = t->path.ids[i], n = t->n_ran[at] - t->n_ran[t->parent[at]];
        for (uint32_t k = 0; k < n; k++) arn_schedule_run(t->state, t->ops.ids[t->first[at] + k]);
    }
    t->now = node;
    return true;
}

/* ---- a direction and its committed prefix ---- */

static arenaut_status make_direction(arn_direction *direction, const arenaut_order_problem *problem,
                                     arn_budget *budget, bool backward,
                                     const arenaut_allocator *allocator, arenaut_error *err) {
    arenaut_status st =
        arn_schedule_graph_make(problem, backward, allocator, &direction->graph, err);
    if (st != ARENAUT_OK) return st;
    st = arn_schedule_state_make(&direction->graph, budget, &direction->state, err);
    return st == ARENAUT_OK ? arn_mincut_make(&direction->graph, budget, &direction->cut, err) : st;
}

static void free_direction(arn_direction *direction) {
    const arenaut_allocator *a = &direction->graph.allocator;
    if (!direction->graph.problem) return;
    ARN_RELEASE(a, direction->steps.ids, direction->subset.ids, direction->branches.ids);
    free_tree(&direction->tree);
    free_tree(&direction->nearby);
    arn_mincut_free(&direction->cut);
    arn_schedule_state_free(&direction->state);
    arn_schedule_graph_free(&direction->graph);
}

arenaut_status arn_directions_make(const arenaut_order_problem *problem, arn_budget *budget,
                                   const arenaut_allocator *allocator, arn_direction directions[2],
                                   arenaut_error *err) {
    memset(directions, 0, 2 * sizeof *directions);
    arenaut_status st = make_direction(&directions[0], problem, budget, false, allocator, err);
    if (st == ARENAUT_OK)
        st = make_direction(&directions[1], problem, budget, true, allocator, err);
    directions[0].other = &directions[1];
    directions[1].other = &directions[0];
    if (st != ARENAUT_OK) arn_directions_free(directions);
    return st;
}

void arn_directions_free(arn_direction directions[2]) {
    free_direction(&directions[0]);
    free_direction(&directions[1]);
}

/* Whether an op is committed in the other direction. */
static bool is_taken(const arn_direction *d, uint32_t op) {
    return d->other->cut.role[op] == ARN_CUT_EARLIER;
}

/* Whether all ops have run, in one direction or the other. */
static bool is_complete(const arn_direction *d) {
    return d->state.n_ran + d->other->n_committed == d->graph.n_ops;
}

/* The safe op of least number, so that the sequence of the list does not matter; NONE: none. */
static uint32_t find_safe(const arn_direction *s) {
    const arn_schedule_state *state = &s->state;
    uint32_t found = ARENAUT_NONE;
    for (uint32_t i = 0; i < state->n_light; i++) {
        const uint32_t op = state->light[i];
        if (op > found || is_taken(s, op)) continue;
        if (arn_schedule_is_safe(state, op, s->limit)) found = op;
    }
    return found;
}

void arn_direction_run_safe(arn_direction *s) {
    for (uint32_t op = find_safe(s); op != ARENAUT_NONE; op = find_safe(s)) {
        arn_schedule_run(&s->state, op);
    }
}

static bool commit(arn_direction *s) {
    const arenaut_allocator *a = &s->graph.allocator;
    const uint32_t stepped = s->state.n_ran;
    if (stepped > s->n_committed && !arn_id_list_push(&s->steps, a, stepped)) return false;
    arn_direction_run_safe(s);
    for (uint32_t i = stepped; i < s->state.n_ran; i++) {
        if (!arn_id_list_push(&s->steps, a, i + 1)) return false;
    }
    for (uint32_t i = s->n_committed; i < s->state.n_ran; i++) {
        s->cut.role[s->state.ran[i]] = ARN_CUT_EARLIER;
    }
    s->n_committed = s->state.n_ran;
    return plant_tree(&s->tree, &s->state);
}

static void restart(arn_direction *s, uint64_t limit) {
    arn_schedule_undo(&s->state, 0);
    memset(s->cut.role, ARN_CUT_LATER, s->graph.n_ops);
    s->n_committed = 0;
    s->steps.n = 0;
    s->limit = limit;
    s->least_rejected = UINT64_MAX;
}

static bool by_number(const void *context, uint32_t a, uint32_t b) {
    (void)context;
    return a < b;
}

bool arn_direction_list_branches(arn_direction *s) {
    const arn_schedule_state *state = &s->state;
    const arenaut_allocator *a = &s->graph.allocator;
    const uint32_t from = s->branches.n;
    for (uint32_t i = 0; i < state->n_ready; i++) {
        const uint32_t op = state->ready[i];
        if (is_taken(s, op)) continue;
        const uint64_t load = arn_schedule_load(state, op);
        if (load > s->limit) s->least_rejected = arn_min_u64(s->least_rejected, load);
        else if (!arn_id_list_push(&s->branches, a, op)) return false;
    }
    const uint32_t n = s->branches.n - from;
    if (n == 0) return true;
    if (!arn_grow(a, (void **)&s->branches.ids, &s->branches.capacity, (uint64_t)from + 2 * n,
                  sizeof *s->branches.ids)) {
        return false;
    }
    arn_sort_ids(s->branches.ids + from, n, by_number, NULL, s->branches.ids + from + n);
    return true;
}

/* ---- dominance ---- */

static void set_roles(arn_direction *s, uint32_t from, uint32_t end, arn_cut_role role) {
    for (uint32_t i = from; i < end; i++) s->cut.role[s->state.ran[i]] = (uint8_t)role;
}

/* The live bytes among buffers of the subset. */
static uint64_t live_of_used(const arn_direction *s) {
    const arn_schedule_graph *g = &s->graph;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < s->cut.buffers.n; i++) {
        const uint32_t b = s->cut.buffers.ids[i];
        if (s->state.left[b] > 0 || (g->boundary[b] & ARENAUT_LIVE_OUT)) sum += g->size[b];
    }
    return sum;
}

/* Assigns the role EARLIER to the dominant subset: the minimum cut, or all if nothing leaves less.
 */
static bool choose_subset(arn_direction *s) {
    const uint32_t *ops = s->subset.ids, n = s->subset.n;
    uint64_t least = 0;
    for (uint32_t i = 0; i < n; i++) s->cut.role[ops[i]] = ARN_CUT_OPEN;
    if (n > 1 && !arn_mincut_solve(&s->cut, ops, n, &least)) return false;
    if (n > 1 && least < live_of_used(s)) return true;
    for (uint32_t i = 0; i < n; i++) s->cut.role[ops[i]] = ARN_CUT_EARLIER;
    return true;
}

/* Whether no other op loses its right to write over a buffer of `op`. */
static bool leaves_rights(const arn_direction *s, uint32_t op) {
    const arn_schedule_graph *g = &s->graph;
    for (uint32_t i = g->uses.begin[op]; i < g->uses.begin[op + 1]; i++) {
        const uint32_t b = g->uses.ids[i];
        if (!arn_schedule_is_unused(&s->state, b)) continue;
        for (uint32_t k = g->made_by.begin[b]; k < g->made_by.begin[b + 1]; k++) {
            if (s->cut.role[g->made_by.ids[k]] != ARN_CUT_EARLIER) return false;
        }
    }
    return true;
}

/* Runs the dominant subset, if its loads are within the limit. */
static bool run_chosen(arn_direction *s) {
    const uint32_t *ops = s->subset.ids;
    for (uint32_t i = 0; i < s->subset.n; i++) {
        if (s->cut.role[ops[i]] == ARN_CUT_EARLIER && !leaves_rights(s, ops[i])) return false;
    }
    for (uint32_t i = 0; i < s->subset.n; i++) {
        if (s->cut.role[ops[i]] != ARN_CUT_EARLIER) continue;
        if (arn_schedule_load(&s->state, ops[i]) > s->limit) return false;
        arn_schedule_run(&s->state, ops[i]);
    }
    return true;
}

static bool run_dominant(arn_direction *s, const arn_search_tree *tree, bool *ran) {
    const uint32_t from = tree->n_ran[0], n = s->state.n_ran - from;
    s->subset.n = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (!arn_id_list_push(&s->subset, &s->graph.allocator, s->state.ran[from + i]))
            return false;
    }
    set_roles(s, s->n_committed, from, ARN_CUT_EARLIER);
    const bool ok = choose_subset(s);
    arn_schedule_undo(&s->state, from);
    *ran = ok && run_chosen(s);
    for (uint32_t i = 0; i < n; i++) s->cut.role[s->subset.ids[i]] = ARN_CUT_LATER;
    set_roles(s, s->n_committed, from, ARN_CUT_LATER);
    if (*ran) return true;
    arn_schedule_undo(&s->state, from);
    for (uint32_t i = 0; i < n; i++) arn_schedule_run(&s->state, s->subset.ids[i]);
    return ok;
}

/* ---- search ---- */

/* As soon as a state has no more live bytes than the committed prefix, its dominant subset extends
 * the prefix, and the open list is dropped. The same is tried by a small lookahead from each
 * expanded node: a dominant subset there is the only child that needs to be explored. */

typedef enum outcome { OPEN, COMMITTED, COMPLETE, EXHAUSTED, NO_MEMORY } outcome;

enum {
    LOOKAHEAD_NODES = 24, /* expanded around a node */
    FIRST_SPENT = 2000,   /* in one direction, before it is the other's turn */
};

uint64_t arn_schedule_spent(const arn_direction directions[2]) {
    uint64_t spent = 0;
    for (int i = 0; i < 2; i++) spent += directions[i].state.spent + directions[i].cut.spent / 8;
    return spent;
}

/* Extends the state at its node by `op`. */
static outcome try_op(arn_direction *s, arn_search_tree *t, uint32_t op) {
    arn_schedule_run(&s->state, op);
    arn_direction_run_safe(s);
    if (is_complete(s)) return COMPLETE;
    const uint64_t key = arn_search_tree_key(t);
    if (arn_search_tree_find(t, key) == ARENAUT_NONE) {
        bool ran = false;
        if (s->state.live <= t->live[0] && !run_dominant(s, t, &ran)) return NO_MEMORY;
        if (ran) return COMMITTED;
        if (!add_node(t, key)) return NO_MEMORY;
    }
    arn_search_tree_return(t);
    return OPEN;
}

/* All branches of the state. */
static outcome expand(arn_direction *s, arn_search_tree *t) {
    s->branches.n = 0;
    if (!arn_direction_list_branches(s)) return NO_MEMORY;
    for (uint32_t i = 0; i < s->branches.n; i++) {
        const outcome found = try_op(s, t, s->branches.ids[i]);
        if (found != OPEN) return found;
    }
    return OPEN;
}

/* Searches for a dominant subset near the state. */
static outcome look_ahead(arn_direction *s) {
    arn_search_tree *t = &s->nearby;
    outcome found = OPEN;
    if (!plant_tree(t, &s->state)) return NO_MEMORY;
    for (int i = 0; i < LOOKAHEAD_NODES && found == OPEN; i++) {
        const uint32_t node = take_best(t);
        if (node == ARENAUT_NONE) break;
        if (!arn_search_tree_stand_at(t, node)) return NO_MEMORY;
        found = expand(s, t);
    }
    if (found == OPEN) arn_schedule_undo(&s->state, t->n_ran[0]);
    return found;
}

/* Adds the present state as the only child of the node. */
static outcome follow_dominant(arn_direction *s, uint32_t node) {
    arn_search_tree *t = &s->tree;
    bool ran = false;
    arn_direction_run_safe(s);
    if (is_complete(s)) return COMPLETE;
    if (s->state.live <= t->live[0] && !run_dominant(s, t, &ran)) return NO_MEMORY;
    if (ran) return COMMITTED;
    const uint64_t key = arn_search_tree_key(t);
    const uint32_t found = arn_search_tree_find(t, key);
    if (found == ARENAUT_NONE ? !add_node(t, key) : !add_duplicate(t, found)) {
        return NO_MEMORY;
    }
    t->dominant[node] = t->n - 1;
    arn_search_tree_return(t);
    return OPEN;
}

/* Expands the best open node: by a dominant subset nearby, else by all branches. */
static outcome expand_best(arn_direction *s) {
    arn_search_tree *t = &s->tree;
    const uint32_t node = take_best(t);
    if (node == ARENAUT_NONE) return EXHAUSTED;
    if (!arn_search_tree_stand_at(t, node)) return NO_MEMORY;
    const outcome found = look_ahead(s);
    if (found == COMMITTED) return follow_dominant(s, node);
    return found == OPEN ? expand(s, t) : found;
}

/* Expands nodes until this effort is spent. */
static outcome expand_for(arn_direction *s, uint64_t spent) {
    const uint64_t end = s->state.spent + spent;
    outcome found = OPEN;
    while (s->state.spent < end && found == OPEN && !arn_budget_ended(s->state.budget)) {
        found = expand_best(s);
    }
    return found;
}

/* The other direction has committed more ops, which this one may no longer run. */
static outcome drop_tree(arn_direction *s) {
    arn_schedule_undo(&s->state, s->n_committed);
    if (!commit(s)) return NO_MEMORY;
    return is_complete(s) ? COMPLETE : OPEN;
}

/* Commits the executed ops. */
static outcome step(arn_direction *s, arn_direction *other) {
    if (!commit(s)) return NO_MEMORY;
    return is_complete(s) ? COMPLETE : drop_tree(other);
}

/* Both directions in turn, with growing slices of effort, until one is decided. */
static outcome search(arn_direction directions[2], uint64_t effort, uint32_t *direction) {
    uint64_t spent = FIRST_SPENT;
    for (*direction = 0;; *direction = 1 - *direction) {
        arn_direction *s = &directions[*direction], *other = &directions[1 - *direction];
        outcome found = expand_for(s, spent);
        if (found == COMMITTED) {
            spent = FIRST_SPENT;
            found = step(s, other);
        } else if (*direction == 1) {
            spent += spent / 2;
        }
        if (found != OPEN) return found;
        if (arn_schedule_spent(directions) > effort || arn_budget_ended(s->state.budget))
            return OPEN;
    }
}

static void write_schedule(const arn_direction directions[2], uint32_t direction, uint32_t *ops) {
    const uint32_t n = directions[0].graph.n_ops;
    const uint32_t front = direction == 0 ? directions[0].state.n_ran : directions[0].n_committed;
    memcpy(ops, directions[0].state.ran, front * sizeof *ops);
    for (uint32_t i = front; i < n; i++) ops[i] = directions[1].state.ran[n - 1 - i];
}

/* Searches between the committed prefix and suffix. */
static arn_search_result search_between(arn_direction directions[2], uint64_t effort, uint32_t *ops,
                                        uint32_t *direction) {
    outcome found = OPEN;
    for (int i = 0; i < 2; i++) {
        if (!commit(&directions[i])) return ARN_SEARCH_NO_MEMORY;
    }
    *direction = 1;
    if (is_complete(&directions[1])) found = COMPLETE;
    if (found == OPEN)
        found = search(directions, arn_schedule_spent(directions) + effort, direction);
    switch (found) {
        case COMPLETE: write_schedule(directions, *direction, ops); return ARN_SEARCH_FOUND;
        case EXHAUSTED: return ARN_SEARCH_EXHAUSTED;
        case NO_MEMORY: return ARN_SEARCH_NO_MEMORY;
        default: return ARN_SEARCH_BUDGET_SPENT;
    }
}

arn_search_result arn_schedule_search(arn_direction directions[2], uint64_t limit, uint64_t effort,
                                      uint32_t *ops, uint32_t *direction) {
    for (int i = 0; i < 2; i++) restart(&directions[i], limit);
    return search_between(directions, effort, ops, direction);
}

/* Commits `n` ops without proof. */
static void fix_ops(arn_direction *s, const uint32_t *ops, uint32_t n, bool backward) {
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t op = backward ? *--ops : *ops++;
        arn_schedule_run(&s->state, op);
        s->cut.role[op] = ARN_CUT_EARLIER;
    }
    s->n_committed = n;
}

arn_search_result arn_schedule_search_window(arn_direction directions[2], uint64_t limit,
                                             uint64_t effort, arn_schedule_window window,
                                             uint32_t *ops) {
    const uint32_t n = directions[0].graph.n_ops;
    uint32_t direction;
    for (int i = 0; i < 2; i++) restart(&directions[i], limit);
    fix_ops(&directions[0], window.ops, window.from, false);
    fix_ops(&directions[1], window.ops + n, n - window.end, true);
    return search_between(directions, effort, ops, &direction);
}
