/* Ops that write over their operands, case by case, from program JSON through the pass and
 * lowering to plans that stand up to replay. */
#include "support/test.h"

#include <stdlib.h>

#include <arenaut/check.h>
#include <arenaut/format.h>
#include <arenaut/pass.h>
#include <arenaut/planner.h>

#include "support/lowerings.h"
#include "support/plans.h"

#define T(name, dims, more) \
    "{\"name\": \"" name "\", \"dtype\": \"float32\", \"dims\": " dims more "}"
#define OP(name, in, out, more) \
    "{\"name\": \"" name "\", \"inputs\": " in ", \"outputs\": " out more "}"
#define PROGRAM(tensors, inputs, outputs, ops)                                            \
    "{\"schema\": \"arenaut.program/1\", \"tensors\": [" tensors "], \"inputs\": " inputs \
    ", \"outputs\": " outputs ", \"ops\": [" ops "]}"

/* The need of each planner; every tensor has 64 bytes where nothing else is said. */
typedef struct example {
    const char *name, *json;
    uint64_t arena; /* the least */
    uint64_t naive; /* ExecuTorch's planner that reuses nothing, but honours in-place pairs */
} example;

#define X T("x", "[16]", "")
#define A T("a", "[16]", "")
#define B T("b", "[16]", "")
#define C T("c", "[16]", "")
#define Y T("y", "[16]", "")
#define TENSORS X ", " A ", " B ", " Y
#define NEG(in, out) OP("aten::neg.out", "[\"" in "\"]", "[\"" out "\"]", "")
#define CONV(in, out) OP("aten::convolution.out", "[\"" in "\"]", "[\"" out "\"]", "")

static const example examples[] = {
    {"an operand that dies is written over",
     PROGRAM(TENSORS, "[\"x\"]", "[\"y\"]", CONV("x", "a") ", " NEG("a", "b") ", " CONV("b", "y")),
     128, 192},
    {"a chain is one buffer",
     PROGRAM(X ", " A ", " B ", " C ", " Y, "[\"x\"]", "[\"y\"]",
             NEG("x", "a") ", " NEG("a", "b") ", " NEG("b", "c") ", " NEG("c", "y")),
     64, 64},
    {"several users: only the last may",
     PROGRAM(TENSORS, "[\"x\"]", "[\"y\"]",
             NEG("x", "a") ", " NEG("a", "b") ", " OP("aten::add.out", "[\"a\", \"b\"]", "[\"y\"]",
                                                      "")),
     128, 128},
    {"a free is no user",
     PROGRAM(TENSORS, "[\"x\"]", "[\"y\"]",
             CONV("x", "a") ", " NEG("a", "b") ", " OP("free", "[\"a\"]", "[]",
                                                       ", \"kind\": \"free\"") ", " CONV("b", "y")),
     128, 192},
    {"an output larger than its operand",
     PROGRAM(X ", " A ", " T("b", "[32]", "") ", " Y, "[\"x\"]", "[\"y\"]",
             CONV("x", "a") ", " NEG("a", "b") ", " CONV("b", "y")),
     192, 320},
    {"an operand that is broadcast",
     PROGRAM(X ", " T("a", "[1, 16]", "") ", " B ", " Y, "[\"x\"]", "[\"y\"]",
             CONV("x", "a") ", " NEG("a", "b") ", " CONV("b", "y")),
     128, 256},
    {"a result of the program stays",
     PROGRAM(X ", " A ", " B, "[\"x\"]", "[\"a\", \"b\"]", CONV("x", "a") ", " NEG("a", "b")), 128,
     192},
    {"state stays",
     PROGRAM(X ", " T("s", "[16]", ", \"class\": \"state\"") ", " Y, "[\"x\"]", "[\"y\"]",
             OP("aten::add.out", "[\"s\", \"x\"]", "[\"y\"]", "")),
     128, 128}, /* over `x`, not over `s` */
    {"a view of the operand that is read later",
     PROGRAM(TENSORS ", " T("v", "[16]", ", \"view_of\": \"a\""), "[\"x\"]", "[\"y\"]",
             CONV("x", "a") ", " NEG("a", "b") ", " OP("aten::add.out", "[\"v\", \"b\"]", "[\"y\"]",
                                                       "")),
     128, 192},
    {"the operand twice",
     PROGRAM(X ", " Y, "[\"x\"]", "[\"y\"]", OP("aten::mul.out", "[\"x\", \"x\"]", "[\"y\"]", "")),
     64, 64},
};

static arenaut_status read(const char *json, arenaut_document *document, arenaut_error *err) {
    const arenaut_format *format = arenaut_format_find("program-json");
    assert_non_null(format);
    return arenaut_read((const uint8_t *)json, strlen(json), format, NULL, NULL, document, err);
}

static void expect_plan(const example *e, const arenaut_program *p, const arenaut_lowering *l,
                        const char *planner, uint64_t least, uint64_t most) {
    const arenaut_plan_options options = {.planner = planner};
    arenaut_plan *plan = NULL;
    arenaut_error err = {0};
    const arenaut_status st = arenaut_plan_make(l->problem, &options, NULL, &plan, &err);
    if (st != ARENAUT_OK) fail_msg("%s: %s: %s", e->name, planner, err.msg);
    assert_plan_stands(p, l, plan);
    if (plan->total < least || plan->total > most) {
        fail_msg("%s: %s needs %lu bytes, expected %lu to %lu", e->name, planner,
                 (unsigned long)plan->total, (unsigned long)least, (unsigned long)most);
    }
    arenaut_plan_free(plan);
}

static void expect_all_plans(const example *e, const char *passes) {
    const arenaut_pass_options options = {.target = arenaut_target_find("executorch")};
    arenaut_document document = {0};
    arenaut_error err = {0};
    assert_ok(read(e->json, &document, &err), err);
    assert_ok(arenaut_passes_run(document.program, passes, &options, NULL, NULL, &err), err);
    arenaut_lowering *l = lower_program(document.program, "executorch");
    expect_plan(e, document.program, l, "auto", e->arena, e->arena);
    expect_plan(e, document.program, l, "executorch-greedy", e->arena, e->naive);
    expect_plan(e, document.program, l, "executorch-naive", e->naive, e->naive);
    expect_plan(e, document.program, l, "naive", e->arena, UINT64_MAX);
    expect_plan(e, document.program, l, "greedy-by-size", e->arena, e->naive);
    arenaut_lowering_free(l);
    arenaut_document_free(&document);
}

TEST(each_case_gets_what_it_may_have_and_no_more) {
    for (size_t i = 0; i < COUNT_OF(examples); i++) expect_all_plans(&examples[i], "inplace");
}

/* ---- alloc_in_place(base, [spec, …]) ---- */

#define ALLOC(base, specs) OP("alloc", "[\"" base "\"]", specs, ", \"kind\": \"alloc_in_place\"")
/* No table lists it: all that is known is said here. */
#define MINE(in, out) OP("mine", "[\"" in "\"]", "[\"" out "\"]", "")

static const example allocations[] = {
    {"an operand that dies is written over",
     PROGRAM(TENSORS, "[\"x\"]", "[\"y\"]",
             MINE("x", "a") ", " ALLOC("a", "[\"b\"]") ", " MINE("a", "b") ", " MINE("b", "y")),
     128, 192},
    {"a chain is one buffer",
     PROGRAM(TENSORS, "[\"x\"]", "[\"y\"]",
             ALLOC("x", "[\"a\"]") ", " MINE("x", "a") ", " ALLOC("a", "[\"b\"]") ", " MINE(
                 "a", "b") ", " ALLOC("b", "[\"y\"]") ", " MINE("b", "y")),
     64, 64},
    {"of several results one can have it",
     PROGRAM(TENSORS, "[\"x\"]", "[\"b\", \"y\"]",
             MINE("x", "a") ", " ALLOC("a", "[\"b\", \"y\"]") ", " OP("mine", "[\"a\"]",
                                                                      "[\"b\", \"y\"]", "")),
     128, 192},
    {"of several results the one that fits",
     PROGRAM(X ", " A ", " T("b", "[32]", "") ", " Y, "[\"x\"]", "[\"b\", \"y\"]",
             MINE("x", "a") ", " ALLOC("a", "[\"b\", \"y\"]") ", " OP("mine", "[\"a\"]",
                                                                      "[\"b\", \"y\"]", "")),
     192, 256},
    {"several users: another one reads it later",
     PROGRAM(TENSORS, "[\"x\"]", "[\"y\"]",
             MINE("x", "a") ", " ALLOC("a", "[\"b\"]") ", " MINE("a", "b") ", " OP(
                 "mine", "[\"a\", \"b\"]", "[\"y\"]", "")),
     192, 256},
    {"a free is no user",
     PROGRAM(TENSORS, "[\"x\"]", "[\"y\"]",
             MINE("x", "a") ", " ALLOC("a", "[\"b\"]") ", " MINE("a", "b") ", " OP(
                 "free", "[\"a\"]", "[]", ", \"kind\": \"free\"") ", " MINE("b", "y")),
     128, 192},
    {"a result larger than the base",
     PROGRAM(X ", " A ", " T("b", "[32]", "") ", " Y, "[\"x\"]", "[\"y\"]",
             MINE("x", "a") ", " ALLOC("a", "[\"b\"]") ", " MINE("a", "b") ", " MINE("b", "y")),
     192, 320},
    {"a base that is broadcast has fewer bytes",
     PROGRAM(X ", " T("a", "[1]", "") ", " B ", " Y, "[\"x\"]", "[\"y\"]",
             MINE("x", "a") ", " ALLOC("a", "[\"b\"]") ", " MINE("a", "b") ", " MINE("b", "y")),
     128, 208},
    {"an input of the program may be the base",
     PROGRAM(X ", " Y, "[\"x\"]", "[\"y\"]", ALLOC("x", "[\"y\"]") ", " MINE("x", "y")), 64, 64},
    {"a result of the program stays",
     PROGRAM(X ", " A ", " B, "[\"x\"]", "[\"a\", \"b\"]",
             MINE("x", "a") ", " ALLOC("a", "[\"b\"]") ", " MINE("a", "b")),
     128, 192},
    {"state stays",
     PROGRAM(T("s", "[16]", ", \"class\": \"state\"") ", " Y, "[]", "[\"y\"]",
             ALLOC("s", "[\"y\"]") ", " MINE("s", "y")),
     128, 128},
    {"a view of the base that is read later",
     PROGRAM(TENSORS ", " T("v", "[16]", ", \"view_of\": \"a\""), "[\"x\"]", "[\"y\"]",
             MINE("x", "a") ", " ALLOC("a", "[\"b\"]") ", " MINE("a", "b") ", " OP(
                 "mine", "[\"v\", \"b\"]", "[\"y\"]", "")),
     192, 256},
    {"the base twice",
     PROGRAM(X ", " Y, "[\"x\"]", "[\"y\"]",
             ALLOC("x", "[\"y\"]") ", " OP("mine", "[\"x\", \"x\"]", "[\"y\"]", "")),
     64, 64},
};

/* Statements of a program need no pass to be asked for, and no table. */
TEST(allocations_in_place_are_honoured_where_they_are_safe) {
    for (size_t i = 0; i < COUNT_OF(allocations); i++) expect_all_plans(&allocations[i], NULL);
}

/* Base and result are one word each for impossible choices. */
TEST(allocations_have_one_base_and_their_results) {
    static const struct {
        const char *inputs, *outputs, *kind;
        bool sound;
    } cases[] = {
        {"[\"x\"]", "[\"y\"]", "alloc_in_place", true},
        {"[]", "[\"y\"]", "alloc_in_place", false},
        {"[\"x\", \"y\"]", "[\"y\"]", "alloc_in_place", false},
        {"[null]", "[\"y\"]", "alloc_in_place", false},
        {"[\"x\"]", "[]", "alloc_in_place", false},
        {"[\"x\"]", "[null]", "alloc_in_place", false},
        {"[\"x\"]", "[\"y\", null]", "alloc_in_place", false},
        {"[\"x\"]", "[\"x\"]", "alloc_in_place", false},
        {"[]", "[\"y\"]", "alloc", true},
        {"[]", "[]", "alloc", false},
        {"[]", "[null]", "alloc", false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char json[600];
        arenaut_document document = {0};
        arenaut_error err = {0};
        snprintf(json, sizeof json,
                 "{\"schema\": \"arenaut.program/1\", \"tensors\": [" X ", " Y
                 "], "
                 "\"inputs\": [\"x\"], \"outputs\": [\"y\"], \"ops\": [{\"name\": \"f\", "
                 "\"kind\": \"%s\", \"inputs\": %s, \"outputs\": %s}, " MINE("x", "y") "]}",
                 cases[i].kind, cases[i].inputs, cases[i].outputs);
        const arenaut_status st = read(json, &document, &err);
        if ((st == ARENAUT_OK) != cases[i].sound) fail_msg("case %zu: %s", i, err.msg);
        if (st != ARENAUT_OK) assert_non_null(strstr(err.msg, "at least one output"));
        arenaut_document_free(&document);
    }
}

/* The op that reads the base writes no result over it: another op must. */
TEST(allocations_that_no_op_can_keep_are_mistakes) {
    static const struct {
        const char *json, *told;
    } cases[] = {
        {PROGRAM(TENSORS, "[\"x\"]", "[\"y\"]", MINE("x", "y") ", " ALLOC("x", "[\"b\"]")),
         "'b' is allocated in the memory of 'x', but no op after that writes it"},
        {PROGRAM(TENSORS, "[\"x\"]", "[\"y\"]",
                 MINE("x", "b") ", " ALLOC("x", "[\"b\"]") ", " MINE("b", "y")),
         "but no op after that writes it"},
        {PROGRAM(TENSORS, "[\"x\"]", "[\"y\"]",
                 MINE("x", "a") ", " ALLOC("a", "[\"y\"]") ", " MINE("x", "y")),
         "'y' is allocated in the memory of 'a', but the op that writes it does not read that"},
        {PROGRAM(
             TENSORS, "[\"x\"]", "[\"y\"]",
             ALLOC("x", "[\"y\"]") ", " OP("d", "[\"x\"]", "[\"y\"]", ", \"kind\": \"delegate\"")),
         "its op does not write into given memory"},
    };
    const arenaut_pass_options options = {.target = arenaut_target_find("executorch")};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        arenaut_document document = {0};
        arenaut_error err = {0};
        assert_ok(read(cases[i].json, &document, &err), err);
        assert_int_equal(arenaut_passes_run(document.program, NULL, &options, NULL, NULL, &err),
                         ARENAUT_BAD_INPUT);
        if (!strstr(err.msg, cases[i].told)) fail_msg("case %zu: %s", i, err.msg);
        arenaut_document_free(&document);
    }
}

/* The pass states its result in the program's own words, where it has any. */
TEST(ordinary_allocations_become_allocations_in_place) {
    const char *json = PROGRAM(
        TENSORS, "[\"x\"]", "[\"y\"]",
        OP("alloc", "[]", "[\"a\"]", ", \"kind\": \"alloc\"") ", " CONV("x", "a") ", " OP(
            "alloc", "[]", "[\"b\"]",
            ", \"kind\": \"alloc\"") ", " NEG("a",
                                              "b") ", " OP("alloc", "[]", "[\"y\"]",
                                                           ", \"kind\": \"alloc\"") ", " CONV("b",
                                                                                              "y"));
    const example e = {"with allocations", json, 128, 192};
    const arenaut_pass_options options = {.target = arenaut_target_find("executorch")};
    arenaut_document document = {0};
    arenaut_error err = {0};
    assert_ok(read(json, &document, &err), err);
    for (int again = 0; again < 2; again++) {
        assert_ok(arenaut_passes_run(document.program, "inplace", &options, NULL, NULL, &err), err);
        const arenaut_op *ops = document.program->ops;
        assert_int_equal(ops[0].kind, ARENAUT_OP_ALLOC);
        assert_int_equal(ops[2].kind, ARENAUT_OP_ALLOC_IN_PLACE);
        assert_int_equal(ops[2].n_inputs, 1);
        assert_int_equal(ops[2].inputs[0], ops[1].outputs[0]);
        assert_int_equal(ops[3].n_in_place, 1);
        assert_int_equal(ops[4].kind, ARENAUT_OP_ALLOC);
    }
    arenaut_document_free(&document);
    expect_all_plans(&e, "inplace");
}

/* An allocation in place is a pair of positions; both must name an argument. */
TEST(pairs_must_name_arguments) {
    static const char *const pairs[] = {"[[0, 1]]",    "[[1, 0]]",  "[[0]]",           "[0, 0]",
                                        "[[0, 0, 0]]", "[[0, -1]]", "[[\"y\", \"x\"]]"};
    for (size_t i = 0; i < COUNT_OF(pairs); i++) {
        char json[600];
        arenaut_document document = {0};
        arenaut_error err = {0};
        snprintf(json, sizeof json,
                 "{\"schema\": \"arenaut.program/1\", \"tensors\": [" X ", " Y
                 "], "
                 "\"inputs\": [\"x\"], \"outputs\": [\"y\"], \"ops\": [{\"name\": \"f\", "
                 "\"inputs\": [\"x\"], \"outputs\": [\"y\"], \"in_place\": %s}]}",
                 pairs[i]);
        if (read(json, &document, &err) != ARENAUT_BAD_INPUT) fail_msg("%s is accepted", pairs[i]);
        assert_true(err.msg[0] != '\0');
    }
}

TEST(a_free_has_no_outputs) {
    arenaut_document document = {0};
    arenaut_error err = {0};
    const char *json = PROGRAM(X ", " Y, "[\"x\"]", "[\"y\"]",
                               OP("free", "[\"x\"]", "[\"y\"]", ", \"kind\": \"free\""));
    assert_int_equal(read(json, &document, &err), ARENAUT_BAD_INPUT);
    assert_non_null(strstr(err.msg, "free"));
}
