/* Comparison of a pool's device with the plan's: for code that looks devices up, and for code that
 * only compares. */
#ifndef ARN_RUNTIME_SAME_DEVICE_H
#define ARN_RUNTIME_SAME_DEVICE_H

#include <arenaut/device.h>

#include "runtime/fault.h"

static inline arenaut_status arn_runtime_same_device(uint32_t pool, arenaut_device is,
                                                     arenaut_device wanted, arenaut_fault *fault) {
    if (is.type != wanted.type)
        return arn_runtime_fault(fault, ARENAUT_FAULT_POOL_DEVICE, pool, is.type, wanted.type);
    if (is.index != wanted.index)
        return arn_runtime_fault(fault, ARENAUT_FAULT_POOL_DEVICE_INDEX, pool, is.index,
                                 wanted.index);
    return ARENAUT_OK;
}

#endif
