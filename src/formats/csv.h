/* Common parts of the CSV reader and writer. */
#ifndef ARN_FORMATS_CSV_H
#define ARN_FORMATS_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <arenaut/format.h>

#include "core/writer.h"

/* A record with more cells is refused: no problem has so many columns. */
enum { ARN_CSV_MAX_CELLS = 256 };

/* One cell as it stands in the input, without its quotes. */
typedef struct arn_csv_cell {
    const char *text;
    size_t length;
    bool quoted; /* then "" inside stands for one quote */
} arn_csv_cell;

/* Takes one record after the other from CSV text. */
typedef struct arn_csv_scanner {
    const char *at, *end;
    size_t line;        /* of `at`, counted from 1 */
    size_t record_line; /* where the record in `cells` began */
    arn_csv_cell cells[ARN_CSV_MAX_CELLS];
    uint32_t n_cells;
} arn_csv_scanner;

/* Skips a byte order mark. */
void arn_csv_begin(arn_csv_scanner *scanner, const uint8_t *data, size_t size);
/* The next record that is not blank; n_cells is 0 at the end of the input. */
arenaut_status arn_csv_next(arn_csv_scanner *scanner, arenaut_error *err);

/* Takes decimal digits at *at. False, with *at unchanged, if there are none or the value passes
 * 2^64 - 1; the second takes a sign too, and may pass neither -2^63 nor 2^63 - 1. */
bool arn_csv_take_digits(const char **at, const char *end, uint64_t *value);
bool arn_csv_take_step(const char **at, const char *end, int64_t *value);
/* The text that a cell stands for, in at most as many bytes as the cell has, without a NUL. */
size_t arn_csv_decode(const arn_csv_cell *cell, char *to);

/* The columns that mean something; several headers may name one. */
typedef enum arn_csv_column {
    ARN_CSV_ID,
    ARN_CSV_LOWER,
    ARN_CSV_UPPER,
    ARN_CSV_SIZE,
    ARN_CSV_REQUIRED, /* the columns above must be there */
    ARN_CSV_ALIGNMENT = ARN_CSV_REQUIRED,
    ARN_CSV_GAPS,
    ARN_CSV_OFFSET,
    ARN_CSV_HINT,
    ARN_CSV_POOL,
    ARN_CSV_COLUMNS
} arn_csv_column;

typedef struct arn_csv_header {
    const char *name;
    arn_csv_column column;
    bool inclusive; /* the last step that is part of the lifetime, not the one after */
} arn_csv_header;

/* NULL for a header that means nothing here. */
const arn_csv_header *arn_csv_header_find(const arn_csv_cell *cell);

/* Names come from files of unknown origin, and CSV is opened in terminals and spreadsheets. So
 * control characters, and bytes that are no UTF-8, are written as \u001b and \x9b, and a name that
 * a spreadsheet would compute (=, +, -, @ in front, unless it is a plain number) gets an apostrophe
 * in front. Reading undoes just that. */
void arn_csv_put_name(arn_writer *writer, const char *name);
void arn_csv_take_name(char *name); /* in place; it never grows */

arenaut_status arn_csv_read(const uint8_t *data, size_t size, const arenaut_read_options *options,
                            const arenaut_allocator *allocator, arenaut_document *out,
                            arenaut_error *err);

#endif
