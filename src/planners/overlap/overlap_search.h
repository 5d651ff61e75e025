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

#include "planners/overlap/overlap_model.h"

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
