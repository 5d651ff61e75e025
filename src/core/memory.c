/* Allocation through the caller's functions, and regions: blocks that double in size up to a
 * limit, of which pieces are cut and never given back one by one. */
#include "core/memory.h"

#include <stdlib.h>
#include <string.h>

static void *default_allocate(void *context, size_t size) {
    (void)context;
    return malloc(size);
}

static void *default_reallocate(void *context, void *block, size_t old_size, size_t new_size) {
    (void)context;
    (void)old_size;
    return realloc(block, new_size);
}

static void default_release(void *context, void *block) {
    (void)context;
    free(block);
}

arenaut_allocator arn_allocator_or_default(const arenaut_allocator *allocator) {
    if (allocator) return *allocator;
    const arenaut_allocator c_library = {default_allocate, default_reallocate, default_release,
                                         NULL};
    return c_library;
}

void *arn_allocate(const arenaut_allocator *allocator, size_t count, size_t size) {
    if (size != 0 && count > SIZE_MAX / size) return NULL;
    const arenaut_allocator a = arn_allocator_or_default(allocator);
    const size_t bytes = count * size;
    return a.allocate(a.context, bytes ? bytes : 1);
}

void *arn_allocate_zeroed(const arenaut_allocator *allocator, size_t count, size_t size) {
    void *block = arn_allocate(allocator, count, size);
    if (block) memset(block, 0, count * size);
    return block;
}

void arn_release(const arenaut_allocator *allocator, void *block) {
    const arenaut_allocator a = arn_allocator_or_default(allocator);
    if (block) a.release(a.context, block);
}

void arn_release_all(const arenaut_allocator *allocator, void *const *blocks, size_t n) {
    for (size_t i = 0; i < n; i++) arn_release(allocator, blocks[i]);
}

bool arn_grow(const arenaut_allocator *allocator, void **array, uint32_t *capacity, uint64_t needed,
              size_t element_size) {
    if (needed <= *capacity) return true;
    uint64_t wanted = *capacity < 8 ? 8 : (uint64_t)*capacity * 2;
    if (wanted < needed) wanted = needed;
    if (wanted > UINT32_MAX) wanted = UINT32_MAX;
    if (wanted < needed || wanted > SIZE_MAX / element_size) return false;
    const arenaut_allocator a = arn_allocator_or_default(allocator);
    void *grown =
        a.reallocate(a.context, *array, *capacity * element_size, (size_t)wanted * element_size);
    if (!grown) return false;
    *array = grown;
    *capacity = (uint32_t)wanted;
    return true;
}

/* Blocks are chained from the newest; each begins with this header. */
typedef struct arn_region_block {
    struct arn_region_block *previous;
    size_t used, size; /* of the bytes after the header */
} arn_region_block;

enum { FIRST_BLOCK = 1024, LARGEST_BLOCK = 1 << 18 };

typedef union most_aligned {
    long double ld;
    void *p;
    long long ll;
} most_aligned;

#define ALIGNED(n) (((n) + sizeof(most_aligned) - 1) / sizeof(most_aligned) * sizeof(most_aligned))

void arn_region_init(arn_region *region, const arenaut_allocator *allocator) {
    region->allocator = arn_allocator_or_default(allocator);
    region->last = NULL;
}

void arn_region_free(arn_region *region) {
    while (region->last) {
        arn_region_block *block = region->last;
        region->last = block->previous;
        region->allocator.release(region->allocator.context, block);
    }
}

/* Blocks double up to a limit, so that small handles stay small and big ones take few. */
static bool add_block(arn_region *region, size_t needed) {
    size_t size = region->last ? region->last->size * 2 : FIRST_BLOCK;
    if (size > LARGEST_BLOCK) size = LARGEST_BLOCK;
    if (size < needed) size = needed;
    if (size > SIZE_MAX - ALIGNED(sizeof(arn_region_block))) return false;
    arn_region_block *block = region->allocator.allocate(region->allocator.context,
                                                         ALIGNED(sizeof(arn_region_block)) + size);
    if (!block) return false;
    block->previous = region->last;
    block->used = 0;
    block->size = size;
    region->last = block;
    return true;
}

void *arn_region_allocate(arn_region *region, size_t count, size_t size) {
    if (size != 0 && count > (SIZE_MAX - sizeof(most_aligned)) / size) return NULL;
    const size_t wanted = count * size;
    const size_t bytes = ALIGNED(wanted != 0 ? wanted : 1);
    if (!region->last || region->last->size - region->last->used < bytes) {
        if (!add_block(region, bytes)) return NULL;
    }
    arn_region_block *block = region->last;
    void *result = (char *)block + ALIGNED(sizeof(arn_region_block)) + block->used;
    block->used += bytes;
    return result;
}

bool arn_region_arrays(arn_region *region, const arn_array *arrays, size_t n) {
    for (size_t i = 0; i < n; i++) {
        void *array = arn_region_allocate(region, arrays[i].count, arrays[i].size);
        if (!array) return false;
        memset(array, 0, arrays[i].count * arrays[i].size);
        memcpy(arrays[i].pointer, &array, sizeof array); /* pointers to objects look alike */
    }
    return true;
}

char *arn_region_copy_text(arn_region *region, const char *text, size_t length) {
    char *copy = arn_region_allocate(region, length + 1, 1);
    if (!copy) return NULL;
    if (length) memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}
