/* Schedules as the checker reads them: running and undoing ops of a scheduling problem one by one,
 * and the minimum cut of live bytes. */
#include "check/rewrite/order_walk.h"

#include <string.h>

typedef struct pair {
    uint32_t key, value;
} pair;

static bool make_rows(arn_order_walk *w, const pair *pairs, uint32_t n, uint32_t n_keys,
                      arn_order_rows *out) {
    out->at = arn_region_allocate(&w->region, (size_t)n_keys + 1, sizeof *out->at);
    out->to = arn_region_allocate(&w->region, n, sizeof *out->to);
    if (!out->at || !out->to) return false;
    memset(out->at, 0, ((size_t)n_keys + 1) * sizeof *out->at);
    for (uint32_t i = 0; i < n; i++) out->at[pairs[i].key]++;
    for (uint32_t key = 1; key <= n_keys; key++) out->at[key] += out->at[key - 1];
    for (uint32_t i = n; i-- > 0;) out->to[--out->at[pairs[i].key]] = pairs[i].value;
    return true;
}

/* Repeated uses count once: `last` has for each buffer the last op seen with it. */
static bool make_uses(arn_order_walk *w, pair *pairs, uint32_t *last) {
    const arenaut_order_problem *p = w->problem;
    arn_order_rows all;
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n_uses; i++) {
        pairs[i] = (pair){p->uses[i].op, p->uses[i].buffer};
    }
    if (!make_rows(w, pairs, p->n_uses, p->n_ops, &all)) return false;
    for (uint32_t b = 0; b < p->n_buffers; b++) last[b] = ARENAUT_NONE;
    for (uint32_t op = 0; op < p->n_ops; op++) {
        for (uint32_t i = all.at[op]; i < all.at[op + 1]; i++) {
            if (last[all.to[i]] == op) continue;
            last[all.to[i]] = op;
            pairs[n++] = (pair){op, all.to[i]};
        }
    }
    if (!make_rows(w, pairs, n, p->n_ops, &w->buffers_of)) return false;
    for (uint32_t i = 0; i < n; i++) pairs[i] = (pair){pairs[i].value, pairs[i].key};
    return make_rows(w, pairs, n, p->n_buffers, &w->ops_of);
}

static bool make_dependences(arn_order_walk *w, pair *pairs) {
    const arenaut_order_problem *p = w->problem;
    arn_order_rows *there = w->backward ? &w->dependents : &w->depends_on;
    arn_order_rows *back = w->backward ? &w->depends_on : &w->dependents;
    for (uint32_t i = 0; i < p->n_dependences; i++)
        pairs[i] = (pair){p->dependences[i].op, p->dependences[i].first};
    if (!make_rows(w, pairs, p->n_dependences, p->n_ops, there)) return false;
    for (uint32_t i = 0; i < p->n_dependences; i++)
        pairs[i] = (pair){p->dependences[i].first, p->dependences[i].op};
    return make_rows(w, pairs, p->n_dependences, p->n_ops, back);
}

static bool make_rights(arn_order_walk *w, pair *pairs) {
    const arenaut_order_problem *p = w->problem;
    for (uint32_t i = 0; i < p->n_rights; i++) pairs[i] = (pair){p->rights[i].op, i};
    if (!make_rows(w, pairs, p->n_rights, p->n_ops, &w->rights_of)) return false;
    for (uint32_t i = 0; i < p->n_rights; i++) {
        const arenaut_order_right *r = &p->rights[i];
        pairs[i] = (pair){w->backward ? r->over : r->made, r->op};
    }
    return make_rows(w, pairs, p->n_rights, p->n_buffers, &w->claimed_by);
}

static void open_op(arn_order_walk *w, uint32_t op) {
    w->open_at[op] = w->n_open;
    w->open[w->n_open++] = op;
}

static void close_op(arn_order_walk *w, uint32_t op) {
    const uint32_t last = w->open[--w->n_open];
    w->open[w->open_at[op]] = last;
    w->open_at[last] = w->open_at[op];
}

static bool make_state(arn_order_walk *w) {
    const arenaut_order_problem *p = w->problem;
    if (!ARN_REGION_ARRAYS(&w->region, ARN_ARRAY(w->ran, p->n_ops), ARN_ARRAY(w->pending, p->n_ops),
                           ARN_ARRAY(w->unused, p->n_buffers), ARN_ARRAY(w->history, p->n_ops),
                           ARN_ARRAY(w->open, p->n_ops), ARN_ARRAY(w->open_at, p->n_ops))) {
        return false;
    }
    for (uint32_t op = 0; op < p->n_ops; op++) {
        w->pending[op] = w->depends_on.at[op + 1] - w->depends_on.at[op];
        if (w->pending[op] == 0) open_op(w, op);
    }
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        w->unused[b] = w->ops_of.at[b + 1] - w->ops_of.at[b];
        const bool stays = w->unused[b] > 0 || arn_order_walk_is_live_out(w, b);
        if (arn_order_walk_is_live_in(w, b) && stays) w->live += p->size[b];
    }
    return true;
}

bool arn_order_walk_make(arn_order_walk *w, const arenaut_order_problem *problem, bool backward,
                         const arenaut_allocator *allocator) {
    uint32_t most = problem->n_uses;
    *w = (arn_order_walk){.problem = problem, .backward = backward};
    if (most < problem->n_dependences) most = problem->n_dependences;
    if (most < problem->n_rights) most = problem->n_rights;
    arn_region_init(&w->region, allocator);
    pair *pairs = arn_region_allocate(&w->region, most, sizeof *pairs);
    uint32_t *last = arn_region_allocate(&w->region, problem->n_buffers, sizeof *last);
    return pairs && last && make_uses(w, pairs, last) && make_dependences(w, pairs) &&
           make_rights(w, pairs) && make_state(w);
}

void arn_order_walk_free(arn_order_walk *w) {
    if (w->problem) arn_region_free(&w->region);
}

static bool is_live_at(const arn_order_walk *w, uint32_t buffer, bool before) {
    const uint8_t *boundary = w->problem->boundary;
    const int bit = before == w->backward ? ARENAUT_LIVE_OUT : ARENAUT_LIVE_IN;
    return boundary && (boundary[buffer] & bit);
}

bool arn_order_walk_is_live_in(const arn_order_walk *w, uint32_t buffer) {
    return is_live_at(w, buffer, true);
}

bool arn_order_walk_is_live_out(const arn_order_walk *w, uint32_t buffer) {
    return is_live_at(w, buffer, false);
}

bool arn_order_walk_has_begun(const arn_order_walk *w, uint32_t buffer) {
    return w->unused[buffer] < w->ops_of.at[buffer + 1] - w->ops_of.at[buffer];
}

bool arn_order_walk_may_run(const arn_order_walk *w, uint32_t op) {
    return op < w->problem->n_ops && !w->ran[op] && w->pending[op] == 0;
}

static bool is_live(const arn_order_walk *w, uint32_t buffer) {
    return (arn_order_walk_has_begun(w, buffer) || arn_order_walk_is_live_in(w, buffer)) &&
           (w->unused[buffer] > 0 || arn_order_walk_is_live_out(w, buffer));
}

/* Whether the right is usable: `made` begins at the op, and `over` ends there. */
static bool holds_now(const arn_order_walk *w, uint32_t made, uint32_t over) {
    const bool begins = !arn_order_walk_has_begun(w, made) && !arn_order_walk_is_live_in(w, made);
    return begins && w->unused[over] == 1 && !arn_order_walk_is_live_out(w, over);
}

uint64_t arn_order_walk_load(const arn_order_walk *w, uint32_t op) {
    const uint64_t *size = w->problem->size;
    uint64_t load = w->live, most = 0;
    for (uint32_t i = w->buffers_of.at[op]; i < w->buffers_of.at[op + 1]; i++) {
        if (!is_live(w, w->buffers_of.to[i])) load += size[w->buffers_of.to[i]];
    }
    for (uint32_t i = w->rights_of.at[op]; i < w->rights_of.at[op + 1]; i++) {
        const arenaut_order_right *r = &w->problem->rights[w->rights_of.to[i]];
        const bool holds =
            w->backward ? holds_now(w, r->over, r->made) : holds_now(w, r->made, r->over);
        if (holds && r->bytes > most) most = r->bytes;
    }
    return load - most;
}

/* One use more or less of each buffer of `op`. */
static void use(arn_order_walk *w, uint32_t op, bool ran) {
    const uint64_t *size = w->problem->size;
    w->ran[op] = ran;
    for (uint32_t i = w->buffers_of.at[op]; i < w->buffers_of.at[op + 1]; i++) {
        const uint32_t b = w->buffers_of.to[i];
        if (is_live(w, b)) w->live -= size[b];
        w->unused[b] += ran ? UINT32_MAX : 1;
        if (is_live(w, b)) w->live += size[b];
    }
}

void arn_order_walk_run(arn_order_walk *w, uint32_t op) {
    use(w, op, true);
    close_op(w, op);
    w->history[w->n_history++] = op;
    for (uint32_t i = w->dependents.at[op]; i < w->dependents.at[op + 1]; i++) {
        if (--w->pending[w->dependents.to[i]] == 0) open_op(w, w->dependents.to[i]);
    }
}

void arn_order_walk_undo(arn_order_walk *w) {
    const uint32_t op = w->history[--w->n_history];
    for (uint32_t i = w->dependents.at[op]; i < w->dependents.at[op + 1]; i++) {
        if (w->pending[w->dependents.to[i]]++ == 0) close_op(w, w->dependents.to[i]);
    }
    open_op(w, op);
    use(w, op, false);
}

/* Minimum cut of live bytes by push–relabel maximum flow (Goldberg & Tarjan 1988), first in first
 * out, with global relabeling. Source and sink stand for executed and remaining ops. Each buffer
 * that may be live or not is an arc between two nodes: one is on the side of the source once any of
 * its users is, the other once all are. */

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
