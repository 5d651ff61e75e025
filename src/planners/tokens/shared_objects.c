/* shared-objects: packing into tokens that buffers share one after another, each from its start, so
 * that the tokens add up to as little as can be; for runtimes whose plans name a block of memory
 * for each value, and no place in it (Pisarchyk, Lee, "Efficient Memory Management for Deep Neural
 * Net Inference", 2020, call them shared objects).
 *
 * The largest token is as large as the largest buffer, the second as the second largest that is
 * alive together with others, and so on: that is a lower bound, and mostly the answer. Pools that
 * no buffer may choose between are planned one by one, others together. */
#include "planners/tokens/token_packing.h"

#include "core/fail.h"
#include "core/memory.h"
#include "ir/problem.h"
#include "planners/run/planner_rows.h"

typedef struct pools {
    arenaut_planning *planning;
    arn_packer *packers; /* per set of pools */
    uint32_t n;          /* made so far */
} pools;

/* reach[k]: the pools between which buffers may choose, directly or through others, with k. */
static void find_reach(const arenaut_problem *p, uint64_t *reach) {
    for (uint32_t k = 0; k < p->n_pools; k++) reach[k] = UINT64_C(1) << k;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        uint64_t together = 0;
        if (!arenaut_problem_needs_memory(p, b)) continue;
        for (uint32_t k = 0; k < p->n_pools; k++) {
            if (arenaut_problem_pools(p, b) >> k & 1) together |= reach[k];
        }
        for (uint32_t k = 0; k < p->n_pools; k++) {
            if (together >> k & 1) reach[k] = together;
        }
    }
}

static arenaut_status make_all(pools *s, arn_meter *meter) {
    const arenaut_problem *p = s->planning->problem;
    uint64_t reach[ARENAUT_MAX_POOLS];
    arenaut_status st = ARENAUT_OK;
    find_reach(p, reach);
    for (uint32_t k = 0; k < p->n_pools && st == ARENAUT_OK; k++) {
        if (reach[k] & ((UINT64_C(1) << k) - 1)) continue; /* with a pool before it */
        st = arn_packer_make(meter, reach[k], &s->packers[s->n++]);
        if (arn_meter_was_stopped(meter)) return st;
        if (st == ARENAUT_OK) st = arn_packer_start(meter, &s->packers[s->n - 1]);
    }
    return st;
}

/* Makes the packings found so far the plan, if all of them fit and it is the best so far. */
static void keep(const pools *s, arn_meter *meter) {
    arenaut_plan *plan = s->planning->plan;
    arenaut_cost cost = arn_plan_cost(0, 0);
    for (uint32_t k = 0; k < s->n; k++) {
        const arn_packer *packer = &s->packers[k];
        if (packer->layout.total == ARENAUT_UNPLACED) return;
        cost.total += packer->layout.total;
        for (uint32_t i = 0; i < packer->n; i++) {
            const uint32_t pool = packer->layout.pool[packer->best.token[i]];
            cost.spill += arn_problem_spill(s->planning->problem, packer->buffer[i], pool);
        }
    }
    if (!arn_meter_improves(meter, cost)) return;
    for (uint32_t k = 0; k < s->n; k++) {
        const arn_packer *packer = &s->packers[k];
        for (uint32_t i = 0; i < packer->n; i++) {
            const uint32_t token = packer->best.token[i];
            plan->pool[packer->buffer[i]] = packer->layout.pool[token];
            plan->offset[packer->buffer[i]] = packer->layout.start[token];
        }
    }
    arn_meter_improved(meter, cost);
}

/* A bound for a problem with memory in tokens holds for no other: elsewhere buffers could share
 * parts of a token. */
static void take_bounds(const pools *s, arn_meter *meter) {
    const arenaut_problem *p = s->planning->problem;
    arenaut_plan *plan = s->planning->plan;
    uint64_t total = 0;
    if (!(p->traits & ARENAUT_PROBLEM_TOKENS)) return;
    for (uint32_t k = 0; k < s->n; k++) {
        total += s->packers[k].bound;
        if (s->packers[k].impossible) plan->quality = ARENAUT_INFEASIBLE;
    }
    if (total <= plan->total_bound) return;
    plan->total_bound = total;
    if (p->n_pools == 1) plan->lower_bound[0] = total;
    arn_meter_raise_goal(meter);
}

static arenaut_status solve(pools *s, arn_meter *meter) {
    arenaut_planning *planning = s->planning;
    arenaut_status st = make_all(s, meter);
    if (st != ARENAUT_OK || arn_meter_was_stopped(meter)) return st; /* and nothing is known */
    take_bounds(s, meter);
    keep(s, meter);
    for (uint32_t k = 0; k < s->n && st == ARENAUT_OK && arn_meter_goes_on(meter); k++) {
        st = arn_packer_improve(meter, planning->options->effort / s->n + 1, &s->packers[k]);
        keep(s, meter);
    }
    if (st == ARENAUT_OK) take_bounds(s, meter);
    return st;
}

static arenaut_status make_all_pools(arenaut_planning *planning, arn_meter *meter) {
    pools s = {.planning = planning};
    s.packers = arn_allocate(planning->allocator, planning->problem->n_pools, sizeof *s.packers);
    const arenaut_status st = s.packers ? solve(&s, meter) : arn_no_memory(planning->err);
    for (uint32_t k = 0; k < s.n; k++) arn_packer_free(&s.packers[k]);
    arn_release(planning->allocator, s.packers);
    return st;
}

/* If possibly nothing need be spilled, all buffers in their fastest pools: of such plans, this
 * finds the smallest. That there may be none proves nothing about others. */
static arenaut_status share_fastest_pools(arenaut_planning *planning, arn_meter *meter) {
    const arenaut_problem *p = planning->problem;
    if (!arenaut_problem_chooses_pools(p) || planning->plan->spill_bound > 0) return ARENAUT_OK;
    uint64_t *fastest = arn_allocate(planning->allocator, p->n_buffers, sizeof *fastest);
    if (!fastest) return arn_no_memory(planning->err);
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        const uint64_t allowed = arenaut_problem_pools(p, b);
        fastest[b] = allowed & (0 - allowed);
    }
    arenaut_problem narrowed = *p;
    arenaut_planning part = *planning;
    narrowed.pools = fastest;
    part.problem = &narrowed;
    meter->planning = &part;
    const arenaut_status st = make_all_pools(&part, meter);
    meter->planning = planning;
    planning->plan->quality = ARENAUT_FEASIBLE;
    arn_release(planning->allocator, fastest);
    return st;
}

/* For `auto`: with as much effort as the row alone has. */
static arenaut_status make(const arenaut_planner *self, arenaut_planning *planning,
                           arn_meter *meter) {
    arenaut_status st = ARENAUT_OK;
    (void)self;
    if (planning->problem->traits & ARENAUT_PROBLEM_TOKENS) {
        st = share_fastest_pools(planning, meter);
        if (st != ARENAUT_OK || arn_meter_at_goal(meter)) return st;
    }
    arn_meter_allow(meter, planning->options->effort);
    return make_all_pools(planning, meter);
}

static arenaut_status shared_objects_run(const arenaut_planner *self, arenaut_planning *planning) {
    arenaut_status st = arn_settings_check(planning, self, NULL);
    arn_meter meter = arn_meter_start(planning, self->name);
    if (st == ARENAUT_OK) st = make_all_pools(planning, &meter);
    if (st != ARENAUT_OK || planning->plan->quality == ARENAUT_INFEASIBLE) return st;
    return arn_meter_finish(&meter);
}

const arenaut_planner arn_planner_shared_objects = {
    .name = "shared-objects",
    .summary = "whole blocks that buffers share, as small in sum as can be",
    .handles = ARENAUT_FEATURE_ALIGNMENT | ARENAUT_FEATURE_GAPS | ARENAUT_FEATURE_POOLS |
               ARENAUT_FEATURE_CAPACITY | ARENAUT_FEATURE_SAME_BASE | ARENAUT_FEATURE_CONFLICTS |
               ARENAUT_FEATURE_RESERVED | ARENAUT_FEATURE_HINTS | ARENAUT_FEATURE_TOKENS,
    .run = shared_objects_run,
    .attempt = &(const arn_attempt){ARN_TRY_TOKENS | ARN_TRY_POOLS, 1, 0, NULL, make},
};
