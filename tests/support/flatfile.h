/* Writes small flatbuffers, right or wrong, field by field. Parents come before their
 * children, since offsets lead forward only:
 *
 *     flatfile *f = new_flatfile("TFL3");
 *     const size_t model = flat_root(f, 5);                 // a table with room for 5 slots
 *     flat_number(f, model, 0, 4, 3);                       // slot 0: a 32-bit 3
 *     const size_t graphs = flat_vector(f, model, 2, 4, 1); // slot 2: one offset
 *     const size_t graph = flat_item(f, graphs, 0, 5);      // … to a table
 *
 * A position is counted from the start of the file. Everything fails the test rather than
 * return an error. */
#ifndef SUPPORT_FLATFILE_H
#define SUPPORT_FLATFILE_H

#include <stddef.h>
#include <stdint.h>

typedef struct flatfile {
    uint8_t data[1 << 15];
    size_t size;
} flatfile;

flatfile *new_flatfile(const char identifier[5]);
void free_flatfile(flatfile *f);

/* A table that each slot is given 8 bytes in; a slot that is never set stays absent. */
size_t flat_root(flatfile *f, unsigned slots);
size_t flat_table(flatfile *f, size_t table, unsigned slot, unsigned slots);
/* An element of a vector of offsets. */
size_t flat_item(flatfile *f, size_t vector, unsigned index, unsigned slots);

/* Return the position of the value: a test overwrites it to spoil the file. */
size_t flat_number(flatfile *f, size_t table, unsigned slot, unsigned width, uint64_t value);
/* The first element's position; elements are zero, `align` is that of the first element. */
size_t flat_vector(flatfile *f, size_t table, unsigned slot, unsigned element_size, uint32_t count);
size_t flat_text(flatfile *f, size_t table, unsigned slot, const char *text);
size_t flat_numbers(flatfile *f, size_t table, unsigned slot, const int32_t *values,
                    uint32_t count);

void flat_store(flatfile *f, size_t at, unsigned width, uint64_t value);
/* Makes the offset stored at `at` lead to `target`. */
void flat_link(flatfile *f, size_t at, size_t target);

#endif
