/* Minimum cut at the first run of an op: operands of later ops are live by then, at a price for
 * each byte, or rematerialized later, at a price for each nanosecond. Cuts at several first runs
 * make a chain (remat_chain.h). */
#ifndef ARN_REWRITE_REMAT_CUT_H
#define ARN_REWRITE_REMAT_CUT_H

#include "core/budget.h"
#include "rewrite/max_flow.h"
#include "rewrite/rematerialize/remat_graph.h"

/* When ops run first, seen from the first run of one of them. */
typedef enum arn_remat_when { ARN_REMAT_ANY, ARN_REMAT_BEFORE, ARN_REMAT_AFTER } arn_remat_when;

/* Of a storage at that run, in one case of a proof: nothing, or that it is alive or is not. */
typedef enum arn_remat_assumed {
    ARN_REMAT_OPEN,
    ARN_REMAT_ALIVE,
    ARN_REMAT_GONE
} arn_remat_assumed;

typedef struct arn_remat_cut {
    const arn_remat_graph *graph;
    arn_budget *budget;
    arn_remat_lists first, next; /* of an op: those that run first before it, or behind it */
    uint32_t op;                 /* the one that is looked at */
    uint64_t own;                /* bytes that are alive in any case while it runs */
    uint64_t whole, shared;      /* the same, and how many of them plans may let count once */
    bool open;        /* results that are live out need not be alive unless they are read */
    uint8_t *when;    /* per op: arn_remat_when */
    bool *free_now;   /* per storage: it is alive in any case */
    uint8_t *assumed; /* per storage: arn_remat_assumed */
    uint32_t *stack;
    arn_flow_network network;
    uint32_t version;          /* of what decides which arcs there are */
    uint32_t built, built_for; /* the network's version, and that of the later cut then: another
                                * later cut comes with another version of this one */
    uint32_t *read_of;         /* per arc and its reverse one: the read that they stand for; NONE */
    uint32_t *again_arc;       /* per op: the arc of a repetition; NONE */
    uint32_t *alive_arc;       /* per storage: its arc; NONE */
    const struct arn_remat_cut *later; /* at the first run of an op that this one precedes: what
                                        * runs behind that does not matter here; NULL: the end */
    uint64_t *hand;        /* with `later`, per storage: price of not being there by then, if the
                            * other cut has it alive */
    uint32_t *hand_arc;    /* per storage: of flow that begins there for the later op; NONE */
    const uint64_t *extra; /* per storage: price of being alive beside that of its bytes; NULL: 0 */
    uint64_t unit;         /* storages count as multiples of so many bytes, rounded down */
    uint64_t flow;
    uint64_t cut_cost, cut_bytes; /* of the minimum cut */
} arn_remat_cut;

/* Lists are the region's, but for the network. */
bool arn_remat_cut_make(const arn_remat_graph *graph, const arenaut_allocator *allocator,
                        arn_region *region, arn_budget *budget, arn_remat_cut *cut);
void arn_remat_cut_free(arn_remat_cut *cut); /* after make, or zero-initialised */

/* Looks at the first run of `op`; nothing is assumed. */
void arn_remat_cut_at(arn_remat_cut *cut, uint32_t op);

/* Whether the two cases of a storage may be told apart: its maker may be repeated, and it may be
 * alive or not. */
bool arn_remat_cut_splits(const arn_remat_cut *cut, uint32_t storage);

/* Assumes one of the two. */
void arn_remat_cut_assume(arn_remat_cut *cut, uint32_t storage, arn_remat_assumed assumed);

/* Whether results that are live out need not be alive unless they are read. */
void arn_remat_cut_leave_open(arn_remat_cut *cut, bool open);

/* Finds the largest flow, and the cut, at these prices. */
void arn_remat_cut_find(arn_remat_cut *cut, uint64_t byte_price, uint64_t time_price);

/* Bytes of a storage as the cut counts them. */
static inline uint64_t arn_remat_cut_size(const arn_remat_cut *cut, uint32_t storage) {
    return cut->graph->problem->size[storage] / cut->unit * cut->unit;
}

/* Bytes beside those that the op needs in any case, as the cut counts them; no more than 0 if
 * these are too many. */
static inline int64_t arn_remat_cut_left(const arn_remat_cut *cut, uint64_t budget) {
    if (cut->own > budget) return -(int64_t)(cut->own - budget);
    return (int64_t)((budget - cut->own) / cut->unit * cut->unit);
}

/* Whether a storage may be alive both at this run and at the later one, and neither in any case. */
bool arn_remat_cut_hands(const arn_remat_cut *cut, uint32_t storage);

/* Whether the cut has a storage alive at this run, or made again before the later one. */
bool arn_remat_cut_provides(const arn_remat_cut *cut, uint32_t storage);

/* The flow that begins at a storage because it is alive at the later run, or may be. */
uint64_t arn_remat_cut_handed(const arn_remat_cut *cut, uint32_t storage);

/* The flow per read of the problem. */
void arn_remat_cut_flow(const arn_remat_cut *cut, uint64_t *flow);

/* Whether the cut has a storage made again rather than kept alive at that run. */
bool arn_remat_cut_drops(const arn_remat_cut *cut, uint32_t storage);

/* Whether a storage is alive at that run, by the cut or in any case. */
bool arn_remat_cut_keeps(const arn_remat_cut *cut, uint32_t storage);

#endif
