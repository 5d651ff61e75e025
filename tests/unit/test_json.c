/* The JSON reader: accepted and refused texts, and the position of the mistake; and texts that are
 * written once more. */
#include <stdlib.h>

#include "core/json.h"
#include "formats/json_patch.h"
#include "support/fuse.h"
#include "support/meter.h"
#include "support/test.h"

static arenaut_status parse_bytes(const char *text, size_t size, arn_json *json, arenaut_error *err,
                                  char **block) {
    *block = malloc(size ? size : 1);
    assert_non_null(*block);
    memcpy(*block, text, size);
    return arn_json_parse(*block, size, NULL, json, err);
}

static void assert_refused(const char *text, const char *message) {
    arn_json json;
    arenaut_error err = {0};
    char *block;
    const arenaut_status st = parse_bytes(text, strlen(text), &json, &err, &block);
    if (st != ARENAUT_BAD_INPUT || !strstr(err.msg, message)) {
        fail_msg("%s: %d \"%s\"; expected \"%s\"", text, st, err.msg, message);
    }
    free(block);
}

/* The text is kept, because nodes refer to it; both are freed by `drop`. */
static arn_json parse(const char *text) {
    arn_json json;
    arenaut_error err = {0};
    char *block;
    assert_ok(parse_bytes(text, strlen(text), &json, &err, &block), err);
    return json;
}

static void drop(arn_json *json) {
    free((void *)(uintptr_t)json->text);
    arn_json_free(json);
}

TEST(values_keep_their_type_and_order) {
    arn_json json = parse("\xEF\xBB\xBF {\"a\": [1, \"two\", null, true, {}], \"b\": -0.5e+1}\n");
    assert_int_equal(arn_json_type_of(&json, 0), ARN_JSON_OBJECT);
    assert_int_equal(arn_json_count(&json, 0), 2);
    const uint32_t a = arn_json_get(&json, 0, "a"), b = arn_json_get(&json, 0, "b");
    assert_int_equal(arn_json_get(&json, 0, "c"), ARN_JSON_NONE);
    assert_int_equal(arn_json_get(&json, b, "c"), ARN_JSON_NONE);
    static const arn_json_type types[] = {ARN_JSON_NUMBER, ARN_JSON_STRING, ARN_JSON_NULL,
                                          ARN_JSON_BOOL, ARN_JSON_OBJECT};
    uint32_t i = 0;
    for (uint32_t v = arn_json_first(&json, a); v != ARN_JSON_NONE;
         v = arn_json_next(&json, a, v)) {
        assert_int_equal(arn_json_type_of(&json, v), types[i++]);
    }
    assert_int_equal(i, COUNT_OF(types));
    assert_int_equal(arn_json_type_of(&json, b), ARN_JSON_NUMBER);
    assert_int_equal(arn_json_first(&json, arn_json_first(&json, a) + 4), ARN_JSON_NONE);
    drop(&json);
}

TEST(strings_decode_to_utf8) {
    arn_json json =
        parse("[\"\\u0041\\n\\\"\\/\\u00e9\\u20ac\\ud83d\\ude00\xC3\xA9\", \"a\\u0062\"]");
    char text[64];
    const uint32_t first = arn_json_first(&json, 0);
    const size_t n = arn_json_decode(&json, json.nodes[first].at, text);
    text[n] = '\0';
    assert_string_equal(text, "A\n\"/\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\xC3\xA9");
    assert_true(n <= arn_json_raw_length(&json, json.nodes[first].at));
    assert_true(arn_json_text_is(&json, first, text));
    assert_false(arn_json_text_is(&json, first, "A"));
    const uint32_t second = arn_json_next(&json, 0, first);
    assert_true(arn_json_text_is(&json, second, "ab"));
    assert_false(arn_json_text_is(&json, second, "a"));
    assert_false(arn_json_text_is(&json, second, "abc"));
    drop(&json);
}

TEST(integers_are_exact) {
    static const struct {
        const char *text;
        bool is_u64, is_i64;
        uint64_t value;
    } cases[] = {
        {"0", true, true, 0},
        {"-0", true, true, 0},
        {"9007199254740993", true, true, UINT64_C(9007199254740993)},
        {"18446744073709551615", true, false, UINT64_MAX},
        {"18446744073709551616", false, false, 0},
        {"9223372036854775807", true, true, INT64_MAX},
        {"9223372036854775808", true, false, (uint64_t)INT64_MAX + 1},
        {"-9223372036854775808", false, true, (uint64_t)INT64_MAX + 1},
        {"-9223372036854775809", false, false, 0},
        {"-1", false, true, UINT64_MAX},
        {"\"42\"", true, true, 42},
        {"\"18446744073709551615\"", true, false, UINT64_MAX},
        {"\"-1\"", false, true, UINT64_MAX},
        {"\"4e1\"", false, false, 0},
        {"\"4.0\"", false, false, 0},
        {"\" 4\"", false, false, 0},
        {"\"\"", false, false, 0},
        {"\"\\u0034\"", false, false, 0},
        {"4.0", true, true, 4},
        {"4.2e1", true, true, 42},
        {"420e-1", true, true, 42},
        {"0.00042E5", true, true, 42},
        {"1.5", false, false, 0},
        {"1e-1", false, false, 0},
        {"1e19", true, false, UINT64_C(10000000000000000000)},
        {"1e20", false, false, 0},
        {"1e400", false, false, 0},
        {"1e99999999999999999999", false, false, 0},
        {"0e99999999999999999999", true, true, 0},
        {"1e-99999999999999999999", false, false, 0},
        {"true", false, false, 0},
        {"null", false, false, 0},
        {"[1]", false, false, 0},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        arn_json json = parse(cases[i].text);
        uint64_t u = 0;
        int64_t s = 0;
        const bool is_u64 = arn_json_to_u64(&json, 0, &u), is_i64 = arn_json_to_i64(&json, 0, &s);
        if (is_u64 != cases[i].is_u64 || is_i64 != cases[i].is_i64) fail_msg("%s", cases[i].text);
        if (is_u64) assert_true(u == cases[i].value);
        if (is_i64) assert_true((uint64_t)s == cases[i].value);
        drop(&json);
    }
}

TEST(mistakes_are_named_with_their_place) {
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "line 1, column 1: the text ends; expected a value"},
        {"  ", "column 3: the text ends"},
        {"{\"a\": 1,}", "column 9: found '}'; expected a member's name"},
        {"[1,]", "column 4: found ']'; expected a value"},
        {"[1 2]", "column 4: found '2'; expected ',' or ']'"},
        {"{\"a\" 1}", "column 6: found '1'; expected ':'"},
        {"{\"a\": 1 \"b\": 2}", "expected ',' or '}'"},
        {"{a: 1}", "expected a member's name in quotes"},
        {"[1]]", "column 4: found ']'; expected the end of the text"},
        {"{} {}", "expected the end of the text"},
        {"{\n \"a\": 1,\n  \"b\": nul\n}", "line 3, column 8: found 'n'"},
        {"[\"\xC3\xA9\", x]", "line 1, column 7: found 'x'"},
        {"[\"a\nb\"]", "column 4: a control character"},
        {"[\"a", "column 2: the string that begins here is never closed"},
        {"[\"a\\", "column 4: an escape is one of"},
        {"[\"a\\x\"]", "column 4: an escape is one of"},
        {"[\"\\u12g4\"]", "four hexadecimal digits"},
        {"[\"\\ud800\"]", "a high surrogate without a low one"},
        {"[\"\\ud800\\u0041\"]", "a high surrogate without a low one"},
        {"[\"\\udc00\"]", "a low surrogate without a high one"},
        {"[\"\xFF\"]", "not UTF-8"},
        {"[\"\xC0\xAF\"]", "not UTF-8"},
        {"[\"\xED\xA0\x80\"]", "not UTF-8"},
        {"[\"\xF4\x90\x80\x80\"]", "not UTF-8"},
        {"[\"\xE2\x82\"]", "not UTF-8"},
        {"[01]", "superfluous 0"},
        {"[-01]", "superfluous 0"},
        {"[-]", "expected a digit"},
        {"[1.]", "expected a digit"},
        {"[.5]", "expected a value"},
        {"[1e]", "expected a digit"},
        {"[+1]", "expected a value"},
        {"[NaN]", "expected a value"},
        {"[0x10]", "expected ',' or ']'"},
        {"[\v1]", "found byte 0x0b"},
        {"{\"a\": 1, \"b\": 2, \"a\": 3}", "column 18: a second member of this name"},
        {"{\"ab\": 1, \"a\\u0062\": 2}", "column 11: a second member of this name"},
        {"[{\"\\u00e9\": 1, \"\xC3\xA9\": 2}]", "a second member of this name"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) assert_refused(cases[i].text, cases[i].message);
}

TEST(a_nul_byte_is_no_end) {
    arn_json json;
    arenaut_error err = {0};
    assert_int_equal(arn_json_parse("[1]\0", 4, NULL, &json, &err), ARENAUT_BAD_INPUT);
    assert_int_equal(arn_json_parse("[\"\0\"]", 5, NULL, &json, &err), ARENAUT_BAD_INPUT);
    assert_int_equal(arn_json_parse(NULL, 0, NULL, &json, &err), ARENAUT_BAD_INPUT);
}

TEST(nesting_has_a_limit) {
    enum { BOMB = 1 << 20 };
    char *text = malloc(BOMB);
    arn_json json;
    arenaut_error err = {0};
    memset(text, '[', BOMB);
    assert_int_equal(arn_json_parse(text, BOMB, NULL, &json, &err), ARENAUT_BAD_INPUT);
    assert_non_null(strstr(err.msg, "column 129: objects and arrays are nested more than 128"));
    memset(text + ARN_JSON_MAX_DEPTH, ']', ARN_JSON_MAX_DEPTH);
    assert_ok(arn_json_parse(text, 2 * ARN_JSON_MAX_DEPTH, NULL, &json, &err), err);
    assert_int_equal(json.n_nodes, ARN_JSON_MAX_DEPTH);
    arn_json_free(&json);
    free(text);
}

/* {"k0": 0, "k1": 0, …}, and then `last` as one more name. */
static char *many_members(uint32_t n, const char *last) {
    char *text = malloc((size_t)n * 16 + 64), *p = text;
    assert_non_null(text);
    *p++ = '{';
    for (uint32_t i = 0; i < n; i++) p += sprintf(p, "\"k%u\": 0, ", i);
    sprintf(p, "\"%s\": 0}", last);
    return text;
}

TEST(a_name_is_found_twice_among_many) {
    for (uint32_t n = 1; n < 200; n += 7) {
        char *text = many_members(n, "k0");
        assert_refused(text, "a second member of this name");
        free(text);
        text = many_members(n, "\\u006b0");
        assert_refused(text, "a second member of this name");
        free(text);
        text = many_members(n, "k");
        arn_json json = parse(text);
        assert_int_equal(arn_json_count(&json, 0), n + 1);
        drop(&json);
        free(text);
    }
}

TEST(every_truncation_is_refused) {
    static const char text[] =
        "{\"a\": [1.5e3, \"x\\u00e9\\ud83d\\ude00\", null, true, false, {\"b\": {}}, []]}";
    for (size_t n = 0; n < sizeof text - 1; n++) {
        arn_json json;
        char *block;
        assert_int_equal(parse_bytes(text, n, &json, NULL, &block), ARENAUT_BAD_INPUT);
        free(block);
    }
    for (size_t i = 0; i < sizeof text - 1; i++) {
        for (unsigned bit = 0; bit < 8; bit++) {
            char flipped[sizeof text], *block;
            memcpy(flipped, text, sizeof text);
            flipped[i] = (char)(flipped[i] ^ (1 << bit));
            arn_json json;
            const arenaut_status st = parse_bytes(flipped, sizeof text - 1, &json, NULL, &block);
            assert_true(st == ARENAUT_OK || st == ARENAUT_BAD_INPUT);
            if (st == ARENAUT_OK) arn_json_free(&json);
            free(block);
        }
    }
}

TEST(memory_is_a_small_multiple_of_the_text) {
    enum { N = 1 << 20 };
    char *text = malloc(2 * N + 1);
    for (uint32_t i = 0; i < N; i++) memcpy(text + 2 * i, i ? ",1" : "[1", 2);
    text[2 * N] = ']';
    meter m = {0, 0};
    const arenaut_allocator allocator = meter_allocator(&m);
    arn_json json;
    arenaut_error err = {0};
    assert_ok(arn_json_parse(text, 2 * N + 1, &allocator, &json, &err), err);
    assert_int_equal(arn_json_count(&json, 0), N);
    if (m.most > (size_t)20 * N * 2) fail_msg("%zu bytes for %d of text", m.most, 2 * N);
    arn_json_free(&json);
    free(text);
}

static arenaut_status parse_with(void *context, const arenaut_allocator *allocator) {
    arn_json json;
    const char *text = context;
    const arenaut_status st = arn_json_parse(text, strlen(text), allocator, &json, NULL);
    if (st == ARENAUT_OK) arn_json_free(&json);
    return st;
}

TEST(running_out_of_memory_is_survived) {
    char *text = many_members(100, "k");
    survives_every_allocation_failure(parse_with, text);
    free(text);
}

/* ---- writing a text once more ---- */

static void assert_writes(arn_json_patch *patch, const char *expected) {
    arenaut_text text = {0};
    arenaut_error err = {0};
    assert_ok(arn_json_patch_write(patch, arenaut_text_sink(&text), &err), err);
    assert_string_equal(text.bytes, expected);
    arenaut_text_free(&text);
    arn_json_patch_free(patch);
}

static uint32_t element(const arn_json *json, uint32_t array, uint32_t index) {
    uint32_t v = arn_json_first(json, array);
    while (index-- > 0) v = arn_json_next(json, array, v);
    return v;
}

TEST(a_text_is_written_with_other_values_in_it) {
    arn_json json = parse(" {\"a\": [1, \"x\",{}], \"b\" : -1.5e3 } ");
    arn_json_patch patch = arn_json_patch_begin(&json, NULL);
    const uint32_t a = arn_json_get(&json, 0, "a");
    assert_writes(&patch, " {\"a\": [1, \"x\",{}], \"b\" : -1.5e3 } ");
    patch = arn_json_patch_begin(&json, NULL);
    arn_json_patch_text(&patch, arn_json_get(&json, 0, "b"), "q\"");
    arn_json_patch_number(&patch, element(&json, a, 1), 7);
    arn_json_patch_move(&patch, element(&json, a, 0), element(&json, a, 2));
    arn_json_patch_move(&patch, element(&json, a, 2), element(&json, a, 0));
    assert_writes(&patch, " {\"a\": [{}, 7,1], \"b\" : \"q\\\"\" } ");
    drop(&json);
}

/* Lists inside of moved values have their own order, and numbers and strings change wherever they
 * come to stand. */
TEST(changes_inside_of_a_moved_value_move_with_it) {
    arn_json json = parse("[{\"n\": \"a\", \"l\": [1, 2]}, {\"n\": \"b\", \"l\": [[3], 4]}]");
    const uint32_t first = element(&json, 0, 0), second = element(&json, 0, 1);
    const uint32_t inner = arn_json_get(&json, second, "l");
    arn_json_patch patch = arn_json_patch_begin(&json, NULL);
    arn_json_patch_move(&patch, element(&json, inner, 0), element(&json, inner, 1));
    arn_json_patch_move(&patch, element(&json, inner, 1), element(&json, inner, 0));
    arn_json_patch_number(&patch, element(&json, element(&json, inner, 0), 0), 33);
    arn_json_patch_move(&patch, first, second);
    arn_json_patch_text_here(&patch, arn_json_get(&json, second, "n"), "c");
    arn_json_patch_move(&patch, second, first);
    arn_json_patch_text(&patch, arn_json_get(&json, first, "n"), "A");
    assert_writes(&patch, "[{\"n\": \"c\", \"l\": [4, [33]]}, {\"n\": \"A\", \"l\": [1, 2]}]");
    drop(&json);
}

TEST(a_value_that_changes_and_moves_is_changed_where_it_stands_then) {
    for (int moved_first = 0; moved_first < 2; moved_first++) {
        arn_json json = parse("{\"l\": [10, 20, 30]}");
        const uint32_t list = arn_json_get(&json, 0, "l");
        arn_json_patch patch = arn_json_patch_begin(&json, NULL);
        for (uint32_t step = 0; step < 2; step++) {
            for (uint32_t i = 0; i < 3; i++) {
                const uint32_t v = element(&json, list, i);
                if ((int)step == moved_first) arn_json_patch_number(&patch, v, 7 + i);
                else arn_json_patch_move(&patch, v, element(&json, list, (i + 1) % 3));
            }
        }
        assert_writes(&patch, "{\"l\": [8, 9, 7]}");
        drop(&json);
    }
}

TEST(values_are_added_behind_those_that_are_there) {
    arn_json json = parse("{\"o\": {\"p\" : {\"k\": \"v\"} }, \"l\": [\"s\" , [\"t\", \"u\"]\n] }");
    const uint32_t object = arn_json_get(&json, 0, "o"), list = arn_json_get(&json, 0, "l");
    const uint32_t pair = element(&json, list, 1), p = arn_json_get(&json, object, "p");
    arn_json_patch patch = arn_json_patch_begin(&json, NULL);
    arn_json_patch_add(&patch, list, NULL, pair);
    arn_json_patch_text_here(&patch, element(&json, pair, 1), "w");
    arn_json_patch_text_here(&patch, element(&json, pair, 0), "v");
    arn_json_patch_add(&patch, list, NULL, element(&json, list, 0));
    arn_json_patch_add(&patch, object, "q", p);
    arn_json_patch_add(&patch, object, "r", p);
    arn_json_patch_text_here(&patch, arn_json_get(&json, p, "k"), "x");
    arn_json_patch_move(&patch, element(&json, list, 0), element(&json, list, 0));
    arn_json_patch_text_here(&patch, element(&json, list, 0), "S");
    assert_writes(&patch,
                  "{\"o\": {\"p\" : {\"k\": \"v\"}, \"q\": {\"k\": \"v\"}, "
                  "\"r\": {\"k\": \"x\"} }, \"l\": [\"S\" , [\"t\", \"u\"], "
                  "[\"v\", \"w\"], \"s\"\n] }");
    drop(&json);
}

static arenaut_status write_patched(void *context, const arenaut_allocator *allocator) {
    const arn_json *json = context;
    arenaut_text text = {0};
    arn_json_patch patch = arn_json_patch_begin(json, allocator);
    for (uint32_t v = arn_json_first(json, 0); v != ARN_JSON_NONE; v = arn_json_next(json, 0, v)) {
        arn_json_patch_move(&patch, v, element(json, 0, 0));
        arn_json_patch_text_here(&patch, element(json, 0, 0), "x");
        arn_json_patch_add(&patch, 0, NULL, v);
    }
    const arenaut_status st = arn_json_patch_write(&patch, arenaut_text_sink(&text), NULL);
    if (st == ARENAUT_OK) assert_string_equal(text.bytes, "[\"x\", \"x\", \"x\", 1, 2, 3]");
    arn_json_patch_free(&patch);
    arenaut_text_free(&text);
    return st;
}

TEST(changing_a_text_survives_running_out_of_memory) {
    arn_json json = parse("[1, 2, 3]");
    survives_every_allocation_failure(write_patched, &json);
    drop(&json);
}
