/* Operators on images NCHW whose attributes have the forms of ONNX. */
#ifndef ARN_CHECK_REWRITE_NCHW_H
#define ARN_CHECK_REWRITE_NCHW_H

#include "check/rewrite/rewrite_windows.h"

/* Number `index` of an attribute of `n`, or what it is if there is none. False if it is below 0. */
bool arn_nchw_number(const arenaut_op *op, const char *name, uint32_t n, uint32_t index,
                     int64_t otherwise, int64_t *number);

/* Operands that each element of a result may need, from `first` on: there as a whole. */
bool arn_rewrite_are_whole(const arn_rewrite_check *c, const arenaut_op *op, const arenaut_op *old,
                           uint32_t first);
/* The first operand is a part of the old one's image, with all of its channels. */
bool arn_rewrite_reads_image(const arn_rewrite_check *c, const arenaut_op *op,
                             const arenaut_op *old);

/* A convolution or a pool: "strides", "dilations", "kernel_shape", "pads", "auto_pad", "ceil_mode",
 * "count_include_pad". */
arenaut_status arn_rewrite_follow_nchw(arn_rewrite_check *c, const arenaut_op *op,
                                       const arenaut_op *old, bool pool);

/* An element of the image, and numbers of its channel. */
arenaut_status arn_rewrite_follow_channels(arn_rewrite_check *c, const arenaut_op *op,
                                           const arenaut_op *old);

/* Several rows of the result of one row of the image, along one axis. Row i of the image is spread
 * over rows i * up - front + tap of the result; or, if `linear`, row j of that lies between the two
 * rows around (j + 1/2) / up - 1/2. */
typedef struct arn_stretch {
    int64_t up, taps, front;
    bool linear; /* of two taps */
} arn_stretch;

/* `stretch`: of rows and columns. */
arenaut_status arn_rewrite_follow_stretch(arn_rewrite_check *c, const arenaut_op *op,
                                          const arenaut_op *old, const arn_stretch stretch[2]);

#endif
