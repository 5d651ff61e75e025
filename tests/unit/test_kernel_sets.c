/* The table of kernel sets, their rules about ops, and kernel-set files: that nothing is lost, and
 * the messages about mistakes. */
#include "support/test.h"

#include <stdlib.h>

#include <arenaut/arenaut.h>

#include "kernels/kernel_set.h"
#include "support/documents.h"
#include "support/fuse.h"
#include "support/kernels_round.h"
#include "support/sweep.h"

#define SET(rest) "{\"schema\": \"arenaut.kernels/1\", \"name\": \"mine\"" rest "}"
#define RULES(list) SET(", \"rules\": [" list "]")
#define RULE(rest) RULES("{\"op\": \"CONV_2D\"" rest "}")
#define WHEN(members) \
    RULE(", \"when\": {" members "}, \"order\": \"raster\", \"evidence\": \"read\"")

static arenaut_kernel_set *read_set(const char *text) {
    arenaut_kernel_set *set = NULL;
    arenaut_error err = {0};
    if (arenaut_kernel_set_read(text, strlen(text), NULL, &set, &err) != ARENAUT_OK) {
        fail_msg("%s", err.msg);
    }
    return set;
}

static arenaut_text write_set(const arenaut_kernel_set *set) {
    arenaut_text text = {0};
    arenaut_error err = {0};
    assert_int_equal(arenaut_kernel_set_write(set, arenaut_text_sink(&text), &err), ARENAUT_OK);
    return text;
}

/* A written set reads back as one that is written alike. */
static void assert_survives_writing(const arenaut_kernel_set *set) {
    arenaut_text once = write_set(set);
    arenaut_kernel_set *again = read_set(once.bytes);
    arenaut_text twice = write_set(again);
    assert_string_equal(once.bytes, twice.bytes);
    assert_true(arn_kernel_set_fingerprint(set) == arn_kernel_set_fingerprint(again));
    arenaut_kernel_set_free(again);
    arenaut_text_free(&once);
    arenaut_text_free(&twice);
}

/* ---- the table ---- */

TEST(sets_are_found_by_name) {
    for (size_t i = 0; i < arenaut_kernel_set_count(); i++) {
        const arenaut_kernel_set *set = arenaut_kernel_set_at(i);
        assert_ptr_equal(arenaut_kernel_set_find(set->name), set);
        assert_non_null(set->summary);
    }
    assert_null(arenaut_kernel_set_at(arenaut_kernel_set_count()));
    assert_null(arenaut_kernel_set_find("no such set"));
}

/* Reading refuses rules that never count and rights stated twice, so the table has none. */
TEST(every_set_of_the_table_is_one_that_a_file_could_state) {
    for (size_t i = 0; i < arenaut_kernel_set_count(); i++) {
        assert_survives_writing(arenaut_kernel_set_at(i));
    }
}

TEST(orders_have_names) {
    assert_string_equal(arenaut_kernel_order_name(ARENAUT_KERNEL_BLOCK_REREAD), "block-reread");
    assert_null(arenaut_kernel_order_name(ARENAUT_KERNEL_ORDER_COUNT));
}

/* ---- files ---- */

/* Every member, written as the writer would. */
static char *everything(size_t *size) {
    return load_file(TEST_DATA "/kernels/everything.kernels.json", size);
}

static arenaut_kernel_set *read_everything(void) {
    size_t size;
    char *text = everything(&size);
    arenaut_kernel_set *set = read_set(text);
    free(text);
    return set;
}

TEST(every_member_is_understood) {
    arenaut_kernel_set *set = read_everything();
    assert_string_equal(set->name, "mine-1.0");
    assert_string_equal(set->version, "1.0 with \"SIMD\"");
    assert_string_equal(set->summary, "kernels of my own");
    assert_ptr_equal(set->base, arenaut_kernel_set_find("reference"));
    const arenaut_kernel_rule *conv = &set->rules[0];
    assert_string_equal(conv->op, "CONV_2D");
    assert_int_equal(conv->when.types, 1 << ARENAUT_DTYPE_INT8 | 1 << ARENAUT_DTYPE_INT16);
    assert_int_equal(conv->when.pointwise, ARENAUT_KERNEL_YES);
    assert_int_equal(conv->when.unit_stride, ARENAUT_KERNEL_NO);
    assert_int_equal(conv->when.grouped, ARENAUT_KERNEL_NO);
    assert_int_equal(conv->when.padded, ARENAUT_KERNEL_YES);
    assert_int_equal(conv->when.one_row, ARENAUT_KERNEL_NO);
    assert_int_equal(conv->when.min_in_channels, 2);
    assert_int_equal(conv->when.max_in_channels, 4);
    assert_int_equal(conv->when.min_out_channels, 8);
    assert_int_equal(conv->when.max_out_channels, 8);
    assert_int_equal(conv->order, ARENAUT_KERNEL_BLOCK);
    assert_int_equal(conv->block, 4);
    assert_true(conv->measured);
    assert_int_equal(set->rules[1].order, ARENAUT_KERNEL_BLOCK_REREAD);
    assert_int_equal(set->rules[1].block, 2);
    assert_false(set->rules[1].measured);
    assert_int_equal(set->rules[1].when.types, 0);
    assert_int_equal(set->rules[2].order, ARENAUT_KERNEL_NONE);
    assert_int_equal(set->rules[3].order, ARENAUT_KERNEL_ANY);
    assert_int_equal(set->rules[4].order, ARENAUT_KERNEL_RASTER);
    assert_int_equal(set->rules[5].order, ARENAUT_KERNEL_ROWS);
    assert_null(set->rules[6].op);
    assert_int_equal(set->in_place[0].input, 1);
    assert_int_equal(set->in_place[1].output, 2);
    assert_true(set->in_place[1].any_shape);
    assert_null(set->in_place[2].op);
    assert_int_equal(set->scratch[0].types, 0);
    assert_int_equal(set->scratch[1].types, 1 << ARENAUT_DTYPE_INT4);
    assert_null(set->scratch[2].op);
    size_t size;
    char *file = everything(&size);
    arenaut_text text = write_set(set);
    assert_string_equal(text.bytes, file);
    arenaut_text_free(&text);
    free(file);
    arenaut_kernel_set_free(set);
}

TEST(a_name_is_enough) {
    arenaut_kernel_set *set = read_set(SET(", \"rules\": [], \"x-of\": 1"));
    assert_null(set->rules);
    assert_null(set->base);
    assert_survives_writing(set);
    arenaut_kernel_set_free(set);
}

TEST(the_hash_is_of_what_is_said_and_not_of_the_name) {
    static const char *const texts[] = {
        RULE(", \"order\": \"raster\", \"evidence\": \"read\""),
        RULE(", \"order\": \"raster\", \"evidence\": \"measured\""),
        RULE(", \"order\": \"rows\", \"evidence\": \"read\""),
        RULE(", \"order\": \"block:2\", \"evidence\": \"read\""),
        RULE(", \"order\": \"block:3\", \"evidence\": \"read\""),
        WHEN("\"types\": [\"int8\"]"),
        WHEN("\"pointwise\": true"),
        WHEN("\"pointwise\": false"),
        WHEN("\"unit_stride\": false"),
        WHEN("\"grouped\": false"),
        WHEN("\"padded\": false"),
        WHEN("\"one_row\": true"),
        WHEN("\"one_row\": false"),
        WHEN("\"dilated\": true"),
        WHEN("\"dilated\": false"),
        WHEN("\"min_in_channels\": 2"),
        WHEN("\"max_in_channels\": 2"),
        WHEN("\"min_out_channels\": 2"),
        WHEN("\"max_out_channels\": 2"),
        SET(),
        SET(", \"base\": \"reference\""),
        SET(", \"in_place\": [{\"op\": \"A\", \"input\": 0}]"),
        SET(", \"in_place\": [{\"op\": \"A\", \"input\": 1}]"),
        SET(", \"in_place\": [{\"op\": \"A\", \"input\": 0, \"output\": 1}]"),
        SET(", \"in_place\": [{\"op\": \"A\", \"input\": 0, \"any_shape\": true}]"),
        SET(", \"scratch\": [{\"op\": \"A\"}]"),
        SET(", \"scratch\": [{\"op\": \"A\", \"types\": [\"int8\"]}]"),
        SET(", \"scratch\": [{\"op\": \"A\", \"input\": 1, \"types\": [\"int8\"]}]"),
    };
    uint64_t hashes[COUNT_OF(texts)];
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        arenaut_kernel_set *set = read_set(texts[i]);
        hashes[i] = arn_kernel_set_fingerprint(set);
        set->name = "other";
        set->summary = set->version = "other";
        assert_true(arn_kernel_set_fingerprint(set) == hashes[i]);
        arenaut_kernel_set_free(set);
        for (size_t k = 0; k < i; k++) {
            if (hashes[k] == hashes[i]) fail_msg("%s\nhashes as\n%s", texts[i], texts[k]);
        }
    }
}

/* A set of the table may be read back from its file, but nothing else goes by its name. */
TEST(names_of_the_table_are_taken) {
    const char *text =
        "{\"schema\": \"arenaut.kernels/1\", \"name\": \"reference\", \"base\": \"reference\"}";
    arenaut_kernel_set *set = NULL;
    arenaut_error err = {0};
    assert_int_equal(arenaut_kernel_set_read(text, strlen(text), NULL, &set, &err),
                     ARENAUT_BAD_INPUT);
    assert_non_null(strstr(err.msg, "another name is needed"));
    assert_null(set);
}

/* ---- ops and types ---- */

/* One op of two operands and a result, of a program of its own. */
static arenaut_op_support support_of(const char *kernels, const char *op, const char *types[3],
                                     int scales) {
    char text[1024];
    snprintf(text, sizeof text,
             "{\"schema\": \"arenaut.program/1\", \"tensors\": ["
             "{\"name\": \"a\", \"bytes\": 16, \"dtype\": \"%s\", \"scales\": %d}, "
             "{\"name\": \"b\", \"bytes\": 16, \"dtype\": \"%s\", \"scales\": %d}, "
             "{\"name\": \"c\", \"bytes\": 16, \"dtype\": \"%s\", \"scales\": %d}], "
             "\"inputs\": [\"a\", \"b\"], \"outputs\": [\"c\"], "
             "\"ops\": [{\"name\": \"%s\", \"inputs\": [\"a\", \"b\"], \"outputs\": [\"c\"]}]}",
             types[0], scales, types[1], scales, types[2], scales, op);
    arenaut_document document = read_text("program-json", text);
    arenaut_kernel_set *own = kernels[0] == '{' ? read_set(kernels) : NULL;
    const arenaut_kernel_set *set = own ? own : arenaut_kernel_set_find(kernels);
    uint32_t at = ARENAUT_NONE;
    const arenaut_op_support one =
        arn_kernel_support(set, document.program, &document.program->ops[0]);
    assert_int_equal(arenaut_kernel_support_all(set, document.program, &at), one);
    const bool refused = one == ARENAUT_OP_REFUSED || one == ARENAUT_OP_MISSING;
    assert_int_equal(at, refused ? 0 : ARENAUT_NONE);
    arenaut_kernel_set_free(own);
    arenaut_document_free(&document);
    return one;
}

#define SUPPORT(kernels, op, a, b, c) support_of(kernels, op, (const char *[3]){a, b, c}, 1)
#define TYPES(list) SET(", \"base\": \"reference\", \"types\": [" list "]")

TEST(ops_are_taken_refused_missing_or_unknown) {
    const char *const sets[] = {"reference", "cmsis-nn", "cmsis-nn-mve", "esp-nn"};
    for (size_t i = 0; i < COUNT_OF(sets); i++) {
        const char *set = sets[i];
        /* ESP-NN's kernel would read a bias. */
        const arenaut_op_support unbiased =
            strcmp(set, "esp-nn") == 0 ? ARENAUT_OP_UNKNOWN : ARENAUT_OP_RUNS;
        assert_int_equal(SUPPORT(set, "CONV_2D", "int8", "int8", "int8"), unbiased);
        assert_int_equal(SUPPORT(set, "CONV_2D", "float32", "int8", "float32"), ARENAUT_OP_REFUSED);
        assert_int_equal(SUPPORT(set, "TILE", "int8", "int32", "int8"), ARENAUT_OP_MISSING);
        assert_int_equal(SUPPORT(set, "ADD", "int8", "float32", "int8"), ARENAUT_OP_UNKNOWN);
        assert_int_equal(SUPPORT(set, "CONV_2D", "int8", "int8", "int16"), ARENAUT_OP_UNKNOWN);
    }
    assert_int_equal(SUPPORT("litert", "TILE", "int8", "int32", "int8"), ARENAUT_OP_UNKNOWN);
    assert_int_equal(SUPPORT("portable", "TILE", "int8", "int32", "int8"), ARENAUT_OP_UNKNOWN);
}

/* A rule without a number of its own may be refused. */
TEST(integers_without_a_scale_are_unknown) {
    const char *types[] = {"int8", "int8", "int8"}, *wide[] = {"int32", "int32", "int32"};
    assert_int_equal(support_of("reference", "ADD", types, 1), ARENAUT_OP_RUNS);
    assert_int_equal(support_of("reference", "ADD", types, 0), ARENAUT_OP_UNKNOWN);
    assert_int_equal(support_of("reference", "ADD", wide, 0), ARENAUT_OP_RUNS);
    assert_int_equal(support_of("reference", "ADD", wide, 1), ARENAUT_OP_UNKNOWN);
}

/* A set of one's own has the ops that it names, whatever the base says. */
TEST(a_set_states_the_ops_that_it_has) {
    const char *const own = TYPES("{\"op\": \"TILE\"}");
    const char *const some = TYPES(
        "{\"op\": \"TILE\", \"runs\": [\"int8\"], \"operand\": [\"int32\"], "
        "\"result\": \"same\", \"refused\": [\"int16\"]}");
    const char *const three =
        TYPES("{\"op\": \"TILE\", \"runs\": [\"int8\"], \"third\": \"present\"}");
    const char *const read = TYPES("{\"op\": \"TILE\", \"evidence\": \"read\"}");
    const char *const ruled =
        SET(", \"base\": \"reference\", \"in_place\": [{\"op\": \"TILE\", \"input\": 0}]");
    assert_int_equal(SUPPORT(own, "TILE", "int8", "int32", "int8"), ARENAUT_OP_RUNS);
    assert_int_equal(SUPPORT(own, "ABS", "uint8", "int32", "uint8"), ARENAUT_OP_REFUSED);
    assert_int_equal(SUPPORT(own, "GELU", "int8", "int32", "int8"), ARENAUT_OP_MISSING);
    assert_int_equal(SUPPORT(some, "TILE", "int8", "int32", "int8"), ARENAUT_OP_RUNS);
    assert_int_equal(SUPPORT(some, "TILE", "int16", "int32", "int16"), ARENAUT_OP_REFUSED);
    assert_int_equal(SUPPORT(some, "TILE", "int8", "int64", "int8"), ARENAUT_OP_UNKNOWN);
    assert_int_equal(SUPPORT(some, "TILE", "int8", "int32", "int16"), ARENAUT_OP_UNKNOWN);
    assert_int_equal(SUPPORT(some, "TILE", "uint8", "int32", "uint8"), ARENAUT_OP_UNKNOWN);
    assert_int_equal(SUPPORT(three, "TILE", "int8", "int32", "int8"), ARENAUT_OP_UNKNOWN);
    assert_int_equal(SUPPORT(read, "TILE", "int8", "int32", "int8"), ARENAUT_OP_UNKNOWN);
    assert_int_equal(SUPPORT(ruled, "TILE", "int8", "int32", "int8"), ARENAUT_OP_UNKNOWN);
}

/* ---- mistakes ---- */

#define REST ", \"order\": \"raster\", \"evidence\": \"read\""
#define ANY_CONV "{\"op\": \"CONV_2D\"" REST "}"

static const struct {
    const char *text, *part;
} mistakes[] = {
    {TYPES("{}"), "op"},
    {TYPES("{\"op\": \"A\", \"runs\": [\"int9\"]}"), "int8"},
    {TYPES("{\"op\": \"A\", \"runs\": \"same\"}"), "expected"},
    {TYPES("{\"op\": \"A\", \"operand\": \"like\"}"), "\"same\", \"present\", or a list of types"},
    {TYPES("{\"op\": \"A\", \"evidence\": \"seen\"}"), "measured, read"},
    {TYPES("{\"op\": \"A\", \"runs\": [\"int8\"], \"refused\": [\"int8\"]}"),
     "both among those that run and refused"},
    {"", "line 1"},
    {"[]", "expected an object"},
    {"{\"schema\": \"arenaut.problem/1\"}", "\"arenaut.kernels/1\" only"},
    {"{\"schema\": \"arenaut.kernels/1\"}", "'name' is missing"},
    {"{\"schema\": \"arenaut.kernels/1\", \"name\": \"\"}", "1 to 31 letters"},
    {"{\"schema\": \"arenaut.kernels/1\", \"name\": \"a b\"}", "1 to 31 letters"},
    {"{\"schema\": \"arenaut.kernels/1\", \"name\": \"12345678901234567890123456789012\"}",
     "1 to 31 letters"},
    {"{\"schema\": \"arenaut.kernels/1\", \"name\": 7}", "found 7; expected a string"},
    {SET(", \"rule\": []"), "'rule': unknown key; did you mean 'rules'?"},
    {SET(", \"base\": \"refrence\""), "did you mean 'reference'? allowed: reference"},
    {SET(", \"base\": []"), "expected a string"},
    {SET(", \"rules\": {}"), "expected an array"},
    {RULES("1"), "expected an object"},
    {RULES("{\"op\": \"\"" REST "}"), "the name of an operator"},
    {RULES("{\"op\": 7" REST "}"), "'op': found 7; expected a string"},
    {RULES("{\"order\": \"raster\", \"evidence\": \"read\"}"), "'op' is missing"},
    {RULE(", \"evidence\": \"read\""), "'order' is missing"},
    {RULE(", \"order\": \"raster\""), "'evidence' is missing"},
    {RULE(", \"ordre\": \"raster\""), "did you mean 'order'?"},
    {RULE(", \"order\": \"rastr\", \"evidence\": \"read\""),
     "'order': found \"rastr\"; did you mean 'raster'? allowed: none, any, raster, block, "
     "block-reread, rows"},
    {RULE(", \"order\": \"raster:2\", \"evidence\": \"read\""), "no number for this order"},
    {RULE(", \"order\": \"block\", \"evidence\": \"read\""), "as in \"block:4\""},
    {RULE(", \"order\": \"block:\", \"evidence\": \"read\""), "as in \"block:4\""},
    {RULE(", \"order\": \"block:0\", \"evidence\": \"read\""), "from 1 to 65536"},
    {RULE(", \"order\": \"block:65537\", \"evidence\": \"read\""), "from 1 to 65536"},
    {RULE(", \"order\": \"block:99999999999999999999\", \"evidence\": \"read\""),
     "from 1 to 65536"},
    {RULE(", \"order\": \"block:-1\", \"evidence\": \"read\""), "from 1 to 65536"},
    {RULE(", \"order\": 4, \"evidence\": \"read\""), "found 4; expected a string"},
    {RULE(", \"order\": \"any\", \"evidence\": \"guessed\""),
     "'evidence': found \"guessed\"; allowed: measured, read"},
    {RULE(", \"order\": \"any\", \"evidence\": true"), "expected a string"},
    {WHEN("\"pointwize\": true"), "did you mean 'pointwise'?"},
    {WHEN("\"pointwise\": 1"), "expected true or false"},
    {WHEN("\"types\": [\"int9\"]"), "did you mean 'int"},
    {WHEN("\"types\": [8]"), "expected a string"},
    {WHEN("\"types\": []"), "no type is named"},
    {WHEN("\"types\": \"int8\""), "expected an array"},
    {WHEN("\"min_in_channels\": 0"), "at least 1 channel"},
    {WHEN("\"min_in_channels\": -1"), "expected an integer from 0"},
    {WHEN("\"max_out_channels\": 4294967296"), "expected an integer from 0"},
    {WHEN("\"min_in_channels\": 5, \"max_in_channels\": 4"), "at least 5 and at most 4 channels"},
    {WHEN("\"min_out_channels\": 5, \"max_out_channels\": 4"), "at least 5 and at most 4 channels"},
    {RULES(ANY_CONV ", " ANY_CONV), "this rule never counts: rule 1, also for CONV_2D"},
    {RULES(ANY_CONV ", {\"op\": \"PAD\"" REST "}, {\"op\": \"CONV_2D\", \"when\": {\"types\": "
                    "[\"int8\"], \"max_in_channels\": 3}" REST "}"),
     "this rule never counts: rule 1"},
    {SET(", \"in_place\": [{\"op\": \"A\"}]"), "'input' is missing"},
    {SET(", \"in_place\": [{\"op\": \"A\", \"input\": 65536}]"), "integer from 0 to 65535"},
    {SET(", \"in_place\": [{\"op\": \"A\", \"input\": 0, \"output\": -1}]"), "integer from 0"},
    {SET(", \"in_place\": [{\"op\": \"A\", \"inputs\": 0}]"), "did you mean 'input'?"},
    {SET(", \"in_place\": [{\"op\": \"A\", \"input\": 0}, {\"op\": \"A\", \"input\": 0}]"),
     "number 1 of this list says so already"},
    {SET(", \"scratch\": [{\"op\": \"A\", \"input\": 1}]"), "'types' is missing"},
    {SET(", \"scratch\": [{\"op\": \"A\"}, {\"op\": \"A\", \"input\": 1, \"types\": [\"int8\"]}]"),
     "number 1 of this list says so already"},
};

TEST(mistakes_are_named_with_their_place) {
    for (size_t i = 0; i < COUNT_OF(mistakes); i++) {
        arenaut_kernel_set *set = NULL;
        arenaut_error err = {0};
        const arenaut_status st =
            arenaut_kernel_set_read(mistakes[i].text, strlen(mistakes[i].text), NULL, &set, &err);
        assert_int_equal(st, ARENAUT_BAD_INPUT);
        assert_null(set);
        assert_int_equal(err.at, 1);
        if (!strstr(err.msg, mistakes[i].part)) {
            fail_msg("%s\n  found    %s\n  expected %s", mistakes[i].text, err.msg,
                     mistakes[i].part);
        }
    }
}

TEST(a_later_version_is_unsupported) {
    const char *text = "{\"schema\": \"arenaut.kernels/2\", \"name\": \"a\"}";
    arenaut_kernel_set *set = NULL;
    arenaut_error err = {0};
    assert_int_equal(arenaut_kernel_set_read(text, strlen(text), NULL, &set, &err),
                     ARENAUT_UNSUPPORTED);
}

/* Rules that only look alike: each is met by an op that no earlier one is about. */
TEST(rules_that_can_be_reached_are_fine) {
    arenaut_kernel_set *set = read_set(
        RULES("{\"op\": \"A\", \"when\": {\"types\": [\"int8\"], \"padded\": true}" REST "},"
              "{\"op\": \"A\", \"when\": {\"types\": [\"int8\"]}" REST "},"
              "{\"op\": \"A\", \"when\": {\"types\": [\"int8\", \"int16\"]}" REST "},"
              "{\"op\": \"A\", \"when\": {\"min_in_channels\": 4, \"max_in_channels\": 9}" REST "},"
              "{\"op\": \"A\", \"when\": {\"min_in_channels\": 4}" REST "},"
              "{\"op\": \"A\"" REST "},"
              "{\"op\": \"A\", \"order\": \"none\", \"evidence\": \"measured\"}"));
    assert_survives_writing(set);
    arenaut_kernel_set_free(set);
}

TEST(a_list_that_is_too_long_is_refused) {
    arenaut_text text = {0};
    arenaut_sink sink = arenaut_text_sink(&text);
    arenaut_kernel_set *set = NULL;
    arenaut_error err = {0};
    const char *begin = "{\"schema\": \"arenaut.kernels/1\", \"name\": \"a\", \"rules\": [0";
    assert_true(sink.put(sink.context, begin, strlen(begin)));
    for (int i = 0; i < 4096; i++) assert_true(sink.put(sink.context, ",0", 2));
    assert_true(sink.put(sink.context, "]}", 2));
    assert_int_equal(arenaut_kernel_set_read(text.bytes, text.size, NULL, &set, &err),
                     ARENAUT_BAD_INPUT);
    assert_non_null(strstr(err.msg, "4097 entries; at most 4096"));
    arenaut_text_free(&text);
}

TEST(damage_is_survived) {
    size_t size;
    char *text = everything(&size);
    const sweep s = {.property = kernels_property};
    const sweep_counts cuts = sweep_cuts(&s, (const uint8_t *)text, size);
    const sweep_counts flips = sweep_flips(&s, (uint8_t *)text, size);
    assert_int_equal(cuts.accepted, 1); /* without the line's end */
    assert_true(flips.accepted > 0 && flips.accepted < flips.tried);
    free(text);
}

static arenaut_status try_reading(void *context, const arenaut_allocator *allocator) {
    const char *text = context;
    arenaut_kernel_set *set = NULL;
    const arenaut_status st = arenaut_kernel_set_read(text, strlen(text), allocator, &set, NULL);
    arenaut_kernel_set_free(set);
    return st;
}

TEST(reading_survives_every_allocation_failure) {
    size_t size;
    char *text = everything(&size);
    survives_every_allocation_failure(try_reading, text);
    free(text);
}

static bool refuse(void *context, const void *bytes, size_t size) {
    (void)context, (void)bytes, (void)size;
    return false;
}

TEST(a_sink_that_refuses_is_an_error) {
    const arenaut_sink sink = {refuse, NULL};
    assert_int_equal(arenaut_kernel_set_write(arenaut_kernel_set_at(0), sink, NULL), ARENAUT_IO);
}

/* ---- a set together with its base ---- */

static bool may_write_over(const arenaut_kernel_set *set, const char *op, uint32_t input) {
    for (const arenaut_in_place_rule *rule = arenaut_kernel_in_place(set, op); rule && rule->op;
         rule++) {
        if (strcmp(rule->op, op) == 0 && rule->input == input) return true;
    }
    return false;
}

TEST(the_base_speaks_of_what_the_set_does_not_name) {
    arenaut_kernel_set *set = read_everything();
    assert_true(may_write_over(set, "MUL", 0));
    assert_true(may_write_over(set, "SUB", 1));
    assert_false(may_write_over(set, "SUB", 0)); /* the set names SUB, and not this operand */
    assert_false(may_write_over(set, "ADD", 0)); /* another kernel, with rules of its own */
    assert_true(may_write_over(set->base, "ADD", 0));
    assert_false(may_write_over(NULL, "ADD", 0));
    assert_null(arenaut_kernel_in_place(set, NULL));
    assert_non_null(arenaut_kernel_scratch(set, "my::op"));
    assert_non_null(arenaut_kernel_scratch(set, "SVDF"));
    assert_null(arenaut_kernel_scratch(set, "RELU"));
    assert_null(arenaut_kernel_scratch(NULL, "SVDF"));
    arenaut_kernel_set_free(set);
    arenaut_kernel_set_free(NULL);
}
