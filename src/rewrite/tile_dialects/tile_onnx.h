/* Readers of ONNX's operators that tile_onnx.c finds by name: see arn_tile_taker. */
#ifndef ARN_REWRITE_TILE_DIALECTS_TILE_ONNX_H
#define ARN_REWRITE_TILE_DIALECTS_TILE_ONNX_H

#include "rewrite/tile_dialects/tile_dialect.h"

/* Softmax along another axis than that of rows. */
bool arn_onnx_take_softmax(const arn_tile_graph *graph, const arenaut_op *op, arn_tile_op *out);
/* LayerNormalization over axes behind that of rows. */
bool arn_onnx_take_layer(const arn_tile_graph *graph, const arenaut_op *op, arn_tile_op *out);
/* A reduction over the channels of each place. */
bool arn_onnx_take_channels(const arn_tile_graph *graph, const arenaut_op *op, arn_tile_op *out);
/* A reduction over all places of each channel. */
bool arn_onnx_take_reduction(const arn_tile_graph *graph, const arenaut_op *op, arn_tile_op *out);
/* Op `at` if it is, or reshapes the image of, a norm by groups of channels. */
bool arn_onnx_take_norm(const arn_tile_graph *graph, uint32_t at, arn_tile_op *out);

#endif
