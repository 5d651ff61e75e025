/* Hashes and random numbers. FNV-1a, 64 bits: guards against accidents, not against malice. Hashes
 * are kept in files, so none of this ever changes. */
#ifndef ARN_CORE_HASH_H
#define ARN_CORE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define ARN_HASH_START UINT64_C(0xCBF29CE484222325)

static inline uint64_t arn_hash_bytes(uint64_t hash, const void *bytes, size_t size) {
    const uint8_t *byte = bytes;
    for (size_t i = 0; i < size; i++) hash = (hash ^ byte[i]) * UINT64_C(0x100000001B3);
    return hash;
}

/* Little-endian on any machine. */
static inline uint64_t arn_hash_number(uint64_t hash, uint64_t number) {
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++) bytes[i] = (uint8_t)(number >> 8 * i);
    return arn_hash_bytes(hash, bytes, sizeof bytes);
}

/* A whole number at a time: faster, for hashes that are kept nowhere and computed by the
 * million. */
static inline uint64_t arn_hash_word(uint64_t hash, uint64_t number) {
    hash = (hash ^ number) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 32;
}

/* With the NUL, so that texts that follow one another do not run together. */
static inline uint64_t arn_hash_text(uint64_t hash, const char *text) {
    return arn_hash_bytes(hash, text, strlen(text) + 1);
}

/* Random numbers that are the same on every machine: splitmix64 (Steele, Lea, Flood 2014).
 * The next one; *state is the seed before the first. */
static inline uint64_t arn_random_next(uint64_t *state) {
    uint64_t z = (*state += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/* One below `limit`. */
static inline uint32_t arn_random_below(uint64_t *state, uint32_t limit) {
    return (uint32_t)(arn_random_next(state) % limit);
}

/* n, up to 20, with probability 2^-(n + 1): a logarithm of a random number, so that no library's
 * exp is needed where annealing draws what is for the worse. */
static inline uint32_t arn_random_exponent(uint64_t *state) {
    uint32_t n = 0;
    while (n < 20 && arn_random_next(state) % 2 == 0) n++;
    return n;
}

#endif
