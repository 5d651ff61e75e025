/* The table of kernel sets, looked up by name; there are few, so one after the other. */
#include <arenaut/kernels.h>

#include "core/table.h"

#define KERNELS(id) extern const arenaut_kernel_set arn_kernels_##id;
#include "kernels/kernels.def"
#undef KERNELS

static const arenaut_kernel_set *const all[] = {
#define KERNELS(id) &arn_kernels_##id,
#include "kernels/kernels.def"
#undef KERNELS
};

ARN_TABLE_LOOKUPS(kernel_set)
