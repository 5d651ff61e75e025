/* A buffer on a device: owns one allocation, and frees it once. */
#include <arenaut/runtime_device.h>

#include "runtime/fault.h"

static const arenaut_device_buffer empty = {0};

arenaut_status arenaut_device_buffer_create(arenaut_device device, size_t size, size_t align,
                                            arenaut_device_buffer *out, arenaut_fault *fault) {
    arenaut_device_allocator *allocator;
    void *data;
    if (out->allocator)
        return arn_runtime_fault(fault, ARENAUT_FAULT_BUFFER_IN_USE, 0, out->size, 0);
    if (!arn_runtime_is_power(align))
        return arn_runtime_fault(fault, ARENAUT_FAULT_ALIGNMENT, device.type, align, 0);
    arenaut_status status = arenaut_device_find(device.type, &allocator, fault);
    if (status != ARENAUT_OK) return status;
    status = allocator->allocate(allocator, size, align, device.index, &data, fault);
    if (status != ARENAUT_OK) return status;
    *out = (arenaut_device_buffer){data, size, device, allocator};
    return ARENAUT_OK;
}

void arenaut_device_buffer_destroy(arenaut_device_buffer *buffer) {
    if (!buffer || !buffer->allocator) return;
    buffer->allocator->deallocate(buffer->allocator, buffer->data, buffer->device.index);
    *buffer = empty;
}

void arenaut_device_buffer_move(arenaut_device_buffer *to, arenaut_device_buffer *from) {
    if (to == from) return;
    arenaut_device_buffer_destroy(to);
    *to = *from;
    *from = empty;
}

arenaut_span arenaut_device_buffer_span(const arenaut_device_buffer *buffer) {
    const arenaut_span span = {buffer->data, buffer->size};
    return span;
}

/* Whether [offset, offset + size) lies in the buffer. */
static arenaut_status check_copy(const arenaut_device_buffer *buffer, size_t offset, size_t size,
                                 arenaut_fault *fault) {
    if (offset <= buffer->size && size <= buffer->size - offset) return ARENAUT_OK;
    const size_t end = size > SIZE_MAX - offset ? SIZE_MAX : offset + size;
    return arn_runtime_fault(fault, ARENAUT_FAULT_COPY, buffer->device.type, end, buffer->size);
}

arenaut_status arenaut_device_buffer_write(const arenaut_device_buffer *buffer, size_t offset,
                                           const void *from, size_t size, arenaut_fault *fault) {
    const arenaut_status status = check_copy(buffer, offset, size, fault);
    if (status != ARENAUT_OK || size == 0) return status;
    return buffer->allocator->copy_to_device(buffer->allocator, (char *)buffer->data + offset, from,
                                             size, buffer->device.index, fault);
}

arenaut_status arenaut_device_buffer_read(const arenaut_device_buffer *buffer, size_t offset,
                                          void *to, size_t size, arenaut_fault *fault) {
    const arenaut_status status = check_copy(buffer, offset, size, fault);
    if (status != ARENAUT_OK || size == 0) return status;
    return buffer->allocator->copy_to_host(buffer->allocator, to,
                                           (const char *)buffer->data + offset, size,
                                           buffer->device.index, fault);
}
