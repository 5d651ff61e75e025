/* A heap meter, to be preloaded: live bytes of malloc's family, and their peak.
 *
 * It comes after libarenaut-replay.so in LD_PRELOAD, so that it sees the requests that
 * reach the heap: of a tape's requests, only the arena. Sizes are those that the C library set
 * aside. */
#define _GNU_SOURCE
#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "real.h"

static atomic_llong live, peak;

long long heap_meter_live(void);
long long heap_meter_peak(void);
void heap_meter_reset(void);

long long heap_meter_live(void) { return atomic_load(&live); }
long long heap_meter_peak(void) { return atomic_load(&peak); }
void heap_meter_reset(void) { atomic_store(&peak, atomic_load(&live)); }

static void *came(void *block) {
    if (!block) return NULL;
    const long long size = (long long)real_malloc_usable_size(block);
    const long long now = atomic_fetch_add(&live, size) + size;
    long long most = atomic_load(&peak);
    while (now > most && !atomic_compare_exchange_weak(&peak, &most, now)) continue;
    return block;
}

static void went(void *block) {
    if (block) atomic_fetch_sub(&live, (long long)real_malloc_usable_size(block));
}

void *malloc(size_t size) { return came(real_malloc(size)); }
void *calloc(size_t count, size_t size) { return came(real_calloc(count, size)); }
void *aligned_alloc(size_t align, size_t size) { return came(real_aligned_alloc(align, size)); }
void *memalign(size_t align, size_t size) { return came(real_memalign(align, size)); }

int posix_memalign(void **block, size_t align, size_t size) {
    const int error = real_posix_memalign(block, align, size);
    if (error == 0) came(*block);
    return error;
}

/* Both are there while it moves, as in the worst case. */
void *realloc(void *block, size_t size) {
    const long long had = block ? (long long)real_malloc_usable_size(block) : 0;
    void *moved = real_realloc(block, size);
    if (moved || size == 0) {
        came(moved);
        atomic_fetch_sub(&live, had);
    }
    return moved;
}

void free(void *block) {
    went(block);
    real_free(block);
}
