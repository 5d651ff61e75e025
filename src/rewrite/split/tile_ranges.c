/* Candidates for tile groups: ranges of ops that follow each other, by a sweep over their ends with
 * the bytes that are live before, during and after each. A range is left out whose lower bound is
 * no better than its ops as they are, and one that lies below the floor of all choices: the bytes
 * that some op needs in any of them. */
#include "rewrite/split/tile_ranges.h"

#include <string.h>

#include "core/checked.h"
#include "core/memory.h"
#include "core/sort.h"
#include "ir/program.h"
#include "rewrite/tile_dialects/tile_dialect.h"

enum {
    LONGEST = 96, /* ops of a candidate group */
    SHORT = 16,   /* of one that begins and ends anywhere, where drafts are of many ops */
};

/* A result without a reader would not be computed by tiles. */
static bool can_be_inside(const arn_tile_graph *graph, uint32_t op) {
    if (arn_tile_runs_whole(&graph->ops[op])) return true;
    return graph->ops[op].kind != ARN_TILE_OPAQUE &&
           arn_tile_last_use(graph, graph->program->ops[op].outputs[0]) != ARENAUT_NONE;
}

/* The largest live-out result of the range that tiles can make. */
static uint64_t largest_result(const arn_tile_graph *graph, arn_op_range ops) {
    const arenaut_split_stage group = {.first_op = ops.first, .n_ops = ops.end - ops.first};
    uint64_t largest = 0;
    for (uint32_t k = 0; k < group.n_ops; k++) {
        if (!arn_tile_is_result(graph, &group, k)) continue;
        const uint32_t made = graph->program->ops[ops.first + k].outputs[0];
        largest = arn_max_u64(largest, arn_tile_bytes(graph, made));
    }
    return largest;
}

/* When the first tile begins, all operands of the range are live. At the last concatenation its
 * results are, and one of them in tiles as well, unless the whole may lie over these. */
static uint64_t lower_bound_of(const arn_search_space *space, const arn_group_range *w) {
    const uint64_t twice = space->options->overlap ? 0 : largest_result(space->graph, w->ops);
    return w->live_through + arn_max_u64(w->read, w->made + twice);
}

/* Sweep over the ranges with one first op; tensors that are live there by their last reader. */
typedef struct sweep {
    const arn_search_space *space;
    uint64_t *ends;    /* per op, and one for the program's results */
    uint64_t *between; /* bytes live in front of each op, and behind the last */
    arn_group_range range;
} sweep;

static uint32_t last_of(const arn_tile_graph *graph, uint32_t tensor) {
    const uint32_t last = arn_tile_last_use(graph, tensor);
    return last != ARENAUT_NONE ? last : arn_tile_def(graph, tensor);
}

/* O(ops + tensors). */
static void measure_boundaries(sweep *s) {
    const arn_tile_graph *graph = s->space->graph;
    const uint32_t n = graph->program->n_ops;
    memset(s->between, 0, ((size_t)n + 2) * sizeof *s->between);
    for (uint32_t t = 0; t < graph->program->n_tensors; t++) {
        const uint32_t producer = arn_tile_def(graph, t), last = last_of(graph, t);
        if (last == ARENAUT_NONE) continue;
        s->between[producer == ARENAUT_NONE ? 0 : producer + 1] += arn_tile_bytes(graph, t);
        s->between[last + 1] -= arn_tile_bytes(graph, t);
    }
    for (uint32_t i = 1; i <= n; i++) s->between[i] += s->between[i - 1];
}

/* No more is live in front of the op than in front of its neighbours, and less than at one of them:
 * the tensors that a long range has whole at its ends are fewest there. */
static bool is_cut(const sweep *s, uint32_t op) {
    const uint32_t n = s->space->graph->program->n_ops;
    const uint64_t here = s->between[op];
    const uint64_t before = op > 0 ? s->between[op - 1] : UINT64_MAX;
    const uint64_t behind = op < n ? s->between[op + 1] : UINT64_MAX;
    return here <= before && here <= behind && (here < before || here < behind);
}

static bool may_begin_and_end(const sweep *s, arn_op_range ops) {
    if (!s->space->graph->dialect->own_heights || ops.end - ops.first <= SHORT) return true;
    return is_cut(s, ops.first) && is_cut(s, ops.end);
}

/* The empty range before op `first`. */
static void start(sweep *s, uint32_t first) {
    const arn_tile_graph *graph = s->space->graph;
    s->range = (arn_group_range){.ops = {first, first}};
    memset(s->ends, 0, ((size_t)graph->program->n_ops + 1) * sizeof *s->ends);
    for (uint32_t t = 0; t < graph->program->n_tensors; t++) {
        const uint32_t producer = arn_tile_def(graph, t), last = last_of(graph, t);
        if (last == ARENAUT_NONE || last < first) continue;
        if (producer != ARENAUT_NONE && producer >= first) continue;
        s->ends[last] += arn_tile_bytes(graph, t);
        s->range.live_through += arn_tile_bytes(graph, t);
    }
}

/* Extends the range by the next op. */
static void extend(sweep *s) {
    const arn_tile_graph *graph = s->space->graph;
    arn_group_range *w = &s->range;
    const uint32_t op = w->ops.end++;
    const arenaut_op *it = &graph->program->ops[op];
    w->whole = arn_max_u64(w->whole, s->space->live[op]);
    w->live_through -= s->ends[op];
    w->read += s->ends[op];
    for (uint32_t k = 0; k < it->n_outputs; k++) {
        if (it->outputs[k] != ARENAUT_NONE) w->made += arn_tile_bytes(graph, it->outputs[k]);
    }
    for (uint32_t k = 0; k < it->n_inputs + it->n_outputs; k++) {
        const uint32_t t = k < it->n_inputs ? it->inputs[k] : it->outputs[k - it->n_inputs];
        const uint32_t def = t == ARENAUT_NONE ? t : arn_tile_def(graph, t);
        if (def == ARENAUT_NONE || def < w->ops.first || last_of(graph, t) != op) continue;
        bool again = false;
        for (uint32_t i = 0; i < k && i < it->n_inputs; i++) again = again || it->inputs[i] == t;
        if (again) continue;
        w->made -= arn_tile_bytes(graph, t);
    }
}

/* All ranges that begin at an op; `low` gets per op the least lower bound of a range with it. */
static bool find_from(sweep *s, uint32_t first, arn_budget *budget, uint64_t *low,
                      arn_group_ranges *ranges) {
    const arn_tile_graph *graph = s->space->graph;
    const uint32_t n = graph->program->n_ops;
    start(s, first);
    while (s->range.ops.end < n && s->range.ops.end - first < LONGEST &&
           can_be_inside(graph, s->range.ops.end)) {
        extend(s);
        arn_budget_spend(budget, s->range.ops.end - first);
        if (arn_tile_runs_whole(&graph->ops[s->range.ops.end - 1]))
            continue; /* the same as the range without it */
        s->range.bound = lower_bound_of(s->space, &s->range);
        for (uint32_t op = first; op < s->range.ops.end; op++) {
            low[op] = arn_min_u64(low[op], s->range.bound);
        }
        if (s->range.bound >= s->range.whole || !may_begin_and_end(s, s->range.ops)) continue;
        if (!arn_grow(graph->allocator, (void **)&ranges->items, &ranges->capacity,
                      (uint64_t)ranges->n + 1, sizeof *ranges->items)) {
            return false;
        }
        ranges->items[ranges->n++] = s->range;
    }
    return true;
}

/* The floor is the greatest over all ops of the live bytes, untiled or by the best lower bound.
 * Ranges whose ops are all below it gain nothing: they are pruned. */
static void prune(const uint64_t *low, const arn_search_space *space, arn_group_ranges *ranges) {
    uint32_t kept = 0;
    ranges->floor = 0;
    for (uint32_t op = 0; op < space->graph->program->n_ops; op++) {
        const uint64_t least = arn_min_u64(low[op], space->live[op]);
        if (least <= ranges->floor) continue;
        ranges->floor = least;
        ranges->floor_op = op;
    }
    for (uint32_t i = 0; i < ranges->n; i++) {
        if (ranges->items[i].whole > ranges->floor) ranges->items[kept++] = ranges->items[i];
    }
    ranges->n = kept;
}

/* Estimate for two even tiles. */
static uint64_t estimate(const arn_group_range *w) {
    return arn_max_u64(w->bound, w->live_through + w->read + w->made / 2);
}

/* Ascending by the estimate, then by length. */
static bool sort(const arn_search_space *space, arn_group_ranges *ranges) {
    const arenaut_allocator *allocator = space->graph->allocator;
    const uint32_t n = ranges->n;
    uint32_t *ids = arn_allocate(allocator, n, sizeof *ids);
    uint32_t *scratch = arn_allocate(allocator, n, sizeof *scratch);
    uint64_t *key = arn_allocate(allocator, n, sizeof *key);
    arn_group_range *sorted = arn_allocate(allocator, n, sizeof *sorted);
    const bool fits = ids && scratch && key && sorted;
    for (uint32_t i = 0; fits && i < n; i++) {
        const arn_group_range *w = &ranges->items[i];
        ids[i] = i;
        key[i] = estimate(w) << 8 | (w->ops.end - w->ops.first);
    }
    if (fits) {
        arn_sort_by_key(ids, n, key, scratch);
        for (uint32_t i = 0; i < n; i++) sorted[i] = ranges->items[ids[i]];
        if (n > 0) memcpy(ranges->items, sorted, n * sizeof *sorted);
    }
    ARN_RELEASE(allocator, ids, scratch, key, sorted);
    return fits;
}

bool arn_group_ranges_find(const arn_search_space *space, arn_budget *budget,
                           arn_group_ranges *ranges) {
    const arenaut_allocator *allocator = space->graph->allocator;
    const uint32_t n = space->graph->program->n_ops;
    sweep s = {.space = space,
               .ends = arn_allocate(allocator, (size_t)n + 1, sizeof *s.ends),
               .between = arn_allocate(allocator, (size_t)n + 2, sizeof *s.between)};
    uint64_t *low = arn_allocate(allocator, n, sizeof *low);
    bool fits = s.ends && s.between && low;
    if (fits) {
        memset(low, 0xFF, n * sizeof *low);
        measure_boundaries(&s);
    }
    for (uint32_t first = 0; first < n && fits; first++) {
        if (!arn_budget_spend(budget, space->graph->program->n_tensors)) break;
        fits = find_from(&s, first, budget, low, ranges);
    }
    if (fits) prune(low, space, ranges);
    ARN_RELEASE(allocator, s.ends, s.between, low);
    return fits && sort(space, ranges);
}

void arn_group_ranges_free(arn_group_ranges *ranges, const arenaut_allocator *allocator) {
    arn_release(allocator, ranges->items);
}
