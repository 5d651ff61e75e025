/* Sizes that vary: building, reading, writing and bounding expressions. */
#include "support/test.h"

#include <stdlib.h>

#include <arenaut/expr.h>

#include "ir/expr.h"
#include "ir/program.h"
#include "support/fuse.h"
#include "support/programs.h"
#include "support/random.h"

static uint32_t parse(arenaut_program *p, const char *text) {
    uint32_t id = ARENAUT_NONE;
    arenaut_error err = {0};
    const arenaut_status st = arn_expr_parse(p, text, strlen(text), &id, &err);
    if (st != ARENAUT_OK) fail_msg("%s: %s", text, err.msg);
    return id;
}

static void expect_range(const arenaut_program *p, uint32_t expr, int64_t min, int64_t max) {
    int64_t low = 0, high = 0;
    arenaut_error err = {0};
    assert_ok(arn_expr_range(p, expr, &low, &high, &err), err);
    assert_int_equal(low, min);
    assert_int_equal(high, max);
}

static void expect_text(const arenaut_program *p, uint32_t expr, const char *text) {
    arenaut_text written = {0};
    arenaut_error err = {0};
    assert_ok(arn_expr_write(p, expr, arenaut_text_sink(&written), &err), err);
    assert_string_equal(written.bytes, text);
    arenaut_text_free(&written);
}

static void bind(arenaut_program *p, const char *name, int64_t min, int64_t max) {
    arenaut_error err = {0};
    assert_ok(arn_program_bind(p, name, min, max, &err), err);
}

/* With every name bound to one value, interval arithmetic is arithmetic. */
TEST(texts_mean_what_they_say) {
    static const struct {
        const char *text;
        int64_t value;
    } cases[] = {
        {"7", 7},
        {"-3", -3},
        {"x", 10},
        {"x + 1", 11},
        {"x - y - 1", 2},
        {"x - (y - 1)", 4},
        {"2*x", 20},
        {"x/2", 5},
        {"x//y", 1},
        {"x % y", 3},
        {"-x % y", 4},
        {"-x // y", -2},
        {"floor(x/y)", 1},
        {"ceil(x/y)", 2},
        {"ceiling(x/y)", 2},
        {"FLOOR(x/4 + 1/2)", 3},
        {"floor(floor(x/2 - 1/2)/2) + 1", 3},
        {"floor(h/2 - 1/2)", 111},
        {"Max(x, y, 3)", 10},
        {"min(x, y/7 + 1/2 + 1/2)", 2},
        {"x**2", 100},
        {"2**3*x", 80},
        {"0.5*x", 5},
        {"floor(0.3*x)", 3},
        {"ceil(2.5)", 3},
        {"4/2", 2},
        {"x*y/y", 10},
        {"3*x/6", 5},
        {"+x", 10},
        {"--x", 10},
        {"mod(x, 4)", 2},
        {"FloorDiv(x, 3)", 3},
        {"CeilDiv(x, 3)", 4},
        {"a.b:c_1 + 0", 6},
        {" x\t+\n1 ", 11},
        {"`odd name` * 2", 8},
        {"min", 9},
        {"x/-2", -5},
        {"floor(x/-4)", -3},
        {"x*1/2", 5},
        {"(x + y)/(x - y + 14)", 1},
        {"7*x + y*7", 119},
    };
    arenaut_program *p = new_program();
    for (size_t i = 0; i < COUNT_OF(cases); i++) parse(p, cases[i].text);
    bind(p, "x", 10, 10);
    bind(p, "y", 7, 7);
    bind(p, "h", 224, 224);
    bind(p, "a.b:c_1", 6, 6);
    bind(p, "odd name", 4, 4);
    bind(p, "min", 9, 9);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const uint32_t id = parse(p, cases[i].text);
        expect_range(p, id, cases[i].value, cases[i].value);
    }
    arn_program_free(p);
}

TEST(bad_texts_name_the_column) {
    static const struct {
        const char *text;
        size_t column;
        const char *part;
    } cases[] = {
        {"", 1, "expected a number"},
        {"x +", 4, "expected a number"},
        {"x y", 3, "operator"},
        {"(x", 3, "expected ')'"},
        {"min(x", 6, "expected ')'"},
        {"sqrt(x)", 1, "unknown function"},
        {"5/2", 4, "not whole"},
        {"x/0", 4, "by zero"},
        {"x % 0", 6, "by zero"},
        {"x**y", 5, "powers"},
        {"x**9", 5, "powers"},
        {"99999999999999999999", 19, "too many"},
        {"9000000000000000000*3", 22, "passes"},
        {"`x", 1, "backquote"},
        {"``", 3, "from 1 to"},
        {"x $", 3, "operator"},
        {"floordiv(x)", 11, "','"},
        {".", 2, "expected a number"},
        {"5 // 0", 7, "by zero"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        arenaut_program *p = new_program();
        arenaut_error err = {0};
        uint32_t id = 42;
        const arenaut_status st =
            arn_expr_parse(p, cases[i].text, strlen(cases[i].text), &id, &err);
        if (st == ARENAUT_OK) fail_msg("'%s' is accepted", cases[i].text);
        assert_int_equal(id, 42);
        if (!strstr(err.msg, cases[i].part)) fail_msg("'%s': %s", cases[i].text, err.msg);
        if (err.at != cases[i].column) fail_msg("'%s': column %zu", cases[i].text, err.at);
        arn_program_free(p);
    }
}

TEST(deep_nesting_is_refused) {
    static const char openers[] = "(-";
    for (const char *opener = openers; *opener; opener++) {
        arenaut_program *p = new_program();
        arenaut_error err = {0};
        char text[4001];
        uint32_t id;
        memset(text, *opener, sizeof text - 1);
        text[sizeof text - 1] = '\0';
        assert_int_equal(arn_expr_parse(p, text, strlen(text), &id, &err), ARENAUT_BAD_INPUT);
        assert_non_null(strstr(err.msg, "nested"));
        arn_program_free(p);
    }
}

/* A sum that doubles at each step: an expression of a few bytes may be huge written out. */
TEST(expressions_that_grow_too_large_are_refused) {
    arenaut_program *p = new_program();
    uint32_t id = parse(p, "x");
    arenaut_error err = {0};
    arenaut_status st = ARENAUT_OK;
    for (unsigned i = 0; i < 64 && st == ARENAUT_OK; i++) {
        const arenaut_expr twice = {.kind = ARENAUT_EXPR_ADD, .a = id, .b = id};
        st = arn_program_add_expr(p, &twice, &id, &err);
    }
    assert_int_equal(st, ARENAUT_TOO_LARGE);
    arn_program_free(p);
}

TEST(constant_parts_are_folded_and_equals_found) {
    arenaut_program *p = new_program();
    expect_text(p, parse(p, "2*3 + 4"), "10");
    expect_text(p, parse(p, "x*1 + 0"), "x");
    expect_text(p, parse(p, "x*0"), "0");
    assert_int_equal(parse(p, "x + 1"), parse(p, "x + 1"));
    arn_program_free(p);
}

TEST(ranges_enclose_what_can_occur) {
    arenaut_program *p = new_program();
    arenaut_error err = {0};
    assert_ok(arn_program_add_symbol(p, "s", 2, 64, NULL, &err), err);
    assert_ok(arn_program_add_symbol(p, "t", 0, 3, NULL, &err), err);
    expect_range(p, parse(p, "4*s"), 8, 256);
    expect_range(p, parse(p, "s - t"), -1, 64);
    expect_range(p, parse(p, "(s - 1)//2 + 1"), 1, 32);
    expect_range(p, parse(p, "ceildiv(s, 3)"), 1, 22);
    expect_range(p, parse(p, "s % 8"), 0, 7);
    expect_range(p, parse(p, "t % 8"), 0, 3);
    expect_range(p, parse(p, "t - s"), -64, 1);
    expect_range(p, parse(p, "min(s, 10)"), 2, 10);
    expect_range(p, parse(p, "max(s, 10)"), 10, 64);
    expect_range(p, parse(p, "s // t"), 0, 64); /* where it runs, t is at least 1 */
    expect_range(p, parse(p, "u"), 0, ARENAUT_UNBOUNDED);
    expect_range(p, parse(p, "2*u + 1"), 1, ARENAUT_UNBOUNDED);
    expect_range(p, parse(p, "min(u, s)"), 0, 64);
    expect_range(p, parse(p, "u // 4"), 0, ARENAUT_UNBOUNDED);
    expect_range(p, parse(p, "s // (u + 1)"), 0, 64);
    expect_range(p, parse(p, "u % 8"), 0, 7);
    expect_range(p, parse(p, "s - u"), INT64_MIN, 64);
    arn_program_free(p);
}

/* Every value of every symbol, by counting. */
TEST(ranges_agree_with_counting) {
    static const char *const operators[] = {"+", "-", "*", "//", "%"};
    rng r = {6};
    for (unsigned round = 0; round < 300; round++) {
        arenaut_program *p = new_program();
        char text[64];
        arenaut_error err = {0};
        const int64_t low = (int64_t)rng_below(&r, 9) - 4, high = low + rng_below(&r, 5);
        const int64_t from = (int64_t)rng_below(&r, 9) - 4, to = from + rng_below(&r, 5);
        const unsigned first = rng_below(&r, 5), second = rng_below(&r, 5);
        assert_ok(arn_program_add_symbol(p, "x", low, high, NULL, &err), err);
        assert_ok(arn_program_add_symbol(p, "y", from, to, NULL, &err), err);
        snprintf(text, sizeof text, "(x %s 3) %s y", operators[first], operators[second]);
        int64_t min = 0, max = 0;
        const uint32_t whole = parse(p, text);
        const arenaut_status st = arn_expr_range(p, whole, &min, &max, &err);
        for (int64_t x = low; x <= high; x++) {
            for (int64_t y = from; y <= to; y++) {
                if (second >= 3 && y == 0) continue;
                arenaut_program *q = new_program();
                assert_ok(arn_program_add_symbol(q, "x", x, x, NULL, &err), err);
                assert_ok(arn_program_add_symbol(q, "y", y, y, NULL, &err), err);
                const uint32_t id = parse(q, text);
                int64_t value = 0, same = 0;
                assert_ok(arn_expr_range(q, id, &value, &same, &err), err);
                assert_int_equal(value, same);
                assert_int_equal(st, ARENAUT_OK);
                if (value < min || value > max) fail_msg("%s: %ld", text, (long)value);
                arn_program_free(q);
            }
        }
        arn_program_free(p);
    }
}

/* Rows that are as far apart as the largest are long have no gap at that size alone. */
TEST(samples_tell_gaps_at_sizes_of_a_narrow_range) {
    arenaut_program *p = new_program();
    arenaut_error err = {0};
    assert_ok(arn_program_add_symbol(p, "n", 2, 16, NULL, &err), err);
    const uint32_t n = parse(p, "n"), exprs[] = {n, n}, rows[] = {ARENAUT_NONE, ARENAUT_NONE};
    const uint32_t order[] = {1, 0}, packed[] = {n, ARENAUT_NONE};
    const int64_t dims[] = {-1, -1}, strides[] = {16, 1};
    arenaut_tensor x = {
        .rank = 2, .dims = dims, .dim_exprs = exprs, .strides = strides, .stride_exprs = rows};
    assert_int_equal(arn_expr_sample(p, n, 0), 16);
    assert_int_equal(arn_expr_sample(p, n, 1), 4);
    assert_true(arn_tensor_is_packed(p, &x, order, 2, 0));
    assert_false(arn_tensor_is_packed(p, &x, order, 2, 1));
    x.stride_exprs = packed;
    assert_true(arn_tensor_is_packed(p, &x, order, 2, 1));
    arn_program_free(p);
}

TEST(dividing_by_what_is_always_zero_is_an_error) {
    arenaut_program *p = new_program();
    const uint32_t id = parse(p, "5 // x + 1");
    bind(p, "x", 0, 0);
    int64_t min, max;
    arenaut_error err = {0};
    assert_int_equal(arn_expr_range(p, id, &min, &max, &err), ARENAUT_BAD_INPUT);
    assert_non_null(strstr(err.msg, "zero"));
    arn_program_free(p);
}

TEST(symbols_are_narrowed_and_bound) {
    arenaut_program *p = new_program();
    arenaut_error err = {0};
    uint32_t first, second;
    assert_ok(arn_program_add_symbol(p, "batch", 0, 64, &first, &err), err);
    assert_ok(arn_program_add_symbol(p, "batch", 2, ARENAUT_UNBOUNDED, &second, &err), err);
    assert_int_equal(first, second);
    expect_range(p, parse(p, "batch"), 2, 64);
    assert_int_equal(arn_program_add_symbol(p, "batch", 65, 70, NULL, &err), ARENAUT_BAD_INPUT);
    assert_non_null(strstr(err.msg, "'batch'"));
    assert_int_equal(arn_program_bind(p, "batsh", 4, 4, &err), ARENAUT_BAD_ARGUMENT);
    assert_non_null(strstr(err.msg, "did you mean 'batch'"));
    assert_int_equal(arn_program_bind(p, "batch", 65, 65, &err), ARENAUT_BAD_ARGUMENT);
    assert_non_null(strstr(err.msg, "from 2 to 64"));
    bind(p, "batch", 4, 8);
    expect_range(p, parse(p, "batch*2"), 8, 16);
    assert_int_equal(arn_program_add_symbol(p, "", 0, 1, NULL, &err), ARENAUT_BAD_INPUT);
    assert_int_equal(arn_program_add_symbol(p, "a`b", 0, 1, NULL, &err), ARENAUT_BAD_INPUT);
    assert_int_equal(arn_program_add_symbol(p, "c", 2, 1, NULL, &err), ARENAUT_BAD_INPUT);
    arn_program_free(p);
}

TEST(parts_must_exist) {
    arenaut_program *p = new_program();
    const uint32_t x = parse(p, "x");
    const arenaut_expr wrong[] = {
        {.kind = ARENAUT_EXPR_ADD, .a = x, .b = 99},
        {.kind = ARENAUT_EXPR_ADD, .a = 99, .b = x},
        {.kind = ARENAUT_EXPR_SYMBOL, .a = 1},
        {.kind = ARENAUT_EXPR_COUNT},
    };
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        arenaut_error err = {0};
        assert_int_equal(arn_program_add_expr(p, &wrong[i], NULL, &err), ARENAUT_BAD_INPUT);
        assert_true(err.msg[0] != '\0');
    }
    const arenaut_expr huge = {.kind = ARENAUT_EXPR_VALUE, .value = INT64_MAX};
    assert_int_equal(arn_program_add_expr(p, &huge, NULL, NULL), ARENAUT_TOO_LARGE);
    assert_int_equal(arn_expr_write(p, 99, arenaut_text_sink(NULL), NULL), ARENAUT_BAD_ARGUMENT);
    int64_t min, max;
    assert_int_equal(arn_expr_range(p, 99, &min, &max, NULL), ARENAUT_BAD_ARGUMENT);
    arn_program_free(p);
}

/* Random trees, written and read back: the text is the same again, in another program. */
TEST(written_expressions_are_read_back_equal) {
    rng r = {11};
    static const char *const names[] = {"s0", "u1", "batch:size", "a name", "min", "x.y_z"};
    for (unsigned round = 0; round < 200; round++) {
        arenaut_program *p = new_program(), *q = new_program();
        uint32_t ids[24];
        for (unsigned i = 0; i < COUNT_OF(ids); i++) {
            arenaut_error err = {0};
            arenaut_expr e = {.kind =
                                  (arenaut_expr_kind)(i < 6 ? rng_below(&r, 2)
                                                            : rng_below(&r, ARENAUT_EXPR_COUNT))};
            e.value = (int64_t)rng_below(&r, 9) - 4;
            e.a = i ? ids[rng_below(&r, i)] : 0;
            e.b = i ? ids[rng_below(&r, i)] : 0;
            if (e.kind == ARENAUT_EXPR_SYMBOL || i == 0) {
                e.kind = ARENAUT_EXPR_SYMBOL;
                const char *name = names[rng_below(&r, COUNT_OF(names))];
                assert_ok(arn_program_add_symbol(p, name, 0, 9, &e.a, &err), err);
            }
            /* Some are divisions by zero: the leaf before stands in. */
            if (arn_program_add_expr(p, &e, &ids[i], &err) != ARENAUT_OK) ids[i] = ids[0];
        }
        arenaut_text text = {0}, again = {0};
        arenaut_error err = {0};
        assert_ok(arn_expr_write(p, ids[23], arenaut_text_sink(&text), &err), err);
        const uint32_t id = parse(q, text.bytes);
        assert_ok(arn_expr_write(q, id, arenaut_text_sink(&again), &err), err);
        assert_string_equal(text.bytes, again.bytes);
        arenaut_text_free(&text);
        arenaut_text_free(&again);
        arn_program_free(p);
        arn_program_free(q);
    }
}

static arenaut_status build(void *context, const arenaut_allocator *allocator) {
    (void)context;
    arenaut_program *p = NULL;
    arenaut_error err = {0};
    uint32_t id;
    static const char text[] = "floor(floor(height/2 - 1/2)/2) + max(a1, a2)*a3 + a4*a5*a6*a7*a8";
    arenaut_status st = arn_program_new(allocator, &p, &err);
    if (st == ARENAUT_OK) st = arn_expr_parse(p, text, sizeof text - 1, &id, &err);
    arn_program_free(p);
    return st;
}

TEST(it_survives_running_out_of_memory) { survives_every_allocation_failure(build, NULL); }
