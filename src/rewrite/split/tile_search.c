/* The search for tile groups: enumeration of ranges of ops (tile_ranges.c), modes and numbers of
 * tiles with the pruning of branch and bound; the incumbent is the Pareto front of the candidates
 * (pareto_front.c). Groups that are apart do not touch each other's cost, so each range is tried by
 * itself, in each mode and in ever more tiles. A range is pruned once its lower bound is no better
 * than a known choice with no more persistent memory. Where drafts are of many ops, long ranges
 * begin and end only where little is live, and the op at which most is live comes first: of the
 * ranges and numbers of tiles that are tried, no choice needs less than the best one at that op.
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
#include "ir/program.h"
#include "passes/scratch.h"
#include "rewrite/find_within.h"
#include "rewrite/split/tile_groups.h"
#include "rewrite/split/tile_ranges.h"
#include "rewrite/tile_dialects/tile_dialect.h"

enum {
    FEW = 12,               /* tiles, up to which each number is tried */
    PATIENCE = 2,           /* times in a row that more tiles need no less, */
    LEAPS = 5,              /* where they are tried by leaps */
    EFFORT = 20000000,      /* ops of drafts, in all, unless the caller says how many */
    EFFORT_PER_OP = 100000, /* the same per op of the program, where drafts are of many ops */
    COUNTED_PER_OP =
        8,     /* ops of row tiles that are counted in the time that one is put into a draft */
    PACED = 2, /* times as much time where each op has a height of its own */
    VISITS_PER_OP = 32, /* of fronts, and places of cropped windows, likewise */
    FIRST_FRONTS = 64,  /* candidates before the front is found for the first time */
};

/* A range in one mode. */
typedef struct attempt {
    uint32_t range;
    arenaut_split_mode mode;
    uint32_t pieces, idle;
    uint64_t best, lowest; /* least peak and least bound so far */
} attempt;

typedef struct search {
    arn_search_space space;
    arn_costing costing;
    arn_draft draft;
    arn_row_tiles row_tiles;
    arn_group_ranges ranges;
    arn_tile_front all, no_macs; /* of the candidates so far with tiles of equal size */
    uint32_t n_in_fronts;        /* candidates that they are of */
    arn_tile_price *untiled;     /* per op, its cost untiled */
    attempt *attempts;
    uint64_t *least;  /* per op, of the peaks of candidates with it, and as it is */
    uint64_t reached; /* lower bound of the peaks of all choices with attempts that are left */
    arn_budget *budget;
    uint64_t effort;
    bool failed; /* no memory */
    bool begun;  /* the ranges are known */
} search;

uint64_t arn_split_default_effort(void) { return EFFORT; }

static void count_effort(search *s, uint64_t ops) {
    s->effort += ops;
    arn_budget_spend(s->budget, VISITS_PER_OP * ops);
}

static const arn_tile_graph *graph_of(const search *s) { return s->space.graph; }

/* ---- the program as it is ---- */

static bool price_op(search *s, uint32_t op) {
    const arn_op_range alone = {op, op + 1};
    arn_draft_cost cost;
    arn_draft_clear(&s->draft);
    arn_draft_copy(&s->draft, op);
    if (!arn_draft_peak_of(&s->costing, &s->draft, alone, arn_tile_live_through(graph_of(s), alone),
                           &s->space.live[op]) ||
        !arn_draft_cost_of(&s->costing, &s->draft, alone, &cost)) {
        return false;
    }
    s->space.live[op] += arn_tile_scratch(&s->costing, op);
    s->untiled[op] = (arn_tile_price){cost.kept, cost.notes, (int64_t)cost.macs, 1, 0, 0};
    return true;
}

/* Bytes that the runtime keeps for the application's handles, only once its notes are gone. */
static uint64_t count_handles(const arenaut_arena_layout *layout, const arenaut_program *p,
                              const uint32_t *tensors, uint32_t n) {
    uint64_t bytes = (uint64_t)n * (layout->pointer + layout->argument);
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t n_scales = p->tensors[tensors[i]].n_scales;
        if (n_scales > 0) bytes += layout->quantization + 4 * (n_scales + 1);
    }
    return bytes;
}

/* No more than its notes need beside the bytes that are kept in the end. */
static void count_notes(search *s) {
    const arenaut_target *target = s->space.options->target;
    const arenaut_program *p = graph_of(s)->program;
    if (!target || !target->layout) return;
    const arenaut_arena_layout *layout = target->layout;
    const arenaut_method *entry = &p->methods[0];
    uint64_t notes = (uint64_t)p->n_tensors * layout->tensor_note +
                     (uint64_t)layout->n_requests * layout->request;
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        if (arn_tile_bytes(graph_of(s), t) > 0) notes += layout->buffer_note;
    }
    const uint64_t handles = count_handles(layout, p, entry->inputs, entry->n_inputs) +
                             count_handles(layout, p, entry->outputs, entry->n_outputs);
    s->space.notes = (int64_t)notes - (int64_t)handles;
}

static void price_program(search *s) {
    const arenaut_optional_id usual = graph_of(s)->dialect->most_macs,
                              *asked = &s->space.options->max_macs;
    const arenaut_optional_id *limit = asked->given ? asked : &usual;
    double macs = 0;
    for (uint32_t op = 0; op < graph_of(s)->program->n_ops && !s->failed; op++) {
        if (arn_budget_ended(s->budget)) return;
        s->failed = !price_op(s, op);
        arn_budget_spend(s->budget, VISITS_PER_OP);
        macs += (double)s->untiled[op].macs;
    }
    count_notes(s);
    const double most = limit->given ? macs / 100 * (double)limit->id : 1e18;
    s->space.max_macs = most < 1e18 ? (int64_t)most : INT64_MAX;
}

/* ---- one group ---- */

static const char *refuse(const search *s, const arenaut_split_stage *group) {
    return arn_tile_by_channels(group->mode) ? arn_channel_tiles_refuse(graph_of(s), group)
                                             : arn_row_tiles_refuse(graph_of(s), group);
}

/* Counts the rows of row tiles. False if the group cannot be tiled so. */
static bool count(search *s, const arenaut_split_stage *group) {
    if (arn_tile_by_channels(group->mode)) return true;
    const uint64_t before = s->row_tiles.places;
    const bool counted = arn_row_tiles_count(&s->row_tiles, graph_of(s), group);
    const uint64_t counted_ops = (uint64_t)group->n_ops * s->row_tiles.n_tiles;
    const uint64_t paced = arn_row_tiles_pace(graph_of(s), group) ? PACED : 1;
    count_effort(
        s, counted_ops * paced / COUNTED_PER_OP + (s->row_tiles.places - before) / VISITS_PER_OP);
    s->failed = s->failed || s->row_tiles.failed;
    return counted;
}

/* Lower bound of the peak of a group that has been counted. */
static uint64_t bound_of(const search *s, const arn_group_range *w,
                         const arenaut_split_stage *group) {
    const arenaut_split_options *options = s->space.options;
    const bool reach = options->overlap || options->in_place;
    const uint64_t within = arn_tile_by_channels(group->mode)
                                ? arn_channel_tiles_bound(graph_of(s), group, reach)
                                : arn_row_tiles_bound(&s->row_tiles, reach);
    return arn_max_u64(w->bound, w->live_through + within);
}

/* Puts a group that has been counted into the draft, and finds its peak. False if it cannot be
 * tiled so, or there is no memory. */
static bool find_peak(search *s, const arn_group_range *w, arn_tile_candidate *c) {
    arn_draft_clear(&s->draft);
    if (arn_tile_by_channels(c->group.mode)) arn_channel_tiles_put(&s->draft, &c->group);
    else arn_row_tiles_put_counted(&s->draft, &s->row_tiles);
    count_effort(
        s, (uint64_t)s->draft.n_ops * (arn_row_tiles_pace(graph_of(s), &c->group) ? PACED : 1));
    s->failed = s->failed || s->draft.failed ||
                (!s->draft.refused &&
                 !arn_draft_peak_of(&s->costing, &s->draft, w->ops, w->live_through, &c->peak));
    return !s->draft.refused && !s->failed;
}

/* The cost that the group in the draft adds. False if there is no memory. */
static bool find_price(search *s, const arn_group_range *w, arn_tile_candidate *c) {
    const arenaut_target *target = s->space.options->target;
    arn_draft_cost cost;
    if (target && target->layout) arn_draft_share_constants(&s->draft); /* else none is counted */
    s->failed =
        s->failed || s->draft.failed || !arn_draft_cost_of(&s->costing, &s->draft, w->ops, &cost);
    if (s->failed) return false;
    c->price = (arn_tile_price){cost.kept,  cost.notes,  (int64_t)cost.macs,
                                cost.n_ops, cost.shared, s->draft.n_rounded};
    for (uint32_t op = w->ops.first; op < w->ops.end; op++) {
        c->price.kept -= s->untiled[op].kept;
        c->price.notes -= s->untiled[op].notes;
        c->price.macs -= s->untiled[op].macs;
        c->price.ops -= 1;
    }
    if (c->price.macs < 0) c->price.macs = 0; /* parts are rounded */
    return true;
}

/* Dominance: no choice with such a group needs less than a known one that keeps no more. */
static bool is_dominated(const search *s, uint64_t peak, int64_t kept, bool repeats) {
    const arn_tile_front *known = repeats ? &s->all : &s->no_macs;
    const uint64_t least = arn_max_u64(peak, arn_max_u64(s->ranges.floor, s->reached)) +
                           (uint64_t)(kept > 0 ? kept : 0);
    return arn_tile_least_sum(known, kept) <= least;
}

static void find_fronts(search *s, bool even) {
    const arn_tile_filter any = {.even = even}, once = {.even = even, .no_macs = true};
    s->failed = s->failed || !arn_tile_front_find(&s->space, any, &s->all) ||
                !arn_tile_front_find(&s->space, once, &s->no_macs);
    count_effort(s, (s->all.visits + s->no_macs.visits) / VISITS_PER_OP);
}

/* The savings of tiles of unequal size are less certain, so that they prune nothing. */
static void update_fronts(search *s) {
    s->n_in_fronts = s->space.n;
    find_fronts(s, true);
}

static void add_candidate(search *s, const arn_tile_candidate *c) {
    arn_search_space *f = &s->space;
    if (!arn_grow(graph_of(s)->allocator, (void **)&f->candidates, &f->capacity, (uint64_t)f->n + 1,
                  sizeof *f->candidates)) {
        s->failed = true;
        return;
    }
    f->candidates[f->n++] = *c;
    for (uint32_t i = 0; i < c->group.n_ops; i++) {
        uint64_t *least = &s->least[c->group.first_op + i];
        *least = arn_min_u64(*least, c->peak);
    }
    if (f->n >= FIRST_FRONTS + s->n_in_fronts + s->n_in_fronts / 2) update_fronts(s);
}

/* ---- numbers of tiles ---- */

/* Length of the last op's result along the axis of the tiles. */
static int64_t length(const search *s, const arn_group_range *w, arenaut_split_mode mode) {
    const arenaut_program *p = graph_of(s)->program;
    const int64_t *dims = p->tensors[p->ops[w->ops.end - 1].outputs[0]].dims;
    if (!arn_tile_by_channels(mode)) return arn_tile_rows(graph_of(s), w->ops.end - 1);
    return dims[arn_tile_dim(graph_of(s), ARN_AXIS_C)];
}

/* The fewest tiles of which the largest is smaller; 0: there are none. Each number of few tiles is
 * another case, since they are not all of one size; but for row tiles of equal height. */
static uint32_t more_tiles(const search *s, const arn_group_range *w, const attempt *it) {
    const int64_t all = length(s, w, it->mode), size = (all + it->pieces - 1) / it->pieces;
    if (graph_of(s)->dialect->many_tiles) {
        const uint32_t next = it->pieces + (it->pieces + 2) / 3;
        return next <= all ? next : 0;
    }
    if (it->mode != ARENAUT_SPLIT_KEPT_CALLED && it->pieces < FEW) return it->pieces + 1;
    return size <= 1 ? 0 : (uint32_t)((all + size - 2) / (size - 1));
}

/* Lower bound of the bytes that the tiles add to those that the runtime keeps: an op for each op
 * that runs in a tile, or one that calls the tile's. */
static int64_t least_kept(const search *s, const arn_group_range *w,
                          const arenaut_split_stage *group) {
    const arenaut_target *target = s->space.options->target;
    const int64_t least = target && target->layout ? (int64_t)target->layout->op : 0;
    int64_t kept = 0;
    if (group->mode == ARENAUT_SPLIT_KEPT_CALLED) return least * (group->pieces - 1);
    for (uint32_t op = w->ops.first; op < w->ops.end; op++) {
        if (graph_of(s)->ops[op].of_constants) continue;
        if (arn_tile_by_channels(group->mode)) kept += least * (group->pieces - 1);
        else kept += s->untiled[op].kept * arn_row_tiles_repeats(&s->row_tiles, op - w->ops.first);
    }
    return kept;
}

/* A group that has been counted may repeat multiplications. */
static bool repeats_macs(const search *s, arenaut_split_mode mode) {
    return !arn_tile_by_channels(mode) &&
           (s->row_tiles.n_sweeps > 1 ||
            (mode != ARENAUT_SPLIT_KEPT && mode != ARENAUT_SPLIT_KEPT_CALLED));
}

/* Multiplications that tiles of the counted rows add. */
static double repeated_macs(const search *s, const arn_group_range *w) {
    double macs = 0;
    for (uint32_t k = 0; k < w->ops.end - w->ops.first; k++) {
        const int64_t height = s->row_tiles.results[k].height;
        int64_t rows = 0;
        for (uint32_t tile = 0; tile < s->row_tiles.n_tiles; tile++) {
            rows += arn_rows_count(arn_row_tile(&s->row_tiles, tile, k)->run);
        }
        if (rows <= height || height == 0) continue;
        macs +=
            (double)graph_of(s)->macs[w->ops.first + k] * (double)(rows - height) / (double)height;
    }
    return macs;
}

static uint32_t patience(const arn_tile_dialect *dialect) {
    return dialect->many_tiles ? LEAPS : PATIENCE;
}

/* Tries one more number of tiles; false if more of them are pointless: with more and more tiles
 * ever more is kept. */
static bool try_next(search *s, attempt *it) {
    const arn_group_range *w = &s->ranges.items[it->range];
    if (w->whole <= s->reached) return false; /* whole it needs no more than any choice does */
    it->pieces = it->pieces > 1 ? more_tiles(s, w, it) : 2;
    arn_tile_candidate c = {
        .group = {w->ops.first, w->ops.end - w->ops.first, it->pieces, it->mode}};
    if (it->pieces == 0 || refuse(s, &c.group)) return false;
    if (!count(s, &c.group)) return it->mode == ARENAUT_SPLIT_KEPT_CALLED;
    const bool repeats = repeats_macs(s, it->mode);
    const int64_t kept = least_kept(s, w, &c.group);
    if (is_dominated(s, w->bound, kept, repeats)) return false;
    if (repeats && repeated_macs(s, w) > (double)s->space.max_macs) return false;
    const uint64_t bound = bound_of(s, w, &c.group);
    c.peak = UINT64_MAX;
    if (!is_dominated(s, bound, kept, repeats) && !find_peak(s, w, &c)) return true;
    it->idle = c.peak < it->best || bound < it->lowest ? 0 : it->idle + 1;
    it->best = arn_min_u64(it->best, c.peak);
    it->lowest = arn_min_u64(it->lowest, bound);
    const bool hopeless = c.peak >= w->whole || is_dominated(s, c.peak, kept, repeats);
    if (!hopeless && find_price(s, w, &c) && !is_dominated(s, c.peak, c.price.kept, repeats)) {
        add_candidate(s, &c);
    }
    return it->idle < patience(graph_of(s)->dialect);
}

static bool asks_for_scratch(const search *s, const arn_group_range *w) {
    const arenaut_kernel_set *kernels = s->space.options->run_by;
    const arenaut_program *program = graph_of(s)->program;
    for (uint32_t i = w->ops.first; i < w->ops.end && kernels; i++) {
        if (arn_op_asks_for_scratch(program, &program->ops[i], kernels)) return true;
    }
    return false;
}

/* An op of the range would be padded in row tiles that are not cropped. */
static bool can_be_cropped(const search *s, const arn_group_range *w) {
    for (uint32_t i = w->ops.first; i < w->ops.end; i++) {
        const arn_tile_op *op = &graph_of(s)->ops[i];
        const arn_tile_window *h = &op->window[ARN_AXIS_H], *across = &op->window[ARN_AXIS_W];
        const bool pads = h->before + h->after + across->before + across->after > 0;
        if (op->same && !op->counts_zeroes && pads) return true;
    }
    return false;
}

/* Calls that recompute halo are not tried: ops that cost next to nothing would be paid for in
 * multiplications. Ops on constants, or behind a reduction, run before all tiles: a range that
 * begins with one is the range behind it. And without paddings cropped tiles are the padded ones.
 */
static bool is_tried(const search *s, const arn_group_range *w, arenaut_split_mode mode) {
    switch (mode) {
        case ARENAUT_SPLIT_CHANNELS:
        case ARENAUT_SPLIT_FITTED: return true;
        case ARENAUT_SPLIT_FITTED_OVER: return s->space.options->overlap;
        case ARENAUT_SPLIT_ROWS_CALLED: return false;
        default: break;
    }
    if (arn_tile_runs_whole(&graph_of(s)->ops[w->ops.first])) return false;
    if (mode == ARENAUT_SPLIT_KEPT_CALLED) return !asks_for_scratch(s, w);
    const bool crops = mode == ARENAUT_SPLIT_CROPPED || mode == ARENAUT_SPLIT_KEPT_CROPPED;
    return !crops || can_be_cropped(s, w);
}

static bool goes_on(search *s) {
    const uint64_t given = s->budget->effort;
    uint64_t most = given ? given : EFFORT;
    if (graph_of(s)->dialect->own_heights && most <= EFFORT) {
        most = arn_min_u64(most, (uint64_t)EFFORT_PER_OP * graph_of(s)->program->n_ops);
    }
    return !s->failed && s->effort < most && arn_budget_spend(s->budget, VISITS_PER_OP);
}

/* The op at which most is live, whatever is taken of the candidates so far. */
static uint32_t bottleneck(const search *s) {
    uint32_t most = 0;
    for (uint32_t op = 1; op < graph_of(s)->program->n_ops; op++) {
        if (s->least[op] > s->least[most]) most = op;
    }
    return most;
}

/* One more number of tiles of each range with the op, if it can be less there. Gives the number of
 * attempts that are left; *some: one was made. */
static uint32_t relieve(search *s, uint32_t op, uint32_t n, bool *some) {
    uint32_t left = 0;
    *some = false;
    for (uint32_t i = 0; i < n; i++) {
        const attempt it = s->attempts[i];
        const arn_group_range *w = &s->ranges.items[it.range];
        s->attempts[left++] = it;
        if (op < w->ops.first || op >= w->ops.end || w->bound >= s->least[op]) continue;
        if (!goes_on(s)) continue;
        *some = true;
        if (!try_next(s, &s->attempts[left - 1])) left--;
    }
    return left;
}

/* Bottleneck first: as long as the op at which most is live can be relieved, no range without it is
 * worth a try. Then no choice of what is tried needs less than that op. */
static uint32_t relieve_bottlenecks(search *s, uint32_t n) {
    bool some = true;
    while (some && goes_on(s)) n = relieve(s, bottleneck(s), n, &some);
    if (!some) s->reached = s->least[bottleneck(s)];
    return n;
}

/* All ranges and modes at two tiles, then those that are left at more, until none is left. */
static void search_all(search *s) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->ranges.n; i++) {
        for (int mode = 0; mode < ARENAUT_SPLIT_MODE_COUNT; mode++) {
            if (!is_tried(s, &s->ranges.items[i], (arenaut_split_mode)mode)) continue;
            s->attempts[n++] = (attempt){i, (arenaut_split_mode)mode, 1, 0, UINT64_MAX, UINT64_MAX};
        }
    }
    if (graph_of(s)->dialect->own_heights && n > 0) n = relieve_bottlenecks(s, n);
    while (n > 0 && goes_on(s)) {
        uint32_t left = 0;
        for (uint32_t i = 0; i < n && goes_on(s); i++) {
            if (try_next(s, &s->attempts[i])) s->attempts[left++] = s->attempts[i];
        }
        n = left;
    }
}

/* ---- all together ---- */

static void search_groups(search *s) {
    price_program(s);
    if (!s->failed && !arn_budget_ended(s->budget)) {
        s->failed = !arn_group_ranges_find(&s->space, s->budget, &s->ranges);
    }
    s->begun = !s->failed && !arn_budget_ended(s->budget);
    if (!s->begun) return;
    s->attempts = arn_allocate(graph_of(s)->allocator,
                               (size_t)s->ranges.n * ARENAUT_SPLIT_MODE_COUNT, sizeof *s->attempts);
    s->least = arn_allocate(graph_of(s)->allocator, graph_of(s)->program->n_ops, sizeof *s->least);
    s->failed = !s->attempts || !s->least;
    for (uint32_t op = 0; op < graph_of(s)->program->n_ops && !s->failed; op++) {
        s->least[op] = s->space.live[op];
    }
    if (!s->failed) update_fronts(s);
    if (!s->failed) search_all(s);
    if (!s->failed) update_fronts(s);
}

static arenaut_split_front *make_result(search *s, arn_region *region) {
    arenaut_split_front *made = arn_region_allocate(region, 1, sizeof *made);
    if (!made) return NULL;
    *made = (arenaut_split_front){0};
    made->floor = s->ranges.floor;
    made->floor_op = graph_of(s)->program->n_ops > 0 ? s->ranges.floor_op : ARENAUT_NONE;
    const bool listed = arn_tile_choices_list(region, made, &s->all, &s->no_macs, true);
    find_fronts(s, false);
    made->effort = s->effort;
    const bool done =
        listed && !s->failed && arn_tile_choices_list(region, made, &s->all, &s->no_macs, false);
    return done ? made : NULL;
}

static void end(search *s) {
    const arenaut_allocator *allocator = graph_of(s)->allocator;
    arn_costing_free(&s->costing);
    arn_draft_free(&s->draft);
    arn_row_tiles_free(&s->row_tiles);
    arn_group_ranges_free(&s->ranges, allocator);
    arn_tile_front_free(&s->all, allocator);
    arn_tile_front_free(&s->no_macs, allocator);
    ARN_RELEASE(allocator, s->space.candidates, s->space.live, s->untiled, s->attempts, s->least);
}

static arenaut_status stopped(arenaut_error *err) {
    return arn_fail(err, ARENAUT_STOPPED, 0,
                    "the search for tiles was stopped before it knew which ops can be tiled");
}

arenaut_status arn_split_find(const arenaut_program *program, arn_budget *budget,
                              const arenaut_split_options *options, arn_region *region,
                              arenaut_split_front **front, arenaut_error *err) {
    const arenaut_allocator *allocator = &region->allocator;
    arn_tile_graph graph;
    const arenaut_status st =
        arn_tile_graph_make(program, options->rounding, allocator, &graph, err);
    if (st != ARENAUT_OK) return st;
    search s = {.space = {.graph = &graph,
                          .options = options,
                          .live = arn_allocate(allocator, program->n_ops, sizeof(uint64_t))},
                .budget = budget,
                .costing = arn_costing_begin(&graph, options),
                .draft = arn_draft_begin(&graph),
                .untiled = arn_allocate(allocator, program->n_ops, sizeof *s.untiled)};
    s.failed = s.costing.failed || !s.space.live || !s.untiled;
    if (!s.failed) search_groups(&s);
    *front = s.begun && !s.failed ? make_result(&s, region) : NULL;
    const bool is_late = !s.begun && !s.failed;
    end(&s);
    arn_tile_graph_free(&graph);
    if (*front) return ARENAUT_OK;
    return is_late ? stopped(err) : arn_no_memory(err);
}
