/* Proof of an exhausted search: the committed steps, then the search tree in depth-first order. A
 * memoized state is referred to by its number. The lines are described in arenaut/order.h; O(nodes
 * + branches). */
#include "rewrite/order/schedule_search.h"

#include "core/memory.h"

typedef struct writer {
    arn_direction *direction;
    arn_schedule_proof *proof;
    uint32_t *number; /* per node: its number in the proof */
    arn_id_list
        open; /* nodes on the path, each with the end of its ops in the direction's `branches` */
} writer;

static bool put(arn_schedule_proof *p, arenaut_order_rule rule, uint32_t item) {
    if (!arn_grow(&p->allocator, (void **)&p->lines, &p->capacity, (uint64_t)p->n + 1,
                  sizeof *p->lines)) {
        return false;
    }
    p->lines[p->n++] = (arenaut_order_line){rule, item};
    return true;
}

bool arn_schedule_prove_cut(arn_schedule_proof *proof, uint32_t op) {
    proof->n = 0;
    return put(proof, ARENAUT_ORDER_CUT, op);
}

static bool put_committed(arn_schedule_proof *p, const arn_direction *s) {
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
    arn_release(a, size);
    arn_release(a, next);
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

bool arn_schedule_prove(arn_direction directions[2], uint32_t direction,
                        arn_schedule_proof *proof) {
    writer w = {.direction = &directions[direction], .proof = proof};
    const arenaut_allocator *a = &w.direction->graph.allocator;
    proof->n = 0;
    w.number = arn_allocate(a, w.direction->tree.n, sizeof *w.number);
    const bool ok = w.number && put_committed(proof, &directions[0]) &&
                    put_committed(proof, &directions[1]) &&
                    put(proof, ARENAUT_ORDER_SEARCH, direction) && put_tree(&w);
    arn_release(a, w.number);
    arn_release(a, w.open.ids);
    return ok;
}
