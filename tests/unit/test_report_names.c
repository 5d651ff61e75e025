/* Reports on files whose names mean harm: control characters, text that runs backwards, bytes
 * that are no UTF-8, wide and long names. Whatever they are, a report ends, stays in its columns
 * and shows them as plain text. */
#include <stdlib.h>

#include <arenaut/check.h>
#include <arenaut/planner.h>

#include "ir/program.h"
#include "report/label.h"
#include "support/documents.h"
#include "support/lowerings.h"
#include "support/problems.h"
#include "support/programs.h"
#include "support/report_round.h"
#include "support/test.h"

/* Pieces that names are made of. */
static const char *const pieces[] = {
    "a",
    "layer/conv_1",
    "\033[2J",
    "\x07",
    "\r",
    "\x7F",
    "\xC2\x9B",
    "\xE2\x80\xAE",
    "\xE2\x81\xA6",
    "\x80\x80\x80",
    "\xFF\xFE",
    "\xC0\xAF",
    "\xED\xA0\x80",
    "\xF4\x90\x80\x80",
    "\xE6\xBC\xA2",
    "\xF0\x9F\x98\x80",
    "e\xCC\x81",
    "\xEF\xBB\xBF",
    "=cmd|x",
    "\"\\,;<>&'*/",
    "%s%n",
    "?\?/",
    "\xE2",
    "\xF0\x9F",
};

enum { LONGEST = 400 };

static void make_name(rng *r, char name[LONGEST + 8]) {
    const size_t wanted = rng_below(r, rng_below(r, 4) ? 60 : LONGEST);
    size_t length = 0;
    while (length < wanted) {
        const char *piece = pieces[rng_below(r, COUNT_OF(pieces))];
        const size_t n = strlen(piece);
        if (length + n > LONGEST) break;
        memcpy(name + length, piece, n);
        length += n;
    }
    name[length] = '\0';
}

static void expect_sound(const arenaut_result *result) {
    arenaut_finding finding;
    arenaut_error err = {0};
    assert_ok(arenaut_check_plan(result->problem, result->plan, NULL, &finding, &err), err);
    require_sound_reports(result);
}

TEST(reports_on_hostile_problems_are_bounded) {
    for (uint64_t seed = 0; seed < 60; seed++) {
        rng r = {seed};
        char name[3][LONGEST + 8];
        arenaut_problem *problem = NULL;
        arenaut_plan *plan = NULL;
        arenaut_error err = {0};
        assert_ok(arenaut_problem_new(NULL, &problem, &err), err);
        for (uint32_t i = 0; i < 12; i++) {
            for (size_t k = 0; k < 3; k++) make_name(&r, name[k]);
            arenaut_buffer buffer = ARENAUT_BUFFER_INIT;
            buffer.size = 1 + rng_below(&r, 5000);
            buffer.name = name[0];
            buffer.op = i % 3 ? name[1] : NULL;
            buffer.source = i % 2 ? name[2] : NULL;
            arenaut_interval life = {(int64_t)rng_below(&r, 10), 0};
            life.end = life.first + 1 + (int64_t)rng_below(&r, 10);
            buffer.lifetimes = &life;
            buffer.n_lifetimes = 1;
            assert_ok(arenaut_problem_add_buffer(problem, &buffer, NULL, &err), err);
        }
        assert_ok(arenaut_problem_finish(problem, &err), err);
        const arenaut_plan_options options = {.planner = "greedy-by-size"};
        assert_ok(arenaut_plan_make(problem, &options, NULL, &plan, &err), err);
        make_name(&r, name[0]);
        const arenaut_result result = {.path = name[0],
                                       .format = "csv",
                                       .problem = problem,
                                       .plan = plan,
                                       .baseline = plan,
                                       .seconds = -1};
        expect_sound(&result);
        arenaut_plan_free(plan);
        arenaut_problem_free(problem);
    }
}

TEST(reports_on_hostile_programs_are_bounded) {
    for (uint64_t seed = 0; seed < 40; seed++) {
        rng r = {seed};
        char name[LONGEST + 8], op[LONGEST + 8];
        arenaut_program *program = new_program();
        make_name(&r, name);
        begin_method(program, name);
        uint32_t last = add_tensor(program, name, 64, ARENAUT_INPUT);
        const uint32_t first = last;
        for (uint32_t i = 0; i < 8; i++) {
            make_name(&r, name);
            make_name(&r, op);
            const uint32_t next = add_tensor(program, name, 16 * (1 + rng_below(&r, 40)),
                                             i == 7 ? ARENAUT_OUTPUT : ARENAUT_INTERMEDIATE);
            ADD_OP(program, .name = op, .source = name, IN(last), OUT(next));
            last = next;
        }
        FINISH(program, LIST(first), LIST(last));
        arenaut_lowering *lowering = lower_program(program, "generic");
        const arenaut_plan_options options = {.planner = "greedy-by-size"};
        arenaut_plan *plan = NULL;
        arenaut_error err = {0};
        assert_ok(arenaut_plan_make(lowering->problem, &options, NULL, &plan, &err), err);
        const arenaut_result result = {.path = name,
                                       .format = "program-json",
                                       .program = program,
                                       .target = arenaut_target_find("generic"),
                                       .lowering = lowering,
                                       .problem = lowering->problem,
                                       .plan = plan,
                                       .seconds = -1};
        expect_sound(&result);
        arenaut_plan_free(plan);
        free_lowering(lowering, program);
    }
}

/* 88 bytes that made explain write spaces for ever: each byte of U+202E, which is not shown, is
 * one '?', three columns for the one that its name was counted as. */
TEST(a_name_wider_shown_than_counted_ends) {
    char text[512] = "id,lower,upper,size\n";
    for (size_t i = 0; i < 40; i++) strcat(text, "\xE2\x80\xAE");
    strcat(text, ",0,2,16\n");
    assert_true(report_property((const uint8_t *)text, strlen(text)));
}

/* Labels are as wide as they were asked to be, and no sequence in them is cut in two. */
TEST(labels_keep_to_their_columns) {
    for (uint64_t seed = 0; seed < 3000; seed++) {
        rng r = {seed};
        char name[LONGEST + 8];
        make_name(&r, name);
        const uint32_t columns = 3 + rng_below(&r, 100);
        const arn_label label = arn_report_text_label(name, columns);
        assert_true(arn_report_columns(label.text) <= columns);
        assert_true(strlen(label.text) < sizeof label.text);
        for (const char *p = label.text; *p;) {
            const size_t n = arn_report_shown_length(p);
            assert_true(n > 0);
            p += n;
        }
        if (arn_report_columns(name) <= columns && strlen(name) < sizeof label.text) {
            assert_int_equal(arn_report_columns(label.text), arn_report_columns(name));
        }
    }
}

TEST(the_rest_of_a_row_is_never_negative) {
    assert_int_equal(arn_report_columns_left(5, 3), 2);
    assert_int_equal(arn_report_columns_left(3, 3), 0);
    assert_int_equal(arn_report_columns_left(3, 5), 0);
    assert_int_equal(arn_report_columns_left(0, SIZE_MAX), 0);
}
