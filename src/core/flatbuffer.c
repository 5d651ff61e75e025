/* Fields and vectors of a flatbuffer. Each offset is checked once, where it is followed; numbers
 * are loaded byte by byte, as nothing in a file is aligned for certain. Every call is O(1). The
 * builder of a prefix comes last. */
#include "core/flatbuffer.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "core/checked.h"
#include "core/cursor.h"
#include "core/fail.h"
#include "core/memory.h"
#include "core/utf8.h"

static const arn_fb_table absent_table = {0, 0, 0};
static const arn_fb_vector absent_vector = {0, 0};

/* Only the first error counts: later ones follow from it. */
static bool is_wrong(arn_flatbuffer *fb, const char *what, size_t at, uint64_t found,
                     uint64_t allowed) {
    if (!fb->wrong) {
        fb->wrong = what;
        fb->wrong_at = at;
        fb->found = found;
        fb->allowed = allowed;
    }
    return false;
}

static bool lies_inside(arn_flatbuffer *fb, const char *what, size_t at, uint64_t bytes) {
    if (at <= fb->size && bytes <= fb->size - at) return true;
    return is_wrong(fb, what, at, bytes, at <= fb->size ? fb->size - at : 0);
}

arn_flatbuffer arn_fb_open(const void *data, size_t size) {
    const arn_flatbuffer fb = {data, size, NULL, 0, 0, 0};
    return fb;
}

bool arn_fb_identified(const void *data, size_t size, const char identifier[4]) {
    return size >= 8 && memcmp((const uint8_t *)data + 4, identifier, 4) == 0;
}

arenaut_status arn_fb_status(const arn_flatbuffer *fb, const char *object, arenaut_error *err) {
    if (!fb->wrong) return ARENAUT_OK;
    return arn_fail(err, ARENAUT_BAD_INPUT, fb->wrong_at,
                    "%s: byte %zu: %s: found %" PRIu64 ", allowed up to %" PRIu64, object,
                    fb->wrong_at, fb->wrong, fb->found, fb->allowed);
}

/* Follows the offset stored at `at`, which lies inside the file. False if it leads outside,
 * or nowhere: an offset of 0 would be the offset's own position. */
static bool follow(arn_flatbuffer *fb, size_t at, size_t *target) {
    const uint64_t offset = arn_load(fb->data + at, 4);
    if (offset == 0 || offset >= fb->size - at) {
        return is_wrong(fb, "an offset must lead forward and not past the end", at, offset,
                        fb->size - at - 1);
    }
    *target = at + (size_t)offset;
    return true;
}

/* A table begins with the distance back (or, if negative, forward) to its vtable, which
 * begins with its own size in bytes and the table's, and then gives each slot's place. */
static arn_fb_table table_at(arn_flatbuffer *fb, size_t at) {
    if (!lies_inside(fb, "a table must end inside the file", at, 4)) return absent_table;
    const int64_t back = arn_signed(arn_load(fb->data + at, 4), 4);
    /* Files are far smaller than 2^63, so this cannot overflow. */
    const int64_t vtable = (int64_t)at - back;
    if (vtable < 0 || (uint64_t)vtable > fb->size || fb->size - (uint64_t)vtable < 4) {
        is_wrong(fb, "a table's vtable must lie inside the file", at, (uint64_t)vtable,
                 fb->size - 4);
        return absent_table;
    }
    const uint32_t size = (uint32_t)arn_load(fb->data + (size_t)vtable, 2);
    if (size < 4 || size % 2 != 0) {
        is_wrong(fb, "a vtable's size must be even and at least 4", (size_t)vtable, size,
                 UINT16_MAX - 1);
        return absent_table;
    }
    if (!lies_inside(fb, "a vtable must end inside the file", (size_t)vtable, size))
        return absent_table;
    const arn_fb_table table = {at, (size_t)vtable, size};
    return table;
}

static arn_fb_vector vector_at(arn_flatbuffer *fb, size_t at, unsigned element_size) {
    if (!lies_inside(fb, "a vector must begin inside the file", at, 4)) return absent_vector;
    const uint32_t count = (uint32_t)arn_load(fb->data + at, 4);
    const uint64_t room = (fb->size - at - 4) / element_size;
    if (count > room) {
        is_wrong(fb, "a vector must end inside the file", at, count, room);
        return absent_vector;
    }
    const arn_fb_vector vector = {at + 4, count};
    return vector;
}

arn_fb_table arn_fb_root(arn_flatbuffer *fb) {
    size_t at;
    if (!lies_inside(fb, "a flatbuffer needs room for its root", 0, 8)) return absent_table;
    return follow(fb, 0, &at) ? table_at(fb, at) : absent_table;
}

size_t arn_fb_field(arn_flatbuffer *fb, arn_fb_table table, unsigned slot, unsigned width) {
    const uint32_t entry = 4 + 2 * slot;
    if (table.at == 0 || entry + 2 > table.vtable_size) return 0;
    const size_t offset = (size_t)arn_load(fb->data + table.vtable + entry, 2);
    if (offset == 0) return 0;
    if (!lies_inside(fb, "a table's field must end inside the file", table.at, offset + width))
        return 0;
    return table.at + offset;
}

arn_fb_table arn_fb_table_field(arn_flatbuffer *fb, arn_fb_table table, unsigned slot) {
    size_t target;
    const size_t at = arn_fb_field(fb, table, slot, 4);
    return at != 0 && follow(fb, at, &target) ? table_at(fb, target) : absent_table;
}

arn_fb_vector arn_fb_vector_field(arn_flatbuffer *fb, arn_fb_table table, unsigned slot,
                                  unsigned element_size) {
    size_t target;
    const size_t at = arn_fb_field(fb, table, slot, 4);
    return at != 0 && follow(fb, at, &target) ? vector_at(fb, target, element_size) : absent_vector;
}

uint64_t arn_fb_number(arn_flatbuffer *fb, arn_fb_table table, unsigned slot, unsigned width,
                       uint64_t fallback) {
    const size_t at = arn_fb_field(fb, table, slot, width);
    return at != 0 ? arn_load(fb->data + at, width) : fallback;
}

uint32_t arn_fb_item_u32(const arn_flatbuffer *fb, arn_fb_vector vector, uint32_t index) {
    assert(index < vector.count);
    return (uint32_t)arn_load(fb->data + vector.at + (size_t)index * 4, 4);
}

arn_fb_table arn_fb_item_table(arn_flatbuffer *fb, arn_fb_vector vector, uint32_t index) {
    assert(index < vector.count);
    size_t target;
    return follow(fb, vector.at + (size_t)index * 4, &target) ? table_at(fb, target) : absent_table;
}

size_t arn_fb_copy_text(const arn_flatbuffer *fb, arn_fb_vector text, size_t limit, char *to) {
    const uint8_t *from = fb->data + text.at;
    const size_t length = arn_utf8_cut(from, text.count, limit);
    memcpy(to, from, length);
    to[length] = '\0';
    return length;
}

/* Builder of a flatbuffer's prefix: a growing block of bytes, made front to back. Every table
 * stores its fields in the order of their slots, four bytes each, of any type: a read of one byte
 * of a number finds the lowest. */

static size_t reserve(arn_fb_prefix *prefix, uint64_t at, uint64_t size) {
    if (prefix->failed) return 0;
    if (at + size > INT32_MAX) {
        prefix->failed = ARENAUT_REFUSED;
        return 0;
    }
    if (!arn_grow(prefix->allocator, (void **)&prefix->bytes, &prefix->capacity, at + size, 1)) {
        prefix->failed = ARENAUT_NO_MEMORY;
        return 0;
    }
    memset(prefix->bytes + prefix->size, 0, (size_t)(at + size) - prefix->size);
    prefix->size = (uint32_t)(at + size);
    return (size_t)at;
}

arn_fb_prefix arn_fb_prefix_begin(const char identifier[4], const arenaut_allocator *allocator) {
    arn_fb_prefix prefix = {.allocator = allocator};
    reserve(&prefix, 0, 8);
    arn_fb_fill(&prefix, 4, identifier, 4);
    return prefix;
}

void arn_fb_prefix_free(arn_fb_prefix *prefix) {
    ARN_RELEASE(prefix->allocator, prefix->bytes, prefix->links, prefix->shapes);
}

static void store_u16(arn_fb_prefix *prefix, size_t at, uint32_t value) {
    if (!prefix->failed) arn_store(prefix->bytes + at, 2, value);
}

static unsigned count_fields(uint32_t present) {
    unsigned n = 0;
    for (; present; present &= present - 1) n++;
    return n;
}

static size_t add_vtable(arn_fb_prefix *prefix, uint32_t present) {
    unsigned slots = 0;
    while (slots < 32 && present >> slots) slots++;
    const size_t at = reserve(prefix, arn_aligned(prefix->size, 4), 4 + 2 * slots);
    store_u16(prefix, at, 4 + 2 * slots);
    store_u16(prefix, at + 2, 4 + 4 * count_fields(present));
    for (unsigned s = 0, field = 4; s < slots; s++) {
        if (!(present >> s & 1)) continue;
        store_u16(prefix, at + 4 + 2 * s, field);
        field += 4;
    }
    return at;
}

static size_t find_vtable(arn_fb_prefix *prefix, uint32_t present) {
    for (uint32_t i = 0; i < prefix->n_shapes; i++) {
        if (prefix->shapes[i].present == present) return prefix->shapes[i].at;
    }
    if (!arn_grow(prefix->allocator, (void **)&prefix->shapes, &prefix->shapes_capacity,
                  (uint64_t)prefix->n_shapes + 1, sizeof *prefix->shapes)) {
        prefix->failed = ARENAUT_NO_MEMORY;
        return 0;
    }
    const arn_fb_shape shape = {present, (uint32_t)add_vtable(prefix, present)};
    prefix->shapes[prefix->n_shapes++] = shape;
    return shape.at;
}

arn_fb_new_table arn_fb_add_table(arn_fb_prefix *prefix, uint32_t present) {
    const size_t vtable = find_vtable(prefix, present);
    const size_t size = 4 + 4 * (size_t)count_fields(present);
    const arn_fb_new_table table = {reserve(prefix, arn_aligned(prefix->size, 4), size), present};
    arn_fb_set(prefix, table.at, (uint32_t)(table.at - vtable));
    return table;
}

size_t arn_fb_add_vector(arn_fb_prefix *prefix, size_t count, size_t width, size_t align) {
    uint64_t bytes;
    if (!arn_multiply(count, width, &bytes)) bytes = INT32_MAX;
    const uint64_t first = arn_aligned((uint64_t)prefix->size + 4, align < 4 ? 4 : align);
    const size_t at = reserve(prefix, first - 4, 4 + bytes);
    arn_fb_set(prefix, at, (uint32_t)count);
    return at;
}

size_t arn_fb_add_bytes(arn_fb_prefix *prefix, size_t size, size_t align, size_t rest) {
    const uint64_t ahead = (rest + align - prefix->size % align) % align;
    return reserve(prefix, prefix->size + ahead, size);
}

size_t arn_fb_add_text(arn_fb_prefix *prefix, const char *text) {
    const size_t length = strlen(text);
    const size_t at = arn_fb_add_vector(prefix, length, 1, 1);
    arn_fb_fill(prefix, at + 4, text, length);
    arn_fb_add_bytes(prefix, 1, 1, 0); /* the NUL behind it, which its length does not count */
    return at;
}

size_t arn_fb_slot(arn_fb_new_table table, unsigned slot) {
    const uint32_t before = table.present & ((UINT32_C(1) << slot) - 1);
    return table.at + 4 + 4 * (size_t)count_fields(before);
}

size_t arn_fb_element(size_t vector, size_t index) { return vector + 4 + 4 * index; }

void arn_fb_set(arn_fb_prefix *prefix, size_t at, uint32_t number) {
    if (!prefix->failed) arn_store_u32(prefix->bytes + at, number);
}

void arn_fb_lead(arn_fb_prefix *prefix, size_t at, size_t target) {
    arn_fb_set(prefix, at, (uint32_t)(target - at));
}

void arn_fb_lead_behind(arn_fb_prefix *prefix, size_t at, size_t behind) {
    if (prefix->failed) return;
    if (!arn_grow(prefix->allocator, (void **)&prefix->links, &prefix->links_capacity,
                  (uint64_t)prefix->n_links + 1, sizeof *prefix->links)) {
        prefix->failed = ARENAUT_NO_MEMORY;
        return;
    }
    prefix->links[prefix->n_links++] = (arn_fb_link){(uint32_t)at, (uint32_t)behind};
}

void arn_fb_fill(arn_fb_prefix *prefix, size_t at, const void *bytes, size_t size) {
    if (!prefix->failed && size > 0) memcpy(prefix->bytes + at, bytes, size);
}

arenaut_status arn_fb_prefix_finish(arn_fb_prefix *prefix, size_t align, size_t behind,
                                    arenaut_error *err) {
    reserve(prefix, arn_aligned(prefix->size, align), 0);
    if (prefix->failed == ARENAUT_NO_MEMORY) return arn_no_memory(err);
    if (prefix->failed || behind > INT32_MAX - prefix->size) {
        return arn_fail(err, ARENAUT_REFUSED, 0,
                        "the file has %zu bytes and would get %" PRIu32
                        " more; a flatbuffer ends at %d",
                        behind, prefix->size, INT32_MAX);
    }
    for (uint32_t i = 0; i < prefix->n_links; i++) {
        const arn_fb_link *link = &prefix->links[i];
        arn_fb_set(prefix, link->from, prefix->size - link->from + link->behind);
    }
    return ARENAUT_OK;
}
