/* Reading flatbuffers, right and wrong. The file that most tests read:
 *
 *     root { 0: u8 7   1: i32 -5   3: "name"   4: [child, child]   5: u64 2^40 }
 *     child { 0: i32 index }
 */
#include "core/flatbuffer.h"
#include "support/flatfile.h"
#include "support/random.h"
#include "support/test.h"

typedef struct sample {
    flatfile *file;
    size_t root, text, children, child[2];
} sample;

static sample new_sample(void) {
    sample s;
    s.file = new_flatfile("TEST");
    s.root = flat_root(s.file, 6);
    flat_number(s.file, s.root, 0, 1, 7);
    flat_number(s.file, s.root, 1, 4, (uint32_t)-5);
    flat_number(s.file, s.root, 5, 8, UINT64_C(1) << 40);
    s.text = flat_text(s.file, s.root, 3, "name");
    s.children = flat_vector(s.file, s.root, 4, 4, 2);
    for (unsigned i = 0; i < 2; i++) {
        s.child[i] = flat_item(s.file, s.children, i, 1);
        flat_number(s.file, s.child[i], 0, 4, i);
    }
    return s;
}

/* Everything in the file, as far as it can be read; sums it up so that all is used. */
static uint64_t read_all(arn_flatbuffer *fb) {
    const arn_fb_table root = arn_fb_root(fb);
    uint64_t sum = arn_fb_u8(fb, root, 0, 1);
    sum += (uint64_t)arn_fb_i32(fb, root, 1, 1) + arn_fb_u64(fb, root, 5, 1);
    const arn_fb_vector text = arn_fb_vector_field(fb, root, 3, 1);
    for (uint32_t i = 0; i < text.count; i++) sum += fb->data[text.at + i];
    const arn_fb_vector children = arn_fb_vector_field(fb, root, 4, 4);
    for (uint32_t i = 0; i < children.count; i++) {
        sum += arn_fb_u32(fb, arn_fb_item_table(fb, children, i), 0, 1);
    }
    return sum;
}

TEST(fields_read_as_they_were_written) {
    sample s = new_sample();
    arn_flatbuffer fb = arn_fb_open(s.file->data, s.file->size);
    assert_true(arn_fb_identified(s.file->data, s.file->size, "TEST"));
    assert_false(arn_fb_identified(s.file->data, s.file->size, "TEXT"));
    const arn_fb_table root = arn_fb_root(&fb);
    assert_int_equal(root.at, s.root);
    assert_int_equal(arn_fb_u8(&fb, root, 0, 0), 7);
    assert_int_equal(arn_fb_i32(&fb, root, 1, 0), -5);
    assert_true(arn_fb_u64(&fb, root, 5, 0) == UINT64_C(1) << 40);
    const arn_fb_vector text = arn_fb_vector_field(&fb, root, 3, 1);
    assert_int_equal(text.count, 4);
    assert_memory_equal(fb.data + text.at, "name", 4);
    const arn_fb_vector children = arn_fb_vector_field(&fb, root, 4, 4);
    assert_int_equal(children.count, 2);
    const arn_fb_table second = arn_fb_item_table(&fb, children, 1);
    assert_int_equal(arn_fb_u32(&fb, second, 0, 9), 1);
    assert_null(fb.wrong);
    assert_int_equal(arn_fb_status(&fb, "file", NULL), ARENAUT_OK);
    free_flatfile(s.file);
}

TEST(absent_fields_read_as_the_fallback) {
    sample s = new_sample();
    arn_flatbuffer fb = arn_fb_open(s.file->data, s.file->size);
    const arn_fb_table root = arn_fb_root(&fb);
    assert_int_equal(arn_fb_i8(&fb, root, 2, -3), -3);   /* a slot that was left out */
    assert_int_equal(arn_fb_i32(&fb, root, 99, -4), -4); /* one that its writer knew not */
    const arn_fb_table none = arn_fb_table_field(&fb, root, 2);
    assert_int_equal(none.at, 0);
    assert_int_equal(arn_fb_u32(&fb, none, 0, 5), 5);
    assert_int_equal(arn_fb_vector_field(&fb, none, 0, 8).count, 0);
    assert_null(fb.wrong);
    free_flatfile(s.file);
}

TEST(signed_numbers_keep_their_extremes) {
    assert_int_equal(arn_signed(0x80, 1), INT8_MIN);
    assert_int_equal(arn_signed(0x7F, 1), INT8_MAX);
    assert_int_equal(arn_signed(UINT32_MAX, 4), -1);
    assert_true(arn_signed(UINT64_C(1) << 63, 8) == INT64_MIN);
    assert_true(arn_signed(UINT64_MAX, 8) == -1);
}

/* One number of the sample is overwritten; the position and the rule must be told. */
TEST(each_broken_rule_is_named_with_its_place) {
    const sample s = new_sample();
    const struct {
        size_t at;
        unsigned width;
        uint64_t value;
        size_t told_at;
        const char *told;
    } cases[] = {
        {0, 4, 0, 0, "an offset must lead forward"},
        {0, 4, UINT32_MAX, 0, "an offset must lead forward"},
        {0, 4, s.file->size, 0, "an offset must lead forward"},
        {0, 4, s.file->size - 2, s.file->size - 2, "a table must end inside"},
        {s.root, 4, s.root + 4, s.root, "vtable must lie inside"},
        {s.root, 4, 0x80000000, s.root, "vtable must lie inside"},
        {s.root - 16, 2, 5, s.root - 16, "must be even and at least 4"},
        {s.root - 16, 2, 2, s.root - 16, "must be even and at least 4"},
        {s.root - 16, 2, 0xFFFE, s.root - 16, "a vtable must end inside"},
        {s.root - 16 + 4, 2, 0xFFFF, s.root, "a table's field must end inside"},
        {s.text - 4, 4, 0x10000, s.text - 4, "a vector must end inside"},
        {s.children - 4, 4, UINT32_MAX, s.children - 4, "a vector must end inside"},
        {s.children, 4, 0, s.children, "an offset must lead forward"},
        {s.child[0], 4, 0x7FFFFFFF, s.child[0], "vtable must lie inside"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        sample spoilt = new_sample();
        flat_store(spoilt.file, cases[i].at, cases[i].width, cases[i].value);
        arn_flatbuffer fb = arn_fb_open(spoilt.file->data, spoilt.file->size);
        read_all(&fb);
        arenaut_error err;
        assert_int_equal(arn_fb_status(&fb, "the object", &err), ARENAUT_BAD_INPUT);
        if (!strstr(err.msg, cases[i].told)) fail_msg("case %zu: %s", i, err.msg);
        assert_non_null(strstr(err.msg, "the object"));
        assert_int_equal(err.at, cases[i].told_at);
        free_flatfile(spoilt.file);
    }
    free_flatfile(s.file);
}

TEST(only_the_first_broken_rule_is_told) {
    sample s = new_sample();
    flat_store(s.file, s.text - 4, 4, UINT32_MAX);
    flat_store(s.file, s.children - 4, 4, UINT32_MAX);
    arn_flatbuffer fb = arn_fb_open(s.file->data, s.file->size);
    read_all(&fb);
    assert_int_equal(fb.wrong_at, s.text - 4);
    free_flatfile(s.file);
}

/* Under a sanitizer, this is about reads past the end of a block of exactly that size. */
TEST(no_truncation_or_flip_reads_outside) {
    sample s = new_sample();
    for (size_t size = 0; size <= s.file->size; size++) {
        uint8_t *exact = test_malloc(size ? size : 1);
        memcpy(exact, s.file->data, size);
        arn_flatbuffer fb = arn_fb_open(exact, size);
        read_all(&fb);
        assert_true(fb.wrong || size + 4 >= s.file->size); /* the last 4 are padding */
        test_free(exact);
    }
    uint8_t *exact = test_malloc(s.file->size);
    for (size_t bit = 0; bit < 8 * s.file->size; bit++) {
        memcpy(exact, s.file->data, s.file->size);
        exact[bit / 8] ^= (uint8_t)(1u << bit % 8);
        arn_flatbuffer fb = arn_fb_open(exact, s.file->size);
        read_all(&fb);
    }
    rng r = {1};
    for (int i = 0; i < 20000; i++) {
        memcpy(exact, s.file->data, s.file->size);
        for (int k = 0; k < 4; k++) {
            exact[rng_below(&r, (uint32_t)s.file->size)] = (uint8_t)rng_next(&r);
        }
        arn_flatbuffer fb = arn_fb_open(exact, s.file->size);
        read_all(&fb);
    }
    test_free(exact);
    free_flatfile(s.file);
}
