/* The costs that the search states of its choices, against the programs that they make; and the
 * best choices against all. */
#include "support/test.h"

#include <arenaut/arenaut.h>

#include "ir/program.h"
#include "rewrite/split/tile_groups.h"
#include "support/drawn.h"
#include "support/image_program.h"
#include "support/unbudgeted.h"

/* A runtime that keeps next to nothing, so that small programs are worth splitting. */
static const arenaut_arena_layout slim = {.pointer = 4, .op = 4, .tensor = 2};
static arenaut_target frugal;

/* By turns for a microcontroller, a larger machine, and one on which tiles cost little. */
static arenaut_split_options options_for(uint64_t seed) {
    const arenaut_split_options options = {
        .target = arenaut_target_find(seed % 3 ? "tflite-micro" : "tflite-micro-64"),
        .kernels = arenaut_kernel_set_find("reference")};
    if (seed % 8 == 0) return options;
    static const arenaut_kernel_set silent = {.name = "silent"};
    frugal = *options.target;
    frugal.layout = &slim;
    frugal.wide = NULL;
    return (arenaut_split_options){.target = &frugal, .kernels = &silent};
}

/* The need of a program: no plan of it is below `alive`. */
typedef struct needs {
    uint64_t alive, tail, head;
    uint32_t ops;
} needs;

static needs needs_of(arenaut_program *p, const arenaut_split_options *options) {
    const arenaut_lowering_options apart = {.apart = true};
    arenaut_lowering *lowering = NULL;
    arenaut_tensor_arena arena;
    arenaut_error err = {0};
    needs n = {.ops = p->n_ops};
    assert_ok(arenaut_lower(p, options->target, &apart, NULL, &lowering, &err), err);
    assert_ok(arenaut_lower_bound(lowering->problem, NULL, &n.alive, NULL, &err), err);
    const arenaut_result result = {.program = p,
                                   .problem = lowering->problem,
                                   .target = options->target,
                                   .kernels = options->kernels};
    assert_ok(arenaut_tensor_arena_find(&result, n.alive, options->target, NULL, &arena, &err),
              err);
    n.tail = arena.tail;
    n.head = arena.head;
    arenaut_lowering_free(lowering);
    return n;
}

static bool make(const arenaut_program *p, const arenaut_split_stage *stages, uint32_t n,
                 const arenaut_split_options *options, needs *made, uint64_t *macs) {
    arenaut_rewrite *rewrite = NULL;
    if (arn_split(p, stages, n, false, NULL, &rewrite, NULL) != ARENAUT_OK) return false;
    *made = needs_of(rewrite->program, options);
    *macs = rewrite->macs > rewrite->macs_before ? rewrite->macs - rewrite->macs_before : 0;
    arn_rewrite_free(rewrite);
    return true;
}

static uint64_t sum_of(const arenaut_split_choice *choice) {
    return choice->head + (uint64_t)choice->kept;
}

/* Structs of the tail lie at multiples of something, so that it is as long as they say but for a
 * few bytes. */
enum { FEW_BYTES = 48 };

/* Copies of calls are counted roughly. */
static bool has_calls(const arenaut_split_choice *choice) {
    for (uint32_t i = 0; i < choice->n_stages; i++) {
        if (choice->stages[i].mode == ARENAUT_SPLIT_KEPT_CALLED) return true;
    }
    return false;
}

static void expect_near(int64_t found, int64_t expected, const char *number, uint64_t seed) {
    if (found > expected + FEW_BYTES || found < expected - FEW_BYTES) {
        fail_msg("seed %u: %s %d, not %d", (unsigned)seed, number, (int)found, (int)expected);
    }
}

static void hold_choice(const arenaut_program *p, const arenaut_split_choice *choice,
                        const arenaut_split_options *options, const needs *before, uint64_t seed) {
    needs made = {0}; /* gcc does not see that assert_true does not return */
    uint64_t macs;
    assert_true(make(p, choice->stages, choice->n_stages, options, &made, &macs));
    assert_int_equal(made.ops - before->ops, choice->ops);
    if (has_calls(choice))
        expect_near((int64_t)made.alive, (int64_t)choice->tensors, "alive", seed);
    else assert_int_equal(made.alive, choice->tensors);
    expect_near((int64_t)made.tail - (int64_t)before->tail, choice->kept, "tail", seed);
    /* The search counts notes about tensors, not what a kernel is told of its arguments, which is
     * more only in heads of a few hundred bytes. */
    if (choice->head > choice->tensors && choice->head < made.head) {
        assert_true(made.head < 512 || choice->head + FEW_BYTES >= made.head);
    } else if (choice->head > choice->tensors) {
        expect_near((int64_t)choice->head, (int64_t)made.head, "head", seed);
    }
    assert_int_equal(macs, choice->macs);
}

/* On both machines, and each choice needs less than the one before it. */
TEST(the_stated_cost_of_a_choice_is_that_of_its_program) {
    uint32_t n_choices = 0;
    for (uint64_t seed = 1; seed <= 800; seed++) {
        rng r = {seed};
        arenaut_program *p = random_images(&r, 6, false);
        const arenaut_split_options options = options_for(seed);
        const needs before = needs_of(p, &options);
        arenaut_split_front *front = NULL;
        arn_region region;
        arenaut_error err = {0};
        arn_region_init(&region, NULL);
        assert_ok(split_find(p, &options, &region, &front, &err), err);
        for (uint32_t i = 0; i < front->n_choices; i++) {
            hold_choice(p, &front->choices[i], &options, &before, seed);
            if (i > 0) assert_true(sum_of(&front->choices[i]) < sum_of(&front->choices[i - 1]));
        }
        n_choices += front->n_choices - 1;
        arn_region_free(&region);
        arn_program_free(p);
    }
    assert_true(n_choices > 150);
}

/* The best of all groups there are, in all modes, one at a time. None needs less than `floor`. */
static uint64_t best_stage(const arenaut_program *p, const arenaut_split_options *options,
                           const needs *before, uint64_t floor, arenaut_split_stage *best) {
    uint64_t least = before->alive, macs;
    for (uint32_t first = 0; first < p->n_ops; first++) {
        for (uint32_t n = 1; n <= p->n_ops - first; n++) {
            for (uint32_t pieces = 2; pieces <= 12; pieces++) {
                for (int mode = 0; mode < ARENAUT_SPLIT_MODE_COUNT; mode++) {
                    const arenaut_split_stage stage = {first, n, pieces, (arenaut_split_mode)mode};
                    needs made;
                    if (!make(p, &stage, 1, options, &made, &macs)) continue;
                    assert_true(made.alive >= floor);
                    const uint64_t sum = made.alive + made.tail - before->tail;
                    if (sum >= least) continue;
                    least = sum;
                    *best = stage;
                }
            }
        }
    }
    return least;
}

TEST(no_program_has_a_better_group_than_the_search_finds) {
    const uint32_t n_seeds = drawn(120);
    uint32_t n_found = 0, n_missed = 0;
    for (uint64_t seed = 1; seed <= n_seeds; seed++) {
        rng r = {seed};
        arenaut_program *p = random_images(&r, 4, false);
        const arenaut_split_options options = options_for(2 * seed + 1);
        const needs before = needs_of(p, &options);
        arenaut_split_front *front = NULL;
        arn_region region;
        arenaut_split_stage best = {0};
        arn_region_init(&region, NULL);
        assert_int_equal(split_find(p, &options, &region, &front, NULL), ARENAUT_OK);
        const uint64_t found = sum_of(&front->choices[front->n_choices - 1]);
        const uint64_t least = best_stage(p, &options, &before, front->floor, &best);
        if (found > least + FEW_BYTES) {
            print_message("seed %u: %u instead of %u with ops %u to %u in %u pieces, mode %d\n",
                          (unsigned)seed, (unsigned)found, (unsigned)least, best.first_op,
                          best.first_op + best.n_ops - 1, best.pieces, (int)best.mode);
            n_missed++;
        }
        n_found += least < before.alive;
        arn_region_free(&region);
        arn_program_free(p);
    }
    assert_true(n_found > n_seeds / 10);
    assert_int_equal(n_missed, 0);
}
