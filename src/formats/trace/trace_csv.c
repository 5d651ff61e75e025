/* Traces as CSV: an event a line. The header names the columns; `event` and `size` must be there,
 * and `address` or `id`. */
#include "formats/trace/trace.h"

#include <stdio.h>
#include <string.h>

#include "formats/csv.h"

typedef enum column {
    EVENT,
    SIZE,
    ADDRESS,
    ID,
    TIME,
    DEVICE,
    STREAM,
    TAG,
    ALIGNMENT,
    COLUMNS,
} column;

static const char *const names[COLUMNS] = {"event",  "size",   "address", "id",       "time",
                                           "device", "stream", "tag",     "alignment"};

typedef struct reader {
    arn_csv_scanner scanner;
    arn_trace_events *events;
    const arenaut_read_options *options;
    uint32_t cell_of[COLUMNS]; /* ARENAUT_NONE: there is no such column */
    uint32_t header_cells;
} reader;

static uint32_t find_column(const arn_csv_cell *cell) {
    for (uint32_t c = 0; c < COLUMNS; c++) {
        if (strlen(names[c]) == cell->length && memcmp(names[c], cell->text, cell->length) == 0) {
            return c;
        }
    }
    return COLUMNS;
}

/* By its first line. */
bool arn_trace_csv_recognise(const uint8_t *data, size_t size) {
    enum { FARTHEST = 1 << 12 };
    arn_csv_scanner scanner;
    arn_csv_begin(&scanner, data, size < FARTHEST ? size : FARTHEST);
    if (arn_csv_next(&scanner, NULL) != ARENAUT_OK) return false;
    unsigned seen = 0;
    for (uint32_t i = 0; i < scanner.n_cells; i++) {
        const uint32_t c = find_column(&scanner.cells[i]);
        if (c < COLUMNS) seen |= 1u << c;
    }
    return (seen >> EVENT & 1) && (seen >> SIZE & 1) && (seen >> ADDRESS & 3);
}

static arn_trace_event here(const reader *r) {
    const arn_trace_event event = {.line = r->scanner.record_line,
                                   .address = ARENAUT_UNPLACED,
                                   .size = ARENAUT_UNPLACED,
                                   .align = ARENAUT_UNPLACED};
    return event;
}

static arenaut_status cell_error(const reader *r, column c, const char *expected) {
    const arn_csv_cell *cell = &r->scanner.cells[r->cell_of[c]];
    const arn_trace_event event = here(r);
    return arn_trace_fail(r->events, &event, "column '%s': found '%.*s'; expected %s", names[c],
                          cell->length < 40 ? (int)cell->length : 40, cell->text, expected);
}

static void note_unknown(const reader *r, const arn_csv_cell *cell) {
    char text[160];
    if (!r->options || !r->options->note) return;
    snprintf(text, sizeof text, "column '%.*s' is not known and is ignored",
             cell->length < 60 ? (int)cell->length : 60, cell->text);
    r->options->note(r->options->note_context, text);
}

static arenaut_status read_header(reader *r) {
    for (uint32_t c = 0; c < COLUMNS; c++) r->cell_of[c] = ARENAUT_NONE;
    const arenaut_status st = arn_csv_next(&r->scanner, r->events->err);
    if (st != ARENAUT_OK) return st;
    r->header_cells = r->scanner.n_cells;
    for (uint32_t i = 0; i < r->header_cells; i++) {
        const uint32_t c = find_column(&r->scanner.cells[i]);
        if (c == COLUMNS) {
            note_unknown(r, &r->scanner.cells[i]);
        } else if (r->cell_of[c] != ARENAUT_NONE) {
            return cell_error(r, c, "each column once");
        } else {
            r->cell_of[c] = i;
        }
    }
    const arn_trace_event event = here(r);
    const bool whole = r->cell_of[EVENT] != ARENAUT_NONE && r->cell_of[SIZE] != ARENAUT_NONE &&
                       (r->cell_of[ADDRESS] != ARENAUT_NONE || r->cell_of[ID] != ARENAUT_NONE);
    return whole ? ARENAUT_OK
                 : arn_trace_fail(r->events, &event,
                                  "the header must name event, size, and address or id");
}

/* NULL if there is no such column, or the cell is blank. */
static const arn_csv_cell *cell_in(const reader *r, column c) {
    const uint32_t cell = r->cell_of[c];
    return cell == ARENAUT_NONE || r->scanner.cells[cell].length == 0 ? NULL
                                                                      : &r->scanner.cells[cell];
}

/* A copy that lasts; NULL where there is none. */
static arenaut_status read_text(const reader *r, column c, const char **text) {
    const arn_csv_cell *cell = cell_in(r, c);
    *text = NULL;
    if (!cell) return ARENAUT_OK;
    if (memchr(cell->text, '\0', cell->length)) return cell_error(r, c, "text without NUL bytes");
    char *copy = arn_region_allocate(&r->events->texts, cell->length + 1, 1);
    if (!copy) return arn_no_memory(r->events->err);
    copy[arn_csv_decode(cell, copy)] = '\0';
    arn_csv_take_name(copy);
    *text = copy;
    return ARENAUT_OK;
}

static bool take_hex(const char *at, const char *end, uint64_t *value) {
    uint64_t sum = 0;
    if (at == end) return false;
    for (; at < end; at++) {
        const char c = *at;
        const int digit = c >= '0' && c <= '9'   ? c - '0'
                          : c >= 'a' && c <= 'f' ? c - 'a' + 10
                          : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                 : -1;
        if (digit < 0 || sum >> 60) return false;
        sum = sum << 4 | (unsigned)digit;
    }
    *value = sum;
    return true;
}

bool arn_trace_take_number(const char *at, const char *end, uint64_t *value) {
    const bool hex = end - at > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X');
    if (hex) return take_hex(at + 2, end, value) && *value <= ARENAUT_SIZE_MAX;
    return arn_csv_take_digits(&at, end, value) && at == end && *value <= ARENAUT_SIZE_MAX;
}

static arenaut_status read_number(const reader *r, column c, uint64_t *value) {
    const arn_csv_cell *cell = cell_in(r, c);
    if (!cell || arn_trace_take_number(cell->text, cell->text + cell->length, value)) {
        return ARENAUT_OK;
    }
    return cell_error(r, c, "an integer from 0 to 2^63 - 1, or 0x and its hexadecimal digits");
}

static arenaut_status read_kind(const reader *r, arn_trace_kind *kind) {
    const arn_csv_cell *cell = &r->scanner.cells[r->cell_of[EVENT]];
    for (uint32_t k = 0; k < ARN_TRACE_KINDS; k++) {
        const char *word = arn_trace_word(k);
        if (strlen(word) != cell->length || memcmp(word, cell->text, cell->length) != 0) continue;
        *kind = (arn_trace_kind)k;
        return ARENAUT_OK;
    }
    return cell_error(r, EVENT, "alloc, free, reserve or release");
}

static arenaut_status read_time(const reader *r, int64_t *time, bool *given) {
    const arn_csv_cell *cell = cell_in(r, TIME);
    *given = cell != NULL;
    if (!cell) return ARENAUT_OK;
    const char *at = cell->text, *end = at + cell->length;
    if (arn_csv_take_step(&at, end, time) && at == end) return ARENAUT_OK;
    return cell_error(r, TIME, "an integer from -2^63 to 2^63 - 1");
}

static arenaut_status read_row(const reader *r) {
    arn_trace_event event = here(r);
    const char *device, *stream;
    int64_t time = 0;
    bool timed;
    arenaut_status st = read_kind(r, &event.kind);
    if (st == ARENAUT_OK) st = read_number(r, SIZE, &event.size);
    if (st == ARENAUT_OK) st = read_number(r, ADDRESS, &event.address);
    if (st == ARENAUT_OK) st = read_number(r, ALIGNMENT, &event.align);
    if (st == ARENAUT_OK) st = read_time(r, &time, &timed);
    if (st == ARENAUT_OK) st = read_text(r, ID, &event.id);
    if (st == ARENAUT_OK) st = read_text(r, TAG, &event.tag);
    if (st == ARENAUT_OK) st = read_text(r, DEVICE, &device);
    if (st == ARENAUT_OK) st = read_text(r, STREAM, &stream);
    if (st != ARENAUT_OK) return st;
    return arn_trace_add(r->events, event, device, stream, timed ? &time : NULL);
}

static arenaut_status read_rows(reader *r) {
    for (;;) {
        const arenaut_status st = arn_csv_next(&r->scanner, r->events->err);
        if (st != ARENAUT_OK || r->scanner.n_cells == 0) return st;
        if (r->scanner.n_cells != r->header_cells) {
            const arn_trace_event event = here(r);
            return arn_trace_fail(r->events, &event, "%u cells; the header names %u columns",
                                  r->scanner.n_cells, r->header_cells);
        }
        const arenaut_status row = read_row(r);
        if (row != ARENAUT_OK) return row;
    }
}

arenaut_status arn_trace_read_csv(const uint8_t *data, size_t size,
                                  const arenaut_read_options *options, arn_trace_events *events) {
    /* On the heap because of its cells, which would take 6 KiB of stack. */
    reader *r = arn_allocate_zeroed(events->allocator, 1, sizeof *r);
    if (!r) return arn_no_memory(events->err);
    r->events = events;
    r->options = options;
    arn_csv_begin(&r->scanner, data, size);
    arenaut_status st = read_header(r);
    if (st == ARENAUT_OK) st = read_rows(r);
    arn_release(events->allocator, r);
    return st;
}
