/* Stable sorting of index arrays, with a context and without allocation; binary search. */
#ifndef ARN_CORE_SORT_H
#define ARN_CORE_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether a comes before b; false for equals. */
typedef bool (*arn_before_fn)(const void *context, uint32_t a, uint32_t b);

/* Sorts `ids` by `before`, keeping the order of equals. `scratch` holds n more.
 * O(n log n); already sorted input takes n - 1 comparisons. */
void arn_sort_ids(uint32_t *ids, size_t n, arn_before_fn before, const void *context,
                  uint32_t *scratch);

/* Sorts `ids` by key[id], the least first, likewise stable. Much faster where there are many:
 * O(n) for every eleven bits in which keys differ. */
void arn_sort_by_key(uint32_t *ids, size_t n, const uint64_t *key, uint32_t *scratch);

/* A key that orders signed steps. */
static inline uint64_t arn_step_key(int64_t step) { return (uint64_t)step ^ (UINT64_C(1) << 63); }

/* The index of the first of `n` ascending numbers, or steps, that is not below `least`; n: none. */
static inline uint32_t arn_lower_bound(const uint32_t *numbers, uint32_t n, uint32_t least) {
    uint32_t low = 0, high = n;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (numbers[middle] < least) low = middle + 1;
        else high = middle;
    }
    return low;
}
static inline uint32_t arn_step_lower_bound(const int64_t *steps, uint32_t n, int64_t least) {
    uint32_t low = 0, high = n;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (steps[middle] < least) low = middle + 1;
        else high = middle;
    }
    return low;
}

#endif
