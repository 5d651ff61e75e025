/* Aligned blocks from malloc alone, since C libraries differ in their functions for that. The
 * pointer that free() needs lies right before the block, which costs up to `align` bytes more. */
#ifndef ARN_CORE_ALIGNED_H
#define ARN_CORE_ALIGNED_H

#include <stdint.h>
#include <stdlib.h>

/* `align` is a power of two. NULL without memory; freed by arn_aligned_free only. */
static inline void *arn_aligned_allocate(size_t size, size_t align) {
    if (align < sizeof(void *)) align = sizeof(void *);
    if (align > SIZE_MAX - sizeof(void *) || size > SIZE_MAX - align - sizeof(void *)) return NULL;
    char *taken = malloc(size + align + sizeof(void *));
    if (!taken) return NULL;
    char *first = taken + sizeof(void *);
    char *block = first + ((align - (uintptr_t)first % align) & (align - 1));
    ((void **)(void *)block)[-1] = taken;
    return block;
}

static inline void arn_aligned_free(void *block) {
    if (block) free(((void **)block)[-1]);
}

#endif
