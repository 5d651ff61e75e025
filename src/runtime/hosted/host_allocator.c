/* The host's memory as a device allocator: the heap of the C library, in huge pages where a block
 * is large enough and the system offers them. */
#define _DEFAULT_SOURCE /* madvise */
#include "runtime/hosted/hosted.h"

#include <string.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "core/aligned.h"

enum { HUGE_PAGE = 2 << 20 };

/* Only whole huge pages are asked for, so that nothing behind the block becomes resident. */
static void ask_for_huge_pages(void *block, size_t size) {
#if defined(MADV_HUGEPAGE)
    /* Where the system does not offer them it says so, and small ones do as well. */
    (void)madvise(block, size & ~((size_t)HUGE_PAGE - 1), MADV_HUGEPAGE);
#else
    (void)block;
    (void)size;
#endif
}

void *arn_hosted_heap_allocate(size_t size, size_t align, bool huge_pages) {
    const bool large = huge_pages && size >= HUGE_PAGE;
    if (large && align < HUGE_PAGE) align = HUGE_PAGE;
    void *block = arn_aligned_allocate(size, align);
    if (block && large) ask_for_huge_pages(block, size);
    return block;
}

void arn_hosted_heap_free(void *block) { arn_aligned_free(block); }

static arenaut_status check_index(uint32_t index, arenaut_fault *fault) {
    if (index == 0) return ARENAUT_OK;
    return arn_runtime_fault(fault, ARENAUT_FAULT_DEVICE_INDEX, ARENAUT_DEVICE_HOST, index, 1);
}

static arenaut_status host_allocate(arenaut_device_allocator *self, size_t size, size_t align,
                                    uint32_t index, void **address, arenaut_fault *fault) {
    (void)self;
    const arenaut_status status = check_index(index, fault);
    if (status != ARENAUT_OK) return status;
    void *block = arn_hosted_heap_allocate(size, align, true);
    if (!block)
        return arn_runtime_fault(fault, ARENAUT_FAULT_NO_MEMORY, ARENAUT_DEVICE_HOST, size, 0);
    *address = block;
    return ARENAUT_OK;
}

static void host_deallocate(arenaut_device_allocator *self, void *address, uint32_t index) {
    (void)self;
    (void)index;
    arn_hosted_heap_free(address);
}

/* To the host and from it are the same here. */
static arenaut_status host_copy(arenaut_device_allocator *self, void *to, const void *from,
                                size_t size, uint32_t index, arenaut_fault *fault) {
    (void)self;
    const arenaut_status status = check_index(index, fault);
    if (status == ARENAUT_OK && size) memmove(to, from, size);
    return status;
}

void arenaut_host_open(arenaut_host_allocator *host, arenaut_planned_memory *slot,
                       uint32_t capacity) {
    *host = (arenaut_host_allocator){{{.type = ARENAUT_DEVICE_HOST,
                                       .init_buffer = arn_hosted_init_buffer,
                                       .address_at = arn_hosted_address_at,
                                       .allocate = host_allocate,
                                       .deallocate = host_deallocate,
                                       .copy_to_device = host_copy,
                                       .copy_to_host = host_copy},
                                      .slot = slot,
                                      .capacity = capacity}};
}

void arenaut_host_close(arenaut_host_allocator *host) { arn_hosted_free(&host->hosted); }
