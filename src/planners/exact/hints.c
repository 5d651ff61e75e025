/* Stable plans: among equally good plans, one in which buffers keep their places from an earlier
 * plan (hints). Many hints are held fixed while the exact search looks for a plan that is as good;
 * their number is halved if there is none. Each search has a share of the effort. */
#include "planners/exact/exact.h"

#include "core/checked.h"
#include "core/fail.h"
#include "core/memory.h"
#include "core/sort.h"
#include "planners/exact/case_relations.h"

/* One part in so many of the options' effort may go into this, on top; and one search may have one
 * part in so many of the rest. */
enum { HINTS_SHARE = 8, TRY_SHARE = 4 };

typedef struct hints {
    const arn_exact_input *in;
    arenaut_error *err;
    arn_region region;
    uint64_t *place;  /* per buffer: the place at which it is held; ARENAUT_UNPLACED */
    uint64_t *offset; /* per buffer: a plan with those held */
    uint32_t *pool_of;
    uint32_t *listed, n; /* buffers to hold, the largest first */
    uint64_t spent;
} hints;

static bool fits_alone(const hints *x, uint32_t b, uint64_t at) {
    const arenaut_problem *p = x->in->problem;
    const uint64_t top = arn_min_u64(x->in->arena, p->pool[x->in->pool].capacity);
    if (at % arenaut_problem_align(p, b) || at > top || p->size[b] > top - at) return false;
    for (uint32_t i = 0; i < p->n_reserved; i++) {
        const arenaut_reserved *r = &p->reserved[i];
        if (r->pool == x->in->pool && at < r->end && r->first < at + p->size[b]) return false;
    }
    return true;
}

static bool runs_into_held(const hints *x, uint32_t b) {
    const arenaut_problem *p = x->in->problem;
    for (uint32_t other = 0; other < p->n_buffers; other++) {
        if (!arn_poll_after(x->in->poll, 1)) return true;
        if (other == b || x->place[other] == ARENAUT_UNPLACED) continue;
        if (arn_exact_collide(p, b, other, x->place)) return true;
    }
    return false;
}

static bool larger(const void *context, uint32_t a, uint32_t b) {
    const uint64_t *size = context;
    return size[a] > size[b];
}

/* Holds all fixed buffers, and lists as many hinted ones as do not run into each other. */
static void choose(hints *x, uint32_t *order) {
    const arenaut_problem *p = x->in->problem;
    uint32_t n = 0;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        x->place[b] = ARENAUT_UNPLACED;
        if (!arn_exact_in_pool(x->in, b)) continue;
        x->place[b] = arenaut_problem_fixed_offset(p, b);
        if (x->place[b] == ARENAUT_UNPLACED && arenaut_problem_hint(p, b) != ARENAUT_UNPLACED) {
            order[n++] = b;
        }
    }
    arn_sort_ids(order, n, larger, p->size, order + p->n_buffers);
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t b = order[k];
        x->place[b] = arenaut_problem_hint(p, b);
        if (fits_alone(x, b, x->place[b]) && !runs_into_held(x, b)) x->listed[x->n++] = b;
        else x->place[b] = ARENAUT_UNPLACED;
    }
}

/* Searches for a plan in which those held are fixed. */
static arenaut_status try_held(hints *x, bool *found) {
    arenaut_problem held = *x->in->problem;
    arn_exact_input in = *x->in;
    held.fixed_offset = x->place;
    held.hint = NULL;
    in.problem = &held;
    in.bound = in.arena; /* so that the first plan is good enough */
    in.arena += held.pool[in.pool].align;
    in.enough = 0;
    in.effort = (x->in->effort - x->spent) / TRY_SHARE + 1;
    in.progress = NULL;
    arn_exact_output out = {.offset = x->offset, .pool_of = x->pool_of};
    const arenaut_status st = arn_exact_run(&in, in.poll, &out, x->err);
    x->spent += out.effort + 1;
    *found = st == ARENAUT_OK && out.improved;
    return st == ARENAUT_REFUSED ? ARENAUT_OK : st;
}

static void hold(hints *x, uint32_t first, uint32_t end, bool held) {
    for (uint32_t k = first; k < end; k++) {
        const uint32_t b = x->listed[k];
        x->place[b] = held ? arenaut_problem_hint(x->in->problem, b) : ARENAUT_UNPLACED;
    }
}

/* Holds as many as possible at a time on top of the hints held before, and half as many when that
 * fails. */
static arenaut_status keep(hints *x, uint64_t *offset) {
    uint32_t done = 0, at_once = x->n;
    hold(x, 0, x->n, false);
    while (done < x->n && x->spent < x->in->effort && !arn_poll_ended(x->in->poll)) {
        const uint32_t end = done + (at_once < x->n - done ? at_once : x->n - done);
        bool found;
        hold(x, done, end, true);
        const arenaut_status st = try_held(x, &found);
        if (st != ARENAUT_OK) return st;
        for (uint32_t b = 0; found && b < x->in->problem->n_buffers; b++) {
            if (arn_exact_in_pool(x->in, b)) offset[b] = x->offset[b];
        }
        if (!found) hold(x, done, end, false);
        if (found || end == done + 1) done = end;
        at_once = found ? 2 * (at_once < x->n ? at_once : x->n) : (end - done + 1) / 2;
        if (at_once == 0) at_once = 1;
    }
    return ARENAUT_OK;
}

/* Rearranges one pool's plan, which is in `offset` and has an arena of in->arena, so that more
 * buffers lie at their hints, the largest first, without a larger arena. Tries to keep all hints
 * that agree with each other, and fewer at a time when that fails, within in->effort; adds the
 * effort to *spent. */
static arenaut_status keep_hints(const arn_exact_input *in, uint64_t *offset, uint64_t *spent,
                                 arenaut_error *err) {
    const uint32_t n = in->problem->n_buffers;
    hints x = {.in = in, .err = err};
    if (!in->problem->hint || in->arena > ARENAUT_SIZE_MAX / 2) return ARENAUT_OK;
    arn_region_init(&x.region, in->allocator);
    arenaut_status st = ARENAUT_OK;
    uint32_t *order;
    if (ARN_REGION_ARRAYS(&x.region, ARN_ARRAY(order, 2 * (size_t)n), ARN_ARRAY(x.place, n),
                          ARN_ARRAY(x.offset, n), ARN_ARRAY(x.pool_of, n),
                          ARN_ARRAY(x.listed, n))) {
        choose(&x, order);
        st = keep(&x, offset);
    } else {
        st = arn_no_memory(err);
    }
    *spent += x.spent;
    arn_region_free(&x.region);
    return st;
}

/* Only a proven plan is rearranged: a search that was stopped does not go on here. */
arenaut_status arn_exact_keep_earlier(arenaut_planning *planning) {
    arenaut_plan *plan = planning->plan;
    arn_exact_notice last = {.options = planning->options, .progress = {.planner = "exact"}};
    arn_poll poll = {.callback = arn_exact_notify, .context = &last};
    arenaut_status st = ARENAUT_OK;
    const bool proven = plan->stopped_by == ARENAUT_STOP_PROOF;
    if (!planning->problem->hint || !proven || plan->quality == ARENAUT_INFEASIBLE) return st;
    st = arenaut_plan_measure(plan, planning->problem, planning->err);
    last.progress.best = last.progress.bound = plan->total;
    last.progress.spill = last.progress.spill_bound = plan->spill;
    for (uint32_t k = 0; k < plan->n_pools && st == ARENAUT_OK; k++) {
        arn_exact_input pool = arn_exact_input_of(planning);
        pool.pool = k;
        pool.pool_of = plan->n_pools > 1 ? plan->pool : NULL;
        pool.spill_bound = 0; /* in one pool nothing is spilled */
        pool.arena = plan->arena[k];
        pool.effort = planning->options->effort / HINTS_SHARE / plan->n_pools;
        pool.poll = &poll;
        last.progress.effort = plan->effort;
        st = keep_hints(&pool, plan->offset, &plan->effort, planning->err);
    }
    return st;
}
