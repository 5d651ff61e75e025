/* Reports: each row of the table on plans of all kinds, and the promises of each. */
#include <inttypes.h>
#include <stdlib.h>

#include <arenaut/check.h>
#include <arenaut/format.h>
#include <arenaut/report.h>

#include "ir/lifetimes.h"
#include "ir/program.h"
#include "report/label.h"
#include "report/picture.h"
#include "support/fuse.h"
#include "support/lowerings.h"
#include "support/oracle.h"
#include "support/problems.h"
#include "support/programs.h"
#include "support/test.h"

/* A result with all that it refers to. */
typedef struct subject {
    arenaut_program *program;
    arenaut_lowering *lowering;
    arenaut_problem *problem;
    arenaut_plan *plan, *baseline;
    arenaut_result result;
} subject;

static arenaut_plan *plan_with(const arenaut_problem *problem, const char *planner) {
    const arenaut_plan_options options = {.planner = planner, .effort = 100000};
    arenaut_error err = {0};
    arenaut_finding finding;
    arenaut_plan *plan = NULL;
    assert_answered(arenaut_plan_make(problem, &options, NULL, &plan, &err), plan, &err);
    assert_ok(arenaut_check_plan(problem, plan, NULL, &finding, &err), err);
    return plan;
}

/* Plans `problem`, which the subject then owns. */
static subject subject_of(arenaut_problem *problem) {
    subject s = {.problem = problem, .plan = plan_with(problem, "auto")};
    s.result = (arenaut_result){.path = "some/folder/model.v2.tflite",
                                .format = "csv",
                                .problem = problem,
                                .plan = s.plan,
                                .seconds = -1};
    return s;
}

/*  x ─ CONV ─ a ─ RELU ─ b ─┐
 *             └─────────── ADD ─ y      a is alive until the ADD */
static subject subject_with_program(void) {
    subject s = {.program = new_program()};
    begin_method(s.program, "main");
    const uint32_t x = add_tensor(s.program, "x", 64, ARENAUT_INPUT);
    const uint32_t a = add_tensor(s.program, "block/<a>&\"a\"", 256, ARENAUT_INTERMEDIATE);
    const uint32_t b = add_tensor(s.program, "b", 256, ARENAUT_INTERMEDIATE);
    const uint32_t y = add_tensor(s.program, "y", 256, ARENAUT_OUTPUT);
    ADD_OP(s.program, .name = "CONV", .source = "layer1.py:7", IN(x), OUT(a));
    ADD_OP(s.program, .name = "RELU", IN(a), OUT(b));
    ADD_OP(s.program, .name = "ADD", IN(a, b), OUT(y));
    FINISH(s.program, LIST(x), LIST(y));
    s.lowering = lower_program(s.program, "tflite-micro");
    s.plan = plan_with(s.lowering->problem, "auto");
    s.baseline = plan_with(s.lowering->problem, "naive");
    s.result = (arenaut_result){.path = "model.tflite",
                                .format = "tflite",
                                .program = s.program,
                                .target = arenaut_target_find("tflite-micro"),
                                .lowering = s.lowering,
                                .problem = s.lowering->problem,
                                .plan = s.plan,
                                .baseline = s.baseline,
                                .seconds = -1};
    return s;
}

static void drop(subject *s) {
    arenaut_plan_free(s->plan);
    arenaut_plan_free(s->baseline);
    arenaut_lowering_free(s->lowering);
    arn_program_free(s->program);
    arenaut_problem_free(s->problem);
}

/* The report as a string; the caller frees it with arenaut_text_free. */
static arenaut_text report(const char *name, const subject *s, uint32_t width, bool unicode) {
    const arenaut_report_options options = {.width = width, .unicode = unicode};
    const arenaut_report *found = arenaut_report_find(name);
    arenaut_text text = {0};
    arenaut_error err = {0};
    assert_non_null(found);
    assert_ok(
        arenaut_report_emit(found, &s->result, &options, arenaut_text_sink(&text), NULL, &err),
        err);
    assert_non_null(text.bytes);
    return text;
}

static void assert_holds(const arenaut_text *text, const char *part) {
    if (!strstr(text->bytes, part)) fail_msg("no \"%s\" in:\n%s", part, text->bytes);
}

static size_t count_of(const arenaut_text *text, const char *part) {
    size_t n = 0;
    for (const char *at = text->bytes; (at = strstr(at, part)); at++) n++;
    return n;
}

/* ---- every row ---- */

/* Those that take every plan; "tokens" does not, and is tested with programs in tokens, and
 * "c-array" is about a file, and "dot" about ops. */
static const char *const every[] = {"explain", "svg", "html", "ascii", "header", "perfetto"};

TEST(the_table_has_these_rows) {
    assert_int_equal(arenaut_report_count(), COUNT_OF(every) + 3);
    assert_non_null(arenaut_report_find("tokens"));
    assert_non_null(arenaut_report_find("dot"));
    assert_non_null(arenaut_report_find("c-array"));
    for (size_t i = 0; i < COUNT_OF(every); i++) {
        const arenaut_report *found = arenaut_report_find(every[i]);
        assert_non_null(found);
        assert_true(found->summary && *found->summary);
    }
    assert_null(arenaut_report_at(arenaut_report_count()));
    assert_null(arenaut_report_find("nonsense"));
}

TEST(every_report_takes_every_problem) {
    const problem_shape shape = {.max_buffers = 30,
                                 .max_size = 5000,
                                 .max_steps = 40,
                                 .features = ARENAUT_FEATURE_ALL & ~ARENAUT_FEATURE_CAPACITY};
    for (uint64_t seed = 0; seed < 60; seed++) {
        rng r = {seed};
        subject s = subject_of(random_problem(&r, &shape));
        for (size_t i = 0; i < COUNT_OF(every); i++) {
            arenaut_text text = {0};
            arenaut_error err = {0};
            const arenaut_report *row = arenaut_report_find(every[i]);
            const arenaut_status st =
                arenaut_report_emit(row, &s.result, NULL, arenaut_text_sink(&text), NULL, &err);
            const bool refused = row->needs_plan && s.plan->quality == ARENAUT_INFEASIBLE;
            assert_int_equal(st, refused ? ARENAUT_REFUSED : ARENAUT_OK);
            arenaut_text_free(&text);
        }
        drop(&s);
    }
}

TEST(an_empty_problem_has_reports_too) {
    subject s = subject_of(problem_of(NULL, 0));
    for (size_t i = 0; i < COUNT_OF(every); i++) {
        arenaut_text text = report(every[i], &s, 0, false);
        arenaut_text_free(&text);
    }
    drop(&s);
}

/* Steps near the ends of their range, and sizes near theirs. */
TEST(extreme_numbers_do_no_harm) {
    const box boxes[] = {{ARENAUT_SIZE_MAX / 4, INT64_MIN, INT64_MAX},
                         {1, -1, 1},
                         {ARENAUT_SIZE_MAX / 4, INT64_MAX - 1, INT64_MAX}};
    subject s = subject_of(problem_of(boxes, COUNT_OF(boxes)));
    for (size_t i = 0; i < COUNT_OF(every); i++) {
        arenaut_text text = report(every[i], &s, 0, false);
        arenaut_text_free(&text);
    }
    drop(&s);
}

TEST(without_a_plan_a_picture_is_refused) {
    subject s = subject_with_program();
    s.result.plan = NULL;
    for (size_t i = 0; i < COUNT_OF(every); i++) {
        const arenaut_report *row = arenaut_report_find(every[i]);
        arenaut_text text = {0};
        arenaut_error err = {0};
        const arenaut_status st =
            arenaut_report_emit(row, &s.result, NULL, arenaut_text_sink(&text), NULL, &err);
        assert_int_equal(st, row->needs_plan ? ARENAUT_REFUSED : ARENAUT_OK);
        if (st != ARENAUT_OK) assert_non_null(strstr(err.msg, every[i]));
        arenaut_text_free(&text);
    }
    drop(&s);
}

typedef struct attempt {
    const subject *subject;
    const char *name;
} attempt;

static bool swallow(void *context, const void *bytes, size_t size) {
    (void)context;
    (void)bytes;
    (void)size;
    return true;
}

static arenaut_status emit_with(void *context, const arenaut_allocator *allocator) {
    const attempt *a = context;
    const arenaut_sink sink = {swallow, NULL};
    return arenaut_report_emit(arenaut_report_find(a->name), &a->subject->result, NULL, sink,
                               allocator, NULL);
}

TEST(every_report_survives_running_out_of_memory) {
    subject s = subject_with_program();
    for (size_t i = 0; i < COUNT_OF(every); i++) {
        attempt a = {&s, every[i]};
        survives_every_allocation_failure(emit_with, &a);
    }
    drop(&s);
}

TEST(a_c_array_is_made_of_a_file) {
    subject s = subject_with_program();
    static const char *const parts[] = {" m_model_int_model[];", "\n0x00,0xff,0x7f,\n};\n",
                                        ", 3 bytes"};
    s.result.path = "models/_model int.tflite";
    s.result.file = "\x00\xff\x7f";
    s.result.file_size = 3;
    arenaut_text text = report("c-array", &s, 0, false);
    for (size_t i = 0; i < COUNT_OF(parts); i++) assert_holds(&text, parts[i]);
    arenaut_text_free(&text);
    s.result.file = NULL;
    arenaut_error err = {0};
    assert_int_equal(arenaut_report_emit(arenaut_report_find("c-array"), &s.result, NULL,
                                         arenaut_text_sink(&text), NULL, &err),
                     ARENAUT_REFUSED);
    assert_non_null(strstr(err.msg, "model file"));
    arenaut_text_free(&text);
    drop(&s);
}

/* Takes so many bytes and then no more; being called again after that is an error. */
typedef struct narrow_sink {
    size_t left;
    bool full;
} narrow_sink;

static bool put_narrow(void *context, const void *bytes, size_t size) {
    narrow_sink *narrow = context;
    (void)bytes;
    assert_false(narrow->full);
    if (size > narrow->left) narrow->full = true;
    else narrow->left -= size;
    return !narrow->full;
}

TEST(a_full_sink_is_reported_and_left_alone) {
    subject s = subject_with_program();
    for (size_t i = 0; i < COUNT_OF(every); i++) {
        for (size_t room = 0; room < 600; room += 37) {
            narrow_sink narrow = {room, false};
            const arenaut_sink sink = {put_narrow, &narrow};
            arenaut_error err = {0};
            assert_int_equal(arenaut_report_emit(arenaut_report_find(every[i]), &s.result, NULL,
                                                 sink, NULL, &err),
                             ARENAUT_IO);
        }
    }
    drop(&s);
}

/* ---- explain ---- */

TEST(explain_names_step_buffers_and_remedies) {
    subject s = subject_with_program();
    arenaut_text text = report("explain", &s, 100, false);
    /* a, b and y are alive while the ADD runs */
    assert_holds(&text, "768 bytes (768 B) at op 2 ADD, step 3 of 4");
    assert_holds(&text, "no waste");
    assert_holds(&text, "block/<a>&\"a\"");
    assert_holds(&text, "from op 0 CONV; read by op 1 RELU, op 2 ADD");
    assert_holds(&text, "output, from op 2 ADD");
    assert_holds(&text, "without 1: at least 512, saves 256");
    arenaut_text_free(&text);
    drop(&s);
}

/* Two small buffers with room between them below a pinned one. */
TEST(explain_tells_waste_and_holes) {
    arenaut_problem *p = new_problem();
    arenaut_buffer pinned = ARENAUT_BUFFER_INIT;
    const arenaut_interval life = {0, 2};
    add_box(p, 100, 0, 2);
    pinned.size = 28;
    pinned.lifetimes = &life;
    pinned.n_lifetimes = 1;
    pinned.fixed_offset = arenaut_at(1000);
    add_buffer(p, &pinned);
    finish(p);
    subject s = subject_of(p);
    arenaut_text text = report("explain", &s, 100, false);
    assert_holds(&text, "peak   128 bytes");
    assert_holds(&text, "arena  1,028 bytes: 900 (703.1 %) above the peak");
    assert_holds(&text, "unused at the peak: 900 bytes at 100");
    arenaut_text_free(&text);
    drop(&s);
}

TEST(top_limits_the_list) {
    const box boxes[] = {{8, 0, 1}, {7, 0, 1}, {6, 0, 1}, {5, 0, 1}};
    subject s = subject_of(problem_of(boxes, COUNT_OF(boxes)));
    const arenaut_report_options options = {.width = 80, .top = 2};
    arenaut_text text = {0};
    arenaut_error err = {0};
    assert_ok(arenaut_report_emit(arenaut_report_find("explain"), &s.result, &options,
                                  arenaut_text_sink(&text), NULL, &err),
              err);
    assert_holds(&text, "and 2 smaller ones, 11 bytes together");
    arenaut_text_free(&text);
    drop(&s);
}

/* ---- svg ---- */

TEST(svg_escapes_what_comes_from_the_file) {
    subject s = subject_with_program();
    arenaut_text text = report("svg", &s, 0, false);
    assert_holds(&text, "block/&lt;a&gt;&amp;&quot;a&quot;");
    assert_null(strstr(text.bytes, "<a>"));
    assert_int_equal(count_of(&text, "</svg>"), 1);
    arenaut_text_free(&text);
    drop(&s);
}

TEST(svg_draws_each_lifetime_once) {
    subject s = subject_with_program();
    arenaut_text text = report("svg", &s, 0, false);
    assert_int_equal(count_of(&text, "</title></rect>"), s.result.problem->n_lifetimes);
    arenaut_text_free(&text);
    drop(&s);
}

TEST(svg_draws_at_most_so_many_rectangles) {
    enum { MANY = 9000 };
    arenaut_problem *p = new_problem();
    for (int64_t i = 0; i < MANY; i++) add_box(p, 16 + (uint64_t)(i % 7), i, i + 3);
    finish(p);
    subject s = {.problem = p, .plan = plan_with(p, "greedy-by-size")};
    s.result = (arenaut_result){.path = "p", .format = "csv", .problem = p, .plan = s.plan};
    arenaut_text text = report("svg", &s, 0, false);
    assert_int_equal(count_of(&text, " bytes at "), 5000);
    assert_true(count_of(&text, "class=\"rest\"") > 0);
    assert_true(count_of(&text, "<rect") < 5000 + 16000);
    assert_holds(&text, "drawn together");
    arenaut_text_free(&text);
    drop(&s);
}

static arenaut_text report_with(const char *name, const subject *s,
                                const arenaut_report_options *options) {
    arenaut_text text = {0};
    arenaut_error err = {0};
    assert_ok(arenaut_report_emit(arenaut_report_find(name), &s->result, options,
                                  arenaut_text_sink(&text), NULL, &err),
              err);
    return text;
}

TEST(pictures_show_the_steps_that_are_asked_for) {
    arenaut_problem *p = new_problem();
    for (int64_t i = 0; i < 100; i++) add_box(p, 16, i, i + 3);
    finish(p);
    subject s = subject_of(p);
    const arenaut_report_options part = {.steps = {10, 20}}, past = {.steps = {500, 600}};
    arenaut_text text = report_with("svg", &s, &part);
    assert_int_equal(count_of(&text, "</title></rect>"), 12); /* the first two reach into it */
    arenaut_text_free(&text);
    text = report_with("ascii", &s, &part);
    assert_int_equal(count_of(&text, "  steps "), 12);
    arenaut_text_free(&text);
    for (size_t i = 1; i < 4; i++) {
        arenaut_error err = {0};
        const arenaut_status st = arenaut_report_emit(arenaut_report_find(every[i]), &s.result,
                                                      &past, arenaut_text_sink(&text), NULL, &err);
        assert_int_equal(st, ARENAUT_REFUSED);
        assert_non_null(strstr(err.msg, "from step 500 to 599: the plan's steps are 0 to 101"));
        arenaut_text_free(&text);
    }
    drop(&s);
}

TEST(where_steps_are_many_svg_lists_what_is_alive_at_the_peak) {
    arenaut_problem *p = new_problem();
    for (int64_t i = 0; i < 100; i++) add_box(p, 16 + (uint64_t)i, 0, 100);
    finish(p);
    subject s = subject_of(p);
    arenaut_text text = report("svg", &s, 0, false);
    assert_holds(&text, ">alive at the peak</text>");
    assert_holds(&text, ">and 88 smaller ones</text>");
    arenaut_text_free(&text);
    drop(&s);
}

/* Four requests of 100 bytes, two of them at once; twice as much is reserved from the third on. */
static subject subject_of_trace(arenaut_trace *trace) {
    static uint64_t asked[] = {100, 200, 200, 200}, reserved[] = {300, 300, 600, 600};
    arenaut_problem *p = new_problem();
    for (int64_t i = 0; i < 4; i++) add_box(p, 100, i, i < 2 ? i + 2 : 4);
    finish(p);
    *trace = (arenaut_trace){.n_requests = 4,
                             .asked = asked,
                             .reserved = reserved,
                             .most_asked = {200, 1},
                             .most_reserved = {600, 2}};
    subject s = subject_of(p);
    s.result.trace = trace;
    return s;
}

/* A third of the height, 366 tenths of a pixel of 1,100, is 200 bytes of 600. */
TEST(svg_draws_what_a_trace_had_reserved_above_the_bytes_alive) {
    arenaut_trace trace;
    subject s = subject_of_trace(&trace);
    arenaut_text text = report("svg", &s, 0, false);
    assert_holds(&text, "<path class=\"area\" d=\"M96 186H96V167.7H");
    assert_holds(&text, "<path class=\"reserved\" d=\"M96 186H96V131H563V76H1030\"/>");
    assert_holds(&text, "\"held\">reserved at most</text>");
    assert_holds(&text, "\"held strong\">600</text>");
    arenaut_text_free(&text);
    trace.reserved = NULL; /* the file says nothing of it: the curve has the scale of its own */
    text = report("svg", &s, 0, false);
    assert_holds(&text, "<path class=\"area\" d=\"M96 186H96V131H");
    assert_int_equal(count_of(&text, "reserved at most"), 0);
    arenaut_text_free(&text);
    drop(&s);
}

TEST(reserved_bytes_of_a_trace_keep_to_the_steps_asked_for) {
    arenaut_trace trace;
    subject s = subject_of_trace(&trace);
    const arenaut_report_options part = {.steps = {2, 4}};
    arenaut_text text = report_with("svg", &s, &part);
    assert_holds(&text, "<path class=\"reserved\" d=\"M96 186H96V76H1030\"/>");
    arenaut_text_free(&text);
    drop(&s);
}

TEST(the_page_has_what_a_trace_had_reserved) {
    arenaut_trace trace;
    subject s = subject_of_trace(&trace);
    arenaut_text text = report("html", &s, 0, false);
    assert_holds(&text, "\"reserved\":\"600\"");
    assert_holds(&text, "\"reserved\":{\"n\":4,");
    arenaut_text_free(&text);
    s.result.trace = NULL;
    text = report("html", &s, 0, false);
    assert_int_equal(count_of(&text, "\"reserved\":"), 0);
    arenaut_text_free(&text);
    drop(&s);
}

TEST(dot_has_an_arrow_for_each_operand_and_is_for_programs) {
    subject s = subject_with_program();
    arenaut_text text = report("dot", &s, 0, false);
    assert_int_equal(count_of(&text, " -> "), 4);
    assert_holds(&text, "op1 -> op2 [label=\"b\\n256 bytes at ");
    assert_holds(&text, "block/<a>&\\\"a\\\"");
    arenaut_text_free(&text);
    attempt a = {&s, "dot"};
    survives_every_allocation_failure(emit_with, &a);
    s.result.lowering = NULL;
    arenaut_error err = {0};
    assert_int_equal(arenaut_report_emit(arenaut_report_find("dot"), &s.result, NULL,
                                         arenaut_text_sink(&text), NULL, &err),
                     ARENAUT_REFUSED);
    arenaut_text_free(&text);
    drop(&s);
}

typedef struct comparison {
    const subject *subject;
    const char *name;
} comparison;

/* Each report, told of another plan of the same problem. */
static arenaut_status compare_with(void *context, const arenaut_allocator *allocator) {
    const comparison *c = context;
    const arenaut_variant variants[] = {{.name = "results over operands",
                                         .flags = "--inplace on",
                                         .arena = 8,
                                         .reserve = 20,
                                         .saves = 1},
                                        {.name = "now", .arena = 9, .result = &c->subject->result}};
    const arenaut_report_options options = {.variants = variants, .n_variants = 2, .replan = true};
    arenaut_text text = {.allocator = allocator};
    const arenaut_status st =
        arenaut_report_emit(arenaut_report_find(c->name), &c->subject->result, &options,
                            arenaut_text_sink(&text), allocator, NULL);
    if (st == ARENAUT_OK && strcmp(c->name, "svg") == 0) {
        assert_int_equal(count_of(&text, "<svg"), 3);
        assert_int_equal(count_of(&text, "</svg>"), 3);
        assert_holds(&text, c->subject->program ? ">now: head " : ">now: arena ");
        assert_holds(&text, c->subject->program ? ">planned: head " : ">planned: arena ");
    }
    if (st == ARENAUT_OK && strcmp(c->name, "html") == 0) {
        assert_holds(&text, "\"flags\":\"--inplace on\",\"arena\":\"8\"");
        assert_holds(&text, "\"flags\":null,\"plan\":1,\"arena\":\"9\"");
    }
    arenaut_text_free(&text);
    return st == ARENAUT_IO ? ARENAUT_NO_MEMORY : st; /* the text could not grow */
}

TEST(pictures_compare_plans_and_survive_running_out_of_memory) {
    arenaut_trace trace;
    subject s = subject_with_program(), recorded = subject_of_trace(&trace);
    static const char *const names[] = {"svg", "html"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        comparison c = {&s, names[i]};
        survives_every_allocation_failure(compare_with, &c);
        comparison traced = {&recorded, names[i]};
        survives_every_allocation_failure(compare_with, &traced);
    }
    drop(&recorded);
    drop(&s);
}

TEST(svg_is_the_same_every_time) {
    subject s = subject_with_program();
    arenaut_text a = report("svg", &s, 0, false), b = report("svg", &s, 0, false);
    assert_string_equal(a.bytes, b.bytes);
    arenaut_text_free(&a);
    arenaut_text_free(&b);
    drop(&s);
}

/* ---- ascii ---- */

TEST(ascii_keeps_to_its_width) {
    subject s = subject_with_program();
    for (uint32_t width = 72; width <= 200; width += 16) {
        for (int unicode = 0; unicode < 2; unicode++) {
            arenaut_text text = report("ascii", &s, width, unicode);
            char *rest = strchr(text.bytes, '\n'); /* the title may be longer */
            for (char *line = strtok(rest, "\n"); line; line = strtok(NULL, "\n")) {
                if (arn_report_columns(line) > width) fail_msg("%" PRIu32 ": %s", width, line);
            }
            arenaut_text_free(&text);
        }
    }
    drop(&s);
}

TEST(ascii_without_unicode_is_ascii) {
    subject s = subject_with_program();
    arenaut_text text = report("ascii", &s, 80, false);
    for (size_t i = 0; i < text.size; i++) assert_true((unsigned char)text.bytes[i] < 0x7F);
    arenaut_text_free(&text);
    drop(&s);
}

/* ---- header ---- */

TEST(header_names_are_identifiers) {
    static const struct {
        const char *path, *guard;
    } cases[] = {
        {"some/folder/model.v2.tflite", "#ifndef MODEL_ARENAUT_PLAN_H"},
        {"9-lives.csv", "#ifndef M9_LIVES_ARENAUT_PLAN_H"},
        {"_x.csv", "#ifndef M_X_ARENAUT_PLAN_H"},
        {".csv", "#ifndef M_ARENAUT_PLAN_H"},
        {"models/", "#ifndef M_ARENAUT_PLAN_H"},
        {"\xC3\xBC.csv", "#ifndef M___ARENAUT_PLAN_H"},
    };
    const box boxes[] = {{8, 0, 1}};
    subject s = subject_of(problem_of(boxes, COUNT_OF(boxes)));
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        s.result.path = cases[i].path;
        arenaut_text text = report("header", &s, 0, false);
        assert_holds(&text, cases[i].guard);
        arenaut_text_free(&text);
    }
    drop(&s);
}

TEST(header_states_sizes_offsets_and_arguments) {
    subject s = subject_with_program();
    arenaut_text text = report("header", &s, 0, false);
    assert_holds(&text, "#define MODEL_ARENA_BYTES 768u");
    assert_holds(&text, "#define MODEL_ARENA_ALIGN 16u");
    assert_holds(&text, "#define MODEL_MAIN_INPUT_0_BYTES 64u");
    assert_holds(&text, "#define MODEL_MAIN_OUTPUT_0_OFFSET ");
    assert_holds(&text, "static const uint32_t model_main_tensor_offset[] = {");
    assert_null(strstr(text.bytes, "\"a\"")); /* only plain characters in comments */
    arenaut_text_free(&text);
    drop(&s);
}

TEST(header_widens_where_32_bits_are_too_few) {
    const box boxes[] = {{UINT64_C(1) << 33, 0, 1}, {8, 0, 1}};
    subject s = subject_of(problem_of(boxes, COUNT_OF(boxes)));
    arenaut_text text = report("header", &s, 0, false);
    assert_holds(&text, "ARENA_BYTES 8589934600ull");
    assert_holds(&text, "static const uint64_t model_buffer_offset[2]");
    arenaut_text_free(&text);
    drop(&s);
}

/* ---- the parts ---- */

TEST(numbers_read_well) {
    assert_string_equal(arn_report_commas(0).text, "0");
    assert_string_equal(arn_report_commas(999).text, "999");
    assert_string_equal(arn_report_commas(1000).text, "1,000");
    assert_string_equal(arn_report_commas(UINT64_MAX).text, "18,446,744,073,709,551,615");
    assert_string_equal(arn_report_kib(1023).text, "1023 B");
    assert_string_equal(arn_report_kib(1024).text, "1.0 KiB");
    assert_string_equal(arn_report_kib(1024 * 1024 - 1).text, "1023.9 KiB");
    assert_string_equal(arn_report_kib(UINT64_MAX).text, "15.9 EiB");
    assert_string_equal(arn_report_percent(1, 3).text, "33.3 %");
    assert_string_equal(arn_report_percent(2, 3).text, "66.7 %");
    assert_string_equal(arn_report_percent(5, 0).text, "0.0 %");
    assert_string_equal(arn_report_percent(UINT64_MAX, UINT64_MAX).text, "100.0 %");
}

TEST(long_names_keep_their_end) {
    assert_string_equal(arn_report_text_label("short", 20).text, "short");
    assert_string_equal(arn_report_text_label("model/block_3/conv2d/Relu6", 14).text,
                        "...onv2d/Relu6");
    assert_true(
        arn_report_columns(
            arn_report_text_label("\xC3\xA4\xC3\xB6\xC3\xBC\xC3\xA4\xC3\xB6\xC3\xBC", 5).text) <=
        5);
    assert_string_equal(arn_report_text_label("a\033[2Jb\xFF\xC2\x9Bm", 40).text, "a?[2Jb???m");
}

TEST(scaling_never_leaves_the_axis) {
    assert_int_equal(arn_report_scale(0, 1, 1000), 0);
    assert_int_equal(arn_report_scale(1, 1, 1000), 1000);
    assert_int_equal(arn_report_scale(UINT64_MAX / 2, UINT64_MAX, 1000), 499);
    assert_int_equal(arn_report_scale(UINT64_MAX, UINT64_MAX, UINT32_MAX), UINT32_MAX);
    assert_int_equal(arn_report_nice_step(1), 1);
    assert_int_equal(arn_report_nice_step(3), 5);
    assert_int_equal(arn_report_nice_step(11), 20);
    assert_true(arn_report_nice_step(UINT64_MAX) >= UINT64_MAX / 10);
}

enum { LARGEST = 20, ROOM = 64 };

static uint64_t count_used(const subject *s, int64_t step) {
    bool used[ROOM] = {false};
    uint64_t n = 0;
    for (uint32_t b = 0; b < s->problem->n_buffers; b++) {
        if (!arn_alive_at(s->problem, b, step)) continue;
        for (uint64_t i = 0; i < s->problem->size[b]; i++) used[s->plan->offset[b] + i] = true;
    }
    for (int i = 0; i < ROOM; i++) n += used[i];
    return n;
}

/* Buffers over other buffers are no more memory: each byte is counted, step by step, with buffers
 * anywhere. */
TEST(pictures_count_what_buffers_share_once) {
    enum { ROUNDS = 300, BUFFERS = 12, STEPS = 16 };
    rng r = {.state = 7};
    for (int round = 0; round < ROUNDS; round++) {
        const problem_shape shape = {BUFFERS, LARGEST, STEPS, 0};
        subject s = subject_of(random_problem(&r, &shape));
        arenaut_error err = {0};
        for (uint32_t b = 0; b < s.problem->n_buffers; b++) {
            if (s.plan->pool[b] != ARENAUT_NONE) s.plan->offset[b] = rng_below(&r, ROOM - LARGEST);
        }
        assert_ok(arenaut_plan_measure(s.plan, s.problem, &err), err);
        arn_report_picture picture;
        assert_ok(
            arn_report_picture_make(&s.result, (arenaut_interval){0}, 1, NULL, &picture, &err),
            err);
        uint64_t most = 0;
        for (int64_t step = picture.first; step < picture.end; step++) {
            const uint64_t n = count_used(&s, step);
            most = n > most ? n : most;
            if (step == picture.peak.step) assert_int_equal(picture.at_peak, n);
        }
        assert_int_equal(picture.most, most);
        assert_int_equal(picture.live[0], most);
        arn_report_picture_free(&picture);
        drop(&s);
    }
}
