/* Each block has its size in front of it, so that a release can be counted. */
#include "support/meter.h"

#include <stdlib.h>
#include <string.h>

static void *meter_allocate(void *context, size_t size) {
    meter *m = context;
    size_t *block = malloc(size + 16);
    if (!block) return NULL;
    *block = size;
    m->now += size;
    if (m->now > m->most) m->most = m->now;
    return (char *)block + 16;
}

static void meter_release(void *context, void *pointer) {
    meter *m = context;
    if (!pointer) return;
    size_t *block = (size_t *)(void *)((char *)pointer - 16);
    m->now -= *block;
    free(block);
}

static void *meter_reallocate(void *context, void *pointer, size_t old_size, size_t new_size) {
    void *grown = meter_allocate(context, new_size);
    if (!grown) return NULL;
    if (pointer) memcpy(grown, pointer, old_size < new_size ? old_size : new_size);
    meter_release(context, pointer);
    return grown;
}

arenaut_allocator meter_allocator(meter *m) {
    const arenaut_allocator allocator = {meter_allocate, meter_reallocate, meter_release, m};
    return allocator;
}
