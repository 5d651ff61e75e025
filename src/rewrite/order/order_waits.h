/* What each op of a program must run after. */
#ifndef ARN_REWRITE_ORDER_ORDER_WAITS_H
#define ARN_REWRITE_ORDER_ORDER_WAITS_H

#include <arenaut/order.h>
#include <arenaut/program.h>

#include "core/memory.h"
#include "rewrite/order/order_calls.h"
#include "rewrite/order/order_cells.h"
#include "rewrite/order/order_flow.h"

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
