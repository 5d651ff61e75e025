/* The constraint model of the overlap search: the buffers of one pool as points on a line, and for
 * each pair in use together the distances that it may not have (a disjunctive temporal problem:
 * Stergiou, Koubarakis 2000).
 *
 * A group is a buffer with all that lies inside it; its place is the offset of its outermost
 * buffer. Of two groups g < h in use together, delta = place(g) - place(h), and `ban` lists the
 * deltas at which some buffer of one would share a byte with one of the other unlawfully:
 *
 *      apart, g below h       forbidden             apart, g above h
 *     ----------------------[==============]-----------------------> delta
 *                          first         last
 *
 * A separation moves one of the ends inwards, a same-base relation leaves a hole of one delta, and
 * several members leave several ranges. Reserved ranges are groups at fixed places. */
#ifndef ARN_PLANNERS_OVERLAP_MODEL_H
#define ARN_PLANNERS_OVERLAP_MODEL_H

#include <arenaut/problem.h>

#include "core/memory.h"

typedef struct arn_overlap_ban {
    int64_t first, last; /* deltas, both included */
} arn_overlap_ban;

typedef struct arn_overlap_pair {
    uint32_t g, h;        /* groups, g < h */
    uint32_t ban, n_bans; /* in the model's list, in ascending order and apart */
} arn_overlap_pair;

typedef struct arn_overlap_model {
    uint32_t n; /* groups */
    uint64_t *extent, *align;
    uint64_t *fixed; /* place; ARENAUT_UNPLACED: free */
    bool *counts;    /* towards the arena: all but reserved ranges */
    uint32_t n_pairs, n_bans;
    arn_overlap_pair *pair;
    arn_overlap_ban *ban;
    uint32_t *touch_start; /* per group, its first pair in `touch`; n + 1 */
    uint32_t *touch;       /* pairs, each once for either group */
    uint32_t *group;       /* per buffer: its group; ARENAUT_NONE: it is not placed here */
    uint64_t *inner;       /* per buffer: bytes from the group's place */
    bool impossible;       /* two buffers of one group collide */
    arn_region memory;     /* of all these */
} arn_overlap_model;

/* The forbidden distances of two buffers in use together: offset(a) - offset(b) in [first, last],
 * but for 0 if there is a hole. */
typedef struct arn_overlap_forbidden {
    int64_t first, last;
    bool has_hole;
} arn_overlap_forbidden;

arn_overlap_forbidden arn_overlap_forbid(const arenaut_problem *problem, uint32_t a, uint32_t b);

enum { ARN_OVERLAP_MOST_PAIRS = 1 << 20 };

/* The buffers whose one pool is `pool`. *too_many, with an empty model, if more than
 * ARN_OVERLAP_MOST_PAIRS are in use together. Free it in any case. O(pairs + n log n). */
arenaut_status arn_overlap_model_make(const arenaut_problem *problem, uint32_t pool,
                                      const arenaut_allocator *allocator, arn_overlap_model *model,
                                      bool *too_many, arenaut_error *err);
/* A height below which all groups fit above one another. */
uint64_t arn_overlap_ample_height(const arn_overlap_model *model);

/* Places and heights of this size leave room for all sums of the search. */
#define ARN_OVERLAP_HIGHEST (UINT64_C(1) << 60)

void arn_overlap_model_free(arn_overlap_model *model);

#endif
