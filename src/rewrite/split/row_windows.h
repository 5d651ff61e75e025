/* Windows on rows of an image: the rows with halo that some rows of a result need, and the rows
 * that an op computes of these by its own rule of padding. */
#ifndef ARN_REWRITE_SPLIT_ROW_WINDOWS_H
#define ARN_REWRITE_SPLIT_ROW_WINDOWS_H

#include "rewrite/split/tiled_draft.h"

typedef struct arn_rows {
    int64_t begin, end; /* none: begin >= end */
} arn_rows;

static inline bool arn_rows_none(arn_rows r) { return r.begin >= r.end; }
static inline int64_t arn_rows_count(arn_rows r) { return arn_rows_none(r) ? 0 : r.end - r.begin; }

/* Those of them that an image of so many rows has. */
arn_rows arn_rows_inside(arn_rows rows, int64_t height);

/* The rows of the input, with halo, that the rows of an output depend on; those outside of the
 * image are padding. */
arn_rows arn_rows_with_halo(const arn_tile_window *window, arn_rows made);
/* Of a window that goes up: rows in front of `made` and behind that see these input rows, too. */
static inline arn_rows arn_rows_cut(const arn_tile_window *window, arn_rows in, arn_rows made) {
    const int64_t end = (in.end - 1) * window->up + window->filter + window->after;
    return (arn_rows){made.begin + window->before - in.begin * window->up,
                      end - made.end - window->before};
}
/* The rule SAME pads these rows of input as the windows of `made` need it. */
bool arn_rows_same_pads(const arn_tile_window *window, arn_rows in, arn_rows made);

/* The fewest rows `in` of an image with which an op that pads by the rule SAME computes `made`;
 * `run` gets the rows that it computes, the others wrong. Counts the places that it tries. False:
 * none. */
bool arn_rows_crop(const arn_tile_window *window, int64_t height, arn_rows made, arn_rows *in,
                   arn_rows *run, uint64_t *places);

/* The same for an op that pads both edges of its rows alike, or none; and for a padding that shows
 * rows of the image in reverse. They change nothing where no padding is near. */
void arn_rows_mirror(const arn_tile_window *window, int64_t height, arn_rows made, arn_rows *in,
                     arn_rows *run);
void arn_rows_reflect(const arn_tile_window *window, int64_t height, bool repeats_edge,
                      arn_rows made, arn_rows *in, arn_rows *run);

#endif
