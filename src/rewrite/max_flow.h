/* Maximum flow and minimum cut (Dinic 1970) of a network that is built arc by arc. O(V² E) at
 * worst, near linear on graphs of models. */
#ifndef ARN_REWRITE_MAX_FLOW_H
#define ARN_REWRITE_MAX_FLOW_H

#include <stdbool.h>
#include <stdint.h>

#include <arenaut/allocator.h>
#include <arenaut/problem.h>

enum { ARN_FLOW_SOURCE, ARN_FLOW_SINK, ARN_FLOW_FIRST_NODE };

#define ARN_FLOW_UNLIMITED UINT64_MAX /* a capacity that no flow uses up */

typedef struct arn_flow_node {
    uint32_t head, level, current_arc, path;
} arn_flow_node;

typedef struct arn_flow_arc {
    uint32_t next, target;
    uint64_t residual;
} arn_flow_arc;

typedef struct arn_flow_network {
    arenaut_allocator allocator;
    arn_flow_node *node;
    arn_flow_arc *arc; /* in pairs: i ^ 1 is the reverse arc of i */
    uint32_t n_nodes, n_arcs, node_room, arc_room;
    bool out_of_memory; /* nodes or arcs are missing */
    uint64_t spent;     /* effort: steps of the search for augmenting paths, of all solutions */
} arn_flow_network;

/* Without nodes or arcs. NULL: the C library's allocator. */
void arn_flow_network_init(arn_flow_network *network, const arenaut_allocator *allocator);
void arn_flow_network_free(arn_flow_network *network);

/* Makes room, so that as many nodes and arcs (each with its reverse one) can be added without fail.
 * False if there is no memory. */
bool arn_flow_network_reserve(arn_flow_network *network, uint64_t n_nodes, uint64_t n_arcs);

/* Takes all arcs away, and leaves `n_nodes`, of which the first two are source and sink. */
void arn_flow_network_clear(arn_flow_network *network, uint32_t n_nodes);

/* Returns the number of the node, of the arc; meaningless once `out_of_memory` is set. */
uint32_t arn_flow_network_add_node(arn_flow_network *network);
uint32_t arn_flow_network_add_arc(arn_flow_network *network, uint32_t from, uint32_t to,
                                  uint64_t capacity);

/* Takes all flow back; then gives an arc another capacity. */
void arn_flow_network_drain(arn_flow_network *network);
static inline void arn_flow_network_set(arn_flow_network *network, uint32_t arc,
                                        uint64_t capacity) {
    network->arc[arc].residual = capacity;
}

/* Sends as much as can be, and returns it: the capacity of a minimum cut. A cut with unlimited arcs
 * alone is no input. */
uint64_t arn_flow_network_solve(arn_flow_network *network);

/* Whether the node is on the source's side of the minimum cut with the fewest nodes there. */
static inline bool arn_flow_is_reached(const arn_flow_network *network, uint32_t node) {
    return network->node[node].level != ARENAUT_NONE;
}

/* The flow along an arc that was added. */
static inline uint64_t arn_flow_along(const arn_flow_network *network, uint32_t arc) {
    return network->arc[arc ^ 1].residual;
}

#endif
