/* Sets of small numbers as the bits of a word. */
#ifndef ARN_CORE_BITS_H
#define ARN_CORE_BITS_H

#include <stdint.h>

/* The smallest number in a set that is not empty. */
static inline uint32_t arn_lowest_bit(uint64_t set) {
    uint32_t bit = 0;
    while (!(set >> bit & 1)) bit++;
    return bit;
}

#endif
