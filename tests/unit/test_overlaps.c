/* Ops whose results may overlap their operands: from the program to separations, and the replay
 * that knows nothing of those. */
#include "support/test.h"

#include <arenaut/arenaut.h>

#include "support/documents.h"

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

TEST(what_is_needed_later_is_not_overlapped) {
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
