/* What running a method may do besides what the op that calls it says: for ops that move past that
 * one. */
#ifndef ARN_REWRITE_ORDER_CALLS_H
#define ARN_REWRITE_ORDER_CALLS_H

#include <arenaut/program.h>

#include "core/memory.h"

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

#endif
