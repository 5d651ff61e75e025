/* Checkpoints for low budgets: which results of the ops before the peak are kept, so that the rest
 * can be made again segment by segment. */
#ifndef ARN_REWRITE_REMAT_SEGMENTS_H
#define ARN_REWRITE_REMAT_SEGMENTS_H

#include "rewrite/rematerialize/remat_sequence.h"

typedef struct arn_remat_segments {
    const arn_remat_graph *graph;
    uint32_t peak;         /* the op that segments end before */
    uint32_t *last_read;   /* per storage: the last op before the peak that reads it */
    bool *crosses;         /* per storage: made before the peak, and read behind it */
    uint32_t *position, n; /* candidates for a checkpoint: behind these ops */
    uint64_t *inside;   /* per candidate: bytes of storages that cross and are made up to there */
    uint64_t *fresh;    /* per pair: bytes that the later one adds to the checkpoints */
    uint64_t *least;    /* per candidate: bytes of checkpoints with one there */
    uint32_t *previous; /* the checkpoint before it; the candidate itself: it is the first */
    bool *chosen;       /* per candidate */
} arn_remat_segments;

/* Lists are the region's. */
bool arn_remat_segments_make(const arn_remat_graph *graph, arn_region *region, uint32_t peak,
                             arn_remat_segments *s);

/* The checkpoints with which segments and checkpoints take the fewest bytes, by an estimate within
 * `bytes`; of the results within a segment every `stride`-th candidate's stay once they were made
 * again. Sets the states of gaps that cross the peak. False if there are none. */
bool arn_remat_segments_choose(arn_remat_segments *s, uint64_t bytes, uint32_t stride,
                               arn_remat_state *state);

#endif
