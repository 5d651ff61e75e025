/* C11's aligned_alloc, which Windows lacks, and the release that goes with it. Not core/aligned.h:
 * there a block lies within a larger one, so that an address sanitizer sees less of its ends. */
#ifndef SUPPORT_ALIGNED_H
#define SUPPORT_ALIGNED_H

#include <stddef.h>
#include <stdlib.h>

#if defined(_WIN32)
#include <malloc.h>
#endif

static inline void *aligned_take(size_t align, size_t size) {
    const size_t whole = (size + align - 1) / align * align;
#if defined(_WIN32)
    return _aligned_malloc(whole, align);
#else
    return aligned_alloc(align, whole);
#endif
}

static inline void aligned_give(void *block) {
#if defined(_WIN32)
    _aligned_free(block);
#else
    free(block);
#endif
}

#endif
