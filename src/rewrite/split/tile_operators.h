/* Reading the operators of a program to be tiled, in all dialects. */
#ifndef ARN_REWRITE_SPLIT_TILE_OPERATORS_H
#define ARN_REWRITE_SPLIT_TILE_OPERATORS_H

#include "ops/ops.h"
#include "rewrite/split/tile_dialect.h"

/* The n numbers of an attribute; false if it has others. If it is missing, they stay. */
bool arn_tile_numbers(const arenaut_op *op, const char *name, uint32_t n, int64_t *numbers);

enum { ARN_TILE_UNKNOWN = -1 };
/* The number of an attribute, or `otherwise` if it is missing; UNKNOWN: it has others. */
int64_t arn_tile_number(const arenaut_op *op, const char *name, int64_t otherwise);

/* NULL: there is none. */
const arenaut_tensor *arn_tile_input(const arn_tile_graph *graph, const arenaut_op *op, uint32_t i);

static inline int64_t arn_tile_along(const arn_tile_graph *graph, const arenaut_tensor *image,
                                     int axis) {
    return image->dims[arn_tile_dim(graph, axis)];
}

/* A dense tensor of four known sizes that an op makes, or the caller gives. */
bool arn_tile_is_image(const arn_tile_graph *graph, uint32_t tensor);

/* Whether an op of any kind makes one image, and has all that its tiles need. */
bool arn_tile_makes_image(const arn_tile_graph *graph, const arenaut_op *op);

/* The kind of tile that an operator of this row of ops.def has; OPAQUE for NULL. */
arn_tile_kind arn_tile_kind_of(const arn_op_row *row);

/* A constant that every row of the image sees whole; along the other axes it is as long as the
 * image, or repeated. */
bool arn_tile_repeats_by_row(const arn_tile_graph *graph, const arenaut_tensor *constant,
                             const arenaut_tensor *image);

/* Each of the `out` windows along an axis of length `in` has some element of the image: one that
 * lies in padding alone tells nothing of its place. O(out). */
bool arn_tile_all_see_image(const arn_tile_window *window, int64_t in, int64_t out);

/* Each element of the result from one of each operand: images of the result's sizes, and constants.
 */
bool arn_tile_take_elementwise(const arn_tile_graph *graph, const arenaut_op *op, arn_tile_op *out);
/* Concatenation along dimension `axis`, from the end if it is negative, which must be that of
 * channels: rows of the result are made of the same rows. */
bool arn_tile_take_join(const arn_tile_graph *graph, const arenaut_op *op, int64_t axis,
                        arn_tile_op *out);

#endif
