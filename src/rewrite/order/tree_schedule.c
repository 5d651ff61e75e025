/* The ops of a tree fall into runs, each of which ends where less is alive than anywhere behind it:
 * a run is not worth leaving once it is begun. Runs of different branches go in the order of how
 * far what they need at most is above what they leave, the largest first: whichever of two comes
 * later has what the other one leaves on top. The op that joins the branches makes one more run, or
 * goes on with the last ones, if it leaves less than they do or needs more.
 *
 * Of graphs that are no trees, each op is taken to hand its results to the first op that waits for
 * it only. Runs of one tree are a pairing heap, the last one on top; a run has the number of its
 * last op. */
#include "rewrite/order/schedule_search.h"

#include "core/checked.h"
#include "core/memory.h"

typedef struct forest {
    const arn_order_graph *graph;
    uint64_t *opens, *closes; /* per op: bytes that come alive with it, that end with it */
    uint32_t *reader;         /* per op; NONE: nobody reads it */
    /* per run */
    uint64_t *most, *left; /* alive beyond what was before it: at most, and at its end */
    uint32_t *first;       /* its first op */
    uint32_t *behind;      /* per op: the next one of its run */
    uint32_t *below,
        *next;      /* the first run below it in the heap, and the next one of its own level */
    uint32_t *heap; /* per op: the last run of what it reads; NONE: there is none */
} forest;

static void find_readers(forest *f) {
    const arn_order_graph *g = f->graph;
    for (uint32_t op = 0; op < g->n_ops; op++) {
        f->reader[op] = ARENAUT_NONE;
        for (uint32_t i = g->next.begin[op]; i < g->next.begin[op + 1]; i++) {
            if (g->next.ids[i] < f->reader[op]) f->reader[op] = g->next.ids[i];
        }
    }
}

/* A buffer is alive from the first op that uses it on, until that one's reader has run. */
static void weigh(forest *f) {
    const arn_order_graph *g = f->graph;
    for (uint32_t op = 0; op < g->n_ops; op++) f->opens[op] = f->closes[op] = 0;
    for (uint32_t b = 0; b < g->n_buffers; b++) {
        const uint32_t begin = g->users.begin[b], end = g->users.begin[b + 1];
        uint32_t maker = ARENAUT_NONE;
        for (uint32_t i = begin; i < end; i++) {
            if (g->users.ids[i] < maker) maker = g->users.ids[i];
        }
        if (begin == end || (g->held[b] & ARENAUT_HELD_BEFORE)) continue;
        f->opens[maker] += g->size[b];
        const uint32_t ends = end - begin == 1 ? maker : f->reader[maker];
        if (ends == ARENAUT_NONE || (g->held[b] & ARENAUT_HELD_AFTER)) continue;
        f->closes[ends] += g->size[b];
    }
}

/* ---- heaps ---- */

/* Whether run `a` goes behind run `b`: it rises less above its end. */
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

/* What is left without its top: the runs below it, two and two, then all of them from behind. */
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

/* ---- runs ---- */

/* The runs of the tree that `op` ends. */
static uint32_t join(forest *f, uint32_t op) {
    uint32_t heap = f->heap[op], first = op;
    uint64_t most = f->opens[op], left = f->opens[op];
    while (heap != ARENAUT_NONE) {
        const uint32_t last = heap;
        if (left > f->closes[op] && f->left[last] + most < f->most[last]) break;
        most = arn_max_u64(f->most[last], f->left[last] + most);
        left += f->left[last];
        f->behind[last] = first;
        first = f->first[last];
        heap = without_top(f, last);
    }
    f->most[op] = most;
    f->left[op] = left > f->closes[op] ? left - f->closes[op] : 0;
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

bool arn_order_by_trees(const arn_order_graph *front, uint32_t *wanted) {
    forest f = {.graph = front};
    uint64_t **const sizes[] = {&f.opens, &f.closes, &f.most, &f.left};
    uint32_t **const numbers[] = {&f.reader, &f.first, &f.behind, &f.below, &f.next, &f.heap};
    arn_region region;
    bool ok = true;
    arn_region_init(&region, &front->allocator);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        *sizes[i] = arn_region_allocate(&region, front->n_ops, sizeof **sizes[i]);
        ok = ok && *sizes[i];
    }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        *numbers[i] = arn_region_allocate(&region, front->n_ops, sizeof **numbers[i]);
        ok = ok && *numbers[i];
    }
    if (ok) grow(&f, wanted);
    arn_region_free(&region);
    return ok;
}
