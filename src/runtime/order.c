/* Sorting without a heap and without recursion: a radix sort from the smallest digits on, which
 * leaves equal keys in the order of their numbers. */
#include <limits.h>

#include "runtime/iteration.h"

enum { DIGIT_BITS = 6, DIGITS = 1 << DIGIT_BITS };

typedef struct sorting {
    const uint32_t *step;
    const size_t *offset; /* used where `step` is NULL */
} sorting;

static size_t key_of(const sorting *s, uint32_t i) { return s->step ? s->step[i] : s->offset[i]; }

static uint32_t digit(const sorting *s, uint32_t i, unsigned shift) {
    return (uint32_t)(key_of(s, i) >> shift) & (DIGITS - 1);
}

static void sort_by_digit(const sorting *s, const uint32_t *from, uint32_t n, unsigned shift,
                          uint32_t *to) {
    uint32_t start[DIGITS + 1] = {0};
    for (uint32_t i = 0; i < n; i++) start[digit(s, from[i], shift) + 1]++;
    for (uint32_t d = 1; d < DIGITS; d++) start[d] += start[d - 1];
    for (uint32_t i = 0; i < n; i++) to[start[digit(s, from[i], shift)]++] = from[i];
}

static void sort(const sorting *s, uint32_t *order, uint32_t n, uint32_t *scratch) {
    size_t differ = 0;
    bool sorted = true;
    for (uint32_t i = 1; i < n; i++) {
        differ |= key_of(s, order[i]) ^ key_of(s, order[0]);
        sorted = sorted && key_of(s, order[i - 1]) <= key_of(s, order[i]);
    }
    uint32_t *from = order, *to = scratch;
    for (unsigned shift = 0; shift < sizeof differ * CHAR_BIT && !sorted && differ >> shift;
         shift += DIGIT_BITS) {
        if ((differ >> shift & (DIGITS - 1)) == 0) continue;
        sort_by_digit(s, from, n, shift, to);
        uint32_t *const swapped = from;
        from = to;
        to = swapped;
    }
    for (uint32_t i = 0; from != order && i < n; i++) order[i] = from[i];
}

void arn_runtime_order_by_step(uint32_t *order, uint32_t n, const uint32_t *key,
                               uint32_t *scratch) {
    const sorting s = {key, NULL};
    sort(&s, order, n, scratch);
}

void arn_runtime_order_by_offset(uint32_t *order, uint32_t n, const size_t *key,
                                 uint32_t *scratch) {
    const sorting s = {NULL, key};
    sort(&s, order, n, scratch);
}
