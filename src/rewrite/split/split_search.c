/* Which stages to split, into how many pieces, and how. Stages that are apart do not touch each
 * other's cost; so each range of ops is tried by itself, in each mode and in ever more pieces, and
 * the best choices among all that was tried are found together (split_front.c). A range is given up
 * once it can need no less than a choice that keeps no more does already.
 *
 * What is measured is the sum of what the tensors need at once and what the runtime keeps for ops
 * and tensors, since every piece costs some. Where results may lie over operands, tensors need as
 * much less at an op as its kernel allows. How the tensors are placed is left to the planners. */
#include <string.h>

#include <arenaut/pass.h>

#include "core/checked.h"
#include "core/fail.h"
#include "core/memory.h"
#include "rewrite/split/split_bound.h"
#include "rewrite/split/split_stages.h"
#include "rewrite/split/split_windows.h"

enum {
    FEW = 12,           /* pieces, up to which each number is tried */
    PATIENCE = 2,       /* times in a row that more pieces need no less */
    EFFORT = 20000000,  /* ops of drafts, in all */
    COUNTED_PER_OP = 8, /* ops of bands that are counted in the time that one is put into a draft */
    FIRST_LOOK = 64,    /* candidates before the front is found for the first time */
};

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
    uint64_t effort;
    bool failed; /* no memory */
} search;

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

static void count_notes(search *s) {
    const arenaut_target *target = s->field.options->target;
    const arenaut_program *p = graph_of(s)->program;
    if (!target || !target->layout) return;
    s->field.notes = (uint64_t)p->n_tensors * target->layout->tensor_note +
                     (uint64_t)target->layout->n_requests * target->layout->request;
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        if (arn_split_bytes(graph_of(s), t) > 0) s->field.notes += target->layout->buffer_note;
    }
}

static void price_program(search *s) {
    const arenaut_optional_id *limit = &s->field.options->max_macs;
    double macs = 0;
    for (uint32_t op = 0; op < graph_of(s)->program->n_ops && !s->failed; op++) {
        s->failed = !price_op(s, op);
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
    s->effort += (uint64_t)stage->n_ops * stage->pieces / COUNTED_PER_OP;
    const bool counted = arn_bands_count(&s->bands, graph_of(s), stage);
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
    s->effort += s->draft.n_ops;
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
    if (!count(s, &c.stage)) return true;
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

/* All ways in at two pieces, then all that are left at more, until none is left. Calls that compute
 * rows again are none: ops that cost next to nothing would be paid for in multiplications. */
static void try_all(search *s) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->windows.n; i++) {
        for (int mode = 0; mode < ARENAUT_SPLIT_MODE_COUNT; mode++) {
            const bool called = mode == ARENAUT_SPLIT_KEPT_CALLED;
            if (mode == ARENAUT_SPLIT_ROWS_CALLED) continue;
            if (mode == ARENAUT_SPLIT_FITTED_OVER && !s->field.options->overlap) continue;
            if (called && asks_for_scratch(s, &s->windows.items[i])) continue;
            s->ways[n++] = (way_in){i, (arenaut_split_mode)mode, 1, 0, UINT64_MAX, UINT64_MAX};
        }
    }
    while (n > 0 && !s->failed && s->effort < EFFORT) {
        uint32_t left = 0;
        for (uint32_t i = 0; i < n && !s->failed && s->effort < EFFORT; i++) {
            if (try_next(s, &s->ways[i])) s->ways[left++] = s->ways[i];
        }
        n = left;
    }
}

/* ---- what was found ---- */

static void look(search *s) {
    price_program(s);
    if (!s->failed) s->failed = !arn_split_find_windows(&s->field, &s->windows);
    if (s->failed) return;
    s->ways = arn_allocate(graph_of(s)->allocator, (size_t)s->windows.n * ARENAUT_SPLIT_MODE_COUNT,
                           sizeof *s->ways);
    s->failed = !s->ways;
    if (!s->failed) look_again(s);
    if (!s->failed) try_all(s);
    if (!s->failed) look_again(s);
}

/* Whether `b` is nowhere better than `a`. */
static bool is_beaten(const arenaut_split_choice *b, const arenaut_split_choice *a) {
    return a->head + (uint64_t)a->kept <= b->head + (uint64_t)b->kept && a->ops <= b->ops &&
           a->macs <= b->macs;
}

/* A result owns all that it points at. */
typedef struct found {
    arenaut_split_front front;
    arn_region region;
} found;

typedef struct list {
    arenaut_split_choice *choices;
    uint32_t n;
} list;

static uint64_t needed(const arenaut_split_choice *c) { return c->head + (uint64_t)c->kept; }

/* Those that need more stand before those that need less. */
static void insert(list *to, const arenaut_split_choice *choice) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < to->n; i++) {
        if (!is_beaten(&to->choices[i], choice)) to->choices[n++] = to->choices[i];
    }
    uint32_t at = n;
    for (; at > 0 && needed(&to->choices[at - 1]) < needed(choice); at--) {
        to->choices[at] = to->choices[at - 1];
    }
    to->choices[at] = *choice;
    to->n = n + 1;
}

static bool add_choice(const arn_split_front *from, const arn_split_choice *c, found *made,
                       list *to) {
    arenaut_split_choice choice = {.n_stages = c->n,
                                   .tensors = c->peak,
                                   .kept = c->price.kept,
                                   .head = c->sum - (uint64_t)c->price.kept,
                                   .ops = (uint32_t)c->price.ops,
                                   .macs = (uint64_t)c->price.macs};
    for (uint32_t i = 0; i < to->n; i++) {
        if (is_beaten(&choice, &to->choices[i])) return true;
    }
    arenaut_split_stage *stages = arn_region_allocate(&made->region, c->n, sizeof *stages);
    if (!stages) return false;
    if (c->n > 0) memcpy(stages, from->stages + c->first, c->n * sizeof *stages);
    choice.stages = stages;
    insert(to, &choice);
    return true;
}

/* The fronts as they are now. */
static bool list_choices(const search *s, found *made, list *to) {
    const arn_split_front *const fronts[] = {&s->all, &s->no_macs};
    to->choices = arn_region_allocate(&made->region, (size_t)s->all.n + s->no_macs.n + 1,
                                      sizeof *to->choices);
    bool fits = to->choices != NULL;
    for (int k = 0; k < 2; k++) {
        for (uint32_t i = 0; i < fronts[k]->n && fits; i++) {
            fits = add_choice(fronts[k], &fronts[k]->choices[i], made, to);
        }
    }
    return fits;
}

static found *make_result(search *s) {
    const arenaut_allocator *allocator = graph_of(s)->allocator;
    list even = {0}, any = {0};
    found *made = arn_allocate_zeroed(allocator, 1, sizeof *made);
    if (!made) return NULL;
    arn_region_init(&made->region, allocator);
    made->front.floor = s->windows.floor;
    made->front.floor_op = graph_of(s)->program->n_ops > 0 ? s->windows.floor_op : ARENAUT_NONE;
    bool fits = list_choices(s, made, &even);
    find_fronts(s, false);
    fits = fits && !s->failed && list_choices(s, made, &any);
    made->front.choices = any.choices;
    made->front.n_choices = any.n;
    made->front.even = even.choices;
    made->front.n_even = even.n;
    if (fits) return made;
    arenaut_split_front_free(&made->front);
    return NULL;
}

static void end(search *s) {
    const arenaut_allocator *allocator = graph_of(s)->allocator;
    arn_costing_free(&s->costing);
    arn_draft_free(&s->draft);
    arn_bands_free(&s->bands);
    arn_split_windows_free(&s->windows, allocator);
    arn_split_front_free(&s->all, allocator);
    arn_split_front_free(&s->no_macs, allocator);
    arn_release(allocator, s->field.candidates);
    arn_release(allocator, s->field.alive);
    arn_release(allocator, s->whole);
    arn_release(allocator, s->ways);
}

arenaut_status arenaut_split_find(const arenaut_program *program,
                                  const arenaut_split_options *options,
                                  const arenaut_allocator *allocator, arenaut_split_front **front,
                                  arenaut_error *err) {
    static const arenaut_split_options no_options = {0};
    arn_split_graph graph;
    const arenaut_status st = arn_split_graph_make(program, allocator, &graph, err);
    if (st != ARENAUT_OK) return st;
    if (!options) options = &no_options;
    search s = {.field = {.graph = &graph,
                          .options = options,
                          .alive = arn_allocate(allocator, program->n_ops, sizeof(uint64_t))},
                .costing = arn_costing_begin(&graph, options),
                .draft = arn_draft_begin(&graph),
                .whole = arn_allocate(allocator, program->n_ops, sizeof *s.whole)};
    s.failed = s.costing.failed || !s.field.alive || !s.whole;
    if (!s.failed) look(&s);
    found *made = s.failed ? NULL : make_result(&s);
    end(&s);
    arn_split_graph_free(&graph);
    if (!made) return arn_no_memory(err);
    *front = &made->front;
    return ARENAUT_OK;
}

/* The front is the first member. */
void arenaut_split_front_free(arenaut_split_front *front) {
    found *made = (found *)front;
    if (!made) return;
    const arenaut_allocator allocator = made->region.allocator;
    arn_region_free(&made->region);
    arn_release(&allocator, made);
}
