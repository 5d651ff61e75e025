/* What newlib and FlatBuffers' tools ask of a machine without an operating system, beyond
 * semihosting: memory, from the large one of an mps3-an547 behind the program; and randomness and
 * folders, which there are none of. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define HEAP UINT32_C(0x61000000)
#define HEAP_END UINT32_C(0x9f000000)

void *_sbrk(ptrdiff_t more) {
    static uintptr_t at = HEAP;
    const uintptr_t begin = at;
    if (at + (uintptr_t)more > HEAP_END) return (void *)-1;
    at += (uintptr_t)more;
    return (void *)begin;
}

/* Nothing here is ever given back. */
int posix_memalign(void **memory, size_t align, size_t size) {
    const uintptr_t begin = (uintptr_t)malloc(size + align);
    if (!begin) return ENOMEM;
    *memory = (void *)((begin + align - 1) / align * align);
    return 0;
}

int getentropy(void *buffer, size_t size) {
    (void)buffer;
    (void)size;
    return -1;
}

int mkdir(const char *path, unsigned mode) {
    (void)path;
    (void)mode;
    return -1;
}

char *realpath(const char *path, char *resolved) {
    (void)path;
    (void)resolved;
    return NULL;
}
