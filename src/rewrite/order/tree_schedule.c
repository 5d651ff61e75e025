/* Optimal schedule of an in-tree (Liu 1987, generalized tree pebbling): the schedule of each
 * subtree is cut into hill–valley segments, each of which ends at the least live bytes of the rest
 * of the schedule, and is not worth leaving once it is begun. Siblings' segments are merged by
 * decreasing hill − valley, since the later of two segments has the valley of the other one on top.
 * The root op of a subtree is a segment of its own, or extends the last ones if its valley is lower
 * or its hill higher.
 *
 * In a graph that is no tree, an op is taken to pass its results to its first successor only: a
 * heuristic. The segments of a subtree are in a pairing heap (Fredman et al. 1986), the last one on
 * top; a segment has the number of its last op. O(n log n). */
#include "rewrite/order/schedule_search.h"

#include "core/checked.h"
#include "core/memory.h"

typedef struct forest {
    const arn_schedule_graph *graph;
    uint64_t *allocates, *frees; /* per op: bytes of first and of last uses */
    uint32_t *reader;            /* per op: its first successor; NONE: none */
    /* per segment */
    uint64_t *most, *left;  /* live bytes beyond those before it: the hill, the valley at its end */
    uint32_t *first;        /* its first op */
    uint32_t *behind;       /* per op: the next one of its segment */
    uint32_t *below, *next; /* in the heap: the first child, and the next sibling */
    uint32_t *heap;         /* per op: the segments of its operands; NONE: none */
} forest;

static void find_readers(forest *f) {
    const arn_schedule_graph *g = f->graph;
    for (uint32_t op = 0; op < g->n_ops; op++) {
        f->reader[op] = ARENAUT_NONE;
        for (uint32_t i = g->successors.begin[op]; i < g->successors.begin[op + 1]; i++) {
            if (g->successors.ids[i] < f->reader[op]) f->reader[op] = g->successors.ids[i];
        }
    }
}

/* A buffer is live from its first use to the successor of that op. */
static void weigh(forest *f) {
    const arn_schedule_graph *g = f->graph;
    for (uint32_t b = 0; b < g->n_buffers; b++) {
        const uint32_t begin = g->users.begin[b], end = g->users.begin[b + 1];
        uint32_t maker = ARENAUT_NONE;
        for (uint32_t i = begin; i < end; i++) {
            if (g->users.ids[i] < maker) maker = g->users.ids[i];
        }
        if (begin == end || (g->boundary[b] & ARENAUT_LIVE_IN)) continue;
        f->allocates[maker] += g->size[b];
        const uint32_t ends = end - begin == 1 ? maker : f->reader[maker];
        if (ends == ARENAUT_NONE || (g->boundary[b] & ARENAUT_LIVE_OUT)) continue;
        f->frees[ends] += g->size[b];
    }
}

/* ---- heaps ---- */

/* Whether segment `a` comes after segment `b`: hill − valley is smaller. */
static bool is_later(const forest *f, uint32_t a, uint32_t b) {
    const uint64_t of_a = f->most[a] - f->left[a], of_b = f->most[b] - f->left[b];
    return of_a != of_b ? of_a < of_b : a > b;
}

static uint32_t merge(forest *f, uint32_t a, uint32_t b) {
    if (a == ARENAUT_NONE || b == ARENAUT_NONE) return a == ARENAUT_NONE ? b : a;
    const uint32_t top = is_later(f, a, b) ? a : b, other = top == a ? b : a;
    f->next[other] = f->below[top];
    f->below[top] = other;
    return top;
}

/* Removes the top: children are merged in pairs, then from right to left. */
static uint32_t without_top(forest *f, uint32_t top) {
    uint32_t pairs = ARENAUT_NONE, heap = ARENAUT_NONE;
    for (uint32_t a = f->below[top], next; a != ARENAUT_NONE; a = next) {
        const uint32_t b = f->next[a];
        next = b == ARENAUT_NONE ? b : f->next[b];
        const uint32_t pair = merge(f, a, b);
        f->next[pair] = pairs;
        pairs = pair;
    }
    while (pairs != ARENAUT_NONE) {
        const uint32_t next = f->next[pairs];
        heap = merge(f, heap, pairs);
        pairs = next;
    }
    return heap;
}

/* ---- segments ---- */

/* The segments of the subtree of `op`. */
static uint32_t join(forest *f, uint32_t op) {
    uint32_t heap = f->heap[op], first = op;
    uint64_t most = f->allocates[op], left = f->allocates[op];
    while (heap != ARENAUT_NONE) {
        const uint32_t last = heap;
        if (left > f->frees[op] && f->left[last] + most < f->most[last]) break;
        most = arn_max_u64(f->most[last], f->left[last] + most);
        left += f->left[last];
        f->behind[last] = first;
        first = f->first[last];
        heap = without_top(f, last);
    }
    f->most[op] = most;
    f->left[op] = left > f->frees[op] ? left - f->frees[op] : 0;
    f->first[op] = first;
    f->behind[op] = f->below[op] = ARENAUT_NONE;
    return merge(f, heap, op);
}

static void grow(forest *f, uint32_t *wanted) {
    const uint32_t n_ops = f->graph->n_ops;
    uint32_t all = ARENAUT_NONE, at = n_ops;
    find_readers(f);
    weigh(f);
    for (uint32_t op = 0; op < n_ops; op++) f->heap[op] = ARENAUT_NONE;
    for (uint32_t op = 0; op < n_ops; op++) {
        const uint32_t reader = f->reader[op];
        uint32_t *tree = reader == ARENAUT_NONE ? &all : &f->heap[reader];
        *tree = merge(f, *tree, join(f, op));
    }
    for (; all != ARENAUT_NONE; all = without_top(f, all)) {
        uint32_t n = 0;
        for (uint32_t op = f->first[all]; op != ARENAUT_NONE; op = f->behind[op]) n++;
        at -= n;
        n = at;
        for (uint32_t op = f->first[all]; op != ARENAUT_NONE; op = f->behind[op]) wanted[n++] = op;
    }
}

bool arn_schedule_trees(const arn_schedule_graph *graph, uint32_t *wanted) {
    const uint32_t n = graph->n_ops;
    forest f = {.graph = graph};
    arn_region region;
    arn_region_init(&region, &graph->allocator);
    const bool ok = ARN_REGION_ARRAYS(
        &region, ARN_ARRAY(f.allocates, n), ARN_ARRAY(f.frees, n), ARN_ARRAY(f.most, n),
        ARN_ARRAY(f.left, n), ARN_ARRAY(f.reader, n), ARN_ARRAY(f.first, n), ARN_ARRAY(f.behind, n),
        ARN_ARRAY(f.below, n), ARN_ARRAY(f.next, n), ARN_ARRAY(f.heap, n));
    if (ok) grow(&f, wanted);
    arn_region_free(&region);
    return ok;
}
