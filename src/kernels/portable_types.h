/* The operators that ExecuTorch's runtime has kernels of. */
#ifndef ARN_KERNELS_PORTABLE_TYPES_H
#define ARN_KERNELS_PORTABLE_TYPES_H

#include <arenaut/kernels.h>

extern const arenaut_type_rule arn_portable_types[];

#endif
