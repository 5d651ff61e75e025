/* First fit and best fit over an order: the kernel of the list-based planners.
 *
 * Placed spans lie in lists sorted by address, one per pool and band of time. To place a group, the
 * spans that are alive together with it are passed from low to high, and the group goes into a gap
 * between them, or on top; no pairs are stored. Most spans that are not alive then are skipped, as
 * are stretches without gaps (spans.h).
 *
 * All constraints of a problem are kept: alignment, several lifetimes, pools and their
 * capacities, fixed offsets, same-base and inside relations, conflict edges, reserved
 * ranges, hints. */
#ifndef ARN_PLANNERS_PLACING_PLACING_H
#define ARN_PLANNERS_PLACING_PLACING_H

#include "planners/placing/buffer_groups.h"
#include "planners/run/poll.h"
#include "ir/cost.h"

typedef enum arn_fit {
    ARN_FIRST_FIT, /* the lowest gap */
    ARN_BEST_FIT,  /* the smallest gap, the lowest of equals */
    ARN_HIGH_FIT,  /* the smallest gap, the highest of equals */
    ARN_ARENA_FIT, /* as best fit, measured as one runtime does it: see one_pass.c */
    ARN_ON_TOP,    /* above all that is alive at the same time */
} arn_fit;

typedef struct arn_rules {
    arn_fit fit;
    bool share;        /* use same-base relations */
    bool keep_hints;   /* a group goes to its earlier place if it can */
    bool least_growth; /* of several pools take the one that grows least, not the first */
} arn_rules;

typedef struct arn_placing arn_placing;

/* The same state serves many runs. NULL if there is no memory. `groups` is borrowed. */
arn_placing *arn_placing_new(const arn_groups *groups, const arenaut_allocator *allocator);
void arn_placing_free(arn_placing *placing);

/* Takes all groups away again. `poll` is polled from now on: a False below may be because it ended.
 * It may be NULL. */
void arn_placing_clear(arn_placing *placing, arn_poll *poll);

/* Finds the place of `group`. False if it fits in none of its pools. A fixed group goes to its
 * offset without a look: overlaps of fixed groups are found elsewhere. `found` is the earlier
 * answer for the group, when less was placed, or 0: first fit then need not look for gaps below. */
bool arn_placing_find(arn_placing *placing, uint32_t group, arn_rules rules, uint64_t found,
                      uint32_t *pool, uint64_t *offset);
void arn_placing_put(arn_placing *placing, uint32_t group, uint32_t pool, uint64_t offset);

/* Both in one. */
bool arn_placing_place(arn_placing *placing, uint32_t group, arn_rules rules);

/* Whether a False above was for want of memory. Stays true until cleared. */
bool arn_placing_out_of_memory(const arn_placing *placing);

/* Of a group that has been placed. */
uint64_t arn_placing_offset(const arn_placing *placing, uint32_t group);

/* The effort since the last call: one, and one more for every few hundred spans that were looked
 * at. */
uint64_t arn_placing_effort(arn_placing *placing);

/* The cost as it is now: the spill, and the sum of the arenas. */
arenaut_cost arn_placing_cost(const arn_placing *placing);

/* Writes the places of all groups as places of buffers; the rest is left alone. */
void arn_placing_export(const arn_placing *placing, uint32_t *pool, uint64_t *offset);

#endif
