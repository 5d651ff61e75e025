/* The memory manager: the part that every program needs. Nothing here knows of devices; that is
 * memory_devices.c, which programs without devices do not link. */
#include <arenaut/runtime_memory.h>

#include "runtime/fault.h"

arenaut_memory_manager arenaut_memory_on_host(const arenaut_span *pool, uint32_t n_pools) {
    const arenaut_memory_manager memory = {pool, n_pools, 0, NULL};
    return memory;
}

arenaut_status arenaut_memory_address(const arenaut_memory_manager *memory, uint32_t pool,
                                      size_t offset, size_t size, void **address,
                                      arenaut_fault *fault) {
    if (pool >= memory->n_pools)
        return arn_runtime_fault(fault, ARENAUT_FAULT_POOL, pool, 0, memory->n_pools);
    const arenaut_span *span = &memory->pool[pool];
    if (offset > span->size || size > span->size - offset) {
        const size_t end = size > SIZE_MAX - offset ? SIZE_MAX : offset + size;
        return arn_runtime_fault(fault, ARENAUT_FAULT_OUTSIDE, pool, end, span->size);
    }
    /* NULL + 0 is undefined, and an empty pool may have no memory. */
    *address = offset ? (char *)span->data + offset : span->data;
    return ARENAUT_OK;
}

arenaut_status arenaut_method_buffer_size(const arenaut_method_memory *method, uint32_t index,
                                          size_t *bytes, arenaut_fault *fault) {
    if (index >= method->n_buffers)
        return arn_runtime_fault(fault, ARENAUT_FAULT_POOL, index, 0, method->n_buffers);
    *bytes = method->need[index].bytes;
    return ARENAUT_OK;
}
