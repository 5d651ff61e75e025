/* Normalizations by the statistics of a whole image, in a draft. */
#ifndef ARN_REWRITE_SPLIT_ROW_NORMS_H
#define ARN_REWRITE_SPLIT_ROW_NORMS_H

#include "rewrite/split/tiled_draft.h"

/* Tensors with a number for each channel: an element is less its mean, times the factor, plus the
 * summand, if there is one. */
typedef struct arn_statistics {
    uint32_t mean, factor, summand;
} arn_statistics;

/* Puts the statistics that op `at` normalizes `image` by, which is whole, in so many tiles.
 * `parts`: memory for two tensors of each. */
arn_statistics arn_norm_put_statistics(arn_draft *draft, uint32_t at, uint32_t image,
                                       uint32_t n_tiles, uint32_t *parts);

/* Puts the normalization of some rows of the image; gives the rows of the result. */
uint32_t arn_norm_put(arn_draft *draft, uint32_t at, arn_statistics by, uint32_t rows,
                      int64_t n_rows);

#endif
