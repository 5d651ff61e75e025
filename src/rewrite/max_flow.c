/* Maximum flow by blocking flows of level graphs (Dinic 1970): breadth-first levels from the
 * source, then a depth-first search along the levels, which remembers for each node the arcs that
 * lead nowhere. */
#include "rewrite/max_flow.h"

#include "core/checked.h"
#include "core/memory.h"

void arn_flow_network_init(arn_flow_network *network, const arenaut_allocator *allocator) {
    *network = (arn_flow_network){.allocator = arn_allocator_or_default(allocator)};
}

void arn_flow_network_free(arn_flow_network *network) {
    ARN_RELEASE(&network->allocator, network->node, network->arc);
    network->node = NULL;
    network->arc = NULL;
}

bool arn_flow_network_reserve(arn_flow_network *network, uint64_t n_nodes, uint64_t n_arcs) {
    return arn_grow(&network->allocator, (void **)&network->node, &network->node_room, n_nodes,
                    sizeof *network->node) &&
           arn_grow(&network->allocator, (void **)&network->arc, &network->arc_room, 2 * n_arcs,
                    sizeof *network->arc);
}

void arn_flow_network_clear(arn_flow_network *network, uint32_t n_nodes) {
    network->n_nodes = network->n_arcs = 0;
    network->out_of_memory = false;
    for (uint32_t i = 0; i < n_nodes; i++) arn_flow_network_add_node(network);
}

uint32_t arn_flow_network_add_node(arn_flow_network *network) {
    const uint32_t node = network->n_nodes;
    if (network->out_of_memory ||
        !arn_grow(&network->allocator, (void **)&network->node, &network->node_room,
                  (uint64_t)node + 1, sizeof *network->node)) {
        network->out_of_memory = true;
        return 0;
    }
    network->node[node].head = ARENAUT_NONE;
    return network->n_nodes++;
}

static void add_half(arn_flow_network *network, uint32_t from, uint32_t to, uint64_t residual) {
    network->arc[network->n_arcs] = (arn_flow_arc){network->node[from].head, to, residual};
    network->node[from].head = network->n_arcs++;
}

uint32_t arn_flow_network_add_arc(arn_flow_network *network, uint32_t from, uint32_t to,
                                  uint64_t capacity) {
    const uint32_t arc = network->n_arcs;
    if (network->out_of_memory ||
        !arn_grow(&network->allocator, (void **)&network->arc, &network->arc_room,
                  (uint64_t)arc + 2, sizeof *network->arc)) {
        network->out_of_memory = true;
        return 0;
    }
    add_half(network, from, to, capacity);
    add_half(network, to, from, 0);
    return arc;
}

void arn_flow_network_drain(arn_flow_network *network) {
    for (uint32_t i = 0; i < network->n_arcs; i += 2) {
        arn_flow_arc *arc = &network->arc[i];
        if (arc->residual != ARN_FLOW_UNLIMITED) arc->residual += arc[1].residual;
        arc[1].residual = 0;
    }
}

/* The level graph, by breadth-first search up to the sink, as nodes no nearer lie on no shortest
 * path; `path` is the queue. Whether the sink is reached. */
static bool find_level_graph(arn_flow_network *x) {
    uint32_t from = 0, to = 0;
    for (uint32_t i = 0; i < x->n_nodes; i++) x->node[i].level = ARENAUT_NONE;
    x->node[ARN_FLOW_SOURCE].level = 0;
    x->node[to++].path = ARN_FLOW_SOURCE;
    while (from < to && x->node[ARN_FLOW_SINK].level == ARENAUT_NONE) {
        const uint32_t node = x->node[from++].path;
        for (uint32_t i = x->node[node].head; i != ARENAUT_NONE; i = x->arc[i].next) {
            const arn_flow_arc *arc = &x->arc[i];
            x->spent++;
            if (arc->residual == 0 || x->node[arc->target].level != ARENAUT_NONE) continue;
            x->node[arc->target].level = x->node[node].level + 1;
            x->node[to++].path = arc->target;
        }
    }
    return x->node[ARN_FLOW_SINK].level != ARENAUT_NONE;
}

static bool is_admissible(const arn_flow_network *x, uint32_t node, const arn_flow_arc *arc) {
    return arc->residual > 0 && x->node[arc->target].level == x->node[node].level + 1;
}

/* Augments along the arcs of `path`; returns the number of leading arcs that are not saturated. */
static uint32_t augment(arn_flow_network *x, uint32_t n, uint64_t *flow) {
    uint64_t bottleneck = ARN_FLOW_UNLIMITED;
    uint32_t stays = n;
    for (uint32_t i = 0; i < n; i++) {
        bottleneck = arn_min_u64(bottleneck, x->arc[x->node[i].path].residual);
    }
    for (uint32_t i = n; i-- > 0;) {
        uint64_t *there = &x->arc[x->node[i].path].residual;
        uint64_t *back = &x->arc[x->node[i].path ^ 1].residual;
        if (*there != ARN_FLOW_UNLIMITED) *there -= bottleneck;
        if (*back != ARN_FLOW_UNLIMITED) *back += bottleneck;
        if (*there == 0) stays = i;
    }
    x->spent += n;
    *flow += bottleneck;
    return stays;
}

/* A blocking flow of the level graph, by depth-first search. */
static void find_blocking_flow(arn_flow_network *x, uint64_t *flow) {
    uint32_t node = ARN_FLOW_SOURCE, n = 0;
    for (uint32_t i = 0; i < x->n_nodes; i++) x->node[i].current_arc = x->node[i].head;
    for (;;) {
        if (node == ARN_FLOW_SINK) {
            n = augment(x, n, flow);
            node = n == 0 ? ARN_FLOW_SOURCE : x->arc[x->node[n - 1].path].target;
        }
        uint32_t arc = x->node[node].current_arc;
        while (arc != ARENAUT_NONE && !is_admissible(x, node, &x->arc[arc])) arc = x->arc[arc].next;
        x->spent++;
        x->node[node].current_arc = arc;
        if (arc != ARENAUT_NONE) {
            x->node[n++].path = arc;
            node = x->arc[arc].target;
        } else if (node == ARN_FLOW_SOURCE) {
            return;
        } else {
            x->node[node].level = ARENAUT_NONE;
            node = x->arc[x->node[--n].path ^ 1].target;
        }
    }
}

uint64_t arn_flow_network_solve(arn_flow_network *network) {
    uint64_t flow = 0;
    while (find_level_graph(network)) find_blocking_flow(network, &flow);
    return flow;
}
