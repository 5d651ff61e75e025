/* Dependences between the ops of a program, and their causes: memory cells, side effects, calls and
 * control flow. */
#ifndef ARN_ANALYSIS_DEPENDENCES_H
#define ARN_ANALYSIS_DEPENDENCES_H

#include <arenaut/dialect.h>
#include <arenaut/order.h>
#include <arenaut/program.h>

#include "analysis/accesses.h"
#include "core/memory.h"

/* Byte ranges of storages that ops write independently. A tensor covers `n` cells, from `first` on;
 * tensors that share a byte share a cell. */
typedef struct arn_memory_cells {
    uint32_t *first, *n; /* per tensor */
    uint32_t n_cells;
    bool too_many; /* arguments would cover more cells than are tracked: one cell per storage */
} arn_memory_cells;

/* False if there is no memory. */
bool arn_memory_cells_find(const arenaut_program *program, const uint32_t *storage,
                           arn_region *region, arn_memory_cells *cells);

/* Effects of running a method beyond the operands and results of the calling op. */
typedef struct arn_call_effects {
    uint32_t *callees_first; /* all methods in topological order, callees before callers */
    bool *writes;            /* per method: it or a callee may write a captured tensor */
    bool *shares;            /* likewise: it accesses state, or memory of another method that is no
                              * argument of the call */
} arn_call_effects;

typedef struct arn_control_flow {
    bool *jumps;  /* per method: it has jumps or moves */
    bool *pinned; /* per op of such a method: it keeps its position, and no op moves across it */
} arn_control_flow;

typedef struct arn_dependences {
    const arenaut_program *program;
    const arenaut_dialect *dialect;
    arn_call_effects calls;
    arn_control_flow flow;
    arenaut_order_dependence *list; /* sorted by the dependent op, method by method */
    uint32_t n;
    bool *rewritten; /* per tensor: its memory is defined more than once */
    /* While they are found. */
    uint32_t *storage; /* per tensor: the tensor that owns its memory; n_tensors: named state */
    uint32_t *maker;   /* per tensor: the op that defines it, or its alias; NONE: none */
    arn_memory_cells cells;
    arn_accesses accesses; /* to cells */
    uint32_t *used_by;     /* per cell: the method of these ops; NONE: none yet */
    uint32_t last_effect;  /* the last op with side effects */
    uint32_t last_pinned;  /* the last pinned op */
} arn_dependences;

/* All lists are the region's. False if there is no memory. O(arguments + dependences). */
bool arn_dependences_find(const arenaut_program *program, arn_region *region,
                          arn_dependences *dependences);

/* Whether an op may have side effects, or results that depend on when it runs: random numbers,
 * tables, resources, unknown operators. */
bool arn_has_side_effects(const arenaut_program *program, const arenaut_op *op);

/* Whether an op that calls nothing may write this operand: updates write those that they update;
 * delegates and operators of unknown libraries may any, if it is no constant. */
bool arn_may_write(const arenaut_program *program, const arenaut_op *op, uint32_t operand);

/* Whether an op is of an unknown library, which may write its operands. */
bool arn_is_foreign(const arenaut_program *program, const arenaut_op *op);

/* The number of ops that are kept in sequence only because their operators are unknown. O(ops). */
uint32_t arn_order_count_held(const arenaut_program *program);

#endif
