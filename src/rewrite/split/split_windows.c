/* Windows: every range of ops that can be split, as far as what is whole at its borders leaves
 * something to gain. */
#include "rewrite/split/split_windows.h"

#include <string.h>

#include "core/checked.h"
#include "core/memory.h"
#include "core/sort.h"
#include "rewrite/split/split_bands.h"

enum { LONGEST = 96 /* ops of a stage that is looked for */ };

/* What nobody needs would not be made of pieces. */
static bool can_be_inside(const arn_split_graph *graph, uint32_t op) {
    if (graph->ops[op].of_constants) return true;
    return graph->ops[op].kind != ARN_SPLIT_OPAQUE &&
           graph->last_reader[graph->program->ops[op].outputs[0]] != ARENAUT_NONE;
}

/* The largest of the window's results that can be in pieces. */
static uint64_t largest_result(const arn_split_graph *graph, arn_op_range ops) {
    const arenaut_split_stage stage = {.first_op = ops.first, .n_ops = ops.end - ops.first};
    uint64_t largest = 0;
    for (uint32_t k = 0; k < stage.n_ops; k++) {
        if (!arn_band_is_result(graph, &stage, k)) continue;
        const uint32_t made = graph->program->ops[ops.first + k].outputs[0];
        largest = arn_max_u64(largest, arn_split_bytes(graph, made));
    }
    return largest;
}

/* When the first piece begins, all that the window reads is there. At the last join its results
 * are, and one of them in pieces as well, unless the whole may lie over these. */
static uint64_t surely_alive(const arn_split_field *field, const arn_op_window *w) {
    const uint64_t twice = field->options->overlap ? 0 : largest_result(field->graph, w->ops);
    return w->past + arn_max_u64(w->read, w->made + twice);
}

/* What is alive at a window's first op and made before it, by the op that reads it last. */
typedef struct sweep {
    const arn_split_field *field;
    uint64_t *ends; /* per op, and one for the program's results */
    arn_op_window window;
} sweep;

static uint32_t last_of(const arn_split_graph *graph, uint32_t tensor) {
    return graph->last_reader[tensor] != ARENAUT_NONE ? graph->last_reader[tensor]
                                                      : graph->producer[tensor];
}

/* The empty window before op `first`. */
static void start(sweep *s, uint32_t first) {
    const arn_split_graph *graph = s->field->graph;
    s->window = (arn_op_window){.ops = {first, first}};
    memset(s->ends, 0, ((size_t)graph->program->n_ops + 1) * sizeof *s->ends);
    for (uint32_t t = 0; t < graph->program->n_tensors; t++) {
        const uint32_t producer = graph->producer[t], last = last_of(graph, t);
        if (last == ARENAUT_NONE || last < first) continue;
        if (producer != ARENAUT_NONE && producer >= first) continue;
        s->ends[last] += arn_split_bytes(graph, t);
        s->window.past += arn_split_bytes(graph, t);
    }
}

/* The next op comes into the window. */
static void extend(sweep *s) {
    const arn_split_graph *graph = s->field->graph;
    arn_op_window *w = &s->window;
    const uint32_t op = w->ops.end++;
    const arenaut_op *it = &graph->program->ops[op];
    w->whole = arn_max_u64(w->whole, s->field->alive[op]);
    w->past -= s->ends[op];
    w->read += s->ends[op];
    for (uint32_t k = 0; k < it->n_outputs; k++) {
        if (it->outputs[k] != ARENAUT_NONE) w->made += arn_split_bytes(graph, it->outputs[k]);
    }
    for (uint32_t k = 0; k < it->n_inputs + it->n_outputs; k++) {
        const uint32_t t = k < it->n_inputs ? it->inputs[k] : it->outputs[k - it->n_inputs];
        if (t == ARENAUT_NONE || graph->producer[t] == ARENAUT_NONE) continue;
        if (graph->producer[t] < w->ops.first || last_of(graph, t) != op) continue;
        bool again = false;
        for (uint32_t i = 0; i < k && i < it->n_inputs; i++) again = again || it->inputs[i] == t;
        if (again) continue;
        w->made -= arn_split_bytes(graph, t);
    }
}

/* All windows that begin at an op; `low` gets per op the least that is alive there in one. */
static bool find_from(sweep *s, uint32_t first, arn_budget *budget, uint64_t *low,
                      arn_split_windows *windows) {
    const arn_split_graph *graph = s->field->graph;
    const uint32_t n = graph->program->n_ops;
    start(s, first);
    while (s->window.ops.end < n && s->window.ops.end - first < LONGEST &&
           can_be_inside(graph, s->window.ops.end)) {
        extend(s);
        arn_budget_spend(budget, s->window.ops.end - first);
        if (graph->ops[s->window.ops.end - 1].of_constants) continue; /* better behind it */
        s->window.sure = surely_alive(s->field, &s->window);
        for (uint32_t op = first; op < s->window.ops.end; op++) {
            low[op] = arn_min_u64(low[op], s->window.sure);
        }
        if (s->window.sure >= s->window.whole) continue;
        if (!arn_grow(graph->allocator, (void **)&windows->items, &windows->capacity,
                      (uint64_t)windows->n + 1, sizeof *windows->items)) {
            return false;
        }
        windows->items[windows->n++] = s->window;
    }
    return true;
}

/* The floor is what is alive at the op where no stage helps, or least. Windows that only touch ops
 * at which less is alive gain nothing. */
static void drop_useless(const uint64_t *low, const arn_split_field *field,
                         arn_split_windows *windows) {
    uint32_t kept = 0;
    windows->floor = 0;
    for (uint32_t op = 0; op < field->graph->program->n_ops; op++) {
        const uint64_t least = arn_min_u64(low[op], field->alive[op]);
        if (least <= windows->floor) continue;
        windows->floor = least;
        windows->floor_op = op;
    }
    for (uint32_t i = 0; i < windows->n; i++) {
        if (windows->items[i].whole > windows->floor) windows->items[kept++] = windows->items[i];
    }
    windows->n = kept;
}

/* What a split into two even pieces may come to. */
static uint64_t likely(const arn_op_window *w) {
    return arn_max_u64(w->sure, w->past + w->read + w->made / 2);
}

/* Those that may need least come first, of equal ones the shorter window. */
static bool sort(const arn_split_field *field, arn_split_windows *windows) {
    const arenaut_allocator *allocator = field->graph->allocator;
    const uint32_t n = windows->n;
    uint32_t *ids = arn_allocate(allocator, n, sizeof *ids);
    uint32_t *scratch = arn_allocate(allocator, n, sizeof *scratch);
    uint64_t *key = arn_allocate(allocator, n, sizeof *key);
    arn_op_window *sorted = arn_allocate(allocator, n, sizeof *sorted);
    const bool fits = ids && scratch && key && sorted;
    for (uint32_t i = 0; fits && i < n; i++) {
        const arn_op_window *w = &windows->items[i];
        ids[i] = i;
        key[i] = likely(w) << 8 | (w->ops.end - w->ops.first);
    }
    if (fits) {
        arn_sort_by_key(ids, n, key, scratch);
        for (uint32_t i = 0; i < n; i++) sorted[i] = windows->items[ids[i]];
        if (n > 0) memcpy(windows->items, sorted, n * sizeof *sorted);
    }
    arn_release(allocator, ids);
    arn_release(allocator, scratch);
    arn_release(allocator, key);
    arn_release(allocator, sorted);
    return fits;
}

bool arn_split_find_windows(const arn_split_field *field, arn_budget *budget,
                            arn_split_windows *windows) {
    const arenaut_allocator *allocator = field->graph->allocator;
    const uint32_t n = field->graph->program->n_ops;
    sweep s = {.field = field, .ends = arn_allocate(allocator, (size_t)n + 1, sizeof *s.ends)};
    uint64_t *low = arn_allocate(allocator, n, sizeof *low);
    bool fits = s.ends && low;
    if (fits) memset(low, 0xFF, n * sizeof *low);
    for (uint32_t first = 0; first < n && fits; first++) {
        if (!arn_budget_spend(budget, field->graph->program->n_tensors)) break;
        fits = find_from(&s, first, budget, low, windows);
    }
    if (fits) drop_useless(low, field, windows);
    arn_release(allocator, s.ends);
    arn_release(allocator, low);
    return fits && sort(field, windows);
}

void arn_split_windows_free(arn_split_windows *windows, const arenaut_allocator *allocator) {
    arn_release(allocator, windows->items);
}
