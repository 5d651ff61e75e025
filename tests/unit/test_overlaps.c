/* Ops whose results may overlap their operands: from the program to separations, and the replay
 * that knows nothing of those. */
#include "support/test.h"

#include <stdlib.h>

#include <arenaut/arenaut.h>

#include "ir/program.h"
#include "support/bytes.h"
#include "support/documents.h"
#include "support/fuse.h"
#include "support/pipelines.h"
#include "support/random.h"

#define CHAIN(op)                                                                                 \
    "{\"schema\": \"arenaut.program/1\", \"tensors\": ["                                          \
    "{\"name\": \"x\", \"dtype\": \"int8\", \"dims\": [100]},"                                    \
    "{\"name\": \"a\", \"dtype\": \"int8\", \"dims\": [80]},"                                     \
    "{\"name\": \"y\", \"dtype\": \"int8\", \"dims\": [10]}],"                                    \
    "\"methods\": [{\"name\": \"main\", \"inputs\": [\"x\"], \"outputs\": [\"y\"], \"ops\": [" op \
    ", {\"name\": \"sum\", \"inputs\": [\"a\"], \"outputs\": [\"y\"]}]}]}"
#define CONV(inputs, overlaps)                        \
    CHAIN("{\"name\": \"conv\", \"inputs\": [" inputs \
          "], \"outputs\": [\"a\"], "                 \
          "\"overlaps\": [" overlaps "]}")
#define OVER_X "{\"output\": 0, \"input\": 0, \"distance\": 30}"

static arenaut_lowering *lower(const arenaut_document *d, bool overlap, bool keep) {
    const arenaut_lowering_options options = {.overlap = overlap, .preserve_inputs = keep};
    arenaut_lowering *lowering = NULL;
    arenaut_error err = {0};
    assert_ok(
        arenaut_lower(d->program, arenaut_target_find("generic"), &options, NULL, &lowering, &err),
        err);
    return lowering;
}

static uint32_t count_separations(const char *text, bool overlap, bool keep) {
    arenaut_document d = read_text(NULL, text);
    arenaut_lowering *lowering = lower(&d, overlap, keep);
    const uint32_t n = lowering->problem->n_separations;
    arenaut_lowering_free(lowering);
    arenaut_document_free(&d);
    return n;
}

TEST(an_overlap_becomes_a_separation_where_it_is_asked_for) {
    arenaut_document d = read_text(NULL, CONV("\"x\"", OVER_X));
    arenaut_lowering *lowering = lower(&d, true, false);
    assert_int_equal(lowering->problem->n_separations, 1);
    assert_int_equal(lowering->problem->separation[0].upper, lowering->buffer[0]);
    assert_int_equal(lowering->problem->separation[0].lower, lowering->buffer[1]);
    assert_int_equal(lowering->problem->separation[0].distance, 30);
    arenaut_lowering_free(lowering);
    arenaut_document_free(&d);
    assert_int_equal(count_separations(CONV("\"x\"", OVER_X), false, false), 0);
}

/* Little effort leaves the search without a placement at any height. */
#define CROWD                                                                            \
    "{\"schema\": \"arenaut.problem/1\", \"pools\": [{\"name\": \"p\"}], \"buffers\": [" \
    "{\"size\": 2, \"lifetimes\": [[5, 8]], \"same_base_as\": 1},"                       \
    "{\"size\": 2, \"lifetimes\": [[3, 6]]},"                                            \
    "{\"size\": 6, \"lifetimes\": [[5, 8]], \"same_base_as\": 1},"                       \
    "{\"size\": 6, \"lifetimes\": [[5, 7]], \"same_base_as\": 1},"                       \
    "{\"size\": 2, \"lifetimes\": [[5, 6]], \"same_base_as\": 1},"                       \
    "{\"size\": 4, \"lifetimes\": [[5, 6]], \"same_base_as\": 1},"                       \
    "{\"size\": 8, \"lifetimes\": [[5, 8]], \"same_base_as\": 4}],"                      \
    "\"reserved\": [{\"pool\": 0, \"first\": 12, \"end\": 16}]}"

TEST(any_effort_gives_a_plan_and_a_true_bound) {
    enum { LEAST = 30 };
    arenaut_document d = read_text(NULL, CROWD);
    bool one_by_first_fit = false;
    for (uint64_t effort = 1; effort < 1000; effort += 9) {
        const arenaut_plan_options options = {.planner = "overlap", .effort = effort};
        arenaut_plan *plan = NULL;
        arenaut_error err = {0};
        arenaut_finding finding;
        assert_ok(arenaut_plan_make(d.problem, &options, NULL, &plan, &err), err);
        assert_ok(arenaut_check_plan(d.problem, plan, NULL, &finding, &err), err);
        assert_true(plan->total_bound <= LEAST && LEAST <= plan->total);
        one_by_first_fit |= plan->total > LEAST;
        arenaut_plan_free(plan);
    }
    assert_true(one_by_first_fit);
    arenaut_document_free(&d);
}

TEST(operands_that_are_read_later_are_not_overlapped) {
    assert_int_equal(count_separations(CONV("\"x\"", OVER_X), true, true), 0);
    assert_int_equal(count_separations(CONV("\"x\", \"x\"", OVER_X), true, false), 0);
    static const char read_later[] = CHAIN(
        "{\"name\": \"conv\", \"inputs\": [\"x\"], \"outputs\": [\"a\"], \"overlaps\": [" OVER_X
        "]}, {\"name\": \"look\", \"inputs\": [\"x\", \"a\"], \"outputs\": []}");
    assert_int_equal(count_separations(read_later, true, false), 0);
}

static void expect_bad(const char *text, const char *why) {
    arenaut_document d = {0};
    arenaut_error err = {0};
    assert_int_not_equal(
        arenaut_read((const uint8_t *)text, strlen(text), NULL, NULL, NULL, &d, &err), ARENAUT_OK);
    if (!strstr(err.msg, why)) fail_msg("expected \"%s\": %s", why, err.msg);
}

TEST(overlaps_that_make_no_sense_are_refused) {
    expect_bad(CONV("\"x\"", "{\"output\": 1, \"input\": 0, \"distance\": 3}"), "does not have");
    expect_bad(CONV("\"x\"", "{\"output\": 0, \"input\": 4, \"distance\": 3}"), "does not have");
    expect_bad(CONV("null", OVER_X), "does not have");
    expect_bad(CONV("\"x\"", OVER_X ", " OVER_X), "stated twice");
    expect_bad(CONV("\"x\"", "{\"output\": 0, \"input\": 0}"), "distance");
    expect_bad(CONV("\"x\"", "{\"output\": 0, \"input\": 0, \"distance\": -9223372036854775808}"),
               "below");
}

TEST(programs_keep_them_in_json) {
    arenaut_document d = read_text(NULL, CONV("\"x\"", OVER_X));
    arenaut_text written = write_text("program-json", &d);
    assert_non_null(strstr(written.bytes, "\"overlaps\": [" OVER_X "]"));
    arenaut_document again = read_text(NULL, written.bytes);
    assert_int_equal(again.program->ops[0].overlaps[0].distance, 30);
    arenaut_document_free(&again);
    arenaut_text_free(&written);
    arenaut_document_free(&d);
}

/* Replays with x and a at these places, y behind both. */
static arenaut_rule replay(const char *text, uint64_t x, uint64_t a) {
    arenaut_document d = read_text(NULL, text);
    const uint32_t pool[] = {0, 0, 0};
    const uint64_t offset[] = {x, a, 400}, arena[] = {410};
    const arenaut_placement placement = {3, 1, pool, offset, arena};
    arenaut_finding finding;
    arenaut_error err = {0};
    arenaut_check_replay(d.program, &placement, NULL, NULL, &finding, &err);
    arenaut_document_free(&d);
    return finding.rule;
}

TEST(the_replay_counts_every_byte_of_the_distance) {
    static const char text[] = CONV("\"x\"", OVER_X);
    assert_int_equal(replay(text, 30, 0), ARENAUT_RULE_NONE);
    assert_int_equal(replay(text, 29, 0), ARENAUT_RULE_ARGUMENTS);
    assert_int_equal(replay(text, 0, 0), ARENAUT_RULE_ARGUMENTS);
    assert_int_equal(replay(text, 0, 50), ARENAUT_RULE_ARGUMENTS);
    assert_int_equal(replay(text, 0, 100), ARENAUT_RULE_NONE);
    static const char plain[] = CONV("\"x\"", "");
    assert_int_equal(replay(plain, 30, 0), ARENAUT_RULE_ARGUMENTS);
}

TEST(a_negative_distance_lets_the_output_begin_inside_the_input) {
    static const char text[] = CONV("\"x\"", "{\"output\": 0, \"input\": 0, \"distance\": -12}");
    assert_int_equal(replay(text, 0, 12), ARENAUT_RULE_NONE);
    assert_int_equal(replay(text, 0, 13), ARENAUT_RULE_ARGUMENTS);
    assert_int_equal(replay(text, 0, 0), ARENAUT_RULE_NONE);
}

TEST(an_input_named_twice_must_allow_it_at_both_places) {
    static const char once[] = CONV("\"x\", \"x\"", OVER_X);
    static const char both[] =
        CONV("\"x\", \"x\"", OVER_X ", {\"output\": 0, \"input\": 1, \"distance\": 40}");
    assert_int_equal(replay(once, 60, 0), ARENAUT_RULE_ARGUMENTS);
    assert_int_equal(replay(both, 40, 0), ARENAUT_RULE_NONE);
    assert_int_equal(replay(both, 39, 0), ARENAUT_RULE_ARGUMENTS);
}

TEST(an_output_may_swallow_its_input) {
    static const char text[] =
        "{\"schema\": \"arenaut.program/1\", \"tensors\": ["
        "{\"name\": \"x\", \"dtype\": \"int8\", \"dims\": [40]},"
        "{\"name\": \"a\", \"dtype\": \"int8\", \"dims\": [100]},"
        "{\"name\": \"y\", \"dtype\": \"int8\", \"dims\": [10]}],"
        "\"methods\": [{\"name\": \"main\", \"inputs\": [\"x\"], \"outputs\": [\"y\"], \"ops\": ["
        "{\"name\": \"pad\", \"inputs\": [\"x\"], \"outputs\": [\"a\"], \"overlaps\": [" OVER_X
        "]}, {\"name\": \"sum\", \"inputs\": [\"a\"], \"outputs\": [\"y\"]}]}]}";
    assert_int_equal(replay(text, 30, 0), ARENAUT_RULE_NONE);
    assert_int_equal(replay(text, 29, 0), ARENAUT_RULE_ARGUMENTS);
}

static int64_t distance_in_problem(const char *text) {
    arenaut_document d = read_text(NULL, text);
    arenaut_lowering *lowering = lower(&d, true, false);
    assert_int_equal(lowering->problem->n_separations, 1);
    const int64_t distance = lowering->problem->separation[0].distance;
    arenaut_lowering_free(lowering);
    arenaut_document_free(&d);
    return distance;
}

TEST(an_input_named_twice_keeps_the_largest_of_its_distances) {
    assert_int_equal(distance_in_problem(CONV("\"x\", \"x\"", OVER_X
                                              ", {\"output\": 0, \"input\": 1, \"distance\": 40}")),
                     40);
    assert_int_equal(
        distance_in_problem(
            CONV("\"x\", \"x\"", "{\"output\": 0, \"input\": 1, \"distance\": -5}, " OVER_X)),
        30);
}

/* x + x over x, in place and with an overlap of this distance. */
static bool is_written_over(const char *distance) {
    char text[1024];
    snprintf(text, sizeof text,
             "{\"schema\": \"arenaut.program/1\", \"tensors\": ["
             "{\"name\": \"x\", \"dtype\": \"int8\", \"dims\": [80]},"
             "{\"name\": \"a\", \"dtype\": \"int8\", \"dims\": [80]}],"
             "\"methods\": [{\"name\": \"main\", \"inputs\": [\"x\"], \"outputs\": [\"a\"], "
             "\"ops\": [{\"name\": \"add\", \"inputs\": [\"x\", \"x\"], \"outputs\": [\"a\"], "
             "\"in_place\": [[0, 0], [0, 1]], \"overlaps\": ["
             "{\"output\": 0, \"input\": 0, \"distance\": -1},"
             "{\"output\": 0, \"input\": 1, \"distance\": %s}]}]}]}",
             distance);
    arenaut_document d = read_text(NULL, text);
    arenaut_lowering *lowering = lower(&d, true, false);
    const arenaut_problem *problem = lowering->problem;
    assert_int_equal(problem->n_separations, 1);
    const bool over =
        arenaut_problem_same_base(problem, lowering->buffer[1]) == lowering->buffer[0];
    arenaut_lowering_free(lowering);
    arenaut_document_free(&d);
    return over;
}

TEST(a_separation_that_reaches_zero_stands_for_the_right_to_lie_in_place) {
    assert_false(is_written_over("0"));
    assert_true(is_written_over("1")); /* which says nothing of the same place */
}

/* ---- the pass ---- */

/* An operand named twice, a constant and a state beside an operand, an op that says itself how far
 * it reaches, one that has no rule, and a slice of all there is. */
static arenaut_program *run_pass(const arenaut_allocator *allocator, arenaut_status *status) {
    size_t size;
    char *text = load_file(TEST_DATA "/json/rules.program.json", &size);
    const arenaut_pass_options options = {.target = arenaut_target_find("tflite-micro")};
    arenaut_document d = {0};
    arenaut_error err = {0};
    *status = arenaut_read((const uint8_t *)text, size, NULL, NULL, allocator, &d, &err);
    if (*status == ARENAUT_OK) {
        *status = arenaut_passes_run(d.program, "overlaps", &options, NULL, NULL, &err);
    }
    free(text);
    return d.program;
}

typedef struct stated {
    uint32_t op, input;
    int64_t distance;
} stated;

TEST(the_pass_states_what_the_kernels_allow) {
    static const stated expected[] = {{0, 0, 0}, {0, 1, 0}, {1, 0, 0},
                                      {2, 0, 5}, {3, 1, 0}, {5, 0, 8}};
    arenaut_status status;
    arenaut_program *p = run_pass(NULL, &status);
    size_t n = 0;
    assert_int_equal(status, ARENAUT_OK);
    for (uint32_t i = 0; i < p->n_ops; i++) {
        const arenaut_op *op = &p->ops[i];
        for (uint32_t k = 0; k < op->n_overlaps; k++, n++) {
            assert_true(n < COUNT_OF(expected));
            assert_int_equal(i, expected[n].op);
            assert_int_equal(op->overlaps[k].output, 0);
            assert_int_equal(op->overlaps[k].input, expected[n].input);
            assert_int_equal(op->overlaps[k].distance, expected[n].distance);
        }
        /* Rows that are copied onto themselves. */
        assert_int_equal(op->n_in_place, strcmp(op->name, "STRIDED_SLICE") == 0);
    }
    assert_int_equal(n, COUNT_OF(expected));
    arn_program_free(p);
}

static arenaut_status try_pass(void *context, const arenaut_allocator *allocator) {
    (void)context;
    arenaut_status status;
    arn_program_free(run_pass(allocator, &status));
    return status;
}

TEST(the_pass_survives_every_allocation_failure) {
    survives_every_allocation_failure(try_pass, NULL);
}

/* ---- models with numbers that do not fit together ---- */

/* Overwrites a small number, such as a size or the position of a tensor, by another one. */
static void spoil_number(bytes *file, rng *r) {
    static const uint8_t others[] = {0, 1, 2, 3, 5, 8, 16, 33};
    for (int turn = 0; turn < 200; turn++) {
        uint8_t *at = file->data + rng_below(r, (uint32_t)file->size / 4 - 1) * 4;
        if (at[0] == 0 || at[1] || at[2] || at[3]) continue;
        at[0] = others[rng_below(r, COUNT_OF(others))];
        return;
    }
}

/* The distances of ops that say odd things are those that the checker finds, whose loops are
 * others: else it would refuse the plan, and call that a bug. */
TEST(spoiled_models_are_refused_or_planned_as_the_checker_has_it) {
    enum { TURNS = 120 };
    static const char *const names[] = {"resnet_int8", "inception_int8", "types_mixed",
                                        "svdf_int8",   "if_while_float", "elementwise_float"};
    uint32_t planned = 0;
    rng r = {7};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        bytes whole = data_bytes("%s.tflite", names[i]);
        for (int turn = 0; turn < TURNS; turn++) {
            bytes file = copy_bytes(whole.data, whole.size);
            for (uint32_t k = rng_below(&r, 3); k-- > 0;) spoil_number(&file, &r);
            const arenaut_pipeline_options options = {.overlap = true,
                                                      .plan = {.planner = "overlap"}};
            arenaut_pipeline *p = NULL;
            arenaut_error err = {0};
            const arenaut_status st = pipeline_open(file.data, file.size, &options, NULL, &p, &err);
            if (st != ARENAUT_OK && !is_refusal(st, &err)) fail_msg("%s: %s", names[i], err.msg);
            planned += st == ARENAUT_OK;
            arenaut_pipeline_free(p);
            free_bytes(&file);
        }
        free_bytes(&whole);
    }
    assert_in_range(planned, TURNS, COUNT_OF(names) * TURNS - 1);
}
