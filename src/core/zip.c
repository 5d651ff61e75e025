/* Zip archives: the central directory read through a cursor, with every size held against the
 * file, and one member replaced in a copy of the archive (Zip64 included); what is kept is copied
 * byte by byte. */
#include "core/zip.h"

#include <inttypes.h>
#include <string.h>

#include "core/checked.h"
#include "core/cursor.h"
#include "core/fail.h"
#include "core/writer.h"

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

/* The sum by which archives know the bytes of an entry (CRC-32), four bits at a time. O(size). */
static uint32_t zip_sum(const uint8_t *bytes, size_t size) {
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
    if (zip_sum(zip->data + c.at, (size_t)entry->size) != entry->crc) {
        return arn_fail(err, ARENAUT_BAD_INPUT, c.at,
                        "zip archive: '%.*s' is damaged: its bytes do not have the sum that the "
                        "directory states",
                        shown, entry->name);
    }
    *bytes = zip->data + c.at;
    return ARENAUT_OK;
}

/* Writer of an archive with other bytes in one entry. It is copied from front to back, but for the
 * numbers that change: in the header of the entry and behind its bytes, in the directory, and in
 * the records at the end. Each of them must agree with the directory. */

enum {
    HEADER_SUM = 14, /* in the header in front of an entry's bytes: */
    HEADER_PACKED = 18,
    HEADER_PLAIN = 22, /* right behind HEADER_PACKED */
    HEADER_NAME = 26,
    HEADER_EXTRA = 28,
    SUM_FOLLOWS = 1 << 3, /* flag: sum and sizes come behind the bytes */
    LARGE_PLACE = 48,     /* in the end record with 64-bit numbers: of the directory */
    LOCATOR_PLACE = 8,
    END_PLACE = 16, /* in the end record: of the directory */
};

typedef struct archive {
    const arn_zip *zip;
    arn_zip_entry entry; /* of which the bytes change */
    size_t begin, end;   /* of these */
    const uint8_t *bytes;
    size_t size;
    uint64_t more; /* bytes by which they are longer, modulo 2^64 */
    uint32_t sum;
    bool large; /* its header states sizes with 64 bits */
    size_t copied;
    arn_writer out;
    arenaut_error *err;
} archive;

static arenaut_status disagrees(archive *a, size_t at, const char *what) {
    const int shown = a->entry.name_length < 80 ? (int)a->entry.name_length : 80;
    return arn_fail(a->err, ARENAUT_BAD_INPUT, at,
                    "zip archive: %s of '%.*s' does not agree with "
                    "its directory",
                    what, shown, a->entry.name);
}

static void put_up_to(archive *a, size_t at) {
    arn_put(&a->out, a->zip->data + a->copied, at - a->copied);
    a->copied = at;
}

/* A number of four bytes may not be the mark of one with eight. */
static arenaut_status put_number(archive *a, arn_zip_number at, uint64_t value) {
    uint8_t bytes[8];
    if (at.width == 4 && value >= UINT32_MAX) {
        return arn_fail(a->err, ARENAUT_TOO_LARGE, at.at,
                        "zip archive: %" PRIu64 " has no room in the four bytes of its number",
                        value);
    }
    put_up_to(a, at.at);
    arn_store(bytes, at.width, value);
    arn_put(&a->out, bytes, at.width);
    a->copied += at.width;
    return ARENAUT_OK;
}

static void put_sum(archive *a, size_t at) {
    uint8_t bytes[4];
    put_up_to(a, at);
    arn_store_u32(bytes, a->sum);
    arn_put(&a->out, bytes, sizeof bytes);
    a->copied += sizeof bytes;
}

static uint64_t load(const archive *a, size_t at, unsigned width) {
    return arn_load(a->zip->data + at, width);
}

/* ---- the entry ---- */

/* Whether two sizes of this width stand at `at`, in front of `end`. */
static bool has_sizes(const archive *a, size_t at, size_t end, unsigned width, uint64_t size) {
    return end - at >= 2 * width && load(a, at, width) == size &&
           load(a, at + width, width) == size;
}

static arenaut_status put_sizes(archive *a, size_t at, unsigned width) {
    const arenaut_status st = put_number(a, (arn_zip_number){at, width}, a->size);
    return st == ARENAUT_OK ? put_number(a, (arn_zip_number){at + width, width}, a->size) : st;
}

/* The sizes in the extra field of the header, if they stand there. */
static arenaut_status put_large_sizes(archive *a, size_t at, size_t end, bool follows) {
    while (end - at >= 4) {
        const size_t id = load(a, at, 2), length = load(a, at + 2, 2);
        at += 4;
        if (length > end - at) break;
        if (id == LARGE_FIELD) {
            if (has_sizes(a, at, at + length, 8, a->entry.size)) return put_sizes(a, at, 8);
            if (follows && has_sizes(a, at, at + length, 8, 0)) return ARENAUT_OK;
        }
        at += length;
    }
    return disagrees(a, at, "the size in the header");
}

/* If sum and sizes come behind the bytes, the ones in front of them may be 0. */
static arenaut_status put_header(archive *a) {
    const size_t at = (size_t)a->entry.place, size_at = at + HEADER_PACKED;
    const uint64_t packed = load(a, size_at, 4), plain = load(a, at + HEADER_PLAIN, 4);
    const uint64_t sum = load(a, at + HEADER_SUM, 4);
    const bool follows = a->entry.flags & SUM_FOLLOWS;
    if (sum == a->entry.crc && !(follows && sum == 0)) put_sum(a, at + HEADER_SUM);
    if (a->more == 0 || (follows && packed == 0 && plain == 0)) return ARENAUT_OK;
    if (packed == UINT32_MAX && plain == UINT32_MAX) {
        const size_t name = load(a, at + HEADER_NAME, 2), extra = load(a, at + HEADER_EXTRA, 2);
        a->large = true;
        const size_t extra_at = at + HEADER_SIZE + name;
        return put_large_sizes(a, extra_at, extra_at + extra, follows);
    }
    if (packed != a->entry.size || plain != a->entry.size) {
        return disagrees(a, size_at, "the size in the header");
    }
    return put_sizes(a, size_at, 4);
}

/* The record behind the bytes: the sum, and sizes of either width. */
static arenaut_status put_descriptor(archive *a) {
    size_t at = a->end;
    const size_t limit = a->zip->directory;
    const unsigned likely = a->large ? 8 : 4, widths[] = {likely, 12 - likely};
    if (!(a->entry.flags & SUM_FOLLOWS)) return ARENAUT_OK;
    if (limit - at >= 4 && memcmp(a->zip->data + at, "PK\7\10", 4) == 0) at += 4;
    const bool summed = limit - at >= 4 && load(a, at, 4) == a->entry.crc;
    if (summed) put_sum(a, at);
    for (int i = 0; i < 2 && summed && a->more != 0; i++) {
        if (!has_sizes(a, at + 4, limit, widths[i], a->entry.size)) continue;
        return put_sizes(a, at + 4, widths[i]);
    }
    return a->more == 0 ? ARENAUT_OK : disagrees(a, at, "the record behind the bytes");
}

static arenaut_status put_entry(archive *a) {
    const arenaut_status st = put_header(a);
    if (st != ARENAUT_OK) return st;
    put_up_to(a, a->begin);
    arn_put(&a->out, a->bytes, a->size);
    a->copied = a->end;
    return put_descriptor(a);
}

/* ---- the directory ---- */

/* The place of something that begins at `place`. */
static arenaut_status put_place(archive *a, arn_zip_number at, uint64_t place) {
    return a->more == 0 || place < a->end ? ARENAUT_OK : put_number(a, at, place + a->more);
}

static arenaut_status put_listed(archive *a, const arn_zip_entry *e) {
    put_sum(a, e->crc_at);
    if (a->more == 0) return ARENAUT_OK;
    /* In the extra field, they stand in the other order. */
    const bool packed_first = e->packed_at.at < e->size_at.at;
    arenaut_status st = put_number(a, packed_first ? e->packed_at : e->size_at, a->size);
    if (st != ARENAUT_OK) return st;
    return put_number(a, packed_first ? e->size_at : e->packed_at, a->size);
}

/* Whether another entry lies apart from the one that changes, by the directory. */
static bool lies_apart(const archive *a, const arn_zip_entry *e) {
    uint64_t end;
    if (e->place >= a->end) return e->place <= a->zip->directory;
    return arn_add(e->place, e->packed, &end) &&
           arn_add(end, HEADER_SIZE + (uint64_t)e->name_length, &end) && end <= a->entry.place;
}

static arenaut_status put_directory(archive *a, size_t listed) {
    arn_zip_entry e;
    arenaut_status st = ARENAUT_OK;
    for (size_t at = a->zip->directory; at < a->zip->end && st == ARENAUT_OK;) {
        const size_t begin = at;
        st = arn_zip_next(a->zip, &at, &e, a->err);
        if (st != ARENAUT_OK) return st;
        if (begin == listed) {
            st = put_listed(a, &e);
        } else if (a->more != 0 && !lies_apart(a, &e)) {
            st = arn_fail(a->err, ARENAUT_BAD_INPUT, begin,
                          "zip archive: two of its entries lie over one another");
        } else {
            st = put_place(a, e.place_at, e.place);
        }
    }
    return st;
}

/* If numbers of 32 bits have no room, all their bits are set, and the others count. */
static arenaut_status put_end(archive *a) {
    const arn_zip *zip = a->zip;
    arenaut_status st = ARENAUT_OK;
    if (zip->large_record) {
        st = put_place(a, (arn_zip_number){zip->large_record + LARGE_PLACE, 8}, zip->directory);
        if (st == ARENAUT_OK) {
            const size_t at = zip->end_record - LOCATOR_SIZE + LOCATOR_PLACE;
            st = put_place(a, (arn_zip_number){at, 8}, zip->large_record);
        }
    }
    const uint64_t place = load(a, zip->end_record + END_PLACE, 4);
    if (st == ARENAUT_OK && !(zip->large_record && place == UINT32_MAX)) {
        st = put_place(a, (arn_zip_number){zip->end_record + END_PLACE, 4}, place);
    }
    put_up_to(a, zip->size);
    return st;
}

static bool drop(void *context, const void *bytes, size_t size) {
    (void)context, (void)bytes, (void)size;
    return true;
}

static arenaut_status put_archive(archive *a, size_t listed, arenaut_sink sink) {
    a->out = arn_writer_to(sink);
    a->copied = 0;
    arenaut_status st = put_entry(a);
    if (st == ARENAUT_OK) st = put_directory(a, listed);
    if (st == ARENAUT_OK) st = put_end(a);
    return st == ARENAUT_OK ? arn_writer_finish(&a->out, a->err) : st;
}

/* Twice, so that nothing is written of an archive that is refused. */
arenaut_status arn_zip_replace(const arn_zip *zip, size_t listed, const void *bytes, size_t size,
                               arenaut_sink sink, arenaut_error *err) {
    static const arenaut_sink nowhere = {drop, NULL};
    archive a = {.zip = zip, .bytes = bytes, .size = size, .err = err};
    const uint8_t *old = NULL;
    size_t at = listed;
    arenaut_status st = arn_zip_next(zip, &at, &a.entry, err);
    if (st == ARENAUT_OK) st = arn_zip_bytes(zip, &a.entry, &old, err);
    if (st != ARENAUT_OK) return st;
    a.begin = (size_t)(old - zip->data);
    a.end = a.begin + (size_t)a.entry.size;
    a.more = (uint64_t)size - a.entry.size;
    a.sum = zip_sum(bytes, size);
    st = put_archive(&a, listed, nowhere);
    return st == ARENAUT_OK ? put_archive(&a, listed, sink) : st;
}
