/* Scanner of CSV records, and the table of headers. Cells are borrowed from the text; scanning is
 * linear, and a record with too many cells is refused before it is kept. */
#include <string.h>

#include "core/fail.h"
#include "core/utf8.h"
#include "formats/csv.h"

/* csv names: escapes of names in cells, against terminals and spreadsheets that would obey them,
 * and their inverse. */

/* "-5" and "+3.25" are values, not formulas, and ids are often numbers. */
static bool is_number(const char *text) {
    text += *text == '-' || *text == '+';
    const size_t whole = strspn(text, "0123456789");
    text += whole;
    if (*text == '.') text += 1 + strspn(text + 1, "0123456789");
    return whole > 0 && *text == '\0';
}

/* An apostrophe in front of one of these was put there when the name was written; that of a name
 * which begins with one is doubled, to be told from it. */
static bool is_defused(char first) { return first && strchr("=+-@'\t", first); }

static bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

static unsigned hex_digit(char c) { return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10); }

/* The value of `n` hexadecimal digits; 0 where there are fewer. */
static unsigned hex_value(const char *digits, size_t n) {
    unsigned value = 0;
    for (size_t i = 0; i < n; i++) {
        if (!is_hex(digits[i])) return 0;
        value = value << 4 | hex_digit(digits[i]);
    }
    return value;
}

/* Line ends and tabs are no harm inside quotes. */
static bool is_escaped(unsigned code) { return code && code != '\n' && code != '\t'; }

/* The length of the sequence at `p`, within the string; 0 if it is no UTF-8. */
static size_t sequence_length(const char *p) {
    size_t room = 0;
    while (room < 4 && p[room]) room++;
    return arn_utf8_length((const unsigned char *)p, room);
}

static void put_escaped(arn_writer *writer, const char *name) {
    for (const char *p = name; *p;) {
        const size_t n = sequence_length(p);
        const unsigned code = n ? arn_utf8_unshown((const unsigned char *)p, n) : 0;
        if (n == 0) {
            arn_putf(writer, "\\x%02x", (unsigned)(unsigned char)*p);
        } else if (is_escaped(code)) {
            arn_putf(writer, "\\u%04x", code);
        } else if (*p == '\\' && (p[1] == 'u' || p[1] == 'x')) {
            arn_puts(writer, "\\u005c"); /* else it would be read as an escape */
        } else {
            if (*p == '"') arn_puts(writer, "\"");
            arn_put(writer, p, n);
        }
        p += n ? n : 1;
    }
}

/* In quotes only where it must be, since MiniMalloc's own reader knows none. */
void arn_csv_put_name(arn_writer *writer, const char *name) {
    const size_t length = strlen(name);
    const bool blank_edge =
        length == 0 || strchr(" \t", name[0]) || strchr(" \t", name[length - 1]);
    const bool quoted = blank_edge || strpbrk(name, ",\"\n");
    if (quoted) arn_puts(writer, "\"");
    if (is_defused(name[0]) && !is_number(name)) arn_puts(writer, "'");
    put_escaped(writer, name);
    if (quoted) arn_puts(writer, "\"");
}

/* The bytes of an escape at `p`, and their number in *taken; 0 if there is none that is ever
 * written. */
static size_t decode(const char *p, char out[3], size_t *taken) {
    if (p[0] != '\\') return 0;
    if (p[1] == 'x') {
        const unsigned byte = hex_value(p + 2, 2);
        out[0] = (char)byte;
        *taken = 4;
        return byte >= 0x80;
    }
    const unsigned code = p[1] == 'u' ? hex_value(p + 2, 4) : 0;
    unsigned char utf8[3] = {(unsigned char)code};
    size_t n = 1;
    if (code >= 0x800) {
        utf8[0] = (unsigned char)(0xE0 | code >> 12);
        utf8[1] = (unsigned char)(0x80 | (code >> 6 & 0x3F));
        utf8[2] = (unsigned char)(0x80 | (code & 0x3F));
        n = 3;
    } else if (code >= 0x80) {
        utf8[0] = (unsigned char)(0xC0 | code >> 6);
        utf8[1] = (unsigned char)(0x80 | (code & 0x3F));
        n = 2;
    }
    memcpy(out, utf8, n);
    *taken = 6;
    return code == '\\' || is_escaped(arn_utf8_unshown(utf8, n)) ? n : 0;
}

void arn_csv_take_name(char *name) {
    const char *from = name + (name[0] == '\'' && is_defused(name[1]));
    char *to = name;
    while (*from) {
        char bytes[3];
        size_t taken = 0;
        const size_t n = decode(from, bytes, &taken);
        if (n) {
            memcpy(to, bytes, n);
            to += n;
            from += taken;
        } else {
            *to++ = *from++;
        }
    }
    *to = '\0';
}

/* ---- records and headers ---- */

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
