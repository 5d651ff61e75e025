/* Going from one state to another, finding equal ones, taking the best. */
#include "rewrite/order/schedule_search.h"

#include <string.h>

#include "core/checked.h"
#include "core/fail.h"
#include "core/memory.h"
#include "core/random.h"
#include "core/sort.h"

void arn_order_tree_free(arn_order_tree *t) {
    void *const blocks[] = {t->parent, t->n_ran,   t->level, t->first, t->ahead,  t->live,
                            t->key,    t->ops.ids, t->heap,  t->slots, t->way.ids};
    if (!t->state) return;
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        arn_release(&t->state->graph->allocator, blocks[i]);
    }
}

static bool make_room(arn_order_tree *t) {
    const arenaut_allocator *a = &t->state->graph->allocator;
    const uint64_t n = (uint64_t)t->n + 1;
    uint32_t *room = t->capacity;
    return arn_grow(a, (void **)&t->parent, &room[0], n, sizeof *t->parent) &&
           arn_grow(a, (void **)&t->n_ran, &room[1], n, sizeof *t->n_ran) &&
           arn_grow(a, (void **)&t->level, &room[2], n, sizeof *t->level) &&
           arn_grow(a, (void **)&t->first, &room[3], n, sizeof *t->first) &&
           arn_grow(a, (void **)&t->ahead, &room[4], n, sizeof *t->ahead) &&
           arn_grow(a, (void **)&t->live, &room[5], n, sizeof *t->live) &&
           arn_grow(a, (void **)&t->key, &room[6], n, sizeof *t->key);
}

static void put_slot(arn_order_tree *t, uint32_t node) {
    uint32_t at = (uint32_t)t->key[node] & (t->n_slots - 1);
    while (t->slots[at] != ARENAUT_NONE) at = (at + 1) & (t->n_slots - 1);
    t->slots[at] = node;
}

/* At most half of the slots are taken. */
static bool grow_slots(arn_order_tree *t) {
    if ((uint64_t)t->n * 2 < t->n_slots) return true;
    const uint32_t n = t->n_slots == 0 ? 64 : t->n_slots * 2;
    uint32_t *slots = n == 0 ? NULL : arn_allocate(&t->state->graph->allocator, n, sizeof *slots);
    if (!slots) return false;
    arn_release(&t->state->graph->allocator, t->slots);
    t->slots = slots;
    t->n_slots = n;
    memset(slots, 0xFF, n * sizeof *slots);
    for (uint32_t i = 0; i < t->n; i++) {
        if (!arn_order_tree_is_again(t, i)) put_slot(t, i);
    }
    return true;
}

/* ---- the heap ---- */

/* Least alive first; of equals that in which more has run, then the older one. */
static bool is_better(const arn_order_tree *t, uint32_t a, uint32_t b) {
    if (t->live[a] != t->live[b]) return t->live[a] < t->live[b];
    if (t->n_ran[a] != t->n_ran[b]) return t->n_ran[a] > t->n_ran[b];
    return a < b;
}

static bool push_heap(arn_order_tree *t, uint32_t node) {
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

uint32_t arn_order_tree_take_best(arn_order_tree *t) {
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

static bool add(arn_order_tree *t, uint32_t parent, uint64_t key) {
    if (!make_room(t) || !grow_slots(t)) return false;
    const uint32_t node = t->n++;
    t->parent[node] = parent;
    t->n_ran[node] = t->state->n_ran;
    t->level[node] = parent == ARENAUT_NONE ? 0 : t->level[parent] + 1;
    t->first[node] = t->ops.n;
    t->ahead[node] = ARENAUT_NONE;
    t->live[node] = t->state->live;
    t->key[node] = key;
    return true;
}

bool arn_order_tree_plant(arn_order_tree *t, arn_order_state *state) {
    t->state = state;
    t->n = t->n_heap = t->now = t->ops.n = 0;
    if (t->slots) memset(t->slots, 0xFF, t->n_slots * sizeof *t->slots);
    if (!add(t, ARENAUT_NONE, 0)) return false;
    put_slot(t, 0);
    return push_heap(t, 0);
}

static bool add_ops(arn_order_tree *t) {
    const arn_order_state *s = t->state;
    for (uint32_t i = t->n_ran[t->now]; i < s->n_ran; i++) {
        if (!arn_id_list_push(&t->ops, &s->graph->allocator, s->ran[i])) return false;
    }
    return true;
}

bool arn_order_tree_add(arn_order_tree *t, uint64_t key) {
    if (!add(t, t->now, key) || !add_ops(t)) return false;
    put_slot(t, t->n - 1);
    return push_heap(t, t->n - 1);
}

bool arn_order_tree_add_again(arn_order_tree *t, uint32_t node) {
    if (!add(t, t->now, t->key[node]) || !add_ops(t)) return false;
    t->ahead[t->n - 1] = node;
    return true;
}

static uint64_t number_for(uint32_t op) {
    uint64_t seed = op;
    return arn_random_next(&seed);
}

uint64_t arn_order_tree_key(const arn_order_tree *t) {
    uint64_t key = t->key[t->now];
    for (uint32_t i = t->n_ran[t->now]; i < t->state->n_ran; i++) {
        key ^= number_for(t->state->ran[i]);
    }
    return key;
}

uint32_t arn_order_tree_find(const arn_order_tree *t, uint64_t key) {
    for (uint32_t at = (uint32_t)key & (t->n_slots - 1);; at = (at + 1) & (t->n_slots - 1)) {
        const uint32_t node = t->slots[at];
        if (node == ARENAUT_NONE) return node;
        if (t->key[node] == key && t->n_ran[node] == t->state->n_ran) return node;
    }
}

void arn_order_tree_return(arn_order_tree *t) { arn_order_take_back(t->state, t->n_ran[t->now]); }

/* Steps from the node that both come from are played again. */
bool arn_order_tree_stand_at(arn_order_tree *t, uint32_t node) {
    uint32_t up = t->now;
    t->way.n = 0;
    for (uint32_t at = node; at != up;) {
        if (t->level[at] < t->level[up]) {
            up = t->parent[up];
        } else {
            if (!arn_id_list_push(&t->way, &t->state->graph->allocator, at)) return false;
            at = t->parent[at];
        }
    }
    arn_order_take_back(t->state, t->n_ran[up]);
    for (uint32_t i = t->way.n; i-- > 0;) {
        const uint32_t at = t->way.ids[i], n = t->n_ran[at] - t->n_ran[t->parent[at]];
        for (uint32_t k = 0; k < n; k++) arn_order_run(t->state, t->ops.ids[t->first[at] + k]);
    }
    t->now = node;
    return true;
}

/* ======== */
/* A side, and what runs there for good: what is alive is submodular, so if a part of the ops since
 * some state leaves least alive of all parts, any order that goes on from that state may run that
 * part first, and has no more alive at any time than before. */

static arenaut_status make_side(arn_order_side *side, const arenaut_order_problem *problem,
                                arn_budget *budget, bool backward,
                                const arenaut_allocator *allocator, arenaut_error *err) {
    arenaut_status st = arn_order_graph_make(problem, backward, allocator, &side->graph, err);
    if (st != ARENAUT_OK) return st;
    st = arn_order_state_make(&side->graph, budget, &side->state, err);
    return st == ARENAUT_OK ? arn_order_cut_make(&side->graph, budget, &side->cut, err) : st;
}

static void free_side(arn_order_side *side) {
    const arenaut_allocator *a = &side->graph.allocator;
    if (!side->graph.problem) return;
    arn_release(a, side->steps.ids);
    arn_release(a, side->part.ids);
    arn_release(a, side->allowed.ids);
    arn_order_tree_free(&side->tree);
    arn_order_tree_free(&side->near);
    arn_order_cut_free(&side->cut);
    arn_order_state_free(&side->state);
    arn_order_graph_free(&side->graph);
}

arenaut_status arn_order_sides_make(const arenaut_order_problem *problem, arn_budget *budget,
                                    const arenaut_allocator *allocator, arn_order_side sides[2],
                                    arenaut_error *err) {
    memset(sides, 0, 2 * sizeof *sides);
    arenaut_status st = make_side(&sides[0], problem, budget, false, allocator, err);
    if (st == ARENAUT_OK) st = make_side(&sides[1], problem, budget, true, allocator, err);
    sides[0].other = &sides[1];
    sides[1].other = &sides[0];
    if (st != ARENAUT_OK) arn_order_sides_free(sides);
    return st;
}

void arn_order_sides_free(arn_order_side sides[2]) {
    free_side(&sides[0]);
    free_side(&sides[1]);
}

/* The safe op with the least number, so that it does not matter how they are listed; NONE: none. */
static uint32_t find_safe(const arn_order_side *s) {
    const arn_order_state *state = &s->state;
    uint32_t found = ARENAUT_NONE;
    for (uint32_t i = 0; i < state->n_light; i++) {
        const uint32_t op = state->light[i];
        if (op > found || arn_order_is_taken(s, op)) continue;
        if (arn_order_is_safe(state, op, s->limit)) found = op;
    }
    return found;
}

void arn_order_run_safe(arn_order_side *s) {
    for (uint32_t op = find_safe(s); op != ARENAUT_NONE; op = find_safe(s)) {
        arn_order_run(&s->state, op);
    }
}

bool arn_order_side_rebase(arn_order_side *s) {
    const arenaut_allocator *a = &s->graph.allocator;
    const uint32_t stepped = s->state.n_ran;
    if (stepped > s->n_base && !arn_id_list_push(&s->steps, a, stepped)) return false;
    arn_order_run_safe(s);
    for (uint32_t i = stepped; i < s->state.n_ran; i++) {
        if (!arn_id_list_push(&s->steps, a, i + 1)) return false;
    }
    for (uint32_t i = s->n_base; i < s->state.n_ran; i++) {
        s->cut.role[s->state.ran[i]] = ARN_ORDER_EARLIER;
    }
    s->n_base = s->state.n_ran;
    return arn_order_tree_plant(&s->tree, &s->state);
}

void arn_order_side_restart(arn_order_side *s, uint64_t limit) {
    arn_order_take_back(&s->state, 0);
    memset(s->cut.role, ARN_ORDER_LATER, s->graph.n_ops);
    s->n_base = 0;
    s->steps.n = 0;
    s->limit = limit;
    s->least_over = UINT64_MAX;
}

static bool by_number(const void *context, uint32_t a, uint32_t b) {
    (void)context;
    return a < b;
}

bool arn_order_list_allowed(arn_order_side *s) {
    const arn_order_state *state = &s->state;
    const arenaut_allocator *a = &s->graph.allocator;
    const uint32_t from = s->allowed.n;
    for (uint32_t i = 0; i < state->n_ready; i++) {
        const uint32_t op = state->ready[i];
        if (arn_order_is_taken(s, op)) continue;
        const uint64_t load = arn_order_load(state, op);
        if (load > s->limit) s->least_over = arn_min_u64(s->least_over, load);
        else if (!arn_id_list_push(&s->allowed, a, op)) return false;
    }
    const uint32_t n = s->allowed.n - from;
    if (n == 0) return true;
    if (!arn_grow(a, (void **)&s->allowed.ids, &s->allowed.capacity, (uint64_t)from + 2 * n,
                  sizeof *s->allowed.ids)) {
        return false;
    }
    arn_sort_ids(s->allowed.ids + from, n, by_number, NULL, s->allowed.ids + from + n);
    return true;
}

/* ---- running a part for good ---- */

static void set_roles(arn_order_side *s, uint32_t from, uint32_t end, arn_order_role role) {
    for (uint32_t i = from; i < end; i++) s->cut.role[s->state.ran[i]] = (uint8_t)role;
}

/* Sizes of what the ops of the part use and is alive now. */
static uint64_t live_of_used(const arn_order_side *s) {
    const arn_order_graph *g = &s->graph;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < s->cut.buffers.n; i++) {
        const uint32_t b = s->cut.buffers.ids[i];
        if (s->state.left[b] > 0 || (g->held[b] & ARENAUT_HELD_AFTER)) sum += g->size[b];
    }
    return sum;
}

/* Gives the ops that run for good the role EARLIER. */
static bool choose_part(arn_order_side *s) {
    const uint32_t *ops = s->part.ids, n = s->part.n;
    uint64_t least = 0;
    for (uint32_t i = 0; i < n; i++) s->cut.role[ops[i]] = ARN_ORDER_OPEN;
    if (n > 1 && !arn_order_cut_least(&s->cut, ops, n, &least)) return false;
    if (n > 1 && least < live_of_used(s)) return true;
    for (uint32_t i = 0; i < n; i++) s->cut.role[ops[i]] = ARN_ORDER_EARLIER;
    return true;
}

/* Whether no other op loses its right to write over what `op` uses. */
static bool leaves_rights(const arn_order_side *s, uint32_t op) {
    const arn_order_graph *g = &s->graph;
    for (uint32_t i = g->uses.begin[op]; i < g->uses.begin[op + 1]; i++) {
        const uint32_t b = g->uses.ids[i];
        if (!arn_order_untouched(&s->state, b)) continue;
        for (uint32_t k = g->made_by.begin[b]; k < g->made_by.begin[b + 1]; k++) {
            if (s->cut.role[g->made_by.ids[k]] != ARN_ORDER_EARLIER) return false;
        }
    }
    return true;
}

/* Runs the chosen ops, if that stays below the limit. */
static bool run_chosen(arn_order_side *s) {
    const uint32_t *ops = s->part.ids;
    for (uint32_t i = 0; i < s->part.n; i++) {
        if (s->cut.role[ops[i]] == ARN_ORDER_EARLIER && !leaves_rights(s, ops[i])) return false;
    }
    for (uint32_t i = 0; i < s->part.n; i++) {
        if (s->cut.role[ops[i]] != ARN_ORDER_EARLIER) continue;
        if (arn_order_load(&s->state, ops[i]) > s->limit) return false;
        arn_order_run(&s->state, ops[i]);
    }
    return true;
}

bool arn_order_run_part(arn_order_side *s, const arn_order_tree *tree, bool *ran) {
    const uint32_t from = tree->n_ran[0], n = s->state.n_ran - from;
    s->part.n = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (!arn_id_list_push(&s->part, &s->graph.allocator, s->state.ran[from + i])) return false;
    }
    set_roles(s, s->n_base, from, ARN_ORDER_EARLIER);
    const bool ok = choose_part(s);
    arn_order_take_back(&s->state, from);
    *ran = ok && run_chosen(s);
    for (uint32_t i = 0; i < n; i++) s->cut.role[s->part.ids[i]] = ARN_ORDER_LATER;
    set_roles(s, s->n_base, from, ARN_ORDER_LATER);
    if (*ran) return true;
    arn_order_take_back(&s->state, from);
    for (uint32_t i = 0; i < n; i++) arn_order_run(&s->state, s->part.ids[i]);
    return ok;
}

/* ======== */
/* Best first from both ends. As soon as a state has no more alive than the base, some of the ops in
 * between run for good, and the rest is forgotten. The same is tried near each state that is looked
 * at: what runs there for good stands for all that could. */

typedef enum outcome { GOES_ON, STEPPED, WHOLE, EXHAUSTED, NO_MEMORY } outcome;

enum {
    NEAR_NODES = 24,   /* looked at around a state */
    FIRST_WORK = 2000, /* of one side, before it is the other's turn */
};

uint64_t arn_order_work(const arn_order_side sides[2]) {
    uint64_t work = 0;
    for (int i = 0; i < 2; i++) work += sides[i].state.work + sides[i].cut.work / 8;
    return work;
}

/* Goes on with `op` from the node of the tree that the state stands at. */
static outcome go_on(arn_order_side *s, arn_order_tree *t, uint32_t op) {
    arn_order_run(&s->state, op);
    arn_order_run_safe(s);
    if (arn_order_is_whole(s)) return WHOLE;
    const uint64_t key = arn_order_tree_key(t);
    if (arn_order_tree_find(t, key) == ARENAUT_NONE) {
        bool ran = false;
        if (s->state.live <= t->live[0] && !arn_order_run_part(s, t, &ran)) return NO_MEMORY;
        if (ran) return STEPPED;
        if (!arn_order_tree_add(t, key)) return NO_MEMORY;
    }
    arn_order_tree_return(t);
    return GOES_ON;
}

/* Goes on from where the state stands in all ways. */
static outcome branch(arn_order_side *s, arn_order_tree *t) {
    s->allowed.n = 0;
    if (!arn_order_list_allowed(s)) return NO_MEMORY;
    for (uint32_t i = 0; i < s->allowed.n; i++) {
        const outcome found = go_on(s, t, s->allowed.ids[i]);
        if (found != GOES_ON) return found;
    }
    return GOES_ON;
}

/* Looks for ops that run for good where the state is. */
static outcome look_near(arn_order_side *s) {
    arn_order_tree *t = &s->near;
    outcome found = GOES_ON;
    if (!arn_order_tree_plant(t, &s->state)) return NO_MEMORY;
    for (int i = 0; i < NEAR_NODES && found == GOES_ON; i++) {
        const uint32_t node = arn_order_tree_take_best(t);
        if (node == ARENAUT_NONE) break;
        if (!arn_order_tree_stand_at(t, node)) return NO_MEMORY;
        found = branch(s, t);
    }
    if (found == GOES_ON) arn_order_take_back(&s->state, t->n_ran[0]);
    return found;
}

/* Goes on from the node of the tree, and only so, to where the state is now. */
static outcome go_ahead(arn_order_side *s, uint32_t node) {
    arn_order_tree *t = &s->tree;
    bool ran = false;
    arn_order_run_safe(s);
    if (arn_order_is_whole(s)) return WHOLE;
    if (s->state.live <= t->live[0] && !arn_order_run_part(s, t, &ran)) return NO_MEMORY;
    if (ran) return STEPPED;
    const uint64_t key = arn_order_tree_key(t);
    const uint32_t found = arn_order_tree_find(t, key);
    if (found == ARENAUT_NONE ? !arn_order_tree_add(t, key) : !arn_order_tree_add_again(t, found)) {
        return NO_MEMORY;
    }
    t->ahead[node] = t->n - 1;
    arn_order_tree_return(t);
    return GOES_ON;
}

/* Looks at the best state: what runs for good near it, or else all that may run. */
static outcome look_at_best(arn_order_side *s) {
    arn_order_tree *t = &s->tree;
    const uint32_t node = arn_order_tree_take_best(t);
    if (node == ARENAUT_NONE) return EXHAUSTED;
    if (!arn_order_tree_stand_at(t, node)) return NO_MEMORY;
    const outcome found = look_near(s);
    if (found == STEPPED) return go_ahead(s, node);
    return found == GOES_ON ? branch(s, t) : found;
}

/* Looks at nodes until so much work is done. */
static outcome look(arn_order_side *s, uint64_t work) {
    const uint64_t end = s->state.work + work;
    outcome found = GOES_ON;
    while (s->state.work < end && found == GOES_ON && !arn_budget_ended(s->state.budget)) {
        found = look_at_best(s);
    }
    return found;
}

/* Where one side has stepped, the other may not go so far any more. */
static outcome forget(arn_order_side *s) {
    arn_order_take_back(&s->state, s->n_base);
    if (!arn_order_side_rebase(s)) return NO_MEMORY;
    return arn_order_is_whole(s) ? WHOLE : GOES_ON;
}

/* Makes what has run for good the base. */
static outcome step(arn_order_side *s, arn_order_side *other) {
    if (!arn_order_side_rebase(s)) return NO_MEMORY;
    return arn_order_is_whole(s) ? WHOLE : forget(other);
}

/* Both sides in turn, each time for longer, until one of them has an answer. */
static outcome search(arn_order_side sides[2], uint64_t effort, uint32_t *side) {
    uint64_t work = FIRST_WORK;
    for (*side = 0;; *side = 1 - *side) {
        arn_order_side *s = &sides[*side], *other = &sides[1 - *side];
        outcome found = look(s, work);
        if (found == STEPPED) {
            work = FIRST_WORK;
            found = step(s, other);
        } else if (*side == 1) {
            work += work / 2;
        }
        if (found != GOES_ON) return found;
        if (arn_order_work(sides) > effort || arn_budget_ended(s->state.budget)) return GOES_ON;
    }
}

static void write_order(const arn_order_side sides[2], uint32_t side, uint32_t *ops) {
    const uint32_t n = sides[0].graph.n_ops;
    const uint32_t front = side == 0 ? sides[0].state.n_ran : sides[0].n_base;
    memcpy(ops, sides[0].state.ran, front * sizeof *ops);
    for (uint32_t i = front; i < n; i++) ops[i] = sides[1].state.ran[n - 1 - i];
}

/* Looks for what lies between the bases, which are there already. */
static arn_order_answer search_between(arn_order_side sides[2], uint64_t effort, uint32_t *ops,
                                       uint32_t *side) {
    outcome found = GOES_ON;
    for (int i = 0; i < 2; i++) {
        if (!arn_order_side_rebase(&sides[i])) return ARN_ORDER_FAILED;
    }
    *side = 1;
    if (arn_order_is_whole(&sides[1])) found = WHOLE;
    if (found == GOES_ON) found = search(sides, arn_order_work(sides) + effort, side);
    switch (found) {
        case WHOLE: write_order(sides, *side, ops); return ARN_ORDER_FOUND;
        case EXHAUSTED: return ARN_ORDER_NONE;
        case NO_MEMORY: return ARN_ORDER_FAILED;
        default: return ARN_ORDER_TIRED;
    }
}

arn_order_answer arn_order_search(arn_order_side sides[2], uint64_t limit, uint64_t effort,
                                  uint32_t *ops, uint32_t *side) {
    for (int i = 0; i < 2; i++) arn_order_side_restart(&sides[i], limit);
    return search_between(sides, effort, ops, side);
}

/* Runs `n` ops for good, without saying why. */
static void assume(arn_order_side *s, const uint32_t *ops, uint32_t n, bool backward) {
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t op = backward ? *--ops : *ops++;
        arn_order_run(&s->state, op);
        s->cut.role[op] = ARN_ORDER_EARLIER;
    }
    s->n_base = n;
}

arn_order_answer arn_order_search_window(arn_order_side sides[2], uint64_t limit, uint64_t effort,
                                         arn_order_window window, uint32_t *ops) {
    const uint32_t n = sides[0].graph.n_ops;
    uint32_t side;
    for (int i = 0; i < 2; i++) arn_order_side_restart(&sides[i], limit);
    assume(&sides[0], window.ops, window.from, false);
    assume(&sides[1], window.ops + n, n - window.end, true);
    return search_between(sides, effort, ops, &side);
}
