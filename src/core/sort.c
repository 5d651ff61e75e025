/* Merge sort from runs of eight, bottom up, with the caller's scratch memory; and a radix sort
 * by 64-bit keys for long lists, which skips the digits that all keys share. */
#include "core/sort.h"

#include <string.h>

enum { RUN = 8 };

static void insertion_sort(uint32_t *ids, size_t n, arn_before_fn before, const void *context) {
    for (size_t i = 1; i < n; i++) {
        const uint32_t id = ids[i];
        size_t k = i;
        for (; k > 0 && before(context, id, ids[k - 1]); k--) ids[k] = ids[k - 1];
        ids[k] = id;
    }
}

/* Merges [0, middle) and [middle, n) of `from` into `to`. */
static void merge(const uint32_t *from, size_t middle, size_t n, uint32_t *to, arn_before_fn before,
                  const void *context) {
    size_t a = 0, b = middle;
    for (size_t k = 0; k < n; k++) {
        const bool take_b = a == middle || (b < n && before(context, from[b], from[a]));
        to[k] = take_b ? from[b++] : from[a++];
    }
}

static bool is_sorted(const uint32_t *ids, size_t n, arn_before_fn before, const void *context) {
    for (size_t i = 1; i < n; i++) {
        if (before(context, ids[i], ids[i - 1])) return false;
    }
    return true;
}

void arn_sort_ids(uint32_t *ids, size_t n, arn_before_fn before, const void *context,
                  uint32_t *scratch) {
    if (is_sorted(ids, n, before, context)) return;
    for (size_t i = 0; i < n; i += RUN) {
        insertion_sort(ids + i, n - i < RUN ? n - i : RUN, before, context);
    }
    uint32_t *from = ids, *to = scratch;
    for (size_t width = RUN; width < n; width *= 2) {
        for (size_t i = 0; i < n; i += 2 * width) {
            const size_t length = n - i < 2 * width ? n - i : 2 * width;
            merge(from + i, length < width ? length : width, length, to + i, before, context);
        }
        uint32_t *const swapped = from;
        from = to;
        to = swapped;
    }
    if (from != ids) memcpy(ids, from, n * sizeof *ids);
}

/* ---- by keys ---- */

/* A few ids are sorted faster by comparing, and hundreds by smaller digits, whose counts are fewer.
 */
enum { DIGIT_BITS = 11, SMALL_DIGIT_BITS = 8, FEW = 128, HUNDREDS = 2000 };

static bool key_before(const void *context, uint32_t a, uint32_t b) {
    const uint64_t *key = context;
    return key[a] < key[b];
}

static uint32_t digit(uint64_t key, unsigned shift, unsigned bits) {
    return (uint32_t)(key >> shift) & ((1u << bits) - 1);
}

/* One pass of a radix sort: to where the smaller digits, and the equal ones before it, end. */
static void sort_by_digit(const uint32_t *from, size_t n, const uint64_t *key, unsigned shift,
                          unsigned bits, uint32_t *to) {
    uint32_t start[1 << DIGIT_BITS], sum = 0;
    memset(start, 0, sizeof *start << bits);
    for (size_t i = 0; i < n; i++) start[digit(key[from[i]], shift, bits)]++;
    for (uint32_t d = 0; d < 1u << bits; d++) {
        const uint32_t count = start[d];
        start[d] = sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++) to[start[digit(key[from[i]], shift, bits)]++] = from[i];
}

void arn_sort_by_key(uint32_t *ids, size_t n, const uint64_t *key, uint32_t *scratch) {
    if (n <= FEW) {
        arn_sort_ids(ids, n, key_before, key, scratch);
        return;
    }
    uint64_t differ = 0;
    bool sorted = true;
    for (size_t i = 1; i < n; i++) {
        differ |= key[ids[i]] ^ key[ids[0]];
        sorted = sorted && key[ids[i - 1]] <= key[ids[i]];
    }
    uint32_t *from = ids, *to = scratch;
    const unsigned bits = n < HUNDREDS ? SMALL_DIGIT_BITS : DIGIT_BITS;
    for (unsigned shift = 0; shift < 64 && !sorted && differ >> shift; shift += bits) {
        if (digit(differ, shift, bits) == 0) continue;
        sort_by_digit(from, n, key, shift, bits, to);
        uint32_t *const swapped = from;
        from = to;
        to = swapped;
    }
    if (from != ids) memcpy(ids, from, n * sizeof *ids);
}
