/* Methods whose ops jump or move memory from name to name. */
#ifndef ARN_REWRITE_ORDER_FLOW_H
#define ARN_REWRITE_ORDER_FLOW_H

#include <arenaut/program.h>

#include "core/memory.h"

typedef struct arn_order_flow {
    bool *flows; /* per method: its ops jump or move */
    bool *fixed; /* per op of such a method: it stays where it is, and nothing goes past it */
} arn_order_flow;

/* `storage`: per tensor, what stands for its memory. The lists are the region's. False if there is
 * no memory. O(arguments). */
bool arn_order_flow_find(const arenaut_program *program, const uint32_t *storage,
                         arn_region *region, arn_order_flow *flow);

#endif
