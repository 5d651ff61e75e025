/* Sets of numbers that answer which member is the nearest: a bit for each number, and above every
 * 32 words a word of those that are not empty (a bitset hierarchy, as a van Emde Boas tree of base
 * 32). O(log n) with that base, in memory of the caller's. */
#ifndef ARN_CORE_NUMBER_SET_H
#define ARN_CORE_NUMBER_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ARN_SET_BITS = 32, ARN_SET_LEVELS = 7 };

typedef struct arn_number_set {
    uint32_t *level[ARN_SET_LEVELS];
    uint32_t n_levels;
} arn_number_set;

/* Words of memory for numbers below `n`: no more than n, but for 0. */
static inline size_t arn_number_set_words(uint32_t n) {
    size_t all = 0, words = n;
    do {
        words = words / ARN_SET_BITS + (words % ARN_SET_BITS > 0 || words == 0);
        all += words;
    } while (words > 1);
    return all;
}

/* The empty set. */
static inline void arn_number_set_clear(arn_number_set *set, uint32_t n, uint32_t *words) {
    const size_t all = arn_number_set_words(n);
    for (size_t k = 0; k < all; k++) words[k] = 0;
    set->n_levels = 0;
    do {
        set->level[set->n_levels++] = words;
        n = n / ARN_SET_BITS + (n % ARN_SET_BITS > 0);
        words += n;
    } while (n > 1);
}

static inline bool arn_number_set_has(const arn_number_set *set, uint32_t number) {
    return set->level[0][number / ARN_SET_BITS] >> number % ARN_SET_BITS & 1;
}

static inline void arn_number_set_put(arn_number_set *set, uint32_t number) {
    for (uint32_t k = 0; k < set->n_levels; k++, number /= ARN_SET_BITS) {
        uint32_t *word = &set->level[k][number / ARN_SET_BITS];
        const bool was_empty = *word == 0;
        *word |= UINT32_C(1) << number % ARN_SET_BITS;
        if (!was_empty) return;
    }
}

static inline void arn_number_set_take(arn_number_set *set, uint32_t number) {
    for (uint32_t k = 0; k < set->n_levels; k++, number /= ARN_SET_BITS) {
        uint32_t *word = &set->level[k][number / ARN_SET_BITS];
        *word &= ~(UINT32_C(1) << number % ARN_SET_BITS);
        if (*word) return;
    }
}

/* The number of a word's only bit, by a de Bruijn sequence (Leiserson, Prokop, Randall 1998). */
static inline uint32_t arn_only_bit(uint32_t word) {
    static const uint8_t bit[ARN_SET_BITS] = {0,  1,  28, 2,  29, 14, 24, 3,  30, 22, 20,
                                              15, 25, 17, 4,  8,  31, 27, 13, 23, 21, 19,
                                              16, 7,  26, 12, 18, 6,  11, 5,  10, 9};
    return bit[(uint32_t)(word * UINT32_C(0x077CB531)) >> 27];
}

/* Of a word that is not 0. */
static inline uint32_t arn_lowest_of_word(uint32_t word) {
    return arn_only_bit(word & (~word + 1));
}

static inline uint32_t arn_highest_of_word(uint32_t word) {
    for (uint32_t half = 1; half < ARN_SET_BITS; half *= 2) word |= word >> half;
    return arn_only_bit(word ^ word >> 1);
}

/* The nearest members below and above a number, which need not be one; UINT32_MAX (ARENAUT_NONE):
 * there is none. */
static inline uint32_t arn_number_set_below(const arn_number_set *set, uint32_t number) {
    for (uint32_t k = 0; k < set->n_levels; k++, number /= ARN_SET_BITS) {
        const uint32_t lower = (UINT32_C(1) << number % ARN_SET_BITS) - 1;
        const uint32_t found = set->level[k][number / ARN_SET_BITS] & lower;
        if (!found) continue;
        uint32_t at = number / ARN_SET_BITS * ARN_SET_BITS + arn_highest_of_word(found);
        while (k > 0) at = at * ARN_SET_BITS + arn_highest_of_word(set->level[--k][at]);
        return at;
    }
    return UINT32_MAX;
}

static inline uint32_t arn_number_set_above(const arn_number_set *set, uint32_t number) {
    for (uint32_t k = 0; k < set->n_levels; k++, number /= ARN_SET_BITS) {
        const uint32_t upper = ~UINT32_C(1) << number % ARN_SET_BITS;
        const uint32_t found = set->level[k][number / ARN_SET_BITS] & upper;
        if (!found) continue;
        uint32_t at = number / ARN_SET_BITS * ARN_SET_BITS + arn_lowest_of_word(found);
        while (k > 0) at = at * ARN_SET_BITS + arn_lowest_of_word(set->level[--k][at]);
        return at;
    }
    return UINT32_MAX;
}

#endif
