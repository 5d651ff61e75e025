/* Facts of an op, in the terms of kernel walks: its attributes, the numbers of its small constants,
 * and the windows that it slides over an image. Nothing is guessed: facts that are not stated, or
 * are inconsistent, are unknown. */
#ifndef ARN_KERNELS_OP_FACTS_H
#define ARN_KERNELS_OP_FACTS_H

#include <arenaut/program.h>

/* Larger strides, filters and sides of images are no business of a micro runtime; below this, the
 * products of two never overflow. */
#define ARN_MOST_EXTENT (INT64_C(1) << 30)

/* The one whole number of an attribute; false if it is not stated. */
bool arn_op_number(const arenaut_op *op, const char *name, int64_t *number);
/* `n` of them, all below ARN_MOST_EXTENT; NULL if other values are stated. */
const int64_t *arn_op_numbers(const arenaut_op *op, const char *name, uint32_t n);
bool arn_op_flag(const arenaut_op *op, const char *name); /* false if it is not stated */
bool arn_op_text_is(const arenaut_op *op, const char *name, const char *text);

/* The tensor at a position of an op's lists; NULL if there is none, or it is left out. */
const arenaut_tensor *arn_op_input(const arenaut_program *p, const arenaut_op *op, uint32_t k);
const arenaut_tensor *arn_op_output(const arenaut_program *p, const arenaut_op *op, uint32_t k);

/* The whole numbers that a constant argument holds; NULL if they are not known, or not `n`. */
const int64_t *arn_op_values(const arenaut_program *p, const arenaut_op *op, uint32_t k,
                             uint32_t n);

/* Whether all sizes are known, and none is 0 or beyond ARN_MOST_EXTENT. */
bool arn_has_sizes(const arenaut_tensor *tensor);

/* Whether size, place and type of every element are known in advance: dense, of whole bytes, and as
 * large as its shape says. */
bool arn_is_plain(const arenaut_tensor *tensor);
/* The same of an image whose shape has channels second, and whose memory has them innermost. */
bool arn_is_channels_last(const arenaut_tensor *tensor);
uint64_t arn_element_bytes(const arenaut_tensor *tensor); /* of a plain one */
uint64_t arn_element_count(const arenaut_tensor *tensor);

/* How windows follow one another along one side of an image. */
typedef struct arn_window_axis {
    int64_t in, out;
    int64_t taps, stride, dilation;
    int64_t before; /* rows or columns of padding in front */
} arn_window_axis;

/* Of a convolution or pool; false for other ops, and where it is not fully stated. */
typedef struct arn_windows {
    arn_window_axis y, x;
    int64_t batches, in_channels, out_channels;
    int64_t groups; /* output channels of one group read the input channels of that group only */
} arn_windows;
bool arn_op_windows(const arenaut_program *p, const arenaut_op *op, arn_windows *windows);

/* Whether some window reaches past the image on this side. */
bool arn_axis_is_padded(const arn_window_axis *axis);

#endif
