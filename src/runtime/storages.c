/* The block of storage headers of an iteration, laid out in the caller's memory. */
#include "runtime/iteration.h"

arenaut_status arenaut_storages_allocate(arenaut_storages *storages, arenaut_storage *block,
                                         uint32_t capacity, arenaut_fault *fault) {
    if (storages->block) return arn_runtime_fault(fault, ARENAUT_FAULT_STORAGES_MADE, 0, 0, 0);
    if (!block) return arn_runtime_fault(fault, ARENAUT_FAULT_ARGUMENT, 0, 0, 0);
    *storages = (arenaut_storages){block, capacity, 0};
    return ARENAUT_OK;
}

void arenaut_storages_deallocate(arenaut_storages *storages) {
    *storages = (arenaut_storages){NULL, 0, 0};
}

arenaut_status arenaut_storages_append(arenaut_storages *storages, const arenaut_storage *model,
                                       arenaut_fault *fault) {
    if (storages->size == storages->capacity)
        return arn_runtime_fault(fault, ARENAUT_FAULT_STORAGES_FULL, 0, 0, storages->capacity);
    storages->block[storages->size++] = (arenaut_storage){NULL, model->bytes, model->source};
    return ARENAUT_OK;
}

arenaut_storage *arenaut_storages_at(const arenaut_storages *storages, uint32_t index,
                                     arenaut_fault *fault) {
    if (index < storages->size) return &storages->block[index];
    arn_runtime_fault(fault, ARENAUT_FAULT_STORAGE, index, 0, storages->size);
    return NULL;
}
