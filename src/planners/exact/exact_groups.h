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
#ifndef ARN_EXACT_GROUPS_H
#define ARN_EXACT_GROUPS_H

#include "core/memory.h"
#include "planners/bounds/hosts.h"
#include "planners/exact/case.h"

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

/* Joins `heir` to its base. False if that contradicts what was joined before: they are of one
 * group already, and at a distance. O(the smaller group). */
bool arn_exact_join(arn_exact_groups *groups, uint32_t heir);

/* Whether `a` may lie `distance` bytes above `b` for good: alignments agree with that, and the
 * two share no byte that they must not share. Any pair is allowed to be joined. */
bool arn_exact_may_keep(const arn_exact_groups *groups, uint32_t a, uint32_t b, int64_t distance);

#endif
