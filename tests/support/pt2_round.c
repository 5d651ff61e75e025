#include "support/pt2_round.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/zip.h"
#include "support/require.h"

/* ---- archives ---- */

/* Not copy_bytes, which reports to cmocka: this file goes into the fuzz target, too. */
static bytes exactly(const void *data, size_t size) {
    bytes b = {malloc(size ? size : 1), size};
    if (!b.data) abort();
    if (size) memcpy(b.data, data, size);
    return b;
}

typedef struct sheet {
    uint8_t *data;
    size_t size;
} sheet;

static void put(sheet *s, const void *data, size_t size) {
    memcpy(s->data + s->size, data, size);
    s->size += size;
}

static void number(sheet *s, uint64_t value, unsigned width) {
    for (unsigned i = 0; i < width; i++, value >>= 8) s->data[s->size++] = (uint8_t)value;
}

static uint32_t slow_crc(const uint8_t *data, size_t size) {
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < size; i++) {
        crc ^= data[i];
        for (int bit = 0; bit < 8; bit++) crc = (crc >> 1) ^ (crc & 1 ? 0xEDB88320u : 0);
    }
    return ~crc;
}

static void large_sizes(sheet *s, const zip_part *part) {
    number(s, part->size, 8);
    number(s, part->size, 8);
}

/* Fields that the local header and the directory share. `told`: sum and sizes are. */
static void common(sheet *s, const zip_part *part, unsigned variant, bool told) {
    const uint64_t size = variant & ZIP_LARGE_SIZES ? UINT32_MAX : told ? part->size : 0;
    number(s, variant & ZIP_FOLLOWED ? 8 : 0, 2); /* flags */
    number(s, 0, 2);                              /* stored */
    number(s, 0, 4);
    number(s, told ? slow_crc(part->data, part->size) : 0, 4);
    number(s, size, 4);
    number(s, size, 4);
    number(s, strlen(part->name), 2);
}

static void put_entry(sheet *s, const zip_part *part, unsigned variant) {
    const bool large = variant & ZIP_LARGE_SIZES;
    put(s, "PK\3\4\12\0", 6);
    common(s, part, variant, !(variant & ZIP_FOLLOWED));
    number(s, large ? 20 : 0, 2);
    put(s, part->name, strlen(part->name));
    if (large) {
        number(s, 1, 2);
        number(s, 16, 2);
        large_sizes(s, part);
    }
    put(s, part->data, part->size);
    if (!(variant & ZIP_FOLLOWED)) return;
    if (variant & ZIP_MARKED) put(s, "PK\7\10", 4);
    number(s, slow_crc(part->data, part->size), 4);
    if (large) large_sizes(s, part);
    for (int i = 0; !large && i < 2; i++) number(s, part->size, 4);
}

static void list_entry(sheet *s, const zip_part *part, size_t place, unsigned variant) {
    const bool large = variant & ZIP_LARGE_PLACES, sizes = variant & ZIP_LARGE_SIZES;
    const size_t extra = (large ? 8u : 0u) + (sizes ? 16u : 0u);
    put(s, "PK\1\2\12\0\12\0", 8);
    common(s, part, variant, true);
    number(s, extra ? extra + 4 : 0, 2);
    number(s, 0, 2);
    number(s, 0, 8);
    number(s, large ? UINT32_MAX : place, 4);
    put(s, part->name, strlen(part->name));
    if (extra) {
        number(s, 1, 2);
        number(s, extra, 2);
    }
    if (sizes) large_sizes(s, part);
    if (large) number(s, place, 8);
}

static void put_large_end(sheet *s, size_t n, size_t directory) {
    const size_t end = s->size;
    put(s, "PK\6\6", 4);
    number(s, 44, 8);
    number(s, 0, 12);
    number(s, n, 8);
    number(s, n, 8);
    number(s, end - directory, 8);
    number(s, directory, 8);
    put(s, "PK\6\7", 4);
    number(s, 0, 4);
    number(s, end, 8);
    number(s, 1, 4);
}

bytes zip_with(const zip_part *parts, size_t n, unsigned variant) {
    const bool large = variant & ZIP_LARGE_PLACES;
    size_t room = 200;
    size_t place[16];
    for (size_t i = 0; i < n; i++) room += 2 * strlen(parts[i].name) + parts[i].size + 200;
    sheet s = {malloc(room), 0};
    if (!s.data || n > 16) abort();
    for (size_t i = 0; i < n; i++) {
        place[i] = s.size;
        put_entry(&s, &parts[i], variant);
    }
    const size_t directory = s.size;
    for (size_t i = 0; i < n; i++) list_entry(&s, &parts[i], place[i], variant);
    const size_t end = s.size;
    if (large) put_large_end(&s, n, directory);
    put(&s, "PK\5\6", 4);
    number(&s, 0, 4);
    number(&s, n, 2);
    number(&s, n, 2);
    number(&s, large ? UINT32_MAX : end - directory, 4);
    number(&s, large ? UINT32_MAX : directory, 4);
    number(&s, 0, 2);
    const bytes exact = exactly(s.data, s.size);
    free(s.data);
    return exact;
}

bytes zip_of(const zip_part *parts, size_t n, bool large) {
    return zip_with(parts, n, large ? ZIP_LARGE_PLACES : 0);
}

bytes pt2_of(const void *json, size_t size) {
    const zip_part part = {"m/models/model.json", json, size};
    return zip_of(&part, 1, false);
}

bytes pt2_json(const bytes *archive) {
    static const char path[] = "/models/model.json";
    arn_zip zip;
    arn_zip_entry entry;
    const uint8_t *found = NULL;
    if (arn_zip_open(archive->data, archive->size, &zip, NULL) != ARENAUT_OK) abort();
    for (size_t at = zip.directory; at < zip.end && !found;) {
        if (arn_zip_next(&zip, &at, &entry, NULL) != ARENAUT_OK) abort();
        const size_t n = sizeof path - 1;
        if (entry.name_length < n || memcmp(entry.name + entry.name_length - n, path, n) != 0)
            continue;
        if (arn_zip_bytes(&zip, &entry, &found, NULL) != ARENAUT_OK) abort();
    }
    if (!found) abort();
    return exactly(found, (size_t)entry.size);
}

/* ---- the round ---- */

arenaut_status pt2_open(const void *data, size_t size, const char *selection,
                        const arenaut_allocator *allocator, arenaut_pipeline **out,
                        arenaut_error *err) {
    const arenaut_pipeline_options options = {.format = arenaut_format_find("pt2"),
                                              .target = arenaut_target_find("torch"),
                                              .passes = selection,
                                              .plan = {.planner = "greedy-by-size"}};
    return pipeline_open(data, size, &options, allocator, out, err);
}

static bool archive_property(const uint8_t *data, size_t size) {
    arenaut_pipeline *p = NULL;
    arenaut_error err = {ARENAUT_OK, 0, ""};
    const arenaut_status st = pt2_open(data, size, NULL, NULL, &p, &err);
    REQUIRE(st == ARENAUT_OK || is_refusal(st, &err));
    arenaut_pipeline_free(p);
    return st == ARENAUT_OK;
}

bool pt2_property(const uint8_t *data, size_t size) {
    if (arn_zip_begins(data, size)) return archive_property(data, size);
    bytes archive = pt2_of(data, size);
    const bool planned = archive_property(archive.data, archive.size);
    free(archive.data);
    return planned;
}
