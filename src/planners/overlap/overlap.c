/* overlap: constraint-based search for buffers of which some may overlap others partly, as
 * separations allow.
 *
 * Overlap moves downwards only: a result lies below the operand that it is written over, so that a
 * chain of ops sinks to the start of the arena and then has to jump up. An order in which buffers
 * are put at the lowest place that is free, as other planners do, cannot foresee that. Here a
 * height is given, and the search of overlap_search.h finds places below it or proves that there
 * are none; heights are tried from the lower bound on and then by bisection between that and the
 * best plan. Each pool is solved by itself; if buffers may choose between pools, `auto` chooses for
 * them as if they could not overlap. */
#include <arenaut/planner.h>

#include <string.h>

#include "core/checked.h"
#include "core/fail.h"
#include "planners/overlap/overlap.h"
#include "planners/overlap/overlap_search.h"
#include "planners/run/planner_rows.h"

/* One part in so many of the effort goes into a plan without overlaps. */
enum { APART_SHARE = 8 };

/* Of each decision of the search so many times as many pairs are looked at as there are steps of
 * effort. */
enum { LOOKS_PER_DECISION = 64 };

/* Of more buffers one plan without overlaps is beginning enough: all that `auto` tries takes long.
 */
enum { MOST_FOR_AUTO = 20000 };

/* One pool. */
typedef struct layer {
    arn_overlap_model model;
    uint64_t *place; /* of the best placement; meaningless before there is one */
    uint64_t *trial;
    uint64_t height; /* of the best; ARENAUT_UNPLACED: none yet */
    uint64_t bound;
    bool impossible; /* proven: nothing fits */
} layer;

typedef struct layers {
    arenaut_planning *planning;
    arn_meter *meter;
    const arenaut_problem *problem; /* the planning's, but for pools that were chosen */
    bool too_large;                 /* for the search */
    bool chosen;                    /* so that nothing is proven of other choices */
    uint32_t n;
    layer layer[ARENAUT_MAX_POOLS];
} layers;

static uint64_t capacity_of(const layers *s, uint32_t k) { return s->problem->pool[k].capacity; }

static uint64_t height_of(const arn_overlap_model *x, const uint64_t *place) {
    uint64_t top = 0;
    for (uint32_t g = 0; g < x->n; g++) {
        if (x->counts[g]) top = arn_max_u64(top, place[g] + x->extent[g]);
    }
    return top;
}

static bool spend(void *context, uint64_t steps) { return arn_meter_spend(context, steps); }

/* Looks for a placement below `height`, and records the result. */
static arenaut_status try_height(layers *s, uint32_t k, uint64_t height, uint64_t effort,
                                 arn_overlap_answer *answer) {
    layer *l = &s->layer[k];
    const arn_overlap_host host = {
        .allocator = s->planning->allocator, .effort = effort, .spend = spend, .context = s->meter};
    const arenaut_status st =
        arn_overlap_search(&l->model, height, &host, l->trial, answer, s->planning->err);
    if (st != ARENAUT_OK) return st;
    if (*answer == ARN_OVERLAP_NONE) l->bound = arn_max_u64(l->bound, height + 1);
    if (*answer != ARN_OVERLAP_FOUND) return ARENAUT_OK;
    l->height = height_of(&l->model, l->trial);
    for (uint32_t g = 0; g < l->model.n; g++) l->place[g] = l->trial[g];
    return ARENAUT_OK;
}

/* Whether not even one decision for each pair can be made: each looks for the next among all. */
static bool is_hopeless(const layers *s, const arn_overlap_model *model) {
    const uint64_t pairs = model->n_pairs;
    return arn_meter_has_plan(s->meter) &&
           pairs * pairs / LOOKS_PER_DECISION > s->planning->options->effort;
}

static arenaut_status open_layer(layers *s, uint32_t k) {
    const arenaut_problem *p = s->problem;
    const arenaut_allocator *allocator = s->planning->allocator;
    layer *l = &s->layer[s->n++];
    bool too_many = false;
    *l = (layer){.height = ARENAUT_UNPLACED, .bound = s->planning->plan->lower_bound[k]};
    arenaut_status st =
        arn_overlap_model_make(p, k, allocator, &l->model, &too_many, s->planning->err);
    if (st != ARENAUT_OK) return st;
    s->too_large = s->too_large || too_many || is_hopeless(s, &l->model) ||
                   arn_overlap_ample_height(&l->model) > ARN_OVERLAP_HIGHEST;
    l->place = arn_allocate(allocator, l->model.n, sizeof *l->place);
    l->trial = arn_allocate(allocator, l->model.n, sizeof *l->trial);
    return l->place && l->trial ? ARENAUT_OK : arn_no_memory(s->planning->err);
}

static void close_layers(layers *s) {
    for (uint32_t k = 0; k < s->n; k++) {
        arn_overlap_model_free(&s->layer[k].model);
        ARN_RELEASE(s->planning->allocator, s->layer[k].place, s->layer[k].trial);
    }
}

/* Takes over the places that the plan has already. */
static void take_plan(layers *s) {
    const arenaut_plan *plan = s->planning->plan;
    if (!arn_meter_has_plan(s->meter)) return;
    for (uint32_t k = 0; k < s->n; k++) {
        layer *l = &s->layer[k];
        for (uint32_t b = 0; b < plan->n_buffers; b++) {
            const uint32_t g = l->model.group[b];
            if (g != ARENAUT_NONE) l->place[g] = plan->offset[b] - l->model.inner[b];
        }
        l->height = height_of(&l->model, l->place);
    }
}

/* Makes the best placements the plan, if every pool has one and they are better than it is. */
static void keep(layers *s) {
    const arenaut_problem *p = s->problem;
    arenaut_plan *plan = s->planning->plan;
    arenaut_cost cost = arn_plan_cost(s->chosen ? s->meter->best.spill : 0, 0);
    for (uint32_t k = 0; k < s->n; k++) {
        if (s->layer[k].height == ARENAUT_UNPLACED) return;
        cost.total += arn_aligned(s->layer[k].height, p->pool[k].align);
    }
    if (!arn_meter_improves(s->meter, cost)) return;
    for (uint32_t k = 0; k < s->n; k++) {
        const layer *l = &s->layer[k];
        for (uint32_t b = 0; b < p->n_buffers; b++) {
            const uint32_t g = l->model.group[b];
            if (g == ARENAUT_NONE) continue;
            plan->pool[b] = k;
            plan->offset[b] = l->place[g] + l->model.inner[b];
        }
    }
    arn_meter_improved(s->meter, cost);
}

static void raise_bounds(layers *s) {
    const arenaut_problem *p = s->problem;
    arenaut_plan *plan = s->planning->plan;
    uint64_t total = 0;
    for (uint32_t k = 0; k < s->n; k++) {
        const uint64_t bound = arn_aligned(s->layer[k].bound, p->pool[k].align);
        plan->lower_bound[k] = arn_max_u64(plan->lower_bound[k], bound);
        total += plan->lower_bound[k];
    }
    plan->total_bound = arn_max_u64(plan->total_bound, total);
    arn_meter_raise_goal(s->meter);
}

/* The bound first, since mostly it is reached; then any placement at all, up to the capacity. */
static arenaut_status begin_layer(layers *s, uint32_t k, uint64_t effort) {
    layer *l = &s->layer[k];
    const uint64_t ample = arn_min_u64(arn_overlap_ample_height(&l->model), capacity_of(s, k));
    arn_overlap_answer answer = ARN_OVERLAP_NONE;
    arenaut_status st = ARENAUT_OK;
    if (l->bound < ample) st = try_height(s, k, l->bound, effort / 8, &answer);
    if (st != ARENAUT_OK || l->height != ARENAUT_UNPLACED) return st;
    st = try_height(s, k, ample, effort, &answer);
    l->impossible = answer == ARN_OVERLAP_NONE; /* fixed ones collide, or are too many */
    return st;
}

/* Bisection between the bound and the best; if a height cannot be decided, only heights above it
 * are tried from then on. */
static arenaut_status improve_layer(layers *s, uint32_t k, uint64_t effort) {
    layer *l = &s->layer[k];
    uint64_t open = l->bound;
    arenaut_status st = ARENAUT_OK;
    if (l->height == ARENAUT_UNPLACED) return st; /* no height to bisect below */
    while (st == ARENAUT_OK && open < l->height && !arn_meter_was_stopped(s->meter)) {
        const uint64_t height = open + (l->height - 1 - open) / 2;
        arn_overlap_answer answer;
        st = try_height(s, k, height, effort, &answer);
        if (st != ARENAUT_OK || answer == ARN_OVERLAP_FOUND) continue;
        open = height + 1;
        if (answer == ARN_OVERLAP_STOPPED && !arn_meter_goes_on(s->meter)) break;
    }
    return st;
}

static arenaut_status solve(layers *s) {
    const arenaut_problem *p = s->problem;
    const uint64_t effort = s->planning->options->effort / p->n_pools / 4 + 1;
    arenaut_status st = ARENAUT_OK;
    for (uint32_t k = 0; k < p->n_pools && st == ARENAUT_OK; k++) st = open_layer(s, k);
    if (st != ARENAUT_OK) return st;
    if (s->too_large && arn_meter_has_plan(s->meter)) return st;
    if (s->too_large) {
        return arn_fail(s->planning->err, ARENAUT_REFUSED, 0,
                        "planner 'overlap' takes up to %d pairs of buffers in use together, and "
                        "sizes that add up to 2^60; this problem has more",
                        ARN_OVERLAP_MOST_PAIRS);
    }
    take_plan(s);
    for (uint32_t k = 0; k < p->n_pools && st == ARENAUT_OK; k++) {
        st = begin_layer(s, k, effort);
        if (s->layer[k].impossible && !s->chosen) s->planning->plan->quality = ARENAUT_INFEASIBLE;
    }
    if (st != ARENAUT_OK || s->planning->plan->quality == ARENAUT_INFEASIBLE) return st;
    keep(s);
    for (uint32_t k = 0; k < p->n_pools && st == ARENAUT_OK; k++) st = improve_layer(s, k, effort);
    if (st != ARENAUT_OK) return st;
    keep(s);
    if (!s->chosen) raise_bounds(s);
    return ARENAUT_OK;
}

/* The best plan without overlaps is a start for one with them: the other rows of the table leave
 * separations unused. */
static arenaut_status plan_apart(arenaut_planning *planning, arn_meter *meter) {
    arenaut_problem apart = *planning->problem;
    arenaut_plan_options options = *planning->options;
    arenaut_plan *plan = planning->plan, *part = NULL;
    apart.n_separations = 0;
    apart.separation = NULL;
    options.planner =
        plan->n_buffers > MOST_FOR_AUTO ? arn_planner_skyline.name : arn_planner_auto.name;
    options.effort = options.effort / APART_SHARE + 1;
    const arenaut_status st =
        arenaut_plan_make(&apart, &options, planning->allocator, &part, planning->err);
    if (st == ARENAUT_OK) {
        memcpy(plan->pool, part->pool, plan->n_buffers * sizeof *plan->pool);
        memcpy(plan->offset, part->offset, plan->n_buffers * sizeof *plan->offset);
        meter->spent += part->effort;
        arn_meter_improved(meter, arn_plan_cost(part->spill, part->total));
        const bool final =
            part->stopped_by == ARENAUT_STOP_PROOF || part->stopped_by == ARENAUT_STOP_END;
        if (!final) arn_meter_stop(meter, part->stopped_by);
    }
    arenaut_plan_free(part);
    const bool none = st == ARENAUT_REFUSED || st == ARENAUT_NOT_FOUND || st == ARENAUT_NO_PLAN;
    return none ? ARENAUT_OK : st;
}

/* The problem with every buffer in its pool of the plan. */
static bool keep_pools(layers *s, arenaut_problem *narrowed) {
    const arenaut_plan *plan = s->planning->plan;
    uint64_t *pools = arn_allocate(s->planning->allocator, plan->n_buffers, sizeof *pools);
    *narrowed = *s->problem;
    narrowed->pools = pools;
    for (uint32_t b = 0; pools && b < plan->n_buffers; b++) {
        const uint32_t pool = plan->pool[b];
        pools[b] =
            pool == ARENAUT_NONE ? arenaut_problem_pools(s->problem, b) : UINT64_C(1) << pool;
    }
    s->problem = narrowed;
    return pools != NULL;
}

/* The search ran out of effort before it placed all: first fit needs none. */
static bool is_open(const layers *s) {
    return !arn_meter_has_plan(s->meter) && !arn_meter_was_stopped(s->meter) &&
           s->planning->plan->quality != ARENAUT_INFEASIBLE;
}

static arenaut_status make(const arenaut_planner *self, arenaut_planning *planning,
                           arn_meter *meter) {
    layers s = {.planning = planning, .meter = meter, .problem = planning->problem};
    s.chosen = arenaut_problem_chooses_pools(planning->problem);
    arenaut_status st = ARENAUT_OK;
    (void)self;
    if (s.chosen || planning->problem->n_separations) st = plan_apart(planning, meter);
    if (st != ARENAUT_OK || arn_meter_was_stopped(meter) || arn_meter_at_goal(meter)) return st;
    arn_meter_allow(meter, planning->options->effort);
    if (planning->problem->n_separations) {
        /* The search improves pools that are small enough for it. */
        const bool large = planning->problem->n_buffers > MOST_FOR_AUTO;
        st = arn_overlap_orders(planning, meter, large ? planning->options->effort : 0);
    }
    if (st != ARENAUT_OK || arn_meter_was_stopped(meter) || arn_meter_at_goal(meter)) return st;
    if (!s.chosen) {
        st = solve(&s);
    } else if (arn_meter_has_plan(meter)) {
        arenaut_problem narrowed;
        st = keep_pools(&s, &narrowed) ? solve(&s) : arn_no_memory(planning->err);
        arn_release(planning->allocator, narrowed.pools);
    }
    close_layers(&s);
    if (st != ARENAUT_OK || !is_open(&s)) return st;
    return arn_overlap_orders(planning, meter, 0);
}

static const arn_attempt attempt = {.when = ARN_TRY_OVERLAP, .make = make};

const arenaut_planner arn_planner_overlap = {
    .name = "overlap",
    .summary = "buffers may overlap as far as ops allow; proves the least arena",
    .handles = ARENAUT_FEATURE_ALL | ARENAUT_FEATURE_SEPARATIONS,
    .run = arn_row_run,
    .attempt = &attempt,
};
