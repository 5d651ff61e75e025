/* Search over transforms: the table in its order, and for each row that is asked for a loop of
 * trials. The plan of a trial is held against its problem; the program is replayed only over the
 * plan that is made in the end. Each trial has a part of the budget of the search; if that ends
 * first, its plan counts for nothing. */
#include "rewrite/transform.h"

#include <string.h>

#include <arenaut/tensor_arena.h>

#include "core/checked.h"
#include "ir/program.h"
#include "rewrite/rematerialize/remat_cost.h"

static const arn_transform *const table[] = {
#define TRANSFORM(id) &arn_transform_##id,
#include "rewrite/transforms.def"
#undef TRANSFORM
};

enum {
    N_TRANSFORMS = sizeof table / sizeof *table,
    SHARE_OF_TRANSFORMS = 750, /* of the time, in thousandths; the rest is the planner's */
    TRIAL_EFFORT = 500000,     /* search steps of a plan that is made quickly */
};

/* ---- candidates ---- */

static arenaut_status apply(arenaut_pipeline *p, const arn_candidate *candidate,
                            arenaut_error *err) {
    arenaut_status st = ARENAUT_OK;
    for (size_t i = 0; i < N_TRANSFORMS && st == ARENAUT_OK; i++) {
        if (table[i]->apply) st = table[i]->apply(p, candidate, err);
    }
    return st;
}

static arn_request requested(const arn_transform *t, const arenaut_pipeline_options *options,
                             arn_candidate *given) {
    return t->requested ? t->requested(options, given) : ARN_NOT_REQUESTED;
}

bool arn_transforms_encoded(const arenaut_pipeline_options *options, const arenaut_format *format) {
    arn_candidate given;
    for (size_t i = 0; i < N_TRANSFORMS; i++) {
        const arn_transform *t = table[i];
        const bool encoded = t->encoded_by && t->encoded_by(format);
        if (encoded && requested(t, options, &given) != ARN_NOT_REQUESTED) return true;
    }
    return false;
}

uint64_t arn_transform_effort(const arenaut_pipeline *p, uint64_t asked, uint64_t whole) {
    const uint64_t given = p->options.plan.effort, usual = arenaut_default_effort();
    const uint64_t wanted = asked ? asked : whole;
    if (given == 0 || given >= usual) return wanted;
    const double part = (double)whole * ((double)given / (double)usual);
    return arn_min_u64(wanted, (uint64_t)part + 1); /* 0 would be the default */
}

/* ---- trials ---- */

arenaut_pipeline_options arn_trial_options(const arenaut_pipeline *p) {
    arenaut_pipeline_options options = p->options;
    options.note = NULL;
    options.stage = NULL;
    options.after_pass = NULL;
    if (p->store->joining.chosen) options.joining = p->store->joining;
    return options;
}

static arenaut_status copy_pipeline(const arenaut_pipeline *p, arenaut_pipeline *trial,
                                    arenaut_error *err) {
    trial->store->aside = true;
    trial->store->n_files = p->store->n_files;
    trial->store->aliases_known = p->store->aliases_known;
    trial->document.format = p->document.format;
    trial->target = p->target;
    trial->kernels = p->kernels;
    trial->unmeasured = p->unmeasured;
    trial->rewrite = p->rewrite; /* borrowed until it is composed with another */
    const arenaut_allocator *allocator = arn_pipeline_allocator(p);
    const size_t n = p->scratch.n;
    arenaut_scratch_entry *entries = arn_allocate(allocator, n, sizeof *entries);
    if (!entries) return arn_no_memory(err);
    if (n > 0) memcpy(entries, p->scratch.entries, n * sizeof *entries);
    trial->scratch = (arenaut_scratch_sizes){entries, n, p->scratch.known};
    const arenaut_status st =
        arn_program_copy(p->document.program, allocator, &trial->document.program, err);
    arn_pipeline_begin_result(trial);
    return st;
}

/* Transforms it by the candidate, then by the rows from `row` on, and lowers it. */
static arenaut_status make_trial(const arenaut_pipeline *p, arn_budget *budget,
                                 const arenaut_pipeline_options *options,
                                 const arn_candidate *candidate, size_t row,
                                 arenaut_pipeline **trial, arenaut_error *err) {
    const arenaut_pipeline_options own = arn_trial_options(p);
    arenaut_status st =
        arenaut_pipeline_new(options ? options : &own, arn_pipeline_allocator(p), trial, err);
    if (st != ARENAUT_OK) return st;
    arn_budget_lend(budget, &(*trial)->options.plan);
    st = copy_pipeline(p, *trial, err);
    if (st == ARENAUT_OK && !arn_budget_goes_on(budget)) st = arn_pipeline_stopped(err);
    if (st == ARENAUT_OK) st = apply(*trial, candidate, err);
    if (st == ARENAUT_OK) st = arn_transform_program(*trial, row, err);
    return st == ARENAUT_OK ? arn_pipeline_lower_transformed(*trial, err) : st;
}

arenaut_status arn_trial_lower(const arenaut_pipeline *p, arn_budget *budget,
                               const arenaut_pipeline_options *options,
                               const arn_candidate *candidate, arenaut_pipeline **trial,
                               arenaut_error *err) {
    return make_trial(p, budget, options, candidate, N_TRANSFORMS, trial, err);
}

/* ---- costs ---- */

/* Modelled times alone: those that are given are of the file's ops, and not of tiles, nor of ops
 * that passes add. */
arenaut_cost arenaut_pipeline_cost(const arenaut_pipeline *p) {
    const arenaut_program *program = p->document.program;
    const arenaut_roofline *device = arn_roofline_of(&p->options.recomputing.options);
    const uint32_t n = program ? program->n_ops : 0;
    uint64_t time = 0;
    if (!p->plan) return ARN_NO_PLAN;
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t own = arn_remat_cost(program, &program->ops[i], device);
        if (!arn_add(time, own, &time)) time = UINT64_MAX;
    }
    return (arenaut_cost){p->plan->spill, p->figures.planned, (int64_t)arn_min_u64(time, INT64_MAX),
                          n};
}

static arenaut_status find_reserved(const arenaut_pipeline *p, arn_reserved *r,
                                    arenaut_error *err) {
    const arenaut_allocator *allocator = arn_pipeline_allocator(p);
    const arenaut_target *target = p->target;
    const uint64_t planned = p->figures.planned;
    arenaut_tensor_arena arena = {.apart = p->options.splitting.head > 0}, wide = arena;
    arenaut_status st = ARENAUT_OK;
    if (!target->layout) {
        arena.total = arena.head = planned;
    } else {
        st = arenaut_tensor_arena_add(&p->result, planned, target, allocator, &arena, err);
    }
    *r = (arn_reserved){.cost = arenaut_pipeline_cost(p),
                        .wide = arena.total,
                        .kept = arena.tail - arena.padding,
                        .planned = planned,
                        .head = arn_aligned(arena.head, target->align),
                        .tail = arn_aligned(arena.tail, target->align)};
    r->cost.total = arena.total;
    if (st == ARENAUT_OK && target->layout && target->wide) {
        target = arenaut_target_find(target->wide);
        st = arenaut_tensor_arena_add(&p->result, planned, target, allocator, &wide, err);
        r->wide = wide.total;
    }
    return st;
}

/* If only time limits the plan in the end, trials have the usual effort. */
static uint64_t trial_effort(const arenaut_pipeline *p, arn_thoroughness how) {
    const uint64_t given = p->options.plan.effort;
    if (how == ARN_QUICKLY) return arn_transform_effort(p, 0, TRIAL_EFFORT);
    return given == ARENAUT_NO_EFFORT_LIMIT ? arenaut_default_effort() : given;
}

static arenaut_status take_asked(arn_search *s, const arenaut_pipeline *trial, arenaut_error *err) {
    if (!trial->store->asked) return ARENAUT_OK;
    s->n_asked = trial->store->n_asked;
    s->asked = arn_region_allocate(&s->region, s->n_asked, sizeof *s->asked);
    if (!s->asked) return arn_no_memory(err);
    memcpy(s->asked, trial->store->asked, s->n_asked * sizeof *s->asked);
    return ARENAUT_OK;
}

static arenaut_status run_trial(arn_search *s, arn_budget *budget,
                                const arenaut_pipeline_options *options,
                                const arn_candidate *candidate, arn_thoroughness how,
                                arn_reserved *reserved, arenaut_error *err) {
    arenaut_pipeline *trial = NULL;
    arenaut_pipeline_options own = options ? *options : arn_trial_options(s->pipeline);
    if (s->keeps_inputs) own.preserve_inputs = true;
    arenaut_status st = make_trial(s->pipeline, budget, &own, candidate, s->row + 1, &trial, err);
    if (st == ARENAUT_OK && arn_budget_goes_on(budget)) {
        trial->options.plan.effort = trial_effort(s->pipeline, how);
        st = arn_pipeline_make_plan(trial, err);
        /* The planner found none, or lacks a feature of this candidate's. */
        if (st == ARENAUT_NOT_FOUND || st == ARENAUT_REFUSED) st = ARENAUT_NO_PLAN;
        if (st == ARENAUT_OK) st = find_reserved(trial, reserved, err);
        if (st == ARENAUT_OK) st = take_asked(s, trial, err);
    }
    arenaut_pipeline_free(trial);
    return st;
}

static const arn_reserved more_than_any = {ARN_NO_PLAN, UINT64_MAX, 0,
                                           UINT64_MAX,  UINT64_MAX, UINT64_MAX};

static arenaut_status try_with(arn_search *s, const arenaut_pipeline_options *options,
                               const arn_candidate *candidate, arn_thoroughness how,
                               arn_reserved *reserved, arenaut_error *err) {
    arn_budget part = arn_budget_part(&s->trying, 0, 0, ARN_BUDGET_ALL);
    arenaut_status st = ARENAUT_OK;
    *reserved = more_than_any;
    s->asked = NULL;
    if (arn_budget_goes_on(&part)) {
        st = run_trial(s, &part, options, candidate, how, reserved, err);
    }
    if (arn_budget_ended(&part)) *reserved = more_than_any;
    if (st == ARENAUT_NO_PLAN || st == ARENAUT_STOPPED) st = ARENAUT_OK;
    s->failed = st != ARENAUT_OK;
    return st;
}

arenaut_status arn_search_try(arn_search *s, const arn_candidate *candidate, arn_thoroughness how,
                              arn_reserved *reserved, arenaut_error *err) {
    const arenaut_status st = try_with(s, NULL, candidate, how, reserved, err);
    const bool within = reserved->cost.total <= s->most && reserved->wide <= s->widest;
    if (st != ARENAUT_OK || !within || !arenaut_costs_less(reserved->cost, s->least.cost))
        return st;
    s->best = *candidate;
    s->least = *reserved;
    return ARENAUT_OK;
}

arenaut_status arn_search_measure(arn_search *s, const arenaut_pipeline_options *options,
                                  arn_reserved *reserved, arenaut_error *err) {
    return try_with(s, options, ARN_AS_IS, ARN_QUICKLY, reserved, err);
}

/* ---- the table in its order ---- */

static arenaut_status apply_and_describe(arenaut_pipeline *p, const arn_transform *t,
                                         const arn_candidate *candidate, arenaut_error *err) {
    const arenaut_status st = apply(p, candidate, err);
    if (st == ARENAUT_OK && t->describe) t->describe(p, candidate);
    return st;
}

static arenaut_status search(arenaut_pipeline *p, size_t row, arn_budget *budget,
                             arenaut_error *err) {
    const arn_transform *t = table[row];
    arenaut_error why = {0};
    arn_search s = {.pipeline = p,
                    .row = row,
                    .finding = arn_budget_part(budget, 0, 0, t->finding),
                    .trying = arn_budget_part(budget, 0, t->finding, ARN_BUDGET_ALL),
                    .most = UINT64_MAX,
                    .widest = UINT64_MAX,
                    .least = more_than_any};
    if (!arn_budget_goes_on(budget)) {
        arn_pipeline_note(p, "nothing is %s: there was no time to look for a way", t->done);
        return ARENAUT_OK;
    }
    arn_region_init(&s.region, arn_pipeline_allocator(p));
    arenaut_status st = t->propose(&s, &why);
    if ((st == ARENAUT_REFUSED || st == ARENAUT_STOPPED) && !s.failed) {
        arn_pipeline_note(p, "nothing is %s: %s", t->done, why.msg);
        st = ARENAUT_OK;
    } else if (st == ARENAUT_OK) {
        st = apply_and_describe(p, t, &s.best, &why);
    }
    if (st != ARENAUT_OK && err) *err = why;
    arn_region_free(&s.region);
    return st;
}

/* A schedule of the caller's is of the file's ops, unless the tiles are the caller's as well. Tiles
 * are chosen by the sequence that they are made in: to find a better one for each choice would take
 * long. */
static const char *find_obstacle(const arenaut_pipeline *p, const arn_transform *t,
                                 arn_request request) {
    const bool is_tiled = arenaut_rewrite_is_tiled(p->rewrite);
    const bool finds =
        request == ARN_SEARCH_REQUESTED ? !p->store->aside : p->options.splitting.stages != NULL;
    if (is_tiled && t->propose && (t->only_whole || !finds)) return "the program was split";
    if (t->only_one_file && p->store->n_files > 1) return "the program was made of several files";
    return t->obstacle ? t->obstacle(p) : NULL;
}

/* The share of the time that ends with this row. */
static uint32_t share_until(const arenaut_pipeline *p, size_t row, uint32_t share) {
    arn_candidate given;
    uint32_t n = 0;
    if (table[row]->until) return table[row]->until;
    for (size_t i = row; i < N_TRANSFORMS; i++) {
        n += requested(table[i], &p->options, &given) == ARN_SEARCH_REQUESTED;
    }
    return share + (SHARE_OF_TRANSFORMS - share) / n;
}

arenaut_status arn_transform_program(arenaut_pipeline *p, size_t row, arenaut_error *err) {
    arn_budget budget = arn_pipeline_budget(p, p->options.plan.effort);
    uint32_t share = 0;
    arenaut_status st = ARENAUT_OK;
    for (; row < N_TRANSFORMS && st == ARENAUT_OK; row++) {
        const arn_transform *t = table[row];
        arn_candidate given = {0};
        const arn_request request = requested(t, &p->options, &given);
        if (request == ARN_NOT_REQUESTED) continue;
        const char *obstacle = find_obstacle(p, t, request);
        if (obstacle) {
            arn_pipeline_note(p, "nothing is %s: %s", t->done, obstacle);
        } else if (request == ARN_CHOICE_GIVEN) {
            st = apply_and_describe(p, t, &given, err);
        } else {
            const uint32_t until = share_until(p, row, share);
            arn_budget part = arn_budget_part(&budget, budget.effort, share, until);
            share = until;
            st = search(p, row, &part, err);
        }
    }
    return st;
}
