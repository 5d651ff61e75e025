/* Looking into a buffer's lifetimes, which are sorted and apart. */
#ifndef ARN_IR_LIFETIMES_H
#define ARN_IR_LIFETIMES_H

#include <stdbool.h>

#include <arenaut/problem.h>

/* How many of them end at `step` or before it. O(log n). */
static inline uint32_t arn_lives_before(const arenaut_interval *life, uint32_t n, int64_t step) {
    uint32_t low = 0, high = n;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (life[middle].end <= step) low = middle + 1;
        else high = middle;
    }
    return low;
}

static inline bool arn_alive_at(const arenaut_problem *p, uint32_t b, int64_t step) {
    const arenaut_interval *life = arenaut_problem_lifetimes(p, b);
    const uint32_t n = arenaut_problem_lifetime_count(p, b);
    const uint32_t k = arn_lives_before(life, n, step);
    return k < n && life[k].first <= step;
}

#endif
