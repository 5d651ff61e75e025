/* Several pools to choose from: what plans spill into the slower ones, against trying every pool
 * and every address. */
#include <stdlib.h>

#include <arenaut/certificate.h>

#include "support/oracle.h"
#include "support/plans.h"
#include "support/problems.h"
#include "support/test.h"

#include "planners/spill.h"

/* ---- trying everything ---- */

typedef struct cost {
    uint64_t spill, total;
} cost;

static bool is_less(cost a, cost b) {
    return a.spill < b.spill || (a.spill == b.spill && a.total < b.total);
}

/* Buffers 0 to b - 1 are placed. */
typedef struct trying {
    const arenaut_problem *p;
    arenaut_plan *plan;
    uint64_t roof;
    cost best;
} trying;

static uint64_t spill_of(const arenaut_problem *p, uint32_t b, uint32_t pool) {
    uint64_t spill = 0;
    for (uint32_t k = 0; k < pool; k++) {
        if (arenaut_problem_pools(p, b) >> k & 1) spill += p->size[b] * (p->uses ? p->uses[b] : 1);
    }
    return spill;
}

static uint64_t total_of(const arenaut_problem *p, const uint64_t *top) {
    uint64_t total = 0;
    for (uint32_t k = 0; k < p->n_pools; k++) {
        total += (top[k] + p->pool[k].align - 1) / p->pool[k].align * p->pool[k].align;
    }
    return total;
}

static void try_all(trying *t, uint32_t b, uint64_t spill, const uint64_t *top) {
    const arenaut_problem *p = t->p;
    const cost so_far = {spill, total_of(p, top)};
    if (!is_less(so_far, t->best)) return;
    if (b == p->n_buffers) {
        t->best = so_far;
        return;
    }
    if (!arenaut_problem_needs_memory(p, b)) {
        try_all(t, b + 1, spill, top);
        return;
    }
    for (uint32_t k = 0; k < p->n_pools; k++) {
        if (!(arenaut_problem_pools(p, b) >> k & 1)) continue;
        t->plan->pool[b] = k;
        for (uint64_t at = 0; at + p->size[b] <= t->roof; at++) {
            uint64_t next[ARENAUT_MAX_POOLS];
            memcpy(next, top, p->n_pools * sizeof *next);
            if (at + p->size[b] > next[k]) next[k] = at + p->size[b];
            t->plan->offset[b] = at;
            if (oracle_accepts_buffer(p, t->plan, b)) {
                try_all(t, b + 1, spill + spill_of(p, b, k), next);
            }
        }
    }
}

/* UINT64_MAX twice: there is no plan. */
static cost least_cost(const arenaut_problem *p) {
    const uint64_t top[ARENAUT_MAX_POOLS] = {0};
    trying t = {p, NULL, 0, {UINT64_MAX, UINT64_MAX}};
    arenaut_error err = {0};
    assert_ok(arenaut_plan_new(p->n_buffers, p->n_pools, NULL, &t.plan, &err), err);
    for (uint32_t k = 0; k < p->n_reserved; k++) {
        if (p->reserved[k].end > t.roof) t.roof = p->reserved[k].end;
    }
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        const uint64_t fixed = arenaut_problem_fixed_offset(p, b);
        if (fixed != ARENAUT_UNPLACED && fixed > t.roof) t.roof = fixed;
    }
    for (uint32_t b = 0; b < p->n_buffers; b++) t.roof += p->size[b] + arenaut_problem_align(p, b);
    try_all(&t, 0, 0, top);
    arenaut_plan_free(t.plan);
    return t.best;
}

/* ---- every planner against it ---- */

static void hold_against(const arenaut_problem *p, const arenaut_plan *plan, cost least) {
    const cost found = {plan->spill, plan->total};
    if (plan->quality == ARENAUT_INFEASIBLE) {
        assert_true(least.total == UINT64_MAX);
        return;
    }
    assert_plan_accepted(p, plan);
    assert_false(is_less(found, least));
    assert_true(plan->spill_bound <= least.spill);
    if (plan->spill == least.spill) assert_true(plan->total_bound <= least.total);
    if (plan->quality == ARENAUT_OPTIMAL) assert_false(is_less(least, found));
}

static cost plan_with(const arenaut_problem *p, const arenaut_planner *planner, cost least) {
    const arenaut_plan_options options = {.planner = planner->name, .effort = 200000};
    cost found = {UINT64_MAX, UINT64_MAX};
    arenaut_plan *plan = NULL;
    arenaut_error err = {0};
    const arenaut_status st = arenaut_plan_make(p, &options, NULL, &plan, &err);
    if (st == ARENAUT_REFUSED || st == ARENAUT_STOPPED) return found;
    if (st != ARENAUT_NO_PLAN) assert_ok(st, err);
    hold_against(p, plan, least);
    if (plan->quality != ARENAUT_INFEASIBLE) found = (cost){plan->spill, plan->total};
    arenaut_plan_free(plan);
    return found;
}

/* The fast pools are small, so that not all fits into them. */
static void make_tight(rng *r, arenaut_problem *p, uint32_t max_size) {
    for (uint32_t k = 0; k + 1 < p->n_pools; k++) {
        p->pool[k].capacity = 1 + rng_below(r, 2 * max_size);
    }
    if (rng_once_in(r, 3)) p->pool[p->n_pools - 1].capacity = 1 + rng_below(r, 3 * max_size);
}

static void compare_all_planners(const problem_shape *shape, uint32_t problems) {
    rng r = {shape->features + 6007};
    uint32_t n_spilling = 0, n_impossible = 0, n_optimal = 0;
    for (uint32_t k = 0; k < problems; k++) {
        arenaut_problem *p = random_problem(&r, shape);
        make_tight(&r, p, shape->max_size);
        const cost least = least_cost(p);
        n_impossible += least.total == UINT64_MAX;
        n_spilling += least.total != UINT64_MAX && least.spill > 0;
        cost best = {0, 0};
        for (size_t i = 0; i < arenaut_planner_count(); i++) {
            const cost found = plan_with(p, arenaut_planner_at(i), least);
            if (i == 0) best = found; /* auto */
            assert_false(is_less(found, best));
        }
        n_optimal += !is_less(least, best);
        arenaut_problem_free(p);
    }
    /* Enough of each kind, and hardly any that is not solved. */
    assert_true(n_spilling > problems / 10 && n_impossible > problems / 100);
    assert_true(n_optimal >= problems - problems / 100);
}

static void what_is_proven_is_so_for_plain_buffers(void **state) {
    (void)state;
    const problem_shape shape = {6, 5, 6, ARENAUT_FEATURE_POOLS | ARENAUT_FEATURE_CAPACITY};
    compare_all_planners(&shape, 300);
}

static void what_is_proven_is_so_with_relations(void **state) {
    (void)state;
    const problem_shape shape = {5, 5, 6,
                                 ARENAUT_FEATURE_POOLS | ARENAUT_FEATURE_SAME_BASE |
                                     ARENAUT_FEATURE_INSIDE | ARENAUT_FEATURE_GAPS};
    compare_all_planners(&shape, 300);
}

static void what_is_proven_is_so_with_every_constraint(void **state) {
    (void)state;
    const problem_shape shape = {5, 5, 6, ARENAUT_FEATURE_ALL};
    compare_all_planners(&shape, 400);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_proven_is_so_for_plain_buffers),
        cmocka_unit_test(what_is_proven_is_so_with_relations),
        cmocka_unit_test(what_is_proven_is_so_with_every_constraint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
