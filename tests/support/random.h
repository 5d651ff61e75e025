/* Random numbers that are the same on every machine (splitmix64). */
#ifndef SUPPORT_RANDOM_H
#define SUPPORT_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

typedef struct rng {
    uint64_t state; /* the seed */
} rng;

static inline uint64_t rng_next(rng *r) {
    uint64_t z = (r->state += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/* 0 <= result < limit; the bias is of no matter here. */
static inline uint32_t rng_below(rng *r, uint32_t limit) {
    return limit ? (uint32_t)(rng_next(r) % limit) : 0;
}

/* True once in `n` times. */
static inline bool rng_once_in(rng *r, uint32_t n) { return rng_below(r, n) == 0; }

#endif
