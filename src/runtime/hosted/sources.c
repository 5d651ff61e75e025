/* Sources of memory for iterations. */
#include <stdlib.h>

#include "runtime/hosted/hosted.h"

static void *from_heap(void *context, size_t size, size_t align) {
    (void)context;
    return arn_heap_allocate(size, align, false);
}

static void *from_pages(void *context, size_t size, size_t align) {
    (void)context;
    return arn_heap_allocate(size, align, true);
}

static void to_heap(void *context, void *block, size_t size) {
    (void)context;
    (void)size;
    free(block);
}

arenaut_source arenaut_heap_source(void) {
    const arenaut_source source = {from_heap, to_heap, NULL};
    return source;
}

arenaut_source arenaut_pages_source(void) {
    const arenaut_source source = {from_pages, to_heap, NULL};
    return source;
}

static void *from_device(void *context, size_t size, size_t align) {
    const arenaut_device *device = context;
    arenaut_device_allocator *allocator;
    void *block;
    if (arenaut_device_find(device->type, &allocator, NULL) != ARENAUT_OK) return NULL;
    if (allocator->allocate(allocator, size, align, device->index, &block, NULL) != ARENAUT_OK)
        return NULL;
    return block;
}

static void to_device(void *context, void *block, size_t size) {
    const arenaut_device *device = context;
    arenaut_device_allocator *allocator;
    (void)size;
    if (arenaut_device_find(device->type, &allocator, NULL) == ARENAUT_OK)
        allocator->deallocate(allocator, block, device->index);
}

arenaut_source arenaut_device_source(arenaut_device *device) {
    const arenaut_source source = {from_device, to_device, device};
    return source;
}
