/* Interval trees over time (bands), and the placed spans of a pool in lists per band, as the header
 * describes. */
#include "planners/placing/spans.h"

#include <string.h>

#include "core/checked.h"
#include "core/sort.h"

/* ---- bands ---- */

/* Pieces are divided among bands at the median of all their first and last steps: no more than half
 * of them end before it, and no more than half begin after it. So the tree is no deeper than the
 * bits of their number, and at each depth only bands of more than `few` are divided. */

enum { MOST_DEEP = 33 };

/* Pieces are listed twice, as ends: 2 * piece for its first step, one more for its last. */
typedef struct division {
    const arn_piece *piece;
    arn_bands *bands;
    uint32_t *ends, *room; /* by step; as many more */
    uint32_t few;
} division;

static int64_t step_of(const arn_piece *piece, uint32_t end) {
    return end & 1 ? piece[end / 2].end - 1 : piece[end / 2].first;
}

static arn_band hull(const division *d, uint32_t from, uint32_t n) {
    const arn_band nothing = {0, 0, {ARENAUT_NONE, ARENAUT_NONE}};
    arn_band band = nothing;
    if (n == 0) return band;
    band.first = step_of(d->piece, d->ends[from]);
    band.end = step_of(d->piece, d->ends[from + n - 1]) + 1;
    return band;
}

/* Moves the pieces that end before the step to the front of ends [from, from + n), then the ones
 * that begin after it, and leaves the rest in the band. */
static void part(division *d, uint32_t band, uint32_t from, uint32_t n, int64_t step,
                 uint32_t *n_before, uint32_t *n_after) {
    *n_before = *n_after = 0;
    for (uint32_t i = from; i < from + n; i++) {
        const uint32_t end = d->ends[i];
        const arn_piece *piece = &d->piece[end / 2];
        if (piece->end <= step) {
            d->ends[from + (*n_before)++] = end;
        } else if (piece->first > step) {
            d->room[(*n_after)++] = end;
        } else {
            d->bands->of[end / 2] = band;
        }
    }
    memcpy(&d->ends[from + *n_before], d->room, *n_after * sizeof *d->room);
}

static uint32_t divide(division *d, uint32_t from, uint32_t n) {
    const uint32_t at = d->bands->n++;
    arn_band *band = &d->bands->band[at];
    *band = hull(d, from, n);
    if (n / 2 <= d->few) {
        for (uint32_t i = from; i < from + n; i++) d->bands->of[d->ends[i] / 2] = at;
        return at;
    }
    uint32_t n_before, n_after;
    const int64_t step = step_of(d->piece, d->ends[from + n / 2]);
    part(d, at, from, n, step, &n_before, &n_after);
    if (n_before) band->below[0] = divide(d, from, n_before);
    if (n_after) band->below[1] = divide(d, from + n_before, n_after);
    return at;
}

bool arn_bands_make(const arn_groups *groups, uint32_t few, arn_region *region, arn_bands *bands) {
    const uint32_t n = groups->n_pieces;
    if (n > UINT32_MAX / 4) return false;
    const uint64_t most = 1 + (uint64_t)n / few * MOST_DEEP * 2;
    uint64_t *key = arn_region_allocate(region, (size_t)n * 2, sizeof *key);
    uint32_t *ends = arn_region_allocate(region, (size_t)n * 4, sizeof *ends);
    bands->n = 0;
    bands->band = arn_region_allocate(region, (size_t)most, sizeof *bands->band);
    bands->of = arn_region_allocate(region, n, sizeof *bands->of);
    if (!key || !ends || !bands->band || !bands->of) return false;
    for (uint32_t i = 0; i < 2 * n; i++) {
        key[i] = arn_step_key(step_of(groups->piece, i));
        ends[i] = i;
    }
    arn_sort_by_key(ends, (size_t)n * 2, key, ends + (size_t)n * 2);
    division d = {groups->piece, bands, ends, ends + (size_t)n * 2, few};
    divide(&d, 0, 2 * n);
    bands->met = arn_region_allocate(region, bands->n, sizeof *bands->met);
    return bands->met;
}

uint32_t arn_bands_meet(const arn_bands *bands, int64_t first, int64_t end) {
    uint32_t n = 1;
    bands->met[0] = 0;
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < 2; k++) {
            const uint32_t below = bands->band[bands->met[i]].below[k];
            if (below == ARENAUT_NONE) continue;
            const arn_band *band = &bands->band[below];
            if (band->first < end && band->end > first) bands->met[n++] = below;
        }
    }
    return n;
}

/* ---- spans ---- */

/* Spans are kept sorted by address in lists of chunks. To add one takes a step over each chunk
 * below it. */

/* Problems of so many pieces have one band; with more pools there are as many lists, not more. */
enum { FEW_PIECES = 512 };

bool arn_spans_make(const arn_groups *groups, arn_region *region, arn_spans *spans) {
    const arenaut_problem *p = groups->problem;
    if (!arn_bands_make(groups, FEW_PIECES * p->n_pools, region, &spans->bands)) return false;
    const uint64_t n = (uint64_t)groups->n_pieces + p->n_reserved;
    const uint64_t lists = (uint64_t)p->n_pools * spans->bands.n;
    const uint64_t chunks = n / (ARN_CHUNK / 2) + arn_min_u64(lists, n);
    if (lists >= ARENAUT_NONE || chunks >= ARENAUT_NONE) return false;
    spans->n_lists = (uint32_t)lists;
    return ARN_REGION_ARRAYS(region, ARN_ARRAY(spans->head, (size_t)lists),
                             ARN_ARRAY(spans->chunk, (size_t)chunks));
}

void arn_spans_clear(arn_spans *spans) {
    spans->n_chunks = 0;
    for (uint32_t i = 0; i < spans->n_lists; i++) spans->head[i] = ARENAUT_NONE;
}

static void empty_hull(arn_chunk *c) {
    c->first = c->least_end = INT64_MAX;
    c->end = c->last_first = INT64_MIN;
    c->top = c->gap = 0;
}

static uint32_t new_chunk(arn_spans *spans, uint32_t next) {
    arn_chunk *c = &spans->chunk[spans->n_chunks];
    c->n = 0;
    c->next = next;
    empty_hull(c);
    return spans->n_chunks++;
}

/* The bytes between span i and the one above it. */
static uint64_t gap_above(const arn_chunk *c, uint32_t i) {
    return c->low[i + 1] > c->high[i] ? c->low[i + 1] - c->high[i] : 0;
}

static void find_gap(arn_chunk *c) {
    c->gap = 0;
    for (uint32_t i = 0; i + 1 < c->n; i++) c->gap = arn_max_u64(c->gap, gap_above(c, i));
}

static void widen_hull(arn_chunk *c, uint32_t i) {
    if (c->firsts[i] < c->first) c->first = c->firsts[i];
    if (c->firsts[i] > c->last_first) c->last_first = c->firsts[i];
    if (c->ends[i] > c->end) c->end = c->ends[i];
    if (c->ends[i] < c->least_end) c->least_end = c->ends[i];
    if (c->high[i] > c->top) c->top = c->high[i];
}

static void find_hull(arn_chunk *c) {
    empty_hull(c);
    for (uint32_t i = 0; i < c->n; i++) widen_hull(c, i);
    find_gap(c);
}

/* Moves spans [from, n) of one chunk to the place `at` of another that has room. */
static void copy_spans(arn_chunk *to, uint32_t at, const arn_chunk *source, uint32_t from,
                       uint32_t n) {
    memmove(&to->firsts[at], &source->firsts[from], n * sizeof *to->firsts);
    memmove(&to->ends[at], &source->ends[from], n * sizeof *to->ends);
    memmove(&to->low[at], &source->low[from], n * sizeof *to->low);
    memmove(&to->high[at], &source->high[from], n * sizeof *to->high);
    memmove(&to->buffer[at], &source->buffer[from], n * sizeof *to->buffer);
}

static void split(arn_spans *spans, uint32_t at) {
    const uint32_t upper = new_chunk(spans, spans->chunk[at].next);
    arn_chunk *from = &spans->chunk[at], *to = &spans->chunk[upper];
    from->next = upper;
    from->n = ARN_CHUNK / 2;
    to->n = ARN_CHUNK - ARN_CHUNK / 2;
    copy_spans(to, 0, from, from->n, to->n);
    find_hull(from);
    find_hull(to);
}

static void insert(arn_chunk *c, uint32_t i, const arn_span *span) {
    const bool inside = i > 0 && i < c->n;
    const uint64_t old = inside ? gap_above(c, i - 1) : 0;
    copy_spans(c, i + 1, c, i, c->n - i);
    c->firsts[i] = span->first;
    c->ends[i] = span->end;
    c->low[i] = span->low;
    c->high[i] = span->high;
    c->buffer[i] = span->buffer;
    c->n++;
    widen_hull(c, i);
    if (old > 0 && old == c->gap) {
        find_gap(c);
        return;
    }
    if (i > 0) c->gap = arn_max_u64(c->gap, gap_above(c, i - 1));
    if (i + 1 < c->n) c->gap = arn_max_u64(c->gap, gap_above(c, i));
}

uint32_t arn_spans_add(arn_spans *spans, uint32_t list, uint32_t near, const arn_span *span,
                       uint64_t *stepped) {
    if (spans->head[list] == ARENAUT_NONE) spans->head[list] = new_chunk(spans, ARENAUT_NONE);
    uint32_t at = near == ARENAUT_NONE ? spans->head[list] : near;
    for (uint32_t next = spans->chunk[at].next;
         next != ARENAUT_NONE && spans->chunk[next].low[0] <= span->low;
         next = spans->chunk[at].next) {
        at = next;
        ++*stepped;
    }
    if (spans->chunk[at].n == ARN_CHUNK) {
        split(spans, at);
        const uint32_t upper = spans->chunk[at].next;
        if (spans->chunk[upper].low[0] <= span->low) at = upper;
    }
    arn_chunk *c = &spans->chunk[at];
    uint32_t i = c->n;
    while (i > 0 && c->low[i - 1] > span->low) i--;
    insert(c, i, span);
    return at;
}
