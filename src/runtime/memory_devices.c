/* Memories on devices: the sparse table, and allocation by it. */
#include <arenaut/runtime_program.h>

#include "runtime/same_device.h"

static bool is_plain_host(arenaut_device device) {
    return device.type == ARENAUT_DEVICE_HOST && device.index == 0;
}

static arenaut_status check_table(const arenaut_pool_device *device, uint32_t n_devices,
                                  uint32_t n_pools, arenaut_fault *fault) {
    for (uint32_t i = 0; i < n_devices; i++) {
        const arenaut_pool_device *entry = &device[i];
        if (entry->pool >= n_pools || is_plain_host(entry->device) ||
            (i > 0 && entry->pool <= device[i - 1].pool))
            return arn_runtime_fault(fault, ARENAUT_FAULT_DEVICE_TABLE, i, entry->pool, n_pools);
    }
    return ARENAUT_OK;
}

arenaut_status arenaut_memory_init_devices(arenaut_memory_manager *memory, const arenaut_span *pool,
                                           uint32_t n_pools, const arenaut_pool_device *device,
                                           uint32_t n_devices, arenaut_fault *fault) {
    const arenaut_status status = check_table(device, n_devices, n_pools, fault);
    if (status != ARENAUT_OK) return status;
    *memory = (arenaut_memory_manager){pool, n_pools, n_devices, device};
    return ARENAUT_OK;
}

/* Tables are short, as long as there are devices' memories: no search is worth its code. */
static arenaut_device look_up(const arenaut_pool_device *device, uint32_t n_devices,
                              uint32_t pool) {
    const arenaut_device host = {ARENAUT_DEVICE_HOST, 0};
    for (uint32_t i = 0; i < n_devices; i++) {
        if (device[i].pool == pool) return device[i].device;
    }
    return host;
}

arenaut_status arenaut_memory_device(const arenaut_memory_manager *memory, uint32_t pool,
                                     arenaut_device *device, arenaut_fault *fault) {
    if (pool >= memory->n_pools)
        return arn_runtime_fault(fault, ARENAUT_FAULT_POOL, pool, 0, memory->n_pools);
    *device = look_up(memory->device, memory->n_devices, pool);
    return ARENAUT_OK;
}

arenaut_status arenaut_method_buffer_device(const arenaut_method_memory *method, uint32_t index,
                                            arenaut_device *device, arenaut_fault *fault) {
    if (index >= method->n_buffers)
        return arn_runtime_fault(fault, ARENAUT_FAULT_POOL, index, 0, method->n_buffers);
    *device = look_up(method->device, method->n_devices, index);
    return ARENAUT_OK;
}

arenaut_status arenaut_instance_device(const arenaut_instance *instance, uint32_t place,
                                       arenaut_device *device, arenaut_fault *fault) {
    const arenaut_static_program *program = instance->program;
    if (place >= program->n_places)
        return arn_runtime_fault(fault, ARENAUT_FAULT_PLACE, place, 0, program->n_places);
    if (program->place[place].pool == ARENAUT_NO_POOL)
        return arn_runtime_fault(fault, ARENAUT_FAULT_PLACE_ELSEWHERE, place, 0, 0);
    return arenaut_memory_device(instance->memory, program->place[place].pool, device, fault);
}

arenaut_status arenaut_memory_check_devices(const arenaut_memory_manager *memory,
                                            const arenaut_method_memory *method,
                                            arenaut_fault *fault) {
    if (memory->n_pools < method->n_buffers)
        return arn_runtime_fault(fault, ARENAUT_FAULT_POOL_COUNT, 0, memory->n_pools,
                                 method->n_buffers);
    for (uint32_t i = 0; i < method->n_buffers; i++) {
        const arenaut_device is = look_up(memory->device, memory->n_devices, i);
        const arenaut_device wanted = look_up(method->device, method->n_devices, i);
        const arenaut_status status = arn_runtime_same_device(i, is, wanted, fault);
        if (status != ARENAUT_OK) return status;
    }
    return ARENAUT_OK;
}

arenaut_status arenaut_memory_create(const arenaut_method_memory *method,
                                     arenaut_device_buffer *buffer, arenaut_span *span,
                                     arenaut_memory_manager *memory, arenaut_fault *fault) {
    arenaut_status status =
        check_table(method->device, method->n_devices, method->n_buffers, fault);
    uint32_t made = 0;
    while (status == ARENAUT_OK && made < method->n_buffers) {
        const arenaut_device device = look_up(method->device, method->n_devices, made);
        const arenaut_pool_need *need = &method->need[made];
        status =
            arenaut_device_buffer_create(device, need->bytes, need->align, &buffer[made], fault);
        if (status == ARENAUT_OK) made++;
    }
    if (status != ARENAUT_OK) {
        while (made) arenaut_device_buffer_destroy(&buffer[--made]);
        return status;
    }
    for (uint32_t i = 0; i < made; i++) span[i] = arenaut_device_buffer_span(&buffer[i]);
    *memory = (arenaut_memory_manager){span, made, method->n_devices, method->device};
    return ARENAUT_OK;
}

arenaut_status arenaut_memory_init_planned(const arenaut_method_memory *method, arenaut_span *span,
                                           arenaut_memory_manager *memory, arenaut_fault *fault) {
    arenaut_status status =
        check_table(method->device, method->n_devices, method->n_buffers, fault);
    for (uint32_t k = 0; k < method->n_buffers && status == ARENAUT_OK; k++) {
        const arenaut_device device = look_up(method->device, method->n_devices, k);
        const size_t bytes = method->need[k].bytes;
        arenaut_device_allocator *own;
        void *data = NULL;
        status = arenaut_device_find(device.type, &own, fault);
        if (status == ARENAUT_OK) status = own->init_buffer(own, k, bytes, device.index, fault);
        if (status == ARENAUT_OK)
            status = own->address_at(own, k, 0, bytes, device.index, &data, fault);
        span[k] = (arenaut_span){data, bytes};
    }
    if (status == ARENAUT_OK)
        *memory =
            (arenaut_memory_manager){span, method->n_buffers, method->n_devices, method->device};
    return status;
}
