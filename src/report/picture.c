/* The numbers behind a picture of a plan, made once for it: the range of steps, and for each column
 * the most bytes alive, by sorting where lifetimes begin and end. O(n log n + columns). */
#include "report/picture.h"

#include <inttypes.h>

#include "core/fail.h"
#include "core/memory.h"
#include "core/sort.h"
#include "report/covered.h"

uint32_t arn_report_scale(uint64_t part, uint64_t whole, uint32_t units) {
    while (whole >> 31) { /* units has at most 32 bits: the product must fit 64 */
        whole >>= 1;
        part >>= 1;
    }
    return (uint32_t)(part * units / whole);
}

uint32_t arn_report_picture_x(const arn_report_picture *picture, int64_t step, uint32_t units) {
    const uint64_t range = (uint64_t)picture->end - (uint64_t)picture->first;
    if (step <= picture->first) return 0;
    if (step >= picture->end) return units;
    return arn_report_scale((uint64_t)step - (uint64_t)picture->first, range, units);
}

uint64_t arn_report_nice_step(uint64_t n) {
    for (uint64_t power = 1; power <= UINT64_MAX / 100; power *= 10) {
        if (n <= power) return power;
        if (n <= 2 * power) return 2 * power;
        if (n <= 5 * power) return 5 * power;
    }
    return n;
}

/* The axis spans all lifetimes; with nothing alive it has one step, so that scaling works. */
static void find_range(arn_report_picture *picture) {
    const arenaut_problem *p = picture->result->problem;
    picture->first = 0;
    picture->end = 1;
    for (uint32_t i = 0; i < p->n_lifetimes; i++) {
        if (i == 0 || p->lifetime[i].first < picture->first) picture->first = p->lifetime[i].first;
        if (i == 0 || p->lifetime[i].end > picture->end) picture->end = p->lifetime[i].end;
    }
    if (picture->end <= picture->first) picture->end = picture->first + 1;
}

static arenaut_status choose_steps(arn_report_picture *picture, arenaut_interval steps,
                                   arenaut_error *err) {
    if (steps.first >= steps.end) return ARENAUT_OK;
    const int64_t first = picture->first, end = picture->end;
    if (steps.first > picture->first) picture->first = steps.first;
    if (steps.end < picture->end) picture->end = steps.end;
    if (picture->first < picture->end) return ARENAUT_OK;
    return arn_fail(err, ARENAUT_REFUSED, 0,
                    "there is nothing to show from step %" PRId64 " to %" PRId64
                    ": the plan's steps are %" PRId64 " to %" PRId64,
                    steps.first, steps.end - 1, first, end - 1);
}

/* A beginning (even) or an end (odd) of lifetime event / 2. */
static int64_t time_of(const arenaut_problem *p, uint32_t event) {
    return event % 2 ? p->lifetime[event / 2].end : p->lifetime[event / 2].first;
}

static bool event_before(const void *context, uint32_t a, uint32_t b) {
    const arenaut_problem *p = context;
    const int64_t at = time_of(p, a), bt = time_of(p, b);
    return at != bt ? at < bt : a % 2 > b % 2; /* ends first: lifetimes are half open */
}

/* `bytes` from one step to another, into the most of each column. */
static void raise_columns(const arn_report_picture *picture, uint64_t *most, int64_t from,
                          int64_t to, uint64_t bytes) {
    const arenaut_interval steps = {from, to};
    if (!arn_report_picture_shows(picture, steps)) return;
    const uint32_t first = arn_report_picture_x(picture, from, picture->columns);
    uint32_t last = arn_report_picture_x(picture, to, picture->columns);
    if (last <= first) last = first + 1;
    for (uint32_t c = first; c < last && c < picture->columns; c++) {
        if (bytes > most[c]) most[c] = bytes;
    }
}

/* Notes `bytes` as alive from one step to another. */
static void note_load(arn_report_picture *picture, int64_t from, int64_t to, uint64_t bytes) {
    if (bytes > picture->most) picture->most = bytes;
    if (from <= picture->peak.step && picture->peak.step < to) picture->at_peak = bytes;
    raise_columns(picture, picture->live, from, to, bytes);
}

static bool find_reserved(arn_report_picture *picture) {
    const arenaut_trace *trace = picture->result->trace;
    if (!trace || !trace->reserved) return true;
    picture->reserved =
        arn_allocate_zeroed(picture->allocator, picture->columns, sizeof *picture->reserved);
    if (!picture->reserved) return false;
    for (uint32_t k = 0; k < trace->n_requests; k++) {
        raise_columns(picture, picture->reserved, k, (int64_t)k + 1, trace->reserved[k]);
    }
    return true;
}

/* Walks the sorted events; the columns touched add up to events + columns. */
static bool find_loads(arn_report_picture *picture, const uint32_t *events, const uint32_t *owner) {
    const arenaut_problem *p = picture->result->problem;
    arn_covered covered;
    if (!arn_covered_init(&covered, p, picture->result->plan, picture->allocator)) return false;
    const size_t n = (size_t)p->n_lifetimes * 2;
    for (size_t i = 0; i < n; i++) {
        const int64_t now = time_of(p, events[i]);
        arn_covered_change(&covered, owner[events[i] / 2], events[i] % 2 == 0);
        if (i + 1 < n && time_of(p, events[i + 1]) > now) {
            note_load(picture, now, time_of(p, events[i + 1]), arn_covered_bytes(&covered));
        }
    }
    arn_covered_free(&covered);
    return true;
}

static arenaut_status measure(arn_report_picture *picture, uint32_t *events, uint32_t *owner,
                              arenaut_error *err) {
    const arenaut_problem *p = picture->result->problem;
    const size_t n = (size_t)p->n_lifetimes * 2;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        for (uint32_t i = p->lifetime_start[b]; i < p->lifetime_start[b + 1]; i++) owner[i] = b;
    }
    for (size_t i = 0; i < n; i++) events[i] = (uint32_t)i;
    arn_sort_ids(events, n, event_before, p, events + n);
    const arenaut_status st = arenaut_peak_find(p, picture->allocator, &picture->peak, err);
    if (st != ARENAUT_OK) return st;
    if (find_loads(picture, events, owner) && find_reserved(picture)) return ARENAUT_OK;
    arenaut_peak_free(&picture->peak, picture->allocator);
    return arn_no_memory(err);
}

arenaut_status arn_report_picture_make(const arenaut_result *result, arenaut_interval steps,
                                       uint32_t columns, const arenaut_allocator *allocator,
                                       arn_report_picture *picture, arenaut_error *err) {
    const uint32_t n = result->problem->n_lifetimes;
    arn_report_picture made = {.result = result, .columns = columns, .allocator = allocator};
    if (n > UINT32_MAX / 2) return arn_fail(err, ARENAUT_TOO_LARGE, 0, "more than 2^31 lifetimes");
    find_range(&made);
    if (choose_steps(&made, steps, err)) return ARENAUT_REFUSED;
    uint32_t *events = arn_allocate(allocator, (size_t)n * 4, sizeof *events);
    uint32_t *owner = arn_allocate(allocator, n, sizeof *owner);
    made.live = arn_allocate_zeroed(allocator, columns, sizeof *made.live);
    const arenaut_status st =
        events && owner && made.live ? measure(&made, events, owner, err) : arn_no_memory(err);
    arn_release(allocator, events);
    arn_release(allocator, owner);
    if (st == ARENAUT_OK) *picture = made;
    else arn_release(allocator, made.live);
    return st;
}

void arn_report_picture_free(arn_report_picture *picture) {
    arn_release(picture->allocator, picture->live);
    arn_release(picture->allocator, picture->reserved);
    arenaut_peak_free(&picture->peak, picture->allocator);
}
