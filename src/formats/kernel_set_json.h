/* Keys and words that the reader and the writer of kernel-set files share. */
#ifndef ARN_FORMATS_KERNEL_SET_JSON_H
#define ARN_FORMATS_KERNEL_SET_JSON_H

#include <arenaut/kernels.h>

#define ARN_KERNELS_SCHEMA "arenaut.kernels"

/* The members of "when": flags, and limits. */
#define ARN_KERNEL_FACT_MAP(XX) \
    XX(pointwise)               \
    XX(unit_stride)             \
    XX(grouped)                 \
    XX(padded)                  \
    XX(one_row)                 \
    XX(dilated)
#define ARN_KERNEL_CHANNELS_MAP(XX) \
    XX(min_in_channels)             \
    XX(max_in_channels)             \
    XX(min_out_channels)            \
    XX(max_out_channels)

static inline bool arn_kernel_order_has_block(arenaut_kernel_order order) {
    return order == ARENAUT_KERNEL_BLOCK || order == ARENAUT_KERNEL_BLOCK_REREAD;
}

#endif
