/* A rematerialization problem as a graph: operands and results of ops, readers of storages, and the
 * gaps between uses of one. Ops run first in the order of their numbers, which are positions. */
#ifndef ARN_REWRITE_REMAT_GRAPH_H
#define ARN_REWRITE_REMAT_GRAPH_H

#include <arenaut/rematerialization.h>

#include "core/memory.h"

/* Of all sizes, and of all costs: prices and flows are counted in 64 bits, with a sign. */
#define ARN_REMAT_LARGEST_SUM UINT64_C(2305843009213693951)

/* Lists of numbers, one after another: those of i are ids[begin[i]] up to ids[begin[i + 1]]. */
typedef struct arn_remat_lists {
    uint32_t *begin, *ids;
} arn_remat_lists;

/* Between two uses of a storage, at positions `from` and `to`. The tail is behind the last use:
 * only runs that are repeated read it there, the last of them for the op at `to`. */
typedef struct arn_remat_gap {
    uint32_t storage, from, to;
    bool tail;
} arn_remat_gap;

typedef struct arn_remat_graph {
    const arenaut_remat_problem *problem;
    arn_remat_lists reads, makes; /* of an op: storages, each once */
    arn_remat_lists readers;      /* of a storage: ops, ascending */
    arn_remat_lists uses;         /* of an op: reads of the problem */
    arn_remat_lists rights;       /* of an op */
    arn_remat_lists tails;        /* of an op: gaps that are tails and end there */
    uint32_t *first, *last;       /* per storage: positions of its uses; NONE: it has none */
    uint32_t *gap_begin;          /* per storage: its gaps are these, up to those of the next */
    arn_remat_gap *gaps;
    uint32_t n_gaps;
    uint32_t *gap_at, *gap_behind; /* per entry of `reads`: the storage's gap at the op's position,
                                    * and right behind it; NONE */
    bool *solid;      /* per storage: there is only one instance, from the first use to the last */
    bool *deferrable; /* per op: its first run may be later, right before that of a reader */
    uint64_t base;    /* costs of all ops */
} arn_remat_graph;

/* All lists are the region's. */
arenaut_status arn_remat_graph_make(const arenaut_remat_problem *problem, arn_region *region,
                                    arn_remat_graph *graph, arenaut_error *err);

/* The gap of a storage at a position; NONE. O(log(its gaps)). */
uint32_t arn_remat_gap_at(const arn_remat_graph *graph, uint32_t storage, uint32_t at);

/* Whether `op` may be repeated right before the op at position `at` runs first. */
static inline bool arn_remat_may_repeat(const arenaut_remat_problem *p, uint32_t op, uint32_t at) {
    const uint32_t until = p->until ? p->until[op] : ARENAUT_NONE;
    return until == ARENAUT_NONE || (until != op && at <= until);
}

static inline bool arn_remat_held(const arenaut_remat_problem *p, uint32_t s, uint32_t when) {
    return p->held && (p->held[s] & when) != 0;
}

/* Bytes that the op's storages may let count once while it runs, at most. */
uint64_t arn_remat_shared(const arn_remat_graph *graph, uint32_t op);

/* Of all storages that the op makes. */
uint64_t arn_remat_bytes_made(const arn_remat_graph *graph, uint32_t op);

static inline uint64_t arn_remat_scratch(const arenaut_remat_problem *p, uint32_t op) {
    return p->scratch ? p->scratch[op] : 0;
}

#endif
