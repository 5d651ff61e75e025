/* All planners of the table, on small random problems of every kind: each plan is right, lies
 * between the bound and the naive plan, is repeatable, and survives failures. */
#include "support/test.h"

#include <arenaut/planner.h>

#include "planners/bounds/bounds.h"
#include "support/fuse.h"
#include "support/oracle.h"
#include "support/problems.h"

enum { KINDS = 14 };

/* Kinds of problems: one constraint at a time, none, and several at once. */
static uint32_t features_of_kind(uint32_t kind) {
    if (kind < 10) return 1u << kind;
    if (kind == 10) return 0;
    if (kind == 11) return ARENAUT_FEATURE_ALL;
    if (kind == 12) return ARENAUT_FEATURE_ALL & ~(uint32_t)ARENAUT_FEATURE_CAPACITY;
    return ARENAUT_FEATURE_SAME_BASE | ARENAUT_FEATURE_INSIDE | ARENAUT_FEATURE_GAPS;
}

static arenaut_problem *problem_of_kind(rng *r, uint32_t kind, uint32_t max_buffers) {
    const problem_shape shape = {max_buffers, 6, 8, features_of_kind(kind)};
    return random_problem(r, &shape);
}

/* A plan, or NULL where the planner may say that it found none. */
static arenaut_plan *plan_with(const arenaut_problem *problem,
                               const arenaut_plan_options *options) {
    arenaut_plan *plan = NULL;
    arenaut_error err = {0};
    const arenaut_status st = arenaut_plan_make(problem, options, NULL, &plan, &err);
    if (is_no_answer(st)) {
        assert_null(plan);
        assert_true(strlen(err.msg) > 0);
        return NULL;
    }
    assert_answered(st, plan, &err);
    assert_plan_accepted(problem, plan);
    return plan;
}

/* Few steps are enough for problems this small. */
enum { LITTLE_EFFORT = 3000 };

static arenaut_plan *plan_by(const arenaut_problem *problem, const char *planner) {
    const arenaut_plan_options options = {.planner = planner, .effort = LITTLE_EFFORT};
    return plan_with(problem, &options);
}

static void assert_same_plans(const arenaut_plan *a, const arenaut_plan *b) {
    assert_int_equal(a->total, b->total);
    assert_int_equal(a->total_bound, b->total_bound);
    assert_int_equal(a->quality, b->quality);
    assert_int_equal(a->effort, b->effort);
    assert_memory_equal(a->pool, b->pool, a->n_buffers * sizeof *a->pool);
    assert_memory_equal(a->offset, b->offset, a->n_buffers * sizeof *a->offset);
}

TEST(every_planner_is_right_on_every_kind_of_problem) {
    rng r = {1};
    for (uint32_t round = 0; round < 150 * KINDS; round++) {
        arenaut_problem *problem = problem_of_kind(&r, round % KINDS, 12);
        for (size_t i = 0; i < arenaut_planner_count(); i++) {
            arenaut_plan *plan = plan_by(problem, arenaut_planner_at(i)->name);
            if (!plan) continue;
            if (plan->quality != ARENAUT_INFEASIBLE) {
                assert_true(oracle_accepts_placement(problem, plan));
                assert_true(plan->total >= plan->total_bound);
                assert_true(plan->total_bound >= oracle_max_load(problem) || problem->same_base ||
                            problem->inside);
            }
            arenaut_plan_free(plan);
        }
        arenaut_problem_free(problem);
    }
}

TEST(a_planner_refuses_only_what_it_does_not_handle) {
    rng r = {2};
    for (uint32_t round = 0; round < 20 * KINDS; round++) {
        arenaut_problem *problem = problem_of_kind(&r, round % KINDS, 8);
        const uint32_t features = arn_problem_features(problem);
        for (size_t i = 0; i < arenaut_planner_count(); i++) {
            const arenaut_planner *planner = arenaut_planner_at(i);
            const arenaut_plan_options options = {.planner = planner->name, .effort = 1000};
            arenaut_plan *plan = NULL;
            arenaut_error err = {0};
            const arenaut_status st = arenaut_plan_make(problem, &options, NULL, &plan, &err);
            if (features & ~planner->handles) {
                assert_int_equal(st, ARENAUT_REFUSED);
                assert_non_null(strstr(err.msg, planner->name));
            } else if (!(features & ARENAUT_FEATURE_CAPACITY)) {
                assert_answered(st, plan, &err);
            }
            arenaut_plan_free(plan);
        }
        arenaut_problem_free(problem);
    }
}

/* Bounds are kept by a search through all plans. */
typedef struct brute {
    const arenaut_problem *problem;
    arenaut_plan *plan;
    uint64_t limit; /* looks for a plan with a smaller total */
    uint64_t arena[ARENAUT_MAX_POOLS];
    bool found;
} brute;

static uint64_t brute_total(const brute *s) {
    uint64_t total = 0;
    for (uint32_t k = 0; k < s->problem->n_pools; k++) {
        const uint64_t align = s->problem->pool[k].align;
        total += (s->arena[k] + align - 1) / align * align;
    }
    return total;
}

static void brute_from(brute *s, uint32_t b) {
    const arenaut_problem *p = s->problem;
    if (b == p->n_buffers) {
        s->found = brute_total(s) < s->limit;
        return;
    }
    if (!arenaut_problem_needs_memory(p, b)) {
        brute_from(s, b + 1);
        return;
    }
    for (uint32_t k = 0; k < p->n_pools && !s->found; k++) {
        if (!(arenaut_problem_pools(p, b) >> k & 1)) continue;
        const uint64_t arena = s->arena[k];
        const uint64_t fixed = arenaut_problem_fixed_offset(p, b);
        const uint64_t first = fixed == ARENAUT_UNPLACED ? 0 : fixed;
        const uint64_t last = fixed == ARENAUT_UNPLACED ? s->limit : fixed;
        for (uint64_t at = first; at <= last && !s->found; at++) {
            s->plan->pool[b] = k;
            s->plan->offset[b] = at;
            if (at + p->size[b] > arena) s->arena[k] = at + p->size[b];
            if (brute_total(s) >= s->limit) break;
            if (oracle_accepts_buffer(p, s->plan, b)) brute_from(s, b + 1);
            s->arena[k] = arena;
        }
        s->arena[k] = arena;
    }
}

static bool a_smaller_plan_exists(const arenaut_problem *problem, uint64_t than) {
    brute s = {.problem = problem, .limit = than};
    assert_int_equal(arenaut_plan_new(problem->n_buffers, problem->n_pools, NULL, &s.plan, NULL),
                     ARENAUT_OK);
    brute_from(&s, 0);
    arenaut_plan_free(s.plan);
    return s.found;
}

/* No plan of so few and so small buffers needs to reach above this. */
enum { ANYWHERE = 60 };

TEST(no_plan_is_below_the_bound_and_infeasible_means_none) {
    rng r = {3};
    uint32_t impossible = 0, optimal = 0;
    for (uint32_t round = 0; round < 100 * KINDS; round++) {
        arenaut_problem *problem = problem_of_kind(&r, round % KINDS, 5);
        arenaut_plan *plan = plan_by(problem, NULL);
        if (plan && plan->quality == ARENAUT_INFEASIBLE) {
            impossible++;
            assert_false(a_smaller_plan_exists(problem, ANYWHERE));
        } else if (plan) {
            optimal += plan->quality == ARENAUT_OPTIMAL;
            /* Where pools are chosen it is of plans that spill as little: see test_pools.c. */
            const bool bound_holds_for_all = !arenaut_problem_chooses_pools(problem);
            if (bound_holds_for_all && a_smaller_plan_exists(problem, plan->total_bound)) {
                fail_msg("round %u: a plan exists below the bound %llu", round,
                         (unsigned long long)plan->total_bound);
            }
        }
        arenaut_plan_free(plan);
        arenaut_problem_free(problem);
    }
    /* Both happen: how often depends on the compiler, which may choose the order in which the
     * arguments of one call are drawn. */
    assert_true(impossible > 5);
    assert_true(optimal > 20 * KINDS);
}

TEST(auto_is_never_worse_than_any_planner) {
    rng r = {4};
    for (uint32_t round = 0; round < 60 * KINDS; round++) {
        arenaut_problem *problem = problem_of_kind(&r, round % KINDS, 14);
        arenaut_plan *best = plan_by(problem, "auto");
        for (size_t i = 0; i < arenaut_planner_count(); i++) {
            arenaut_plan *plan = plan_by(problem, arenaut_planner_at(i)->name);
            if (plan && plan->quality != ARENAUT_INFEASIBLE) {
                assert_non_null(best);
                if (plan->spill < best->spill ||
                    (plan->spill == best->spill && plan->total < best->total)) {
                    fail_msg("round %u: %s needs %llu, auto %llu", round,
                             arenaut_planner_at(i)->name, (unsigned long long)plan->total,
                             (unsigned long long)best->total);
                }
            }
            arenaut_plan_free(plan);
        }
        arenaut_plan_free(best);
        arenaut_problem_free(problem);
    }
}

TEST(the_same_problem_gives_the_same_plan) {
    rng r = {5};
    for (uint32_t round = 0; round < 20 * KINDS; round++) {
        arenaut_problem *problem = problem_of_kind(&r, round % KINDS, 14);
        for (size_t i = 0; i < arenaut_planner_count(); i++) {
            arenaut_plan *a = plan_by(problem, arenaut_planner_at(i)->name);
            arenaut_plan *b = plan_by(problem, arenaut_planner_at(i)->name);
            assert_int_equal(!a, !b);
            if (a && a->quality != ARENAUT_INFEASIBLE) assert_same_plans(a, b);
            arenaut_plan_free(a);
            arenaut_plan_free(b);
        }
        arenaut_problem_free(problem);
    }
}

typedef struct attempt {
    const arenaut_problem *problem;
    const char *planner;
} attempt;

static arenaut_status make_and_free(void *context, const arenaut_allocator *allocator) {
    const attempt *a = context;
    const arenaut_plan_options options = {.planner = a->planner, .effort = 300};
    arenaut_plan *plan = NULL;
    const arenaut_status st = arenaut_plan_make(a->problem, &options, allocator, &plan, NULL);
    const bool answer = is_answer(st, plan);
    arenaut_plan_free(plan);
    return answer ? ARENAUT_OK : st;
}

TEST(every_planner_survives_every_allocation_failure) {
    const uint32_t kinds[] = {10, 12, 13};
    for (size_t k = 0; k < COUNT_OF(kinds); k++) {
        rng r = {6 + k};
        arenaut_problem *problem = problem_of_kind(&r, kinds[k], 12);
        const uint32_t features = arn_problem_features(problem);
        for (size_t i = 0; i < arenaut_planner_count(); i++) {
            attempt a = {problem, arenaut_planner_at(i)->name};
            if (features & ~arenaut_planner_at(i)->handles) continue;
            survives_every_allocation_failure(make_and_free, &a);
        }
        arenaut_problem_free(problem);
    }
}

/* Stops at the n-th call; watches that the reported figures only get better. */
typedef struct watcher {
    uint32_t calls, stop_at;
    uint64_t best, effort;
    arenaut_verdict verdict;
} watcher;

static arenaut_verdict watch(void *context, const arenaut_progress *progress) {
    watcher *w = context;
    assert_non_null(progress->planner);
    assert_true(progress->best <= w->best);
    assert_true(progress->bound <= progress->best);
    assert_true(progress->effort >= w->effort);
    w->best = progress->best;
    w->effort = progress->effort;
    return ++w->calls >= w->stop_at ? w->verdict : ARENAUT_GO_ON;
}

TEST(an_interrupt_at_any_point_leaves_a_right_plan) {
    rng r = {7};
    const problem_shape shape = {60, 50, 30, 0};
    for (uint32_t round = 0; round < 20; round++) {
        arenaut_problem *problem = random_problem(&r, &shape);
        for (uint32_t at = 1; at < 12; at++) {
            watcher w = {.stop_at = at, .best = UINT64_MAX};
            w.verdict = at % 2 ? ARENAUT_INTERRUPTED : ARENAUT_OUT_OF_TIME;
            const arenaut_plan_options options = {
                .effort = 50000, .progress = watch, .progress_context = &w};
            arenaut_plan *plan = plan_with(problem, &options);
            assert_non_null(plan);
            if (w.calls == at && plan->quality != ARENAUT_OPTIMAL) {
                assert_int_equal(plan->stopped_by,
                                 at % 2 ? ARENAUT_STOP_INTERRUPT : ARENAUT_STOP_TIME);
            }
            arenaut_plan_free(plan);
        }
        arenaut_problem_free(problem);
    }
}

TEST(more_effort_is_never_worse) {
    rng r = {8};
    const problem_shape shape = {40, 60, 30, 0};
    for (uint32_t round = 0; round < 10; round++) {
        arenaut_problem *problem = random_problem(&r, &shape);
        uint64_t last = UINT64_MAX;
        for (uint64_t effort = 1; effort < 200000; effort *= 7) {
            const arenaut_plan_options options = {.effort = effort};
            arenaut_plan *plan = plan_with(problem, &options);
            assert_non_null(plan);
            assert_true(plan->total <= last);
            last = plan->total;
            arenaut_plan_free(plan);
        }
        arenaut_problem_free(problem);
    }
}

TEST(larger_problems_of_every_kind_are_right_too) {
    rng r = {10};
    for (uint32_t round = 0; round < 3 * KINDS; round++) {
        const problem_shape shape = {200, 60, 50, features_of_kind(round % KINDS)};
        arenaut_problem *problem = random_problem(&r, &shape);
        for (size_t i = 0; i < arenaut_planner_count(); i++) {
            arenaut_plan *plan = plan_by(problem, arenaut_planner_at(i)->name);
            arenaut_plan_free(plan);
        }
        arenaut_problem_free(problem);
    }
}

/* Buffers that are hard to place, and at another time thousands that are
 * not, but have too many pairs for the exact search. */
TEST(a_hot_zone_is_solved_although_the_whole_is_too_large) {
    rng r = {11};
    uint32_t solved = 0;
    for (uint32_t round = 0; round < 8; round++) {
        arenaut_problem *problem = new_problem();
        for (uint32_t i = 0; i < 140; i++) {
            const int64_t first = rng_below(&r, 30);
            add_box(problem, 1000 + rng_below(&r, 9000), first, first + 1 + rng_below(&r, 9));
        }
        for (uint32_t i = 0; i < 3500; i++) add_box(problem, 1 + rng_below(&r, 9), 100, 102);
        finish(problem);
        const arenaut_plan_options options = {.effort = 2000000};
        arenaut_plan *exact = plan_by(problem, "exact");
        arenaut_plan *plan = plan_with(problem, &options);
        assert_null(exact);
        assert_non_null(plan);
        if (strcmp(plan->planner, "exact") == 0) solved++;
        arenaut_plan_free(plan);
        arenaut_problem_free(problem);
    }
    assert_true(solved > 0);
}

/* The larger one may lie anywhere, but if it takes the fast pool first, as by size it does,
 * nothing is left for the one that may lie nowhere else. */
TEST(who_has_fewer_pools_may_choose_first) {
    const arenaut_interval life = {0, 2};
    arenaut_problem *problem = new_problem();
    add_pool(problem, "fast", 1024, 1);
    add_pool(problem, "slow", 65536, 1);
    arenaut_buffer buffer = ARENAUT_BUFFER_INIT;
    buffer.lifetimes = &life;
    buffer.n_lifetimes = 1;
    buffer.size = 1024;
    add_buffer(problem, &buffer);
    buffer.size = 512;
    buffer.pools = 1;
    add_buffer(problem, &buffer);
    arenaut_error err = {0};
    assert_ok(arenaut_problem_finish(problem, &err), err);
    arenaut_plan *plan = plan_by(problem, NULL);
    assert_non_null(plan);
    assert_int_equal(plan->pool[0], 1);
    assert_int_equal(plan->pool[1], 0);
    arenaut_plan_free(plan);
    arenaut_problem_free(problem);
}

TEST(a_capacity_is_fitted_into_or_proved_too_small) {
    const box boxes[] = {{10, 0, 2}, {20, 1, 3}, {10, 2, 4}, {20, 3, 5}};
    arenaut_problem *problem = problem_of(boxes, COUNT_OF(boxes));
    arenaut_plan_options options = {.capacity = 1000};
    arenaut_plan *plan = plan_with(problem, &options);
    assert_non_null(plan);
    assert_int_equal(plan->stopped_by, ARENAUT_STOP_PROOF);
    arenaut_plan_free(plan);
    options.capacity = 30;
    plan = plan_with(problem, &options);
    assert_non_null(plan);
    assert_int_equal(plan->total, 30);
    arenaut_plan_free(plan);
    options.capacity = 29;
    arenaut_error err = {0};
    plan = NULL;
    assert_int_equal(arenaut_plan_make(problem, &options, NULL, &plan, &err), ARENAUT_NO_PLAN);
    assert_string_equal(err.msg,
                        "there is no plan: at step 1, buffers 'buffer0' and 'buffer1' "
                        "need 1 byte more than pool 'arena' has");
    assert_int_equal(plan->quality, ARENAUT_INFEASIBLE);
    assert_int_equal(plan->witness.step, 1);
    assert_int_equal(plan->witness.n_buffers, 2);
    assert_int_equal(plan->witness.bytes_over, 1);
    arenaut_plan_free(plan);
    arenaut_problem_free(problem);
}

/* An op's result over its operand: some runtimes know no such thing, and so their replicas
 * neither. None of those calls its plan optimal. */
TEST(all_but_some_replicas_use_rights_to_the_same_base) {
    static const struct {
        const char *name;
        uint64_t bytes;
    } ignores[] = {{"tflm-greedy", 128},
                   {"tvm-tokens", 128},
                   {"storage-groups", 128},
                   {"torch-caching", 512 + 64}};
    const arenaut_interval lives[] = {{0, 2}, {1, 3}};
    arenaut_problem *p = new_problem();
    for (uint32_t i = 0; i < 2; i++) {
        arenaut_buffer b = {.size = 64, .lifetimes = &lives[i], .n_lifetimes = 1};
        if (i == 1) b.same_base = arenaut_id(0);
        add_buffer(p, &b);
    }
    finish(p);
    for (size_t i = 0; i < arenaut_planner_count(); i++) {
        const char *name = arenaut_planner_at(i)->name;
        uint64_t expected = 64;
        for (size_t k = 0; k < COUNT_OF(ignores); k++) {
            if (strcmp(name, ignores[k].name) == 0) expected = ignores[k].bytes;
        }
        arenaut_plan *plan = plan_by(p, name);
        assert_int_equal(plan->total, expected);
        assert_int_equal(plan->quality, expected > 64 ? ARENAUT_FEASIBLE : ARENAUT_OPTIMAL);
        arenaut_plan_free(plan);
    }
    arenaut_problem_free(p);
}

TEST(unknown_planners_and_settings_are_named) {
    const box boxes[] = {{10, 0, 2}};
    arenaut_problem *problem = problem_of(boxes, 1);
    arenaut_plan *plan = NULL;
    arenaut_error err = {0};
    arenaut_plan_options options = {.planner = "magic"};
    assert_int_equal(arenaut_plan_make(problem, &options, NULL, &plan, &err), ARENAUT_BAD_ARGUMENT);
    assert_non_null(strstr(err.msg, "magic"));
    const arenaut_setting settings[] = {{"order", "sideways"}, {"colour", "red"}};
    options.planner = "first-fit";
    options.settings = settings;
    options.n_settings = 1;
    assert_int_equal(arenaut_plan_make(problem, &options, NULL, &plan, &err), ARENAUT_BAD_ARGUMENT);
    assert_non_null(strstr(err.msg, "sideways"));
    options.settings = settings + 1;
    assert_int_equal(arenaut_plan_make(problem, &options, NULL, &plan, &err), ARENAUT_BAD_ARGUMENT);
    assert_non_null(strstr(err.msg, "colour"));
    arenaut_problem_free(problem);
}

static arenaut_status place_nothing(const arenaut_planner *self, arenaut_planning *planning) {
    assert_string_equal(self->name, "mine");
    for (uint32_t b = 0; b < planning->problem->n_buffers; b++) {
        planning->plan->pool[b] = 0;
        planning->plan->offset[b] = 64 * b;
    }
    return ARENAUT_OK;
}

TEST(a_callers_own_planner_is_measured_and_bounded) {
    const box boxes[] = {{10, 0, 2}, {64, 0, 2}};
    arenaut_problem *problem = problem_of(boxes, 2);
    const arenaut_planner mine = {.name = "mine", .summary = "", .run = place_nothing};
    const arenaut_plan_options options = {.custom = &mine};
    arenaut_plan *plan = plan_with(problem, &options);
    assert_non_null(plan);
    assert_int_equal(plan->total, 128);
    assert_int_equal(plan->total_bound, 74);
    assert_int_equal(plan->quality, ARENAUT_FEASIBLE);
    assert_string_equal(plan->planner, "mine");
    arenaut_plan_free(plan);
    arenaut_problem_free(problem);
}

TEST(problems_without_anything_to_place_need_nothing) {
    arenaut_problem *empty = new_problem();
    finish(empty);
    const box boxes[] = {{0, 0, 9}, {10, 3, 3}};
    arenaut_problem *idle = problem_of(boxes, 2);
    for (size_t i = 0; i < arenaut_planner_count(); i++) {
        arenaut_plan *a = plan_by(empty, arenaut_planner_at(i)->name);
        arenaut_plan *b = plan_by(idle, arenaut_planner_at(i)->name);
        assert_non_null(a);
        assert_non_null(b);
        assert_int_equal(a->total, 0);
        assert_int_equal(b->total, 0);
        assert_int_equal(b->quality, ARENAUT_OPTIMAL);
        assert_int_equal(b->pool[1], ARENAUT_NONE);
        arenaut_plan_free(a);
        arenaut_plan_free(b);
    }
    arenaut_problem_free(empty);
    arenaut_problem_free(idle);
}
