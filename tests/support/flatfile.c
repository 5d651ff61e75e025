#include "support/flatfile.h"

#include <stdlib.h>

#include "support/test.h"

void flat_store(flatfile *f, size_t at, unsigned width, uint64_t value) {
    assert_true(at + width <= f->size);
    for (unsigned i = 0; i < width; i++) f->data[at + i] = (uint8_t)(value >> (8 * i));
}

void flat_link(flatfile *f, size_t at, size_t target) { flat_store(f, at, 4, target - at); }

/* Zero bytes at the next multiple of 16. */
static size_t append(flatfile *f, size_t size) {
    const size_t at = (f->size + 15) / 16 * 16;
    assert_true(at + size <= sizeof f->data);
    f->size = at + size;
    return at;
}

flatfile *new_flatfile(const char identifier[5]) {
    flatfile *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->size = 8;
    memcpy(f->data + 4, identifier, 4);
    return f;
}

void free_flatfile(flatfile *f) { free(f); }

/* The vtable, then the table: 8 bytes from its start on, 8 for each slot. */
static size_t append_table(flatfile *f, unsigned slots) {
    const size_t vtable = append(f, 4 + 2 * (size_t)slots);
    const size_t table = append(f, 8 + 8 * (size_t)slots);
    flat_store(f, vtable, 2, 4 + 2 * slots);
    flat_store(f, vtable + 2, 2, 8 + 8 * slots);
    flat_store(f, table, 4, table - vtable);
    return table;
}

static size_t field_of(flatfile *f, size_t table, unsigned slot) {
    size_t back = 0;
    for (unsigned i = 0; i < 4; i++) back |= (size_t)f->data[table + i] << (8 * i);
    flat_store(f, table - back + 4 + 2 * (size_t)slot, 2, 8 + 8 * slot);
    return table + 8 + 8 * (size_t)slot;
}

size_t flat_root(flatfile *f, unsigned slots) {
    const size_t table = append_table(f, slots);
    flat_link(f, 0, table);
    return table;
}

size_t flat_table(flatfile *f, size_t table, unsigned slot, unsigned slots) {
    const size_t child = append_table(f, slots);
    flat_link(f, field_of(f, table, slot), child);
    return child;
}

size_t flat_item(flatfile *f, size_t vector, unsigned index, unsigned slots) {
    const size_t child = append_table(f, slots);
    flat_link(f, vector + 4 * (size_t)index, child);
    return child;
}

size_t flat_number(flatfile *f, size_t table, unsigned slot, unsigned width, uint64_t value) {
    const size_t at = field_of(f, table, slot);
    flat_store(f, at, width, value);
    return at;
}

/* The count lies in the last 4 of 16 bytes, so that the elements are aligned. */
size_t flat_vector(flatfile *f, size_t table, unsigned slot, unsigned element_size,
                   uint32_t count) {
    const size_t at = append(f, 16 + (size_t)element_size * count) + 12;
    flat_link(f, field_of(f, table, slot), at);
    flat_store(f, at, 4, count);
    return at + 4;
}

size_t flat_text(flatfile *f, size_t table, unsigned slot, const char *text) {
    const size_t at = flat_vector(f, table, slot, 1, (uint32_t)strlen(text));
    memcpy(f->data + at, text, strlen(text));
    return at;
}

size_t flat_numbers(flatfile *f, size_t table, unsigned slot, const int32_t *values,
                    uint32_t count) {
    const size_t at = flat_vector(f, table, slot, 4, count);
    for (uint32_t i = 0; i < count; i++) flat_store(f, at + 4 * (size_t)i, 4, (uint32_t)values[i]);
    return at;
}
