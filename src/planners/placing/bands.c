/* Divides pieces among bands, as the header tells, by the middle one of all their first and last
 * steps: no more than half of them end before it, and no more than half begin after it. So the tree
 * is no deeper than the bits of their number, and at each depth only bands of more than `few` are
 * divided. */
#include "planners/placing/bands.h"

#include <string.h>

#include "core/sort.h"

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

/* Moves what ends before the step to the front of ends [from, from + n), then what begins after it,
 * and leaves the rest in the band. */
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
