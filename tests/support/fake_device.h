/* A device that lives in the host's memory, counts, and fails on demand. */
#ifndef SUPPORT_FAKE_DEVICE_H
#define SUPPORT_FAKE_DEVICE_H

#include <stdbool.h>

#include <arenaut/runtime_device.h>

typedef struct fake_device {
    arenaut_device_allocator base;
    uint32_t indices; /* so many devices of this type */
    size_t left;      /* so many allocations succeed, then all fail */
    size_t live;      /* allocations not yet freed */
    size_t copies;
    size_t last_align;
    uint32_t last_index;
} fake_device;

/* Borrowed by the registry. */
void fake_device_init(fake_device *device, uint32_t type, uint32_t indices);

#endif
