/* The C library's own functions, behind the ones that we put before them. */
#ifndef PRELOAD_REAL_H
#define PRELOAD_REAL_H

#include <stddef.h>

void *real_malloc(size_t size);
void *real_calloc(size_t count, size_t size);
void *real_realloc(void *block, size_t size);
void real_free(void *block);
int real_posix_memalign(void **block, size_t align, size_t size);
void *real_aligned_alloc(size_t align, size_t size);
void *real_memalign(size_t align, size_t size);
size_t real_malloc_usable_size(void *block);

#endif
