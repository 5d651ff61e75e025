/* The search for tile groups: branch and bound over ranges of ops, modes and numbers of tiles, with
 * the Pareto front of the candidates as incumbent (pareto_front.c). Groups that are apart do not
 * touch each other's cost, so each range is tried by itself, in each mode and in ever more tiles. A
 * range is pruned once its lower bound is no better than a known choice with no more persistent
 * memory.
 *
 * The cost is the sum of the live bytes at the peak and the bytes that the runtime keeps of ops and
 * tensors, since every tile costs some. If results may lie over operands, live bytes are less at an
 * op by as much as its kernel allows. Offsets are left to the planners. */
#include <string.h>

#include <arenaut/pass.h>

#include "core/budget.h"
#include "core/checked.h"
#include "core/fail.h"
#include "core/memory.h"
#include "core/sort.h"
#include "rewrite/find_within.h"
#include "rewrite/split/pareto_front.h"
#include "rewrite/split/row_tiles.h"
#include "rewrite/split/tile_groups.h"

enum {
    LONGEST = 96,       /* ops of a stage that is looked for */
    FEW = 12,           /* pieces, up to which each number is tried */
    PATIENCE = 2,       /* times in a row that more pieces need no less */
    EFFORT = 20000000,  /* ops of drafts, in all, unless the caller says how many */
    COUNTED_PER_OP = 8, /* ops of bands that are counted in the time that one is put into a draft */
    LOOKS_PER_OP = 32,  /* of fronts, and places of cropped windows, likewise */
    FIRST_LOOK = 64,    /* candidates before the front is found for the first time */
};

/* ---- candidate ranges ---- */

typedef struct arn_op_window {
    arn_op_range ops;
    uint64_t past;  /* goes past it */
    uint64_t read;  /* from before, and not needed afterwards */
    uint64_t made;  /* results */
    uint64_t whole; /* the most that is alive at one of its ops, with nothing split */
    uint64_t sure;  /* no split of it needs less */
} arn_op_window;

typedef struct arn_split_windows {
    arn_op_window *items;
    uint32_t n, capacity;
    uint64_t floor;    /* no choice of stages needs less */
    uint32_t floor_op; /* where that is */
} arn_split_windows;

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

/* All windows in which something is gained, those that may need least first; where the budget has
 * ended, some of them, and a floor that means nothing. False if there is no memory. */
static bool find_windows(const arn_split_field *field, arn_budget *budget,
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

static void free_windows(arn_split_windows *windows, const arenaut_allocator *allocator) {
    arn_release(allocator, windows->items);
}

/* ---- the search ---- */

/* A window in one mode. */
typedef struct way_in {
    uint32_t window;
    arenaut_split_mode mode;
    uint32_t pieces, idle;
    uint64_t best, lowest; /* peak so far, and bound on one */
} way_in;

typedef struct search {
    arn_split_field field;
    arn_costing costing;
    arn_draft draft;
    arn_bands bands;
    arn_split_windows windows;
    arn_split_front all, no_macs; /* of the candidates so far, in pieces of equal size */
    uint32_t looked;              /* candidates when they were found */
    arn_split_price *whole;       /* per op, as it is */
    way_in *ways;
    arn_budget *budget;
    uint64_t effort;
    bool failed; /* no memory */
    bool begun;  /* what can be split is known */
} search;

uint64_t arenaut_split_default_effort(void) { return EFFORT; }

static void count_effort(search *s, uint64_t ops) {
    s->effort += ops;
    arn_budget_spend(s->budget, LOOKS_PER_OP * ops);
}

static const arn_split_graph *graph_of(const search *s) { return s->field.graph; }

/* ---- the program as it is ---- */

static bool price_op(search *s, uint32_t op) {
    const arn_op_range alone = {op, op + 1};
    arn_draft_cost cost;
    arn_draft_clear(&s->draft);
    arn_draft_copy(&s->draft, op);
    if (!arn_draft_peak_of(&s->costing, &s->draft, alone, arn_split_past(graph_of(s), alone),
                           &s->field.alive[op]) ||
        !arn_draft_cost_of(&s->costing, &s->draft, alone, &cost)) {
        return false;
    }
    s->field.alive[op] += arn_split_scratch(&s->costing, op);
    s->whole[op] = (arn_split_price){cost.kept, cost.notes, (int64_t)cost.macs, 1};
    return true;
}

/* What the runtime keeps for the application's handles, only once its notes are gone. */
static uint64_t count_handles(const arenaut_arena_layout *layout, const arenaut_program *p,
                              const uint32_t *tensors, uint32_t n) {
    uint64_t bytes = (uint64_t)n * (layout->pointer + layout->argument);
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t n_scales = p->tensors[tensors[i]].n_scales;
        if (n_scales > 0) bytes += layout->quantization + 4 * (n_scales + 1);
    }
    return bytes;
}

/* No more than its notes need beside what is kept in the end. */
static void count_notes(search *s) {
    const arenaut_target *target = s->field.options->target;
    const arenaut_program *p = graph_of(s)->program;
    if (!target || !target->layout) return;
    const arenaut_arena_layout *layout = target->layout;
    const arenaut_method *entry = &p->methods[0];
    uint64_t notes = (uint64_t)p->n_tensors * layout->tensor_note +
                     (uint64_t)layout->n_requests * layout->request;
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        if (arn_split_bytes(graph_of(s), t) > 0) notes += layout->buffer_note;
    }
    const uint64_t handles = count_handles(layout, p, entry->inputs, entry->n_inputs) +
                             count_handles(layout, p, entry->outputs, entry->n_outputs);
    s->field.notes = (int64_t)notes - (int64_t)handles;
}

static void price_program(search *s) {
    const arenaut_optional_id *limit = &s->field.options->max_macs;
    double macs = 0;
    for (uint32_t op = 0; op < graph_of(s)->program->n_ops && !s->failed; op++) {
        if (arn_budget_ended(s->budget)) return;
        s->failed = !price_op(s, op);
        arn_budget_spend(s->budget, LOOKS_PER_OP);
        macs += (double)s->whole[op].macs;
    }
    count_notes(s);
    const double most = limit->given ? macs / 100 * (double)limit->id : 1e18;
    s->field.max_macs = most < 1e18 ? (int64_t)most : INT64_MAX;
}

/* ---- one stage ---- */

static const char *refuse(const search *s, const arenaut_split_stage *stage) {
    return arn_split_by_channels(stage->mode) ? arn_split_channels_refuse(graph_of(s), stage)
                                              : arn_split_rows_refuse(graph_of(s), stage);
}

/* Counts which rows its bands make, if it has bands. False where it cannot be split so. */
static bool count(search *s, const arenaut_split_stage *stage) {
    if (arn_split_by_channels(stage->mode)) return true;
    const uint64_t before = s->bands.places;
    const bool counted = arn_bands_count(&s->bands, graph_of(s), stage);
    count_effort(s, (uint64_t)stage->n_ops * stage->pieces / COUNTED_PER_OP +
                        (s->bands.places - before) / LOOKS_PER_OP);
    s->failed = s->failed || s->bands.failed;
    return counted;
}

/* No draft of the stage, which has been counted, needs less. */
static uint64_t bound_of(const search *s, const arn_op_window *w,
                         const arenaut_split_stage *stage) {
    const arenaut_split_options *options = s->field.options;
    const bool reach = options->overlap || options->in_place;
    const uint64_t within = arn_split_by_channels(stage->mode)
                                ? arn_split_channels_bound(graph_of(s), stage, reach)
                                : arn_split_bands_bound(&s->bands, reach);
    return arn_max_u64(w->sure, w->past + within);
}

/* Puts a stage that has been counted into the draft, and finds what it needs. False where it cannot
 * be split so, or there is no memory. */
static bool find_peak(search *s, const arn_op_window *w, arn_split_candidate *c) {
    arn_draft_clear(&s->draft);
    if (arn_split_by_channels(c->stage.mode)) arn_split_put_channels(&s->draft, &c->stage);
    else arn_split_put_bands(&s->draft, &s->bands);
    count_effort(s, s->draft.n_ops);
    s->failed = s->failed || s->draft.failed ||
                (!s->draft.refused &&
                 !arn_draft_peak_of(&s->costing, &s->draft, w->ops, w->past, &c->peak));
    return !s->draft.refused && !s->failed;
}

/* What the stage in the draft adds. False if there is no memory. */
static bool find_price(search *s, const arn_op_window *w, arn_split_candidate *c) {
    arn_draft_cost cost;
    arn_draft_share_constants(&s->draft);
    s->failed =
        s->failed || s->draft.failed || !arn_draft_cost_of(&s->costing, &s->draft, w->ops, &cost);
    if (s->failed) return false;
    c->price = (arn_split_price){cost.kept, cost.notes, (int64_t)cost.macs, cost.n_ops};
    for (uint32_t op = w->ops.first; op < w->ops.end; op++) {
        c->price.kept -= s->whole[op].kept;
        c->price.notes -= s->whole[op].notes;
        c->price.macs -= s->whole[op].macs;
        c->price.ops -= 1;
    }
    if (c->price.macs < 0) c->price.macs = 0; /* parts are rounded */
    return true;
}

/* No choice with such a stage needs less than one that is known and keeps no more. */
static bool is_surpassed(const search *s, uint64_t peak, int64_t kept, bool repeats) {
    const arn_split_front *known = repeats ? &s->all : &s->no_macs;
    const uint64_t least = arn_max_u64(peak, s->windows.floor) + (uint64_t)(kept > 0 ? kept : 0);
    return arn_split_least_sum(known, kept) <= least;
}

static void find_fronts(search *s, bool even) {
    const arn_split_filter any = {.even = even}, once = {.even = even, .no_macs = true};
    s->failed = s->failed || !arn_split_find_front(&s->field, any, &s->all) ||
                !arn_split_find_front(&s->field, once, &s->no_macs);
    count_effort(s, (s->all.looks + s->no_macs.looks) / LOOKS_PER_OP);
}

/* What pieces of unequal size save is said with less certainty, so that nothing is given up for
 * them. */
static void look_again(search *s) {
    s->looked = s->field.n;
    find_fronts(s, true);
}

static void add_candidate(search *s, const arn_split_candidate *c) {
    arn_split_field *f = &s->field;
    if (!arn_grow(graph_of(s)->allocator, (void **)&f->candidates, &f->capacity, (uint64_t)f->n + 1,
                  sizeof *f->candidates)) {
        s->failed = true;
        return;
    }
    f->candidates[f->n++] = *c;
    if (f->n >= FIRST_LOOK + s->looked + s->looked / 2) look_again(s);
}

/* ---- pieces ---- */

/* How much of the last op's result there is along the axis of the pieces. */
static int64_t length(const search *s, const arn_op_window *w, arenaut_split_mode mode) {
    const arenaut_program *p = graph_of(s)->program;
    const int64_t *dims = p->tensors[p->ops[w->ops.end - 1].outputs[0]].dims;
    return dims[arn_split_by_channels(mode) ? ARN_AXIS_C : ARN_AXIS_H];
}

/* The fewest of which the largest is smaller; 0: there are none. Each number of few pieces is
 * another matter, since they are not all of one size; but for bands of equal height. */
static uint32_t more_pieces(const search *s, const arn_op_window *w, const way_in *way) {
    const int64_t all = length(s, w, way->mode), size = (all + way->pieces - 1) / way->pieces;
    if (way->mode != ARENAUT_SPLIT_KEPT_CALLED && way->pieces < FEW) return way->pieces + 1;
    return size <= 1 ? 0 : (uint32_t)((all + size - 2) / (size - 1));
}

/* What the pieces add to what is kept, at least: an op for each op that makes something in a piece,
 * or one that calls the piece's. */
static int64_t least_kept(const search *s, const arn_op_window *w,
                          const arenaut_split_stage *stage) {
    const arenaut_target *target = s->field.options->target;
    const int64_t least = target && target->layout ? (int64_t)target->layout->op : 0;
    int64_t kept = 0;
    if (stage->mode == ARENAUT_SPLIT_KEPT_CALLED) return least * (stage->pieces - 1);
    for (uint32_t op = w->ops.first; op < w->ops.end; op++) {
        if (graph_of(s)->ops[op].of_constants) continue;
        if (arn_split_by_channels(stage->mode)) kept += least * (stage->pieces - 1);
        else kept += s->whole[op].kept * arn_bands_repeats(&s->bands, op - w->ops.first);
    }
    return kept;
}

static bool repeats_macs(arenaut_split_mode mode) {
    return !arn_split_by_channels(mode) && mode != ARENAUT_SPLIT_KEPT &&
           mode != ARENAUT_SPLIT_KEPT_CALLED;
}

/* Tries one more number of pieces; false when there is no point in going on: with more and more of
 * them ever more is kept. */
static bool try_next(search *s, way_in *way) {
    const arn_op_window *w = &s->windows.items[way->window];
    const bool repeats = repeats_macs(way->mode);
    way->pieces = way->pieces > 1 ? more_pieces(s, w, way) : 2;
    arn_split_candidate c = {
        .stage = {w->ops.first, w->ops.end - w->ops.first, way->pieces, way->mode}};
    if (way->pieces == 0 || refuse(s, &c.stage)) return false;
    if (!count(s, &c.stage)) return way->mode == ARENAUT_SPLIT_KEPT_CALLED;
    const int64_t kept = least_kept(s, w, &c.stage);
    if (is_surpassed(s, w->sure, kept, repeats)) return false;
    const uint64_t bound = bound_of(s, w, &c.stage);
    c.peak = UINT64_MAX;
    if (!is_surpassed(s, bound, kept, repeats) && !find_peak(s, w, &c)) return true;
    way->idle = c.peak < way->best || bound < way->lowest ? 0 : way->idle + 1;
    way->best = arn_min_u64(way->best, c.peak);
    way->lowest = arn_min_u64(way->lowest, bound);
    const bool hopeless = c.peak >= w->whole || is_surpassed(s, c.peak, kept, repeats);
    if (!hopeless && find_price(s, w, &c) && !is_surpassed(s, c.peak, c.price.kept, repeats)) {
        add_candidate(s, &c);
    }
    return way->idle < PATIENCE;
}

static bool asks_for_scratch(const search *s, const arn_op_window *w) {
    const arenaut_kernel_set *kernels = s->field.options->run_by;
    const arenaut_program *program = graph_of(s)->program;
    for (uint32_t i = w->ops.first; i < w->ops.end && kernels; i++) {
        if (arenaut_op_asks_for_scratch(program, &program->ops[i], kernels)) return true;
    }
    return false;
}

/* Whether an op of the window would be padded in bands that are not cropped. */
static bool can_be_cropped(const search *s, const arn_op_window *w) {
    for (uint32_t i = w->ops.first; i < w->ops.end; i++) {
        const arn_split_op *op = &graph_of(s)->ops[i];
        const arn_split_window *h = &op->window[ARN_AXIS_H], *across = &op->window[ARN_AXIS_W];
        const bool pads = h->before + h->after + across->before + across->after > 0;
        if (op->same && !op->counts_zeroes && pads) return true;
    }
    return false;
}

/* Calls that compute rows again are no way: ops that cost next to nothing would be paid for in
 * multiplications. What ops compute of constants is put in front of all bands: a window that begins
 * with one is the window behind it. And without paddings cropped bands are the padded ones. */
static bool is_way(const search *s, const arn_op_window *w, arenaut_split_mode mode) {
    switch (mode) {
        case ARENAUT_SPLIT_CHANNELS:
        case ARENAUT_SPLIT_FITTED: return true;
        case ARENAUT_SPLIT_FITTED_OVER: return s->field.options->overlap;
        case ARENAUT_SPLIT_ROWS_CALLED: return false;
        default: break;
    }
    if (graph_of(s)->ops[w->ops.first].of_constants) return false;
    if (mode == ARENAUT_SPLIT_KEPT_CALLED) return !asks_for_scratch(s, w);
    const bool crops = mode == ARENAUT_SPLIT_CROPPED || mode == ARENAUT_SPLIT_KEPT_CROPPED;
    return !crops || can_be_cropped(s, w);
}

/* All ways in at two pieces, then all that are left at more, until none is left. */
static void try_all(search *s) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->windows.n; i++) {
        for (int mode = 0; mode < ARENAUT_SPLIT_MODE_COUNT; mode++) {
            if (!is_way(s, &s->windows.items[i], (arenaut_split_mode)mode)) continue;
            s->ways[n++] = (way_in){i, (arenaut_split_mode)mode, 1, 0, UINT64_MAX, UINT64_MAX};
        }
    }
    const uint64_t given = s->budget->effort, most = given ? given : EFFORT;
    while (n > 0 && !s->failed && s->effort < most && !arn_budget_ended(s->budget)) {
        uint32_t left = 0;
        for (uint32_t i = 0; i < n && !s->failed && s->effort < most; i++) {
            if (!arn_budget_spend(s->budget, LOOKS_PER_OP)) break;
            if (try_next(s, &s->ways[i])) s->ways[left++] = s->ways[i];
        }
        n = left;
    }
}

/* ---- all together ---- */

static void look(search *s) {
    price_program(s);
    if (!s->failed && !arn_budget_ended(s->budget)) {
        s->failed = !find_windows(&s->field, s->budget, &s->windows);
    }
    s->begun = !s->failed && !arn_budget_ended(s->budget);
    if (!s->begun) return;
    s->ways = arn_allocate(graph_of(s)->allocator, (size_t)s->windows.n * ARENAUT_SPLIT_MODE_COUNT,
                           sizeof *s->ways);
    s->failed = !s->ways;
    if (!s->failed) look_again(s);
    if (!s->failed) try_all(s);
    if (!s->failed) look_again(s);
}

static arenaut_split_front *make_result(search *s) {
    arenaut_split_front *made = arn_split_choices_new(graph_of(s)->allocator);
    if (!made) return NULL;
    made->floor = s->windows.floor;
    made->floor_op = graph_of(s)->program->n_ops > 0 ? s->windows.floor_op : ARENAUT_NONE;
    const bool listed = arn_split_choices_list(made, &s->all, &s->no_macs, true);
    find_fronts(s, false);
    made->effort = s->effort;
    if (listed && !s->failed && arn_split_choices_list(made, &s->all, &s->no_macs, false)) {
        return made;
    }
    arenaut_split_front_free(made);
    return NULL;
}

static void end(search *s) {
    const arenaut_allocator *allocator = graph_of(s)->allocator;
    arn_costing_free(&s->costing);
    arn_draft_free(&s->draft);
    arn_bands_free(&s->bands);
    free_windows(&s->windows, allocator);
    arn_split_front_free(&s->all, allocator);
    arn_split_front_free(&s->no_macs, allocator);
    arn_release(allocator, s->field.candidates);
    arn_release(allocator, s->field.alive);
    arn_release(allocator, s->whole);
    arn_release(allocator, s->ways);
}

static arenaut_status stopped(arenaut_error *err) {
    return arn_fail(err, ARENAUT_STOPPED, 0,
                    "the search for stages was stopped before it knew where there may be some");
}

arenaut_status arn_split_find(const arenaut_program *program, arn_budget *budget,
                              const arenaut_split_options *options,
                              const arenaut_allocator *allocator, arenaut_split_front **front,
                              arenaut_error *err) {
    arn_split_graph graph;
    const arenaut_status st = arn_split_graph_make(program, allocator, &graph, err);
    if (st != ARENAUT_OK) return st;
    search s = {.field = {.graph = &graph,
                          .options = options,
                          .alive = arn_allocate(allocator, program->n_ops, sizeof(uint64_t))},
                .budget = budget,
                .costing = arn_costing_begin(&graph, options),
                .draft = arn_draft_begin(&graph),
                .whole = arn_allocate(allocator, program->n_ops, sizeof *s.whole)};
    s.failed = s.costing.failed || !s.field.alive || !s.whole;
    if (!s.failed) look(&s);
    *front = s.begun && !s.failed ? make_result(&s) : NULL;
    const bool is_late = !s.begun && !s.failed;
    end(&s);
    arn_split_graph_free(&graph);
    if (*front) return ARENAUT_OK;
    return is_late ? stopped(err) : arn_no_memory(err);
}

arenaut_status arenaut_split_find(const arenaut_program *program,
                                  const arenaut_split_options *options,
                                  const arenaut_allocator *allocator, arenaut_split_front **front,
                                  arenaut_error *err) {
    static const arenaut_split_options none = {0};
    const arenaut_split_options *o = options ? options : &none;
    arn_budget budget = arn_budget_make(o->effort, o->progress, o->progress_context);
    return arn_split_find(program, &budget, o, allocator, front, err);
}
