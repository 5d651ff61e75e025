/* Best first from both ends. As soon as a state has no more alive than the base, some of the ops in
 * between run for good, and the rest is forgotten. The same is tried near each state that is looked
 * at: what runs there for good stands for all that could. */
#include "rewrite/order/order_search.h"

#include <string.h>

#include "core/checked.h"

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
