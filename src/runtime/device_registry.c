/* The registry of device allocators: the only thing in the runtime that is both global and
 * written to. */
#include <arenaut/runtime_device.h>

#include "runtime/fault.h"

static arenaut_device_allocator *registered[ARENAUT_DEVICE_TYPES];

arenaut_status arenaut_device_register(arenaut_device_allocator *allocator, arenaut_fault *fault) {
    if (!allocator) return arn_runtime_fault(fault, ARENAUT_FAULT_ARGUMENT, 0, 0, 0);
    const uint32_t type = allocator->type;
    if (type >= ARENAUT_DEVICE_TYPES)
        return arn_runtime_fault(fault, ARENAUT_FAULT_DEVICE_TYPE, type, 0, ARENAUT_DEVICE_TYPES);
    if (!allocator->init_buffer || !allocator->address_at || !allocator->allocate ||
        !allocator->deallocate || !allocator->copy_to_device || !allocator->copy_to_host)
        return arn_runtime_fault(fault, ARENAUT_FAULT_ALLOCATOR, type, 0, 0);
    if (registered[type]) return arn_runtime_fault(fault, ARENAUT_FAULT_DEVICE_TAKEN, type, 0, 0);
    registered[type] = allocator;
    return ARENAUT_OK;
}

arenaut_status arenaut_device_unregister(arenaut_device_allocator *allocator,
                                         arenaut_fault *fault) {
    if (!allocator) return arn_runtime_fault(fault, ARENAUT_FAULT_ARGUMENT, 0, 0, 0);
    const uint32_t type = allocator->type;
    if (type >= ARENAUT_DEVICE_TYPES || registered[type] != allocator)
        return arn_runtime_fault(fault, ARENAUT_FAULT_DEVICE_ABSENT, type, 0, 0);
    registered[type] = NULL;
    return ARENAUT_OK;
}

arenaut_status arenaut_device_find(uint32_t type, arenaut_device_allocator **out,
                                   arenaut_fault *fault) {
    if (type >= ARENAUT_DEVICE_TYPES)
        return arn_runtime_fault(fault, ARENAUT_FAULT_DEVICE_TYPE, type, 0, ARENAUT_DEVICE_TYPES);
    if (!registered[type]) return arn_runtime_fault(fault, ARENAUT_FAULT_DEVICE_ABSENT, type, 0, 0);
    *out = registered[type];
    return ARENAUT_OK;
}
