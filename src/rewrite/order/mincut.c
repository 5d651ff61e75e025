/* A network whose cuts are what is alive, and the largest flow through it: Dinic's algorithm. An op
 * that has run is on the side of the source. A buffer has one node that is there as soon as one of
 * its users is, and one that is there only if all are; between them runs what it weighs. */
#include "rewrite/order/schedule_search.h"

#include <string.h>

#include "core/checked.h"
#include "core/fail.h"
#include "core/memory.h"

enum { SOURCE, SINK }; /* the first two nodes */

#define ENDLESS UINT64_MAX

arenaut_status arn_order_cut_make(const arn_order_graph *graph, arn_budget *budget,
                                  arn_order_cut *cut, arenaut_error *err) {
    *cut = (arn_order_cut){.graph = graph, .budget = budget};
    cut->role = arn_allocate_zeroed(&graph->allocator, graph->n_ops, sizeof *cut->role);
    cut->op_node = arn_allocate(&graph->allocator, graph->n_ops, sizeof *cut->op_node);
    cut->buffer_node = arn_allocate(&graph->allocator, graph->n_buffers, sizeof *cut->buffer_node);
    if (!cut->role || !cut->op_node || !cut->buffer_node) {
        arn_order_cut_free(cut);
        *cut = (arn_order_cut){0};
        return arn_no_memory(err);
    }
    for (uint32_t op = 0; op < graph->n_ops; op++) cut->op_node[op] = ARENAUT_NONE;
    for (uint32_t b = 0; b < graph->n_buffers; b++) cut->buffer_node[b] = ARENAUT_NONE;
    return ARENAUT_OK;
}

void arn_order_cut_free(arn_order_cut *cut) {
    if (!cut->graph) return;
    void *const blocks[] = {cut->role, cut->op_node, cut->buffer_node, cut->buffers.ids,
                            cut->head, cut->level,   cut->arc_now,     cut->path,
                            cut->next, cut->target,  cut->room};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        arn_release(&cut->graph->allocator, blocks[i]);
    }
}

/* ---- the network ---- */

static bool add_node(arn_order_cut *c, uint32_t *node) {
    const arenaut_allocator *a = &c->graph->allocator;
    const uint64_t n = (uint64_t)c->n_nodes + 1;
    if (!arn_grow(a, (void **)&c->head, &c->node_capacity, n, sizeof *c->head) ||
        !arn_grow(a, (void **)&c->level, &c->level_capacity, n, sizeof *c->level) ||
        !arn_grow(a, (void **)&c->arc_now, &c->now_capacity, n, sizeof *c->arc_now) ||
        !arn_grow(a, (void **)&c->path, &c->path_capacity, n, sizeof *c->path)) {
        return false;
    }
    c->head[c->n_nodes] = ARENAUT_NONE;
    *node = c->n_nodes;
    c->n_nodes++;
    return true;
}

static void add_half(arn_order_cut *c, uint32_t from, uint32_t to, uint64_t room) {
    c->target[c->n_arcs] = to;
    c->room[c->n_arcs] = room;
    c->next[c->n_arcs] = c->head[from];
    c->head[from] = c->n_arcs++;
}

static bool add_arc(arn_order_cut *c, uint32_t from, uint32_t to, uint64_t room) {
    const arenaut_allocator *a = &c->graph->allocator;
    const uint64_t n = (uint64_t)c->n_arcs + 2;
    if (!arn_grow(a, (void **)&c->next, &c->arc_capacity, n, sizeof *c->next) ||
        !arn_grow(a, (void **)&c->target, &c->target_capacity, n, sizeof *c->target) ||
        !arn_grow(a, (void **)&c->room, &c->room_capacity, n, sizeof *c->room)) {
        return false;
    }
    add_half(c, from, to, room);
    add_half(c, to, from, 0);
    return true;
}

static bool add_op(arn_order_cut *c, uint32_t op) {
    const arn_order_graph *g = c->graph;
    for (uint32_t i = g->uses.begin[op]; i < g->uses.begin[op + 1]; i++) {
        const uint32_t b = g->uses.ids[i];
        if (c->buffer_node[b] != ARENAUT_NONE) continue;
        c->buffer_node[b] = 0;
        if (!arn_id_list_push(&c->buffers, &g->allocator, b)) return false;
    }
    return add_node(c, &c->op_node[op]);
}

static bool add_waits(arn_order_cut *c, uint32_t op) {
    const arn_order_graph *g = c->graph;
    for (uint32_t i = g->first.begin[op]; i < g->first.begin[op + 1]; i++) {
        const uint32_t first = c->op_node[g->first.ids[i]];
        if (first != ARENAUT_NONE && !add_arc(c, c->op_node[op], first, ENDLESS)) return false;
    }
    return true;
}

/* What else uses a buffer, besides the ops that are open. */
typedef struct ends {
    bool before, after, now;
    uint32_t n_open;
} ends;

static ends find_ends(const arn_order_cut *c, uint32_t b) {
    const arn_order_graph *g = c->graph;
    ends e = {.before = g->held[b] & ARENAUT_HELD_BEFORE, .after = g->held[b] & ARENAUT_HELD_AFTER};
    for (uint32_t i = g->users.begin[b]; i < g->users.begin[b + 1]; i++) {
        switch ((arn_order_role)c->role[g->users.ids[i]]) {
            case ARN_ORDER_LATER: e.after = true; break;
            case ARN_ORDER_EARLIER: e.before = true; break;
            case ARN_ORDER_OPEN: e.n_open++; break;
            case ARN_ORDER_NOW: e.now = true; break;
        }
    }
    return e;
}

static bool tie_users(arn_order_cut *c, uint32_t b, uint32_t some, uint32_t all) {
    const arn_order_graph *g = c->graph;
    for (uint32_t i = g->users.begin[b]; i < g->users.begin[b + 1]; i++) {
        const uint32_t op = c->op_node[g->users.ids[i]];
        if (op == ARENAUT_NONE) continue;
        if (some != SOURCE && !add_arc(c, op, some, ENDLESS)) return false;
        if (all != SINK && !add_arc(c, all, op, ENDLESS)) return false;
    }
    return true;
}

static bool add_buffer(arn_order_cut *c, uint32_t b, uint64_t *constant) {
    const ends e = find_ends(c, b);
    const uint64_t size = c->graph->size[b];
    uint32_t some = SOURCE, all = SINK;
    if (e.now || (e.before && e.after)) {
        *constant += size;
        return true;
    }
    if (size == 0 || (e.n_open == 1 && !e.before && !e.after)) return true;
    if (!e.before && !add_node(c, &some)) return false;
    if (!e.after && !add_node(c, &all)) return false;
    return tie_users(c, b, some, all) && add_arc(c, some, all, size);
}

static bool build(arn_order_cut *c, const uint32_t *open, uint32_t n_open, uint64_t *constant) {
    c->n_nodes = c->n_arcs = c->buffers.n = 0;
    uint32_t source, sink;
    bool ok = add_node(c, &source) && add_node(c, &sink);
    for (uint32_t i = 0; ok && i < n_open; i++) ok = add_op(c, open[i]);
    for (uint32_t i = 0; ok && i < n_open; i++) ok = add_waits(c, open[i]);
    for (uint32_t i = 0; ok && i < c->buffers.n; i++) {
        ok = add_buffer(c, c->buffers.ids[i], constant);
    }
    for (uint32_t i = 0; i < c->buffers.n; i++) c->buffer_node[c->buffers.ids[i]] = ARENAUT_NONE;
    return ok;
}

/* ---- the flow ---- */

/* Levels by breadth first; `path` is the queue. Whether the sink is reached. */
static bool find_levels(arn_order_cut *c) {
    uint32_t from = 0, to = 0;
    for (uint32_t i = 0; i < c->n_nodes; i++) c->level[i] = ARENAUT_NONE;
    c->level[SOURCE] = 0;
    c->path[to++] = SOURCE;
    while (from < to) {
        const uint32_t node = c->path[from++];
        for (uint32_t arc = c->head[node]; arc != ARENAUT_NONE; arc = c->next[arc]) {
            const uint32_t next = c->target[arc];
            c->work++;
            if (c->room[arc] == 0 || c->level[next] != ARENAUT_NONE) continue;
            c->level[next] = c->level[node] + 1;
            c->path[to++] = next;
        }
    }
    return c->level[SINK] != ARENAUT_NONE;
}

static bool leads_on(const arn_order_cut *c, uint32_t node, uint32_t arc) {
    return c->room[arc] > 0 && c->level[c->target[arc]] == c->level[node] + 1;
}

/* Sends what fits along the arcs of `path`, and gives how many of them stay open from the front. */
static uint32_t send(arn_order_cut *c, uint32_t n, uint64_t *sent) {
    uint64_t fits = ENDLESS;
    uint32_t stays = n;
    for (uint32_t i = 0; i < n; i++) fits = arn_min_u64(fits, c->room[c->path[i]]);
    for (uint32_t i = n; i-- > 0;) {
        uint64_t *there = &c->room[c->path[i]], *back = &c->room[c->path[i] ^ 1];
        if (*there != ENDLESS) *there -= fits;
        if (*back != ENDLESS) *back += fits;
        if (*there == 0) stays = i;
    }
    c->work += n;
    *sent += fits;
    return stays;
}

/* Paths along the levels until none is left. */
static void send_all(arn_order_cut *c, uint64_t *sent) {
    uint32_t node = SOURCE, n = 0;
    for (uint32_t i = 0; i < c->n_nodes; i++) c->arc_now[i] = c->head[i];
    for (;;) {
        if (node == SINK) {
            n = send(c, n, sent);
            node = n == 0 ? SOURCE : c->target[c->path[n - 1]];
        }
        uint32_t arc = c->arc_now[node];
        while (arc != ARENAUT_NONE && !leads_on(c, node, arc)) arc = c->next[arc];
        c->work++;
        c->arc_now[node] = arc;
        if (arc != ARENAUT_NONE) {
            c->path[n++] = arc;
            node = c->target[arc];
        } else if (node == SOURCE) {
            return;
        } else {
            c->level[node] = ARENAUT_NONE;
            node = c->target[c->path[--n] ^ 1];
        }
    }
}

bool arn_order_cut_least(arn_order_cut *c, const uint32_t *open, uint32_t n_open, uint64_t *least) {
    const uint64_t before = c->work;
    *least = 0;
    const bool ok = build(c, open, n_open, least);
    while (ok && find_levels(c)) send_all(c, least);
    arn_budget_spend(c->budget, c->work - before); /* half of a cut would be none */
    for (uint32_t i = 0; i < n_open; i++) {
        const uint32_t node = c->op_node[open[i]];
        const bool ran = ok && node != ARENAUT_NONE && c->level[node] != ARENAUT_NONE;
        c->role[open[i]] = ran ? ARN_ORDER_EARLIER : ARN_ORDER_LATER;
        c->op_node[open[i]] = ARENAUT_NONE;
    }
    return ok;
}

/* ======== */
/* The ops that an op waits for have run, those that wait for it have not; of all others a minimum
 * cut takes the best ones. Where the op may write over a buffer once its other users have run, that
 * is a second case. */

/* Gives `op` and all that it leads to by `lists` the role, as far as they are open. `stack` has
 * room for all ops. */
static void spread(arn_order_cut *c, const arn_order_lists *lists, uint32_t op, arn_order_role role,
                   uint32_t *stack) {
    uint32_t n = 0;
    if (c->role[op] != ARN_ORDER_OPEN) return;
    c->role[op] = role;
    stack[n++] = op;
    while (n > 0) {
        const uint32_t at = stack[--n];
        for (uint32_t i = lists->begin[at]; i < lists->begin[at + 1]; i++) {
            const uint32_t next = lists->ids[i];
            if (c->role[next] != ARN_ORDER_OPEN) continue;
            c->role[next] = (uint8_t)role;
            stack[n++] = next;
        }
    }
    c->work += c->graph->n_ops;
}

static void spread_around(arn_order_cut *c, uint32_t op, uint32_t *stack) {
    const arn_order_graph *g = c->graph;
    memset(c->role, ARN_ORDER_OPEN, g->n_ops);
    spread(c, &g->first, op, ARN_ORDER_EARLIER, stack);
    c->role[op] = ARN_ORDER_OPEN;
    spread(c, &g->next, op, ARN_ORDER_LATER, stack);
    c->role[op] = ARN_ORDER_NOW;
}

/* What is alive for certain, of buffers that no open op uses. */
static uint64_t settled(const arn_order_cut *c) {
    const arn_order_graph *g = c->graph;
    uint64_t sum = 0;
    for (uint32_t b = 0; b < g->n_buffers; b++) {
        bool seen[4] = {false};
        for (uint32_t i = g->users.begin[b]; i < g->users.begin[b + 1]; i++) {
            seen[c->role[g->users.ids[i]]] = true;
        }
        const bool before = seen[ARN_ORDER_EARLIER] || (g->held[b] & ARENAUT_HELD_BEFORE);
        const bool after = seen[ARN_ORDER_LATER] || (g->held[b] & ARENAUT_HELD_AFTER);
        if (!seen[ARN_ORDER_OPEN] && (seen[ARN_ORDER_NOW] || (before && after))) sum += g->size[b];
    }
    return sum;
}

/* `ids` has room for all ops. */
static bool least_now(arn_order_cut *c, uint32_t *ids, uint64_t *load) {
    const uint32_t n_ops = c->graph->n_ops;
    uint32_t n = 0;
    uint64_t least;
    for (uint32_t op = 0; op < n_ops; op++) {
        if (c->role[op] == ARN_ORDER_OPEN) ids[n++] = op;
    }
    *load = settled(c);
    if (!arn_order_cut_least(c, ids, n, &least)) return false;
    *load += least;
    return true;
}

/* Has all other users of `buffer` run before; false if one runs later. *free: all do anyway. */
static bool spread_users(arn_order_cut *c, uint32_t buffer, uint32_t op, uint32_t *stack,
                         bool *free) {
    const arn_order_graph *g = c->graph;
    *free = true;
    for (uint32_t i = g->users.begin[buffer]; i < g->users.begin[buffer + 1]; i++) {
        const uint32_t user = g->users.ids[i];
        if (user == op) continue;
        if (c->role[user] == ARN_ORDER_LATER) return false;
        *free = *free && c->role[user] == ARN_ORDER_EARLIER;
        spread(c, &g->first, user, ARN_ORDER_EARLIER, stack);
    }
    return true;
}

/* The load with this right made use of; UINT64_MAX where it never can be. */
static bool load_with_right(arn_order_cut *c, const arenaut_order_right *r, uint32_t *ids,
                            bool *free, uint64_t *load) {
    const arn_order_graph *g = c->graph;
    *load = UINT64_MAX;
    *free = false;
    if ((g->held[r->made] & ARENAUT_HELD_BEFORE) || (g->held[r->over] & ARENAUT_HELD_AFTER)) {
        return true;
    }
    spread_around(c, r->op, ids);
    if (!spread_users(c, r->over, r->op, ids, free)) return true;
    if (!least_now(c, ids, load)) return false;
    *load -= r->bytes;
    return true;
}

/* Remembers a case if it is better: its load, and who runs before. */
static void keep_case(const arn_order_cut *c, uint64_t found, uint64_t *best, bool *before) {
    if (found >= *best) return;
    *best = found;
    for (uint32_t op = 0; before && op < c->graph->n_ops; op++) {
        before[op] = c->role[op] == ARN_ORDER_EARLIER;
    }
}

bool arn_order_least_load(arn_order_cut *c, uint32_t op, uint64_t *load, bool *before) {
    const arn_order_graph *g = c->graph;
    uint32_t *ids = arn_allocate(&g->allocator, g->n_ops, sizeof *ids);
    uint64_t found;
    bool ok = ids != NULL, free = false;
    *load = UINT64_MAX;
    for (uint32_t i = g->rights.begin[op]; ok && i < g->rights.begin[op + 1]; i++) {
        bool always;
        ok = load_with_right(c, &g->right[g->rights.ids[i]], ids, &always, &found);
        if (ok) keep_case(c, found, load, before);
        free = free || (ok && always && found != UINT64_MAX);
    }
    if (ok && !free) {
        spread_around(c, op, ids);
        ok = least_now(c, ids, &found);
        if (ok) keep_case(c, found, load, before);
    }
    if (ids) memset(c->role, ARN_ORDER_LATER, g->n_ops);
    arn_release(&g->allocator, ids);
    return ok;
}
