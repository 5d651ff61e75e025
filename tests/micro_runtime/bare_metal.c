/* What newlib and FlatBuffers' tools ask of a machine without an operating system, beyond
 * semihosting: memory, from the large one of an mps3-an547 behind the program; and randomness and
 * folders, which there are none of. And that machine's clock, by which instructions are counted. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define HEAP UINT32_C(0x61000000)
#define HEAP_END UINT32_C(0x9f000000)

/* The system counter of an SSE-300, which begins to count at the first call. Where QEMU is told
 * -icount shift=0, an instruction takes a nanosecond, and a tick 31.25. */
#define COUNTER_CONTROL 0x58100000
#define COUNTER_LOW 0x58100008
#define COUNTER_HIGH 0x5810000c

uint64_t instructions(void);
uint64_t instructions(void) {
    *(volatile uint32_t *)COUNTER_CONTROL = 1;
    const uint64_t high = *(volatile uint32_t *)COUNTER_HIGH;
    const uint64_t low = *(volatile uint32_t *)COUNTER_LOW;
    return (high << 32 | low) * 125 / 4;
}

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
