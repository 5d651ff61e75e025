/* Planning on several threads: the same plan, byte for byte, whatever their number. */
#include "support/test.h"

#include <stdlib.h>

#include <arenaut/format.h>
#include <arenaut/planner.h>

#include "core/parallel.h"
#include "support/corpus.h"
#include "support/documents.h"
#include "support/exact_search.h"
#include "support/fuse.h"
#include "support/oracle.h"
#include "support/problems.h"

static const uint32_t thread_counts[] = {2, 3, 16};

static arenaut_plan *plan_on(const arenaut_problem *problem, uint32_t threads, uint64_t effort) {
    const arenaut_plan_options options = {.threads = threads, .effort = effort};
    arenaut_plan *plan = NULL;
    arenaut_error err = {0};
    const arenaut_status st = arenaut_plan_make(problem, &options, NULL, &plan, &err);
    if (is_no_answer(st)) return NULL;
    assert_answered(st, plan, &err);
    return plan;
}

static void assert_same_plans(const arenaut_plan *a, const arenaut_plan *b) {
    assert_int_equal(a->quality, b->quality);
    assert_int_equal(a->total, b->total);
    assert_int_equal(a->total_bound, b->total_bound);
    assert_int_equal(a->effort, b->effort);
    assert_int_equal(a->stopped_by, b->stopped_by);
    assert_string_equal(a->planner, b->planner);
    assert_memory_equal(a->arena, b->arena, a->n_pools * sizeof *a->arena);
    assert_memory_equal(a->lower_bound, b->lower_bound, a->n_pools * sizeof *a->lower_bound);
    assert_memory_equal(a->pool, b->pool, a->n_buffers * sizeof *a->pool);
    assert_memory_equal(a->offset, b->offset, a->n_buffers * sizeof *a->offset);
}

static void assert_threads_do_not_matter(const arenaut_problem *problem, uint64_t effort) {
    arenaut_plan *alone = plan_on(problem, 0, effort);
    if (alone) assert_plan_accepted(problem, alone);
    for (size_t i = 0; i < COUNT_OF(thread_counts); i++) {
        arenaut_plan *plan = plan_on(problem, thread_counts[i], effort);
        assert_int_equal(plan != NULL, alone != NULL);
        if (plan) assert_same_plans(plan, alone);
        arenaut_plan_free(plan);
    }
    arenaut_plan_free(alone);
}

/* Problems that are large enough for threads, and too hard for the first trial. */
static arenaut_problem *large_problem(rng *r, uint32_t features) {
    const problem_shape shape = {540, 900, 200, features};
    arenaut_problem *problem = random_problem(r, &shape);
    while (problem->n_buffers < 500) {
        arenaut_problem_free(problem);
        problem = random_problem(r, &shape);
    }
    return problem;
}

TEST(threads_do_not_change_the_plan) {
    static const uint32_t kinds[] = {0, ARENAUT_FEATURE_POOLS | ARENAUT_FEATURE_ALIGNMENT,
                                     ARENAUT_FEATURE_ALL};
    rng r = {31};
    for (size_t kind = 0; kind < COUNT_OF(kinds); kind++) {
        arenaut_problem *problem = large_problem(&r, kinds[kind]);
        assert_threads_do_not_matter(problem, 1);
        assert_threads_do_not_matter(problem, 40000);
        arenaut_problem_free(problem);
    }
}

/* Too many pairs for exact search, so that the rounds of auto are run. */
TEST(threads_do_not_change_what_rounds_find) {
    rng r = {32};
    arenaut_problem *problem = new_problem();
    for (uint32_t i = 0; i < 120; i++) {
        const int64_t first = rng_below(&r, 30);
        add_box(problem, 1000 + rng_below(&r, 9000), first, first + 1 + rng_below(&r, 20));
    }
    for (uint32_t i = 0; i < 1600; i++) add_box(problem, 1 + rng_below(&r, 9), 100, 102);
    finish(problem);
    const uint64_t efforts[] = {150000, 600000};
    for (size_t i = 0; i < COUNT_OF(efforts); i++)
        assert_threads_do_not_matter(problem, efforts[i]);
    arenaut_problem_free(problem);
}

TEST(threads_do_not_change_plans_of_real_problems) {
    static const char *const files[] = {"onnx_csv/gpt2_kv.csv", "dsa/large/g_1.csv",
                                        "dsa/large/pangu_2.6b.csv"};
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        char path[512];
        corpus_path_or_skip(path, files[i]);
        size_t size = 0;
        char *text = load_file(path, &size);
        arenaut_document document = read_text("csv", text);
        assert_threads_do_not_matter(document.problem, 100000);
        arenaut_document_free(&document);
        free(text);
    }
}

/* ---- the exact search ---- */

/* Few buffers, whose alignments leave a gap between all bounds and what fits: too hard for the
 * exact search while it makes one run at a time. */
static arenaut_problem *hard_for_exact(uint64_t seed) {
    static const uint64_t aligns[] = {1, 8, 64};
    rng r = {seed};
    arenaut_problem *p = new_problem();
    for (uint32_t b = 0; b < 30; b++) {
        const int64_t first = rng_below(&r, 30);
        ADD_BUFFER(p, .size = 3 + (uint64_t)rng_below(&r, 300),
                   LIFE(first, first + 2 + rng_below(&r, 10)), .align = aligns[rng_below(&r, 3)]);
    }
    finish(p);
    return p;
}

static arenaut_verdict never_stop(void *context) {
    (void)context;
    return ARENAUT_GO_ON;
}

/* What is reported counts in the end, and is never taken back. */
static arenaut_verdict hear_effort(void *context, uint64_t best, uint64_t bound, uint64_t effort) {
    uint64_t *heard = context;
    (void)best;
    (void)bound;
    assert_true(effort >= *heard);
    *heard = effort;
    return ARENAUT_GO_ON;
}

enum { MOST_OFFSETS = 350 };

/* Runs are apart after few steps, so that the test need not make many. */
static arenaut_status search_exactly(const arenaut_problem *problem, uint32_t threads,
                                     uint64_t effort, const arenaut_allocator *allocator,
                                     arn_exact_output *out) {
    uint64_t heard = 0;
    const arn_exact_input in = {.problem = problem,
                                .arena = ARENAUT_UNPLACED,
                                .effort = effort,
                                .threads = threads,
                                .together = 3000,
                                .progress = hear_effort,
                                .progress_context = &heard,
                                .allocator = allocator};
    arn_poll poll = {.callback = never_stop};
    arenaut_error err = {0};
    const arenaut_status status = arn_exact_run(&in, &poll, out, &err);
    if (status == ARENAUT_OK) assert_true(heard <= out->effort);
    return status;
}

static void assert_same_search(const arenaut_problem *problem, uint64_t effort, uint64_t *best,
                               uint64_t *bound) {
    uint64_t one[MOST_OFFSETS], other[MOST_OFFSETS];
    arn_exact_output alone = {.offset = one}, found = {.offset = other};
    assert_int_equal(search_exactly(problem, 1, effort, NULL, &alone), ARENAUT_OK);
    assert_true(alone.arena <= *best && alone.bound >= *bound && alone.effort <= effort);
    assert_offsets_accepted(problem, &alone);
    *best = alone.arena;
    *bound = alone.bound;
    for (size_t i = 0; i < COUNT_OF(thread_counts); i++) {
        assert_int_equal(search_exactly(problem, thread_counts[i], effort, NULL, &found),
                         ARENAUT_OK);
        assert_int_equal(found.arena, alone.arena);
        assert_int_equal(found.bound, alone.bound);
        assert_int_equal(found.effort, alone.effort);
        assert_int_equal(found.nodes, alone.nodes);
        assert_memory_equal(other, one, problem->n_buffers * sizeof *one);
    }
}

/* A rectangle that is cut into many, so that most moments are full, and several at once overfull.
 */
static arenaut_problem *cut_rectangle(uint64_t seed) {
    int64_t first[MOST_OFFSETS] = {0}, end[MOST_OFFSETS] = {400}, size[MOST_OFFSETS] = {2000};
    rng r = {seed};
    arenaut_problem *p = new_problem();
    for (uint32_t n = 1; n < MOST_OFFSETS;) {
        const uint32_t b = (uint32_t)rng_below(&r, n);
        const bool in_time = rng_below(&r, 2);
        const int64_t whole = in_time ? end[b] - first[b] : size[b];
        if (whole < 2) continue;
        const int64_t part = 1 + (int64_t)rng_below(&r, (uint32_t)whole - 1);
        first[n] = in_time ? first[b] + part : first[b];
        end[n] = end[b];
        size[n++] = in_time ? size[b] : whole - part;
        if (in_time) end[b] = first[b] + part;
        else size[b] = part;
    }
    for (uint32_t b = 0; b < MOST_OFFSETS; b++)
        ADD_BUFFER(p, .size = (uint64_t)size[b], LIFE(first[b], end[b]));
    finish(p);
    return p;
}

TEST(the_exact_search_finds_the_same_on_any_number_of_threads) {
    for (uint64_t seed = 1; seed < 5; seed++) {
        arenaut_problem *problem = hard_for_exact(seed);
        uint64_t best = UINT64_MAX, bound = 0;
        for (uint64_t effort = 4000; effort < 60000; effort *= 2) {
            assert_same_search(problem, effort, &best, &bound);
        }
        arenaut_problem_free(problem);
        problem = cut_rectangle(seed);
        best = UINT64_MAX;
        bound = 0;
        assert_same_search(problem, 100000, &best, &bound);
        arenaut_problem_free(problem);
    }
}

/* ---- progress ---- */

typedef struct watcher {
    arn_threads *threads; /* whose caller is the thread of the test */
    uint32_t calls, stop_at;
    uint64_t best, effort;
} watcher;

static arenaut_verdict watch(void *context, const arenaut_progress *progress) {
    watcher *w = context;
    assert_true(arn_threads_is_caller(w->threads));
    assert_true(progress->best <= w->best);
    assert_true(progress->effort >= w->effort);
    w->best = progress->best;
    w->effort = progress->effort;
    return ++w->calls >= w->stop_at ? ARENAUT_INTERRUPTED : ARENAUT_GO_ON;
}

TEST(an_interrupt_stops_all_threads_and_leaves_a_right_plan) {
    rng r = {33};
    arn_threads threads;
    arn_threads_init(&threads, 2);
    arenaut_problem *problem = large_problem(&r, 0);
    for (uint32_t at = 1; at < 40; at += 7) {
        watcher w = {.threads = &threads, .stop_at = at, .best = UINT64_MAX};
        const arenaut_plan_options options = {
            .threads = 4, .effort = 200000, .progress = watch, .progress_context = &w};
        arenaut_plan *plan = NULL;
        arenaut_error err = {0};
        assert_ok(arenaut_plan_make(problem, &options, NULL, &plan, &err), err);
        assert_plan_accepted(problem, plan);
        if (plan->quality != ARENAUT_OPTIMAL && w.calls >= at) {
            assert_int_equal(plan->stopped_by, ARENAUT_STOP_INTERRUPT);
        }
        arenaut_plan_free(plan);
    }
    arenaut_problem_free(problem);
    arn_threads_free(&threads);
}

TEST(an_interrupt_stops_the_exact_search_on_all_threads) {
    arn_threads threads;
    arn_threads_init(&threads, 2);
    arenaut_problem *problem = hard_for_exact(2);
    for (uint32_t at = 140; at < 200; at += 30) {
        watcher w = {.threads = &threads, .stop_at = at, .best = UINT64_MAX};
        const arenaut_plan_options options = {.planner = "exact",
                                              .threads = 4,
                                              .effort = 1 << 24,
                                              .progress = watch,
                                              .progress_context = &w};
        arenaut_plan *plan = NULL;
        arenaut_error err = {0};
        assert_ok(arenaut_plan_make(problem, &options, NULL, &plan, &err), err);
        assert_plan_accepted(problem, plan);
        assert_int_equal(plan->stopped_by, ARENAUT_STOP_INTERRUPT);
        assert_int_equal(w.calls, at);
        arenaut_plan_free(plan);
    }
    arenaut_problem_free(problem);
    arn_threads_free(&threads);
}

/* ---- memory ---- */

/* Which allocation is the n-th differs from run to run, and a failure in an attempt that
 * does not count may go by; but nothing leaks, and no plan is wrong. */
TEST(threads_survive_allocation_failures) {
    rng r = {34};
    arenaut_problem *problem = large_problem(&r, 0);
    uint32_t failures = 0;
    bool blown = true;
    for (size_t left = 0; blown; left += 1 + left / 4) {
        fuse f = {.left = left, .stays_blown = left % 2 == 0};
        const arenaut_allocator allocator = fuse_allocator(&f);
        const arenaut_plan_options options = {.threads = 3, .effort = 30000};
        arenaut_plan *plan = NULL;
        arenaut_error err = {0};
        const arenaut_status st = arenaut_plan_make(problem, &options, &allocator, &plan, &err);
        assert_true(st == ARENAUT_OK || st == ARENAUT_NO_MEMORY);
        if (st == ARENAUT_OK) assert_plan_accepted(problem, plan);
        failures += st == ARENAUT_NO_MEMORY;
        blown = f.blown;
        arenaut_plan_free(plan);
        assert_int_equal(f.live, 0);
    }
    assert_true(failures > 5);
    arenaut_problem_free(problem);
}

static arenaut_status try_exactly(void *context, const arenaut_allocator *allocator) {
    uint64_t offset[MOST_OFFSETS];
    arn_exact_output out = {.offset = offset};
    return search_exactly(context, 1, 4000, allocator, &out);
}

TEST(the_exact_search_survives_allocation_failures_with_runs_apart) {
    arenaut_problem *problem = hard_for_exact(2);
    survives_every_allocation_failure(try_exactly, problem);
    arenaut_problem_free(problem);
}

/* Memory for one thread, and for so many allocations more. */
TEST(the_exact_search_takes_fewer_threads_where_memory_is_short) {
    arenaut_problem *problem = hard_for_exact(2);
    uint64_t one[MOST_OFFSETS], other[MOST_OFFSETS];
    arn_exact_output alone = {.offset = one};
    fuse unlimited = {.left = SIZE_MAX};
    const arenaut_allocator all = fuse_allocator(&unlimited);
    assert_int_equal(search_exactly(problem, 1, 20000, &all, &alone), ARENAUT_OK);
    for (size_t more = 0; more < 60; more += 3) {
        arn_exact_output found = {.offset = other};
        fuse f = {.left = unlimited.calls + more, .stays_blown = true};
        const arenaut_allocator some = fuse_allocator(&f);
        assert_int_equal(search_exactly(problem, 3, 20000, &some, &found), ARENAUT_OK);
        assert_true(found.arena == alone.arena && found.bound == alone.bound);
        assert_true(found.effort == alone.effort);
        assert_memory_equal(one, other, problem->n_buffers * sizeof *one);
        assert_int_equal(f.live, 0);
        if (more == 0) assert_true(f.blown);
    }
    arenaut_problem_free(problem);
}

/* ---- the threads themselves ---- */

enum { TASKS = 100 };

typedef struct tally {
    arn_threads threads;
    uint32_t runs[TASKS], begun;
} tally;

static void count_run(void *context, uint32_t task) {
    tally *t = context;
    t->runs[task]++;
    arn_threads_lock(&t->threads);
    t->begun++;
    arn_threads_wake(&t->threads);
    arn_threads_unlock(&t->threads);
}

static void look_on(void *context) {
    tally *t = context;
    assert_true(arn_threads_is_caller(&t->threads));
}

TEST(threads_run_each_task_once) {
    for (uint32_t threads = 0; threads < 6; threads++) {
        tally t = {.begun = 0};
        arn_threads_init(&t.threads, threads);
        for (uint32_t n = 0; n <= TASKS; n += 50) {
            t.begun = 0;
            memset(t.runs, 0, sizeof t.runs);
            arn_threads_run(&t.threads, threads, n, count_run, look_on, &t);
            assert_int_equal(t.begun, n);
            for (uint32_t i = 0; i < TASKS; i++) assert_int_equal(t.runs[i], i < n);
        }
        arn_threads_free(&t.threads);
    }
}
