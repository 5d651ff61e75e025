/* Ops that write over their operands, case by case, from program JSON through the pass and
 * liveness to plans that stand up to replay. */
#include "support/test.h"

#include <stdlib.h>

#include <arenaut/check.h>
#include <arenaut/format.h>
#include <arenaut/pass.h>
#include <arenaut/planner.h>

#include "support/lowerings.h"

#define T(name, dims, more) \
    "{\"name\": \"" name "\", \"dtype\": \"float32\", \"dims\": " dims more "}"
#define OP(name, in, out, more) \
    "{\"name\": \"" name "\", \"inputs\": " in ", \"outputs\": " out more "}"
#define PROGRAM(tensors, inputs, outputs, ops)                                   \
    "{\"schema\": \"arenaut.program/1\", \"tensors\": [" tensors "], \"inputs\": " inputs \
    ", \"outputs\": " outputs ", \"ops\": [" ops "]}"

typedef struct example {
    const char *name, *json;
    uint64_t arena; /* planned; every tensor has 64 bytes where nothing else is said */
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
     128},
    {"a chain is one buffer",
     PROGRAM(X ", " A ", " B ", " C ", " Y, "[\"x\"]", "[\"y\"]",
             NEG("x", "a") ", " NEG("a", "b") ", " NEG("b", "c") ", " NEG("c", "y")),
     64},
    {"several users: only the last may",
     PROGRAM(TENSORS, "[\"x\"]", "[\"y\"]",
             NEG("x", "a") ", " NEG("a", "b") ", " OP("aten::add.out", "[\"a\", \"b\"]", "[\"y\"]", "")),
     128},
    {"a free is no user",
     PROGRAM(TENSORS, "[\"x\"]", "[\"y\"]",
             CONV("x", "a") ", " NEG("a", "b") ", " OP("free", "[\"a\"]", "[]", ", \"kind\": \"free\"")
             ", " CONV("b", "y")),
     128},
    {"an output larger than its operand",
     PROGRAM(X ", " A ", " T("b", "[32]", "") ", " Y, "[\"x\"]", "[\"y\"]",
             CONV("x", "a") ", " NEG("a", "b") ", " CONV("b", "y")),
     192},
    {"an operand that is broadcast",
     PROGRAM(X ", " T("a", "[1, 16]", "") ", " B ", " Y, "[\"x\"]", "[\"y\"]",
             CONV("x", "a") ", " NEG("a", "b") ", " CONV("b", "y")),
     128},
    {"a result of the program stays",
     PROGRAM(X ", " A ", " B, "[\"x\"]", "[\"a\", \"b\"]", CONV("x", "a") ", " NEG("a", "b")), 128},
    {"state stays",
     PROGRAM(X ", " T("s", "[16]", ", \"class\": \"state\"") ", " Y, "[\"x\"]", "[\"y\"]",
             OP("aten::add.out", "[\"s\", \"x\"]", "[\"y\"]", "")),
     128}, /* over `x`, not over `s` */
    {"a view of the operand that is read later",
     PROGRAM(TENSORS ", " T("v", "[16]", ", \"view_of\": \"a\""), "[\"x\"]", "[\"y\"]",
             CONV("x", "a") ", " NEG("a", "b") ", "
             OP("aten::add.out", "[\"v\", \"b\"]", "[\"y\"]", "")),
     128},
    {"the operand twice",
     PROGRAM(X ", " Y, "[\"x\"]", "[\"y\"]", OP("aten::mul.out", "[\"x\", \"x\"]", "[\"y\"]", "")), 64},
};

static arenaut_status read(const char *json, arenaut_document *document, arenaut_error *err) {
    const arenaut_format *format = arenaut_format_find("program-json");
    assert_non_null(format);
    return arenaut_read((const uint8_t *)json, strlen(json), format, NULL, NULL, document, err);
}

static void expect_plan(const example *e, const arenaut_program *p, const arenaut_lowering *l,
                        const char *planner, bool least) {
    const arenaut_plan_options options = {.planner = planner};
    arenaut_plan *plan = NULL;
    arenaut_finding finding;
    arenaut_error err = {0};
    uint32_t pool[16];
    uint64_t offset[16];
    const arenaut_status st = arenaut_plan_make(l->problem, &options, NULL, &plan, &err);
    if (st != ARENAUT_OK) fail_msg("%s: %s: %s", e->name, planner, err.msg);
    assert_ok(arenaut_check_plan(l->problem, plan, NULL, &finding, &err), err);
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        const uint32_t b = l->buffer[t];
        pool[t] = b == ARENAUT_NONE ? ARENAUT_NONE : plan->pool[b];
        offset[t] = b == ARENAUT_NONE ? 0 : plan->offset[b] + l->offset[t];
    }
    const arenaut_placement placement = {p->n_tensors, plan->n_pools, pool, offset, plan->arena};
    assert_ok(arenaut_check_replay(p, &placement, NULL, NULL, &finding, &err), err);
    if (least && plan->total != e->arena) {
        fail_msg("%s: %lu bytes, expected %lu", e->name, (unsigned long)plan->total,
                 (unsigned long)e->arena);
    }
    arenaut_plan_free(plan);
}

static void each_case_gets_what_it_may_have_and_no_more(void **state) {
    (void)state;
    const arenaut_pass_options options = {.target = arenaut_target_find("executorch")};
    for (size_t i = 0; i < COUNT_OF(examples); i++) {
        arenaut_document document = {0};
        arenaut_error err = {0};
        assert_ok(read(examples[i].json, &document, &err), err);
        assert_ok(arenaut_passes_run(document.program, "inplace", &options, NULL, NULL, &err), err);
        arenaut_lowering *l = lower_program(document.program, "executorch");
        expect_plan(&examples[i], document.program, l, "auto", true);
        expect_plan(&examples[i], document.program, l, "naive", false);
        expect_plan(&examples[i], document.program, l, "greedy-by-size", false);
        arenaut_lowering_free(l);
        arenaut_document_free(&document);
    }
}

/* An allocation in place is a pair of positions; both must name an argument. */
static void pairs_must_name_arguments(void **state) {
    (void)state;
    static const char *const pairs[] = {"[[0, 1]]", "[[1, 0]]", "[[0]]", "[0, 0]", "[[0, 0, 0]]",
                                        "[[0, -1]]", "[[\"y\", \"x\"]]"};
    for (size_t i = 0; i < COUNT_OF(pairs); i++) {
        char json[600];
        arenaut_document document = {0};
        arenaut_error err = {0};
        snprintf(json, sizeof json,
                 "{\"schema\": \"arenaut.program/1\", \"tensors\": [" X ", " Y "], "
                 "\"inputs\": [\"x\"], \"outputs\": [\"y\"], \"ops\": [{\"name\": \"f\", "
                 "\"inputs\": [\"x\"], \"outputs\": [\"y\"], \"in_place\": %s}]}",
                 pairs[i]);
        if (read(json, &document, &err) != ARENAUT_BAD_INPUT) fail_msg("%s is accepted", pairs[i]);
        assert_true(err.msg[0] != '\0');
    }
}

static void a_free_has_no_outputs(void **state) {
    (void)state;
    arenaut_document document = {0};
    arenaut_error err = {0};
    const char *json = PROGRAM(X ", " Y, "[\"x\"]", "[\"y\"]",
                               OP("free", "[\"x\"]", "[\"y\"]", ", \"kind\": \"free\""));
    assert_int_equal(read(json, &document, &err), ARENAUT_BAD_INPUT);
    assert_non_null(strstr(err.msg, "free"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_case_gets_what_it_may_have_and_no_more),
        cmocka_unit_test(pairs_must_name_arguments),
        cmocka_unit_test(a_free_has_no_outputs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
