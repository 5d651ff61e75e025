/* What relations make of buffers in one pool: groups that move together, and lives that are cut
 * where another buffer covers them.
 *
 * A slice is tied to its host. A same-base pair may be assumed to be joined: then it is tied
 * too; or to be apart: then it is like any other pair. Of most pairs nothing is assumed: then
 * the two are not in each other's way at all, which leaves out a constraint, and whoever finds
 * a packing must look whether it keeps it. The rules are those of arenaut/certificate.h. */
#ifndef ARN_EXACT_TIES_H
#define ARN_EXACT_TIES_H

#include "core/memory.h"
#include "planners/exact/exact.h"

/* What is assumed of a buffer and its base. */
typedef enum arn_exact_pair { ARN_EXACT_OPEN, ARN_EXACT_JOINED, ARN_EXACT_APART } arn_exact_pair;

typedef struct arn_exact_case {
    arn_exact_input in;  /* of one pool: pool_of is given if there are several */
    const uint8_t *pair; /* per buffer: arn_exact_pair; NULL: nothing is assumed of any */
} arn_exact_case;

typedef struct arn_exact_ties {
    uint32_t *root;  /* per buffer: equal for all that move together; NULL: no relations at all */
    int64_t *delta;  /* per buffer: bytes from the group's lowest one */
    uint64_t *fixed; /* per buffer: where it must lie; ARENAUT_UNPLACED */
    /* Per buffer, what is left of its life: life[start[b] .. start[b + 1]). */
    uint32_t *life_start;
    arenaut_interval *life;
    bool torn;  /* the assumptions contradict each other or the problem */
    bool large; /* groups are too large to look at: nothing else means anything */
} arn_exact_ties;

/* False if there is no memory. */
bool arn_exact_find_ties(const arn_exact_case *assumed, arn_region *region, arn_exact_ties *ties);

/* Whether `heir` and its base are in the pool and would be in each other's way, were it not for
 * their relation. */
bool arn_exact_is_pair(const arn_exact_input *in, uint32_t heir);

/* Whether an extra conflict edge names the two. O(log n). */
bool arn_exact_has_edge(const arenaut_problem *p, uint32_t a, uint32_t b);

/* Whether two buffers in the pool, lying at `place`, must not share a byte. O(lifetimes). */
bool arn_exact_must_be_apart(const arenaut_problem *problem, uint32_t a, uint32_t b,
                             const uint64_t *place);

/* Of a pair, the one that the other covers where they lie at one place. */
static inline uint32_t arn_exact_smaller(const arenaut_problem *p, uint32_t a, uint32_t b) {
    if (p->size[a] != p->size[b]) return p->size[a] < p->size[b] ? a : b;
    return a > b ? a : b;
}

/* Whether buffer `b` is to be placed in the input's pool. */
static inline bool arn_exact_in_pool(const arn_exact_input *in, uint32_t b) {
    if (!arenaut_problem_needs_memory(in->problem, b)) return false;
    return !in->pool_of || in->pool_of[b] == in->pool;
}

#endif
