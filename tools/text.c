/* Messages and text for people: complaints and notes on standard error, strings that grow, numbers
 * with units, names made fit for a terminal, and the nearest of several words to one that is none
 * of them (edit distance by dynamic programming, in the lengths' product). */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os.h"
#include "tool.h"

static bool quiet_notes;

void set_quiet(bool quiet) { quiet_notes = quiet; }

static bool silent_complaints;

void set_silent(bool silent) { silent_complaints = silent; }

/* An interrupt outranks everything, since its sender expects it; otherwise the higher number is the
 * graver. */
exit_code graver(exit_code a, exit_code b) { return a > b ? a : b; }

/* Running out of memory counts as input/output: the environment is at fault, neither the
 * input nor we. */
exit_code exit_for_status(arenaut_status status) {
    switch (status) {
        case ARENAUT_OK: return EXIT_FINE;
        case ARENAUT_BAD_ARGUMENT: return EXIT_USAGE;
        case ARENAUT_BAD_INPUT:
        case ARENAUT_UNSUPPORTED:
        case ARENAUT_TOO_LARGE:
        case ARENAUT_REFUSED: return EXIT_INPUT;
        case ARENAUT_REJECTED:
        case ARENAUT_NO_PLAN:
        case ARENAUT_NOT_FOUND: return EXIT_NEGATIVE;
        case ARENAUT_STOPPED: return EXIT_INTERRUPT;
        case ARENAUT_NO_MEMORY:
        case ARENAUT_IO: return EXIT_IO;
        case ARENAUT_INTERNAL: break;
    }
    return EXIT_BUG;
}

/* Length of the UTF-8 sequence at `p` if it is well formed and printable, else 0. C1
 * control characters (U+0080..U+009F) are sequences a terminal may obey. */
static size_t printable_length(const unsigned char *p) {
    if (p[0] < 0x80) return p[0] >= 0x20 && p[0] != 0x7F ? 1 : 0;
    const size_t n = p[0] >= 0xF0 ? 4 : p[0] >= 0xE0 ? 3 : 2;
    if (p[0] < 0xC2 || p[0] > 0xF4) return 0;
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xC0) != 0x80) return 0;
    }
    if (p[0] == 0xC2 && p[1] < 0xA0) return 0;
    if (p[0] == 0xE2 && p[1] == 0x80 && p[2] >= 0xAA && p[2] <= 0xAE) return 0; /* bidi */
    if (p[0] == 0xE2 && p[1] == 0x81 && p[2] >= 0xA6 && p[2] <= 0xA9) return 0; /* bidi */
    return n;
}

/* The tool has nothing to roll back while it makes text, so it may just end. */
static void put_bytes(arenaut_text *text, const char *bytes, size_t size) {
    const arenaut_sink sink = arenaut_text_sink(text);
    if (!sink.put(sink.context, bytes, size)) {
        fputs("arenaut: out of memory\n", stderr);
        exit(EXIT_IO);
    }
}

void text_put(arenaut_text *text, const char *string) { put_bytes(text, string, strlen(string)); }

void text_put_clean(arenaut_text *text, const char *string) {
    for (const unsigned char *p = (const unsigned char *)string; *p;) {
        const size_t n = printable_length(p);
        put_bytes(text, n ? (const char *)p : "?", n ? n : 1);
        p += n ? n : 1;
    }
}

static void text_vprintf(arenaut_text *text, const char *format, va_list args) {
    char few[512];
    va_list again;
    va_copy(again, args);
    const int length = vsnprintf(few, sizeof few, format, args);
    if (length >= 0 && (size_t)length < sizeof few) {
        put_bytes(text, few, (size_t)length);
    } else if (length >= 0) {
        char *many = must_allocate((size_t)length + 1, 1);
        vsnprintf(many, (size_t)length + 1, format, again);
        put_bytes(text, many, (size_t)length);
        free(many);
    }
    va_end(again);
}

void text_printf(arenaut_text *text, const char *format, ...) {
    va_list args;
    va_start(args, format);
    text_vprintf(text, format, args);
    va_end(args);
}

/* Control characters are escaped, and bytes that are not UTF-8 become U+FFFD: JSON must be valid
 * for any names of tensors. */
void text_put_json(arenaut_text *text, const char *string) {
    if (!string) {
        text_put(text, "null");
        return;
    }
    text_put(text, "\"");
    for (const unsigned char *p = (const unsigned char *)string; *p;) {
        const size_t n = printable_length(p);
        if (n == 0 && *p < 0x80) {
            text_printf(text, "\\u%04x", *p);
        } else if (n == 0) {
            text_put(text, "\\ufffd");
        } else {
            if (*p == '"' || *p == '\\') text_put(text, "\\");
            put_bytes(text, (const char *)p, n);
        }
        p += n ? n : 1;
    }
    text_put(text, "\"");
}

void text_put_json_u64(arenaut_text *text, uint64_t n) {
    const uint64_t exact = (UINT64_C(1) << 53) - 1;
    text_printf(text, n <= exact ? "%" PRIu64 : "\"%" PRIu64 "\"", n);
}

void text_pad(arenaut_text *text, size_t columns) {
    for (size_t i = 0; i < columns; i++) text_put(text, " ");
}

static arenaut_text *kept_complaints;

void keep_complaints(arenaut_text *kept) { kept_complaints = kept; }

static void keep_complaint(exit_code code, const char *about, const char *format, va_list args) {
    arenaut_text message = {0};
    if (!kept_complaints || silent_complaints) return;
    text_vprintf(&message, format, args);
    text_printf(kept_complaints, "%s{\"exit\": %d, \"about\": ", kept_complaints->size ? ", " : "",
                (int)code);
    text_put_json(kept_complaints, about);
    text_put(kept_complaints, ", \"message\": ");
    text_put_json(kept_complaints, message.bytes ? message.bytes : "");
    text_put(kept_complaints, "}");
    arenaut_text_free(&message);
}

/* The whole message passes the filter: any part of it may come from a file. */
static void print_message(const char *about, const char *format, va_list args) {
    arenaut_text raw = {0}, line = {0};
    if (silent_complaints) return;
    if (about) text_printf(&raw, "%s: ", about);
    text_vprintf(&raw, format, args);
    text_put(&line, "arenaut: ");
    text_put_clean(&line, raw.bytes ? raw.bytes : "");
    fprintf(stderr, "%s\n", line.bytes);
    arenaut_text_free(&raw);
    arenaut_text_free(&line);
}

exit_code complain(exit_code code, const char *about, const char *format, ...) {
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    print_message(about, format, args);
    keep_complaint(code, about, format, again);
    va_end(again);
    va_end(args);
    return code;
}

static uint64_t memory_limit = UINT64_MAX;

void set_memory_limit(uint64_t bytes) { memory_limit = bytes; }

exit_code complain_memory(const char *about) {
    if (memory_limit == UINT64_MAX) return complain(EXIT_IO, about, "out of memory");
    return complain(EXIT_IO, about, "out of memory: --max-memory allows this process %s bytes",
                    with_commas(memory_limit).text);
}

/* The library's own message, which names the object, the value found and the values allowed. */
exit_code complain_error(const char *about, const arenaut_error *err) {
    const char *text = err->msg[0] ? err->msg : arenaut_status_text(err->code);
    if (err->code == ARENAUT_NO_MEMORY) return complain_memory(about);
    if (err->code == ARENAUT_INTERNAL) {
        return complain(EXIT_BUG, about, "%s (a bug in arenaut: please report it)", text);
    }
    return complain(exit_for_status(err->code), about, "%s", text);
}

void note(const char *about, const char *format, ...) {
    if (quiet_notes) return;
    va_list args;
    va_start(args, format);
    print_message(about, format, args);
    va_end(args);
}

number_text with_commas(uint64_t n) {
    char digits[24];
    const int length = snprintf(digits, sizeof digits, "%" PRIu64, n);
    number_text out = {""};
    char *to = out.text;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) *to++ = ',';
        *to++ = digits[i];
    }
    return out;
}

number_text in_units(uint64_t bytes) {
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    number_text out;
    if (bytes < 1024) {
        snprintf(out.text, sizeof out.text, "%" PRIu64 " B", bytes);
        return out;
    }
    unsigned unit = 0;
    while (unit + 1 < sizeof units / sizeof *units && bytes >> (10 * (unit + 2))) unit++;
    const unsigned shift = 10 * (unit + 1);
    const uint64_t rest = bytes & ((UINT64_C(1) << shift) - 1);
    /* One decimal, rounded down: 10 × rest must not overflow for EiB. */
    const uint64_t tenth = (rest >> (shift - 10)) * 10 >> 10;
    snprintf(out.text, sizeof out.text, "%" PRIu64 ".%" PRIu64 " %s", bytes >> shift, tenth,
             units[unit]);
    return out;
}

/* part / whole in tenths of a percent, rounded to nearest. */
static uint64_t per_mille(uint64_t part, uint64_t whole) {
    if (whole == 0) return 0;
    while (part > UINT64_MAX / 2048) {
        part >>= 1;
        whole >>= 1;
    }
    return whole ? (part * 1000 + whole / 2) / whole : 0;
}

number_text tenths_percent(uint64_t part, uint64_t whole) {
    const uint64_t tenths = per_mille(part, whole);
    number_text out;
    snprintf(out.text, sizeof out.text, "%" PRIu64 ".%" PRIu64 " %%", tenths / 10, tenths % 10);
    return out;
}

number_text change_percent(uint64_t from, uint64_t to) {
    const uint64_t tenths = per_mille(from > to ? from - to : to - from, from);
    number_text out;
    snprintf(out.text, sizeof out.text, "%s%" PRIu64 ".%" PRIu64 " %%",
             to > from   ? "+"
             : to < from ? "-"
                         : "",
             tenths / 10, tenths % 10);
    return out;
}

short_name shortened(const char *name) {
    enum { KEPT = 40 };
    short_name out;
    const size_t length = strlen(name);
    if (length < KEPT + 4) {
        strcpy(out.text, name);
        return out;
    }
    const char *end = name + length - KEPT;
    while (((unsigned char)*end & 0xC0) == 0x80) end++; /* not in the middle of a character */
    snprintf(out.text, sizeof out.text, "...%s", end);
    return out;
}

/* Characters a terminal shows for UTF-8 text, counting each code point as one. */
static size_t columns_of(const char *text) {
    size_t columns = 0;
    for (; *text; text++) columns += ((unsigned char)*text & 0xC0) != 0x80;
    return columns;
}

size_t columns_left(size_t width, size_t used) { return width > used ? width - used : 0; }

/* Edit distance with swaps of neighbours, the commonest slip; words are short. */
enum { LONGEST_WORD = 40 };

static size_t edit_distance(const char *a, const char *b) {
    const size_t n = strlen(a), m = strlen(b);
    size_t row[3][LONGEST_WORD + 1];
    if (n > LONGEST_WORD || m > LONGEST_WORD) return SIZE_MAX;
    for (size_t j = 0; j <= m; j++) row[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t *now = row[i % 3], *before = row[(i + 2) % 3], *earlier = row[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t best = before[j - 1] + (a[i - 1] != b[j - 1]);
            if (before[j] + 1 < best) best = before[j] + 1;
            if (now[j - 1] + 1 < best) best = now[j - 1] + 1;
            const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped && earlier[j - 2] + 1 < best) best = earlier[j - 2] + 1;
            now[j] = best;
        }
    }
    return row[n % 3][m];
}

/* Whether letters are left out, and no more: "grdy" of "greedy". */
static bool is_abbreviation(const char *word, const char *of) {
    if (*word != *of || strlen(word) < 4 || strlen(of) > 2 * strlen(word)) return false;
    for (; *of && *word; of++) word += *word == *of;
    return !*word;
}

static size_t count_slips(const char *word, const char *name) {
    return is_abbreviation(word, name) ? 1 : edit_distance(word, name);
}

/* From the nearest of a name's words, as "greedy" of "tflm-greedy"; one more than from the same
 * whole name. */
static size_t distance_to_words(const char *word, const char *name) {
    size_t best = SIZE_MAX;
    if (strlen(name) > LONGEST_WORD || strlen(word) < 4) return best;
    for (const char *at = name; *at; at += strspn(at, "-_")) {
        char part[LONGEST_WORD + 1] = "";
        const size_t length = strcspn(at, "-_");
        memcpy(part, at, length);
        const size_t distance = count_slips(word, part);
        if (distance < best) best = distance + 1;
        at += length;
    }
    return best;
}

const char *nearest(const char *word, const char *const *candidates, size_t n) {
    const char *found = NULL;
    size_t best = strlen(word) / 3 + 2; /* more slips than that is another word */
    for (size_t i = 0; i < n; i++) {
        const bool part = strlen(word) > 2 && strstr(candidates[i], word);
        size_t distance = part ? 1 : count_slips(word, candidates[i]);
        const size_t by_words = distance_to_words(word, candidates[i]);
        if (by_words < distance) distance = by_words;
        const bool as_near =
            found && distance == best && *found != *word && *candidates[i] == *word;
        if (distance < best || as_near) {
            best = distance;
            found = candidates[i];
        }
    }
    return found;
}

const char *base_name(const char *path) {
    const char *name = path + os_folder_length(path);
    return *name ? name : path;
}

void *must_allocate(size_t count, size_t size) {
    void *block = calloc(count ? count : 1, size ? size : 1);
    if (!block) {
        fputs("arenaut: out of memory\n", stderr);
        exit(EXIT_IO);
    }
    return block;
}

/* Tables of text. Cells are collected first, since a column is as wide as its widest cell; lines
 * are put out with two spaces between columns and none at the end. Terminal codes are here too. */

void table_begin(text_table *table, const char *align) {
    *table = (text_table){.align = align, .n_columns = strlen(align)};
}

/* Cells come one by one, so the table needs no row count in advance. */
static arenaut_text *next_cell(text_table *table) {
    if (table->n_cells == table->capacity) {
        table->capacity = table->capacity * 2 + 32;
        arenaut_text *grown = must_allocate(table->capacity, sizeof *grown);
        if (table->n_cells) memcpy(grown, table->cells, table->n_cells * sizeof *grown);
        free(table->cells);
        table->cells = grown;
    }
    return &table->cells[table->n_cells++];
}

void table_cell(text_table *table, const char *text) { text_put_clean(next_cell(table), text); }

void table_cellf(text_table *table, const char *format, ...) {
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    table_cell(table, text);
}

static const char *cell_text(const text_table *table, size_t index) {
    return table->cells[index].bytes ? table->cells[index].bytes : "";
}

static void print_row(const text_table *table, size_t row, const size_t *widths,
                      arenaut_text *out) {
    size_t owed = 0; /* spaces, put only before more text, so that no line ends in them */
    for (size_t c = 0; c < table->n_columns; c++) {
        if (table->align[c] == 'R' && widths[c] == 0) continue;
        const char *text = cell_text(table, row * table->n_columns + c);
        const size_t room = columns_left(widths[c], columns_of(text));
        if (table->align[c] != 'l') owed += room;
        if (*text) {
            text_pad(out, owed);
            text_put(out, text);
            owed = 0;
        }
        if (!*text && table->align[c] == 'l') owed += room;
        else if (table->align[c] == 'l') owed = room;
        owed += 2;
    }
}

void table_end(text_table *table, arenaut_text *out, const char *heading, const char *plain) {
    size_t widths[TABLE_MAX_COLUMNS] = {0};
    for (size_t i = table->n_cells; i-- > 0;) { /* from below, so that headings come last */
        const size_t c = i % table->n_columns;
        if (i < table->n_columns && table->align[c] == 'R' && widths[c] == 0) continue;
        const size_t width = columns_of(cell_text(table, i));
        if (width > widths[c]) widths[c] = width;
    }
    for (size_t row = 0; row < table->n_cells / table->n_columns; row++) {
        if (row == 0) text_put(out, heading);
        print_row(table, row, widths, out);
        if (row == 0) text_put(out, plain);
        text_put(out, "\n");
    }
    table_drop(table);
}

void table_drop(text_table *table) {
    for (size_t i = 0; i < table->n_cells; i++) arenaut_text_free(&table->cells[i]);
    free(table->cells);
}

/* Colour is decoration: nothing that is printed depends on it. NO_COLOR (no-color.org) and a
 * dumb terminal turn it off, --color overrules both. */
text_style style_for(const char *color_option) {
    static const text_style none = {"", "", "", "", ""};
    static const text_style ansi = {"\033[1m", "\033[2m", "\033[32m", "\033[31m", "\033[0m"};
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    if (color_option && strcmp(color_option, "always") == 0) return ansi;
    if (color_option && strcmp(color_option, "never") == 0) return none;
    if ((no_color && *no_color) || (term && strcmp(term, "dumb") == 0)) return none;
    return os_is_terminal(OS_STANDARD_OUTPUT) ? ansi : none;
}
