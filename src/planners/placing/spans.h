/* Spans: what is placed, each some bytes during some steps, in lists that are sorted by address:
 * one per pool and band of time (bands.h).
 *
 * Lists are cut into chunks that know their hull in time, their highest address, and the largest
 * gap within, so that most of them are stepped over, or passed as if they were one span. */
#ifndef ARN_PLANNERS_PLACING_SPANS_H
#define ARN_PLANNERS_PLACING_SPANS_H

#include "planners/placing/bands.h"

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
