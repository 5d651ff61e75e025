/* Interval trees over time, whose nodes are called bands; and lists of placed spans per band.
 *
 * A centred interval tree (Edelsbrunner 1980): pieces alive at a node's step stay in its band,
 * pieces that end before that step or begin after it go below, until so few are left that a scan is
 * as fast. The pieces alive during a few steps lie in the bands on the path down to them; most
 * others need no look. The pieces of a band but the lowest are all alive together, so that if few
 * are alive at any time bands are small. */
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

/* Spans: placed pieces, each some bytes during some steps, in lists that are sorted by address: one
 * per pool and band of time.
 *
 * Lists are cut into chunks with their hull in time, their highest address, and the largest gap
 * within, so that most of them are stepped over, or passed as if they were one span. */

enum { ARN_CHUNK = 64 };

/* Spans next to each other in the order of addresses. Split in two when full, so each but the first
 * of a list is at least half full. */
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

/* The list of a pool and of a piece's band; spans without a band go to the first. */
static inline uint32_t arn_spans_list(const arn_spans *spans, uint32_t pool, uint32_t band) {
    return pool * spans->bands.n + band;
}

/* Adds a span to a list. `near`: a chunk of it that does not begin above the span, or ARENAUT_NONE.
 * Returns the chunk of the span, and adds the number of chunks that were stepped over on the way
 * there. */
uint32_t arn_spans_add(arn_spans *spans, uint32_t list, uint32_t near, const arn_span *span,
                       uint64_t *stepped);

#endif
