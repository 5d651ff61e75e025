/* Minimum cut of live bytes by push–relabel maximum flow (Goldberg & Tarjan 1988), first in first
 * out, with global relabeling. Source and sink stand for executed and remaining ops. Each buffer
 * that may be live or not is an arc between two nodes: one is on the side of the source once any of
 * its users is, the other once all are. */
#include "check/rewrite/order_min_live.h"

#include <string.h>

enum { SOURCE, SINK, FIRST };

typedef struct arc {
    uint32_t to, back; /* back: the reverse arc, in the list of `to` */
    uint64_t room;
} arc;

typedef struct network {
    arn_region region;
    uint32_t n, n_links, n_arcs;
    uint32_t *from, *to; /* pairs of nodes in sequence; then sorted into arcs */
    uint64_t *links;     /* capacity of each */
    uint32_t *begin;     /* per node: its first arc */
    arc *arcs;
    uint32_t *height, *current, *queue;
    bool *queued;
    uint64_t *excess;
    uint32_t *node; /* per op */
} network;

#define UNLIMITED (UINT64_MAX / 4)

static void link_nodes(network *net, uint32_t from, uint32_t to, uint64_t room) {
    net->from[net->n_links] = from;
    net->to[net->n_links] = to;
    net->links[net->n_links++] = room;
}

/* The times of a buffer's users; `n_any` of them are of ANY time. */
typedef struct users {
    bool before, after, now;
    uint32_t n_any;
} users;

static users look_at(const arn_order_walk *w, const uint8_t *time, uint32_t b) {
    users u = {.before = arn_order_walk_is_live_in(w, b),
               .after = arn_order_walk_is_live_out(w, b)};
    for (uint32_t i = w->ops_of.at[b]; i < w->ops_of.at[b + 1]; i++) {
        const uint8_t t = time[w->ops_of.to[i]];
        u.before = u.before || t == ARN_TIME_BEFORE;
        u.after = u.after || t == ARN_TIME_AFTER;
        u.now = u.now || t == ARN_TIME_NOW;
        u.n_any += t == ARN_TIME_ANY;
    }
    return u;
}

/* Adds a buffer, or its size to *anyway if it is live in any case. */
static void link_buffer(network *net, const arn_order_walk *w, const uint8_t *time, uint32_t b,
                        uint64_t *anyway) {
    const users u = look_at(w, time, b);
    const uint64_t size = w->problem->size[b];
    if (u.now || (u.before && u.after)) {
        *anyway += size;
        return;
    }
    if (u.n_any == 0) return;
    const uint32_t some = u.before ? SOURCE : net->n++;
    const uint32_t all = u.after ? SINK : net->n++;
    link_nodes(net, some, all, size);
    for (uint32_t i = w->ops_of.at[b]; i < w->ops_of.at[b + 1]; i++) {
        const uint32_t op = w->ops_of.to[i];
        if (time[op] != ARN_TIME_ANY) continue;
        if (some != SOURCE) link_nodes(net, net->node[op], some, UNLIMITED);
        if (all != SINK) link_nodes(net, all, net->node[op], UNLIMITED);
    }
}

static void link_all(network *net, const arn_order_walk *w, const uint8_t *time, uint64_t *anyway) {
    const arenaut_order_problem *p = w->problem;
    net->n = FIRST;
    for (uint32_t op = 0; op < p->n_ops; op++) {
        if (time[op] == ARN_TIME_ANY) net->node[op] = net->n++;
    }
    for (uint32_t op = 0; op < p->n_ops; op++) {
        if (time[op] != ARN_TIME_ANY) continue;
        for (uint32_t i = w->depends_on.at[op]; i < w->depends_on.at[op + 1]; i++) {
            const uint32_t first = w->depends_on.to[i];
            if (time[first] == ARN_TIME_ANY) {
                link_nodes(net, net->node[op], net->node[first], UNLIMITED);
            }
        }
    }
    for (uint32_t b = 0; b < p->n_buffers; b++) link_buffer(net, w, time, b, anyway);
}

static bool allocate_links(network *net, const arn_order_walk *w) {
    const arenaut_order_problem *p = w->problem;
    const size_t n = (size_t)p->n_dependences + 2 * (size_t)p->n_uses + p->n_buffers;
    return ARN_REGION_ARRAYS(&net->region, ARN_ARRAY(net->from, n), ARN_ARRAY(net->to, n),
                             ARN_ARRAY(net->links, n), ARN_ARRAY(net->node, p->n_ops));
}

static bool make_arcs(network *net) {
    net->begin = arn_region_allocate(&net->region, (size_t)net->n + 1, sizeof *net->begin);
    net->arcs = arn_region_allocate(&net->region, 2 * (size_t)net->n_links, sizeof *net->arcs);
    if (!net->begin || !net->arcs) return false;
    memset(net->begin, 0, ((size_t)net->n + 1) * sizeof *net->begin);
    for (uint32_t i = 0; i < net->n_links; i++) {
        net->begin[net->from[i]]++;
        net->begin[net->to[i]]++;
    }
    for (uint32_t i = 1; i <= net->n; i++) net->begin[i] += net->begin[i - 1];
    for (uint32_t i = 0; i < net->n_links; i++) {
        const uint32_t there = --net->begin[net->from[i]], back = --net->begin[net->to[i]];
        net->arcs[there] = (arc){net->to[i], back, net->links[i]};
        net->arcs[back] = (arc){net->from[i], there, 0};
    }
    return true;
}

static bool allocate_flow(network *net) {
    return ARN_REGION_ARRAYS(&net->region, ARN_ARRAY(net->height, net->n),
                             ARN_ARRAY(net->current, net->n), ARN_ARRAY(net->queue, net->n),
                             ARN_ARRAY(net->queued, net->n), ARN_ARRAY(net->excess, net->n));
}

/* Global relabeling: heights become distances to the sink; nodes that cannot reach it get height n.
 * `queue` must be empty. */
static void relabel_globally(network *net, uint32_t *queue) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < net->n; i++) net->height[i] = net->n;
    net->height[SINK] = 0;
    queue[n++] = SINK;
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t node = queue[k];
        for (uint32_t i = net->begin[node]; i < net->begin[node + 1]; i++) {
            const uint32_t from = net->arcs[i].to;
            if (net->height[from] < net->n || net->arcs[net->arcs[i].back].room == 0) continue;
            net->height[from] = net->height[node] + 1;
            queue[n++] = from;
        }
    }
    net->height[SOURCE] = net->n;
    for (uint32_t i = 0; i < net->n; i++) net->current[i] = net->begin[i];
}

static void push(network *net, uint32_t from, uint32_t i, uint64_t amount) {
    arc *a = &net->arcs[i];
    a->room -= amount;
    net->arcs[a->back].room += amount;
    net->excess[from] -= amount;
    net->excess[a->to] += amount;
}

/* Relabels a node to just above its lowest neighbor with residual capacity. */
static void relabel(network *net, uint32_t node) {
    uint32_t lowest = net->n;
    for (uint32_t i = net->begin[node]; i < net->begin[node + 1]; i++) {
        const uint32_t height = net->height[net->arcs[i].to] + 1;
        if (net->arcs[i].room > 0 && height < lowest) lowest = height;
    }
    net->height[node] = lowest;
    net->current[node] = net->begin[node];
}

typedef struct active_nodes {
    uint32_t *ids, size, first, n;
} active_nodes;

static void enqueue(network *net, active_nodes *r, uint32_t node) {
    if (node == SOURCE || node == SINK || net->queued[node] || net->excess[node] == 0) return;
    if (net->height[node] >= net->n) return;
    net->queued[node] = true;
    r->ids[(r->first + r->n++) % r->size] = node;
}

/* Discharges a node; returns the number of relabels. */
static uint32_t discharge(network *net, active_nodes *r, uint32_t node) {
    uint32_t relabels = 0;
    while (net->excess[node] > 0 && net->height[node] < net->n) {
        if (net->current[node] == net->begin[node + 1]) {
            relabel(net, node);
            relabels++;
            continue;
        }
        const uint32_t i = net->current[node], to = net->arcs[i].to;
        if (net->arcs[i].room > 0 && net->height[node] == net->height[to] + 1) {
            const uint64_t room = net->arcs[i].room, has = net->excess[node];
            push(net, node, i, room < has ? room : has);
            enqueue(net, r, to);
        } else {
            net->current[node]++;
        }
    }
    return relabels;
}

/* The maximum flow: the excess of the sink at the end. */
static uint64_t flow(network *net, uint32_t *spare) {
    active_nodes r = {net->queue, net->n, 0, 0};
    uint32_t relabels = 0;
    for (uint32_t i = net->begin[SOURCE]; i < net->begin[SOURCE + 1]; i++) {
        net->excess[SOURCE] += net->arcs[i].room;
        push(net, SOURCE, i, net->arcs[i].room);
    }
    relabel_globally(net, spare);
    for (uint32_t i = FIRST; i < net->n; i++) enqueue(net, &r, i);
    while (r.n > 0) {
        const uint32_t node = r.ids[r.first];
        r.first = (r.first + 1) % r.size;
        r.n--;
        net->queued[node] = false;
        relabels += discharge(net, &r, node);
        if (relabels < net->n) continue;
        relabel_globally(net, spare);
        relabels = 0;
    }
    return net->excess[SINK];
}

bool arn_order_min_live(const arn_order_walk *walk, const uint8_t *time,
                        const arenaut_allocator *allocator, uint64_t *least) {
    network net = {0};
    uint64_t anyway = 0;
    arn_region_init(&net.region, allocator);
    bool ok = allocate_links(&net, walk);
    if (ok) link_all(&net, walk, time, &anyway);
    ok = ok && make_arcs(&net) && allocate_flow(&net);
    uint32_t *spare = ok ? arn_region_allocate(&net.region, net.n, sizeof *spare) : NULL;
    if (spare) *least = anyway + flow(&net, spare);
    arn_region_free(&net.region);
    return spare != NULL;
}
