/* Constraint search (backtracking with propagation): places the groups of a model below a given
 * height, or proves that it cannot be done.
 *
 * Each group has a range of places that are still possible, each pair a range of deltas. Bounds are
 * propagated between the two until nothing moves; then a pair with a delta that may lie above or
 * below a ban is decided one way, and later the other. Once no pair is open, every group at the
 * lowest place of its range is a plan: only difference constraints are left, and their least
 * solution meets them all.
 *
 * The pair with the least slack is decided first (C. C. Cheng, S. F. Smith, "Generating feasible
 * schedules under complex metric constraints", AAAI 1994). */
#ifndef ARN_PLANNERS_OVERLAP_SEARCH_H
#define ARN_PLANNERS_OVERLAP_SEARCH_H

#include <arenaut/error.h>
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

typedef enum arn_overlap_answer {
    ARN_OVERLAP_FOUND,
    ARN_OVERLAP_NONE,    /* proven */
    ARN_OVERLAP_STOPPED, /* nothing is known */
} arn_overlap_answer;

/* The caller's effort budget and proof callbacks. */
typedef struct arn_overlap_host {
    const arenaut_allocator *allocator;
    uint64_t effort;
    /* Counts `steps` of effort; false: stop. */
    bool (*spend)(void *context, uint64_t steps);
    /* NULL, or the callbacks of a proof, in its order: a pair's delta is at least so much, and
     * later it is less (`split`); or, once for each of the two unless it is split again, nothing is
     * left (`close`). */
    void (*split)(void *context, uint32_t pair, int64_t delta);
    void (*close)(void *context);
    void *context;
} arn_overlap_host;

/* Looks for places with all groups that count below `height`. On FOUND place[g] is each group's.
 * ARENAUT_NO_MEMORY or OK. */
arenaut_status arn_overlap_search(const arn_overlap_model *model, uint64_t height,
                                  const arn_overlap_host *host, uint64_t *place,
                                  arn_overlap_answer *answer, arenaut_error *err);

#endif
