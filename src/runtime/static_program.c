/* Static programs on memory. All is checked once, when a program is put on its memory, so
 * that looking up a place afterwards is one comparison and one addition. */
#include <arenaut/runtime_program.h>

#include "runtime/same_device.h"

static arenaut_status check_pools(const arenaut_static_program *program,
                                  const arenaut_memory_manager *memory, arenaut_fault *fault) {
    if (memory->n_pools < program->n_pools)
        return arn_runtime_fault(fault, ARENAUT_FAULT_POOL_COUNT, 0, memory->n_pools,
                                 program->n_pools);
    for (uint32_t i = 0; i < program->n_pools; i++) {
        const arenaut_pool_need *need = &program->pool[i];
        const arenaut_span *have = &memory->pool[i];
        if (have->size < need->bytes)
            return arn_runtime_fault(fault, ARENAUT_FAULT_POOL_SMALL, i, have->size, need->bytes);
        if (!arn_runtime_is_power(need->align))
            return arn_runtime_fault(fault, ARENAUT_FAULT_ALIGNMENT, i, need->align, 0);
        const uintptr_t address = (uintptr_t)have->data;
        if (address & (need->align - 1))
            return arn_runtime_fault(fault, ARENAUT_FAULT_POOL_MISALIGNED, i,
                                     (size_t)(address & (~address + 1)), need->align);
        if (!have->data && need->bytes)
            return arn_runtime_fault(fault, ARENAUT_FAULT_POOL_SMALL, i, 0, need->bytes);
    }
    return ARENAUT_OK;
}

/* Whether the entry at *at is of this pool; then it is passed. */
static arenaut_device take_entry(const arenaut_pool_device *table, uint32_t n, uint32_t pool,
                                 uint32_t *at) {
    const arenaut_device host = {ARENAUT_DEVICE_HOST, 0};
    return *at < n && table[*at].pool == pool ? table[(*at)++].device : host;
}

/* Both tables rise, so that one walk compares them: nothing that looks devices up is linked. */
static arenaut_status compare_tables(const arenaut_static_program *program,
                                     const arenaut_memory_manager *memory, arenaut_fault *fault) {
    uint32_t of_plan = 0, of_memory = 0;
    for (uint32_t i = 0; i < program->n_pools; i++) {
        const arenaut_device wanted = take_entry(program->device, program->n_devices, i, &of_plan);
        const arenaut_device is = take_entry(memory->device, memory->n_devices, i, &of_memory);
        const arenaut_status status = arn_runtime_same_device(i, is, wanted, fault);
        if (status != ARENAUT_OK) return status;
    }
    if (of_plan < program->n_devices)
        return arn_runtime_fault(fault, ARENAUT_FAULT_DEVICE_TABLE, of_plan, 0, program->n_pools);
    return ARENAUT_OK;
}

static arenaut_status check_places(const arenaut_static_program *program, arenaut_fault *fault) {
    for (uint32_t i = 0; i < program->n_places; i++) {
        const arenaut_place *place = &program->place[i];
        if (place->pool == ARENAUT_NO_POOL) continue;
        if (place->pool >= program->n_pools)
            return arn_runtime_fault(fault, ARENAUT_FAULT_POOL, place->pool, 0, program->n_pools);
        const size_t bytes = program->pool[place->pool].bytes;
        if (place->offset > bytes || place->bytes > bytes - place->offset)
            return arn_runtime_fault(fault, ARENAUT_FAULT_PLACE_BAD, i,
                                     place->offset + place->bytes, bytes);
    }
    return ARENAUT_OK;
}

arenaut_status arenaut_instance_init(arenaut_instance *instance,
                                     const arenaut_static_program *program, uint64_t fingerprint,
                                     const arenaut_memory_manager *memory, arenaut_fault *fault) {
    if (fingerprint && fingerprint != program->fingerprint)
        return arn_runtime_fault(fault, ARENAUT_FAULT_OTHER_PROGRAM, 0, 0, 0);
    arenaut_status status = check_pools(program, memory, fault);
    if (status == ARENAUT_OK) status = compare_tables(program, memory, fault);
    if (status == ARENAUT_OK) status = check_places(program, fault);
    if (status != ARENAUT_OK) return status;
    instance->program = program;
    instance->memory = memory;
    instance->running = ARENAUT_NO_METHOD;
    return ARENAUT_OK;
}

arenaut_status arenaut_instance_begin(arenaut_instance *instance, uint32_t method,
                                      arenaut_fault *fault) {
    if (method >= instance->program->n_methods)
        return arn_runtime_fault(fault, ARENAUT_FAULT_METHOD, method, 0,
                                 instance->program->n_methods);
    if (instance->running != ARENAUT_NO_METHOD)
        return arn_runtime_fault(fault, ARENAUT_FAULT_METHOD_RUNS, method, instance->running, 0);
    instance->running = method;
    return ARENAUT_OK;
}

arenaut_status arenaut_instance_end(arenaut_instance *instance, arenaut_fault *fault) {
    if (instance->running == ARENAUT_NO_METHOD)
        return arn_runtime_fault(fault, ARENAUT_FAULT_METHOD_IDLE, 0, 0, 0);
    instance->running = ARENAUT_NO_METHOD;
    return ARENAUT_OK;
}

arenaut_status arenaut_instance_place(const arenaut_instance *instance, uint32_t index,
                                      arenaut_span *span, arenaut_fault *fault) {
    if (index >= instance->program->n_places)
        return arn_runtime_fault(fault, ARENAUT_FAULT_PLACE, index, 0, instance->program->n_places);
    const arenaut_place *place = &instance->program->place[index];
    if (place->pool == ARENAUT_NO_POOL)
        return arn_runtime_fault(fault, ARENAUT_FAULT_PLACE_ELSEWHERE, index, 0, 0);
    void *data;
    const arenaut_status status = arenaut_memory_address(instance->memory, place->pool,
                                                         place->offset, place->bytes, &data, fault);
    if (status == ARENAUT_OK) *span = (arenaut_span){data, place->bytes};
    return status;
}

static arenaut_status argument(const arenaut_instance *instance, bool output, uint32_t k,
                               arenaut_span *span, arenaut_fault *fault) {
    if (instance->running == ARENAUT_NO_METHOD)
        return arn_runtime_fault(fault, ARENAUT_FAULT_METHOD_IDLE, 0, 0, 0);
    const arenaut_static_method *method = &instance->program->method[instance->running];
    const uint32_t count = output ? method->n_outputs : method->n_inputs;
    if (k >= count)
        return arn_runtime_fault(fault, ARENAUT_FAULT_METHOD_ARGUMENT, instance->running, k, count);
    return arenaut_instance_place(instance, (output ? method->outputs : method->inputs)[k], span,
                                  fault);
}

arenaut_status arenaut_instance_input(const arenaut_instance *instance, uint32_t k,
                                      arenaut_span *span, arenaut_fault *fault) {
    return argument(instance, false, k, span, fault);
}

arenaut_status arenaut_instance_output(const arenaut_instance *instance, uint32_t k,
                                       arenaut_span *span, arenaut_fault *fault) {
    return argument(instance, true, k, span, fault);
}
