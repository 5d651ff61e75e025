/* Sizes that vary, in every dialect and for every target: planned for the largest that they may
 * be, or refused by name, but never taken for nothing. */
#include "support/test.h"

#include <arenaut/expr.h>
#include <arenaut/lowering.h>
#include <arenaut/pass.h>
#include <arenaut/planner.h>

#include "ir/expr.h"
#include "ir/store.h"
#include "support/documents.h"

/* x -> h -> y, where x and h have these dimensions. */
#define MODEL(dialect, symbols, x, h)                                                         \
    "{\"schema\": \"arenaut.program/1\"" dialect symbols ", \"tensors\": [{\"name\": \"x\"" x \
    "},"                                                                                      \
    "{\"name\": \"h\"" h                                                                      \
    "}, {\"name\": \"y\", \"dtype\": \"int8\", \"dims\": [64]}],"                             \
    "\"inputs\": [\"x\"], \"outputs\": [\"y\"], \"ops\": [{\"name\": \"Relu\", \"inputs\": "  \
    "[\"x\"],"                                                                                \
    " \"outputs\": [\"h\"]}, {\"name\": \"ReduceSum\", \"inputs\": [\"h\"], \"outputs\": "    \
    "[\"y\"]}]}"
#define DIMS(dims) ", \"dtype\": \"float32\", \"dims\": " dims
#define BOUNDED ", \"symbols\": [{\"name\": \"n\", \"min\": 1, \"max\": 8}]"

/* The same text in each dialect that leaves sizes to `upper-bounds`. */
#define IN_DIALECTS(symbols, x, h)                                             \
    {MODEL("", symbols, x, h), MODEL(", \"dialect\": \"tvm\"", symbols, x, h), \
     MODEL(", \"dialect\": \"aten\"", symbols, x, h),                          \
     MODEL(", \"dialect\": \"mine\"", symbols, x, h)}
enum { N_DIALECTS = 4 };

typedef struct lowered {
    arenaut_document document;
    arenaut_lowering *lowering;
} lowered;

/* With `bound` > 0 the size n is given first. */
static arenaut_status lower(const char *text, int64_t bound, const arenaut_target *target,
                            lowered *out, arenaut_error *err) {
    const arenaut_pass_options options = {.target = target};
    *out = (lowered){.document = read_text("program-json", text)};
    arenaut_program *p = out->document.program;
    arenaut_status st = bound ? arn_program_bind(p, "n", bound, bound, err) : ARENAUT_OK;
    if (st == ARENAUT_OK) st = arenaut_passes_run(p, NULL, &options, NULL, NULL, err);
    if (st == ARENAUT_OK) st = arenaut_lower(p, target, NULL, NULL, &out->lowering, err);
    return st;
}

static void free_lowered(lowered *l) {
    arenaut_lowering_free(l->lowering);
    arenaut_document_free(&l->document);
}

static void assert_size(const char *text, int64_t bound, uint64_t bytes) {
    for (size_t i = 0; i < arenaut_target_count(); i++) {
        lowered l;
        arenaut_error err = {0};
        assert_ok(lower(text, bound, arenaut_target_at(i), &l, &err), err);
        for (uint32_t t = 0; t < 2; t++) {
            assert_int_not_equal(l.lowering->buffer[t], ARENAUT_NONE);
            const uint64_t size = l.lowering->problem->size[l.lowering->buffer[t]];
            assert_in_range(size, bytes, bytes + 63); /* targets round */
        }
        free_lowered(&l);
    }
}

static void assert_refused(const char *text, const char *first, const char *second) {
    for (size_t i = 0; i < arenaut_target_count(); i++) {
        lowered l;
        arenaut_error err = {0};
        assert_int_not_equal(lower(text, 0, arenaut_target_at(i), &l, &err), ARENAUT_OK);
        assert_non_null(strstr(err.msg, first));
        assert_non_null(strstr(err.msg, second));
        free_lowered(&l);
    }
}

TEST(a_size_with_an_end_is_planned_for_the_largest) {
    static const char *const texts[] = IN_DIALECTS(BOUNDED, DIMS("[\"n\", 4]"), DIMS("[\"n\", 4]"));
    for (size_t i = 0; i < N_DIALECTS; i++) assert_size(texts[i], 0, 128);
}

TEST(a_size_that_is_given_binds) {
    static const char *const bounded[] =
        IN_DIALECTS(BOUNDED, DIMS("[\"n\", 4]"), DIMS("[\"n\", 4]"));
    static const char *const open[] = IN_DIALECTS("", DIMS("[\"n\", 4]"), DIMS("[\"2*n\", 2]"));
    for (size_t i = 0; i < N_DIALECTS; i++) assert_size(bounded[i], 2, 32);
    for (size_t i = 0; i < N_DIALECTS; i++) assert_size(open[i], 16, 256);
}

TEST(a_size_without_an_end_is_named) {
    static const char *const texts[] = IN_DIALECTS("", DIMS("[\"n\", 4]"), DIMS("[\"n\", 4]"));
    for (size_t i = 0; i < N_DIALECTS; i++) assert_refused(texts[i], "'x'", "'n'");
}

/* A number that a symbol's end cannot be, beside a size that varies. */
TEST(a_dimension_past_all_sizes_is_refused) {
    static const char *const texts[] =
        IN_DIALECTS(BOUNDED, DIMS("[\"n\", 4]"), DIMS("[\"n\", 9223372036854775807]"));
    for (size_t i = 0; i < N_DIALECTS; i++) assert_refused(texts[i], "2^63 - 1", "passes");
}

TEST(a_dimension_of_which_nothing_is_known_is_named) {
    static const char *const results[] = IN_DIALECTS("", DIMS("[4]"), DIMS("[null, 4]"));
    static const char *const inputs[] = IN_DIALECTS("", DIMS("[4, null]"), DIMS("[4]"));
    for (size_t i = 0; i < N_DIALECTS; i++) assert_refused(results[i], "'h'", "shape");
    for (size_t i = 0; i < N_DIALECTS; i++) assert_refused(inputs[i], "'x'", "dimension 1");
    /* Unless the program knows the bytes by itself. */
    static const char *const stated[] =
        IN_DIALECTS("", DIMS("[4, null], \"bytes\": 80"), DIMS("[null], \"bytes\": 80"));
    for (size_t i = 0; i < N_DIALECTS; i++) assert_size(stated[i], 0, 80);
}

/* A tensor that a program states to be of no known size has none, with dimensions or without. */
TEST(tensors_of_unknown_size_are_not_planned) {
    static const char *const with[] =
        IN_DIALECTS("", DIMS("[null, 4], \"unsized\": true"), DIMS("[4]"));
    static const char *const without[] =
        IN_DIALECTS("", ", \"dtype\": \"float32\", \"unsized\": true", DIMS("[4]"));
    for (size_t i = 0; i < 2 * N_DIALECTS; i++) {
        lowered l;
        arenaut_error err = {0};
        assert_ok(lower(i % 2 ? with[i / 2] : without[i / 2], 0, arenaut_target_find("generic"), &l,
                        &err),
                  err);
        assert_int_equal(l.document.program->tensors[0].bytes, 0);
        assert_int_equal(l.lowering->buffer[0], ARENAUT_NONE);
        free_lowered(&l);
    }
    assert_unreadable("program-json",
                      MODEL("", "", ", \"bytes\": 8, \"unsized\": true", DIMS("[4]")),
                      ARENAUT_BAD_INPUT, "'x'");
}

/* Its runtime allocates before it knows sizes. */
TEST(storage_tokens_are_for_sizes_that_are_known) {
    static const char *const texts[] = {
        MODEL("", BOUNDED, DIMS("[\"n\", 4]"), DIMS("[\"n\", 4]")),
        MODEL("", "", DIMS("[4]"), DIMS("[null, 4], \"unsized\": true")),
    };
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        lowered l;
        arenaut_error err = {0};
        arenaut_plan *plan = NULL;
        const arenaut_plan_options options = {.planner = "tvm-tokens"};
        assert_ok(lower(texts[i], 0, arenaut_target_find("tvm"), &l, &err), err);
        assert_int_equal(arenaut_plan_make(l.lowering->problem, &options, NULL, &plan, &err),
                         ARENAUT_REFUSED);
        assert_non_null(strstr(err.msg, "symbolic sizes"));
        free_lowered(&l);
    }
}

/* x of n elements, a size that is computed of n, and zeros of that size. The last is tensor 4. */
#define COMPUTED(symbols, op, operand, stated)                                                    \
    "{\"schema\": \"arenaut.program/1\", \"dialect\": \"onnx\", " symbols                         \
    ", \"tensors\": [{\"name\": \"x\", \"dtype\": \"int8\", \"dims\": [\"n\"]}, {\"name\": "      \
    "\"s\", "                                                                                     \
    "\"dtype\": \"int64\", \"unsized\": true}, {\"name\": \"k\", \"class\": \"constant\", "       \
    "\"dtype\": "                                                                                 \
    "\"int64\", \"dims\": [1], \"values\": [" operand                                             \
    "]}, {\"name\": \"r\", \"dtype\": \"int64\", \"unsized\": true}, {\"name\": \"c\", "          \
    "\"dtype\": "                                                                                 \
    "\"float32\", " stated                                                                        \
    "}, {\"name\": \"y\", \"dtype\": \"float32\", \"dims\": [1]}, {\"name\": \"z\", \"dtype\": "  \
    "\"int8\", \"dims\": [\"m\"]}], \"inputs\": [\"x\", \"z\"], \"outputs\": [\"y\"], \"ops\": [" \
    "{\"name\": \"Shape\", \"inputs\": [\"x\"], \"outputs\": [\"s\"]}, "                          \
    "{\"name\": \"" op                                                                            \
    "\", \"inputs\": [\"s\", \"k\"], \"outputs\": [\"r\"]}, "                                     \
    "{\"name\": \"ConstantOfShape\", \"inputs\": [\"r\"], \"outputs\": [\"c\"]}, "                \
    "{\"name\": \"ReduceSum\", \"inputs\": [\"c\"], \"outputs\": [\"y\"]}]}"
#define N_TO(max) \
    "\"symbols\": [{\"name\": \"n\", \"min\": 1, \"max\": " max "}, {\"name\": \"m\", "

static void assert_largest(const char *text, uint64_t bytes, bool all) {
    lowered l;
    arenaut_error err = {0};
    assert_ok(lower(text, 0, arenaut_target_find("onnxruntime"), &l, &err), err);
    assert_int_equal(l.document.program->tensors[4].bytes, bytes);
    assert_int_equal(l.document.program->store->sampled, !all);
    free_lowered(&l);
}

/* n % 8 is 0 and 1 at the ends of 1 to 16, and 7 between them; n - m is 0 at both. */
TEST(a_tensor_may_be_largest_between_the_ends_of_a_range) {
    static const char *const text =
        COMPUTED(N_TO("16") "\"min\": 1, \"max\": 1}]", "Mod", "8", "\"unsized\": true");
    assert_largest(text, 28, true);
    static const char *const stated =
        COMPUTED(N_TO("16") "\"min\": 1, \"max\": 16}]", "Unknown", "8", "\"dims\": [\"n - m\"]");
    assert_largest(stated, 60, true);
}

/* Of a million values some are looked at, the ends among them. */
TEST(ranges_of_too_many_values_are_sampled) {
    static const char *const text =
        COMPUTED(N_TO("1000000") "\"min\": 1, \"max\": 100}]", "Mul", "2", "\"unsized\": true");
    assert_largest(text, 8000000, false);
}

/* Branches that return 8 elements and so many, and zeros for the rest of 128. */
#define BRANCHES(other)                                                                           \
    "{\"schema\": \"arenaut.program/1\", \"dialect\": \"onnx\", \"tensors\": [{\"name\": \"c\", " \
    "\"dtype\": \"bool\", \"dims\": []}, {\"name\": \"a\", \"dtype\": \"int8\", \"unsized\": "    \
    "true}, {\"name\": \"b\", \"dtype\": \"int8\", \"unsized\": true}, {\"name\": \"s\", "        \
    "\"dtype\": \"int64\", \"unsized\": true}, {\"name\": \"z\", \"dtype\": \"float32\", "        \
    "\"unsized\": true}, {\"name\": \"r\", \"dtype\": \"int64\", \"unsized\": true}, "            \
    "{\"name\": \"k\", \"class\": \"constant\", \"dtype\": \"int64\", \"dims\": [1], "            \
    "\"values\": [128]}, {\"name\": \"few\", \"dtype\": \"int8\", \"dims\": [8]}, "               \
    "{\"name\": \"more\", \"dtype\": \"int8\", \"dims\": [" other                                 \
    "]}], \"methods\": [{\"name\": \"main\", \"inputs\": [\"c\"], \"outputs\": [\"z\"], "         \
    "\"ops\": [{\"name\": \"If\", \"kind\": \"if\", \"calls\": [\"then\", \"else\"], "            \
    "\"inputs\": [\"c\"], \"outputs\": [\"a\"]}, {\"name\": \"Relu\", \"inputs\": [\"a\"], "      \
    "\"outputs\": [\"b\"]}, {\"name\": \"Shape\", \"inputs\": [\"b\"], \"outputs\": [\"s\"]}, "   \
    "{\"name\": \"Sub\", \"inputs\": [\"k\", \"s\"], \"outputs\": [\"r\"]}, {\"name\": "          \
    "\"ConstantOfShape\", \"inputs\": [\"r\"], \"outputs\": [\"z\"]}]}, {\"name\": \"then\", "    \
    "\"outputs\": [\"few\"], \"ops\": [{\"name\": \"Mine\", \"inputs\": [], \"outputs\": "        \
    "[\"few\"]}]}, {\"name\": \"else\", \"outputs\": [\"more\"], \"ops\": [{\"name\": "           \
    "\"Mine\", \"inputs\": [], \"outputs\": [\"more\"]}]}]}"

/* Where branches meet in the larger size, 128 less that size is no bound. */
TEST(no_size_is_computed_of_one_that_only_a_run_shows) {
    static const char *const texts[] = {BRANCHES("8"), BRANCHES("100")};
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        lowered l;
        arenaut_error err = {0};
        assert_ok(lower(texts[i], 0, arenaut_target_find("onnxruntime"), &l, &err), err);
        const arenaut_tensor *t = l.document.program->tensors;
        assert_int_equal(t[2].bytes, i ? 100 : 8);
        assert_int_equal(t[4].unsized, i);
        assert_int_equal(t[4].bytes, i ? 0 : 480);
        free_lowered(&l);
    }
}
