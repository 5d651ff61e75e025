/* Windows of a rewritten op along one axis: which row of the old output has the same window. */
#ifndef ARN_CHECK_REWRITE_WINDOWS_H
#define ARN_CHECK_REWRITE_WINDOWS_H

#include "check/rewrite/rewrite_labels.h"

typedef struct arn_stencil {
    int64_t taps, stride, spread;
} arn_stencil;

/* Padding inside the tensor counts as the kernel's own only where that is the same: a sum of
 * products leaves zeroes out. */
typedef struct arn_window {
    const arn_rewrite_check *check;
    uint32_t input, axis;
    const arn_stencil *s;
    int64_t in, front;         /* of the new op */
    int64_t old_in, old_front; /* of the old one */
    int64_t old_out;
    bool zeroes_count; /* of pools, and of weights that may be infinite */
} arn_window;

/* Labels the `out` rows of the result along the window's axis: each is the old row with the same
 * window, or unknown. */
arenaut_status arn_label_windows(arn_rewrite_check *c, const arn_window *window, uint32_t result,
                                 int64_t out);

#endif
