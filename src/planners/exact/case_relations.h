/* A case, the node of the outer branch and bound: one pool of a problem, with assumptions about its
 * same-base pairs, and their consequences for any two buffers.
 *
 * A *pair* is a buffer with same_base, the *heir*, and its *base*, if both are in the pool and
 * would interfere without their relation. It may be *joined*: the heir starts where its base does;
 * or *apart*: the two are like any other buffers; or *open*: nothing is assumed. An open pair is
 * not kept apart at all, a relaxation: a capacity infeasible then is infeasible, but a packing must
 * be checked (packing_search.h). */
#ifndef ARN_PLANNERS_EXACT_CASE_RELATIONS_H
#define ARN_PLANNERS_EXACT_CASE_RELATIONS_H

#include "core/memory.h"
#include "planners/bounds/hosts.h"
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

/* The assumption about `heir` and its base. */
static inline arn_exact_pair arn_exact_assumed(const arn_exact_case *c, uint32_t heir) {
    return c->pair ? (arn_exact_pair)c->pair[heir] : ARN_EXACT_OPEN;
}

/* Whether buffer `b` is to be placed in the input's pool. */
static inline bool arn_exact_in_pool(const arn_exact_input *in, uint32_t b) {
    if (!arenaut_problem_needs_memory(in->problem, b)) return false;
    return !in->pool_of || in->pool_of[b] == in->pool;
}

/* Which of two buffers has the other one as its base; ARENAUT_NONE if neither. */
uint32_t arn_exact_heir_of(const arenaut_problem *problem, uint32_t a, uint32_t b);

/* Whether `heir` and its base are a pair. O(lifetimes + log edges). */
bool arn_exact_is_pair(const arn_exact_input *in, uint32_t heir);

/* Whether `a` lies in more hosts than `b` does. O(hosts of the one that has fewer). */
static inline bool arn_exact_lies_deeper(const arenaut_problem *p, uint32_t a, uint32_t b) {
    while (b != ARENAUT_NONE && a != ARENAUT_NONE) {
        a = arenaut_problem_inside(p, a);
        b = arenaut_problem_inside(p, b);
    }
    return a != ARENAUT_NONE;
}

/* The smaller of a pair, which the other one covers if they lie at one place; of equals, the one
 * that lies in more hosts, then the one with the higher number. A host covers its slices, too, so
 * that any other rule could let buffers of one size cover each other in a circle. */
static inline uint32_t arn_exact_smaller(const arenaut_problem *p, uint32_t a, uint32_t b) {
    if (p->size[a] != p->size[b]) return p->size[a] < p->size[b] ? a : b;
    if (arn_exact_lies_deeper(p, a, b)) return a;
    if (arn_exact_lies_deeper(p, b, a)) return b;
    return a > b ? a : b;
}

/* Whether two buffers interfere by their lifetimes or an edge, relations aside. O(lifetimes + log
 * edges). */
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

/* ---- groups ---- */

/* Groups: buffers of one pool that keep their distance, and so move together.
 *
 * A slice is in a group with its host. Joining a pair makes one group of two: the heir's group
 * is moved until the heir starts where its base does. Here s is a slice of h, t one of k, and t
 * is joined to its base s:
 *
 *      h [==============]                        h [==============]
 *            s [=====]           join t                s [=====]
 *                                ------>               t [===]
 *   k [=========]                                  k [=========]
 *       t [===]
 *
 * Then k lies so many bytes above h, and no other place of the group changes that: if h and k
 * overlap and are alive together, the assumption contradicts the problem. */

typedef struct arn_exact_groups {
    const arn_exact_input *in;
    arn_hosts hosts;
    uint32_t *root; /* per buffer: some buffer of its group, the same for all that are in it */
    uint32_t *next; /* the group's next buffer; after the last one comes the first again */
    uint32_t *size; /* at the root: how many there are */
    uint64_t *at;   /* bytes from an address that the group has in common, modulo 2^64 */
} arn_exact_groups;

/* Puts each slice into the group of its host, and every other buffer into one of its own.
 * Arrays are the region's. False if there is no memory. O(buffers). */
bool arn_exact_groups_make(const arn_exact_input *in, arn_region *region, arn_exact_groups *groups);

/* Joins `heir` to its base. False if that contradicts earlier joins: they are of one group already,
 * and at a distance. O(the smaller group). */
bool arn_exact_join(arn_exact_groups *groups, uint32_t heir);

/* Whether `a` may stay `distance` bytes above `b`: alignments agree with that, and the two share no
 * byte that they must not share. Any pair is allowed to be joined. */
bool arn_exact_may_keep(const arn_exact_groups *groups, uint32_t a, uint32_t b, int64_t distance);

/* ---- relations ---- */

/* The relations of a case applied to its buffers: groups that move together, and lifetimes that are
 * cut while another buffer covers them.
 *
 * A slice is in the group of its host, and a joined pair in one group. Covered bytes count once:
 * while a slice's host is alive the slice's own life adds nothing, and of a pair that is not apart
 * the smaller one is left out while the larger one is alive:
 *
 *     step     0 1 2 3 4 5 6 7
 *     host       [=======]                  host       [=======]
 *     slice    [===========]      becomes   slice    [=]       [=]
 *
 * For an open pair this is a relaxation. The rules are those of arenaut/certificate.h. */

typedef struct arn_exact_relations {
    uint32_t *root;  /* per buffer: equal for all of a group; NULL: the problem has no relations,
                      * and so are all others */
    int64_t *delta;  /* per buffer: bytes from the group's lowest one */
    uint64_t *fixed; /* per buffer: its only place; ARENAUT_UNPLACED: anywhere */
    /* Per buffer, the rest of its lifetimes: life[life_start[b] .. life_start[b + 1]). */
    uint32_t *life_start;
    arenaut_interval *life;
    bool contradictory; /* the assumptions contradict each other or the problem: there is no plan */
    bool too_large;     /* groups are too large to look at: nothing else here means anything */
} arn_exact_relations;

/* Arrays are the region's. False if there is no memory. If the input's `poll` has ended, the result
 * is incomplete. O(n log n + pairs of buffers in one group). */
bool arn_exact_find_relations(const arn_exact_case *assumed, arn_region *region,
                              arn_exact_relations *relations);

#endif
