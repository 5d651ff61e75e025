/* The transform of tiling: which of the groups that were found are tiled. They are found by live
 * bytes; the bytes to reserve follow from plans alone, so that the best groups of the Pareto fronts
 * are tried. */
#include "rewrite/transform.h"

#include <inttypes.h>
#include <string.h>

#include "core/checked.h"
#include "ir/program.h"
#include "rewrite/find_within.h"
#include "rewrite/rematerialize/remat_cost.h"
#include "rewrite/tile_dialects/tile_dialect.h"
#include "rewrite/split/tile_groups.h"

enum {
    MOST_PLANS = 3,  /* of the best choices */
    MISSED = 100,    /* part of the bytes by which a plan is above its bound before more is tried */
    MORE_TILES = 2,  /* of each group */
    MOST_TRIES = 64, /* with a budget of bytes */
};

typedef struct choosing {
    arn_search *search;
    arn_reserved whole; /* for the program as it is */
    bool fitted;        /* the best keeps the budget, and was tried in the order of added time */
    const arenaut_split_choice *tried[2 * MOST_PLANS + 1];
    uint32_t n_tried;
} choosing;

/* The estimate by which choices are ordered; by `shared` less is possible. */
static uint64_t needs_about(const choosing *c, const arenaut_split_choice *choice) {
    return choice->head + (uint64_t)choice->kept + c->whole.kept;
}

/* Whether no plan of a choice that needs so much can be the best: of as many bytes, it may still
 * add less than another choice, but not less than the program as it is. */
static bool is_dominated(const choosing *c, uint64_t bytes) {
    const arenaut_cost least = c->search->least.cost;
    const bool as_it_is = c->search->best.n_groups == 0;
    return least.spill == 0 && (as_it_is ? bytes >= least.total : bytes > least.total);
}

/* Tries `more` tiles of each group than the choice has; *bytes: those it reserves. Groups that
 * contradict other options, such as sizes of scratch, are no choice. */
static arenaut_status try_tiles(choosing *c, const arenaut_split_choice *choice, uint32_t more,
                                arn_thoroughness how, uint64_t *bytes, arenaut_error *err) {
    const uint32_t n = choice->n_stages;
    arn_reserved r;
    arenaut_error why = {0};
    arenaut_split_stage *groups = arn_region_allocate(&c->search->region, n, sizeof *groups);
    if (!groups) return arn_no_memory(err);
    memcpy(groups, choice->stages, n * sizeof *groups);
    for (uint32_t i = 0; i < n; i++) groups[i].pieces += more;
    const arn_candidate candidate = {.groups = groups, .n_groups = n};
    const arenaut_status st = arn_search_try(c->search, &candidate, how, &r, &why);
    *bytes = st == ARENAUT_BAD_ARGUMENT ? UINT64_MAX : r.cost.total;
    if (st == ARENAUT_OK || st == ARENAUT_BAD_ARGUMENT) return ARENAUT_OK;
    if (err) *err = why;
    return st;
}

/* More tiles add ops, and such as compute halos again, multiplications: past a limit, perhaps. */
static bool may_add_more(const arenaut_pipeline *p, const arenaut_split_choice *choice) {
    const arenaut_split_options *options = &p->options.splitting.options;
    const arn_tile_dialect *dialect = arn_tile_dialect_find(p->document.program->dialect);
    const bool limited = options->max_macs.given || (dialect && dialect->most_macs.given);
    return !options->max_ops.given && !(limited && choice->macs > 0);
}

/* If results lie over operands, a plan may need more than its live bytes, and with another tile it
 * need not. */
static arenaut_status try_more_tiles(choosing *c, const arenaut_split_choice *choice,
                                     arenaut_error *err) {
    arenaut_status st = ARENAUT_OK;
    uint64_t bytes;
    for (uint32_t more = 1; more <= MORE_TILES && st == ARENAUT_OK; more++) {
        st = try_tiles(c, choice, more, ARN_QUICKLY, &bytes, err);
    }
    return st;
}

static bool is_same(const arenaut_split_choice *a, const arenaut_split_choice *b) {
    return a->n_stages == b->n_stages &&
           (a->n_stages == 0 || memcmp(a->stages, b->stages, a->n_stages * sizeof *a->stages) == 0);
}

static bool is_best(const choosing *c, const arenaut_split_choice *choice) {
    const arn_candidate *best = &c->search->best;
    return is_same(choice, &(arenaut_split_choice){.stages = best->groups, best->n_groups});
}

static bool was_tried(const choosing *c, const arenaut_split_choice *choice) {
    for (uint32_t i = 0; i < c->n_tried; i++) {
        if (is_same(c->tried[i], choice)) return true;
    }
    return false;
}

/* Tries the best choices, until the next cannot need less than the best plan. */
static arenaut_status try_least(choosing *c, const arenaut_split_choice *choices, uint32_t n,
                                uint32_t most, arenaut_error *err) {
    arenaut_status st = ARENAUT_OK;
    for (uint32_t i = n; i-- > 1 && most > 0 && st == ARENAUT_OK; most--) {
        const uint64_t least = needs_about(c, &choices[i]);
        uint64_t bytes;
        if (is_dominated(c, least)) break;
        if (was_tried(c, &choices[i])) continue;
        c->tried[c->n_tried++] = &choices[i];
        st = try_tiles(c, &choices[i], 0, ARN_QUICKLY, &bytes, err);
        if (st == ARENAUT_OK && bytes > least + least / MISSED &&
            may_add_more(c->search->pipeline, &choices[i])) {
            st = try_more_tiles(c, &choices[i], err);
        }
    }
    return st;
}

/* If quick plans need more than their live bytes, a thorough plan of the choice with the fewest may
 * not. The choice that is taken is planned thoroughly anyway. */
static arenaut_status look_closer(choosing *c, const arenaut_split_front *front,
                                  arenaut_error *err) {
    const arenaut_split_choice *choice = &front->choices[front->n_choices - 1];
    const uint64_t least = needs_about(c, choice);
    uint64_t bytes;
    if (is_best(c, choice) || c->search->least.cost.total <= least + least / MISSED) {
        return ARENAUT_OK;
    }
    return try_tiles(c, choice, 0, ARN_THOROUGHLY, &bytes, err);
}

/* Of the program of a choice, beside the program as it is, where both are within a budget. */
static arenaut_cost added_by(const choosing *c, const arenaut_split_choice *choice) {
    const arenaut_pipeline_options *options = &c->search->pipeline->options;
    const arenaut_roofline *device = arn_roofline_of(&options->recomputing.options);
    const uint64_t time = arn_roofline_operations(device, choice->macs, choice->ops);
    return (arenaut_cost){.time = (int64_t)arn_min_u64(time, INT64_MAX), .ops = choice->ops};
}

static bool adds_less(const choosing *c, const arenaut_split_choice *a,
                      const arenaut_split_choice *b) {
    return arenaut_costs_less(added_by(c, a), added_by(c, b));
}

static bool fits(const choosing *c, const arn_reserved *r) {
    const arenaut_splitting *o = &c->search->pipeline->options.splitting;
    const bool apart = o->head > 0;
    return r->cost.total <= o->budget && (!apart || (r->head <= o->head && r->tail <= o->tail));
}

static bool may_fit(const choosing *c, const arenaut_split_choice *choice) {
    const arenaut_splitting *o = &c->search->pipeline->options.splitting;
    return needs_about(c, choice) - choice->shared <= o->budget &&
           (o->head == 0 || choice->head <= o->head);
}

/* The choice that adds least, of those that may fit and add more than `last`. */
static const arenaut_split_choice *next_to_fit(const choosing *c, const arenaut_split_front *front,
                                               const arenaut_split_choice *last) {
    const arenaut_split_choice *next = NULL;
    for (uint32_t i = 1; i < front->n_choices; i++) {
        const arenaut_split_choice *choice = &front->choices[i];
        if (!may_fit(c, choice) || (last && !adds_less(c, last, choice))) continue;
        if (!next || adds_less(c, choice, next)) next = choice;
    }
    return next;
}

/* The first that fits, if one does. A budget is of this target alone: a choice that needs more
 * where pointers are wide is as good as another. */
static arenaut_status try_fitting(choosing *c, const arenaut_split_front *front,
                                  arenaut_error *err) {
    const arn_search *s = c->search;
    const arenaut_split_choice *choice = NULL;
    arenaut_status st = ARENAUT_OK;
    uint64_t bytes;
    c->fitted = fits(c, &s->least);
    for (uint32_t i = 0; i < MOST_TRIES && !c->fitted && st == ARENAUT_OK; i++) {
        choice = next_to_fit(c, front, choice);
        if (!choice) break;
        st = try_tiles(c, choice, 0, ARN_QUICKLY, &bytes, err);
        c->fitted = fits(c, &s->least);
    }
    return st;
}

static bool may_overlap(const arenaut_pipeline *p) { return p->options.overlap && p->kernels; }

static arenaut_status find_front(arenaut_pipeline *p, arn_budget *budget, bool overlap,
                                 arenaut_split_front **front, arenaut_error *err) {
    arenaut_split_options options = p->options.splitting.options;
    options.target = p->target;
    options.kernels = p->kernels;
    options.run_by = p->scratch.known ? NULL : p->kernels;
    options.overlap = overlap;
    options.in_place = !may_overlap(p) && p->options.overwrite == ARENAUT_OVERWRITE_ON;
    options.unmeasured = p->unmeasured;
    budget->effort = arn_transform_effort(p, options.effort, arn_split_default_effort());
    return arn_split_find(p->document.program, budget, &options, &p->store->lists, front, err);
}

/* The bytes that tiling adds to the tail of a wide target may not make it need more there than the
 * program as it is, without any right: or one right more could rule out a choice that is taken
 * without it. */
static arenaut_status limit_wide(choosing *c, arenaut_error *err) {
    arenaut_pipeline_options options = arn_trial_options(c->search->pipeline);
    options.recomputing = (arenaut_recomputing){0};
    options.reordering = (arenaut_reordering){0};
    options.overwrite = ARENAUT_OVERWRITE_OFF;
    options.overlap = false;
    arn_reserved r;
    const arenaut_status st = arn_search_measure(c->search, &options, &r, err);
    c->search->widest = r.wide > c->whole.wide ? r.wide : c->whole.wide;
    return st;
}

/* With overlap, the best choice without any right is tried as well: how far results reach in a plan
 * is not known before. Results over operands are no choice then, since overlap has them too: asking
 * for both is asking for overlap. */
static arenaut_status choose(choosing *c, arenaut_split_front *const fronts[2],
                             arenaut_error *err) {
    arn_search *s = c->search;
    const arenaut_split_front *best = fronts[1] ? fronts[1] : fronts[0];
    arenaut_status st = arn_search_try(s, ARN_AS_IS, ARN_QUICKLY, &c->whole, err);
    if (!arn_budget_goes_on(&s->trying)) return st; /* nothing to compare with */
    if (st == ARENAUT_OK && s->pipeline->options.splitting.budget > 0) {
        st = try_fitting(c, best, err);
    }
    if (st != ARENAUT_OK || c->fitted) return st;
    s->best = *ARN_AS_IS;
    s->least = c->whole;
    st = limit_wide(c, err);
    if (st != ARENAUT_OK) return st;
    st = try_least(c, best->choices, best->n_choices, MOST_PLANS, err);
    if (best == fronts[0]) return st;
    if (st == ARENAUT_OK) st = try_least(c, best->even, best->n_even, MOST_PLANS, err);
    if (st == ARENAUT_OK) st = try_least(c, fronts[0]->choices, fronts[0]->n_choices, 1, err);
    return st == ARENAUT_OK ? look_closer(c, best, err) : st;
}

/* The number of the choice that is the best candidate. */
static uint32_t find_taken(const choosing *c, const arenaut_split_front *front) {
    for (uint32_t i = 0; i < front->n_choices; i++) {
        if (is_best(c, &front->choices[i])) return i;
    }
    return ARENAUT_NONE;
}

static arenaut_status find_fronts(arn_search *s, arenaut_split_front *fronts[2],
                                  arenaut_error *err) {
    arn_budget without = arn_budget_part(&s->finding, 0, 0, ARN_BUDGET_ALL / 2);
    arn_budget with = arn_budget_part(&s->finding, 0, ARN_BUDGET_ALL / 2, ARN_BUDGET_ALL);
    const arenaut_status st = find_front(s->pipeline, &without, false, &fronts[0], err);
    if (st != ARENAUT_OK || !may_overlap(s->pipeline)) return st;
    return find_front(s->pipeline, &with, true, &fronts[1], err);
}

/* Reports the front, unless there was no time to plan the program as it is. */
static void keep_front(const choosing *c, arenaut_split_front *const fronts[2]) {
    arenaut_pipeline *p = c->search->pipeline;
    arenaut_split_front *front = fronts[1] ? fronts[1] : fronts[0];
    if (!arn_is_plan(c->whole.cost) && arn_budget_ended(&c->search->trying)) return;
    p->ways = (arenaut_ways_to_split){front, c->whole.kept, find_taken(c, front), c->fitted};
    p->result.ways = &p->ways;
}

/* Unless time was short: then nothing is known. */
static void note_why_not(const choosing *c, arenaut_split_front *const fronts[2]) {
    const arn_search *s = c->search;
    const arenaut_split_front *front = fronts[1] ? fronts[1] : fronts[0];
    const uint32_t n = front->n_choices - 1; /* the first is the program as it is */
    if (s->best.n_groups > 0 || arn_budget_ended(&s->finding) || arn_budget_ended(&s->trying)) {
        return;
    }
    if (n == 0) {
        arn_pipeline_note(s->pipeline,
                          "nothing is split: none of the tiles that were tried lowers the peak of "
                          "live bytes");
    } else {
        arn_pipeline_note(s->pipeline,
                          "nothing is split: with tiles less is alive at once, but none of the "
                          "plans that were made of %" PRIu32 " %s reserves less",
                          n, n == 1 ? "choice" : "choices");
    }
}

static arenaut_status choose_tiles(arn_search *s, arenaut_error *err) {
    arenaut_split_front *fronts[2] = {NULL};
    choosing c = {.search = s};
    arenaut_status st = arn_pipeline_fix_sizes(s->pipeline->document.program, err);
    if (st == ARENAUT_OK) st = find_fronts(s, fronts, err);
    if (st == ARENAUT_OK) st = choose(&c, fronts, err);
    if (st == ARENAUT_OK) keep_front(&c, fronts);
    if (st == ARENAUT_OK) note_why_not(&c, fronts);
    return st;
}

/* Sizes are fixed in a copy: where nothing is tiled, the transforms behind this one get the program
 * that they would get without it, and model its times by the same shapes. */
static arenaut_status propose(arn_search *s, arenaut_error *err) {
    arenaut_pipeline *p = s->pipeline;
    arenaut_program *const given = p->document.program;
    arenaut_program *fixed = NULL;
    arenaut_status st = arn_program_copy(given, arn_pipeline_allocator(p), &fixed, err);
    if (st != ARENAUT_OK) return st;
    /* A runtime that plans by itself does not write over its inputs. */
    s->keeps_inputs = !p->target->plan_in_file;
    p->document.program = fixed;
    st = choose_tiles(s, err);
    p->document.program = given;
    arn_program_free(fixed);
    return st;
}

static arn_request requested(const arenaut_pipeline_options *options, arn_candidate *given) {
    const arenaut_splitting *o = &options->splitting;
    if (!o->on) return ARN_NOT_REQUESTED;
    if (!o->stages) return ARN_SEARCH_REQUESTED;
    given->groups = o->stages;
    given->n_groups = o->n_stages;
    return ARN_CHOICE_GIVEN;
}

/* Which bits the runtime makes of the tiles, as far as that was measured. */
static void note_bits(const arenaut_pipeline *p, const arenaut_rewrite *rewrite) {
    const arenaut_program *program = p->document.program;
    const arn_tile_dialect *dialect = arn_tile_dialect_find(program->dialect);
    if (rewrite->n_rounded > 0) {
        const char *name = program->ops[rewrite->rounded].name;
        arn_pipeline_note(p,
                          "not the same bits: --rounding allow lets tiles of %" PRIu32
                          " %s round otherwise than the whole, first of op %" PRIu32
                          " (%.80s); by how much is not known before both are run",
                          rewrite->n_rounded, rewrite->n_rounded == 1 ? "op" : "ops",
                          rewrite->rounded, name ? name : "unnamed");
    } else if (dialect && dialect->same_bits) {
        arn_pipeline_note(p, "%s", dialect->same_bits);
    }
}

/* The plan in the file stays with the file's program, where the baseline reads it. */
static arenaut_status apply(arenaut_pipeline *p, const arn_candidate *c, arenaut_error *err) {
    arenaut_rewrite *rewrite = NULL;
    arenaut_error why = {0};
    if (!c->groups) return ARENAUT_OK;
    arenaut_status st = arn_pipeline_fix_sizes(p->document.program, &why);
    if (st == ARENAUT_OK) {
        st = arn_split(p->document.program, c->groups, c->n_groups,
                       p->options.splitting.options.rounding, arn_pipeline_allocator(p), &rewrite,
                       &why);
    }
    if (st == ARENAUT_OK) {
        note_bits(p, rewrite);
        return arn_adopt_rewrite(p, rewrite, err);
    }
    if (st == ARENAUT_BAD_ARGUMENT || st == ARENAUT_REFUSED) {
        return arn_pipeline_blame(p, err, "split", "split: %s", why.msg);
    }
    if (err) *err = why;
    return st;
}

static bool encoded_by(const arenaut_format *format) { return format->holds_tiles; }

/* The other transforms leave a tiled program alone, so that this one has most of the time. */
const arn_transform arn_transform_split = {
    .done = "split",
    .until = 600,
    .finding = 500,
    .requested = requested,
    .propose = propose,
    .apply = apply,
    .encoded_by = encoded_by,
};
