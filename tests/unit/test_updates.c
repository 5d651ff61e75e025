/* Ops that update their operands: tensors that they may not write over are named, under any
 * plan. */
#include "support/test.h"

#include <arenaut/lowering.h>
#include <arenaut/pipeline.h>
#include <string.h>

#include "ir/program.h"
#include "support/programs.h"

enum { X, W, Y };

/* x and w are read by f, which makes y, after whatever the test adds. */
static arenaut_program *begin(arenaut_class of_w) {
    arenaut_program *p = new_program();
    begin_method(p, "main");
    add_tensor(p, "x", 16, ARENAUT_INPUT);
    add_tensor(p, "w", 16, of_w);
    add_tensor(p, "y", 16, ARENAUT_OUTPUT);
    return p;
}

static void end(arenaut_program *p) {
    ADD_OP(p, .name = "f", IN(X, W), OUT(Y));
    FINISH(p, LIST(X), LIST(Y));
}

/* "" if it can be lowered. Frees the program. */
static void assert_said(arenaut_program *p, bool preserve_inputs, const char *message) {
    const arenaut_lowering_options options = {.preserve_inputs = preserve_inputs};
    end(p);
    for (size_t i = 0; i < arenaut_target_count(); i++) {
        arenaut_lowering *l = NULL;
        arenaut_error err = {0};
        const arenaut_status st = arenaut_lower(p, arenaut_target_at(i), &options, NULL, &l, &err);
        assert_int_equal(st == ARENAUT_OK, *message == '\0');
        assert_string_equal(err.msg, message);
        arenaut_lowering_free(l);
    }
    arn_program_free(p);
}

#define ON_CONSTANT                                                                          \
    "op 'relu_' writes over 'w', which is a constant; it may write over values, inputs and " \
    "state"

TEST(constants_are_written_by_nobody) {
    arenaut_program *p = begin(ARENAUT_CONSTANT);
    ADD_OP(p, .name = "relu_", .kind = ARENAUT_OP_IN_PLACE, IN(W));
    assert_said(p, false, ON_CONSTANT);
    /* By a result that is returned as itself, by a pair, and through a view. */
    p = begin(ARENAUT_CONSTANT);
    ADD_OP(p, .name = "relu_", .kind = ARENAUT_OP_IN_PLACE, IN(X, W), OUT(W));
    assert_said(p, false, ON_CONSTANT);
    p = begin(ARENAUT_CONSTANT);
    const uint32_t view = add_view(p, "v", W, 0, 16);
    ADD_OP(p, .name = "relu_", .kind = ARENAUT_OP_IN_PLACE, IN(X, W), OUT(view), IN_PLACE(0, 1));
    assert_said(p, false, ON_CONSTANT);
    /* To be read by one that updates something else is fine. */
    p = begin(ARENAUT_CONSTANT);
    ADD_OP(p, .name = "add_", .kind = ARENAUT_OP_IN_PLACE, IN(W, X), OUT(X));
    assert_said(p, false, "");
    p = begin(ARENAUT_CONSTANT);
    ADD_OP(p, .name = "add_", .kind = ARENAUT_OP_IN_PLACE, IN(X, W));
    assert_said(p, false, "");
    p = begin(ARENAUT_STATE);
    ADD_OP(p, .name = "relu_", .kind = ARENAUT_OP_IN_PLACE, IN(W));
    assert_said(p, false, "");
}

TEST(a_constant_of_one_method_may_be_written_by_another) {
    arenaut_program *p = begin(ARENAUT_CONSTANT);
    p->tensors[W].qualified_name = "w";
    const uint32_t other = add_tensor(p, "w2", 16, ARENAUT_STATE);
    p->tensors[other].qualified_name = "w";
    ADD_OP(p, .name = "relu_", .kind = ARENAUT_OP_IN_PLACE, IN(W));
    assert_said(p, false, "");
}

TEST(preserved_inputs_are_written_by_nobody) {
    static const char message[] =
        "op 'relu_' writes over 'x', an input that is to be preserved; "
        "it would have to write to a copy";
    arenaut_program *p = begin(ARENAUT_CONSTANT);
    ADD_OP(p, .name = "relu_", .kind = ARENAUT_OP_IN_PLACE, IN(X));
    assert_said(p, true, message);
    p = begin(ARENAUT_CONSTANT);
    ADD_OP(p, .name = "relu_", .kind = ARENAUT_OP_IN_PLACE, IN(X));
    assert_said(p, false, "");
}

/* ---- results of updates ---- */

#define FLOATS(name) "{\"name\":\"" name "\",\"dims\":[4],\"dtype\":\"float32\"}"

/* Plans the ops, of tensors of 16 bytes, which checks and replays; the bytes that the plan takes.
 */
static uint64_t planned(const char *dialect, const char *ops) {
    char text[2048];
    arenaut_pipeline *round = NULL;
    arenaut_error err = {0};
    snprintf(text, sizeof text,
             "{\"schema\":\"arenaut.program/1\",%s\"tensors\":[" FLOATS("x") "," FLOATS(
                 "h") "," FLOATS("h2") "," FLOATS("r") "," FLOATS("y") "],"
             "\"methods\":[{\"name\":\"m\",\"inputs\":[\"x\"],\"outputs\":[\"y\"],\"ops\":[%s]}]}",
             dialect, ops);
    const arenaut_status st = arenaut_pipeline_run(text, strlen(text), NULL, NULL, &round, &err);
    assert_string_equal(err.msg, "");
    assert_int_equal(st, ARENAUT_OK);
    const uint64_t bytes = round->figures.planned;
    assert_int_equal(round->plan->quality, ARENAUT_OPTIMAL);
    arenaut_pipeline_free(round);
    return bytes;
}

#define OP(name, kind, in, out, more)                                                             \
    "{\"name\":\"" name "\",\"kind\":\"" kind "\",\"inputs\":[" in "],\"outputs\":[" out "]" more \
    "}"

TEST(an_updated_tensor_is_returned_by_another_name) {
    static const char ops[] = OP("f", "out", "\"x\"", "\"h\"", "") "," OP(
        "relu_", "in_place", "\"h\"", "\"h2\"",
        "%s") "," OP("g", "out", "\"h2\"", "\"r\"", "") "," OP("g", "out", "\"r\"", "\"y\"", "");
    static const char *const pairs[] = {"", ",\"in_place\":[[0,0]]"};
    for (size_t i = 0; i < 2; i++) {
        char text[1024];
        snprintf(text, sizeof text, ops, pairs[i]);
        assert_int_equal(planned("", text), 32);
    }
}

/* The op updates h, which is h2 then, and makes r: three at once. */
TEST(an_update_may_make_a_tensor_as_well) {
    static const char ops[] = OP("f", "%s", "\"x\"", "\"h\"", "") "," OP(
        "my::two", "in_place", "\"x\",\"h\"", "\"r\",\"h2\"",
        ",\"in_place\":[[1,1]]") "," OP("g", "%s", "\"h2\",\"r\"", "\"y\"", "");
    char text[1024];
    snprintf(text, sizeof text, ops, "out", "out");
    assert_int_equal(planned("", text), 48);
    snprintf(text, sizeof text, ops, "functional", "functional");
    assert_int_equal(planned("\"dialect\":\"aten\",", text), 48);
}

/* Its own result lies where something has ended before: h is not kept for it. */
TEST(results_of_an_update_are_not_live_before_it) {
    static const char ops[] =
        OP("f", "out", "\"x\"", "\"h\"", "") "," OP("g", "out", "\"h\"", "\"h2\"", "") "," OP(
            "two_", "in_place", "\"h2\"", "\"h2\",\"r\"",
            ",\"in_place\":[[0,0]]") "," OP("g", "out", "\"r\"", "\"y\"", "");
    assert_int_equal(planned("", ops), 32);
}
