/* Operators on images NCHW, signals NCL and volumes NCDHW whose attributes have the forms of ONNX.
 */
#ifndef ARN_CHECK_REWRITE_NCHW_H
#define ARN_CHECK_REWRITE_NCHW_H

#include "check/rewrite/rewrite_labels.h"

/* Number `index` of an attribute of `n`; `otherwise` if there is none. False if it is below 0. */
bool arn_nchw_number(const arenaut_op *op, const char *name, uint32_t n, uint32_t index,
                     int64_t otherwise, int64_t *number);

bool arn_nchw_has_rank(const arenaut_program *program, uint32_t tensor, uint32_t rank);

/* Dimensions of the image that an op reads: 3 to 5, and of the same op before as many; else 0. */
uint32_t arn_nchw_rank(const arn_rewrite_check *c, const arenaut_op *op, const arenaut_op *old);

/* Operands that each element of a result may need, from `first` on: there as a whole. */
bool arn_rewrite_are_whole(const arn_rewrite_check *c, const arenaut_op *op, const arenaut_op *old,
                           uint32_t first);
/* The first operand is a part of the old one's image, with all of its channels. */
bool arn_rewrite_reads_image(const arn_rewrite_check *c, const arenaut_op *op,
                             const arenaut_op *old);

/* Elements [begin, end) of the first operand along an axis, and no others. */
arenaut_status arn_rewrite_follow_slice(arn_rewrite_check *c, const arenaut_op *op, int64_t begin,
                                        int64_t end, int64_t axis);

/* Padding in front of each dimension of the image, then behind, by the new op and by the old one.
 */
arenaut_status arn_rewrite_follow_margins(arn_rewrite_check *c, const arenaut_op *op,
                                          const arenaut_op *old, arn_margin_kind kind,
                                          const int64_t *pads, const int64_t *old_pads);

/* A convolution or a pool: "strides", "dilations", "kernel_shape", "pads", "auto_pad", "ceil_mode",
 * "count_include_pad". */
arenaut_status arn_rewrite_follow_nchw(arn_rewrite_check *c, const arenaut_op *op,
                                       const arenaut_op *old, bool pool);

/* An element of the image, and numbers of its channel. */
arenaut_status arn_rewrite_follow_channels(arn_rewrite_check *c, const arenaut_op *op,
                                           const arenaut_op *old);

/* A transposed convolution: as above, with "output_padding". */
arenaut_status arn_rewrite_follow_transposed(arn_rewrite_check *c, const arenaut_op *op,
                                             const arenaut_op *old);

/* Rows of the result of which each `up` come from one row of the image, or from it and its
 * neighbours. */
typedef struct arn_blocks {
    int64_t up;
    bool linear, halves; /* between two rows: those around i / up, or half a row before */
} arn_blocks;

/* Whole columns of the image, in blocks of rows: resizing, and channels that become rows. */
arenaut_status arn_rewrite_follow_blocks(arn_rewrite_check *c, const arenaut_op *op,
                                         const arenaut_op *old, const arn_blocks *blocks);

/* The other way round: blocks of `down` rows and columns become channels. */
arenaut_status arn_rewrite_follow_unblocks(arn_rewrite_check *c, const arenaut_op *op,
                                           const arenaut_op *old, int64_t down);

#endif
