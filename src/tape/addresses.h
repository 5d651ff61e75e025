/* A map from the addresses of live blocks to their numbers: open addressing, no tombstones. */
#ifndef ARN_TAPE_ADDRESSES_H
#define ARN_TAPE_ADDRESSES_H

#include <stdbool.h>
#include <stdint.h>

#include <arenaut/allocator.h>

typedef struct arn_address {
    uintptr_t at; /* 0: the slot is free */
    uint32_t block;
} arn_address;

typedef struct arn_tape_addresses {
    arn_address *slots;
    uint32_t n, capacity; /* the capacity is 0 or a power of two, at least twice n */
} arn_tape_addresses;

/* ARENAUT_NONE if the address is not there. */
uint32_t arn_tape_addresses_find(const arn_tape_addresses *map, const void *at);
/* `at` is not NULL and not there yet. False, with the map unchanged, without memory. */
bool arn_tape_addresses_add(arn_tape_addresses *map, const arenaut_allocator *allocator,
                            const void *at, uint32_t block);
/* The number that was there; ARENAUT_NONE if none was. */
uint32_t arn_tape_addresses_remove(arn_tape_addresses *map, const void *at);
void arn_tape_addresses_free(arn_tape_addresses *map, const arenaut_allocator *allocator);

#endif
