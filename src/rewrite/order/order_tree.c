/* Going from one state to another, finding equal ones, taking the best. */
#include "rewrite/order/order_tree.h"

#include <string.h>

#include "core/random.h"

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
