/* Reader of untrusted zip archives: entries of the central directory, and the bytes of stored ones.
 * Nothing is decompressed or copied.
 *
 * Ambiguous archives are refused if it matters: an entry whose bytes do not lie between the file's
 * start and the directory, or that its own header calls by another name. */
#ifndef ARN_CORE_ZIP_H
#define ARN_CORE_ZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <arenaut/error.h>
#include <arenaut/sink.h>

typedef struct arn_zip {
    const uint8_t *data;
    size_t size;
    size_t directory, end; /* where the directory begins and ends */
    size_t large_record;   /* the end record with 64-bit numbers; 0: there is none */
    size_t end_record;
    uint64_t entries;
} arn_zip;

/* The place of a number in the directory, and its width in bytes. */
typedef struct arn_zip_number {
    size_t at;
    unsigned width; /* 4 or 8 */
} arn_zip_number;

typedef struct arn_zip_entry {
    const char *name; /* in the archive; no NUL behind it */
    size_t name_length;
    uint64_t place; /* of the header in front of its bytes */
    uint64_t packed, size;
    arn_zip_number place_at, packed_at, size_at;
    uint32_t crc;
    size_t crc_at;
    uint16_t method, flags; /* method 0: stored */
} arn_zip_entry;

/* Whether the bytes begin as archives do. */
bool arn_zip_begins(const uint8_t *data, size_t size);

/* Finds the directory, of either width. BAD_INPUT if there is none, or it lies outside. */
arenaut_status arn_zip_open(const uint8_t *data, size_t size, arn_zip *zip, arenaut_error *err);

/* The entry at *at, a place in the directory (begin with zip->directory), and the place of
 * the next; *at == zip->end: there are no more. */
arenaut_status arn_zip_next(const arn_zip *zip, size_t *at, arn_zip_entry *entry,
                            arenaut_error *err);

/* The bytes of a stored entry, whose sum is checked. UNSUPPORTED if it is compressed or
 * encrypted. O(its size). */
arenaut_status arn_zip_bytes(const arn_zip *zip, const arn_zip_entry *entry, const uint8_t **bytes,
                             arenaut_error *err);

/* Writes the archive with other bytes in one stored entry, which the directory lists at `listed`.
 * Bytes behind them move by as much as they are longer, and stated sizes, sums and places are put
 * right; all else stays as it is. BAD_INPUT if entries lie over one another or the archive's
 * records of this one do not agree, TOO_LARGE if a number has no room, IO if the sink refuses.
 * O(size of the archive). */
arenaut_status arn_zip_replace(const arn_zip *zip, size_t listed, const void *bytes, size_t size,
                               arenaut_sink sink, arenaut_error *err);

#endif
