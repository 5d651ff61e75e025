/* Checked arithmetic on sizes. Results past ARENAUT_SIZE_MAX count as overflow, so that any two
 * accepted sizes can be added without wrapping. */
#ifndef ARN_CORE_CHECKED_H
#define ARN_CORE_CHECKED_H

#include <stdbool.h>
#include <stdint.h>

#include <arenaut/problem.h>

static inline bool arn_add(uint64_t a, uint64_t b, uint64_t *sum) {
    if (a > ARENAUT_SIZE_MAX || b > ARENAUT_SIZE_MAX - a) return false;
    *sum = a + b;
    return true;
}

static inline bool arn_multiply(uint64_t a, uint64_t b, uint64_t *product) {
    if (b != 0 && a > ARENAUT_SIZE_MAX / b) return false;
    *product = a * b;
    return true;
}

static inline bool arn_is_power_of_two(uint64_t n) { return n != 0 && (n & (n - 1)) == 0; }

/* Rounds up to a multiple of `align`, a power of two. */
static inline bool arn_align_up(uint64_t n, uint64_t align, uint64_t *rounded) {
    if (!arn_add(n, align - 1, rounded)) return false;
    *rounded &= ~(align - 1);
    return true;
}

/* The same for sums that are known to fit, e.g. inside a validated problem. */
static inline uint64_t arn_aligned(uint64_t n, uint64_t align) {
    return (n + align - 1) & ~(align - 1);
}

static inline uint64_t arn_min_u64(uint64_t a, uint64_t b) { return a < b ? a : b; }
static inline uint64_t arn_max_u64(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* The greatest common divisor; that of 0 and a number is the number. */
static inline uint64_t arn_gcd(uint64_t a, uint64_t b) {
    while (b > 0) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The smallest number in a set of small numbers, the bits of a word, that is not empty. */
static inline uint32_t arn_lowest_bit(uint64_t set) {
    uint32_t bit = 0;
    for (uint32_t half = 32; half; half /= 2) {
        const uint32_t skipped = half * (set << (64 - half) == 0); /* no branch */
        set >>= skipped;
        bit += skipped;
    }
    return bit;
}

#endif
