/* The Pareto front of the candidates of a search: tile groups to take together, for each bound on
 * live bytes. Groups that are apart do not touch each other's cost. */
#ifndef ARN_REWRITE_SPLIT_PARETO_FRONT_H
#define ARN_REWRITE_SPLIT_PARETO_FRONT_H

#include "rewrite/split/tile_cost.h"

/* What splitting adds. */
typedef struct arn_split_price {
    int64_t kept, notes; /* as in arn_draft_cost */
    int64_t macs, ops;
} arn_split_price;

typedef struct arn_split_candidate {
    arenaut_split_stage stage;
    uint64_t peak; /* while it runs */
    arn_split_price price;
} arn_split_candidate;

/* Some of the candidates, apart and in the order of their ops. */
typedef struct arn_split_choice {
    uint64_t peak; /* of the whole program with them */
    uint64_t sum;  /* what there is to reserve, but for what splitting does not change */
    arn_split_price price;
    uint32_t first, n; /* in the front's list */
} arn_split_choice;

/* Choices, each the cheapest for what it needs: the first splits nothing, the next need less and
 * less memory for tensors, and keep more and more. */
typedef struct arn_split_front {
    arn_split_choice *choices;
    arenaut_split_stage *stages;
    uint32_t n, n_stages, capacity, stages_capacity;
    uint64_t looks; /* at ops and candidates, until it was found */
} arn_split_front;

typedef struct arn_split_field {
    const arn_split_graph *graph;
    const arenaut_split_options *options;
    uint64_t *alive;  /* per op, with nothing split */
    int64_t notes;    /* that the runtime makes while it plans the program as it is, beyond what it
                       * keeps only then */
    int64_t max_macs; /* that may be added */
    arn_split_candidate *candidates;
    uint32_t n, capacity;
} arn_split_field;

/* Of which candidates. */
typedef struct arn_split_filter {
    bool no_macs; /* none that repeats multiplications */
    bool even;    /* none of unequal pieces */
} arn_split_filter;

/* Fills the front, which may hold older choices. False if there is no memory. */
bool arn_split_find_front(const arn_split_field *field, arn_split_filter filter,
                          arn_split_front *front);
void arn_split_front_free(arn_split_front *front, const arenaut_allocator *allocator);

/* The least sum of a choice that keeps no more than `kept`. O(n). */
uint64_t arn_split_least_sum(const arn_split_front *front, int64_t kept);

/* Without choices; NULL: no memory. It owns all that is listed in it. */
arenaut_split_front *arn_split_choices_new(const arenaut_allocator *allocator);

/* Lists the choices of two fronts, of all candidates and of those that repeat no multiplications,
 * where none is nowhere better than another: as `to`'s choices, or as those of `even` pieces. False
 * if there is no memory. */
bool arn_split_choices_list(arenaut_split_front *to, const arn_split_front *all,
                            const arn_split_front *no_macs, bool even);

#endif
