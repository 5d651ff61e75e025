/* What the steps of building a model share. */
#ifndef ARN_EXACT_BUILD_H
#define ARN_EXACT_BUILD_H

#include "planners/exact/exact_model.h"
#include "planners/exact/ties.h"

/* No more list entries than this: about 80 MB with the search's own memory. */
enum { ARN_EXACT_MOST_PAIRS = 2000000 };

typedef struct arn_exact_build {
    const arn_exact_input *in;
    const arn_exact_case *assumed;
    arn_exact_model *model;
    arn_region scratch;
    arn_exact_ties ties;
    uint32_t *item; /* per buffer of the problem; ARENAUT_NONE if it is none */
    int64_t *time;  /* the moments at which something begins or ends, in order */
    uint32_t n_times;
    uint32_t *kept;                /* per moment k, how many of the moments before it are cliques */
    uint32_t *comer_start, *comer; /* per clique, the items with a span that begins there */
    int64_t highest_wall;
} arn_exact_build;

arenaut_status arn_exact_find_cliques(arn_exact_build *x, arenaut_error *err);
arenaut_status arn_exact_find_walls(arn_exact_build *x, arenaut_error *err);
arenaut_status arn_exact_too_large(const arn_exact_build *x, arenaut_error *err);

/* What is left of a buffer's life where nothing covers it. */
static inline uint32_t arn_exact_life_count(const arn_exact_build *x, uint32_t b) {
    if (!x->ties.root) return arenaut_problem_lifetime_count(x->in->problem, b);
    return x->ties.life_start[b + 1] - x->ties.life_start[b];
}
static inline const arenaut_interval *arn_exact_lives(const arn_exact_build *x, uint32_t b) {
    if (!x->ties.root) return arenaut_problem_lifetimes(x->in->problem, b);
    return x->ties.life + x->ties.life_start[b];
}
static inline uint64_t arn_exact_fixed_offset(const arn_exact_build *x, uint32_t b) {
    return x->ties.root ? x->ties.fixed[b] : arenaut_problem_fixed_offset(x->in->problem, b);
}

/* Whether what is left of two lives meets. */
bool arn_exact_lives_meet(const arn_exact_build *x, uint32_t a, uint32_t b);

/* Whether an edge between two buffers means anything: not in a group, nor between a buffer and
 * its base if it is open how these lie. */
bool arn_exact_edge_holds(const arn_exact_build *x, uint32_t a, uint32_t b);

/* Whether two buffers are in each other's way. */
bool arn_exact_conflict(const arn_exact_build *x, uint32_t a, uint32_t b);

#endif
