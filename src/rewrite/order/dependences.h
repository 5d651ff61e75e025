/* Dependences between the ops of a program: what each op must run after. */
#ifndef ARN_REWRITE_ORDER_DEPENDENCES_H
#define ARN_REWRITE_ORDER_DEPENDENCES_H

#include <arenaut/order.h>
#include <arenaut/program.h>

#include "core/memory.h"

/* Which ops may do more than compute their results. */

/* Whether an op may do more than compute its results from its operands, or compute others when it
 * runs earlier or later: random numbers, tables, resources, and what no list knows. */
bool arn_order_has_effects(const arenaut_program *program, const arenaut_op *op);

/* Whether an op is of a library that nobody here knows ("llama::update_cache.out"): such kernels
 * have been seen to write what they are given to read. */
bool arn_order_is_foreign(const arenaut_program *program, const arenaut_op *op);

/* How many ops keep their order among those that have effects for the only reason that nothing is
 * known of an operator of that name. Linear in the ops. */
uint32_t arn_order_count_held(const arenaut_program *program);

/* The parts of memory that ops write apart from one another. */

/* A tensor takes `n` cells, from `first` on; tensors that share a byte share a cell. */
typedef struct arn_order_cells {
    uint32_t *first, *n; /* per tensor */
    uint32_t n_cells;
    bool too_many; /* arguments would take more cells than are followed: each storage is one */
} arn_order_cells;

/* `storage`: per tensor, the one that stands for its memory, or n_tensors for what methods share.
 * The lists are the region's. False if there is no memory. O(n log n + arguments). */
bool arn_order_cells_find(const arenaut_program *program, const uint32_t *storage,
                          arn_region *region, arn_order_cells *cells);

/* What running a method may do besides what the op that calls it says: for ops that move past that
 * one. */

typedef struct arn_order_calls {
    uint32_t *callees_first; /* all methods, each behind those that its ops call */
    bool *writes;            /* per method: its ops, or those of its callees, may write what it
                              * captures */
    bool *shares;            /* likewise: they name state, or memory of another method that the op
                              * which calls it does not list */
} arn_order_calls;

/* The lists are the region's. False if there is no memory. O(arguments). */
bool arn_order_calls_find(const arenaut_program *program, arn_region *region,
                          arn_order_calls *calls);

static inline bool arn_order_calls_any(const bool *facts, const arenaut_op *op) {
    bool any = false;
    for (uint32_t i = 0; i < op->n_calls; i++) any = any || facts[op->calls[i]];
    return any;
}

/* Methods whose ops jump or move memory from name to name. */

typedef struct arn_order_flow {
    bool *flows; /* per method: its ops jump or move */
    bool *fixed; /* per op of such a method: it stays where it is, and nothing goes past it */
} arn_order_flow;

/* `storage`: per tensor, what stands for its memory. The lists are the region's. False if there is
 * no memory. O(arguments). */
bool arn_order_flow_find(const arenaut_program *program, const uint32_t *storage,
                         arn_region *region, arn_order_flow *flow);

/* What each op of a program must run after. */

typedef struct arn_order_waits {
    const arenaut_program *program;
    arn_order_calls calls;
    arn_order_flow flow;
    arenaut_order_wait *list; /* by the ops that wait, method by method */
    uint32_t n;
    bool *anew; /* per tensor: its memory is written anew, not in place */
    /* While they are found. */
    uint32_t
        *storage;    /* per tensor: the tensor that stands for its memory; n_tensors: named state */
    uint32_t *maker; /* per tensor: the op that made it, or gave it this name; NONE: none */
    arn_order_cells cells;
    uint32_t *writer;                /* per cell: the last op that wrote there; NONE: none */
    uint32_t *reader;                /* per cell: the last read since then; NONE: none */
    uint32_t *read_by, *read_before; /* per read: its op, and the read before it */
    uint32_t *used_by; /* per cell: the method whose ops these are; NONE: none has used it */
    uint32_t n_reads;
    uint32_t last_effect; /* the last op that may do more than compute its results */
    uint32_t fixed;       /* the last one that keeps its place */
} arn_order_waits;

/* All lists are the region's. False if there is no memory. */
bool arn_order_waits_find(const arenaut_program *program, arn_region *region,
                          arn_order_waits *waits);

#endif
