/* Pairs of buffers of two results, found by sorting both by the keys that identify a buffer: first
 * the name, then size, class and lifetime. explorer/src/compare.js does the same for the page. */
#include "diff.h"

#include <stdlib.h>
#include <string.h>

const char *change_name(change_kind kind) {
    static const char *const names[] = {
#define XX(name, text) text,
        CHANGE_MAP(XX)
#undef XX
    };
    return names[kind];
}

/* A buffer of one result, with its keys. */
typedef struct candidate {
    const arenaut_problem *problem;
    uint32_t buffer;
} candidate;

static int by_number(uint64_t a, uint64_t b) { return (a > b) - (a < b); }
static int by_step(int64_t a, int64_t b) { return (a > b) - (a < b); }

static const char *name_of(const arenaut_problem *p, uint32_t b) {
    return p->name && p->name[b] ? p->name[b] : "";
}

static int compare_names(const candidate *a, const candidate *b) {
    return strcmp(name_of(a->problem, a->buffer), name_of(b->problem, b->buffer));
}

/* From the first step to the last; a buffer without any is at 0. */
static arenaut_interval span_of(const candidate *c) {
    const uint32_t n = arenaut_problem_lifetime_count(c->problem, c->buffer);
    const arenaut_interval *life = arenaut_problem_lifetimes(c->problem, c->buffer), none = {0, 0};
    if (n == 0) return none;
    const arenaut_interval span = {life[0].first, life[n - 1].end};
    return span;
}

static int compare_shapes(const candidate *a, const candidate *b) {
    const arenaut_interval x = span_of(a), y = span_of(b);
    int order = by_number(a->problem->size[a->buffer], b->problem->size[b->buffer]);
    if (!order)
        order = (int)arenaut_problem_class(a->problem, a->buffer) -
                (int)arenaut_problem_class(b->problem, b->buffer);
    if (!order) order = by_step(x.first, y.first);
    return order ? order : by_step(x.end, y.end);
}

/* Equal ones keep their order. */
static int names_then_order(const void *pa, const void *pb) {
    const candidate *a = pa, *b = pb;
    const int order = compare_names(a, b);
    return order ? order : by_number(a->buffer, b->buffer);
}

static int shapes_then_order(const void *pa, const void *pb) {
    const candidate *a = pa, *b = pb;
    const int order = compare_shapes(a, b);
    return order ? order : by_number(a->buffer, b->buffer);
}

/* Pairs by one key: both lists are sorted by `sort`, and `compare` decides equality. */
typedef struct likeness {
    int (*compare)(const candidate *, const candidate *);
    int (*sort)(const void *, const void *);
    bool needs_name;
} likeness;

/* The buffers that have no partner yet, sorted. */
static candidate *candidates(const arenaut_problem *p, const uint32_t *partner, likeness like,
                             size_t *n) {
    candidate *found = must_allocate(p->n_buffers, sizeof *found);
    *n = 0;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (partner[b] != ARENAUT_NONE || (like.needs_name && !*name_of(p, b))) continue;
        found[(*n)++] = (candidate){p, b};
    }
    if (*n) qsort(found, *n, sizeof *found, like.sort);
    return found;
}

static void pair_up(const arenaut_problem *before, const arenaut_problem *after, likeness like,
                    uint32_t *to_after, uint32_t *to_before) {
    size_t n, m;
    candidate *a = candidates(before, to_after, like, &n);
    candidate *b = candidates(after, to_before, like, &m);
    for (size_t i = 0, k = 0; i < n && k < m;) {
        const int order = like.compare(&a[i], &b[k]);
        if (order == 0) {
            to_after[a[i].buffer] = b[k].buffer;
            to_before[b[k].buffer] = a[i].buffer;
        }
        if (order <= 0) i++;
        if (order >= 0) k++;
    }
    free(a);
    free(b);
}

static bool same_pool(const arenaut_result *before, uint32_t a, const arenaut_result *after,
                      uint32_t b) {
    const uint32_t x = before->plan->pool[a], y = after->plan->pool[b];
    if (x == ARENAUT_NONE || y == ARENAUT_NONE) return x == y;
    const char *name = before->problem->pool[x].name, *other = after->problem->pool[y].name;
    return name && other ? strcmp(name, other) == 0 : name == other;
}

static void add_change(change_list *list, change_kind kind, uint32_t before, uint32_t after,
                       uint64_t bytes) {
    list->items[list->n++] = (change){kind, before, after};
    list->count[kind]++;
    list->bytes[kind] += bytes;
}

static void add_pair(const arenaut_result *before, uint32_t a, const arenaut_result *after,
                     uint32_t b, change_list *list) {
    const uint64_t x = before->problem->size[a], y = after->problem->size[b];
    if (x < y) add_change(list, CHANGE_GREW, a, b, y - x);
    else if (x > y) add_change(list, CHANGE_SHRANK, a, b, x - y);
    else if (!same_pool(before, a, after, b) || before->plan->offset[a] != after->plan->offset[b])
        add_change(list, CHANGE_MOVED, a, b, x);
}

/* A change with its sort keys. */
typedef struct weighted {
    change change;
    uint64_t bytes;
} weighted;

static int heaviest_first(const void *pa, const void *pb) {
    const weighted *a = pa, *b = pb;
    if (a->change.kind != b->change.kind) return (int)a->change.kind - (int)b->change.kind;
    const int order = by_number(b->bytes, a->bytes);
    if (order) return order;
    const int later = by_number(a->change.after, b->change.after);
    return later ? later : by_number(a->change.before, b->change.before);
}

static void sort_changes(const arenaut_result *before, const arenaut_result *after,
                         change_list *list) {
    weighted *sorted = must_allocate(list->n, sizeof *sorted);
    for (size_t i = 0; i < list->n; i++) {
        const change c = list->items[i];
        const uint64_t x = c.before == ARENAUT_NONE ? 0 : before->problem->size[c.before];
        const uint64_t y = c.after == ARENAUT_NONE ? 0 : after->problem->size[c.after];
        sorted[i] = (weighted){c, c.kind == CHANGE_MOVED ? x : x > y ? x - y : y - x};
    }
    if (list->n) qsort(sorted, list->n, sizeof *sorted, heaviest_first);
    for (size_t i = 0; i < list->n; i++) list->items[i] = sorted[i].change;
    free(sorted);
}

static uint32_t *no_partners(uint32_t n) {
    uint32_t *partner = must_allocate(n, sizeof *partner);
    for (uint32_t i = 0; i < n; i++) partner[i] = ARENAUT_NONE;
    return partner;
}

void changes_find(const arenaut_result *before, const arenaut_result *after, change_list *list) {
    static const likeness likenesses[] = {{compare_names, names_then_order, true},
                                          {compare_shapes, shapes_then_order, false}};
    const arenaut_problem *p = before->problem, *q = after->problem;
    uint32_t *to_after = no_partners(p->n_buffers), *to_before = no_partners(q->n_buffers);
    *list = (change_list){.n = 0};
    list->items = must_allocate((size_t)p->n_buffers + q->n_buffers, sizeof *list->items);
    for (size_t i = 0; i < 2; i++) pair_up(p, q, likenesses[i], to_after, to_before);
    for (uint32_t b = 0; b < q->n_buffers; b++) {
        if (to_before[b] == ARENAUT_NONE)
            add_change(list, CHANGE_CAME, ARENAUT_NONE, b, q->size[b]);
        else add_pair(before, to_before[b], after, b, list);
    }
    for (uint32_t a = 0; a < p->n_buffers; a++) {
        if (to_after[a] == ARENAUT_NONE) add_change(list, CHANGE_WENT, a, ARENAUT_NONE, p->size[a]);
    }
    sort_changes(before, after, list);
    free(to_after);
    free(to_before);
}

void changes_free(change_list *list) {
    free(list->items);
    *list = (change_list){.n = 0};
}
