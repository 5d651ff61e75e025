/* Zip archives, right and wrong. */
#include "support/test.h"

#include <stdlib.h>

#include "core/zip.h"
#include "support/pt2_round.h"

static const zip_part parts[] = {
    {"a/first", "hello", 5}, {"a/second", "", 0}, {"a/third", "xyz", 3}};

static arenaut_status walk(const bytes *b, size_t *n, char *text, arenaut_error *err) {
    arn_zip zip;
    arn_zip_entry entry;
    const uint8_t *data;
    arenaut_status st = arn_zip_open(b->data, b->size, &zip, err);
    if (st != ARENAUT_OK) return st;
    for (size_t at = zip.directory; at < zip.end && st == ARENAUT_OK; *n += 1) {
        st = arn_zip_next(&zip, &at, &entry, err);
        if (st == ARENAUT_OK) st = arn_zip_bytes(&zip, &entry, &data, err);
        if (st == ARENAUT_OK && text) {
            memcpy(text, data, (size_t)entry.size);
            text += entry.size;
            *text = '\0';
        }
    }
    return st;
}

TEST(entries_are_found_with_either_kind_of_records) {
    for (int large = 0; large < 2; large++) {
        bytes b = zip_of(parts, 3, large);
        size_t n = 0;
        char text[16];
        arenaut_error err = {0};
        assert_true(arn_zip_begins(b.data, b.size));
        assert_ok(walk(&b, &n, text, &err), err);
        assert_int_equal(n, 3);
        assert_string_equal(text, "helloxyz");
        free_bytes(&b);
    }
}

/* Offsets into an archive of parts[0] alone: header 30, name 7, data 5, then the directory. */
enum { DATA_AT = 37, DIRECTORY = 42, END = DIRECTORY + 46 + 7 };

TEST(broken_archives_are_refused_with_the_part) {
    static const struct {
        size_t at;
        uint8_t value;
        const char *part;
    } cases[] = {
        {0, 'x', "not where the directory says"},
        {26, 6, "calls it differently"}, /* the local name is shorter */
        {30, 'b', "calls it differently"},
        {DATA_AT, 'j', "is damaged"},
        {DIRECTORY, 'x', "directory is broken"},
        {DIRECTORY + 8, 1, "encrypted"},
        {DIRECTORY + 10, 8, "compressed"},
        {DIRECTORY + 20, 4, "does not end before"}, /* packed differs from plain */
        {DIRECTORY + 23, 1, "does not end before"},
        {DIRECTORY + 27, 1, "does not end before"},
        {DIRECTORY + 29, 1, "directory is broken"}, /* a name past the end */
        {DIRECTORY + 30, 4, "directory is broken"},
        {DIRECTORY + 42, 60, "not where the directory says"},
        {DIRECTORY + 45, 0x70, "not where the directory says"},
        {END, 'x', "no directory"},
        {END + 12, 200, "does not lie inside"},
        {END + 19, 0x70, "does not lie inside"},
        {END + 20, 1, "no directory"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        bytes b = zip_of(parts, 1, false);
        size_t n = 0;
        arenaut_error err = {0};
        b.data[cases[i].at] = cases[i].value;
        assert_true(walk(&b, &n, NULL, &err) != ARENAUT_OK);
        if (!strstr(err.msg, cases[i].part)) fail_msg("byte %zu: %s", cases[i].at, err.msg);
        free_bytes(&b);
    }
}

TEST(damage_is_survived) {
    for (int large = 0; large < 2; large++) {
        bytes whole = zip_of(parts, 3, large);
        for (size_t cut = 0; cut < whole.size; cut++) {
            bytes b = copy_bytes(whole.data, cut);
            size_t n = 0;
            arenaut_error err = {0};
            assert_true(walk(&b, &n, NULL, &err) != ARENAUT_OK);
            assert_true(err.msg[0] != '\0');
            free_bytes(&b);
        }
        for (size_t i = 0; i < 8 * whole.size; i++) {
            size_t n = 0;
            arenaut_error err = {0};
            whole.data[i / 8] ^= (uint8_t)(1 << i % 8);
            if (walk(&whole, &n, NULL, &err) != ARENAUT_OK) assert_true(err.msg[0] != '\0');
            whole.data[i / 8] ^= (uint8_t)(1 << i % 8);
        }
        free_bytes(&whole);
    }
}

/* ---- other bytes in an entry ---- */

static size_t listed_at(const arn_zip *zip, size_t index) {
    arn_zip_entry entry;
    size_t at = zip->directory;
    for (size_t i = 0; i < index; i++) assert_int_equal(arn_zip_next(zip, &at, &entry, NULL), 0);
    return at;
}

/* In memory of exactly its size. */
static arenaut_status replace(const bytes *b, size_t index, const char *text, bytes *out,
                              arenaut_error *err) {
    arn_zip zip;
    arenaut_text written = {0};
    arenaut_status st = arn_zip_open(b->data, b->size, &zip, err);
    if (st == ARENAUT_OK) {
        st = arn_zip_replace(&zip, listed_at(&zip, index), text, strlen(text),
                             arenaut_text_sink(&written), err);
    }
    if (st == ARENAUT_OK) *out = copy_bytes(written.bytes, written.size);
    else assert_int_equal(written.size, 0);
    arenaut_text_free(&written);
    return st;
}

/* The output is as an archiver would have written it. */
TEST(an_entry_gets_other_bytes_of_any_length) {
    static const char *const texts[] = {"12345", "", "1", "more than it was, by some bytes"};
    for (unsigned variant = 0; variant < ZIP_VARIANTS; variant++) {
        for (size_t i = 0; i < COUNT_OF(parts) * COUNT_OF(texts); i++) {
            const size_t index = i / COUNT_OF(texts);
            const char *text = texts[i % COUNT_OF(texts)];
            zip_part changed[COUNT_OF(parts)];
            memcpy(changed, parts, sizeof parts);
            changed[index].data = text;
            changed[index].size = strlen(text);
            bytes b = zip_with(parts, 3, variant), expected = zip_with(changed, 3, variant), out;
            arenaut_error err = {0};
            assert_ok(replace(&b, index, text, &out, &err), err);
            assert_int_equal(out.size, expected.size);
            assert_memory_equal(out.data, expected.data, out.size);
            free_bytes(&out);
            free_bytes(&expected);
            free_bytes(&b);
        }
    }
}

/* An archive of parts[0] alone, as above; with a second entry, of the place that is given. */
TEST(archives_that_contradict_themselves_are_not_patched) {
    static const struct {
        unsigned variant;
        size_t at;
        uint8_t value;
        const char *part;
    } cases[] = {
        {0, 18, 4, "the size in the header of 'a/first' does not agree"},
        {0, 22, 4, "the size in the header of 'a/first' does not agree"},
        {ZIP_LARGE_SIZES, 41, 4, "the size in the header of 'a/first' does not agree"},
        {ZIP_LARGE_SIZES, 37, 2, "the size in the header of 'a/first' does not agree"},
        {ZIP_LARGE_SIZES, 39, 99, "the size in the header of 'a/first' does not agree"},
        {ZIP_FOLLOWED, 42, 1, "the record behind the bytes of 'a/first' does not agree"},
        {ZIP_FOLLOWED, 50, 1, "the record behind the bytes of 'a/first' does not agree"},
        {ZIP_FOLLOWED | ZIP_MARKED, 50, 1,
         "the record behind the bytes of 'a/first' does not agree"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        bytes b = zip_with(parts, 1, cases[i].variant), out;
        arenaut_error err = {0};
        b.data[cases[i].at] = cases[i].value;
        assert_int_equal(replace(&b, 0, "longer than it was", &out, &err), ARENAUT_BAD_INPUT);
        if (!strstr(err.msg, cases[i].part)) fail_msg("case %zu: %s", i, err.msg);
        assert_int_equal(replace(&b, 0, "other", &out, &err), ARENAUT_OK); /* as long as it was */
        free_bytes(&out);
        free_bytes(&b);
    }
}

TEST(entries_that_lie_over_one_another_are_not_moved) {
    for (unsigned place = 0; place < 120; place++) {
        bytes b = zip_of(parts, 3, false), out;
        arn_zip zip;
        arenaut_error err = {0};
        assert_int_equal(arn_zip_open(b.data, b.size, &zip, NULL), ARENAUT_OK);
        const size_t second = 42, third = 80; /* where the last two begin */
        b.data[listed_at(&zip, 2) + 42] = (uint8_t)place;
        const arenaut_status st = replace(&b, 1, "longer than it was", &out, &err);
        const bool apart = place + 30 + 7 + 3 <= second || (place >= third && place <= 120);
        if (apart != (st == ARENAUT_OK)) fail_msg("place %u: %s", place, err.msg);
        if (!apart) assert_non_null(strstr(err.msg, "lie over one another"));
        if (st == ARENAUT_OK) free_bytes(&out);
        free_bytes(&b);
    }
}

TEST(numbers_that_have_no_room_are_refused) {
    bytes b = zip_of(parts, 3, true), out;
    arn_zip zip;
    arenaut_error err = {0};
    assert_int_equal(arn_zip_open(b.data, b.size, &zip, NULL), ARENAUT_OK);
    memset(b.data + zip.end_record + 16, 0xFF, 4);
    b.data[zip.end_record + 16] = 0xFE; /* does not count, but would have to be put right */
    assert_int_equal(replace(&b, 0, "longer than it was", &out, &err), ARENAUT_TOO_LARGE);
    assert_non_null(strstr(err.msg, "has no room in the four bytes"));
    free_bytes(&b);
}

TEST(replacing_in_damaged_archives_is_survived) {
    for (unsigned variant = 0; variant < ZIP_VARIANTS; variant++) {
        bytes b = zip_with(parts, 3, variant), out;
        for (size_t i = 0; i < 8 * b.size; i++) {
            arn_zip zip;
            arn_zip_entry entry;
            arenaut_error err = {0};
            b.data[i / 8] ^= (uint8_t)(1 << i % 8);
            bool listed = arn_zip_open(b.data, b.size, &zip, NULL) == ARENAUT_OK;
            size_t at = listed ? zip.directory : 0, n = 0;
            for (; listed && n < 1; n++) {
                listed = at < zip.end && arn_zip_next(&zip, &at, &entry, NULL) == ARENAUT_OK;
            }
            if (listed) {
                if (replace(&b, 1, "longer than it was", &out, &err) == ARENAUT_OK) {
                    n = 0;
                    (void)walk(&out, &n, NULL, &err);
                    free_bytes(&out);
                } else {
                    assert_true(err.msg[0] != '\0');
                }
            }
            b.data[i / 8] ^= (uint8_t)(1 << i % 8);
        }
        free_bytes(&b);
    }
}
