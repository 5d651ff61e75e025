/* The cost of a draft, and the choices of tile groups that are best by it. It has memory while ops
 * run, bytes that the runtime keeps of them, multiplications; and the kernels' answers that it
 * depends on. A group can be costed by itself: tensors live through it are so whatever becomes of
 * other groups. */
#ifndef ARN_REWRITE_SPLIT_TILE_COST_H
#define ARN_REWRITE_SPLIT_TILE_COST_H

#include <arenaut/kernels.h>

#include "rewrite/split/tiled_draft.h"

typedef struct arn_draft_answer {
    uint64_t question; /* hash of the op's form and the kind of question; 0: the place is free */
    uint64_t bytes;
} arn_draft_answer;

typedef struct arn_draft_kernels {
    const arenaut_allocator *allocator;
    const arenaut_split_options *options;
    arn_draft_answer *answers; /* by question, open addressing */
    uint32_t n, capacity;      /* a power of two, or 0 */
    uint64_t steps_left;       /* of kernels, to be followed */
    arenaut_tensor *tensors;   /* arguments of the op at work */
    uint32_t *ids;             /* likewise */
    arenaut_attribute *attributes;
    uint32_t tensors_capacity, ids_capacity, attributes_capacity;
    bool failed; /* no memory */
} arn_draft_kernels;

arn_draft_kernels arn_draft_kernels_begin(const arenaut_allocator *allocator,
                                          const arenaut_split_options *options);
void arn_draft_kernels_free(arn_draft_kernels *kernels);

/* The least distance from the result's begin to the operand's, never below 0; ARENAUT_SIZE_MAX: the
 * result must not touch that operand. The op has one result. */
uint64_t arn_draft_distance(arn_draft_kernels *kernels, const arn_draft *draft,
                            const arn_draft_op *op, uint32_t input);

/* Bytes that the runtime keeps of an op as long as it lives. */
uint64_t arn_draft_kept(arn_draft_kernels *kernels, const arn_draft *draft, const arn_draft_op *op);
/* The same of an op that calls a method. */
uint64_t arn_draft_kept_of_call(const arn_draft_kernels *kernels);

/* Ops [first, end) of the program before. */
typedef struct arn_op_range {
    uint32_t first, end;
} arn_op_range;

typedef struct arn_draft_cost {
    uint64_t macs;
    int64_t kept;  /* by the runtime, of ops, and of tensors that the program had not */
    int64_t notes; /* that the runtime makes while it plans, of those tensors */
    uint32_t n_ops;
} arn_draft_cost;

typedef struct arn_costing {
    const arn_tile_graph *graph;
    const arenaut_split_options *options;
    arn_draft_kernels kernels;
    uint32_t *first_use;    /* per tensor of the program: the first op with it as an argument */
    uint32_t *first, *last; /* per tensor of the draft: its ops; first NONE: not seen */
    uint32_t *seen;         /* tensors of the draft */
    uint32_t *mark;         /* per tensor of the draft: for which method it was counted */
    int64_t *change;        /* per op of the draft */
    uint32_t first_capacity, last_capacity, seen_capacity, mark_capacity, change_capacity;
    bool failed; /* no memory */
} arn_costing;

arn_costing arn_costing_begin(const arn_tile_graph *graph, const arenaut_split_options *options);
void arn_costing_free(arn_costing *costing);

/* Bytes of a tensor of the program in the arena, rounded. */
uint64_t arn_tile_bytes(const arn_tile_graph *graph, uint32_t tensor);

/* Bytes that the kernel of an op asks for while it runs, as far as that is known. */
uint64_t arn_tile_scratch(const arn_costing *costing, uint32_t op);

/* Bytes of tensors that are live before a range, and behind it, too. O(tensors). */
uint64_t arn_tile_live_through(const arn_tile_graph *graph, arn_op_range range);

/* The peak of live bytes of a draft of a range, with `live_through` bytes through it, as the
 * runtime rounds them, if results reach into operands as far as kernels allow. False if there is no
 * memory. Most drafts need too much, so that this is asked first, and of few the rest. */
bool arn_draft_peak_of(arn_costing *costing, const arn_draft *draft, arn_op_range range,
                       uint64_t live_through, uint64_t *peak);
/* The rest, once the draft's constants are shared. */
bool arn_draft_cost_of(arn_costing *costing, const arn_draft *draft, arn_op_range range,
                       arn_draft_cost *cost);

/* Multiplications of a draft. */
uint64_t arn_draft_macs(const arn_draft *draft);

/* ---- Pareto front ---- */

/* The Pareto front of the candidates of a search: tile groups to take together, for each bound on
 * live bytes. Groups that are apart do not touch each other's cost. */

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
