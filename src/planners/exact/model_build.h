/* A model under construction, and what the steps of building it ask of two buffers.
 *
 * The model is built in this order: relations, items and groups (model_make.c), cliques
 * (cliques.c), neighbours (neighbours.c), walls (walls.c), bounds (model_make.c). */
#ifndef ARN_EXACT_MODEL_BUILD_H
#define ARN_EXACT_MODEL_BUILD_H

#include "planners/exact/exact_model.h"
#include "planners/exact/relations.h"

typedef struct arn_exact_build {
    const arn_exact_input *in;
    const arn_exact_case *assumed;
    arn_exact_model *model;
    arn_region scratch; /* freed when the model is built */
    arn_exact_relations relations;
    uint32_t *item;       /* per buffer of the problem; ARENAUT_NONE if it is none */
    int64_t highest_wall; /* where the highest wall ends, in units */
} arn_exact_build;

/* What is left of a buffer's lifetimes where nothing covers it, and how many there are. */
static inline uint32_t arn_exact_life_count(const arn_exact_build *x, uint32_t b) {
    if (!x->relations.root) return arenaut_problem_lifetime_count(x->in->problem, b);
    return x->relations.life_start[b + 1] - x->relations.life_start[b];
}
static inline const arenaut_interval *arn_exact_lives(const arn_exact_build *x, uint32_t b) {
    if (!x->relations.root) return arenaut_problem_lifetimes(x->in->problem, b);
    return x->relations.life + x->relations.life_start[b];
}

/* Where a buffer must lie, in bytes, itself or with its group; ARENAUT_UNPLACED: anywhere. */
static inline uint64_t arn_exact_fixed_offset(const arn_exact_build *x, uint32_t b) {
    if (!x->relations.root) return arenaut_problem_fixed_offset(x->in->problem, b);
    return x->relations.fixed[b];
}

static inline bool arn_exact_same_group(const arn_exact_build *x, uint32_t a, uint32_t b) {
    return x->relations.root && x->relations.root[a] == x->relations.root[b];
}

/* Whether what is left of the lifetimes of two buffers has a step in common. O(lifetimes). */
bool arn_exact_lives_meet(const arn_exact_build *x, uint32_t a, uint32_t b);

/* Whether an extra edge between two buffers keeps them apart: not within a group, nor within an
 * open pair. O(1). */
bool arn_exact_edge_holds(const arn_exact_build *x, uint32_t a, uint32_t b);

/* Whether two buffers are in each other's way in this case. False, whatever is true, once the
 * input's `ask` has ended: nothing of the model is used then. O(lifetimes + log edges). */
bool arn_exact_in_the_way(const arn_exact_build *x, uint32_t a, uint32_t b);

/* Returns REFUSED, with the reason: lists would have more than ARN_EXACT_MOST_PAIRS entries. */
arenaut_status arn_exact_too_large(const arn_exact_build *x, arenaut_error *err);

#endif
