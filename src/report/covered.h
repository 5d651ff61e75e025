/* The number of covered bytes of the arenas, while buffers come and go: shared bytes count once. A
 * segment tree over the addresses at which buffers begin and end, of which each node knows how many
 * buffers cover all of it. */
#ifndef ARN_REPORT_COVERED_H
#define ARN_REPORT_COVERED_H

#include <stdbool.h>

#include <arenaut/plan.h>
#include <arenaut/problem.h>

typedef struct arn_covered {
    const arenaut_problem *problem;
    const arenaut_plan *plan;
    const arenaut_allocator *allocator;
    uint64_t *address; /* sorted, each once */
    uint32_t n;        /* of them */
    uint32_t *covers;  /* by node: buffers over all of it, that do not cover its parent */
    uint64_t *bytes;   /* by node: covered by these, or below */
    uint64_t base[ARENAUT_MAX_POOLS];
} arn_covered;

/* Nothing is covered. False if there is no memory. O(n log n). */
bool arn_covered_init(arn_covered *covered, const arenaut_problem *problem,
                      const arenaut_plan *plan, const arenaut_allocator *allocator);
void arn_covered_free(arn_covered *covered);

/* The buffer comes, or goes. O(log n). */
void arn_covered_change(arn_covered *covered, uint32_t buffer, bool comes);
static inline uint64_t arn_covered_bytes(const arn_covered *covered) {
    return covered->n > 1 ? covered->bytes[1] : 0;
}

#endif
