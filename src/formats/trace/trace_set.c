/* A set of numbers with predecessor and successor queries (a bitset hierarchy, as a van Emde Boas
 * tree of base 64): a bit for each, and above every 64 words a word of those that are not empty.
 * O(log n) with a base of 64. */
#include "formats/trace/trace.h"

#include <string.h>

#include "core/checked.h"

enum { BITS = 64 };

bool arn_trace_set_make(arn_trace_set *set, uint32_t n, arn_region *region) {
    uint64_t words = n;
    set->n_levels = 0;
    do {
        words = (words + BITS - 1) / BITS;
        const size_t count = words > 0 ? (size_t)words : 1;
        uint64_t *level = arn_region_allocate(region, count, sizeof *level);
        if (!level) return false;
        memset(level, 0, count * sizeof *level);
        set->level[set->n_levels++] = level;
    } while (words > 1);
    return true;
}

void arn_trace_set_put(arn_trace_set *set, uint32_t number) {
    for (uint32_t k = 0; k < set->n_levels; k++) {
        set->level[k][number / BITS] |= UINT64_C(1) << number % BITS;
        number /= BITS;
    }
}

void arn_trace_set_take(arn_trace_set *set, uint32_t number) {
    for (uint32_t k = 0; k < set->n_levels; k++) {
        uint64_t *word = &set->level[k][number / BITS];
        *word &= ~(UINT64_C(1) << number % BITS);
        if (*word) return;
        number /= BITS;
    }
}

static uint32_t highest_bit(uint64_t set) {
    uint32_t bit = BITS - 1;
    while (!(set >> bit & 1)) bit--;
    return bit;
}

uint32_t arn_trace_set_below(const arn_trace_set *set, uint32_t number) {
    for (uint32_t k = 0; k < set->n_levels; k++, number /= BITS) {
        const uint64_t lower = (UINT64_C(1) << number % BITS) - 1;
        uint64_t found = set->level[k][number / BITS] & lower;
        if (!found) continue;
        uint32_t at = number / BITS * BITS + highest_bit(found);
        while (k > 0) at = at * BITS + highest_bit(set->level[--k][at]);
        return at;
    }
    return ARENAUT_NONE;
}

uint32_t arn_trace_set_from(const arn_trace_set *set, uint32_t number) {
    uint64_t wanted = ~((UINT64_C(1) << number % BITS) - 1);
    for (uint32_t k = 0; k < set->n_levels; k++, number /= BITS) {
        const uint64_t found = set->level[k][number / BITS] & wanted;
        if (found) {
            uint32_t at = number / BITS * BITS + arn_lowest_bit(found);
            while (k > 0) at = at * BITS + arn_lowest_bit(set->level[--k][at]);
            return at;
        }
        const uint32_t above = number / BITS % BITS;
        wanted = above == BITS - 1 ? 0 : ~((UINT64_C(2) << above) - 1);
    }
    return ARENAUT_NONE;
}
