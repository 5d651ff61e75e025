/* The numbers behind a picture of a plan, made once for it: the range of steps, and for each column
 * the most bytes alive, by sorting where lifetimes begin and end. O(n log n + columns). */
#include "report/picture.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

#include <arenaut/plan.h>
#include <arenaut/problem.h>

#include "core/fail.h"
#include "core/memory.h"
#include "core/sort.h"

/* The number of covered bytes of the arenas, while buffers come and go: shared bytes count once. A
 * segment tree over the addresses at which buffers begin and end, of which each node knows how many
 * buffers cover all of it. */
typedef struct cover_tree {
    const arenaut_problem *problem;
    const arenaut_plan *plan;
    const arenaut_allocator *allocator;
    uint64_t *address; /* sorted, each once */
    uint32_t n;        /* of them */
    uint32_t *covers;  /* by node: buffers over all of it, that do not cover its parent */
    uint64_t *bytes;   /* by node: covered by these, or below */
    uint64_t base[ARENAUT_MAX_POOLS];
} cover_tree;

static uint64_t covered_bytes(const cover_tree *covered) {
    return covered->n > 1 ? covered->bytes[1] : 0;
}

static int by_address(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static bool has_place(const cover_tree *c, uint32_t buffer) {
    return c->problem->size[buffer] > 0 && c->plan->pool[buffer] < c->plan->n_pools;
}

/* Pools lie behind one another. */
static uint64_t first_of(const cover_tree *c, uint32_t buffer) {
    return c->base[c->plan->pool[buffer]] + c->plan->offset[buffer];
}

static void list_addresses(cover_tree *c) {
    uint32_t n = 0;
    for (uint32_t b = 0; b < c->problem->n_buffers; b++) {
        if (!has_place(c, b)) continue;
        c->address[n++] = first_of(c, b);
        c->address[n++] = first_of(c, b) + c->problem->size[b];
    }
    if (n) qsort(c->address, n, sizeof *c->address, by_address);
    c->n = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (i == 0 || c->address[i] != c->address[i - 1]) c->address[c->n++] = c->address[i];
    }
}

static void covered_free(cover_tree *c) {
    ARN_RELEASE(c->allocator, c->address, c->covers, c->bytes);
}

/* Nothing is covered. False if there is no memory. O(n log n). */
static bool covered_init(cover_tree *c, const arenaut_problem *problem, const arenaut_plan *plan,
                         const arenaut_allocator *allocator) {
    *c = (cover_tree){.problem = problem, .plan = plan, .allocator = allocator};
    for (uint32_t p = 1; p < plan->n_pools; p++) c->base[p] = c->base[p - 1] + plan->arena[p - 1];
    c->address = arn_allocate(allocator, 2 * (uint64_t)problem->n_buffers, sizeof *c->address);
    if (c->address) list_addresses(c);
    c->covers = arn_allocate_zeroed(allocator, 4 * (uint64_t)c->n, sizeof *c->covers);
    c->bytes = arn_allocate_zeroed(allocator, 4 * (uint64_t)c->n, sizeof *c->bytes);
    if (c->address && c->covers && c->bytes) return true;
    covered_free(c);
    return false;
}

/* A node spans the stretches [low, high) between neighbouring addresses. */
typedef struct span {
    uint32_t node, low, high;
} span;

static void change(cover_tree *c, span at, uint64_t first, uint64_t end, bool comes) {
    const uint64_t begins = c->address[at.low], ends = c->address[at.high];
    if (end <= begins || ends <= first) return;
    const bool leaf = at.high - at.low == 1;
    if (first <= begins && ends <= end) {
        c->covers[at.node] += comes ? 1u : UINT32_MAX;
    } else {
        const uint32_t middle = at.low + (at.high - at.low) / 2;
        change(c, (span){2 * at.node, at.low, middle}, first, end, comes);
        change(c, (span){2 * at.node + 1, middle, at.high}, first, end, comes);
    }
    c->bytes[at.node] = c->covers[at.node] ? ends - begins
                        : leaf             ? 0
                                           : c->bytes[2 * at.node] + c->bytes[2 * at.node + 1];
}

/* The buffer comes, or goes. O(log n). */
static void covered_change(cover_tree *c, uint32_t buffer, bool comes) {
    if (!has_place(c, buffer)) return;
    const uint64_t first = first_of(c, buffer);
    change(c, (span){1, 0, c->n - 1}, first, first + c->problem->size[buffer], comes);
}

/* ---- the picture ---- */

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
    cover_tree covered;
    if (!covered_init(&covered, p, picture->result->plan, picture->allocator)) return false;
    const size_t n = (size_t)p->n_lifetimes * 2;
    for (size_t i = 0; i < n; i++) {
        const int64_t now = time_of(p, events[i]);
        covered_change(&covered, owner[events[i] / 2], events[i] % 2 == 0);
        if (i + 1 < n && time_of(p, events[i + 1]) > now) {
            note_load(picture, now, time_of(p, events[i + 1]), covered_bytes(&covered));
        }
    }
    covered_free(&covered);
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
    ARN_RELEASE(allocator, events, owner);
    if (st == ARENAUT_OK) *picture = made;
    else arn_release(allocator, made.live);
    return st;
}

void arn_report_picture_free(arn_report_picture *picture) {
    ARN_RELEASE(picture->allocator, picture->live, picture->reserved);
    arenaut_peak_free(&picture->peak, picture->allocator);
}
