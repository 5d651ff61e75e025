/* The cost file: nanoseconds of a run per op, as CSV with the header method,op,nanoseconds. Other
 * ops have a modelled cost. O(size). */
#include <string.h>

#include <arenaut/rewrite.h>

#include "core/checked.h"
#include "core/fail.h"
#include "core/memory.h"
#include "rewrite/rematerialize/cost_file.h"

enum { METHOD, OP, COST, N_CELLS };

typedef struct cost_reader {
    const arenaut_program *program;
    const char *at, *end;
    size_t line;
    const char *cell[N_CELLS];
    size_t length[N_CELLS];
    arenaut_error *err;
} cost_reader;

static arenaut_status fail(const cost_reader *r, const char *why, const char *cell, size_t length) {
    return arn_fail(r->err, ARENAUT_BAD_INPUT, r->line, "line %zu: %s '%.*s'", r->line, why,
                    length < 64 ? (int)length : 64, cell);
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/* Takes the next line that is neither empty nor a comment; *n: its cells. False at the end. */
static bool next_line(cost_reader *r, size_t *n) {
    while (r->at < r->end) {
        const char *line = r->at, *stop = memchr(line, '\n', (size_t)(r->end - line));
        if (!stop) stop = r->end;
        r->at = stop < r->end ? stop + 1 : stop;
        r->line++;
        while (stop > line && is_blank(stop[-1])) stop--;
        if (line == stop || *line == '#') continue;
        for (*n = 0; line <= stop; (*n)++) {
            const char *comma = memchr(line, ',', (size_t)(stop - line)), *begin = line;
            const char *end = comma ? comma : stop;
            line = end + 1;
            while (begin < end && is_blank(*begin)) begin++;
            while (end > begin && is_blank(end[-1])) end--;
            if (*n >= N_CELLS) continue;
            r->cell[*n] = begin;
            r->length[*n] = (size_t)(end - begin);
        }
        return true;
    }
    return false;
}

static bool is_text(const cost_reader *r, int cell, const char *text) {
    return strlen(text) == r->length[cell] && memcmp(text, r->cell[cell], r->length[cell]) == 0;
}

static bool read_number(const cost_reader *r, int cell, uint64_t *number) {
    *number = 0;
    for (size_t i = 0; i < r->length[cell]; i++) {
        const char c = r->cell[cell][i];
        if (c < '0' || c > '9' || !arn_multiply(*number, 10, number) ||
            !arn_add(*number, (uint64_t)(c - '0'), number)) {
            return false;
        }
    }
    return r->length[cell] > 0;
}

/* By its name or number; the first, if the cell is empty. */
static uint32_t find_method(const cost_reader *r) {
    uint64_t number = 0;
    if (r->length[METHOD] == 0) return r->program->n_methods > 0 ? 0 : ARENAUT_NONE;
    for (uint32_t i = 0; i < r->program->n_methods; i++) {
        const char *name = r->program->methods[i].name;
        if (name && is_text(r, METHOD, name)) return i;
    }
    if (!read_number(r, METHOD, &number) || number >= r->program->n_methods) return ARENAUT_NONE;
    return (uint32_t)number;
}

static arenaut_status read_row(cost_reader *r, size_t n, uint64_t *costs) {
    uint64_t op, cost;
    if (n != N_CELLS) return fail(r, "a row has a method, an op and nanoseconds, not", "", 0);
    const uint32_t method = find_method(r);
    if (method == ARENAUT_NONE) return fail(r, "no method", r->cell[METHOD], r->length[METHOD]);
    const arenaut_method *m = &r->program->methods[method];
    if (!read_number(r, OP, &op) || op >= m->n_ops) {
        return fail(r, "no op of that method", r->cell[OP], r->length[OP]);
    }
    if (!read_number(r, COST, &cost) || cost > ARENAUT_SIZE_MAX / 2) {
        return fail(r, "no number of nanoseconds", r->cell[COST], r->length[COST]);
    }
    costs[m->first_op + op] = cost;
    return ARENAUT_OK;
}

arenaut_status arn_costs_read(const char *text, size_t size, const arenaut_program *program,
                              const arenaut_allocator *allocator, uint64_t **out,
                              arenaut_error *err) {
    cost_reader r = {.program = program, .at = text, .end = text + size, .err = err};
    size_t n = 0;
    const bool begun = next_line(&r, &n) && n == N_CELLS;
    if (!begun || !is_text(&r, METHOD, "method") || !is_text(&r, OP, "op") ||
        !is_text(&r, COST, "nanoseconds")) {
        return arn_fail(err, ARENAUT_BAD_INPUT, r.line,
                        "a cost file begins with the header method,op,nanoseconds");
    }
    uint64_t *costs = arn_allocate(allocator, program->n_ops, sizeof *costs);
    if (!costs) return arn_no_memory(err);
    for (uint32_t i = 0; i < program->n_ops; i++) costs[i] = ARENAUT_COST_UNKNOWN;
    arenaut_status st = ARENAUT_OK;
    while (st == ARENAUT_OK && next_line(&r, &n)) st = read_row(&r, n, costs);
    if (st == ARENAUT_OK) *out = costs;
    else arn_release(allocator, costs);
    return st;
}
