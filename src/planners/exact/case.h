/* A case: one pool of a problem, and what is assumed of its same-base pairs; and what that
 * means for any two buffers.
 *
 * A *pair* is a buffer with same_base, the *heir*, and its *base*, where both are in the pool
 * and would be in each other's way without their relation. It may be *joined*: the heir starts
 * where its base does; or *apart*: the two are like any other buffers; or *open*: nothing is
 * assumed. An open pair is not kept apart at all, which leaves out a constraint: what is
 * impossible then is impossible, but a packing must be looked at (open_pairs.h). */
#ifndef ARN_EXACT_CASE_H
#define ARN_EXACT_CASE_H

#include "planners/exact/exact.h"

typedef enum arn_exact_pair { ARN_EXACT_OPEN, ARN_EXACT_JOINED, ARN_EXACT_APART } arn_exact_pair;

typedef struct arn_exact_case {
    arn_exact_input in;  /* of one pool: pool_of is given if there are several */
    const uint8_t *pair; /* per heir: arn_exact_pair; NULL: all pairs are open */
} arn_exact_case;

/* The case of pool `pool` of the input's problem: with these assumptions, these pools of the
 * buffers (as in arn_exact_input) and no progress reported. Arrays are borrowed. */
arn_exact_case arn_exact_case_of(const arn_exact_input *in, const uint8_t *pair,
                                 const uint32_t *pool_of, uint32_t pool);

/* What is assumed of `heir` and its base. */
static inline arn_exact_pair arn_exact_assumed(const arn_exact_case *c, uint32_t heir) {
    return c->pair ? (arn_exact_pair)c->pair[heir] : ARN_EXACT_OPEN;
}

/* Whether buffer `b` is to be placed in the input's pool. */
static inline bool arn_exact_in_pool(const arn_exact_input *in, uint32_t b) {
    if (!arenaut_problem_needs_memory(in->problem, b)) return false;
    return !in->pool_of || in->pool_of[b] == in->pool;
}

/* The base of `b` if both are in the pool, else ARENAUT_NONE. */
uint32_t arn_exact_base_of(const arn_exact_input *in, uint32_t b);

/* Which of two buffers has the other one as its base; ARENAUT_NONE if neither. */
uint32_t arn_exact_heir_of(const arenaut_problem *problem, uint32_t a, uint32_t b);

/* Whether `heir` and its base are a pair. O(lifetimes + log edges). */
bool arn_exact_is_pair(const arn_exact_input *in, uint32_t heir);

/* The smaller of a pair, which the other one covers where they lie at one place; of equals, the
 * one with the higher number. */
static inline uint32_t arn_exact_smaller(const arenaut_problem *p, uint32_t a, uint32_t b) {
    if (p->size[a] != p->size[b]) return p->size[a] < p->size[b] ? a : b;
    return a > b ? a : b;
}

/* Whether lifetimes or an edge put two buffers into each other's way, relations aside.
 * O(lifetimes + log edges). */
bool arn_exact_conflict(const arenaut_problem *problem, uint32_t a, uint32_t b);

/* Whether two buffers in the pool share a byte if `a` lies `distance` bytes above `b`. */
static inline bool arn_exact_share_bytes(const arenaut_problem *p, uint32_t a, uint32_t b,
                                         int64_t distance) {
    return distance < (int64_t)p->size[b] && distance > -(int64_t)p->size[a];
}

/* Whether two buffers in the pool that share a byte at their places must not: they conflict,
 * neither lies inside the other, and no same-base relation allows the place. */
bool arn_exact_must_be_apart(const arenaut_problem *problem, uint32_t a, uint32_t b,
                             const uint64_t *place);

/* Whether two buffers in the pool share a byte at their places and must not. Cheap for those
 * that share none. */
static inline bool arn_exact_collide(const arenaut_problem *p, uint32_t a, uint32_t b,
                                     const uint64_t *place) {
    return arn_exact_share_bytes(p, a, b, (int64_t)(place[a] - place[b])) &&
           arn_exact_must_be_apart(p, a, b, place);
}

/* The one pool that buffer `b` may lie in; ARENAUT_NONE if it has a choice. */
uint32_t arn_exact_only_pool(const arenaut_problem *problem, uint32_t b);

#endif
