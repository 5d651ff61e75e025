/* The Pareto front of the candidates of a search: tile groups to take together, for each bound on
 * live bytes. Groups that are apart do not touch each other's cost. */
#ifndef ARN_REWRITE_SPLIT_PARETO_FRONT_H
#define ARN_REWRITE_SPLIT_PARETO_FRONT_H

#include "rewrite/split/tile_cost.h"

/* The cost that tiling adds. */
typedef struct arn_tile_price {
    int64_t kept, notes; /* as in arn_draft_cost */
    int64_t macs, ops;
} arn_tile_price;

typedef struct arn_tile_candidate {
    arenaut_split_stage group;
    uint64_t peak; /* of live bytes while it runs */
    arn_tile_price price;
} arn_tile_candidate;

/* Some of the candidates, apart and in the order of their ops. */
typedef struct arn_tile_choice {
    uint64_t peak; /* of the whole program with them */
    uint64_t sum;  /* bytes to reserve, but for a part that tiling does not change */
    arn_tile_price price;
    uint32_t first, n; /* in the front's list */
} arn_tile_choice;

/* Choices, each the cheapest for its peak: the first tiles nothing; the peaks of the next fall, and
 * the bytes that the runtime keeps rise. */
typedef struct arn_tile_front {
    arn_tile_choice *choices;
    arenaut_split_stage *groups;
    uint32_t n, n_groups, capacity, groups_capacity;
    uint64_t visits; /* of ops and candidates, until it was found */
} arn_tile_front;

typedef struct arn_search_space {
    const arn_tile_graph *graph;
    const arenaut_split_options *options;
    uint64_t *live; /* per op, nothing tiled */
    int64_t notes; /* bytes that the runtime needs while it plans the program as it is, beyond those
                    * that it keeps only then */
    int64_t max_macs; /* that may be added */
    arn_tile_candidate *candidates;
    uint32_t n, capacity;
} arn_search_space;

/* Candidates of a front. */
typedef struct arn_tile_filter {
    bool no_macs; /* none that repeats multiplications */
    bool even;    /* none of unequal tiles */
} arn_tile_filter;

/* Fills the front, which may hold older choices. False if there is no memory. */
bool arn_tile_front_find(const arn_search_space *space, arn_tile_filter filter,
                         arn_tile_front *front);
void arn_tile_front_free(arn_tile_front *front, const arenaut_allocator *allocator);

/* The least sum of a choice that keeps no more than `kept`. O(n). */
uint64_t arn_tile_least_sum(const arn_tile_front *front, int64_t kept);

/* Without choices; NULL: no memory. It owns its lists. */
arenaut_split_front *arn_tile_choices_new(const arenaut_allocator *allocator);

/* Lists the choices of two fronts, of all candidates and of those that repeat no multiplications,
 * without dominated ones: as `to`'s choices, or as those of `even` tiles. False if there is no
 * memory. */
bool arn_tile_choices_list(arenaut_split_front *to, const arn_tile_front *all,
                           const arn_tile_front *no_macs, bool even);

#endif
