/* Lookup of the functions behind the hooks. The dynamic linker may itself ask for memory while it
 * looks a name up; such a request is answered from a small static room, which is never given
 * back. */
#define _GNU_SOURCE
#include "real.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { ROOM = 1 << 14, ALIGN = 16 };

static _Alignas(ALIGN) unsigned char room[ROOM];
static size_t room_used;
static _Thread_local bool looking __attribute__((tls_model("initial-exec")));

static void *from_room(size_t size) {
    const size_t bytes = (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    if (size > ROOM || bytes > ROOM - room_used) return NULL;
    void *block = room + room_used;
    room_used += bytes;
    return block;
}

static bool is_in_room(const void *block) {
    return (uintptr_t)block >= (uintptr_t)room && (uintptr_t)block < (uintptr_t)room + ROOM;
}

/* Stores the function behind ours of this name. As an object pointer, because C has no other
 * notation for the conversion that POSIX promises of dlsym. */
static void look_up(void *function, const char *name) {
    looking = true;
    void *found = dlsym(RTLD_NEXT, name);
    looking = false;
    memcpy(function, &found, sizeof found);
}

/* Threads may look the same name up at once: they all store the same. */
#define FIND(result, name, ...)             \
    static result (*function)(__VA_ARGS__); \
    if (!function && !looking) look_up(&function, name)

void *real_malloc(size_t size) {
    FIND(void *, "malloc", size_t);
    return function ? function(size) : from_room(size);
}

void *real_calloc(size_t count, size_t size) {
    FIND(void *, "calloc", size_t, size_t);
    if (function) return function(count, size);
    return size && count > SIZE_MAX / size ? NULL : from_room(count * size);
}

void *real_realloc(void *block, size_t size) {
    FIND(void *, "realloc", void *, size_t);
    if (function && !is_in_room(block)) return function(block, size);
    void *moved = real_malloc(size);
    if (!moved || !block) return moved;
    /* Its size is not known, but it ends where the room does. */
    const size_t most = (size_t)(room + ROOM - (unsigned char *)block);
    return memcpy(moved, block, size < most ? size : most);
}

void real_free(void *block) {
    FIND(void, "free", void *);
    if (function && !is_in_room(block)) function(block);
}

int real_posix_memalign(void **block, size_t align, size_t size) {
    FIND(int, "posix_memalign", void **, size_t, size_t);
    return function ? function(block, align, size) : ENOMEM;
}

void *real_aligned_alloc(size_t align, size_t size) {
    FIND(void *, "aligned_alloc", size_t, size_t);
    return function ? function(align, size) : NULL;
}

void *real_memalign(size_t align, size_t size) {
    FIND(void *, "memalign", size_t, size_t);
    return function ? function(align, size) : NULL;
}

size_t real_malloc_usable_size(void *block) {
    FIND(size_t, "malloc_usable_size", void *);
    return function && !is_in_room(block) ? function(block) : 0;
}
