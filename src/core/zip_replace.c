/* Writer of an archive with other bytes in one entry. It is copied from front to back, but for the
 * numbers that change: in the header of the entry and behind its bytes, in the directory, and in
 * the records at the end. Each of them must agree with the directory. */
#include <inttypes.h>
#include <string.h>

#include "core/checked.h"
#include "core/cursor.h"
#include "core/writer.h"
#include "core/zip.h"

enum {
    HEADER_SIZE = 30,
    HEADER_SUM = 14, /* in the header in front of an entry's bytes: */
    HEADER_PACKED = 18,
    HEADER_PLAIN = 22, /* right behind HEADER_PACKED */
    HEADER_NAME = 26,
    HEADER_EXTRA = 28,
    SUM_FOLLOWS = 1 << 3, /* flag: sum and sizes come behind the bytes */
    LARGE_FIELD = 1,      /* the extra field that holds 64-bit numbers */
    LARGE_PLACE = 48,     /* in the end record with 64-bit numbers: of the directory */
    LOCATOR_SIZE = 20,    /* in front of the end record, if there is one with 64-bit numbers; */
    LOCATOR_PLACE = 8,    /* of that */
    END_PLACE = 16,       /* in the end record: of the directory */
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
    const uint8_t *old;
    size_t at = listed;
    arenaut_status st = arn_zip_next(zip, &at, &a.entry, err);
    if (st == ARENAUT_OK) st = arn_zip_bytes(zip, &a.entry, &old, err);
    if (st != ARENAUT_OK) return st;
    a.begin = (size_t)(old - zip->data);
    a.end = a.begin + (size_t)a.entry.size;
    a.more = (uint64_t)size - a.entry.size;
    a.sum = arn_zip_sum(bytes, size);
    st = put_archive(&a, listed, nowhere);
    return st == ARENAUT_OK ? put_archive(&a, listed, sink) : st;
}
