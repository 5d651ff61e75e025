/* A side, and what runs there for good: what is alive is submodular, so if a part of the ops since
 * some state leaves least alive of all parts, any order that goes on from that state may run that
 * part first, and has no more alive at any time than before. */
#include "rewrite/order/order_side.h"

#include <string.h>

#include "core/checked.h"
#include "core/fail.h"
#include "core/memory.h"
#include "core/sort.h"

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
