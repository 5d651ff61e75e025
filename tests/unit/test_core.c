/* The foundations: checked arithmetic, regions, stable sorting, cursor, writer, text. */
#include "support/test.h"

#include "core/allowance.h"
#include "core/checked.h"
#include "core/cursor.h"
#include "core/file_name.h"
#include "core/memory.h"
#include "core/number_set.h"
#include "core/sort.h"
#include "core/utf8.h"
#include "core/writer.h"
#include "support/fuse.h"
#include "support/random.h"

TEST(sums_past_the_largest_size_are_refused) {
    uint64_t r = 7;
    assert_true(arn_add(ARENAUT_SIZE_MAX - 1, 1, &r));
    assert_int_equal(r, ARENAUT_SIZE_MAX);
    assert_false(arn_add(ARENAUT_SIZE_MAX, 1, &r));
    assert_false(arn_add(UINT64_MAX, UINT64_MAX, &r));
    assert_true(arn_multiply(UINT64_C(1) << 31, UINT64_C(1) << 31, &r));
    assert_int_equal(r, UINT64_C(1) << 62);
    assert_false(arn_multiply(UINT64_C(1) << 32, UINT64_C(1) << 32, &r));
    assert_true(arn_multiply(0, UINT64_MAX, &r));
    assert_int_equal(r, 0);
}

TEST(rounding_up_stops_at_the_largest_size) {
    uint64_t r;
    assert_true(arn_align_up(1, 16, &r));
    assert_int_equal(r, 16);
    assert_true(arn_align_up(16, 16, &r));
    assert_int_equal(r, 16);
    assert_false(arn_align_up(ARENAUT_SIZE_MAX, 16, &r));
    assert_true(arn_is_power_of_two(1));
    assert_false(arn_is_power_of_two(0));
    assert_false(arn_is_power_of_two(12));
}

TEST(a_region_hands_out_aligned_blocks_that_do_not_overlap) {
    arn_region region;
    arn_region_init(&region, NULL);
    unsigned char *blocks[200];
    for (size_t i = 0; i < 200; i++) {
        blocks[i] = arn_region_allocate(&region, i * 7 % 113, 1 + i % 5);
        assert_non_null(blocks[i]);
        assert_int_equal((uintptr_t)blocks[i] % sizeof(void *), 0);
        memset(blocks[i], (int)i, i * 7 % 113 * (1 + i % 5));
    }
    for (size_t i = 0; i < 200; i++) {
        for (size_t k = 0; k < i * 7 % 113 * (1 + i % 5); k++) {
            assert_int_equal(blocks[i][k], (unsigned char)i);
        }
    }
    assert_null(arn_region_allocate(&region, SIZE_MAX, 2));
    arn_region_free(&region);
}

static arenaut_status take_arrays(void *context, const arenaut_allocator *allocator) {
    (void)context;
    arn_region region;
    uint32_t *numbers = NULL;
    uint8_t *bytes = NULL, *none = NULL;
    arn_region_init(&region, allocator);
    const bool ok = ARN_REGION_ARRAYS(&region, ARN_ARRAY(numbers, 3000), ARN_ARRAY(bytes, 5000),
                                      ARN_ARRAY(none, 0));
    for (size_t i = 0; ok && i < 3000; i++) assert_int_equal(numbers[i], 0);
    for (size_t i = 0; ok && i < 5000; i++) assert_int_equal(bytes[i], 0);
    if (ok) assert_non_null(none);
    arn_region_free(&region);
    return ok ? ARENAUT_OK : ARENAUT_NO_MEMORY;
}

TEST(a_region_hands_out_arrays_of_zeros_or_none_at_all) {
    survives_every_allocation_failure(take_arrays, NULL);
    arn_region region;
    uint64_t *many;
    arn_region_init(&region, NULL);
    assert_false(ARN_REGION_ARRAYS(&region, ARN_ARRAY(many, SIZE_MAX / 2)));
    arn_region_free(&region);
}

typedef struct keyed {
    const uint32_t *key;
} keyed;

static bool key_before(const void *context, uint32_t a, uint32_t b) {
    const keyed *k = context;
    return k->key[a] < k->key[b];
}

TEST(sorting_is_stable_at_every_length) {
    uint32_t key[300], ids[300], scratch[300];
    uint32_t random = 1;
    for (size_t n = 0; n <= 300; n += n < 40 ? 1 : 37) {
        for (uint32_t i = 0; i < n; i++) {
            random = random * 1664525 + 1013904223;
            key[i] = random >> 29; /* eight keys: many equals */
            ids[i] = i;
        }
        const keyed context = {key};
        arn_sort_ids(ids, n, key_before, &context, scratch);
        for (size_t i = 1; i < n; i++) {
            assert_true(key[ids[i - 1]] <= key[ids[i]]);
            if (key[ids[i - 1]] == key[ids[i]]) assert_true(ids[i - 1] < ids[i]);
        }
    }
}

/* Keys of all widths: equal ones, small ones, and ones that differ in their highest bits. */
TEST(sorting_by_key_is_the_same_as_by_comparison) {
    enum { MOST = 3000 };
    static uint64_t key[MOST];
    static uint32_t ids[MOST], scratch[MOST];
    uint64_t random = 1;
    for (unsigned kept_bits = 0; kept_bits <= 64; kept_bits += 4) {
        for (size_t n = 0; n <= MOST; n = n * 3 + 1) {
            for (uint32_t i = 0; i < n; i++) {
                random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
                key[i] = kept_bits ? random >> (64 - kept_bits) : 7;
                if (kept_bits & 4) key[i] <<= 64 - kept_bits;
                ids[i] = i;
            }
            arn_sort_by_key(ids, n, key, scratch);
            for (size_t i = 1; i < n; i++) {
                assert_true(key[ids[i - 1]] <= key[ids[i]]);
                if (key[ids[i - 1]] == key[ids[i]]) assert_true(ids[i - 1] < ids[i]);
            }
        }
    }
    assert_true(arn_step_key(INT64_MIN) < arn_step_key(-1));
    assert_true(arn_step_key(-1) < arn_step_key(0));
    assert_true(arn_step_key(0) < arn_step_key(INT64_MAX));
}

TEST(a_text_is_cut_between_characters) {
    static const struct {
        const char *text;
        size_t limit, left;
    } cases[] = {{"abc", 3, 3},        {"abc", 2, 2},          {"a\xC3\xA4", 2, 1},
                 {"a\xC3\xA4z", 3, 3}, {"\xE2\x82\xAC", 2, 0}, {"", 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const unsigned char *text = (const unsigned char *)cases[i].text;
        assert_int_equal(arn_utf8_cut(text, strlen(cases[i].text), cases[i].limit), cases[i].left);
    }
}

TEST(an_allowance_is_taken_whole_or_not_at_all) {
    arn_allowance a = arn_allowance_for(10, 4, 2, 0);
    assert_true(arn_allowance_take(&a, 5, 8));
    assert_false(arn_allowance_take(&a, 3, 1));
    assert_false(arn_allowance_take(&a, UINT64_MAX, UINT64_MAX));
    assert_true(arn_allowance_take(&a, 2, 1));
    arenaut_error err;
    assert_int_equal(arn_allowance_spent(&a, "here", "it", &err), ARENAUT_BAD_INPUT);
    assert_string_equal(err.msg, "here: it stands for a program more than 4 times its size");
    a = arn_allowance_for(10, 4, 2, 41);
    assert_int_equal(arn_allowance_spent(&a, "here", "it", &err), ARENAUT_TOO_LARGE);
    const uint64_t most = SIZE_MAX > UINT32_MAX ? ARENAUT_SIZE_MAX / 2 : 64 * (uint64_t)SIZE_MAX;
    assert_int_equal(arn_allowance_for(SIZE_MAX, 64, 0, 0).left, most);
}

TEST(a_cursor_never_reads_past_the_end) {
    const uint8_t bytes[] = {1, 2, 3, 4, 5, 6, 7};
    arn_cursor c = arn_cursor_at(bytes, sizeof bytes, 1);
    assert_int_equal(arn_take_u16(&c), 0x0302);
    assert_int_equal(arn_take_u32(&c), 0x07060504);
    assert_false(c.bad);
    assert_int_equal(arn_take_u8(&c), 0);
    assert_true(c.bad);
    arn_cursor past = arn_cursor_at(bytes, sizeof bytes, 8);
    assert_int_equal(arn_take_u8(&past), 0);
    assert_true(past.bad);
}

TEST(json_strings_are_escaped_and_always_utf8) {
    arenaut_text text = {0};
    arn_writer w = arn_writer_to(arenaut_text_sink(&text));
    arn_put_json_string(&w, "a\"\\\n\x01\xc3\xa9\xff\xed\xa0\x80z");
    assert_string_equal(text.bytes,
                        "\"a\\\"\\\\\\u000a\\u0001\xc3\xa9\\ufffd\\ufffd\\ufffd\\ufffdz\"");
    arenaut_text_free(&text);
    w = arn_writer_to(arenaut_text_sink(&text));
    arn_put_json_u64(&w, (UINT64_C(1) << 53) - 1);
    arn_puts(&w, " ");
    arn_put_json_u64(&w, UINT64_C(1) << 53);
    assert_string_equal(text.bytes, "9007199254740991 \"9007199254740992\"");
    assert_int_equal(arn_writer_finish(&w, NULL), ARENAUT_OK);
    arenaut_text_free(&text);
}

static bool refuse(void *context, const void *bytes, size_t size) {
    (void)bytes;
    (void)size;
    ++*(int *)context;
    return false;
}

TEST(a_refusing_sink_is_asked_once_and_reported) {
    int asked = 0;
    arn_writer w = arn_writer_to((arenaut_sink){refuse, &asked});
    arn_puts(&w, "one");
    arn_puts(&w, "two");
    arenaut_error err;
    assert_int_equal(arn_writer_finish(&w, &err), ARENAUT_IO);
    assert_int_equal(err.code, ARENAUT_IO);
    assert_int_equal(asked, 1);
}

TEST(a_file_is_called_by_the_last_part_of_its_path) {
    assert_string_equal(arn_file_name("net.tflite"), "net.tflite");
    assert_string_equal(arn_file_name("/models/small/net.tflite"), "net.tflite");
    assert_string_equal(arn_file_name("models/"), "models/");
    assert_string_equal(arn_file_name(""), "");
#ifdef _WIN32
    assert_string_equal(arn_file_name("C:\\models/small\\net.tflite"), "net.tflite");
    assert_string_equal(arn_file_name("D:net.tflite"), "net.tflite");
    assert_string_equal(arn_file_name("D:\\models\\net.tflite:stream"), "net.tflite:stream");
#else
    assert_string_equal(arn_file_name("models/a\\b:c"), "a\\b:c");
#endif
}

TEST(a_set_of_numbers_knows_the_nearest) {
    enum { MOST = 5000 };
    static bool in[MOST];
    static uint32_t words[MOST];
    rng r = {17};
    const uint32_t sizes[] = {1, 31, 32, 33, 1024, 1025, MOST};
    for (size_t s = 0; s < COUNT_OF(sizes); s++) {
        const uint32_t n = sizes[s];
        arn_number_set set;
        assert_true(arn_number_set_words(n) <= n);
        memset(words, 0xFF, sizeof words);
        arn_number_set_clear(&set, n, words);
        memset(in, 0, sizeof in);
        for (uint32_t i = 0; i < 4000; i++) {
            const uint32_t k = rng_below(&r, n), at = rng_below(&r, n);
            in[k] = rng_once_in(&r, 3);
            if (in[k]) arn_number_set_put(&set, k);
            else arn_number_set_take(&set, k);
            uint32_t below = ARENAUT_NONE, above = ARENAUT_NONE;
            for (uint32_t m = 0; m < at; m++) below = in[m] ? m : below;
            for (uint32_t m = n; m-- > at + 1;) above = in[m] ? m : above;
            assert_int_equal(arn_number_set_below(&set, at), below);
            assert_int_equal(arn_number_set_above(&set, at), above);
            assert_int_equal(arn_number_set_has(&set, at), in[at]);
        }
    }
}
