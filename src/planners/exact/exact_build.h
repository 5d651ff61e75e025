/* A model under construction: the steps of building it (exact_model.c, exact_sections.c), and their
 * questions about two buffers. */
#ifndef ARN_PLANNERS_EXACT_EXACT_BUILD_H
#define ARN_PLANNERS_EXACT_EXACT_BUILD_H

#include "planners/exact/exact_model.h"
#include "planners/exact/exact_case.h"

typedef struct arn_exact_build {
    const arn_exact_input *in;
    const arn_exact_case *assumed;
    arn_exact_model *model;
    arn_region scratch; /* freed when the model is built */
    arn_exact_relations relations;
    uint32_t *item;       /* per buffer of the problem; ARENAUT_NONE if it is none */
    int64_t highest_wall; /* end of the highest wall, in units */
} arn_exact_build;

/* The lifetimes of a buffer while nothing covers it, and their number. */
static inline uint32_t arn_exact_life_count(const arn_exact_build *x, uint32_t b) {
    if (!x->relations.root) return arenaut_problem_lifetime_count(x->in->problem, b);
    return x->relations.life_start[b + 1] - x->relations.life_start[b];
}
static inline const arenaut_interval *arn_exact_lives(const arn_exact_build *x, uint32_t b) {
    if (!x->relations.root) return arenaut_problem_lifetimes(x->in->problem, b);
    return x->relations.life + x->relations.life_start[b];
}

/* Whether the remaining lifetimes of two buffers have a step in common. O(lifetimes). */
bool arn_exact_lives_meet(const arn_exact_build *x, uint32_t a, uint32_t b);

/* Whether an extra edge between two buffers keeps them apart: not within a group, nor within an
 * open pair. O(1). */
bool arn_exact_edge_holds(const arn_exact_build *x, uint32_t a, uint32_t b);

/* Whether two buffers interfere in this case. False, whatever is true, once the input's `poll` has
 * ended: nothing of the model is used then. O(lifetimes + log edges). */
bool arn_exact_interfere(const arn_exact_build *x, uint32_t a, uint32_t b);

/* Returns REFUSED, with the reason: lists would have more than ARN_EXACT_MOST_PAIRS entries. */
arenaut_status arn_exact_too_large(const arn_exact_build *x, arenaut_error *err);

/* Fills in the model's cliques, spans and members, and whether it is plain or can be cut in
 * this respect. Needs the items. STOPPED if the input's `poll` ended; REFUSED: too large;
 * NO_MEMORY. */
arenaut_status arn_exact_find_cliques(arn_exact_build *x, arenaut_error *err);

/* Lists each item's neighbours in the interference graph: the items that share a clique with it,
 * and no group. Needs the cliques and groups. STOPPED if the input's `poll` ended; REFUSED: too
 * large; NO_MEMORY. */
arenaut_status arn_exact_find_neighbours(arn_exact_build *x, arenaut_error *err);

/* Finds for each item the last one before it that is exactly alike: exchanging the two changes
 * nothing. Needs the walls. False if there is no memory. */
bool arn_exact_find_alike(arn_exact_build *x);

#endif
