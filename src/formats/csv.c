/* csv: the problems that MiniMalloc and its successors exchange, one buffer a line. csv_scan.c
 * takes records, csv_read.c makes problems of them, and here they are written. */
#include "formats/csv.h"

#include <inttypes.h>

#include "core/fail.h"
#include "core/memory.h"
#include "core/sort.h"
#include "core/writer.h"
#include "ir/lifetimes.h"

/* Writer of a problem of one pool, with or without its plan, as CSV rows. Features without a column
 * are refused by name before the first row. */

typedef struct printer {
    arn_writer writer;
    const arenaut_problem *problem;
    const arenaut_plan *plan; /* NULL: offsets are the pins */
    /* Buffers that are written as windowed gaps of their hosts: the slices of host h are
     * slices[slice_start[h] .. slice_start[h + 1]), by time. */
    uint32_t *slice_start, *slices;
    bool alignment, gaps, hint, offset;
} printer;

static arenaut_status refuse(arenaut_error *err, const char *what) {
    return arn_fail(err, ARENAUT_REFUSED, 0,
                    "CSV cannot hold %s; write the problem as JSON instead", what);
}

static arenaut_status refuse_buffer(const arenaut_problem *p, uint32_t b, const char *what,
                                    arenaut_error *err) {
    char store[24];
    return arn_fail(err, ARENAUT_REFUSED, 0,
                    "CSV cannot hold that buffer '%s' %s; write the problem as JSON instead",
                    arenaut_problem_buffer_name(p, b, store), what);
}

/* A windowed gap is a buffer inside another that is not itself alive then. Only nameless
 * ones are written so, since a name would be lost. */
static arenaut_status check_slice(const arenaut_problem *p, uint32_t b, arenaut_error *err) {
    const uint32_t host = p->inside[b];
    const bool plain = (!p->name || !p->name[b]) && arenaut_problem_lifetime_count(p, b) == 1 &&
                       p->size[b] > 0 && arenaut_problem_inside(p, host) == ARENAUT_NONE &&
                       arenaut_problem_lifetime_count(p, host) > 0;
    if (plain && !arn_alive_together(p, b, host)) return ARENAUT_OK;
    return refuse_buffer(p, b, "lies inside another", err);
}

static arenaut_status check_expressible(const arenaut_problem *p, const arenaut_plan *plan,
                                        arenaut_error *err) {
    if (p->n_pools > 1) return refuse(err, "several pools");
    if (p->n_separations > 0) return refuse(err, "separations");
    if (p->n_conflicts > 0) return refuse(err, "extra conflict edges");
    if (p->n_reserved > 0) return refuse(err, "reserved ranges");
    if (p->traits & ARENAUT_PROBLEM_TOKENS) return refuse(err, "memory in whole tokens");
    if (plan && plan->quality == ARENAUT_INFEASIBLE)
        return refuse(err, "a plan that is infeasible");
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (arenaut_problem_same_base(p, b) != ARENAUT_NONE) {
            return refuse_buffer(p, b, "may start where another one starts", err);
        }
        if (arenaut_problem_inside(p, b) == ARENAUT_NONE) continue;
        const arenaut_status st = check_slice(p, b, err);
        if (st != ARENAUT_OK) return st;
    }
    return ARENAUT_OK;
}

static bool slice_before(const void *context, uint32_t a, uint32_t b) {
    const arenaut_problem *p = context;
    if (p->inside[a] != p->inside[b]) return p->inside[a] < p->inside[b];
    return arenaut_problem_lifetimes(p, a)->first < arenaut_problem_lifetimes(p, b)->first;
}

/* Sorts the slices by host and time. Two windows of one host at one time are not a gap. */
static arenaut_status collect_slices(printer *out, const arenaut_allocator *allocator,
                                     arenaut_error *err) {
    const arenaut_problem *p = out->problem;
    if (!p->inside) return ARENAUT_OK;
    out->slice_start = arn_allocate_zeroed(allocator, (size_t)p->n_buffers + 1, sizeof(uint32_t));
    out->slices = arn_allocate(allocator, (size_t)p->n_buffers * 2, sizeof(uint32_t));
    if (!out->slice_start || !out->slices) return arn_no_memory(err);
    uint32_t n = 0;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (p->inside[b] == ARENAUT_NONE) continue;
        out->slices[n++] = b;
        out->slice_start[p->inside[b] + 1]++;
    }
    for (uint32_t b = 0; b < p->n_buffers; b++) out->slice_start[b + 1] += out->slice_start[b];
    arn_sort_ids(out->slices, n, slice_before, p, out->slices + p->n_buffers);
    for (uint32_t i = 1; i < n; i++) {
        const uint32_t a = out->slices[i - 1], b = out->slices[i];
        if (p->inside[a] == p->inside[b] && arn_alive_together(p, a, b)) {
            return refuse_buffer(p, p->inside[a], "has two parts alive at one time", err);
        }
    }
    out->gaps = n > 0;
    return ARENAUT_OK;
}

static void choose_columns(printer *out) {
    const arenaut_problem *p = out->problem;
    out->offset = out->plan != NULL;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (arenaut_problem_inside(p, b) != ARENAUT_NONE) continue;
        if (arenaut_problem_align(p, b) != 1) out->alignment = true;
        if (arenaut_problem_hint(p, b) != ARENAUT_UNPLACED) out->hint = true;
        if (arenaut_problem_fixed_offset(p, b) != ARENAUT_UNPLACED) out->offset = true;
        if (arenaut_problem_lifetime_count(p, b) > 1) out->gaps = true;
    }
}

static void put_gap(printer *out, int64_t first, int64_t end, bool *begun) {
    arn_putf(&out->writer, "%s%" PRId64 "-%" PRId64, *begun ? " " : "", first, end);
    *begun = true;
}

/* Everything between first and last step that is not a lifetime: a gap, split where slices
 * of the buffer are alive. */
static void put_gaps(printer *out, uint32_t b, arenaut_interval hull) {
    const arenaut_problem *p = out->problem;
    const arenaut_interval *life = arenaut_problem_lifetimes(p, b);
    const uint32_t n = arenaut_problem_lifetime_count(p, b);
    uint32_t s = out->slice_start ? out->slice_start[b] : 0;
    const uint32_t s_end = out->slice_start ? out->slice_start[b + 1] : 0;
    int64_t at = hull.first;
    bool begun = false;
    for (uint32_t i = 0; i <= n; i++) {
        const int64_t next = i < n ? life[i].first : hull.end;
        for (; s < s_end; s++) {
            const uint32_t inner = out->slices[s];
            const arenaut_interval window = *arenaut_problem_lifetimes(p, inner);
            if (window.first >= next) break;
            if (at < window.first) put_gap(out, at, window.first, &begun);
            put_gap(out, window.first, window.end, &begun);
            arn_putf(&out->writer, "@%" PRIu64 ":%" PRIu64, p->inside_delta[inner],
                     p->inside_delta[inner] + p->size[inner]);
            at = window.end;
        }
        if (at < next) put_gap(out, at, next, &begun);
        if (i < n) at = life[i].end;
    }
}

/* From the first step at which the buffer or a slice of it is alive to the last. */
static arenaut_interval hull_of(const printer *out, uint32_t b) {
    const arenaut_problem *p = out->problem;
    const uint32_t n = arenaut_problem_lifetime_count(p, b);
    arenaut_interval hull = {0, 0};
    if (n == 0) return hull;
    hull.first = arenaut_problem_lifetimes(p, b)[0].first;
    hull.end = arenaut_problem_lifetimes(p, b)[n - 1].end;
    if (!out->slice_start) return hull;
    for (uint32_t s = out->slice_start[b]; s < out->slice_start[b + 1]; s++) {
        const arenaut_interval window = *arenaut_problem_lifetimes(p, out->slices[s]);
        if (window.first < hull.first) hull.first = window.first;
        if (window.end > hull.end) hull.end = window.end;
    }
    return hull;
}

static void put_row(printer *out, uint32_t b) {
    const arenaut_problem *p = out->problem;
    arn_writer *writer = &out->writer;
    char store[24];
    const arenaut_interval hull = hull_of(out, b);
    arn_csv_put_name(writer, arenaut_problem_buffer_name(p, b, store));
    arn_putf(writer, ",%" PRId64 ",%" PRId64 ",%" PRIu64, hull.first, hull.end, p->size[b]);
    if (out->alignment) arn_putf(writer, ",%" PRIu64, arenaut_problem_align(p, b));
    if (out->hint) {
        const uint64_t hint = arenaut_problem_hint(p, b);
        arn_putf(writer, hint == ARENAUT_UNPLACED ? ",-1" : ",%" PRIu64, hint);
    }
    if (out->gaps) {
        arn_puts(writer, ",");
        put_gaps(out, b, hull);
    }
    if (out->offset) {
        const uint64_t offset =
            out->plan ? out->plan->offset[b] : arenaut_problem_fixed_offset(p, b);
        arn_puts(writer, ",");
        if (offset != ARENAUT_UNPLACED) arn_putf(writer, "%" PRIu64, offset);
    }
    arn_puts(writer, "\n");
}

static void put_table(printer *out) {
    arn_puts(&out->writer, "id,lower,upper,size");
    if (out->alignment) arn_puts(&out->writer, ",alignment");
    if (out->hint) arn_puts(&out->writer, ",hint");
    if (out->gaps) arn_puts(&out->writer, ",gaps");
    if (out->offset) arn_puts(&out->writer, ",offset");
    arn_puts(&out->writer, "\n");
    for (uint32_t b = 0; b < out->problem->n_buffers; b++) {
        if (arenaut_problem_inside(out->problem, b) == ARENAUT_NONE) put_row(out, b);
    }
}

static arenaut_status csv_write(const arenaut_result *result, arenaut_sink sink,
                                const arenaut_allocator *allocator, arenaut_error *err) {
    printer out = {.writer = arn_writer_to(sink), .problem = result->problem, .plan = result->plan};
    arenaut_status st = check_expressible(out.problem, out.plan, err);
    const uint32_t n_rounded = out.plan ? arenaut_result_rounded(result) : 0;
    if (st == ARENAUT_OK && n_rounded > 0) {
        st = arn_fail(err, ARENAUT_REFUSED, 0,
                      "CSV cannot hold that a plan is not of the same bits (tiles of %" PRIu32
                      " %s may be rounded otherwise); write it as JSON instead",
                      n_rounded, n_rounded == 1 ? "op" : "ops");
    }
    if (st == ARENAUT_OK) st = collect_slices(&out, allocator, err);
    if (st == ARENAUT_OK) {
        choose_columns(&out);
        put_table(&out);
        st = arn_writer_finish(&out.writer, err);
    }
    ARN_RELEASE(allocator, out.slice_start, out.slices);
    return st;
}

/* ---- the format ---- */

/* By its first line, which must name all the columns that every problem has. */
static bool csv_recognise(const uint8_t *data, size_t size) {
    enum { FARTHEST = 1 << 14 }; /* a header is short; other formats' bytes may be long */
    arn_csv_scanner scanner;
    arn_csv_begin(&scanner, data, size < FARTHEST ? size : FARTHEST);
    if (arn_csv_next(&scanner, NULL) != ARENAUT_OK) return false;
    unsigned seen = 0;
    for (uint32_t i = 0; i < scanner.n_cells; i++) {
        const arn_csv_header *header = arn_csv_header_find(&scanner.cells[i]);
        if (header) seen |= 1u << header->column;
    }
    const unsigned required = (1u << ARN_CSV_REQUIRED) - 1;
    return (seen & required) == required;
}

extern const arenaut_format arn_format_csv;
const arenaut_format arn_format_csv = {
    .name = "csv",
    .summary = "problems of one pool, a buffer a line (MiniMalloc); with offsets also plans",
    .extensions = ".csv",
    .recognise = csv_recognise,
    .read = arn_csv_read,
    .write = csv_write,
};
