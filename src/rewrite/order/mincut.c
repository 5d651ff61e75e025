/* Minimum cuts of live bytes, by maximum flow (max_flow.h). Executed ops are on the side of the
 * source. A buffer is an arc between two nodes, the first on that side once any of its users is,
 * the second once all are, and its capacity is its size; so the cut is the live bytes. Dependences
 * are arcs of unlimited capacity. O(V² E) at worst, near linear on graphs of models. */
#include "rewrite/order/schedule_search.h"

#include <string.h>

#include "core/fail.h"
#include "core/memory.h"

arenaut_status arn_mincut_make(const arn_schedule_graph *graph, arn_budget *budget, arn_mincut *cut,
                               arenaut_error *err) {
    *cut = (arn_mincut){.graph = graph, .budget = budget};
    arn_flow_network_init(&cut->network, &graph->allocator);
    cut->role = arn_allocate_zeroed(&graph->allocator, graph->n_ops, sizeof *cut->role);
    cut->op_node = arn_allocate(&graph->allocator, graph->n_ops, sizeof *cut->op_node);
    cut->buffer_node = arn_allocate(&graph->allocator, graph->n_buffers, sizeof *cut->buffer_node);
    if (!cut->role || !cut->op_node || !cut->buffer_node) {
        arn_mincut_free(cut);
        *cut = (arn_mincut){0};
        return arn_no_memory(err);
    }
    for (uint32_t op = 0; op < graph->n_ops; op++) cut->op_node[op] = ARENAUT_NONE;
    for (uint32_t b = 0; b < graph->n_buffers; b++) cut->buffer_node[b] = ARENAUT_NONE;
    return ARENAUT_OK;
}

void arn_mincut_free(arn_mincut *cut) {
    if (!cut->graph) return;
    arn_flow_network_free(&cut->network);
    void *const blocks[] = {cut->role, cut->op_node, cut->buffer_node, cut->buffers.ids};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        arn_release(&cut->graph->allocator, blocks[i]);
    }
}

/* ---- the network ---- */

static bool add_op(arn_mincut *c, uint32_t op) {
    const arn_schedule_graph *g = c->graph;
    for (uint32_t i = g->uses.begin[op]; i < g->uses.begin[op + 1]; i++) {
        const uint32_t b = g->uses.ids[i];
        if (c->buffer_node[b] != ARENAUT_NONE) continue;
        c->buffer_node[b] = 0;
        if (!arn_id_list_push(&c->buffers, &g->allocator, b)) return false;
    }
    c->op_node[op] = arn_flow_network_add_node(&c->network);
    return true;
}

static void add_arc(arn_mincut *c, uint32_t from, uint32_t to, uint64_t capacity) {
    arn_flow_network_add_arc(&c->network, from, to, capacity);
}

static void add_dependences(arn_mincut *c, uint32_t op) {
    const arn_schedule_graph *g = c->graph;
    for (uint32_t i = g->predecessors.begin[op]; i < g->predecessors.begin[op + 1]; i++) {
        const uint32_t first = c->op_node[g->predecessors.ids[i]];
        if (first != ARENAUT_NONE) add_arc(c, c->op_node[op], first, ARN_FLOW_UNLIMITED);
    }
}

/* Uses of a buffer other than by open ops. */
typedef struct ends {
    bool before, after, now;
    uint32_t n_open;
} ends;

static ends find_ends(const arn_mincut *c, uint32_t b) {
    const arn_schedule_graph *g = c->graph;
    ends e = {.before = g->boundary[b] & ARENAUT_LIVE_IN,
              .after = g->boundary[b] & ARENAUT_LIVE_OUT};
    for (uint32_t i = g->users.begin[b]; i < g->users.begin[b + 1]; i++) {
        switch ((arn_cut_role)c->role[g->users.ids[i]]) {
            case ARN_CUT_LATER: e.after = true; break;
            case ARN_CUT_EARLIER: e.before = true; break;
            case ARN_CUT_OPEN: e.n_open++; break;
            case ARN_CUT_NOW: e.now = true; break;
        }
    }
    return e;
}

static void connect_users(arn_mincut *c, uint32_t b, uint32_t some, uint32_t all) {
    const arn_schedule_graph *g = c->graph;
    for (uint32_t i = g->users.begin[b]; i < g->users.begin[b + 1]; i++) {
        const uint32_t op = c->op_node[g->users.ids[i]];
        if (op == ARENAUT_NONE) continue;
        if (some != ARN_FLOW_SOURCE) add_arc(c, op, some, ARN_FLOW_UNLIMITED);
        if (all != ARN_FLOW_SINK) add_arc(c, all, op, ARN_FLOW_UNLIMITED);
    }
}

static void add_buffer(arn_mincut *c, uint32_t b, uint64_t *constant) {
    const ends e = find_ends(c, b);
    const uint64_t size = c->graph->size[b];
    uint32_t some = ARN_FLOW_SOURCE, all = ARN_FLOW_SINK;
    if (e.now || (e.before && e.after)) {
        *constant += size;
        return;
    }
    if (size == 0 || (e.n_open == 1 && !e.before && !e.after)) return;
    if (!e.before) some = arn_flow_network_add_node(&c->network);
    if (!e.after) all = arn_flow_network_add_node(&c->network);
    connect_users(c, b, some, all);
    add_arc(c, some, all, size);
}

/* False if there is no memory. */
static bool build_network(arn_mincut *c, const uint32_t *open, uint32_t n_open,
                          uint64_t *constant) {
    bool ok = true;
    c->buffers.n = 0;
    arn_flow_network_clear(&c->network, ARN_FLOW_FIRST_NODE);
    for (uint32_t i = 0; ok && i < n_open; i++) ok = add_op(c, open[i]);
    for (uint32_t i = 0; ok && i < n_open; i++) add_dependences(c, open[i]);
    for (uint32_t i = 0; ok && i < c->buffers.n; i++) add_buffer(c, c->buffers.ids[i], constant);
    for (uint32_t i = 0; i < c->buffers.n; i++) c->buffer_node[c->buffers.ids[i]] = ARENAUT_NONE;
    return ok && !c->network.out_of_memory;
}

bool arn_mincut_solve(arn_mincut *c, const uint32_t *open, uint32_t n_open, uint64_t *least) {
    const uint64_t before = c->network.spent;
    *least = 0;
    const bool ok = build_network(c, open, n_open, least);
    if (ok) *least += arn_flow_network_solve(&c->network);
    c->spent += c->network.spent - before;
    arn_budget_spend(c->budget, c->network.spent - before); /* a partial flow would give no cut */
    for (uint32_t i = 0; i < n_open; i++) {
        const bool ran = ok && arn_flow_is_reached(&c->network, c->op_node[open[i]]);
        c->role[open[i]] = ran ? ARN_CUT_EARLIER : ARN_CUT_LATER;
        c->op_node[open[i]] = ARENAUT_NONE;
    }
    return ok;
}

/* ---- lower bound of a load ---- */

/* Predecessors of the op have run, its successors have not; a minimum cut chooses among the ops
 * that are independent of it. With a right to write over a buffer, which requires that the buffer's
 * other users have run, there is a second case. */

/* Assigns the role to open ops reachable from `op`. `stack` has room for all ops. */
static void mark_reachable(arn_mincut *c, const arn_adjacency *lists, uint32_t op,
                           arn_cut_role role, uint32_t *stack) {
    uint32_t n = 0;
    if (c->role[op] != ARN_CUT_OPEN) return;
    c->role[op] = role;
    stack[n++] = op;
    while (n > 0) {
        const uint32_t at = stack[--n];
        for (uint32_t i = lists->begin[at]; i < lists->begin[at + 1]; i++) {
            const uint32_t next = lists->ids[i];
            if (c->role[next] != ARN_CUT_OPEN) continue;
            c->role[next] = (uint8_t)role;
            stack[n++] = next;
        }
    }
    c->spent += c->graph->n_ops;
}

static void mark_around(arn_mincut *c, uint32_t op, uint32_t *stack) {
    const arn_schedule_graph *g = c->graph;
    memset(c->role, ARN_CUT_OPEN, g->n_ops);
    mark_reachable(c, &g->predecessors, op, ARN_CUT_EARLIER, stack);
    c->role[op] = ARN_CUT_OPEN;
    mark_reachable(c, &g->successors, op, ARN_CUT_LATER, stack);
    c->role[op] = ARN_CUT_NOW;
}

/* The live bytes of buffers without open users. */
static uint64_t constant_load(const arn_mincut *c) {
    const arn_schedule_graph *g = c->graph;
    uint64_t sum = 0;
    for (uint32_t b = 0; b < g->n_buffers; b++) {
        bool seen[4] = {false};
        for (uint32_t i = g->users.begin[b]; i < g->users.begin[b + 1]; i++) {
            seen[c->role[g->users.ids[i]]] = true;
        }
        const bool before = seen[ARN_CUT_EARLIER] || (g->boundary[b] & ARENAUT_LIVE_IN);
        const bool after = seen[ARN_CUT_LATER] || (g->boundary[b] & ARENAUT_LIVE_OUT);
        if (!seen[ARN_CUT_OPEN] && (seen[ARN_CUT_NOW] || (before && after))) sum += g->size[b];
    }
    return sum;
}

/* `ids` has room for all ops. */
static bool least_now(arn_mincut *c, uint32_t *ids, uint64_t *load) {
    const uint32_t n_ops = c->graph->n_ops;
    uint32_t n = 0;
    uint64_t least;
    for (uint32_t op = 0; op < n_ops; op++) {
        if (c->role[op] == ARN_CUT_OPEN) ids[n++] = op;
    }
    *load = constant_load(c);
    if (!arn_mincut_solve(c, ids, n, &least)) return false;
    *load += least;
    return true;
}

/* Puts all other users of `buffer` before the op; false if one is after it. *free: all were before
 * it anyway. */
static bool mark_users(arn_mincut *c, uint32_t buffer, uint32_t op, uint32_t *stack, bool *free) {
    const arn_schedule_graph *g = c->graph;
    *free = true;
    for (uint32_t i = g->users.begin[buffer]; i < g->users.begin[buffer + 1]; i++) {
        const uint32_t user = g->users.ids[i];
        if (user == op) continue;
        if (c->role[user] == ARN_CUT_LATER) return false;
        *free = *free && c->role[user] == ARN_CUT_EARLIER;
        mark_reachable(c, &g->predecessors, user, ARN_CUT_EARLIER, stack);
    }
    return true;
}

/* The load if this right is used; UINT64_MAX if that is impossible. */
static bool load_with_right(arn_mincut *c, const arenaut_order_right *r, uint32_t *ids, bool *free,
                            uint64_t *load) {
    const arn_schedule_graph *g = c->graph;
    *load = UINT64_MAX;
    *free = false;
    if ((g->boundary[r->made] & ARENAUT_LIVE_IN) || (g->boundary[r->over] & ARENAUT_LIVE_OUT)) {
        return true;
    }
    mark_around(c, r->op, ids);
    if (!mark_users(c, r->over, r->op, ids, free)) return true;
    if (!least_now(c, ids, load)) return false;
    *load -= r->bytes;
    return true;
}

/* Keeps a case if it is better: its load, and the ops before. */
static void keep_case(const arn_mincut *c, uint64_t found, uint64_t *best, bool *before) {
    if (found >= *best) return;
    *best = found;
    for (uint32_t op = 0; before && op < c->graph->n_ops; op++) {
        before[op] = c->role[op] == ARN_CUT_EARLIER;
    }
}

bool arn_mincut_load_bound(arn_mincut *c, uint32_t op, uint64_t *load, bool *before) {
    const arn_schedule_graph *g = c->graph;
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
        mark_around(c, op, ids);
        ok = least_now(c, ids, &found);
        if (ok) keep_case(c, found, load, before);
    }
    if (ids) memset(c->role, ARN_CUT_LATER, g->n_ops);
    arn_release(&g->allocator, ids);
    return ok;
}
