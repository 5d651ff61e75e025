/* Zip archives through their central directory (APPNOTE 6.3): the end record is searched from the
 * end of the file, and every entry is checked against its local header before its bytes are
 * used. */
#include "core/zip.h"

#include <inttypes.h>
#include <string.h>

#include "core/cursor.h"
#include "core/fail.h"

enum {
    END_SIZE = 22,     /* the end record without its comment */
    LOCATOR_SIZE = 20, /* in front of it, where there is an end record with 64-bit numbers */
    LARGE_END_SIZE = 56,
    HEADER_SIZE = 30, /* in front of an entry's bytes, without name and extra fields */
    ENCRYPTED = 1,
    LARGE_FIELD = 1, /* the extra field that holds 64-bit numbers */
};

bool arn_zip_begins(const uint8_t *data, size_t size) {
    return size >= 4 && memcmp(data, "PK\3\4", 4) == 0;
}

static arenaut_status broken(arenaut_error *err, size_t at, const char *what) {
    return arn_fail(err, ARENAUT_BAD_INPUT, at, "zip archive: %s", what);
}

static bool has_signature(const arn_zip *zip, size_t at, const char *signature) {
    return at <= zip->size && zip->size - at >= 4 && memcmp(zip->data + at, signature, 4) == 0;
}

/* The end record whose comment reaches exactly to the end of the file; `size` if none. */
static size_t find_end(const uint8_t *data, size_t size) {
    for (size_t comment = 0; comment <= UINT16_MAX && size >= END_SIZE + comment; comment++) {
        const size_t at = size - END_SIZE - comment;
        arn_cursor c = arn_cursor_at(data, size, at + END_SIZE - 2);
        if (memcmp(data + at, "PK\5\6", 4) == 0 && arn_take_u16(&c) == comment) return at;
    }
    return size;
}

/* Reads the directory's place from the 64-bit end record, which the locator leads to. */
static arenaut_status find_large_directory(arn_zip *zip, size_t locator, uint64_t *place,
                                           uint64_t *bytes, arenaut_error *err) {
    arn_cursor c = arn_cursor_at(zip->data, zip->size, locator + 8);
    const uint64_t at = arn_take_u64(&c);
    if (at > locator || locator - at < LARGE_END_SIZE ||
        !has_signature(zip, (size_t)at, "PK\6\6")) {
        return broken(err, locator, "its 64-bit end record is not where its locator says");
    }
    c = arn_cursor_at(zip->data, zip->size, (size_t)at + 32);
    zip->entries = arn_take_u64(&c);
    *bytes = arn_take_u64(&c);
    *place = arn_take_u64(&c);
    zip->end = zip->large_record = (size_t)at;
    return ARENAUT_OK;
}

arenaut_status arn_zip_open(const uint8_t *data, size_t size, arn_zip *zip, arenaut_error *err) {
    arn_zip found = {.data = data, .size = size};
    const size_t end = find_end(data, size);
    if (end == size) {
        return broken(err, size, "no directory at its end; the file may be cut short");
    }
    arn_cursor c = arn_cursor_at(data, size, end + 10);
    found.end = found.end_record = end;
    found.entries = arn_take_u16(&c);
    uint64_t bytes = arn_take_u32(&c), place = arn_take_u32(&c);
    if (end >= LOCATOR_SIZE && has_signature(&found, end - LOCATOR_SIZE, "PK\6\7")) {
        const arenaut_status st =
            find_large_directory(&found, end - LOCATOR_SIZE, &place, &bytes, err);
        if (st != ARENAUT_OK) return st;
    }
    if (bytes > found.end || place > found.end - bytes) {
        return broken(err, end, "its directory does not lie inside the file");
    }
    found.directory = (size_t)place;
    found.end = (size_t)(place + bytes);
    *zip = found;
    return ARENAUT_OK;
}

/* A number that does not fit in 32 bits stands in an extra field, in this order. */
static void take_large(arn_cursor *c, uint64_t *number, arn_zip_number *at) {
    if (*number != UINT32_MAX) return;
    *at = (arn_zip_number){c->at, 8};
    *number = arn_take_u64(c);
}

static bool read_large_field(const arn_zip *zip, size_t at, size_t end, arn_zip_entry *entry) {
    while (end - at >= 4) {
        arn_cursor c = arn_cursor_at(zip->data, end, at);
        const uint16_t id = arn_take_u16(&c), length = arn_take_u16(&c);
        if (length > end - c.at) return false;
        if (id == LARGE_FIELD) {
            arn_cursor field = arn_cursor_at(zip->data, c.at + length, c.at);
            take_large(&field, &entry->size, &entry->size_at);
            take_large(&field, &entry->packed, &entry->packed_at);
            take_large(&field, &entry->place, &entry->place_at);
            return !field.bad;
        }
        at = c.at + length;
    }
    return true;
}

static uint32_t take_number(arn_cursor *c, arn_zip_number *at) {
    *at = (arn_zip_number){c->at, 4};
    return arn_take_u32(c);
}

arenaut_status arn_zip_next(const arn_zip *zip, size_t *at, arn_zip_entry *entry,
                            arenaut_error *err) {
    arn_cursor c = arn_cursor_at(zip->data, zip->end, *at);
    arn_zip_entry e = {.name = NULL};
    const bool begins = arn_cursor_has(&c, 4) && has_signature(zip, *at, "PK\1\2");
    c.at += begins ? 8 : 0;
    e.flags = arn_take_u16(&c);
    e.method = arn_take_u16(&c);
    (void)arn_take_u32(&c); /* when it was changed */
    e.crc_at = c.at;
    e.crc = arn_take_u32(&c);
    e.packed = take_number(&c, &e.packed_at);
    e.size = take_number(&c, &e.size_at);
    e.name_length = arn_take_u16(&c);
    const size_t extra = arn_take_u16(&c), comment = arn_take_u16(&c);
    (void)arn_take(&c, 8); /* disks and attributes */
    e.place = take_number(&c, &e.place_at);
    if (!begins || !arn_cursor_has(&c, e.name_length + extra + comment)) {
        return broken(err, *at, "its directory is broken");
    }
    e.name = (const char *)zip->data + c.at;
    const size_t extra_at = c.at + e.name_length;
    if (!read_large_field(zip, extra_at, extra_at + extra, &e)) {
        return broken(err, *at, "an entry's extra field is broken");
    }
    *at = extra_at + extra + comment;
    *entry = e;
    return ARENAUT_OK;
}

/* The archive format's sum, four bits at a time. */
uint32_t arn_zip_sum(const uint8_t *bytes, size_t size) {
    uint32_t table[16], crc = UINT32_MAX;
    for (uint32_t i = 0; i < 16; i++) {
        table[i] = i;
        for (int bit = 0; bit < 4; bit++) {
            table[i] = (table[i] >> 1) ^ (table[i] & 1 ? UINT32_C(0xEDB88320) : 0);
        }
    }
    for (size_t i = 0; i < size; i++) {
        crc = (crc >> 4) ^ table[(crc ^ bytes[i]) & 15];
        crc = (crc >> 4) ^ table[(crc ^ (bytes[i] >> 4)) & 15];
    }
    return ~crc;
}

arenaut_status arn_zip_bytes(const arn_zip *zip, const arn_zip_entry *entry, const uint8_t **bytes,
                             arenaut_error *err) {
    const int shown = entry->name_length < 80 ? (int)entry->name_length : 80;
    if (entry->method != 0 || entry->flags & ENCRYPTED) {
        return arn_fail(err, ARENAUT_UNSUPPORTED, (size_t)entry->place,
                        "zip archive: '%.*s' is %s; only entries that are stored as they are can "
                        "be read",
                        shown, entry->name, entry->flags & ENCRYPTED ? "encrypted" : "compressed");
    }
    if (entry->place > zip->directory || zip->directory - entry->place < HEADER_SIZE ||
        !has_signature(zip, (size_t)entry->place, "PK\3\4")) {
        return broken(err, (size_t)entry->place, "an entry is not where the directory says");
    }
    arn_cursor c = arn_cursor_at(zip->data, zip->directory, (size_t)entry->place + 26);
    const size_t name = arn_take_u16(&c), extra = arn_take_u16(&c);
    if (name != entry->name_length || !arn_cursor_has(&c, name + extra) ||
        memcmp(zip->data + c.at, entry->name, name) != 0) {
        return broken(err, c.at, "an entry's own header calls it differently than the directory");
    }
    c.at += name + extra;
    if (entry->packed != entry->size || entry->size > zip->directory - c.at) {
        return arn_fail(err, ARENAUT_BAD_INPUT, c.at,
                        "zip archive: '%.*s' of %" PRIu64 " bytes (%" PRIu64
                        " in the archive) does not end before the directory",
                        shown, entry->name, entry->size, entry->packed);
    }
    if (arn_zip_sum(zip->data + c.at, (size_t)entry->size) != entry->crc) {
        return arn_fail(err, ARENAUT_BAD_INPUT, c.at,
                        "zip archive: '%.*s' is damaged: its bytes do not have the sum that the "
                        "directory states",
                        shown, entry->name);
    }
    *bytes = zip->data + c.at;
    return ARENAUT_OK;
}
