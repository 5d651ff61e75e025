/* The scratch file: kernel scratch bytes per op, as CSV. Reads rows into a table in which scratch.c
 * looks ops up, and names the wrong line. O(rows). */
#include <inttypes.h>
#include <string.h>

#include <arenaut/pass.h>

#include "core/checked.h"
#include "core/fail.h"
#include "core/memory.h"
#include "passes/scratch.h"

enum { MAX_CELLS = 16, MODEL = 0, METHOD, OP, BYTES, N_COLUMNS };

typedef struct cell {
    const char *text; /* no NUL behind it */
    size_t length;
} cell;

typedef struct scratch_reader {
    const char *at, *end;
    size_t line;
    cell cells[MAX_CELLS];
    size_t n_cells;
    size_t column[N_COLUMNS]; /* where each is; MAX_CELLS: absent */
    const char *model;
    const arenaut_program *program;
    const arenaut_allocator *allocator;
    arenaut_scratch_sizes sizes;
    uint32_t capacity;
    arenaut_error *err;
} scratch_reader;

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static bool cell_is(const cell *c, const char *text) {
    return strlen(text) == c->length && memcmp(text, c->text, c->length) == 0;
}

/* For messages: at most so many characters of a cell. */
static int shown(const cell *c) { return c->length < 64 ? (int)c->length : 64; }

static cell trimmed(const char *first, const char *end) {
    while (first < end && is_blank(*first)) first++;
    while (end > first && is_blank(end[-1])) end--;
    const cell c = {first, (size_t)(end - first)};
    return c;
}

/* Takes the next line that is neither empty nor a comment; false at the end. */
static bool next_line(scratch_reader *r) {
    while (r->at < r->end) {
        const char *line = r->at;
        const char *newline = memchr(line, '\n', (size_t)(r->end - line));
        const char *line_end = newline ? newline : r->end;
        r->at = newline ? newline + 1 : r->end;
        r->line++;
        const cell whole = trimmed(line, line_end);
        if (whole.length == 0 || whole.text[0] == '#') continue;
        r->n_cells = 0;
        while (r->n_cells < MAX_CELLS) {
            const char *comma = memchr(line, ',', (size_t)(line_end - line));
            r->cells[r->n_cells++] = trimmed(line, comma ? comma : line_end);
            if (!comma) break;
            line = comma + 1;
        }
        return true;
    }
    return false;
}

static arenaut_status read_header(scratch_reader *r) {
    static const char *const names[N_COLUMNS] = {"model", "method", "op", "bytes"};
    if (!next_line(r)) {
        return arn_fail(r->err, ARENAUT_BAD_INPUT, 0,
                        "a scratch file begins with a header that names the columns op and bytes");
    }
    for (size_t k = 0; k < N_COLUMNS; k++) {
        r->column[k] = MAX_CELLS;
        for (size_t i = 0; i < r->n_cells; i++) {
            if (cell_is(&r->cells[i], names[k])) r->column[k] = i;
        }
    }
    if (r->column[OP] != MAX_CELLS && r->column[BYTES] != MAX_CELLS) return ARENAUT_OK;
    return arn_fail(r->err, ARENAUT_BAD_INPUT, r->line,
                    "line %zu: the header must name the columns op and bytes, and may name "
                    "method and model",
                    r->line);
}

/* Decimal digits only. */
static bool parse_number(const cell *c, uint64_t *number) {
    if (c->length == 0) return false;
    *number = 0;
    for (size_t i = 0; i < c->length; i++) {
        if (c->text[i] < '0' || c->text[i] > '9') return false;
        if (!arn_multiply(*number, 10, number)) return false;
        if (!arn_add(*number, (uint64_t)(c->text[i] - '0'), number)) return false;
    }
    return true;
}

static arenaut_status find_method(const scratch_reader *r, const cell *c, uint32_t *method) {
    const arenaut_program *p = r->program;
    for (uint32_t m = 0; m < p->n_methods; m++) {
        if (p->methods[m].name && cell_is(c, p->methods[m].name)) {
            *method = m;
            return ARENAUT_OK;
        }
    }
    uint64_t number;
    if (!parse_number(c, &number) || number >= p->n_methods) {
        return arn_fail(r->err, ARENAUT_BAD_INPUT, r->line,
                        "line %zu: there is no method '%.*s'; the model has %" PRIu32, r->line,
                        shown(c), c->text, p->n_methods);
    }
    *method = (uint32_t)number;
    return ARENAUT_OK;
}

static arenaut_status read_entry(const scratch_reader *r, arenaut_scratch_entry *entry) {
    const cell *op_cell = &r->cells[r->column[OP]], *bytes_cell = &r->cells[r->column[BYTES]];
    uint64_t op;
    if (r->column[METHOD] < r->n_cells) {
        const arenaut_status st = find_method(r, &r->cells[r->column[METHOD]], &entry->method);
        if (st != ARENAUT_OK) return st;
    }
    const uint32_t n_ops =
        entry->method < r->program->n_methods ? r->program->methods[entry->method].n_ops : 0;
    if (!parse_number(op_cell, &op) || op >= n_ops) {
        return arn_fail(r->err, ARENAUT_BAD_INPUT, r->line,
                        "line %zu: there is no op '%.*s' in method %" PRIu32 ", which has %" PRIu32
                        " ops",
                        r->line, shown(op_cell), op_cell->text, entry->method, n_ops);
    }
    entry->op = (uint32_t)op;
    if (!parse_number(bytes_cell, &entry->bytes)) {
        return arn_fail(r->err, ARENAUT_BAD_INPUT, r->line,
                        "line %zu: '%.*s' is no number of bytes", r->line, shown(bytes_cell),
                        bytes_cell->text);
    }
    return ARENAUT_OK;
}

static arenaut_status read_row(scratch_reader *r) {
    arenaut_scratch_entry entry = {0, 0, 0};
    const size_t model = r->column[MODEL];
    if (r->model && model < r->n_cells && !cell_is(&r->cells[model], r->model)) return ARENAUT_OK;
    if (r->column[OP] >= r->n_cells || r->column[BYTES] >= r->n_cells) {
        return arn_fail(r->err, ARENAUT_BAD_INPUT, r->line,
                        "line %zu: has %zu cells, fewer than the header's columns op and bytes "
                        "need",
                        r->line, r->n_cells);
    }
    r->sizes.known = true;
    /* The row of a model without scratch. */
    if (r->cells[r->column[OP]].length == 0 && r->cells[r->column[BYTES]].length == 0) {
        return ARENAUT_OK;
    }
    const arenaut_status st = read_entry(r, &entry);
    if (st != ARENAUT_OK) return st;
    if (!arn_grow(r->allocator, (void **)&r->sizes.entries, &r->capacity, (uint64_t)r->sizes.n + 1,
                  sizeof entry)) {
        return arn_no_memory(r->err);
    }
    r->sizes.entries[r->sizes.n++] = entry;
    return ARENAUT_OK;
}

arenaut_status arn_scratch_read(const char *text, size_t size, const char *model,
                                const arenaut_program *program, const arenaut_allocator *allocator,
                                arenaut_scratch_sizes *out, arenaut_error *err) {
    scratch_reader r = {.model = model, .program = program, .allocator = allocator, .err = err};
    r.at = text;
    r.end = text + size;
    arenaut_status st = read_header(&r);
    while (st == ARENAUT_OK && next_line(&r)) st = read_row(&r);
    if (st != ARENAUT_OK) {
        arn_scratch_sizes_free(&r.sizes, allocator);
        return st;
    }
    /* Without a model column the whole file is about this one. */
    if (r.column[MODEL] == MAX_CELLS) r.sizes.known = true;
    *out = r.sizes;
    return ARENAUT_OK;
}

void arn_scratch_sizes_free(arenaut_scratch_sizes *sizes, const arenaut_allocator *allocator) {
    arn_release(allocator, sizes->entries);
    *sizes = (arenaut_scratch_sizes){NULL, 0, false};
}
