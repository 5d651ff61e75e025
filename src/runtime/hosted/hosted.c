/* Planned memories: a short array, searched from the start. */
#include "runtime/hosted/hosted.h"

enum { MEMORY_ALIGN = 64 }; /* as much as any pool of a plan has asked for so far */

static arenaut_planned_memory *find(const arenaut_hosted_allocator *hosted, uint32_t memory,
                                    uint32_t index) {
    for (uint32_t i = 0; i < hosted->count; i++) {
        arenaut_planned_memory *slot = &hosted->slot[i];
        if (slot->memory == memory && slot->index == index) return slot;
    }
    return NULL;
}

arenaut_status arn_hosted_init_buffer(arenaut_device_allocator *self, uint32_t memory, size_t size,
                                      uint32_t index, arenaut_fault *fault) {
    arenaut_hosted_allocator *hosted = (arenaut_hosted_allocator *)self;
    void *data;
    if (find(hosted, memory, index))
        return arn_runtime_fault(fault, ARENAUT_FAULT_MEMORY_TAKEN, memory, 0, 0);
    if (hosted->count == hosted->capacity)
        return arn_runtime_fault(fault, ARENAUT_FAULT_MEMORY_COUNT, memory, 0, hosted->capacity);
    const arenaut_status status = self->allocate(self, size, MEMORY_ALIGN, index, &data, fault);
    if (status != ARENAUT_OK) return status;
    hosted->slot[hosted->count++] = (arenaut_planned_memory){data, size, memory, index};
    return ARENAUT_OK;
}

arenaut_status arn_hosted_address_at(arenaut_device_allocator *self, uint32_t memory, size_t offset,
                                     size_t size, uint32_t index, void **address,
                                     arenaut_fault *fault) {
    const arenaut_planned_memory *slot =
        find((const arenaut_hosted_allocator *)self, memory, index);
    if (!slot) return arn_runtime_fault(fault, ARENAUT_FAULT_MEMORY_ABSENT, memory, 0, 0);
    if (offset > slot->size || size > slot->size - offset) {
        const size_t end = size > SIZE_MAX - offset ? SIZE_MAX : offset + size;
        return arn_runtime_fault(fault, ARENAUT_FAULT_OUTSIDE, memory, end, slot->size);
    }
    *address = (char *)slot->data + offset;
    return ARENAUT_OK;
}

void arn_hosted_free(arenaut_hosted_allocator *hosted) {
    arenaut_device_allocator *self = &hosted->allocator;
    while (hosted->count) {
        const arenaut_planned_memory *slot = &hosted->slot[--hosted->count];
        self->deallocate(self, slot->data, slot->index);
    }
}
