/* The passes of the export pipeline, one by one, from program JSON. */
#include "support/test.h"

#include <stdlib.h>

#include <arenaut/arenaut.h>

#include "ir/expr.h"
#include "passes/views/views.h"
#include "support/documents.h"
#include "support/fuse.h"
#include "support/lowerings.h"
#include "support/programs.h"

#define T(name, dims, more) \
    "{\"name\": \"" name "\", \"dtype\": \"float32\", \"dims\": " dims more "}"
#define OP(name, in, out, more)                                          \
    "{\"name\": \"" name "\", \"kind\": \"functional\", \"inputs\": " in \
    ", \"outputs\": " out more "}"
#define PROGRAM(tensors, inputs, outputs, ops, more)                                    \
    "{\"schema\": \"arenaut.program/1\", \"dialect\": \"aten\", \"tensors\": [" tensors \
    "], \"methods\": [{\"name\": \"m\", \"inputs\": " inputs ", \"outputs\": " outputs  \
    ", \"ops\": [" ops "]" more "}]}"

static arenaut_pass_options torch_options(void) {
    const arenaut_pass_options options = {.target = arenaut_target_find("torch")};
    return options;
}

/* Everything off but these. */
static arenaut_status run_only(arenaut_program *p, const char *passes,
                               const arenaut_pass_options *options, arenaut_error *err) {
    char selection[2000] = "";
    for (size_t i = 0; i < arenaut_pass_count(); i++) {
        strcat(selection, "-");
        strcat(selection, arenaut_pass_at(i)->name);
        strcat(selection, ",");
    }
    strcat(selection, passes);
    return arenaut_passes_run(p, selection, options, NULL, NULL, err);
}

static arenaut_document with_passes(const char *json, const char *passes) {
    arenaut_document document = read_text("program-json", json);
    const arenaut_pass_options options = torch_options();
    arenaut_error err = {0};
    assert_ok(run_only(document.program, passes, &options, &err), err);
    return document;
}

static void refuse(const char *json, const char *passes, const char *part) {
    arenaut_document document = read_text("program-json", json);
    const arenaut_pass_options options = torch_options();
    arenaut_error err = {0};
    assert_true(run_only(document.program, passes, &options, &err) != ARENAUT_OK);
    if (!strstr(err.msg, part)) fail_msg("%s", err.msg);
    arenaut_document_free(&document);
}

/* "alloc neg neg copy_!": the ops by kind and name; '!' updates, '=' is a view, '~' brings its
 * memory, '?' is functional. */
static void expect_ops(const arenaut_program *p, const char *expected) {
    char text[500] = "";
    for (uint32_t i = 0; i < p->n_ops; i++) {
        const arenaut_op *op = &p->ops[i];
        const char *name = strstr(op->name, "::") ? strstr(op->name, "::") + 2 : op->name;
        const char *mark = op->kind == ARENAUT_OP_IN_PLACE     ? "!"
                           : op->kind == ARENAUT_OP_VIEW       ? "="
                           : op->kind == ARENAUT_OP_MAKES      ? "~"
                           : op->kind == ARENAUT_OP_FUNCTIONAL ? "?"
                                                               : "";
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s%s", i ? " " : "", name,
                 mark);
    }
    assert_string_equal(text, expected);
}

#define X T("x", "[4, 4]", "")
#define Y T("y", "[4, 4]", "")
#define A T("a", "[4, 4]", "")
#define B T("b", "[4, 4]", "")
#define S T("s", "[4, 4]", ", \"class\": \"state\", \"qualified_name\": \"s\"")
#define NEG(in, out) OP("aten::neg", "[\"" in "\"]", "[\"" out "\"]", "")

/* ---- gradients ---- */

TEST(losses_and_gradients_become_results) {
    arenaut_document d = with_passes(
        PROGRAM(X ", " Y ", " A ", " S, "[\"x\"]", "[\"y\"]", NEG("x", "y") ", " NEG("x", "a"),
                ", \"bindings\": [{\"kind\": \"loss\", \"value\": \"y\"}, {\"kind\": \"gradient\", "
                "\"value\": \"a\", \"target\": \"s\"}, {\"kind\": \"mutates\", \"value\": \"a\", "
                "\"target\": \"s\"}]"),
        "gradients");
    const arenaut_method *m = &d.program->methods[0];
    assert_int_equal(m->n_outputs, 2); /* y was one already */
    assert_int_equal(m->outputs[1], 2);
    assert_int_equal(m->n_bindings, 1);
    assert_int_equal(m->bindings[0].kind, ARENAUT_BINDING_MUTATES);
    arenaut_document_free(&d);
}

/* ---- write-back and reinplace ---- */

#define MUTATES(value) \
    ", \"bindings\": [{\"kind\": \"mutates\", \"value\": \"" value "\", \"target\": \"s\"}]"

TEST(mutated_state_is_written_back_at_the_end) {
    arenaut_document d = with_passes(PROGRAM(X ", " A ", " S ", " Y, "[\"x\"]", "[\"y\"]",
                                             NEG("s", "a") ", " NEG("x", "y"), MUTATES("a")),
                                     "write-back,out-variants");
    expect_ops(d.program, "alloc neg alloc neg copy_!"); /* no out variant for the copy */
    const arenaut_op *copy = &d.program->ops[4];
    assert_int_equal(copy->inputs[0], 2);
    assert_int_equal(copy->inputs[1], 1);
    assert_int_equal(d.program->methods[0].n_bindings, 1);
    assert_int_equal(d.program->methods[0].bindings[0].kind, ARENAUT_BINDING_MUTATED);
    arenaut_document_free(&d);
}

TEST(an_update_of_state_may_be_done_in_place) {
    arenaut_document d = with_passes(PROGRAM(A ", " S, "[]", "[]", NEG("s", "a"), MUTATES("a")),
                                     "reinplace,write-back,views");
    expect_ops(d.program, "neg!");
    assert_int_equal(d.program->tensors[0].view_of, 1);
    arenaut_document_free(&d);
}

TEST(the_old_value_is_kept_for_who_needs_it) {
    arenaut_document d = with_passes(
        PROGRAM(A ", " S ", " Y, "[]", "[\"y\"]", NEG("s", "a") ", " NEG("s", "y"), MUTATES("a")),
        "reinplace,write-back");
    expect_ops(d.program, "neg? neg? copy_!");
    arenaut_document_free(&d);
    d = with_passes(
        PROGRAM(A ", " T("v", "[16]", "") ", " S ", " Y, "[]", "[\"y\"]",
                OP("aten::view", "[\"s\"]", "[\"v\"]", "") ", " NEG("s", "a") ", " NEG("v", "y"),
                MUTATES("a")),
        "reinplace,write-back");
    expect_ops(d.program, "view? neg? neg? copy_!"); /* v is s by another name */
    arenaut_document_free(&d);
}

#define PUT(base, value, out) \
    OP("aten::index_put", "[\"" base "\", \"i\", \"" value "\"]", "[\"" out "\"]", "")
#define I T("i", "[2]", "")
#define ROW T("x", "[2, 4]", "")

TEST(chains_of_updates_are_done_in_place) {
    arenaut_document d = with_passes(
        PROGRAM(S ", " A ", " B ", " I ", " ROW ", " Y, "[\"i\", \"x\"]", "[\"y\"]",
                PUT("s", "x", "a") ", " PUT("a", "x", "b") ", " NEG("b", "y"), MUTATES("b")),
        "reinplace,write-back,views");
    expect_ops(d.program, "index_put! index_put! neg?");
    assert_int_equal(d.program->tensors[1].view_of, 0);
    assert_int_equal(d.program->tensors[2].view_of, 0);
    arenaut_document_free(&d);
    /* Who wants the value in the middle, or the old one, or updates it with itself. */
    static const char *const broken[] = {
        PUT("s", "x", "a") ", " PUT("a", "x", "b") ", " NEG("a", "y"),
        PUT("s", "x", "a") ", " PUT("a", "x", "b") ", " NEG("s", "y"),
        PUT("s", "s", "a") ", " PUT("a", "x", "b") ", " NEG("b", "y"),
        PUT("s", "x", "a") ", " PUT("a", "a", "b") ", " NEG("b", "y"),
    };
    for (size_t i = 0; i < COUNT_OF(broken); i++) {
        char text[3000];
        snprintf(text, sizeof text,
                 PROGRAM(S ", " A ", " B ", " I ", " ROW ", " Y, "[\"i\", \"x\"]", "[\"y\"]", "%s",
                         MUTATES("b")),
                 broken[i]);
        d = with_passes(text, "reinplace,write-back");
        expect_ops(d.program, "index_put? index_put? neg? copy_!");
        arenaut_document_free(&d);
    }
}

#define VIEW(from, to) OP("aten::view", "[\"" from "\"]", "[\"" to "\"]", "")

/* s -> index_put -> a -> select_scatter -> b, and in between a part of a is read by another name:
 * no reason to keep a, as long as it has no such reader behind the scatter, or in it. */
TEST(parts_of_what_is_updated_may_be_read_before) {
    static const char *const fine[] = {
        PUT("s", "x", "a") ", " VIEW("a", "v") ", " NEG("v", "y") ", " PUT("a", "x", "b"),
        PUT("s", "x", "a") ", " VIEW("a", "w") ", " VIEW("w", "v") ", " NEG("v", "y") ", " PUT(
            "a", "x", "b"),
        VIEW("s", "v") ", " NEG("v", "y") ", " PUT("s", "x", "a") ", " PUT("a", "x", "b"),
    };
    static const char *const late[] = {
        PUT("s", "x", "a") ", " VIEW("a", "v") ", " PUT("a", "x", "b") ", " NEG("v", "y"),
        PUT("s", "x", "a") ", " VIEW("a", "w") ", " VIEW("w", "v") ", " PUT("a", "x", "b") ", " NEG(
            "v", "y"),
        PUT("s", "x", "a") ", " VIEW("a", "v") ", " PUT("a", "v", "b") ", " NEG("x", "y"),
        PUT("s", "x", "a") ", " VIEW("a", "y") ", " PUT("a", "x", "b"),
    };
    for (size_t i = 0; i < COUNT_OF(fine) + COUNT_OF(late); i++) {
        const bool is_fine = i < COUNT_OF(fine);
        char text[3000];
        snprintf(text, sizeof text,
                 PROGRAM(S ", " A ", " B ", " I ", " ROW ", " Y
                           ", " T("v", "[16]", "") ", " T("w", "[2, 8]", ""),
                         "[\"i\", \"x\"]", "[\"y\"]", "%s", MUTATES("b")),
                 is_fine ? fine[i] : late[i - COUNT_OF(fine)]);
        arenaut_document d = with_passes(text, "reinplace,write-back,views");
        uint32_t n_updates = 0, n_copies = 0;
        for (uint32_t k = 0; k < d.program->n_ops; k++) {
            const arenaut_op *op = &d.program->ops[k];
            n_updates +=
                op->kind == ARENAUT_OP_IN_PLACE && strcmp(op->name, "aten::index_put") == 0;
            n_copies += strcmp(op->name, "aten::copy_") == 0;
        }
        assert_int_equal(n_updates, is_fine ? 2 : 0);
        assert_int_equal(n_copies, is_fine ? 0 : 1);
        arenaut_document_free(&d);
    }
}

TEST(a_copy_into_state_is_an_update) {
    arenaut_document d =
        with_passes(PROGRAM(X ", " A ", " S, "[\"x\"]", "[]",
                            OP("aten::copy", "[\"s\", \"x\"]", "[\"a\"]", ""), MUTATES("a")),
                    "reinplace,write-back,views");
    expect_ops(d.program, "copy!");
    arenaut_document_free(&d);
}

TEST(an_old_state_that_is_returned_is_not_updated) {
    arenaut_document d = with_passes(
        PROGRAM(A ", " S, "[]", "[\"s\"]", NEG("s", "a"), MUTATES("a")), "reinplace,write-back");
    expect_ops(d.program, "neg? clone? copy_!");
    arenaut_document_free(&d);
}

/* Sizes that vary are equal where they are one expression. */
TEST(sizes_that_vary_alike_are_updated_in_place) {
    static const struct {
        const char *dims;
        bool alike;
    } cases[] = {{"[\"n*2\", 4]", true},
                 {"[\"n * 2\", 4]", true},
                 {"[\"n+n\", 4]", false},
                 {"[\"m*2\", 4]", false},
                 {"[8, 4]", false}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[1000];
        snprintf(text, sizeof text,
                 "{\"schema\": \"arenaut.program/1\", \"dialect\": \"aten\", \"symbols\": "
                 "[{\"name\": \"n\", \"min\": 1, \"max\": 4}, {\"name\": \"m\", \"min\": 1, "
                 "\"max\": 4}], \"tensors\": [{\"name\": \"s\", \"dtype\": \"float32\", "
                 "\"dims\": [\"n*2\", 4], \"class\": \"state\", \"qualified_name\": \"s\"}, "
                 "{\"name\": \"a\", \"dtype\": \"float32\", \"dims\": %s}], \"methods\": "
                 "[{\"name\": \"m\", \"inputs\": [], \"outputs\": [], \"ops\": [" NEG(
                     "s", "a") "]" MUTATES("a") "}]}",
                 cases[i].dims);
        arenaut_document d = with_passes(text, "reinplace,write-back");
        expect_ops(d.program, cases[i].alike ? "neg!" : "neg? copy_!");
        arenaut_document_free(&d);
    }
}

/* Of two values that are equally large at most, only those that vary alike are so at any size. */
TEST(results_go_over_operands_that_vary_alike) {
    static const struct {
        const char *operand, *result;
        uint32_t pairs;
    } cases[] = {
        {"\"dims\": [\"n*2\", 4]", "\"dims\": [\"n*2\", 4]", 1},
        {"\"dims\": [\"n*2\", 4]", "\"dims\": [\"m*2\", 4]", 0},
        {"\"dims\": [\"n*2\", 4]", "\"dims\": [8, 4]", 0},
        {"\"dims\": [\"n*2\", \"m\"]", "\"dims\": [\"m*2\", \"n\"]", 0},
        {"\"dims\": [8, 4], \"dynamic\": true", "\"dims\": [8, 4], \"dynamic\": true", 0},
        {"\"dims\": [8, 4]", "\"dims\": [8, 4]", 1},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[1500];
        snprintf(text, sizeof text,
                 "{\"schema\": \"arenaut.program/1\", \"dialect\": \"aten\", \"symbols\": "
                 "[{\"name\": \"n\", \"min\": 1, \"max\": 4}, {\"name\": \"m\", \"min\": 1, "
                 "\"max\": 4}], \"tensors\": [{\"name\": \"x\", \"dtype\": \"float32\", %s}, "
                 "{\"name\": \"a\", \"dtype\": \"float32\", %s}, {\"name\": \"y\", \"dtype\": "
                 "\"float32\", %s}], \"methods\": [{\"name\": \"m\", \"inputs\": [\"x\"], "
                 "\"outputs\": [\"y\"], \"ops\": [" NEG("x", "a") ", " NEG("a", "y") "]}]}",
                 cases[i].operand, cases[i].operand, cases[i].result);
        arenaut_document d = with_passes(text, "upper-bounds,out-variants,inplace");
        assert_int_equal(d.program->ops[3].n_in_place, cases[i].pairs);
        arenaut_document_free(&d);
    }
}

/* ---- user ---- */

static arenaut_status rename_ops(arenaut_program *p, const arenaut_pass_options *options,
                                 arenaut_error *err) {
    (void)options;
    (void)err;
    for (uint32_t i = 0; i < p->n_ops; i++) p->ops[i].name = "mine";
    return ARENAUT_OK;
}

static arenaut_status break_program(arenaut_program *p, const arenaut_pass_options *options,
                                    arenaut_error *err) {
    (void)options;
    (void)err;
    p->ops[0].method = 7;
    return ARENAUT_OK;
}

static arenaut_status forget_shape(arenaut_program *p, const arenaut_pass_options *options,
                                   arenaut_error *err) {
    static const int64_t unknown[] = {-1, 4};
    (void)options;
    (void)err;
    p->tensors[1].dims = unknown;
    p->tensors[1].bytes = 0;
    return ARENAUT_OK;
}

TEST(the_callers_passes_run_and_are_checked) {
    static const arenaut_pass mine = {.name = "mine", .run = rename_ops},
                              bad = {.name = "bad", .run = break_program},
                              vague = {.name = "vague", .run = forget_shape};
    static const struct {
        const arenaut_pass *pass;
        const char *part;
    } cases[] = {{&mine, NULL}, {&bad, "belongs to another"}, {&vague, "has no shape"}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        arenaut_document d =
            read_text("program-json", PROGRAM(X ", " Y, "[\"x\"]", "[\"y\"]", NEG("x", "y"), ""));
        arenaut_pass_options options = torch_options();
        arenaut_error err = {0};
        options.user = &cases[i].pass;
        options.n_user = 1;
        const arenaut_status st = run_only(d.program, "user,specs", &options, &err);
        if (cases[i].part) {
            assert_int_equal(st, ARENAUT_BAD_INPUT);
            if (!strstr(err.msg, cases[i].part)) fail_msg("%s", err.msg);
        } else {
            assert_ok(st, err);
            expect_ops(d.program, "mine?");
        }
        arenaut_document_free(&d);
    }
}

/* ---- specs, substitute, asserts ---- */

TEST(values_without_type_or_shape_are_named) {
    refuse(PROGRAM(X ", " T("y", "[null]", ""), "[\"x\"]", "[\"y\"]", NEG("x", "y"), ""), "specs",
           "'y', which op 0 'aten::neg' computes, has no shape");
    refuse(PROGRAM(X ", {\"name\": \"y\", \"dtype\": \"other\"}", "[\"x\"]", "[\"y\"]",
                   NEG("x", "y"), ""),
           "specs", "has no type with a size");
    arenaut_document d = with_passes(PROGRAM(X ", " T("y", "[null]", ", \"unsized\": true"),
                                             "[\"x\"]", "[\"y\"]", NEG("x", "y"), ""),
                                     "specs");
    arenaut_document_free(&d);
}

TEST(operators_are_substituted_and_asserts_dropped) {
    arenaut_document d =
        with_passes(PROGRAM(X ", " Y, "[\"x\"]", "[\"y\"]",
                            OP("aten::sym_size.int", "[\"x\"]", "[]", "") ", " OP(
                                "aten::_assert_tensor_metadata", "[\"x\"]", "[]",
                                "") ", " OP("_operator.neg", "[\"x\"]", "[\"y\"]",
                                            "") ", " OP("aten::item", "[\"x\"]", "[]", ""),
                            ""),
                    "substitute,asserts");
    expect_ops(d.program, "neg.Scalar? item?"); /* item reads the tensor */
    arenaut_document_free(&d);
}

/* ---- views ---- */

TEST(chains_of_views_name_the_base) {
    arenaut_document d =
        with_passes(PROGRAM(X ", " A ", " T("v", "[16]", "") ", " T("w", "[2, 8]", "") ", " T(
                                "u", "[8]", ", \"view_offset\": 32") ", " Y,
                            "[\"x\"]", "[\"y\"]",
                            NEG("x", "a") ", " OP("aten::view", "[\"a\"]", "[\"v\"]", "") ", " OP(
                                "aten::reshape", "[\"v\"]", "[\"w\"]",
                                "") ", " OP("aten::select.int", "[\"w\"]", "[\"u\"]",
                                            "") ", " OP("aten::expand", "[\"u\"]", "[\"y\"]", ""),
                            ""),
                    "views");
    const arenaut_program *p = d.program;
    for (uint32_t t = 2; t < 5; t++) assert_int_equal(p->tensors[t].view_of, 1);
    assert_int_equal(p->tensors[4].view_offset, 32);
    expect_ops(
        p, "neg? expand="); /* which names the tensor with the memory, so that no reader needs */
    assert_int_equal(p->ops[1].inputs[0], 1); /* those between */
    arenaut_document_free(&d);
}

TEST(layouts_tell_copies_from_views) {
#define STRIDED(name, dims, strides) T(name, dims, ", \"strides\": " strides)
#define ONE(op, from, to)                                     \
    PROGRAM(X ", " from ", " to ", " Y, "[\"x\"]", "[\"y\"]", \
            NEG("x", "f") ", " OP(op, "[\"f\"]", "[\"t\"]", "") ", " NEG("t", "y"), "")
    static const struct {
        const char *json;
        bool view;
    } cases[] = {
        {ONE("aten::reshape", T("f", "[4, 4]", ""), T("t", "[2, 8]", "")), true},
        {ONE("aten::reshape", STRIDED("f", "[4, 4]", "[1, 4]"), T("t", "[16]", "")), false},
        {ONE("aten::reshape", STRIDED("f", "[4, 4]", "[1, 4]"),
             STRIDED("t", "[4, 2, 2]", "[1, 8, 4]")),
         true},
        {ONE("aten::contiguous", STRIDED("f", "[4, 4]", "[1, 4]"), T("t", "[4, 4]", "")), false},
        {ONE("aten::contiguous", T("f", "[4, 4]", ""), T("t", "[4, 4]", "")), true},
        {ONE("aten::to.dtype", T("f", "[4, 4]", ""),
             "{\"name\": \"t\", \"dtype\": \"int32\", \"dims\": [4, 4]}"),
         false},
        {ONE("aten::to.dtype", T("f", "[4, 4]", ""), T("t", "[4, 4]", "")), true},
        {ONE("aten::clone", T("f", "[4, 4]", ""), T("t", "[4, 4]", "")), false},
        {ONE("aten::view_copy", T("f", "[4, 4]", ""), T("t", "[16]", "")), true},
        {ONE("aten::transpose.int", T("f", "[4, 4]", ""), STRIDED("t", "[4, 4]", "[1, 4]")), true},
        {ONE("aten::slice.Tensor", T("f", "[4, 4]", ""), STRIDED("t", "[2, 4]", "[8, 1]")), true},
        {ONE("aten::slice.Tensor", T("f", "[4, 4]", ""), STRIDED("t", "[8, 4]", "[8, 1]")), false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        arenaut_document d = with_passes(cases[i].json, "specs,views");
        const bool view = d.program->tensors[2].view_of == 1;
        if (view != cases[i].view) fail_msg("case %zu", i);
        arenaut_document_free(&d);
    }
}

/* A view layout and its base, by brute force: element k of one lies where element k of the other
 * does. */
TEST(reshaped_views_agree_with_counting) {
    static const int64_t shapes[][3] = {{2, 3, 4}, {6, 1, 4}, {4, 3, 2},  {1, 24, 1}, {2, 12, 1},
                                        {8, 3, 1}, {3, 8, 1}, {24, 1, 1}, {2, 2, 6}};
    static const int64_t strides[][3] = {{12, 4, 1}, {1, 2, 6}, {4, 8, 1},  {24, 4, 1}, {3, 1, 6},
                                         {1, 1, 1},  {8, 1, 8}, {12, 1, 1}, {2, 4, 48}, {6, 6, 1}};
    for (size_t a = 0; a < COUNT_OF(shapes); a++) {
        for (size_t sa = 0; sa < COUNT_OF(strides); sa++) {
            for (size_t b = 0; b < COUNT_OF(shapes); b++) {
                for (size_t sb = 0; sb < COUNT_OF(strides); sb++) {
                    arenaut_tensor from = arenaut_tensor_default(), to = arenaut_tensor_default();
                    from.rank = to.rank = 3;
                    from.dims = shapes[a];
                    from.strides = strides[sa];
                    to.dims = shapes[b];
                    to.strides = strides[sb];
                    bool same = true;
                    for (int64_t k = 0; k < 24; k++) {
                        int64_t pf = 0, pt = 0, kf = k, kt = k;
                        for (int i = 3; i-- > 0;) {
                            pf += kf % shapes[a][i] * strides[sa][i];
                            pt += kt % shapes[b][i] * strides[sb][i];
                            kf /= shapes[a][i];
                            kt /= shapes[b][i];
                        }
                        same = same && pf == pt;
                    }
                    /* Never a view that is none; a view that is overlooked is a copy. */
                    if (arn_pass_is_reshaped_view(&from, &to) && !same) {
                        fail_msg("shapes %zu %zu, strides %zu %zu", a, b, sa, sb);
                    }
                }
            }
        }
    }
}

TEST(unused_views_are_dropped) {
    arenaut_document d =
        with_passes(PROGRAM(X ", " A ", " B ", " Y ", " S, "[\"x\"]", "[\"y\"]",
                            NEG("x", "a") ", " OP("aten::view", "[\"a\"]", "[\"b\"]", "") ", " NEG(
                                "x", "y") ", "
                                          "{\"name\": \"aten::copy_\", \"kind\": \"in_place\", "
                                          "\"inputs\": [\"s\", \"x\"]}",
                            ""),
                    "views");
    expect_ops(d.program, "neg? copy_!");
    arenaut_document_free(&d);
}

TEST(results_of_updates_are_what_they_update) {
    arenaut_document d = with_passes(
        PROGRAM(X ", " A ", " T("v", "[4]", ", \"view_offset\": 16") ", " T("w", "[4]", "") ", " Y,
                "[\"x\"]", "[\"y\"]",
                NEG("x", "a") ", " OP("aten::select.int", "[\"a\"]", "[\"v\"]",
                                      "") ", "
                                          "{\"name\": \"aten::relu_\", \"kind\": \"in_place\", "
                                          "\"inputs\": [\"v\"], \"outputs\": [\"w\"]}, " OP(
                                              "aten::add.Tensor", "[\"a\", \"w\"]", "[\"y\"]", ""),
                ""),
        "views");
    assert_int_equal(d.program->tensors[3].view_of, 1);
    assert_int_equal(d.program->tensors[3].view_offset, 16);
    arenaut_document_free(&d);
}

/* ---- upper bounds ---- */

#define SYMBOLS(max) ", \"symbols\": [{\"name\": \"n\", \"min\": 2" max "}]"
#define SIZED(dims, more, max)                                                               \
    "{\"schema\": \"arenaut.program/1\"" SYMBOLS(max) ", \"tensors\": [" T(                  \
        "x", "[\"n\"]",                                                                      \
        "") ", " T("y", dims,                                                                \
                   more) "], \"inputs\": [\"x\"], \"outputs\": [\"y\"], \"ops\": [" NEG("x", \
                                                                                        "y") "]}"

TEST(sizes_become_the_largest_that_they_can_be) {
    arenaut_document d =
        with_passes(SIZED("[3, \"n//2 + 1\"]", "", ", \"max\": 9"), "upper-bounds");
    const arenaut_tensor *y = &d.program->tensors[1];
    assert_int_equal(y->dims[0], 3);
    assert_int_equal(y->dims[1], 5);
    assert_int_equal(y->bytes, 60);
    assert_true(y->dynamic);
    arenaut_document_free(&d);
}

static void assert_strided(const char *text, const int64_t *strides, uint64_t bytes) {
    arenaut_document d = with_passes(text, "upper-bounds");
    const arenaut_tensor *y = &d.program->tensors[1];
    assert_true(y->dynamic);
    for (uint32_t i = 0; i < y->rank; i++) assert_int_equal(y->strides[i], strides[i]);
    assert_int_equal(y->bytes, bytes);
    arenaut_document_free(&d);
}

#define APART(dims, strides) SIZED(dims, ", \"strides\": " strides, ", \"max\": 9")

/* What lies between rows counts, whether it varies or not; where nothing does, bounds of the
 * dimensions are tighter than those of the strides. */
TEST(strides_become_those_of_the_largest_sizes) {
    assert_strided(APART("[3, \"n\"]", "[1, 3]"), (int64_t[]){1, 3}, 108);
    assert_strided(APART("[3, \"n\"]", "[1, 100]"), (int64_t[]){1, 100}, 3212);
    assert_strided(APART("[3, \"n\"]", "[\"2*n\", 1]"), (int64_t[]){18, 1}, 180);
    assert_strided(APART("[3, 2]", "[\"n\", 1]"), (int64_t[]){9, 1}, 80);
    assert_strided(APART("[3, \"n\"]", "[0, 2]"), (int64_t[]){0, 2}, 68);
    assert_strided(APART("[\"n\", \"n - 2\", 3]", "[1, \"n\", \"n*n - 2*n\"]"),
                   (int64_t[]){1, 9, 63}, 756);
}

TEST(a_size_with_one_value_varies_no_more) {
    arenaut_document d = read_text("program-json", SIZED("[\"n*4\"]", "", ""));
    const arenaut_pass_options options = torch_options();
    arenaut_error err = {0};
    assert_ok(arn_program_bind(d.program, "n", 5, 5, &err), err);
    assert_ok(run_only(d.program, "upper-bounds", &options, &err), err);
    assert_int_equal(d.program->tensors[1].bytes, 80);
    assert_false(d.program->tensors[1].dynamic);
    assert_null(d.program->tensors[1].dim_exprs);
    arenaut_document_free(&d);
}

TEST(a_size_without_end_is_named_or_left_out) {
    refuse(SIZED("[\"n\"]", "", ""), "upper-bounds",
           "depends on size 'n', which has no upper bound");
    arenaut_document d = with_passes(SIZED("[\"found + 1\"]", "", ", \"max\": 9"), "upper-bounds");
    assert_true(d.program->tensors[1].unsized); /* that depends on data */
    assert_int_equal(d.program->tensors[1].bytes, 0);
    arenaut_document_free(&d);
}

/* ---- out variants and slices ---- */

TEST(ops_get_memory_or_bring_it) {
    arenaut_document d = with_passes(
        PROGRAM(X ", " T("a", "[null]", ", \"unsized\": true") ", " Y, "[\"x\"]", "[\"y\"]",
                OP("aten::nonzero", "[\"x\"]", "[\"a\"]", "") ", " NEG("x", "y") ", " OP(
                    "aten::item", "[\"y\"]", "[]", ""),
                ""),
        "out-variants");
    expect_ops(d.program, "nonzero~ alloc neg item");
    assert_int_equal(d.program->ops[1].kind, ARENAUT_OP_ALLOC);
    assert_int_equal(d.program->ops[1].outputs[0], 2);
    arenaut_document_free(&d);
}

TEST(joined_values_are_written_where_they_belong) {
#define JOIN(adims, ydims, inputs)                                                                 \
    PROGRAM(X ", " T("a", adims, "") ", " T("b", "[4, 4]", "") ", " T("c", ydims, "") ", " Y,      \
            "[\"x\"]", "[\"y\"]",                                                                  \
            NEG("x", "a") ", " NEG("x", "b") ", " OP("aten::cat", inputs, "[\"c\"]", "") ", " NEG( \
                "c", "y"),                                                                         \
            "")
    arenaut_document d =
        with_passes(JOIN("[2, 4]", "[6, 4]", "[\"a\", \"b\"]"), "specs,out-variants,slices");
    assert_int_equal(d.program->tensors[1].view_of, 3);
    assert_int_equal(d.program->tensors[2].view_of, 3);
    assert_int_equal(d.program->tensors[2].view_offset, 32);
    arenaut_lowering *l = lower_program(d.program, "torch");
    assert_int_equal(l->buffer[1], l->buffer[3]);
    arenaut_lowering_free(l);
    arenaut_document_free(&d);
    static const char *const apart[] = {
        JOIN("[4, 2]", "[4, 6]", "[\"a\", \"b\"]"), /* rows are torn apart */
        JOIN("[2, 4]", "[6, 4]", "[\"a\", \"x\"]"), /* an input lies where it lies */
        JOIN("[4, 4]", "[8, 4]", "[\"b\", \"b\"]"), /* in two places at once */
    };
    for (size_t i = 0; i < COUNT_OF(apart); i++) {
        d = with_passes(apart[i], "specs,out-variants,slices");
        assert_int_equal(d.program->tensors[2].view_of, ARENAUT_NONE);
        arenaut_document_free(&d);
    }
}

/* ---- constants ---- */

TEST(buffers_that_are_never_written_become_constants) {
    arenaut_document d = with_passes(
        PROGRAM(X ", " S
                  ", " T("k", "[4, 4]", ", \"class\": \"state\", \"qualified_name\": \"k\"") ", " Y,
                "[\"x\"]", "[\"y\"]",
                OP("aten::add.Tensor", "[\"s\", \"k\"]", "[\"y\"]",
                   "") ", "
                       "{\"name\": \"aten::copy_\", \"kind\": \"in_place\", \"inputs\": [\"s\", "
                       "\"x\"]}",
                ""),
        "constants");
    assert_int_equal(d.program->tensors[1].cls, ARENAUT_STATE);
    assert_int_equal(d.program->tensors[2].cls, ARENAUT_CONSTANT);
    arenaut_document_free(&d);
}

/* ---- all together ---- */

TEST(the_dialects_pipeline_runs_by_default) {
    arenaut_document d =
        read_text("program-json",
                  PROGRAM(X ", " A ", " T("v", "[16]", "") ", " Y, "[\"x\"]", "[\"y\"]",
                          NEG("x", "a") ", " OP("aten::view", "[\"a\"]", "[\"v\"]", "") ", " OP(
                              "aten::sym_size.int", "[\"v\"]", "[]", "") ", " NEG("v", "y"),
                          ""));
    const arenaut_pass_options options = torch_options();
    arenaut_error err = {0};
    assert_ok(arenaut_passes_run(d.program, NULL, &options, NULL, NULL, &err), err);
    expect_ops(d.program, "alloc neg view= alloc neg");
    arenaut_document_free(&d);
}

static arenaut_status attempt(void *context, const arenaut_allocator *allocator) {
    const char *json = context;
    arenaut_document d = {0};
    arenaut_error err = {0};
    const arenaut_pass_options options = torch_options();
    arenaut_status st = try_read("program-json", json, strlen(json), allocator, &d, &err);
    if (st != ARENAUT_OK) return st;
    st = arenaut_passes_run(d.program, "reinplace,slices,inplace", &options, NULL, NULL, &err);
    arenaut_document_free(&d);
    return st;
}

TEST(running_out_of_memory_is_survived) {
    static const char json[] = PROGRAM(X ", " A ", " S ", " Y, "[\"x\"]", "[\"y\"]",
                                       NEG("s", "a") ", " NEG("x", "y"), MUTATES("a"));
    survives_every_allocation_failure(attempt, (void *)json);
    survives_every_allocation_failure(attempt, (void *)JOIN("[2, 4]", "[6, 4]", "[\"a\", \"b\"]"));
}
