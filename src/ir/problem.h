/* Problems inside the library: words of formats, and the spill of a buffer. */
#ifndef ARN_IR_PROBLEM_H
#define ARN_IR_PROBLEM_H

#include <arenaut/problem.h>

const char *arn_problem_trait_name(uint32_t bit); /* NULL out of range; static */

/* The number of the buffer's pools faster than `pool`, and the buffer's spill there. The latter
 * cannot overflow in a valid problem. */
static inline uint32_t arn_problem_rank(const arenaut_problem *p, uint32_t b, uint32_t pool) {
    uint32_t rank = 0;
    for (uint64_t faster = arenaut_problem_pools(p, b) & ((UINT64_C(1) << pool) - 1); faster;
         faster &= faster - 1) {
        rank++;
    }
    return rank;
}
static inline uint64_t arn_problem_spill(const arenaut_problem *p, uint32_t b, uint32_t pool) {
    return p->size[b] * arenaut_problem_uses(p, b) * arn_problem_rank(p, b, pool);
}

#endif
