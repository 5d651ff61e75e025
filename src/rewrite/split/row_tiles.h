/* Row tiles of a group of ops (a stage in our flags): the rows with halo of every tensor, tile by
 * tile, counted before any op is emitted, and a lower bound of the live bytes. */
#ifndef ARN_REWRITE_SPLIT_ROW_TILES_H
#define ARN_REWRITE_SPLIT_ROW_TILES_H

#include <arenaut/rewrite.h>

#include "rewrite/split/tile_graph.h"

typedef struct arn_rows {
    int64_t begin, end; /* none: begin >= end */
} arn_rows;

static inline bool arn_rows_none(arn_rows r) { return r.begin >= r.end; }
static inline int64_t arn_rows_count(arn_rows r) { return arn_rows_none(r) ? 0 : r.end - r.begin; }

/* What one op of the stage does in one band. */
typedef struct arn_band_op {
    arn_rows want;  /* rows of its result that the band needs */
    arn_rows make;  /* those of them that are not there yet */
    arn_rows run;   /* those that the op makes for that */
    arn_rows input; /* rows of its images that it wants; none where it makes nothing */
} arn_band_op;

/* The same in all bands. */
typedef struct arn_banded {
    int64_t height, done; /* rows of its result in all, and made in earlier bands */
    uint64_t row_bytes;   /* of its result */
    uint64_t ends;        /* bytes of whole images that nobody reads after this op */
    uint32_t last;        /* the last band in which it makes something; ARENAUT_NONE: none */
    bool is_result;       /* somebody behind the stage needs what it makes */
} arn_banded;

typedef struct arn_bands {
    const arn_split_graph *graph;
    const arenaut_split_stage *stage;
    uint32_t first_op, n_ops; /* the range that `results` was last filled for */
    arn_band_op *ops;         /* by band, then op */
    arn_banded *results;      /* per op */
    uint32_t ops_capacity, results_capacity;
    uint64_t places; /* tried for cropped windows, in all that was counted */
    bool failed;     /* no memory */
} arn_bands;

/* Counts a stage that is not refused, with the memory that there is from the last one. False where
 * a band would have to be padded as no op can, or there is no memory. O(ops × pieces + places). */
bool arn_bands_count(arn_bands *bands, const arn_split_graph *graph,
                     const arenaut_split_stage *stage);
void arn_bands_free(arn_bands *bands);

static inline const arn_band_op *arn_band(const arn_bands *bands, uint32_t band, uint32_t op) {
    return &bands->ops[(size_t)band * bands->stage->n_ops + op];
}

/* In how many bands but the first one an op of the stage makes something. */
uint32_t arn_bands_repeats(const arn_bands *bands, uint32_t op);

/* Whether ops of the stage are cropped rather than padded, whether rows that the next band needs
 * are kept, and whether bands that are alike become calls. */
bool arn_bands_crop(const arn_bands *bands, uint32_t op);
bool arn_bands_keep(const arenaut_split_stage *stage);
bool arn_bands_call(const arenaut_split_stage *stage);

/* The rows of a result of the stage that a band makes. */
arn_rows arn_band_own(const arenaut_split_stage *stage, uint32_t band, int64_t all);

/* The rows of the input that the rows of an output see; what is outside of the image is padding. */
arn_rows arn_rows_seen(const arn_split_window *window, arn_rows made);
/* Whether the rule SAME pads these rows of input as the windows of `made` need it. */
bool arn_rows_same_pads(const arn_split_window *window, arn_rows in, arn_rows made);

/* The op of the stage that makes a tensor band by band; ARENAUT_NONE: it is whole. */
static inline uint32_t arn_band_maker(const arn_split_graph *graph,
                                      const arenaut_split_stage *stage, uint32_t tensor) {
    if (tensor == ARENAUT_NONE || arn_split_is_fixed(graph, tensor)) return ARENAUT_NONE;
    const uint32_t producer = graph->producer[tensor];
    const bool inside = producer >= stage->first_op && producer - stage->first_op < stage->n_ops;
    return inside && producer != ARENAUT_NONE ? producer - stage->first_op : ARENAUT_NONE;
}
/* Whether somebody behind the stage needs the result of its op `op`. */
bool arn_band_is_result(const arn_split_graph *graph, const arenaut_split_stage *stage,
                        uint32_t op);

/* Bytes that are alive at once while the stage's pieces run; what goes past the stage comes on top.
 * `reach`: results may reach into operands. */
uint64_t arn_split_bands_bound(const arn_bands *bands, bool reach);

#endif
