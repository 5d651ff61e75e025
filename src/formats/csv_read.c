/* Reader from CSV records to a problem, and to a plan if every row has an offset. The header names
 * the columns. Gaps cut a row's lifetime in pieces; if a gap gives back part of the bytes only, the
 * rest is a slice of the buffer. A row costs its gaps, sorted. */
#include "core/checked.h"
#include "formats/csv.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/fail.h"
#include "core/memory.h"
#include "core/sort.h"
#include "ir/store.h"

/* A stretch of a row's lifetime in which it uses only [low, high) of its bytes. */
typedef struct gap {
    arenaut_interval life;
    bool windowed;
    uint64_t low, high; /* both 0 without a window */
} gap;

/* The rest of a row in a windowed gap: a buffer of its own, inside the row's. It is added behind
 * all rows, so that row k is buffer k. */
typedef struct slice {
    uint32_t host;
    gap gap;
} slice;

typedef struct reader {
    arn_csv_scanner scanner;
    const arenaut_read_options *options;
    const arenaut_allocator *allocator;
    arenaut_error *err;
    arenaut_problem *problem;

    uint32_t cell_of[ARN_CSV_COLUMNS]; /* ARENAUT_NONE: there is no such column */
    uint32_t header_cells;
    bool inclusive; /* the upper column is headed `end` */

    arn_csv_cell pools[ARENAUT_MAX_POOLS]; /* by name, in order of appearance */
    uint32_t n_pools;
    bool pools_seen, pools_are_numbers;
    uint32_t n_rows, n_offsets; /* n_offsets rows say their offset */

    /* Reused from row to row. */
    char *text;
    gap *gaps;
    uint32_t *order; /* twice as many as gaps: the second half is the sort's */
    arenaut_interval *lives;
    uint32_t text_capacity, gap_capacity, order_capacity, life_capacity;

    slice *slices;
    uint32_t n_slices, slice_capacity;
} reader;

static arenaut_status row_error(const reader *r, const char *what) {
    const size_t line = r->scanner.record_line;
    return arn_fail(r->err, ARENAUT_BAD_INPUT, line, "line %zu: %s", line, what);
}

/* "line 3: column 'size': found 'x4'; expected …", with a long cell cut short. */
static arenaut_status cell_error(const reader *r, const char *column, const char *found,
                                 size_t length, const char *expected) {
    const size_t line = r->scanner.record_line;
    const int shown = length < 40 ? (int)length : 40;
    return arn_fail(r->err, ARENAUT_BAD_INPUT, line,
                    "line %zu: column '%s': found '%.*s'; expected %s", line, column, shown, found,
                    expected);
}

/* ---- numbers ---- */

/* From the last step of a lifetime to the one behind it, if ends are inclusive. */
static bool step_behind(const reader *r, int64_t *end) {
    if (!r->inclusive) return true;
    if (*end == INT64_MAX) return false;
    ++*end;
    return true;
}

static bool take_size(const char **at, const char *end, uint64_t *value) {
    return arn_csv_take_digits(at, end, value) && *value <= ARENAUT_SIZE_MAX;
}

static const arn_csv_cell *cell_in(const reader *r, arn_csv_column column) {
    const uint32_t cell = r->cell_of[column];
    return cell == ARENAUT_NONE ? NULL : &r->scanner.cells[cell];
}

static arenaut_status read_step(const reader *r, arn_csv_column column, const char *name,
                                int64_t *value) {
    const arn_csv_cell *cell = cell_in(r, column);
    const char *at = cell->text, *end = at + cell->length;
    if (arn_csv_take_step(&at, end, value) && at == end) return ARENAUT_OK;
    return cell_error(r, name, cell->text, cell->length, "an integer from -2^63 to 2^63 - 1");
}

/* A column that may be absent, or blank: then *value stays. If `signed_none`, -1 is MiniMalloc's
 * mark of a blank cell. */
static arenaut_status read_size(const reader *r, arn_csv_column column, const char *name,
                                bool signed_none, uint64_t *value) {
    const arn_csv_cell *cell = cell_in(r, column);
    if (!cell || (cell->length == 0 && column >= ARN_CSV_REQUIRED)) return ARENAUT_OK;
    if (signed_none && cell->length == 2 && memcmp(cell->text, "-1", 2) == 0) return ARENAUT_OK;
    const char *at = cell->text, *end = at + cell->length;
    uint64_t found;
    if (!take_size(&at, end, &found) || at != end) {
        return cell_error(r, name, cell->text, cell->length, "an integer from 0 to 2^63 - 1");
    }
    *value = found;
    return ARENAUT_OK;
}

/* The cell as a C string in r->text, which the next call overwrites. */
static arenaut_status cell_text(reader *r, const arn_csv_cell *cell, const char *column) {
    if (memchr(cell->text, '\0', cell->length)) {
        return cell_error(r, column, "", 0, "text without NUL bytes");
    }
    if (cell->length >= UINT32_MAX ||
        !arn_grow(r->allocator, (void **)&r->text, &r->text_capacity, cell->length + 1, 1)) {
        return arn_no_memory(r->err);
    }
    r->text[arn_csv_decode(cell, r->text)] = '\0';
    return ARENAUT_OK;
}

/* ---- header ---- */

static void note_unknown(reader *r, const arn_csv_cell *cell) {
    if (!r->options->note) return;
    char text[160];
    snprintf(text, sizeof text, "column '%.*s' is not known and is ignored",
             cell->length < 60 ? (int)cell->length : 60, cell->text);
    r->options->note(r->options->note_context, text);
}

static arenaut_status read_header(reader *r) {
    static const char *const required[] = {"id", "lower", "upper", "size"};
    for (uint32_t c = 0; c < ARN_CSV_COLUMNS; c++) r->cell_of[c] = ARENAUT_NONE;
    const arenaut_status st = arn_csv_next(&r->scanner, r->err);
    if (st != ARENAUT_OK) return st;
    r->header_cells = r->scanner.n_cells;
    for (uint32_t i = 0; i < r->header_cells; i++) {
        const arn_csv_cell *cell = &r->scanner.cells[i];
        const arn_csv_header *header = arn_csv_header_find(cell);
        if (!header) {
            note_unknown(r, cell);
            continue;
        }
        if (r->cell_of[header->column] != ARENAUT_NONE) {
            return cell_error(r, header->name, cell->text, cell->length,
                              "each column once, under one name");
        }
        r->cell_of[header->column] = i;
        if (header->column == ARN_CSV_UPPER) r->inclusive = header->inclusive;
    }
    for (uint32_t c = 0; c < ARN_CSV_REQUIRED; c++) {
        if (r->cell_of[c] != ARENAUT_NONE) continue;
        return arn_fail(r->err, ARENAUT_BAD_INPUT, r->scanner.record_line,
                        "line %zu: the header has no column '%s'; it must name id, lower, upper "
                        "(or end) and size",
                        r->scanner.record_line, required[c]);
    }
    return ARENAUT_OK;
}

/* ---- lifetimes ---- */

static arenaut_status gap_error(const reader *r, const char *text, size_t length) {
    return cell_error(r, "gaps", text, length,
                      "FIRST-END or FIRST-END@LOW:HIGH, with FIRST <= END, LOW <= HIGH <= size");
}

/* One "lo-hi" or "lo-hi@low:high". */
static bool parse_gap(const reader *r, const char *at, const char *end, uint64_t size, gap *out) {
    const gap none = {{0, 0}, false, 0, 0};
    *out = none;
    if (!arn_csv_take_step(&at, end, &out->life.first)) return false;
    if (at == end || *at++ != '-') return false;
    if (!arn_csv_take_step(&at, end, &out->life.end)) return false;
    if (!step_behind(r, &out->life.end)) return false;
    if (out->life.end < out->life.first) return false;
    if (at == end) return true;
    if (*at++ != '@') return false;
    if (!take_size(&at, end, &out->low)) return false;
    if (at == end || *at++ != ':') return false;
    if (!take_size(&at, end, &out->high)) return false;
    out->windowed = true;
    return at == end && out->low <= out->high && out->high <= size;
}

static bool gap_before(const void *context, uint32_t a, uint32_t b) {
    const gap *gaps = context;
    return gaps[a].life.first < gaps[b].life.first;
}

/* Parses the cell into r->gaps, and sorts r->order by where they begin. */
static arenaut_status read_gaps(reader *r, uint64_t size, uint32_t *count) {
    *count = 0;
    const arn_csv_cell *cell = cell_in(r, ARN_CSV_GAPS);
    if (!cell) return ARENAUT_OK;
    const char *const end = cell->text + cell->length;
    for (const char *at = cell->text; at < end;) {
        if (*at == ' ') {
            at++;
            continue;
        }
        const char *stop = at;
        while (stop < end && *stop != ' ') stop++;
        if (!arn_grow(r->allocator, (void **)&r->gaps, &r->gap_capacity, (uint64_t)*count + 1,
                      sizeof *r->gaps)) {
            return arn_no_memory(r->err);
        }
        if (!parse_gap(r, at, stop, size, &r->gaps[*count])) {
            return gap_error(r, at, (size_t)(stop - at));
        }
        ++*count;
        at = stop;
    }
    if (!arn_grow(r->allocator, (void **)&r->order, &r->order_capacity, (uint64_t)*count * 2,
                  sizeof *r->order)) {
        return arn_no_memory(r->err);
    }
    for (uint32_t i = 0; i < *count; i++) r->order[i] = i;
    if (*count) arn_sort_ids(r->order, *count, gap_before, r->gaps, r->order + *count);
    return ARENAUT_OK;
}

static arenaut_status add_slice(reader *r, const gap *g, arenaut_interval life) {
    if (g->low == g->high) return ARENAUT_OK;
    if (!arn_grow(r->allocator, (void **)&r->slices, &r->slice_capacity, (uint64_t)r->n_slices + 1,
                  sizeof *r->slices)) {
        return arn_no_memory(r->err);
    }
    slice *added = &r->slices[r->n_slices++];
    added->host = r->problem->n_buffers;
    added->gap = *g;
    added->gap.life = life;
    return ARENAUT_OK;
}

/* Cuts the sorted gaps out of `row`: the rest goes to r->lives, windows to slices. */
static arenaut_status cut_gaps(reader *r, arenaut_interval row, uint32_t n_gaps,
                               uint32_t *n_lives) {
    if (!arn_grow(r->allocator, (void **)&r->lives, &r->life_capacity, (uint64_t)n_gaps + 1,
                  sizeof *r->lives)) {
        return arn_no_memory(r->err);
    }
    int64_t at = row.first, window_end = row.first;
    for (uint32_t i = 0; i < n_gaps; i++) {
        const gap *g = &r->gaps[r->order[i]];
        const arenaut_interval life = {g->life.first > row.first ? g->life.first : row.first,
                                       g->life.end < row.end ? g->life.end : row.end};
        if (life.first >= life.end) continue;
        if (life.first < window_end || (g->windowed && life.first < at)) {
            return row_error(r, "column 'gaps': a gap with a window overlaps another gap");
        }
        if (life.first > at) {
            const arenaut_interval kept = {at, life.first};
            r->lives[(*n_lives)++] = kept;
        }
        if (life.end > at) at = life.end;
        if (!g->windowed) continue;
        window_end = life.end;
        const arenaut_status st = add_slice(r, g, life);
        if (st != ARENAUT_OK) return st;
    }
    const arenaut_interval rest = {at, row.end};
    if (rest.first < rest.end) r->lives[(*n_lives)++] = rest;
    return ARENAUT_OK;
}

static arenaut_status read_lifetimes(reader *r, arenaut_buffer *buffer) {
    arenaut_interval row;
    const char *upper = r->inclusive ? "end" : "upper";
    arenaut_status st = read_step(r, ARN_CSV_LOWER, "lower", &row.first);
    if (st == ARENAUT_OK) st = read_step(r, ARN_CSV_UPPER, upper, &row.end);
    if (st != ARENAUT_OK) return st;
    if (!step_behind(r, &row.end)) {
        return row_error(r, "column 'end': the step after it is past 2^63 - 1");
    }
    if (row.end < row.first) {
        const arn_csv_cell *cell = cell_in(r, ARN_CSV_UPPER);
        return cell_error(r, upper, cell->text, cell->length, "a step not before the lower one");
    }
    uint32_t n_gaps = 0, n_lives = 0;
    const uint32_t slices_before = r->n_slices;
    st = read_gaps(r, buffer->size, &n_gaps);
    if (st == ARENAUT_OK) st = cut_gaps(r, row, n_gaps, &n_lives);
    if (st != ARENAUT_OK) return st;
    if (n_lives == 0 && r->n_slices > slices_before) {
        const size_t line = r->scanner.record_line;
        return arn_fail(r->err, ARENAUT_UNSUPPORTED, line,
                        "line %zu: the gaps cover the whole lifetime, so that only windows of the "
                        "buffer are ever in use; give each window a row of its own",
                        line);
    }
    buffer->lifetimes = r->lives;
    buffer->n_lifetimes = n_lives;
    return ARENAUT_OK;
}

/* ---- pools ---- */

static arenaut_status read_pool_number(reader *r, const arn_csv_cell *cell, uint32_t *pool) {
    const char *at = cell->text, *end = at + cell->length;
    uint64_t number;
    if (!arn_csv_take_digits(&at, end, &number) || at != end || number >= ARENAUT_MAX_POOLS) {
        return cell_error(r, "pool", cell->text, cell->length,
                          "a number below 64, since the pools above are numbers");
    }
    *pool = (uint32_t)number;
    if (*pool >= r->n_pools) r->n_pools = *pool + 1;
    return ARENAUT_OK;
}

static arenaut_status read_pool_name(reader *r, const arn_csv_cell *cell, uint32_t *pool) {
    for (uint32_t p = 0; p < r->n_pools; p++) {
        if (r->pools[p].length == cell->length &&
            memcmp(r->pools[p].text, cell->text, cell->length) == 0) {
            *pool = p;
            return ARENAUT_OK;
        }
    }
    if (r->n_pools == ARENAUT_MAX_POOLS) {
        return cell_error(r, "pool", cell->text, cell->length, "at most 64 pools");
    }
    *pool = r->n_pools;
    r->pools[r->n_pools++] = *cell;
    return ARENAUT_OK;
}

/* The first pool in the file decides whether the column holds names or numbers. */
static arenaut_status read_pool(reader *r, uint64_t *pools) {
    const arn_csv_cell *cell = cell_in(r, ARN_CSV_POOL);
    if (!cell || cell->length == 0) return ARENAUT_OK;
    if (!r->pools_seen) {
        r->pools_seen = true;
        r->pools_are_numbers = strspn(cell->text, "0123456789") >= cell->length;
    }
    uint32_t pool = 0;
    const arenaut_status st =
        r->pools_are_numbers ? read_pool_number(r, cell, &pool) : read_pool_name(r, cell, &pool);
    if (st == ARENAUT_OK) *pools = UINT64_C(1) << pool;
    return st;
}

static arenaut_status add_pools(reader *r) {
    for (uint32_t p = 0; p < r->n_pools; p++) {
        arenaut_pool pool = {0};
        if (!r->pools_are_numbers) {
            const arenaut_status st = cell_text(r, &r->pools[p], "pool");
            if (st != ARENAUT_OK) return st;
            pool.name = r->text;
        }
        const arenaut_status st = arenaut_problem_add_pool(r->problem, &pool, NULL, r->err);
        if (st != ARENAUT_OK) return st;
    }
    return ARENAUT_OK;
}

/* ---- rows ---- */

/* Repeats an error of the problem with the line in front. */
static arenaut_status add_row(reader *r, const arenaut_buffer *buffer) {
    arenaut_error inner = {ARENAUT_OK, 0, ""};
    const arenaut_status st = arenaut_problem_add_buffer(r->problem, buffer, NULL, &inner);
    if (st == ARENAUT_OK) return st;
    if (st == ARENAUT_NO_MEMORY) return arn_no_memory(r->err);
    return arn_fail(r->err, st, r->scanner.record_line, "line %zu: %s", r->scanner.record_line,
                    inner.msg);
}

static arenaut_status read_row(reader *r) {
    arenaut_buffer buffer = {0};
    uint64_t hint = ARENAUT_UNPLACED, offset = ARENAUT_UNPLACED;
    arenaut_status st = read_size(r, ARN_CSV_SIZE, "size", false, &buffer.size);
    if (st == ARENAUT_OK) st = read_size(r, ARN_CSV_ALIGNMENT, "alignment", false, &buffer.align);
    if (st == ARENAUT_OK) st = read_size(r, ARN_CSV_HINT, "hint", true, &hint);
    if (st == ARENAUT_OK) st = read_size(r, ARN_CSV_OFFSET, "offset", true, &offset);
    if (st == ARENAUT_OK) st = read_pool(r, &buffer.pools);
    if (st == ARENAUT_OK) st = read_lifetimes(r, &buffer);
    if (st == ARENAUT_OK) st = cell_text(r, cell_in(r, ARN_CSV_ID), "id");
    if (st != ARENAUT_OK) return st;
    arn_csv_take_name(r->text);
    buffer.name = r->text;
    buffer.hint = arenaut_at(hint);
    buffer.fixed_offset = arenaut_at(offset);
    r->n_rows++;
    if (buffer.fixed_offset.given) r->n_offsets++;
    return add_row(r, &buffer);
}

static arenaut_status read_rows(reader *r) {
    for (;;) {
        const arenaut_status st = arn_csv_next(&r->scanner, r->err);
        if (st != ARENAUT_OK || r->scanner.n_cells == 0) return st;
        if (r->scanner.n_cells != r->header_cells) {
            return arn_fail(r->err, ARENAUT_BAD_INPUT, r->scanner.record_line,
                            "line %zu: %" PRIu32 " cells; the header names %" PRIu32 " columns",
                            r->scanner.record_line, r->scanner.n_cells, r->header_cells);
        }
        const arenaut_status row = read_row(r);
        if (row != ARENAUT_OK) return row;
    }
}

static arenaut_status add_slices(reader *r) {
    for (uint32_t i = 0; i < r->n_slices; i++) {
        const slice *s = &r->slices[i];
        arenaut_buffer buffer = {0};
        buffer.size = s->gap.high - s->gap.low;
        buffer.lifetimes = &s->gap.life;
        buffer.n_lifetimes = 1;
        buffer.inside = arenaut_id(s->host);
        buffer.inside_delta = s->gap.low;
        const arenaut_status st = arenaut_problem_add_buffer(r->problem, &buffer, NULL, r->err);
        if (st != ARENAUT_OK) return st;
    }
    return ARENAUT_OK;
}

/* ---- the plan ---- */

static void place(const arenaut_problem *problem, arenaut_plan *plan, uint32_t b) {
    const uint32_t host = arenaut_problem_inside(problem, b);
    if (host != ARENAUT_NONE) {
        plan->pool[b] = plan->pool[host]; /* slices come after their hosts */
        plan->offset[b] = plan->offset[host] + problem->inside_delta[b];
    } else if (arenaut_problem_needs_memory(problem, b)) {
        plan->pool[b] = arn_lowest_bit(arenaut_problem_pools(problem, b));
        plan->offset[b] = arenaut_problem_fixed_offset(problem, b);
    }
}

/* Every row says where it lies: that is an answer, not a set of pins. So the offsets move
 * from the problem to a plan, of which nothing is known but that someone made it. */
static arenaut_status take_plan(reader *r, arenaut_plan **out) {
    arenaut_problem *problem = r->problem;
    arenaut_plan *plan = NULL;
    arenaut_status st =
        arenaut_plan_new(problem->n_buffers, problem->n_pools, r->allocator, &plan, r->err);
    if (st != ARENAUT_OK) return st;
    for (uint32_t b = 0; b < problem->n_buffers; b++) place(problem, plan, b);
    st = arenaut_plan_measure(plan, problem, r->err);
    if (st != ARENAUT_OK) {
        arenaut_plan_free(plan);
        return st;
    }
    plan->planner = "given";
    plan->stopped_by = ARENAUT_STOP_END;
    arn_release(arn_problem_allocator(problem), problem->fixed_offset);
    problem->fixed_offset = NULL;
    *out = plan;
    return ARENAUT_OK;
}

static arenaut_status read_all(reader *r, arenaut_plan **plan) {
    arenaut_status st = arenaut_problem_new(r->allocator, &r->problem, r->err);
    if (st == ARENAUT_OK) st = read_header(r);
    if (st == ARENAUT_OK) st = read_rows(r);
    if (st == ARENAUT_OK) st = add_pools(r);
    if (st == ARENAUT_OK) st = add_slices(r);
    if (st == ARENAUT_OK) st = arenaut_problem_finish(r->problem, r->err);
    if (st == ARENAUT_OK && r->n_rows > 0 && r->n_offsets == r->n_rows) st = take_plan(r, plan);
    return st;
}

arenaut_status arn_csv_read(const uint8_t *data, size_t size, const arenaut_read_options *options,
                            const arenaut_allocator *allocator, arenaut_document *out,
                            arenaut_error *err) {
    /* On the heap because of its cells, which would take 6 KiB of stack. */
    reader *r = arn_allocate_zeroed(allocator, 1, sizeof *r);
    if (!r) return arn_no_memory(err);
    r->options = options;
    r->allocator = allocator;
    r->err = err;
    arn_csv_begin(&r->scanner, data, size);
    arenaut_plan *plan = NULL;
    const arenaut_status st = read_all(r, &plan);
    if (st == ARENAUT_OK) {
        out->problem = r->problem;
        out->plan = plan;
        out->measured = plan != NULL;
    } else {
        arenaut_problem_free(r->problem);
    }
    ARN_RELEASE(allocator, r->text, r->gaps, r->order, r->lives, r->slices, r);
    return st;
}
