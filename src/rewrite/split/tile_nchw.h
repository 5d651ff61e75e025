/* Windows of convolutions and pools on images NCHW, from attributes of any name. */
#ifndef ARN_REWRITE_SPLIT_TILE_NCHW_H
#define ARN_REWRITE_SPLIT_TILE_NCHW_H

#include "rewrite/split/tile_operators.h"

/* Dimensions of an image; weights have theirs of the window at the same places. */
enum { ARN_NCHW_C = 1, ARN_NCHW_H = 2, ARN_NCHW_W = 3 };

/* Attributes of a window, height before width. */
typedef struct arn_nchw_window {
    int64_t filter[2], strides[2], dilations[2];
    int64_t before[2], after[2]; /* padding */
    int64_t groups;              /* of a convolution */
    bool rounds_up; /* windows that begin within the image or its padding count, even if they end
                     * behind both, where they see nothing */
} arn_nchw_window;

/* Fills in a convolution (image, weights by output channel, perhaps a bias) or a pool (image).
 * False if sizes do not agree, or weights are computed. */
bool arn_tile_take_nchw_convolution(const arn_tile_graph *graph, const arenaut_op *op,
                                    const arn_nchw_window *window, arn_tile_op *out);
/* Transposed: weights by input channel; `after` is the padding of the result. Of the padding of the
 * result's own, `extra` rows and columns, no more may be than of the other. */
bool arn_tile_take_nchw_transposed(const arn_tile_graph *graph, const arenaut_op *op,
                                   const arn_nchw_window *window, const int64_t extra[2],
                                   arn_tile_op *out);
bool arn_tile_take_nchw_pool(const arn_tile_graph *graph, const arenaut_op *op,
                             const arn_nchw_window *window, arn_tile_op *out);

/* Multiplications of a convolution or a transposed one, by its weights; 0 if they are unknown. */
uint64_t arn_tile_nchw_macs(const arn_tile_graph *graph, const arenaut_op *op, bool transposed);

#endif
