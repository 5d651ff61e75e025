/* The tree of states, depth first; a state that is reached again is named by its number. */
#include "rewrite/order/schedule_search.h"

#include "core/memory.h"

typedef struct writer {
    arn_order_side *side;
    arn_order_proof *proof;
    uint32_t *number; /* per node, by which the proof knows it */
    arn_id_list open; /* nodes that are followed, each with the end of its ops in side->allowed */
} writer;

static bool put(arn_order_proof *p, arenaut_order_rule rule, uint32_t item) {
    if (!arn_grow(&p->allocator, (void **)&p->lines, &p->capacity, (uint64_t)p->n + 1,
                  sizeof *p->lines)) {
        return false;
    }
    p->lines[p->n++] = (arenaut_order_line){rule, item};
    return true;
}

bool arn_order_prove_cut(arn_order_proof *proof, uint32_t op) {
    proof->n = 0;
    return put(proof, ARENAUT_ORDER_CUT, op);
}

static bool put_base(arn_order_proof *p, const arn_order_side *s) {
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

/* Numbers the nodes as they will be met: each child with all that is below it before the next one.
 * Children were made in the order of their ops, after their parents. A node that is another one
 * again has no number of its own. */
static bool number_nodes(writer *w) {
    const arn_order_tree *t = &w->side->tree;
    const arenaut_allocator *a = &w->side->graph.allocator;
    uint32_t *size = arn_allocate(a, t->n, sizeof *size);
    uint32_t *next = arn_allocate(a, t->n, sizeof *next); /* the number of the next child */
    const bool ok = size && next;
    for (uint32_t i = 0; ok && i < t->n; i++) size[i] = !arn_order_tree_is_again(t, i);
    for (uint32_t i = ok ? t->n : 0; i-- > 1;) size[t->parent[i]] += size[i];
    for (uint32_t i = 0; ok && i < t->n; i++) {
        w->number[i] = i == 0 ? 0 : next[t->parent[i]];
        if (i > 0) next[t->parent[i]] += size[i];
        next[i] = w->number[i] + 1;
    }
    arn_release(a, size);
    arn_release(a, next);
    return ok;
}

/* Begins to follow all that may run from `node`, which is stood at. */
static bool begin_each(writer *w, uint32_t node) {
    arn_order_side *s = w->side;
    const arenaut_allocator *a = &s->graph.allocator;
    const uint32_t from = s->allowed.n;
    if (!put(w->proof, ARENAUT_ORDER_EACH, 0) || !arn_id_list_push(&w->open, a, node) ||
        !arn_id_list_push(&w->open, a, from) || !arn_order_list_allowed(s)) {
        return false;
    }
    for (uint32_t i = from, k = s->allowed.n; i + 1 < k; i++, k--) { /* taken from behind */
        const uint32_t op = s->allowed.ids[i];
        s->allowed.ids[i] = s->allowed.ids[k - 1];
        s->allowed.ids[k - 1] = op;
    }
    return true;
}

/* The proof of a node, up to where its children are followed. */
static bool put_state(writer *w, uint32_t node) {
    const arn_order_tree *t = &w->side->tree;
    while (t->ahead[node] != ARENAUT_NONE && !arn_order_tree_is_again(t, node)) {
        const uint32_t ahead = t->ahead[node], n = t->n_ran[ahead] - t->n_ran[node];
        if (!put(w->proof, ARENAUT_ORDER_AHEAD, n)) return false;
        for (uint32_t i = 0; i < n; i++) {
            if (!put(w->proof, ARENAUT_ORDER_RUN, t->ops.ids[t->first[ahead] + i])) return false;
        }
        node = ahead;
    }
    if (arn_order_tree_is_again(t, node)) {
        return put(w->proof, ARENAUT_ORDER_SAME, w->number[t->ahead[node]]);
    }
    return arn_order_tree_stand_at(&w->side->tree, node) && begin_each(w, node);
}

/* Follows `op` from the state on top. */
static bool put_child(writer *w, uint32_t op) {
    arn_order_side *s = w->side;
    arn_order_tree *t = &s->tree;
    const uint32_t node = w->open.ids[w->open.n - 2], n_ran = t->n_ran[node] + 1;
    if (!arn_order_tree_stand_at(t, node) || !put(w->proof, ARENAUT_ORDER_RUN, op)) return false;
    arn_order_run(&s->state, op);
    arn_order_run_safe(s);
    for (uint32_t i = n_ran; i < s->state.n_ran; i++) {
        if (!put(w->proof, ARENAUT_ORDER_SAFE, s->state.ran[i])) return false;
    }
    const uint32_t child = arn_order_tree_find(t, arn_order_tree_key(t));
    const bool made_here = t->parent[child] == node && t->ops.ids[t->first[child]] == op;
    arn_order_tree_return(t);
    if (!made_here) return put(w->proof, ARENAUT_ORDER_SAME, w->number[child]);
    return put_state(w, child);
}

static bool put_tree(writer *w) {
    arn_order_side *s = w->side;
    s->allowed.n = 0;
    if (!number_nodes(w) || !put_state(w, 0)) return false;
    while (w->open.n > 0) {
        if (s->allowed.n > w->open.ids[w->open.n - 1]) {
            if (!put_child(w, s->allowed.ids[--s->allowed.n])) return false;
        } else {
            w->open.n -= 2;
            if (!put(w->proof, ARENAUT_ORDER_END, 0)) return false;
        }
    }
    return true;
}

bool arn_order_prove(arn_order_side sides[2], uint32_t side, arn_order_proof *proof) {
    writer w = {.side = &sides[side], .proof = proof};
    const arenaut_allocator *a = &w.side->graph.allocator;
    proof->n = 0;
    w.number = arn_allocate(a, w.side->tree.n, sizeof *w.number);
    const bool ok = w.number && put_base(proof, &sides[0]) && put_base(proof, &sides[1]) &&
                    put(proof, ARENAUT_ORDER_SEARCH, side) && put_tree(&w);
    arn_release(a, w.number);
    arn_release(a, w.open.ids);
    return ok;
}
