/* Queries on buffers' lifetimes, which are sorted and disjoint. Planners, reports and writers share
 * this; src/check has its own, so that a mistake here does not hide a wrong plan. */
#ifndef ARN_IR_LIFETIMES_H
#define ARN_IR_LIFETIMES_H

#include <stdbool.h>

#include <arenaut/problem.h>

#include "core/checked.h"

/* The number of `n` lifetimes that end at `step` or before it. O(log n). */
static inline uint32_t arn_lives_before(const arenaut_interval *life, uint32_t n, int64_t step) {
    uint32_t low = 0, high = n;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (life[middle].end <= step) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* Whether two lists of lifetimes have a step in common. O(n + m). */
static inline bool arn_lives_meet(const arenaut_interval *x, uint32_t n, const arenaut_interval *y,
                                  uint32_t m) {
    for (uint32_t i = 0, k = 0; i < n && k < m;) {
        if (x[i].first < y[k].end && y[k].first < x[i].end) return true;
        if (x[i].end < y[k].end) i++;
        else k++;
    }
    return false;
}

static inline bool arn_alive_at(const arenaut_problem *p, uint32_t b, int64_t step) {
    const arenaut_interval *life = arenaut_problem_lifetimes(p, b);
    const uint32_t n = arenaut_problem_lifetime_count(p, b);
    const uint32_t k = arn_lives_before(life, n, step);
    return k < n && life[k].first <= step;
}

static inline bool arn_alive_together(const arenaut_problem *p, uint32_t a, uint32_t b) {
    return arn_lives_meet(arenaut_problem_lifetimes(p, a), arenaut_problem_lifetime_count(p, a),
                          arenaut_problem_lifetimes(p, b), arenaut_problem_lifetime_count(p, b));
}

/* The fastest pool that the buffer may use. */
static inline uint32_t arn_lowest_pool(const arenaut_problem *p, uint32_t b) {
    return arn_lowest_bit(arenaut_problem_pools(p, b));
}

#endif
