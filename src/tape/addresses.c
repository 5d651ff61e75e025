/* The map of addresses.h: linear probing at most half full, with Fibonacci hashing. Removing
 * closes the gap by moving entries back (Knuth 6.4, Algorithm R), so there is nothing to clean
 * up. O(1) expected. */
#include "tape/addresses.h"

#include <arenaut/problem.h>

#include "core/memory.h"

enum { FIRST_CAPACITY = 64 };

/* Fibonacci hashing; blocks are aligned, so the low bits say nothing. */
static uint32_t home_of(const arn_tape_addresses *map, uintptr_t at) {
    const uint64_t mixed = (uint64_t)at * UINT64_C(0x9E3779B97F4A7C15);
    return (uint32_t)(mixed >> 32) & (map->capacity - 1);
}

/* The slot of `at`, or the free one where it belongs. */
static uint32_t slot_of(const arn_tape_addresses *map, uintptr_t at) {
    uint32_t slot = home_of(map, at);
    while (map->slots[slot].at != 0 && map->slots[slot].at != at) {
        slot = (slot + 1) & (map->capacity - 1);
    }
    return slot;
}

uint32_t arn_tape_addresses_find(const arn_tape_addresses *map, const void *at) {
    if (map->n == 0 || !at) return ARENAUT_NONE;
    const arn_address *slot = &map->slots[slot_of(map, (uintptr_t)at)];
    return slot->at ? slot->block : ARENAUT_NONE;
}

static bool grow(arn_tape_addresses *map, const arenaut_allocator *allocator) {
    arn_tape_addresses larger = {NULL, map->n, map->capacity ? map->capacity * 2 : FIRST_CAPACITY};
    if (larger.capacity < map->capacity) return false;
    larger.slots = arn_allocate_zeroed(allocator, larger.capacity, sizeof *larger.slots);
    if (!larger.slots) return false;
    for (uint32_t k = 0; k < map->capacity; k++) {
        const arn_address *old = &map->slots[k];
        if (old->at) larger.slots[slot_of(&larger, old->at)] = *old;
    }
    arn_release(allocator, map->slots);
    *map = larger;
    return true;
}

bool arn_tape_addresses_add(arn_tape_addresses *map, const arenaut_allocator *allocator,
                            const void *at, uint32_t block) {
    if (map->n + 1 > map->capacity / 2 && !grow(map, allocator)) return false;
    map->slots[slot_of(map, (uintptr_t)at)] = (arn_address){(uintptr_t)at, block};
    map->n++;
    return true;
}

uint32_t arn_tape_addresses_remove(arn_tape_addresses *map, const void *at) {
    if (map->n == 0 || !at) return ARENAUT_NONE;
    const uint32_t mask = map->capacity - 1;
    uint32_t hole = slot_of(map, (uintptr_t)at);
    if (map->slots[hole].at == 0) return ARENAUT_NONE;
    const uint32_t block = map->slots[hole].block;
    /* An entry that was pushed past the hole moves into it, so that no search stops there early. */
    for (uint32_t k = (hole + 1) & mask; map->slots[k].at != 0; k = (k + 1) & mask) {
        const uint32_t home = home_of(map, map->slots[k].at);
        if (((k - home) & mask) < ((k - hole) & mask)) continue;
        map->slots[hole] = map->slots[k];
        hole = k;
    }
    map->slots[hole].at = 0;
    map->n--;
    return block;
}

void arn_tape_addresses_free(arn_tape_addresses *map, const arenaut_allocator *allocator) {
    arn_release(allocator, map->slots);
    *map = (arn_tape_addresses){NULL, 0, 0};
}
