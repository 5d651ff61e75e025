/* An order problem, ready to be walked in either direction. Looked at from the back, waits point
 * the other way, what is held before is held after, and what is made is written over. */
#ifndef ARN_REWRITE_ORDER_GRAPH_H
#define ARN_REWRITE_ORDER_GRAPH_H

#include <stdbool.h>

#include <arenaut/order.h>

/* Lists of numbers, one after another: those of i are ids[begin[i]] up to ids[begin[i + 1]]. */
typedef struct arn_order_lists {
    uint32_t *begin, *ids;
} arn_order_lists;

typedef struct arn_order_graph {
    const arenaut_order_problem *problem;
    bool backward;
    uint32_t n_ops, n_buffers;
    const uint64_t *size;        /* per buffer */
    uint8_t *held;               /* per buffer */
    arn_order_lists uses, users; /* of an op its buffers; of a buffer its ops; each once */
    arn_order_lists first, next; /* of an op those that it waits for, and that wait for it */
    arn_order_lists rights;      /* of an op: its rights */
    arn_order_lists made_by;     /* of a buffer: ops that may write it over another one */
    arenaut_order_right *right;
    arenaut_allocator allocator;
} arn_order_graph;

/* On failure there is nothing to free. */
arenaut_status arn_order_graph_make(const arenaut_order_problem *problem, bool backward,
                                    const arenaut_allocator *allocator, arn_order_graph *graph,
                                    arenaut_error *err);
void arn_order_graph_free(arn_order_graph *graph);

/* Whether indices are in range, sizes can be added, and the order of numbers keeps the waits. */
arenaut_status arn_order_validate(const arenaut_order_problem *problem, arenaut_error *err);

#endif
