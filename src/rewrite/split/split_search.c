/* Which stages to split, into how many pieces, and how. The op at which most memory is alive is
 * looked at, over and over: of all stages around it, each in many ways, the one is taken with which
 * the program needs least; until none helps. A stage found earlier gives way to a better one that
 * covers its place.
 *
 * What is measured is the sum of what the tensors need at once and what the runtime keeps for the
 * ops, since every piece costs ops. Where results may lie over operands, tensors need as much less
 * at an op as its kernel allows. How the tensors are placed is left to the planners. */
#include <string.h>

#include <arenaut/pass.h>

#include "core/fail.h"
#include "core/memory.h"
#include "core/sort.h"
#include "rewrite/split/draft_calls.h"
#include "rewrite/split/draft_reach.h"
#include "rewrite/split/split_stages.h"

enum {
    REACH = 48,          /* ops before and behind the peak that a stage may have */
    WINDOWS = 2000,      /* stages that are looked at closely, for each peak */
    ROUNDS = 12,         /* peaks */
    EVALUATIONS = 50000, /* in all */
};

/* Pieces that are tried; and the height itself. */
static const uint32_t ladder[] = {2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56};

typedef struct window {
    uint32_t first, end; /* ops */
    uint64_t bound;      /* no split of it makes the peak less */
} window;

typedef struct choice {
    arenaut_split_stage *stages; /* room for ROUNDS and one more */
    uint32_t n;
    arn_draft_cost cost;
} choice;

typedef struct search {
    const arn_split_graph *graph;
    const arenaut_split_options *options;
    arn_draft draft;
    arn_draft_cost whole; /* of the program as it is */
    uint32_t whole_ops;
    choice best, now, trial;
    uint64_t *alive; /* per op: with the best choice so far */
    window *windows;
    uint32_t n_windows, windows_capacity, evaluations;
    bool failed; /* no memory */
} search;

static uint64_t total(const arn_draft_cost *cost) { return cost->peak + cost->kept; }

static uint64_t bytes_of(const search *s, uint32_t tensor) {
    const arenaut_tensor *t = &s->graph->program->tensors[tensor];
    const bool planned =
        t->cls == ARENAUT_INTERMEDIATE || t->cls == ARENAUT_INPUT || t->cls == ARENAUT_OUTPUT;
    return planned ? t->bytes : 0;
}

/* ---- what a choice costs ---- */

static bool is_within_budget(const search *s, const arn_draft_cost *cost) {
    const arenaut_split_options *o = s->options;
    const uint32_t added = arn_draft_count_ops(&s->draft) - s->whole_ops;
    if (o->max_ops.given && added > o->max_ops.id) return false;
    if (!o->max_macs.given || cost->macs <= s->whole.macs) return true;
    return (double)(cost->macs - s->whole.macs) * 100 <=
           (double)s->whole.macs * (double)o->max_macs.id;
}

/* False where the choice cannot be split so, costs too much, or there is no memory. */
static bool evaluate(search *s, choice *c, uint64_t *alive) {
    uint32_t bad;
    arn_draft_clear(&s->draft);
    s->evaluations++;
    const bool put = arn_split_put_program(&s->draft, c->stages, c->n, &bad);
    if (put && !arn_draft_cost_of(&s->draft, &c->cost, alive)) s->draft.failed = true;
    s->failed = s->failed || s->draft.failed;
    return put && !s->failed && is_within_budget(s, &c->cost);
}

/* The choice `from` with `stage` added, and those that it covers partly or wholly left out. */
static void put_stage(const choice *from, const arenaut_split_stage *stage, choice *to) {
    const uint32_t end = stage->first_op + stage->n_ops;
    bool put = false;
    to->n = 0;
    for (uint32_t i = 0; i < from->n; i++) {
        const arenaut_split_stage *old = &from->stages[i];
        if (old->first_op < end && stage->first_op < old->first_op + old->n_ops) continue;
        if (!put && old->first_op >= end) {
            to->stages[to->n++] = *stage;
            put = true;
        }
        to->stages[to->n++] = *old;
    }
    if (!put) to->stages[to->n++] = *stage;
}

static void copy_choice(const choice *from, choice *to) {
    memcpy(to->stages, from->stages, from->n * sizeof *from->stages);
    to->n = from->n;
    to->cost = from->cost;
}

/* Of two that need as much, the one that computes less. */
static bool is_better(const arn_draft_cost *a, const arn_draft_cost *b) {
    return total(a) != total(b) ? total(a) < total(b) : a->macs < b->macs;
}

static void try_stage(search *s, const arenaut_split_stage *stage) {
    if (s->failed || s->evaluations >= EVALUATIONS) return;
    const char *why = stage->mode == ARENAUT_SPLIT_CHANNELS
                          ? arn_split_channels_refuse(s->graph, stage)
                          : arn_split_rows_refuse(s->graph, stage);
    if (why) return;
    put_stage(&s->best, stage, &s->trial);
    if (s->trial.n > ROUNDS || !evaluate(s, &s->trial, NULL)) return;
    if (is_better(&s->trial.cost, &s->now.cost)) copy_choice(&s->trial, &s->now);
}

/* ---- windows ---- */

/* What is alive in any case while a stage runs: what goes past it, and either all that it reads or
 * its results; these twice, in pieces and whole, unless the whole may lie over its pieces. */
static uint64_t bound_of(const search *s, uint32_t first, uint32_t end) {
    const arn_split_graph *graph = s->graph;
    uint64_t past = 0, read = 0, made = 0, elsewhere = 0;
    for (uint32_t t = 0; t < graph->program->n_tensors; t++) {
        const uint32_t producer = graph->producer[t], last = graph->last_reader[t];
        if (last == ARENAUT_NONE || last < first || bytes_of(s, t) == 0) continue;
        const bool earlier = producer == ARENAUT_NONE || producer < first;
        if (earlier && last >= end) past += bytes_of(s, t);
        else if (earlier) read += bytes_of(s, t);
        else if (producer < end && last >= end) made += bytes_of(s, t);
    }
    for (uint32_t i = 0; i < graph->program->n_ops; i++) {
        if ((i < first || i >= end) && s->alive[i] > elsewhere) elsewhere = s->alive[i];
    }
    if (!s->draft.reach) made *= 2;
    const uint64_t here = past + (read > made ? read : made);
    return here > elsewhere ? here : elsewhere;
}

static bool can_be_inside(const search *s, uint32_t op) {
    return s->graph->ops[op].of_constants || s->graph->ops[op].kind != ARN_SPLIT_OPAQUE;
}

static void add_window(search *s, uint32_t first, uint32_t end) {
    const window w = {first, end, bound_of(s, first, end)};
    if (w.bound >= s->best.cost.peak) return;
    if (!arn_grow(s->graph->allocator, (void **)&s->windows, &s->windows_capacity,
                  (uint64_t)s->n_windows + 1, sizeof *s->windows)) {
        s->failed = true;
        return;
    }
    s->windows[s->n_windows++] = w;
}

/* All stages around ops [first, end) that may help. */
static void find_windows(search *s, uint32_t first, uint32_t end) {
    const uint32_t n = s->graph->program->n_ops;
    s->n_windows = 0;
    for (uint32_t a = first + 1; a-- > 0 && first - a <= REACH && can_be_inside(s, a);) {
        for (uint32_t b = end - 1; b < n && b + 1 - end <= REACH && can_be_inside(s, b); b++) {
            add_window(s, a, b + 1);
        }
    }
}

/* The windows with the lowest bounds come first, of equal ones the shorter. */
static bool sort_windows(search *s) {
    const arenaut_allocator *allocator = s->graph->allocator;
    const uint32_t n = s->n_windows;
    uint32_t *ids = arn_allocate(allocator, n, sizeof *ids);
    uint32_t *scratch = arn_allocate(allocator, n, sizeof *scratch);
    uint64_t *key = arn_allocate(allocator, n, sizeof *key);
    window *sorted = arn_allocate(allocator, n, sizeof *sorted);
    const bool fits = ids && scratch && key && sorted;
    for (uint32_t i = 0; fits && i < n; i++) {
        ids[i] = i;
        key[i] = s->windows[i].bound << 8 | (s->windows[i].end - s->windows[i].first);
    }
    if (fits) {
        arn_sort_by_key(ids, n, key, scratch);
        for (uint32_t i = 0; i < n; i++) sorted[i] = s->windows[ids[i]];
        if (n > 0) memcpy(s->windows, sorted, n * sizeof *sorted);
    }
    arn_release(allocator, ids);
    arn_release(allocator, scratch);
    arn_release(allocator, key);
    arn_release(allocator, sorted);
    return fits;
}

/* ---- the search ---- */

/* What a way into so many pieces adds at least to what the runtime keeps: an op for each op of a
 * piece, or one that takes its rows and one that calls them. */
static uint64_t least_kept(uint32_t n_ops, uint32_t pieces, arenaut_split_mode mode) {
    const bool calls = mode == ARENAUT_SPLIT_KEPT_CALLED;
    return (uint64_t)(calls ? 2 : n_ops) * (pieces - 1) * ARN_DRAFT_KEPT_PER_OP;
}

static bool asks_for_scratch(const search *s, const window *w) {
    const arenaut_program *program = s->graph->program;
    for (uint32_t i = w->first; i < w->end && s->options->run_by; i++) {
        if (arenaut_op_asks_for_scratch(program, &program->ops[i], s->options->run_by)) return true;
    }
    return false;
}

/* All ways to split one window, but for calls that compute rows again: ops that cost nothing would
 * be paid for in multiplications. More pieces mean more ops: there is an end to it. */
static void try_window(search *s, const window *w) {
    const uint32_t n_ops = w->end - w->first;
    for (int mode = 0; mode < ARENAUT_SPLIT_MODE_COUNT; mode++) {
        if (mode == ARENAUT_SPLIT_ROWS_CALLED) continue;
        if (mode == ARENAUT_SPLIT_KEPT_CALLED && asks_for_scratch(s, w)) continue;
        for (size_t i = 0; i < sizeof ladder / sizeof *ladder; i++) {
            const uint64_t least = least_kept(n_ops, ladder[i], (arenaut_split_mode)mode);
            if (w->bound + s->whole.kept + least >= total(&s->now.cost)) break;
            const arenaut_split_stage stage = {w->first, n_ops, ladder[i],
                                               (arenaut_split_mode)mode};
            try_stage(s, &stage);
        }
    }
}

/* The ops of the stage that stands at a place of the best choice, or the op itself. */
static window window_at(const search *s, uint32_t place) {
    for (uint32_t i = 0; i < s->best.n; i++) {
        const arenaut_split_stage *stage = &s->best.stages[i];
        if (stage->first_op == place) return (window){place, place + stage->n_ops, 0};
    }
    return (window){place, place + 1, 0};
}

/* Looks for a better stage where the peak is; false if there is none. */
static bool improve(search *s) {
    for (uint32_t i = 0; i < s->graph->program->n_ops; i++) s->alive[i] = 0;
    if (!evaluate(s, &s->best, s->alive)) return false;
    const window peak = window_at(s, s->best.cost.place);
    copy_choice(&s->best, &s->now);
    find_windows(s, peak.first, peak.end);
    if (s->failed || !sort_windows(s)) {
        s->failed = true;
        return false;
    }
    for (uint32_t i = 0; i < s->n_windows && i < WINDOWS && !s->failed; i++) {
        try_window(s, &s->windows[i]);
    }
    const bool better = is_better(&s->now.cost, &s->best.cost);
    copy_choice(&s->now, &s->best);
    return better && !s->failed;
}

static bool is_enough(const search *s) {
    return s->options->enough > 0 && s->best.cost.peak <= s->options->enough;
}

static void look(search *s) {
    s->best.n = 0;
    if (!evaluate(s, &s->best, NULL)) return;
    s->whole = s->best.cost;
    s->whole_ops = s->draft.n_ops;
    for (int round = 0; round < ROUNDS && !is_enough(s) && improve(s);) round++;
}

static bool make_room(search *s) {
    const arenaut_allocator *allocator = s->graph->allocator;
    choice *const all[] = {&s->best, &s->now, &s->trial};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        all[i]->stages = arn_allocate(allocator, ROUNDS + 2, sizeof *all[i]->stages);
        if (!all[i]->stages) return false;
    }
    s->alive = arn_allocate_zeroed(allocator, s->graph->program->n_ops, sizeof *s->alive);
    return s->alive != NULL;
}

arenaut_status arenaut_split_find(const arenaut_program *program,
                                  const arenaut_split_options *options,
                                  const arenaut_allocator *allocator, arenaut_split_stage **stages,
                                  uint32_t *n_stages, arenaut_error *err) {
    static const arenaut_split_options no_options = {0};
    arn_split_graph graph;
    const arenaut_status st = arn_split_graph_make(program, allocator, &graph, err);
    if (st != ARENAUT_OK) return st;
    search s = {.graph = &graph,
                .options = options ? options : &no_options,
                .draft = arn_draft_begin(&graph),
                .whole_ops = program->n_ops,
                .whole = {.macs = UINT64_MAX}};
    arn_draft_reach reach =
        arn_draft_reach_begin(allocator, s.options->kernels, s.options->unmeasured);
    if (s.options->kernels) s.draft.reach = &reach;
    s.failed = !make_room(&s);
    if (!s.failed && program->n_ops > 0) look(&s);
    arn_draft_free(&s.draft);
    arn_draft_reach_free(&reach);
    arn_release(allocator, s.now.stages);
    arn_release(allocator, s.trial.stages);
    arn_release(allocator, s.windows);
    arn_release(allocator, s.alive);
    arn_split_graph_free(&graph);
    if (s.failed) {
        arn_release(allocator, s.best.stages);
        return arn_no_memory(err);
    }
    *stages = s.best.stages;
    *n_stages = s.best.n;
    return ARENAUT_OK;
}

void arenaut_split_stages_free(arenaut_split_stage *stages, const arenaut_allocator *allocator) {
    arn_release(allocator, stages);
}
