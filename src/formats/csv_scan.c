/* Scanner of CSV records, and the table of headers. Cells are borrowed from the text; scanning is
 * linear, and a record with too many cells is refused before it is kept. */
#include <string.h>

#include "core/fail.h"
#include "formats/csv.h"

void arn_csv_begin(arn_csv_scanner *scanner, const uint8_t *data, size_t size) {
    const bool marked = size >= 3 && memcmp(data, "\xEF\xBB\xBF", 3) == 0;
    scanner->at = (const char *)data + (marked ? 3 : 0);
    scanner->end = (const char *)data + size;
    scanner->line = scanner->record_line = 1;
    scanner->n_cells = 0;
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static arn_csv_cell trimmed(const char *first, const char *end) {
    while (first < end && is_blank(*first)) first++;
    while (end > first && is_blank(end[-1])) end--;
    const arn_csv_cell cell = {first, (size_t)(end - first), false};
    return cell;
}

/* A cell in quotes, with `at` on the opening one; it may run over several lines. */
static arenaut_status take_quoted(arn_csv_scanner *scanner, arn_csv_cell *cell,
                                  arenaut_error *err) {
    const size_t opened = scanner->line;
    const char *p = scanner->at + 1;
    const char *const first = p;
    for (; p < scanner->end; p++) {
        if (*p == '\n') scanner->line++;
        if (*p != '"') continue;
        if (p + 1 == scanner->end || p[1] != '"') break;
        p++;
    }
    if (p == scanner->end) {
        return arn_fail(err, ARENAUT_BAD_INPUT, opened, "line %zu: a quote is never closed",
                        opened);
    }
    cell->text = first;
    cell->length = (size_t)(p - first);
    cell->quoted = true;
    for (p++; p < scanner->end && is_blank(*p); p++) continue;
    if (p < scanner->end && *p != ',' && *p != '\n') {
        return arn_fail(err, ARENAUT_BAD_INPUT, scanner->line,
                        "line %zu: '%c' after a closing quote; expected a comma or the line's end",
                        scanner->line, *p >= 0x20 && *p < 0x7F ? *p : '?');
    }
    scanner->at = p;
    return ARENAUT_OK;
}

static arenaut_status take_cell(arn_csv_scanner *scanner, arn_csv_cell *cell, arenaut_error *err) {
    const char *p = scanner->at;
    while (p < scanner->end && is_blank(*p)) p++;
    if (p < scanner->end && *p == '"') {
        scanner->at = p;
        return take_quoted(scanner, cell, err);
    }
    while (p < scanner->end && *p != ',' && *p != '\n') p++;
    *cell = trimmed(scanner->at, p);
    scanner->at = p;
    return ARENAUT_OK;
}

static arenaut_status take_record(arn_csv_scanner *scanner, arenaut_error *err) {
    scanner->record_line = scanner->line;
    scanner->n_cells = 0;
    for (;;) {
        if (scanner->n_cells == ARN_CSV_MAX_CELLS) {
            return arn_fail(err, ARENAUT_BAD_INPUT, scanner->line, "line %zu: more than %d columns",
                            scanner->line, ARN_CSV_MAX_CELLS);
        }
        const arenaut_status st = take_cell(scanner, &scanner->cells[scanner->n_cells++], err);
        if (st != ARENAUT_OK) return st;
        if (scanner->at == scanner->end || *scanner->at == '\n') break;
        scanner->at++;
    }
    if (scanner->at < scanner->end) {
        scanner->at++;
        scanner->line++;
    }
    return ARENAUT_OK;
}

arenaut_status arn_csv_next(arn_csv_scanner *scanner, arenaut_error *err) {
    while (scanner->at < scanner->end) {
        const arenaut_status st = take_record(scanner, err);
        if (st != ARENAUT_OK) return st;
        const arn_csv_cell *only = &scanner->cells[0];
        if (scanner->n_cells > 1 || only->length > 0 || only->quoted) return ARENAUT_OK;
    }
    scanner->n_cells = 0;
    return ARENAUT_OK;
}

bool arn_csv_take_digits(const char **at, const char *end, uint64_t *value) {
    const char *p = *at;
    uint64_t sum = 0;
    for (; p < end && *p >= '0' && *p <= '9'; p++) {
        const unsigned digit = (unsigned)(*p - '0');
        if (sum > (UINT64_MAX - digit) / 10) return false;
        sum = sum * 10 + digit;
    }
    if (p == *at) return false;
    *at = p;
    *value = sum;
    return true;
}

bool arn_csv_take_step(const char **at, const char *end, int64_t *value) {
    const bool negative = *at < end && **at == '-';
    const char *p = *at + (negative ? 1 : 0);
    uint64_t magnitude;
    if (!arn_csv_take_digits(&p, end, &magnitude)) return false;
    if (magnitude > (uint64_t)INT64_MAX + (negative ? 1 : 0)) return false;
    *value = !negative ? (int64_t)magnitude : magnitude == 0 ? 0 : -(int64_t)(magnitude - 1) - 1;
    *at = p;
    return true;
}

size_t arn_csv_decode(const arn_csv_cell *cell, char *to) {
    size_t used = 0;
    for (size_t i = 0; i < cell->length; i++) {
        to[used++] = cell->text[i];
        if (cell->quoted && cell->text[i] == '"') i++;
    }
    return used;
}

const arn_csv_header *arn_csv_header_find(const arn_csv_cell *cell) {
    static const arn_csv_header headers[] = {
        {"id", ARN_CSV_ID, false},        {"buffer", ARN_CSV_ID, false},
        {"buffer_id", ARN_CSV_ID, false}, {"lower", ARN_CSV_LOWER, false},
        {"start", ARN_CSV_LOWER, false},  {"begin", ARN_CSV_LOWER, false},
        {"upper", ARN_CSV_UPPER, false},  {"end", ARN_CSV_UPPER, true},
        {"size", ARN_CSV_SIZE, false},    {"alignment", ARN_CSV_ALIGNMENT, false},
        {"gaps", ARN_CSV_GAPS, false},    {"offset", ARN_CSV_OFFSET, false},
        {"hint", ARN_CSV_HINT, false},    {"pool", ARN_CSV_POOL, false},
    };
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        if (strlen(headers[i].name) == cell->length &&
            memcmp(headers[i].name, cell->text, cell->length) == 0) {
            return &headers[i];
        }
    }
    return NULL;
}
