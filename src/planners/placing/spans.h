/* Bands of time: which of the pieces of a problem may be alive during some steps.
 *
 * A centred interval tree: what is alive at a node's step stays in its band, what ends before that
 * step or begins after it goes below, until so few are left that they are as soon looked through.
 * What is alive during a few steps lies in the bands on the way down to them; most others need no
 * look. All that is in a band but the lowest is alive together, so that where few are alive at any
 * time bands are small. */
#ifndef ARN_PLANNERS_PLACING_SPANS_H
#define ARN_PLANNERS_PLACING_SPANS_H

#include "planners/placing/buffer_groups.h"

typedef struct arn_band {
    int64_t first, end; /* nothing in it or below is alive outside */
    uint32_t below[2];  /* the bands before and after its step; ARENAUT_NONE: nothing there */
} arn_band;

typedef struct arn_bands {
    uint32_t n;
    arn_band *band; /* the first is above all others */
    uint32_t *of;   /* per piece of the groups */
    uint32_t *met;  /* room for all */
} arn_bands;

/* Bands of up to `few` pieces are not divided. False if there is no memory. O(n log n). */
bool arn_bands_make(const arn_groups *groups, uint32_t few, arn_region *region, arn_bands *bands);

/* Writes to bands->met the bands with pieces that may be alive in [first, end), the first of all
 * always among them, and returns how many. */
uint32_t arn_bands_meet(const arn_bands *bands, int64_t first, int64_t end);

/* ---- spans ---- */

/* Spans: what is placed, each some bytes during some steps, in lists that are sorted by address:
 * one per pool and band of time (bands.h).
 *
 * Lists are cut into chunks that know their hull in time, their highest address, and the largest
 * gap within, so that most of them are stepped over, or passed as if they were one span. */

enum { ARN_CHUNK = 64 };

/* Spans next to each other in the order of addresses. Split in two when full, so each but
 * the first of a list holds at least half of what it could. */
typedef struct arn_chunk {
    uint32_t n, next;
    int64_t first, end;            /* no span is alive outside */
    int64_t last_first, least_end; /* all spans are alive from the one to the other */
    uint64_t top;                  /* no span reaches above */
    uint64_t gap; /* no more bytes lie between the end of one and the start of the next */
    int64_t firsts[ARN_CHUNK], ends[ARN_CHUNK];
    uint64_t low[ARN_CHUNK], high[ARN_CHUNK];
    uint32_t buffer[ARN_CHUNK]; /* ARENAUT_NONE: reserved */
} arn_chunk;

typedef struct arn_span {
    int64_t first, end;
    uint64_t low, high;
    uint32_t buffer;
} arn_span;

typedef struct arn_spans {
    arn_chunk *chunk;
    uint32_t n_chunks, n_lists;
    uint32_t *head; /* per list: its first chunk; ARENAUT_NONE: empty */
    arn_bands bands;
} arn_spans;

/* For the pieces and reserved ranges of these groups, each once. False if there is no memory. */
bool arn_spans_make(const arn_groups *groups, arn_region *region, arn_spans *spans);
void arn_spans_clear(arn_spans *spans);

/* A list: of a pool, and of the band of a piece, or for what has none, the first. */
static inline uint32_t arn_spans_list(const arn_spans *spans, uint32_t pool, uint32_t band) {
    return pool * spans->bands.n + band;
}

/* Adds a span to a list. `near`: a chunk of it that does not begin above the span, or ARENAUT_NONE.
 * Returns where the span went, and adds the chunks that were stepped over on the way there. */
uint32_t arn_spans_add(arn_spans *spans, uint32_t list, uint32_t near, const arn_span *span,
                       uint64_t *stepped);

#endif
