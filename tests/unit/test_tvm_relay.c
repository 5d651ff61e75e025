/* Programs as graph compilers see them, planned in storage tokens: lets, tuples, calls, and
 * programs that such compilers refuse. All are handed over as program JSON. */
#include "support/test.h"

#include <arenaut/pass.h>
#include <arenaut/planner.h>
#include <arenaut/report.h>
#include <arenaut/tokens.h>

#include "support/documents.h"
#include "support/fuse.h"
#include "support/oracle.h"

#define PROGRAM(tensors, rest)                                                                    \
    "{\"schema\": \"arenaut.program/1\", \"dialect\": \"tvm\", \"tensors\": [" tensors "], " rest \
    "}"
#define VALUE(name) "{\"name\": \"" name "\", \"bytes\": 8}"

typedef struct stages {
    arenaut_document document;
    arenaut_lowering *lowering;
    arenaut_plan *plan;
    arenaut_tokens tokens;
} stages;

/* As far as `err` lets it; the first error ends it. */
static arenaut_status run(const char *text, const char *planner, stages *s,
                          const arenaut_allocator *allocator, arenaut_error *err) {
    const arenaut_target *target = arenaut_target_find("tvm");
    const arenaut_pass_options options = {.target = target};
    const arenaut_plan_options plan_options = {.planner = planner};
    *s = (stages){.plan = NULL};
    arenaut_status st =
        arenaut_read((const uint8_t *)text, strlen(text), NULL, NULL, allocator, &s->document, err);
    if (st != ARENAUT_OK) return st;
    st = arenaut_passes_run(s->document.program, NULL, &options, NULL, NULL, err);
    if (st == ARENAUT_OK) {
        st = arenaut_lower(s->document.program, target, NULL, allocator, &s->lowering, err);
    }
    if (st == ARENAUT_OK) {
        st = arenaut_plan_make(s->lowering->problem, &plan_options, allocator, &s->plan, err);
    }
    if (st == ARENAUT_OK) {
        st = arenaut_tokens_find(s->lowering->problem, s->plan, allocator, &s->tokens, err);
    }
    return st;
}

static void free_stages(stages *s, const arenaut_allocator *allocator) {
    arenaut_tokens_free(&s->tokens, allocator);
    arenaut_plan_free(s->plan);
    arenaut_lowering_free(s->lowering);
    arenaut_document_free(&s->document);
}

static stages planned(const char *text) {
    stages s;
    arenaut_error err = {0};
    assert_ok(run(text, "tvm-tokens", &s, NULL, &err), err);
    assert_plan_accepted(s.lowering->problem, s.plan);
    return s;
}

static void assert_refused(const char *text, const char *message) {
    stages s;
    arenaut_error err = {0};
    assert_int_not_equal(run(text, "tvm-tokens", &s, NULL, &err), ARENAUT_OK);
    assert_string_equal(err.msg, message);
    free_stages(&s, NULL);
}

static uint32_t token_of(const stages *s, const char *name) {
    const arenaut_program *p = s->document.program;
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        if (strcmp(p->tensors[t].name, name) != 0) continue;
        const uint32_t buffer = s->lowering->buffer[t];
        return buffer == ARENAUT_NONE ? buffer : s->tokens.of[buffer];
    }
    fail_msg("there is no '%s'", name);
    return ARENAUT_NONE;
}

/* ---- tokens ---- */

/* x -> a -> b -> c -> y: a is free when c asks, b when y does. The argument's token, free of
 * readers after a, is not used again. */
TEST(tokens_are_numbered_in_the_order_of_their_first_use) {
    stages s = planned(PROGRAM(
        VALUE("x") "," VALUE("a") "," VALUE("b") "," VALUE("c") "," VALUE("y"),
        "\"inputs\": [\"x\"], \"outputs\": [\"y\"], \"ops\": ["
        "{\"inputs\": [\"x\"], \"outputs\": [\"a\"]}, {\"inputs\": [\"a\"], \"outputs\": [\"b\"]},"
        "{\"inputs\": [\"b\"], \"outputs\": [\"c\"]}, {\"inputs\": [\"c\"], \"outputs\": "
        "[\"y\"]}]"));
    assert_int_equal(token_of(&s, "x"), 0);
    assert_int_equal(token_of(&s, "a"), 1);
    assert_int_equal(token_of(&s, "b"), 2);
    assert_int_equal(token_of(&s, "c"), 1);
    assert_int_equal(token_of(&s, "y"), 2);
    assert_int_equal(s.tokens.total, 24);
    free_stages(&s, NULL);
}

TEST(constants_have_no_token_and_results_keep_theirs) {
    stages s = planned(PROGRAM(
        "{\"name\": \"w\", \"bytes\": 8, \"class\": \"constant\"}," VALUE("a") "," VALUE(
            "b") "," VALUE("c"),
        "\"outputs\": [\"a\", \"c\"], \"ops\": ["
        "{\"inputs\": [\"w\"], \"outputs\": [\"a\"]}, {\"inputs\": [\"w\"], \"outputs\": [\"b\"]},"
        "{\"inputs\": [\"w\"], \"outputs\": [\"c\"]}]"));
    assert_int_equal(token_of(&s, "w"), ARENAUT_NONE);
    assert_int_equal(token_of(&s, "a"), 0); /* it has no reader, but it is a result */
    assert_int_equal(token_of(&s, "b"), 1); /* it has no reader, and it is none: free at once */
    assert_int_equal(token_of(&s, "c"), 1);
    free_stages(&s, NULL);
}

/* y is of a's size or b's: both become free at once, and it gets the first that was named. */
TEST(operands_are_let_go_in_the_order_of_the_arguments) {
    static const char *const orders[] = {"\"a\", \"b\"", "\"b\", \"a\"", "\"a\", \"b\", \"a\""};
    static const uint32_t expected[] = {0, 1, 1}; /* the last time counts */
    for (size_t i = 0; i < COUNT_OF(orders); i++) {
        char text[512];
        snprintf(text, sizeof text,
                 PROGRAM(VALUE("a") "," VALUE("b") "," VALUE("c") "," VALUE("y"),
                         "\"outputs\": [\"y\"], \"ops\": [{\"outputs\": [\"a\"]}, {\"outputs\": "
                         "[\"b\"]}, {\"inputs\": [%s], \"outputs\": [\"c\"]}, {\"inputs\": "
                         "[\"c\"], \"outputs\": [\"y\"]}]"),
                 orders[i]);
        stages s = planned(text);
        assert_int_equal(token_of(&s, "y"), expected[i]);
        free_stages(&s, NULL);
    }
}

/* The list of tensors names them the other way round, which says nothing. */
TEST(results_ask_in_the_order_of_the_outputs) {
    stages s = planned(PROGRAM(
        VALUE("q") "," VALUE("p") ",{\"name\": \"b\", \"bytes\": 100},"
                                  "{\"name\": \"a\", \"bytes\": 8}," VALUE("y") "," VALUE("x"),
        "\"inputs\": [\"x\", \"y\"], \"outputs\": [\"p\", \"q\"], \"ops\": ["
        "{\"inputs\": [\"x\", \"y\"], \"outputs\": [\"a\", \"b\"]}, "
        "{\"inputs\": [\"a\", \"b\"]}, {\"outputs\": [\"p\", \"q\"]}]"));
    assert_int_equal(token_of(&s, "x"), 0);
    assert_int_equal(token_of(&s, "y"), 1);
    assert_int_equal(token_of(&s, "a"), 2);
    assert_int_equal(token_of(&s, "b"), 3);
    assert_int_equal(token_of(&s, "p"), 2);
    assert_int_equal(token_of(&s, "q"), 3);
    free_stages(&s, NULL);
}

/* Tensors that a runtime is given before it runs, and those that it keeps between runs, must lie
 * still. */
TEST(arguments_and_state_share_their_tokens_with_nobody) {
    static const char text[] = PROGRAM(
        VALUE("x") "," VALUE("a") "," VALUE(
            "y") ",{\"name\": \"s\", \"bytes\": 8, \"class\": \"state\"}",
        "\"inputs\": [\"x\"], \"outputs\": [\"y\"], \"ops\": ["
        "{\"inputs\": [\"x\"], \"outputs\": [\"a\"]}, {\"kind\": \"in_place\", \"inputs\": [\"s\", "
        "\"a\"]}, {\"inputs\": [\"s\"], \"outputs\": [\"y\"]}]");
    static const char *const planners[] = {"tvm-tokens", "auto", "naive"};
    for (size_t i = 0; i < COUNT_OF(planners); i++) {
        stages s;
        arenaut_error err = {0};
        assert_ok(run(text, planners[i], &s, NULL, &err), err);
        assert_int_not_equal(token_of(&s, "s"), ARENAUT_NONE);
        static const char *const others[] = {"x", "a", "y", "s"};
        for (size_t k = 0; k < COUNT_OF(others); k++) {
            if (k != 3) assert_int_not_equal(token_of(&s, "s"), token_of(&s, others[k]));
            if (k != 0) assert_int_not_equal(token_of(&s, "x"), token_of(&s, others[k]));
        }
        free_stages(&s, NULL);
    }
}

/* int4 x 3 is 3 bytes, int4x3 x 2 is 4 (12 bits are 2 bytes), a boolx16 2; without lanes, in no
 * dialect, elements lie bit by bit. */
TEST(elements_take_whole_bytes_and_may_have_lanes) {
    static const char tensors[] =
        "\"tensors\": [{\"name\": \"a\", \"dtype\": \"int4\", \"dims\": [3]},"
        "{\"name\": \"b\", \"dtype\": \"int4\", \"lanes\": 3, \"dims\": [2]},"
        "{\"name\": \"c\", \"dtype\": \"bool\", \"lanes\": 16, \"dims\": []},"
        "{\"name\": \"d\", \"dtype\": \"int4\", \"lanes\": 0, \"dims\": [3]}], \"ops\": []}";
    char text[512];
    snprintf(text, sizeof text, "{\"schema\": \"arenaut.program/1\", \"dialect\": \"tvm\", %s",
             tensors);
    arenaut_document d = read_text("program-json", text);
    static const uint64_t expected[] = {3, 4, 2, 2};
    for (uint32_t t = 0; t < 4; t++) assert_int_equal(d.program->tensors[t].bytes, expected[t]);
    arenaut_text written = write_text("program-json", &d);
    arenaut_document again = read_text("program-json", written.bytes);
    assert_same_program(d.program, again.program);
    arenaut_document_free(&again);
    arenaut_text_free(&written);
    arenaut_document_free(&d);
    snprintf(text, sizeof text, "{\"schema\": \"arenaut.program/1\", %s", tensors);
    d = read_text("program-json", text);
    assert_int_equal(d.program->tensors[0].bytes, 2);
    assert_int_equal(d.program->tensors[1].bytes, 4);
    arenaut_document_free(&d);
    assert_unreadable("program-json",
                      "{\"schema\": \"arenaut.program/1\", \"tensors\": [{\"dtype\": \"int8\", "
                      "\"lanes\": 65536}], \"ops\": []}",
                      ARENAUT_BAD_INPUT, "65535");
}

/* The inner needs of the called function are its own affair. */
TEST(functions_are_not_entered) {
    static const char text[] = PROGRAM(
        VALUE("x") "," VALUE("y") "," VALUE("in") "," VALUE("t") "," VALUE("out"),
        "\"methods\": [{\"name\": \"main\", \"inputs\": [\"x\"], \"outputs\": [\"y\"], \"ops\": ["
        "{\"name\": \"f\", \"kind\": \"call\", \"calls\": [\"f\"], \"inputs\": [\"x\"], "
        "\"outputs\": [\"y\"]}]},"
        "{\"name\": \"f\", \"inputs\": [\"in\"], \"outputs\": [\"out\"], \"ops\": ["
        "{\"inputs\": [\"in\"], \"outputs\": [\"t\"]}, {\"inputs\": [\"t\"], \"outputs\": "
        "[\"out\"]}]}]");
    stages s = planned(text);
    assert_int_equal(s.tokens.n, 2);
    assert_int_equal(token_of(&s, "t"), ARENAUT_NONE);
    free_stages(&s, NULL);
    /* Other planners enter it when the pass is left out. */
    arenaut_document d = read_text("program-json", text);
    const arenaut_target *target = arenaut_target_find("generic");
    const arenaut_pass_options options = {.target = target};
    arenaut_lowering *l = NULL;
    arenaut_error err = {0};
    assert_ok(arenaut_passes_run(d.program, "-opaque-calls", &options, NULL, NULL, &err), err);
    assert_ok(arenaut_lower(d.program, target, NULL, NULL, &l, &err), err);
    assert_int_equal(l->problem->n_buffers, 5);
    arenaut_lowering_free(l);
    arenaut_document_free(&d);
}

/* ---- lets, tuples and fields ---- */

#define TUPLES(op) \
    PROGRAM(VALUE("x") "," VALUE("a") "," VALUE("b")                                            \
            ",{\"name\": \"ab\", \"dtype\": \"other\"},{\"name\": \"abc\", \"dtype\": \"other\"}," \
            VALUE("f") "," VALUE("y"),                                                          \
            "\"inputs\": [\"x\"], \"outputs\": [\"y\"], \"ops\": ["                             \
            "{\"inputs\": [\"x\"], \"outputs\": [\"a\", \"b\"]},"                               \
            "{\"name\": \"pair\", \"kind\": \"tuple\", \"inputs\": [\"a\", \"b\"], "            \
            "\"outputs\": [\"ab\"]}," op "]")

TEST(a_field_is_its_value_and_an_op_takes_all_of_a_tuple) {
    stages s = planned(
        TUPLES("{\"kind\": \"let\", \"inputs\": [\"ab\"], \"outputs\": [\"abc\"]},"
               "{\"kind\": \"field\", \"index\": 1, \"inputs\": [\"abc\"], \"outputs\": [\"f\"]},"
               "{\"name\": \"join\", \"inputs\": [\"x\", \"abc\", \"f\"], \"outputs\": [\"y\"]}"));
    const arenaut_op *join = &s.document.program->ops[4];
    assert_int_equal(join->n_inputs, 4);
    assert_int_equal(join->inputs[1], 1);
    assert_int_equal(join->inputs[2], 2);
    assert_int_equal(token_of(&s, "f"), token_of(&s, "b"));
    assert_int_not_equal(token_of(&s, "a"), token_of(&s, "b"));
    assert_int_equal(s.tokens.n, 4);
    free_stages(&s, NULL);
}

TEST(a_let_is_another_name) {
    stages s =
        planned(TUPLES("{\"kind\": \"let\", \"inputs\": [\"b\"], \"outputs\": [\"f\"]},"
                       "{\"inputs\": [\"f\"], \"outputs\": [\"y\"]}"));
    assert_int_equal(token_of(&s, "f"), token_of(&s, "b"));
    assert_int_equal(token_of(&s, "a"), 1);
    assert_int_equal(token_of(&s, "y"), 1); /* a is not read: the tuple alone is no reader */
    free_stages(&s, NULL);
}

TEST(a_method_returns_the_fields_of_a_tuple) {
    stages s = planned(
        PROGRAM(VALUE("a") "," VALUE("b") ",{\"name\": \"ab\", \"dtype\": \"other\"}",
                "\"outputs\": [\"ab\"], \"ops\": [{\"outputs\": [\"a\"]}, {\"outputs\": [\"b\"]},"
                "{\"kind\": \"tuple\", \"inputs\": [\"a\", \"b\"], \"outputs\": [\"ab\"]}]"));
    assert_int_equal(s.document.program->methods[0].n_outputs, 2);
    assert_int_equal(s.tokens.n, 2);
    free_stages(&s, NULL);
}

TEST(wrong_tuples_are_named) {
    assert_refused(TUPLES("{\"name\": \"nest\", \"kind\": \"tuple\", \"inputs\": [\"x\", \"ab\"], "
                          "\"outputs\": [\"abc\"]}"),
                   "op 'nest': field 1, 'ab', is a tuple itself; each field must be one value");
    assert_refused(TUPLES("{\"name\": \"third\", \"kind\": \"field\", \"index\": 2, \"inputs\": "
                          "[\"ab\"], \"outputs\": [\"f\"]}"),
                   "op 'third' takes field 2 of tuple 'ab', which has 2");
    assert_refused(TUPLES("{\"name\": \"first\", \"kind\": \"field\", \"index\": 0, \"inputs\": "
                          "[\"a\"], \"outputs\": [\"f\"]}"),
                   "op 'first' takes field 0 of 'a', which is no tuple");
    assert_refused(TUPLES("{\"name\": \"early\", \"kind\": \"let\", \"inputs\": [\"y\"], "
                          "\"outputs\": [\"f\"]}"),
                   "op 'early' names 'y', which nothing before it defines");
    assert_refused(TUPLES("{\"name\": \"twice\", \"kind\": \"let\", \"inputs\": [\"a\"], "
                          "\"outputs\": [\"b\"]}"),
                   "op 'twice' defines 'b', which is defined already");
    assert_refused(TUPLES("{\"name\": \"self\", \"kind\": \"let\", \"inputs\": [\"a\", \"b\"], "
                          "\"outputs\": [\"f\"]}"),
                   "op 'self' of kind 'let' has 2 inputs and 1 outputs; it must have one input and "
                   "one output, none left out");
    assert_refused(TUPLES("{\"name\": \"over\", \"inputs\": [\"ab\"], \"outputs\": [\"y\"], "
                          "\"in_place\": [[0, 0]]}"),
                   "op 'over' writes over its input 0, which is a tuple");
    assert_refused(PROGRAM("{\"name\": \"a\", \"bytes\": 4}," VALUE("b"),
                           "\"ops\": [{\"outputs\": [\"a\"]}, {\"name\": \"wide\", \"kind\": "
                           "\"let\", \"inputs\": [\"a\"], \"outputs\": [\"b\"]}]"),
                   "op 'wide': 'b' of 8 bytes cannot stand for 'a' of 4");
}

/* ---- refusals ---- */

TEST(branches_are_refused) {
    static const char text[] = PROGRAM(
        VALUE("c") "," VALUE("x") "," VALUE("y") "," VALUE("p") "," VALUE("q") "," VALUE(
            "r") "," VALUE("s"),
        "\"methods\": [{\"name\": \"main\", \"inputs\": [\"c\", \"x\"], \"outputs\": [\"y\"], "
        "\"ops\": [{\"kind\": \"if\", \"calls\": [1, 2], \"inputs\": [\"c\", \"x\"], \"outputs\": "
        "[\"y\"]}]},"
        "{\"inputs\": [\"p\"], \"outputs\": [\"q\"], \"ops\": [{\"inputs\": [\"p\"], \"outputs\": "
        "[\"q\"]}]},"
        "{\"inputs\": [\"r\"], \"outputs\": [\"s\"], \"ops\": [{\"inputs\": [\"r\"], \"outputs\": "
        "[\"s\"]}]}]");
    assert_refused(text, "planner 'tvm-tokens' does not plan programs with branches; 'auto' does");
    stages s;
    arenaut_error err = {0};
    assert_ok(run(text, "auto", &s, NULL, &err), err);
    free_stages(&s, NULL);
}

TEST(undefined_values_are_named) {
    assert_refused(PROGRAM(VALUE("x") "," VALUE("y"),
                           "\"outputs\": [\"y\"], \"ops\": [{\"name\": "
                           "\"relu\", \"inputs\": [\"x\"], "
                           "\"outputs\": [\"y\"]}]"),
                   "op 'relu' reads 'x', which nothing before it defines");
    assert_refused(PROGRAM(VALUE("y"), "\"outputs\": [\"y\"], \"ops\": []"),
                   "method 'main' returns 'y', which nothing defines");
}

TEST(sizes_must_be_known) {
    assert_refused(
        PROGRAM("{\"name\": \"y\", \"dtype\": \"int8\", \"dims\": [4], \"dynamic\": true}",
                "\"outputs\": [\"y\"], \"ops\": [{\"outputs\": [\"y\"]}]"),
        "planner 'tvm-tokens' does not plan symbolic sizes; 'auto' does");
    assert_refused(PROGRAM("{\"name\": \"y\", \"dtype\": \"int8\", \"dims\": [-4]}", "\"ops\": []"),
                   "line 1, column 103: found -4; expected an integer from 0 to 2^63 - 1");
}

TEST(devices_are_given_for_all_or_for_none) {
    assert_refused(PROGRAM(VALUE("x") ",{\"name\": \"y\", \"bytes\": 8, \"device\": 2}",
                           "\"inputs\": [\"x\"], \"outputs\": [\"y\"], \"ops\": [{\"inputs\": "
                           "[\"x\"], \"outputs\": [\"y\"]}]"),
                   "planner 'tvm-tokens': 1 of 2 values have a device and 1 have none (type 0); it "
                   "wants one for all of them or for none");
}

/* ---- telling ---- */

TEST(the_report_tells_ids_devices_and_bytes) {
    stages s =
        planned(TUPLES("{\"kind\": \"let\", \"inputs\": [\"ab\"], \"outputs\": [\"abc\"]},"
                       "{\"inputs\": [\"ab\"], \"outputs\": [\"y\"]}"));
    const arenaut_result result = {.path = "p.json",
                                   .format = "program-json",
                                   .program = s.document.program,
                                   .lowering = s.lowering,
                                   .problem = s.lowering->problem,
                                   .plan = s.plan,
                                   .seconds = -1};
    arenaut_text text = {0};
    arenaut_error err = {0};
    assert_ok(arenaut_report_emit(arenaut_report_find("tokens"), &result, NULL,
                                  arenaut_text_sink(&text), NULL, &err),
              err);
    assert_string_equal(
        text.bytes,
        "{\n  \"schema\": \"arenaut.tokens/1\",\n  \"planner\": \"tvm-tokens\",\n  \"bytes\": 32,\n"
        "  \"tokens\": [\n"
        "    {\"id\": 0, \"bytes\": 8, \"device\": {\"type\": 0, \"index\": 0}},\n"
        "    {\"id\": 1, \"bytes\": 8, \"device\": {\"type\": 0, \"index\": 0}},\n"
        "    {\"id\": 2, \"bytes\": 8, \"device\": {\"type\": 0, \"index\": 0}},\n"
        "    {\"id\": 3, \"bytes\": 8, \"device\": {\"type\": 0, \"index\": 0}}],\n"
        "  \"values\": [\n"
        "    {\"name\": \"x\", \"bytes\": 8, \"device\": {\"type\": 0, \"index\": 0}, "
        "\"storage_ids\": [0]},\n"
        "    {\"name\": \"a\", \"bytes\": 8, \"device\": {\"type\": 0, \"index\": 0}, "
        "\"storage_ids\": [1]},\n"
        "    {\"name\": \"b\", \"bytes\": 8, \"device\": {\"type\": 0, \"index\": 0}, "
        "\"storage_ids\": [2]},\n"
        "    {\"name\": \"ab\", \"bytes\": 0, \"devices\": [{\"type\": 0, \"index\": 0}, "
        "{\"type\": 0, \"index\": 0}], \"storage_ids\": [1, 2]},\n"
        "    {\"name\": \"abc\", \"bytes\": 0, \"devices\": [{\"type\": 0, \"index\": 0}, "
        "{\"type\": 0, \"index\": 0}], \"storage_ids\": [1, 2]},\n"
        "    {\"name\": \"f\", \"bytes\": 8, \"device\": {\"type\": 0, \"index\": 0}, "
        "\"storage_ids\": []},\n"
        "    {\"name\": \"y\", \"bytes\": 8, \"device\": {\"type\": 0, \"index\": 0}, "
        "\"storage_ids\": [3]}]\n}\n");
    arenaut_text_free(&text);
    free_stages(&s, NULL);
}

/* The file says a device of the values only, and of one name a wrong one. */
TEST(names_are_on_the_device_of_their_token) {
    stages s = planned(PROGRAM(
        "{\"name\": \"a\", \"bytes\": 8, \"device\": 2},{\"name\": \"b\", \"bytes\": 4, "
        "\"device\": 1},"
        "{\"name\": \"w\", \"bytes\": 4, \"device\": 1, \"class\": \"constant\"},"
        "{\"name\": \"t\", \"dtype\": \"other\"}," VALUE("l") ",{\"name\": \"f\", \"bytes\": 8, "
                                                              "\"device\": 1}",
        "\"outputs\": [\"f\", \"b\"], \"ops\": [{\"outputs\": [\"a\", \"b\"]}, {\"kind\": "
        "\"tuple\", "
        "\"inputs\": [\"a\", \"w\", \"b\"], \"outputs\": [\"t\"]}, {\"kind\": \"field\", "
        "\"index\": 0, "
        "\"inputs\": [\"t\"], \"outputs\": [\"f\"]}, {\"kind\": \"let\", \"inputs\": [\"a\"], "
        "\"outputs\": [\"l\"]}]"));
    const arenaut_result result = {.path = "p.json",
                                   .format = "program-json",
                                   .program = s.document.program,
                                   .lowering = s.lowering,
                                   .problem = s.lowering->problem,
                                   .plan = s.plan,
                                   .seconds = -1};
    arenaut_text text = {0};
    arenaut_error err = {0};
    assert_ok(arenaut_report_emit(arenaut_report_find("tokens"), &result, NULL,
                                  arenaut_text_sink(&text), NULL, &err),
              err);
    assert_non_null(strstr(text.bytes,
                           "\"t\", \"bytes\": 0, \"devices\": [{\"type\": 2, \"index\": 0}, "
                           "{\"type\": 1, \"index\": 0}, {\"type\": 1, \"index\": 0}], "
                           "\"storage_ids\": [0, null, 1]}"));
    assert_non_null(strstr(text.bytes, "\"l\", \"bytes\": 8, \"device\": {\"type\": 2"));
    assert_non_null(strstr(text.bytes, "\"f\", \"bytes\": 8, \"device\": {\"type\": 2"));
    arenaut_text_free(&text);
    free_stages(&s, NULL);
}

static arenaut_status all_stages(void *context, const arenaut_allocator *allocator) {
    stages s;
    const arenaut_status st = run(context, "tvm-tokens", &s, allocator, NULL);
    free_stages(&s, allocator);
    return st;
}

TEST(running_out_of_memory_is_survived) {
    survives_every_allocation_failure(
        all_stages,
        (void *)TUPLES("{\"kind\": \"field\", \"index\": 1, \"inputs\": [\"ab\"], \"outputs\": "
                       "[\"f\"]}, {\"inputs\": [\"ab\", \"f\"], \"outputs\": [\"y\"]}"));
}
