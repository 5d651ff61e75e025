#include "support/fake_device.h"

#include <stdlib.h>

#include "support/test.h"

static arenaut_status fail_as(arenaut_fault *fault, arenaut_fault_reason reason, uint32_t object,
                              size_t found, arenaut_status status) {
    if (fault) *fault = (arenaut_fault){reason, object, found, 0};
    return status;
}

static arenaut_status allocate(arenaut_device_allocator *self, size_t size, size_t align,
                               uint32_t index, void **address, arenaut_fault *fault) {
    fake_device *device = (fake_device *)self;
    if (index >= device->indices)
        return fail_as(fault, ARENAUT_FAULT_DEVICE_INDEX, self->type, index, ARENAUT_BAD_ARGUMENT);
    if (device->left == 0)
        return fail_as(fault, ARENAUT_FAULT_NO_MEMORY, self->type, size, ARENAUT_NO_MEMORY);
    device->left--;
    device->live++;
    device->last_align = align;
    device->last_index = index;
    *address = malloc(size ? size : 1);
    assert_non_null(*address);
    return ARENAUT_OK;
}

static void deallocate(arenaut_device_allocator *self, void *address, uint32_t index) {
    fake_device *device = (fake_device *)self;
    if (!address) return;
    assert_true(device->live > 0 && index < device->indices);
    device->live--;
    free(address);
}

static arenaut_status copy(arenaut_device_allocator *self, void *to, const void *from, size_t size,
                           uint32_t index, arenaut_fault *fault) {
    fake_device *device = (fake_device *)self;
    (void)fault;
    assert_true(index < device->indices);
    device->copies++;
    memcpy(to, from, size);
    return ARENAUT_OK;
}

static arenaut_status init_buffer(arenaut_device_allocator *self, uint32_t memory, size_t size,
                                  uint32_t index, arenaut_fault *fault) {
    (void)size;
    (void)index;
    return fail_as(fault, ARENAUT_FAULT_MEMORY_COUNT, memory, self->type, ARENAUT_BAD_ARGUMENT);
}

static arenaut_status address_at(arenaut_device_allocator *self, uint32_t memory, size_t offset,
                                 size_t size, uint32_t index, void **address,
                                 arenaut_fault *fault) {
    (void)offset;
    (void)size;
    (void)index;
    (void)address;
    return fail_as(fault, ARENAUT_FAULT_MEMORY_ABSENT, memory, self->type, ARENAUT_BAD_ARGUMENT);
}

void fake_device_init(fake_device *device, uint32_t type, uint32_t indices) {
    *device =
        (fake_device){.base = {type, init_buffer, address_at, allocate, deallocate, copy, copy},
                      .indices = indices,
                      .left = SIZE_MAX};
}
