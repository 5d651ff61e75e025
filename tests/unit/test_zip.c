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

TEST(what_is_wrong_is_named) {
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
