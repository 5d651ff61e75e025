/* Sources of memory for iterations: the heap of the host, pages of the system, or a device by its
 * registered allocator. Programs that bring their own source do not link this. */
#include "runtime/hosted/hosted.h"

static void *from_heap(void *context, size_t size, size_t align, arenaut_fault *fault) {
    (void)context;
    (void)fault; /* no memory: that needs no saying */
    return arn_hosted_heap_allocate(size, align, false);
}

static void *from_pages(void *context, size_t size, size_t align, arenaut_fault *fault) {
    (void)context;
    (void)fault;
    return arn_hosted_heap_allocate(size, align, true);
}

static void to_heap(void *context, void *block, size_t size) {
    (void)context;
    (void)size;
    arn_hosted_heap_free(block);
}

arenaut_source arenaut_heap_source(void) {
    const arenaut_source source = {from_heap, to_heap, NULL, {0, 0}};
    return source;
}

arenaut_source arenaut_pages_source(void) {
    const arenaut_source source = {from_pages, to_heap, NULL, {0, 0}};
    return source;
}

/* A block goes back to the allocator that gave it, so as long as blocks are out the allocator stays
 * the same, registered or not. */
static void *from_device(void *context, size_t size, size_t align, arenaut_fault *fault) {
    arenaut_device_heap *heap = context;
    void *block;
    if (heap->live == 0 &&
        arenaut_device_find(heap->device.type, &heap->allocator, fault) != ARENAUT_OK)
        return NULL;
    if (heap->allocator->allocate(heap->allocator, size, align, heap->device.index, &block,
                                  fault) != ARENAUT_OK)
        return NULL;
    heap->live++;
    return block;
}

static void to_device(void *context, void *block, size_t size) {
    arenaut_device_heap *heap = context;
    (void)size;
    heap->allocator->deallocate(heap->allocator, block, heap->device.index);
    heap->live--;
}

arenaut_source arenaut_device_source(arenaut_device_heap *heap) {
    const arenaut_source source = {from_device, to_device, heap, heap->device};
    return source;
}
