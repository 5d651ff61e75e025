/* The zip archive behind a model: found by its end record, held to be one only if its
 * directory's entries fill exactly the bytes up to that. Moving it changes one number an entry. */
#include "formats/tflite/tflite_zip.h"

#include <string.h>

#include "core/cursor.h"

enum {
    END_SIZE = 22, /* the end record without its comment */
    END_ENTRIES_AT = 10,
    END_DIRECTORY_SIZE_AT = 12,
    END_DIRECTORY_AT = 16,
    END_COMMENT_AT = 20,
    ENTRY_SIZE = 46, /* a directory entry without its name, extra field and comment */
    ENTRY_LENGTHS_AT = 28,
    ENTRY_PLACE_AT = 42,
    LOCATOR_SIZE = 20, /* in front of the end record, where 64-bit records are in use */
};

/* The end record whose comment reaches exactly to the end of the file; `size` if none. */
static size_t find_end(const uint8_t *data, size_t size) {
    for (size_t comment = 0; comment <= UINT16_MAX && size >= END_SIZE + comment; comment++) {
        const uint8_t *end = data + size - END_SIZE - comment;
        if (memcmp(end, "PK\5\6", 4) == 0 && arn_load(end + END_COMMENT_AT, 2) == comment) {
            return size - END_SIZE - comment;
        }
    }
    return size;
}

static size_t entry_size(const uint8_t *entry) {
    const uint8_t *lengths =
        entry + ENTRY_LENGTHS_AT; /* of the name, the extra field, the comment */
    return ENTRY_SIZE +
           (size_t)(arn_load(lengths, 2) + arn_load(lengths + 2, 2) + arn_load(lengths + 4, 2));
}

/* Whether the directory's entries fill exactly the bytes up to the end record. Anything
 * else is chance, or an archive whose places do not count from the file's start. */
static bool directory_fits(const uint8_t *data, const arn_tflite_zip_tail *zip) {
    size_t at = zip->directory;
    for (uint32_t i = 0; i < zip->entries; i++) {
        if (zip->end - at < ENTRY_SIZE || memcmp(data + at, "PK\1\2", 4) != 0) return false;
        const size_t size = entry_size(data + at);
        if (size > zip->end - at) return false;
        at += size;
    }
    return at == zip->end;
}

arn_tflite_zip_tail arn_tflite_zip_find(const uint8_t *data, size_t size) {
    const arn_tflite_zip_tail none = {size, size, 0, false};
    const size_t end = find_end(data, size);
    if (end == size) return none;
    arn_tflite_zip_tail zip = {(size_t)arn_load(data + end + END_DIRECTORY_AT, 4), end,
                               (uint32_t)arn_load(data + end + END_ENTRIES_AT, 2), false};
    if (end >= LOCATOR_SIZE && memcmp(data + end - LOCATOR_SIZE, "PK\6\7", 4) == 0) {
        zip.directory = end;
        zip.large = true;
        return zip;
    }
    const uint64_t directory_size = arn_load(data + end + END_DIRECTORY_SIZE_AT, 4);
    if (zip.directory + directory_size != end || !directory_fits(data, &zip)) return none;
    return zip;
}

void arn_tflite_zip_move(uint8_t *tail, const arn_tflite_zip_tail *zip, uint32_t delta) {
    size_t at = 0;
    for (uint32_t i = 0; i < zip->entries; i++) {
        arn_store_u32(tail + at + ENTRY_PLACE_AT,
                      (uint32_t)arn_load(tail + at + ENTRY_PLACE_AT, 4) + delta);
        at += entry_size(tail + at);
    }
    arn_store_u32(tail + at + END_DIRECTORY_AT,
                  (uint32_t)arn_load(tail + at + END_DIRECTORY_AT, 4) + delta);
}
